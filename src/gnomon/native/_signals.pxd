"""Lets long loops without the GIL answer signals."""

cdef enum:
    #: steps of an inner loop, of about a nanosecond each, between two looks for a signal
    PATIENCE = 1 << 27

cdef int answer_signals() except -1 nogil


cdef inline int answer_after(Py_ssize_t *work, Py_ssize_t steps) except -1 nogil:
    """Answer signals where so many steps were done since the last time."""
    work[0] += steps
    if work[0] > PATIENCE:
        work[0] = 0
        answer_signals()
    return 0
