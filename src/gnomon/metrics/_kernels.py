"""Compiled loops: splitting and interning text, counting n-grams, finding masked tokens.

Each of them has a plain twin that defines what it computes; tests hold the two equal. They return
whole numbers only, of which one formula elsewhere makes scores: compiled logarithms and numpy's
differ in the last digit. This module imports numba: get it from
:func:`gnomon.metrics._compiled.kernels`, which knows when that pays. Arrays are one-dimensional
and contiguous unless said otherwise.
"""

from __future__ import annotations

import numpy as np

from gnomon.loops import intrinsic, njit

__all__ = [
    "CHRF",
    "KEPT",
    "LEFT_OUT",
    "PRIVATE",
    "SHARED",
    "T13A",
    "WORDS",
    "clipped_matches",
    "covered_tokens",
    "masked_matches",
    "moved",
    "number",
    "spelled",
    "split",
]

#: rules of splitting
WORDS, T13A, CHRF = 0, 1, 2
#: what happens to a token; the first three are those of ``masking.Action``
KEPT, SHARED, PRIVATE, LEFT_OUT = 0, 1, 2, 3

_NONE, _ONE, _LAST = np.uint64(0), np.uint64(1), np.uint64(63)
_TWOS, _FOURS = np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
_PAIRS, _BYTES = np.uint64(0x5555555555555555), np.uint64(0x0101010101010101)
_BY2, _BY3, _BY4 = np.uint64(2), np.uint64(3), np.uint64(4)
_BY8, _BY32, _BY56 = np.uint64(8), np.uint64(32), np.uint64(56)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIXER = np.uint64(0xC2B2AE3D27D4EB4F)
_OTHER = np.uint64(255 << 56)
#: UTF-8: how many characters take one byte, the first byte of characters of two and three, and
#: what the first and others tell
_ASCII = 0x80
_TWO_BYTES, _THREE_BYTES, _LEAD_BITS, _BITS = 0xC0, 0xE0, 0x1F, 0x3F
#: bytes that a key holds beside their number
_HELD = 15
#: tokens of a reference whose places fit into a word
_PLACES = 64


@njit(cache=True, nogil=True)
def _ones(bits):
    """How many bits are set."""
    bits = bits - ((bits >> _ONE) & _PAIRS)
    bits = (bits & _TWOS) + ((bits >> _BY2) & _TWOS)
    bits = (bits + (bits >> _BY4)) & _FOURS
    return np.int64((bits * _BYTES) >> _BY56)


@njit(cache=True, nogil=True)
def _lowest(bits):
    """Place of the lowest bit that is set."""
    return _ones(~bits & (bits - _ONE))


@intrinsic
def _between(_context, codes, _at, _low, _high):
    """Which of 64 bytes from a place on lie between two values, the first byte lowest."""
    from llvmlite import ir
    from numba import types

    def build(context, builder, signature, arguments):
        bytes_, lanes = ir.VectorType(ir.IntType(8), 64), ir.VectorType(ir.IntType(32), 64)
        some = _loaded(context, builder, signature, arguments, bytes_)
        low, high = (builder.trunc(value, bytes_.element) for value in arguments[2:])

        def every(value):
            one = builder.insert_element(
                ir.Constant(bytes_, ir.Undefined), value, ir.IntType(32)(0)
            )
            return builder.shuffle_vector(one, one, ir.Constant(lanes, [0] * 64))

        above = builder.sub(some, every(low))
        inside = builder.icmp_unsigned("<=", above, every(builder.sub(high, low)))
        return builder.bitcast(inside, ir.IntType(64))

    return types.uint64(codes, types.intp, types.intp, types.intp), build


@intrinsic
def _eight(_context, codes, _at):
    """Eight bytes from a place on, the first one lowest."""
    from llvmlite import ir
    from numba import types

    def build(context, builder, signature, arguments):
        return _loaded(context, builder, signature, arguments, ir.IntType(64))

    return types.uint64(codes, types.intp), build


