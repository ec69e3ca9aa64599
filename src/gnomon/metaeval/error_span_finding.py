"""The finding of error spans: its tables, views, examples, notices and signatures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.agreement.error_spans import (
    AVERAGES,
    UNITS,
    ErrorFree,
    calls,
    error_free_figures,
    span_agreement,
    span_contests,
)
from gnomon.core.findings import Bars, Excerpt, Finding, HeatMap, Listing
from gnomon.core.records import table
from gnomon.core.signature import Signature
from gnomon.messages import message
from gnomon.messages.grammar import counted
from gnomon.metaeval.error_span_rows import (
    AGREEMENT,
    CONTESTS,
    ERROR_FREE,
    MARKS,
    SEGMENTS,
    ErrorFreeRow,
    SpanAgreementRow,
    SpanContestRow,
    SpanSegmentRow,
)
from gnomon.metrics.marked_outputs import MarkedSpanRow, marked_exhibit, marked_rows
from gnomon.stats import holm
from gnomon.stats.draws import DocumentDraws
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.agreement.error_spans import MarkedPairs, SpanAgreement
    from gnomon.core.findings import Exhibit, Table, View
    from gnomon.core.options import DrawOptions
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.error_marks import ErrorMarks, MarkedSide
    from gnomon.stats.draws import Draws

__all__ = ["MarkRules", "MarkedErrors", "error_span_finding"]


_ALONE = "raters among themselves"


class MarkRules(NamedTuple):
    """Rules by which marks are counted, and outputs are free of errors."""

    partial_credit: float
    error_free: ErrorFree
    thresholds: tuple[float, ...]


@dataclass(frozen=True)
class MarkedErrors:
    """All that the finding is made of."""

    testset: TestSet
    people: ErrorMarks
    every: Sequence[ErrorMarks]
    pairs: Sequence[MarkedPairs]
    how: MarkRules
    draws: Draws | None
    side: MarkedSide
    examples: int

    def title(self, pairs: MarkedPairs) -> str:
        """Title of a marker in tables."""
        return f"{self.people.name}: {_ALONE}" if pairs.ceiling else pairs.name


def error_span_finding(
    made: MarkedErrors, draws: DrawOptions, unit: str, *, per_segment: bool
) -> Finding:
    """Tables, views, examples and notices of what was marked."""
    tables = tuple(_tables(made, draws))
    if per_segment:
        tables = (*tables, _segment_table(made))
    return Finding(
        method="metaeval spans",
        title=f"Error spans beside those of {made.people.name}",
        tables=tables,
        signatures=_signatures(made, draws, unit),
        views=_views(tables),
        exhibits=tuple(_exhibits(made)),
        notices=tuple(_notices(made)),
        facts={
            "test set": made.testset.name,
            "language pair": made.testset.language_pair or "not given",
            "systems": str(len(made.testset.systems)),
            "people's marks": made.people.name,
            "judgements": str(int(made.people.judged.sum())),
            "raters": str(len(made.people.raters)),
            "side": made.side,
        },
    )


def _tables(made: MarkedErrors, draws: DrawOptions) -> Iterator[Table]:
    confidence = draws.confidence if draws.resamples else None
    alpha = round(1 - draws.confidence, 12)
    rows = [row for pair in made.pairs if pair.marking for row in _agreement_rows(made, pair)]
    note = (
        "Of characters in more than one span each counts; of a pair of other severities"
        f" {made.how.partial_credit:g} does. Spans are matched one to one, for the share of each"
        " that overlaps. Pooled characters are the figure of WMT 2025."
    )
    title = f"Agreement with the errors of {made.people.name}"
    yield table(AGREEMENT, title, SpanAgreementRow, rows, note=note, confidence=confidence)
    contests = list(span_contests(made.pairs, made.draws))
    if contests:
        corrected = holm([contest.p for contest in contests])
        yield table(
            CONTESTS,
            "Markers beside each other",
            SpanContestRow,
            [
                SpanContestRow(
                    first=contest.first,
                    second=contest.second,
                    difference=contest.difference.value,
                    intervals={"difference": contest.difference.ends},
                    p=contest.p,
                    p_holm=float(p),
                    decided=None if np.isnan(p) else bool(p <= alpha),
                    judgements=contest.judgements,
                )
                for contest, p in zip(contests, corrected, strict=True)
            ],
        )
    free = list(_free_rows(made))
    if free:
        note = (
            "By marks: an output without any is called free of errors. By score: as many are called"
            " so as people found, the best ones; the area under the curve needs no such cut."
        )
        title = "Which outputs are free of errors"
        yield table(ERROR_FREE, title, ErrorFreeRow, free, note=note, confidence=confidence)
    every = [row for marker in made.every for row in marked_rows(made.testset, marker)]
    excerpt = Excerpt.first(every)
    yield table(MARKS, "Marked errors", MarkedSpanRow, every, excerpt=excerpt)


def _segment_table(made: MarkedErrors) -> Table:
    names = list(made.testset.systems)
    rows = [
        SpanSegmentRow(
            marks=made.title(pair),
            system=names[int(pair.system[at])],
            segment=int(pair.segment[at]) + 1,
            rater=made.people.raters[int(pair.rater[at])],
            precision=pair.figures["characters"][0, at],
            recall=pair.figures["characters"][1, at],
            f1=pair.figures["characters"][2, at],
            marked=pair.characters[2, at],
            gold=pair.characters[3, at],
        )
        for pair in made.pairs
        if pair.marking
        for at in range(len(pair.gold))
    ]
    title = "Agreement output by output"
    return table(SEGMENTS, title, SpanSegmentRow, rows, excerpt=Excerpt.first(rows))


def _agreement_rows(made: MarkedErrors, pairs: MarkedPairs) -> Iterator[SpanAgreementRow]:
    def row(system: int | None, unit: str, average: str) -> SpanAgreementRow:
        agreement = span_agreement(pairs, unit, average, made.draws, system)
        return SpanAgreementRow(
            marks=made.title(pairs),
            by=pairs.by,
            system=None if system is None else list(made.testset.systems)[system],
            unit=unit,
            average=average,
            precision=agreement.precision.value,
            recall=agreement.recall.value,
            f1=agreement.f1.value,
            judgements=agreement.judgements,
            marked=agreement.marked,
            gold=agreement.gold,
            ceiling=pairs.ceiling,
            documents=agreement.documents,
            intervals=_ends(agreement),
        )

    for average in AVERAGES:
        for unit in UNITS:
            yield row(None, unit, average)
    for system in sorted(set(pairs.system.tolist())):
        yield row(system, "characters", "pooled")


def _ends(agreement: SpanAgreement) -> dict[str, tuple[float, float]]:
    return {name: getattr(agreement, name).ends for name in ("precision", "recall", "f1")}


def _free_rows(made: MarkedErrors) -> Iterator[ErrorFreeRow]:
    rule = made.how.error_free
    if rule != "spans" and made.people.scores is None:
        return
    for threshold in made.how.thresholds if rule != "spans" else (float("nan"),):
        for marker in made.every:
            same = marker is made.people
            ways = [False] * marker.marking + [True] * (marker.scores is not None and not same)
            for by_score in ways:
                free_calls = calls(
                    made.people,
                    marker,
                    made.testset,
                    rule=rule,
                    threshold=threshold,
                    by_score=by_score,
                )
                if not len(free_calls.people):
                    continue
                figures = error_free_figures(free_calls, made.draws)
                yield ErrorFreeRow(
                    marks=f"{made.people.name}: {_ALONE}" if same else marker.name,
                    by=marker.by,
                    decided_by="rule" if same else "score" if by_score else "marks",
                    threshold=threshold,
                    rule=rule,
                    outputs=figures.outputs,
                    people=figures.people,
                    marker=figures.marker,
                    mcc=figures.mcc.value,
                    f1=figures.f1.value,
                    auc=figures.auc.value,
                    ceiling=same,
                    intervals={n: getattr(figures, n).ends for n in ("mcc", "f1", "auc")},
                )


def _views(tables: Sequence[Table]) -> tuple[View, ...]:
    names = {table.name for table in tables}
    shown = ("marks", "unit", "average", "precision", "recall", "f1", "judgements")
    title = tables[0].title
    listings: list[View] = [Listing(AGREEMENT, title, shown, {"system": None})]
    if tables[0].rows:
        listings += [
            Bars(
                AGREEMENT,
                "Precision, recall and F1 of characters, pooled",
                category="marks",
                series="unit",
                values=("precision", "recall", "f1"),
                where={"system": None, "average": "pooled", "unit": "characters"},
            ),
            HeatMap(
                AGREEMENT,
                "F1 of characters, pooled, by system",
                rows="system",
                columns="marks",
                value="f1",
                where={"unit": "characters", "average": "pooled"},
                under="judgements",
                exhibits=True,
                prominent=False,
            ),
        ]
    if CONTESTS in names:
        columns = ("first", "second", "difference", "low", "high", "p_holm", "judgements")
        listings.append(Listing(CONTESTS, "Markers beside each other", columns))
    if ERROR_FREE in names:
        columns_shown = ("marks", "decided_by", "threshold", "people", "marker", "mcc", "f1", "auc")
        listings.append(Listing(ERROR_FREE, "Which outputs are free of errors", columns_shown))
    return tuple(listings)


def _exhibits(made: MarkedErrors) -> Iterator[Exhibit]:
    """Outputs in which a marker and people differ in most characters, with everybody's marks."""
    for pair in made.pairs if made.examples else ():
        if not pair.marking:
            continue
        matched, _, marked, gold = pair.characters
        apart = marked + gold - 2 * matched
        shown: set[tuple[int, int]] = set()
        for at in np.argsort(-apart, kind="stable").tolist():
            output = int(pair.system[at]), int(pair.segment[at])
            if len(shown) >= made.examples or apart[at] <= 0:
                break
            if output in shown:
                continue
            shown.add(output)
            exhibit = marked_exhibit(
                made.testset,
                made.every,
                *output,
                group=list(made.testset.systems)[output[0]],
                kind=f"{made.title(pair)} differs most",
                side=made.side,
            )
            caption = _describe_difference(int(pair.alone[at]), int(pair.regraded[at]))
            yield replace(exhibit, weight=float(apart[at]), caption=caption)


