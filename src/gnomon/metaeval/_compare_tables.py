"""The tables of a comparison, and how they may be looked at."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gnomon.findings import Bars, Column, Listing, Table
from gnomon.stats import benjamini_hochberg, holm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell, View
    from gnomon.metaeval._compare_figures import Compared, Contest
    from gnomon.metaeval._compare_options import Plan

__all__ = ["NGRAMS", "SEGMENTS", "SYSTEMS", "ngram_table", "rows", "segment_table", "system_table"]
__all__ += ["views"]

SYSTEMS, SEGMENTS, NGRAMS = "systems", "segments", "ngrams"
_LISTED = 10
_DIFFERENCE = ("difference", "low", "high")

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
    Column("verdict", "Verdict", help="better or worse where the corrected p is at most alpha"),
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
    Column("undecided", "undecided", help="the corrected p lies above alpha, or there is none"),
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


def rows(
    contest: Contest,
    parts: Sequence[tuple[str | None, Sequence[Compared]]],
    plan: Plan,
) -> list[dict[str, Cell]]:
    """The records of one metric: p-values are corrected over systems, and over systems x slices."""
    whole = [part for part in parts if part[0] is None]
    sliced = [part for part in parts if part[0] is not None]
    return [row for family in (whole, sliced) for row in _family(contest, family, plan)]


def _family(
    contest: Contest, parts: Sequence[tuple[str | None, Sequence[Compared]]], plan: Plan
) -> list[dict[str, Cell]]:
    found = [(name, k, one) for name, compared in parts for k, one in enumerate(compared)]
    adjusted = _corrected([one.p for _, _, one in found], plan)
    return [
        _row(contest, k, name, one, p, plan)
        for (name, k, one), p in zip(found, adjusted, strict=True)
    ]


def _corrected(p: list[float], plan: Plan) -> list[float]:
    values = np.array(p, dtype=np.float64)
    if plan.correction == "none":
        return p
    adjust = holm if plan.correction == "holm" else benjamini_hochberg
    return [float(value) for value in adjust(values)]


def _row(
    contest: Contest, k: int, name: str | None, one: Compared, p: float, plan: Plan
) -> dict[str, Cell]:
    gain = contest.sign * one.difference
    found = {
        "score": one.score,
        "difference": one.difference,
        "low": one.low,
        "high": one.high,
        "p": one.p,
        "p_adjusted": p,
        "gain": gain,
        "score_low": one.score_low,
        "score_high": one.score_high,
    }
    row: dict[str, Cell] = {key: defined(value) for key, value in found.items()}
    counts = {"wins": one.wins, "ties": one.ties, "losses": one.losses}
    verdict = "baseline" if k == 0 else _verdict(gain, p, plan.alpha)
    cells: dict[str, Cell] = {
        "system": contest.systems[k],
        "baseline": contest.systems[0],
        "metric": contest.metric,
        "slice": name,
        "segments": one.segments,
        **(dict.fromkeys(counts) if k == 0 else counts),
        "verdict": verdict,
        "undecided": None if k == 0 else verdict not in ("better", "worse"),
        **row,
    }
    return {column.name: cells[column.name] for column in _SYSTEMS}


def _verdict(gain: float, p: float, alpha: float) -> str | None:
    if math.isnan(p):
        return None
    if p > alpha or gain == 0:
        return "no difference shown"
    return "better" if gain > 0 else "worse"


def defined(value: float) -> float | None:
    """NaN as the tables have it."""
    return None if math.isnan(value) else value


def system_table(records: Sequence[Mapping[str, Cell]], plan: Plan) -> Table:
    """The table of the contract."""
    how = {
        "bootstrap": f"paired bootstrap, {plan.resamples} resamples",
        "ar": f"approximate randomisation, {plan.trials} draws",
    }[plan.test]
    note = (
        f"p: {how}, {plan.alternative}; p adj.: {_CORRECTIONS[plan.correction]}."
        f" low, high: {plan.confidence:.0%} interval of the difference."
    )
    return Table(SYSTEMS, "Systems compared", _SYSTEMS, tuple(records), note)


_CORRECTIONS = {
    "holm": "Holm over the systems (and slices) of a metric",
    "benjamini-hochberg": "Benjamini-Hochberg over the systems (and slices) of a metric",
    "none": "not corrected",
}


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


def views(
    tables: Sequence[Table], metrics: Sequence[str], systems: Sequence[str]
) -> tuple[View, ...]:
    """What text shows, then what a page shows beside the tables.

    Args:
        tables: those of the finding.
        metrics: names of the metrics.
        systems: names of the systems, the baseline first.
    """
    kinds = {table.name: table for table in tables}
    sliced = any(row["slice"] is not None for row in kinds[SYSTEMS].rows)
    found: list[View] = [_listing(metric, systems[0]) for metric in metrics]
    if sliced:
        found += [_slices(metric) for metric in metrics]
    if len(systems) == 2 and SEGMENTS in kinds:
        found += [_deciders(metric, side) for metric in metrics for side in reversed(systems)]
    if len(systems) == 2 and NGRAMS in kinds:
        found += [_ngrams(side) for side in reversed(systems)]
    return (*found, *map(_bars, metrics))


def _listing(metric: str, baseline: str) -> Listing:
    columns = ("system", "score", *_DIFFERENCE, "p", "p_adjusted", "verdict")
    return Listing(
        SYSTEMS,
        f"{metric}, compared with {baseline}",
        (*columns, "wins", "ties", "losses"),
        {"metric": metric, "slice": None},
    )


def _slices(metric: str) -> Listing:
    return Listing(
        SYSTEMS,
        f"{metric} by slice",
        ("slice", "segments", "system", "score", *_DIFFERENCE, "p_adjusted", "verdict"),
        {"metric": metric},
    )


def _deciders(metric: str, side: str) -> Listing:
    return Listing(
        SEGMENTS,
        f"{metric}: segments where {side} is better",
        ("segment", "difference", "score", "baseline_score", "influence"),
        {"metric": metric, "side": side},
    )


def _ngrams(side: str) -> Listing:
    return Listing(
        NGRAMS,
        f"n-grams that only {side} gets right",
        ("ngram", "n", "count", "other", "reference"),
        {"side": side},
        most=_LISTED,
    )


def _bars(metric: str) -> Bars:
    return Bars(
        SYSTEMS,
        "Differences from the baseline, and scores",
        category="system",
        series="baseline",
        values=("difference", "score"),
        where={"metric": metric, "slice": None},
    )
