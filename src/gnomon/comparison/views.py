"""Tables and views of a comparison of systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gnomon.comparison import distributions
from gnomon.comparison.ngrams import NgramRow
from gnomon.comparison.rows import (
    NGRAMS,
    SEGMENTS,
    SLICES,
    SYSTEMS,
    ComparisonRow,
    ComparisonSliceRow,
    DecidingSegmentRow,
)
from gnomon.core.findings import Bars, HeatMap, Listing, ScoreTable
from gnomon.core.records import (
    Record,
    table,
)
from gnomon.core.verdicts import metric_title
from gnomon.messages.grammar import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.comparison.paired_tests import (
        PairedTest,
        PairedTestPlan,
    )
    from gnomon.core.findings import Table, View

_LISTED = 12
_DIFFERENCE = ("difference", "low", "high")
_INFLUENTIAL = "Segments with the largest influence"


_TESTS: Mapping[PairedTest, str] = {
    "bootstrap": "paired bootstrap",
    "sacrebleu": "sacreBLEU's paired bootstrap",
    "ar": "approximate randomisation",
}


# Tables


def system_table(
    rows: Sequence[ComparisonRow], plan: PairedTestPlan, family: str, slices: str
) -> Table:
    """The table of all systems, metrics and slices, with the families that are decided at once."""
    return table(SYSTEMS, "Systems compared", ComparisonRow, rows, note=_note(plan, family, slices))


def _note(plan: PairedTestPlan, family: str, slices: str) -> str:
    if not plan.resamples:
        return "No resamples: neither intervals nor p."
    whole = " of whole documents" * (plan.unit == "document")
    over = f"{family}, and over {slices}" if slices else family
    if plan.test == "sacrebleu":
        return (
            f"p: sacreBLEU's paired bootstrap, {plan.resamples} resamples; not adjusted for other"
            " comparisons, and without an interval."
        )
    if plan.test == "ar":
        return (
            f"p: approximate randomisation{whole}, {plan.exchanges} draws, two-sided, over {over};"
            " there are no intervals."
        )
    level = 100 * plan.confidence
    return (
        f"low, high: {level:g}% intervals of the difference, which hold for all at once, over"
        f" {over}; an end of 0 is open. p: of the same paired bootstrap{whole}, {plan.resamples}"
        " resamples, two-sided."
    )


def slice_table(rows: Sequence[ComparisonRow]) -> Table:
    """The slices of the first table, to be compared side by side."""
    gains = (row for row in rows if row.slice is not None and row.system != row.baseline)
    sliced = [ComparisonSliceRow.derive(row, undecided=not row.decided) for row in gains]
    return table(SLICES, "Gains by slice", ComparisonSliceRow, sliced)


def segment_table(rows: Sequence[DecidingSegmentRow]) -> Table:
    """The segments with the largest influence."""
    return table(SEGMENTS, _INFLUENTIAL, DecidingSegmentRow, rows)


def ngram_table(rows: Sequence[NgramRow]) -> Table:
    """The n-grams that only one system gets right."""
    note = (
        "A match: the output and a reference of the segment hold the phrase, counted as often as"
        " both do. Ordered by the matches of this side less those of the other."
    )
    return table(NGRAMS, "Phrases that only one system gets right", NgramRow, rows, note=note)


# Views


def views(
    tables: Sequence[Table],
    baselines: Mapping[str, str],
    systems: Sequence[str],
    distributed: Sequence[Record],
) -> tuple[View, ...]:
    """Views of text, then those of a page.

    ``baselines``: by metric; ``distributed``: rows of :mod:`gnomon.comparison.distributions`.
    """
    kinds = {table.name: table for table in tables}
    rows = [row for row in tables[0].records if isinstance(row, ComparisonRow)]
    alone = systems[1] if len(systems) == 2 else None
    titles = {metric: metric_title(metric, baselines) for metric in baselines}
    chosen: list[View] = [
        _listing(metric, titles[metric], first) for metric, first in baselines.items()
    ]
    if SLICES in kinds and alone:
        chosen += [_slices(metric, titles[metric], alone) for metric in baselines]
    chosen += [_bars(*one, titles[one[0]], rows) for one in baselines.items()]
    chosen += distributions.distribution_views(distributed, titles)
    if SLICES in kinds:
        chosen += [
            _slice_map(rows, metric, titles[metric], prominent=alone is None)
            for metric in baselines
        ]
    if SEGMENTS in kinds and alone:
        chosen += [
            Listing(
                SEGMENTS,
                f"{titles[metric]}: {_INFLUENTIAL.lower()}",
                ("side", "segment", "difference", "score", "baseline_score", "influence"),
                {"metric": metric},
            )
            for metric in baselines
        ]
    if NGRAMS in kinds and alone:
        there = kinds[NGRAMS].values("side")
        chosen += [_ngrams(side) for side in (alone, systems[0]) if side in there]
    return tuple(chosen)


def score_table(
    rows: Sequence[ComparisonRow], plan: PairedTestPlan, family: str, best: str | None
) -> ScoreTable:
    """The scores under all metrics, as a paper has them.

    Args:
        rows: of all systems and metrics.
        plan: the test of all segments.
        family: what is decided at once.
        best: the system that others differ from; None: the best one under each metric.
    """
    whole = [row for row in rows if row.slice is None]
    systems = len({row.system for row in whole})
    on = counted(max(row.segments for row in whole))
    title = f"Scores of {systems} systems on {on}. The best are bold."
    if plan.resamples:
        differs = "worse than the best" if best is None else f"different from {best}"
        said = f"\u2020: significantly {differs}"
        if not any(row.decided for row in whole):
            said = f"None is significantly {differs}"
        title = f"{title} {said} ({_test_in_brief(plan, family)})."
    better: dict[str, Literal["higher", "lower"]] = {
        metric: "lower" if _is_lower_better(whole, metric) else "higher"
        for metric in dict.fromkeys(row.metric for row in whole)
    }
    where = {"slice": None}
    return ScoreTable(SYSTEMS, title, better, where, significant="decided", ordered=best is None)


def _test_in_brief(plan: PairedTestPlan, family: str) -> str:
    draws = plan.exchanges if plan.test == "ar" else plan.resamples
    parts = [
        _TESTS[plan.test],
        f"{draws:,} draws" + " of whole documents" * (plan.unit == "document"),
    ]
    level = f"{100 * plan.alpha:g}% level"
    together = "each by itself" if plan.test == "sacrebleu" else f"over {family}"
    return ", ".join([*parts, f"{level} {together}"])


def _is_lower_better(rows: Sequence[ComparisonRow], metric: str) -> bool:
    defined = (row for row in rows if row.metric == metric and row.gain is not None)
    return any(row.gain != row.difference for row in defined)


def _listing(metric: str, title: str, baseline: str) -> Listing:
    counts = ("wins", "ties", "losses")
    return Listing(
        SYSTEMS,
        f"{title}, compared with {baseline}",
        ("system", "score", *_DIFFERENCE, "p", "verdict", *counts),
        {"metric": metric, "slice": None},
    )


def _slices(metric: str, title: str, system: str) -> Listing:
    return Listing(
        SYSTEMS,
        f"{title} of {system} by slice",
        ("slice", "segments", "score", *_DIFFERENCE, "p", "verdict"),
        {"metric": metric, "system": system},
    )


def _slice_map(
    rows: Sequence[ComparisonRow], metric: str, title: str, *, prominent: bool
) -> HeatMap:
    gains = (row.gain for row in rows if row.metric == metric and row.slice is not None)
    reach = max((abs(gain) for gain in gains if gain is not None), default=0.0) or None
    return HeatMap(
        SLICES,
        f"{title}: gain over the baseline by slice",
        rows="slice",
        columns="system",
        value="gain",
        beside="segments",
        where={"metric": metric},
        low=None if reach is None else -reach,
        high=reach,
        faint="undecided",
        prominent=prominent,
    )


def _ngrams(side: str) -> Listing:
    return Listing(
        NGRAMS,
        f"Phrases that only {side} gets right",
        ("ngram", "count", "other", "reference"),
        {"side": side},
        most=_LISTED,
    )


def _bars(metric: str, baseline: str, title: str, rows: Sequence[ComparisonRow]) -> Bars:
    return Bars(
        SYSTEMS,
        f"{title} of each system",
        category="metric",
        series="system",
        values=("score",),
        where={"metric": metric, "slice": None},
        ordered=True,
        strong="decided",
        dots=True,
        better="lower" if _is_lower_better(rows, metric) else "higher",
        band=baseline,
        told=("difference", "p"),
    )
