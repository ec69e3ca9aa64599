"""Matches of n-grams between rows of ids, plain and under masks; tokens under spans.

An n-gram is the rank of its first n-1 ids and its last id, ranks being taken among the n-grams of
the references of one group: exact for any vocabulary and order, and a candidate's n-gram whose
beginning no reference holds is dropped at once. One reference of up to 64 ids is faster: a word of
64 bits holds the places of each.
"""

cimport cython
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc
from libc.stdint cimport INT32_MAX, int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from gnomon.native._bits cimport ones
from gnomon.native._signals cimport PATIENCE, answer_after, answer_signals
from gnomon.native._arrays import ascending, bounds as bounds_of, check, numbers, whole

__all__ = ["KEPT", "LEFT_OUT", "PRIVATE", "SHARED", "MaskedRows", "Rows", "covered_tokens", "spelled"]

#: what happens to a token; the first three are those of ``masking.Action``
KEPT, SHARED, PRIVATE, LEFT_OUT = 0, 1, 2, 3

cdef enum:
    FATE_KEPT = 0
    FATE_SHARED = 1
    FATE_LEFT_OUT = 3
    #: ids of a reference whose places fit into a word
    PLACES = 64
    #: ids, and bytes, between two looks for an interruption
    IDS = 1 << 16
    STEPS = PATIENCE // IDS
    BYTES = 1 << 24


cdef int _no_memory() except -1 with gil:
    raise MemoryError


# What is needed while groups are counted, and is as it was before when one is.


cdef struct Room:
    #: where ids stand in a short reference
    uint64_t *places
    #: one more than the number of an id among those of a group's references; 0: none
    int32_t *local
    # n-grams of several ids: key, and rank where it is one
    int64_t *keys
    int32_t *ranks
    Py_ssize_t slots
    # by rank: most often in a reference, seen so far, whether a mask is in it
    int32_t *most
    int32_t *here
    uint8_t *masked
    Py_ssize_t cells
    # ids of one side, or of all references of a group
    int32_t *sequence
    Py_ssize_t length
    # ranks seen, or where n-grams of the last order end
    int32_t *touched
    Py_ssize_t touchable
    uint64_t *windows
    Py_ssize_t widest


@cython.final
cdef class _Room:
    """Memory for one call."""

    cdef Room of

    def __cinit__(self, Py_ssize_t width):
        self.of.places = <uint64_t *>PyMem_RawCalloc(width + 2, sizeof(uint64_t))
        self.of.local = <int32_t *>PyMem_RawCalloc(width + 1, sizeof(int32_t))
        if self.of.places == NULL or self.of.local == NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_RawFree(self.of.places)
        PyMem_RawFree(self.of.local)
        PyMem_RawFree(self.of.keys)
        PyMem_RawFree(self.of.ranks)
        PyMem_RawFree(self.of.most)
        PyMem_RawFree(self.of.here)
        PyMem_RawFree(self.of.masked)
        PyMem_RawFree(self.of.sequence)
        PyMem_RawFree(self.of.touched)
        PyMem_RawFree(self.of.windows)


cdef void *_fresh(void *old, Py_ssize_t size) except NULL nogil:
    """So much memory in place of some; what it held is lost."""
    PyMem_RawFree(old)
    cdef void *made = PyMem_RawMalloc(size)
    if made == NULL:
        _no_memory()
    return made


cdef int _for_sequence(Room *room, Py_ssize_t length) except -1 nogil:
    if length > room.length:
        room.sequence = <int32_t *>_fresh(room.sequence, 2 * length * sizeof(int32_t))
        room.length = 2 * length
    return 0


cdef int _for_windows(Room *room, Py_ssize_t length) except -1 nogil:
    if length > room.widest:
        room.windows = <uint64_t *>_fresh(room.windows, 2 * length * sizeof(uint64_t))
        room.widest = 2 * length
    return 0


cdef int _for_touched(Room *room, Py_ssize_t number) except -1 nogil:
    if number > room.touchable:
        room.touched = <int32_t *>_fresh(room.touched, 2 * number * sizeof(int32_t))
        room.touchable = 2 * number
    return 0


