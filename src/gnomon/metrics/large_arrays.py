"""Arrays of values that lie in a temporary file where they are too large for memory."""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.data.formats import explain_failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["LargeArray", "large_array"]


class LargeArray(NamedTuple):
    """Room for values, and what takes those that were written out of memory."""

    values: NDArray[Any]
    release: Callable[[], None]


def large_array(shape: tuple[int, ...], kind: type[np.floating], most: int) -> LargeArray:
    """Room for values: in memory up to ``most`` bytes, else in a file without a name."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize
    if size <= most:
        return LargeArray(np.empty(shape, dtype=kind), lambda: None)
    # the map keeps the file as long as it lives
    with (
        explain_failure(Path(tempfile.gettempdir())),
        tempfile.TemporaryFile(prefix="gnomon-") as file,
    ):
        if hasattr(os, "posix_fallocate"):  # writing to a map of a full disk kills the process
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
        pages = mmap.mmap(file.fileno(), size)
    values = np.frombuffer(pages, dtype=kind).reshape(shape)
    if not hasattr(mmap, "MADV_DONTNEED"):  # not on this system
        return LargeArray(values, lambda: None)
    return LargeArray(values, lambda: pages.madvise(mmap.MADV_DONTNEED))
