"""Every experiment under every rule: the setting, the correlation, the gain and its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from gnomon.bmx._choices import RULES, Rule, Setting, best_settings, choose, gains_at
from gnomon.bmx._correlations import usable
from gnomon.bmx._gain_intervals import gain_intervals
from gnomon.bmx._held_out import held_out
from gnomon.bmx._power_mean import power_means
from gnomon.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx._experiments import Experiment, Explained, Grids
    from gnomon.bmx._held_out import Group
    from gnomon.bmx._shifts import Shift

    Floats = NDArray[np.float64]

__all__ = ["ALL_RULES", "AnyRule", "Asked", "Outcome", "outcomes"]

AnyRule = Literal[
    "median", "median-improving", "most-improving", "largest-mean", "held-out", "best"
]
ALL_RULES: tuple[AnyRule, ...] = get_args(AnyRule)


@dataclass(frozen=True)
class Asked:
    """What was asked for, beside the experiments.

    Attributes:
        shift: of the importances.
        held_out_by: what is held out.
        held_out_rule: how the held-out setting is chosen.
        alpha: penalty of the ridge regression.
        curves: how many experiments are shown as curves over p.
        count: draws of the intervals.
        seed: of the draws.
        confidence: of the intervals.
    """

    shift: Shift
    held_out_by: Group
    held_out_rule: Rule
    alpha: float
    curves: int
    count: int
    seed: int
    confidence: float


class Outcome(NamedTuple):
    """One experiment under one rule.

    - ``experiment``, ``rule``.
    - ``setting``: p and w; ``None`` where the rule finds none.
    - ``base``: correlation of the metric alone.
    - ``boosted``: at the setting.
    - ``gain``: the difference.
    - ``low``, ``high``: ends of its interval over segments; NaN without explanations.
    - ``control_p``, ``over_control``: exponent of the random explainer, and what is gained over it
      at the same weight; NaN where it was not run, and under rules that hold nothing out.
    """

    experiment: Experiment
    rule: AnyRule
    setting: Setting | None
    base: float
    boosted: float
    gain: float
    low: float = float("nan")
    high: float = float("nan")
    control_p: float = float("nan")
    over_control: float = float("nan")


def outcomes(
    grids: Grids, controls: Grids, explained: Mapping[Experiment, Explained], asked: Asked
) -> list[Outcome]:
    """Outcomes of all experiments of one explainer, rule by rule.

    Args:
        grids: its experiments.
        controls: those of the random explainer.
        explained: the explanations, where there are any; without, gains have no intervals.
        asked: how to hold out, and how to draw.
    """
    found: list[Outcome] = []
    for rule in RULES:
        found += _fixed(grids, rule)
    found += _held_out(grids, controls, asked)
    found += _best(grids)
    if not explained:
        return found
    intervals: dict[tuple[Experiment, AnyRule], tuple[float, float]] = {}
    for one in grids.experiments:
        if one in explained:
            mine = [outcome for outcome in found if outcome.experiment == one]
            intervals |= _intervals(explained[one], mine, asked)
    return [
        outcome._replace(low=ends[0], high=ends[1])
        if (ends := intervals.get((outcome.experiment, outcome.rule)))
        else outcome
        for outcome in found
    ]


def _fixed(grids: Grids, rule: Rule) -> list[Outcome]:
    try:
        setting = choose(grids, rule)
    except DataError:
        return [
            _undefined(one, rule, base)
            for one, base in zip(grids.experiments, grids.base.tolist(), strict=True)
        ]
    gains = gains_at(grids, setting)
    return [
        Outcome(one, rule, setting, float(base), float(base + gain), float(gain))
        for one, base, gain in zip(grids.experiments, grids.base, gains, strict=True)
    ]


def _held_out(grids: Grids, controls: Grids, asked: Asked) -> list[Outcome]:
    found = held_out(grids, controls, by=asked.held_out_by, rule=asked.held_out_rule)
    return [
        Outcome(
            grids.experiments[one.place],
            "held-out",
            one.setting,
            float(grids.base[one.place]),
            one.boosted,
            one.gain,
            control_p=one.control_p,
            over_control=one.over_control,
        )
        for one in found
    ]


def _best(grids: Grids) -> list[Outcome]:
    found = []
    for i, (row, column) in enumerate(best_settings(grids).tolist()):
        one, base = grids.experiments[i], float(grids.base[i])
        if row < 0:
            found.append(_undefined(one, "best", base))
            continue
        p, w = float(grids.p[row]), float(grids.w[column])
        boosted = float(grids.correlations[i, row, column])
        setting = Setting(p, w, row, column, p, w, 1)
        found.append(Outcome(one, "best", setting, base, boosted, boosted - base))
    return found


def _undefined(one: Experiment, rule: AnyRule, base: float) -> Outcome:
    return Outcome(one, rule, None, base, float("nan"), float("nan"))


def _intervals(
    one: Explained, mine: Sequence[Outcome], asked: Asked
) -> dict[tuple[Experiment, AnyRule], tuple[float, float]]:
    """Intervals of the gains of one experiment, each distinct setting drawn once."""
    kept, reason = usable(one)
    settings = list(dict.fromkeys((o.setting.p, o.setting.w) for o in mine if o.setting))
    if reason is not None or not settings:
        return {}
    exponents = np.array([p for p, _ in settings])
    means = power_means(one.values, one.offsets, exponents, shift=asked.shift).means[:, kept]
    found = gain_intervals(
        one.score[kept],
        means,
        one.human[kept],
        [w for _, w in settings],
        count=asked.count,
        seed=asked.seed,
        confidence=asked.confidence,
    )
    ends = {
        key: (interval.low, interval.high) for key, interval in zip(settings, found, strict=True)
    }
    return {(one.experiment, o.rule): ends[o.setting.p, o.setting.w] for o in mine if o.setting}
