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

__all__ = ["read_codes", "write_codes"]


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
    found = []
    for number, line in enumerate(read_lines(path), start=1):
        text = line.strip()
        if text and not (text.isascii() and text.isdigit() and len(text) < 10):
            raise FormatError(
                f"{line[:40]!r} is no code; a line holds one integer from 0, or nothing where a"
                " sentence has no code",
                path=path,
                line=number,
            )
        found.append(int(text) if text else NO_CODE)
    return np.array(found, np.int32)
