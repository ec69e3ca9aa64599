"""Where segments end in a text that has no lines: least edits of words, in a band."""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int32_t, int64_t

import numpy as np

from gnomon.native._arrays import ascending, check, numbers, whole
from gnomon.native._signals cimport answer_after

__all__ = ["cut_text"]

cdef int32_t FAR = 1 << 29


def cut_text(output, guide, ends, costs, places, ends_like, likeness, band):
    """Cut a text where its parts need the fewest edits to become the segments of a guide.

    Rows are words of the guide, columns are places between words of the output. A path from the
    first to the last of both deletes, inserts and replaces words, and at the end of each segment
    pays for the place at which it cuts. Memory grows with the band at the ends of segments.

    Args:
        output: two numbers for each word, int32 [2, N]: of the word, and of words that are alike.
        guide: the same of the guide, int32 [2, M].
        ends: the words of the guide before the end of each segment but the last; [K].
        costs: of an edit, and of replacing a word by one that is alike.
        places: of which kind the place before each word of the output, and the one behind the
            last, is; [N + 1].
        ends_like: of which kind each end is; [K].
        likeness: what a cut costs, by kind of end and kind of place; int32 [E, P].
        band: the first and the last place that is looked at before each word of the guide and
            behind the last; ascending, [2, M + 1].

    Returns:
        The least cost; the place of each cut, the first one where several cost the same; by how
        much the best path with this cut elsewhere costs more.

    Raises:
        ValueError: what does not fit together, or a band without a path.
    """
    words, alike = (whole(one, np.int32, "output") for one in output)
    theirs, theirs_alike = (whole(one, np.int32, "guide") for one in guide)
    check(len(words) == len(alike) and len(theirs) == len(theirs_alike), "words: not in pairs")
    cdef Py_ssize_t n = len(words), m = len(theirs), k, i, j
    cuts = len(ends)
    ends = ascending(ends, cuts, "ends")
    if cuts:
        check(ends[0] >= 0 and ends[cuts - 1] <= m, f"ends: not from 0 to {m}")
    table = np.ascontiguousarray(likeness, dtype=np.int32)
    check(table.ndim == 2, "likeness: not two dimensions")
    places = numbers(places, np.int32, table.shape[1], "places")
    check(len(places) == n + 1, f"places: {len(places)} given, {n + 1} wanted")
    ends_like = numbers(ends_like, np.int32, table.shape[0], "ends_like")
    check(len(ends_like) == cuts, f"ends_like: {len(ends_like)} given, {cuts} wanted")
    low, high = (ascending(one, m + 1, "band") for one in band)
    check(low[0] == 0 and high[m] == n and (low >= 0).all() and (high <= n).all()
          and (low <= high).all(), f"band: not from 0 to {n}")  # fmt: skip
    edit, replaced = costs
    dearest = edit * (n + m + 1) + cuts * int(table.max(initial=0))
    check((table >= 0).all() and 0 <= replaced <= edit, "costs: below 0, or in another order")
    check(dearest < FAR // 2, "costs: too large for so many words")
    sizes = (high - low + 1)[ends]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    kept = np.empty(int(offsets[cuts]), dtype=np.int32)
    found = np.zeros(cuts, dtype=np.int64)
    margins = np.zeros(cuts, dtype=np.int32)

    # a word more, for a text without any still has a first one to point to
    cdef int32_t[::1] a = np.append(words, words.dtype.type(0))
    cdef int32_t[::1] a_like = np.append(alike, alike.dtype.type(0))
    cdef int32_t[::1] b = theirs, b_like = theirs_alike
    cdef int64_t[::1] lows = low, highs = high, stops = ends, starts = offsets, cut = found
    cdef int32_t[::1] kinds = places, sorts = ends_like, through = kept, margin = margins
    cdef int32_t[:, ::1] toll = table
    cdef int32_t step = edit, half = replaced, best, second, one, least
    cdef Py_ssize_t work = 0, first, last, at, count = cuts
    cdef int32_t *row = <int32_t *>PyMem_Malloc(2 * (n + 3) * sizeof(int32_t))
    if row == NULL:
        raise MemoryError
    cdef int32_t *old = row + 1
    cdef int32_t *new = old + n + 3
    try:
        with nogil:
            for j in range(-1, n + 2):
                old[j] = new[j] = FAR
            for j in range(highs[0] + 1):
                old[j] = <int32_t>(j * step)
            k = 0
            for i in range(m + 1):
                first, last = lows[i], highs[i]
                if i:
                    _replace_forward(old, new, &a[0], &a_like[0], b[i - 1], b_like[i - 1], first,
                                     last, step, half)  # fmt: skip
                    for j in range(first, last + 1):
                        new[j] = min(new[j], new[j - 1] + step)
                    old, new = new, old
                    answer_after(&work, 2 * (last - first + 1))
                while k < count and stops[k] == i:
                    at = starts[k] - first
                    for j in range(first, last + 1):
                        old[j] += toll[sorts[k], kinds[j]]
                        through[at + j] = old[j]
                    for j in range(first + 1, last + 1):
                        old[j] = min(old[j], old[j - 1] + step)
                    k += 1
            least = old[n]
            for j in range(-1, n + 2):
                old[j] = new[j] = FAR
            for j in range(lows[m], n + 1):
                old[j] = <int32_t>((n - j) * step)
            k = count - 1
            for i in range(m, -1, -1):
                first, last = lows[i], highs[i]
                if i < m:
                    _replace_backward(old, new, &a[0], &a_like[0], b[i], b_like[i], first, last, n,
                                      step, half)  # fmt: skip
                    for j in range(last, first - 1, -1):
                        new[j] = min(new[j], new[j + 1] + step)
                    old, new = new, old
                    answer_after(&work, 2 * (last - first + 1))
                while k >= 0 and stops[k] == i:
                    at = starts[k] - first
                    best, second = 2 * FAR - 1, 2 * FAR - 1
                    for j in range(first, last + 1):
                        one = min(through[at + j], FAR - 1) + min(old[j], FAR - 1)
                        if one < best:
                            best, second, cut[k] = one, best, j
                        elif one < second:
                            second = one
                        old[j] += toll[sorts[k], kinds[j]]
                    margin[k] = min(second, FAR) - best
                    for j in range(last - 1, first - 1, -1):
                        old[j] = min(old[j], old[j + 1] + step)
                    k -= 1
    finally:
        PyMem_Free(row)
    check(least < FAR // 2, "band: no path")
    return least, found, margins


cdef void _replace_forward(
    const int32_t *old, int32_t *new, const int32_t *a, const int32_t *a_like, int32_t word,
    int32_t like, Py_ssize_t first, Py_ssize_t last, int32_t step, int32_t half,
) noexcept nogil:  # fmt: skip
    """What each place costs behind a word of the guide that is deleted, or replaced."""
    cdef Py_ssize_t j
    cdef int32_t cost
    new[first - 1] = FAR
    if first == 0:
        new[0] = min(old[0] + step, FAR)
    for j in range(max(first, 1), last + 1):
        cost = half if a_like[j - 1] == like else step
        cost = 0 if a[j - 1] == word else cost
        new[j] = min(old[j] + step, old[j - 1] + cost)


cdef void _replace_backward(
    const int32_t *old, int32_t *new, const int32_t *a, const int32_t *a_like, int32_t word,
    int32_t like, Py_ssize_t first, Py_ssize_t last, Py_ssize_t n, int32_t step, int32_t half,
) noexcept nogil:  # fmt: skip
    """What each place costs before a word of the guide that is deleted, or replaced."""
    cdef Py_ssize_t j
    cdef int32_t cost
    new[last + 1] = FAR
    if last == n:
        new[n] = min(old[n] + step, FAR)
    for j in range(first, min(last, n - 1) + 1):
        cost = half if a_like[j] == like else step
        cost = 0 if a[j] == word else cost
        new[j] = min(old[j] + step, old[j + 1] + cost)
