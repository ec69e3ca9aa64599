"""Compiled loops: splitting and interning text, counting n-grams, finding masked tokens.

Each of them has a plain twin that defines what it computes; tests hold the two equal. They return
whole numbers only, of which one formula elsewhere makes scores: compiled logarithms and numpy's
differ in the last digit. This module imports numba: get it from
:func:`gnomon.metrics._compiled.kernels`, which knows when that pays. Arrays are one-dimensional
and contiguous unless said otherwise.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = [
    "CHRF",
    "DIGIT",
    "DOT",
    "HYPHEN",
    "KEPT",
    "LEFT_OUT",
    "PRIVATE",
    "PUNCTUATION",
    "SHARED",
    "SPACE",
    "SYMBOL",
    "T13A",
    "WORDS",
    "clipped_matches",
    "covered_tokens",
    "masked_matches",
    "spelled",
    "split",
]

#: classes of characters, bits
SPACE, SYMBOL, DOT, DIGIT, HYPHEN, PUNCTUATION = 1, 2, 4, 8, 16, 32
#: rules of splitting
WORDS, T13A, CHRF = 0, 1, 2
#: what happens to a token; the first three are those of ``masking.Action``
KEPT, SHARED, PRIVATE, LEFT_OUT = 0, 1, 2, 3

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIXER = np.uint64(0xC2B2AE3D27D4EB4F)
_BYTE, _REST, _HALF, _NEXT = np.uint64(8), np.uint64(56), np.uint64(32), np.uint64(1)
_OTHER = np.uint64(255)
_NARROW = 256
_GAP = -1
#: characters that a key holds beside the length
_HELD = 15
#: tokens interned between looks at the room that is left
_CHUNK = 4096


@njit(cache=True, nogil=True)
def _mixed(high, low):
    value = (high * _GOLDEN) ^ low
    return (value ^ (value >> _HALF)) * _MIXER


@njit(cache=True, nogil=True)
def _key(codes, start, end):
    """A key of two numbers, and whether it tells all of the token: 15 bytes and its length.

    The last byte of any other key is 255, so that it is none of these.
    """
    high = low = np.uint64(0)
    wide = np.uint32(0)
    for i in range(start, end):
        wide |= codes[i]
        high = (high << _BYTE) | (low >> _REST)
        low = (low << _BYTE) | np.uint64(codes[i])
    if wide < _NARROW and end - start <= _HELD:
        return (high << _BYTE) | (low >> _REST), (low << _BYTE) | np.uint64(end - start), True
    high, low = np.uint64(0), _MIXER
    for i in range(start, end):
        low = (low ^ np.uint64(codes[i])) * _GOLDEN
        high = (high ^ low) * _MIXER
        high ^= high >> _HALF
    return high, low | _OTHER, False


@njit(cache=True, nogil=True)
def _same(codes, start, end, store, low, high):
    if high - low != end - start:
        return False
    same = True
    for i in range(end - start):
        same = same and store[low + i] == codes[start + i]
    return same


@njit(cache=True, nogil=True)
def _grown_slots(slots, keys, known, wanted):
    size = len(slots)
    while size < 2 * (known + wanted):
        size *= 2
    if size == len(slots):
        return slots
    grown = np.full(size, -1, dtype=np.int32)
    mask = np.uint64(size - 1)
    for number in range(known):
        slot = (_mixed(keys[2 * number + 1], keys[2 * number]) >> _HALF) & mask
        while grown[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        grown[slot] = number
    return grown


@njit(cache=True, nogil=True)
def _grown(values, used, wanted):
    if used + wanted <= len(values):
        return values
    grown = np.empty(2 * (used + wanted), dtype=values.dtype)
    grown[:used] = values[:used]
    return grown


@njit(cache=True, nogil=True)
def _is(code, classes, kind):
    return code < len(classes) and (classes[code] & kind) != 0


@njit(cache=True, nogil=True)
def _spaced_symbols(codes, start, end, classes, out):
    """Positions of a word with gaps around every symbol (13a's first rule)."""
    out[0] = _GAP
    n = 1
    for i in range(start, end):
        if _is(codes[i], classes, SYMBOL):
            out[n], out[n + 1], out[n + 2] = _GAP, i, _GAP
            n += 3
        else:
            out[n] = i
            n += 1
    out[n] = _GAP
    return n + 1


@njit(cache=True, nogil=True)
def _kind(codes, place, classes, kind):
    return place >= 0 and _is(codes[place], classes, kind)


@njit(cache=True, nogil=True)
def _spaced_pairs(codes, classes, rule, places, n, out):
    """One of 13a's rules on two neighbouring characters, left to right, none used twice.

    Rule 0: a dot or comma not after a digit; 1: one not before a digit; 2: a hyphen after a digit.
    """
    i = m = 0
    while i < n:
        first = places[i]
        if i + 1 < n:
            second = places[i + 1]
            if rule == 0:
                hit = _kind(codes, second, classes, DOT) and not _kind(codes, first, classes, DIGIT)
            elif rule == 1:
                hit = _kind(codes, first, classes, DOT) and not _kind(codes, second, classes, DIGIT)
            else:
                hit = _kind(codes, first, classes, DIGIT) and _kind(codes, second, classes, HYPHEN)
            if hit:
                if rule == 1:
                    out[m], out[m + 1], out[m + 2], out[m + 3] = _GAP, first, _GAP, second
                else:
                    out[m], out[m + 1], out[m + 2], out[m + 3] = first, _GAP, second, _GAP
                m += 4
                i += 2
                continue
        out[m] = first
        m += 1
        i += 1
    return m


@njit(cache=True, nogil=True)
def _simple_pieces_13a(codes, start, end, classes, out):
    """13a's tokens where its rules do not meet: no two dots in a row, no hyphen after a digit.

    A symbol stands alone, and so does a dot or comma that is not between two digits. Returns 0
    where two dots meet.
    """
    pieces = 0
    first = start
    for i in range(start, end):
        kind = classes[codes[i]] if codes[i] < len(classes) else 0
        if kind & DOT:
            after = classes[codes[i + 1]] if i + 1 < end and codes[i + 1] < len(classes) else 0
            if after & DOT:
                return 0
            if after & DIGIT and i > start and _is(codes[i - 1], classes, DIGIT):
                continue
        elif not kind & SYMBOL:
            continue
        if first < i:
            out[2 * pieces], out[2 * pieces + 1] = first, i
            pieces += 1
        out[2 * pieces], out[2 * pieces + 1] = i, i + 1
        pieces += 1
        first = i + 1
    if first < end:
        out[2 * pieces], out[2 * pieces + 1] = first, end
        pieces += 1
    return pieces


@njit(cache=True, nogil=True)
def _pieces_13a(codes, start, end, flags, classes, one, two):
    """Bounds of the tokens of a word under 13a, written to ``one`` as start, end, start, ..."""
    if flags & DIGIT == 0 or flags & HYPHEN == 0:
        pieces = _simple_pieces_13a(codes, start, end, classes, one)
        if pieces:
            return pieces
    n = _spaced_symbols(codes, start, end, classes, one)
    n = _spaced_pairs(codes, classes, 0, one, n, two)
    n = _spaced_pairs(codes, classes, 1, two, n, one)
    n = _spaced_pairs(codes, classes, 2, one, n, two)
    pieces = 0
    i = 0
    while i < n:
        if two[i] < 0:
            i += 1
            continue
        first = two[i]
        while i < n and two[i] >= 0:
            last = two[i]
            i += 1
        one[2 * pieces], one[2 * pieces + 1] = first, last + 1
        pieces += 1
    return pieces


@njit(cache=True, nogil=True)
def _pieces_chrf(codes, start, end, classes, out):
    """The words of chrF: one punctuation mark comes off the end, else off the beginning."""
    out[0], out[1] = start, end
    if end - start < 2:
        return 1
    if _is(codes[end - 1], classes, PUNCTUATION):
        out[1], out[2], out[3] = end - 1, end - 1, end
        return 2
    if _is(codes[start], classes, PUNCTUATION):
        out[1], out[2], out[3] = start + 1, start + 1, end
        return 2
    return 1


@njit(cache=True, nogil=True)
def _scan(codes, texts, classes, rule, starts, ends, counts):
    """Find the tokens of some texts: places in ``codes``, and how many each text has."""
    one = np.empty(4096, dtype=np.int64)
    two = np.empty(4096, dtype=np.int64)
    made = 0
    for t in range(len(texts) - 1):
        before = made
        i, high = texts[t], texts[t + 1]
        while i < high:
            code = codes[i]
            if code < len(classes) and classes[code] & SPACE:
                i += 1
                continue
            begin = i
            flags = 0
            while i < high:
                code = codes[i]
                if code < len(classes):
                    kind = classes[code]
                    if kind & SPACE:
                        break
                    flags |= kind
                i += 1
            if rule == WORDS or flags == 0:
                starts[made], ends[made] = begin, i
                made += 1
                continue
            if 24 * (i - begin) + 32 > len(one):
                one = np.empty(24 * (i - begin) + 32, dtype=np.int64)
                two = np.empty(24 * (i - begin) + 32, dtype=np.int64)
            if rule == T13A:
                pieces = _pieces_13a(codes, begin, i, flags, classes, one, two)
            else:
                pieces = _pieces_chrf(codes, begin, i, classes, one)
            for piece in range(pieces):
                starts[made], ends[made] = one[2 * piece], one[2 * piece + 1]
                made += 1
        counts[t] = made - before
    return made


@njit(cache=True, nogil=True)
def _intern(codes, starts, ends, ids, known, slots, keys, bounds, store):
    """Number some tokens; there must be room for as many new ones."""
    mask = np.uint64(len(slots) - 1)
    for token in range(len(starts)):
        start, end = starts[token], ends[token]
        high, low, exact = _key(codes, start, end)
        slot = (_mixed(high, low) >> _HALF) & mask
        while True:
            number = np.int64(slots[slot])
            if number < 0:
                slots[slot] = number = known
                keys[2 * number], keys[2 * number + 1] = low, high
                at = bounds[number]
                store[at : at + end - start] = codes[start:end]
                bounds[number + 1] = at + end - start
                known += 1
                break
            hit = keys[2 * number] == low and keys[2 * number + 1] == high
            if hit and (
                exact or _same(codes, start, end, store, bounds[number], bounds[number + 1])
            ):
                break
            slot = (slot + _NEXT) & mask
        ids[token] = number
    return known


@njit(cache=True, nogil=True)
def split(codes, texts, classes, rule, known, slots, keys, bounds, store):
    """Split texts into tokens and intern these.

    Args:
        codes: uint32, the code points of all texts.
        texts: int64 [T + 1], bounds of the texts in ``codes``.
        classes: uint8, bits by code point; beyond its end a character has no class.
        rule: WORDS, T13A or CHRF.
        known: tokens interned before.
        slots: int32, hash table of a power of two of slots.
        keys: uint64, two of each token.
        bounds: int64, bounds of each token in ``store``.
        store: uint32, the code points of the tokens.

    Returns:
        Tokens per text, ids, starts and ends within the text, then known, slots, keys, bounds and
        store as they are now.
    """
    counts = np.zeros(len(texts) - 1, dtype=np.int64)
    starts = np.empty(len(codes), dtype=np.int32)
    ends = np.empty(len(codes), dtype=np.int32)
    made = _scan(codes, texts, classes, rule, starts, ends, counts)
    ids = np.empty(made, dtype=np.int32)
    for first in range(0, made, _CHUNK):
        last = min(first + _CHUNK, made)
        keys = _grown(keys, 2 * known, 2 * (last - first))
        bounds = _grown(bounds, known + 1, last - first)
        store = _grown(store, bounds[known], ends[last - 1] - starts[first])
        slots = _grown_slots(slots, keys, known, last - first)
        known = _intern(
            codes, starts[first:last], ends[first:last], ids[first:last], known, slots, keys,
            bounds, store,
        )  # fmt: skip
    at = 0
    for t in range(len(counts)):
        for token in range(at, at + counts[t]):
            starts[token] -= texts[t]
            ends[token] -= texts[t]
        at += counts[t]
    return counts, ids, starts[:made].copy(), ends[:made].copy(), known, slots, keys, bounds, store


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
    slot = np.int64((np.uint64(key) * _GOLDEN) >> _HALF) & mask
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
    p = r = 0
    while p < len(texts):
        group = groups[p]
        while r < len(references) and reference_groups[r] < group:
            r += 1
        first = r
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
