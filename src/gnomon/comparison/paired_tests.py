"""Systems compared with a baseline under one metric: tests, figures, influence of segments."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from gnomon.agreement.significance import resample_faults
from gnomon.core.data_cautions import select_messages
from gnomon.core.options import CONFIDENCE, RESAMPLES, SEED
from gnomon.stats import (
    Family,
    FamilyPair,
    SystemFamily,
    exchange_test,
    family_draws,
    family_test,
    holm,
    system_bootstrap_test,
)
from gnomon.stats.families import fewest_different
from gnomon.stats.jackknife import LEAST_DOCUMENTS
from gnomon.stats.studentised import FEWEST_DIFFERENT, Dependence, dependence
from gnomon.stats.system_tests import summable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.scores import Scores
    from gnomon.core.validation import Problem

    Aggregate: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]

# Plan of the tests of differences, and of what is shown.


PairedTest: TypeAlias = Literal["bootstrap", "ar", "sacrebleu"]
#: what is drawn and counted as independent
SampledUnit: TypeAlias = Literal["segment", "document"]
#: why nothing is called better or worse, whatever p says
Caveat: TypeAlias = Literal["lines", "letters", "documents", "different", "skewed", "by document"]

_EXCHANGES = 10000  # draws of the randomisation where no number is asked for
#: what allows no test
_UNTESTED = ("lines", "letters", "documents")
#: segments that have to differ in a slice
_FEWEST_IN_SLICE = 20
#: segments below which differences that are skewed more than this allow no finding
_FEW, _SKEWED = 60, 1.5


def plan_faults(resamples: int | None, confidence: float) -> Iterator[Problem]:
    """Check options for a :class:`PairedTestPlan`, though each fits alone."""
    yield from resample_faults(RESAMPLES if resamples is None else resamples, confidence)


@dataclass(frozen=True)
class PairedTestPlan:
    """The plan of the tests of differences."""

    test: PairedTest = "bootstrap"  # others have no intervals
    resamples: int = RESAMPLES  # 0: neither intervals nor tests
    exchanges: int = _EXCHANGES  # draws of the randomisation
    confidence: float = CONFIDENCE  # of the intervals
    seed: int = SEED
    unit: SampledUnit = "segment"  # documents are drawn, and exchanged, whole

    @classmethod
    def create(
        cls, test: PairedTest, resamples: int | None, confidence: float, seed: int
    ) -> PairedTestPlan:
        """A plan with these draws of both kinds, or as many as each usually has."""
        if resamples is None:
            return cls(test, confidence=confidence, seed=seed)
        return cls(test, resamples, resamples, confidence, seed)

    @property
    def alpha(self) -> float:
        """The largest p of a difference that is decided."""
        return round(1 - self.confidence, 12)

    least_p: float = 0.0  # the smallest one that the draws can show; 0 without draws

    def adapt_to_family(self, comparisons: int) -> PairedTestPlan:
        """The plan with as many resamples as a family of comparisons takes."""
        resamples = self.resamples
        if self.test == "bootstrap":
            resamples = family_draws(comparisons, resamples)
        drawn = self.exchanges if self.test == "ar" else resamples
        tails = 1 + (self.test == "bootstrap" and comparisons == 1)
        least = tails / (drawn + 1) if resamples else 0.0
        return replace(self, resamples=resamples, least_p=least)

    def fields(self) -> dict[str, object]:
        """Its fields in a signature."""
        drawn: dict[str, object] = {"test": self.test, "bs": self.resamples}
        if self.unit == "document":
            drawn = {"unit": self.unit, **drawn}
        if self.test == "ar":
            drawn["ar"] = self.exchanges
        return {
            **drawn,
            "confidence": self.confidence,
            "seed": self.seed,
        }


# The figures of systems compared with a baseline under one metric: scores, differences, p-values.


_SAME = 1e-9  # segment scores that differ by less are equal


class ComparedSystem(NamedTuple):
    """One system compared with the baseline, in the metric's own units; NaN where undefined."""

    score: float  # of all segments that the system has
    score_low: float
    score_high: float
    difference: float  # system - baseline, on the segments that both have
    low: float  # simultaneously for the family; 0 is open where it is decided
    high: float
    p: float  # adjusted for the family
    decided: bool | None  # whether a difference is shown; None: not tested
    beaten_by: str | None  # of systems that share the first place, the one that beats it
    p_documents: float  # of few documents, where segments are the unit; adjusted
    caveat: Caveat | None  # why nothing is decided
    missing: int  # segments without a score of the system
    dependence: Dependence
    segments: int  # how many both have
    wins: int
    ties: int
    losses: int

    def verdict(self, sign: int) -> str | None:
        """Better or worse, where higher scores are better or (sign -1) worse; None: not tested."""
        if self.decided is None:
            return None
        if not self.decided:
            return "undecided"
        return "better" if sign * self.difference > 0 else "worse"


