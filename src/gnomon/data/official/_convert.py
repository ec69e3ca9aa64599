"""Test sets of any format that is read, into one of gnomon's folders."""

from __future__ import annotations

import logging
import re
import secrets
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError, MissingFileError, UnknownNameError, UsageError
from gnomon.data.formats import (
    FolderFormat,
    SetFormat,
    SetInfo,
    formats_of,
    read_systems,
    read_test_set,
    sets_in,
)
from gnomon.data.official._folder import write_set
from gnomon.data.official.archive_files import is_archive, unpack
from gnomon.data.official.obtaining import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike
    from typing import Literal

    from gnomon.core.testset import TestSet
    from gnomon.data.formats import Incomplete
    from gnomon.data.official._folder import WrittenSet


_log = logging.getLogger(__name__)

_SUFFIXES = re.compile(r"\.(tar(\.[a-z0-9]+)?|tgz|tbz2?|txz|zip|gz|bz2|xz)$", re.IGNORECASE)
_MARK = re.compile(r"^[0-9a-f]{8}-(?=.)")


@dataclass(frozen=True)
class ConvertOptions:
    """Options of a conversion.

    Attributes:
        language_pair: only this pair; also that of a set which does not say its own.
        systems: only these.
        references: only these; in an MQM file, those "systems" that are human translations.
        outputs: plain text files of further systems.
        human: files of human judgements, in any format of :func:`gnomon.formats.read_human`.
        first_segment: the number of the first segment in these, if it is not the format's own.
        span_ends: what the ends of their error spans are: the "last" character, or the one
            "behind"; by default as formats have it.
        keep: what is kept although it is usually left out: "test-suites", "unreferenced"
            (segments without a reference), "entities" (``&amp;`` in SGML as it stands).
        incomplete: what becomes of a system that lacks segments: "refuse", "empty", "drop".
        layout: "gnomon" or "mt-metrics-eval".
        compress: write the texts as ``.txt.gz``.
    """

    language_pair: str | None = None
    systems: Sequence[str] = ()
    references: Sequence[str] = ()
    outputs: Sequence[str | PathLike[str]] = ()
    human: Sequence[str | PathLike[str]] = ()
    first_segment: Literal[0, 1] | None = None
    span_ends: Literal["last", "behind"] | None = None
    keep: Sequence[str] = ()
    incomplete: Incomplete = "refuse"
    layout: str = "gnomon"
    compress: bool = False


def convert_sets(
    paths: Sequence[Path], folder: Path, wanted: ConvertOptions, *, form: str | None
) -> tuple[WrittenSet, ...]:
    """Convert what is found; see :func:`gnomon.official.convert`."""
    if not paths:
        raise UsageError("name a file, a folder or an archive to convert")
    if form is not None and form not in _formats_of_named_files():
        raise UnknownNameError("format to convert from", form, _formats_of_named_files())
    layouts = [layout.name for layout in formats_of(FolderFormat) if layout.is_written]
    if wanted.layout not in layouts:
        raise UnknownNameError("layout", wanted.layout, layouts)
    with _unpack(paths, folder) as places:
        infos = _sets_found(places, form)
        return _convert_all(_select_pair(infos, wanted.language_pair), paths, folder, wanted)


def _formats_of_named_files() -> dict[str, SetFormat]:
    """The formats that read files which are named together with them, by name."""
    return {form.name: form for form in formats_of(SetFormat) if form.reads_named_files}


@contextmanager
def _unpack(paths: Sequence[Path], folder: Path) -> Iterator[list[Path]]:
    """The paths, with archives unpacked beside the folder for as long as the block runs."""
    scratches: list[Path] = []
    places = []
    try:
        for path in paths:
            if not path.exists():
                raise MissingFileError(f"there is no file or directory {path}")
            if is_archive(path):
                scratches.append(folder.with_name(f".{secrets.token_hex(8)}.new"))
                target = scratches[-1] / _stem(path)  # which may name the set
                unpack(path, target)
                places.append(target)
            else:
                places.append(path)
        yield places
    finally:
        for scratch in scratches:
            shutil.rmtree(scratch, ignore_errors=True)


def _stem(archive: Path) -> str:
    """Name of an archive, without its suffixes and the mark of a download."""
    name = _SUFFIXES.sub("", archive.name).lstrip(".")
    return (_MARK.sub("", name) if archive.parent.name == "downloads" else name) or "archive"


