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

Error spans, with which its score files may come:

==============  =========================================================================
format          one record
==============  =========================================================================
``ratings``     ``SYSTEM JSON [RATER]`` between tabs, a block per system in the order of
                the segments, ``None`` = not rated: ``LP.NAME.seg.rating``
==============  =========================================================================

JSON is ``{"errors": [{"start", "end", "category", "severity", "score", "is_source_error"}]}`` with
half-open spans. The score of a segment is minus the sum of its errors' scores; errors without a
score are weighted as under MQM.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.core.human import Judgements, clean_outputs, marked_kinds
from gnomon.core.testset import HumanScores, SystemInfo, TestSet
from gnomon.data.formats._files import (
    LOGGER,
    choose,
    entries,
    find,
    natural,
    text_files,
)
from gnomon.data.formats._judged_file import (
    AnnotatedOutput,
    JudgedFile,
    JudgementOptions,
    errors_of,
    human_score,
    human_scores_of,
    judgements_of,
    say_coverage,
    scores_of_raters,
)
from gnomon.data.formats._layout import LEVELS
from gnomon.data.formats._lines import check_parallel, read_lines, write_lines
from gnomon.data.formats._mqm import MqmWeights, is_error
from gnomon.data.formats._plain import read_parallel
from gnomon.data.formats._records import parse_object
from gnomon.data.formats._registry import FolderFormat, JudgementFormat
from gnomon.data.formats.rows import FileRecord, print_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.core.spans import ErrorSpan


EXPECTED = (
    "an mt-metrics-eval directory holds sources/LP.txt, references/LP.NAME.txt and"
    " system-outputs/LP/NAME.txt"
)
UNKNOWN = "None"


def is_layout(path: Path) -> bool:
    """True if a directory looks like one of mt-metrics-eval."""
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
    kinds = {} if source is None else {source: "source"}
    kinds |= dict.fromkeys(kept.values(), "reference")
    kinds |= dict.fromkeys(chosen.values(), "candidate")
    lines = read_parallel(kinds, drop=systems is None)
    segments = len(next(iter(lines.values())))
    documents, domains = _read_documents(path, language_pair, segments)
    testset = TestSet(
        name=path.resolve().name,
        references={name: lines[file] for name, file in kept.items()},
        systems={name: lines[file] for name, file in chosen.items() if file in lines},
        sources=None if source is None else lines[source],
        language_pair=language_pair,
        info={
            name: SystemInfo(human=True)
            for name, file in chosen.items()
            if name in files and file in lines
        },
        documents=documents,
        domains=domains,
        path=str(path),
    )
    testset = replace(testset, human=tuple(_read_human(path, testset, outputs)))
    return _add_ratings(testset, path, language_pair)


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
    named = [None if set(column) == {UNKNOWN} else column for column in columns]
    return named[0], named[1]


def fields(line: str) -> list[str]:
    """The fields of a line: between tabs if there are any, else between white space."""
    return line.split("\t") if "\t" in line else line.split()


def _read_human(path: Path, testset: TestSet, outputs: Mapping[str, Path]) -> list[HumanScores]:
    pair = re.escape(testset.language_pair or "")
    pattern = re.compile(rf"{pair}\.(.+)\.({'|'.join(LEVELS)})\.score(?:\.gz)?")
    scores: list[HumanScores] = []
    for file in entries(path / "human-scores"):
        match = pattern.fullmatch(file.name)
        if not match:
            continue
        with judgements_of(file):
            human = _human_scores(file, match[1], LEVELS[match[2]], testset)
            strangers = [name for name in human.systems if name not in outputs]
            if strangers:
                LOGGER.info("%s: no text for %s", file, ", ".join(strangers))
            say_coverage(str(file), [human])
            scores.append(human)
    return scores


def _human_scores(file: Path, kind: str, level: str, testset: TestSet) -> HumanScores:
    documents = tuple(dict.fromkeys(testset.documents or ()))
    if level == "document" and not documents:
        raise FormatError(
            "is of documents, but the test set has none; they stand in"
            f" documents/{testset.language_pair or 'LP'}.docs",
            path=file,
        )
    count = {"segment": testset.segments, "document": len(documents)}.get(level, 1)
    domains, scores = read_blocks(file, level, count, human=kind)
    items = documents if level == "document" else domains
    values = np.array(list(scores.values()), dtype=np.float64)
    return HumanScores(
        kind, level, tuple(scores), values.reshape(len(scores), len(items) or count), items
    )


