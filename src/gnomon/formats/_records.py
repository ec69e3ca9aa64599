"""Rows of a TSV file and objects of a JSONL file, looked into by name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.errors import FormatError, UnknownNameError, UsageError
from gnomon.formats._files import LOGGER, STANDARD_INPUT
from gnomon.formats._lines import read_lines, shown
from gnomon.formats._tsv import read_tsv

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

_SUFFIXES = {".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


@dataclass(frozen=True)
class Record:
    """One row or object, which knows where it stands."""

    path: str
    line: int
    values: Mapping[str, object]

    def error(self, problem: str) -> FormatError:
        """An error that names this record's file and line."""
        return FormatError(problem, path=self.path, line=self.line)

    def value(self, key: str) -> object:
        """The value of a key; ``a.b`` is the key ``a.b``, or else the key ``b`` inside ``a``.

        Raises:
            FormatError: there is no such key; the keys that exist are listed.
        """
        found = list(_inside(self.values, key))
        if not found:
            raise self.error(str(UnknownNameError("column or key", key, _paths(self.values))))
        return found[0]

    def text(self, key: str) -> str:
        """A value that must be a string.

        Raises:
            FormatError: there is no such key, or it holds something else.
        """
        value = self.value(key)
        if not isinstance(value, str):
            raise self.error(f"{key} is {_short(value)}; a string is expected")
        return self._unicode(key, value)

    def name(self, key: str) -> str:
        """A value that names or numbers something: a string or a whole number.

        Raises:
            FormatError: there is no such key, or it holds something else.
        """
        value = self.value(key)
        return str(value) if type(value) is int else self.text(key)

    def texts(self, key: str) -> str | list[str] | None:
        """A string, a list of strings, or nothing (null).

        Raises:
            FormatError: there is no such key, or it holds something else.
        """
        value = self.value(key)
        if value is None:
            return None
        if not isinstance(value, list):
            return self.text(key)
        if not all(isinstance(item, str) for item in value):
            raise self.error(f"{key} is {_short(value)}; a list of strings is expected")
        return [self._unicode(key, item) for item in value]

    def _unicode(self, key: str, text: str) -> str:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise self.error(
                f"{key} holds a lone surrogate at character {error.start}, which is not Unicode;"
                " escape such characters as pairs"
            ) from error
        return text


def finite(record: Record, what: str, value: object) -> float:
    """A finite number of a JSON object.

    Raises:
        FormatError: it is something else.
    """
    if not isinstance(value, bool) and isinstance(value, (int, float)) and abs(value) < 1e300:
        return float(value)
    raise record.error(f"{what} is {str(value)[:40]!r}; a number is expected, or null")


def read_records(path: str | PathLike[str], form: str | None) -> list[Record]:
    """Read a TSV or JSONL file.

    Args:
        path: the file, or ``-`` for standard input.
        form: "tsv" or "jsonl"; None: by the file's suffix.

    Raises:
        FormatError: a row or an object is not what it should be.
        UnknownNameError: the format is unknown.
        UsageError: standard input without a format.
    """
    if form is None and str(path) == STANDARD_INPUT:
        raise UsageError("standard input has no file name to tell its format: give tsv or jsonl")
    form = form or form_of(path, _SUFFIXES, "table format")
    if form not in _SUFFIXES.values():
        raise UnknownNameError("table format", form, ("tsv", "jsonl"))
    return _read_rows(path) if form == "tsv" else _read_objects(path)


def form_of(path: str | PathLike[str], suffixes: Mapping[str, str], kind: str) -> str:
    """The format that a file's suffix stands for, ``.gz`` apart.

    Raises:
        UnknownNameError: the suffix is unknown.
    """
    name = shown(path).removesuffix(".gz")
    for suffix, form in suffixes.items():
        if name.endswith(suffix):
            return form
    remedy = f"it was told from the file name {shown(path)}; name the format explicitly"
    dot = name.rfind(".")
    raise UnknownNameError(kind, name[dot:] if dot > 0 else "", suffixes, remedy=remedy)


def _read_rows(path: str | PathLike[str]) -> list[Record]:
    table = read_tsv(path)
    quoted = sum(c[:1] == c[-1:] == '"' for row in table for c in row.cells.values())
    if quoted:
        LOGGER.info(
            "%s: %d fields stand in quotation marks, which are kept as text", table.path, quoted
        )
    return [Record(row.path, row.line, dict(row.cells)) for row in table]


def _read_objects(path: str | PathLike[str]) -> list[Record]:
    name = shown(path)
    lines = enumerate(read_lines(path), start=1)
    return [parse_object(name, number, line) for number, line in lines if line.strip()]


def parse_object(path: str, number: int, line: str) -> Record:
    """Read one JSON object.

    Raises:
        FormatError: it is none, a key occurs twice, or it holds NaN.
    """
    try:
        value = json.loads(line, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"is not a JSON object ({error}); JSONL has one object per line",
            path=path,
            line=number,
        ) from error
    if not isinstance(value, dict):
        raise FormatError(
            f"is {_short(value)}; JSONL has one object per line", path=path, line=number
        )
    return Record(path, number, value)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return result


def _no_constant(text: str) -> object:
    raise ValueError(f"{text} is not JSON; write null")


def _inside(values: Mapping[str, object], key: str) -> Iterator[object]:
    if key in values:
        yield values[key]
    for name, value in values.items():
        if isinstance(value, dict) and key.startswith(f"{name}."):
            yield from _inside(value, key.removeprefix(f"{name}."))


def _paths(values: Mapping[str, object], prefix: str = "") -> list[str]:
    paths: list[str] = []
    for name, value in values.items():
        inner = _paths(value, f"{prefix}{name}.") if isinstance(value, dict) else []
        paths += inner or [f"{prefix}{name}"]
    return paths


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
