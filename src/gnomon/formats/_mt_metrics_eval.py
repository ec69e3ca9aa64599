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

from gnomon.errors import DataError, FormatError, UsageError
from gnomon.formats._files import LOGGER
from gnomon.formats._folders import choose, find, natural, text_files
from gnomon.formats._human import LEVELS
from gnomon.formats._lines import read_lines, report_empty, write_lines
from gnomon.formats._plain import check_parallel
from gnomon.formats._tsv import parse_number, print_number
from gnomon.testset import HumanScores, SystemInfo, TestSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

EXPECTED = (
    "an mt-metrics-eval directory holds sources/LP.txt, references/LP.NAME.txt and"
    " system-outputs/LP/NAME.txt"
)
UNKNOWN = "None"
_SHORT = {level: short for short, level in LEVELS.items()}


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
    outputs = text_files(path / "system-outputs" / language_pair)
    files = _references(path, language_pair)
    source = find(path / "sources", f"{language_pair}.txt")
    if not files and source is None:
        raise DataError(f"{path} holds neither references nor sources for {language_pair}")
    kept = choose("reference", references, files)
    chosen = choose("system", systems, outputs)
    refs = {name: read_lines(file) for name, file in kept.items()}
    texts = {name: read_lines(file) for name, file in chosen.items()}
    sources = None if source is None else read_lines(source)
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
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        match = pattern.fullmatch(file.name)
        if not match:
            continue
        level = LEVELS[match[2]]
        items = tuple(dict.fromkeys(documents or ())) if level == "document" else ()
        if level == "document" and documents is None:
            raise FormatError(f"needs the documents in documents/{pair}.docs", path=file)
        count = {"segment": segments, "document": len(items)}.get(level, 1)
        domains, scores = read_blocks(file, level, count)
        strangers = [name for name in scores if name not in outputs]
        if strangers:
            LOGGER.info("%s: no text for %s", file, ", ".join(strangers))
        values = np.array(list(scores.values()), dtype=np.float64)
        width = len(domains) if level == "domain" else count
        yield HumanScores(
            match[1], level, tuple(scores), values.reshape(len(scores), width), domains or items
        )


def read_blocks(
    file: Path, level: str, count: int | None
) -> tuple[tuple[str, ...], dict[str, list[float]]]:
    """Read a score file: the domains (at domain level), and the scores of each system in order.

    Args:
        file: a ``.score`` file.
        level: "system", "segment", "document" or "domain".
        count: scores that every system must have (not at domain level); None: any number.

    Raises:
        FormatError: a line has another number of fields, a score is no number, or a system has
            another number of scores.
    """
    width = 3 if level == "domain" else 2
    scores: dict[str, list[float]] = {}
    domains: dict[str, dict[str, float]] = {}
    for number, line in enumerate(read_lines(file), start=1):
        row = fields(line)
        if len(row) != width:
            expected = "DOMAIN SYSTEM SCORE" if width == 3 else "SYSTEM SCORE"
            raise FormatError(f"{len(row)} fields; {expected} is expected", path=file, line=number)
        value = parse_number(row[-1], str(file), number)
        if level != "domain":
            scores.setdefault(row[0], []).append(value)
        elif row[0] in domains.setdefault(row[1], {}):
            raise FormatError(f"a second score of {row[1]!r}", path=file, line=number)
        else:
            domains[row[1]][row[0]] = value
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
            )
    return (), scores


def write_layout(testset: TestSet, folder: Path) -> None:
    """Fill an empty directory with a test set; what the layout cannot hold is left out and said.

    Raises:
        UsageError: the language pair is unknown.
        DataError: a name or a text cannot be held, or a segment lacks a reference.
        OutputError: a file cannot be written.
    """
    pair = require_pair(testset)
    if testset.sources is not None:
        _write(folder / "sources" / f"{pair}.txt", testset.sources)
    for name, texts in testset.references.items():
        _write_reference(folder / "references" / f"{pair}.{name}.txt", name, texts)
    for name, texts in testset.systems.items():
        check_word("system", name)
        _write(folder / "system-outputs" / pair / f"{name}.txt", texts)
    _write_documents(testset, folder / "documents" / f"{pair}.docs")
    for human in testset.human:
        if human.rater is None:
            file = folder / "human-scores" / f"{pair}.{human.kind}.{_SHORT[human.level]}.score"
            check_word("score", human.kind)
            _write(file, _human_lines(human, testset))
    _say_what_is_left_out(testset)


