"""Pairs of a sentence and a paraphrase of it, as they come in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gnomon.errors import FormatError, LengthMismatchError
from gnomon.paraphrase.codes._files import code_of, read_codes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

__all__ = ["Pair", "read_pairs"]


class Pair(NamedTuple):
    """A sentence, a paraphrase of it, and the sentence code of the paraphrase.

    The code is None where pairs come without codes, and -1 where this one has none.
    """

    source: str
    target: str
    code: int | None = None


def read_pairs(
    paths: Sequence[str | PathLike[str]], *, codes: str | PathLike[str] | None = None
) -> list[Pair]:
    """Read lines of source TAB target, or source TAB target TAB code.

    Args:
        paths: the files (``.gz`` is decompressed); all of them with or all without codes.
        codes: a file with one code per pair, in place of the third column. Where a line, or the
            third column, is empty, the pair has no code (-1), and :func:`select` drops it.

    Raises:
        FormatError: a line has another number of columns than the first one, an empty side, or
            something that is no code; file and line are named.
        LengthMismatchError: there are fewer or more codes than pairs.
        MissingFileError: a file is missing.
    """
    from gnomon.formats import read_lines

    pairs: list[Pair] = []
    columns = 2 if codes is not None else None
    for path in paths:
        for number, line in enumerate(read_lines(path), start=1):
            cells = line.split("\t")
            columns = columns or len(cells)
            _check(cells, columns, path, number, given=codes is not None)
            code = code_of(cells[2], path, number) if len(cells) == 3 else None
            pairs.append(Pair(cells[0].strip(), cells[1].strip(), code))
    return pairs if codes is None else _with_codes(pairs, codes)


def _check(cells: list[str], columns: int, path: object, number: int, *, given: bool) -> None:
    if len(cells) != columns or columns not in {2, 3}:
        wanted = (
            "2 (source, target), since --codes gives the codes"
            if given
            else "2 (source, target) or 3 (source, target, code), the same on all lines"
        )
        raise FormatError(
            f"{len(cells)} columns; a line has {wanted}, separated by tabs", path=path, line=number
        )
    for name, text in zip(("source", "target"), cells, strict=False):
        if not text.strip():
            raise FormatError(
                f"the {name} is empty; leave out pairs without it", path=path, line=number
            )


def _with_codes(pairs: list[Pair], path: str | PathLike[str]) -> list[Pair]:
    found = read_codes(path).tolist()
    if len(found) != len(pairs):
        raise LengthMismatchError(
            f"{path} holds {len(found)} codes and there are {len(pairs)} pairs; give one code per"
            " pair, in the same order"
        )
    return [pair._replace(code=code) for pair, code in zip(pairs, found, strict=True)]
