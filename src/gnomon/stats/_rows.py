"""Paired scores arranged so that each group is a row, and statistics of all rows at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gnomon.errors import LengthMismatchError, UnknownNameError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Grouping = Literal["none", "item", "system"]
Undefined = Literal["drop", "zero"]
GROUPINGS: tuple[Grouping, ...] = ("none", "item", "system")
_UNDEFINED: tuple[Undefined, ...] = ("drop", "zero")
_CONSTANT = 1e-13  # spread below this share of the magnitude is rounding, not variation


class Rows(NamedTuple):
    """Two arrays [groups, members]; NaN on both sides where either is missing."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]


def paired_rows(x: ArrayLike, y: ArrayLike, grouping: Grouping) -> Rows:
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
    return Rows(arranged(a, grouping), arranged(b, grouping))


def arranged(scores: NDArray[np.float64], grouping: Grouping) -> NDArray[np.float64]:
    """Scores [n] or [systems, items] with one contiguous row per group."""
    if grouping == "none":
        return scores.reshape(1, -1)
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
    known = values[~np.isnan(values)]
    if not len(known):
        return float("nan")
    return float(known.sum() / (len(values) if undefined == "zero" else len(known)))


def pearson_rows(rows: Rows) -> NDArray[np.float64]:
    """Pearson's r of every row; NaN where a side is constant or has fewer than two points."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        r = np.einsum("ij,ij->i", _standardised(rows.x), _standardised(rows.y))
    return np.asarray(np.clip(r, -1.0, 1.0))


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    # rows of length one; zero where missing; NaN all along where a row does not vary
    centred = centred_rows(values)
    largest = np.abs(centred).max(axis=1)
    scaled = centred / np.where(largest == 0, np.nan, largest)[:, None]  # squares stay in range
    return np.asarray(scaled / np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None])


def members(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Number of scores of each row."""
    return np.asarray((~np.isnan(values)).sum(axis=1))


def centred_rows(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows less their means; zero where missing, and all along where a row is constant."""
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
    known = members(values).astype(np.float64)
    return np.asarray(np.nansum(values, axis=1) / np.where(known == 0, np.nan, known))
