"""Texts to tokens: read where Python keeps them, split, numbered.

Some texts at a time become UTF-8 with a newline after each, which is looked at 64 bytes at a time:
comparing bytes gives words of 64 bits, and shifting these beside each other tells where tokens
begin and end. What tells equal tokens is their bytes: a token of up to 15 is its own key, any other
is compared byte by byte, so that no hash decides.
"""

cimport cython
from cython.view cimport array
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

import numpy as np

from gnomon.native._bits cimport ones
from gnomon.native._signals cimport answer_signals

__all__ = ["CHRF", "T13A", "WORDS", "Distinct", "places_of", "tokens_of"]

#: rules of splitting
WORDS, T13A, CHRF = 0, 1, 2

cdef extern from "Python.h":
    void *PyUnicode_DATA(object text)
    int PyUnicode_KIND(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    int PyUnicode_READY(object text) except -1
    void *PyTuple_GET_ITEM(tuple items, Py_ssize_t item)

cdef extern from "bytes.h" nogil:
    ctypedef struct Blanks:
        uint64_t space
        uint64_t line
        uint64_t wide

    ctypedef struct Signs:
        uint64_t mark
        uint64_t quote
        uint64_t dot
        uint64_t hyphen
        uint64_t digit

    int lowest(uint64_t bits)
    Blanks blanks_at(const uint8_t *at)
    uint64_t wide_blanks_at(const uint8_t *at)
    Signs signs_at(const uint8_t *at)
    uint64_t eight_at(const uint8_t *at)
    void SOON(const void *at)
    uint64_t hash_of(const uint8_t *at, int64_t size)
    bint holds_special(const uint8_t *at, int64_t size)
    uint8_t *utf8_of_one(const uint8_t *source, int64_t length, uint8_t *to)
    uint8_t *utf8_of_two(const uint16_t *source, int64_t length, uint8_t *to)
    uint8_t *utf8_of_four(const uint32_t *source, int64_t length, uint8_t *to)

cdef enum:
    RULE_WORDS = 0
    RULE_13A = 1
    RULE_CHRF = 2
    #: bytes that are looked at together
    TOGETHER = 64
    #: bytes from which on no more texts are read before those at hand are split
    ENOUGH = 1 << 14
    #: texts that are gathered at a time
    TEXTS = 4096
    #: bytes, and tokens, between two looks for an interruption
    BYTES = 1 << 24
    TOKENS = 1 << 20
    #: tokens whose places in the table are asked for ahead
    AHEAD = 64
    #: characters of the longest text
    LONGEST = 1 << 28
    #: bytes that a key holds beside their number
    HELD = 15


cdef void *_larger(void *old, Py_ssize_t size) except NULL with gil:
    cdef void *made = PyMem_RawRealloc(old, size)
    if made == NULL:
        raise MemoryError
    return made


# What is white space, and where tokens begin and end.


cdef inline int _wide_blank(const uint8_t *at) noexcept nogil:
    """How many bytes white space of several bytes has that begins here; 0 where none does."""
    if at[0] == 0xC2:
        return 2 if at[1] == 0x85 or at[1] == 0xA0 else 0
    if at[0] == 0xE1:
        return 3 if at[1] == 0x9A and at[2] == 0x80 else 0
    if at[0] == 0xE2:
        if at[1] == 0x80:
            return 3 if at[2] <= 0x8A or at[2] == 0xA8 or at[2] == 0xA9 or at[2] == 0xAF else 0
        return 3 if at[1] == 0x81 and at[2] == 0x9F else 0
    if at[0] == 0xE3:
        return 3 if at[1] == 0x80 and at[2] == 0x80 else 0
    return 0


cdef inline bint _blank(const uint8_t *at) noexcept nogil:
    """Whether white space begins here."""
    if at[0] < 0x80:
        return 9 <= at[0] <= 13 or 28 <= at[0] <= 32
    return _wide_blank(at) != 0


cdef inline bint _is_dot(uint8_t code) noexcept nogil:
    return code == 44 or code == 46


cdef inline bint _is_digit(uint8_t code) noexcept nogil:
    return 48 <= code <= 57


cdef inline bint _is_mark(uint8_t code) noexcept nogil:
    return 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126


cdef bint _holds_digit(const uint8_t *codes, Py_ssize_t dot) noexcept nogil:
    """Whether the digit after several dots stays with the last of them.

    13a parts a dot from the character before that is no digit, in pairs from the left, so that
    every second one is left with what follows.
    """
    cdef Py_ssize_t first = dot
    while first > 0 and _is_dot(codes[first - 1]):
        first -= 1
    cdef bint after_digit = first > 0 and _is_digit(codes[first - 1])
    return after_digit == ((dot - first) % 2 == 0)


cdef bint _ends_plain(const uint8_t *codes, Py_ssize_t place) noexcept nogil:
    """Whether the last byte of the word at a place is no punctuation mark."""
    while not _blank(codes + place + 1):
        place += 1
    return not _is_mark(codes[place])


cdef Py_ssize_t _split(
    const uint8_t *codes, Py_ssize_t size, int rule, int64_t *bounds, int32_t *begins, int32_t *ends
) noexcept nogil:
    """Find the tokens of some texts; return how many there are.

    13a: a symbol is a token, and so is a dot or comma that is not between two digits, and a hyphen
    after a digit. chrF: one punctuation mark comes off the end of a word, else off its beginning.

    Args:
        codes: UTF-8 of the texts with a newline after each, then blanks, then 128 bytes more.
        size: where the blanks end, a multiple of 64.
        rule: as above.
        bounds: to write to: the bounds of the tokens of each text.
        begins: to write to: the first byte of each token.
        ends: to write to: the byte after its last one.
    """
    cdef Py_ssize_t begun = 0, ended = 0, text = 0, base
    cdef uint64_t spilled = 0, gap = 1, inside = 0, carried = 0, digit = 0, dot = 0
    cdef uint64_t space, starts, stops, leads, own, before, after, apart, several, some, final
    cdef int lead, width
    cdef Blanks blanks
    cdef Signs signs
    bounds[0] = 0
    for base in range(0, size, 64):
        blanks = blanks_at(codes + base)
        space = blanks.space | spilled
        spilled = 0
        if blanks.wide:
            leads = wide_blanks_at(codes + base)
            while leads:
                lead = lowest(leads)
                width = _wide_blank(codes + base + lead)
                if width:
                    own = (<uint64_t>1 << width) - 1
                    space |= own << lead
                    if lead + width > 64:
                        spilled = own >> (64 - lead)
                leads &= leads - 1
        starts = space << 1 | gap
        gap = space >> 63
        if rule == RULE_13A:
            signs = signs_at(codes + base)
            before = signs.digit << 1 | digit
            after = signs.digit >> 1 | <uint64_t>_is_digit(codes[base + 64]) << 63
            apart = signs.mark & ~(signs.quote | signs.dot | signs.hyphen)
            apart |= signs.dot & ~(before & after)
            apart |= signs.hyphen & before
            starts |= apart | carried
            several = signs.dot & (signs.dot << 1 | dot) & after
            while several:
                if _holds_digit(codes, base + lowest(several)):
                    apart &= ~(several & (0 - several))
                several &= several - 1
            starts |= apart << 1
            carried, digit, dot = apart >> 63, signs.digit >> 63, signs.dot >> 63
        elif rule == RULE_CHRF:
            signs = signs_at(codes + base)
            final = space >> 1 | <uint64_t>_blank(codes + base + 64) << 63
            some = signs.mark & starts & ~final
            apart = 0
            while some:
                if _ends_plain(codes, base + lowest(some)):
                    apart |= some & (0 - some)
                some &= some - 1
            starts |= signs.mark & final | apart << 1 | carried
            carried = apart >> 63
        starts &= ~space
        stops = (~space << 1 | inside) & (space | starts)
        inside = ~space >> 63
        while blanks.line:
            text += 1
            bounds[text] = begun + ones(starts & (blanks.line ^ (blanks.line - 1)))
            blanks.line &= blanks.line - 1
        while starts:
            begins[begun] = <int32_t>(base + lowest(starts))
            begun += 1
            starts &= starts - 1
        while stops:
            ends[ended] = <int32_t>(base + lowest(stops))
            ended += 1
            stops &= stops - 1
    return begun


# Numbers of tokens.


cdef struct Key:
    # all bytes of a token of up to 15, and how many; something like it of a longer one
    uint64_t low
    uint64_t high  # 0 where no token is


cdef inline uint64_t _first(uint64_t word, int size) noexcept nogil:
    """Fewer than eight of its bytes."""
    return word & ((<uint64_t>1 << (size << 3)) - 1)


cdef inline Key _key(const uint8_t *at, int64_t size) noexcept nogil:
    """The key of a token; up to 15 bytes behind it are read."""
    cdef Key key
    cdef uint64_t part
    cdef int64_t k
    if size <= HELD:  # no branch on its length, which nothing foretells
        key.low = eight_at(at) & ~<uint64_t>0 >> (64 - 8 * min(size, 8))
        key.high = _first(eight_at(at + 8), <int>(max(size, 8) - 8)) | <uint64_t>size << 56
        return key
    key.low, key.high = 0xC2B2AE3D27D4EB4F, 0
    for k in range(0, size, 8):
        part = eight_at(at + k)
        if size - k < 8:
            part = _first(part, <int>(size - k))
        key.low = (key.low ^ part) * <uint64_t>0x9E3779B97F4A7C15
        key.high = (key.high ^ key.low) * <uint64_t>0xC2B2AE3D27D4EB4F
        key.high ^= key.high >> 32
    key.high |= <uint64_t>255 << 56
    return key


cdef inline uint64_t _mixed(Key key) noexcept nogil:
    """A hash of a key, best in its highest bits."""
    return (key.low ^ (key.high * <uint64_t>0x9E3779B97F4A7C15)) * <uint64_t>0xC2B2AE3D27D4EB4F


@cython.final
cdef class _Words:
    """Distinct tokens, numbered as they come."""

    cdef Key *keys  # a hash table of 2 ** bits slots, and the tokens in it
    cdef int32_t *slots
    cdef int64_t *bounds  # of each distinct token in the store
    cdef uint8_t *store
    cdef Py_ssize_t known, most, room
    cdef int bits

    def __cinit__(self, Py_ssize_t texts):
        self.bits = 7
        while self.bits < 13 and 8 * texts > 1 << self.bits:
            self.bits += 1
        self.most = 1 << self.bits - 1
        self.room = 16 * self.most
        self.keys = <Key *>PyMem_RawCalloc(<size_t>1 << self.bits, sizeof(Key))
        self.slots = <int32_t *>PyMem_RawMalloc((<size_t>1 << self.bits) * sizeof(int32_t))
        self.bounds = <int64_t *>PyMem_RawMalloc((self.most + 1) * sizeof(int64_t))
        self.store = <uint8_t *>PyMem_RawMalloc(self.room)
        if not (self.keys and self.slots and self.bounds and self.store):
            raise MemoryError
        self.bounds[0] = 0

    def __dealloc__(self):
        PyMem_RawFree(self.keys)
        PyMem_RawFree(self.slots)
        PyMem_RawFree(self.bounds)
        PyMem_RawFree(self.store)

    cdef int number(
        self, const uint8_t *codes, const int32_t *begins, const int32_t *ends, Py_ssize_t tokens,
        int32_t *ids,
    ) except -1 nogil:
        """Number some tokens of UTF-8 with 16 bytes more behind; each distinct one has one.

        Where the table is larger than the processor's cache, reading it takes most of the time: it
        is asked for some tokens ahead.
        """
        cdef Key[AHEAD] keys
        cdef uint64_t[AHEAD] hashes
        cdef Py_ssize_t first, token, some
        cdef int64_t size
        for first in range(0, tokens, 64):
            if not (first + 64) % TOKENS:
                answer_signals()
            some = min(<Py_ssize_t>AHEAD, tokens - first)
            for token in range(some):
                size = ends[first + token] - begins[first + token]
                keys[token] = _key(codes + begins[first + token], size)
                hashes[token] = _mixed(keys[token])
                SOON(self.keys + (hashes[token] >> (64 - self.bits)))
                SOON(self.slots + (hashes[token] >> (64 - self.bits)))
            for token in range(some):
                size = ends[first + token] - begins[first + token]
                ids[first + token] = self.token(
                    keys[token], hashes[token], codes + begins[first + token], size
                )
        return 0

    cdef inline int32_t token(
        self, Key key, uint64_t hashed, const uint8_t *at, int64_t size
    ) except? -1 nogil:
        """The number of a token."""
        cdef Py_ssize_t place = <Py_ssize_t>(hashed >> (64 - self.bits))
        cdef Py_ssize_t mask = (<Py_ssize_t>1 << self.bits) - 1
        cdef int32_t found
        while True:
            if self.keys[place].low == key.low and self.keys[place].high == key.high:
                found = self.slots[place]
                if size <= HELD or self.same(at, size, found):
                    return found
            elif self.keys[place].high == 0:
                found = <int32_t>self.known
                self.keys[place], self.slots[place] = key, found
                self.add(at, size)
                return found
            place = (place + 1) & mask

    cdef inline bint same(self, const uint8_t *at, int64_t size, int32_t token) noexcept nogil:
        cdef int64_t low = self.bounds[token]
        return self.bounds[token + 1] - low == size and not memcmp(self.store + low, at, size)

    cdef int add(self, const uint8_t *at, int64_t size) except -1 nogil:
        """Keep the bytes of a new token, and room for the next."""
        cdef int64_t end = self.bounds[self.known] + size
        if end > self.room:
            self.store = <uint8_t *>_larger(self.store, 2 * end)
            self.room = 2 * end
        memcpy(self.store + end - size, at, size)
        self.known += 1
        self.bounds[self.known] = end
        if self.known == self.most:
            self.grow()
        return 0

    cdef int grow(self) except -1 nogil:
        """Make the table twice as large."""
        cdef Key *keys
        cdef int32_t *slots
        cdef Py_ssize_t k, place, size = <Py_ssize_t>1 << self.bits, mask = 2 * size - 1
        if self.known > INT32_MAX // 4:
            with gil:
                raise OverflowError("more distinct tokens than whole numbers of 32 bits")
        self.bounds = <int64_t *>_larger(self.bounds, (2 * self.most + 1) * sizeof(int64_t))
        keys = <Key *>PyMem_RawCalloc(2 * size, sizeof(Key))
        slots = <int32_t *>PyMem_RawMalloc(2 * size * sizeof(int32_t))
        if keys == NULL or slots == NULL:
            PyMem_RawFree(keys)
            PyMem_RawFree(slots)
            with gil:
                raise MemoryError
        self.bits += 1
        self.most *= 2
        for k in range(size):
            if self.keys[k].high:
                place = <Py_ssize_t>(_mixed(self.keys[k]) >> (64 - self.bits))
                while keys[place].high:
                    place = (place + 1) & mask
                keys[place], slots[place] = self.keys[k], self.slots[k]
        PyMem_RawFree(self.keys)
        PyMem_RawFree(self.slots)
        self.keys, self.slots = keys, slots
        return 0


# Texts, some at a time.


cdef struct Text:
    const void *data
    Py_ssize_t length
    int kind  # bytes of each character
    bint moved  # lower-casing changed its length


cdef int _point(Text *found, object text, Py_ssize_t number) except -1:
    """Find the characters of a text, which has to stay while they are used."""
    if not isinstance(text, str):
        raise TypeError(f"text {number} is no str but {type(text).__name__}")
    PyUnicode_READY(text)
    found.data = PyUnicode_DATA(text)
    found.length = PyUnicode_GET_LENGTH(text)
    found.kind = PyUnicode_KIND(text)
    if found.length > LONGEST:
        raise ValueError(
            f"text {number} has {found.length} characters; {LONGEST} are allowed"
        )
    return 0


@cython.final
cdef class _Reader:
    """Texts as UTF-8, some at a time, and the tokens of these.

    Args:
        texts: the texts.
        rule: WORDS, T13A or CHRF.
        lowercase: lower-case first.
        reread: gives a text by number as it is to be split, where that is not how it stands there.
    """

    cdef tuple texts
    cdef object reread
    cdef list kept  # texts that are not among these, into which pointers point
    cdef int rule
    cdef bint lowercase
    cdef bint exact  # read what lower-casing moves again
    cdef Text *some  # the next texts, from the one with this number on
    cdef Py_ssize_t first, seen, held
    cdef uint8_t *codes
    cdef int32_t *begins
    cdef int32_t *ends
    cdef int64_t *bounds
    cdef Py_ssize_t room, used, made, tokens, unheeded

    def __cinit__(self, texts, int rule, bint lowercase, reread, bint exact):
        if not 0 <= rule <= 2:
            raise ValueError(f"rule {rule}: WORDS (0), T13A (1) or CHRF (2)")
        self.texts, self.rule, self.reread, self.exact = tuple(texts), rule, reread, exact
        self.kept = []
        self.lowercase = lowercase
        self.some = <Text *>PyMem_RawCalloc(TEXTS, sizeof(Text))
        self.bounds = <int64_t *>PyMem_RawMalloc((TEXTS + 1) * sizeof(int64_t))
        if self.some == NULL or self.bounds == NULL:
            raise MemoryError
        self.widen(ENOUGH)

    def __dealloc__(self):
        PyMem_RawFree(self.some)
        PyMem_RawFree(self.codes)
        PyMem_RawFree(self.begins)
        PyMem_RawFree(self.ends)
        PyMem_RawFree(self.bounds)

    cdef Py_ssize_t gather(self, Py_ssize_t first) except -1:
        """Find the next texts from one on."""
        cdef Py_ssize_t k
        cdef object text
        self.kept.clear()
        self.first, self.seen = first, 0
        self.held = min(<Py_ssize_t>TEXTS, len(self.texts) - first)
        for k in range(self.held):
            if k + 8 < self.held:
                SOON(PyTuple_GET_ITEM(self.texts, first + k + 8))
            text = self.texts[first + k]
            _point(&self.some[k], text, first + k)
            if self.lowercase:
                text = text.lower()
                self.kept.append(text)
                self.some[k].moved = len(text) != self.some[k].length
                _point(&self.some[k], text, first + k)
        return self.held

    cdef int widen(self, Py_ssize_t wanted) except -1 nogil:
        """Room for some more bytes, what is read behind them, and a token for each."""
        cdef Py_ssize_t room = self.used + wanted + 3 * TOGETHER
        if room > self.room:
            room += room // 2
            self.codes = <uint8_t *>_larger(self.codes, room)
            memset(self.codes + self.used, 0, room - self.used)
            self.begins = <int32_t *>_larger(self.begins, room * sizeof(int32_t))
            self.ends = <int32_t *>_larger(self.ends, room * sizeof(int32_t))
            self.room = room
        return 0

    cdef int write(self, Py_ssize_t k) except -1 nogil:
        """One text, without its newline."""
        cdef Text text = self.some[k]
        cdef uint8_t *at
        cdef uint8_t *end
        self.widen(text.length * (text.kind if text.kind == 4 else text.kind + 1) + 16)
        at = self.codes + self.used
        if text.kind == 1:
            end = utf8_of_one(<const uint8_t *>text.data, text.length, at)
        elif text.kind == 2:
            end = utf8_of_two(<const uint16_t *>text.data, text.length, at)
        else:
            end = utf8_of_four(<const uint32_t *>text.data, text.length, at)
        self.made = end - at
        return 0

    cdef bint special(self) noexcept nogil:
        """Whether the text that was written has a newline, or something that 13a replaces."""
        cdef Py_ssize_t k
        cdef const uint8_t *at = self.codes + self.used
        if not holds_special(at, self.made):
            return False
        for k in range(self.made):
            if at[k] == 10:
                return True
            if self.rule == RULE_13A and at[k] == 38 and (
                _stands(at + k, b"&quot;", 6, self.made - k)
                or _stands(at + k, b"&amp;", 5, self.made - k)
                or _stands(at + k, b"&lt;", 4, self.made - k)
                or _stands(at + k, b"&gt;", 4, self.made - k)
            ):
                return True
            if self.rule == RULE_13A and _stands(at + k, b"<skipped>", 9, self.made - k):
                return True
        return False

    cdef int again(self, Py_ssize_t k) except -1 with gil:
        """Take what is to be split of a text that is not how it stands there."""
        cdef object text = self.reread(self.first + k)
        self.kept.append(text)
        _point(&self.some[k], text, self.first + k)
        if "\n" in text:
            raise ValueError(f"text {self.first + k} has newlines when it is read again")
        return 0

    cdef Py_ssize_t more(self) except -1 nogil:
        """Read some of the texts that are left and split them; return how many."""
        cdef Py_ssize_t begun = self.seen, size
        self.used = 0
        while self.seen < self.held and self.used < ENOUGH:
            self.write(self.seen)
            if self.exact and self.some[self.seen].moved or self.special():
                self.again(self.seen)
                self.write(self.seen)
            self.used += self.made
            self.codes[self.used] = 10
            self.used += 1
            self.seen += 1
        size = self.used - self.used % TOGETHER + TOGETHER
        memset(self.codes + self.used, 32, size - self.used)
        self.tokens = _split(self.codes, size, self.rule, self.bounds, self.begins, self.ends)
        self.unheeded += self.used
        if self.unheeded > BYTES:
            self.unheeded = 0
            answer_signals()
        return self.seen - begun


cdef inline bint _stands(const uint8_t *at, const char *what, int size, Py_ssize_t left) noexcept nogil:
    return left >= size and memcmp(at, what, size) == 0


cdef struct Place:
    uint64_t hashed
    int32_t number  # from 1 on; 0: none


@cython.final
cdef class Distinct:
    """Distinct texts, numbered as they come.

    Attributes:
        texts: the texts, tuple of str.
    """

    cdef list seen  # nobody else may change it: the table points into these texts
    cdef Place *places  # a hash table of 2 ** bits places
    cdef Text *known
    cdef Py_ssize_t most
    cdef int bits

    def __cinit__(self):
        self.seen = []
        self.enlarge(7)

    def __dealloc__(self):
        PyMem_RawFree(self.places)
        PyMem_RawFree(self.known)

    @property
    def texts(self):
        return tuple(self.seen)

    cdef int enlarge(self, int bits) except -1:
        """Make the table as large."""
        cdef Place *old = self.places
        cdef Py_ssize_t k, place, size = <Py_ssize_t>1 << self.bits if old != NULL else 0
        if bits > 31:
            raise OverflowError("more distinct texts than whole numbers of 32 bits")
        self.known = <Text *>_larger(self.known, (<Py_ssize_t>1 << bits - 1) * sizeof(Text))
        self.places = <Place *>PyMem_RawCalloc(<size_t>1 << bits, sizeof(Place))
        if self.places == NULL:
            self.places = old
            raise MemoryError
        self.bits = bits
        self.most = <Py_ssize_t>1 << bits - 1
        for k in range(size):
            if old[k].number:
                place = old[k].hashed >> (64 - bits)
                while self.places[place].number:
                    place = (place + 1) & (2 * self.most - 1)
                self.places[place] = old[k]
        PyMem_RawFree(old)
        return 0

    def number(self, texts):
        """The number of each text, int32; equal texts have the same.

        Args:
            texts: of str; as many as one likes.

        Raises:
            TypeError: a text is no str.
        """
        cdef tuple some = tuple(texts)
        cdef Py_ssize_t total = len(some), first, k, ahead
        cdef Text[AHEAD] found
        cdef uint64_t[AHEAD] hashes
        numbers = np.empty(total, dtype=np.int32)
        cdef int32_t[::1] ids = numbers
        while self.most < len(self.seen) + total // 2 and self.bits < 17:
            self.enlarge(self.bits + 1)
        for first in range(0, total, 64):
            ahead = min(<Py_ssize_t>AHEAD, total - first)
            for k in range(ahead):
                SOON(PyTuple_GET_ITEM(some, first + k))
            for k in range(ahead):
                _point(&found[k], some[first + k], first + k)
                hashes[k] = hash_of(
                    <const uint8_t *>found[k].data, found[k].length * found[k].kind
                )
                SOON(self.places + (hashes[k] >> (64 - self.bits)))
            for k in range(ahead):
                ids[first + k] = self.one(&found[k], hashes[k], some[first + k])
        return numbers

    cdef int32_t one(self, const Text *text, uint64_t hashed, object itself) except? -1:
        cdef Py_ssize_t place
        cdef const Text *other
        if len(self.seen) == self.most:
            self.enlarge(self.bits + 1)
        place = <Py_ssize_t>(hashed >> (64 - self.bits))
        while self.places[place].number:
            if self.places[place].hashed == hashed:
                other = self.known + self.places[place].number - 1
                if other.data == text.data or (
                    other.length == text.length and other.kind == text.kind
                    and not memcmp(other.data, text.data, text.length * text.kind)
                ):
                    return self.places[place].number - 1
            place = (place + 1) & (2 * self.most - 1)
        self.known[len(self.seen)] = text[0]
        self.seen.append(itself)
        self.places[place].hashed = hashed
        self.places[place].number = <int32_t>len(self.seen)
        return <int32_t>len(self.seen) - 1


def tokens_of(texts, int rule, bint lowercase, reread):
    """The tokens of texts, numbered as they come.

    Args:
        texts: list or tuple of str.
        rule: WORDS (what stands between white space), T13A or CHRF.
        lowercase: lower-case first.
        reread: from the number of a text to what is to be split; asked for texts with newlines and,
            under T13A, with what 13a replaces; gives text without newlines.

    Returns:
        Bounds of the tokens of each text, int64 [T + 1]; their numbers, int32; the UTF-8 of the
        distinct tokens one after the other, uint8; and the bounds of each in it, int64.

    Raises:
        TypeError: a text is no str.
    """
    cdef _Reader reader = _Reader(texts, rule, lowercase, reread, False)
    cdef Py_ssize_t number = len(reader.texts), first, k, done, at = 0, total = 0, room = 0
    cdef _Words words = _Words(number)
    cdef int32_t *ids = NULL
    offsets = np.zeros(number + 1, dtype=np.int64)
    cdef int64_t[::1] ends = offsets
    try:
        for first in range(0, number, TEXTS):
            reader.gather(first)
            with nogil:
                while True:
                    done = reader.more()
                    if not done:
                        break
                    if total + reader.tokens > room:
                        room = 2 * (total + reader.tokens)
                        ids = <int32_t *>_larger(ids, room * sizeof(int32_t))
                    words.number(
                        reader.codes, reader.begins, reader.ends, reader.tokens, ids + total
                    )
                    for k in range(done):
                        ends[at + k + 1] = total + reader.bounds[k + 1]
                    total += reader.tokens
                    at += done
        return (
            offsets,
            _owned(&ids, total),
            _array(words.store, words.bounds[words.known], np.uint8),
            _array(words.bounds, words.known + 1, np.int64),
        )
    finally:
        PyMem_RawFree(ids)


cdef object _owned(int32_t **values, Py_ssize_t number):
    """An array that frees them."""
    cdef array made
    if not number:
        return np.empty(0, dtype=np.int32)
    values[0] = <int32_t *>_larger(values[0], number * sizeof(int32_t))
    made = array((number,), sizeof(int32_t), "i", "c", False)
    made.data, made.callback_free_data = <char *>values[0], PyMem_RawFree
    values[0] = NULL
    return np.asarray(made)


cdef object _array(void *values, Py_ssize_t number, kind):
    """A copy of them."""
    made = np.empty(number, dtype=kind)
    cdef uint8_t[::1] target = made.view(np.uint8)
    if number:
        memcpy(&target[0], values, target.shape[0])
    return made


def places_of(texts, int rule, bint lowercase, reread):
    """Where the tokens stand that :func:`tokens_of` finds, in characters.

    Args:
        texts: list or tuple of str.
        rule: as there.
        lowercase: as there.
        reread: as there; also asked for texts whose length lower-casing changes. The places of
            their tokens are those in what it gives.

    Returns:
        First character of each token and the one after its last, int32 each.
    """
    cdef _Reader reader = _Reader(texts, rule, lowercase, reread, True)
    cdef Py_ssize_t number = len(reader.texts), first, total = 0, room = 0
    cdef int32_t *starts = NULL
    cdef int32_t *ends = NULL
    try:
        for first in range(0, number, TEXTS):
            reader.gather(first)
            with nogil:
                while reader.more():
                    if total + reader.tokens > room:
                        room = 2 * (total + reader.tokens)
                        starts = <int32_t *>_larger(starts, room * sizeof(int32_t))
                        ends = <int32_t *>_larger(ends, room * sizeof(int32_t))
                    _locate(reader, starts + total, ends + total)
                    total += reader.tokens
        return _owned(&starts, total), _owned(&ends, total)
    finally:
        PyMem_RawFree(starts)
        PyMem_RawFree(ends)


cdef void _locate(_Reader reader, int32_t *starts, int32_t *ends) noexcept nogil:
    """Places in characters of the tokens that a reader found last."""
    cdef const uint8_t *codes = reader.codes
    cdef Py_ssize_t at = 0, token = 0
    cdef int32_t character = 0
    while token < reader.tokens:
        while at < reader.begins[token]:
            if codes[at] == 10:  # the next text
                character = 0
            else:
                character += (codes[at] & 0xC0) != 0x80
            at += 1
        starts[token] = character
        while at < reader.ends[token]:
            character += (codes[at] & 0xC0) != 0x80
            at += 1
        ends[token] = character
        token += 1