cdef int _fill(void *memory, int byte, Py_ssize_t size) except -1 nogil:
    """Set all bytes; fresh memory of that many may take seconds."""
    cdef Py_ssize_t at = 0
    while size - at > BYTES:
        memset(<uint8_t *>memory + at, byte, BYTES)
        answer_signals()
        at += BYTES
    memset(<uint8_t *>memory + at, byte, size - at)
    return 0


cdef int64_t _for_grams(Room *room, int64_t tokens, int64_t types, int64_t orders) except -1 nogil:
    """A table for the n-grams of some references, none in it; the last place of it."""
    cdef int64_t slots = 64, cells = types + tokens * (orders - 1)
    if cells > INT32_MAX:
        with gil:
            raise OverflowError(f"{tokens} tokens in the references of one segment are too many")
    while slots < 2 * tokens * (orders - 1):
        slots *= 2
    if slots > room.slots:
        room.keys = <int64_t *>_fresh(room.keys, slots * sizeof(int64_t))
        room.ranks = <int32_t *>_fresh(room.ranks, slots * sizeof(int32_t))
        _fill(room.keys, 0, slots * sizeof(int64_t))  # the system makes its pages some at a time
        room.slots = slots
    if cells > room.cells:
        room.most = <int32_t *>_fresh(room.most, 2 * cells * sizeof(int32_t))
        room.here = <int32_t *>_fresh(room.here, 2 * cells * sizeof(int32_t))
        room.masked = <uint8_t *>_fresh(room.masked, 2 * cells)
        room.cells = 2 * cells
    _fill(room.ranks, 255, slots * sizeof(int32_t))
    _fill(room.most, 0, cells * sizeof(int32_t))
    _fill(room.here, 0, cells * sizeof(int32_t))
    _fill(room.masked, 0, types - 1)
    room.masked[types - 1] = 1
    return slots - 1


cdef int64_t _number_types(
    Room *room, const int32_t *ids, int64_t low, int64_t high, int64_t types
) except -1 nogil:
    """Number the ids of a reference that have no number yet; how many have one."""
    cdef int64_t i
    for i in range(low, high):
        if not (i + 1) % IDS:
            answer_signals()
        if not room.local[ids[i]]:
            types += 1
            room.local[ids[i]] = <int32_t>types
    return types


cdef int _forget_types(Room *room, const int32_t *ids, int64_t low, int64_t high) except -1 nogil:
    cdef int64_t i
    for i in range(low, high):
        if not (i + 1) % IDS:
            answer_signals()
        room.local[ids[i]] = 0
    return 0


cdef inline int _copy_numbers(
    Room *room, const int32_t *ids, int64_t low, int64_t high, int32_t *sequence
) except -1 nogil:
    """Ids by their numbers; -1 for those that no reference has."""
    cdef int64_t i
    for i in range(low, high):
        if not (i + 1) % IDS:
            answer_signals()
        sequence[i - low] = room.local[ids[i]] - 1
    return 0


# Counting.


cdef inline int64_t _slot(const Room *room, int64_t key, int64_t mask) noexcept nogil:
    """Slot of a key; its rank is -1 where the key is new."""
    cdef int64_t slot = <int64_t>((<uint64_t>key * <uint64_t>0x9E3779B97F4A7C15) >> 32) & mask
    while room.ranks[slot] >= 0 and room.keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


cdef int _count_reference(
    Room *room, const int32_t *sequence, int64_t length, int64_t orders, int64_t types,
    int64_t mask, int64_t *size,
) except -1 nogil:
    """Rank every n-gram of a reference; keep how often the one has it that has it most often.

    Single ids are their own ranks, below ``types``; ``types - 1`` is the shared mask.
    """
    cdef int64_t i, j, rank, key, slot
    for i in range(length):
        if not (i + 1) % IDS:
            answer_signals()
        rank = sequence[i]
        if rank < 0:
            continue
        room.here[rank] += 1
        for j in range(i + 1, min(i + orders, length)):
            if sequence[j] < 0:
                break
            key = rank * types + sequence[j]
            slot = _slot(room, key, mask)
            if room.ranks[slot] < 0:
                room.keys[slot], room.ranks[slot] = key, <int32_t>size[0]
                room.masked[size[0]] = room.masked[rank] or sequence[j] == types - 1
                size[0] += 1
            rank = room.ranks[slot]
            room.here[rank] += 1
    for i in range(length):
        if not (i + 1) % IDS:
            answer_signals()
        rank = sequence[i]
        if rank < 0:
            continue
        room.most[rank] = max(room.most[rank], room.here[rank])
        room.here[rank] = 0
        for j in range(i + 1, min(i + orders, length)):
            if sequence[j] < 0:
                break
            rank = room.ranks[_slot(room, rank * types + sequence[j], mask)]
            room.most[rank] = max(room.most[rank], room.here[rank])
            room.here[rank] = 0
    return 0


