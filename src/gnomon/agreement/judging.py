"""Figures of each measure for all metrics, on one test set and over several."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gnomon import stats
from gnomon.agreement.measures import (
    Measure,
    MeasuredScores,
    Value,
    cells,
    value,
    value_of_chance,
)
from gnomon.agreement.pairing import RANDOM
from gnomon.agreement.significance import (
    Testing,
    Verdicts,
    nothing,
    pooled_verdicts,
    verdicts,
)
from gnomon.core.errors import UsageError
from gnomon.messages.audiences import parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.agreement.pairing import JudgedMetric, Pairing

# Results of each measure for all metrics on one test set: values, intervals, ranks.


ALL = "all"
_PAIR = 2  # systems that it takes to compare any
_WHOLE = 100  # per cent
_ROUNDING = 1e-12  # how far scores that are equal lie apart, as a share of them
_FEWEST = 3  # systems below which every draw and every order says the same line: no verdict
_ALONE = tuple(Measure(name, "segment", "none") for name in ("pearson", "spearman", "kendall_b"))


@dataclass(frozen=True)
class Judging:
    """Measures, the systems that they cover, and their tests."""

    measures: tuple[Measure, ...]  # what is measured
    testing: Testing  # how differences are tested
    top: tuple[str, ...] = ()  # over these best systems alone, too: numbers, or shares ("30%")
    inliers: bool = False  # over the systems whose human score is no outlier alone, too
    # smallest difference of human scores that counts for DaRR from scores; None: DaRR from rankings
    # alone
    threshold: float | None = None
    spa_seed: int = 0  # seed of the sign flips of soft pairwise accuracy
    named: bool = False  # whether statistics, groupings or a preset were named
    # what is taken as independent at segment level; "auto": documents where they are known and no
    # test of segments is named
    unit: Literal["auto", "segment", "document"] = "auto"

    @property
    def uses_documents(self) -> bool:
        """True if documents are taken as independent, where they are known."""
        return self.unit == "document" or (self.unit == "auto" and self.testing.test == "auto")


class Result(NamedTuple):
    """One measure on one test set, over some systems."""

    pairing: Pairing  # the test set
    subset: str  # "all", "top 6", "without outliers"
    cells: MeasuredScores  # the scores compared, of the metrics
    values: tuple[Value, ...]  # one per metric
    verdicts: Verdicts  # intervals and tests
    ranks: NDArray[np.float64]  # ranks from 1 [M]; NaN where undefined
    clusters: NDArray[np.float64]  # clusters from 1 [M]
    controls: tuple[tuple[str, Value], ...]  # names and values of the controls
    systems: NDArray[np.bool_] | None = None  # over which systems; None: all

    @property
    def measure(self) -> Measure:
        """Measure of the results."""
        return self.cells.measure

    @property
    def label(self) -> str:
        """Label of the test set in tables."""
        return self.pairing.label

    @property
    def slice(self) -> str | None:
        """Over which segments; None: all."""
        return self.pairing.slice

    @property
    def equal(self) -> str | None:
        """Where all human scores that the measure compares are equal; None where they differ."""
        cells, human = self.cells, self.cells.human
        if self.subset != ALL or self.slice is not None or cells.pairs is not None:
            return None
        several, within = human.ndim > 1, cells.measure.grouping
        if several and cells.measure.level == "system":
            return "equal" if _is_constant(human, 0) else None
        if _is_constant(human, {"item": 0, "system": 1}.get(within) if several else None):
            every = within == "none" or not several or np.ptp(human[~np.isnan(human)]) == 0
            return "equal" if every else f"equal by {within}"
        if several and human.shape[1] > 1 and _is_constant(human, 1):
            return "equal by system"
        return None

    @property
    def human(self) -> str | None:
        """The kind of the human scores or rankings that it was measured by."""
        ranked = self.measure.statistic == "darr" and self.cells.pairs is not None
        return self.pairing.kinds.get("ranking" if ranked else self.measure.human_level)


def _is_constant(human: NDArray[np.float64], axis: int | None) -> bool:
    """True if human scores [systems, segments] are equal along an axis; where there are any."""
    most = np.nanmax(human, axis=axis, initial=-np.inf, where=~np.isnan(human))
    least = np.nanmin(human, axis=axis, initial=np.inf, where=~np.isnan(human))
    judged = np.isfinite(most)
    spread = np.where(judged, most, 0) - np.where(judged, least, 0)
    alike = (spread <= _ROUNDING * np.abs(np.where(judged, most, 1))).all()
    return bool(np.any(judged)) and bool(alike)


def judge(pairing: Pairing, judging: Judging) -> Iterator[Result]:
    """All measures of one kind of judgements, in order, as far as these allow them.

    Where people judged a single system, correlations over its segments take the place of the usual
    measures, which compare systems.
    """
    usual = not judging.named and any(m.level == "segment" for m in judging.measures)
    alone = usual and pairing.judged < _PAIR
    for measure in _ALONE if alone else judging.measures:
        metrics = _cells(pairing, measure, pairing.entries, judging)
        pairless = metrics.pairs is None and metrics.threshold is None
        if metrics.empty or (measure.statistic == "darr" and pairless):
            continue
        beside = pairing.controls if measure.kind.ties else ()
        others = _cells(pairing, measure, beside, judging)
        for subset, systems in _subsets(pairing, measure, judging):
            yield _result(
                pairing,
                subset,
                (metrics if systems is None else metrics.only(systems)).trimmed(),
                (others if systems is None else others.only(systems)).trimmed(),
                judging.testing,
            )._replace(systems=systems)


def _cells(
    pairing: Pairing, measure: Measure, entries: Sequence[JudgedMetric], judging: Judging
) -> MeasuredScores:
    return cells(
        pairing,
        measure,
        entries,
        threshold=judging.threshold,
        spa_seed=judging.spa_seed,
        by_document=judging.uses_documents,
    )


def _subsets(
    pairing: Pairing, measure: Measure, judging: Judging
) -> Iterator[tuple[str, NDArray[np.bool_] | None]]:
    yield ALL, None
    if measure.level == "segment":
        return
    for top in judging.top:
        k = best_count(top, int((~np.isnan(pairing.system)).sum()))
        if k < _FEWEST and top.endswith("%"):
            continue
        kept = np.zeros(len(pairing.systems), dtype=bool)
        kept[stats.top(pairing.system, k)] = True
        yield f"top {top}", kept
    if judging.inliers:
        yield "without outliers", ~stats.outliers(pairing.system)


def best_count(top: int | str, judged: int) -> int:
    """Number of best systems: "30%" of those judged, rounded down, or a number.

    Raises:
        UsageError: it is neither, a number below 2, or a share above 100%.

    >>> best_count("30%", 16), best_count(4, 16)
    (4, 4)
    """
    text = str(top)
    digits, share = text.removesuffix("%"), text.endswith("%")
    number = int(digits) if digits.isdecimal() else 0
    if not (1 <= number <= _WHOLE if share else number >= _PAIR):
        raise UsageError(
            parameter("top"),
            f" takes a number of systems from 2 on, or a share of them such as 30%; got {text!r}",
        )
    return number * judged // _WHOLE if share else number


def _result(
    pairing: Pairing, subset: str, metrics: MeasuredScores, others: MeasuredScores, how: Testing
) -> Result:
    values = tuple(value(metrics, k) for k in range(len(metrics.names)))
    epsilons = [np.nan if v.epsilon is None else v.epsilon for v in values]
    if metrics.measure.level == "system" and metrics.judged < _FEWEST:
        tests = nothing(len(values))
    else:
        tests = verdicts(metrics, how, np.array(epsilons, dtype=np.float64))
    scores = np.array([v.value for v in values], dtype=np.float64)
    tested = bool(tests.test)
    undefined = np.full(len(values), np.nan)
    entries = {entry.metric: entry for entry in pairing.entries}
    counted = np.array(
        [not (entries[n].control or entries[n].circular) for n in metrics.names], dtype=bool
    )
    return Result(
        pairing=pairing,
        subset=subset,
        cells=metrics,
        values=values,
        verdicts=tests,
        ranks=_rank_judged(stats.ranks, scores, tests.p, how, counted) if tested else undefined,
        clusters=_rank_judged(stats.clusters, scores, tests.p, how, counted)
        if tested
        else undefined,
        controls=tuple(
            (name, (value_of_chance if name == RANDOM else value)(others, k))
            for k, name in enumerate(others.names)
        ),
    )


def _rank_judged(
    ranking: Callable[..., NDArray[np.float64]],
    scores: NDArray[np.float64],
    p: NDArray[np.float64],
    how: Testing,
    counted: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Ranks or clusters of the metrics that people can judge; controls have none."""
    values = np.full(len(scores), np.nan)
    values[counted] = ranking(scores[counted], p[np.ix_(counted, counted)], alpha=how.alpha)
    return values


