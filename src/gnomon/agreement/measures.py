"""Measures: statistics at a level under a grouping, their scores, and their values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from gnomon import stats
from gnomon.core.errors import UsageError
from gnomon.messages.audiences import flag
from gnomon.stats.jackknife import numbered
from gnomon.stats.measures import ROW_STATISTICS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.agreement.pairing import JudgedMetric, Pairing
    from gnomon.messages.audiences import Words

# Measures: a statistic at a level, under a grouping; and the presets of shared tasks.


Level: TypeAlias = Literal["system", "segment"]
Grouping: TypeAlias = Literal["none", "item", "system"]
StatisticName: TypeAlias = Literal[
    "pearson",
    "spearman",
    "kendall_b",
    "kendall_c",
    "pairwise_accuracy",
    "spa",
    "acc_eq",
    "acc_eq_held_out",
    "pairwise_difference_pearson",
    "darr",
]
PresetName: TypeAlias = Literal["wmt19", "wmt22", "wmt23", "wmt24", "outliers"]
_UNPUBLISHED = (
    "the task judges metrics by correlations with people at the level of segments and of systems, ",
    "and no formulas or weights of it were found published; ",
    flag("preset", "wmt24", "'wmt24'"),
    " takes those of the year before, ",
    flag("human", "KIND", ""),
    " the kind of human scores",
)
#: shared tasks that have no preset, and why
NO_PRESET: Mapping[str, Words] = {"wmt25": _UNPUBLISHED, "wmt26": _UNPUBLISHED}
LEVELS: tuple[Level, ...] = get_args(Level)
_ALL: tuple[Grouping, ...] = get_args(Grouping)


class Statistic(NamedTuple):
    """A statistic: its name, where it exists, and what it counts."""

    title: str  # heading for people
    levels: tuple[Level, ...]  # where it exists
    groupings: tuple[Grouping, ...] = ()  # at segment level, which groupings it has
    usual: tuple[Grouping, ...] = ()  # those taken unless groupings are named
    default: tuple[Level, ...] = ()  # levels at which it is taken unless statistics are named
    unit: str = ""  # what its n counts, where it counts neither systems nor scores
    ties: bool = False  # whether it judges ties, so that controls belong beside it
    share: bool = False  # whether its values lie between 0 and 1; else they lie between -1 and 1


_BY_ITEM: tuple[Grouping, ...] = ("item",)
STATISTICS: Mapping[StatisticName, Statistic] = {
    "pearson": Statistic("Pearson", LEVELS, _ALL, ("none", "item"), LEVELS),
    "spearman": Statistic("Spearman", LEVELS, _ALL, ("none", "item"), ("system",)),
    "kendall_b": Statistic("Kendall tau-b", LEVELS, _ALL, _BY_ITEM, LEVELS),
    "kendall_c": Statistic("Kendall tau-c", ("segment",), _ALL, _BY_ITEM),
    "pairwise_accuracy": Statistic(
        "pairwise accuracy", ("system",), default=("system",), unit="pairs", ties=True, share=True
    ),
    "spa": Statistic(
        "soft pairwise accuracy",
        ("system",),
        default=("system",),
        unit="pairs",
        ties=True,
        share=True,
    ),
    "acc_eq": Statistic(
        "accuracy with tie calibration",
        ("segment",),
        _ALL,
        _BY_ITEM,
        ("segment",),
        unit="pairs",
        ties=True,
        share=True,
    ),
    "acc_eq_held_out": Statistic(
        "accuracy with held-out tie calibration",
        ("segment",),
        _ALL,
        _BY_ITEM,
        unit="pairs",
        ties=True,
        share=True,
    ),
    "pairwise_difference_pearson": Statistic(
        "Pearson of pairwise differences", ("segment",), _ALL, _BY_ITEM, unit="pairs"
    ),
    "darr": Statistic(
        "DaRR", ("segment",), _BY_ITEM, _BY_ITEM, ("segment",), unit="pairs", ties=True
    ),
}


@dataclass(frozen=True)
class Measure:
    """A statistic at a level under a grouping."""

    statistic: StatisticName  # a key of :data:`STATISTICS`
    level: Level  # "system" or "segment"
    # "none", "item" (over systems within each segment) or "system" (over segments within each
    # system); "none" at system level
    grouping: Grouping

    @property
    def kind(self) -> Statistic:
        """Entry of its statistic."""
        return STATISTICS[self.statistic]

    @property
    def title(self) -> str:
        """Heading for people."""
        by = {"none": "", "item": ", by item", "system": ", by system"}[self.grouping]
        return f"{self.kind.title}, {self.level} level{by}"

    @property
    def unit(self) -> str:
        """Unit that n counts."""
        return self.kind.unit or {"system": "systems", "segment": "scores"}[self.level]

    @property
    def human_level(self) -> Level:
        """The level of the human scores that it needs."""
        return "segment" if self.statistic == "spa" else self.level

    @property
    def is_row_statistic(self) -> bool:
        """True if :mod:`gnomon.stats` resamples it by name."""
        return self.statistic in ROW_STATISTICS


class Preset(NamedTuple):
    """The measures of a shared task."""

    measures: tuple[Measure, ...]  # what was measured
    williams: bool = False  # whether differences of system-level Pearson go by Williams's test
    averaged: bool = False  # whether the task had one average over all measures and test sets


PRESETS: Mapping[PresetName, Preset] = {
    "wmt19": Preset(
        (Measure("pearson", "system", "none"), Measure("darr", "segment", "item")),
        williams=True,
    ),
    "wmt22": Preset(
        (
            Measure("pairwise_accuracy", "system", "none"),
            Measure("pearson", "system", "none"),
            Measure("acc_eq", "segment", "item"),
        ),
    ),
    "wmt23": Preset(
        (
            Measure("pairwise_accuracy", "system", "none"),
            Measure("pearson", "system", "none"),
            Measure("pearson", "segment", "none"),
            Measure("acc_eq", "segment", "item"),
        ),
        averaged=True,
    ),
    "wmt24": Preset(
        (Measure("spa", "system", "none"), Measure("acc_eq", "segment", "item")),
        averaged=True,
    ),
}


def preset_of(name: PresetName | None) -> Preset | None:
    """The preset of that name."""
    return None if name is None else PRESETS[name]


def measures(
    levels: Sequence[Level],
    statistics: Sequence[StatisticName] | None,
    groupings: Sequence[Grouping] | None,
    preset: Preset | None = None,
) -> tuple[Measure, ...]:
    """Every measure that levels, statistics and groupings ask for; or those of a preset."""
    if preset is not None and levels:
        return tuple(measure for measure in preset.measures if measure.level in levels)
    chosen = [
        measure
        for level in levels
        for name, statistic in STATISTICS.items()
        if (name in statistics if statistics else level in statistic.default)
        for measure in _grouped_measures(name, level, groupings)
    ]
    if not chosen:
        raise UsageError(
            f"of {', '.join(statistics or STATISTICS)} none exists at level"
            f" {' or '.join(levels) or 'none'} under grouping {' or '.join(groupings or ['none'])}"
        )
    return tuple(dict.fromkeys(chosen))


def _grouped_measures(
    name: StatisticName, level: Level, groupings: Sequence[Grouping] | None
) -> list[Measure]:
    statistic = STATISTICS[name]
    if level not in statistic.levels:
        return []
    if level == "system":
        return [Measure(name, "system", "none")]
    wanted = (
        [g for g in _ALL if g in statistic.groupings and g in groupings]
        if groupings
        else statistic.usual
    )
    return [Measure(name, "segment", grouping) for grouping in wanted]


def tasks_of(asked: Sequence[Measure], preset: Preset | None) -> tuple[Measure, ...]:
    """Measures that an average over tasks is taken of; nothing unless a preset asks for one."""
    return tuple(asked) if preset is not None and preset.averaged else ()


# The scores that a measure is taken over, and its value.


@dataclass(frozen=True)
class MeasuredScores:
    """Scores that one measure compares on one test set."""

    measure: Measure  # the measure
    names: tuple[str, ...]  # the metrics
    human: NDArray[np.float64]  # people's scores [K] or [K, N]
    metrics: NDArray[np.float64]  # the metrics' scores [M, K] or [M, K, N]
    pairs: stats.OrderedPairs | None = None  # for DaRR by rankings, the pairs that people ordered
    # for DaRR from scores, the smallest difference that counts, if they may serve
    threshold: float | None = None
    spa_seed: int = 0  # seed of the sign flips of soft pairwise accuracy
    # the document of each segment [N], where documents and not segments are taken as independent
    documents: NDArray[np.int64] | None = None

    @property
    def empty(self) -> bool:
        """True if people said nothing that the measure could use."""
        return self.pairs is None and bool(np.isnan(self.human).all())

    @property
    def judged(self) -> int:
        """Number of systems that both people and a metric scored."""
        systems = len(self.human)
        human = np.isfinite(self.human).reshape(systems, -1).any(axis=1)
        scored = np.isfinite(self.metrics).reshape(len(self.metrics), systems, -1).any(axis=(0, 2))
        return int((human & scored).sum())

    def only(self, systems: NDArray[np.bool_]) -> MeasuredScores:
        """The same, with people's scores of some systems [K] alone."""
        kept = systems if self.human.ndim == 1 else systems[:, None]
        human = np.where(kept, self.human, np.nan)
        return replace(self, human=human, pairs=None)

    def trimmed(self) -> MeasuredScores:
        """Without systems and segments that nobody judged: resampling must not draw them.

        Soft pairwise accuracy draws its signs for what is left, as mt-metrics-eval does.
        """
        judged = ~np.isnan(self.human)
        if self.pairs is not None or judged.all():
            return self
        if self.human.ndim == 1:
            return self.having(self.human[judged], self.metrics[:, judged])
        rows, columns = judged.any(axis=1), judged.any(axis=0)
        kept = self.having(self.human[rows][:, columns], self.metrics[:, rows][:, :, columns])
        documents = None if self.documents is None else self.documents[columns]
        return replace(kept, documents=documents)

    def having(self, human: NDArray[np.float64], metrics: NDArray[np.float64]) -> MeasuredScores:
        """The same measure of other scores."""
        return replace(self, human=human, metrics=metrics)