def _sets_found(places: Sequence[Path], form: str | None) -> list[SetInfo]:
    """Every set; files of XML or SGML that were named together are one."""
    if form is not None:
        together = _formats_of_named_files()[form].together
        groups = [places] if together else [[path] for path in places]
        return [SetInfo(form, str(files[0]), None, tuple(files)) for files in groups]
    glued = {name for name, set_format in _formats_of_named_files().items() if set_format.together}
    named = {str(path) for path in places if path.is_file()}
    infos: list[SetInfo] = []
    joined: dict[str, int] = {}  # format -> index in infos
    for info in (info for path in places for info in sets_in(path)):
        if not (info.format in glued and info.place in named and len(named) > 1):
            infos.append(info)
        elif info.format in joined:
            first = infos[joined[info.format]]
            infos[joined[info.format]] = replace(first, files=(*first.files, Path(info.place)))
        else:
            joined[info.format] = len(infos)
            infos.append(replace(info, language_pair=None, files=(Path(info.place),)))
    return infos


def _select_pair(infos: Sequence[SetInfo], pair: str | None) -> list[SetInfo]:
    """The sets of a pair; a lone set that does not say its pair is taken at the user's word."""
    if pair is None or (len(infos) == 1 and infos[0].language_pair is None):
        return list(infos)
    fitting = [info for info in infos if info.language_pair == pair]
    if not fitting:
        pairs = dict.fromkeys(info.language_pair for info in infos if info.language_pair)
        raise UnknownNameError("language pair", pair, list(pairs))
    silent = [info.place for info in infos if info.language_pair is None]
    if silent:
        _log.info(
            "%d sets do not say their language pair and are left out; name one of them alone if it"
            " is of %s: %s",
            len(silent),
            pair,
            ", ".join(silent),
        )
    return fitting


def _convert_all(
    infos: Sequence[SetInfo], paths: Sequence[Path], folder: Path, wanted: ConvertOptions
) -> tuple[WrittenSet, ...]:
    origin = {
        "source": [str(path) for path in paths],
        "sha256": {path.name: digest(path) for path in paths if path.is_file()},
    }
    written: list[WrittenSet] = []
    failed: list[str] = []
    for info in infos:
        try:
            testset = _read(info, wanted)
            target = folder if len(infos) == 1 else _place(folder, testset, written)
            written.append(
                write_set(
                    testset,
                    target,
                    {"set": testset.name, "format": info.format, **origin},
                    layout=wanted.layout,
                    compress=wanted.compress,
                )
            )
        except DataError as error:
            if len(infos) == 1:
                raise
            failed.append(str(error))
            _log.warning("not converted: %s", error)
    if failed:
        raise DataError(
            f"{len(failed)} of {len(infos)} sets could not be converted, the first: {failed[0]};"
            f" the others are in {folder}"
        )
    return tuple(written)


def _place(folder: Path, testset: TestSet, written: Sequence[WrittenSet]) -> Path:
    """``FOLDER/NAME/PAIR``, with a number where another set has that place."""
    name = testset.name.replace("/", "_").lstrip(".") or "set"
    taken, number = {set_written.path for set_written in written}, 1
    while True:
        label = name if number == 1 else f"{name}-{number}"
        target = folder / label / (testset.language_pair or "")
        if target not in taken:
            return target
        number += 1


def _read(info: SetInfo, wanted: ConvertOptions) -> TestSet:
    pair, chosen = wanted.language_pair, wanted.references or None
    form = _formats_of_named_files().get(info.format)
    if form is None:
        testset = read_test_set(info.place, language_pair=info.language_pair)
    else:
        options = {name: value for name, value in vars(wanted).items() if name in form.options}
        testset = form.read(info.files or (Path(info.place),), **options)
        if "references" in options:  # the reader has made references of them
            chosen = None
    if testset.language_pair is None and pair is not None:
        testset = replace(testset, language_pair=pair)
    return _add_files(testset.select(systems=wanted.systems or None, references=chosen), wanted)


def _add_files(testset: TestSet, wanted: ConvertOptions) -> TestSet:
    if wanted.outputs:
        outputs = read_systems(wanted.outputs)
        for name in outputs:
            if name in testset.systems:
                raise DataError(f"there is a system {name!r} already; rename the file")
        testset = replace(testset, systems={**testset.systems, **outputs})
    for file in wanted.human:
        options = {"ends": wanted.span_ends, "first_segment": wanted.first_segment}
        given = {name: value for name, value in options.items() if value is not None}
        testset = testset.with_human(file, **given)
    return testset
