"""Factors of gains of experiments: explainers, metrics, data (Leiter et al., figure 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx.experiments import Experiment, Factor

    Floats = NDArray[np.float64]

__all__ = ["Coefficient", "ridge_coefficients"]


class Coefficient(NamedTuple):
    """Contribution of a level of a factor to the gain, all other factors being equal.

    - ``factor``, ``level``: ``("explainer", "lime")``.
    - ``value``: coefficient of the ridge regression, in units of the gain.
    - ``n``: experiments of that level.
    """

    factor: str
    level: str
    value: float
    n: int


def ridge_coefficients(
    experiments: Sequence[Experiment],
    gains: Floats,
    factors: Sequence[Factor],
    *,
    ridge: float = 1.0,
) -> list[Coefficient]:
    """Estimate what each level of each factor adds to the gain: ridge regression on indicators.

    Every level has an indicator, none is left out as a baseline: the penalty makes the coefficients
    of a factor add up to 0. Gains and indicators are centred, so that the intercept, the mean gain,
    is not penalised; indicators are not scaled. Minimises ``|gain - X b|^2 + ridge |b|^2``.
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


def _several(levels: Iterable[str]) -> list[str]:
    distinct = list(dict.fromkeys(levels))
    return distinct if len(distinct) > 1 else []
