"""Reading gnomon's own directory layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.errors import DataError
from gnomon.formats._about import read_about, read_documents, read_systems
from gnomon.formats._files import require_directory
from gnomon.formats._folders import agree, choose, find, references_in, text_files
from gnomon.formats._human import read_folder
from gnomon.formats._lines import read_lines, report_empty
from gnomon.formats._plain import check_parallel
from gnomon.formats._tsv import read_tsv
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

EXPECTED = (
    "a test set directory holds ref.NAME.txt (one file per reference) or src.txt, and"
    " systems/NAME.txt (one file per system); files may be compressed (.txt.gz)"
)


def is_layout(path: Path) -> bool:
    """Whether a directory looks like a test set in gnomon's layout."""
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
    listed = read_systems(path)
    outputs = _ordered(text_files(path / "systems"), listed.names)
    source = find(path, "src.txt")
    files = references_in(path)
    if not files and source is None:
        raise DataError(f"{path} holds neither references nor sources; {EXPECTED}")
    chosen = choose("system", systems, outputs)
    kept = choose("reference", references, _ordered(files, about.references))
    texts = {name: read_lines(file) for name, file in chosen.items()}
    refs = {name: read_lines(file) for name, file in kept.items()}
    sources = None if source is None else read_lines(source)
    report_empty(str(source), "source", sources or ())
    counts = {str(kept[name]): len(lines) for name, lines in refs.items()}
    counts |= {str(source): len(sources)} if sources is not None else {}
    check_parallel(counts | {str(chosen[name]): len(lines) for name, lines in texts.items()})
    segments = next(iter(counts.values()))
    documents, domains, labels = read_documents(path, segments)
    known = (*outputs, *(name for name in listed.names if name not in outputs))
    human = read_folder(path / "human", known, segments, texts, sources, documents, domains)
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


def outputs_in(path: Path) -> dict[str, Path]:
    """Name -> file of the systems' outputs, in the order in which they are read."""
    return _ordered(text_files(path / "systems"), read_systems(path).names)


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


def _read_own(
    path: Path, chosen: Mapping[str, Path], segments: int
) -> dict[str, dict[str, list[str | None]]]:
    folder = path / "system-references"
    own: dict[str, dict[str, list[str | None]]] = {}
    for system in chosen:
        files = references_in(folder / system)
        if not files:
            continue
        lines = {name: read_lines(file) for name, file in files.items()}
        counts = {str(files[name]): len(texts) for name, texts in lines.items()}
        check_parallel({f"{path} (its segments)": segments} | counts)
        own[system] = _with_missing(folder / system, files, lines)
    return own
