"""Soft pairwise accuracy: does a metric share people's confidence in a ranking of systems?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from gnomon.errors import LengthMismatchError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["spa", "system_p_values"]

Ties = Literal["count", "half"]
_TIES: tuple[Ties, ...] = ("count", "half")
_ROUNDING = 1e-12  # differences of sums closer than this share of the scores' size are equal


def spa(
    human: ArrayLike,
    metric: ArrayLike,
    *,
    count: int = 1000,
    seed: int = 0,
    ties: Ties = "count",
) -> float:
    """Soft pairwise accuracy (Thompson et al., 2024), 1 less the pairwise confidence error.

    1 - mean over pairs i < j of ``|p_human(i > j) - p_metric(i > j)|``, p from
    :func:`system_p_values` with the same random signs on both sides. Cells that lack either score
    take no part.

    Args:
        human: segment scores [systems, segments]; NaN is missing.
        metric: segment scores of the same shape, higher is better; NaN is missing.
        count: random sign flips.
        seed: seed of the flips; with 4, and no missing cell, these are mt-metrics-eval's draws.
        ties: see :func:`system_p_values`. With ``count``, as published, the value depends on the
            order of rows where null differences equal the observed one (about .006 on
            small data with tied scores): sort systems by name. With ``half`` it does not.

    Returns:
        SPA in [0, 1]; pairs without a common segment are left out; NaN if none is left.

    Raises:
        LengthMismatchError: the shapes differ or are not [systems, segments].
        UsageError: no flips are asked for.

    >>> spa([[3, 4, 5], [1, 2, 3]], [[0.3, 0.4, 0.5], [0.1, 0.2, 0.3]])
    1.0
    """
    h, m = np.asarray(human, dtype=np.float64), np.asarray(metric, dtype=np.float64)
    if h.shape != m.shape or h.ndim != 2:
        raise LengthMismatchError(
            f"SPA needs two [systems, segments] arrays; shapes are {h.shape} and {m.shape}"
        )
    missing = np.isnan(h) | np.isnan(m)
    sides = [np.where(missing, np.nan, side) for side in (h, m)]
    of_human, of_metric = (
        system_p_values(side, count=count, seed=seed, ties=ties) for side in sides
    )
    gaps = np.abs(of_human - of_metric)[np.triu_indices(len(h), 1)]
    known = gaps[~np.isnan(gaps)]
    return float(1 - known.mean()) if len(known) else float("nan")


def system_p_values(
    scores: ArrayLike, *, count: int = 1000, seed: int = 0, ties: Ties = "count"
) -> NDArray[np.float64]:
    """p-values of "system i is better than system j" for all pairs (paired permutation test).

    Under the null hypothesis the two scores of a segment may be exchanged. All pairs share one set
    of random signs: sum of s_n (x_in - x_jn) is a difference of two products of a matrix. No +1
    correction: p is used as a number here, not as a decision.

    Args:
        scores: segment scores [systems, segments]; NaN is missing, and leaves a segment out of
            the pairs of that system.
        count: random sign flips.
        seed: seed of the flips.
        ties: ``count``: p = share of null differences >= the observed one (as published);
            ``half``: those equal to it count half, so that p(i > j) = 1 - p(j > i).

    Returns:
        float64 [systems, systems]; NaN on the diagonal and for pairs without a common segment.

    Raises:
        LengthMismatchError: not [systems, segments].
        UsageError: no flips are asked for.
    """
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim != 2:
        raise LengthMismatchError(f"p-values of systems need [systems, segments]; got {x.shape}")
    if count < 1:
        raise UsageError(f"at least one random sign flip is needed; got {count}")
    if ties not in _TIES:
        raise UnknownNameError("treatment of ties", str(ties), _TIES)
    signs = _signs(count, x.shape[1], seed)
    common = (~np.isnan(x)).all(axis=0)
    if np.isnan(x[:, ~common]).all():
        kept = x[:, common]
        return _p_values(signs[:, common] @ kept.T, kept.sum(axis=1), kept, ties)
    return _p_values_with_holes(signs, x, ties)


def _signs(count: int, segments: int, seed: int) -> NDArray[np.float64]:
    # the generator and rounding of mt-metrics-eval, so that its seed gives its draws
    draws = np.random.default_rng(seed).random(size=(count, segments), dtype=np.float32)
    return np.where(np.rint(draws) > 0, 1.0, -1.0)


def _p_values(
    flipped: NDArray[np.float64],
    totals: NDArray[np.float64],
    scores: NDArray[np.float64],
    ties: Ties,
) -> NDArray[np.float64]:
    # flipped [flips, systems]: sums of signed scores; totals [systems]: plain sums
    p = np.full((len(totals), len(totals)), np.nan)
    if not scores.shape[1]:
        return p
    sizes = np.abs(scores).sum(axis=1)
    for i in range(len(totals)):
        null = flipped[:, [i]] - flipped
        p[i] = _share(null, totals[i] - totals, _ROUNDING * (sizes[i] + sizes), ties)
    np.fill_diagonal(p, np.nan)
    return p


def _share(
    null: NDArray[np.float64],
    observed: NDArray[np.float64],
    slack: NDArray[np.float64],
    ties: Ties,
) -> NDArray[np.float64]:
    reached = (null >= observed - slack).mean(axis=0)
    if ties == "count":
        return np.asarray(reached)
    return np.asarray((reached + (null > observed + slack).mean(axis=0)) / 2)


def _p_values_with_holes(
    signs: NDArray[np.float64], x: NDArray[np.float64], ties: Ties
) -> NDArray[np.float64]:
    p = np.full((len(x), len(x)), np.nan)
    present, filled = ~np.isnan(x), np.nan_to_num(x)
    for i in range(len(x)):
        both = present[i] & present
        differences = np.where(both, filled[i] - filled, 0.0)
        slack = _ROUNDING * np.abs(differences).sum(axis=1)
        shares = _share(signs @ differences.T, differences.sum(axis=1), slack, ties)
        p[i] = np.where(both.any(axis=1), shares, np.nan)
    np.fill_diagonal(p, np.nan)
    return p
