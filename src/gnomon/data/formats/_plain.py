"""Test sets of parallel files: lines of text, translation units, logs of evaluations."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError, FormatError, MissingFileError, UsageError
from gnomon.core.lazy import checked
from gnomon.core.testset import TestSet
from gnomon.data.formats._files import (
    LOGGER,
    LOGS,
    STANDARD_INPUT,
    UNIT_FORMATS,
    bears_file,
    entries,
    plain_name,
    read_bytes,
    unit_format,
)
from gnomon.data.formats._lines import (
    BY_COLUMNS,
    JoinedTexts,
    check_parallel,
    read_lines,
    report_empty,
    shown,
    write_lines,
)
from gnomon.data.formats._registry import Format, FoundSet, SetFormat
from gnomon.data.formats._warnings import say_roles, warn_of_anomalies
from gnomon.messages.audiences import Named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from gnomon.data.formats._units import TranslationUnits
    from gnomon.data.formats.rows import FileHead

#: the beginning of a file of markup, and the first element, which names its format
_MARKUP = re.compile(
    r"\s*(?:(?:<\?xml|<!DOCTYPE)(?:[^<]|<[!?])*<(?P<root>[\w:]+)"
    r"|<(?P<lone>xliff|tmx|html|mteval|srcset|refset|tstset|dataset)\b)",
    re.IGNORECASE,
)
_PUBLISHED = frozenset({"mteval", "srcset", "refset", "tstset", "dataset"})
#: a line of an n-best list: the number of the segment, and a text
_N_BEST = re.compile(r"(\d{1,15}) \|\|\| (.*?)(?:\|\|\||$)")
#: when an evaluation ran, in the name of its log, and what inspect calls it
_TIME = re.compile(r"_\d{4}-\d\d-\d\dT[\d.-]+$|^\d{4}-\d\d-\d\dT[\d+-]+_|_[A-Za-z0-9]{22}$")
_HEAD, _BEGINNING = 5, 2000  # lines, and characters of a line
_ROWS = 100  # that tell whether a file is a table


@checked
def read_plain(
    *,
    references: Sequence[str | PathLike[str]],
    systems: Sequence[str | PathLike[str]],
    source: str | PathLike[str] | None = None,
    language_pair: str | None = None,
) -> TestSet:
    """Read a test set from plain text files of one segment per line, or of translation units.

    Units (XLIFF, TMX, PO) are joined by their ids, whatever their order, and bring the sources and
    the language pair with them. A file of lines beside them has one for each unit.

    Args:
        references: one file per reference, named after the file without ``.txt`` and ``.gz``;
            equal names get a number (``ref``, ``ref-2``).
        systems: one file per system, named likewise, or folders whose files are all taken; names
            must differ.
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
    systems = _expand_folders(systems)
    names = _system_names(systems)
    every = [*references, *systems, *([source] if source is not None else [])]
    _check_standard_input(every)
    read = {path: _texts(path) for path in dict.fromkeys(every)}  # a log may stand twice
    files = [(shown(path), read[path]) for path in every]
    parts = _joined(files, len(references), sourced=source is not None)
    models = [getattr(read[path], "system", "") or name for name, path in names.items()]
    named = models if len(set(models)) == len(models) else list(names)
    refs = [texts for texts_of_file in parts.references for texts in texts_of_file]
    paths = [path for path, some in zip(references, parts.references, strict=True) for _ in some]
    for path, texts in zip(references, parts.references, strict=True):
        report_empty(shown(path), "reference", texts[0])
    for path, lines in zip(systems, parts.systems, strict=True):
        report_empty(shown(path), "candidate", lines)
    if source is not None and parts.sources is not None:
        report_empty(shown(source), "source", parts.sources)
    titles = {"systems": named, "references": _reference_names(paths), "sources": [""]}
    testset = TestSet(
        name=_name((references or [source or "test set"])[0]),
        references=dict(zip(titles["references"], refs, strict=True)),
        systems=dict(zip(named, parts.systems, strict=True)),
        sources=parts.sources,
        language_pair=language_pair or parts.language_pair,
        logged={
            metric: {titles["systems"][number]: values for number, values in scores.items()}
            for metric, scores in parts.scores.items()
        },
        codes={
            role: {titles[role][number]: codes for number, codes in files_of_role.items()}
            for role, files_of_role in parts.codes.items()
        },
        units={name: {str(path): parts.ids} for name, path in names.items() if unit_format(path)},
    )
    say_roles(
        list(map(plain_name, references)),
        list(names),
        None if source is None else plain_name(source),
    )
    return warn_of_anomalies(testset)


