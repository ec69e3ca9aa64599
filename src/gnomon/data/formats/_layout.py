"""Directories in gnomon's own layout."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import DataError, FormatError, UnknownNameError
from gnomon.core.human import (
    HumanScores,
    Judgements,
    OutputLookedAt,
    Ranking,
    clean_outputs,
    marked_kinds,
    only_kind,
)
from gnomon.core.spans import SIDES, ErrorSpan
from gnomon.core.testset import SystemInfo, TestSet
from gnomon.data.formats._files import (
    LOGGER,
    agree,
    atomic_write,
    choose,
    entries,
    find,
    is_pair,
    natural,
    plain_name,
    references_in,
    text_files,
)
from gnomon.data.formats._judged_file import (
    JudgedFile,
    check_limits,
    human_score,
    human_scores_of,
    judgements_of,
    marker_of,
    refuse_second,
    say_coverage,
    say_unread,
    score_columns,
)
from gnomon.data.formats._lines import check_parallel, read_lines, report_empty, write_lines
from gnomon.data.formats._plain import read_parallel
from gnomon.data.formats._registry import FolderFormat, JudgementFormat
from gnomon.data.formats.rows import print_number, read_tsv, write_tsv
from gnomon.data.formats.side_files import read_alignments, read_codes, read_logged, write_beside
from gnomon.data.formats.unreadable_files import require_directory

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from os import PathLike

    from gnomon.data.formats.rows import FileHead, FileRecord, TextTable


# What is known of a test set, its systems and its segments: the files beside the texts.


INFO_COLUMNS = ("system", "year", "architecture", "constrained", "human")
_YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True)
class About:
    """The contents of ``testset.json``, or else the name of the directory."""

    name: str
    language_pair: str | None
    references: tuple[str, ...] = ()
    names: Mapping[str, str] | None = None

    def list_files(self, path: Path, folder: str) -> dict[str, Path]:
        """Name -> file of the references (``ref.``) or of the outputs (``systems/``)."""
        if self.names is None:
            return references_in(path) if folder == "ref." else text_files(path / "systems")
        return {name: path / file for file, name in self.names.items() if file.startswith(folder)}


def read_about(path: Path) -> About:
    """Read ``testset.json``; without it, ``SET/de-en`` is the set SET for the pair de-en."""
    folder = path.resolve()
    pair = folder.name if is_pair(folder.name) else None
    default = About((folder.parent.name or folder.name) if pair else folder.name, pair)
    file = find(path, "testset.json")
    if file is None:
        return default
    try:
        data = json.loads("\n".join(read_lines(file)))
        name, pair_in_file, order = data["name"], data["language_pair"], data.get("references", [])
        names = data.get("names")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(
            "a JSON object with the keys name, language_pair and, optionally, references is"
            f" expected ({error})",
            path=file,
        ) from error
    words = isinstance(order, list) and all(isinstance(item, str) for item in order)
    if not isinstance(name, str) or not isinstance(pair_in_file, (str, type(None))) or not words:
        raise FormatError(
            "name and language_pair must be strings (or null), references a list of strings",
            path=file,
        )
    _check_names(names, file)
    return About(name, pair_in_file, tuple(order), names)


_NAMED_FILE = re.compile(r"(ref\.|systems/)[^/\\\0]+\.txt(\.gz)?", re.DOTALL)


def _check_names(names: object, file: Path) -> None:
    if names is None:
        return
    if not isinstance(names, dict) or not all(isinstance(n, str) and n for n in names.values()):
        raise FormatError("names must be an object of names by file", path=file)
    for named in names:
        if not _NAMED_FILE.fullmatch(named):
            raise FormatError(
                f"names has {named!r}; ref.NAME.txt or systems/NAME.txt is expected", path=file
            )
    for folder in ("ref.", "systems/"):
        same = [name for named, name in names.items() if named.startswith(folder)]
        if len(set(same)) < len(same):
            raise FormatError("names gives two files the same name; keep one", path=file)


@dataclass(frozen=True)
class Systems:
    """The contents of ``systems.tsv``: every name in it, and the facts of each."""

    names: tuple[str, ...] = ()
    info: tuple[tuple[str, SystemInfo], ...] = ()


def read_systems(path: Path, texts: Collection[str]) -> Systems:
    """Read ``systems.tsv``, which may list systems that have no text."""
    file = find(path, "systems.tsv")
    if file is None:
        return Systems()
    table = read_tsv(file)
    table.require("system")
    names: list[str] = []
    info: list[tuple[str, SystemInfo]] = []
    for row in table:
        name = row["system"]
        if name in names:
            raise row.error(f"system {name!r} is listed twice")
        names.append(name)
        system_info = SystemInfo(
            year=row.integer("year", 0) if row.get("year") else None,
            architecture=row.get("architecture") or None,
            constrained=_flag(row, "constrained"),
            human=_flag(row, "human") or False,
            extra={k: row[k] for k in row.values if k not in INFO_COLUMNS and row[k]},
        )
        if system_info != SystemInfo():
            info.append((name, system_info))
    silent = [name for name in names if name not in texts]
    if silent:
        LOGGER.info("%s: no text for %d of the systems: %s", file, len(silent), ", ".join(silent))
    return Systems(tuple(names), tuple(info))


def _flag(row: FileRecord, column: str) -> bool | None:
    text = row.get(column)
    if not text:
        return None
    if text.lower() not in _YES:
        raise row.error(f"{column} is {text!r}; yes or no is expected, or nothing if unknown")
    return _YES[text.lower()]


def read_documents(
    path: Path, segments: int
) -> tuple[list[str] | None, list[str] | None, dict[str, list[str]]]:
    """Read ``documents.tsv``: the documents, the domains and further labels of the segments."""
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
    for column in ("document", "domain"):
        empty = [row.line for row in table if column in columns and not row[column]]
        if empty:
            LOGGER.info(
                "%s: %d segment(s) without a %s, the first in line %d",
                file,
                len(empty),
                column,
                empty[0],
            )
    return columns.pop("document", None), columns.pop("domain", None), columns


# What people said, in the files ``human/KIND.LEVEL.tsv`` of gnomon's layout.


LEVELS = {"sys": "system", "seg": "segment", "doc": "document", "domain": "domain"}
ITEM_COLUMNS = {"segment": "seg", "document": "doc", "domain": "domain"}
_FILE = re.compile(r"(?P<kind>.+)\.(?P<level>[^.]+)\.tsv(?:\.gz)?", re.DOTALL)


def read_folder(folder: Path, testset: TestSet, systems: Iterable[str]) -> Judgements:
    """Read every file in the folder ``human``; some ``systems`` may have no text."""
    judgements = Judgements()
    for path in entries(folder):
        if not path.name.startswith(".") and _FILE.fullmatch(path.name):
            with judgements_of(path):
                new = read_human_file(JudgedFile(path, testset, others=systems))
                say_coverage(str(path), new.scores)
                judgements += new
    return judgements


def read_human_file(file: JudgedFile) -> Judgements:
    """Read one such file."""
    match = _FILE.fullmatch(Path(file.path).name)
    if match is None:
        raise FormatError("a file of gnomon's layout is called KIND.LEVEL.tsv", path=file.path)
    file.kind, file.first_segment = file.kind or match["kind"], 1
    level, table = match["level"], read_tsv(file.path)
    if level == "spans":
        return _read_spans(file, table)
    if level == "seg" and {"better", "worse"} & set(table.columns):
        if not table.rows:  # some segments of a set may have no ranked pair
            LOGGER.warning("%s: has no rows below its header", table.path)
        return Judgements(rankings=(_read_ranking(file, table),))
    if level in LEVELS:
        if not table.rows:
            raise FormatError("has no rows below its header", path=file.path)
        return Judgements(scores=tuple(_read_scores(file, table, LEVELS[level])))
    raise FormatError(
        f"the level {level!r} in its name is unknown; a file in human/ is called"
        f" KIND.LEVEL.tsv with one of the levels {', '.join(LEVELS)}, spans",
        path=file.path,
    )


def _system(file: JudgedFile, row: FileRecord, column: str = "system") -> str:
    """The system that a row names; this layout lists them all."""
    name, systems = row[column], file.names.known
    if name not in systems:
        remedy = "a system without a text can be listed in systems.tsv"
        raise row.error(str(UnknownNameError("system", name, sorted(systems), remedy=remedy)))
    return name


def _read_ranking(file: JudgedFile, table: TextTable) -> Ranking:
    table.require("seg", "better", "worse")
    say_unread(table, ("seg", "better", "worse", "rater"))
    pairs = [
        (file.segment(row, row["seg"]), _system(file, row, "better"), _system(file, row, "worse"))
        for row in table
    ]
    raters = tuple(row["rater"] for row in table) if "rater" in table.columns else ()
    return Ranking(file.kind, tuple(pairs), raters)


def _read_scores(file: JudgedFile, table: TextTable, level: str) -> list[HumanScores]:
    item = ITEM_COLUMNS.get(level)
    table.require("system")
    if item is not None and item not in table.columns:
        rename = f"; rename {level!r} to {item!r}" if level in table.columns else ""
        other = "; scores of segments stand in KIND.seg.tsv with a column 'seg'"
        raise FormatError(
            f"there is no column {item!r}, which a file called KIND.{item}.tsv has beside 'system'"
            f" and the score, as it holds human scores of {level}s; the header has:"
            f" {', '.join(table.columns)}{rename or (other if level != 'segment' else '')}",
            path=table.path,
            line=1,
        )
    kinds = _kinds_by_column(table, file.kind, ["system", "rater", *([item] if item else [])])
    raters: dict[str | None, list[FileRecord]] = {}
    for row in table:
        raters.setdefault(row.get("rater") or None, []).append(row)
    return [
        _matrix(file, rows, kind, level, rater, column)
        for column, kind in kinds.items()
        for rater, rows in raters.items()
    ]


def _kinds_by_column(table: TextTable, kind: str, others: Sequence[str]) -> dict[str, str]:
    """Column -> kind: the file's where one column holds scores, else KIND-COLUMN for each."""
    columns = [column for column in table.columns if column not in others]
    if len(columns) > 1:
        columns = score_columns(table, others)
    if not columns:
        raise FormatError(
            f"a column of scores is expected beside {', '.join(others)}; there are:"
            f" {', '.join(table.columns)}",
            path=table.path,
            line=1,
        )
    return {c: f"{kind}-{c}" for c in columns} if len(columns) > 1 else {columns[0]: kind}


