"""Edits and shifts of TER.

The numbers are those of sacreBLEU's ``translation_edit_rate``, which defines them: a beam of 50
cells around the diagonal, shifts of at most ten words over at most 50 places, at most 1000 of them
tried.

A row of the table of distances is two words of 64 bits, whose bits say where the distance grows or
falls by one from a column to the next (Myers 1999; Hyyrö 2003): a beam of 50 cells fits in. Row
``i`` (``i`` words of the candidate) has its bits from column ``base + 1`` on. Where the beam moved,
its base is a cell that the beam leaves out, taken to be one more than the cell above it; it stands
for infinity, since no way through it is as good as the one past it. Beyond the beam's right end
rows grow by one per column, for the same reason.

Shifting a block swaps two neighbouring blocks of words. Rows before them stay; rows behind them
are as they were from the first one on whose bits are as they were. What is gained is at most twice
the length of the shorter block: that many words could have been deleted here and inserted there.
Only a distance that the beam made too large can fall by more.
"""

import numpy as np

from gnomon.native._arrays import sides as checked

from libc.math cimport floor
from libc.stdint cimport UINT64_MAX, int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free

from gnomon.native._bits cimport ones
from gnomon.native._signals cimport answer_after

__all__ = ["edit_pairs"]

cdef enum:
    #: half the width of the beam; longest block that is shifted; how far; shifts tried per pair
    HALF = 25
    LONGEST = 10
    FARTHEST = 50
    MOST = 1000
    #: cells from the beam's middle to its nearest end, less what rounding may move the middle by
    INSIDE = 23
    #: shifts that may be listed at once: the last block found may add some to the limit
    LISTED = MOST + LONGEST + 2
    #: a reference more than this many times as long as the candidate makes the beam too wide
    WIDEST = 50

#: a row of the table: where its bits begin, how far right of the row above; which of them lie in
#: the beam, and which are beside or below a cell of the row above; then, once it is filled, its
#: first distance, where distances grow and fall, where the row's word stands, and where the best
#: path comes from the cell before the one above, or from the one above
ctypedef struct Row:
    int32_t base
    int32_t step
    uint64_t live
    uint64_t inside
    int64_t value
    uint64_t grows
    uint64_t falls
    uint64_t same
    uint64_t straight
    uint64_t down

#: a block of words that could be shifted, and the next one of the same length, or -1
ctypedef struct Shift:
    int32_t length
    int32_t start
    int32_t target
    int32_t next

#: the blocks that a shift swaps: words begun to middle, and middle to ended; what that gains
ctypedef struct Swap:
    int64_t gain
    int32_t begun
    int32_t middle
    int32_t ended
    int32_t computed


