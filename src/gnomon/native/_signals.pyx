"""Lets long loops without the GIL answer signals, and end with the others where they are in threads."""

from threading import get_ident

from cpython.exc cimport PyErr_CheckSignals

__all__ = ["stopped"]

#: threads whose loops are to end: Python lets only the main thread answer signals
stopped = set()


cdef int answer_signals() except -1 nogil:
    """Raise what a signal's handler raises, such as KeyboardInterrupt; the same where stopped."""
    with gil:
        PyErr_CheckSignals()
        if stopped and get_ident() in stopped:
            raise KeyboardInterrupt
    return 0
