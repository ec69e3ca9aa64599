"""Files of codes: one integer per line, an empty line where a sentence has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import FormatError
from gnomon.formats import read_lines, write_lines
from gnomon.paraphrase.codes._codes import NO_CODE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from numpy.typing import NDArray

__all__ = ["code_of", "read_codes", "write_codes"]


def write_codes(path: str | PathLike[str], codes: Iterable[int]) -> None:
    """Write one code per line, an empty line for -1.

    Raises:
        OutputError: the file cannot be written.
    """
    write_lines(path, ("" if code == NO_CODE else str(code) for code in codes))


def read_codes(path: str | PathLike[str]) -> NDArray[np.int32]:
    """Read one code per line, int32 [T]; -1 for an empty line.

    Raises:
        MissingFileError: there is no such file.
        FormatError: a line holds anything but one integer from 0.
    """
    lines = enumerate(read_lines(path), start=1)
    return np.array([code_of(line, path, number) for number, line in lines], np.int32)


def code_of(text: str, path: object, line: int) -> int:
    """The code that a line or a column holds; -1 where it is empty.

    Raises:
        FormatError: it holds something else.
    """
    said = text.strip()
    if said and not (said.isascii() and said.isdigit() and len(said) < 10):
        raise FormatError(
            f"{text[:40]!r} is no code; a code is an integer from 0, or nothing where a sentence"
            " has none",
            path=path,
            line=line,
        )
    return int(said) if said else NO_CODE