def read_blocks(
    file: Path, level: str, count: int | None, *, human: str | None = None
) -> tuple[tuple[str, ...], dict[str, list[float]]]:
    """Read a score file: the domains (at domain level), and the scores of each system in order."""
    columns = ("domain", "system", "score") if level == "domain" else ("system", "score")
    scores: dict[str, list[float]] = {}
    domains: dict[str, dict[str, float]] = {}
    last: dict[str, FileRecord] = {}
    for number, line in enumerate(read_lines(file), start=1):
        cells = fields(line)
        row = FileRecord(str(file), number, dict(zip(columns, cells, strict=False)))
        if len(cells) != len(columns) or not all(cells):
            problem = "an empty field" if len(cells) == len(columns) else f"{len(cells)} fields"
            expected = " ".join(columns).upper()
            raise row.error(f"{problem}; {expected} is expected, {UNKNOWN} for a missing score")
        system = row["system"]
        value = row.number("score") if human is None else human_score(human, row)
        if level != "domain":
            scores.setdefault(system, []).append(value)
            last[system] = row
        elif row["domain"] in domains.setdefault(system, {}):
            raise row.error(f"a second score of {system!r}")
        else:
            domains[system][row["domain"]] = value
    if not scores and not domains:
        raise FormatError("holds no scores", path=file)
    if level == "domain":
        names = tuple(dict.fromkeys(name for values in domains.values() for name in values))
        missing = float("nan")
        return names, {s: [values.get(n, missing) for n in names] for s, values in domains.items()}
    for system, numbers in scores.items():
        if count is not None and len(numbers) != count:
            raise last[system].error(
                f"system {system!r} has {len(numbers)} scores; {count}"
                f" {'is' if count == 1 else 'are'} expected, in order, with {UNKNOWN} for a missing"
                " one"
            )
    return (), scores


# Writing the directories of mt-metrics-eval, as far as they can hold a test set.


_SHORT = {level: short for short, level in LEVELS.items()}


def write_layout(testset: TestSet, folder: Path, *, compress: bool = False) -> None:  # noqa: ARG001  # its texts are plain
    """Fill an empty directory with a test set; a warning names what the layout cannot hold."""
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
            _write(file, human_lines(human, testset))
    _write_logged(testset, folder / "metric-scores" / pair)
    _say_what_is_left_out(testset)
    for kind in marked_kinds(testset):
        check_word("kind of errors", kind)
        name = f"{testset.language_pair}.{kind}.seg.rating"
        try:
            lines = list(rating_lines(testset, kind))
        except DataError as error:
            LOGGER.warning("the errors of the kind %s are left out: %s", kind, error)
            continue
        (folder / "human-scores").mkdir(exist_ok=True)
        write_lines(folder / "human-scores" / name, lines)


def require_pair(testset: TestSet) -> str:
    """The language pair."""
    if not testset.language_pair:
        raise UsageError(
            f"the language pair of {testset.name!r} is not known, and this format needs it; give"
            " it (de-en)"
        )
    check_word("language pair", testset.language_pair)
    return testset.language_pair


def check_word(kind: str, name: str) -> None:
    """Refuse a name that cannot be both a file name and a field between white space."""
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
    """Refuse a name that cannot be a field between white space."""
    if name.split() != [name]:
        raise DataError(
            f"the {kind} name {name!r} cannot stand in mt-metrics-eval's files: it must not be"
            " empty or hold white space; rename it"
        )


def human_lines(human: HumanScores, testset: TestSet) -> list[str]:
    """The lines of a ``.score`` file."""
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


def _write_logged(testset: TestSet, folder: Path) -> None:
    """Write scores of logs, of systems without any as missing ones."""
    judges = ".".join(testset.references) or "src"
    none = [np.nan] * testset.segments
    for metric, columns in testset.logged.items():
        check_word("metric", metric)
        values = [columns.get(system, none) for system in testset.systems]
        file = folder / f"{metric}-{judges}.seg.score"
        _write(file, score_lines(list(testset.systems), values))


def _say_what_is_left_out(testset: TestSet) -> None:
    infos = {
        name: info
        for name, info in testset.info.items()
        if info not in (SystemInfo(), SystemInfo(human=name in testset.references))
    }
    parts = {
        "what is known of the systems": infos,
        "labels of segments": testset.labels,
        "scores of single raters": [h for h in testset.human if h.rater is not None],
        "rankings": testset.rankings,
        "references of single systems": testset.system_references,
        "codes inside texts": testset.codes,
        "how outputs were aligned": testset.alignments,
    }
    left_out = [name for name, content in parts.items() if content]
    if left_out:
        LOGGER.warning("mt-metrics-eval's layout cannot hold, left out: %s", ", ".join(left_out))
    order = sorted(testset.systems, key=natural)
    if list(testset.systems) != order:
        LOGGER.info("mt-metrics-eval's layout keeps no order of systems: they come back sorted")