def _matrix(
    file: JudgedFile,
    rows: Sequence[FileRecord],
    kind: str,
    level: str,
    rater: str | None,
    column: str,
) -> HumanScores:
    names = dict.fromkeys(_system(file, row) for row in rows)
    systems = {name: i for i, name in enumerate(names)}
    item = ITEM_COLUMNS.get(level)
    items: dict[str, int] = {}
    if item and level != "segment":
        items = {name: i for i, name in enumerate(dict.fromkeys(row[item] for row in rows))}
        _warn_of_strangers(file, level, items)
    width = {"system": 1, "segment": file.testset.segments}.get(level, len(items))
    values = np.full((len(systems), width), np.nan)
    seen: dict[tuple[int, int], int] = {}
    for row in rows:
        if level == "segment":
            position = file.segment(row, row["seg"])
        else:
            position = items[row[item]] if item else 0
        cell = (systems[row["system"]], position)
        refuse_second(seen, cell, row)
        values[cell] = human_score(kind, row, column)
    return HumanScores(kind, level, tuple(systems), values, tuple(items), rater)


def _warn_of_strangers(file: JudgedFile, level: str, items: Iterable[str]) -> None:
    listed = file.testset.documents if level == "document" else file.testset.domains
    expected = frozenset(items if listed is None else listed)
    strangers = [name for name in items if name not in expected]
    if strangers:
        LOGGER.warning(
            "%s: %d %s(s) that documents.tsv does not list, the first is %r",
            file.path,
            len(strangers),
            level,
            strangers[0],
        )


