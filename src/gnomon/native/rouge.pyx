"""What candidates and references share under each type of ROUGE.

Subsequences are found on words of 64 bits: bits of a row of the table that are 0 mark where the
length grows, so that the length is the number of zeros (Hyyrö 2004, "Bit-parallel LCS-length
computation revisited"). What a pair finds in memory is valid where its stamp is that of the pair.
"""

import numpy as np

from gnomon.native._arrays import sides as checked

from libc.stdint cimport UINT64_MAX, int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free

from gnomon.native._bits cimport ones
from gnomon.native._signals cimport answer_after

__all__ = [
    "aligned_subsequences",
    "common_subsequences",
    "shared_ngrams",
    "union_subsequences",
]


cdef class _Pairs:
    """Pairs of texts, checked, and memory for them.

    Args:
        candidates: offsets and ids of the candidates' side; masks may be below 0.
        references: the same of the references' side.
        pairs: [P, 2], (candidate, reference).

    Raises:
        ValueError: offsets, ids or pairs do not fit.
    """

    cdef:
        const int64_t[::1] offsets
        const int64_t[::1] other_offsets
        const int32_t[::1] ids
        const int32_t[::1] other_ids
        const int64_t[:, ::1] rows
        int64_t low
        int64_t span
        Py_ssize_t count
        #: most tokens of a candidate and of a reference
        Py_ssize_t longest
        Py_ssize_t tallest
        #: of the pair at hand: its ids and their numbers
        const int32_t *own
        const int32_t *other
        Py_ssize_t n
        Py_ssize_t m
        #: of each id: when it was seen last, and its number then
        int64_t *stamps
        int32_t *slots
        #: where each number stands in a line, a row of words of 64 bits each
        uint64_t *places
        #: rows of the table
        uint64_t *table
        #: steps since signals were answered
        Py_ssize_t work

    def __cinit__(self, candidates, references, pairs):
        (
            self.offsets, self.ids, self.other_offsets, self.other_ids, self.rows, self.low,
            self.span,
        ) = checked(candidates, references, pairs)  # fmt: skip
        self.count = self.rows.shape[0]
        cdef Py_ssize_t pair
        for pair in range(self.count):
            self.choose(pair)
            self.longest, self.tallest = max(self.longest, self.n), max(self.tallest, self.m)
        self.stamps = <int64_t*>calloc(self.span, sizeof(int64_t))
        self.slots = <int32_t*>calloc(self.span, sizeof(int32_t))
        if not (self.stamps and self.slots):
            raise MemoryError(f"{self.span} distinct tokens")

    def __dealloc__(self):
        free(self.stamps)
        free(self.slots)
        free(self.places)
        free(self.table)

    cdef void choose(self, Py_ssize_t pair) noexcept nogil:
        """Turn to a pair."""
        cdef int64_t candidate = self.rows[pair, 0], reference = self.rows[pair, 1]
        self.n = self.offsets[candidate + 1] - self.offsets[candidate]
        self.m = self.other_offsets[reference + 1] - self.other_offsets[reference]
        self.own = &self.ids[self.offsets[candidate]] if self.n else NULL
        self.other = &self.other_ids[self.other_offsets[reference]] if self.m else NULL

    cdef int reserve(self, Py_ssize_t places, Py_ssize_t rows) except -1:
        """Take memory for lines of so many tokens, and for so many rows of their table."""
        cdef Py_ssize_t blocks = places // 64 + 1
        self.places = <uint64_t*>calloc((places + 1) * blocks, sizeof(uint64_t))
        self.table = <uint64_t*>calloc(rows * blocks, sizeof(uint64_t))
        if not (self.places and self.table):
            raise MemoryError(f"ROUGE of {places} tokens, {rows} rows of their table")
        return 0

    cdef void place(self, const int32_t* line, Py_ssize_t size, int64_t stamp) noexcept nogil:
        """The positions of each token, as the bits of the row of its number."""
        cdef Py_ssize_t blocks = size // 64 + 1, at, k
        cdef int32_t used = 0
        cdef int64_t token
        for at in range(size):
            token = line[at] - self.low
            if self.stamps[token] != stamp:
                self.stamps[token], self.slots[token] = stamp, used
                for k in range(blocks):
                    self.places[used * blocks + k] = 0
                used += 1
            self.places[self.slots[token] * blocks + at // 64] |= <uint64_t>1 << (at % 64)

    cdef int fill(
        self, const int32_t* line, Py_ssize_t rows, Py_ssize_t size, int64_t stamp
    ) except -1 nogil:
        """All rows of the table of a line beside one that was placed."""
        cdef Py_ssize_t blocks = size // 64 + 1, i, k
        cdef int64_t token
        cdef uint64_t *row = self.table
        for k in range(blocks):
            row[k] = UINT64_MAX
        for i in range(rows):
            token = line[i] - self.low
            if self.stamps[token] == stamp:
                _advance(row, &self.places[self.slots[token] * blocks], row + blocks, blocks)
            else:
                for k in range(blocks):
                    row[blocks + k] = row[k]
            row += blocks
            self.worked(2 * blocks)
        return 0

    cdef int worked(self, Py_ssize_t steps) except -1 nogil:
        """Answer signals every so many steps."""
        return answer_after(&self.work, 4 * steps)


def shared_ngrams(int order, candidates, references, pairs):
    """Sum over n-grams of the smaller count, for each pair, int64 [P]; linear in the lengths.

    Args:
        order: n, 1 or 2.
        candidates: offsets and ids of the candidates' side; masks may be below 0.
        references: the same of the references' side.
        pairs: [P, 2], (candidate, reference).

    Raises:
        ValueError: offsets, ids, pairs or n do not fit.
    """
    if not 1 <= order <= 2:
        raise ValueError(f"n-grams of one or two tokens are counted; got {order}")
    cdef _Pairs sides = _Pairs(candidates, references, pairs)
    found = np.zeros(sides.count, dtype=np.int64)
    cdef int64_t[::1] shared = found
    cdef Py_ssize_t size = 4
    while size < 2 * sides.longest:
        size *= 2
    cdef uint64_t[::1] keys = np.empty(size, dtype=np.uint64)
    cdef int32_t[::1] left = np.empty(size, dtype=np.int32)
    cdef int64_t[::1] stamps = np.full(size, -1, dtype=np.int64)
    cdef Py_ssize_t pair, at, cell
    cdef uint64_t key
    with nogil:
        for pair in range(sides.count):
            sides.choose(pair)
            for at in range(sides.n - order + 1):
                key = _key(sides.own + at, order, sides.low, sides.span)
                cell = _cell(key, keys, stamps, pair)
                if stamps[cell] != pair:
                    stamps[cell], keys[cell], left[cell] = pair, key, 0
                left[cell] += 1
            for at in range(sides.m - order + 1):
                key = _key(sides.other + at, order, sides.low, sides.span)
                cell = _cell(key, keys, stamps, pair)
                if stamps[cell] == pair and left[cell] > 0:
                    left[cell] -= 1
                    shared[pair] += 1
            sides.worked(8 * (sides.n + sides.m))
    return found


def common_subsequences(candidates, references, pairs):
    """Length of the longest common subsequence of each pair, int64 [P]; as :func:`shared_ngrams`.

    Quickest where the pairs of a reference follow each other.
    """
    cdef _Pairs sides = _Pairs(candidates, references, pairs)
    found = np.zeros(sides.count, dtype=np.int64)
    cdef int64_t[::1] lengths = found
    cdef Py_ssize_t pair, at, blocks
    cdef int64_t token, last = -1, stamp = 0
    cdef uint64_t bits, same
    sides.reserve(sides.tallest, 1)
    with nogil:
        for pair in range(sides.count):
            sides.choose(pair)
            if sides.rows[pair, 1] != last:
                last = sides.rows[pair, 1]
                stamp += 1
                sides.place(sides.other, sides.m, stamp)
            if sides.m < 64:
                bits = UINT64_MAX
                for at in range(sides.n):
                    token = sides.own[at] - sides.low
                    if sides.stamps[token] == stamp:
                        same = bits & sides.places[sides.slots[token]]
                        bits = (bits + same) | (bits - same)
                lengths[pair] = _grown(&bits, sides.m)
                sides.worked(2 * sides.n)
                continue
            blocks = sides.m // 64 + 1
            for at in range(blocks):
                sides.table[at] = UINT64_MAX
            for at in range(sides.n):
                token = sides.own[at] - sides.low
                if sides.stamps[token] == stamp:
                    _advance(
                        sides.table, &sides.places[sides.slots[token] * blocks], sides.table, blocks
                    )
                sides.worked(2 * blocks)
            lengths[pair] = _grown(sides.table, sides.m)
    return found


def union_subsequences(int64_t line_break, candidates, references, pairs):
    """Tokens of the reference's union LCS over sentences (Lin 2004, section 3.2), int64 [P].

    ``line_break`` is the id between two sentences; the rest as of :func:`shared_ngrams`.
    """
    cdef _Pairs sides = _Pairs(candidates, references, pairs)
    found = np.zeros(sides.count, dtype=np.int64)
    cdef int64_t[::1] hits = found
    cdef int64_t[::1] where = np.empty(sides.tallest + 1, dtype=np.int64)
    cdef int32_t[::1] left = np.zeros(sides.span, dtype=np.int32)
    cdef int64_t[::1] counted = np.full(sides.span, -1, dtype=np.int64)
    cdef Py_ssize_t pair, start, end, first, last, at
    cdef int64_t token, stamp = 0
    sides.reserve(sides.longest, sides.tallest + 1)
    with nogil:
        for pair in range(sides.count):
            sides.choose(pair)
            for at in range(sides.m):
                where[at] = -1
            start = 0
            while start <= sides.n:
                end = _line_end(sides.own, start, sides.n, line_break)
                stamp += 1
                sides.place(sides.own + start, end - start, stamp)
                for at in range(start, end):
                    token = sides.own[at] - sides.low
                    left[token] = 1 + (left[token] if counted[token] == pair else 0)
                    counted[token] = pair
                first = 0
                while first <= sides.m and end > start:
                    last = _line_end(sides.other, first, sides.m, line_break)
                    sides.fill(sides.other + first, last - first, end - start, stamp)
                    _take(
                        sides.other + first, last - first, sides.own + start, end - start,
                        sides.table, &where[first],
                    )  # fmt: skip
                    first = last + 1
                start = end + 1
            for at in range(sides.m):
                token = sides.other[at] - sides.low
                if where[at] >= 0 and counted[token] == pair and left[token] > 0:
                    left[token] -= 1
                    hits[pair] += 1
    return found


def aligned_subsequences(candidates, references, pairs):
    """Where the tokens of one longest common subsequence stand; as :func:`shared_ngrams`.

    Of several, the one that ROUGE's backtracking finds: from the ends, equal tokens are taken, and
    a token of the reference is given up unless only giving up one of the candidate keeps the
    length.

    Returns:
        int64, for each token of each pair's reference, one pair after the other: its place in the
        candidate, or -1.
    """
    cdef _Pairs sides = _Pairs(candidates, references, pairs)
    cdef Py_ssize_t pair, every = 0, at = 0
    for pair in range(sides.count):
        sides.choose(pair)
        every += sides.m
    found = np.full(every, -1, dtype=np.int64)
    cdef int64_t[::1] where = found
    sides.reserve(sides.longest, sides.tallest + 1)
    with nogil:
        for pair in range(sides.count):
            sides.choose(pair)
            if sides.n and sides.m:
                sides.place(sides.own, sides.n, pair + 1)
                sides.fill(sides.other, sides.m, sides.n, pair + 1)
                _take(sides.other, sides.m, sides.own, sides.n, sides.table, &where[at])
            at += sides.m
    return found


cdef inline uint64_t _key(
    const int32_t* ids, int order, int64_t low, int64_t span
) noexcept nogil:
    cdef uint64_t key = ids[0] - low
    return key if order == 1 else key * <uint64_t>span + <uint64_t>(ids[1] - low)


cdef inline Py_ssize_t _cell(
    uint64_t key, const uint64_t[::1] keys, const int64_t[::1] stamps, Py_ssize_t stamp
) noexcept nogil:
    """Where a key is, or would be put (open addressing)."""
    cdef Py_ssize_t last = keys.shape[0] - 1
    cdef Py_ssize_t cell = <Py_ssize_t>((key * 0x9E3779B97F4A7C15ULL) >> 32) & last
    while stamps[cell] == stamp and keys[cell] != key:
        cell = (cell + 1) & last
    return cell


cdef inline void _advance(
    const uint64_t* row, const uint64_t* places, uint64_t* out, Py_ssize_t blocks
) noexcept nogil:
    """The next row of the table."""
    cdef uint64_t carry = 0, bits, same, total, over
    cdef Py_ssize_t k
    for k in range(blocks):
        bits = row[k]
        same = bits & places[k]
        total = bits + same
        over = total < bits
        total += carry
        over += total < carry
        out[k] = total | (bits - same)
        carry = over


cdef void _take(
    const int32_t* line, Py_ssize_t i, const int32_t* own, Py_ssize_t j, const uint64_t* table,
    int64_t* where,
) noexcept nogil:  # fmt: skip
    """Where the tokens of one longest common subsequence stand, that of ROUGE's backtracking."""
    cdef Py_ssize_t blocks = j // 64 + 1
    cdef const uint64_t *row = table + i * blocks
    cdef int64_t here = _grown(row, j), above = _grown(row - blocks, j) if i else 0
    while i and j:
        if line[i - 1] != own[j - 1] and here - _step(row, j) > above:
            here -= _step(row, j)
            above -= _step(row - blocks, j)
            j -= 1
            continue
        i -= 1
        row -= blocks
        if line[i] == own[j - 1]:
            j -= 1
            where[i] = j
            here = _grown(row, j)
        else:
            here = above
        above = _grown(row - blocks, j) if i else 0


cdef inline int64_t _step(const uint64_t* row, Py_ssize_t j) noexcept nogil:
    """Whether the length grows at the j-th token (from 1)."""
    return 1 - <int64_t>((row[(j - 1) // 64] >> ((j - 1) % 64)) & 1)


cdef inline int64_t _grown(const uint64_t* row, Py_ssize_t j) noexcept nogil:
    """The length among the first j tokens: zeros of the lowest j bits."""
    cdef int64_t zeros = 0
    cdef Py_ssize_t k
    for k in range(j // 64):
        zeros += ones(~row[k])
    if j % 64:
        zeros += ones(~row[j // 64] & ((<uint64_t>1 << (j % 64)) - 1))
    return zeros


cdef inline Py_ssize_t _line_end(
    const int32_t* ids, Py_ssize_t start, Py_ssize_t size, int64_t line_break
) noexcept nogil:
    while start < size and ids[start] != line_break:
        start += 1
    return start