cdef int _count_candidate(
    Room *room, int64_t length, int64_t orders, int64_t types, int64_t mask, int32_t *total,
    int32_t *plain,
) except -1 nogil:
    """Add a candidate's clipped matches: all of them, and those without a mask."""
    cdef const int32_t *sequence = room.sequence
    cdef int32_t *seen = room.here
    cdef int64_t i, rank, order, slot, marks = 0
    _for_touched(room, length * orders)
    for i in range(length):
        if not (i + 1) % IDS:
            answer_signals()
        rank = sequence[i]
        if rank < 0:
            continue
        order = 0
        while True:
            if seen[rank] < room.most[rank]:
                total[order] += 1
                if plain != NULL and not room.masked[rank]:
                    plain[order] += 1
            if seen[rank] == 0:
                room.touched[marks] = <int32_t>rank
                marks += 1
            seen[rank] += 1
            order += 1
            if order == orders or i + order >= length or sequence[i + order] < 0:
                break
            slot = _slot(room, rank * types + sequence[i + order], mask)
            if room.ranks[slot] < 0:
                break
            rank = room.ranks[slot]
    for i in range(marks):
        if not (i + 1) % IDS:
            answer_signals()
        seen[room.touched[i]] = 0
    return 0


cdef inline uint64_t _taken(uint64_t taken, uint64_t ends) noexcept nogil:
    """Take one of the places that are still free."""
    cdef uint64_t free = ends & ~taken
    return taken | (free & (0 - free))


cdef int _match_places(
    Room *room, const int32_t *ids, int64_t length, int64_t orders, uint64_t marked,
    int32_t *matches, int32_t *plain,
) except -1 nogil:
    """Clipped matches of a candidate with a reference of up to 64 ids.

    A word of 64 bits says where in the reference an n-gram ends: one place further than the n-gram
    without its last id, if that id is there. Each n-gram of the candidate takes one of its places
    that are still free, so that equal ones match as often as both sides have them. Four orders are
    counted at a time; windows keep the ends of the last one for the next four. ``plain`` are the
    matches without those n-grams that hold one of the places ``marked``.
    """
    cdef uint64_t one, two, three, four, here, before, hold = 0
    cdef uint64_t[4] taken
    cdef int64_t i, order, more
    cdef uint64_t *windows = NULL
    if orders > 4:
        _for_windows(room, length)
        windows = room.windows
    for order in range(0, orders, 4):
        one = two = three = four = 0
        taken[0] = taken[1] = taken[2] = taken[3] = 0
        before = 0 if order else ~<uint64_t>0
        for i in range(length):
            here = room.places[ids[i]]
            four = three << 1 & here
            three = two << 1 & here
            two = one << 1 & here
            one = before & here
            taken[0], taken[1] = _taken(taken[0], one), _taken(taken[1], two)
            taken[2], taken[3] = _taken(taken[2], three), _taken(taken[3], four)
            if windows != NULL:
                if order:
                    before = windows[i] << 1
                windows[i] = four
        for more in range(min(<int64_t>4, orders - order)):
            hold = hold << 1 | marked
            matches[order + more] = <int32_t>ones(taken[more])
            if plain != NULL:
                plain[order + more] = <int32_t>ones(taken[more] & ~hold)
    return 0


