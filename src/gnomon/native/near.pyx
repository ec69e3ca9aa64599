"""Texts that are nearly the same: edits of characters, up to a share of the length."""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int32_t

import numpy as np

from gnomon.native._arrays import check
from gnomon.native._signals cimport answer_after

__all__ = ["near_edits"]

cdef extern from "Python.h":
    void *PyUnicode_DATA(object text)
    int PyUnicode_KIND(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    Py_UCS4 PyUnicode_READ(int kind, void *data, Py_ssize_t at) nogil


def near_edits(list texts not None, list others not None, double share):
    """Edits of characters that make each text the other one beside it.

    Args:
        texts: one side; None is missing.
        others: the other side, as many.
        share: of the other's characters, so many edits at most; in [0, 1].

    Returns:
        int32 [texts]; -1 where there are more, or one is missing.

    Raises:
        ValueError: unlike many, or no share.
        TypeError: something that is neither a text nor None.
    """
    check(len(texts) == len(others), f"{len(texts)} texts beside {len(others)}")
    check(0 <= share <= 1, f"no share: {share}")
    found = np.full(len(texts), -1, dtype=np.int32)
    cdef int32_t[::1] edits = found
    cdef Py_ssize_t k, n, m, most, longest = 0, work = 0
    cdef int32_t *row
    cdef int kind, other_kind
    cdef void *data
    cdef void *other_data
    for text in [*texts, *others]:
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{type(text).__name__} given, a text wanted")
    for other in others:
        if other is not None:
            longest = max(longest, PyUnicode_GET_LENGTH(other))
    row = <int32_t *>PyMem_Malloc((longest + 1) * sizeof(int32_t))
    if row == NULL:
        raise MemoryError
    try:
        for k in range(len(texts)):
            text, other = texts[k], others[k]
            if text is None or other is None:
                continue
            n, m = PyUnicode_GET_LENGTH(text), PyUnicode_GET_LENGTH(other)
            most = <Py_ssize_t>(share * m)
            if n - m > most or m - n > most:
                continue
            kind, data = PyUnicode_KIND(text), PyUnicode_DATA(text)
            other_kind, other_data = PyUnicode_KIND(other), PyUnicode_DATA(other)
            with nogil:
                edits[k] = _edits(kind, data, n, other_kind, other_data, m, most, row, &work)
    finally:
        PyMem_Free(row)
    return found


cdef int32_t _edits(
    int kind, void *data, Py_ssize_t n, int other_kind, void *other_data, Py_ssize_t m,
    Py_ssize_t most, int32_t *row, Py_ssize_t *work,
) except -2 nogil:  # fmt: skip
    """Edits of two texts, or -1 where there are more than so many."""
    cdef Py_ssize_t i, j, begin = 0, low, high
    cdef Py_UCS4 letter
    cdef int32_t beyond = <int32_t>most + 1, across, above, best, least
    while begin < n and begin < m and (
        PyUnicode_READ(kind, data, begin) == PyUnicode_READ(other_kind, other_data, begin)
    ):
        begin += 1
    while n > begin and m > begin and (
        PyUnicode_READ(kind, data, n - 1) == PyUnicode_READ(other_kind, other_data, m - 1)
    ):
        n -= 1
        m -= 1
    n, m = n - begin, m - begin
    for j in range(min(m, most) + 1):
        row[j] = <int32_t>j
    for i in range(1, n + 1):
        low, high = max(1, i - most), min(m, i + most)
        across = row[low - 1]  # of the row before, a column to the left
        row[low - 1] = <int32_t>i if low == 1 else beyond
        least = row[low - 1]
        letter = PyUnicode_READ(kind, data, begin + i - 1)
        for j in range(low, high + 1):
            above = row[j] if j < i + most else beyond
            if letter == PyUnicode_READ(other_kind, other_data, begin + j - 1):
                best = across
            else:
                best = min(min(across, above), row[j - 1]) + 1
            across, row[j] = above, best
            least = min(least, best)
        if least > most:
            return -1
        answer_after(work, high - low + 1)
    return row[m] if row[m] <= most else -1