def _joined(
    files: Sequence[tuple[str, list[str] | TranslationUnits]], references: int, *, sourced: bool
) -> JoinedTexts:
    """The texts of all files: units by their ids, lines as they stand."""
    if any(not isinstance(file, list) for _, file in files):
        from gnomon.data.formats._units import joined

        return joined(files, references, sourced=sourced)
    texts = [_lines_of(file) for _, file in files]
    counts = {name: len(lines) for (name, _), lines in zip(files, texts, strict=True)}
    outputs = list(counts)[references : len(files) - sourced] if references else ()
    check_parallel(counts, outputs=outputs)
    sources = texts.pop() if sourced else None
    return JoinedTexts([[one] for one in texts[:references]], texts[references:], sources)


@checked
def read_systems(paths: Sequence[str | PathLike[str]]) -> dict[str, list[str]]:
    """Read the outputs of systems from plain text files: name -> one text per segment.

    Args:
        paths: files, or folders whose files are all taken.

    Raises:
        MissingFileError: a file is missing, or a folder holds none.
        FormatError: a file is not UTF-8, or is binary.
        LengthMismatchError: files have unequal numbers of lines; both are named.
        DataError: two systems have the same name, or the files hold no segment.
        UsageError: standard input is named twice.
        WrongTypeError: a single path in place of a list.
    """
    paths = _expand_folders(paths)
    texts = read_outputs(paths)
    names = _system_names(paths)
    check_parallel({shown(path): len(texts[name]) for name, path in names.items()})
    for name, path in names.items():
        report_empty(shown(path), "candidate", texts[name])
    return texts


def read_outputs(paths: Sequence[str | PathLike[str]]) -> dict[str, list[str]]:
    """Read the outputs of systems as :func:`read_systems` does, which may differ in their lines."""
    paths = _expand_folders(paths)
    names = _system_names(paths)
    _check_standard_input(paths)
    return {name: _segments(path) for name, path in names.items()}


def _segments(path: str | PathLike[str]) -> list[str]:
    """The texts of a file: lines, or what translation units translate to."""
    return _lines_of(_texts(path))


def is_called_log(path: str | PathLike[str]) -> bool:
    """True if a file, or a folder of logs, is called as logs are, and as no file of lines is."""
    return str(path).removesuffix(".gz").lower().endswith(LOGS) or Path(path) in log_folders(path)


def is_evaluation_log(path: str | PathLike[str]) -> bool:
    """True if a file is the log of an evaluation by name and beginning, or a folder has some."""
    if not (is_called_log(path) and Path(path).is_file()):
        return Path(path) in log_folders(path)
    status = Path(path).stat()
    return _begins_as_log(str(path), status.st_mtime_ns, status.st_size)


def log_folders(path: str | PathLike[str]) -> list[Path]:
    """The folders of models that lm-evaluation-harness wrote: this one, or those inside it."""
    folder = Path(path)
    inside = [folder, *(one for one in entries(folder) if one.is_dir())] if folder.is_dir() else []
    return [one for one in inside if next(one.glob("samples_*.jsonl"), None)]


@lru_cache(maxsize=64)
def _begins_as_log(path: str, _changed: int, _size: int) -> bool:
    """True if a file does, which is read for it."""
    from gnomon.data.formats._logs import is_log

    return is_log(read_bytes(path), path)


def _lines_of(file: list[str] | TranslationUnits) -> list[str]:
    return file if isinstance(file, list) else [file.targets.get(i, "") for i in file.ids]


