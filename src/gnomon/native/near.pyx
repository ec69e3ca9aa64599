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
    cdef int32_t *rows
    cdef int kind, other_kind
    cdef void *data
    cdef void *other_data
    for text in [*texts, *others]:
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{type(text).__name__} given, a text wanted")
    for other in others:
        if other is not None:
            longest = max(longest, PyUnicode_GET_LENGTH(other))
    rows = <int32_t *>PyMem_Malloc((2 * longest + 3) * sizeof(int32_t))
    if rows == NULL:
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
                edits[k] = _edits(kind, data, n, other_kind, other_data, m, most, rows, &work)
    finally:
        PyMem_Free(rows)
    return found


cdef int32_t _edits(
    int kind, void *data, Py_ssize_t n, int other_kind, void *other_data, Py_ssize_t m,
    Py_ssize_t most, int32_t *rows, Py_ssize_t *work,
) except -2 nogil:  # fmt: skip
    """Edits of two texts, or -1 where there are more than so many.

    On each diagonal of the table of edits, how far so many edits lead (Ukkonen).
    """
    cdef Py_ssize_t edits, k, low, high, at, before, here, end = m - n
    cdef int32_t *far = rows + most + 1  # of diagonal k, how much of the text is done
    for k in range(-most - 1, most + 2):
        far[k] = -1
    for edits in range(most + 1):
        # farther diagonals have no way back
        low, high = max(-edits, end - most + edits), min(edits, end + most - edits)
        before = far[low - 1]
        for k in range(low, high + 1):
            here = far[k]
            at = max(max(here + 1, before), far[k + 1] + 1) if edits else 0
            before = here
            at = min(at, min(n, m - k))
            while at < n and at + k < m and (
                PyUnicode_READ(kind, data, at) == PyUnicode_READ(other_kind, other_data, at + k)
            ):
                at += 1
            far[k] = <int32_t>at
            if k == end and at == n:
                return <int32_t>edits
        answer_after(work, 4 * (high - low + 1))
    return -1
