"""Longest common subsequences on whole machine words: a row of the table is one integer.

Bits of a row that are 0 mark where the length grows, so that table[i][j] is the number of zeros
among the lowest j bits of row i (Hyyrö 2004, "Bit-parallel LCS-length computation revisited").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["lcs_length", "lcs_positions", "places"]


def places(tokens: Sequence[int]) -> dict[int, int]:
    """Token -> the set of its positions, as bits."""
    found: dict[int, int] = {}
    for position, token in enumerate(tokens):
        found[token] = found.get(token, 0) | 1 << position
    return found


def lcs_length(a: Sequence[int], places_of_b: Mapping[int, int], length_of_b: int) -> int:
    """Length of the longest common subsequence.

    >>> lcs_length([1, 2, 3, 4], places([2, 9, 4]), 3)
    2
    """
    row = (1 << length_of_b) - 1
    for row in _rows(a, places_of_b, length_of_b):  # noqa: B007  # the last row is wanted
        pass
    return length_of_b - row.bit_count()


def lcs_positions(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """Positions in ``a`` of one longest common subsequence with ``b``, the last first.

    Of several, the one that ROUGE's backtracking finds: from the ends, equal tokens are taken, and
    a token of ``a`` is given up unless only giving up one of ``b`` keeps the length.
    """
    rows = [(1 << len(b)) - 1, *_rows(a, places(b), len(b))]
    found: list[int] = []
    i, j = len(a), len(b)
    while i and j:
        if a[i - 1] == b[j - 1]:
            i, j = i - 1, j - 1
            found.append(i)
        elif _length(rows[i], j - 1) > _length(rows[i - 1], j):
            j -= 1
        else:
            i -= 1
    return found


def _rows(a: Sequence[int], places_of_b: Mapping[int, int], length_of_b: int) -> Iterator[int]:
    full = (1 << length_of_b) - 1
    row = full
    for token in a:
        matches = row & places_of_b.get(token, 0)
        if matches:
            row = ((row + matches) | (row - matches)) & full
        yield row


def _length(row: int, j: int) -> int:
    return j - (row & ((1 << j) - 1)).bit_count()
