"""Intervals over documents, each left out once.

The segments of a document are not independent where one person judged all of them. The jackknife
leaves out one document at a time; Student's t has as many degrees of freedom as documents of equal
size would have, less one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stats.student import Mean, upper_quantile, upper_tail

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "LEAST_DOCUMENTS",
    "Clustering",
    "Jackknife",
    "clustering",
    "design_effect",
    "effective_documents",
    "jackknife",
    "jackknife_test",
    "leave_out_sums",
    "mean_of_units",
    "numbered",
]

#: below so many documents an interval would not cover as often as it says
LEAST_DOCUMENTS = 15
#: documents are the unit where the design effect and the low end of its interval lie above these
_LARGE, _SURELY = 1.5, 1.2
_STILL = 1e-12  # a standard error below this share of the estimate is rounding


class Jackknife(NamedTuple):
    """A statistic, its standard error, its interval and a test that it is 0.

    - ``estimate``, ``error``: of the statistic [...].
    - ``low``, ``high``: ends of the interval [...]; NaN for fewer than ``LEAST_DOCUMENTS``.
    - ``p``: two-sided [...]; NaN likewise.
    - ``df``: degrees of freedom of Student's t.
    - ``documents``: how many were left out, one after the other.
    """

    estimate: NDArray[np.float64]
    error: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p: NDArray[np.float64]
    df: float
    documents: int

    def ends(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Ends of intervals of confidence 1 - level, each of its own level [2, ...]."""
        half = np.array([upper_quantile(one / 2, self.df) for one in levels.flat])
        ends = self.estimate + np.multiply.outer((-1, 1), half.reshape(levels.shape) * self.error)
        return np.where(np.isnan(self.p), np.nan, ends)


def numbered(documents: Sequence[str]) -> NDArray[np.int64]:
    """The documents of segments as numbers from 0, in order of appearance, int64 [N]."""
    number = {name: k for k, name in enumerate(dict.fromkeys(documents))}
    return np.array([number[name] for name in documents], dtype=np.int64)


def effective_documents(sizes: ArrayLike) -> float:
    """Number of documents of one size that say as much as these: (sum m)^2 / sum(m^2).

    >>> effective_documents([5, 5, 5, 5])
    4.0
    """
    m = np.asarray(sizes, dtype=np.float64)
    squares = float((m**2).sum())
    return float(m.sum()) ** 2 / squares if squares else 0.0