def _read_spans(file: JudgedFile, table: TextTable) -> Judgements:
    """Marked errors; where outputs without any have a row, which ones were looked at."""
    table.require("system", "seg", "side", "start", "end", "category", "severity")
    rows = [_span(file, row) for row in table]
    errors = tuple(error for error in rows if error.severity != _CLEAN)
    every = (OutputLookedAt(file.kind, row.rater, row.system, row.segment) for row in rows)
    looked_at = tuple(dict.fromkeys(every)) if len(errors) < len(rows) else ()
    return Judgements(errors=errors, looked_at=looked_at)


#: in place of a severity, as MQM's files have it: of an output that was found to have no error
_CLEAN = "No-error"


def _span(file: JudgedFile, row: FileRecord) -> ErrorSpan:
    system, segment, side = _system(file, row), file.segment(row, row["seg"]), row["side"]
    if side not in SIDES:
        raise row.error(f"side is {side!r}; candidate or source is expected")
    text = file.text(side, system, segment)
    length = None if text is None else len(text)
    start = row.integer("start", 0, length)
    return ErrorSpan(
        system=system,
        segment=segment,
        side=side,
        start=start,
        end=row.integer("end", start, length),
        category=row["category"],
        severity=row["severity"],
        rater=row.get("rater") or None,
        kind=file.kind,
        score=row.number("score") if row.get("score") else None,
        confidence=check_limits(0.0, row.number("confidence"), 1.0, "confidence", row)
        if row.get("confidence")
        else None,
        by=marker_of(row, row.values),
    )


