"""What is measured: a statistic at a level, under a grouping; and the presets of shared tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from gnomon.errors import UnknownNameError, UsageError
from gnomon.faults import Fault, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "LEVELS",
    "PRESETS",
    "STATISTICS",
    "Grouping",
    "Level",
    "Measure",
    "Preset",
    "measures",
    "preset_of",
]

Level: TypeAlias = Literal["system", "segment"]
Grouping: TypeAlias = Literal["none", "item", "system"]
LEVELS: tuple[Level, ...] = get_args(Level)
_ALL: tuple[Grouping, ...] = get_args(Grouping)


class Statistic(NamedTuple):
    """What a statistic is called, where it exists, and what it counts.

    Attributes:
        title: heading for people.
        levels: where it exists.
        groupings: at segment level, which groupings it has.
        usual: those taken unless groupings are named.
        default: levels at which it is taken unless statistics are named.
        unit: what its n counts, where it counts neither systems nor scores.
        ties: whether it judges ties, so that controls belong beside it.
    """

    title: str
    levels: tuple[Level, ...]
    groupings: tuple[Grouping, ...] = ()
    usual: tuple[Grouping, ...] = ()
    default: tuple[Level, ...] = ()
    unit: str = ""
    ties: bool = False


_BY_ITEM: tuple[Grouping, ...] = ("item",)
STATISTICS: Mapping[str, Statistic] = {
    "pearson": Statistic("Pearson", LEVELS, _ALL, ("none", "item"), LEVELS),
    "spearman": Statistic("Spearman", LEVELS, _ALL, ("none", "item"), ("system",)),
    "kendall_b": Statistic("Kendall tau-b", LEVELS, _ALL, _BY_ITEM, LEVELS),
    "kendall_c": Statistic("Kendall tau-c", ("segment",), _ALL, _BY_ITEM),
    "pairwise_accuracy": Statistic(
        "pairwise accuracy", ("system",), default=("system",), unit="pairs", ties=True
    ),
    "spa": Statistic(
        "soft pairwise accuracy", ("system",), default=("system",), unit="pairs", ties=True
    ),
    "acc_eq": Statistic(
        "accuracy with tie calibration",
        ("segment",),
        _ALL,
        _BY_ITEM,
        ("segment",),
        unit="pairs",
        ties=True,
    ),
    "acc_eq_held_out": Statistic(
        "accuracy with held-out tie calibration",
        ("segment",),
        _ALL,
        _BY_ITEM,
        unit="pairs",
        ties=True,
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
    """A statistic at a level under a grouping.

    Attributes:
        statistic: a key of :data:`STATISTICS`.
        level: "system" or "segment".
        grouping: "none", "item" (over systems within each segment) or "system" (over segments
            within each system); "none" at system level.
    """

    statistic: str
    level: Level
    grouping: Grouping

    @property
    def kind(self) -> Statistic:
        """What is known of its statistic."""
        return STATISTICS[self.statistic]

    @property
    def title(self) -> str:
        """Heading for people."""
        by = {"none": "", "item": ", by item", "system": ", by system"}[self.grouping]
        return f"{self.kind.title}, {self.level} level{by}"

    @property
    def unit(self) -> str:
        """What n counts."""
        return self.kind.unit or {"system": "systems", "segment": "scores"}[self.level]

    @property
    def human_level(self) -> Level:
        """The level of the human scores that it needs."""
        return "segment" if self.statistic == "spa" else self.level

    @property
    def is_row_statistic(self) -> bool:
        """Whether :mod:`gnomon.stats` resamples it by name."""
        return self.statistic in {
            "pearson",
            "spearman",
            "kendall_b",
            "kendall_c",
            "pairwise_accuracy",
        }


class Preset(NamedTuple):
    """The measures of a shared task.

    Attributes:
        measures: what was measured.
        says: which formulas these are, for the reader.
        williams: whether differences of system-level Pearson go by Williams's test.
    """

    measures: tuple[Measure, ...]
    says: str
    williams: bool = False


PRESETS: Mapping[str, Preset] = {
    "wmt19": Preset(
        (Measure("pearson", "system", "none"), Measure("darr", "segment", "item")),
        "preset wmt19: system-level Pearson over all systems, differences by Williams's test,"
        " one-sided; segment-level DaRR, (C - D)/(C + D) with metric ties discordant, differences"
        " by bootstrap over segments, p = r/B (Ma et al., 2019)",
        williams=True,
    ),
    "wmt22": Preset(
        (
            Measure("pairwise_accuracy", "system", "none"),
            Measure("pearson", "system", "none"),
            Measure("acc_eq", "segment", "item"),
        ),
        "preset wmt22: pairwise accuracy of system scores, pairs of all language pairs pooled, and"
        " system-level Pearson (Freitag et al., 2022), with acc_eq by item, ties calibrated on the"
        " test data (Deutsch et al., 2023); differences by permutation, r/B, in blocks of 100"
        " until p < .02 or p > .5",
    ),
    "wmt24": Preset(
        (Measure("spa", "system", "none"), Measure("acc_eq", "segment", "item")),
        "preset wmt24: soft pairwise accuracy (1000 sign flips, seed 4, systems sorted by name) and"
        " acc_eq by item, ties calibrated on the test data; the average row is the plain mean of"
        " both over the language pairs (Freitag et al., 2024); differences of acc_eq by exchange of"
        " decisions, r/B, in blocks of 100 until p < .02 or p > .5; those of soft pairwise accuracy"
        " by bootstrap over systems, which is gnomon's own choice",
    ),
}


def preset_of(name: str | None) -> Preset | None:
    """The preset of that name.

    Raises:
        UnknownNameError: there is none.
    """
    if name is None:
        return None
    if name not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    return PRESETS[name]


def measure_faults(
    levels: Sequence[str], statistics: Sequence[str] | None, groupings: Sequence[str] | None
) -> Iterator[Fault]:
    """Levels, statistics and groupings that do not exist."""
    for kind, given, known in (
        ("level", levels, LEVELS),
        ("statistic", statistics or (), STATISTICS),
        ("grouping", groupings or (), _ALL),
    ):
        for number, name in enumerate(given):
            if name not in known:
                error = UnknownNameError(kind, str(name), known)
                yield Fault(f"{kind}s[{number}]", error)


def measures(
    levels: Sequence[str],
    statistics: Sequence[str] | None,
    groupings: Sequence[str] | None,
    preset: Preset | None = None,
) -> tuple[Measure, ...]:
    """Every measure that levels, statistics and groupings ask for; or those of a preset.

    Raises:
        UnknownNameError: there is no such level, statistic or grouping.
        UsageError: no statistic exists at the levels or under the groupings.
    """
    refuse(measure_faults(levels, statistics, groupings))
    if preset is not None and levels:
        return tuple(measure for measure in preset.measures if measure.level in levels)
    found = [
        measure
        for level in levels
        for name, known in STATISTICS.items()
        if (name in statistics if statistics else level in known.default)
        for measure in _under(name, level, groupings)
    ]
    if not found:
        raise UsageError(
            f"of {', '.join(statistics or STATISTICS)} none exists at level"
            f" {' or '.join(levels) or 'none'} under grouping {' or '.join(groupings or ['none'])}"
        )
    return tuple(dict.fromkeys(found))


def _under(name: str, level: str, groupings: Sequence[str] | None) -> list[Measure]:
    known = STATISTICS[name]
    if level not in known.levels:
        return []
    if level == "system":
        return [Measure(name, "system", "none")]
    wanted = (
        [g for g in _ALL if g in known.groupings and g in groupings] if groupings else known.usual
    )
    return [Measure(name, "segment", grouping) for grouping in wanted]
