"""Rows and tables of a meta-evaluation."""

from __future__ import annotations

from itertools import chain, product
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon import stats
from gnomon.agreement.judging import ALL, AVERAGE, Joined, grouped, mean_value
from gnomon.agreement.measures import value
from gnomon.agreement.significance import FEW_SYSTEMS, beats, p_of_better
from gnomon.core.records import METRIC, SLICE, SYSTEM, EndColumns, Record, column, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.agreement.judging import Judging, Overall, Result
    from gnomon.agreement.measures import Value
    from gnomon.agreement.pairing import JudgedMetric, Pairing
    from gnomon.agreement.paraphrased import ComparedMetrics
    from gnomon.agreement.significance import Testing
    from gnomon.core.findings import Table

#: scores that a metric may lack, as a share of those that people gave, and be compared all the same
MISSING = 0.01
_LEAST = 3  # systems that a curve starts with
_CHANGES = ("right", "repaired", "broken", "wrong")


# Rows: columns that several tables of agreement share, then the tables

LEVEL: Any = column("Level", help="system or segment")
STATISTIC: Any = column("Statistic", help="the statistic of agreement, by its name")
GROUPING: Any = column("Grouping", help="none, item (within each segment) or system")
SUBSET: Any = column("Systems", help="all, the top K, or those without outliers")
TEST_SET: Any = column("Test set", help="its language pair, if that tells; average; all pooled")
HUMAN: Any = column("Human scores", help="their kind; none where test sets have several")


class AgreementRow(Record):
    """Agreement of one metric with people, by one measure."""

    language_pair: str = column("Language pair", help="of the test set; average; all pooled")
    level: str = LEVEL
    statistic: str = STATISTIC
    grouping: str = GROUPING
    metric: str = METRIC
    value: float | None = column(
        "Agreement",
        digits=3,
        better="higher",
        help="the statistic; metrics are turned so that higher is better",
        interval=EndColumns(after="p"),
    )
    n: int = column("n", help="systems, scores, pairs or test sets behind the value")
    p: float | None = column(
        "p", digits=3, help="of the test against the baseline: a notice says of what"
    )
    rank: int | None = column("Rank", help="no metric beats one of its own rank significantly")
    cluster: int | None = column(
        "Cluster",
        help="every metric of a cluster beats every metric of the next ones significantly",
    )
    test: str | None = column("Test", help="behind p, ranks and clusters")
    interval: str | None = column(
        "Interval over", help="what is independent: documents left out, segments or systems drawn"
    )
    drawn: int | None = column(
        "Drawn", help="how many of these the figure rests on; of few there is no interval"
    )
    unit: str = column("n counts", help="what n counts: systems, scores, pairs or test sets")
    subset: str = SUBSET
    human: str | None = HUMAN
    epsilon: float | None = column("Tie threshold", digits=4, help="scores this close are ties")
    control: bool = column("Control", help="no metric: for comparison")
    circular: str | None = column(
        "Circular",
        help="why the human scores cannot judge the metric (equal: they are); none: they can",
    )
    missing: float | None = column(
        "Missing", kind="share", digits=3, help="of the scores that people gave, that it lacks"
    )
    p_zero: float | None = column(
        "p of 0", digits=3, help="two-sided, that a correlation of systems is 0"
    )
    decided: bool | None = column(
        "Decided",
        help="whether a correlation is above or below 0, by its interval and p of 0; empty where"
        " nothing tells",
    )
    few: bool = column("Few", help="fewer than four systems: says little")
    test_set: str = TEST_SET
    measure: str = column("Measure", help="statistic, level and grouping in words")
    slice: str | None = SLICE

    @property
    def value_or_zero(self) -> float:
        """The value, of a row that has one."""
        return self.value or 0.0

    @property
    def is_judged(self) -> bool:
        """True if it is a metric that people can judge."""
        return not self.control and self.circular is None

    @property
    def is_few(self) -> bool:
        """True if it rests on next to no systems, and says nothing."""
        systems = self.level == "system" and self.unit == "systems"
        return self.few or (systems and self.n <= FEW_SYSTEMS)

    @property
    def is_incomplete(self) -> bool:
        """True if it lacks more of the scores that people gave than may be."""
        return self.is_judged and (self.missing or 0.0) > MISSING

    @property
    def sign(self) -> int | None:
        """1 or -1: it agrees or disagrees for certain; 0: not certain; None: nothing tells."""
        if self.decided is None:
            return None
        return (1 if self.value_or_zero > 0 else -1) if self.decided else 0

    def is_below(self, best: AgreementRow) -> bool:
        """True if it is no agreement, or the reverse, where that of another is for certain."""
        return best.sign == 1 and self.sign is not None and self.value_or_zero < 0


