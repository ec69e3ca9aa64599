"""Test set directories of any known layout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import DataError, UsageError
from gnomon.formats._files import require_directory
from gnomon.formats._layout import is_layout, is_pair, missing_test_set, read_layout

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from gnomon.testset import TestSet


def read_test_set(
    path: str | PathLike[str],
    *,
    language_pair: str | None = None,
    systems: Sequence[str] | None = None,
    references: Sequence[str] | None = None,
) -> TestSet:
    """Read a test set directory, in gnomon's layout or in mt-metrics-eval's.

    Args:
        path: the directory. Where it holds several language pairs, ``DIR/de-en`` names one.
        language_pair: which pair, where the directory holds several.
        systems: names of the systems to read, in the order wanted; all by default.
        references: names of the references to read; all by default.

    Raises:
        MissingFileError: there is no such directory.
        FormatError: a file is not UTF-8, is binary, or is not of its format.
        LengthMismatchError: two files have unequal numbers of lines.
        DataError: no references (and no sources) are there, or several language pairs are.
        UnknownNameError: a named system or reference is not there.
        UsageError: the test set is one for another language pair.
    """
    folder = Path(path)
    require_directory(folder)
    if not is_layout(folder):
        folder = _one_pair(folder, language_pair)
    return read_layout(folder, language_pair=language_pair, systems=systems, references=references)


def _one_pair(folder: Path, language_pair: str | None) -> Path:
    pairs = sorted(p.name for p in folder.iterdir() if is_pair(p.name) and is_layout(p))
    if not pairs:
        raise missing_test_set(folder)
    fitting = [p for p in pairs if language_pair in (None, p, p.split("-")[-1])]
    if len(fitting) == 1:
        return folder / fitting[0]
    listed = ", ".join(pairs)
    if not fitting:
        raise UsageError(f"{folder} has no language pair {language_pair}; there are: {listed}")
    raise DataError(
        f"{folder} holds several language pairs: {listed}; name one ({folder / fitting[0]}, or"
        f" the language pair {fitting[0]})"
    )