def _texts(path: str | PathLike[str]) -> list[str] | TranslationUnits:
    """The lines of a file, or its translation units; of other markup lines are no segments."""
    form = "log" if is_called_log(path) else unit_format(path)
    if form is None:
        _check_no_workbook(path)
    lines = read_lines(path) if form is None else []
    name = markup_of(lines)
    if name is not None:
        if name not in UNIT_FORMATS.values() or str(path) == STANDARD_INPUT:
            published = (
                " (the folder of a published set is read as a whole: ",
                Named("-t FOLDER", "gnomon.TestSet.read"),
                ")",
            )
            raise FormatError(
                f"begins as {name.upper()}, and its lines are no segments; write the"
                " texts to a file of one segment per line",
                *(published if name in _PUBLISHED else ()),
                path=shown(path),
                line=1,
            )
        form = name
    if form is None:
        _check_no_table(path, lines)
        return best_texts(path, lines)
    from gnomon.data.formats._units import read_units

    return read_units(path, form)


def markup_of(lines: Sequence[str]) -> str | None:
    """Name of the first element, where lines are those of markup."""
    found = _MARKUP.match("\n".join(line[:_BEGINNING] for line in lines[:_HEAD]))
    return found and (found["root"] or found["lone"]).rpartition(":")[2].lower()


def best_texts(path: str | PathLike[str], lines: list[str]) -> list[str]:
    """The lines of a file, or of an n-best list the first of each segment, by its number.

    Raises:
        FormatError: the list lacks a segment.
    """
    first: dict[int, str] = {}
    for line in lines:
        found = _N_BEST.match(line)
        if found is None:
            return lines
        first.setdefault(int(found[1]), found[2].strip())
    if not first:
        return lines
    numbers = sorted(first)
    for number, there in enumerate(numbers, start=min(numbers[0], 1)):
        if number != there:
            raise FormatError(
                f"is an n-best list without segment {number}; its numbers begin with 0 or 1, and"
                " each segment needs a text, which may be empty",
                path=shown(path),
            )
    LOGGER.info("%s: an n-best list, of which the first of each segment is read", shown(path))
    return [first[number] for number in numbers]


def _check_no_workbook(path: str | PathLike[str]) -> None:
    suffix = Path(path).suffix.lower()
    if suffix == ".xlsx" and Path(path).is_file():
        raise _table_error(path, "is a table")


def _check_no_table(path: str | PathLike[str], lines: Sequence[str]) -> None:
    """Refuse a table that is called .csv or .tsv; lines of text may be called so, too."""
    suffix = Path(str(path).removesuffix(".gz")).suffix.lower()
    if suffix not in (".csv", ".tsv") or not lines:
        return
    from gnomon.data.formats._table import is_header
    from gnomon.data.formats.rows import parse_quoted_rows

    mark = "\t" if suffix == ".tsv" else max(",;\t|", key=lines[0].count)
    rows = [line.split(mark) for line in lines[:_ROWS]]
    if suffix == ".csv":
        rows = [row for _, row in parse_quoted_rows(shown(path), lines[:_ROWS], mark, 1)[0]]
    heads = [head.strip() for head in rows[0]] if rows else []
    columns = len(heads) > 1 and {len(row) for row in rows} == {len(heads)}
    if (columns and (mark == "\t" or len(rows) > 2)) or is_header(heads):
        raise _table_error(path, f"holds columns ({', '.join(head[:20] for head in heads)})")


def _table_error(path: str | PathLike[str], what: str) -> FormatError:
    return FormatError(
        f"{what}, and its lines are no segments; give a table alone, or by its columns (",
        BY_COLUMNS,
        "), or write the texts of a column to a file of one segment per line",
        path=shown(path),
    )


def _expand_folders(paths: Sequence[str | PathLike[str]]) -> list[str | PathLike[str]]:
    """The paths, with all files of a folder in its place, hidden ones apart."""
    files_taken: list[str | PathLike[str]] = []
    for path in paths:
        if str(path) == STANDARD_INPUT or not Path(path).is_dir():
            files_taken.append(path)
            continue
        if logs := log_folders(path):
            files_taken += logs
            continue
        inside = [entry for entry in entries(Path(path)) if not entry.name.startswith(".")]
        files = [entry for entry in inside if bears_file(entry)]
        if not files:
            raise MissingFileError(
                f"the folder {path} holds no file; outputs of systems are expected in it, a file"
                " for each"
            )
        folders = [entry.name for entry in inside if entry.is_dir()]
        if folders:
            LOGGER.info("%s: folders inside it are not read: %s", path, ", ".join(folders))
        files_taken += files
    return files_taken


