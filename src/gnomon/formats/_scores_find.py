"""The scores of one test set in a score file, whatever its format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.errors import DataError, FormatError, UnknownNameError
from gnomon.formats._lines import read_lines
from gnomon.formats._scores_read import read_scores

if TYPE_CHECKING:
    from os import PathLike

_WMT = (5, 6)


def is_wmt_scores(path: str | PathLike[str]) -> bool:
    """Whether a file's first line is a score line of WMT, whatever the file is called."""
    first = next((line for line in read_lines(path) if line.strip()), "")
    fields = first.split("\t") if first.count("\t") in (4, 5) else first.split()
    if first.startswith("{") or len(fields) not in _WMT:
        return False
    return not {"system", "score"} & {field.lower() for field in fields}


def find_scores(
    path: str | PathLike[str],
    *,
    language_pair: str | None,
    test_set: str,
    column: str = "score",
    segments: int | None = None,
) -> dict[str, dict[tuple[str, int | None], float]]:
    """The scores of a file for one test set: metric -> (system, segment or None) -> score.

    The file's lines tell WMT's format from others, whatever it is called.

    Args:
        path: as for :func:`read_scores`, whose result this has.
        language_pair: which pair, where WMT lines hold several.
        test_set: which test set, where WMT lines hold several.
        column: the column of the scores, in TSV and JSONL.
        segments: how many segments the test set has.

    Raises:
        MissingFileError, FormatError: as for :func:`read_scores`.
        DataError: the file holds several language pairs or test sets, and not these.
        UnknownNameError: the format is unknown, or the language pair is not there.
    """
    form = "wmt" if is_wmt_scores(path) else None

    def read(name: str | None) -> dict[str, dict[tuple[str, int | None], float]]:
        return read_scores(
            path,
            format=form,
            column=column,
            language_pair=language_pair,
            test_set=name,
            segments=segments,
        )

    try:
        return read(None)
    except UnknownNameError:
        raise
    except DataError as error:
        if form is None or isinstance(error, FormatError):
            raise
        try:  # several test sets in one file: ours may be among them
            return read(test_set)
        except UnknownNameError:
            raise error from None
