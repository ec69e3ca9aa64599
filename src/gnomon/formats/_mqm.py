r"""Errors that raters marked under MQM, in the public TSV files.

One row per error, fields between tabs without quoting::

    system doc doc_id seg_id rater source target category severity [comment]

The error stands between ``<v>`` and ``</v>`` in the target, or in the source. A segment without an
error has one row ``No-error``. MQM Viewer's columns (``doc_seg_id``, ``global_seg_id``,
``metadata``) are read alike.

The score of a segment is minus the sum of its penalties, averaged over its raters (Freitag et al.
2021, "Experts, Errors, and Context").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gnomon.errors import DataError
from gnomon.formats._files import LOGGER
from gnomon.formats._judged import ScoreTable, SystemNames, said
from gnomon.formats._marked import Marked, moved, unmark, unquoted
from gnomon.formats._mqm_weights import Weights, is_error
from gnomon.formats._placing import Places
from gnomon.formats._tsv import read_tsv, whole_number
from gnomon.human import ErrorSpan, Judgements
from gnomon.spans import Span

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from gnomon.formats._tsv import Row, Rows
    from gnomon.testset import TestSet

COLUMNS = (
    "system",
    "doc",
    "doc_id",
    "seg_id",
    "rater",
    "source",
    "target",
    "category",
    "severity",
)
_ALIASES = {
    "seg_id": ("seg_id", "global_seg_id", "globalSegId"),
    "doc_id": ("doc_id", "doc_seg_id", "docSegId"),
}
NOT_RATED = "hotw"  # errors that the organisers put in to see whether raters find them


class _Rated(NamedTuple):
    """One row, placed in the test set."""

    system: str
    segment: int
    rater: str
    side: str
    marked: Marked


def read_mqm(
    path: str | PathLike[str],
    testset: TestSet,
    *,
    kind: str = "mqm",
    weights: Mapping[str, float] | None = None,
    rename: Mapping[str, str] | None = None,
    first_segment: int = 1,
    places: Mapping[tuple[str, str], int] | None = None,
) -> Judgements:
    """Read an MQM file: segment scores (mean and each rater) and error spans.

    Args:
        path: the file.
        testset: whose outputs were rated.
        kind: what to call scores and errors.
        weights: changes to :data:`gnomon.formats.MQM_WEIGHTS`.
        rename: name in the file -> name in the test set.
        first_segment: the number of the first segment.
        places: document and number in the file -> 0-based segment, where that is known for all.

    Raises:
        FormatError: a column is missing, marks do not pair up, a severity has no weight, or a row
            is of no segment of the test set.
        DataError: no system of the file is in the test set.
    """
    table = read_tsv(path)
    columns = columns_of(table)
    costs = Weights(weights)
    reader = _Reader(table, testset, rename, first_segment, columns, places)
    scores = ScoreTable(table.path, testset.segments)
    sums: dict[tuple[str, str, int], float] = {}
    errors: list[ErrorSpan] = []
    for row in table:
        severity, category = row["severity"], row["category"]
        if severity.lower().startswith(NOT_RATED):
            reader.skipped += 1
            continue
        rated = reader.place(row)
        cost = _cost(costs, row)
        key = (rated.rater, rated.system, rated.segment)
        sums[key] = sums.get(key, 0.0) + cost
        if is_error(severity, category):
            errors.append(reader.error(row, rated, kind, cost))
    for (rater, system, segment), total in sums.items():
        scores.add(rater or None, system, segment, 0.0 - total)
    reader.report()
    return Judgements(scores.scores(kind, reader.names), errors=tuple(errors))


def columns_of(table: Rows) -> dict[str, str]:
    """The table's own names of the columns.

    Raises:
        FormatError: one that is needed is not there.
    """
    names = {}
    for name in COLUMNS:
        there = [alias for alias in _ALIASES.get(name, (name,)) if alias in table.columns]
        if there:
            names[name] = there[0]
        elif name not in ("doc", "doc_id", "source"):
            table.require(name)
    return names


def _cost(costs: Weights, row: Row) -> float:
    try:
        return costs.of(row["severity"], row["category"])
    except DataError as error:
        raise row.error(str(error)) from error


class _Reader:
    """What the rows of one file are placed with, and what is said of them at the end."""

    def __init__(
        self,
        table: Rows,
        testset: TestSet,
        rename: Mapping[str, str] | None,
        first: int,
        columns: Mapping[str, str],
        known: Mapping[tuple[str, str], int] | None,
    ) -> None:
        self.path = table.path
        self.testset = testset
        self.names = SystemNames(testset, rename)
        self.places = Places(testset, table.path)
        self.columns = columns
        self.first = first
        self.known = known
        self.skipped = 0
        self.other_texts: list[int] = []
        self._texts = _Unquoting(testset)

    def place(self, row: Row) -> _Rated:
        system = self.names.of(row["system"])
        source = self._unmarked(row, "source") if "source" in self.columns else None
        target = self._unmarked(row, "target")
        number = row[self.columns["seg_id"]]
        if whole_number(number) < 0:
            raise row.error(f"{self.columns['seg_id']} is {number!r}; a whole number is expected")
        if self.known is not None:
            segment = self.known[row.get("doc"), number]
        else:
            segment = self.places.of(
                int(number) - self.first,
                None if source is None else source.text,
                {system: target.text},
                row.line,
            )
        in_source = target.span is None and source is not None and source.span is not None
        side, marked = ("source", source) if in_source else ("candidate", target)
        return _Rated(system, segment, row["rater"], side, marked or target)

    def _unmarked(self, row: Row, column: str) -> Marked:
        text = self._texts.of(row[column])
        found = unmark(text)
        if found is None:
            raise row.error(
                f"the marks in {column} do not pair up: {text[:80]!r}; an error stands between <v>"
                " and </v>"
            )
        return found

    def error(self, row: Row, rated: _Rated, kind: str, cost: float) -> ErrorSpan:
        text, span = rated.marked
        mine = self._text_of(rated)
        place = Span(len(text), len(text)) if span is None else span
        if mine is not None:
            found = moved(place, text, mine)
            if found is None:
                self.other_texts.append(row.line)
            place = found or Span(len(mine), len(mine))
        return ErrorSpan(
            rated.system,
            rated.segment,
            rated.side,
            place.start,
            place.end,
            row["category"],
            row["severity"],
            rated.rater or None,
            kind,
            cost,
        )

    def _text_of(self, rated: _Rated) -> str | None:
        if rated.side == "source":
            return None if self.testset.sources is None else self.testset.sources[rated.segment]
        texts = self.testset.systems.get(rated.system)
        return None if texts is None else texts[rated.segment]

    def report(self) -> None:
        self.names.report(self.path)
        self.places.report()
        said(self.skipped, self.path, "rows test the raters (HOTW) and are left out")
        if self.other_texts:
            LOGGER.warning(
                "%s: %d errors are marked in a text that is not the test set's; they count, but"
                " have no place; the first is in line %d",
                self.path,
                len(self.other_texts),
                self.other_texts[0],
            )


class _Unquoting:
    """Some published files quote fields as spreadsheets do; told by the text that is rated."""

    def __init__(self, testset: TestSet) -> None:
        self._known = {
            "".join(text.split())
            for texts in (*testset.systems.values(), testset.sources or ())
            for text in texts
            if '"' in text
        }

    def of(self, text: str) -> str:
        if not text.startswith('"'):
            return text
        marks = text.replace("<v>", "").replace("</v>", "")
        return text if "".join(marks.split()) in self._known else unquoted(text)
