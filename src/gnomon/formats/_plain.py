"""Plain text files, one segment per line, parallel to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.doors import checked
from gnomon.errors import DataError, LengthMismatchError, UsageError
from gnomon.formats._files import STANDARD_INPUT, plain_name
from gnomon.formats._lines import read_lines, report_empty, shown
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike


@checked
def read_plain(
    *,
    references: Sequence[str | PathLike[str]],
    systems: Sequence[str | PathLike[str]],
    source: str | PathLike[str] | None = None,
    language_pair: str | None = None,
) -> TestSet:
    """Read a test set from plain text files of one segment per line.

    Args:
        references: one file per reference, named after the file without ``.txt`` and ``.gz``;
            equal names get a number (``ref``, ``ref-2``).
        systems: one file per system, named likewise; names must differ.
        source: the file of the sources.
        language_pair: "de-en" or "en".

    Raises:
        MissingFileError: a file is missing.
        FormatError: a file is not UTF-8, or is binary.
        LengthMismatchError: files have unequal numbers of lines; both are named.
        DataError: two systems have the same name, or the files hold no segment.
        UsageError: standard input is named twice.
        WrongTypeError: a single path in place of a list.
    """
    names = _system_names(systems)
    every = [*references, *systems, *([source] if source is not None else [])]
    _check_standard_input(every)
    texts = [read_lines(path) for path in every]
    check_parallel({shown(path): len(lines) for path, lines in zip(every, texts, strict=True)})
    refs, rest = texts[: len(references)], texts[len(references) :]
    for path, lines in zip(references, refs, strict=True):
        report_empty(shown(path), "reference", lines)
    for path, lines in zip(systems, rest, strict=False):
        report_empty(shown(path), "candidate", lines)
    if source is not None:
        report_empty(shown(source), "source", rest[-1])
    return TestSet(
        name=plain_name((references or [source or "test set"])[0]),
        references=dict(zip(_reference_names(references), refs, strict=True)),
        systems=dict(zip(names, rest, strict=False)),
        sources=None if source is None else rest[-1],
        language_pair=language_pair,
    )


@checked
def read_systems(paths: Sequence[str | PathLike[str]]) -> dict[str, list[str]]:
    """Read the outputs of systems from plain text files: name -> one text per segment.

    Raises:
        MissingFileError: a file is missing.
        FormatError: a file is not UTF-8, or is binary.
        LengthMismatchError: files have unequal numbers of lines; both are named.
        DataError: two systems have the same name, or the files hold no segment.
        UsageError: standard input is named twice.
        WrongTypeError: a single path in place of a list.
    """
    names = _system_names(paths)
    _check_standard_input(paths)
    texts = {name: read_lines(path) for name, path in names.items()}
    check_parallel({shown(path): len(texts[name]) for name, path in names.items()})
    for name, path in names.items():
        report_empty(shown(path), "candidate", texts[name])
    return texts


def _check_standard_input(paths: Sequence[str | PathLike[str]]) -> None:
    if sum(str(path) == STANDARD_INPUT for path in paths) > 1:
        raise UsageError("'-' (standard input) can stand for one file only; save the other first")


def check_parallel(counts: Mapping[str, int]) -> None:
    """Check that files have equally many segments, and any at all.

    Raises:
        LengthMismatchError: two files differ; both and their counts are named.
        DataError: all files are empty.
    """
    if not counts:
        return
    first, expected = next(iter(counts.items()))
    for name, count in counts.items():
        if count != expected:
            raise LengthMismatchError(
                f"{first} has {expected} lines, {name} has {count}; all files of a test set must"
                " have the same number of lines, one segment each"
            )
    if expected == 0:
        raise DataError(f"{first} is empty: there is no segment to score")


def _system_names(paths: Sequence[str | PathLike[str]]) -> dict[str, str | PathLike[str]]:
    named: dict[str, str | PathLike[str]] = {}
    for path in paths:
        name = plain_name(shown(path))
        if name in named:
            raise DataError(
                f"two systems are called {name!r}: {named[name]} and {path}; a system is named"
                " after its file, so rename or copy one of them"
            )
        named[name] = path
    return named


def _reference_names(paths: Sequence[str | PathLike[str]]) -> list[str]:
    names: list[str] = []
    taken = {plain_name(shown(path)) for path in paths}
    for path in paths:
        name, number = plain_name(shown(path)), 1
        while name in names or (number > 1 and name in taken):
            number += 1
            name = f"{plain_name(shown(path))}-{number}"
        names.append(name)
    return names