def judged_rows(rows: Sequence[AgreementRow]) -> list[AgreementRow]:
    """Of the rows of one measure the metrics that people can judge, best first.

    Those that rest on next to no systems, or lack scores, are left out where others do not.
    """
    kept = [row for row in rows if row.value is not None and row.is_judged]
    kept = [row for row in kept if not row.is_few] or kept
    kept = [row for row in kept if not row.is_incomplete] or kept
    return sorted(kept, key=lambda row: -row.value_or_zero)


class AverageGainRow(Record):
    """One metric's gain over what it is compared with, over test sets."""

    level: str = LEVEL
    statistic: str = STATISTIC
    grouping: str = GROUPING
    subset: str = SUBSET
    metric: str = METRIC
    average: float | None = column("Average", digits=3, better="higher", help="over the test sets")
    against: str = column("Against", help="the metric that it is compared with")
    gain: float | None = column("Ave gain", digits=3, better="higher", help="over that metric")
    gain_min: float | None = column(
        "Min gain", digits=3, better="higher", help="the smallest over the test sets"
    )
    gain_max: float | None = column(
        "Max gain", digits=3, better="higher", help="the largest over the test sets"
    )
    percent: float | None = column(
        "Ave %",
        digits=2,
        better="higher",
        help="gain in per cent of that metric's value; over the test sets where that is above 0",
    )
    percent_min: float | None = column(
        "Min %", digits=2, better="higher", help="the smallest over the test sets"
    )
    percent_max: float | None = column(
        "Max %", digits=2, better="higher", help="the largest over the test sets"
    )
    test_sets: int = column("Test sets", help="where both are defined")
    better: int | None = column("Better", help="test sets on which it is significantly better")
    worse: int | None = column("Worse", help="test sets on which the other one is")
    human: str | None = HUMAN
    slice: str | None = SLICE


class OverallRow(Record):
    """One metric's average over all tasks: measures on test sets, each with its weight."""

    metric: str = METRIC
    average: float | None = column(
        "Average", digits=3, better="higher", help="weighted mean; correlations as (r + 1)/2"
    )
    place: int | None = column("Place", help="by the average alone; differences are not tested")
    tasks: int = column("Tasks", help="that are averaged; a notice names them with their weights")
    human: str | None = HUMAN
    slice: str | None = SLICE


class WinRow(Record):
    """One metric against another, by one measure."""

    test_set: str = TEST_SET
    level: str = LEVEL
    statistic: str = STATISTIC
    grouping: str = GROUPING
    subset: str = SUBSET
    metric: str = METRIC
    against: str = column("Against", help="the other metric")
    difference: float | None = column("Difference", digits=3, help="on what both have scored")
    p: float | None = column(
        "p", digits=3, help="of the hypothesis that the first one agrees better"
    )
    p_adjusted: float | None = column(
        "Corrected p",
        digits=3,
        help="of its being better, after Holm over the ordered pairs of metrics, those alone that"
        " people can judge, without paraphrases",
    )
    least: float | None = column(
        "Least p", digits=4, help="the smallest corrected p that the draws can show"
    )
    decided: bool | None = column("Better", help="corrected p is at most 1 - confidence")
    human: str | None = HUMAN
    slice: str | None = SLICE


class JudgedSystemRow(Record):
    """Scores of a system by people and one metric."""

    test_set: str = TEST_SET
    system: str = SYSTEM
    metric: str = METRIC
    score: float = column("Score", digits=3, help="turned so that higher is better")
    human_score: float = column("Human score", digits=3, help="people's score of the system")
    outlier: bool = column("Outlier", help="by its human score")
    segments: int | None = column("Segments", help="scored; none: scores of systems alone")
    human: str | None = HUMAN


class TopSystemsRow(Record):
    """A statistic of system scores over the K best systems alone."""

    test_set: str = TEST_SET
    statistic: str = STATISTIC
    metric: str = METRIC
    k: int = column("K best systems", help="how many systems, by human score")
    value: float | None = column("Agreement", digits=3, help="the statistic over these systems")
    n: int = column("n", help="systems or pairs behind the value")
    human: str | None = HUMAN