def _describe_difference(alone: int, regraded: int) -> str:
    """Describe how two markers differ on an output: in what is marked, and in how grave it is."""
    phrases = []
    if alone:
        phrases.append(f"{counted(alone, 'character')} marked by one side alone")
    if regraded:
        phrases.append(f"{counted(regraded, 'character')} marked by both, with other severities")
    return "; ".join(phrases)


def _notices(made: MarkedErrors) -> Iterator[Message]:
    for marker in made.every:
        yield from marker.notices
        if marker.ungraded:
            errors = marker.ungraded
            yield message("note.metaeval.spans.ungraded", marker=marker.name, errors=errors)
        if not marker.marking:
            yield message("note.metaeval.spans.marks_nothing", marker=marker.name)
    if isinstance(made.draws, DocumentDraws):
        yield message("note.metaeval.spans.by_document", least=LEAST_DOCUMENTS)
    elif made.draws is not None:
        why = "asked" if made.testset.documents else "unknown"
        yield message("note.metaeval.by_segment", why=why)
    if not any(pair.ceiling for pair in made.pairs):
        yield message("note.metaeval.spans.no_ceiling", people=made.people.name)
    if made.how.error_free != "spans" and made.people.scores is None:
        yield message("note.metaeval.spans.no_scores", people=made.people.name)


def _signatures(made: MarkedErrors, draws: DrawOptions, unit: str) -> dict[str, Signature]:
    fields: dict[str, object] = {"method": "spans", "human": made.people.name}
    fields |= {"credit": f"{made.how.partial_credit:g}"}
    fields |= {"free": made.how.error_free}
    if draws.resamples:
        fields |= {
            "bs": draws.resamples,
            "confidence": draws.confidence,
            "seed": draws.seed,
            "unit": unit,
        }
    return {
        marker.name: (marker.signature or Signature(f"marks({marker.name!r})")).adding(fields)
        for marker in made.every
    }
