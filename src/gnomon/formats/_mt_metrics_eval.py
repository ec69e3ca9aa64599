"""The directories of mt-metrics-eval, version 2 (its README specifies them).

::

    sources/LP.txt                             one segment per line
    references/LP.NAME.txt
    system-outputs/LP/NAME.txt
    documents/LP.docs                          DOMAIN DOCNAME, one line per segment
    human-scores/LP.NAME.{sys,seg,doc,domain}.score     [DOMAIN] SYSTEM SCORE, None = missing
    metric-scores/LP/METRIC-REF.{sys,seg}.score         likewise

Segment and document scores carry no number: each system has a block in the order of the segments
or documents.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import DataError, FormatError
from gnomon.formats._files import LOGGER
from gnomon.formats._folders import choose, entries, find, text_files
from gnomon.formats._human import LEVELS
from gnomon.formats._judged import in_scale, say_coverage
from gnomon.formats._lines import read_lines, report_empty
from gnomon.formats._plain import check_parallel
from gnomon.formats._tsv import parse_number
from gnomon.testset import HumanScores, SystemInfo, TestSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

EXPECTED = (
    "an mt-metrics-eval directory holds sources/LP.txt, references/LP.NAME.txt and"
    " system-outputs/LP/NAME.txt"
)
UNKNOWN = "None"


def is_layout(path: Path) -> bool:
    """Whether a directory looks like one of mt-metrics-eval."""
    return any((path / name).is_dir() for name in ("references", "system-outputs", "sources"))


def language_pairs(path: Path) -> tuple[str, ...]:
    """The language pairs of the directory, sorted."""
    outputs = path / "system-outputs"
    folders = (p.name for p in outputs.iterdir() if p.is_dir()) if outputs.is_dir() else ()
    sources = text_files(path / "sources")
    references = (name.partition(".")[0] for name in text_files(path / "references"))
    return tuple(sorted(name for name in {*folders, *sources, *references} if name[0] != "."))


def read_layout(
    path: Path,
    *,
    language_pair: str,
    systems: Sequence[str] | None,
    references: Sequence[str] | None,
) -> TestSet:
    """Read one language pair; see :func:`gnomon.formats.read_test_set`."""
    outputs = outputs_in(path, language_pair)
    files = _references(path, language_pair)
    source = find(path / "sources", f"{language_pair}.txt")
    if not files and source is None:
        raise DataError(f"{path} holds neither references nor sources for {language_pair}")
    kept = choose("reference", references, files)
    chosen = choose("system", systems, outputs)
    refs = {name: read_lines(file) for name, file in kept.items()}
    texts = {name: read_lines(file) for name, file in chosen.items()}
    sources = None if source is None else read_lines(source)
    report_empty(str(source), "source", sources or ())
    counts = {str(source): len(sources)} if sources is not None else {}
    counts |= {str(kept[name]): len(lines) for name, lines in refs.items()}
    check_parallel(counts | {str(chosen[name]): len(lines) for name, lines in texts.items()})
    for name, lines in refs.items():
        report_empty(str(kept[name]), "reference", lines)
    for name, lines in texts.items():
        report_empty(str(chosen[name]), "candidate", lines)
    segments = next(iter(counts.values()))
    documents, domains = _read_documents(path, language_pair, segments)
    return TestSet(
        name=path.resolve().name,
        references=refs,
        systems=texts,
        sources=sources,
        language_pair=language_pair,
        info={name: SystemInfo(human=True) for name in texts if name in files},
        documents=documents,
        domains=domains,
        human=tuple(_read_human(path, language_pair, segments, outputs, documents)),
        path=str(path),
    )


def outputs_in(path: Path, pair: str) -> dict[str, Path]:
    """Name -> file of the systems' outputs, in the order in which they are read."""
    return text_files(path / "system-outputs" / pair)


def _references(path: Path, pair: str) -> dict[str, Path]:
    files = text_files(path / "references")
    prefix = f"{pair}."
    return {n.removeprefix(prefix): file for n, file in files.items() if n.startswith(prefix)}