class DecisionRow(Record):
    """Decisions that a metric gets right where the baseline does not, and the reverse."""

    test_set: str = TEST_SET
    metric: str = METRIC
    comparison: str = column(
        "Comparison",
        help="systems: pairs of systems; darr: outputs that people ranked, or scored far apart;"
        " pairs: all outputs of a segment that people scored unlike",
    )
    pairs: int = column("Pairs", help="that people tell apart and both metrics scored")
    right: int = column("Both right", help="right with the baseline and with the metric")
    repaired: int = column("Repaired", help="right where the baseline is wrong")
    broken: int = column("Broken", help="wrong where the baseline is right")
    wrong: int = column("Both wrong", help="wrong with the baseline and with the metric")
    right_share: float | None = column("Both right", kind="share", digits=3, help="of the pairs")
    repaired_share: float | None = column(
        "Repaired",
        kind="share",
        digits=3,
        help="of the pairs",
        interval=EndColumns(
            "repaired_low",
            "repaired_high",
            how="by bootstrap over segments",
            kind="share",
            after="wrong_share",
        ),
    )
    broken_share: float | None = column(
        "Broken",
        kind="share",
        digits=3,
        help="of the pairs",
        interval=EndColumns(
            "broken_low",
            "broken_high",
            how="by bootstrap over segments",
            kind="share",
            after="repaired_high",
        ),
    )
    wrong_share: float | None = column("Both wrong", kind="share", digits=3, help="of the pairs")
    human: str | None = HUMAN


#: by the names of the tables
ROWS: Mapping[str, type[Record]] = {
    "metaeval": AgreementRow,
    "averages": AverageGainRow,
    "overall": OverallRow,
    "wins": WinRow,
    "systems": JudgedSystemRow,
    "top_k": TopSystemsRow,
    "decisions": DecisionRow,
}


def agreement_rows(
    result: Result | Joined, baseline: str | None, how: Testing
) -> Iterator[AgreementRow]:
    """One row per metric, best first (equal ones by name), then the controls."""
    names, tests = _names(result), result.verdicts
    entries = _entries(result)
    equal = None if isinstance(result, Joined) else result.equal
    p = _against(names, tests.p, baseline)
    for k in _best_first(result):
        yield _agreement_row(
            result,
            names[k],
            result.values[k],
            p=p[k],
            intervals={"value": (float(tests.low[k]), float(tests.high[k]))},
            control=entries[names[k]].control,
            circular=entries[names[k]].circular or equal,
            rank=_whole(result.ranks[k]),
            cluster=_whole(result.clusters[k]),
            test=tests.test or None,
            interval=tests.interval or None,
            drawn=None if tests.drawn is None else int(tests.drawn[k]),
            missing=None if isinstance(result, Joined) else _missing(result, entries[names[k]]),
            **_test_against_zero(result, k, how),
        )
    for name, control in result.controls:
        yield _agreement_row(result, name, control, control=True)


def _missing(result: Result, entry: JudgedMetric) -> float | None:
    """Of the outputs that people scored, or of systems, how many a metric did not, as a share.

    What has no text in the test set (a reference that was judged) counts only where nothing has.
    """
    pairing, texts = result.pairing, result.pairing.testset.systems
    people, scored = pairing.segments, entry.segments
    if np.isnan(people).all() or np.isnan(scored).all():
        people, scored = pairing.system, entry.system
    there = ~np.isnan(people)
    there[[bool(texts) and name not in texts for name in pairing.systems]] = False
    return float(np.isnan(scored[there]).mean()) if there.any() else None


def _test_against_zero(result: Result | Joined, k: int, how: Testing) -> dict[str, Any]:
    """Test a correlation against 0; bootstrap intervals of few systems are narrow."""
    measure, found, tests = result.measure, result.values[k], result.verdicts
    if isinstance(result, Joined) or measure.kind.ties or np.isnan(found.value):
        return {}
    p = None
    if measure.level == "system":
        p = stats.correlation_p(found.value, found.n, measure.statistic)
        if p > how.alpha:
            return {"p_zero": p, "decided": False}
    low, high = tests.low[k], tests.high[k]
    if np.isnan(low) or np.isnan(high):
        # of systems in a perfect order a bootstrap has no interval
        return {"p_zero": p, "decided": True if p is not None and tests.interval else None}
    return {"p_zero": p, "decided": not low <= 0 <= high}


