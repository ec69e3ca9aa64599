"""P-values: from random draws and from counts, corrected for many tests, and the rules of WMT."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.stats.resampling import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "ALL_DRAWS",
    "PRESETS",
    "Alternative",
    "EarlyStopping",
    "PValue",
    "RandomDraws",
    "Rules",
    "Stepped",
    "binomial_interval",
    "binomial_p",
    "holm",
    "holm_levels",
    "in_steps",
    "p_value",
    "rules",
    "wilson_interval",
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
    """How the draws of a test of metrics are made, and how they become a p-value.

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
    """Whether a rule of early stopping ends drawing within these draws."""
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
    """How many draws an interval of a confidence in (0, 1) needs.

    >>> fewest_draws(0.95)
    19
    """
    return math.ceil(1 / (1 - confidence) - 1e-9) - 1


def slack(values: NDArray[np.float64], observed: float) -> float:
    """What values may differ by and still be equal."""
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


# How the WMT metrics tasks turned draws into verdicts.


class Rules(NamedTuple):
    """Options of the tests in one shared task.

    - ``plus_one``: whether the observation counts as a draw.
    - ``early_stopping``: when drawing ended early.
    - ``spa_seed``: seed of the sign flips of soft pairwise accuracy, where the task used it.
    """

    plus_one: bool = True
    early_stopping: EarlyStopping | None = None
    spa_seed: int = 0


PRESETS: Mapping[str, Rules] = MappingProxyType(
    {
        # Williams's test one-sided at system level; bootstrap of DaRR, r/B, at segment level
        "wmt19": Rules(plus_one=False),
        # PERM-BOTH over cells, r/B, in blocks of 100 until p < .02 or p > .5
        "wmt22": Rules(plus_one=False, early_stopping=EarlyStopping(100, 0.02, 0.5)),
        # the same; decisions instead of scores are exchanged for acc_eq
        "wmt23": Rules(plus_one=False, early_stopping=EarlyStopping(100, 0.02, 0.5)),
        # likewise, and soft pairwise accuracy
        "wmt24": Rules(plus_one=False, early_stopping=EarlyStopping(100, 0.02, 0.5), spa_seed=4),
    }
)


def rules(preset: str | None) -> Rules:
    """The rules of a shared task; gnomon's own (+1 correction, all draws) for None.

    Raises:
        UnknownNameError: no such preset.

    >>> rules("wmt24").plus_one, rules(None).plus_one
    (False, True)
    """
    if preset is None:
        return Rules()
    if preset not in PRESETS:
        raise UnknownNameError("preset", str(preset), PRESETS)
    return PRESETS[preset]


# Corrections of p-values for testing many hypotheses at once.


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """p-values adjusted so that the chance of any false rejection stays below alpha (Holm, 1979).

    The k-th smallest of m p-values becomes the largest of (m - j + 1) p_j over j = 1..k, at most 1.
    Rejecting where the adjusted value is at most alpha is Holm's step-down procedure, valid under
    any dependence between the tests.

    Args:
        p: p-values in [0, 1], any shape; NaN is a test that was not made, and counts for nothing.

    Returns:
        Adjusted p-values of the same shape; NaN where ``p`` is NaN.

    Raises:
        DataError: a value lies outside [0, 1].

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    result = np.array(p, dtype=np.float64)
    made = ~np.isnan(result)
    values = result[made]
    if ((values < 0) | (values > 1)).any():
        raise DataError(f"p-values lie in [0, 1]; got {values.min()} to {values.max()}")
    order = np.argsort(values, kind="stable")
    ascending = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(ascending), 1.0)
    result[made] = adjusted
    return result


def holm_levels(p: ArrayLike, alpha: float = 0.05) -> NDArray[np.float64]:
    """The level at which Holm's procedure tests each hypothesis: alpha over how many are left.

    The k-th smallest of m p-values is tested at alpha / (m - k + 1) until one is larger; from there
    on all are tested at the level of that step. An interval of confidence 1 - level leaves 0 out
    where Holm's adjusted p is at most alpha, and there alone.

    Args:
        p: p-values, any shape; NaN is a test that was not made.
        alpha: the level of the family.

    Returns:
        Levels of the same shape; NaN where ``p`` is NaN.

    >>> holm_levels([0.01, 0.04, 0.03], 0.06).round(3).tolist()
    [0.02, 0.06, 0.03]
    """
    values = np.asarray(p, dtype=np.float64)
    levels = np.full(values.shape, np.nan)
    made = np.flatnonzero(~np.isnan(values))
    order = made[np.argsort(values.flat[made], kind="stable")]
    step = alpha / np.arange(len(order), 0, -1)
    larger = np.flatnonzero(values.flat[order] > step)
    if len(larger):
        step = np.minimum(step, step[larger[0]])
    levels.flat[order] = step
    return levels


class Stepped(NamedTuple):
    """A test of a family by Holm's procedure, with the interval of its own step."""

    low: float
    high: float
    p: float
    decided: bool | None


