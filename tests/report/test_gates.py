"""Gates for continuous integration: JUnit's XML and summaries, whatever texts and names hold."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from gnomon.core.findings import Column, Finding, Table
from gnomon.core.gates import GateCase
from gnomon.report import gate_summary, to_junit

CASES = (
    GateCase("a<b>&\"'\x1b[31m\ud800\ufffe", "bleu", "failed", "a | <i>is</i> *worse* ]]>\x00"),
    GateCase("c", "bleu", "undecided", "not decided"),
    GateCase("d", "bleu"),
)
#: attributes and children as the schema of Jenkins's xunit plug-in allows them
SCHEMA = {
    "testsuites": ({"name", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped"},
        {"testcase", "system-out"},
    ),
    "testcase": ({"classname", "name"}, {"failure", "skipped", "error"}),
    "failure": ({"message", "type"}, set()),
    "error": ({"message", "type"}, set()),
    "skipped": ({"message"}, set()),
    "system-out": (set(), set()),
}


def finding(cases=CASES):
    rows = ({"system": "x", "score": 1.0},)
    table = Table("t", "T", (Column("system", "System"), Column("score", "Score", "number")), rows)
    return Finding("compare", "Title", (table,), {}, gate=cases)


def test_junit_is_xml_by_its_schema_whatever_a_name_holds():
    for strict, counts in ((False, ("3", "1", "1")), (True, ("3", "2", "0"))):
        text = to_junit(finding(), strict=strict)
        root = ET.fromstring(text.encode("utf-8"))  # noqa: S314  # written here
        for element in root.iter():
            attributes, inside = SCHEMA[element.tag]
            assert set(element.attrib) == attributes
            assert {child.tag for child in element} <= inside
        suite = root[0]
        assert tuple(suite.get(name) for name in ("tests", "failures", "skipped")) == counts
        assert suite[0].get("classname") == "a<b>&\"'\\x1b[31m<U+D800>?"
        assert suite[0][0].text == "a | <i>is</i> *worse* ]]>\\x00"
        assert [child.tag for child in suite[2]] == []


def test_a_summary_says_first_what_the_gate_says_and_no_name_is_markup():
    text = gate_summary(finding())
    assert text.startswith("### The gate failed (gnomon compare)\n\n- a \\| &lt;i&gt;is")
    assert "\x00" not in text
    assert "\n\n| System |" in text
    for cases, head in (
        (CASES[1:], "The gate could not tell (gnomon compare)"),
        (CASES[2:], "The gate was passed (gnomon compare)"),
        ((), "The gate had nothing to test (gnomon compare)"),
    ):
        assert gate_summary(finding(cases)).startswith(f"### {head}\n\n")