def _check_standard_input(paths: Sequence[str | PathLike[str]]) -> None:
    if sum(str(path) == STANDARD_INPUT for path in paths) > 1:
        raise UsageError("'-' (standard input) can stand for one file only; save the other first")


def read_parallel(files: Mapping[Path, str], *, drop: bool = False) -> dict[Path, list[str]]:
    """The lines of parallel files.

    Args:
        files: each with what it holds, whose empty texts are said: "source", "reference" or
            "candidate"; "": whoever reads it looks for these.
        drop: leave out candidates of another length than the first file, unless all are, and say
            so.
    """
    texts = {file: _segments(file) for file in files}
    expected = len(next(iter(texts.values()), ()))
    outputs = [file for file, kind in files.items() if kind == "candidate" and drop]
    odd = [file for file in outputs if len(texts[file]) != expected]
    for file in odd if len(odd) < len(outputs) else ():
        said = "%s is left out: it has %d lines for %d segments"
        LOGGER.warning(said, file, len(texts.pop(file)), expected)
    of_outputs = [str(file) for file, kind in files.items() if kind == "candidate"]
    aligned = next(iter(files.values()), "candidate") == ""  # with a reference
    counts = {str(file): len(lines) for file, lines in texts.items()}
    check_parallel(counts, outputs=of_outputs if aligned else ())
    for file, lines in texts.items():
        if files[file]:
            report_empty(str(file), files[file], lines)
    return texts


def _system_names(paths: Sequence[str | PathLike[str]]) -> dict[str, str | PathLike[str]]:
    named: dict[str, str | PathLike[str]] = {}
    logs = [Path(path) for path in paths if is_called_log(path)]
    # of logs of one name, which stand in folders of their models
    by_folder = len(set(map(_name, logs))) < len(logs)
    for path in paths:
        name = _name(path)
        if is_called_log(path) and by_folder:
            name = Path(path).resolve().parent.name
        if name in named:
            raise DataError(
                f"two systems are called {name!r}: {named[name]} and {path}; a system is named"
                " after its file, so rename or copy one of them"
            )
        named[name] = path
    return named


def _name(path: str | PathLike[str]) -> str:
    if not is_called_log(path):
        return plain_name(shown(path))
    return _TIME.sub("", Path(path).name if Path(path).is_dir() else Path(path).stem)


def _reference_names(paths: Sequence[str | PathLike[str]]) -> list[str]:
    names: list[str] = []
    taken = {_name(path) for path in paths}
    for path in paths:
        name, number = _name(path), 1
        while name in names or (number > 1 and name in taken):
            number += 1
            name = f"{_name(path)}-{number}"
        names.append(name)
    return names


def _set_of_log(head: FileHead) -> FoundSet | None:
    """The log of an evaluation: what it holds of references, sources and outputs."""
    if not is_evaluation_log(head.path):
        return None
    return FoundSet(head.path, partial(read_plain, references=[head.path], systems=[head.path]))


def _set_of_files(folder: Path) -> list[FoundSet]:
    """A folder of nothing but units and logs, in which names tell source and references."""
    files = [file for file in sorted(folder.iterdir()) if bears_file(file)]
    if not files or not all(unit_format(file) or is_evaluation_log(file) for file in files):
        files = log_folders(folder)
    if not files:
        return []
    from gnomon.data.formats._table import role_of_name

    roles = {file: role_of_name(file.name) for file in files}
    source = next((file for file in files if roles[file] == "source"), None)
    references = [file for file in files if roles[file] == "reference"]
    outputs = [file for file in files if file not in (*references, source)]
    logs = [file for file in outputs if not unit_format(file)]

    def read() -> TestSet:
        made = read_plain(references=references or logs[:1], systems=outputs, source=source)
        return replace(made, name=folder.name, path=str(folder))

    return [FoundSet(folder, read, files=tuple(files))]


FORMATS = (
    Format(
        name="plain text",
        title="one segment per line in UTF-8; .gz and standard input (-) too; named after the file",
        holds="test set",
        read=read_plain,
        write=write_lines,
    ),
    SetFormat(
        name="log",
        title="logs of lm-evaluation-harness, inspect, lighteval, MT-Lens, OpenAI's batches",
        of_file=_set_of_log,
        in_folder=_set_of_files,
    ),
)
