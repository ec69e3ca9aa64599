"""What the formats of error span annotation (ESA) share: a score and spans per output.

Spans are what a browser counted: UTF-16 units, the last one included, line ends apart; they become
half-open code points. An error in something that is missing becomes an empty span at the end of the
output, of the category "missing" if it has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.formats._files import LOGGER
from gnomon.formats._judged import ScoreTable, SystemNames, in_scale, said
from gnomon.formats._marked import from_browser, moved
from gnomon.formats._records import finite
from gnomon.human import ErrorSpan, Judgements
from gnomon.spans import Span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gnomon.formats._records import Record
    from gnomon.testset import TestSet

MISSING = "missing"


class Annotations:
    """Annotations as they come in; of several by one person of one output, the last counts."""

    def __init__(
        self, path: str, testset: TestSet, kind: str, rename: Mapping[str, str] | None
    ) -> None:
        self.path = path
        self.testset = testset
        self.kind = kind
        self.names = SystemNames(testset, rename)
        self.controls = 0
        self._kept: dict[
            tuple[str | None, str, int], tuple[float | None, tuple[ErrorSpan, ...]]
        ] = {}
        self._again = 0
        self._other_texts = 0

    def add(
        self,
        record: Record,
        rater: str | None,
        system: str,
        segment: int,
        score: object,
        spans: object,
        text: str | None = None,
    ) -> None:
        """Take an annotation in.

        Args:
            record: where it stands.
            rater: who made it.
            system: whose output, by the test set's name.
            segment: 0-based segment.
            score: a number, or None.
            spans: a list of objects, or None.
            text: the output that was annotated, if the file has it.

        Raises:
            FormatError: the score is no number of its scale, the spans are not what they should
                be, or it is the second annotation of an output by nobody in particular.
        """
        place = (rater, system, segment)
        if rater is None and place in self._kept:
            raise record.error(
                f"a second annotation of segment {segment + 1} of {system}, and nothing says who"
                " made either; name the annotators, or keep one"
            )
        self._again += place in self._kept
        value = None if score is None else finite(record, "the score", score)
        if value is not None:
            in_scale(self.kind, value, record.path, record.line)
        self._kept[place] = (value, self._spans(record, place, spans, text))

    def judgements(self) -> Judgements:
        """All of them; says what is worth knowing."""
        table = ScoreTable(self.path, self.testset.segments)
        errors: list[ErrorSpan] = []
        for (rater, system, segment), (score, spans) in self._kept.items():
            if score is not None:
                table.add(rater, system, segment, score)
            errors += spans
        self.names.report(self.path)
        said(self.controls, self.path, "annotations are tutorials or controls and are left out")
        said(self._again, self.path, "outputs were annotated again by the same person")
        if self._other_texts:
            LOGGER.warning(
                "%s: %d errors are marked in a text that is not the test set's; they have no place",
                self.path,
                self._other_texts,
            )
        return Judgements(table.scores(self.kind, self.names), errors=tuple(errors))

    def _spans(
        self, record: Record, place: tuple[str | None, str, int], spans: object, text: str | None
    ) -> tuple[ErrorSpan, ...]:
        if spans is None:
            return ()
        if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
            raise record.error("the error spans must be a list of objects, empty if there are none")
        return tuple(self._span(record, place, span, text) for span in spans)

    def _span(
        self,
        record: Record,
        place: tuple[str | None, str, int],
        span: Mapping[str, object],
        annotated: str | None,
    ) -> ErrorSpan:
        rater, system, segment = place
        own = self.testset.systems.get(system)
        text = own[segment] if own is not None else annotated or ""
        found = _browser_span(record, span, annotated if annotated is not None else text)
        category = str(span.get("category") or span.get("error_type") or "")
        if found is None:
            category = category or MISSING
        elif annotated is not None and own is not None:
            found = moved(found, annotated, text)
            self._other_texts += found is None
        start, end = found or Span(len(text), len(text))
        severity = str(span.get("severity") or "")
        return ErrorSpan(
            system, segment, "candidate", start, end, category, severity, rater, self.kind
        )


def _browser_span(record: Record, span: Mapping[str, object], text: str) -> Span | None:
    start, last = span.get("start_i"), span.get("end_i")
    if MISSING in (start, last):
        return None
    if type(start) is not int or type(last) is not int or start > last or start < 0:
        raise record.error(
            f"an error spans start_i {start!r} to end_i {last!r}; whole numbers 0 <= start_i <="
            f" end_i are expected (end_i is the last character), or {MISSING!r}"
        )
    return from_browser(start, last, text)