@cython.final
cdef class Rows:
    """Rows of ids, none but those of which no id or bound leads out of an array.

    Args:
        offsets: int64 [T + 1], bounds of each row in ``ids``.
        ids: int32, 0 to width - 1. It is not copied, and must not change.
        width: number of ids.
    """

    cdef const int64_t[::1] offsets
    cdef const int32_t[::1] ids
    cdef Py_ssize_t width
    cdef _Room spare

    def __cinit__(self, offsets, ids, Py_ssize_t width):  # which nobody can call again
        check(0 <= width < INT32_MAX, f"width: {width} given")
        self.ids = numbers(ids, np.int32, width, "ids")
        self.offsets = bounds_of(offsets, len(self.ids), "offsets")
        self.width = width

    def __len__(self):
        return len(self.offsets) - 1

    cdef _Room borrow(self):
        """Memory that no other call uses."""
        cdef _Room room = self.spare
        self.spare = None
        return _Room(self.width) if room is None else room

    def matches(self, candidates, groups, references, reference_groups, int orders):
        """Clipped matches of candidates with the references of their group.

        Args:
            candidates: int64 [P], rows.
            groups: int64 [P], ascending.
            references: int64 [R], rows.
            reference_groups: int64 [R], ascending.
            orders: length of the longest n-grams.

        Returns:
            int32 [P, orders].

        Raises:
            TypeError: an array holds no whole numbers.
            ValueError: there is no such row, or groups do not ascend.
        """
        cdef Pairing pairing = Pairing(
            candidates, groups, references, reference_groups, len(self), orders
        )
        found = np.zeros((pairing.candidates.shape[0], orders), dtype=np.int32)
        cdef int32_t[:, ::1] matches = found
        cdef _Room room = self.borrow()
        if pairing.candidates.shape[0]:
            with nogil:
                _plain_matches(self, &room.of, pairing, &matches[0, 0])
        self.spare = room  # what was interrupted is not given back: it is not as it was before
        return found


@cython.final
cdef class Pairing:
    """Candidates and references of a call, checked."""

    cdef const int64_t[::1] candidates, groups, references, reference_groups
    cdef int64_t orders

    def __cinit__(self, candidates, groups, references, reference_groups, rows, orders):
        check(1 <= orders <= 1000, f"orders: {orders} given")
        self.candidates = numbers(candidates, np.int64, rows, "candidates")
        self.groups = ascending(groups, len(self.candidates), "groups")
        self.references = numbers(references, np.int64, rows, "references")
        self.reference_groups = ascending(
            reference_groups, len(self.references), "reference_groups"
        )
        self.orders = orders

    cdef (Py_ssize_t, Py_ssize_t) own(self, Py_ssize_t p, Py_ssize_t r) noexcept nogil:
        """The references of a candidate: from which to which, those from ``r`` on being left."""
        cdef Py_ssize_t last
        while r < self.references.shape[0] and self.reference_groups[r] < self.groups[p]:
            r += 1
        last = r
        while last < self.references.shape[0] and self.reference_groups[last] == self.groups[p]:
            last += 1
        return r, last


cdef int _plain_matches(Rows rows, Room *room, Pairing pairing, int32_t *matches) except -1 nogil:
    cdef const int32_t *ids = &rows.ids[0] if rows.ids.shape[0] else NULL
    cdef const int64_t *offsets = &rows.offsets[0]
    cdef const int64_t *texts = &pairing.candidates[0]
    cdef int64_t orders = pairing.orders, group, low, high, i, q, tokens, types, mask, size
    cdef int64_t last
    cdef Py_ssize_t p = 0, first, end = 0, number = pairing.candidates.shape[0], work = 0
    while p < number:
        group = pairing.groups[p]
        first, end = pairing.own(p, end)
        tokens = 0
        for q in range(first, end):
            tokens += offsets[pairing.references[q] + 1] - offsets[pairing.references[q]]
        answer_after(&work, STEPS * tokens)
        if end - first == 1 and tokens <= PLACES:
            low = offsets[pairing.references[first]]
            for i in range(tokens):
                room.places[ids[low + i]] |= <uint64_t>1 << i
            while p < number and pairing.groups[p] == group:
                last = offsets[texts[p] + 1] - offsets[texts[p]]
                _match_places(
                    room, ids + offsets[texts[p]], last, orders, 0, matches + p * orders, NULL
                )
                answer_after(&work, STEPS * last)
                p += 1
            for i in range(tokens):
                room.places[ids[low + i]] = 0
        else:
            _for_sequence(room, tokens)
            types = size = 0
            for q in range(first, end):
                low, high = offsets[pairing.references[q]], offsets[pairing.references[q] + 1]
                types = _number_types(room, ids, low, high, types)
            types += 1
            mask = _for_grams(room, tokens, types, orders)
            size = types
            for q in range(first, end):
                low, high = offsets[pairing.references[q]], offsets[pairing.references[q] + 1]
                _copy_numbers(room, ids, low, high, room.sequence)
                _count_reference(room, room.sequence, high - low, orders, types, mask, &size)
            while p < number and pairing.groups[p] == group:
                low, high = offsets[texts[p]], offsets[texts[p] + 1]
                _for_sequence(room, high - low)
                _copy_numbers(room, ids, low, high, room.sequence)
                _count_candidate(
                    room, high - low, orders, types, mask, matches + p * orders, NULL
                )
                answer_after(&work, STEPS * (high - low))
                p += 1
            for q in range(first, end):
                low, high = offsets[pairing.references[q]], offsets[pairing.references[q] + 1]
                _forget_types(room, ids, low, high)
    return 0