def _loaded(context, builder, signature, arguments, kind):
    codes = context.make_array(signature.args[0])(context, builder, arguments[0])
    place = builder.gep(codes.data, [arguments[1]])
    return builder.load(builder.bitcast(place, kind.as_pointer()), align=1)


@njit(cache=True, nogil=True)
def _blank(codes, place, spaces):
    """How many bytes white space has that begins at a place; 0 where none does."""
    code, width = np.int64(codes[place]), 1
    if _ASCII <= code < _TWO_BYTES:  # within a character
        return 0
    if code >= _TWO_BYTES:
        wide = code >= _THREE_BYTES
        code, width = (code & _LEAD_BITS) << 6 | (codes[place + 1] & _BITS), 2
        if wide:
            code, width = code << 6 | (codes[place + 2] & _BITS), 3
    return width if code < len(spaces) and spaces[code] else 0


@njit(cache=True, nogil=True)
def _is_dot(code):
    return code in (44, 46)


@njit(cache=True, nogil=True)
def _is_digit(code):
    return 48 <= code <= 57


@njit(cache=True, nogil=True)
def _is_mark(code):
    return 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126


@njit(cache=True, nogil=True)
def _holds_digit(codes, dot):
    """Whether the digit after several dots stays with the last of them.

    13a parts a dot from the character before that is no digit, in pairs from the left, so that
    every second one is left with what follows.
    """
    first = dot
    while first > 0 and _is_dot(codes[first - 1]):
        first -= 1
    after_digit = first > 0 and _is_digit(codes[first - 1])
    return after_digit == ((dot - first) % 2 == 0)


@njit(cache=True, nogil=True)
def _ends_plain(codes, place, spaces):
    """Whether the last byte of the word at a place is no punctuation mark."""
    while not _blank(codes, place + 1, spaces):
        place += 1
    return not _is_mark(codes[place])


@njit(cache=True, nogil=True)
def _spaces(codes, base, spaces, spilled):
    """Which of 64 bytes belong to white space, and which of the next 64 do for that."""
    space = _between(codes, base, 9, 13) | _between(codes, base, 28, 32) | spilled
    spilled = _NONE
    leads = _between(codes, base, 0xC2, 0xC2) | _between(codes, base, 0xE1, 0xE3)
    while leads:
        lead = _lowest(leads)
        width = _blank(codes, base + lead, spaces)
        if width:
            own = (_ONE << np.uint64(width)) - _ONE
            space |= own << np.uint64(lead)
            if lead + width > 64:
                spilled = own >> np.uint64(64 - lead)
        leads &= leads - _ONE
    return space, spilled


