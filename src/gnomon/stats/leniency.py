"""Means of systems without the leniency of raters: score = system + rater.

Raters are shrunk towards each other by a ridge: an effect of r is the sum of r's residuals over
(n_r + ridge). With ridge = variance within a rater over variance between raters this is the best
linear predictor of r's leniency; with 0 raters are fixed effects, and without end they are ignored.
All of it comes from sums over systems and raters, so that leaving out a document costs no more
than solving one system of equations of the size of the systems.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Leniency", "RaterRidge", "adjusted_means", "linked_systems", "rater_ridge"]

#: ridges are kept within these: below, raters are fixed effects; above, they are ignored
_LEAST, _MOST = 1e-6, 1e9
_RANK = 1e-9  # eigenvalues below this share of the largest are 0


class RaterRidge(NamedTuple):
    """Strength of the shrinkage of raters, and the variances behind it.

    - ``ridge``: in judgements; NaN where the data do not tell.
    - ``within``: variance of what one rater says of one document of one system, beside its system.
    - ``between``: variance between raters, without bias; 0 where the estimate is negative.
    """

    ridge: float
    within: float
    between: float


class Leniency(NamedTuple):
    """Means of systems beside effects of raters.

    - ``systems``: adjusted means [systems, responses].
    - ``raters``: shrunken effects [raters, responses]; positive is lenient.
    - ``ridge``: how far they were shrunk.
    - ``without``: the means without each document [documents, systems, responses].
    """

    systems: NDArray[np.float64]
    raters: NDArray[np.float64]
    ridge: float
    without: NDArray[np.float64]


class _Sums(NamedTuple):
    """Weights and weighted sums of single judgements."""

    counts: NDArray[np.float64]  # [systems, raters]
    systems: NDArray[np.float64]  # [systems, responses]
    raters: NDArray[np.float64]  # [raters, responses]


class _Blocks(NamedTuple):
    """Mean scores by one rater of one document of one system."""

    system: NDArray[np.int64]  # [blocks]
    rater: NDArray[np.int64]
    document: NDArray[np.int64]
    mean: NDArray[np.float64]
    size: NDArray[np.float64]


def adjusted_means(
    systems: ArrayLike,
    raters: ArrayLike,
    documents: ArrayLike,
    values: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    ridge: float | None = None,
) -> Leniency:
    """Means of systems with the leniency of their raters taken out, also without each document.

    Args:
        systems: the system of each judgement, whole numbers from 0 [judgements].
        raters: its rater, likewise.
        documents: its document, likewise.
        values: what was said, one or several responses [judgements, responses]; raters are shrunk
            as the first one says.
        weights: of judgements (the inverse of their chance to be drawn), with mean 1; 1 by default.
        ridge: how far raters are shrunk, in judgements; by default as :func:`rater_ridge` says of
            all documents and again of those that are left.

    Returns:
        Means, effects, the ridge, and the means without each document.

    >>> import numpy as np
    >>> system = np.array([0, 0, 1, 1]); rater = np.array([0, 1, 0, 1])
    >>> said = np.array([[10.0], [20.0], [12.0], [22.0]])
    >>> adjusted_means(system, rater, np.arange(4), said, ridge=8).systems[:, 0].tolist()
    [15.0, 17.0]
    """
    system, rater, document = (np.asarray(a, dtype=np.int64) for a in (systems, raters, documents))
    y = np.asarray(values, dtype=np.float64)
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    shape = int(system.max()) + 1, int(rater.max()) + 1
    total = _sum_judgements(system, rater, y, w, shape)
    blocks = _blocks(system, rater, document, y[:, 0])
    lam = _ridge_from_blocks(blocks, shape).ridge if ridge is None else ridge
    means, effects = _solve(total, lam)
    order = np.argsort(document, kind="stable")
    ends = np.searchsorted(document[order], np.arange(int(document.max()) + 2))
    without = np.empty((len(ends) - 1, *means.shape))
    for number, (start, end) in enumerate(pairwise(ends.tolist())):
        rows = order[start:end]
        part = _sum_judgements(system[rows], rater[rows], y[rows], w[rows], shape)
        rest = _Sums(*(whole - gone for whole, gone in zip(total, part, strict=True)))
        again = lam
        if ridge is None:
            kept = blocks.document != number
            again = _ridge_from_blocks(_Blocks(*(column[kept] for column in blocks)), shape).ridge
        without[number] = _solve(rest, again)[0]
    return Leniency(means, effects, lam, without)


def rater_ridge(
    systems: ArrayLike, raters: ArrayLike, documents: ArrayLike, values: ArrayLike
) -> RaterRidge:
    """Variance within a rater over variance between raters, in judgements.

    One rater judges a document of a system as a whole, so that it is means of such blocks which
    vary by chance: their variances within and between raters, systems apart, are estimated by
    Henderson's third method (1953), and the ridge is their quotient times the size of a block. The
    variance between raters is lessened there by the standard error that it has where raters do not
    differ: what few judgements take for leniency would otherwise cost more than it saves.

    Args:
        systems: the system of each judgement, whole numbers from 0 [judgements].
        raters: its rater, likewise.
        documents: its document, likewise.
        values: what was said [judgements].

    Returns:
        The ridge and both variances; NaN where no rater has two blocks more than systems explain.
    """
    system, rater, document = (np.asarray(a, dtype=np.int64) for a in (systems, raters, documents))
    blocks = _blocks(system, rater, document, np.asarray(values, dtype=np.float64))
    return _ridge_from_blocks(blocks, (int(system.max()) + 1, int(rater.max()) + 1))


def linked_systems(systems: ArrayLike, raters: ArrayLike) -> NDArray[np.int64]:
    """Numbers of groups of systems that share raters, directly or in steps [systems].

    >>> linked_systems([0, 1, 1, 2], [0, 0, 1, 1]).tolist(), linked_systems([0, 1], [0, 1]).tolist()
    ([0, 0, 0], [0, 1])
    """
    system, rater = np.asarray(systems), np.asarray(raters)
    judged = np.zeros((int(system.max()) + 1, int(rater.max()) + 1), dtype=bool)
    judged[system, rater] = True
    groups = np.arange(len(judged))
    for own in judged.T[judged.any(axis=0)]:
        groups[np.isin(groups, groups[own])] = groups[own].min()
    return groups


def _sum_judgements(
    system: NDArray[np.int64],
    rater: NDArray[np.int64],
    y: NDArray[np.float64],
    w: NDArray[np.float64],
    shape: tuple[int, int],
) -> _Sums:
    where = system * shape[1] + rater
    counts = np.bincount(where, w, shape[0] * shape[1]).reshape(shape).astype(np.float64)
    weighted = (y * w[:, None]).T
    of_systems, of_raters = (
        np.stack([np.bincount(which, row, size) for row in weighted], axis=1).astype(np.float64)
        for which, size in zip((system, rater), shape, strict=True)
    )
    return _Sums(counts, of_systems, of_raters)


def _solve(sums: _Sums, ridge: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means of systems (NaN without judgements) and effects of raters, by least squares."""
    lam = _MOST if math.isnan(ridge) else min(max(ridge, _LEAST), _MOST)
    shrunk = sums.counts / (sums.counts.sum(axis=0) + lam)
    of_system = sums.counts.sum(axis=1)
    there = of_system > 1e-9 * of_system.max(initial=1)
    means = np.full(sums.systems.shape, np.nan)
    left = np.diag(of_system) - shrunk @ sums.counts.T
    right = sums.systems - shrunk @ sums.raters
    means[there] = np.linalg.solve(left[np.ix_(there, there)], right[there])
    explained = sums.counts[there].T @ means[there]
    return means, (sums.raters - explained) / (sums.counts.sum(axis=0) + lam)[:, None]