def _agreement_row(result: Result | Joined, name: str, found: Value, **tested: Any) -> AgreementRow:
    measure = result.measure
    alone = None if isinstance(result, Joined) else result
    least = FEW_SYSTEMS * (FEW_SYSTEMS - 1) // 2 if measure.unit == "pairs" else FEW_SYSTEMS
    tests = ("p", "rank", "cluster", "test", "interval", "drawn", "missing", "p_zero", "decided")
    untested = dict.fromkeys((*tests, "circular"))
    row: dict[str, Any] = {**untested, "control": False, **tested}
    return AgreementRow(
        language_pair=alone.pairing.pair if alone else result.label,
        level=measure.level,
        statistic=measure.statistic,
        grouping=measure.grouping,
        metric=name,
        value=found.value,
        n=found.n,
        unit="test sets" if not alone and result.label == AVERAGE else measure.unit,
        subset=result.subset,
        human=result.human,
        epsilon=found.epsilon,
        few=alone is not None and measure.level == "system" and found.n < least,
        test_set=result.label,
        measure=measure.title,
        slice=result.slice,
        **row,
    )


def _names(result: Result | Joined) -> tuple[str, ...]:
    return result.names if isinstance(result, Joined) else result.cells.names


def _best_first(result: Result | Joined) -> list[int]:
    names, values = _names(result), [v.value for v in result.values]
    return sorted(range(len(names)), key=lambda k: (np.isnan(values[k]), -values[k], names[k]))


def _entries(result: Result | Joined) -> Mapping[str, JudgedMetric]:
    """The metrics by name; of several test sets, those whom people cannot judge on one of them."""
    parts = result.parts if isinstance(result, Joined) else [result]
    entries = [entry for of_set in parts for entry in of_set.pairing.entries]
    entries.sort(key=lambda entry: entry.circular is not None)
    return {entry.metric: entry for entry in entries}


def _against(
    names: Sequence[str], p: NDArray[np.float64] | None, baseline: str | None
) -> list[float]:
    if p is None or baseline not in names:
        return [float("nan")] * len(names)
    return [float(value) for value in p[:, names.index(str(baseline))]]


def _whole(number: float) -> int | None:
    return None if np.isnan(number) else int(number)


def average_gains(
    results: Sequence[Result], compared: Sequence[ComparedMetrics], how: Testing
) -> Iterator[AverageGainRow]:
    """Gains over what metrics are compared with: mean, smallest and largest over test sets."""
    pairs = {pair.metric: pair for pair in compared}
    for group, parts in grouped(results).items():
        if len(parts) == 1:
            continue
        measure, subset, slice_name, _ = group
        kinds = {result.human for result in parts}
        human = kinds.pop() if len(kinds) == 1 else None
        names = dict.fromkeys(name for result in parts for name in result.cells.names)
        means = {
            name: mean_value([_find_value(result, name) for result in parts]).value
            for name in names
        }
        others = [name for name in means if name in pairs]
        for name in sorted(others, key=lambda n: (np.isnan(means[n]), -means[n], n)):
            baseline = pairs[name].base
            shared = [p for p in parts if {name, baseline} <= set(p.cells.names)]
            gains = [_gain(result, name, baseline) for result in shared]
            defined = np.array([gain for gain in gains if not np.isnan(gain)])
            percent = _percent(shared, baseline, gains)
            yield AverageGainRow(
                level=measure.level,
                statistic=measure.statistic,
                grouping=measure.grouping,
                subset=subset,
                metric=name,
                against=baseline,
                average=means[name],
                gain=float(defined.mean()) if len(defined) else None,
                gain_min=float(defined.min()) if len(defined) else None,
                gain_max=float(defined.max()) if len(defined) else None,
                percent=float(percent.mean()) if len(percent) else None,
                percent_min=float(percent.min()) if len(percent) else None,
                percent_max=float(percent.max()) if len(percent) else None,
                test_sets=len(defined),
                better=_won(shared, name, baseline, how),
                worse=_won(shared, baseline, name, how),
                human=human,
                slice=slice_name,
            )


def _find_value(part: Result, name: str) -> Value | None:
    return part.values[part.cells.names.index(name)] if name in part.cells.names else None


def _gain(part: Result, name: str, baseline: str) -> float:
    places = tuple(part.cells.names.index(n) for n in (name, baseline))
    tested = float(part.verdicts.differences[places])
    if not np.isnan(tested):
        return tested  # on what both have scored
    ours, theirs = (_find_value(part, n) for n in (name, baseline))
    return ours.value - theirs.value if ours and theirs else float("nan")