# One measure over several test sets: averages, pooled decisions, gains over a baseline.


AVERAGE = "average"
POOLED = "all"


class ResultGroup(NamedTuple):
    """Results that belong together over test sets."""

    measure: Measure  # what was measured
    subset: str  # over which systems
    slice: str | None  # over which segments; None: all
    # the kind of judgements; None: test sets have one each, which need not be the same
    human: str | None


class Joined(NamedTuple):
    """One measure over several test sets."""

    label: str  # "average" (the mean over test sets) or "all" (decisions pooled)
    group: ResultGroup  # what was measured, over which systems and segments, by which judgements
    names: tuple[str, ...]  # the metrics
    values: tuple[Value, ...]  # one per metric; n counts test sets, or pairs that were pooled
    verdicts: Verdicts  # tests, where decisions were pooled
    ranks: NDArray[np.float64]  # ranks from 1 [M]; NaN where undefined
    clusters: NDArray[np.float64]  # clusters from 1 [M]
    controls: tuple[tuple[str, Value], ...]  # names and values of the controls
    parts: tuple[Result, ...]  # what was measured on each test set

    @property
    def measure(self) -> Measure:
        """Measure of the results."""
        return self.group.measure

    @property
    def subset(self) -> str:
        """Over which systems of each test set."""
        return self.group.subset

    @property
    def slice(self) -> str | None:
        """Over which segments of each test set; None: all."""
        return self.group.slice

    @property
    def human(self) -> str | None:
        """The kind of judgements, where there is one."""
        return self.group.human


