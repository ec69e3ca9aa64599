"""Lexicons in their publishers' formats."""

from __future__ import annotations

import csv
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.annotate.scorers._ratings import Rated, Ratings
from gnomon.errors import FormatError
from gnomon.formats import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

__all__ = ["LAYOUTS", "read_ratings"]

_log = logging.getLogger(__name__)

LAYOUTS = (
    "a WKWSCI csv (term,POS,sentiment), a Brysbaert tsv (Word Bigram Conc.M ...), an NRC-VAD tsv"
    " (Word Valence Arousal Dominance; no header is fine), or a tsv of two columns (word, value)"
)
_DIMENSIONS = ("valence", "arousal", "dominance")
_TERMS = ("word", "term")
# heading of the column that holds the value, lower-cased -> the scorers that it serves
_KNOWN = {"conc.m": "concreteness", "sentiment": "sentiment", **{d: d for d in _DIMENSIONS}}


@dataclass(frozen=True)
class _Layout:
    """Which columns hold the term, its value and its part of speech; lines before the first."""

    term: int
    value: int
    pos: int | None
    width: int
    header: bool


def read_ratings(path: str | PathLike[str], name: str) -> Ratings:
    """Read the lexicon of a scorer.

    Known by their headers, in any case: WKWSCI (``term,POS,sentiment``, separated by commas),
    Brysbaert (``Word Bigram Conc.M ...``) and NRC-VAD (``Word Valence Arousal Dominance``),
    separated by tabs. Without a header, four columns are those of NRC-VAD and two are a word and
    its value, as in NRC's files of one dimension; two columns may have any header.

    Args:
        path: the file; ``.gz`` is decompressed.
        name: what is scored; of a file with several columns it chooses one.

    Raises:
        MissingFileError: the file does not exist.
        FormatError: the file is not UTF-8, not of these formats, has no column for the scorer, or
            a line has too few fields or a value that is no number.
    """
    where = str(path)
    lines = [line for line in enumerate(read_lines(path), start=1) if line[1].strip()]
    if not lines:
        raise FormatError(f"is empty; a lexicon is {LAYOUTS}", path=where)
    sign = "\t" if "\t" in lines[0][1] else ","
    first = _fields(lines[0][1], sign, where, lines[0][0])
    layout = _layout(first, name, where, lines[0][0])
    if layout.header and layout.width == 2 and first[0].strip().casefold() not in _TERMS:
        _log.info("%s: line %d, %r, is taken for a header", where, *lines[0])
    rows = lines[1:] if layout.header else lines
    ratings = Ratings.of(_rows(rows, sign, layout, where))
    if not ratings:
        raise FormatError("holds a header and no entry", path=where)
    return ratings


def _layout(first: Sequence[str], name: str, where: str, line: int) -> _Layout:
    heads = [field.strip().casefold() for field in first]
    if heads[0] in _TERMS and len(heads) > 2:
        return _headed(heads, name, where, line)
    headed = len(heads) > 1 and not any(map(_is_number, first[1:]))
    if len(heads) == 2:
        return _Layout(0, 1, None, 2, header=headed)
    if len(heads) == 4 and not headed:
        if name not in _DIMENSIONS:
            raise FormatError(
                f"has the columns of NRC-VAD, which rate {', '.join(_DIMENSIONS)}; they cannot"
                f" score {name!r}",
                path=where,
            )
        return _Layout(0, 1 + _DIMENSIONS.index(name), None, 4, header=False)
    raise FormatError(
        f"begins with {' | '.join(first)!r}, and a lexicon is {LAYOUTS}", path=where, line=line
    )


def _headed(heads: Sequence[str], name: str, where: str, line: int) -> _Layout:
    wanted = [head for head, scorer in _KNOWN.items() if scorer == name]
    column = next((heads.index(head) for head in wanted if head in heads), None)
    if column is None:
        serves = [scorer for head, scorer in _KNOWN.items() if head in heads]
        raise FormatError(
            f"has no column for {name!r}: {', '.join(heads)}; "
            + (f"it can score {', '.join(serves)}" if serves else f"a lexicon is {LAYOUTS}"),
            path=where,
            line=line,
        )
    pos = heads.index("pos") if "pos" in heads else None
    return _Layout(0, column, pos, len(heads), header=True)


def _rows(
    lines: Sequence[tuple[int, str]], sign: str, layout: _Layout, where: str
) -> Iterator[Rated]:
    for number, line in lines:
        fields = _fields(line, sign, where, number)
        if len(fields) != layout.width:
            raise FormatError(
                f"{len(fields)} fields; the first line has {layout.width}", path=where, line=number
            )
        text = fields[layout.value].strip()
        if not _is_number(text):
            raise FormatError(
                f"the value of {fields[layout.term]!r} is {text!r}; a number is expected",
                path=where,
                line=number,
            )
        pos = fields[layout.pos] if layout.pos is not None else ""
        yield Rated(fields[layout.term], float(text), pos)


def _fields(line: str, sign: str, where: str, number: int) -> list[str]:
    if sign == "\t":
        return line.split("\t")
    csv.field_size_limit(max(csv.field_size_limit(), len(line)))  # a cell may be any line
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        raise FormatError(f"is no line of a csv file: {error}", path=where, line=number) from error


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf") and "_" not in text
    except ValueError:
        return False
