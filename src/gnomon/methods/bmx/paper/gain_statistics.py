"""How gains are distributed over experiments, and what they go along with (figures 4 to 13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.errors import UsageError
from gnomon.stats import pearson

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.methods.bmx._experiments import Experiment, Factor

    Floats = NDArray[np.float64]

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
    defined = gains[~np.isnan(gains)]
    if len(defined) < _FEWEST or np.ptp(defined) == 0:
        return None
    quartiles = np.percentile(defined, [25, 75])
    sizes = [float(defined.std(ddof=1)), float(np.ptp(quartiles)) / 1.34]
    return float(0.9 * min(size for size in sizes if size > 0) * len(defined) ** -0.2)


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
    defined = np.sort(gains[~np.isnan(gains)])
    if not len(defined):
        return None
    q1, median, q3 = (float(q) for q in np.percentile(defined, [25, 50, 75]))
    reach = 1.5 * (q3 - q1)
    inside = defined[(defined >= q1 - reach) & (defined <= q3 + reach)]
    outside = defined[(defined < q1 - reach) | (defined > q3 + reach)]
    return Spread(
        float(inside[0]),
        q1,
        median,
        q3,
        float(inside[-1]),
        float(defined.mean()),
        tuple(outside.tolist()),
        len(defined),
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
    some = [
        experiment
        for experiment, gain in zip(experiments, gains, strict=True)
        if not np.isnan(gain)
    ]
    names = [
        (factor, level)
        for factor in factors
        for level in _several(getattr(experiment, factor) for experiment in some)
    ]
    if len(some) < 2 or not names:
        return []
    x = np.array(
        [[getattr(experiment, f) == level for f, level in names] for experiment in some],
        dtype=float,
    )
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


def _kernels(gains: Floats, at: Floats, width: float) -> Floats:
    defined = gains[~np.isnan(gains)]
    sums = np.zeros(len(at))
    for start in range(0, len(defined), _KERNELS):  # which bounds the memory of whole grids
        some = defined[start : start + _KERNELS]
        sums += np.exp(-0.5 * ((at[:, None] - some) / width) ** 2).sum(axis=1)
    return np.asarray(sums / (len(defined) * width * np.sqrt(2 * np.pi)))


def _several(levels: Iterable[str]) -> list[str]:
    distinct = list(dict.fromkeys(levels))
    return distinct if len(distinct) > 1 else []
