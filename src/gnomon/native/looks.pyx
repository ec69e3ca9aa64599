"""What is read of lines: their words, counts of letters, and signs of damage."""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

import numpy as np

from gnomon.native._arrays import check
from gnomon.native._signals cimport answer_after

__all__ = ["look"]

cdef extern from "Python.h":
    void *PyUnicode_DATA(object text)
    int PyUnicode_KIND(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    bint Py_UNICODE_ISALNUM(Py_UCS4 c) nogil
    bint Py_UNICODE_ISDECIMAL(Py_UCS4 c) nogil
    bint Py_UNICODE_ISUPPER(Py_UCS4 c) nogil
    bint Py_UNICODE_ISTITLE(Py_UCS4 c) nogil
    bint Py_UNICODE_ISLOWER(Py_UCS4 c) nogil
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4 c) nogil

cdef enum:
    LETTER = 1  # or a number that is no decimal digit
    DIGIT = 2
    CAPITAL = 4
    LOWER = 8
    BEYOND = 0x250  # from here on Python says what a character is
    # in the order of KINDS of damage.py, and further
    MISREAD = 1
    ENTITIES = 2
    ACCENTS = 4
    SPACES = 8
    CASE = 16
    DOUBLED = 32

cdef uint8_t[BEYOND] SORTS
cdef uint32_t[BEYOND] SMALL
cdef uint64_t MIX = 0x100000001B3


cdef inline uint8_t _sort(Py_UCS4 c) noexcept nogil:
    """Whether a character is a letter, and of which case."""
    cdef uint8_t found = 0
    if 0x4E00 <= c <= 0x9FFF or 0xAC00 <= c <= 0xD7A3:
        return LETTER
    if Py_UNICODE_ISALNUM(c):
        found |= DIGIT if Py_UNICODE_ISDECIMAL(c) else LETTER
    if Py_UNICODE_ISUPPER(c) or Py_UNICODE_ISTITLE(c):
        found |= CAPITAL
    if Py_UNICODE_ISLOWER(c):
        found |= LOWER
    return found


cdef int _fill() except -1:
    cdef Py_UCS4 c
    for c in range(BEYOND):
        SORTS[c] = _sort(c)
        SMALL[c] = Py_UNICODE_TOLOWER(c)
    return 0


_fill()


cdef inline bint _is_unspaced(Py_UCS4 c) noexcept nogil:
    """Whether a character is of a script whose words no space parts, as UNSPACED of scripts.py."""
    return c >= 0xE00 and (
        c <= 0x109F
        or 0x1780 <= c <= 0x17FF
        or 0x3040 <= c <= 0x30FF
        or 0x3400 <= c <= 0x9FFF
        or 0xAC00 <= c <= 0xD7AF
        or 0xF900 <= c <= 0xFAFF
    )


cdef inline bint _may_compose(Py_UCS4 c) noexcept nogil:
    """Whether a character may be one of two that Unicode writes as one."""
    return c >= 0x300 and (c <= 0x1FFF or c >= 0xF900 or c == 0x3099 or c == 0x309A)


cdef struct Slot:
    uint64_t term  # 0: none
    int32_t number


cdef class _Terms:
    """Terms of references, numbered from 1 as they come; 0 is any other."""

    cdef Slot *slots
    cdef Py_ssize_t mask
    cdef int32_t known

    def __cinit__(self):
        self.known, self.mask = 0, 0
        self.enlarge(1 << 12)

    def __dealloc__(self):
        PyMem_RawFree(self.slots)

    cdef int enlarge(self, Py_ssize_t size) except -1 nogil:
        cdef Slot *old = self.slots
        cdef Py_ssize_t k, before = self.mask + 1 if old != NULL else 0
        self.slots = <Slot *>PyMem_RawCalloc(size, sizeof(Slot))
        if self.slots == NULL:
            self.slots = old
            with gil:
                raise MemoryError
        self.mask = size - 1
        for k in range(before):
            if old[k].term:
                self.slots[self.place(old[k].term)] = old[k]
        PyMem_RawFree(old)
        return 0

    cdef inline Py_ssize_t place(self, uint64_t term) noexcept nogil:
        cdef Py_ssize_t at = <Py_ssize_t>(term ^ (term >> 32)) & self.mask
        while self.slots[at].term != 0 and self.slots[at].term != term:
            at = (at + 1) & self.mask
        return at

    cdef inline int32_t number(self, uint64_t term, bint add) except -1 nogil:
        cdef Py_ssize_t at = self.place(term)
        if add and self.slots[at].term == 0:
            if 2 * <Py_ssize_t>self.known > self.mask:
                self.enlarge(2 * self.mask + 2)
                at = self.place(term)
            self.known += 1
            self.slots[at].term, self.slots[at].number = term, self.known
        return self.slots[at].number