EXPECTED = (
    "a test set directory holds ref.NAME.txt (one file per reference) or src.txt, and"
    " systems/NAME.txt (one file per system); files may be compressed (.txt.gz)"
)


def is_layout(path: Path) -> bool:
    """True if a directory looks like a test set in gnomon's layout."""
    return (
        find(path, "src.txt") is not None
        or bool(references_in(path))
        or bool(text_files(path / "systems"))
    )


def read_layout(
    path: Path,
    *,
    language_pair: str | None,
    systems: Sequence[str] | None,
    references: Sequence[str] | None,
) -> TestSet:
    """Read a test set directory in gnomon's layout; see :func:`gnomon.formats.read_test_set`."""
    require_directory(path)
    about = read_about(path)
    texts_by_name = about.list_files(path, "systems/")
    listed = read_systems(path, texts_by_name)
    outputs = _put_first(texts_by_name, listed.names)
    source = find(path, "src.txt")
    references_there = about.list_files(path, "ref.")
    if not references_there and source is None:
        raise DataError(f"{path} holds neither references nor sources; {EXPECTED}")
    chosen = choose("system", systems, outputs)
    kept = choose("reference", references, _put_first(references_there, about.references))
    files = dict.fromkeys(kept.values(), "")
    files |= {} if source is None else {source: "source"}
    lines = read_parallel(files | dict.fromkeys(chosen.values(), "candidate"))
    segments = len(next(iter(lines.values())))
    documents, domains, labels = read_documents(path, segments)
    texts_of_systems = {name: lines[file] for name, file in chosen.items()}
    testset = TestSet(
        name=about.name,
        references=_mark_missing(path, kept, lines),
        systems=texts_of_systems,
        sources=None if source is None else lines[source],
        language_pair=agree(about.language_pair, language_pair, path),
        info={name: info for name, info in listed.info if name in chosen},
        documents=documents,
        domains=domains,
        labels=labels,
        system_references=_read_own(path, chosen, segments),
        path=str(path),
        logged=read_logged(path, segments),
        codes=read_codes(path, segments),
        alignments=read_alignments(path, texts_of_systems, segments),
    )
    return testset.with_human(read_folder(path / "human", testset, [*outputs, *listed.names]))