cdef class _Scratch:
    """Memory for pairs of sides up to some lengths; words of a reference are numbered from 1 on."""

    cdef:
        #: of the candidate, n + 1 each: numbers of its words, their places before shifts, words in
        #: error before each
        int32_t *own
        int32_t *order
        int32_t *wrong
        int32_t *spare
        Row *rows
        #: of the reference, m + 1 each: numbers of its words, the next place of each
        int32_t *other
        int32_t *follow
        #: of each number: its first place, its first place that is not too far left, how often it
        #: stands in the reference, and not yet in the candidate
        int32_t *first
        int32_t *near
        int32_t *count
        int32_t *left
        #: of each place of the reference: the last word of the candidate at or before it, or -1;
        #: words missed before it
        int32_t *where
        int32_t *missed
        #: where each number stands, ``blocks`` words of 64 bits each
        uint64_t *places
        Py_ssize_t blocks
        #: a column of the whole table
        uint64_t *grows
        uint64_t *falls
        Shift *shifts
        int32_t[LONGEST + 1] longest
        #: of each id: when it was numbered last, and its number then
        int64_t *stamps
        int32_t *slots
        #: steps since signals were answered
        Py_ssize_t work

    def __cinit__(self, Py_ssize_t long, Py_ssize_t wide, Py_ssize_t span):
        cdef Py_ssize_t numbers = min(wide, span) + 1, blocks = wide // 64 + 3
        self.own = <int32_t*>calloc(long + 1, sizeof(int32_t))
        self.order = <int32_t*>calloc(long + 1, sizeof(int32_t))
        self.wrong = <int32_t*>calloc(long + 1, sizeof(int32_t))
        self.spare = <int32_t*>calloc(long + 1, sizeof(int32_t))
        self.rows = <Row*>calloc(long + 1, sizeof(Row))
        self.other = <int32_t*>calloc(wide + 1, sizeof(int32_t))
        self.follow = <int32_t*>calloc(wide + 1, sizeof(int32_t))
        self.first = <int32_t*>calloc(numbers, sizeof(int32_t))
        self.near = <int32_t*>calloc(numbers, sizeof(int32_t))
        self.count = <int32_t*>calloc(numbers, sizeof(int32_t))
        self.left = <int32_t*>calloc(numbers, sizeof(int32_t))
        self.where = <int32_t*>calloc(wide + 1, sizeof(int32_t))
        self.missed = <int32_t*>calloc(wide + 1, sizeof(int32_t))
        self.places = <uint64_t*>calloc(numbers * blocks, sizeof(uint64_t))
        self.grows = <uint64_t*>calloc(blocks, sizeof(uint64_t))
        self.falls = <uint64_t*>calloc(blocks, sizeof(uint64_t))
        self.shifts = <Shift*>calloc(LISTED, sizeof(Shift))
        self.stamps = <int64_t*>calloc(span + 1, sizeof(int64_t))
        self.slots = <int32_t*>calloc(span + 1, sizeof(int32_t))
        if not (
            self.own and self.order and self.wrong and self.spare and self.rows and self.other
            and self.follow and self.first and self.near and self.count and self.left
            and self.where and self.missed and self.places and self.grows and self.falls
            and self.shifts and self.stamps and self.slots
        ):
            raise MemoryError(f"TER of {long} words beside {wide}, {span} distinct words")

    def __dealloc__(self):
        free(self.own)
        free(self.order)
        free(self.wrong)
        free(self.spare)
        free(self.rows)
        free(self.other)
        free(self.follow)
        free(self.first)
        free(self.near)
        free(self.count)
        free(self.left)
        free(self.where)
        free(self.missed)
        free(self.places)
        free(self.grows)
        free(self.falls)
        free(self.shifts)
        free(self.stamps)
        free(self.slots)

    cdef int worked(self, Py_ssize_t steps) except -1 nogil:
        """Answer signals every so many steps."""
        return answer_after(&self.work, 8 * steps)


def edit_pairs(candidates, references, pairs, *, bint align=False):
    """Edits of each pair, shifts among them.

    Args:
        candidates: offsets and ids of the candidates' side; masks may be below 0.
        references: the same of the references' side.
        pairs: [P, 2], (candidate, reference); quickest where those of a reference follow each
            other.
        align: say also which words are left alone.

    Returns:
        int64 [P], the edits, -1 where the reference is more than fifty times as long as the
        candidate: the beam of these does not fit; int64 [P], how many shifts were listed; int64
        [P], how many of these were computed; and, one after the other, for each word of each
        reference the place of the candidate's word that is left alone there, or -1.

    Raises:
        ValueError: offsets, ids or pairs do not fit.
    """
    cdef const int64_t[::1] offsets, other_offsets
    cdef const int32_t[::1] ids, other_ids
    cdef const int64_t[:, ::1] rows
    cdef int64_t low, span
    offsets, ids, other_offsets, other_ids, rows, low, span = checked(
        candidates, references, pairs
    )
    cdef Py_ssize_t pair, n, m, long = 0, wide = 0, every = 0, at = 0
    for pair in range(rows.shape[0]):
        m = other_offsets[rows[pair, 1] + 1] - other_offsets[rows[pair, 1]]
        long = max(long, offsets[rows[pair, 0] + 1] - offsets[rows[pair, 0]])
        wide, every = max(wide, m), every + m
    found = np.zeros((3, rows.shape[0]), dtype=np.int64)
    cdef int64_t[:, ::1] counts = found
    alone = np.full(every if align else 0, -1, dtype=np.int64)
    cdef int64_t[::1] kept = alone
    cdef _Scratch scratch = _Scratch(long + 1, wide + 1, span)
    cdef int64_t last = -1, stamp = 0
    cdef int32_t used = 0
    with nogil:
        for pair in range(rows.shape[0]):
            n = offsets[rows[pair, 0] + 1] - offsets[rows[pair, 0]]
            m = other_offsets[rows[pair, 1] + 1] - other_offsets[rows[pair, 1]]
            if n == 0 or m == 0:
                counts[0, pair] = n + m
            elif m > WIDEST * n:
                counts[0, pair] = -1
            else:
                if rows[pair, 1] != last:
                    last = rows[pair, 1]
                    stamp += 1
                    used = _numbered(scratch, &other_ids[other_offsets[last]], m, stamp, low)
                _edits(
                    scratch, &ids[offsets[rows[pair, 0]]], n, m, stamp, low, used, align,
                    &counts[0, pair], &counts[1, pair], &counts[2, pair],
                    &kept[at] if align else NULL,
                )  # fmt: skip
            at += m
    return found[0], found[1], found[2], alone


