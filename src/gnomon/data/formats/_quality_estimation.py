"""Quality-estimation sets: MLQE-PE, Eval4NLP 2021, WMT's quality estimation.

In parallel files, one line per segment; ``STEM`` is ``train``, ``dev``, ``test20``, ...::

    STEM.src  STEM.mt                      sources and outputs
    STEM.src_tok  STEM.mt_tok              the same, tokenised: the tokens that are tagged
    STEM.pe                                post-edits
    STEM.da  STEM.hter                     scores
    STEM.LP.da_score  STEM.LP.mqm_score.mqm  STEM.LP.mqm_z_score
    STEM.src-tags  STEM.tgt-tags           Eval4NLP: 0 or 1 for each token
    STEM.source_tags  STEM[.LP].tags       MLQE-PE and WMT: OK or BAD, gaps included
    STEM.LP.df.short.tsv                   direct assessments of the same segments

In one table::

    index original translation scores mean z_scores z_mean [model_scores]    mlqe-pe, WMT 2020-23
    seg src hyp da_mean z_mean model_score pe hter                           mlqe-pe
    src_tok mt_tok src_tags mt_and_gap_tags                                  its X.tags.tsv
    src hyp da src_tags hyp_tags                                             eval4nlp21
    src hyp z                                                                wmt22-qe

Tab-separated, without quoting. Beside the second, ``X.tsv``, its ``X.tags.tsv`` is read. The
model's own scores are no judgement and are left out.

WMT 2022's MQM ratings, a CSV row per system and segment::

    ,system,doc,doc_id,seg_id,src,mt,ref,mqm,score,zscore

``score`` is minus the sum of the penalties, ``zscore`` the same standardised; ``mqm``, which is
divided by the length, is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, FormatError, LengthMismatchError
from gnomon.core.human import HumanScores, OutputLookedAt
from gnomon.core.testset import TestSet
from gnomon.data.formats._error_marks import KIND, TaggedText, tagged_errors, without_whitespace
from gnomon.data.formats._files import LOGGER, find, is_pair, plain_name
from gnomon.data.formats._judgements import between, human_score, refuse_second, say_coverage
from gnomon.data.formats._lines import check_parallel, read_lines, report_empty
from gnomon.data.formats._registry import FoundSet, SetFormat
from gnomon.data.formats._rows import FileRecord, read_csv, read_tsv

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gnomon.core.spans import ErrorSpan
    from gnomon.data.formats._rows import FileHead, TextTable


# Sets for quality estimation: one system, its sources, and what people said of its outputs.


SYSTEM = "mt"
POST_EDIT = "pe"
_GLUED = re.compile(r"([a-z]{2})([a-z]{2})\.df\.short", re.DOTALL)
_HEADED = re.compile(r"([a-z]{2}-[a-z]{2})(?:-(?:train|dev|test).*)?", re.DOTALL)


def pair_of(path: Path) -> str | None:
    """The language pair that a file's name tells, or that of its folder.

    >>> from pathlib import Path
    >>> pair_of(Path("data/dev.eten.df.short.tsv")), pair_of(Path("et-en-dev/dev.src"))
    ('et-en', 'et-en')
    """
    glued = _GLUED.search(path.name)
    if glued:
        return f"{glued[1]}-{glued[2]}"
    for name in (path.name, path.absolute().parent.name):
        headed = (_HEADED.fullmatch(word) for word in name.split("."))
        pairs = [match[1] for match in headed if match and is_pair(match[1])]
        if pairs:
            return pairs[0]
    return None


def estimated_set(
    where: str,
    *,
    name: str,
    language_pair: str | None,
    sources: Sequence[str],
    outputs: Sequence[str],
    scores: Mapping[str, Sequence[float]],
    references: Mapping[str, Sequence[str]],
    errors: Sequence[ErrorSpan] | None = None,
) -> TestSet:
    """Put a set of one system together."""
    report_empty(where, "source", sources)
    report_empty(where, "candidate", outputs)
    _report_missing(where, scores)
    for texts in references.values():
        report_empty(where, "reference", texts)
    human = tuple(
        HumanScores(kind, "segment", (SYSTEM,), np.array([values], dtype=np.float64))
        for kind, values in scores.items()
    )
    say_coverage(where, human)
    tagged = range(0 if errors is None else len(outputs))
    return TestSet(
        name=name,
        references=references,
        systems={SYSTEM: outputs},
        sources=sources,
        language_pair=language_pair,
        human=human,
        errors=tuple(errors or ()),
        looked_at=tuple(OutputLookedAt(KIND, None, SYSTEM, i) for i in tagged),
        path=where,
    )


def _report_missing(where: str, scores: Mapping[str, Sequence[float]]) -> None:
    """Say which kinds of scores are not there for all segments."""
    for kind, values in scores.items():
        missing = [i for i, value in enumerate(values, start=1) if np.isnan(value)]
        if missing:
            LOGGER.info(
                "%s: %d of %d segments have no score of %s, the first is segment %d",
                where,
                len(missing),
                len(values),
                kind,
                missing[0],
            )


def gain(cost: float, row: FileRecord) -> float:
    """A score of which higher is better, from one of which lower is (HTER).

    HTER, edits per word, exceeds 1 where an output is longer than its post-edit; an output of a
    thousand words too many is damage.
    """
    return 0.0 - between(0.0, cost, 1000.0, "hter", row)


# Quality-estimation sets in one table: MLQE-PE, Eval4NLP 2021, WMT's quality estimation.


@dataclass(frozen=True)
class QualityTable:
    """The columns of one kind of table."""

    name: str
    known_by: frozenset[str]
    source: str
    candidate: str
    one_of: frozenset[str] = frozenset()
    scores: Mapping[str, str] = field(default_factory=dict)
    costs: Mapping[str, str] = field(default_factory=dict)
    reference: str | None = None
    source_tags: str | None = None
    candidate_tags: str | None = None
    gaps: bool = False
    unused: tuple[str, ...] = ()

    def fits(self, columns: frozenset[str]) -> bool:
        """Whether a header is this table's, at least for the most part."""
        return self.known_by <= columns and (not self.one_of or bool(self.one_of & columns))

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that must be there."""
        others = (self.reference, self.source_tags, self.candidate_tags)
        named = (self.source, self.candidate, *self.scores, *self.costs, *others)
        return tuple(column for column in named if column is not None)


_DA = {"z_mean": "da-z"}
TABLES = (
    QualityTable(
        "mlqe-pe",
        frozenset({"original", "translation"}),
        "original",
        "translation",
        scores={"mean": "da-raw", **_DA},
        unused=("model_scores",),
    ),
    QualityTable(
        "mlqe-pe",
        frozenset({"src_tok", "mt_tok"}),
        "src_tok",
        "mt_tok",
        source_tags="src_tags",
        candidate_tags="mt_and_gap_tags",
        gaps=True,
    ),
    QualityTable(
        "mlqe-pe",
        frozenset({"src", "hyp"}),
        "src",
        "hyp",
        one_of=frozenset({"da_mean", "z_mean", "pe", "hter"}),
        scores={"da_mean": "da-raw", **_DA},
        costs={"hter": "hter"},
        reference="pe",
        unused=("model_score",),
    ),
    QualityTable(
        "eval4nlp21",
        frozenset({"src", "hyp"}),
        "src",
        "hyp",
        one_of=frozenset({"da", "src_tags", "hyp_tags"}),
        scores={"da": "da"},
        source_tags="src_tags",
        candidate_tags="hyp_tags",
    ),
    QualityTable("wmt22-qe", frozenset({"src", "hyp", "z"}), "src", "hyp", scores={"z": "da-z"}),
)
_TAG_TABLE = TABLES[1]
_NUMBERED = ("index", "seg")


def table_of(header: str) -> QualityTable | None:
    """The kind of table that a header row begins, if any."""
    columns = frozenset(header.split("\t"))
    return next((table for table in TABLES if table.fits(columns)), None)


def read_quality_table(path: Path, kind: QualityTable) -> TestSet:
    """Read a table of one system's outputs."""
    table = read_tsv(path)
    table.require(*kind.needed)
    if not table.rows:
        raise FormatError("has no rows below its header", path=path)
    for column in set(kind.unused) & set(table.columns):
        LOGGER.info("%s: %s is the model's own score, no judgement; left out", table.path, column)
    numbers = _table_scores(table, kind)
    numbers |= {k: [gain(row.number(c), row) for row in table] for c, k in kind.costs.items()}
    post_edits = {POST_EDIT: [row[kind.reference] for row in table]} if kind.reference else {}
    return estimated_set(
        table.path,
        name=plain_name(path).removesuffix(".tsv"),
        language_pair=pair_of(path),
        sources=[row[kind.source] for row in table],
        outputs=[row[kind.candidate] for row in table],
        scores=numbers,
        references=post_edits,
        errors=_table_errors(table, kind)
        if kind.candidate_tags or kind.source_tags
        else _errors_beside(path, table, kind),
    )


