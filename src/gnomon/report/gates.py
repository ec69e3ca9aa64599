"""Gates for continuous integration: JUnit's XML, and a summary in Markdown."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from gnomon.core.escaping import visible, visible_lines
from gnomon.core.tabular import finding_to_markdown, verdict_to_markdown
from gnomon.messages import rendered

if TYPE_CHECKING:
    from gnomon.core.findings import Finding

__all__ = ["gate_summary", "to_junit"]

#: what XML cannot hold and :func:`visible` lets through
_NO_XML = re.compile("[\ufffe\uffff]")
_HEADINGS = {
    "error": "The gate was not reached",
    "failed": "The gate failed",
    "undecided": "The gate could not tell",
}
_PASSED, _EMPTY = "The gate was passed", "The gate had nothing to test"


def to_junit(finding: Finding, *, strict: bool = False) -> str:
    """The cases of a gate as JUnit's XML, which GitLab and Jenkins read.

    A case is a system under one condition; one that is undecided counts as skipped. What the
    finding says first is the suite's output.

    Args:
        finding: of a method with a gate.
        strict: count what is undecided as failed.
    """
    counted = Counter(case.outcome for case in finding.gate)
    failed = counted["failed"] + strict * counted["undecided"]
    skipped = counted["undecided"] * (not strict)
    name = f"gnomon {finding.method}"
    counts = {
        "tests": str(len(finding.gate)),
        "failures": str(failed),
        "errors": str(counted["error"]),
    }
    suites = Element("testsuites", {"name": name, **counts})
    suite = SubElement(suites, "testsuite", {**suites.attrib, "skipped": str(skipped)})
    for case in finding.gate:
        names = {"classname": _xml_text(case.system), "name": _xml_text(case.condition)}
        made = SubElement(suite, "testcase", names)
        if case.outcome == "undecided" and not strict:
            SubElement(made, "skipped", {"message": _xml_text(case.said)})
        elif case.outcome != "passed":
            message = {"message": _xml_text(case.said), "type": case.outcome}
            tag = "error" if case.outcome == "error" else "failure"
            SubElement(made, tag, message).text = message["message"]
    said = "\n".join(map(rendered, finding.verdict))
    SubElement(suite, "system-out").text = _NO_XML.sub("?", visible_lines(said))
    indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, "unicode")}\n'


def _xml_text(text: str) -> str:
    return _NO_XML.sub("?", visible(text))


def gate_summary(finding: Finding) -> str:
    """Outcome of a gate, then the verdict and the tables, in Markdown."""
    outcomes = {case.outcome for case in finding.gate}
    worst = next(
        (said for one, said in _HEADINGS.items() if one in outcomes),
        _PASSED if outcomes else _EMPTY,
    )
    heading = f"{worst} (gnomon {finding.method})"
    said = verdict_to_markdown([case.said for case in finding.gate if case.said])
    tables = finding_to_markdown(finding) if finding.tables else ""
    parts = (f"### {heading}\n", said, tables)
    return "\n".join([*filter(None, parts), ""])