cdef int32_t _numbered(
    _Scratch s, const int32_t* ids, Py_ssize_t m, int64_t stamp, int64_t low
) noexcept nogil:
    """Number the words of a reference from 1 on; note where each stands."""
    cdef int32_t used = 0, number
    cdef Py_ssize_t blocks = m // 64 + 3, j, k
    cdef int64_t word
    s.blocks = blocks
    for k in range(blocks):  # number 0 stands nowhere; a shorter reference had others here
        s.places[k] = 0
    for j in range(m - 1, -1, -1):
        word = ids[j] - low
        if s.stamps[word] != stamp:
            used += 1
            s.stamps[word], s.slots[word] = stamp, used
            s.first[used], s.count[used] = -1, 0
            for k in range(blocks):
                s.places[used * blocks + k] = 0
        number = s.slots[word]
        s.other[j], s.follow[j] = number, s.first[number]
        s.first[number] = j
        s.count[number] += 1
        s.places[number * blocks + j // 64] |= <uint64_t>1 << (j % 64)
    return used


cdef int _edits(
    _Scratch s, const int32_t* ids, Py_ssize_t n, Py_ssize_t m, int64_t stamp, int64_t low,
    int32_t used, bint align, int64_t* edits, int64_t* listed, int64_t* computed, int64_t* kept,
) except -1 nogil:  # fmt: skip
    cdef Py_ssize_t i, j, start = 0, found, tried = 0, shifted = 0
    cdef int64_t distance, least = max(n, m), slack, word
    cdef int32_t number
    cdef Swap swap
    for number in range(1, used + 1):
        s.left[number] = s.count[number]
    for i in range(n):
        word = ids[i] - low
        number = s.slots[word] if s.stamps[word] == stamp else 0
        s.own[i], s.order[i] = number, i
        if number > 0 and s.left[number] > 0:
            s.left[number] -= 1
            least -= 1
    _beam(s.rows, n, m)
    s.rows[0].value, s.rows[0].grows, s.rows[0].falls = 0, UINT64_MAX, 0
    while True:
        _fill(s, start, n)
        distance = s.rows[n].value + _rise(
            s.rows[n].grows, s.rows[n].falls, m - s.rows[n].base
        )
        if distance == least and not align:
            break
        _trace(s, n, m)
        if distance == least:
            break
        s.worked(64 * n + m)
        found = _list_shifts(s, n, m, used, tried)
        tried += found
        if tried >= MOST:
            break
        slack = 0
        if distance > 2 * INSIDE - (n - m if n > m else m - n):
            slack = distance - _whole_distance(s, n, m)
        swap = _best_shift(s, n, m, distance, slack, distance - least)
        s.worked(n * swap.computed)
        computed[0] += swap.computed
        if swap.gain == 0:
            break
        shifted += 1
        start = swap.begun
        _swap(s.own, s.spare, &swap)
        _swap(s.order, s.spare, &swap)
    edits[0], listed[0] = shifted + distance, tried
    if align:
        for j in range(m):
            if s.missed[j + 1] == s.missed[j]:
                kept[j] = s.order[s.where[j]]
    return 0


cdef void _beam(Row* rows, Py_ssize_t n, Py_ssize_t m) noexcept nogil:
    """Where the bits of each row begin and how many of them lie in the beam."""
    cdef double ratio = <double>m / <double>n
    cdef Py_ssize_t i, middle, next_low, next_high, low = 0, high = m + 1
    cdef int32_t base
    rows[0].base = 0
    for i in range(1, n + 1):
        middle = <Py_ssize_t>floor(i * ratio)
        next_low, next_high = max(0, middle - HALF), min(m + 1, middle + HALF)
        if i == n:
            next_high = m + 1
        base = next_low if next_low == low else next_low - 1
        rows[i].base, rows[i].step = base, base - rows[i - 1].base
        rows[i].live = (<uint64_t>1 << (next_high - 1 - base)) - 1
        rows[i].inside = (<uint64_t>1 << (min(high, next_high - 1) - base)) - 1
        low, high = next_low, next_high


cdef inline int64_t _rise(uint64_t grows, uint64_t falls, Py_ssize_t width) noexcept nogil:
    """By how much the distance changes over the first columns of a row."""
    cdef uint64_t some = (<uint64_t>1 << width) - 1
    if width == 1:
        return <int64_t>(grows & 1) - <int64_t>(falls & 1)
    return ones(grows & some) - ones(falls & some)


cdef inline uint64_t _window(const uint64_t* places, int32_t column) noexcept nogil:
    """Where a word stands in the reference, from a column on, 64 bits."""
    cdef int by = column & 63
    places += column >> 6
    return (places[0] >> by) | ((places[1] << 1) << (63 - by))


cdef void _fill(_Scratch s, Py_ssize_t start, Py_ssize_t n) noexcept nogil:
    """The rows behind ``start``, and which way the best path came into each cell."""
    cdef Py_ssize_t i
    cdef uint64_t grew = s.rows[start].grows, fell = s.rows[start].falls, same, level, up, flat
    cdef int64_t value = s.rows[start].value
    cdef Row* row
    for i in range(start + 1, n + 1):
        row = &s.rows[i]
        value += 1
        if row.step > 0:
            value += _rise(grew, fell, row.step)
            grew = (grew >> row.step) | ~(UINT64_MAX >> row.step)
            fell >>= row.step
        same = _window(&s.places[s.own[i - 1] * s.blocks], row.base) & row.inside
        level = (((same & grew) + grew) ^ grew) | same | fell
        flat = fell | ~(level | grew)
        up = (flat << 1) | 1
        row.value, row.same = value, same
        row.straight = (same | ~level) & row.inside
        row.down = flat
        grew = ((grew & level) << 1) | ~(level | up) | ~row.live
        fell = up & level & row.live
        row.grows, row.falls = grew, fell


cdef void _trace(_Scratch s, Py_ssize_t n, Py_ssize_t m) noexcept nogil:
    """The alignment of the best path."""
    cdef Py_ssize_t i = n, j = m
    cdef int32_t bit, error
    s.wrong[0] = s.missed[0] = 0
    while i > 0:
        bit = j - s.rows[i].base - 1
        if bit < 0:
            s.wrong[i] = 1
            i -= 1
        elif (s.rows[i].straight >> bit) & 1:
            error = s.own[i - 1] != s.other[j - 1]
            s.wrong[i] = s.missed[j] = error
            i -= 1
            j -= 1
            s.where[j] = i
        elif (s.rows[i].down >> bit) & 1:
            s.wrong[i] = 1
            i -= 1
        else:
            s.missed[j] = 1
            j -= 1
            s.where[j] = i - 1
    while j > 0:
        s.missed[j] = 1
        j -= 1
        s.where[j] = -1
    for i in range(n):
        s.wrong[i + 1] += s.wrong[i]
    for j in range(m):
        s.missed[j + 1] += s.missed[j]


cdef Py_ssize_t _list_shifts(
    _Scratch s, Py_ssize_t n, Py_ssize_t m, int32_t used, Py_ssize_t tried
) except -1 nogil:
    """The shifts worth a try, chained by length, the earliest first; how many there are.

    A block is shifted to where it stands in the reference, if it is in error on both sides.
    """
    cdef Py_ssize_t i, j, length, offset, k, made = 0
    cdef int32_t number, before, target
    for length in range(LONGEST + 1):
        s.longest[length] = -1
    for number in range(used + 1):
        s.near[number] = s.first[number]
    s.near[0] = -1
    for i in range(n):
        number = s.own[i]
        while 0 <= s.near[number] < i - FARTHEST:
            s.near[number] = s.follow[s.near[number]]
        j = s.near[number]
        while 0 <= j <= i + FARTHEST:
            length = 0
            while s.own[i + length] == s.other[j + length] and length < LONGEST:
                length += 1
                if (
                    s.wrong[i + length] > s.wrong[i]
                    and s.missed[j + length] > s.missed[j]
                    and not i <= s.where[j] < i + length
                ):
                    before = -1
                    for offset in range(-1, length):
                        target = s.where[j + offset] + 1 if j + offset >= 0 else 0
                        if target != before:
                            before = target
                            s.shifts[made].length, s.shifts[made].start = length, i
                            s.shifts[made].target, s.shifts[made].next = target, -1
                            made += 1
                    if tried + made >= MOST:
                        return made
                if i + length == n or j + length == m:
                    break
            j = s.follow[j]
    for k in range(made - 1, -1, -1):
        s.shifts[k].next = s.longest[s.shifts[k].length]
        s.longest[s.shifts[k].length] = k
    return made


cdef Swap _best_shift(
    _Scratch s, Py_ssize_t n, Py_ssize_t m, int64_t distance, int64_t slack, int64_t most
) noexcept nogil:
    """The shift that gains most: of equal ones the longest, then the earliest, then the nearest."""
    cdef Swap best
    cdef Shift *shift
    cdef int32_t best_length = 0, best_start = 0, best_target = 0, a, b, c, k, length
    cdef int64_t bound, gain
    cdef bint first
    best.gain = best.begun = best.middle = best.ended = best.computed = 0
    for length in range(LONGEST, 0, -1):
        k = s.longest[length]
        while k >= 0:
            shift = &s.shifts[k]
            k = shift.next
            if shift.target < shift.start:
                a, b, c = shift.target, shift.start, shift.start + length
            elif shift.target > shift.start + length:
                a, b, c = shift.start, shift.start + length, shift.target
            else:
                a, b = shift.start, shift.start + length
                c = min(shift.target + length, n)
            bound = min(2 * min(b - a, c - b) + slack, most)
            first = (
                length == best_length and shift.start == best_start and shift.target < best_target
            )
            if bound < best.gain or (bound == best.gain and not first) or c == b:
                continue
            best.computed += 1
            gain = _gain(s, n, m, distance, a, b, c)
            if gain > best.gain or (gain == best.gain and gain > 0 and first):
                best.gain, best.begun, best.middle, best.ended = gain, a, b, c
                best_length, best_start, best_target = length, shift.start, shift.target
    return best


cdef int64_t _gain(
    _Scratch s, Py_ssize_t n, Py_ssize_t m, int64_t distance, Py_ssize_t a, Py_ssize_t b,
    Py_ssize_t c
) noexcept nogil:  # fmt: skip
    """By how much the distance falls where words a to b and b to c change places."""
    cdef uint64_t grew = s.rows[a].grows, fell = s.rows[a].falls, same, level, up
    cdef int64_t value = s.rows[a].value
    cdef Py_ssize_t i
    cdef Row* row
    for i in range(a, n):
        row = &s.rows[i + 1]
        if i >= c:
            if grew == s.rows[i].grows and fell == s.rows[i].falls:
                return s.rows[i].value - value
            same = row.same
        else:
            same = s.own[b + i - a] if i < a + c - b else s.own[i - (c - b)]
            same = _window(&s.places[<Py_ssize_t>same * s.blocks], row.base) & row.inside
        value += 1
        if row.step > 0:
            value += _rise(grew, fell, row.step)
            grew = (grew >> row.step) | ~(UINT64_MAX >> row.step)
            fell >>= row.step
        level = (((same & grew) + grew) ^ grew) | same | fell
        up = ((fell | ~(level | grew)) << 1) | 1
        grew = ((grew & level) << 1) | ~(level | up) | ~row.live
        fell = up & level & row.live
    return distance - value - _rise(grew, fell, m - s.rows[n].base)


cdef void _swap(int32_t* words, int32_t* spare, const Swap* blocks) noexcept nogil:
    """Let two blocks change places."""
    cdef Py_ssize_t i, a = blocks.begun, b = blocks.middle, c = blocks.ended
    for i in range(a, b):
        spare[i - a] = words[i]
    for i in range(b, c):
        words[a + i - b] = words[i]
    for i in range(b - a):
        words[a + c - b + i] = spare[i]


cdef int64_t _whole_distance(_Scratch s, Py_ssize_t n, Py_ssize_t m) except -1 nogil:
    """The distance without a beam."""
    cdef Py_ssize_t words = (m + 63) // 64, i, word
    cdef int last = (m - 1) % 64
    cdef int64_t distance = m
    cdef uint64_t rises, sinks, same, grew, fell, either, level, up, sunk, up_out, sunk_out
    cdef const uint64_t* places
    for word in range(words):
        s.grows[word], s.falls[word] = UINT64_MAX, 0
    for i in range(n):
        rises, sinks = 1, 0
        places = &s.places[s.own[i] * s.blocks]
        for word in range(words):
            same, grew, fell = places[word], s.grows[word], s.falls[word]
            either = same | fell
            same |= sinks
            level = (((same & grew) + grew) ^ grew) | same
            up, sunk = fell | ~(level | grew), grew & level
            if word == words - 1:
                distance += <int64_t>((up >> last) & 1) - <int64_t>((sunk >> last) & 1)
            up_out, sunk_out = up >> 63, sunk >> 63
            up, sunk = (up << 1) | rises, (sunk << 1) | sinks
            rises, sinks = up_out, sunk_out
            s.grows[word], s.falls[word] = sunk | ~(either | up), up & either
        s.worked(words)
    return distance