def grouped(results: Sequence[Result]) -> dict[ResultGroup, list[Result]]:
    """The results that belong together over test sets, in order.

    Kinds of judgements are kept apart only where a test set has several, so that test sets which
    people judged by one kind each, whichever, have an average.
    """
    bare = Counter((id(r.pairing.testset), r.measure, r.subset, r.pairing.slice) for r in results)
    several = {key[1:] for key, count in bare.items() if count > 1}
    groups: dict[ResultGroup, list[Result]] = {}
    for result in results:
        key = (result.measure, result.subset, result.pairing.slice)
        human = result.human if key in several else None
        groups.setdefault(ResultGroup(*key, human), []).append(result)
    return groups


def joined(results: Sequence[Result], judging: Judging) -> Iterator[Joined]:
    """Averages and pooled decisions of what was measured on several test sets."""
    for group, parts in grouped(results).items():
        if len(parts) > 1:
            if group.measure.statistic == "pairwise_accuracy":
                yield _pool(group, parts, judging)
            yield _average(group, parts)


def _average(group: ResultGroup, parts: Sequence[Result]) -> Joined:
    names = _names(parts)
    by_name = [dict(zip(p.cells.names, p.values, strict=True)) for p in parts]
    beside = [dict(p.controls) for p in parts]
    undefined = np.full(len(names), np.nan)
    return Joined(
        AVERAGE,
        group,
        names,
        tuple(mean_value([values.get(name) for values in by_name]) for name in names),
        nothing(len(names)),
        undefined,
        undefined,
        tuple((n, mean_value([p.get(n) for p in beside])) for n in _controls(parts)),
        tuple(parts),
    )


def mean_value(values: Sequence[Value | None]) -> Value:
    """The mean over test sets; undefined unless it is defined on every one of them."""
    numbers = np.array([np.nan if v is None else v.value for v in values])
    return Value(float(numbers.mean()), int((~np.isnan(numbers)).sum()))