@njit(cache=True, nogil=True)
def split(codes, size, spaces, rule, bounds, begins, ends):
    """Find the tokens of some texts.

    13a: a symbol is a token, and so is a dot or comma that is not between two digits, and a hyphen
    after a digit. chrF: one punctuation mark comes off the end of a word, else off its beginning.

    Args:
        codes: uint8, UTF-8 of the texts with a newline after each, then blanks, then at least 64
            bytes more.
        size: where the blanks end, a multiple of 64.
        spaces: bool, which code points are white space; beyond its end none is.
        rule: WORDS, T13A or CHRF.
        bounds: int64 [T + 1], to write to: bounds of the tokens of each text.
        begins: int32, to write to: the first byte of each token.
        ends: int32, to write to: the byte after its last one.

    Returns:
        The number of tokens.
    """
    begun = ended = text = 0
    spilled, gap, inside, carried, digit, dot = _NONE, _ONE, _NONE, _NONE, _NONE, _NONE
    bounds[0] = 0
    for base in range(0, size, 64):
        space, spilled = _spaces(codes, base, spaces, spilled)
        starts = (space << _ONE) | gap
        gap = space >> _LAST
        if rule == T13A:
            dots = _between(codes, base, 44, 44) | _between(codes, base, 46, 46)
            digits = _between(codes, base, 48, 57)
            before = (digits << _ONE) | digit
            after = (digits >> _ONE) | (np.uint64(_is_digit(codes[base + 64])) << _LAST)
            apart = _between(codes, base, 33, 38) | _between(codes, base, 40, 43)
            apart |= _between(codes, base, 47, 47) | _between(codes, base, 58, 64)
            apart |= _between(codes, base, 91, 96) | _between(codes, base, 123, 126)
            apart |= dots & ~(before & after)
            apart |= _between(codes, base, 45, 45) & before
            starts |= apart | carried
            several = dots & ((dots << _ONE) | dot) & after
            while several:
                if _holds_digit(codes, base + _lowest(several)):
                    apart &= ~(several & (_NONE - several))
                several &= several - _ONE
            starts |= apart << _ONE
            carried, digit, dot = apart >> _LAST, digits >> _LAST, dots >> _LAST
        elif rule == CHRF:
            marks = _between(codes, base, 33, 47) | _between(codes, base, 58, 64)
            marks |= _between(codes, base, 91, 96) | _between(codes, base, 123, 126)
            next_blank = _blank(codes, base + 64, spaces) != 0
            final = (space >> _ONE) | (np.uint64(next_blank) << _LAST)
            some = marks & starts & ~final
            apart = _NONE
            while some:
                if _ends_plain(codes, base + _lowest(some), spaces):
                    apart |= some & (_NONE - some)
                some &= some - _ONE
            starts |= (marks & final) | (apart << _ONE) | carried
            carried = apart >> _LAST
        starts &= ~space
        stops = ((~space << _ONE) | inside) & (space | starts)
        inside = ~space >> _LAST
        lines = _between(codes, base, 10, 10)
        while lines:
            text += 1
            bounds[text] = begun + _ones(starts & (lines ^ (lines - _ONE)))
            lines &= lines - _ONE
        while starts:
            begins[begun] = base + _lowest(starts)
            begun += 1
            starts &= starts - _ONE
        while stops:
            ends[ended] = base + _lowest(stops)
            ended += 1
            stops &= stops - _ONE
    return begun


@njit(cache=True, nogil=True)
def _first(word, size):
    """Fewer than eight of its bytes."""
    return word & ((_ONE << (np.uint64(size) << _BY3)) - _ONE)


@njit(cache=True, nogil=True)
def _key(codes, start, size):
    """A key of two numbers: all bytes of a token, and how many; of a long one something like it."""
    if size <= _HELD:  # no branch on its length, which nothing foretells
        own = ~_NONE >> np.uint64(64 - 8 * min(size, 8))
        rest = _first(_eight(codes, start + 8), max(size, 8) - 8)
        return _eight(codes, start) & own, rest | np.uint64(size) << _BY56
    low, high = _MIXER, _NONE
    for at in range(0, size, 8):
        part = _eight(codes, start + at)
        low = (low ^ (part if size - at >= 8 else _first(part, size - at))) * _GOLDEN
        high = (high ^ low) * _MIXER
        high ^= high >> _BY32
    return low, high | _OTHER


@njit(cache=True, nogil=True)
def _same(codes, start, size, store, bounds, token):
    low = bounds[token]
    same = bounds[token + 1] - low == size
    for i in range(size):
        same = same and store[low + i] == codes[start + i]
    return same


@njit(cache=True, nogil=True)
def _slot(low, high, slots):
    """Where to look for a key first: as the highest bits say, on which all of the key tells."""
    mixed = ((low ^ (high * _GOLDEN)) * _MIXER) >> _BY32
    return np.int64((mixed * np.uint64(len(slots))) >> _BY32)


@njit(cache=True, nogil=True)
def moved(slots, keys, new_slots, new_keys):
    """Move all tokens to a larger table."""
    for old in range(len(slots)):
        if keys[2 * old + 1]:
            slot = _slot(keys[2 * old], keys[2 * old + 1], new_slots)
            while new_keys[2 * slot + 1]:
                slot = (slot + 1) & (len(new_slots) - 1)
            new_slots[slot] = slots[old]
            new_keys[2 * slot], new_keys[2 * slot + 1] = keys[2 * old], keys[2 * old + 1]


