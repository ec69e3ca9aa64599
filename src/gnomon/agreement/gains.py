"""What one metric adds to the agreement of another with people: gains, intervals and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from gnomon import stats
from gnomon.agreement.judging import ALL
from gnomon.agreement.measures import cells, of_pairs, value
from gnomon.agreement.tables import GROUPING, HUMAN, LEVEL, STATISTIC, SUBSET, TEST_SET
from gnomon.core.options import CONFIDENCE, RESAMPLES, SEED
from gnomon.core.records import METRIC, Record, column
from gnomon.core.verdicts import amount, counted
from gnomon.stats.correlation import pearson_of_sums
from gnomon.stats.draws import DocumentDraws
from gnomon.stats.measures import grouped_statistic
from gnomon.stats.resampling import percentile_interval, resample_counts, resampled_sums

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.agreement.measures import Measure, MeasuredScores
    from gnomon.agreement.pairing import JudgedMetric, Pairing
    from gnomon.core.records import Ends
    from gnomon.stats.significance import Alternative

    Floats = NDArray[np.float64]

#: systems or scores that a correlation needs to say anything
FEWEST_POINTS = 3
Over: TypeAlias = Literal["segments", "systems"]


class AgreementGainRow(Record):
    """What one metric adds to the agreement of another with people, by one measure."""

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
    p: float | None = column("p", digits=4, help="of the gain: see test and alternative")
    p_segments: float | None = column(
        "p, segments",
        digits=4,
        help="of the bootstrap over segments, two-sided; over systems alone",
    )
    n: int = column("n", help="systems, scores or pairs behind both: see unit")
    test: str | None = column("Test", help="behind p")
    alternative: str | None = column("Alternative", help="the hypothesis: the gain is ... 0")
    interval: str | None = column(
        "Interval over", help="what is independent: documents left out, segments or systems drawn"
    )
    drawn: int | None = column("Drawn", help="how many of these the gain rests on")
    unit: str = column("n counts", help="what n counts: systems, scores or pairs")
    human: str | None = HUMAN

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval of the gain lies on one side of 0."""
        low, high = self.ends("gain")
        return low is not None and high is not None and not low <= 0 <= high

    @property
    def direction(self) -> Literal["better", "worse"]:
        """Whether the metric agrees better or worse than the base, tested or not."""
        return "better" if (self.gain or 0.0) > 0 else "worse"

    @property
    def size(self) -> str:
        """How large the gain is, without its sign, with its interval."""
        low, high = self.ends("gain")
        if (self.gain or 0.0) < 0 and low is not None and high is not None:
            low, high = -high, -low
        return amount(abs(self.gain or 0.0), low, high, share=True)

    @property
    def sides(self) -> str:
        """Both figures of agreement over systems, in words."""
        value, base = (amount(figure or 0.0, share=True) for figure in (self.value, self.base))
        return f"r = {value} against {base} over {counted(self.n, 'system')}"


@dataclass(frozen=True)
class GainTesting:
    """How gains are tested."""

    resamples: int = RESAMPLES  # draws; 0 for no intervals, of documents neither
    seed: int = SEED  # of all draws
    confidence: float = CONFIDENCE  # of the intervals
    over: Over = "segments"  # what is drawn for intervals of system-level figures
    # whether documents, where they are known, are independent at segment level
    by_document: bool = False
    alternative: Alternative = "greater"  # of Williams's test
    # whether intervals of system-level figures are made right for few segments
    expanded: bool = True


class _TestedGain(NamedTuple):
    """The interval of a gain, its p-values, and what was left out or drawn for them."""

    ends: Ends = (None, None)
    p: float | None = None
    p_segments: float | None = None
    test: str | None = None
    alternative: Alternative | None = None
    interval: str | None = None
    drawn: int | None = None


def gain_rows(
    pairing: Pairing,
    pair: tuple[JudgedMetric, JudgedMetric],
    measures: Sequence[Measure],
    how: GainTesting,
    subsets: Sequence[tuple[str, NDArray[np.bool_] | None]] = ((ALL, None),),
) -> Iterator[AgreementGainRow]:
    """The gain of the second metric over the first, by each measure, on what both scored.

    Subsets are named groups of systems [K]; None: all.
    """
    drawn: Sequence[Floats | None] = (None, None)
    if how.resamples and how.over == "segments" and any(m.level == "system" for m in measures):
        segments = pairing.testset.segments
        counts = resample_counts(segments, count=how.resamples, seed=how.seed)
        drawn = [metric.resampled(counts) for metric in pair]
    for subset, systems in subsets:
        for measure in measures:
            both = cells(pairing, measure, pair, by_document=how.by_document)
            missing = np.isnan(both.metrics).any(axis=0)
            both = both.having(both.human, np.where(missing, np.nan, both.metrics))
            if systems is not None:
                both = both.only(systems)
            base, other = (value(both, k) for k in range(2))
            enough = other.n >= FEWEST_POINTS or measure.statistic == "darr"
            gain = other.value - base.value
            tested = _TestedGain()
            if enough and measure.level == "system":
                tested = _over_systems(both, gain, drawn, pairing.testset.segments, how)
            elif enough and how.resamples:
                tested = _over_segments(both, how)
            ranked = measure.statistic == "darr" and both.pairs is not None
            yield AgreementGainRow(
                test_set=pairing.label,
                level=measure.level,
                statistic=measure.statistic,
                grouping=measure.grouping,
                subset=subset,
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


def _over_systems(
    both: MeasuredScores,
    gain: float,
    drawn: Sequence[Floats | None],
    segments: int,
    how: GainTesting,
) -> _TestedGain:
    """Of scores of systems: segments or systems drawn; Williams's test of Pearson's r."""
    scored = ~np.isnan(both.human + both.metrics.sum(axis=0))
    human = both.human[scored]
    tested = _TestedGain()
    if both.measure.statistic == "pearson":
        base, other = both.metrics[:, scored]
        p = stats.williams(human, other, base, alternative=how.alternative).p
        tested = _TestedGain(p=p, test="Williams's test", alternative=how.alternative)
    statistic = grouped_statistic(both.measure.statistic, "none", "system")
    if how.resamples and how.over == "systems":
        places = stats.resamples(len(human), count=how.resamples, seed=how.seed)
        values = [statistic.of_paired_rows(human[places], m[scored][places]) for m in both.metrics]
        ends = _ends(values[1] - values[0], how.confidence)
        return tested._replace(ends=ends, interval="systems", drawn=len(human))
    draws = [scores[:, scored] for scores in drawn if scores is not None]
    if len(draws) < len(both.metrics):
        return tested
    values = [statistic.of_system_scores(human, scores) for scores in draws]
    gains = values[1] - values[0]
    return tested._replace(
        ends=_ends(gains, how.confidence, segments if how.expanded else None),
        p_segments=stats.bootstrap_p_value(gains, gain, drawn=segments),
        interval="segments",
        drawn=segments,
    )


def _over_segments(both: MeasuredScores, how: GainTesting) -> _TestedGain:
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
        draws = DocumentDraws.of(both.documents[there].tolist(), judged[there], how.confidence)
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
    sides = [of_pairs(pairs, scores) for scores in both.metrics]
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