ctypedef fused Char:
    uint8_t
    uint16_t
    uint32_t


cdef struct Line:
    int32_t words, letters, shared, unspaced, signs


cdef Py_ssize_t _read(
    Char *text, Py_ssize_t n, bint pairs, bint add, _Terms known, int32_t *ids, Line *line
) except -1 nogil:
    """Read a line, and write its terms; how many there are."""
    cdef Py_ssize_t i, half, used = 0
    cdef uint64_t word = 0
    cdef uint32_t c, small, before = 0, last = 0
    cdef uint8_t sort, sorts = 0
    cdef int32_t number, size = 0, letters = 0
    for i in range(n + 1):
        c = text[i]  # a text of Python ends with a null
        if c < BEYOND:
            sort, small = SORTS[c], SMALL[c]
        else:
            sort, small = _sort(c), Py_UNICODE_TOLOWER(c)
        if sort & (LETTER | DIGIT):
            sorts |= sort
            word = (word ^ small) * MIX + 1
            size += 1
            letters += sort & LETTER
            if pairs:
                if last:
                    ids[used] = known.number((<uint64_t>last << 32 | small) * MIX, add)
                    used += 1
                last = small
        else:
            if size:
                line.words += letters > 0
                line.letters += letters
                if not pairs:
                    number = known.number(word | 1, add)
                    line.shared += letters if number else 0
                    ids[used] = number
                    used += 1
                word, size, letters = 0, 0, 0
            if c == 38:  # &
                line.signs |= ENTITIES
            elif before == 32 and (c == 33 or c == 44 or c == 46 or c == 59 or c == 63):
                line.signs |= SPACES
        if c >= 0x80:
            line.unspaced += _is_unspaced(c)
            if 0xC2 <= before <= 0xF4:
                line.signs |= MISREAD
            if _may_compose(c):
                line.signs |= ACCENTS
        before = c
    if sorts & LOWER and not sorts & CAPITAL:
        line.signs |= CASE
    half, i = used // 2, 0
    while i < half and ids[i] == ids[used - half + i]:
        i += 1
    if half and i == half:
        line.signs |= DOUBLED
    return used


def look(list texts not None, Py_ssize_t references, bint pairs):
    """The terms of lines, counts of their letters, and signs of damage.

    Args:
        texts: the lines, references first; None is missing.
        references: how many of them are references.
        pairs: the terms are pairs of letters, where spaces part no words; else they are words.

    Returns:
        The terms of the lines, as ``lines.places`` takes them: offsets; ids, of which 0 is any that
        no reference has; and one more than the highest. Then int32 [texts, 5]: words; their
        letters; the letters of words that references have; letters of scripts without spaces; in
        bits, which kinds of damage a line may have.

    Raises:
        ValueError: more references than texts.
        TypeError: something that is neither a text nor None.
    """
    check(0 <= references <= len(texts), f"{references} references of {len(texts)} texts")
    cdef Py_ssize_t k, n, used = 0, most = 0, work = 0
    for text in texts:
        if text is not None and not isinstance(text, str):
            raise TypeError(f"texts: {type(text).__name__} given, texts or None wanted")
        most += 0 if text is None else PyUnicode_GET_LENGTH(text)
    found = np.zeros((len(texts), 5), dtype=np.int32)
    offsets, terms = np.zeros(len(texts) + 1, dtype=np.int64), np.empty(most + 1, dtype=np.int32)
    cdef int32_t[:, ::1] counts = found
    cdef int64_t[::1] bounds = offsets
    cdef int32_t[::1] ids = terms
    cdef _Terms known = _Terms()
    cdef Line *line
    cdef int kind
    cdef void *data
    for k in range(len(texts)):
        text = texts[k]
        if text is not None:
            n, kind, data = PyUnicode_GET_LENGTH(text), PyUnicode_KIND(text), PyUnicode_DATA(text)
            line = <Line *>&counts[k, 0]
            with nogil:
                if kind == 1:
                    used += _read(<uint8_t *>data, n, pairs, k < references, known, &ids[used], line)
                elif kind == 2:
                    used += _read(<uint16_t *>data, n, pairs, k < references, known, &ids[used], line)
                else:
                    used += _read(<uint32_t *>data, n, pairs, k < references, known, &ids[used], line)
                answer_after(&work, 4 * n)
        bounds[k + 1] = used
    return offsets, terms[:used], known.known + 1, found