def _table_errors(table: TextTable, kind: QualityTable) -> list[ErrorSpan]:
    errors: list[ErrorSpan] = []
    for side, text, tags in (
        ("candidate", kind.candidate, kind.candidate_tags),
        ("source", kind.source, kind.source_tags),
    ):
        if tags is not None:
            rows = [TaggedText(row[tags], row[text], row[text], row, tags) for row in table]
            errors += tagged_errors(rows, SYSTEM, side, gaps=kind.gaps and side == "candidate")
    return errors


def _errors_beside(path: Path, table: TextTable, kind: QualityTable) -> list[ErrorSpan] | None:
    """The errors of ``X.tags.tsv`` beside ``X.tsv``; None where no such file is there."""
    name = path.name.removesuffix(".gz").removesuffix(".tsv")
    file = find(path.parent, f"{name}.tags.tsv")
    if file is None:
        return None
    tags = read_tsv(file)
    tags.require(*_TAG_TABLE.needed)
    if len(tags.rows) != len(table.rows):
        raise LengthMismatchError(
            f"{table.path} has {len(table.rows)} rows, {tags.path} has {len(tags.rows)}; the tags"
            " must be those of the same segments, in the same order"
        )
    return [
        *_tagged_beside(tags, table, kind.candidate, "mt_tok", "mt_and_gap_tags", "candidate"),
        *_tagged_beside(tags, table, kind.source, "src_tok", "src_tags", "source"),
    ]


