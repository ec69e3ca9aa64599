"""Every experiment under every rule: the setting, the correlation, the gain and its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.options import CONFIDENCE, RESAMPLES, SEED
from gnomon.methods.bmx._choices import (
    RULES,
    Rule,
    Setting,
    best_settings,
    choose,
    gains_at,
    held_back,
    held_out,
)
from gnomon.methods.bmx._correlations import usable
from gnomon.methods.bmx._power_mean import combine, power_means
from gnomon.stats.correlation import pearson_of_sums
from gnomon.stats.resampling import Interval, percentile_interval, resample_counts, resampled_sums

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.methods.bmx._choices import HeldOutBy
    from gnomon.methods.bmx._experiments import Experiment, Explained, Grids
    from gnomon.methods.bmx._power_mean import Shift

    Floats = NDArray[np.float64]


# How far a gain would move with other segments.


#: spread below this share of the magnitude is rounding, not variation (as gnomon.stats has it)
_CONSTANT = 1e-13


def gain_intervals(
    score: Floats,
    means: Floats,
    human: Floats,
    w: Sequence[float],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: float = CONFIDENCE,
) -> list[Interval]:
    """Gains of some settings over the metric alone, with percentile intervals over segments.

    The same segments are drawn for the metric and for all settings.
    """
    sides = np.stack([score, *(combine(score, m, x) for m, x in zip(means, w, strict=True))])
    scaled = np.stack([_standardised(values) for values in (human, *sides)])
    h, s = scaled[0], scaled[1:]
    observed = s @ h / float(len(score))
    if not resamples:
        return [Interval(float(gain), math.nan, math.nan) for gain in observed[1:] - observed[0]]
    counts = resample_counts(len(score), count=resamples, seed=seed)
    sums = resampled_sums(np.concatenate([scaled, scaled**2, s * h]), counts)
    first, squares, products = np.split(sums, [len(scaled), 2 * len(scaled)])
    n = np.full_like(products, len(score))
    people = [
        np.broadcast_to(sums_of_power[0], products.shape) for sums_of_power in (first, squares)
    ]
    # a draw of equal values has no r
    r = pearson_of_sums(np.array([n, people[0], first[1:], people[1], squares[1:], products]))
    low, high = percentile_interval(r[1:] - r[0], confidence)
    return [
        Interval(float(observed[i + 1] - observed[0]), float(low[i]), float(high[i]))
        for i in range(len(low))
    ]


def _standardised(values: Floats) -> Floats:
    centred = values - values.mean()
    deviation = float(np.sqrt((centred**2).mean()))
    varies = deviation > _CONSTANT * float(np.abs(values).max())
    return np.asarray(centred / deviation if varies else np.full(len(values), np.nan))


AnyRule = Literal[
    "median",
    "median-improving",
    "most-improving",
    "largest-mean",
    "held-out",
    "best",
    "published",
    "fixed",
]
ALL_RULES: tuple[AnyRule, ...] = get_args(AnyRule)


@dataclass(frozen=True)
class TuneOptions:
    """How to search."""

    shift: Shift
    held_out_by: HeldOutBy
    held_out_rule: Rule
    ridge: float
    curves: int
    resamples: int
    seed: int
    confidence: float


class RuleOutcome(NamedTuple):
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
    grids: Grids, controls: Grids, explained: Mapping[Experiment, Explained], options: TuneOptions
) -> list[RuleOutcome]:
    """Outcomes of all experiments of one explainer, rule by rule."""
    every: list[RuleOutcome] = []
    for rule in RULES:
        every += _fixed(grids, rule)
    every += _held_out(grids, controls, options)
    every += _best(grids)
    return _with_intervals(every, grids, explained, options)


def held_back_outcomes(
    back: Grids,
    others: Grids,
    controls: Grids,
    explained: Mapping[Experiment, Explained],
    options: TuneOptions,
    *,
    published: tuple[float, float] | None,
    fixed: tuple[float, float] | None,
) -> list[RuleOutcome]:
    """Outcomes of held-back experiments of one explainer, rule by rule; see :func:`held_back`."""
    every = []
    for result in held_back(back, others, controls, published=published, fixed=fixed):
        setting, base = result.setting, float(back.base[result.place])
        boosted = float(back.correlations[result.place, setting.row, setting.column])
        every.append(
            RuleOutcome(
                back.experiments[result.place],
                cast("AnyRule", result.rule),
                setting,
                base,
                boosted,
                boosted - base,
                control_p=result.control_p,
                over_control=boosted - result.control,
            )
        )
    return _with_intervals(every, back, explained, options)


def _with_intervals(
    outcomes: list[RuleOutcome],
    grids: Grids,
    explained: Mapping[Experiment, Explained],
    options: TuneOptions,
) -> list[RuleOutcome]:
    """The outcomes with intervals of their gains over segments, where there are explanations."""
    if not explained:
        return outcomes
    intervals: dict[tuple[Experiment, AnyRule], tuple[float, float]] = {}
    for experiment in grids.experiments:
        if experiment in explained:
            own_outcomes = [outcome for outcome in outcomes if outcome.experiment == experiment]
            intervals |= _intervals(explained[experiment], own_outcomes, options)
    return [
        outcome._replace(low=ends[0], high=ends[1])
        if (ends := intervals.get((outcome.experiment, outcome.rule)))
        else outcome
        for outcome in outcomes
    ]


def _fixed(grids: Grids, rule: Rule) -> list[RuleOutcome]:
    try:
        setting = choose(grids, rule)
    except DataError:
        return [
            _undefined(experiment, rule, base)
            for experiment, base in zip(grids.experiments, grids.base.tolist(), strict=True)
        ]
    gains = gains_at(grids, setting)
    return [
        RuleOutcome(experiment, rule, setting, float(base), float(base + gain), float(gain))
        for experiment, base, gain in zip(grids.experiments, grids.base, gains, strict=True)
    ]


def _held_out(grids: Grids, controls: Grids, options: TuneOptions) -> list[RuleOutcome]:
    results = held_out(grids, controls, by=options.held_out_by, rule=options.held_out_rule)
    return [
        RuleOutcome(
            grids.experiments[result.place],
            "held-out",
            result.setting,
            float(grids.base[result.place]),
            result.boosted,
            result.gain,
            control_p=result.control_p,
            over_control=result.over_control,
        )
        for result in results
    ]


def _best(grids: Grids) -> list[RuleOutcome]:
    best = []
    for i, (row, column) in enumerate(best_settings(grids).tolist()):
        experiment, base = grids.experiments[i], float(grids.base[i])
        if row < 0:
            best.append(_undefined(experiment, "best", base))
            continue
        p, w = float(grids.p[row]), float(grids.w[column])
        boosted = float(grids.correlations[i, row, column])
        setting = Setting(p, w, row, column, p, w, 1)
        best.append(RuleOutcome(experiment, "best", setting, base, boosted, boosted - base))
    return best


def _undefined(experiment: Experiment, rule: AnyRule, base: float) -> RuleOutcome:
    return RuleOutcome(experiment, rule, None, base, float("nan"), float("nan"))


def _intervals(
    explained: Explained, mine: Sequence[RuleOutcome], options: TuneOptions
) -> dict[tuple[Experiment, AnyRule], tuple[float, float]]:
    """Intervals of the gains of one experiment, each distinct setting drawn once."""
    kept, reason = usable(explained)
    settings = list(dict.fromkeys((o.setting.p, o.setting.w) for o in mine if o.setting))
    if reason is not None or not settings:
        return {}
    exponents = np.array([p for p, _ in settings])
    means = power_means(explained.values, explained.offsets, exponents, shift=options.shift).means[
        :, kept
    ]
    drawn = gain_intervals(
        explained.score[kept],
        means,
        explained.human[kept],
        [w for _, w in settings],
        resamples=options.resamples,
        seed=options.seed,
        confidence=options.confidence,
    )
    ends = {
        key: (interval.low, interval.high) for key, interval in zip(settings, drawn, strict=True)
    }
    return {
        (explained.experiment, o.rule): ends[o.setting.p, o.setting.w] for o in mine if o.setting
    }
