"""What entry points check once per call, so that inner loops need not."""

import numpy as np

from libc.stdint cimport int64_t


cdef inline object checked_offsets(object offsets, Py_ssize_t ids, str name):
    """Offsets as contiguous int64, which ascend from 0 on within the number of ids.

    Raises:
        ValueError: they do not.
    """
    found = np.ascontiguousarray(offsets, dtype=np.int64)
    cdef const int64_t[::1] view = found
    cdef Py_ssize_t i
    cdef bint fits = view.shape[0] > 0 and view[0] >= 0 and view[view.shape[0] - 1] <= ids
    for i in range(view.shape[0] - 1):
        fits &= view[i] <= view[i + 1]
    if not fits:
        raise ValueError(f"offsets of {name} need to ascend from 0 to {ids}, the number of ids")
    return found


cdef inline object checked_pairs(object pairs, Py_ssize_t candidates, Py_ssize_t references):
    """Pairs (candidate, reference) as contiguous int64 [P, 2], which are rows of both sides.

    Raises:
        ValueError: they are not.
    """
    found = np.ascontiguousarray(pairs, dtype=np.int64)
    if found.ndim != 2 or found.shape[1] != 2:
        raise ValueError(f"pairs need the shape [pairs, 2]; theirs is {list(found.shape)}")
    cdef const int64_t[:, ::1] view = found
    cdef Py_ssize_t i
    cdef bint fits = True
    for i in range(view.shape[0]):
        fits &= (0 <= view[i, 0] < candidates) & (0 <= view[i, 1] < references)
    if not fits:
        raise ValueError(
            f"pairs name a text that is not there: {candidates} candidates, {references} references"
        )
    return found
