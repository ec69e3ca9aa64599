"""gnomon's own directory layout: where things lie, and reading them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from gnomon.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.formats._files import LOGGER, require_directory
from gnomon.formats._human import read_human
from gnomon.formats._lines import read_lines, report_empty
from gnomon.formats._plain import check_parallel
from gnomon.formats._tsv import read_tsv
from gnomon.testset import SystemInfo, TestSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from gnomon.formats._tsv import Row

T = TypeVar("T")

EXPECTED = (
    "a test set directory holds ref.NAME.txt (one file per reference) or src.txt, and"
    " systems/NAME.txt (one file per system); files may be compressed (.txt.gz)"
)
INFO_COLUMNS = ("system", "year", "architecture", "constrained", "human")
_TEXT = re.compile(r"(?P<name>.+)\.txt(?:\.gz)?", re.DOTALL)
_PAIR = re.compile(
    r"[a-z]{2}(_[A-Za-z]{2,4})?-[a-z]{2}(_[A-Za-z]{2,4})?"
    r"|[a-z]{3}(_[A-Za-z]{2,4})?-[a-z]{3}(_[A-Za-z]{2,4})?"
)
_YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True)
class _Systems:
    """What ``systems.tsv`` says: every name it lists, and what is known of each."""

    names: tuple[str, ...] = ()
    info: tuple[tuple[str, SystemInfo], ...] = ()


def is_layout(path: Path) -> bool:
    """Whether a directory looks like a test set in gnomon's layout."""
    return (
        find(path, "src.txt") is not None
        or bool(_references(path))
        or bool(text_files(path / "systems"))
    )


def is_pair(name: str) -> bool:
    """Whether a name looks like a language pair.

    >>> is_pair("de-en"), is_pair("en-zh_TW"), is_pair("my-set")
    (True, True, False)
    """
    return _PAIR.fullmatch(name) is not None


def find(folder: Path, name: str) -> Path | None:
    """A file of this name, plain or compressed.

    Raises:
        FormatError: both are there.
    """
    files = [file for file in (folder / name, folder / f"{name}.gz") if file.is_file()]
    if len(files) > 1:
        raise FormatError(f"{files[1].name} lies beside it; keep one of the two", path=files[0])
    return files[0] if files else None


def text_files(folder: Path) -> dict[str, Path]:
    """Name -> file of the ``NAME.txt`` and ``NAME.txt.gz`` in a folder, in natural order.

    Raises:
        DataError: two files have the same name.
    """
    named: dict[str, Path] = {}
    entries = sorted(folder.iterdir(), key=natural) if folder.is_dir() else []
    for file in entries:
        match = _TEXT.fullmatch(file.name)
        if file.name.startswith(".") or not match:
            continue
        name = match["name"]
        if name in named:
            raise DataError(f"two files are called {name!r}: {named[name]} and {file}; keep one")
        named[name] = file
    return named


def natural(file: Path) -> list[tuple[int, int, str]]:
    """Sort key by which ``ref.10.txt`` comes after ``ref.9.txt``."""
    parts = re.split(r"([0-9]+)", file.name.removesuffix(".gz").removesuffix(".txt"))
    return [(0, int(p), p) if p.isascii() and p.isdigit() else (1, 0, p) for p in parts]


def choose(kind: str, wanted: Sequence[str] | None, there: Mapping[str, T]) -> dict[str, T]:
    """The wanted ones in the order wanted; all by default.

    Raises:
        UnknownNameError: a wanted one is not there.
    """
    for name in wanted or ():
        if name not in there:
            raise UnknownNameError(kind, name, there)
    return {name: there[name] for name in (there if wanted is None else wanted)}


def agree(known: str | None, given: str | None, path: Path) -> str | None:
    """The language pair, from what the directory says and what the user says.

    Raises:
        UsageError: the two contradict each other.
    """
    if known is None or given is None or given in (known, known.split("-")[-1]):
        return known or given
    raise UsageError(f"{path} is a test set for {known}; {given} was asked for")


def read_layout(
    path: Path,
    *,
    language_pair: str | None,
    systems: Sequence[str] | None,
    references: Sequence[str] | None,
) -> TestSet:
    """Read a test set directory in gnomon's layout; see :func:`gnomon.formats.read_test_set`."""
    require_directory(path)
    about = _read_about(path)
    listed = _read_systems(path)
    outputs = text_files(path / "systems")
    source = find(path, "src.txt")
    files = _references(path)
    if not files and source is None:
        raise DataError(f"{path} holds neither references nor sources; {EXPECTED}")
    chosen = choose("system", systems, _ordered(outputs, listed.names))
    kept = choose("reference", references, _ordered(files, about.references))
    texts = {name: read_lines(file) for name, file in chosen.items()}
    refs = {name: read_lines(file) for name, file in kept.items()}
    sources = None if source is None else read_lines(source)
    counts = {str(kept[name]): len(lines) for name, lines in refs.items()}
    counts |= {str(source): len(sources)} if sources is not None else {}
    check_parallel(counts | {str(chosen[name]): len(lines) for name, lines in texts.items()})
    segments = next(iter(counts.values()))
    documents, domains, labels = _read_documents(path, segments)
    known = (*outputs, *(name for name in listed.names if name not in outputs))
    human = read_human(path / "human", known, segments, texts, sources, documents, domains)
    return TestSet(
        name=about.name,
        references=_with_missing(path, kept, refs),
        systems=_said(texts, chosen),
        sources=sources,
        language_pair=agree(about.language_pair, language_pair, path),
        info={name: info for name, info in listed.info if name in chosen},
        documents=documents,
        domains=domains,
        labels=labels,
        human=human.scores,
        rankings=human.rankings,
        errors=human.errors,
        system_references=_read_own(path, chosen, segments),
        path=str(path),
    )


