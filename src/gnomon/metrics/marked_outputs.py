"""Marked errors as tables and pages show them: the same output once for each who marked it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from gnomon.core.findings import Exhibit, ExhibitText, Highlight
from gnomon.core.records import SEGMENT, SYSTEM, Record, column
from gnomon.core.spans import ErrorSpan
from gnomon.core.store_views import Layer
from gnomon.metrics.error_marks import ErrorMarks, Judgement, severity_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gnomon.core.store_views import Mark, SegmentRange, StoredRows
    from gnomon.core.testset import TestSet

_COLOURS = {True: -1.0, False: -0.4}


def highlights(spans: Iterable[ErrorSpan]) -> tuple[Highlight, ...]:
    """Marks of errors, the graver where two overlap; colours say the severity."""
    graded = [
        (s, bool(severity_of(s.severity))) for s in spans if severity_of(s.severity) is not None
    ]
    ends = sorted({end for s, _ in graded for end in (s.start, s.end)})
    shown: list[Highlight] = []
    for start, end in pairwise(ends):
        over = [(major, s) for s, major in graded if s.start <= start and end <= s.end]
        if not over:
            continue
        major, worst = max(over, key=lambda one: one[0])
        label = " ".join(word for word in (worst.severity, worst.category) if word)
        last = shown[-1] if shown else None
        if last is not None and (last.end, last.label) == (start, label):
            shown[-1] = replace(last, end=end)
        else:
            shown.append(Highlight(start, end, label, _COLOURS[major]))
    return tuple(shown)


def marker_title(marks: str, rater: str | None) -> str:
    """Title of a marker: the kind, file or metric, and the rater where there are some."""
    return marks if rater in (None, "", marks) else f"{marks} ({rater})"


def marked_exhibit(
    testset: TestSet,
    marks: Sequence[ErrorMarks],
    system: int,
    segment: int,
    *,
    group: str,
    kind: str,
    side: str = "candidate",
) -> Exhibit:
    """An output once for each who looked at it, their errors marked, the source before it.

    Errors in the source are marked there: then it is the source that stands there several times.
    """
    name = list(testset.systems)[system]
    output = testset.systems[name][segment]
    source = None if testset.sources is None else testset.sources[segment]
    references = [
        ExhibitText("reference", name_of_reference, of[segment] or "")
        for name_of_reference, of in testset.references.items()
        if of[segment] is not None
    ]
    role: Literal["source", "candidate"] = "source" if side == "source" else "candidate"
    before = "" if role == "source" else f"{name}, "
    marked = [
        ExhibitText(
            role,
            before + marker_title(marker.name, marker.raters[rater]),
            (source or "") if role == "source" else output,
            highlights(marker.spans.get(judgement, ())),
            {"without a place": float(len(marker.placeless[judgement]))}
            if judgement in marker.placeless
            else {},
        )
        for marker in marks
        if marker.marking
        for rater in np.flatnonzero(marker.judged[:, system, segment]).tolist()
        for judgement in (Judgement(rater, system, segment),)
    ]
    if role == "source":
        texts = [*marked, *references, ExhibitText("candidate", name, output)]
    else:
        given = [] if source is None else [ExhibitText("source", "", source)]
        texts = [*given, *references, *marked]
    candidates = [text.name for text in texts if text.role == "candidate"]
    return Exhibit(
        group=group,
        kind=kind,
        segment=segment + 1,
        texts=tuple(texts),
        systems=tuple(dict.fromkeys((name, *candidates))),
        document=None if testset.documents is None else testset.documents[segment],
        domain=None if testset.domains is None else testset.domains[segment],
    )


# Marks as rows of a table, and on the pages of a study.


class MarkedSpanRow(Record):
    """An error that somebody marked."""

    marks: str = column("Marks", help="of which metric, file or kind of judgements")
    by: str = column("By", help="what marked: person, metric or judge")
    rater: str = column("Rater", help="who did, if the file says so")
    system: str = SYSTEM
    segment: int = SEGMENT
    side: str = column("Side", help="candidate or source")
    start: int = column("Start", help="first code point, from 0")
    end: int = column("End", help="code point after the last; the start: without a place")
    severity: str = column("Severity", help="as the marker has it")
    category: str = column("Category", help="likewise; empty where there is none")
    confidence: float | None = column("Confidence", help="how sure the marker is, 0 to 1")


def marked_rows(testset: TestSet, marks: ErrorMarks) -> Iterator[MarkedSpanRow]:
    """All errors of a marker, by rater, system and segment."""
    names = list(testset.systems)
    places = sorted({*marks.spans, *marks.placeless})
    for judgement in places:
        for span in (*marks.spans.get(judgement, ()), *marks.placeless.get(judgement, ())):
            yield MarkedSpanRow(
                marks=marks.name,
                by=span.by,
                rater=marks.raters[judgement.rater],
                system=names[judgement.system],
                segment=judgement.segment + 1,
                side=span.side,
                start=span.start,
                end=span.end,
                severity=span.severity,
                category=span.category,
                confidence=span.confidence,
            )


#: what the ends of the scale of severities mean
_ENDS = ("major error", "none")


def error_span_marks(stored: StoredRows) -> StoredErrorMarks | None:
    """Error marks of the table ``error_marks``; None where it has no rows.

    Pages of studies mark outputs; errors in sources stand in the table alone.
    """
    rows = stored.rows("error_marks")
    if rows is None:
        return None
    pairs = stored.query(
        f"select distinct marks, rater from {rows} where side = 'candidate' order by all"  # noqa: S608  # no input
    )
    names = tuple((str(marks), str(rater or "")) for marks, rater in pairs)
    titles = [marker_title(marks, rater) for marks, rater in names]
    layers = tuple(Layer("values", title, f"errors: {title}", -1.0, 1.0, _ENDS) for title in titles)
    return StoredErrorMarks(layers, stored, rows, names)


@dataclass(frozen=True)
class StoredErrorMarks:
    """Marks errors in outputs, coloured by their severity: a layer for each who marked some."""

    layers: tuple[Layer, ...]  # one for each rater of each kind, file or metric
    stored: StoredRows  # what the store holds of the test set
    rows: str  # SQL of the rows
    names: tuple[tuple[str, str], ...]  # marks and rater of each layer

    def marks(self, stretch: SegmentRange) -> Iterator[tuple[int, str, Mark]]:
        """Number of the segment (from 0, within the stretch), text, mark in one of the layers."""
        low, high = stretch.first + 1, stretch.first + len(stretch.outputs)
        stored = self.stored.query(
            "select distinct segment, system, marks, coalesce(rater, '') as rater, start, \"end\","  # noqa: S608  # no input
            f" severity, coalesce(category, '') as category from {self.rows}"
            " where segment between ? and ? and side = 'candidate' and \"end\" > start"
            " order by all",
            low,
            high,
        )
        for key, rows in groupby(stored, lambda row: row[:4]):
            segment, system, marks, rater = key
            text = stretch.outputs[segment - 1 - stretch.first].get(system)
            if text is None:
                continue
            spans = [
                ErrorSpan(system, segment - 1, "candidate", row[4], row[5], row[7], row[6])
                for row in rows
            ]
            shown = highlights(spans)
            ends = [end for highlight in shown for end in (highlight.start, highlight.end)]
            layer = self.names.index((marks, rater))
            if ends:
                yield segment - 1 - stretch.first, text, (layer, ends, [h.weight for h in shown])