def outputs_in(path: Path) -> dict[str, Path]:
    """Name -> file of the systems' outputs, in the order in which they are read."""
    files = read_about(path).list_files(path, "systems/")
    return _put_first(files, read_systems(path, files).names)


def _put_first(files: dict[str, Path], first: Iterable[str]) -> dict[str, Path]:
    return {name: files[name] for name in first if name in files} | files


def _mark_missing(
    path: Path, files: Mapping[str, Path], lines: Mapping[Path, list[str]]
) -> dict[str, list[str | None]]:
    complete: dict[str, list[str | None]] = {}
    for name, file in files.items():
        texts: list[str | None] = list(lines[file])
        gaps = find(path, f"{plain_name(file)}.missing.tsv")
        if gaps is not None:
            _blank_out(texts, gaps, file)
        report_empty(str(file), "reference", texts)
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


def _read_own(
    path: Path, chosen: Mapping[str, Path], segments: int
) -> dict[str, dict[str, list[str | None]]]:
    references: dict[str, dict[str, list[str | None]]] = {}
    for system, output in chosen.items():
        folder = path / "system-references" / plain_name(output)
        files = references_in(folder)
        if not files:
            continue
        lines = {file: read_lines(file) for file in files.values()}
        counts = {str(file): len(texts) for file, texts in lines.items()}
        check_parallel({f"{path} (its segments)": segments} | counts)
        references[system] = _mark_missing(folder, files, lines)
    return references


# Writing gnomon's own directory layout, so that reading it gives the same test set.


_SHORT = {level: short for short, level in LEVELS.items()}


def write_layout(testset: TestSet, folder: Path, *, compress: bool, numbered: bool = False) -> None:
    """Fill an empty directory with a test set.

    Numbered files hold the texts of any names, which ``testset.json`` then says.
    """
    suffix = ".txt.gz" if compress else ".txt"
    stems = _file_stems(testset, numbered=numbered)
    about: dict[str, object] = {
        "name": testset.name,
        "language_pair": testset.language_pair,
        "references": list(testset.references),
    }
    if numbered:
        about["names"] = {
            f"{prefix}{stems[name]}{suffix}": name
            for prefix, names in (("ref.", testset.references), ("systems/", testset.systems))
            for name in names
        }
    with atomic_write(folder / "testset.json") as file:
        file.write(json.dumps(about, indent=2) + "\n")
    if testset.sources is not None:
        write_lines(folder / f"src{suffix}", testset.sources)
    _write_references(testset.references, stems, folder, suffix)
    for name, texts in testset.systems.items():
        _write_texts(folder / "systems", f"{stems[name]}{suffix}", texts)
    for system, references in testset.system_references.items():
        own_folder = folder / "system-references" / stems[system]
        own_folder.mkdir(parents=True)
        own_stems = {name: _file_name("reference", name) for name in references}
        _write_references(references, own_stems, own_folder, suffix)
    _write_systems(testset, folder)
    _write_documents(testset, folder)
    write_beside(testset, folder)
    _write_human(testset, folder / "human")


def _file_stems(testset: TestSet, *, numbered: bool) -> dict[str, str]:
    """Names of the files of references and systems; one name may be that of both."""
    names = dict.fromkeys(testset.references, "reference")
    names |= dict.fromkeys(testset.systems, "system")
    if numbered:
        return {name: str(number) for number, name in enumerate(names, start=1)}
    return {name: _file_name(kind, name) for name, kind in names.items()}


def _file_name(kind: str, name: str) -> str:
    if not name or name.startswith(".") or any(c in name for c in "/\\\0\n\t\r"):
        raise DataError(
            f"the {kind} name {name!r} cannot be a file name: it must not be empty, begin with a"
            " dot, or hold a slash, tab or line end; rename it"
        )
    return name


def _write_texts(folder: Path, name: str, texts: Sequence[str]) -> None:
    folder.mkdir(exist_ok=True)
    file = folder / name
    if file.exists():
        raise DataError(
            f"this file system cannot tell {name!r} from another file in {folder.name}/ (names"
            " that differ in case or in Unicode form only); rename one of the two"
        )
    write_lines(file, texts)