def _tagged_beside(
    tags: TextTable, table: TextTable, text: str, tokens: str, column: str, side: str
) -> list[ErrorSpan]:
    rows = [
        TaggedText(mine[column], mine[tokens], row[text], mine, column)
        for mine, row in zip(tags, table, strict=True)
    ]
    return tagged_errors(rows, SYSTEM, side, gaps=side == "candidate")


def direct_assessments(path: Path, sources: Sequence[str]) -> dict[str, list[float]]:
    """The scores of an MLQE-PE table for sources that are known already, tokenised perhaps."""
    table = read_tsv(path)
    kind = TABLES[0]
    table.require(*kind.needed)
    if len(table.rows) != len(sources):
        raise LengthMismatchError(
            f"{path} has {len(table.rows)} rows, but there are {len(sources)} sources beside it"
        )
    for row, source in zip(table, sources, strict=True):
        if without_whitespace(row["original"]) != without_whitespace(source):
            raise row.error(
                f"the source is {row['original'][:60]!r}; the file of the sources has"
                f" {source[:60]!r}"
            )
    return _table_scores(table, kind)


def _table_scores(table: TextTable, kind: QualityTable) -> dict[str, list[float]]:
    """The scores by their kind; rows that are numbered have numbers of their own."""
    seen: dict[str, int] = {}
    for column in (name for name in _NUMBERED if name in table.columns):
        for row in table:
            refuse_second(seen, row[column], row)
    return {k: [human_score(k, row, c) for row in table] for c, k in kind.scores.items()}


# Quality-estimation sets in parallel files: MLQE-PE, Eval4NLP 2021, WMT's quality estimation.


SOURCE, OUTPUT = ".src", ".mt"
_SCORES = {
    ".da": "da",
    ".da_score": "da-z",
    ".mqm_score.mqm": "mqm",
    ".mqm_z_score": "mqm-z",
    ".hter": "hter",
}
_COSTS = ("hter",)
_TAGS = {
    ".tgt-tags": "candidate",
    ".tags": "candidate",
    ".src-tags": "source",
    ".source_tags": "source",
    ".src_tags": "source",
}
_TOKENISED = {"candidate": ".mt_tok", "source": ".src_tok"}
_TABLE = ".df.short.tsv"
_LEFT_OUT = ".src-mt.alignments"
SUFFIXES = (SOURCE, OUTPUT, ".pe", *_SCORES, *_TAGS, *_TOKENISED.values(), _LEFT_OUT)


class Stem(NamedTuple):
    """The files of one split."""

    name: str
    files: Mapping[str, Path]

    @property
    def pair(self) -> str | None:
        """The language pair, from the names."""
        pairs = (pair_of(file) for file in self.files.values())
        return next((pair for pair in pairs if pair is not None), None)

    @property
    def format(self) -> str:
        """Whose files these are."""
        if {".tgt-tags", ".src-tags", ".da"} & set(self.files):
            return "eval4nlp21"
        mlqe = {".pe", ".hter", ".source_tags", ".src_tags", _TABLE} & set(self.files)
        return "mlqe-pe" if mlqe else "wmt22-qe"


