"""Lets long loops without the GIL answer signals."""

cdef enum:
    #: steps of an inner loop, of about a nanosecond each, between two looks for a signal
    PATIENCE = 1 << 27

cdef int answer_signals() except -1 nogil
