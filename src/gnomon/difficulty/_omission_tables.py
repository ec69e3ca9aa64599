"""The table and the views of the omission test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.findings import Column, Lines, Listing, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell, View

    Row = Mapping[str, Cell]

__all__ = ["omission_table", "omission_views"]

_COLUMNS = (
    Column("group", "Group", "count", help="a tenth of the words, easiest first; ties together"),
    Column("difficulty_low", "d from", "number", 3),
    Column("difficulty_high", "d to", "number", 3),
    Column("difficulty", "Mean d", "number", 3),
    Column("words", "Words", "count", help="deleted, one per segment"),
    Column("metric", "Metric"),
    Column("drop", "Drop", "number", 4, help="of the segment score, mean", ends=("low", "high")),
    Column("low", "Low", "number", 4, help="lower end of the interval"),
    Column("high", "High", "number", 4, help="upper end of the interval"),
    Column(
        "share",
        "Drop, share",
        "number",
        3,
        help="of the mean score before",
        ends=("share_low", "share_high"),
    ),
    Column("share_low", "Low", "number", 3, help="lower end of the interval"),
    Column("share_high", "High", "number", 3, help="upper end of the interval"),
)


def omission_table(rows: Sequence[Row]) -> Table:
    """Drops by difficulty."""
    title = "Omission test: what a missing word costs, by how hard it was"
    return Table("omission", title, _COLUMNS, tuple(rows))


def omission_views() -> Iterator[View]:
    """Curves with bands, and the table."""
    title = "Omission test: share of the score lost by how hard the missing word was"
    yield Lines(
        table="omission",
        title=title,
        x="group",
        y="share",
        series="metric",
        low="share_low",
        high="share_high",
    )
    yield Listing(
        "omission",
        title,
        ("metric", "group", "difficulty", "words", "drop", "low", "high", "share", "share_low",
         "share_high"),
    )  # fmt: skip
