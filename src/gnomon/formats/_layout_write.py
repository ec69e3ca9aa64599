"""Writing gnomon's own directory layout, so that reading it gives the same test set."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import DataError
from gnomon.formats._about import INFO_COLUMNS
from gnomon.formats._files import atomic_write
from gnomon.formats._folders import natural
from gnomon.formats._human import ITEM_COLUMNS, LEVELS
from gnomon.formats._lines import write_lines
from gnomon.formats._tsv import print_number, write_tsv
from gnomon.testset import SystemInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from gnomon.human import ErrorSpan, HumanScores, Ranking
    from gnomon.testset import TestSet

_SHORT = {level: short for short, level in LEVELS.items()}


def write_layout(testset: TestSet, folder: Path, *, compress: bool) -> None:
    """Fill an empty directory with a test set.

    Raises:
        DataError: a text or a name cannot be held by a file of one segment per line, a
            tab-separated table, or a file name.
        OutputError: a file cannot be written.
    """
    suffix = ".txt.gz" if compress else ".txt"
    _write_about(testset, folder)
    if testset.sources is not None:
        write_lines(folder / f"src{suffix}", testset.sources)
    _write_references(testset.references, folder, suffix)
    for name, texts in testset.systems.items():
        _write_texts(folder / "systems", f"{_file_name('system', name)}{suffix}", texts)
    for system, references in testset.system_references.items():
        own = folder / "system-references" / system
        own.mkdir(parents=True)
        _write_references(references, own, suffix)
    _write_systems(testset, folder)
    _write_documents(testset, folder)
    _write_human(testset, folder / "human")


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
    references: Mapping[str, Sequence[str | None]], folder: Path, suffix: str
) -> None:
    for name, texts in references.items():
        _file_name("reference", name)
        _write_texts(folder, f"ref.{name}{suffix}", ["" if t is None else t for t in texts])
        gaps = [[str(number)] for number, t in enumerate(texts, start=1) if t is None]
        if gaps:
            write_tsv(folder / f"ref.{name}.missing.tsv", ["seg"], gaps)


def _write_about(testset: TestSet, folder: Path) -> None:
    about = {
        "name": testset.name,
        "language_pair": testset.language_pair,
        "references": list(testset.references),
    }
    with atomic_write(folder / "testset.json") as file:
        file.write(json.dumps(about, indent=2) + "\n")


def _write_systems(testset: TestSet, folder: Path) -> None:
    names = list(dict.fromkeys([*testset.systems, *_named_by_people(testset)]))
    info = {name: known for name, known in testset.info.items() if known != SystemInfo()}
    listed = sorted(testset.systems, key=natural)
    if not info and names == listed:
        return
    extra = list(dict.fromkeys(key for known in info.values() for key in known.extra))
    for key in extra:
        if key in INFO_COLUMNS:
            raise DataError(f"the extra information {key!r} of a system is a fixed column's name")
    rows = [_info_row(name, info.get(name, SystemInfo()), extra) for name in names]
    write_tsv(folder / "systems.tsv", [*INFO_COLUMNS, *extra], rows)


def _named_by_people(testset: TestSet) -> Iterable[str]:
    for human in testset.human:
        yield from human.systems
    for ranking in testset.rankings:
        for _, better, worse in ranking.rows:
            yield from (better, worse)
    yield from (error.system for error in testset.errors)


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
    if files or testset.rankings or testset.errors:
        folder.mkdir()
    for name, group in files.items():
        write_scores(folder / name, group)
    for ranking in testset.rankings:
        name = f"{_file_name('ranking', ranking.kind)}.seg.tsv"
        if (folder / name).exists():
            raise DataError(f"two sets of judgements would be written to human/{name}; rename one")
        write_ranking(folder / name, ranking)
    for kind in dict.fromkeys(error.kind for error in testset.errors):
        marked = [error for error in testset.errors if error.kind == kind]
        write_spans(folder / f"{_file_name('error', kind)}.spans.tsv", marked)


def write_ranking(file: Path, ranking: Ranking) -> None:
    """Write a ranking: seg, better, worse, and the raters where they are known."""
    columns = ["seg", "better", "worse", *(["rater"] if ranking.raters else [])]
    rows = [[str(segment + 1), better, worse] for segment, better, worse in ranking.rows]
    for row, rater in zip(rows, ranking.raters, strict=False):
        row.append(rater)
    write_tsv(file, columns, rows)


def write_scores(file: Path, group: Sequence[HumanScores]) -> None:
    """Write the scores of one kind and level, of all its raters.

    Raises:
        DataError: two of them are of the same rater.
    """
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


def write_spans(file: Path, errors: Sequence[ErrorSpan]) -> None:
    """Write marked errors of one kind."""
    columns = ["system", "seg", "side", "start", "end", "category", "severity"]
    with_rater = any(error.rater for error in errors)
    with_score = any(error.score is not None for error in errors)
    rows = [
        [
            error.system,
            str(error.segment + 1),
            error.side,
            str(error.start),
            str(error.end),
            error.category,
            error.severity,
            *([error.rater or ""] if with_rater else []),
            *([_number(error.score)] if with_score else []),
        ]
        for error in errors
    ]
    columns += (["rater"] if with_rater else []) + (["score"] if with_score else [])
    write_tsv(file, columns, rows)


def _number(value: float | None) -> str:
    return "" if value is None else print_number(value, "")
