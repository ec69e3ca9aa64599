"""Chosen columns of a table, in text, in papers, and not twice in a page."""

from __future__ import annotations

from gnomon.core.findings import Bars, Column, Finding, Listing, Table
from gnomon.report import render
from gnomon.report.html import payload

_COLUMNS = (Column("system", "System"), Column("metric", "Metric"), Column("n", "N", "count"))
_ROWS = (
    {"system": "A", "metric": "bleu", "n": 1},
    {"system": "A", "metric": "chrf", "n": 2},
    {"system": "B", "metric": "bleu", "n": 3},
)
_BARS = Bars("t", "Bars", "system", "metric", ("n",))
_FOUND = Finding(
    "test",
    "Test",
    (Table("t", "All", _COLUMNS, _ROWS),),
    {"bleu": "bleu|x", "chrf": "chrf|x"},
    views=(
        _BARS,
        Listing("t", "Under bleu", ("n", "system"), {"metric": "bleu"}),
        Listing("t", "Under chrf", ("n", "system"), {"metric": "chrf"}),
    ),
)


def test_text_shows_every_listing_with_the_signature_of_its_rows() -> None:
    text = render(_FOUND, "text")
    first, second = text.split("Under chrf")
    assert "Under bleu" in first
    assert "bleu|x" in first
    assert "chrf|x" not in first
    assert "chrf|x" in second
    assert "Bars" not in text


def test_columns_come_in_the_order_chosen_and_rows_as_selected() -> None:
    markdown = _FOUND.to_markdown()
    assert markdown.index("| N") < markdown.index("System")
    assert markdown.count("| A") == 2
    assert markdown.count("| B") == 1


def test_a_page_has_no_panel_for_a_listing_since_it_holds_every_table() -> None:
    (panel,) = payload([_FOUND])["findings"][0]["panels"]
    listing = next(view.title for view in _FOUND.views if isinstance(view, Listing))
    assert listing not in str(panel)
