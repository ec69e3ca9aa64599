"""Checks of arrays for compiled loops: an index that leads out of one ends the process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Kind: TypeAlias = type[np.signedinteger[Any]]

__all__ = ["ascending", "bounds", "check", "numbers", "sides", "whole"]


def check(fine: object, message: str) -> None:
    """Refuse what is not fine."""
    if not fine:
        raise ValueError(message)


def whole(values: ArrayLike, kind: Kind, name: str) -> NDArray[Any]:
    """Whole numbers of a kind, in one dimension, one after the other in memory."""
    array = np.asarray(values)
    if array.dtype != kind:
        if array.dtype.kind not in "iub" and array.size:
            raise TypeError(f"{name}: {array.dtype} given, whole numbers wanted")
        made = array.astype(kind)
        check((made == array).all(), f"{name}: numbers do not fit into {np.dtype(kind).name}")
        array = made
    check(array.ndim == 1, f"{name}: {array.ndim} dimensions given, one wanted")
    return np.ascontiguousarray(array)


def numbers(values: ArrayLike, kind: Kind, limit: int, name: str) -> NDArray[Any]:
    """Numbers from 0 to a limit, which is not reached; errors as for :func:`whole`."""
    array = whole(values, kind, name)
    if len(array):
        check(array.min() >= 0 and array.max() < limit, f"{name}: not all from 0 to {limit - 1}")
    return array


def ascending(values: ArrayLike, length: int, name: str) -> NDArray[Any]:
    """So many numbers, none below the one before; errors as for :func:`whole`."""
    array = whole(values, np.int64, name)
    check(len(array) == length, f"{name}: {len(array)} given, {length} wanted")
    check((array[1:] >= array[:-1]).all(), f"{name}: one is below the one before")
    return array


def bounds(values: ArrayLike, last: int, name: str, rows: int | None = None) -> NDArray[Any]:
    """Bounds of rows that hold so many in all, where given so many rows; errors as for the rest."""
    array = whole(values, np.int64, name)
    check(len(array) > 0, f"{name}: none given, though rows have one more than there are rows")
    ascending(array, len(array) if rows is None else rows + 1, name)
    check(array[0] == 0 and array[-1] == last, f"{name}: not from 0 to {last}")
    return array


def sides(
    candidates: tuple[ArrayLike, ArrayLike],
    references: tuple[ArrayLike, ArrayLike],
    pairs: ArrayLike,
) -> tuple[Any, ...]:
    """Pairs of texts, as offsets and ids of either side, and what ids there are.

    Offsets, int64, and ids, int32, of the candidates and of the references; pairs, int64 [P, 2];
    the lowest id, and how many there are from it to the highest.
    """
    found: list[NDArray[Any]] = []
    for name, (offsets, ids) in (("candidates", candidates), ("references", references)):
        own = whole(ids, np.int32, f"ids of {name}")
        found += bounds(offsets, len(own), f"offsets of {name}"), own
    rows = np.asarray(pairs)
    check(rows.ndim == 2 and rows.shape[1] == 2, f"pairs: not [pairs, 2] but {list(rows.shape)}")
    rows = whole(rows.reshape(-1), np.int64, "pairs").reshape(-1, 2)
    texts = len(found[0]) - 1, len(found[2]) - 1
    check(((rows >= 0) & (rows < texts)).all(), f"pairs: a text that is none of {texts}")
    known = [ids for ids in (found[1], found[3]) if len(ids)]
    low = min((int(ids.min()) for ids in known), default=0)
    high = max((int(ids.max()) for ids in known), default=0)
    return *found, rows, low, high - low + 1
