"""Test sets in files and directories of any format: reading, finding and writing them."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gnomon.core.errors import DataError, FormatError, OutputError, UnknownNameError, UsageError
from gnomon.core.lazy import checked
from gnomon.data.formats._files import agree, bears_file, is_pair, unit_format
from gnomon.data.formats._judged_file import readable_judgements
from gnomon.data.formats._lines import read_lines
from gnomon.data.formats._registry import (
    FolderFormat,
    Format,
    FoundSet,
    RecordFormat,
    SetFormat,
    format_of_name,
    formats_of,
)
from gnomon.data.formats._table import read_table
from gnomon.data.formats._warnings import warn_of_anomalies
from gnomon.data.formats.rows import head_of
from gnomon.data.formats.unreadable_files import explain_failure, require_directory
from gnomon.messages.audiences import Advice, Named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from os import PathLike

    from gnomon.core.testset import TestSet
    from gnomon.data.formats.rows import FileHead

_DEEPEST = 12


@dataclass(frozen=True)
class SetInfo:
    """One set that is there.

    Attributes:
        format: a name that ``gnomon list formats`` shows.
        place: what to give to ``-t`` or :func:`gnomon.formats.read_test_set`.
        language_pair: if known without reading the texts.
        files: the files of which it consists, where it is not a directory of its own.
    """

    format: str
    place: str
    language_pair: str | None
    files: tuple[Path, ...] = ()


@checked
def read_test_set(
    path: str | PathLike[str],
    *,
    language_pair: str | None = None,
    systems: Sequence[str] | None = None,
    references: Sequence[str] | None = None,
    human: Literal["all", "readable"] = "all",
) -> TestSet:
    """Read a test set: a directory in a known layout, or a published set.

    Args:
        path: the directory. Where it holds several language pairs, ``DIR/de-en`` names one. A set
            as its publisher distributes it (``gnomon list formats``) is a file or a directory.
        language_pair: which pair, where the directory holds several.
        systems: names of the systems to read, in the order wanted; all by default.
        references: names of the references to read; all by default.
        human: "readable" leaves out files of human judgements, beside the texts, that cannot be
            read, with a warning.

    Raises:
        MissingFileError: there is no such directory.
        FormatError: a file is not UTF-8, is binary, or is not of its format.
        LengthMismatchError: two files have unequal numbers of lines.
        DataError: no references (and no sources) are there, or several language pairs are.
        UnknownNameError: a named system, reference or language pair is not there.
        UsageError: the test set is one for another language pair.
    """
    with readable_judgements() if human == "readable" else nullcontext():
        return warn_of_anomalies(_read(Path(path), language_pair, systems, references))


def _read(
    folder: Path,
    language_pair: str | None,
    systems: Sequence[str] | None,
    references: Sequence[str] | None,
) -> TestSet:
    if not folder.exists() and _holds_pairs(folder):
        folder, language_pair = folder.parent, folder.name
    if folder.is_file() or _is_published(folder):
        return _read_published(folder, language_pair, systems, references)
    require_directory(folder)
    layout, pair = _layout_of(folder), language_pair
    if layout is None or layout.pairs is not None:
        pair = _choose_pair(folder, language_pair)
    if layout is None:
        folder = folder / pair if pair else folder
        layout, pair = _layout_of(folder), language_pair
    if layout is None:
        raise DataError(f"{folder} holds no test set that can be read")
    testset: TestSet = layout.read(
        folder, language_pair=pair, systems=systems, references=references
    )
    return testset


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
    layout = _layout_of(folder)
    if layout is not None and layout.pairs is None:
        return layout.outputs(folder, None)
    pair = _choose_pair(folder, language_pair)
    if layout is not None:
        return layout.outputs(folder, pair)
    inner = _layout_of(folder / pair)
    return {} if inner is None else inner.outputs(folder / pair, None)


def language_pairs(path: str | PathLike[str]) -> tuple[str, ...]:
    """The language pairs of a directory that holds several test sets, in any layout.

    Raises:
        MissingFileError: there is no such directory.
    """
    folder = Path(path)
    require_directory(folder)
    if _is_published(folder):
        pairs = (found_set.language_pair for _, found_set in _sets_in_folder(folder))
        return tuple(sorted({pair for pair in pairs if pair is not None}))
    layout = _layout_of(folder)
    if layout is not None and layout.pairs is not None:
        return layout.pairs(folder)
    inside = (p for p in folder.iterdir() if is_pair(p.name) and p.is_dir())
    return tuple(sorted(p.name for p in inside if _is_whole(p)))


def _layout_of(folder: Path) -> FolderFormat | None:
    """The layout of a directory; none where it is a publisher's."""
    if not folder.is_dir():
        return None
    for form in formats_of(Format):
        if isinstance(form, FolderFormat) and form.recognise(folder):
            return form
        if isinstance(form, SetFormat) and form.whole_folder and _sets_inside(form, folder):
            return None
    return None