def _blocks(
    system: NDArray[np.int64],
    rater: NDArray[np.int64],
    document: NDArray[np.int64],
    y: NDArray[np.float64],
) -> _Blocks:
    raters, documents = int(rater.max()) + 1, int(document.max()) + 1
    key = (system * raters + rater) * documents + document
    keys, which, sizes = np.unique(key, return_inverse=True, return_counts=True)
    of_system, rest = np.divmod(keys, raters * documents)
    of_rater, of_document = np.divmod(rest, documents)
    means = np.bincount(which, y) / sizes
    return _Blocks(of_system, of_rater, of_document, means, sizes.astype(np.float64))


def _ridge_from_blocks(blocks: _Blocks, shape: tuple[int, int]) -> RaterRidge:
    """Henderson's third method: raters given systems, by sums of squares that they explain."""
    n = len(blocks.mean)
    sums = _sum_judgements(blocks.system, blocks.rater, blocks.mean[:, None], np.ones(n), shape)
    of_system, of_rater = sums.counts.sum(axis=1), sums.counts.sum(axis=0)
    s, r = of_system > 0, of_rater > 0
    counts, y_s, y_r = sums.counts[np.ix_(s, r)], sums.systems[s, 0], sums.raters[r, 0]
    by_system, by_rater = float((y_s**2 / of_system[s]).sum()), float((y_r**2 / of_rater[r]).sum())
    # raters first, then what systems explain beside them
    left = np.diag(of_system[s]) - (counts / of_rater[r]) @ counts.T
    right = y_s - (counts / of_rater[r]) @ y_r
    values, vectors = np.linalg.eigh(left)
    kept = values > _RANK * of_system.max(initial=1)
    further = float(((vectors.T @ right)[kept] ** 2 / values[kept]).sum())
    freedom = n - int(r.sum()) - int(kept.sum())
    residual = float((blocks.mean**2).sum()) - by_rater - further
    trace = n - float((counts**2 / of_system[s][:, None]).sum())
    if freedom < 1 or trace <= 0:
        return RaterRidge(math.nan, math.nan, math.nan)
    within = max(residual / freedom, 0.0)
    raters_explain = by_rater + further - by_system
    spread = int(r.sum()) + int(kept.sum()) - int(s.sum())
    between = (raters_explain - spread * within) / trace
    chance = within * math.sqrt(2 * spread * (1 + spread / freedom)) / trace
    if between <= chance:
        return RaterRidge(_MOST, within, max(between, 0.0))
    ridge = within / (between - chance) * float(blocks.size.mean())
    return RaterRidge(min(max(ridge, _LEAST), _MOST), within, between)