def stems_of(folder: Path) -> list[Stem]:
    """The splits in a folder: each has sources and outputs."""
    names = sorted(file.name for file in folder.iterdir())  # the readers judge what is no file
    plain = {name.removesuffix(".gz"): folder / name for name in names if name[0] != "."}
    sources = [name.removesuffix(SOURCE) for name in plain if name.endswith(SOURCE)]
    stems = [stem for stem in sources if f"{stem}{OUTPUT}" in plain]
    return [Stem(stem, _files(stem, stems, plain)) for stem in stems]


def stem_of(path: Path) -> Stem | None:
    """The split to which a file belongs."""
    if not path.parent.is_dir():
        return None
    return next((s for s in stems_of(path.parent) if path in s.files.values()), None)


def _files(stem: str, stems: list[str], names: Mapping[str, Path]) -> dict[str, Path]:
    """Suffix -> file; where a folder holds one split, every file is its own."""
    mine = {
        name: file for name, file in names.items() if len(stems) == 1 or name.startswith(f"{stem}.")
    }
    files: dict[str, Path] = {}
    for suffix in (*SUFFIXES, _TABLE):
        exact = [f"{stem}{suffix}"] if f"{stem}{suffix}" in mine else []
        fitting = exact or [name for name in mine if name.endswith(suffix)]
        if len(fitting) == 1 and mine[fitting[0]] not in files.values():
            files[suffix] = mine[fitting[0]]
    return files


def read_quality_files(stem: Stem) -> TestSet:
    """Read the files of one split."""
    files = {suffix: file for suffix, file in stem.files.items() if suffix not in _NO_LINES}
    lines = {suffix: read_lines(file) for suffix, file in files.items()}
    check_parallel({str(files[suffix]): len(texts) for suffix, texts in lines.items()})
    if _LEFT_OUT in stem.files:
        LOGGER.info("%s: word alignments are left out", stem.files[_LEFT_OUT])
    scores = {
        kind: scores_in_lines(files[suffix], lines[suffix], kind)
        for suffix, kind in _SCORES.items()
        if suffix in lines
    }
    if _TABLE in stem.files:
        scores |= direct_assessments(stem.files[_TABLE], lines[SOURCE])
    source = stem.files[SOURCE]
    return estimated_set(
        str(source),
        name=stem.name if stem.pair is None else f"{stem.pair}.{stem.name}",
        language_pair=stem.pair,
        sources=lines[SOURCE],
        outputs=lines[OUTPUT],
        scores=scores,
        references={POST_EDIT: lines[".pe"]} if ".pe" in lines else {},
        errors=_errors(files, lines),
    )


_NO_LINES = (_TABLE, _LEFT_OUT)


def scores_in_lines(file: Path, lines: Sequence[str], kind: str) -> list[float]:
    """The scores of a file that has one in each line."""
    numbered = enumerate(lines, start=1)
    rows = [FileRecord(str(file), number, {"score": line.strip()}) for number, line in numbered]
    if kind in _COSTS:
        return [gain(row.number("score"), row) for row in rows]
    return [human_score(kind, row) for row in rows]


def _errors(files: Mapping[str, Path], lines: Mapping[str, list[str]]) -> list[ErrorSpan] | None:
    """The tagged words; None where there is no file of tags."""
    errors: list[ErrorSpan] = []
    if not any(suffix in lines for suffix in _TAGS):
        return None
    for suffix, side in _TAGS.items():
        if suffix not in lines:
            continue
        texts = lines[OUTPUT if side == "candidate" else SOURCE]
        tokenised = lines.get(_TOKENISED[side], texts)
        rows = [
            TaggedText(tags, tokens, text, FileRecord(str(files[suffix]), number, {}))
            for number, (tags, tokens, text) in enumerate(
                zip(lines[suffix], tokenised, texts, strict=True), start=1
            )
        ]
        errors += tagged_errors(rows, SYSTEM, side, gaps=suffix == ".tags")
    return errors


# WMT 2022's MQM ratings for quality estimation: a CSV row per system and segment.


_RATED_BY = frozenset({"system", "seg_id", "src", "mt"})
_KINDS = {"score": "mqm", "zscore": "mqm-z"}
_SHARED = ("src", "ref", "doc")