def _write_references(
    references: Mapping[str, Sequence[str | None]],
    stems: Mapping[str, str],
    folder: Path,
    suffix: str,
) -> None:
    for name, texts in references.items():
        file = f"ref.{stems[name]}"
        _write_texts(folder, f"{file}{suffix}", ["" if t is None else t for t in texts])
        gaps = [[str(number)] for number, t in enumerate(texts, start=1) if t is None]
        if gaps:
            write_tsv(folder / f"{file}.missing.tsv", ["seg"], gaps)


def _write_systems(testset: TestSet, folder: Path) -> None:
    names = list(dict.fromkeys([*testset.systems, *_judged_names(testset)]))
    info = {name: facts for name, facts in testset.info.items() if facts != SystemInfo()}
    listed = sorted(testset.systems, key=natural)
    if not info and names == listed:
        return
    extra = list(dict.fromkeys(key for facts in info.values() for key in facts.extra))
    for key in extra:
        if key in INFO_COLUMNS:
            raise DataError(f"the extra information {key!r} of a system is a fixed column's name")
    rows = [_info_row(name, info.get(name, SystemInfo()), extra) for name in names]
    write_tsv(folder / "systems.tsv", [*INFO_COLUMNS, *extra], rows)


def _judged_names(testset: TestSet) -> Iterable[str]:
    for human in testset.human:
        yield from human.systems
    for ranking in testset.rankings:
        for _, better, worse in ranking.rows:
            yield from (better, worse)
    yield from (error.system for error in testset.errors)
    yield from (output.system for output in testset.looked_at)


def _info_row(name: str, info: SystemInfo, extra: Sequence[str]) -> list[str]:
    constrained = {None: "", True: "yes", False: "no"}[info.constrained]
    return [
        name,
        "" if info.year is None else str(info.year),
        info.architecture or "",
        constrained,
        "yes" if info.human else "no",
        *(info.extra.get(key, "") for key in extra),
    ]


def _write_documents(testset: TestSet, folder: Path) -> None:
    columns: dict[str, Sequence[str]] = {}
    if testset.documents is not None:
        columns["document"] = testset.documents
    if testset.domains is not None:
        columns["domain"] = testset.domains
    for name, labels in testset.labels.items():
        if name in ("document", "domain"):
            raise DataError(f"labels cannot be called {name!r}: that is a fixed column's name")
        columns[name] = labels
    if columns:
        rows = zip(*columns.values(), strict=True)
        write_tsv(folder / "documents.tsv", list(columns), rows)


def _write_human(testset: TestSet, folder: Path) -> None:
    files: dict[str, list[HumanScores]] = {}
    for human in testset.human:
        name = f"{_file_name('score', human.kind)}.{_SHORT[human.level]}.tsv"
        files.setdefault(name, []).append(human)
    marked = marked_kinds(testset)
    if files or testset.rankings or marked:
        folder.mkdir()
    for name, group in files.items():
        write_scores(folder / name, group)
    for ranking in testset.rankings:
        name = f"{_file_name('ranking', ranking.kind)}.seg.tsv"
        if (folder / name).exists():
            raise DataError(f"two sets of judgements would be written to human/{name}; rename one")
        write_ranking(folder / name, ranking)
    for kind in marked:
        write_spans(folder / f"{_file_name('error', kind)}.spans.tsv", testset, kind)


def write_ranking(file: Path, ranking: Ranking) -> None:
    """Write a ranking: seg, better, worse, and the raters where they are known."""
    columns = ["seg", "better", "worse", *(["rater"] if ranking.raters else [])]
    rows = [[str(segment + 1), better, worse] for segment, better, worse in ranking.rows]
    for row, rater in zip(rows, ranking.raters, strict=False):
        row.append(rater)
    write_tsv(file, columns, rows)