@cython.final
cdef class _Fates:
    """What becomes of each token, and how many mask ids it is then; kept where nothing is said."""

    cdef int8_t[::1] of
    cdef int32_t[::1] runs

    def __cinit__(self, Py_ssize_t tokens, bint words):
        self.of = np.zeros(tokens, dtype=np.int8)
        self.runs = np.ones(tokens * (not words), dtype=np.int32)


@cython.final
cdef class MaskedRows:
    """Rows of ids whose tokens may be masked.

    Args:
        rows: the ids.
        offsets: int64 [T + 1], bounds of the tokens of each row.
        starts: int64 [tokens], where each token begins in the ids; none where every token is one
            id, and every mask is one. What stands between tokens stays.
        ends: int64 [tokens], where it ends.
    """

    cdef Rows rows
    cdef const int64_t[::1] offsets, starts, ends
    cdef bint words
    cdef Py_ssize_t size
    cdef _Fates spare

    def __cinit__(self, Rows rows not None, offsets, starts=None, ends=None):
        cdef Py_ssize_t tokens = len(rows.ids) if starts is None else len(starts)
        self.rows, self.words, self.size = rows, starts is None, tokens
        self.offsets = bounds_of(offsets, tokens, "offsets of tokens", len(rows))
        if self.words:
            check(np.array_equal(self.offsets, rows.offsets), "offsets of tokens: not those of ids")
        else:
            self.starts = whole(starts, np.int64, "starts")
            self.ends = whole(ends, np.int64, "ends")
            check(len(self.ends) == tokens, f"ends: {tokens} wanted, {len(self.ends)} given")
            self.inside()

    cdef int inside(self) except -1:
        """Check that tokens stand one after the other in their rows."""
        cdef Py_ssize_t text, row
        cdef int64_t at
        for text in range(self.offsets.shape[0] - 1):
            at = self.rows.offsets[text]
            for row in range(self.offsets[text], self.offsets[text + 1]):
                _check_order(at <= self.starts[row] <= self.ends[row], row)
                at = self.ends[row]
            _check_order(at <= self.rows.offsets[text + 1], self.offsets[text + 1] - 1)
        return 0

    def matches(
        self, tokens, fates, runs, candidates, groups, references, reference_groups, int orders
    ):
        """Clipped matches of masked candidates with the masked references of their group.

        What is private matches nothing, so that the matches without a shared mask are those that
        are left if the shared masks were private ones: an oracle and its anti-oracle in one go.

        Args:
            tokens: int64 [M], tokens that are not kept.
            fates: int8 [M], SHARED, PRIVATE or LEFT_OUT; what is left out goes with what stands
                between it and the token before.
            runs: int32 [M], how many mask ids each becomes; none: one.
            candidates: as for :meth:`Rows.matches`, like all that follow.
            groups: likewise.
            references: likewise.
            reference_groups: likewise.
            orders: likewise.

        Returns:
            Matches, matches without a mask: int32 [P, orders] each; lengths of the candidates [P]
            and of the references [R], int64.

        Raises:
            TypeError: an array holds no whole numbers.
            ValueError: there is no such token, fate or row, or groups do not ascend.
        """
        cdef Pairing pairing = Pairing(
            candidates, groups, references, reference_groups, len(self.rows), orders
        )
        cdef const int64_t[::1] masked = numbers(tokens, np.int64, self.size, "tokens")
        cdef const int8_t[::1] fate = numbers(fates, np.int8, 4, "fates")
        cdef const int32_t[::1] run = None
        cdef Py_ssize_t k, number = pairing.candidates.shape[0]
        check(len(fate) == len(masked), f"fates: {len(masked)} wanted, {len(fate)} given")
        if runs is not None:
            run = numbers(runs, np.int32, INT32_MAX, "runs")
            check(not self.words, "runs: none where every token is one id")
            check(len(run) == len(masked), f"runs: {len(masked)} wanted, {len(run)} given")
        total = np.zeros((number, orders), dtype=np.int32)
        plain = np.zeros((number, orders), dtype=np.int32)
        lengths = np.zeros(number, dtype=np.int64)
        reference_lengths = np.zeros(len(pairing.references), dtype=np.int64)
        cdef int32_t[:, ::1] matches = total, unmasked = plain
        cdef int64_t[::1] own = lengths, theirs = reference_lengths
        cdef _Room room = self.rows.borrow()
        cdef _Fates edits = self.spare
        self.spare = None
        if edits is None:
            edits = _Fates(self.size, self.words)
        with nogil:
            for k in range(masked.shape[0]):
                edits.of[masked[k]] = fate[k]
            if run is not None:
                for k in range(masked.shape[0]):
                    edits.runs[masked[k]] = run[k]
            if number:
                _masked_matches(
                    self, edits, &room.of, pairing, &matches[0, 0], &unmasked[0, 0], &own[0],
                    &theirs[0] if theirs.shape[0] else NULL,
                )
            for k in range(masked.shape[0]):
                edits.of[masked[k]] = FATE_KEPT
            if run is not None:
                for k in range(masked.shape[0]):
                    edits.runs[masked[k]] = 1
        # what was interrupted is not given back: it is not as it was before
        self.spare, self.rows.spare = edits, room
        return total, plain, lengths, reference_lengths