@dataclass(frozen=True)
class _About:
    name: str
    language_pair: str | None
    references: tuple[str, ...] = ()


def _read_about(path: Path) -> _About:
    folder = path.resolve()
    pair = folder.name if is_pair(folder.name) else None
    default = _About((folder.parent.name or folder.name) if pair else folder.name, pair)
    file = find(path, "testset.json")
    if file is None:
        return default
    try:
        data = json.loads("\n".join(read_lines(file)))
        name, known, order = data["name"], data["language_pair"], data.get("references", [])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(
            "a JSON object with the keys name, language_pair and, optionally, references is"
            f" expected ({error})",
            path=file,
        ) from error
    words = isinstance(order, list) and all(isinstance(item, str) for item in order)
    if not isinstance(name, str) or not isinstance(known, (str, type(None))) or not words:
        raise FormatError(
            "name and language_pair must be strings (or null), references a list of strings",
            path=file,
        )
    return _About(name, known, tuple(order))


def _references(path: Path) -> dict[str, Path]:
    if not path.is_dir():
        return {}
    named = text_files(path)
    return {n.removeprefix("ref."): file for n, file in named.items() if re.match(r"ref\..", n)}


def _ordered(files: dict[str, Path], first: Iterable[str]) -> dict[str, Path]:
    return {name: files[name] for name in first if name in files} | files


def _said(texts: dict[str, list[str]], files: Mapping[str, Path]) -> dict[str, list[str]]:
    for name, lines in texts.items():
        report_empty(str(files[name]), "candidate", lines)
    return texts


def _with_missing(
    path: Path, files: Mapping[str, Path], refs: Mapping[str, list[str]]
) -> dict[str, list[str | None]]:
    complete: dict[str, list[str | None]] = {}
    for name, lines in refs.items():
        texts: list[str | None] = list(lines)
        gaps = find(path, f"ref.{name}.missing.tsv")
        if gaps is not None:
            _blank_out(texts, gaps, files[name])
        report_empty(str(files[name]), "reference", texts)
        complete[name] = texts
    return complete


def _blank_out(texts: list[str | None], gaps: Path, file: Path) -> None:
    table = read_tsv(gaps)
    table.require("seg")
    for row in table:
        segment = row.integer("seg", 1, len(texts)) - 1
        if texts[segment]:
            raise row.error(f"segment {segment + 1} is said to be missing, but {file} has a text")
        texts[segment] = None


def _read_systems(path: Path) -> _Systems:
    file = find(path, "systems.tsv")
    if file is None:
        return _Systems()
    table = read_tsv(file)
    table.require("system")
    names: list[str] = []
    info: list[tuple[str, SystemInfo]] = []
    for row in table:
        name = row["system"]
        if name in names:
            raise row.error(f"system {name!r} is listed twice")
        names.append(name)
        known = _system_info(row)
        if known != SystemInfo():
            info.append((name, known))
    texts = text_files(path / "systems")
    silent = [name for name in names if name not in texts]
    if silent:
        LOGGER.info("%s: no text for %d of the systems: %s", file, len(silent), ", ".join(silent))
    return _Systems(tuple(names), tuple(info))


def _system_info(row: Row) -> SystemInfo:
    extra = {k: v for k, v in row.cells.items() if k not in INFO_COLUMNS and v}
    return SystemInfo(
        year=row.integer("year", 0) if row.get("year") else None,
        architecture=row.get("architecture") or None,
        constrained=_flag(row, "constrained"),
        human=_flag(row, "human") or False,
        extra=extra,
    )


def _flag(row: Row, column: str) -> bool | None:
    text = row.get(column)
    if not text:
        return None
    if text.lower() not in _YES:
        raise row.error(f"{column} is {text!r}; yes or no is expected, or nothing if unknown")
    return _YES[text.lower()]


def _read_documents(
    path: Path, segments: int
) -> tuple[list[str] | None, list[str] | None, dict[str, list[str]]]:
    file = find(path, "documents.tsv")
    if file is None:
        return None, None, {}
    table = read_tsv(file)
    if len(table.rows) != segments:
        raise FormatError(
            f"has {len(table.rows)} rows below its header; the test set has {segments} segments,"
            " one row is expected for each",
            path=file,
        )
    columns = {column: [row[column] for row in table] for column in table.columns}
    return columns.pop("document", None), columns.pop("domain", None), columns


def _read_own(
    path: Path, chosen: Mapping[str, Path], segments: int
) -> dict[str, dict[str, list[str | None]]]:
    folder = path / "system-references"
    own: dict[str, dict[str, list[str | None]]] = {}
    for system in chosen:
        files = _references(folder / system)
        if not files:
            continue
        lines = {name: read_lines(file) for name, file in files.items()}
        counts = {str(files[name]): len(texts) for name, texts in lines.items()}
        check_parallel({f"{path} (its segments)": segments} | counts)
        own[system] = _with_missing(folder / system, files, lines)
    return own


def missing_test_set(path: Path) -> DataError:
    """The error for a directory that is no test set."""
    return DataError(
        f"{path} holds no test set: there are neither references nor sources in it; {EXPECTED}; an"
        " mt-metrics-eval directory holds sources/LP.txt, references/LP.NAME.txt and"
        " system-outputs/LP/NAME.txt"
    )
