"""Rows, tables and views of errors by feature, and the outputs to read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.findings import Excerpt, Finding, HeatMap, Listing
from gnomon.core.records import table
from gnomon.core.signature import Signature
from gnomon.core.verdicts import LEAST, metric_title
from gnomon.data.formats.error_marks import is_within_word
from gnomon.messages import message
from gnomon.metrics.marked_outputs import marked_exhibit
from gnomon.muler._error_rates import (
    COMPARED,
    SEVERITIES,
    WORDS,
    error_counts,
    error_rates,
    error_tallies,
    rate_differences,
    split_into_units,
)
from gnomon.muler._error_rows import (
    COUNTS,
    DIFFERENCES,
    ERRORS,
    ErrorCountRow,
    ErrorRateDifferenceRow,
    ErrorRateRow,
)
from gnomon.muler._setup import facts_of, tagger_field
from gnomon.muler.pairs import FEWEST_DIFFERING
from gnomon.stats import holm, holm_levels
from gnomon.stats.draws import DocumentDraws, SegmentDraws
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import Exhibit, Table, View
    from gnomon.core.options import Unit
    from gnomon.core.testset import TestSet
    from gnomon.linguistics import Annotation
    from gnomon.messages import Message
    from gnomon.metrics.error_marks import ErrorMarks
    from gnomon.muler._error_rates import ErrorRates, ErrorTallies
    from gnomon.muler.uncertainty import Bootstrap
    from gnomon.stats.draws import Draws

_LISTED = 15
#: systems of which so much more is listed, of all segments, differ in it
_UNLISTED = 0.01
#: of at least so many marks, as many cut words where places are wrong
_MARKS, _CUT = 20, 0.3
# columns of each table in text
_RATES = ("feature", "occurrences", "rate", "rate_low", "rate_high", "relative")
_DIFFERING = (
    *("severity", "feature", "system_a", "system_b", "rate_a", "rate_b"),
    *("difference", "low", "high", "p"),
)
_COUNTED = ("marks", "system", "severity", "category", "errors", "per_hundred", "outputs")


# The finding


@dataclass
class ErrorTables:
    """Gathers all that the finding is made of."""

    testset: TestSet
    every: Sequence[ErrorMarks]
    bootstrap: Bootstrap
    unit: Unit
    side: str
    counted: str = WORDS
    notices: list[Message] = field(default_factory=list)
    signatures: dict[str, Signature] = field(default_factory=dict)
    tallies: list[ErrorTallies] = field(default_factory=list)
    rates: list[ErrorRates] = field(default_factory=list)
    annotation: Annotation | None = None

    def __post_init__(self) -> None:
        self.systems = list(self.testset.systems)
        self.draws = [self._draws_of(marks) for marks in self.every]

    def _draws_of(self, marks: ErrorMarks) -> Draws | None:
        """Draws for one marker: documents where people marked, else segments."""
        level, documents = self.bootstrap.confidence, self.testset.documents
        if not self.bootstrap.resamples:
            return None
        if (
            documents is None
            or self.unit == "segment"
            or (self.unit == "auto" and marks.by != "person")
        ):
            return self._segment_draws
        draws = DocumentDraws.leave_out(documents, marks.judged.sum(axis=(0, 1)), level)
        judged = int((draws.sizes > 0).sum())
        if judged < LEAST_DOCUMENTS:
            said = message("note.muler.marks.few", documents=judged, least=LEAST_DOCUMENTS)
        else:
            confidence = 100 * level
            said = message("note.muler.marks.drawn", documents=judged, confidence=confidence)
        self.notices.append(said.about(metrics=[marks.name]))
        return draws

    def draw_fields(self, marker: int) -> dict[str, object]:
        """Fields of the draws of a marker in signatures."""
        return self.bootstrap.fields(by_document=isinstance(self.draws[marker], DocumentDraws))

    @cached_property
    def _segment_draws(self) -> SegmentDraws:
        how = self.bootstrap
        return SegmentDraws.draw(
            self.testset.segments, count=how.resamples, seed=how.seed, confidence=how.confidence
        )

    def tally(self, annotation: Annotation) -> None:
        """Count what every marker marked."""
        self.annotation = annotation
        batch = self.testset.batch()
        numbers = batch.candidates
        if self.side == "source":
            assert batch.sources is not None  # noqa: S101  # refused before
            numbers = np.broadcast_to(batch.sources, batch.candidates.shape)
        spans = split_into_units(annotation.spans, batch.texts, self.counted)
        for marks, draws in zip(self.every, self.draws, strict=True):
            tallies = error_tallies(marks, batch.texts, numbers, spans, self.counted)
            self.tallies.append(tallies)
            self.rates.append(error_rates(tallies, draws))
            drawn = self.draw_fields(len(self.rates) - 1)
            fields = {**tagger_field(annotation), "side": self.side, **drawn}
            fields |= {"counted": self.counted} if self.counted != WORDS else {}
            signature = marks.signature or Signature(f"marks({marks.name!r})")
            self.signatures[marks.name] = signature.adding({"method": "errors", **fields})
            self.notices += marks.notices
            if self.counted == WORDS and marks.by != "metric":
                self.notices += _cut_words(marks, batch.texts, numbers)
            if marks.ungraded:
                ungraded = message("note.muler.marks.ungraded", errors=marks.ungraded)
                self.notices.append(ungraded.about(metrics=[marks.name]))

    def finding(self, examples: int) -> Finding:
        """All of it."""
        assert self.annotation is not None  # noqa: S101  # tally() came before
        tables = tuple(self._tables())
        facts = facts_of(self.testset, self.annotation)
        facts["marks"] = ", ".join(marks.name for marks in self.every)
        facts["outputs checked"] = str(int(self.tallies[0].judged.sum()))
        for number, marks in enumerate(self.every):
            self.notices += self._few(number)
            self.notices += self._unlisted(marks)
        return Finding(
            method="errors",
            title="Errors by linguistic feature",
            tables=tables,
            signatures=self.signatures,
            views=tuple(self._views(tables)),
            exhibits=tuple(self._exhibits(examples)),
            notices=tuple(dict.fromkeys(self.notices)),
            facts=facts,
        )

    def _few(self, number: int) -> Iterator[Message]:
        """Says so where one marker checked too few segments, or documents, for a finding."""
        judged = self.tallies[number].judged.any(axis=0)
        n, unit, least = int(judged.sum()), "segment", LEAST
        if isinstance(self.draws[number], DocumentDraws):
            documents = self.testset.documents
            assert documents is not None  # noqa: S101  # what is left out
            n, unit = len(set(np.array(documents)[judged].tolist())), "document"
            least = LEAST_DOCUMENTS
        if n < least:
            said = message("data.few", of=[], n=n, unit=unit, least=least)
            yield said.about(metrics=[self.every[number].name])

    def _unlisted(self, marks: ErrorMarks) -> Iterator[Message]:
        """Says how many outputs of the systems have errors, if others are taken as checked."""
        if marks.listed is None:
            return
        some = [k for k in np.argsort(-marks.listed, kind="stable").tolist() if marks.listed[k]]
        ends = [{"system": self.systems[k], "n": int(marks.listed[k])} for k in (some[0], some[-1])]
        whole = self.testset.segments
        if marks.listed[some[0]] - marks.listed[some[-1]] > _UNLISTED * whole:
            name = metric_title(marks.name)
            yield message("errors.unlisted", marks=name, listed=ends, outputs=whole)

    def _tables(self) -> Iterator[Table]:
        level = self.bootstrap.confidence if self.bootstrap.resamples else None
        note = (
            "Each word of a feature is an occurrence, and is hit by every error that shares a"
            " character with it. Relative rate: as a multiple of that of all words."
            if self.counted == WORDS
            else "Each character of a feature is an occurrence, for spaces do not part the words of"
            " this language. Relative rate: as a multiple of that of all characters."
        )
        rows = [row for n in range(len(self.every)) for row in self._rate_rows(n)]
        title = "Errors per hundred occurrences"
        yield table(ERRORS, title, ErrorRateRow, rows, note=note, confidence=level)
        if len(self.systems) > 1:
            yield self._difference_table()
        counts = [row for marks in self.every for row in error_counts(marks, self.systems)]
        title = "Errors by severity and category"
        yield table(COUNTS, title, ErrorCountRow, counts)

    def _rate_rows(self, number: int) -> Iterator[ErrorRateRow]:
        marks, tallies, rates = self.every[number], self.tallies[number], self.rates[number]
        low, high = rates.ends()
        p = rates.tests()
        p[:, 0] = np.nan  # all words themselves
        p[:, rates.occurrences < LEAST] = np.nan
        if not isinstance(self.draws[number], DocumentDraws):
            checked = [*tallies.judged.sum(axis=1), tallies.judged.any(axis=0).sum()]
            p[:, :, np.array(checked) < LEAST] = np.nan
        alpha = round(1 - self.bootstrap.confidence, 12)
        corrected, levels = p.copy(), np.full(p.shape, alpha)
        for s, k in np.ndindex(p.shape[0], p.shape[2]):
            corrected[s, :, k] = holm(p[s, :, k])
            steps = holm_levels(p[s, :, k], alpha)
            levels[s, :, k] = np.where(np.isnan(p[s, :, k]), alpha, steps)
        relative, beneath, above = rates.relative(levels)
        decided = (corrected <= alpha) & ((beneath > 1) | (above < 1))
        looked = [*np.flatnonzero(tallies.judged.any(axis=1)).tolist()]
        for k in (-1, *looked):
            for f, feature in enumerate(tallies.features):
                for s, severity in enumerate(SEVERITIES):
                    at = (s, f, k)
                    yield ErrorRateRow(
                        marks=marks.name,
                        by=marks.by,
                        system=None if k < 0 else self.systems[k],
                        feature=feature,
                        severity=severity,
                        occurrences=int(rates.occurrences[f, k]),
                        hits=int(rates.hits[at]),
                        rate=rates.rate[at],
                        relative=relative[at],
                        p_words=float(corrected[at]),
                        decided=None if np.isnan(corrected[at]) else bool(decided[at]),
                        intervals={
                            "rate": (low[at], high[at]),
                            "relative": (beneath[at], above[at]),
                        },
                    )

    def _difference_table(self) -> Table:
        rows = [
            row
            for marks, tallies, draws in zip(self.every, self.tallies, self.draws, strict=True)
            for row in rate_differences(
                marks.name,
                self.systems,
                tallies,
                self.bootstrap,
                draws.documents if isinstance(draws, DocumentDraws) else None,
            )
        ]
        note = (
            "Over the segments in which both systems were checked; features with fewer than"
            f" {LEAST} occurrences on either side are left out. Intervals and p hold for all"
            " severities, features and pairs together; an end that is 0 is open. Not tested:"
            f" fewer than {LEAST} segments or {LEAST_DOCUMENTS} documents, and fewer than"
            f" {FEWEST_DIFFERING} segments with an error."
        )
        title = "Systems compared, feature by feature"
        return table(
            DIFFERENCES, title, ErrorRateDifferenceRow, rows, note=note, excerpt=Excerpt.first(rows)
        )

    def _views(self, tables: Sequence[Table]) -> Iterator[View]:
        columns = {column.name for column in tables[0].columns}
        for marks in self.every:
            for severity in COMPARED:
                where: dict[str, Any] = {"marks": marks.name, "severity": severity, "system": None}
                title = f"{marks.name}: {severity} errors per hundred occurrences"
                shown = tuple(name for name in _RATES if name in columns)
                yield Listing(ERRORS, f"{title}, all systems", shown, where)
                yield HeatMap(
                    table=ERRORS,
                    title=title,
                    rows="feature",
                    columns="system",
                    value="rate",
                    where={"marks": marks.name, "severity": severity},
                    low=0.0,
                    few=("occurrences", LEAST),
                    prominent=False,
                )
        names = {each.name for each in tables}
        if DIFFERENCES in names:
            where = {"marks": self.every[0].name}
            title = "Systems compared, the surest differences first"
            yield Listing(DIFFERENCES, title, _DIFFERING, where, most=_LISTED)
        yield Listing(COUNTS, "Errors by severity and category", _COUNTED)

    def _exhibits(self, examples: int) -> Iterator[Exhibit]:
        """The outputs with the gravest errors, everybody's marks beside each other."""
        if not examples:
            return
        for marks in self.every:
            graded = {
                position: marks.penalty(position) for position in (*marks.spans, *marks.placeless)
            }
            shown: set[tuple[int, int]] = set()
            for position in sorted(graded, key=lambda p: (graded[p], p)):
                if len(shown) >= examples:
                    break
                if position[1:] in shown:
                    continue
                shown.add((position.system, position.segment))
                exhibit = marked_exhibit(
                    self.testset,
                    self.every,
                    position.system,
                    position.segment,
                    group=self.systems[position.system],
                    kind=f"gravest errors by {marks.name}",
                    side=self.side,
                )
                caption = f"{-graded[position]:g} points of penalty"
                yield replace(exhibit, weight=-graded[position], caption=caption)


def _cut_words(
    marks: ErrorMarks, texts: Sequence[str], numbers: NDArray[np.int32]
) -> Iterator[Message]:
    """Says so where marks cut words, as if their places were those of other texts."""
    spans = [
        (span, texts[numbers[place.system, place.segment]])
        for place, some in marks.spans.items()
        for span in some
        if span.end > span.start
    ]
    cut = sum(is_within_word(text, s.start) or is_within_word(text, s.end) for s, text in spans)
    if len(spans) >= _MARKS and cut >= _CUT * len(spans):
        share = cut / len(spans)
        said = message("errors.cut", spans=len(spans), share=share)
        yield said.about(metrics=[marks.name])
