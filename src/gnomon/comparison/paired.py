"""Systems compared with a baseline under one metric: tests, figures, segments that decide."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from gnomon.agreement.significance import resample_faults
from gnomon.comparison.preferences import preference_interval, sign_p
from gnomon.core.options import CONFIDENCE, RESAMPLES, SEED
from gnomon.core.scores import UNREAD
from gnomon.stats import (
    BootstrapTest,
    approximate_randomisation,
    studentised_test,
    system_bootstrap_test,
    system_document_randomisation,
    system_document_test,
)
from gnomon.stats.jackknife import LEAST_DOCUMENTS
from gnomon.stats.significance import fewest_draws
from gnomon.stats.studentised import FEWEST_DIFFERENT, Dependence, dependence
from gnomon.stats.system_tests import summable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from gnomon.core.scores import Preferences, Scores
    from gnomon.core.validation import Problem

    Aggregate: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]

# How systems are compared: the test of their differences, and what is shown of them.


PairedTest: TypeAlias = Literal["bootstrap", "ar", "sacrebleu"]
#: what is drawn and counted as independent
SampledUnit: TypeAlias = Literal["segment", "document"]
#: why nothing is called better or worse, whatever p says
Caveat: TypeAlias = Literal[
    "lines", "letters", "documents", "different", "skewed", "by document", "interval"
]

_EXCHANGES = 10000  # draws of the randomisation where no number is asked for
_STEP, _MOST = 1000, 20000  # of resamples where those asked for show nothing
#: segments below which differences that are skewed more than this allow no finding
_FEW, _SKEWED = 60, 1.5


def plan_faults(resamples: int | None, confidence: float) -> Iterator[Problem]:
    """What no :class:`PairedTestPlan` can be made of, though each option fits alone."""
    yield from resample_faults(RESAMPLES if resamples is None else resamples, confidence)


@dataclass(frozen=True)
class PairedTestPlan:
    """How differences are tested."""

    test: PairedTest = "bootstrap"  # of intervals in any case the bootstrap
    resamples: int = RESAMPLES  # 0: neither intervals nor tests
    exchanges: int = _EXCHANGES  # draws of the randomisation
    confidence: float = CONFIDENCE  # of the intervals
    seed: int = SEED
    unit: SampledUnit = "segment"  # documents are left out one at a time, or exchanged whole

    @classmethod
    def of(
        cls, test: PairedTest, resamples: int | None, confidence: float, seed: int
    ) -> PairedTestPlan:
        """A plan with these draws of both kinds, or as many as each usually has."""
        if resamples is None:
            return cls(test, confidence=confidence, seed=seed)
        return cls(test, resamples, resamples, confidence, seed)

    @property
    def alpha(self) -> float:
        """The largest corrected p of a difference."""
        return round(1 - self.confidence, 12)

    @property
    def draws(self) -> int:
        """Number of draws behind a p-value."""
        return self.exchanges if self.test == "ar" else self.resamples

    def fields(self) -> dict[str, object]:
        """What a signature tells of it."""
        drawn: dict[str, object] = {"test": self.test, "bs": self.resamples}
        if self.unit == "document":
            drawn = {"unit": self.unit, "test": "ar" if self.test == "ar" else "jackknife"}
        if self.test == "ar":
            drawn["ar"] = self.exchanges
        return {
            **drawn,
            "confidence": self.confidence,
            "seed": self.seed,
        }


def least_p(plan: PairedTestPlan) -> float:
    """The smallest p-value that the draws of a plan can show, not corrected; 0 without draws."""
    if not plan.resamples or (plan.unit == "document" and plan.test != "ar"):
        return 0.0
    if plan.test == "bootstrap":
        return 2 / (plan.resamples + 1)
    return 1 / (plan.draws + 1)


def needed(plan: PairedTestPlan, comparisons: int) -> int:
    """How many draws the smallest p-value needs to stay significant after Holm's correction."""
    if plan.unit == "document" and plan.test != "ar":
        return 1
    share = plan.alpha / (comparisons * (1 + (plan.test == "bootstrap")))
    return math.ceil(1 / share - 1e-9) - 1