def _pool(group: ResultGroup, parts: Sequence[Result], judging: Judging) -> Joined:
    everywhere = [n for n in _names(parts) if all(n in p.cells.names for p in parts)]
    chosen = [_only(result.cells, everywhere) for result in parts]
    values = tuple(_decide(chosen, k) for k in range(len(everywhere)))
    how = judging.testing
    drawn = how.resamples > 0 and how.test in ("auto", "permutation") and len(everywhere) > 0
    tests = pooled_verdicts(chosen, how) if drawn else nothing(len(everywhere))
    scores = np.array([v.value for v in values], dtype=np.float64)
    undefined = np.full(len(values), np.nan)
    return Joined(
        POOLED,
        group,
        tuple(everywhere),
        values,
        tests,
        stats.ranks(scores, tests.p, alpha=how.alpha) if drawn else undefined,
        stats.clusters(scores, tests.p, alpha=how.alpha) if drawn else undefined,
        tuple((n, _sum_values([dict(p.controls).get(n) for p in parts])) for n in _controls(parts)),
        tuple(parts),
    )


def _decide(parts: Sequence[MeasuredScores], metric: int) -> Value:
    decisions = [stats.pairwise_decisions(p.human, p.metrics[metric]) for p in parts]
    agreeing, total = (sum(side) for side in zip(*decisions, strict=True))
    return Value(agreeing / total if total else float("nan"), total)


def _sum_values(values: Sequence[Value | None]) -> Value:
    defined = [v for v in values if v is not None and v.n]
    total = sum(v.n for v in defined)
    return Value(sum(v.value * v.n for v in defined) / total if total else float("nan"), total)


def _only(found: MeasuredScores, names: Sequence[str]) -> MeasuredScores:
    rows = [found.names.index(name) for name in names]
    return found.having(found.human, found.metrics[rows])


def _names(parts: Sequence[Result]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for result in parts for name in result.cells.names))


def _controls(parts: Sequence[Result]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for result in parts for name, _ in result.controls))


# Several measures in one number: the mean over tasks, each with its weight.


class Overall(NamedTuple):
    """The weighted mean over tasks, of each metric that all tasks have."""

    slice: str | None  # over which segments; None: all
    human: str | None  # the kind of judgements; None: test sets have one each
    tasks: tuple[str, ...]  # what is averaged: measures with their test sets, in words
    weights: tuple[float, ...]  # one per task; they add up to 1
    values: Mapping[str, float]  # metric -> mean, of values that lie between 0 and 1


def overall(
    results: Sequence[Result], over: Sequence[Joined], tasks: Sequence[Measure]
) -> Iterator[Overall]:
    """The mean over all tasks, as mt-metrics-eval takes it: correlations become (r + 1)/2.

    A task is a measure on a test set; a measure whose decisions are pooled is one task over all of
    them, and its weight counts once for each.
    """
    groups = [group for group in grouped(results) if group.subset == ALL]
    for slice_name, human in dict.fromkeys((group.slice, group.human) for group in groups):
        of_tasks: list[tuple[str, int, dict[str, float]]] = []
        for group in groups:
            if (group.slice, group.human) == (slice_name, human) and group.measure in tasks:
                of_tasks += _task_values(grouped(results)[group], over, group)
        if not of_tasks:
            continue
        total = sum(weight for _, weight, _ in of_tasks)
        common = [n for n in of_tasks[0][2] if all(n in values for *_, values in of_tasks)]
        yield Overall(
            slice_name,
            human,
            tuple(name for name, *_ in of_tasks),
            tuple(weight / total for _, weight, _ in of_tasks),
            {n: sum(weight * values[n] for _, weight, values in of_tasks) / total for n in common},
        )


def _task_values(
    parts: Sequence[Result], over: Sequence[Joined], group: ResultGroup
) -> list[tuple[str, int, dict[str, float]]]:
    """Names, weights and values (in 0 to 1) of a measure's tasks."""
    measure, title = group.measure, group.measure.title
    for pooled in (each for each in over if each.label == POOLED and each.group == group):
        return [(title, len(parts), _scale(measure, pooled.names, pooled.values))]
    return [
        (f"{title}, {p.pairing.label}", 1, _scale(measure, p.cells.names, p.values)) for p in parts
    ]


def _scale(measure: Measure, names: Sequence[str], values: Sequence[Value]) -> dict[str, float]:
    share = measure.kind.share
    numbers = zip(names, (figure.value for figure in values), strict=True)
    return {name: value if share else (value + 1) / 2 for name, value in numbers}
