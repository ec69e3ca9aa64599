"""Paired scores, one row per group: correlations, ranks, and pairs counted by their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gnomon.core.errors import LengthMismatchError, UnknownNameError
from gnomon.native import pairs as loops

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "GROUPINGS",
    "LONG",
    "ROW_STATISTICS",
    "Concordance",
    "Grouping",
    "PairedRows",
    "Undefined",
    "accuracy",
    "accuracy_rows",
    "arranged",
    "average",
    "centred_rows",
    "kendall_rows",
    "mean_of_known",
    "members",
    "pair_counts",
    "paired_rows",
    "pearson_rows",
    "ranked_rows",
    "sorted_counts",
    "spearman_rows",
    "tau_b",
    "tau_c",
]

# Paired scores arranged so that each group is a row, and statistics of all rows at once.


Grouping = Literal["none", "item", "system"]
Undefined = Literal["drop", "zero"]
GROUPINGS: tuple[Grouping, ...] = ("none", "item", "system")
_UNDEFINED: tuple[Undefined, ...] = ("drop", "zero")
_CONSTANT = 1e-13  # spread below this share of the magnitude is rounding, not variation


class PairedRows(NamedTuple):
    """Two arrays [groups, members]; NaN on both sides where either is missing."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]


def paired_rows(x: ArrayLike, y: ArrayLike, grouping: Grouping) -> PairedRows:
    """One row per group of paired scores: [n], or [systems, items] under any grouping."""
    if grouping not in GROUPINGS:
        raise UnknownNameError("grouping", str(grouping), GROUPINGS)
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    _check_shapes(a, b, grouping)
    missing = np.isnan(a) | np.isnan(b)
    if not a.size:
        a = b = np.full((1, 1), np.nan)  # one group without members
    elif missing.any():
        a, b = np.where(missing, np.nan, a), np.where(missing, np.nan, b)
    return PairedRows(arranged(a, grouping), arranged(b, grouping))


def arranged(scores: NDArray[np.float64], grouping: Grouping) -> NDArray[np.float64]:
    """Scores [n] or [systems, items] with one contiguous row per group."""
    if grouping == "none":
        return np.ascontiguousarray(scores.reshape(1, -1))
    return np.ascontiguousarray(scores.T if grouping == "item" else scores)


def _check_shapes(a: NDArray[np.float64], b: NDArray[np.float64], grouping: Grouping) -> None:
    allowed = (1, 2) if grouping == "none" else (2,)
    if a.shape == b.shape and a.ndim in allowed:
        return
    needs = "two one-dimensional or two [systems, items]" if 1 in allowed else "[systems, items]"
    raise LengthMismatchError(
        f"paired scores under grouping {grouping!r} need {needs} arrays of equal shape;"
        f" shapes are {a.shape} and {b.shape}"
    )


def average(values: NDArray[np.float64], undefined: Undefined = "drop") -> float:
    """Mean over groups; undefined groups are left out, or count as zero; NaN if none is left."""
    if undefined not in _UNDEFINED:
        raise UnknownNameError("treatment of undefined groups", str(undefined), _UNDEFINED)
    defined = values[~np.isnan(values)]
    if not len(defined):
        return float("nan")
    return float(defined.sum() / (len(values) if undefined == "zero" else len(defined)))


def pearson_rows(rows: PairedRows) -> NDArray[np.float64]:
    """Pearson's r of every row; NaN where a side is constant or has fewer than two points."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        r = np.einsum("ij,ij->i", _standardise(rows.x), _standardise(rows.y))
    return np.asarray(np.clip(r, -1.0, 1.0))


def _standardise(values: NDArray[np.float64]) -> NDArray[np.float64]:
    # rows of length one; zero where missing; NaN all along where a row does not vary
    centred = centred_rows(values)
    largest = np.abs(centred).max(axis=1)
    scaled = centred / np.where(largest == 0, np.nan, largest)[:, None]  # squares stay in range
    return np.asarray(scaled / np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None])


def members(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Number of scores of each row."""
    return np.asarray((~np.isnan(values)).sum(axis=1))