def _read_documents(
    path: Path, pair: str, segments: int
) -> tuple[list[str] | None, list[str] | None]:
    file = find(path / "documents", f"{pair}.docs")
    if file is None:
        return None, None
    lines = read_lines(file)
    check_parallel({f"{path} (its segments of {pair})": segments, str(file): len(lines)})
    rows = [fields(line) for line in lines]
    for number, row in enumerate(rows, start=1):
        if len(row) != 2:
            raise FormatError(
                f"{len(row)} fields; DOMAIN DOCNAME is expected", path=file, line=number
            )
    columns = [[row[1] for row in rows], [row[0] for row in rows]]
    known = [None if set(column) == {UNKNOWN} else column for column in columns]
    return known[0], known[1]


def fields(line: str) -> list[str]:
    """The fields of a line: between tabs if there are any, else between white space."""
    return line.split("\t") if "\t" in line else line.split()


def _read_human(
    path: Path, pair: str, segments: int, outputs: Mapping[str, Path], documents: list[str] | None
) -> Iterable[HumanScores]:
    folder = path / "human-scores"
    pattern = re.compile(rf"{re.escape(pair)}\.(.+)\.({'|'.join(LEVELS)})\.score(?:\.gz)?")
    for file in entries(folder):
        match = pattern.fullmatch(file.name)
        if not match:
            continue
        level = LEVELS[match[2]]
        items = tuple(dict.fromkeys(documents or ())) if level == "document" else ()
        if level == "document" and documents is None:
            raise FormatError(f"needs the documents in documents/{pair}.docs", path=file)
        count = {"segment": segments, "document": len(items)}.get(level, 1)
        domains, scores = read_blocks(file, level, count, human=match[1])
        strangers = [name for name in scores if name not in outputs]
        if strangers:
            LOGGER.info("%s: no text for %s", file, ", ".join(strangers))
        values = np.array(list(scores.values()), dtype=np.float64)
        width = len(domains) if level == "domain" else count
        found = HumanScores(
            match[1], level, tuple(scores), values.reshape(len(scores), width), domains or items
        )
        say_coverage(str(file), [found])
        yield found


def read_blocks(
    file: Path, level: str, count: int | None, *, human: str | None = None
) -> tuple[tuple[str, ...], dict[str, list[float]]]:
    """Read a score file: the domains (at domain level), and the scores of each system in order.

    Args:
        file: a ``.score`` file.
        level: "system", "segment", "document" or "domain".
        count: scores that every system must have (not at domain level); None: any number.
        human: the kind of the scores, if people gave them.

    Raises:
        FormatError: a line has another number of fields, a score is no number or lies beyond the
            scale of its kind, a system has another number of scores, or there is none at all.
    """
    width = 3 if level == "domain" else 2
    scores: dict[str, list[float]] = {}
    domains: dict[str, dict[str, float]] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(read_lines(file), start=1):
        row = fields(line)
        if len(row) != width or not all(row):
            expected = "DOMAIN SYSTEM SCORE" if width == 3 else "SYSTEM SCORE"
            found = f"{len(row)} fields" if len(row) != width else "an empty field"
            raise FormatError(
                f"{found}; {expected} is expected, {UNKNOWN} for a missing score",
                path=file,
                line=number,
            )
        value = parse_number(row[-1], str(file), number)
        if human is not None:
            in_scale(human, value, str(file), number)
        if level != "domain":
            scores.setdefault(row[0], []).append(value)
            lines[row[0]] = number
        elif row[0] in domains.setdefault(row[1], {}):
            raise FormatError(f"a second score of {row[1]!r}", path=file, line=number)
        else:
            domains[row[1]][row[0]] = value
    if not scores and not domains:
        raise FormatError("holds no scores", path=file)
    if level == "domain":
        names = tuple(dict.fromkeys(name for known in domains.values() for name in known))
        missing = float("nan")
        return names, {s: [known.get(n, missing) for n in names] for s, known in domains.items()}
    for system, values in scores.items():
        if count is not None and len(values) != count:
            raise FormatError(
                f"system {system!r} has {len(values)} scores; {count} are expected, in order, with"
                f" {UNKNOWN} for a missing one",
                path=file,
                line=lines[system],
            )
    return (), scores
