"""The page as a file: self-contained, strict policy, nothing from data as markup."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.told import told

from gnomon.core.errors import OutputError
from gnomon.core.findings import Column, Excerpt, Exhibit, ExhibitText, Finding, Table
from gnomon.report import render, to_html, write_html
from gnomon.report.html import json_in_html, leading

if TYPE_CHECKING:
    from pathlib import Path

NOTHING = Finding("m", "M", (Table("t", "T", (Column("a", "A"),), ()),), {})

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


class Reader(html.parser.HTMLParser):
    """Tags, attributes, and what stands in script and style elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] in {"script", "style"} and data.strip():
            self.raw.append((self.tags[-1][0], data))


def data_of(finding: Finding) -> dict:
    return json.loads(DATA.findall(to_html(finding))[0])


def cells_of(column: dict) -> list:
    if "cells" in column:
        return column["cells"]
    return [column["levels"][code] for code in column["codes"]]


def test_the_first_two_statements_stand_apart_where_others_than_cautions_follow() -> None:
    levels = ("finding", "finding", "undecided", "caution", "caution")
    verdict = [told(str(n), level) for n, level in enumerate(levels)]
    assert ["".join(str(one.params["said"]) for one in part) for part in leading(verdict)] == [
        "01",
        "234",
    ]
    assert leading(verdict[1:]) == [verdict[1:]]
    assert leading([]) == []


def test_notes_are_folded_below_a_verdict_and_open_without_one() -> None:
    noted = replace(NOTHING, notices=(told("much <b>is</b> cut", "note"),))
    said = replace(noted, verdict=(told("A is best."),))
    for finding, folded in ((said, True), (noted, False)):
        page = to_html(finding)
        tags = Reader(page).tags
        notes = next(attrs for tag, attrs in tags if tag == "details" and "class" in attrs)
        assert ("open" in notes) != folded
        assert "much &lt;b&gt;is&lt;/b&gt; cut" in page
        # a name in another script that begins a sentence does not turn it around
        assert all(attrs["dir"] == "ltr" for _, attrs in tags if "data-level" in attrs)


def test_the_policy_names_the_hashes_of_the_only_script_and_style(finding: Finding) -> None:
    page = to_html(finding)
    policy = next(
        attrs["content"] or ""
        for tag, attrs in Reader(page).tags
        if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    style = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert len(script) == len(style) == 1
    for text in (*script, *style):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_the_page_names_nothing_outside_itself(finding: Finding) -> None:
    for tag, attrs in Reader(to_html(finding)).tags:
        assert tag not in {"link", "img", "iframe", "object", "base", "form"}
        assert not {"src", "style", "action"} & set(attrs)
        assert not any(name.startswith("on") for name in attrs)
        assert (attrs.get("href") or "#").startswith("#")


def test_hostile_text_adds_no_element(hostile: Finding) -> None:
    allowed = (
        "html head meta title style body a p h1 h2 h3 header nav ul li main noscript section dl div"
        " dt dd code button footer script details summary table caption thead tbody tr th td"
    )
    tags = [tag for tag, _ in Reader(to_html(hostile)).tags]
    assert set(tags) <= set(allowed.split())
    assert tags.count("script") == 2


def test_a_page_without_charts_does_not_carry_what_draws_them(finding: Finding) -> None:
    assert len(to_html(NOTHING).encode()) < 80_000
    assert len(to_html(finding).encode()) > 800_000


def test_a_large_finding_keeps_numbers_exact_and_texts_once(finding: Finding) -> None:
    page = to_html(finding)
    content = json.loads(DATA.findall(page)[0])
    assert len(content["strings"]) == len(set(content["strings"]))
    columns = {c["name"]: c for c in content["findings"][0]["tables"][0]["columns"]}
    assert cells_of(columns["muler"]) == list(finding.table().values("muler"))
    assert len(page.encode()) < 3_200_000


@given(st.lists(st.sampled_from([None, True, False, 0, 1, 0.0, 1.0, 2.5, "1", "a"]), max_size=20))
def test_cells_that_recur_read_back_as_they_were(cells: list) -> None:
    table = Table("t", "T", (Column("a", "A"),), tuple({"a": cell} for cell in cells))
    (column,) = data_of(Finding("m", "M", (table,), {}))["findings"][0]["tables"][0]["columns"]
    found = cells_of(column)
    assert found == cells
    assert [type(cell) is bool for cell in found] == [type(cell) is bool for cell in cells]


def test_a_page_holds_an_excerpt_and_says_so_and_json_holds_every_row() -> None:
    rows = tuple({"a": f"row {n}"} for n in range(5))
    excerpt = Excerpt((0, 3), "Two of five rows.")
    finding = Finding("m", "M", (Table("t", "T", (Column("a", "A"),), rows, "", excerpt),), {})
    page = to_html(finding)
    table = data_of(finding)["findings"][0]["tables"][0]
    assert table["size"] == 2
    assert cells_of(table["columns"][0]) == ["row 0", "row 3"]
    assert "Two of five rows." in page
    assert len(json.loads(render(finding, "json"))["rows"]) == 5


def test_views_that_differ_in_what_they_fix_share_a_panel(finding: Finding) -> None:
    heat = finding.views[0]
    twice = Finding(
        "m", "M", finding.tables, {}, (heat, type(heat)(**{**vars(heat), "where": {**heat.where}}))
    )
    page = to_html(twice)
    assert 'id="f0-p0"' in page
    assert 'id="f0-p1"' not in page


@given(st.recursive(st.text() | st.none(), lambda inner: st.lists(inner, max_size=3)))
def test_embedded_json_reads_back_and_cannot_close_its_element(content: object) -> None:
    text = json_in_html(content)
    assert not re.search("[<>&\u2028\u2029]", text)
    text.encode()
    assert json.loads(text) == content


def test_lone_surrogates_do_not_break_the_page() -> None:
    exhibit = Exhibit("g", "k", 1, (ExhibitText("candidate", "\udcff", "a\ud800b"),))
    odd = Finding("m", "\udc80", NOTHING.tables, {"\udc80": "x"}, exhibits=(exhibit,))
    assert b"U+DC80" in to_html(odd).encode()


def test_several_findings_stand_in_one_page_in_order(finding: Finding) -> None:
    page = to_html([NOTHING, finding], title="Both & more")
    assert page.index('id="f0"') < page.index('id="f1"')
    assert '<h1 dir="auto">Both &amp; more</h1>' in page


def test_a_report_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_html(path, NOTHING)
    before = path.read_bytes()
    assert before.rstrip().endswith(b"</html>")
    broken = Finding("m", "M", NOTHING.tables, {}, facts={"a": "b"}, views=(1,))  # type: ignore[arg-type]  # breaks on purpose
    with pytest.raises(AttributeError):
        write_html(path, broken)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_a_path_that_cannot_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        write_html(tmp_path / "missing" / "report.html", NOTHING)