class Value(NamedTuple):
    """A measured value (NaN: undefined), what n it stands on, and the tie threshold if any."""

    value: float
    n: int
    epsilon: float | None = None


def cells(
    pairing: Pairing,
    measure: Measure,
    entries: Sequence[JudgedMetric],
    *,
    threshold: float | None = None,
    spa_seed: int = 0,
    by_document: bool = False,
) -> MeasuredScores:
    """The scores that a measure needs, of some metrics."""
    by_segment = measure.level == "segment" or measure.statistic == "spa"
    metrics = [entry.segments if by_segment else entry.system for entry in entries]
    human = pairing.segments if by_segment else pairing.system
    shape = (len(entries), *human.shape)
    ranked = pairing.ranked if measure.statistic == "darr" else None
    return MeasuredScores(
        measure,
        tuple(entry.metric for entry in entries),
        human,
        np.array(metrics, dtype=np.float64).reshape(shape),
        None if ranked is None else stats.OrderedPairs(ranked.segment, ranked.better, ranked.worse),
        threshold,
        spa_seed,
        numbered(pairing.documents)
        if by_document and measure.level == "segment" and pairing.documents
        else None,
    )


def value(found: MeasuredScores, metric: int) -> Value:
    """The value of one metric, by its place."""
    special = {
        "darr": _darr,
        "spa": _spa,
        "acc_eq": _acc_eq,
        "acc_eq_held_out": _acc_eq_held_out,
        "pairwise_difference_pearson": _measure_differences,
        "pairwise_accuracy": _accuracy,
    }.get(found.measure.statistic, _correlation)
    return special(found, found.metrics[metric])