# Error spans as mt-metrics-eval keeps them.


_FILE = re.compile(r"(?:(?P<pair>[^.]+-[^.]+)\.)?(?P<kind>.+?)(?:\.seg)?\.rating", re.DOTALL)


def read_ratings(file: JudgedFile) -> Judgements:
    """Read a rating file: segment scores and error spans."""
    match = _FILE.fullmatch(Path(file.path).name.removesuffix(".gz"))
    file.kind = file.kind or (match["kind"] if match else "ratings")
    costs, segments = MqmWeights(file.weights), file.testset.segments
    counts: dict[str, int] = {}
    for number, line in enumerate(read_lines(file.path), start=1):
        cells = line.split("\t")
        if len(cells) not in (2, 3):
            raise FormatError(
                f"{len(cells)} tab-separated fields; SYSTEM, JSON (or {UNKNOWN}) and, optionally,"
                " RATER are expected",
                path=file.path,
                line=number,
            )
        system = file.names.match(cells[0])
        segment = counts.setdefault(system, 0)
        counts[system] += 1
        if segment < segments and cells[1] != UNKNOWN:
            rater = cells[2] if len(cells) == 3 and cells[2] != UNKNOWN else None
            rating = parse_object(file.path, number, cells[1])
            _rate(file, costs, rating, (rater, system, segment))
    for system, count in counts.items():
        if count != segments:
            raise FormatError(
                f"system {system!r} has {count} lines; {segments} are expected, one per segment,"
                f" with {UNKNOWN} where it was not rated",
                path=file.path,
            )
    return file.judgements()


def _rate(
    file: JudgedFile, costs: MqmWeights, record: FileRecord, key: tuple[str | None, str, int]
) -> None:
    errors = [
        error if error.score is not None else replace(error, score=_cost(costs, record, error))
        for error in file.read_errors(record, (file.kind, *key))
    ]
    score = file.minus(sum(error.score or 0.0 for error in errors))
    file.add_once(record, AnnotatedOutput(file.kind, *key, score, errors, record.line))


def _cost(costs: MqmWeights, record: FileRecord, error: ErrorSpan) -> float:
    if not is_error(error.severity, error.category):
        return 0.0
    return costs.cost(record, error.severity, error.category)


def rating_lines(testset: TestSet, kind: str) -> Iterator[str]:
    """The lines of a rating file.

    A segment without an error is written as rated if it has a score of this kind, or is known to
    have been looked at.
    """
    raters = _raters(testset, kind)
    errors = errors_of(testset, kind, lambda error: (error.system, error.segment))
    if not raters:
        raise DataError(f"there are no error spans or segment scores of the kind {kind!r}")
    for system in dict.fromkeys(name for name, _ in raters):
        check_word("system", system)
        for segment in range(testset.segments):
            if (system, segment) not in raters:
                yield f"{system}\t{UNKNOWN}"
                continue
            listed = [_error_object(error) for error in errors.get((system, segment), ())]
            rater = raters[system, segment]
            text = json.dumps({"errors": listed}, ensure_ascii=False)
            yield f"{system}\t{text}" + (f"\t{rater}" if rater else "")


def _error_object(error: ErrorSpan) -> dict[str, object]:
    return {
        "start": error.start,
        "end": error.end,
        "category": error.category or None,
        "severity": error.severity or None,
        "score": error.score,
        "is_source_error": error.side == "source",
    }


def _raters(testset: TestSet, kind: str) -> dict[tuple[str, int], str]:
    """Who rated each output, in the order of systems."""
    rated: dict[tuple[str, int], str] = {}

    def note(rater: str | None, output: tuple[str, int]) -> None:
        if rated.get(output) not in (None, "", rater or ""):
            raise DataError(
                f"segment {output[1] + 1} of {output[0]} has ratings by {rated[output]} and"
                f" {rater}; a rating file holds one rater per output: write gnomon's layout instead"
            )
        rated[output] = rater or ""

    humans = scores_of_raters(testset, kind) or scores_of_raters(testset, kind.partition(".")[0])
    for human in humans:
        for system, values in zip(human.systems, human.values, strict=True):
            for segment, value in enumerate(values):
                if value == value:  # noqa: PLR0124  # NaN alone differs from itself
                    note(human.rater, (system, segment))
    for error in testset.errors:
        if error.kind == kind:
            note(error.rater, (error.system, error.segment))
    for output in clean_outputs(testset, kind):
        note(output.rater, (output.system, output.segment))
    return rated