def write_scores(file: Path, group: Sequence[HumanScores]) -> None:
    """Write the scores of one kind and level, of all its raters."""
    raters = [human.rater or "" for human in group]
    if len(set(raters)) < len(raters):
        raise DataError(f"human/{file.name} would hold two sets of scores of one rater; rename one")
    item = ITEM_COLUMNS.get(group[0].level)
    rows = [
        [system, *([name] if item else []), *([rater] if any(raters) else []), value]
        for human, rater in zip(group, raters, strict=True)
        for system, name, value in _score_cells(human)
    ]
    columns = ["system", *([item] if item else []), *(["rater"] if any(raters) else []), "score"]
    write_tsv(file, columns, rows)


def _score_cells(human: HumanScores) -> Iterable[tuple[str, str, str]]:
    """Every score; a missing segment score only where its system would vanish otherwise."""
    numbers = map(str, range(1, human.values.shape[1] + 1))
    names = human.items if human.level in ("document", "domain") else tuple(numbers)
    for system, values in zip(human.systems, human.values, strict=True):
        empty = np.isnan(values)
        for position, (name, value) in enumerate(zip(names, values, strict=True)):
            skip = human.level == "segment" and empty[position]
            if not skip or (position == 0 and empty.all()):
                yield system, name, print_number(value, "")


def write_spans(file: Path, testset: TestSet, kind: str) -> None:
    """Write marked errors of one kind, and outputs that were found to have none.

    Columns that say nothing of any of them are left out.
    """
    errors = [error for error in testset.errors if error.kind == kind]
    errors += (
        ErrorSpan(
            output.system, output.segment, "candidate", 0, 0, _CLEAN, _CLEAN, output.rater, kind
        )
        for output in clean_outputs(testset, kind)
    )
    needed = ["system", "seg", "side", "start", "end", "category", "severity"]
    rows = [
        {
            "system": error.system,
            "seg": str(error.segment + 1),
            "side": error.side,
            "start": str(error.start),
            "end": str(error.end),
            "category": error.category,
            "severity": error.severity,
            "rater": error.rater or "",
            "score": _number(error.score),
            "confidence": _number(error.confidence),
            "by": "" if error.by == "person" else error.by,
        }
        for error in errors
    ]
    optional = ("rater", "score", "confidence", "by")
    columns = [*needed, *(name for name in optional if any(row[name] for row in rows))]
    write_tsv(file, columns, [[row[name] for name in columns] for row in rows])


def _number(value: float | None) -> str:
    return "" if value is None else print_number(value, "")


def _language_pair(folder: Path) -> str | None:
    return read_about(folder).language_pair


def _outputs(folder: Path, _pair: str | None) -> dict[str, Path]:
    return outputs_in(folder)


def _write_human_file(
    path: str | PathLike[str], testset: TestSet, kind: str | None, level: str
) -> None:
    if level == "spans":
        name = only_kind(kind, marked_kinds(testset), "error spans")
        write_spans(Path(path), testset, name)
        return
    write_scores(Path(path), human_scores_of(testset, kind, level))


def _is_judgements(head: FileHead) -> bool:
    """Levels that the format ``table`` does not know."""
    name = head.name.replace("\\", "/").rpartition("/")[2]
    level = name.removesuffix(".tsv").rpartition(".")[2]
    return (
        _FILE.fullmatch(name) is not None
        and "system" in head.column_names
        and level in ("doc", "domain", "spans")
    )


FORMATS = (
    FolderFormat(
        name="gnomon",
        title="a test set directory: src.txt, ref.NAME.txt, systems/NAME.txt,"
        " human/KIND.LEVEL.tsv, systems.tsv, documents.tsv",
        recognise=is_layout,
        pair_of=_language_pair,
        outputs=_outputs,
        expected=EXPECTED,
        read=read_layout,
        write=write_layout,
    ),
    JudgementFormat(
        name="gnomon",
        title="a file of gnomon's layout: KIND.{doc,domain,spans}.tsv",
        recognise=_is_judgements,
        defaults={"kind": ""},
        read=read_human_file,
        write=_write_human_file,
        after=("mqm", "darr", "rr", "wmt-da", "wmt-da-seg", "wmt-da-sys"),
    ),
)