def in_steps(
    tests: Sequence[Callable[[float], tuple[float, float, float]]],
    alpha: float,
    families: Sequence[object] | None = None,
) -> list[Stepped]:
    """Tests by Holm's procedure, each with the interval of its own step.

    Args:
        tests: each gives for a level the ends of an interval, and p.
        alpha: the level of a family.
        families: of each test its own; by default all are one.

    Returns:
        Intervals and adjusted p; what is not decided, or was not tested (p is NaN: None).
    """
    p = np.array([test(alpha)[2] for test in tests], dtype=np.float64)
    adjusted, levels = p.copy(), np.full(len(p), alpha)
    names = [None] * len(p) if families is None else families
    for family in dict.fromkeys(names):
        places = [n for n, name in enumerate(names) if name == family]
        adjusted[places], levels[places] = holm(p[places]), holm_levels(p[places], alpha)
    steps = zip(tests, levels.tolist(), adjusted.tolist(), strict=True)
    return [
        Stepped(
            *test(alpha if math.isnan(q) else level)[:2], q, None if math.isnan(q) else q <= alpha
        )
        for test, level, q in steps
    ]


# Counts out of trials: an exact test and an interval.


def binomial_p(successes: int, trials: int) -> float:
    """Two-sided p-value of an exact binomial test (sign test) of a share of one half.

    >>> binomial_p(9, 10)
    0.021484375
    """
    if not trials:
        return math.nan
    term, tail = 1, 1
    for i in range(min(successes, trials - successes)):
        term = term * (trials - i) // (i + 1)
        tail += term
    return min(1.0, tail / (1 << trials - 1))


def binomial_interval(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """The exact interval of a share (Clopper and Pearson, 1934), which agrees with the exact test.

    It leaves one half out where :func:`binomial_p` is below 1 - level, and there alone.

    >>> [round(value, 3) for value in binomial_interval(94, 103)]
    [0.913, 0.841, 0.959]
    """
    if not trials:
        return Interval(math.nan, math.nan, math.nan)
    every = range(trials + 1)
    known = math.lgamma(trials + 1)
    ways = np.array([known - math.lgamma(k + 1) - math.lgamma(trials - k + 1) for k in every])

    def least(count: int) -> float:
        """The share at which so many or more are as rare as one side of what the level leaves."""
        if not count:
            return 0.0
        counts, below, above = np.arange(count, trials + 1), 0.0, 1.0
        for _ in range(60):
            share = (below + above) / 2
            rest = (trials - counts) * math.log1p(-share)
            tail = float(np.exp(ways[count:] + counts * math.log(share) + rest).sum())
            below, above = (below, share) if tail > (1 - level) / 2 else (share, above)
        return above

    return Interval(successes / trials, least(successes), 1 - least(trials - successes))


def wilson_interval(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share (1927), which stays in [0, 1] and is never a point.

    >>> [round(value, 3) for value in wilson_interval(94, 103)]
    [0.913, 0.842, 0.953]
    """
    if not trials:
        return Interval(math.nan, math.nan, math.nan)
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + level) / 2)
    share, weight = successes / trials, z * z / trials
    middle = (share + weight / 2) / (1 + weight)
    reach = z * math.sqrt(share * (1 - share) / trials + weight / (4 * trials)) / (1 + weight)
    # at an end it is the end, which rounding misses
    low = max(0.0, middle - reach) if successes else 0.0
    high = min(1.0, middle + reach) if successes < trials else 1.0
    return Interval(share, low, high)