cdef int _check_order(bint fine, Py_ssize_t token) except -1:
    if not fine:
        raise ValueError(f"token {token} does not stand in its row, behind the one before")
    return 0


cdef inline int64_t _edit_words(
    MaskedRows masked, _Fates edits, int64_t text, int32_t shared, int32_t private,
    const int32_t *local, int32_t *sequence,
) except -1 nogil:
    """One side of a variant where every token is one id; ids by their number in ``local``."""
    cdef int64_t row, n = 0
    cdef int8_t fate
    cdef int32_t one
    for row in range(masked.offsets[text], masked.offsets[text + 1]):
        if not (row + 1) % IDS:
            answer_signals()
        fate = edits.of[row]
        if fate == FATE_KEPT:
            one = masked.rows.ids[row]
            sequence[n] = one if local == NULL else local[one] - 1
            n += 1
        elif fate != FATE_LEFT_OUT:
            sequence[n] = shared if fate == FATE_SHARED else private
            n += 1
    return n


cdef int64_t _edit_parts(
    MaskedRows masked, _Fates edits, int64_t text, int32_t shared, Room *room, int32_t *sequence
) except -1 nogil:
    """One side of a variant where tokens are several ids: -1 matches nothing."""
    cdef const int32_t *ids = &masked.rows.ids[0] if masked.rows.ids.shape[0] else NULL
    cdef int64_t row, n = 0, at = masked.rows.offsets[text], begin, end
    cdef int8_t fate
    for row in range(masked.offsets[text], masked.offsets[text + 1]):
        if not (row + 1) % IDS:
            answer_signals()
        fate = edits.of[row]
        # what is kept of what stands before the token, and of itself
        begin = at if fate != FATE_LEFT_OUT else masked.ends[row]
        end = masked.ends[row] if fate == FATE_KEPT else masked.starts[row]
        if begin < end:
            _copy_numbers(room, ids, begin, end, sequence + n)
            n += end - begin
        if fate != FATE_KEPT and fate != FATE_LEFT_OUT:
            n += _repeat(shared if fate == FATE_SHARED else -1, edits.runs[row], sequence + n)
        at = masked.ends[row]
    end = masked.rows.offsets[text + 1]
    _copy_numbers(room, ids, at, end, sequence + n)
    return n + end - at