@njit(cache=True, nogil=True)
def number(codes, begins, ends, ids, done, known, slots, keys, bounds, store):
    """Number tokens as they come, each distinct one once, until there is no room for another.

    Args:
        codes: uint8, what :func:`split` read, and at least 16 bytes more.
        begins: int32 [tokens].
        ends: int32 [tokens].
        ids: int32 [tokens], to write to.
        done: tokens that have their number.
        known: distinct tokens so far.
        slots: int32, hash table of a power of two of slots: numbers of tokens.
        keys: uint64, two for each slot, 0 where no token is.
        bounds: int64, bounds of each distinct token in ``store``.
        store: uint8, bytes of the distinct tokens.

    Returns:
        How many tokens have their number, how many distinct ones there are.
    """
    for token in range(done, len(ids)):
        start = np.int64(begins[token])
        size = ends[token] - start
        low, high = _key(codes, start, size)
        slot = _slot(low, high, slots)
        while True:
            if keys[2 * slot] == low and keys[2 * slot + 1] == high:
                found = slots[slot]
                if size <= _HELD or _same(codes, start, size, store, bounds, found):
                    break
            elif keys[2 * slot + 1] == _NONE:
                at = bounds[known]
                if 2 * known >= len(slots) or known + 2 > len(bounds) or at + size > len(store):
                    return token, known
                slots[slot] = found = np.int32(known)
                keys[2 * slot], keys[2 * slot + 1] = low, high
                for i in range(size):
                    store[at + i] = codes[start + i]
                bounds[known + 1] = at + size
                known += 1
                break
            slot = (slot + 1) & (len(slots) - 1)
        ids[token] = found
    return len(ids), known


@njit(cache=True, nogil=True)
def _grown(values, used, wanted):
    if used + wanted <= len(values):
        return values
    grown = np.empty(2 * (used + wanted), dtype=values.dtype)
    grown[:used] = values[:used]
    return grown


@njit(cache=True, nogil=True)
def spelled(words, bounds, codes):
    """The characters of words, one after the other.

    Args:
        words: int32 [W], words by number.
        bounds: int64, bounds of each word in ``codes``.
        codes: int32, the characters of all words.

    Returns:
        int32, the characters; int64 [W + 1], the bounds of each word in them.
    """
    ends = np.empty(len(words) + 1, dtype=np.int64)
    ends[0] = 0
    for w in range(len(words)):
        ends[w + 1] = ends[w] + bounds[words[w] + 1] - bounds[words[w]]
    characters = np.empty(ends[-1], dtype=np.int32)
    for w in range(len(words)):
        low, at = bounds[words[w]], ends[w]
        for i in range(ends[w + 1] - at):
            characters[at + i] = codes[low + i]
    return characters, ends