def _percent(parts: Sequence[Result], baseline: str, gains: Sequence[float]) -> NDArray[np.float64]:
    """Gains in per cent of the baseline's values, of test sets where these are above 0."""
    bases = [_find_value(result, baseline) for result in parts]
    return np.array(
        [
            100 * gain / base.value
            for base, gain in zip(bases, gains, strict=True)
            if base is not None and base.value > 0 and not np.isnan(gain)
        ]
    )


def _won(parts: Sequence[Result], better: str, worse: str, how: Testing) -> int | None:
    """On how many test sets one metric is significantly better than the other."""
    if not any(result.verdicts.test for result in parts):
        return None
    places = [(p.cells.names.index(better), p.cells.names.index(worse)) for p in parts]
    return [
        beats(p_of_better(part.verdicts)[at], how) for part, at in zip(parts, places, strict=True)
    ].count(True)


def overall_rows(found: Overall) -> Iterator[OverallRow]:
    """The average of each metric over all tasks, best first."""
    values = found.values
    order = sorted(values, key=lambda name: (np.isnan(values[name]), -values[name], name))
    for rank, name in enumerate(order, start=1):
        yield OverallRow(
            metric=name,
            average=values[name],
            place=None if np.isnan(values[name]) else rank,
            tasks=len(found.tasks),
            human=found.human,
            slice=found.slice,
        )


def win_rows(
    result: Result | Joined, rows: Sequence[AgreementRow], how: Testing
) -> Iterator[WinRow]:
    """Every ordered pair of metrics, best first: difference, p, and whether the first is better.

    Each metric stands against itself, too, without p: so that the rows make a square.
    """
    names, tests, measure = _names(result), result.verdicts, result.measure
    judged = {row.metric for row in judged_rows(rows)}
    p = p_of_better(tests)
    places = np.array([name in judged for name in names], dtype=bool)
    tested = ~np.isnan(p) & places[:, None] & places
    corrected = stats.holm(np.where(tested, p, np.nan))
    least = int(tested.sum()) * how.least_p(tests.test)
    order = _best_first(result)
    for i, j in product(order, order) if tests.test and len(names) > 1 else ():
        yield WinRow(
            test_set=result.label,
            level=measure.level,
            statistic=measure.statistic,
            grouping=measure.grouping,
            subset=result.subset,
            metric=names[i],
            against=names[j],
            difference=float(tests.differences[i, j]),
            p=float(tests.p[i, j]) if i != j else None,
            p_adjusted=float(corrected[i, j]),
            least=least if tested[i, j] else None,
            decided=beats(corrected[i, j], how),
            human=result.human,
            slice=result.slice,
        )


def point_rows(pairing: Pairing) -> Iterator[JudgedSystemRow]:
    """Rows of people's and each metric's scores for every system."""
    outliers = stats.outliers(pairing.system)
    for entry in pairing.entries:
        for k in np.flatnonzero(~(np.isnan(pairing.system) | np.isnan(entry.system))).tolist():
            yield JudgedSystemRow(
                test_set=pairing.label,
                system=pairing.systems[k],
                metric=entry.metric,
                score=float(entry.system[k]),
                human_score=float(pairing.system[k]),
                outlier=bool(outliers[k]),
                segments=int((~np.isnan(entry.segments[k])).sum()) or None,
                human=pairing.kinds.get("system"),
            )


def curve_rows(results: Iterable[Result]) -> Iterator[TopSystemsRow]:
    """Statistics of system scores over the K best systems, for every K."""
    for result in results:
        measure = result.measure
        if measure.level != "system" or result.subset != ALL or not measure.is_row_statistic:
            continue
        if result.slice is not None:
            continue
        order = stats.top(result.cells.human, max(len(result.cells.human), 1))
        for k in range(_LEAST, len(order) + 1):
            kept = np.zeros(len(result.cells.human), dtype=bool)
            kept[order[:k]] = True
            cells = result.cells.only(kept)
            for m, metric in enumerate(cells.names):
                figure = value(cells, m)
                yield TopSystemsRow(
                    test_set=result.label,
                    statistic=measure.statistic,
                    metric=metric,
                    k=k,
                    value=figure.value,
                    n=figure.n,
                    human=result.human,
                )