cdef inline int32_t _repeat(int32_t id, int32_t times, int32_t *sequence) except -1 nogil:
    cdef int32_t i
    for i in range(times):
        if not (i + 1) % IDS:
            answer_signals()
        sequence[i] = id
    return times


cdef inline int64_t _edit(
    MaskedRows masked, _Fates edits, int64_t text, int32_t shared, Room *room, int32_t *sequence
) except -1 nogil:
    """One side of a variant: -1 matches nothing, ``shared`` is the shared mask."""
    if masked.words:
        return _edit_words(masked, edits, text, shared, -1, room.local, sequence)
    return _edit_parts(masked, edits, text, shared, room, sequence)


cdef int64_t _longest(MaskedRows masked, _Fates edits, int64_t text) noexcept nogil:
    """A length that one side of a variant does not exceed."""
    cdef int64_t row, room = masked.rows.offsets[text + 1] - masked.rows.offsets[text]
    if not masked.words:
        for row in range(masked.offsets[text], masked.offsets[text + 1]):
            room += edits.runs[row] if edits.of[row] else 0
    return room


cdef int _masked_matches(
    MaskedRows masked, _Fates edits, Room *room, Pairing pairing, int32_t *total, int32_t *plain,
    int64_t *lengths, int64_t *reference_lengths,
) except -1 nogil:
    cdef const int32_t *ids = &masked.rows.ids[0] if masked.rows.ids.shape[0] else NULL
    cdef const int64_t *offsets = &masked.rows.offsets[0]
    cdef int64_t orders = pairing.orders, group, i, q, text, tokens, types, mask, size, length, at
    cdef int32_t width = <int32_t>masked.rows.width
    cdef Py_ssize_t p = 0, first, end = 0, number = pairing.candidates.shape[0], work = 0
    cdef uint64_t marked
    while p < number:
        group = pairing.groups[p]
        first, end = pairing.own(p, end)
        text = pairing.references[first] if first < end else 0
        if masked.words and end - first == 1 and offsets[text + 1] - offsets[text] <= PLACES:
            # the place behind the ids is the shared mask; the one behind that nobody has
            _for_sequence(room, PLACES)
            _for_touched(room, PLACES)
            length = _edit_words(masked, edits, text, width, width + 1, NULL, room.touched)
            reference_lengths[first] = length
            for i in range(length):
                if room.touched[i] <= width:
                    room.places[room.touched[i]] |= <uint64_t>1 << i
            marked = room.places[width]
            while p < number and pairing.groups[p] == group:
                text = pairing.candidates[p]
                _for_sequence(room, offsets[text + 1] - offsets[text])
                lengths[p] = _edit_words(
                    masked, edits, text, width, width + 1, NULL, room.sequence
                )
                _match_places(
                    room, room.sequence, lengths[p], orders, marked, total + p * orders,
                    plain + p * orders,
                )
                answer_after(&work, STEPS * lengths[p])
                p += 1
            for i in range(length):
                room.places[room.touched[i]] = 0
            continue
        tokens = types = 0
        for q in range(first, end):
            text = pairing.references[q]
            tokens += _longest(masked, edits, text)
            types = _number_types(room, ids, offsets[text], offsets[text + 1], types)
        _for_sequence(room, tokens)
        at = 0
        for q in range(first, end):
            text = pairing.references[q]
            length = _edit(masked, edits, text, <int32_t>types, room, room.sequence + at)
            reference_lengths[q] = length
            at += length
        types += 1
        mask = _for_grams(room, at, types, orders)
        size = types
        at = 0
        for q in range(first, end):
            _count_reference(
                room, room.sequence + at, reference_lengths[q], orders, types, mask, &size
            )
            at += reference_lengths[q]
        answer_after(&work, STEPS * tokens)
        while p < number and pairing.groups[p] == group:
            text = pairing.candidates[p]
            _for_sequence(room, _longest(masked, edits, text))
            length = _edit(masked, edits, text, <int32_t>(types - 1), room, room.sequence)
            lengths[p] = length
            _count_candidate(
                room, length, orders, types, mask, total + p * orders, plain + p * orders
            )
            answer_after(&work, STEPS * length)
            p += 1
        for q in range(first, end):
            text = pairing.references[q]
            _forget_types(room, ids, offsets[text], offsets[text + 1])
    return 0