@njit(cache=True, nogil=True)
def _rank(key, keys, ranks, mask):
    """Slot of a key; its rank is -1 where the key is new."""
    slot = np.int64((np.uint64(key) * _GOLDEN) >> _BY32) & mask
    while ranks[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def _count_references(sequence, lengths, orders, types, keys, ranks, mask, most, here, masked):
    """Rank every n-gram of some references; count it in the one that has it most often.

    Single ids are their own ranks, below ``types``; ``types - 1`` is the shared mask.
    """
    size = types
    at = 0
    for length in lengths:
        for i in range(at, at + length):
            rank = sequence[i]
            if rank < 0:
                continue
            here[rank] += 1
            for j in range(i + 1, min(i + orders, at + length)):
                last = sequence[j]
                if last < 0:
                    break
                key = rank * types + last
                slot = _rank(key, keys, ranks, mask)
                if ranks[slot] < 0:
                    keys[slot], ranks[slot] = key, size
                    masked[size] = masked[rank] or last == types - 1
                    size += 1
                rank = np.int64(ranks[slot])
                here[rank] += 1
        for i in range(at, at + length):
            rank = sequence[i]
            if rank < 0:
                continue
            most[rank] = max(most[rank], here[rank])
            here[rank] = 0
            for j in range(i + 1, min(i + orders, at + length)):
                if sequence[j] < 0:
                    break
                rank = np.int64(ranks[_rank(rank * types + sequence[j], keys, ranks, mask)])
                most[rank] = max(most[rank], here[rank])
                here[rank] = 0
        at += length
    return size


@njit(cache=True, nogil=True)
def _count_candidate(
    sequence, length, orders, types, keys, ranks, mask, most, seen, masked, touched, total, plain
):
    """Add a candidate's clipped matches: all of them, and those without a mask."""
    marks = 0
    for i in range(length):
        rank = sequence[i]
        if rank < 0:
            continue
        order = 0
        while True:
            if seen[rank] < most[rank]:
                total[order] += 1
                if not masked[rank]:
                    plain[order] += 1
            if seen[rank] == 0:
                touched[marks] = rank
                marks += 1
            seen[rank] += 1
            order += 1
            if order == orders or i + order >= length or sequence[i + order] < 0:
                break
            slot = _rank(rank * types + sequence[i + order], keys, ranks, mask)
            if ranks[slot] < 0:
                break
            rank = np.int64(ranks[slot])
    for i in range(marks):
        seen[touched[i]] = 0


@njit(cache=True, nogil=True)
def _slots_for(tokens, orders):
    size = 64
    while size < 2 * tokens * (orders - 1):
        size *= 2
    return size


@njit(cache=True, nogil=True)
def _taken(taken, ends):
    """Take one of the places that are still free."""
    free = ends & ~taken
    return taken | (free & (_NONE - free))


@njit(cache=True, nogil=True)
def _match_places(ids, start, end, places, windows, marked, matches, plain):
    """Clipped matches of a candidate with a reference of up to 64 tokens.

    A word of 64 bits says where in the reference an n-gram ends: one place further than the n-gram
    without its last token, if that token is there. Each n-gram of the candidate takes one of its
    places that are still free, so that equal ones match as often as both sides have them. Four
    orders are counted at a time; ``windows`` keeps the ends of the last one for the next four.
    ``plain`` are the matches without those n-grams that hold one of the places ``marked``.
    """
    held = _NONE
    for order in range(0, len(matches), 4):
        one = two = three = four = _NONE
        first = second = third = fourth = _NONE
        before = _NONE if order else ~_NONE
        for i in range(end - start):
            here = places[ids[start + i]]
            four = (three << _ONE) & here
            three = (two << _ONE) & here
            two = (one << _ONE) & here
            one = before & here
            first, second = _taken(first, one), _taken(second, two)
            third, fourth = _taken(third, three), _taken(fourth, four)
            if order:
                before = windows[i] << _ONE
            windows[i] = four
        for more, taken in enumerate((first, second, third, fourth)):
            if order + more < len(matches):
                held = held << _ONE | marked
                matches[order + more] = _ones(taken)
                plain[order + more] = _ones(taken & ~held)


@njit(cache=True, nogil=True)
def clipped_matches(
    ids, width, starts, ends, groups, reference_starts, reference_ends, reference_groups, orders
):
    """Clipped matches of candidates with the references of their group.

    Args:
        ids: int32, ids of all sequences, 0 to width - 1.
        width: number of ids.
        starts: int64 [P], where each candidate begins in ``ids``.
        ends: int64 [P], where it ends.
        groups: int64 [P], ascending.
        reference_starts: int64 [R].
        reference_ends: int64 [R].
        reference_groups: int64 [R], ascending.
        orders: length of the longest n-grams.

    Returns:
        int32 [P, orders].
    """
    matches = np.zeros((len(starts), orders), dtype=np.int32)
    places, windows = np.zeros(width, dtype=np.uint64), np.empty(64, dtype=np.uint64)
    local = np.full(width, -1, dtype=np.int32)
    keys, ranks = np.empty(64, dtype=np.int64), np.full(64, -1, dtype=np.int32)
    most, here = np.zeros(64, dtype=np.int32), np.zeros(64, dtype=np.int32)
    masked = np.zeros(64, dtype=np.bool_)
    sequence, touched = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    lengths = np.empty(16, dtype=np.int64)
    unused = np.zeros(orders, dtype=np.int32)
    p = r = 0
    while p < len(starts):
        group = groups[p]
        while r < len(reference_starts) and reference_groups[r] < group:
            r += 1
        first = r
        tokens = 0
        while r < len(reference_starts) and reference_groups[r] == group:
            tokens += reference_ends[r] - reference_starts[r]
            r += 1
        if r - first == 1 and tokens <= _PLACES:
            begin = reference_starts[first]
            for place in range(tokens):
                places[ids[begin + place]] |= _ONE << np.uint64(place)
            while p < len(starts) and groups[p] == group:
                windows = _grown(windows, 0, ends[p] - starts[p])
                _match_places(ids, starts[p], ends[p], places, windows, _NONE, matches[p], unused)
                p += 1
            for place in range(tokens):
                places[ids[begin + place]] = _NONE
            continue
        sequence = _grown(sequence, 0, tokens)
        lengths = _grown(lengths, 0, r - first)
        types = at = 0
        for q in range(first, r):
            lengths[q - first] = reference_ends[q] - reference_starts[q]
            for i in range(reference_starts[q], reference_ends[q]):
                if local[ids[i]] < 0:
                    local[ids[i]] = types
                    types += 1
                sequence[at] = local[ids[i]]
                at += 1
        types += 1
        slots = _slots_for(tokens, orders)
        if slots > len(keys):
            keys, ranks = np.empty(slots, dtype=np.int64), np.empty(slots, dtype=np.int32)
        ranks[:slots] = -1
        cells = types + tokens * (orders - 1)
        if cells > len(most):
            most, here = np.empty(2 * cells, dtype=np.int32), np.empty(2 * cells, dtype=np.int32)
            masked = np.zeros(2 * cells, dtype=np.bool_)
        most[:cells], here[:cells] = 0, 0
        mask = slots - 1
        _count_references(
            sequence, lengths[: r - first], orders, types, keys, ranks, mask, most, here, masked
        )
        while p < len(starts) and groups[p] == group:
            length = ends[p] - starts[p]
            sequence = _grown(sequence, 0, length)
            touched = _grown(touched, 0, length * orders)
            for i in range(length):
                sequence[i] = local[ids[starts[p] + i]]
            _count_candidate(
                sequence, length, orders, types, keys, ranks, mask, most, here, masked, touched,
                matches[p], unused,
            )  # fmt: skip
            p += 1
        for q in range(first, r):
            for i in range(reference_starts[q], reference_ends[q]):
                local[ids[i]] = -1
    return matches


@njit(cache=True, nogil=True)
def _edit(text, rows, starts, ends, ids, fates, runs, local, shared, sequence):
    """One side of a variant as local ids: -1 matches nothing, ``shared`` is the shared mask."""
    n = 0
    for row in range(rows[text], rows[text + 1]):
        fate = fates[row]
        if fate == KEPT:
            for i in range(starts[row], ends[row]):
                sequence[n] = local[ids[i]]
                n += 1
        elif fate != LEFT_OUT:
            put = shared if fate == SHARED else -1
            for _ in range(runs[row]):
                sequence[n] = put
                n += 1
    return n


@njit(cache=True, nogil=True)
def _edit_words(first, last, ids, fates, local, shared, sequence):
    """Likewise where every token is one id and every mask is one."""
    n = 0
    for row in range(first, last):
        fate = fates[row]
        if fate == KEPT:
            sequence[n] = local[ids[row]]
            n += 1
        elif fate != LEFT_OUT:
            sequence[n] = shared if fate == SHARED else -1
            n += 1
    return n


@njit(cache=True, nogil=True)
def _room(text, rows, starts, ends, fates, runs):
    """Length of one side of a variant."""
    room = 0
    for row in range(rows[text], rows[text + 1]):
        if fates[row] == KEPT:
            room += ends[row] - starts[row]
        elif fates[row] != LEFT_OUT:
            room += runs[row]
    return room


@njit(cache=True, nogil=True)
def _is_short(references, groups, first, group, rows):
    """Whether a group has one reference, of no more words than places fit into a word."""
    if first >= len(references) or groups[first] != group:
        return False
    if first + 1 < len(references) and groups[first + 1] == group:
        return False
    return rows[references[first] + 1] - rows[references[first]] <= _PLACES


@njit(cache=True, nogil=True)
def masked_matches(
    ids, width, rows, starts, ends, words, fates, runs, texts, groups, references,
    reference_groups, orders,
):  # fmt: skip
    """Clipped matches of masked candidates with the masked references of their group.

    What is private matches nothing, so that the matches without a shared mask are those that are
    left if the shared masks were private ones: an oracle and its anti-oracle in one go.

    Args:
        ids: int32, ids of all texts, 0 to width - 1.
        width: number of ids.
        rows: int64 [T + 1], bounds of the tokens of each text.
        starts: int64 [tokens], where each token begins in ``ids``.
        ends: int64 [tokens], where it ends.
        words: every token is one id, its own row, and every mask is one.
        fates: int8 [tokens], KEPT, SHARED, PRIVATE or LEFT_OUT.
        runs: int32 [tokens], how many mask ids a masked token becomes.
        texts: int64 [P], candidates.
        groups: int64 [P], ascending.
        references: int64 [R], texts.
        reference_groups: int64 [R], ascending.
        orders: length of the longest n-grams.

    Returns:
        Matches, matches without a mask: int32 [P, orders] each; lengths of the candidates [P] and
        of the references [R].
    """
    total = np.zeros((len(texts), orders), dtype=np.int32)
    plain = np.zeros((len(texts), orders), dtype=np.int32)
    candidate_lengths = np.zeros(len(texts), dtype=np.int64)
    lengths = np.zeros(len(references), dtype=np.int64)
    local = np.full(width, -1, dtype=np.int32)
    keys, ranks = np.empty(64, dtype=np.int64), np.full(64, -1, dtype=np.int32)
    most, here = np.zeros(64, dtype=np.int32), np.zeros(64, dtype=np.int32)
    masked = np.zeros(64, dtype=np.bool_)
    sequence, touched = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    # where ids stand in a short reference; then its shared masks; -1, which is last, nowhere
    places, windows = np.zeros(width + 2, dtype=np.uint64), np.empty(64, dtype=np.uint64)
    itself = np.arange(width * words)
    p = r = 0
    while p < len(texts):
        group = groups[p]
        while r < len(references) and reference_groups[r] < group:
            r += 1
        first = r
        if words and _is_short(references, reference_groups, first, group, rows):
            text = references[first]
            lengths[first] = length = _edit_words(
                rows[text], rows[text + 1], ids, fates, itself, width, sequence
            )
            for place in range(length):
                if sequence[place] >= 0:
                    places[sequence[place]] |= _ONE << np.uint64(place)
            marked = places[width]
            while p < len(texts) and groups[p] == group:
                text = texts[p]
                room = rows[text + 1] - rows[text]
                touched, windows = _grown(touched, 0, room), _grown(windows, 0, room)
                room = _edit_words(rows[text], rows[text + 1], ids, fates, itself, width, touched)
                _match_places(touched, 0, room, places, windows, marked, total[p], plain[p])
                candidate_lengths[p] = room
                p += 1
            for place in range(length):
                if sequence[place] >= 0:
                    places[sequence[place]] = _NONE
            r += 1
            continue
        tokens = types = 0
        while r < len(references) and reference_groups[r] == group:
            text = references[r]
            tokens += (
                rows[text + 1] - rows[text]
                if words
                else _room(text, rows, starts, ends, fates, runs)
            )
            for row in range(rows[text], rows[text + 1]):
                if fates[row] == KEPT:
                    for i in range(starts[row], ends[row]):
                        if local[ids[i]] < 0:
                            local[ids[i]] = types
                            types += 1
            r += 1
        sequence = _grown(sequence, 0, tokens)
        tokens = 0
        for q in range(first, r):
            text = references[q]
            if words:
                lengths[q] = _edit_words(
                    rows[text], rows[text + 1], ids, fates, local, types, sequence[tokens:]
                )
            else:
                lengths[q] = _edit(
                    text, rows, starts, ends, ids, fates, runs, local, types, sequence[tokens:]
                )
            tokens += lengths[q]
        types += 1
        slots = _slots_for(tokens, orders)
        if slots > len(keys):
            keys, ranks = np.empty(slots, dtype=np.int64), np.empty(slots, dtype=np.int32)
        ranks[:slots] = -1
        cells = types + tokens * (orders - 1)
        if cells > len(most):
            most, here = np.empty(2 * cells, dtype=np.int32), np.empty(2 * cells, dtype=np.int32)
            masked = np.zeros(2 * cells, dtype=np.bool_)
        most[:cells], here[:cells], masked[: types - 1] = 0, 0, False
        masked[types - 1] = True
        mask = slots - 1
        _count_references(
            sequence, lengths[first:r], orders, types, keys, ranks, mask, most, here, masked
        )
        while p < len(texts) and groups[p] == group:
            text = texts[p]
            if words:
                room = rows[text + 1] - rows[text]
            else:
                room = _room(text, rows, starts, ends, fates, runs)
            sequence = _grown(sequence, 0, room)
            touched = _grown(touched, 0, room * orders)
            if words:
                room = _edit_words(
                    rows[text], rows[text + 1], ids, fates, local, types - 1, sequence
                )
            else:
                _edit(text, rows, starts, ends, ids, fates, runs, local, types - 1, sequence)
            candidate_lengths[p] = room
            _count_candidate(
                sequence, room, orders, types, keys, ranks, mask, most, here, masked, touched,
                total[p], plain[p],
            )  # fmt: skip
            p += 1
        for q in range(first, r):
            text = references[q]
            for row in range(rows[text], rows[text + 1]):
                if fates[row] == KEPT:
                    for i in range(starts[row], ends[row]):
                        local[ids[i]] = -1
    return total, plain, candidate_lengths, lengths


@njit(cache=True, nogil=True)
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
    """
    size = len(span_text) + len(span_text) // 2 + 16
    token = np.empty(size, dtype=np.int64)
    span = np.empty(size, dtype=np.int64)
    shared = np.empty(size, dtype=np.int64)
    made = mine = 0
    at = np.int64(0)
    for s in range(len(span_text)):
        low, high = offsets[span_text[s]], offsets[span_text[s] + 1]
        new = s == 0 or span_text[s] != span_text[s - 1] or span_group[s] != span_group[s - 1]
        if new:
            at, mine = low, made
        while at < high and ends[at] <= span_start[s]:
            at += 1
        token, span = _grown(token, made, high - at), _grown(span, made, high - at)
        shared = _grown(shared, made, high - at)
        row = at
        while row < high and starts[row] < span_end[s]:
            characters = min(ends[row], span_end[s]) - max(starts[row], span_start[s])
            if characters > 0:
                if made > mine and token[made - 1] == row:
                    shared[made - 1] += characters
                else:
                    token[made], span[made], shared[made] = row, s, characters
                    made += 1
            row += 1
    return token[:made], span[:made], shared[:made]
