"""Test set directories of any known layout."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.doors import checked
from gnomon.errors import DataError, OutputError, UnknownNameError, UsageError
from gnomon.formats import (
    _layout,
    _mt_metrics_eval,
    _published,
)
from gnomon.formats._files import (
    LOGGER,
    entries,
    explain_failure,
    is_pair,
    require_directory,
    text_files,
)
from gnomon.formats._lines import write_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from gnomon.testset import TestSet

LAYOUTS = ("gnomon", "mt-metrics-eval")


@checked
def read_test_set(
    path: str | PathLike[str],
    *,
    language_pair: str | None = None,
    systems: Sequence[str] | None = None,
    references: Sequence[str] | None = None,
) -> TestSet:
    """Read a test set: a directory in gnomon's layout or mt-metrics-eval's, or a published set.

    Args:
        path: the directory. Where it holds several language pairs, ``DIR/de-en`` names one. A set
            as its publisher distributes it (:data:`gnomon.formats.PUBLISHED`) is a file or a
            directory.
        language_pair: which pair, where the directory holds several.
        systems: names of the systems to read, in the order wanted; all by default.
        references: names of the references to read; all by default.

    Raises:
        MissingFileError: there is no such directory.
        FormatError: a file is not UTF-8, is binary, or is not of its format.
        LengthMismatchError: two files have unequal numbers of lines.
        DataError: no references (and no sources) are there, or several language pairs are.
        UnknownNameError: a named system, reference or language pair is not there.
        UsageError: the test set is one for another language pair.
    """
    folder = Path(path)
    if not folder.exists() and _holds_pairs(folder):
        folder, language_pair = folder.parent, folder.name
    published = folder.is_file() or _is_published(folder)
    if not published:
        require_directory(folder)
    if published or _layout.is_layout(folder):
        read = _published.read_published if published else _layout.read_layout
        return read(folder, language_pair=language_pair, systems=systems, references=references)
    pair = _one_pair(folder, language_pair)
    if _mt_metrics_eval.is_layout(folder):
        testset = _mt_metrics_eval.read_layout(
            folder, language_pair=pair, systems=systems, references=references
        )
        return _with_ratings(testset, folder, pair)
    return _layout.read_layout(
        folder / pair, language_pair=language_pair, systems=systems, references=references
    )


def output_files(path: str | PathLike[str], *, language_pair: str | None = None) -> dict[str, Path]:
    """The files that hold nothing but the output of one system, by its name.

    Args:
        path: a test set, as :func:`read_test_set` takes it.
        language_pair: which pair, where the directory holds several.

    Returns:
        Name -> file in the order in which systems are read; empty where outputs have no files of
        their own.

    Raises:
        FormatError: a list of systems is not what it should be.
        DataError: two systems have the same name, or no test set is there.
        UnknownNameError: the language pair is not there.
        UsageError: the directory holds several language pairs.
    """
    folder = Path(path)
    if not folder.exists() and _holds_pairs(folder):
        folder, language_pair = folder.parent, folder.name
    if not folder.is_dir() or _is_published(folder):
        return {}
    if _layout.is_layout(folder):
        return _layout.outputs_in(folder)
    pair = _one_pair(folder, language_pair)
    if _mt_metrics_eval.is_layout(folder):
        return _mt_metrics_eval.outputs_in(folder, pair)
    return _layout.outputs_in(folder / pair)


def language_pairs(path: str | PathLike[str]) -> tuple[str, ...]:
    """The language pairs of a directory that holds several test sets, in any layout.

    Raises:
        MissingFileError: there is no such directory.
    """
    folder = Path(path)
    require_directory(folder)
    if _is_published(folder):
        return _published.pairs_in(folder)
    if _mt_metrics_eval.is_layout(folder):
        return _mt_metrics_eval.language_pairs(folder)
    inside = (p for p in folder.iterdir() if is_pair(p.name) and p.is_dir())
    return tuple(sorted(p.name for p in inside if _layout.is_layout(p)))


def _is_published(folder: Path) -> bool:
    """Whether a folder is in no layout of gnomon's or mt-metrics-eval's, but in a publisher's."""
    if not folder.is_dir() or _layout.is_layout(folder):
        return False
    if _mt_metrics_eval.is_layout(folder):
        return _published.is_package(folder)
    return _published.is_published(folder)


