"""P-values from random draws, and the requirements on draws and levels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gnomon.core.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "ALL_DRAWS",
    "Alternative",
    "EarlyStopping",
    "PValue",
    "RandomDraws",
    "check_alternative",
    "check_confidence",
    "check_count",
    "decides",
    "fewest_draws",
    "p_value",
    "slack",
]


Alternative = Literal["two-sided", "greater", "less"]


_ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater", "less")


_ROUNDING = 1e-10  # differences of this share of the largest value are rounding


_NOTHING = 1e-14  # and so are values below this


class EarlyStopping(NamedTuple):
    """Stop drawing at the end of a block once the p-value so far is decided (mt-metrics-eval)."""

    block: int = 100
    low: float = 0.02
    high: float = 0.5


@dataclass(frozen=True)
class RandomDraws:
    """Rules for the draws of a test of metrics, and for its p-value.

    - ``count``: number of draws.
    - ``seed``: seed of the draws; the same for any number of workers.
    - ``plus_one``: see :func:`~gnomon.stats.p_value`.
    - ``early_stopping``: see :func:`~gnomon.stats.p_value`; saves time where draws are dear (all
      but Pearson's r), when both directions of a pair are decided. Bootstraps make all draws.
    """

    count: int = 1000
    seed: int = 0
    plus_one: bool = True
    early_stopping: EarlyStopping | None = None


ALL_DRAWS = RandomDraws()


class PValue(NamedTuple):
    """A p-value and the number of draws behind it."""

    p: float
    draws: int


def p_value(
    null: ArrayLike,
    observed: float,
    *,
    alternative: Alternative = "two-sided",
    plus_one: bool = True,
    early_stopping: EarlyStopping | None = None,
) -> PValue:
    """Share of draws under the null hypothesis that are at least as extreme as the observation.

    Args:
        null: values drawn under the null hypothesis [draws]; undefined ones (NaN) do not count.
        observed: the value observed.
        alternative: ``greater``: null >= observed; ``less``: null <= observed; ``two-sided``:
            ``|null| >= |observed|``. Values that differ by rounding alone are equal.
        plus_one: (r + 1)/(B + 1), r of B draws being extreme: the observation is one of the
            values possible under the null, and p is never 0 (Davison and Hinkley, 1997; Phipson
            and Smyth, 2010). Without: r/B, as mt-metrics-eval reports it.
        early_stopping: use the draws up to the end of the first block after which r/B lies below
            ``low`` or above ``high``; all if None.

    Returns:
        p and the number of draws used; p is NaN where the observation is, or without draws.

    Raises:
        UnknownNameError: no such alternative.

    >>> p_value([0.1, -0.3, 0.2, 0.0], 0.2, alternative="greater")
    PValue(p=0.4, draws=4)
    """
    check_alternative(alternative)
    draws = np.asarray(null, dtype=np.float64)
    draws = draws[~np.isnan(draws)]
    if not len(draws) or np.isnan(observed):
        return PValue(float("nan"), len(draws))
    extreme = _extreme(draws, observed, alternative)
    if early_stopping is not None:
        extreme = extreme[: _stop(extreme, early_stopping)]
    reached, used = int(extreme.sum()), len(extreme)
    return PValue((reached + plus_one) / (used + plus_one), used)


def decides(
    null: NDArray[np.float64],
    observed: float,
    alternative: Alternative,
    early_stopping: EarlyStopping | None,
) -> bool:
    """True if a rule of early stopping ends drawing within these draws."""
    if early_stopping is None:
        return False
    draws = null[~np.isnan(null)]
    return _stop(_extreme(draws, observed, alternative), early_stopping) is not None


def check_alternative(alternative: str) -> None:
    """Refuse what is no alternative hypothesis."""
    if alternative not in _ALTERNATIVES:
        raise UnknownNameError("alternative", str(alternative), _ALTERNATIVES)


def check_count(count: int) -> None:
    """Refuse tests without draws."""
    if count < 1:
        raise UsageError(f"a test by resampling needs at least one draw; got {count}")


def check_confidence(confidence: float) -> None:
    """Refuse what is no share of resamples."""
    if not 0 < confidence < 1:
        raise UsageError(f"a confidence lies strictly between 0 and 1; got {confidence}")


def fewest_draws(confidence: float) -> int:
    """Number of draws that an interval of a confidence in (0, 1) needs.

    >>> fewest_draws(0.95)
    19
    """
    return math.ceil(1 / (1 - confidence) - 1e-9) - 1


def slack(values: NDArray[np.float64], observed: float) -> float:
    """Largest difference between values that count as equal."""
    return float(max(_NOTHING, _ROUNDING * max(np.abs(values).max(initial=0.0), abs(observed))))


def _extreme(
    null: NDArray[np.float64], observed: float, alternative: Alternative
) -> NDArray[np.bool_]:
    tolerance = slack(null, observed)
    if alternative == "greater":
        return null >= observed - tolerance
    if alternative == "less":
        return null <= observed + tolerance
    return np.abs(null) >= abs(observed) - tolerance


def _stop(extreme: NDArray[np.bool_], rule: EarlyStopping) -> int | None:
    # draws up to the end of the first decided block
    ends = np.arange(rule.block, len(extreme) + 1, rule.block)
    shares = np.cumsum(extreme)[ends - 1] / ends
    decided = np.flatnonzero((shares < rule.low) | (shares > rule.high))
    return int(ends[decided[0]]) if len(decided) else None
