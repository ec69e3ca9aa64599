"""The tables of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.findings import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell
    from gnomon.metaeval._compare_options import Plan

__all__ = [
    "NGRAMS",
    "SEGMENTS",
    "SLICES",
    "SYSTEMS",
    "ngram_table",
    "segment_table",
    "slice_table",
    "system_table",
]

SYSTEMS, SLICES, SEGMENTS, NGRAMS = "systems", "slices", "segments", "ngrams"

_SYSTEMS = (
    Column("system", "System"),
    Column("baseline", "Baseline"),
    Column("metric", "Metric"),
    Column(
        "score",
        "Score",
        "number",
        help="on the segments of the slice",
        ends=("score_low", "score_high"),
    ),
    Column(
        "difference",
        "Difference",
        "number",
        help="system - baseline, in the metric's units, on the segments that both have",
        ends=("low", "high"),
    ),
    Column("low", "low", "number", help="lower end of the interval of the difference"),
    Column("high", "high", "number", help="its upper end"),
    Column("p", "p", "number", 4, help="of the paired test, not corrected"),
    Column("p_adjusted", "p adj.", "number", 4, help="corrected for the number of comparisons"),
    Column(
        "verdict",
        "Verdict",
        help="better or worse where the corrected p is at most alpha, else undecided",
    ),
    Column("slice", "Slice", help="the segments looked at; empty for all of them"),
    Column("segments", "n", "count", help="segments that both have a score for"),
    Column("wins", "Wins", "count", help="segments where the system scores better"),
    Column("ties", "Ties", "count", help="segments where both score the same"),
    Column("losses", "Losses", "count", help="segments where it scores worse"),
    Column(
        "gain",
        "Gain",
        "number",
        better="higher",
        help="the difference, positive where the system is better",
    ),
    Column("score_low", "Score low", "number", help="lower end of the score's interval"),
    Column("score_high", "Score high", "number", help="its upper end"),
)
_SLICES = (
    Column("metric", "Metric"),
    Column("slice", "Slice"),
    Column("system", "System"),
    Column("segments", "n", "count", help="segments that both have a score for"),
    Column(
        "gain",
        "Gain",
        "number",
        better="higher",
        help="difference from the baseline, positive where the system is better",
    ),
    Column("p_adjusted", "p adj.", "number", 4, help="corrected for systems and slices"),
    Column(
        "undecided", "undecided", "truth", help="the corrected p lies above alpha, or there is none"
    ),
)
_SEGMENTS = (
    Column("system", "System"),
    Column("baseline", "Baseline"),
    Column("metric", "Metric"),
    Column("side", "Better", help="whose output scores better"),
    Column("rank", "Rank", "count", help="1: the largest difference on this side"),
    Column("segment", "Segment", "count", help="counted from 1"),
    Column("difference", "Difference", "number", help="of the segment scores, system - baseline"),
    Column("score", "Score", "number", help="of the system's output"),
    Column("baseline_score", "Baseline score", "number", help="of the baseline's output"),
    Column(
        "influence",
        "Influence",
        "number",
        4,
        help="what the segment adds to the difference of the systems' scores",
    ),
    Column("document", "Document"),
    Column("domain", "Domain"),
)
_NGRAMS = (
    Column("system", "System"),
    Column("baseline", "Baseline"),
    Column("side", "Only", help="whose matches are counted"),
    Column("n", "n", "count", help="length in tokens"),
    Column("rank", "Rank", "count", help="among the n-grams of this length and side"),
    Column("ngram", "n-gram"),
    Column("count", "Right here only", "count", help="matches that the other output lacks"),
    Column("other", "Right there only", "count", help="matches that only the other output has"),
    Column("reference", "In references", "count", help="occurrences in the references"),
)


def system_table(records: Sequence[Mapping[str, Cell]], plan: Plan, sliced: Plan) -> Table:
    """The table of the contract.

    Args:
        records: one per metric, slice and system.
        plan: how all segments were tested.
        sliced: how slices were.
    """
    kept = tuple({column.name: row[column.name] for column in _SYSTEMS} for row in records)
    return Table(SYSTEMS, "Systems compared", _SYSTEMS, kept, _note(records, plan, sliced))


def _note(records: Sequence[Mapping[str, Cell]], plan: Plan, sliced: Plan) -> str:
    more = plan.resamples != sliced.resamples and any(row["slice"] is not None for row in records)
    drawn = f"{plan.resamples} resamples" + (f" ({sliced.resamples} in slices)" if more else "")
    how = {
        "bootstrap": f"paired bootstrap, {drawn}",
        "ar": f"approximate randomisation, {plan.trials} draws",
    }[plan.test]
    corrected = any(row["p"] != row["p_adjusted"] for row in records)
    adjusted = f"; p adj.: {_CORRECTIONS[plan.correction]}" * corrected
    return (
        f"p: {how}, {plan.alternative}{adjusted}."
        f" low, high: {plan.confidence:.0%} interval of the difference."
    )


_CORRECTIONS = {
    "holm": "Holm over the systems (and slices) of a metric",
    "benjamini-hochberg": "Benjamini-Hochberg over the systems (and slices) of a metric",
    "none": "not corrected",
}


def slice_table(records: Sequence[Mapping[str, Cell]]) -> Table:
    """The slices of the first table once more, ready to be looked at side by side."""
    found = [
        {**row, "undecided": row["verdict"] not in ("better", "worse")}
        for row in records
        if row["slice"] is not None and row["system"] != row["baseline"]
    ]
    names = [column.name for column in _SLICES]
    kept = tuple({name: row[name] for name in names} for row in found)
    return Table(SLICES, "Gains by slice", _SLICES, kept)


def segment_table(records: Sequence[Mapping[str, Cell]]) -> Table:
    """The segments that decide."""
    return Table(SEGMENTS, "Segments that decide", _SEGMENTS, tuple(records))


def ngram_table(records: Sequence[Mapping[str, Cell]]) -> Table:
    """The n-grams that only one system gets right."""
    note = (
        "A match: the output and a reference of the segment hold the n-gram, counted as often as"
        " both do. Ordered by the matches of this side less those of the other."
    )
    return Table(NGRAMS, "n-grams that only one system gets right", _NGRAMS, tuple(records), note)