def decision_rows(
    pairing: Pairing, compared: Sequence[ComparedMetrics], how: Testing, threshold: float | None
) -> Iterator[DecisionRow]:
    """Rows of the decisions that metrics get right where what they are compared with does not."""
    entries = {entry.metric: entry for entry in pairing.entries}
    ordered = dict(ordered_outputs(pairing, threshold)) if compared else {}
    for pair in compared:
        if {pair.base, pair.metric} <= set(entries):
            both = entries[pair.base], entries[pair.metric]
            yield from changed_decisions(pairing, both, ordered, how)


def changed_decisions(
    pairing: Pairing,
    pair: tuple[JudgedMetric, JudgedMetric],
    compared: Mapping[str, stats.OrderedPairs],
    how: Testing,
) -> Iterator[DecisionRow]:
    """Rows of the decisions that only one of two metrics gets right, by which of them it is."""
    base, entry = pair
    if "system" in pairing.kinds:
        people, *systems = (side[:, None] for side in (pairing.system, base.system, entry.system))
        changes = stats.changed_decisions(stats.ordered_pairs(people), *systems, resamples=0)
        yield _decision_row(pairing, entry, "systems", changes)
    for comparison, pairs in compared.items():
        changes = stats.changed_decisions(
            pairs,
            base.segments,
            entry.segments,
            resamples=how.resamples,
            confidence=how.confidence,
            seed=how.seed,
        )
        yield _decision_row(pairing, entry, comparison, changes)


def ordered_outputs(
    pairing: Pairing, threshold: float | None
) -> Iterator[tuple[str, stats.OrderedPairs]]:
    """Pairs of outputs of one segment that people ordered."""
    ranked = pairing.ranked
    if ranked is not None:
        yield "darr", stats.OrderedPairs(ranked.segment, ranked.better, ranked.worse)
    elif "segment" in pairing.kinds:
        if threshold is not None:
            yield "darr", stats.ordered_pairs(pairing.segments, threshold=threshold)
        yield "pairs", stats.ordered_pairs(pairing.segments)


def _decision_row(
    pairing: Pairing, entry: JudgedMetric, comparison: str, changes: stats.ChangedDecisions
) -> DecisionRow:
    counts = dict(zip(_CHANGES, changes[:4], strict=True))
    ends = list(zip(changes.low, changes.high, strict=True))
    total = sum(counts.values())
    row: dict[str, Any] = {**counts}
    row |= {f"{name}_share": n / total if total else None for name, n in counts.items()}
    kind = pairing.kinds.get("system" if comparison == "systems" else "segment")
    return DecisionRow(
        test_set=pairing.label,
        metric=entry.metric,
        comparison=comparison,
        pairs=total,
        human=kind or pairing.kinds.get("ranking"),
        intervals={"repaired_share": ends[1], "broken_share": ends[2]},
        **row,
    )


# Tables


def tables(
    pairings: Sequence[Pairing],
    results: Sequence[Result],
    over: Sequence[Joined],
    averages: Sequence[Overall],
    judging: Judging,
    compared: Sequence[ComparedMetrics],
    *,
    baseline: str | None,
) -> dict[str, Table]:
    """The tables of a meta-evaluation, by name."""
    how, threshold = judging.testing, judging.threshold
    every: list[Result | Joined] = [*results, *over]
    whole = [pairing for pairing in pairings if pairing.slice is None]
    rows = [list(agreement_rows(result, baseline, how)) for result in every]
    wide = {pair.metric for pair in compared if pair.method is not None}
    made = [
        table("metaeval", "Agreement with people", AgreementRow, chain.from_iterable(rows)),
        table(
            "averages",
            "Gains over the test sets",
            AverageGainRow,
            average_gains(results, compared, how),
        ),
        table(
            "overall",
            "Average over tasks",
            OverallRow,
            (row for average in averages for row in overall_rows(average)),
        ),
        table(
            "wins",
            "Metric against metric",
            WinRow,
            (
                row
                for result, of_result in zip(every, rows, strict=True)
                for row in win_rows(result, [r for r in of_result if r.metric not in wide], how)
            ),
        ),
        table(
            "systems",
            "Scores of systems",
            JudgedSystemRow,
            (row for pairing in whole for row in point_rows(pairing)),
        ),
        table("top_k", "Agreement over the best systems alone", TopSystemsRow, curve_rows(results)),
        table(
            "decisions",
            "Decisions repaired and broken",
            DecisionRow,
            (row for pairing in whole for row in decision_rows(pairing, compared, how, threshold)),
        ),
    ]
    return {table_.name: table_ for table_ in made}