def centred_rows(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """PairedRows less their means; zero where missing, and all along where a row is constant."""
    missing = np.isnan(values)
    filled = np.where(missing, 0.0, values)
    with np.errstate(invalid="ignore"):  # a row with an infinite score is undefined
        means = filled.sum(axis=1) / np.maximum(members(values), 1)
        centred = np.where(missing, 0.0, filled - means[:, None])
        spread = centred.max(axis=1) - centred.min(axis=1)
        centred[spread <= _CONSTANT * np.abs(filled).max(axis=1)] = 0.0
    return centred


def ranked_rows(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1 within each row, tied scores sharing their mean rank; NaN stays NaN."""
    n = values.shape[1]
    order = np.argsort(values, axis=1, kind="stable")  # NaN goes last
    ascending = np.take_along_axis(values, order, axis=1)
    new = np.ones(values.shape, dtype=bool)
    new[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    positions = np.broadcast_to(np.arange(n), values.shape)
    first = np.maximum.accumulate(np.where(new, positions, 0), axis=1)
    ends = np.ones(values.shape, dtype=bool)
    ends[:, :-1] = new[:, 1:]
    last = np.minimum.accumulate(np.where(ends, positions, n)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=1)
    return np.where(np.isnan(values), np.nan, ranks)


def mean_of_known(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of rows over what is defined; NaN where nothing is."""
    sizes = members(values).astype(np.float64)
    return np.asarray(np.nansum(values, axis=1) / np.where(sizes == 0, np.nan, sizes))


# Pairs of members counted by how the two sides order them.


LONG = 256  # members from which sorting beats looking at every pair
_SMALLEST = 5e-324  # that a difference can be


class Concordance(NamedTuple):
    """Numbers of pairs, each int64 [groups]."""

    concordant: NDArray[np.int64]
    discordant: NDArray[np.int64]
    tied_x: NDArray[np.int64]
    tied_y: NDArray[np.int64]
    tied_both: NDArray[np.int64]

    @property
    def total(self) -> NDArray[np.int64]:
        """All pairs of each group."""
        return np.asarray(np.sum(self, axis=0))


def pair_counts(rows: PairedRows, epsilon: float = 0.0) -> Concordance:
    """Pairs of every row; y ties two members whose scores differ by at most ``epsilon``."""
    if rows.x.shape[1] < LONG:
        return Concordance(*loops.count_pairs(*rows, float(epsilon)).T)
    concordant, discordant, of_x, of_y = sorted_counts(rows, _SMALLEST, epsilon)
    untied, n = concordant + discordant, members(rows.x)
    tied_both = n * (n - 1) // 2 - of_x - of_y + untied
    return Concordance(concordant, discordant, of_y - untied, of_x - untied, tied_both)


def sorted_counts(rows: PairedRows, least: float, epsilon: float = 0.0) -> NDArray[np.int64]:
    """Pairs concordant, discordant, that x does not tie, and that y does not, int64 [4, groups]."""
    defined = ~np.isnan(rows.x)
    every = zip(rows.x, rows.y, defined, strict=True)
    counts = [loops.count_sorted(x[some], y[some], least, epsilon) for x, y, some in every]
    return np.array(counts, dtype=np.int64).reshape(-1, 4).T


def tau_b(counts: Concordance) -> NDArray[np.float64]:
    """(C - D) / sqrt of the pairs that x does not tie and of those that y does not tie."""
    concordant, discordant, tied_x, tied_y, _ = counts
    untied = concordant + discordant
    roots = np.sqrt((untied + tied_y).astype(np.float64)) * np.sqrt(
        (untied + tied_x).astype(np.float64)
    )
    with np.errstate(invalid="ignore"):
        tau = (concordant - discordant) / np.where(roots == 0, np.nan, roots)
    return np.asarray(np.clip(tau, -1.0, 1.0))


def tau_c(rows: PairedRows) -> NDArray[np.float64]:
    """2 (C - D) / (n^2 (m - 1)/m), m the smaller number of distinct values of a side."""
    counts = pair_counts(rows)
    n = members(rows.x).astype(np.float64)
    m = np.minimum(_distinct(rows.x), _distinct(rows.y)).astype(np.float64)
    varies = np.where(m >= 2, m, np.nan)
    difference = counts.concordant - counts.discordant
    return np.asarray(2 * difference / (n**2 * (varies - 1) / varies))


def _distinct(values: NDArray[np.float64]) -> NDArray[np.int64]:
    ascending = np.sort(values, axis=1)
    steps = (ascending[:, 1:] != ascending[:, :-1]) & ~np.isnan(ascending[:, 1:])
    return np.asarray(steps.sum(axis=1) + (members(values) > 0))


def accuracy(counts: Concordance) -> NDArray[np.float64]:
    """Share of pairs that both sides order alike, ties included."""
    total = counts.total.astype(np.float64)
    return np.asarray((counts.concordant + counts.tied_both) / np.where(total == 0, np.nan, total))


# Statistics by name, each of all rows at once.


def spearman_rows(rows: PairedRows) -> NDArray[np.float64]:
    """Pearson's r of ranks."""
    return pearson_rows(PairedRows(ranked_rows(rows.x), ranked_rows(rows.y)))


def kendall_rows(rows: PairedRows) -> NDArray[np.float64]:
    """tau-b."""
    return tau_b(pair_counts(rows))


def accuracy_rows(rows: PairedRows, epsilon: float = 0.0) -> NDArray[np.float64]:
    """:func:`accuracy` where y ties what differs by at most ``epsilon``; NaN without a pair."""
    return np.where(members(rows.x) < 2, np.nan, accuracy(pair_counts(rows, epsilon)))


ROW_STATISTICS: Mapping[str, Callable[[PairedRows], NDArray[np.float64]]] = {
    "pearson": pearson_rows,
    "spearman": spearman_rows,
    "kendall_b": kendall_rows,
    "kendall_c": tau_c,
    "pairwise_accuracy": accuracy_rows,
}
