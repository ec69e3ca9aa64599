"""Which reference each output fits, by the terms that few references share."""

from libc.math cimport log
from libc.stdint cimport int32_t, int64_t

import numpy as np

from gnomon.native._arrays import bounds, check, numbers
from gnomon.native._signals cimport answer_after

__all__ = ["places"]


def places(offsets, ids, Py_ssize_t terms, Py_ssize_t references, rows, Py_ssize_t most,
           double like, double times):  # fmt: skip
    """The reference that each output fits, its own if it fits that nearly as well.

    Args:
        offsets: bounds of the terms of each text, references first, int64 [texts + 1].
        ids: the terms, from 0, int32.
        terms: how many terms there are.
        references: how many of the texts are references.
        rows: which reference is each output's own, int64 [texts - references].
        most: terms of more references say nothing of the place.
        like: the share of both texts' weight that a reference has to have in common.
        times: as like as its own reference is another one where an output is found elsewhere.

    Returns:
        int64 [texts - references]; -1 where an output fits none.

    Raises:
        ValueError: offsets, ids or rows do not fit.
    """
    check(0 <= references < len(offsets), f"{references} references of {len(offsets) - 1} texts")
    cdef const int32_t[::1] known = numbers(ids, np.int32, terms, "ids")
    cdef const int64_t[::1] ends = bounds(offsets, len(known), "offsets")
    cdef Py_ssize_t outputs = len(ends) - 1 - references
    cdef const int64_t[::1] own = numbers(rows, np.int64, max(references, 1), "rows")
    check(len(own) == outputs, f"{len(own)} rows for {outputs} outputs")
    found = np.full(outputs, -1, dtype=np.int64)
    cdef int64_t[::1] best = found
    cdef int64_t[::1] seen = np.full(terms, -1, dtype=np.int64)
    cdef int64_t[::1] begins = np.zeros(terms + 1, dtype=np.int64)
    cdef double[::1] weights = np.zeros(terms)
    cdef double[::1] whole = np.zeros(references)
    cdef double[::1] shared = np.zeros(references)
    cdef int32_t[::1] together = np.zeros(references, dtype=np.int32)
    cdef Py_ssize_t text, at, k, line, term, touched, work = 0
    cdef int64_t[::1] lines
    cdef int64_t[::1] met = np.zeros(references, dtype=np.int64)
    cdef double mine, likeness, highest, home
    with nogil:
        for text in range(references):  # in how many references each term stands
            for at in range(ends[text], ends[text + 1]):
                if seen[known[at]] != text:
                    seen[known[at]] = text
                    begins[known[at] + 1] += 1
        for term in range(terms):
            k = begins[term + 1]
            if 0 < k <= most:
                weights[term] = log((references + 1.0) / k)
            else:
                begins[term + 1] = 0
            begins[term + 1] += begins[term]
    lines = np.zeros(begins[terms], dtype=np.int64)
    with nogil:
        for term in range(terms):
            seen[term] = -1
        for text in range(references):
            for at in range(ends[text], ends[text + 1]):
                term = known[at]
                if weights[term] > 0 and seen[term] != text:
                    seen[term] = text
                    whole[text] += weights[term]
                    lines[begins[term]] = text
                    begins[term] += 1  # it is the end of its lines now
        for k in range(outputs):
            text = references + k
            mine, touched = 0.0, 0
            for at in range(ends[text], ends[text + 1]):
                term = known[at]
                if weights[term] <= 0 or seen[term] == text:
                    continue
                seen[term] = text
                mine += weights[term]
                for line in range(begins[term - 1] if term else 0, begins[term]):
                    if together[lines[line]] == 0:
                        met[touched] = lines[line]
                        touched += 1
                    together[lines[line]] += 1
                    shared[lines[line]] += weights[term]
                answer_after(&work, most)
            highest, home, line = 0.0, 0.0, -1
            for at in range(touched):
                term = met[at]
                likeness = shared[term] / (mine + whole[term] - shared[term])
                if term == own[k]:
                    home = likeness
                if (together[term] > 1 or term == own[k]) and (
                    likeness > highest or (likeness == highest and term < line)
                ):
                    highest, line = likeness, term
                shared[term], together[term] = 0.0, 0
            if highest >= like and highest > times * home:
                best[k] = line
            elif home >= like / times:
                best[k] = own[k]
    return found
