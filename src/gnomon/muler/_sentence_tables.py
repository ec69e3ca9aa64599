"""The table of sentence scorers, and how it may be looked at."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from gnomon.findings import Bars, Column, Listing, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell, View
    from gnomon.muler._sentence_scores import SentenceFigures

__all__ = ["TABLE", "sentence_row", "sentence_table", "sentence_views"]

TABLE = "scorers"

_COLUMNS = (
    Column("scorer", "Scorer"),
    Column("source", "Source", help="the lexicon, package or function"),
    Column("system", "System"),
    Column("slice", "Slice", help="the segments looked at; empty for all of them"),
    Column("n", "n", "count", help="segments scored on both sides"),
    Column(
        "signed",
        "reference - candidate",
        "number",
        3,
        help="mean difference of the scores",
        ends=("low", "high"),
    ),
    Column("low", "low", "number", 3, help="lower end of the bootstrap interval of the mean"),
    Column("high", "high", "number", 3, help="upper end"),
    Column(
        "absolute",
        "|difference|",
        "number",
        3,
        better="lower",
        help="mean distance from the references",
        ends=("absolute_low", "absolute_high"),
    ),
    Column("absolute_low", "|difference| low", "number", 3, help="lower end of its interval"),
    Column("absolute_high", "|difference| high", "number", 3, help="upper end"),
    Column("coverage", "coverage", "share", help="share of segments scored on both sides"),
    Column("words_known", "words known", "share", help="share of the words of both sides"),
    Column("mean_reference", "mean of references", "number", 3, help="over the n segments"),
    Column("mean_candidate", "mean of candidates", "number", 3, help="over the n segments"),
)
_SHOWN = ("system", "n", "signed", "low", "high", "absolute", "coverage", "words_known")


def sentence_row(
    figures: SentenceFigures, *, scorer: str, source: str, system: str, part: str | None
) -> dict[str, Cell]:
    """The record of one scorer, system and slice."""
    return {
        "scorer": scorer,
        "source": source,
        "system": system,
        "slice": part,
        **asdict(figures),
    }


def sentence_table(rows: Sequence[Mapping[str, Cell]]) -> Table:
    """The table of the contract."""
    note = (
        "Positive: references score higher than candidates. |difference|: nearer to 0 is better."
        " Segments without a known word on both sides are left out (coverage)."
    )
    return Table(TABLE, "Sentence scorers by system", _COLUMNS, tuple(rows), note)


def sentence_views(
    table: Table, scorers: Sequence[str], parts: Sequence[str | None]
) -> tuple[View, ...]:
    """For each scorer a listing per slice, for text, and bars over systems.

    Args:
        table: what they show; listings leave columns out that are empty in all rows.
        scorers: labels of the scorers.
        parts: names of the slices, ``None`` for all segments.
    """
    columns = tuple(name for name in _SHOWN if any(v is not None for v in table.values(name)))
    listings = (_listing(scorer, part, columns) for scorer in scorers for part in parts)
    return (*listings, *map(_bars, scorers))


def _listing(scorer: str, part: str | None, columns: tuple[str, ...]) -> Listing:
    place = "" if part is None else f", {part}"
    title = f"{scorer} of references and candidates{place}"
    return Listing(TABLE, title, columns, {"scorer": scorer, "slice": part})


def _bars(scorer: str) -> Bars:
    return Bars(
        table=TABLE,
        title="Sentence scorers: how far systems lie from their references",
        category="scorer",
        series="system",
        values=("signed", "absolute"),
        where={"scorer": scorer, "slice": None},
        beside="n",
    )