#: mean of random scores, where it does not depend on people's
_CHANCE = {"pairwise_accuracy": 0.5, "darr": 0.0}
#: draws of random scores, where no formula gives what they reach
_DRAWS = 10


def value_of_chance(found: MeasuredScores, metric: int) -> Value:
    """Mean value of random scores, in place of the drawn ones of a control."""
    drawn = value(found, metric)
    scores, statistic = found.metrics[metric], found.measure.statistic
    if np.isnan(drawn.value):
        return drawn
    if statistic in _CHANCE:
        return drawn._replace(value=_CHANCE[statistic])
    if statistic == "spa":
        human = np.where(np.isnan(scores), np.nan, found.human)
        p = stats.system_p_values(human, seed=found.spa_seed)[np.triu_indices(len(human), 1)]
        # the expected distance from a p-value that is anything between 0 and 1
        apart = (p**2 + (1 - p) ** 2) / 2
        return drawn._replace(value=float(1 - np.nanmean(apart)))
    draws = np.random.default_rng(found.spa_seed).random((_DRAWS, *scores.shape))
    again = found.having(found.human, np.where(np.isnan(scores), np.nan, draws))
    return drawn._replace(value=float(np.mean([value(again, k).value for k in range(_DRAWS)])))


def _correlation(found: MeasuredScores, scores: NDArray[np.float64]) -> Value:
    function = getattr(stats, found.measure.statistic)
    both = ~(np.isnan(found.human) | np.isnan(scores))
    r = function(found.human, scores, grouping=found.measure.grouping)
    return Value(r, int(both.sum()))