def require_pair(testset: TestSet) -> str:
    """The language pair.

    Raises:
        UsageError: it is not known.
    """
    if not testset.language_pair:
        raise UsageError(
            f"the language pair of {testset.name!r} is not known, and this format needs it; give"
            " it (de-en)"
        )
    check_word("language pair", testset.language_pair)
    return testset.language_pair


def check_word(kind: str, name: str) -> None:
    """Refuse a name that cannot be both a file name and a field between white space.

    Raises:
        DataError: it is empty, begins with a dot, or holds white space or a slash.
    """
    if name.startswith(".") or name.split() != [name] or set(name) & set("/\\\0"):
        raise DataError(
            f"the {kind} name {name!r} cannot stand in mt-metrics-eval's files: it must not be"
            " empty, begin with a dot, or hold white space or a slash; rename it"
        )


def score_lines(systems: Sequence[str], values: Iterable[Sequence[float]]) -> Iterable[str]:
    """``SYSTEM<tab>SCORE``, a block per system."""
    for system, scores in zip(systems, values, strict=True):
        check_word("system", system)
        for score in scores:
            yield f"{system}\t{print_number(score, UNKNOWN)}"


def _write(file: Path, lines: Iterable[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists():
        raise DataError(f"two parts of the test set would both be written to {file.name}")
    write_lines(file, lines)


def _write_reference(file: Path, name: str, texts: Sequence[str | None]) -> None:
    check_word("reference", name)
    if name in ("all", "src") or set(name) & set(".-"):
        raise DataError(
            f"the reference name {name!r} cannot stand in mt-metrics-eval's files: it must not be"
            " 'all' or 'src', nor hold a dot or a dash; rename it"
        )
    if None in texts:
        raise DataError(
            f"segment {texts.index(None) + 1} lacks reference {name!r}; mt-metrics-eval's files"
            " cannot say so: write gnomon's layout, or leave the reference out"
        )
    _write(file, [str(text) for text in texts])


def _write_documents(testset: TestSet, file: Path) -> None:
    if testset.documents is None and testset.domains is None:
        return
    unknown = [UNKNOWN] * testset.segments
    documents, domains = testset.documents or unknown, testset.domains or unknown
    for name in {*documents, *domains}:
        check_field("document or domain", name)
    _write(file, [f"{a}\t{b}" for a, b in zip(domains, documents, strict=True)])


def check_field(kind: str, name: str) -> None:
    """Refuse a name that cannot be a field between white space.

    Raises:
        DataError: it is empty or holds white space.
    """
    if name.split() != [name]:
        raise DataError(
            f"the {kind} name {name!r} cannot stand in mt-metrics-eval's files: it must not be"
            " empty or hold white space; rename it"
        )


def _human_lines(human: HumanScores, testset: TestSet) -> list[str]:
    values = human.values
    if human.level == "domain":
        for name in human.items:
            check_field("domain", name)
        blocks = (score_lines([s], [row]) for s, row in zip(human.systems, values, strict=True))
        return [f"{n}\t{line}" for b in blocks for n, line in zip(human.items, b, strict=True)]
    if human.level == "document":
        documents = tuple(dict.fromkeys(testset.documents or ()))
        if sorted(documents) != sorted(human.items):
            raise DataError(
                f"the document scores {human.kind!r} are not of the test set's documents;"
                " mt-metrics-eval's files cannot hold them"
            )
        values = values[:, [human.items.index(name) for name in documents]]
    return list(score_lines(human.systems, values))


def _say_what_is_left_out(testset: TestSet) -> None:
    known = {
        name: i
        for name, i in testset.info.items()
        if i not in (SystemInfo(), _implied(testset, name))
    }
    parts = {
        "what is known of the systems": known,
        "labels of segments": testset.labels,
        "scores of single raters": [h for h in testset.human if h.rater is not None],
        "rankings": testset.rankings,
        "error spans": testset.errors,
        "references of single systems": testset.system_references,
    }
    left_out = [name for name, part in parts.items() if part]
    if left_out:
        LOGGER.warning("mt-metrics-eval's layout cannot hold, left out: %s", ", ".join(left_out))
    order = sorted(testset.systems, key=natural)
    if list(testset.systems) != order:
        LOGGER.info("mt-metrics-eval's layout keeps no order of systems: they come back sorted")


def _implied(testset: TestSet, name: str) -> SystemInfo:
    return SystemInfo(human=name in testset.references)