@dataclass(frozen=True)
class PairedScores:
    """A metric's scores of the systems that are compared."""

    metric: str
    systems: tuple[str, ...]  # the first is the baseline
    segments: NDArray[np.float64]  # [K, N]; NaN where undefined
    values: NDArray[np.float64]  # statistics [K, N, S], else the scores; NaN where there is none
    aggregate: Aggregate | None  # of summed statistics; None: segment scores are averaged
    sign: int  # 1 where higher is better, else -1
    from_people: bool = False
    doubtful: frozenset[str] = frozenset()  # outputs are no translations line by line
    unread: bool = False  # the metric does not read the letters of the texts
    # remarks of the metric on outputs, by system and segment
    remarks: Mapping[tuple[int, int], Mapping[str, str]] = field(default_factory=dict)
    # of a metric that reads two outputs: preferences, and means over all others [K, N]; the
    # scores are then preferences over the baseline
    preferences: NDArray[np.float64] | None = None  # [K, K, N]
    over_others: NDArray[np.float64] | None = None

    @classmethod
    def select(
        cls, scores: Scores, systems: list[str], doubtful: frozenset[str] = frozenset()
    ) -> PairedScores:
        """The scores of some systems, in this order."""
        rows = [scores.systems.index(name) for name in systems]
        remarks = {(rows.index(k), i): said for (k, i), said in scores.remarks.items() if k in rows}
        unread = bool(select_messages("data.unread", scores.notices))
        if scores.preferences is not None:
            over_baseline = scores.preferences.values[rows, rows[0]]
            return cls(
                scores.metric, tuple(systems), over_baseline, over_baseline, None, 1,
                doubtful=doubtful, unread=unread, remarks=remarks,
                preferences=scores.preferences.values[np.ix_(rows, rows)],
                over_others=scores.segments[rows],
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

    def doubted(self, k: int) -> Caveat | None:
        """Why a system is not to be compared, whatever the scores are."""
        if self.systems[k] in self.doubtful:
            return "lines"
        return "letters" if self.unread else None

    def pairs(self, part: int, *, every: bool) -> list[FamilyPair]:
        """All pairs of systems, or those with the baseline, the worse placed first."""
        last = [range(k) if every else range(1) for k in range(1, len(self.systems))]
        return [FamilyPair(k, j, part) for k, others in enumerate(last, start=1) for j in others]

    def gains(self) -> NDArray[np.float64]:
        """Gain of each system over the baseline in each segment, float64 [K, N]."""
        gains: NDArray[np.float64] = self.sign * (self.segments - self.segments[0])
        return gains


def figures(
    paired: PairedScores,
    parts: Sequence[NDArray[np.bool_]],
    plan: PairedTestPlan,
    documents: NDArray[np.int64] | None = None,
    *,
    every: bool = False,
    slices: bool = False,
) -> list[list[ComparedSystem]]:
    """Each system compared with the baseline (the first), on the segments of each part: one family.

    Args:
        paired: the scores.
        parts: the segments of each part.
        plan: how differences are tested.
        documents: the document of each segment, from 0.
        every: the baseline is the best of all pairs of systems, which are the family.
        slices: the parts are slices.
    """
    whole = documents if plan.unit == "document" else None
    pairs = [pair for part in range(len(parts)) for pair in paired.pairs(part, every=every)]
    family = _family(paired, pairs, parts, whole, plan.seed)
    alone = SystemFamily.from_statistics(
        paired.values if paired.over_others is None else paired.over_others,
        [FamilyPair(k, k, part) for part in range(len(parts)) for k in range(len(paired.systems))],
        aggregate=paired.aggregate,
        documents=whole,
        parts=parts,
        seed=plan.seed,
    )
    least = _FEWEST_IN_SLICE if slices else None
    if plan.test == "ar":
        least = FEWEST_DIFFERENT
    caveats = _caveats(paired, pairs, family, plan, least)
    places = [pair[:2] for pair in pairs] if every and not slices else None
    choices = paired.preferences is not None
    tested = _test_pairs(family, caveats, plan, least, places, choices=choices)
    intervals = _score_intervals(alone, plan)
    position = {pair: n for n, pair in enumerate(pairs)}
    found = []
    for part, members in enumerate(parts):
        values = paired.values[:, members]
        named = None if documents is None else documents[members]
        depend = dependence(values, aggregate=paired.aggregate, documents=named)
        published = None
        if plan.test == "sacrebleu" and plan.resamples:
            published = system_bootstrap_test(
                values,
                aggregate=paired.aggregate,
                baseline=0,
                confidence=plan.confidence,
                count=plan.resamples,
                seed=plan.seed,
            )
        missing = np.isnan(values).reshape(*values.shape[:2], -1).any(axis=2).sum(axis=1)
        for k, counts in enumerate(map(_counts, paired.gains()[:, members])):
            single = part * len(paired.systems) + k
            low, high = (
                intervals[single] if published is None else published.intervals[:, k].tolist()
            )
            base = ComparedSystem(
                float(alone.comparisons.estimates[single]),
                low,
                high,
                *(math.nan,) * 4,
                decided=None,
                beaten_by=None,
                p_documents=math.nan,
                caveat=None,
                missing=int(missing[k]),
                dependence=depend[k],
                segments=counts[0],
                wins=counts[1],
                ties=counts[2],
                losses=counts[3],
            )
            if k:
                n = position[FamilyPair(k, 0, part)]
                p = tested.p[n] if published is None else float(published.p[k, 0])
                decided = tested.decided[n] if published is None else p <= plan.alpha
                untested = not plan.resamples or _is_untested(caveats[n], p)
                winner = None if decided else tested.out.get(k)
                base = base._replace(
                    difference=float(family.comparisons.estimates[n]),
                    low=float(tested.low[n]),
                    high=float(tested.high[n]),
                    p=math.nan if caveats[n] else float(p),
                    decided=None if untested else bool(decided) and caveats[n] is None,
                    beaten_by=None if winner is None else paired.systems[winner],
                    caveat=caveats[n],
                )
            found.append(base)
    found = _check_documents(found, plan, more=len(pairs) - sum(part.second == 0 for part in pairs))
    width = len(paired.systems)
    return [found[part * width : (part + 1) * width] for part in range(len(parts))]


def _is_untested(caveat: Caveat | None, p: float) -> bool:
    return caveat in _UNTESTED or (caveat is None and math.isnan(p))


def _family(
    paired: PairedScores,
    pairs: Sequence[FamilyPair],
    parts: Sequence[NDArray[np.bool_]],
    documents: NDArray[np.int64] | None,
    seed: int,
) -> SystemFamily:
    """The pairs of systems; of a metric that reads two outputs, what it prefers of each two."""
    values, numbers = paired.values, list(pairs)
    if paired.preferences is not None:
        chosen = sorted({pair[:2] for pair in pairs})
        rows = [paired.preferences[i, j] for i, j in chosen]
        values = np.stack([np.zeros_like(rows[0]), *rows])
        numbers = [FamilyPair(1 + chosen.index(pair[:2]), 0, pair.part) for pair in pairs]
    return SystemFamily.from_statistics(
        values,
        numbers,
        aggregate=paired.aggregate,
        documents=documents,
        parts=parts,
        seed=seed,
    )


def _caveats(
    paired: PairedScores,
    pairs: Sequence[FamilyPair],
    family: SystemFamily,
    plan: PairedTestPlan,
    least: int | None,
) -> list[Caveat | None]:
    """Why pairs are not tested: where neither intervals nor tests would hold their level."""
    _, errors, units, differ = family.comparisons
    few_different = fewest_different(family.comparisons, least)
    skewness = family.skewness
    caveats: list[Caveat | None] = []
    for n, pair in enumerate(pairs):
        caveat = paired.doubted(pair.first) or paired.doubted(pair.second)
        if caveat is None and plan.unit == "document" and units[n] < LEAST_DOCUMENTS:
            caveat = "documents"
        if caveat is None and 0 < differ[n] < few_different and not np.isnan(errors[n]):
            caveat = "different"
        skewed = plan.unit == "segment" and units[n] < _FEW and abs(skewness[n]) > _SKEWED
        if skewed and paired.preferences is None:  # which way choices go is skewed by itself
            caveat = caveat or "skewed"
        caveats.append(caveat)
    return caveats


def _test_pairs(
    family: SystemFamily,
    caveats: Sequence[Caveat | None],
    plan: PairedTestPlan,
    least: int | None,
    places: Sequence[tuple[int, int]] | None,
    *,
    choices: bool,
) -> Family:
    """Test the family; pairs with a caveat show nothing."""
    if not plan.resamples:
        return Family.untested(len(caveats))
    left_out = np.array([caveat is not None for caveat in caveats], dtype=np.bool_)
    observed = family.comparisons
    left_out |= observed.units < 2
    observed = observed._replace(
        estimates=np.where(left_out, np.nan, observed.estimates),
        errors=np.where(left_out, np.nan, observed.errors),
    )
    confidence = plan.confidence
    if plan.test == "bootstrap":
        resampled = family.draws(plan.resamples).resampled
        tested = family_test(observed, resampled, least=least, confidence=confidence, pairs=places)
        return _bound_equal_choices(tested, family, confidence) if choices else tested
    tested = Family.untested(len(caveats))
    if plan.test == "ar":
        null = family.exchanges(plan.exchanges)
        tested = exchange_test(observed.estimates, null, confidence=confidence, pairs=places)
    equal = (observed.different == 0) & ~np.isnan(observed.estimates)
    ends = np.where(equal, 0.0, np.nan)
    return tested._replace(low=ends, high=ends)


def _bound_equal_choices(tested: Family, family: SystemFamily, confidence: float) -> Family:
    """Equal choices are not certain: the exact binomial end, at the family's share of the level."""
    estimates, _, units, _ = family.comparisons
    tail = (1 - confidence) / 2 / len(estimates)
    end = 2 * tail ** (1 / np.maximum(units, 1)) - 1
    low = np.where((tested.low == 1) & (estimates == 1), end, tested.low)
    high = np.where((tested.high == -1) & (estimates == -1), -end, tested.high)
    return tested._replace(low=low, high=high)


def _score_intervals(family: SystemFamily, plan: PairedTestPlan) -> list[tuple[float, float]]:
    """Of each system's own score."""
    if not plan.resamples:
        return [(math.nan, math.nan)] * len(family.pairs)
    draws, units = family.draws(plan.resamples), family.comparisons.units
    fewest = LEAST_DOCUMENTS if plan.unit == "document" else FEWEST_DIFFERENT
    return [
        draws.alone(n, plan.confidence)[:2] if units[n] >= fewest else (math.nan, math.nan)
        for n in range(len(family.pairs))
    ]


def _check_documents(
    found: Sequence[ComparedSystem], plan: PairedTestPlan, more: int
) -> list[ComparedSystem]:
    """Without findings of segments that their documents, which are few, do not show."""
    if plan.unit == "document":
        return list(found)
    few = [0 < system.dependence.documents < LEAST_DOCUMENTS for system in found]
    alone = [s.dependence.p_documents if of else math.nan for s, of in zip(found, few, strict=True)]
    p = holm(np.array([*alone, *[1.0] * more]))[: len(found)].tolist()
    checked = []
    for system, p_documents in zip(found, p, strict=True):
        kept = system._replace(p_documents=p_documents)
        if system.decided and p_documents > plan.alpha:
            kept = kept._replace(
                low=math.nan, high=math.nan, p=math.nan, decided=False, caveat="by document"
            )
        checked.append(kept)
    return checked


def _counts(gains: NDArray[np.float64]) -> tuple[int, int, int, int]:
    defined = gains[~np.isnan(gains)]
    wins, losses = int((defined > _SAME).sum()), int((defined < -_SAME).sum())
    return len(defined), wins, len(defined) - wins - losses, losses


# The segments with the largest influence on the difference of a system and the baseline.


class Decider(NamedTuple):
    """A segment that moves the difference of a system and the baseline much."""

    system: int  # position
    better: bool  # whether the system is better there
    rank: int  # from 1, on its side
    segment: int  # position


def deciders(
    paired: PairedScores, added: NDArray[np.float64], last: NDArray[np.bool_], most: int
) -> list[Decider]:
    """The segments with the largest influence for each system, then against it.

    Of equal ones the earlier. A segment speaks for the side whose output scores better there.

    Args:
        paired: the scores.
        added: what each segment adds to the difference, float64 [K, N].
        last: those that stand behind all others, bool [K, N].
        most: how many on each side at most.
    """
    gains, added = np.nan_to_num(paired.gains()), np.nan_to_num(paired.sign * added)
    return [
        Decider(k, sign > 0, rank, segment)
        for k in range(1, len(gains))
        for sign in (1, -1)
        for rank, segment in enumerate(
            _largest(sign * gains[k], sign * added[k], last[k], most), start=1
        )
    ]


def influence(paired: PairedScores) -> NDArray[np.float64]:
    """Contribution of each segment to the difference from the baseline, float64 [K, N].

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


def _largest(
    gain: NDArray[np.float64], added: NDArray[np.float64], last: NDArray[np.bool_], most: int
) -> list[int]:
    order = np.lexsort((-added, last))
    return [int(segment) for segment in order[gain[order] > 0][:most]]
