"""Vectors on disk, so that clustering millions takes the memory of a few thousand."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Self

import numpy as np

from gnomon.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

__all__ = ["Vectors"]


class Vectors:
    """Rows of float32 in a scratch file, read chunk by chunk; the file goes with the block.

    Attributes:
        rows: how many rows were written.
        dimensions: numbers in a row; 0 before the first.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.dimensions = 0

    def __enter__(self) -> Self:
        self._file = tempfile.TemporaryFile()
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def extend(self, chunks: Iterable[NDArray[np.float32]]) -> None:
        """Write the rows of some chunks, float32 [rows, dimensions] each.

        Raises:
            OutputError: the disk is full.
        """
        for chunk in chunks:
            if len(chunk):
                self.dimensions = chunk.shape[1]
            try:
                self._file.write(np.ascontiguousarray(chunk, dtype=np.float32).data)
            except OSError as error:
                raise OutputError(
                    f"vectors cannot be kept while they are clustered: {error}; name a folder with"
                    " more room by the environment variable TMPDIR"
                ) from error
            self.rows += len(chunk)
        self._file.flush()

    def chunks(self, size: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """The first row of each chunk, and its rows, float32 [size, dimensions]."""
        for first in range(0, self.rows, size):
            yield first, self.read(first, min(size, self.rows - first))

    def read(self, first: int, count: int) -> NDArray[np.float32]:
        """Some rows that follow each other, float32 [count, dimensions]."""
        self._file.seek(first * self.dimensions * 4)
        data = self._file.read(count * self.dimensions * 4)
        found: NDArray[np.float32] = np.frombuffer(data, dtype=np.float32)
        return found.reshape(count, self.dimensions)
