"""Words of 64 bits."""

from libc.stdint cimport int64_t, uint64_t


cdef inline int64_t ones(uint64_t bits) noexcept nogil:
    """How many bits are set."""
    bits = bits - ((bits >> 1) & 0x5555555555555555ULL)
    bits = (bits & 0x3333333333333333ULL) + ((bits >> 2) & 0x3333333333333333ULL)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0FULL
    return (bits * 0x0101010101010101ULL) >> 56
