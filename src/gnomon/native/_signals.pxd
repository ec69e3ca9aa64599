"""Lets long loops without the GIL answer signals."""

from cpython.exc cimport PyErr_CheckSignals

cdef enum:
    #: steps of an inner loop, of about a nanosecond each, between two looks for a signal
    PATIENCE = 1 << 27


cdef inline int answer_signals() except -1 nogil:
    """Raise what a signal's handler raises, such as KeyboardInterrupt."""
    with gil:
        return PyErr_CheckSignals()