def enough(plan: PairedTestPlan, comparisons: int) -> PairedTestPlan:
    """The same plan; if it has too few resamples, and 20000 are enough, twice what that takes."""
    least = needed(plan, comparisons)
    if plan.test == "ar" or not 0 < plan.resamples < least <= _MOST:
        return plan
    return replace(plan, resamples=min(_MOST, _STEP * math.ceil(2 * least / _STEP)))


# The figures of systems compared with a baseline under one metric: scores, differences, p-values.


_SAME = 1e-9  # segment scores that differ by less are equal


class ComparedSystem(NamedTuple):
    """One system compared with the baseline, in the metric's own units; NaN where undefined."""

    score: float  # of all segments that the system has
    score_low: float
    score_high: float
    difference: float  # system - baseline, on the segments that both have
    low: float
    high: float
    p: float  # not corrected
    p_documents: float  # of few documents, where segments are the unit; not corrected
    caveat: Caveat | None  # why the system is neither better nor worse, whatever p says
    missing: int  # segments without a score of the system
    dependence: Dependence
    segments: int  # how many both have
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class PairedScores:
    """What a metric said of the systems that are compared."""

    metric: str
    systems: tuple[str, ...]  # the first is the baseline
    segments: NDArray[np.float64]  # [K, N]; NaN where undefined
    values: NDArray[np.float64]  # statistics [K, N, S], else the scores; NaN where there is none
    aggregate: Aggregate | None  # of summed statistics; None: segment scores are averaged
    sign: int  # 1 where higher is better, else -1
    from_people: bool = False
    doubtful: frozenset[str] = frozenset()  # outputs are no translations line by line
    unread: bool = False  # the metric does not read the letters of the texts
    # what it says in words of outputs, by the numbers of system and segment
    remarks: Mapping[tuple[int, int], Mapping[str, str]] = field(default_factory=dict)
    # of a metric that reads two outputs: what it prefers, and the mean over all others [K, N]; the
    # scores are then preferences over the baseline
    preferences: Preferences | None = None
    over_others: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls, scores: Scores, systems: list[str], doubtful: frozenset[str] = frozenset()
    ) -> PairedScores:
        """The scores of some systems, in this order."""
        rows = [scores.systems.index(name) for name in systems]
        remarks = {(rows.index(k), i): said for (k, i), said in scores.remarks.items() if k in rows}
        unread = any(UNREAD in notice for notice in scores.notices)
        if scores.preferences is not None:
            over_baseline = scores.preferences.values[rows, rows[0]]
            return cls(
                scores.metric, tuple(systems), over_baseline, over_baseline, None, 1,
                doubtful=doubtful, unread=unread, remarks=remarks,
                preferences=scores.preferences, over_others=scores.segments[rows],
            )  # fmt: skip
        corpus = scores.statistics is not None and scores.aggregate is not None
        values = scores.segments if scores.statistics is None or not corpus else scores.statistics
        if corpus:  # what has no score adds nothing to sums; of a pair, neither side counts there
            missing = np.isnan(scores.segments) & (values == 0).all(axis=2)
            values = np.where(missing[:, :, None], np.nan, values) if missing.any() else values
        return cls(
            scores.metric,
            tuple(systems),
            scores.segments[rows],
            values if rows == [*range(len(values))] else values[rows],
            scores.aggregate if corpus else None,
            1 if scores.higher_is_better else -1,
            scores.from_people,
            doubtful,
            unread,
            remarks,
        )

    def by_signs(self, plan: PairedTestPlan) -> bool:
        """Whether p is that of the sign test."""
        usual = plan.test == "bootstrap" and plan.unit == "segment"
        return self.preferences is not None and usual and plan.resamples > 0

    def distrust(self, k: int) -> Caveat | None:
        """Why a system is neither better nor worse than the baseline, whatever the scores are."""
        if not self.doubtful.isdisjoint((self.systems[0], self.systems[k])):
            return "lines"
        return "letters" if self.unread else None

    def gains(self) -> NDArray[np.float64]:
        """How much better each system is than the baseline in each segment, float64 [K, N]."""
        gains: NDArray[np.float64] = self.sign * (self.segments - self.segments[0])
        return gains