# Words to characters, and tokens under spans.


def spelled(words, bounds, codes):
    """The characters of words, one after the other.

    Args:
        words: int32 [W], words by number.
        bounds: int64 [V + 1], bounds of each word in ``codes``.
        codes: int32, the characters of all words.

    Returns:
        int32, the characters; int64 [W + 1], the bounds of each word in them.
    """
    cdef const int32_t[::1] code = whole(codes, np.int32, "codes")
    cdef const int64_t[::1] bound = bounds_of(bounds, len(code), "bounds")
    cdef const int32_t[::1] word = numbers(words, np.int32, len(bound) - 1, "words")
    cdef Py_ssize_t w, number = word.shape[0]
    cdef int64_t low, i, at
    made_ends = np.zeros(number + 1, dtype=np.int64)
    cdef int64_t[::1] ends = made_ends
    for w in range(number):
        ends[w + 1] = ends[w] + bound[word[w] + 1] - bound[word[w]]
    made = np.empty(ends[number], dtype=np.int32)
    cdef int32_t[::1] characters = made
    with nogil:
        for w in range(number):
            low, at = bound[word[w]], ends[w]
            for i in range(ends[w + 1] - at):
                characters[at + i] = code[low + i]
    return made, made_ends


def covered_tokens(offsets, starts, ends, span_text, span_group, span_start, span_end):
    """Tokens that share a character with the spans of a group, by text, group and token.

    Args:
        offsets: int64 [T + 1], bounds of the tokens of each text.
        starts: int32 [tokens], first character of each; never decreasing within a text.
        ends: int32 [tokens].
        span_text: int32 [S], ascending.
        span_group: int32 [S], ascending within a text.
        span_start: int32 [S], ascending within a group; spans of a group do not overlap.
        span_end: int32 [S].

    Returns:
        Token (row), first span that meets it (row), number of its characters in spans of the
        group: int64 each.

    Raises:
        TypeError: an array holds no whole numbers.
        ValueError: lengths differ, offsets do not ascend, or there is no such text.
    """
    cdef const int32_t[::1] start = whole(starts, np.int32, "starts")
    cdef const int32_t[::1] end = whole(ends, np.int32, "ends")
    cdef const int64_t[::1] bound = bounds_of(offsets, len(start), "offsets")
    cdef const int32_t[::1] text = numbers(span_text, np.int32, len(bound) - 1, "span_text")
    cdef const int32_t[::1] group = whole(span_group, np.int32, "span_group")
    cdef const int32_t[::1] low = whole(span_start, np.int32, "span_start")
    cdef const int32_t[::1] high = whole(span_end, np.int32, "span_end")
    check(len(end) == len(start), f"ends: {len(start)} wanted, {len(end)} given")
    for name, one in (("span_group", group), ("span_start", low), ("span_end", high)):
        check(len(one) == len(text), f"{name}: {len(text)} wanted, {len(one)} given")
    cdef Py_ssize_t spans = text.shape[0], s, room = spans + spans // 2 + 16
    cdef int64_t at = 0, row, last, characters, made = 0, mine = 0
    found = np.empty((3, room), dtype=np.int64)
    cdef int64_t[:, ::1] rows = found
    for s in range(spans):
        last = bound[text[s] + 1]
        if s == 0 or text[s] != text[s - 1] or group[s] != group[s - 1]:
            at, mine = bound[text[s]], made
        while at < last and end[at] <= low[s]:
            at += 1
        if made + last - at > room:
            room = 2 * (made + last - at)
            larger = np.empty((3, room), dtype=np.int64)
            larger[:, :made] = found[:, :made]
            found = rows = larger
        row = at
        while row < last and start[row] < high[s]:
            characters = <int64_t>min(end[row], high[s]) - max(start[row], low[s])
            if characters > 0:
                if made > mine and rows[0, made - 1] == row:
                    rows[2, made - 1] += characters
                else:
                    rows[0, made], rows[1, made], rows[2, made] = row, s, characters
                    made += 1
            row += 1
    return found[0, :made], found[1, :made], found[2, :made]