def _accuracy(found: MeasuredScores, scores: NDArray[np.float64]) -> Value:
    agreeing, total = stats.pairwise_decisions(found.human, scores)
    return Value(agreeing / total if total else float("nan"), total)


def _spa(found: MeasuredScores, scores: NDArray[np.float64]) -> Value:
    both = (~(np.isnan(found.human) | np.isnan(scores))).astype(np.int64)
    pairs = int((np.triu(both @ both.T, 1) > 0).sum())  # those with a segment in common
    return Value(stats.spa(found.human, scores, seed=found.spa_seed), pairs)


def _acc_eq(found: MeasuredScores, scores: NDArray[np.float64]) -> Value:
    best = stats.calibrate_ties(found.human, scores, grouping=found.measure.grouping)
    return Value(best.accuracy, _pairs(found, scores), best.epsilon)


def _acc_eq_held_out(found: MeasuredScores, scores: NDArray[np.float64]) -> Value:
    if scores.shape[1] < 2:
        return Value(float("nan"), _pairs(found, scores))
    held = stats.acc_eq_held_out(found.human, scores, grouping=found.measure.grouping)
    return Value(held, _pairs(found, scores))


def _measure_differences(found: MeasuredScores, scores: NDArray[np.float64]) -> Value:
    grouping = found.measure.grouping
    r = stats.pairwise_difference_pearson(found.human, scores, grouping=grouping)
    return Value(r, _pairs(found, scores))


def _darr(found: MeasuredScores, scores: NDArray[np.float64]) -> Value:
    if found.pairs is None:
        threshold = found.threshold or 0.0
        tau = stats.darr(found.human, scores, threshold=threshold)
        human = np.where(np.isnan(scores), np.nan, found.human)
        pairs = stats.ordered_pairs(human, threshold=threshold)
        return Value(tau, len(pairs.segment))
    better, worse = pair_scores(found.pairs, scores)
    scored = ~(np.isnan(better) | np.isnan(worse))
    return Value(stats.darr_pairs(better, worse), int(scored.sum()))


def pair_scores(
    pairs: stats.OrderedPairs, scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A metric's scores [K, N] of the better and of the worse outputs [P]."""
    return scores[pairs.better, pairs.segment], scores[pairs.worse, pairs.segment]


def _pairs(found: MeasuredScores, scores: NDArray[np.float64]) -> int:
    """Pairs of outputs that both sides scored, within the groups."""
    both = ~(np.isnan(found.human) | np.isnan(scores))
    axis = {"item": 0, "system": 1}.get(found.measure.grouping)
    counts = np.atleast_1d(both.sum(axis=axis))
    return int((counts * (counts - 1) // 2).sum())
