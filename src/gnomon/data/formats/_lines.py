"""Plain text: one segment per line."""

from __future__ import annotations

import logging
import re
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from gnomon.core.errors import (
    DataError,
    FormatError,
    LengthMismatchError,
)
from gnomon.data.formats._files import (
    LOGGER,
    STANDARD_INPUT,
    atomic_write,
    read_bytes,
)
from gnomon.messages.audiences import Advice, Named, Words

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence
    from os import PathLike


_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
#: how a table is given
BY_COLUMNS = Advice(
    Named("--table FILE", "gnomon.formats.read_table"), "use_format", {"format": "table"}
)
_KNOWN = (
    (b"\x1f\x8b", "gzip-compressed data: give the file a name that ends in .gz"),
    (b"PK\x03\x04", "a ZIP archive or an office document: extract it or save it as plain text"),
    (b"BZh", "bzip2-compressed data: run bunzip2 first"),
    (b"\xfd7zXZ", "xz-compressed data: run unxz first"),
    (b"\x28\xb5\x2f\xfd", "Zstandard-compressed data: run unzstd first"),
    (b"%PDF", "a PDF document: save its text as plain text"),
    (b"\xd0\xcf\x11\xe0", "an old office document: save it as plain text"),
    (
        b"PAR1",
        (
            "a Parquet file: call it .parquet, and give it and its columns by ",
            BY_COLUMNS,
        ),
    ),
    (b"SQLite format 3", "an SQLite data base: write the texts to a plain text file"),
    (b"\x80\x04\x95", "a Python pickle: write the texts to a plain text file"),
)
_SEPARATORS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]|\r(?=.)")
_CONTROLS = re.compile("[\x01-\x08\x0e-\x1b\x1f\x7f]")
_LONG = 20_000
_BREAKS = re.compile("[\n\x00]|\r$")


class JoinedTexts(NamedTuple):
    """Texts of several files, segment by segment.

    Attributes:
        references: the columns of each file of references; None where one lacks a segment.
        systems: outputs of each file of them.
        sources: if there are any.
        language_pair: where a file says so.
        scores: by metric, those of each file of outputs that has some, by its number.
        codes: of "sources", "references" and "systems", those of each file that may hold some.
        ids: of translation units, if there are any.
    """

    references: Sequence[Sequence[Sequence[str | None]]]
    systems: Sequence[Sequence[str]]
    sources: Sequence[str] | None
    language_pair: str | None = None
    scores: Mapping[str, Mapping[int, Sequence[float]]] = MappingProxyType({})
    codes: Mapping[str, Mapping[int, Sequence[str]]] = MappingProxyType({})
    ids: Sequence[str] = ()


def read_lines(path: str | PathLike[str]) -> list[str]:
    r"""Read a text file, one segment per line.

    Lines end at ``\n`` and nowhere else: U+2028, U+0085 and other separators stay inside their
    segment. Accepted, and said through the logger ``gnomon.formats``: a byte order mark,
    ``\r\n`` as line end (a lone ``\r`` stays), such separators and control characters, and lines of
    over 20,000 characters. The last line needs no line end, but that is said: the file may be cut.

    Args:
        path: the file; a name ending in ``.gz`` is decompressed, ``-`` is standard input (which
            can be read once).

    Returns:
        The lines without their ends; an empty list for an empty file.

    Raises:
        MissingFileError: the file is missing, is a directory, or may not be read.
        FormatError: the file is not UTF-8 (line and byte are named), is binary, or is damaged.
        UsageError: standard input was read before.
    """
    name = shown(path)
    lines = read_text(path).split("\n")
    last = lines.pop()
    returns = sum(line.endswith("\r") for line in lines)
    if returns:
        said = "%s: %d of %d lines end in \\r\\n; read as \\n"
        LOGGER.info(said, name, returns, len(lines), extra={"once": True})
        lines = [line.removesuffix("\r") for line in lines]
    if last:
        LOGGER.info("%s: the last line has no line end; is the file whole?", name)
        lines.append(last)
    _report_oddities(name, lines)
    return lines


def read_text(path: str | PathLike[str]) -> str:
    """The text of a file as it stands, without a byte order mark.

    Raises:
        MissingFileError, FormatError, UsageError: as :func:`read_lines`.
    """
    return decode(read_bytes(path), shown(path))


def write_lines(path: str | PathLike[str], lines: Iterable[str]) -> None:
    r"""Write segments, one per line, so that :func:`read_lines` gives the same ones.

    Raises:
        DataError: a segment holds ``\n`` or NUL, ends in ``\r``, or is not Unicode (a lone
            surrogate): one line per segment cannot hold it.
        OutputError: the file cannot be written.
    """
    texts = list(lines)
    for number, text in enumerate(texts, start=1):
        check_writable(text, f"{shown(path)}: segment {number}")
    with atomic_write(path) as file:
        if texts and texts[0].startswith("\ufeff"):
            file.write("\ufeff")  # readers take the first one for a byte order mark
        file.writelines(text + "\n" for text in texts)