def _holds_pairs(path: Path) -> bool:
    """Whether the folder of a path that does not exist may hold it as a language pair."""
    folder = path.parent
    return _mt_metrics_eval.is_layout(folder) or (is_pair(path.name) and _is_published(folder))


@checked
def write_test_set(
    testset: TestSet,
    path: str | PathLike[str],
    *,
    layout: str = "gnomon",
    compress: bool = False,
) -> None:
    """Write a test set as a directory, which appears whole or not at all.

    gnomon's layout holds everything; reading it gives the same test set (human scores in the order
    of their files, an empty cell for what is unknown). mt-metrics-eval's lacks system metadata,
    labels, scores of single raters, rankings and system-specific references, and errors that
    several raters marked in one output: these are left out and that is said.

    Args:
        testset: what to write.
        path: a directory that does not exist yet, or is empty.
        layout: "gnomon" or "mt-metrics-eval".
        compress: write the texts of gnomon's layout as ``.txt.gz``.

    Raises:
        OutputError: the directory cannot be written, or is not empty.
        UnknownNameError: the layout is unknown.
        UsageError: the layout needs a language pair that is not given.
        DataError: a text or a name cannot be held by the layout.
    """
    if layout not in LAYOUTS:
        raise UnknownNameError("layout", layout, LAYOUTS)
    if testset.segments == 0:
        raise DataError(f"test set {testset.name!r} has no segments; there is nothing to write")
    if layout == "gnomon":
        _fill(
            Path(path),
            lambda folder: _layout.write_layout(testset, folder, compress=compress),
        )
    else:
        _fill(Path(path), lambda folder: _write_mt_metrics_eval(testset, folder))


def _write_mt_metrics_eval(testset: TestSet, folder: Path) -> None:
    _mt_metrics_eval.write_layout(testset, folder)
    for kind in dict.fromkeys(error.kind for error in testset.errors):
        _mt_metrics_eval.check_word("kind of errors", kind)
        name = f"{testset.language_pair}.{kind}.seg.rating"
        try:
            lines = list(_mt_metrics_eval.rating_lines(testset, kind))
        except DataError as error:
            LOGGER.warning("the errors of the kind %s are left out: %s", kind, error)
            continue
        (folder / "human-scores").mkdir(exist_ok=True)
        write_lines(folder / "human-scores" / name, lines)


def _fill(path: Path, write: Callable[[Path], None]) -> None:
    """Fill a folder beside the wanted one and give it its name when all is there."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        what = "is not empty" if path.is_dir() else "is a file"
        raise OutputError(f"cannot write {path}: it {what}; name a new or empty directory")
    target = path.resolve()
    scratch = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with explain_failure(path):
            scratch.mkdir()
            write(scratch)
            scratch.replace(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _with_ratings(testset: TestSet, path: Path, pair: str) -> TestSet:
    """Error spans of mt-metrics-eval's rating files; their scores where no score file has them."""
    folder, outputs = path / "human-scores", text_files(path / "system-outputs" / pair)
    for file in entries(folder):
        kind = _mt_metrics_eval.kind_of(file.name, pair)
        if kind is None:
            continue
        found = _mt_metrics_eval.read_ratings(file, testset, kind=kind, others=outputs)
        scored = {human.kind for human in testset.human if human.level == "segment"}
        known = kind in scored or kind.partition(".")[0] in scored
        testset = testset.with_human(replace(found, scores=()) if known else found)
    return testset


def _one_pair(folder: Path, wanted: str | None) -> str:
    pairs = language_pairs(folder)
    if not pairs:
        raise DataError(
            f"{folder} holds no test set: there are neither references nor sources in it;"
            f" {_layout.EXPECTED}; {_mt_metrics_eval.EXPECTED}"
        )
    fitting = [pair for pair in pairs if wanted in (None, pair, pair.split("-")[-1])]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise UnknownNameError(f"language pair of {folder}", str(wanted), pairs)
    raise UsageError(
        f"{folder} holds several language pairs: {', '.join(fitting)}; name one of them"
        f" ({folder / fitting[0]}, or language pair {fitting[0]})"
    )