def figures(
    paired: PairedScores,
    members: NDArray[np.bool_],
    plan: PairedTestPlan,
    documents: NDArray[np.int64] | None = None,
) -> list[ComparedSystem]:
    """Each system compared with the baseline (the first), on the segments that are members."""
    values = paired.values[:, members]
    members_documents = None if documents is None else documents[members]
    if plan.unit == "document" and members_documents is not None:
        tested = system_document_test(
            values,
            members_documents,
            aggregate=paired.aggregate,
            confidence=plan.confidence,
        )
    else:
        tested = studentised_test(
            values,
            aggregate=paired.aggregate,
            confidence=plan.confidence,
            count=plan.resamples or fewest_draws((1 + plan.confidence) / 2),
            seed=plan.seed,
        )
        if not plan.resamples:
            tested = tested._replace(
                p=np.full_like(tested.p, np.nan),
                intervals=np.full_like(tested.intervals, np.nan),
                difference_intervals=np.full_like(tested.difference_intervals, np.nan),
            )
    published = _published(paired, values, plan, members_documents)
    shown = tested if published is None else tested._replace(p=published.p)
    if published is not None and plan.test == "sacrebleu":
        shown = shown._replace(intervals=published.intervals)
    shown = shown._replace(differences=_differences(values, paired.aggregate, tested))
    shown = _of_preferences(shown, paired, members, plan)
    gains = paired.gains()[:, members]
    dependences = dependence(values, aggregate=paired.aggregate, documents=members_documents)
    missing = np.isnan(values).reshape(*values.shape[:2], -1).any(axis=2).sum(axis=1)
    compared = []
    for k, counts in enumerate(map(_counts, gains)):
        inside = published is not None and float(tested.p[k, 0]) > plan.alpha
        if paired.by_signs(plan):
            _, wins, _, losses = counts
            ends = shown.difference_intervals[:, k, 0] * (1 if wins > losses else -1)
            inside = not ends.min() > 0
        caveat = paired.distrust(k)
        if not paired.by_signs(plan):  # whose level holds for any number, and any shape
            caveat = caveat or _caveat(plan, dependences[k], counts[0])
        caveat = caveat or ("interval" if inside else None)
        p_documents = math.nan
        if plan.unit == "segment" and dependences[k].documents < LEAST_DOCUMENTS:
            p_documents = dependences[k].p_documents
        compared.append(
            _compared(shown, k, p_documents, caveat, int(missing[k]), dependences[k], counts)
        )
    return compared


def _of_preferences(
    test: BootstrapTest, paired: PairedScores, members: NDArray[np.bool_], plan: PairedTestPlan
) -> BootstrapTest:
    """The test with scores that are preferences over all others, and with the sign test."""
    if paired.preferences is None or paired.over_others is None:
        return test
    over_others, graded = paired.over_others[:, members], paired.preferences.graded
    ends = [preference_interval(values, plan, graded=True) for values in over_others]
    counts = np.isfinite(over_others).sum(axis=1)
    sums = np.where(np.isfinite(over_others), over_others, 0.0).sum(axis=1)
    scores = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    test = test._replace(statistics=scores, intervals=np.array(ends).T)
    if not paired.by_signs(plan):
        return test
    p, intervals = test.p.copy(), test.difference_intervals.copy()
    for k, values in enumerate(paired.segments[:, members]):
        p[k, 0] = sign_p(values)
        intervals[:, k, 0] = preference_interval(values, plan, graded=graded)
    return test._replace(p=p, difference_intervals=intervals)


def _caveat(plan: PairedTestPlan, differences: Dependence, segments: int) -> Caveat | None:
    """Why a difference allows no finding: where neither intervals nor tests hold their level."""
    if plan.unit == "document":
        return "documents" if differences.documents < LEAST_DOCUMENTS else None
    if 0 < differences.different < FEWEST_DIFFERENT:
        return "different"
    return "skewed" if segments < _FEW and abs(differences.skewness) > _SKEWED else None