def check_writable(text: str, where: str) -> None:
    r"""Refuse a text that a line of a file cannot hold."""
    if _BREAKS.search(text):
        raise DataError(
            f"{where} is {_clip(text)}: a text in a file of one segment per line must hold no line"
            r" feed and no NUL, and must not end in \r; replace them by a space"
        )
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise DataError(
                f"{where} is {_clip(text)}: character {error.start} is a lone surrogate, which"
                " UTF-8 cannot hold; decode the text properly first"
            ) from error


def decode(data: bytes, name: str) -> str:
    """The text of a UTF-8 file, without its byte order mark."""
    start = 0
    if data.startswith(_BOM):
        said = "%s: begins with a byte order mark, which is not part of the text"
        LOGGER.info(said, name, extra={"once": True})
        start = len(_BOM)
    nul = data.find(b"\0")
    if nul >= 0:
        _refuse(data, nul, name, "is not a text file: it holds a NUL byte")
    try:
        return data[start:].decode()
    except UnicodeDecodeError as error:
        position = error.start + start
        _refuse(data, position, name, f"is not UTF-8: byte 0x{data[position]:02x} is not allowed")
        raise


def shown(path: str | PathLike[str]) -> str:
    """Name of a file in messages."""
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


def report_empty(name: str, kind: str, texts: Sequence[str | None]) -> None:
    """Say that some texts of a reference or a system are empty; a reference's are warned of."""
    empty = [i for i, text in enumerate(texts, start=1) if text is not None and not text.strip()]
    if not empty:
        return
    say = LOGGER.warning if kind == "reference" else LOGGER.info
    say("%s: %d empty %s segment(s), the first in line %d", name, len(empty), kind, empty[0])


def _report_oddities(name: str, lines: Sequence[str]) -> None:
    """Say what is accepted, but may surprise: separators inside a line, and very long lines."""
    if not LOGGER.isEnabledFor(logging.INFO):
        return
    if "".join(lines).isprintable() and max(map(len, lines), default=0) <= _LONG:
        return  # one look at the file: most have nothing of this
    # few of many lines hold what cannot be printed; only these are searched
    doubtful = [(i, line) for i, line in enumerate(lines, start=1) if not line.isprintable()]
    doubtful += [(i, line) for i, line in enumerate(lines, start=1) if len(line) > _LONG]
    for what, is_odd in (
        ("hold a line separator other than \\n, which stays in the segment", _SEPARATORS.search),
        ("hold a control character", _CONTROLS.search),
        (f"are longer than {_LONG} characters", lambda line: len(line) > _LONG),
    ):
        odd = sorted({i for i, line in doubtful if is_odd(line)})
        if odd:
            LOGGER.info("%s: %d line(s) %s, the first is line %d", name, len(odd), what, odd[0])


def _refuse(data: bytes, position: int, name: str, problem: str) -> None:
    line = data.count(b"\n", 0, position) + 1
    raise FormatError(
        f"{problem} (byte {position} of the file, counted from 0); ",
        _remedy(data),
        path=name,
        line=line,
    )


def _remedy(data: bytes) -> Words:
    for magic, remedy in _KNOWN:
        if data.startswith(magic):
            return "this looks like ", remedy
    if data.startswith(_UTF16) or _looks_like_utf16(data):
        return "this looks like UTF-16: convert it with iconv -f UTF-16 -t UTF-8"
    if b"\0" in data:
        return "name a plain text file in UTF-8"
    return (
        "this may be Windows-1252 or ISO-8859-1: find out which (file -i) and convert it with, for"
        " instance, iconv -f WINDOWS-1252 -t UTF-8"
    )


def _looks_like_utf16(data: bytes) -> bool:
    sample = data[:1000]
    return max(sample[::2].count(0), sample[1::2].count(0)) > len(sample) // 4


def _clip(text: str) -> str:
    return ascii(text if len(text) <= 60 else text[:28] + " ... " + text[-28:])


def _align(reference: str, output: str) -> tuple[Words, ...]:
    """Advise how to align an output."""
    path = PurePath(output)
    aligned = path.with_name(f"{path.stem}.aligned.txt")
    return (
        "; align the output first (",
        Named(f"gnomon align {reference} -i {output} -o {aligned}", "TestSet.align"),
        ")",
    )


def check_parallel(counts: Mapping[str, int], *, outputs: Container[str] = ()) -> None:
    """Check that files have equally many segments; ``outputs`` may be aligned instead."""
    if not counts:
        return
    first, expected = next(iter(counts.items()))
    for name, count in counts.items():
        if count != expected:
            raise LengthMismatchError(
                f"{first} has {expected} lines, {name} has {count}; all files of a test set must"
                " have the same number of lines, one segment each",
                *(_align(first, name) if name in outputs else ()),
                counts={first: expected, name: count},
            )
    if expected == 0:
        raise DataError(f"{first} is empty: there is no segment to score")