def leave_out_sums(values: ArrayLike, documents: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sums over segments [..., segments, quantities] without each document in turn, in front."""
    x = np.asarray(values, dtype=np.float64)
    total = x.sum(axis=-2)
    inside = np.zeros((int(documents.max(initial=-1)) + 1, len(documents)))
    inside[documents, np.arange(len(documents))] = 1.0
    return np.asarray(total - np.moveaxis(inside @ x, -2, 0))


def jackknife(
    estimate: ArrayLike,
    without: ArrayLike,
    sizes: ArrayLike,
    *,
    confidence: float = 0.95,
    strata: ArrayLike | None = None,
) -> Jackknife:
    """Interval and test of a statistic by leaving out one document at a time.

    The variance is (G - 1)/G times the sum of squared distances of the G statistics from their
    mean; the interval is Student's t with (sum m)^2 / sum(m^2) - 1 degrees of freedom, where m is
    what a document holds.

    Args:
        estimate: the statistic on all documents [...].
        without: the statistic without each document [documents, ...].
        sizes: judgements (or segments) of each document [documents]; documents of none change the
            statistic, and say nothing of how sure it is.
        confidence: of the interval, in (0, 1).
        strata: from which part of the documents each was drawn, whole numbers [documents]: squared
            distances are then from the mean of its stratum, and each costs a degree of freedom. How
            much a stratum of one document varies is unknown, and the error with it.

    Returns:
        Estimate, standard error, interval and two-sided p; ends and p are NaN where the statistic
        is undefined without some document, or for fewer than ``LEAST_DOCUMENTS`` documents.
    """
    value = np.asarray(estimate, dtype=np.float64)
    left = np.asarray(without, dtype=np.float64)
    counted = np.asarray(sizes) > 0
    documents = int(counted.sum())
    nothing = np.full(value.shape, np.nan)
    _, stratum = np.unique(
        np.zeros(len(left)) if strata is None else np.asarray(strata), return_inverse=True
    )
    if documents < 2 or (np.bincount(stratum[counted]) == 1).any():
        return Jackknife(value, nothing, nothing, nothing, nothing, 0.0, documents)
    parts = [left[stratum == k] for k in range(int(stratum.max()) + 1)]
    squares = [((p - p.mean(axis=0)) ** 2).sum(axis=0) * (len(p) - 1) / len(p) for p in parts]
    error = np.sqrt(np.sum(squares, axis=0))
    df = effective_documents(sizes) - len(np.unique(stratum[counted]))
    if documents < LEAST_DOCUMENTS or df < 1:
        return Jackknife(value, error, nothing, nothing, nothing, df, documents)
    error = np.where(error <= _STILL * np.maximum(np.abs(value), 1), 0.0, error)
    half = upper_quantile((1 - confidence) / 2, df) * error
    low, high = np.where(np.isnan(error), np.nan, (value - half, value + half))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, np.abs(value) / error, np.where(value == 0, 0.0, np.inf))
    tails = np.array([upper_tail(float(t_value), df) for t_value in t.ravel()]).reshape(t.shape)
    p = np.where(np.isnan(error) | np.isnan(value), np.nan, np.minimum(2 * tails, 1.0))
    return Jackknife(value, error, low, high, p, df, documents)


def jackknife_test(
    values: ArrayLike,
    documents: ArrayLike,
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    *,
    confidence: float = 0.95,
) -> Jackknife:
    """The jackknife over documents of any function of sums over segments.

    Args:
        values: what is summed, [..., segments, quantities]; NaN is not allowed.
        documents: the document of each segment, whole numbers [segments].
        statistic: of sums [..., quantities], with any number of axes before.
        confidence: of the interval, in (0, 1).

    >>> import numpy as np
    >>> x = np.stack([np.arange(40.0), np.ones(40)], axis=1)
    >>> found = jackknife_test(x, np.arange(40) // 2, lambda sums: sums[..., 0] / sums[..., 1])
    >>> float(found.estimate), found.documents, found.df
    (19.5, 20, 19.0)
    """
    x = np.asarray(values, dtype=np.float64)
    _, which = np.unique(np.asarray(documents), return_inverse=True)
    return jackknife(
        statistic(x.sum(axis=-2)),
        statistic(leave_out_sums(x, which)),
        np.bincount(which),
        confidence=confidence,
    )


def mean_of_units(values: NDArray[np.float64], documents: ArrayLike | None) -> Mean:
    """The mean of segments, whose error is that of segments or of documents.

    Args:
        values: one of each segment, without NaN.
        documents: the document of each, where these are the unit; under ``LEAST_DOCUMENTS`` the
            error is not known.
    """
    n = len(values)
    if documents is None or not n:
        error = float(np.std(values, ddof=1)) / math.sqrt(n) if n > 1 else math.nan
        return Mean(float(np.mean(values)) if n else math.nan, error, n - 1)
    columns = np.stack([values, np.ones(n)], axis=1)
    found = jackknife_test(columns, documents, lambda sums: sums[..., 0] / sums[..., 1])
    error = math.nan if np.isnan(found.p) else float(found.error)
    return Mean(float(found.estimate), error, found.df)


def design_effect(differences: ArrayLike, documents: ArrayLike) -> float:
    """Ratio of the variance of a mean to the variance that independent segments would give.

    Args:
        differences: one number per segment, without NaN [segments].
        documents: the document of each [segments].

    Returns:
        Sum over documents of (sum e)^2 times G/(G - 1), over the sum of e^2 times N/(N - 1), with e
        the differences less their mean, G documents and N segments; NaN where nothing varies or
        for fewer than two documents.

    >>> design_effect([1, 1, -1, -1, 1, 1, -1, -1], [0, 0, 1, 1, 2, 2, 3, 3])
    2.3333333333333335
    """
    d = np.asarray(differences, dtype=np.float64)
    _, which = np.unique(np.asarray(documents), return_inverse=True)
    groups, n = int(which.max(initial=-1)) + 1, len(d)
    if groups < 2:
        return float("nan")
    e = d - d.mean()
    squares = float((e**2).sum())
    if squares <= _STILL:
        return float("nan")
    sums = np.bincount(which, e)
    return float((sums**2).sum()) * groups / (groups - 1) / (squares * n / (n - 1))


class Clustering(NamedTuple):
    """Likeness of the segments of a document, over several differences of a test set.

    - ``effect``: the mean of their design effects; NaN where none is known.
    - ``low``: the low end of its 95 % interval (jackknife of its logarithm over documents).
    - ``documents``: how many there are.
    """

    effect: float
    low: float
    documents: int

    @property
    def uses_documents(self) -> bool:
        """True if documents, not segments, are what is independent."""
        return self.documents >= LEAST_DOCUMENTS and self.has_alike_segments

    @property
    def has_alike_segments(self) -> bool:
        """True if the segments of a document are clearly alike, however few documents there are."""
        return self.effect > _LARGE and self.low > _SURELY


def clustering(differences: ArrayLike, documents: ArrayLike) -> Clustering:
    """Estimate how alike the segments of a document are.

    Args:
        differences: of each difference, what each segment adds to it [differences, segments]; NaN
            is missing.
        documents: the document of each segment [segments].

    >>> import numpy as np
    >>> mood = np.random.default_rng(0).normal(size=(1, 40)).repeat(5, axis=1)
    >>> clustering(mood, np.arange(200) // 5).uses_documents
    True
    """
    d = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    names, which = np.unique(np.asarray(documents), return_inverse=True)
    groups = len(names)
    some = ~np.isnan(d)
    n = np.maximum(some.sum(axis=1), 1)
    e = np.where(some, d - (np.where(some, d, 0.0).sum(axis=1) / n)[:, None], 0.0)
    e = e[(e**2).sum(axis=1) > _STILL]
    if groups < 3 or not len(e):
        return Clustering(np.nan, np.nan, groups)
    of_sums = np.array([np.bincount(which, row, groups) ** 2 for row in e])
    squares = np.array([np.bincount(which, row**2, groups) for row in e])
    totals = of_sums.sum(axis=1), squares.sum(axis=1)
    effect = float((totals[0] / totals[1]).mean()) * groups / (groups - 1)
    left = np.maximum(totals[1][:, None] - squares, _STILL)
    without = np.log(np.maximum(((totals[0][:, None] - of_sums) / left).mean(axis=0), _STILL))
    error = np.sqrt((groups - 1) / groups * ((without - without.mean()) ** 2).sum())
    low = effect * np.exp(-upper_quantile(0.025, groups - 1) * error)
    return Clustering(effect, float(low), groups)
