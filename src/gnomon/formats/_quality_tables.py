"""Quality-estimation sets in one table: MLQE-PE, Eval4NLP 2021, WMT's quality estimation.

::

    index original translation scores mean z_scores z_mean [model_scores]    mlqe-pe, WMT 2020-23
    seg src hyp da_mean z_mean model_score pe hter                           mlqe-pe
    src_tok mt_tok src_tags mt_and_gap_tags                                  its X.tags.tsv
    src hyp da src_tags hyp_tags                                             eval4nlp21
    src hyp z                                                                wmt22-qe

Tab-separated, without quoting. Beside the second, ``X.tsv``, its ``X.tags.tsv`` is read. The
model's own scores are no judgement and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gnomon.errors import FormatError, LengthMismatchError
from gnomon.formats._estimated import POST_EDIT, SYSTEM, estimated_set, gain, pair_of
from gnomon.formats._files import LOGGER, plain_name
from gnomon.formats._folders import find
from gnomon.formats._judged import in_scale, refuse_second
from gnomon.formats._marked import solid
from gnomon.formats._tsv import read_tsv
from gnomon.formats._word_tags import Tagged, tagged_errors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gnomon.formats._tsv import Rows
    from gnomon.human import ErrorSpan
    from gnomon.testset import TestSet


@dataclass(frozen=True)
class QualityTable:
    """The columns of one kind of table.

    Attributes:
        name: the format.
        known_by: columns that tell it: all of these, and
        one_of: one of these, if any are named.
        source: column of the sources.
        candidate: column of the outputs.
        scores: column -> kind of the scores; higher is better.
        costs: column -> kind likewise; lower is better in the file.
        reference: column of the post-edits.
        source_tags: column of the tags of the source's words.
        candidate_tags: column of those of the output's.
        gaps: the latter may tag gaps.
        unused: columns that are no judgement.
    """

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
_TAGS = TABLES[1]
_NUMBERED = ("index", "seg")


def table_of(header: str) -> QualityTable | None:
    """The kind of table that a header row begins, if any."""
    columns = frozenset(header.split("\t"))
    return next((table for table in TABLES if table.fits(columns)), None)


def read_quality_table(path: Path, kind: QualityTable) -> TestSet:
    """Read a table of one system's outputs.

    Raises:
        FormatError: a column is missing, a cell is no number, or tags do not fit the tokens.
        LengthMismatchError: the file of the tags has another number of rows.
    """
    table = read_tsv(path)
    table.require(*kind.needed)
    if not table.rows:
        raise FormatError("has no rows below its header", path=path)
    for column in set(kind.unused) & set(table.columns):
        LOGGER.info("%s: %s is the model's own score, no judgement; left out", table.path, column)
    numbers = _scores(table, kind)
    numbers |= {
        k: [gain(row.number(c), row.path, row.line) for row in table] for c, k in kind.costs.items()
    }
    post_edits = {POST_EDIT: [row[kind.reference] for row in table]} if kind.reference else {}
    return estimated_set(
        table.path,
        name=plain_name(path).removesuffix(".tsv"),
        language_pair=pair_of(path),
        sources=[row[kind.source] for row in table],
        outputs=[row[kind.candidate] for row in table],
        scores=numbers,
        references=post_edits,
        errors=_errors(table, kind) or _errors_beside(path, table, kind),
    )


def _errors(table: Rows, kind: QualityTable) -> list[ErrorSpan]:
    found: list[ErrorSpan] = []
    for side, text, tags in (
        ("candidate", kind.candidate, kind.candidate_tags),
        ("source", kind.source, kind.source_tags),
    ):
        if tags is not None:
            rows = [
                Tagged(row[tags], row[text], row[text], row.path, row.line, tags) for row in table
            ]
            found += tagged_errors(rows, SYSTEM, side, gaps=kind.gaps and side == "candidate")
    return found


def _errors_beside(path: Path, table: Rows, kind: QualityTable) -> list[ErrorSpan]:
    """The errors of ``X.tags.tsv``, which lies beside ``X.tsv``."""
    if kind.candidate_tags is not None:
        return []
    name = path.name.removesuffix(".gz").removesuffix(".tsv")
    file = find(path.parent, f"{name}.tags.tsv")
    if file is None:
        return []
    tags = read_tsv(file)
    tags.require(*_TAGS.needed)
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
    tags: Rows, table: Rows, text: str, tokens: str, column: str, side: str
) -> list[ErrorSpan]:
    rows = [
        Tagged(mine[column], mine[tokens], row[text], mine.path, mine.line, column)
        for mine, row in zip(tags, table, strict=True)
    ]
    return tagged_errors(rows, SYSTEM, side, gaps=side == "candidate")


def direct_assessments(path: Path, sources: Sequence[str]) -> dict[str, list[float]]:
    """The scores of an MLQE-PE table for sources that are known already, tokenised perhaps.

    Raises:
        FormatError: the table is damaged, or is of other segments.
    """
    table = read_tsv(path)
    kind = TABLES[0]
    table.require(*kind.needed)
    if len(table.rows) != len(sources):
        raise LengthMismatchError(
            f"{path} has {len(table.rows)} rows, but there are {len(sources)} sources beside it"
        )
    for row, source in zip(table, sources, strict=True):
        if solid(row["original"]) != solid(source):
            raise row.error(
                f"the source is {row['original'][:60]!r}; the file of the sources has"
                f" {source[:60]!r}"
            )
    return _scores(table, kind)


def _scores(table: Rows, kind: QualityTable) -> dict[str, list[float]]:
    """The scores by their kind; rows that are numbered have numbers of their own."""
    seen: dict[str, int] = {}
    for column in (name for name in _NUMBERED if name in table.columns):
        for row in table:
            refuse_second(seen, row[column], row)
    return {
        k: [in_scale(k, row.number(column), row.path, row.line) for row in table]
        for column, k in kind.scores.items()
    }
