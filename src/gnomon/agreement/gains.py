"""Gains in agreement with people by one metric over another, with intervals and tests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gnomon import stats
from gnomon.agreement.judging import ALL
from gnomon.agreement.measures import cells, pair_scores, value
from gnomon.agreement.significance import FEW_SYSTEMS
from gnomon.agreement.tables import GROUPING, HUMAN, LEVEL, STATISTIC, SUBSET, TEST_SET
from gnomon.core.records import METRIC, Record, column
from gnomon.core.verdicts import LEAST
from gnomon.messages.grammar import amount
from gnomon.stats.correlation import pearson_of_sums
from gnomon.stats.draws import DocumentDraws
from gnomon.stats.measures import grouped_statistic
from gnomon.stats.resampling import percentile_interval, resample_counts, resampled_sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.agreement.judging import Judging, Result
    from gnomon.agreement.measures import Measure, MeasuredScores
    from gnomon.agreement.pairing import JudgedMetric, Pairing
    from gnomon.agreement.paraphrased import ComparedMetrics
    from gnomon.agreement.significance import Testing
    from gnomon.agreement.tables import AgreementRow, DecisionRow
    from gnomon.core.records import Ends
    from gnomon.stats.p_values import Alternative

    Floats = NDArray[np.float64]

#: systems or scores that a correlation needs to say anything
FEWEST_POINTS = 3


class AgreementGainRow(Record):
    """Gain in agreement with people by one metric over another, by one measure."""

    test_set: str = TEST_SET
    level: str = LEVEL
    statistic: str = STATISTIC
    grouping: str = GROUPING
    subset: str = SUBSET
    metric: str = METRIC
    base: float | None = column(
        "Base", digits=4, better="higher", help="agreement of the metric that it is compared with"
    )
    value: float | None = column(
        "Agreement", digits=4, better="higher", help="the statistic; higher is better"
    )
    gain: float | None = column(
        "Gain", digits=3, better="higher", help="agreement less base", interval=True
    )
    p: float | None = column("p", digits=4, help="of the gain, by this test and alternative")
    p_segments: float | None = column(
        "p, segments",
        digits=4,
        help="of the bootstrap over segments, two-sided; over systems alone",
    )
    n: int = column("n", help="systems, scores or pairs behind both")
    test: str | None = column("Test", help="behind p")
    alternative: str | None = column("Alternative", help="the hypothesis: the gain is ... 0")
    interval: str | None = column(
        "Interval over", help="what is independent: documents left out, or segments drawn"
    )
    drawn: int | None = column("Drawn", help="how many of these the gain rests on")
    unit: str = column("n counts", help="what n counts: systems, scores or pairs")
    human: str | None = HUMAN

    @property
    def excludes_zero(self) -> bool:
        """True if the interval of the gain lies on one side of 0."""
        low, high = self.ends("gain")
        return low is not None and high is not None and not low <= 0 <= high

    @property
    def direction(self) -> Literal["better", "worse"]:
        """Direction of the gain: better or worse than the base, tested or not."""
        return "better" if (self.gain or 0.0) > 0 else "worse"

    @property
    def size(self) -> str:
        """Size of the gain, without its sign, with its interval."""
        low, high = self.ends("gain")
        if (self.gain or 0.0) < 0 and low is not None and high is not None:
            low, high = -high, -low
        return amount(abs(self.gain or 0.0), low, high, share=True)


class _TestedGain(NamedTuple):
    """The interval of a gain, its p-values, and what was left out or drawn for them."""

    ends: Ends = (None, None)
    p: float | None = None
    p_segments: float | None = None
    test: str | None = None
    alternative: Alternative | None = None
    interval: str | None = None
    drawn: int | None = None


def draw_scores(metric: JudgedMetric, segments: int, how: Testing) -> Floats | None:
    """System scores in every resample of the segments [B, K]; None: there are none."""
    if not how.resamples:
        return None
    return metric.resampled(resample_counts(segments, count=how.resamples, seed=how.seed))


class GainSubset(NamedTuple):
    """Over what a gain is taken, and how."""

    by_document: bool = False
    expanded: bool = True  # makes intervals of system-level figures right for few segments
    subset: str = ALL
    systems: NDArray[np.bool_] | None = None  # None: all


def gain_row(
    pairing: Pairing,
    pair: tuple[JudgedMetric, JudgedMetric],
    measure: Measure,
    how: Testing,
    drawn: Sequence[Floats | None],
    over: GainSubset = GainSubset(),  # noqa: B008  # immutable
) -> AgreementGainRow:
    """The gain of the second metric over the first, over some systems.

    Scores of both in resamples come from :func:`draw_scores`.
    """
    both = cells(pairing, measure, pair, by_document=over.by_document)
    missing = np.isnan(both.metrics).any(axis=0)
    both = both.having(both.human, np.where(missing, np.nan, both.metrics))
    if over.systems is not None:
        both = both.only(over.systems)
    base, other = (value(both, k) for k in range(2))
    enough = other.n >= FEWEST_POINTS or measure.statistic == "darr"
    gain = other.value - base.value
    tested = _TestedGain()
    if enough and measure.level == "system":
        segments = pairing.testset.segments
        tested = _decide_system_gain(both, gain, drawn, segments, how, expanded=over.expanded)
    elif enough and how.resamples:
        tested = _decide_segment_gain(both, how)
    ranked = measure.statistic == "darr" and both.pairs is not None
    return AgreementGainRow(
        test_set=pairing.label,
        level=measure.level,
        statistic=measure.statistic,
        grouping=measure.grouping,
        subset=over.subset,
        metric=pair[1].metric,
        base=base.value if enough else None,
        value=other.value if enough else None,
        gain=gain if enough else None,
        p=tested.p,
        p_segments=tested.p_segments,
        n=other.n,
        test=tested.test,
        alternative=tested.alternative,
        interval=tested.interval,
        drawn=tested.drawn,
        unit=measure.unit,
        human=pairing.kinds.get("ranking" if ranked else measure.human_level),
        intervals={"gain": tested.ends},
    )


class MetricGainRow(AgreementGainRow):
    """Gain of a metric over the baseline, or of paraphrases over a metric without, in agreement."""

    against: str = column("Against", help="the metric that it is compared with")
    method: str | None = column("Paraphrases", help="the method that made them")
    paraphrases: int | None = column("Number", help="paraphrases of each segment, at most")
    diversity: float | None = column(
        "Diversity", kind="share", digits=3, help="lexical, among the paraphrases of a segment"
    )
    repaired: int | None = column("Repaired", help="pairs of systems, wrong by base, now right")
    broken: int | None = column("Broken", help="pairs of systems, right by base, now wrong")
    covered: int | None = column("Covered", help="segments that have a paraphrase")
    without: int | None = column("Without", help="segments that have none")
    outputs: float | None = column(
        "Outputs", kind="share", digits=3, help="of its paraphrases, outputs of judged systems"
    )
    p_adjusted: float | None = column(
        "Corrected p",
        digits=4,
        help="the larger two-sided p over systems and over segments, after Holm over the gains that"
        " speak of a level",
    )
    decided: bool | None = column(
        "Decided",
        help="whether the interval leaves 0 out and corrected p is at most 1 - confidence; empty"
        " for gains that do not speak of their level",
    )

    @property
    def larger_p(self) -> float:
        """The larger p, two-sided, of the tests over systems and over segments; NaN without one."""
        one_sided = self.p is not None and self.alternative != "two-sided"
        p = None if self.p is None else 2 * min(self.p, 1 - self.p) if one_sided else self.p
        known = [each for each in (p, self.p_segments) if each is not None]
        return max(known, default=float("nan"))


def metric_gains(
    results: Sequence[Result],
    compared: Sequence[ComparedMetrics],
    decisions: Sequence[DecisionRow],
    judging: Judging,
) -> Iterator[MetricGainRow]:
    """The gains of metrics over those that they are compared with, on whole test sets.

    Measures without a test of their own here have the p of the tests of all pairs of metrics.
    """
    places = {label: n for n, label in enumerate(dict.fromkeys(r.label for r in results))}
    counts = {(d.test_set, d.human, d.metric): d for d in decisions if d.comparison == "systems"}
    drawn: dict[tuple[int, str], Floats | None] = {}
    for result in results:
        if result.slice is not None:
            continue
        for pair in compared:
            row = _metric_gain(result, pair, judging, drawn)
            if row is None:
                continue
            facts = pair.facts[places[result.label]] if pair.facts else None
            of_systems = row.level == "system" and row.subset == ALL
            found = counts.get((row.test_set, row.human, pair.metric)) if of_systems else None
            yield MetricGainRow.derive(
                row,
                against=pair.base,
                method=pair.method,
                paraphrases=pair.n,
                diversity=None if facts is None else facts.diversity,
                repaired=None if found is None else found.repaired,
                broken=None if found is None else found.broken,
                covered=None if facts is None else facts.segments,
                without=None if facts is None else facts.without,
                outputs=None if facts is None else facts.outputs,
                p_adjusted=None,
                decided=None,
            )


#: measures that speak of each level, with their groupings; the first that there is
_SPEAKING = {
    "system": (("pearson", "none"),),
    "segment": (("darr", "item"), ("pearson", "none")),
}
#: the share of paraphrases that are outputs of judged systems that allows no claim of a gain
OWN_OUTPUTS = 0.5


def largest_numbers(rows: Iterable[MetricGainRow]) -> list[MetricGainRow]:
    """The rows over all systems of the most paraphrases of each method, and those without any."""
    whole = [row for row in rows if row.subset == ALL]
    most: dict[tuple[str, str | None], int] = {}
    for row in whole:
        key = row.test_set, row.method
        most[key] = max(most.get(key, 0), row.paraphrases or 0)
    return [row for row in whole if (row.paraphrases or 0) == most[row.test_set, row.method]]


def decided_gains(
    rows: Sequence[MetricGainRow], agreement: Iterable[AgreementRow], alpha: float
) -> list[MetricGainRow]:
    """The gains with what is decided by those that speak of their levels.

    Of each method of paraphrases the largest number speaks; nothing does of human scores that
    cannot judge a metric, of next to no systems or segments, or of paraphrases that are outputs of
    judged systems.
    """
    circular = {(row.test_set, row.human, row.metric) for row in agreement if row.circular}
    claimed = [
        row
        for row in largest_numbers(rows)
        if row.gain is not None
        and not {(row.test_set, row.human, name) for name in (row.metric, row.against)} & circular
        and (row.outputs or 0.0) < OWN_OUTPUTS
        and (row.covered is None or row.covered >= LEAST)
        and not (row.level == "system" and row.n <= FEW_SYSTEMS)
    ]
    decided: dict[int, MetricGainRow] = {}
    for level, measures in _SPEAKING.items():
        first: dict[tuple[str, str | None, str], MetricGainRow] = {}
        for measure in measures:
            for row in claimed:
                if (row.level, row.statistic, row.grouping) == (level, *measure):
                    first.setdefault((row.test_set, row.human, row.metric), row)
        corrected = stats.holm([row.larger_p for row in first.values()])
        for row, p in zip(first.values(), corrected, strict=True):
            clear = row.excludes_zero and bool(p <= alpha)
            decided[id(row)] = replace(row, p_adjusted=float(p), decided=clear)
    return [decided.get(id(row), row) for row in rows]


def _metric_gain(
    result: Result,
    pair: ComparedMetrics,
    judging: Judging,
    drawn: dict[tuple[int, str], Floats | None],
) -> AgreementGainRow | None:
    """One gain; None where the test set lacks one of the metrics."""
    pairing, measure, how = result.pairing, result.measure, judging.testing
    entries = {entry.metric: entry for entry in pairing.entries}
    if not {pair.base, pair.metric} <= set(result.cells.names):
        return None
    both = entries[pair.base], entries[pair.metric]
    of_systems = measure.level == "system" and measure.is_row_statistic
    ranked = measure.statistic == "darr" and result.cells.pairs is not None
    if not (of_systems or ranked or (measure.statistic, measure.grouping) == ("pearson", "none")):
        return _tested_gain(result, pair)
    for entry in both if of_systems and how.resamples else ():
        key = id(pairing), entry.metric
        if key not in drawn:
            drawn[key] = draw_scores(entry, pairing.testset.segments, how)
    of_both = [drawn.get((id(pairing), entry.metric)) for entry in both]
    return gain_row(
        pairing,
        both,
        measure,
        how,
        of_both,
        GainSubset(judging.uses_documents, pair.method is None, result.subset, result.systems),
    )


def _tested_gain(result: Result, pair: ComparedMetrics) -> AgreementGainRow:
    """A gain by a measure whose differences are tested with those of all pairs of metrics."""
    measure, tests = result.measure, result.verdicts
    base, other = (result.cells.names.index(name) for name in (pair.base, pair.metric))
    values = result.values[base].value, result.values[other].value
    difference, p = float(tests.differences[other, base]), float(tests.p[other, base])
    return AgreementGainRow(
        test_set=result.label,
        level=measure.level,
        statistic=measure.statistic,
        grouping=measure.grouping,
        subset=result.subset,
        metric=pair.metric,
        base=values[0],
        value=values[1],
        gain=values[1] - values[0] if np.isnan(difference) else difference,
        p=p,
        p_segments=None,
        n=result.values[other].n,
        test=tests.test or None,
        alternative=None if np.isnan(p) else "greater",
        interval=None,
        drawn=None,
        unit=measure.unit,
        human=result.human,
        intervals={"gain": (None, None)},
    )


def _decide_system_gain(
    both: MeasuredScores,
    gain: float,
    drawn: Sequence[Floats | None],
    segments: int,
    how: Testing,
    *,
    expanded: bool,
) -> _TestedGain:
    """Of scores of systems: segments drawn; Williams's test of Pearson's r."""
    scored = ~np.isnan(both.human + both.metrics.sum(axis=0))
    human = both.human[scored]
    tested = _TestedGain()
    if both.measure.statistic == "pearson":
        base, other = both.metrics[:, scored]
        p = stats.williams(human, other, base).p
        tested = _TestedGain(p=p, test="Williams's test", alternative="greater")
    statistic = grouped_statistic(both.measure.statistic, "none")
    draws = [scores[:, scored] for scores in drawn if scores is not None]
    if len(draws) < len(both.metrics):
        return tested
    values = [statistic.score_system_draws(human, scores) for scores in draws]
    gains = values[1] - values[0]
    return tested._replace(
        ends=_ends(gains, how.confidence, segments if expanded else None),
        p_segments=stats.bootstrap_p_value(gains, gain, drawn=segments),
        interval="segments",
        drawn=segments,
    )


def _decide_segment_gain(both: MeasuredScores, how: Testing) -> _TestedGain:
    """Of scores of segments: documents left out one at a time, or segments drawn."""
    if both.measure.statistic == "darr":
        moments, gain = _pair_sums(both), _gain_of_pairs
    elif (both.measure.statistic, both.measure.grouping) == ("pearson", "none"):
        moments, gain = _moments(both), _gain_of_moments
    else:
        return _TestedGain()
    judged = moments[0]
    there = judged > 0
    if not there.any():
        return _TestedGain()
    if both.documents is not None:
        draws = DocumentDraws.leave_out(
            both.documents[there].tolist(), judged[there], how.confidence
        )
        sums = moments[:, there]
        low, high, p = draws.test(float(gain(sums.sum(axis=1))), gain(draws.sums(sums)))
        return _TestedGain(
            ends=(low, high),
            p=p,
            test="jackknife over documents",
            alternative="two-sided",
            interval="documents",
            drawn=len(draws.sizes),
        )
    counts = resample_counts(moments.shape[1], count=how.resamples, seed=how.seed)
    gains, segments = gain(resampled_sums(moments, counts)), int(there.sum())
    observed = float(gain(moments.sum(axis=1)))
    return _TestedGain(
        ends=_ends(gains, how.confidence, segments),
        p=stats.bootstrap_p_value(gains, observed, drawn=segments),
        test="bootstrap over segments",
        alternative="two-sided",
        interval="segments",
        drawn=segments,
    )


def _pair_sums(both: MeasuredScores) -> Floats:
    """Of each segment: pairs that people ordered and both scored, and those that each has right."""
    pairs = both.pairs
    assert pairs is not None  # noqa: S101  # DaRR here is of rankings
    sides = [pair_scores(pairs, scores) for scores in both.metrics]
    scored = ~np.isnan(np.sum(sides, axis=(0, 1)))
    rows = [scored, *(scored & (better > worse) for better, worse in sides)]
    return np.array([np.bincount(pairs.segment, row, both.metrics.shape[2]) for row in rows])


def _gain_of_pairs(sums: Floats) -> Floats:
    """Differences of two (C - D)/(C + D) from numbers of pairs and of right ones."""
    return np.asarray(2 * (sums[2] - sums[1]) / np.where(sums[0] > 0, sums[0], np.nan))


def _moments(both: MeasuredScores) -> Floats:
    """Of each segment: numbers of scores, and sums of h, a, b and of their products."""
    scored = ~(np.isnan(both.human) | np.isnan(both.metrics).any(axis=0))
    three = [np.where(scored, scores, 0.0) for scores in (both.human, *both.metrics)]
    products = [a * b for i, a in enumerate(three) for b in three[i:]]
    return np.array(
        [feature.sum(axis=0) for feature in (scored, *three, *products)], dtype=np.float64
    )


def _gain_of_moments(sums: Floats) -> Floats:
    """Differences of two Pearson correlations from sums of h, a, b and of their products."""
    n, h, a, b, hh, ha, hb, aa, _, bb = sums
    first, second = (
        pearson_of_sums(np.array(side)) for side in ((n, h, a, hh, aa, ha), (n, h, b, hh, bb, hb))
    )
    return np.asarray(second - first)


def _ends(gains: Floats, confidence: float, drawn: int | None = None) -> Ends:
    low, high = percentile_interval(gains, confidence, drawn)
    return float(low), float(high)
