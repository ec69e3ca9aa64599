"""Words of 64 bits."""

from libc.stdint cimport uint64_t

cdef extern from "bytes.h" nogil:
    int ones(uint64_t bits)