def read_rated_rows(path: Path) -> TestSet:
    """Read the outputs of all systems and their scores, ``mqm`` and ``mqm-z``."""
    table = read_csv(path)
    table.require(*_RATED_BY, *_SHARED, *_KINDS)
    if not table.rows:
        raise FormatError("has no rows below its header", path=path)
    grid = _grid(table)
    first = next(iter(grid.values())).values()
    references = [row["ref"] for row in first]
    report_empty(table.path, "source", [row["src"] for row in first])
    report_empty(table.path, "reference", references)
    human = tuple(_rated_scores(grid, column, kind) for column, kind in _KINDS.items())
    say_coverage(table.path, human)
    for name, rows in grid.items():
        report_empty(f"{table.path}, {name}", "candidate", [row["mt"] for row in rows.values()])
    return TestSet(
        name=path.name.removesuffix(".csv"),
        references={"A": references},
        systems={name: [row["mt"] for row in rows.values()] for name, rows in grid.items()},
        sources=[row["src"] for row in first],
        language_pair=pair_of(path),
        documents=[row["doc"] for row in first],
        human=human,
        path=table.path,
    )


def _grid(table: TextTable) -> dict[str, dict[str, FileRecord]]:
    """System -> segment -> row, segments in the order of their first occurrence."""
    heads: dict[str, FileRecord] = {}
    grid: dict[str, dict[str, FileRecord]] = {}
    for row in table:
        rows = grid.setdefault(row["system"], {})
        head = heads.setdefault(row["seg_id"], row)
        if row["seg_id"] in rows:
            raise row.error(
                f"a second row for segment {row['seg_id']} of {row['system']}; line"
                f" {rows[row['seg_id']].line} has the first"
            )
        for column in _SHARED:
            if row[column] != head[column]:
                raise row.error(f"{column} differs from line {head.line}, the same segment")
        rows[row["seg_id"]] = row
    return {system: _complete(table.path, system, rows, heads) for system, rows in grid.items()}


def _complete(
    path: str, system: str, rows: Mapping[str, FileRecord], heads: Mapping[str, FileRecord]
) -> dict[str, FileRecord]:
    missing = [segment for segment in heads if segment not in rows]
    if missing:
        raise DataError(
            f"{path}: system {system!r} has {len(rows)} of {len(heads)} segments; segment"
            f" {missing[0]} is missing; every system needs a row for every segment"
        )
    return {segment: rows[segment] for segment in heads}


def _rated_scores(
    grid: Mapping[str, Mapping[str, FileRecord]], column: str, kind: str
) -> HumanScores:
    values = [[human_score(kind, row, column) for row in rows.values()] for rows in grid.values()]
    return HumanScores(kind, "segment", tuple(grid), np.array(values, dtype=np.float64))


def _set_of_file(head: FileHead) -> tuple[str, FoundSet] | None:
    """A table, or the files of a split; and the format, for three share them."""
    path = head.path
    table = table_of(head.first_line)
    if table is not None:
        return table.name, FoundSet(path, partial(read_quality_table, path, table), pair_of(path))
    if set(head.first_line.split(",")) >= _RATED_BY:
        return "wmt22-qe", FoundSet(path, partial(read_rated_rows, path), pair_of(path))
    stem = stem_of(path)
    return None if stem is None else (stem.format, _set_of_stem(stem, path))


def _set_of_stem(stem: Stem, path: Path) -> FoundSet:
    files = tuple(stem.files.values())
    return FoundSet(path, partial(read_quality_files, stem), stem.pair, files)


def _quality_format(name: str, title: str) -> SetFormat:
    def of_file(head: FileHead) -> FoundSet | None:
        recognised = _set_of_file(head)
        return recognised[1] if recognised is not None and recognised[0] == name else None

    def in_folder(folder: Path) -> list[FoundSet]:
        stems = (stem for stem in stems_of(folder) if stem.format == name)
        return [_set_of_stem(stem, stem.files[SOURCE]) for stem in stems]

    return SetFormat(
        name=name,
        title=title,
        of_file=of_file,
        in_folder=in_folder,
        suffixes=(".tsv", ".csv"),
        side_suffixes=(".tags.tsv",),
        after=("wmt-xml", "wmt-sgml", "wmt-daseg"),
    )


FORMATS = (
    _quality_format(
        "mlqe-pe",
        "MLQE-PE and WMT 2020-23 quality estimation: *.df.short.tsv (index original"
        " translation scores mean z_scores z_mean), or STEM.src STEM.mt STEM.pe STEM.hter STEM.tags"
        " STEM.source_tags",
    ),
    _quality_format(
        "eval4nlp21",
        "Eval4NLP 2021: STEM.src STEM.mt STEM.da STEM.src-tags STEM.tgt-tags, or one"
        " table src hyp da src_tags hyp_tags",
    ),
    _quality_format(
        "wmt22-qe",
        "WMT 2022 quality estimation: STEM.src STEM.mt STEM.LP.da_score STEM.LP.tags, one"
        " table src hyp z, or the CSV ,system,doc,doc_id,seg_id,src,mt,ref,mqm,score,zscore",
    ),
)