def _published(
    paired: PairedScores,
    values: NDArray[np.float64],
    plan: PairedTestPlan,
    documents: NDArray[np.int64] | None,
) -> BootstrapTest | None:
    """The test that was asked for, where it is not that of the intervals."""
    if not plan.resamples:
        return None
    if plan.test == "ar":
        p = np.full((len(values), len(values)), np.nan)
        if plan.unit == "document" and documents is not None:
            p[:, 0] = system_document_randomisation(
                values,
                documents,
                aggregate=paired.aggregate,
                count=plan.exchanges,
                seed=plan.seed,
            )
        else:
            p = approximate_randomisation(
                values,
                aggregate=paired.aggregate,
                baseline=0,
                count=plan.exchanges,
                seed=plan.seed,
            ).p
        nothing = np.full((2, len(p)), np.nan)
        return BootstrapTest(nothing[0], nothing, p, np.stack([p, p]), p)
    if plan.unit == "document" or plan.test == "bootstrap":
        return None
    return system_bootstrap_test(
        values,
        aggregate=paired.aggregate,
        baseline=0,
        confidence=plan.confidence,
        count=plan.resamples,
        seed=plan.seed,
    )


def _differences(
    values: NDArray[np.float64], aggregate: Aggregate | None, boot: BootstrapTest
) -> NDArray[np.float64]:
    """Those of the test, and those on one segment alone, of which there is no test."""
    differences = boot.differences.copy()
    cells = np.isnan(values).reshape(*values.shape[:2], -1)
    missing: NDArray[np.bool_] = np.asarray(cells.any(axis=2))
    for k, lacking in enumerate(missing):
        both = np.flatnonzero(~(lacking | missing[0]))
        if len(both) != 1:
            continue
        pair = np.stack([values[k, both[0]], values[0, both[0]]])
        score, baseline = pair if aggregate is None else aggregate(pair)
        differences[k, 0] = score - baseline
    return differences


def _compared(
    test: BootstrapTest,
    k: int,
    p_documents: float,
    caveat: Caveat | None,
    missing: int,
    differences: Dependence,
    counts: tuple[int, int, int, int],
) -> ComparedSystem:
    score_low, score_high = test.intervals[:, k].tolist()
    low, high = test.difference_intervals[:, k, 0].tolist()
    difference, p = float(test.differences[k, 0]), float(test.p[k, 0])
    if k == 0:  # that the baseline differs by nothing from itself is no finding
        difference = low = high = p = float("nan")
    score = float(test.statistics[k])
    ends = (score_low, score_high, difference, low, high)
    return ComparedSystem(score, *ends, p, p_documents, caveat, missing, differences, *counts)


def _counts(gains: NDArray[np.float64]) -> tuple[int, int, int, int]:
    defined = gains[~np.isnan(gains)]
    wins, losses = int((defined > _SAME).sum()), int((defined < -_SAME).sum())
    return len(defined), wins, len(defined) - wins - losses, losses


# The segments that decide between a system and the baseline.


class Decider(NamedTuple):
    """A segment in which a system and the baseline differ much."""

    system: int  # position
    better: bool  # whether the system is better there
    rank: int  # from 1, on its side
    segment: int  # position


def deciders(paired: PairedScores, most: int) -> list[Decider]:
    """The segments with the largest differences of each system, ``most`` on each side at most.

    Those where the system is better first; among equal differences the earlier segment.
    """
    gains = np.nan_to_num(paired.gains())
    return [
        Decider(k, better, rank, segment)
        for k in range(1, len(gains))
        for better, gain in ((True, gains[k]), (False, -gains[k]))
        for rank, segment in enumerate(_largest(gain, most), start=1)
    ]


def influence(paired: PairedScores) -> NDArray[np.float64]:
    """What each segment adds to the difference from the baseline, float64 [K, N].

    The difference of the system scores less the difference without the segment, in the metric's
    units; NaN where a segment has no score.
    """
    x, score = summable(paired.values, paired.aggregate)
    added = np.full(paired.segments.shape, np.nan)
    for k in range(len(added)):
        pair = x[[k, 0]]
        both = ~np.isnan(pair).any(axis=(0, 2))
        rows = pair[:, both]
        totals = rows.sum(axis=1)
        whole, without = score(totals), score(totals[:, None] - rows)
        added[k, both] = (whole[0] - whole[1]) - (without[0] - without[1])
    has_pair = ~np.isnan(paired.segments) & ~np.isnan(paired.segments[0])
    return np.where(has_pair, added, np.nan)


def _largest(gain: NDArray[np.float64], most: int) -> list[int]:
    order = np.argsort(-gain, kind="stable")[:most]
    return [int(segment) for segment in order if gain[segment] > 0]
