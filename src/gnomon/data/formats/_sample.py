"""Samples of segments for people to judge, each with its probability of being drawn.

A tab-separated table with a row per segment::

    segment  document  inclusion  stratum  analysis  rater

``segment`` counts from 1; ``inclusion`` is the probability of the segment to be drawn, in (0, 1];
``analysis`` is the first planned analysis whose judgements hold the segment; ``rater`` is who
judges it, or one for each system between commas. All but ``segment`` and ``inclusion`` may be left
out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gnomon.core.errors import UsageError
from gnomon.core.lazy import checked
from gnomon.data.formats._files import atomic_write
from gnomon.data.formats._judged_file import say_unread
from gnomon.data.formats._registry import Format
from gnomon.data.formats.rows import FileRecord, print_number, read_tsv, table_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from gnomon.core.testset import TestSet

_COLUMNS = ("segment", "document", "inclusion", "stratum", "analysis", "rater")


class SampledSegment(NamedTuple):
    """A segment that was drawn.

    Attributes:
        segment: 0-based.
        document: empty where it is not known.
        inclusion: the probability of being drawn.
        stratum: of a stratified draw; else empty.
        analysis: the first planned analysis that holds it, from 1.
        raters: who judges it: one for all systems, or one for each; none if that is left open.
    """

    segment: int
    document: str
    inclusion: float
    stratum: str = ""
    analysis: int = 1
    raters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sample:
    """The segments that were drawn, in the order of the test set.

    Attributes:
        rows: one for each segment.
    """

    rows: tuple[SampledSegment, ...]

    @property
    def analyses(self) -> int:
        """Number of planned analyses."""
        return max(row.analysis for row in self.rows)

    def after(self, analysis: int) -> Sample:
        """The sample of the analyses up to this one, with the inclusion probabilities by then.

        The order of the documents (of the segments, where there are none) over the analyses is
        random, so each probability is that of the draw times the share of documents that these
        analyses hold.

        Args:
            analysis: from 1.

        Raises:
            UsageError: no such analysis is planned.
        """
        if not 1 <= analysis <= self.analyses:
            raise UsageError(
                f"analysis {analysis} is not planned; the sample has analyses 1 to {self.analyses}"
            )
        rows = [row for row in self.rows if row.analysis <= analysis]
        share = len(_units(rows)) / len(_units(self.rows))
        return Sample(tuple(row._replace(inclusion=row.inclusion * share) for row in rows))


def _units(rows: Iterable[SampledSegment]) -> set[str | int]:
    """The documents; segments that are in none stand for themselves."""
    return {row.document or row.segment for row in rows}


@checked
def read_sample(path: str | PathLike[str], testset: TestSet | None = None) -> Sample:
    """Read which segments were drawn, with which probabilities.

    Args:
        path: the table.
        testset: of which the segments were drawn; segments and documents are compared with it.

    Raises:
        FormatError: a segment is doubled or not in the test set, its document is another one, an
            inclusion probability is not in (0, 1], or a document stands in several analyses.
    """
    table = read_tsv(path)
    table.require("segment", "inclusion")
    say_unread(table, _COLUMNS)
    if not table.rows:
        raise FileRecord(table.path, 1, {}).error("has a header and no segment")
    lines: dict[int, int] = {}
    analyses: dict[str, tuple[int, int]] = {}
    rows = []
    for record in table:
        row = _row(record, testset)
        if row.segment in lines:
            raise record.error(
                f"segment {row.segment + 1} stands in line {lines[row.segment]}, too; keep one"
            )
        lines[row.segment] = record.line
        analysis, line = analyses.setdefault(
            row.document or f"\t{row.segment}", (row.analysis, record.line)
        )
        if analysis != row.analysis:
            raise record.error(
                f"document {row.document!r} is in analysis {row.analysis} here and in analysis"
                f" {analysis} in line {line}; a document is judged in one analysis"
            )
        rows.append(row)
    missing = set(range(1, max(row.analysis for row in rows) + 1)) - {row.analysis for row in rows}
    if missing:
        raise record.error(f"analysis {min(missing)} has no segment; analyses count from 1")
    return Sample(tuple(sorted(rows)))


def _row(record: FileRecord, testset: TestSet | None) -> SampledSegment:
    count = None if testset is None else testset.segments
    segment = record.integer("segment", 1, count) - 1
    inclusion = record.number("inclusion")
    if not 0 < inclusion <= 1:
        raise record.error(
            f"inclusion is {record['inclusion']!r}; a probability above 0 and up to 1 is expected"
        )
    document = record.get("document")
    if testset is not None and testset.documents is not None:
        actual = testset.documents[segment]
        if document not in ("", actual):
            raise record.error(
                f"segment {segment + 1} is of the document {actual!r} in the test set, not of"
                f" {document!r}; the sample was drawn from another test set"
            )
        document = actual
    return SampledSegment(
        segment,
        document,
        inclusion,
        record.get("stratum"),
        record.integer("analysis", 1) if record.get("analysis") else 1,
        tuple(name for name in record.get("rater").split(",") if name),
    )


def write_sample(path: str | PathLike[str], sample: Sample) -> None:
    """Write which segments were drawn; :func:`read_sample` gives the same.

    Raises:
        DataError: the name of a document holds a tab or a line end.
    """
    with atomic_write(path) as file:
        file.write(sample_text(sample))


def sample_text(sample: Sample) -> str:
    """The table of :func:`write_sample`."""
    return table_text("sample", _COLUMNS, map(_cells, sample.rows))


def _cells(row: SampledSegment) -> Sequence[str]:
    inclusion, raters = print_number(row.inclusion, ""), ",".join(row.raters)
    return str(row.segment + 1), row.document, inclusion, row.stratum, str(row.analysis), raters


FORMATS = (
    Format(
        name="sample",
        title="segments that were drawn to be judged, with their inclusion probabilities",
        holds="sample",
        read=read_sample,
        write=write_sample,
    ),
)
