"""Every experiment under every rule: the setting, the correlation, the gain and its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.core.options import SEED
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
from gnomon.methods.bmx._experiments import Experiment
from gnomon.methods.bmx._power_mean import combine, power_means
from gnomon.stats import pearson
from gnomon.stats.correlation import pearson_of_sums
from gnomon.stats.resampling import Interval, percentile_interval, resample_counts, resampled_sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import Cell
    from gnomon.methods.bmx._choices import HeldOutBy
    from gnomon.methods.bmx._experiments import Explained, Factor, Grids
    from gnomon.methods.bmx._power_mean import Shift

    Floats = NDArray[np.float64]
    Row = Mapping[str, Cell]


# How far a gain would move with other segments.


#: spread below this share of the magnitude is rounding, not variation (as gnomon.stats has it)
_CONSTANT = 1e-13


def gain_intervals(
    score: Floats,
    means: Floats,
    human: Floats,
    w: Sequence[float],
    *,
    resamples: int = 1000,
    seed: int = SEED,
    confidence: float = 0.95,
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
    people = [np.broadcast_to(part[0], products.shape) for part in (first, squares)]
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
    """How to search, beside the experiments."""

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
    found: list[RuleOutcome] = []
    for rule in RULES:
        found += _fixed(grids, rule)
    found += _held_out(grids, controls, options)
    found += _best(grids)
    return _with_intervals(found, grids, explained, options)


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
    found = []
    for one in held_back(back, others, controls, published=published, fixed=fixed):
        setting, base = one.setting, float(back.base[one.place])
        boosted = float(back.correlations[one.place, setting.row, setting.column])
        found.append(
            RuleOutcome(
                back.experiments[one.place],
                cast("AnyRule", one.rule),
                setting,
                base,
                boosted,
                boosted - base,
                control_p=one.control_p,
                over_control=boosted - one.control,
            )
        )
    return _with_intervals(found, back, explained, options)


def _with_intervals(
    found: list[RuleOutcome],
    grids: Grids,
    explained: Mapping[Experiment, Explained],
    options: TuneOptions,
) -> list[RuleOutcome]:
    """The outcomes with intervals of their gains over segments, where there are explanations."""
    if not explained:
        return found
    intervals: dict[tuple[Experiment, AnyRule], tuple[float, float]] = {}
    for one in grids.experiments:
        if one in explained:
            mine = [outcome for outcome in found if outcome.experiment == one]
            intervals |= _intervals(explained[one], mine, options)
    return [
        outcome._replace(low=ends[0], high=ends[1])
        if (ends := intervals.get((outcome.experiment, outcome.rule)))
        else outcome
        for outcome in found
    ]


def _fixed(grids: Grids, rule: Rule) -> list[RuleOutcome]:
    try:
        setting = choose(grids, rule)
    except DataError:
        return [
            _undefined(one, rule, base)
            for one, base in zip(grids.experiments, grids.base.tolist(), strict=True)
        ]
    gains = gains_at(grids, setting)
    return [
        RuleOutcome(one, rule, setting, float(base), float(base + gain), float(gain))
        for one, base, gain in zip(grids.experiments, grids.base, gains, strict=True)
    ]


def _held_out(grids: Grids, controls: Grids, options: TuneOptions) -> list[RuleOutcome]:
    found = held_out(grids, controls, by=options.held_out_by, rule=options.held_out_rule)
    return [
        RuleOutcome(
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


def _best(grids: Grids) -> list[RuleOutcome]:
    found = []
    for i, (row, column) in enumerate(best_settings(grids).tolist()):
        one, base = grids.experiments[i], float(grids.base[i])
        if row < 0:
            found.append(_undefined(one, "best", base))
            continue
        p, w = float(grids.p[row]), float(grids.w[column])
        boosted = float(grids.correlations[i, row, column])
        setting = Setting(p, w, row, column, p, w, 1)
        found.append(RuleOutcome(one, "best", setting, base, boosted, boosted - base))
    return found


def _undefined(one: Experiment, rule: AnyRule, base: float) -> RuleOutcome:
    return RuleOutcome(one, rule, None, base, float("nan"), float("nan"))


def _intervals(
    one: Explained, mine: Sequence[RuleOutcome], options: TuneOptions
) -> dict[tuple[Experiment, AnyRule], tuple[float, float]]:
    """Intervals of the gains of one experiment, each distinct setting drawn once."""
    kept, reason = usable(one)
    settings = list(dict.fromkeys((o.setting.p, o.setting.w) for o in mine if o.setting))
    if reason is not None or not settings:
        return {}
    exponents = np.array([p for p, _ in settings])
    means = power_means(one.values, one.offsets, exponents, shift=options.shift).means[:, kept]
    found = gain_intervals(
        one.score[kept],
        means,
        one.human[kept],
        [w for _, w in settings],
        resamples=options.resamples,
        seed=options.seed,
        confidence=options.confidence,
    )
    ends = {
        key: (interval.low, interval.high) for key, interval in zip(settings, found, strict=True)
    }
    return {(one.experiment, o.rule): ends[o.setting.p, o.setting.w] for o in mine if o.setting}


# How gains are distributed over experiments, and what they go along with.


_FEWEST = 3
#: gains whose kernels are summed at a time
_KERNELS = 1 << 16


class Density(NamedTuple):
    """A curve: ``gain`` and ``density``, float64 [points] each; ``bandwidth`` of its kernel."""

    gain: Floats
    density: Floats
    bandwidth: float


class Spread(NamedTuple):
    """The numbers of a box plot: whiskers reach the last value within 1.5 boxes of the box."""

    low: float
    first_quartile: float
    median: float
    third_quartile: float
    high: float
    mean: float
    outliers: tuple[float, ...]
    n: int


class Coefficient(NamedTuple):
    """What a level of a factor adds to the gain, all other factors being equal.

    - ``factor``, ``level``: ``("explainer", "lime")``.
    - ``value``: coefficient of the ridge regression, in units of the gain.
    - ``n``: experiments of that level.
    """

    factor: str
    level: str
    value: float
    n: int


def bandwidth(gains: Floats) -> float | None:
    """Silverman's (1986) bandwidth, 0.9 min(deviation, interquartile range / 1.34) n^(-1/5).

    ``None`` where fewer than three gains are defined or all are equal.
    """
    known = gains[~np.isnan(gains)]
    if len(known) < _FEWEST or np.ptp(known) == 0:
        return None
    quartiles = np.percentile(known, [25, 75])
    sizes = [float(known.std(ddof=1)), float(np.ptp(quartiles)) / 1.34]
    return float(0.9 * min(size for size in sizes if size > 0) * len(known) ** -0.2)


def densities(groups: Mapping[str, Floats], *, points: int = 121) -> dict[str, Density]:
    """Densities of the gains of some groups, comparable: one bandwidth, one stretch of gains.

    Gaussian kernels; the bandwidth is the median of Silverman's of the groups; drawn from the first
    to the last percentile of all gains and three bandwidths beyond.
    """
    widths = {name: bandwidth(gains) for name, gains in groups.items()}
    some = {name: groups[name] for name, width in widths.items() if width is not None}
    if not some:
        return {}
    width = float(np.median([w for w in widths.values() if w is not None]))
    ends = np.nanpercentile(np.concatenate(list(some.values())), [1, 99])
    at = np.linspace(ends[0] - 3 * width, ends[1] + 3 * width, points)
    return {name: Density(at, _kernels(gains, at, width), width) for name, gains in some.items()}


def spread(gains: Floats) -> Spread | None:
    """The numbers of a box plot (Tukey, 1977); ``None`` without a defined gain."""
    known = np.sort(gains[~np.isnan(gains)])
    if not len(known):
        return None
    q1, median, q3 = (float(q) for q in np.percentile(known, [25, 50, 75]))
    reach = 1.5 * (q3 - q1)
    inside = known[(known >= q1 - reach) & (known <= q3 + reach)]
    outside = known[(known < q1 - reach) | (known > q3 + reach)]
    return Spread(
        float(inside[0]),
        q1,
        median,
        q3,
        float(inside[-1]),
        float(known.mean()),
        tuple(outside.tolist()),
        len(known),
    )


def ridge_coefficients(
    experiments: Sequence[Experiment],
    gains: Floats,
    factors: Sequence[Factor],
    *,
    ridge: float = 1.0,
) -> list[Coefficient]:
    """What each level of each factor adds to the gain: ridge regression on indicators.

    Every level has an indicator, none is left out as a baseline: the penalty makes the coefficients
    of a factor add up to 0. Gains and indicators are centred, so that the intercept, the mean gain,
    is not penalised; indicators are not scaled. Minimises |gain - X b|^2 + ridge |b|^2.
    """
    if not ridge > 0:
        raise UsageError(f"the penalty of a ridge regression is above 0; got {ridge}")
    some = [one for one, gain in zip(experiments, gains, strict=True) if not np.isnan(gain)]
    names = [
        (factor, level)
        for factor in factors
        for level in _several(getattr(one, factor) for one in some)
    ]
    if len(some) < 2 or not names:
        return []
    x = np.array([[getattr(one, f) == level for f, level in names] for one in some], dtype=float)
    y, sizes = gains[~np.isnan(gains)], x.sum(axis=0)
    x, y = x - x.mean(axis=0), y - y.mean()
    values = np.linalg.solve(x.T @ x + ridge * np.eye(len(names)), x.T @ y)
    return [
        Coefficient(factor, level, float(value), int(n))
        for (factor, level), value, n in zip(names, values, sizes, strict=True)
    ]


def gain_and_base(gains: Floats, base: Floats) -> float:
    """Pearson(C1 - C0, C0): do weak metrics gain more? NaN below three experiments."""
    if int((~np.isnan(gains) & ~np.isnan(base)).sum()) < _FEWEST:
        return float("nan")
    return pearson(gains, base)


def second_iteration_difference(
    first: Grids, second: Grids, *, p: float = -0.3, w: float = 0.6
) -> Floats:
    """How far a second iteration is from starting where the first one ended.

    The metric of the second iteration is the boosted one of the first, so that its w = 1 column
    equals the first iteration's correlation at the p and w that it was boosted with.
    """
    rows = np.flatnonzero(np.isclose(first.p, p, rtol=0, atol=1e-9))
    columns = np.flatnonzero(np.isclose(first.w, w, rtol=0, atol=1e-9))
    if not len(rows) or not len(columns):
        raise UsageError(f"the first grid has no point p = {p}, w = {w}")
    if len(first.experiments) != len(second.experiments):
        raise UsageError(
            f"{len(first.experiments)} grids of a first iteration and {len(second.experiments)} of"
            " a second one; give one of each per experiment, in the same order"
        )
    ended = first.correlations[:, rows[0], columns[0]]
    return np.asarray(np.abs(second.correlations[:, :, -1] - ended[:, None]).max(axis=1))


def _kernels(gains: Floats, at: Floats, width: float) -> Floats:
    known = gains[~np.isnan(gains)]
    sums = np.zeros(len(at))
    for start in range(0, len(known), _KERNELS):  # which bounds the memory of whole grids
        some = known[start : start + _KERNELS]
        sums += np.exp(-0.5 * ((at[:, None] - some) / width) ** 2).sum(axis=1)
    return np.asarray(sums / (len(known) * width * np.sqrt(2 * np.pi)))


def _several(levels: Iterable[str]) -> list[str]:
    found = list(dict.fromkeys(levels))
    return found if len(found) > 1 else []


# Second iterations: explaining the boosted metric again must start where the first one ended.


class Iteration(NamedTuple):
    """An experiment whose metric is another one's, boosted.

    - ``first``: the experiment that was boosted.
    - ``second``: the one that explains the result.
    - ``p``, ``w``: what the first was boosted with.
    """

    first: Experiment
    second: Experiment
    p: float
    w: float


def found_iterations(grids: Grids) -> list[Iteration]:
    """The experiments whose metric is a spec ``bmx(METRIC, explainer=..., p=..., w=...)``.

    Only those whose first iteration is among the grids, with this p and w on them.
    """
    found = []
    for second in grids.experiments:
        first_iteration = _first_iteration(second.metric)
        if first_iteration is None:
            continue
        metric, explainer, p, w = first_iteration
        first = Experiment(second.dataset, explainer, metric, second.language_pair, second.sides)
        if first in grids.experiments and p in grids.p and w in grids.w:
            found.append(Iteration(first, second, p, w))
    return found


def _first_iteration(metric: str) -> tuple[str, str, float, float] | None:
    from gnomon.core.errors import SpecError
    from gnomon.metrics.spec import read_spec

    try:
        spec = read_spec(metric)
    except SpecError:
        return None
    options = dict(spec.arguments)
    explainer, p, w = (options.get(name) for name in ("explainer", "p", "w"))
    if spec.name != "bmx" or spec.first is None or not isinstance(explainer, str):
        return None
    if not isinstance(p, int | float) or not isinstance(w, int | float):
        return None
    return str(spec.first), explainer, float(p), float(w)
