"""What entry points check once per call, so that inner loops need not."""

import numpy as np

from libc.stdint cimport INT32_MAX, INT32_MIN, int64_t


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


cdef inline tuple checked_sides(object candidates, object references, object pairs):
    """Pairs of texts, as offsets and ids of either side, and what ids there are.

    Returns:
        Offsets, int64, and ids, int32, of the candidates and of the references; pairs, int64
        [P, 2]; the lowest id, and how many there are from it to the highest.

    Raises:
        ValueError: offsets, ids or pairs do not fit.
    """
    sides = [np.asarray(candidates[1]), np.asarray(references[1])]
    for ids in sides:
        if ids.ndim != 1 or ids.dtype.kind not in "iu":
            raise ValueError(f"ids need to be integers, one after the other; got {ids.dtype}")
    lowest = min([int(ids.min()) for ids in sides if len(ids)], default=0)
    highest = max([int(ids.max()) for ids in sides if len(ids)], default=0)
    if lowest < INT32_MIN or highest > INT32_MAX:
        raise ValueError(f"ids from {lowest} to {highest} do not fit 32 bits")
    own, other = [np.ascontiguousarray(ids, dtype=np.int32) for ids in sides]
    offsets = checked_offsets(candidates[0], len(own), "candidates")
    other_offsets = checked_offsets(references[0], len(other), "references")
    rows = checked_pairs(pairs, len(offsets) - 1, len(other_offsets) - 1)
    return offsets, own, other_offsets, other, rows, lowest, highest - lowest + 1