def kind_of(name: str, pair: str) -> str | None:
    """The NAME in ``LP.NAME.seg.rating``, if a file is called so."""
    match = _FILE.fullmatch(name.removesuffix(".gz"))
    return match["kind"] if match and match["pair"] == pair else None


def _add_ratings(testset: TestSet, path: Path, pair: str) -> TestSet:
    """Error spans of mt-metrics-eval's rating files; their scores where no score file has them."""
    folder, outputs = path / "human-scores", text_files(path / "system-outputs" / pair)
    for file in entries(folder):
        kind = kind_of(file.name, pair)
        if kind is None:
            continue
        with judgements_of(file):
            ratings = read_ratings(
                JudgedFile(file, testset, JudgementOptions(kind), others=outputs)
            )
            scored = {human.kind for human in testset.human if human.level == "segment"}
            has_scores = kind in scored or kind.partition(".")[0] in scored
            testset = testset.with_human(replace(ratings, scores=()) if has_scores else ratings)
    return testset


def _segments_in_blocks(path: str) -> frozenset[int]:
    """The segments of the longest block of a file of segment scores."""
    if not path.removesuffix(".gz").endswith(".seg.score"):
        return frozenset()
    _, scores = read_blocks(Path(path), "segment", None)
    return frozenset(range(1, 1 + max(map(len, scores.values()))))


def _read_score_file(file: JudgedFile) -> Judgements:
    path = Path(file.path)
    parts = path.name.removesuffix(".gz").removesuffix(".score").split(".")
    if len(parts) < 2 or parts[-1] not in LEVELS:
        raise FormatError(
            "the name does not tell the level; LP.NAME.LEVEL.score with one of the levels"
            f" {', '.join(LEVELS)} is expected",
            path=path,
        )
    name = ".".join(parts[1:-1] if len(parts) > 2 and "-" in parts[0] else parts[:-1])
    human = _human_scores(path, file.kind or name, LEVELS[parts[-1]], file.testset)
    rows = {file.names.match(system): human.system_scores(system) for system in human.systems}
    file.report()
    systems = file.names.order(rows)
    values = np.array([rows[system] for system in systems])
    return Judgements((replace(human, systems=systems, values=values),))


def _together(group: list[HumanScores], testset: TestSet) -> HumanScores:
    """The mean over the raters."""
    whole = [human for human in group if human.rater is None]
    if whole or group[0].level != "segment":
        return (whole or group)[0]
    names = tuple(dict.fromkeys(name for human in group for name in human.systems))
    values = testset.human_scores(group[0].kind, "segment", systems=names)
    return HumanScores(group[0].kind, "segment", names, values)


def _write_score_file(
    path: str | PathLike[str], testset: TestSet, kind: str | None, level: str
) -> None:
    group = human_scores_of(testset, kind, level)
    write_lines(path, human_lines(_together(group, testset), testset))


def _outputs(folder: Path, pair: str | None) -> dict[str, Path]:
    return {} if pair is None else outputs_in(folder, pair)


FORMATS = (
    FolderFormat(
        name="mt-metrics-eval",
        title="test set directories and score files as in google-research/mt-metrics-eval",
        recognise=is_layout,
        pairs=language_pairs,
        outputs=_outputs,
        expected=EXPECTED,
        read=read_layout,
        write=write_layout,
        after=("gnomon", "wmt-package"),
    ),
    JudgementFormat(
        name="mt-metrics-eval",
        title="LP.NAME.{sys,seg,doc,domain}.score: SYSTEM SCORE in blocks",
        recognise=lambda head: head.name.endswith(".score"),
        defaults={"kind": "", "rename": None},
        read=_read_score_file,
        write=_write_score_file,
        suffix=".score",
        segments=_segments_in_blocks,
    ),
    JudgementFormat(
        name="ratings",
        title="mt-metrics-eval's LP.NAME.seg.rating: SYSTEM JSON [RATER]",
        recognise=lambda head: head.name.endswith(".rating"),
        defaults={"kind": "", "rename": None, "weights": None},
        read=read_ratings,
    ),
)
