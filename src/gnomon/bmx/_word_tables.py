"""Explanations as tables: every word, and the words that hurt most often."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gnomon.findings import Column, Excerpt, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gnomon.findings import Cell

    Row: TypeAlias = Mapping[str, Cell]

__all__ = ["hurting_table", "lowest_table", "words_table"]

_PAGE = 5000
_OF = (
    Column("metric", "Metric"),
    Column("explainer", "Explainer"),
    Column("side", "Side"),
)
_COUNTED = (
    *_OF,
    Column("token", "Word"),
    Column("count", "Occurs", "count"),
    Column("hurts", "Hurts", "count", help="occurrences with a negative importance"),
    Column("share", "Share", "share", help="of the occurrences, those that hurt"),
    Column("mean", "Mean importance", "number", digits=4),
    Column("lowest", "Lowest", "number", digits=4),
)


def words_table(rows: Sequence[Row]) -> Table:
    """Every explained word, the records of the contract."""
    columns = (
        Column("system", "System"),
        Column("segment", "Segment", "count"),
        Column("side", "Side"),
        Column("token", "Word"),
        Column("position", "Position", "count"),
        Column("importance", "Importance", "number", digits=4, better="higher"),
        Column("score", "Score", "number", digits=4, help="beside all references"),
        Column("held", "Held", "number", digits=4, help="beside the reference that is explained"),
        Column("reference", "Reference", help="the one that is held: of several the best match"),
        Column("metric", "Metric"),
        Column("explainer", "Explainer"),
        Column("higher_is_better", "Higher is better", "truth"),
    )
    excerpt = None
    if len(rows) > _PAGE:
        note = f"The first {_PAGE} of {len(rows)} words; all with --export FILE, -f tsv or -f json."
        excerpt = Excerpt(tuple(range(_PAGE)), note)
    note = (
        "A positive importance makes the candidate look better, in units of the metric; positions"
        " count from 1."
    )
    return Table("words", "Importance of every word", columns, tuple(rows), note, excerpt)


def hurting_table(rows: Iterable[Row]) -> Table:
    """The words that hurt the score, those that do so most often first."""
    found = [row for row in _counted(rows) if row["hurts"]]
    found.sort(key=lambda row: (-_of(row, "hurts"), _of(row, "mean")))
    note = "A word hurts where its importance is negative. Words are compared as they are written."
    return Table("hurting", "Words that most often hurt", _COUNTED, tuple(found), note)


def lowest_table(rows: Iterable[Row], least: int) -> Table:
    """Words of the lowest mean importance.

    Args:
        rows: of :func:`words_table`.
        least: how often a word must occur.
    """
    found = [row for row in _counted(rows) if _of(row, "count") >= least]
    found.sort(key=lambda row: (_of(row, "mean"), -_of(row, "count")))
    title = f"Lowest mean importance of words that occur {least} times or more"
    return Table("lowest", title, _COUNTED, tuple(found))


def _counted(rows: Iterable[Row]) -> list[dict[str, Cell]]:
    values: dict[tuple[Cell, ...], list[float]] = {}
    for row in rows:
        if row["importance"] is not None:
            key = tuple(row[column.name] for column in (*_OF, _COUNTED[len(_OF)]))
            values.setdefault(key, []).append(_of(row, "importance"))
    return [
        {
            **dict(zip(("metric", "explainer", "side", "token"), key, strict=True)),
            "count": len(some),
            "hurts": (hurts := sum(value < 0 for value in some)),
            "share": hurts / len(some),
            "mean": sum(some) / len(some),
            "lowest": min(some),
        }
        for key, some in values.items()
    ]


def _of(row: Row, name: str) -> float:
    value = row[name]
    return float(value) if isinstance(value, int | float) else float("nan")