def _is_whole(folder: Path) -> bool:
    """True if a directory is one test set of one language pair."""
    layout = _layout_of(folder)
    return layout is not None and layout.pairs is None


def _is_published(folder: Path) -> bool:
    """True if a folder is in no layout of gnomon's or mt-metrics-eval's, but in a publisher's."""
    return folder.is_dir() and _layout_of(folder) is None and any(_sets_in_folder(folder))


def _holds_pairs(path: Path) -> bool:
    """True if the folder of a path that does not exist may hold it as a language pair."""
    layout = _layout_of(path.parent)
    if layout is not None and layout.pairs is not None:
        return True
    return is_pair(path.name) and _is_published(path.parent)


def _choose_pair(folder: Path, wanted: str | None) -> str:
    pairs = language_pairs(folder)
    if not pairs:
        expected = [form.expected for form in formats_of(FolderFormat) if form.expected]
        raise DataError(
            f"{folder} holds no test set: there are neither references nor sources in it;"
            f" {'; '.join(expected)}"
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


# Sets as their publishers distribute them, recognised by their names and headers.


def _read_published(
    path: Path,
    language_pair: str | None,
    systems: Sequence[str] | None,
    references: Sequence[str] | None,
) -> TestSet:
    there = list(_sets_in_folder(path)) if path.is_dir() else [_set_or_table(path, language_pair)]
    found_set = _choose(path, there, language_pair)
    agree(found_set.language_pair, language_pair, path)
    testset = found_set.read()
    if testset.language_pair is None and language_pair is not None:
        testset = replace(testset, language_pair=language_pair)
    if systems is None and references is None:
        return testset
    return testset.select(systems=systems, references=references)


def _set_or_table(path: Path, language_pair: str | None) -> tuple[str, FoundSet]:
    """The set of a file, or the table that it is, where its columns are recognised."""
    try:
        return _set_of_file(path)
    except FormatError:
        suffixes = tuple(suffix for form in formats_of(RecordFormat) for suffix in form.suffixes)
        if not path.name.removesuffix(".gz").endswith(suffixes):
            raise
        try:
            testset = read_table(path, language_pair=language_pair)
        except UsageError:
            testset = None
        if testset is None:
            raise
    return "table", FoundSet(path, lambda: testset)


def _choose(path: Path, found_sets: Sequence[tuple[str, FoundSet]], wanted: str | None) -> FoundSet:
    fitting = [
        (form, found_set)
        for form, found_set in found_sets
        if _fits(found_set.language_pair, wanted)
    ]
    if len(fitting) == 1:
        return fitting[0][1]
    pairs = dict.fromkeys(
        found_set.language_pair
        for _, found_set in found_sets
        if found_set.language_pair is not None
    )
    if not fitting:
        raise UnknownNameError(f"language pair of {path}", str(wanted), list(pairs))
    places = dict.fromkeys(f"{found_set.place} ({form})" for form, found_set in fitting)
    differ = len({found_set.language_pair for _, found_set in fitting} - {None}) == len(fitting)
    remedy = " (or a language pair with -l)" if differ else ""
    raise UsageError(
        f"{path} holds {len(fitting)} test sets; name one of them{remedy}: {', '.join(places)}"
    )


def _fits(pair: str | None, wanted: str | None) -> bool:
    return pair is None or wanted in (None, pair, pair.rpartition("-")[2])


def _sets_in_folder(folder: Path) -> Iterator[tuple[str, FoundSet]]:
    """The sets whose files lie in a folder, subfolders apart, and their formats."""
    taken: set[Path] = set()
    for form in formats_of(SetFormat):
        for found_set in _sets_inside(form, folder):
            if taken.isdisjoint(found_set.files):
                taken.update(found_set.files)
                yield form.name, found_set
    alone = [f for f in formats_of(SetFormat) if f.suffixes and not f.judgements_too]
    for file in _files_of(folder, alone):
        recognised = None if file in taken else _recognise(head_of(file), alone)
        if recognised is not None:
            yield recognised


def _judgements_as_sets(folder: Path) -> Iterator[tuple[str, FoundSet]]:
    """Files that are sets if they are named, and judgements of another set else."""
    forms = [form for form in formats_of(SetFormat) if form.judgements_too]
    for file in _files_of(folder, forms):
        recognised = _recognise(head_of(file), forms)
        if recognised is not None:
            yield recognised


def _sets_inside(form: SetFormat, folder: Path) -> Sequence[FoundSet]:
    return () if form.in_folder is None else form.in_folder(folder)


def _files_of(folder: Path, forms: Sequence[SetFormat]) -> list[Path]:
    wanted = tuple(suffix for form in forms for suffix in form.suffixes)
    beside = tuple(suffix for form in forms for suffix in form.side_suffixes)
    named = ((file.name.removesuffix(".gz"), file) for file in sorted(folder.iterdir()))
    files = [file for name, file in named if name.endswith(wanted) and not name.endswith(beside)]
    return [file for file in files if bears_file(file)]


def _recognise(head: FileHead, forms: Iterable[SetFormat]) -> tuple[str, FoundSet] | None:
    for form in forms:
        found_set = None if form.of_file is None else form.of_file(head)
        if found_set is not None:
            return form.name, found_set
    return None


_PICKLE = (
    "is a Python pickle; reading one can run any code, so gnomon does not. Where you trust it,"
    ' write it as JSON: python -c "import json, pickle, sys;'
    " json.dump(pickle.load(open(sys.argv[1], 'rb')), open(sys.argv[2], 'w'), default=float)\""
    " FILE.pkl FILE.json"
)


def _set_of_file(path: Path) -> tuple[str, FoundSet]:
    """The set of a file, by its first lines or its name."""
    head = head_of(path)
    if head.is_pickle:
        raise FormatError(_PICKLE, path=path)
    recognised = _recognise(head, formats_of(SetFormat))
    if recognised is not None:
        return recognised
    if unit_format(path):
        raise FormatError(
            "is a file of translation units, which stands where a file of lines may (",
            Named("gnomon score REFERENCE -i FILE, without -t", "gnomon.TestSet.from_files"),
            ")",
            path=path,
        )
    read_lines(path)  # says so if it is no text at all
    raise FormatError(
        f"is of no known format of a test set ({', '.join(_names(SetFormat))}); its first line is"
        f" {head.first_line[:80]!r}. The directory of a test set is named as a whole; a table of"
        " your own is read by its columns, without -t (",
        Advice(
            Named("--table FILE --system-columns COLUMN ...", "gnomon.formats.read_table"),
            "use_format",
            {"format": "table"},
        ),
        ")",
        path=path,
    )


def _names(*kinds: type[Format]) -> list[str]:
    return [form.name for kind in kinds for form in formats_of(kind)]


def sets_in(path: str | PathLike[str]) -> tuple[SetInfo, ...]:
    """The test sets of a file, or of a directory and those inside it.

    Directories in a layout such as gnomon's or mt-metrics-eval's are sets as a whole; in others,
    files of published formats are looked for, at any depth.

    Raises:
        MissingFileError: there is nothing of this name.
        FormatError: a file that was named is of no known format.
        DataError: there is no set.
    """
    folder = Path(path)
    if folder.is_file():
        return (_info(*_set_of_file(folder)),)
    require_directory(folder)
    infos = tuple(_walk(folder, 0))
    if not infos:
        formats = ", ".join(_names(FolderFormat, SetFormat))
        raise DataError(f"{folder} holds no test set of a known format ({formats})")
    return infos


def _walk(folder: Path, depth: int) -> Iterator[SetInfo]:
    layout = _layout_of(folder)
    if layout is not None and layout.pairs is None:
        pair = None if layout.pair_of is None else layout.pair_of(folder)
        yield SetInfo(layout.name, str(folder), pair)
        return
    if layout is not None and layout.pairs is not None:
        for pair in layout.pairs(folder):
            yield SetInfo(layout.name, str(folder / pair), pair)
        return
    inside = [*_sets_in_folder(folder), *_judgements_as_sets(folder)]
    yield from (_info(*recognised) for recognised in inside)
    whole = {form.name for form in formats_of(SetFormat) if form.whole_folder}
    if depth < _DEEPEST and not any(form in whole for form, _ in inside):
        for child in sorted(folder.iterdir()):
            if child.is_dir() and not child.is_symlink() and not child.name.startswith("."):
                yield from _walk(child, depth + 1)


def _info(form: str, found_set: FoundSet) -> SetInfo:
    return SetInfo(form, str(found_set.place), found_set.language_pair, found_set.files)


@checked
def write_test_set(
    testset: TestSet,
    path: str | PathLike[str],
    *,
    layout: str = "gnomon",
    compress: bool = False,
    numbered: bool = False,
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
        numbered: call files of texts in gnomon's layout by numbers, so that systems and
            references may have any names; ``testset.json`` says them.

    Raises:
        OutputError: the directory cannot be written, or is not empty.
        UnknownNameError: the layout is unknown.
        UsageError: the layout needs a language pair that is not given, or has no numbered files.
        DataError: a text or a name cannot be held by the layout.
    """
    form = format_of_name(FolderFormat, layout, "layout", written=True)
    if testset.segments == 0:
        raise DataError(f"test set {testset.name!r} has no segments; there is nothing to write")
    if numbered and layout != "gnomon":
        raise UsageError(f"numbered files are of the layout 'gnomon', and this one is {layout!r}")
    options = {"numbered": True} if numbered else {}
    _fill(Path(path), partial(form.write, testset, compress=compress, **options))


def _fill(path: Path, write: Callable[[Path], None]) -> None:
    """Fill a folder beside the wanted one and give it its name when all is there."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        what = "is not empty" if path.is_dir() else "is a file"
        raise OutputError(f"cannot write {path}: it {what}; name a new or empty directory")
    target = Path(os.path.realpath(path))
    scratch = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with explain_failure(path):
            scratch.mkdir()
            write(scratch)
            scratch.replace(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
