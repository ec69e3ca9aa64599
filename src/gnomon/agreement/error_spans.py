"""Agreement of marks with people's: characters, spans, and outputs free of errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from gnomon.metrics.error_marks import Judgement
from gnomon.stats.draws import DocumentDraws
from gnomon.stats.error_spans import (
    Confusion,
    character_counts,
    matthews,
    precision_recall_f1,
    roc_area,
    span_counts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.metrics.error_marks import ErrorMarks
    from gnomon.stats.draws import Draws

    Floats: TypeAlias = NDArray[np.float64]

#: condition under which people found an output free of errors
ErrorFree: TypeAlias = Literal["both", "score", "spans"]
#: unit that is counted, and average over outputs
UNITS = ("characters", "spans")
AVERAGES = ("pooled", "segment")


class Figure(NamedTuple):
    """A figure with its interval; NaN where it is undefined, or nothing is drawn."""

    value: float
    low: float
    high: float

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval."""
        return self.low, self.high


@dataclass(frozen=True, eq=False)
class MarkedPairs:
    """Marks by people and by a marker in the same outputs, P judgements of people."""

    name: str  # of the marker
    by: str  # what it is
    ceiling: bool  # it is people themselves, each beside the others
    # intp [P], the judgement of people, by number: several markers share these
    gold: NDArray[np.intp]
    rater: NDArray[np.intp]  # intp [P], who of people
    system: NDArray[np.intp]  # intp [P]
    segment: NDArray[np.intp]  # intp [P], 0-based
    characters: Floats  # float64 [4, P], as :class:`gnomon.stats.error_spans.SpanCounts`
    spans: Floats  # float64 [4, P], likewise, of whole spans
    alone: Floats  # float64 [P], characters that one side alone marks
    regraded: Floats  # float64 [P], characters that both mark, with other severities
    marking: bool  # whether the marker marks errors; others score alone

    def counts(self, unit: str) -> Floats:
        """The counts of characters, or of spans."""
        return self.characters if unit == "characters" else self.spans

    @cached_property
    def figures(self) -> dict[str, Floats]:
        """Precision, recall and F1 of each output, float64 [3, P], by unit."""
        return {unit: precision_recall_f1(self.counts(unit)) for unit in UNITS}


def pair_marks(
    people: ErrorMarks,
    other: ErrorMarks,
    testset: TestSet,
    *,
    partial_credit: float,
    side: str = "candidate",  # "candidate" or "source"
) -> MarkedPairs:
    """Every judgement of people beside what the other marked in the same output.

    Where the other is people themselves, these are beside each other: see :func:`partners`.
    """
    lengths = _lengths(testset, side)
    numbers, places, rows = [], [], []
    for number, judgement, theirs in partners(people, other, testset):
        gold, marked = people.graded(judgement), other.graded(theirs)
        length = int(lengths[judgement.system, judgement.segment])
        equal, shared = (
            character_counts(length, gold, marked, partial_credit=credit) for credit in (0, 1)
        )
        numbers.append(number)
        places.append(judgement)
        rows.append(
            (
                *character_counts(length, gold, marked, partial_credit=partial_credit),
                *span_counts(gold, marked, partial_credit=partial_credit),
                shared.marked + shared.gold - 2 * shared.found,
                shared.found - equal.found,
            )
        )
    table = np.array(rows, dtype=np.float64).reshape(-1, 10).T
    return MarkedPairs(
        name=other.name,
        by=other.by,
        ceiling=other is people,
        gold=np.array(numbers, dtype=np.intp),
        rater=np.array([mine.rater for mine in places], dtype=np.intp),
        system=np.array([mine.system for mine in places], dtype=np.intp),
        segment=np.array([mine.segment for mine in places], dtype=np.intp),
        characters=table[:4],
        spans=table[4:8],
        alone=table[8],
        regraded=table[9],
        marking=other.marking,
    )


def partners(
    people: ErrorMarks, other: ErrorMarks, testset: TestSet
) -> Iterator[tuple[int, Judgement, Judgement]]:
    """Every judgement of people, by number, with each of another's of the same output.

    People beside each other are ordered pairs of different raters who looked at the same text in
    the same segment, be it of one system or of several.
    """
    if other is not people:
        for number, judgement in enumerate(people.judgements()):
            for rater in np.flatnonzero(
                other.judged[:, judgement.system, judgement.segment]
            ).tolist():
                yield number, judgement, Judgement(rater, judgement.system, judgement.segment)
        return
    texts = testset.batch().candidates
    groups: dict[tuple[int, int], list[tuple[int, Judgement]]] = {}
    for number, judgement in enumerate(people.judgements()):
        text = int(texts[judgement.system, judgement.segment])
        groups.setdefault((judgement.segment, text), []).append((number, judgement))
    for group in groups.values():
        for number, mine in group:
            yield from ((number, mine, theirs) for _, theirs in group if theirs.rater != mine.rater)


def _lengths(testset: TestSet, side: str) -> NDArray[np.int64]:
    """Code points of the texts of a side, int64 [K, N]."""
    if side == "source":
        assert testset.sources is not None  # noqa: S101  # refused before
        lengths = [len(text) for text in testset.sources]
        return np.array([lengths] * len(testset.systems), dtype=np.int64)
    return np.array([[len(t) for t in texts] for texts in testset.systems.values()], np.int64)


# Precision, recall and F1 with intervals


class SpanAgreement(NamedTuple):
    """Agreement of a marker with people."""

    precision: Figure  # how much of what it marked people marked, too
    recall: Figure  # how much of what people marked it marked, too
    f1: Figure  # the harmonic mean of the two
    judgements: int  # of people
    marked: float  # characters or spans that it marked
    gold: float  # characters or spans that people marked
    documents: int | None  # of the judgements, where these are what is independent


def span_agreement(
    pairs: MarkedPairs, unit: str, average: str, draws: Draws | None, system: int | None = None
) -> SpanAgreement:
    """Precision, recall and F1 over all outputs or those of a system.

    Those are of the sums over outputs ("pooled"), or means of the outputs' figures ("segment").
    """
    chosen = np.ones(len(pairs.gold), np.bool_) if system is None else pairs.system == system
    columns = pairs.counts(unit) if average == "pooled" else pairs.figures[unit]
    judged, values = _sum_segments(columns[:, chosen], pairs.segment[chosen], draws)

    def figures(sums: Floats) -> Floats:
        shares, n = sums[:-1], sums[-1]
        if average == "pooled":
            shares = precision_recall_f1(shares)
        else:
            shares = np.divide(shares, n, out=np.full_like(shares, np.nan), where=n > 0)
        return np.where(n > 0, shares, np.nan)

    whole = figures(values.sum(axis=1))
    low = high = np.full(3, np.nan)
    if judged is not None:
        low, high = judged.ends(whole, figures(judged.sums(values)))
    precision, recall, f1 = (
        Figure(*map(float, figure)) for figure in zip(whole, low, high, strict=True)
    )
    marked, gold = pairs.counts(unit)[2:, chosen].sum(axis=1).tolist()
    documents = len(judged.sizes) if isinstance(judged, DocumentDraws) else None
    return SpanAgreement(precision, recall, f1, int(chosen.sum()), marked, gold, documents)


def _sum_segments(
    columns: Floats, segment: NDArray[np.intp], draws: Draws | None
) -> tuple[Draws | None, Floats]:
    """Draws of the segments that have outputs, and sums over these, with their number last."""
    rows, which, often = np.unique(segment, return_inverse=True, return_counts=True)
    sums = [np.bincount(which, column, minlength=len(rows)) for column in columns]
    judged = None if draws is None or not len(rows) else draws.select(rows, often)
    return judged, np.stack([*sums, often.astype(np.float64)])


class SpanContest(NamedTuple):
    """Two markers on the judgements that both are beside."""

    first: str  # the marker that is named first
    second: str  # the other one
    difference: Figure  # of F1 of characters, pooled; first - second
    p: float  # two-sided; NaN: not tested
    judgements: int  # that both are beside


def span_contests(every: Sequence[MarkedPairs], draws: Draws | None) -> Iterator[SpanContest]:
    """All pairs of markers, on the judgements that both are beside.

    Over segments the interval is difference -+ q, and p of the same resamples; see
    :func:`gnomon.stats.resampling.shift_p`. Over documents both are the jackknife's.
    """
    marking = [pairs for pairs in every if pairs.marking and not pairs.ceiling]
    for number, first in enumerate(marking):
        for second in marking[number + 1 :]:
            common = np.intersect1d(first.gold, second.gold)
            f1, samples, judged = [], [], []
            for pairs in (first, second):
                chosen = np.isin(pairs.gold, common)
                columns, segment = pairs.characters[:, chosen], pairs.segment[chosen]
                both, values = _sum_segments(columns, segment, draws)
                f1.append(float(precision_recall_f1(values[:-1].sum(axis=1))[2]))
                if both is not None:
                    judged.append(both)
                    samples.append(precision_recall_f1(both.sums(values[:-1]))[2])
            difference = f1[0] - f1[1]
            low = high = p = np.nan
            if judged:
                low, high, p = judged[0].test(difference, samples[0] - samples[1])
            figure = Figure(difference, low, high)
            yield SpanContest(first.name, second.name, figure, p, len(common))


# Outputs free of errors


@dataclass(frozen=True, eq=False)
class Calls:
    """Calls of the same outputs by people and by a marker."""

    people: NDArray[np.bool_]  # bool [P], free of errors for people
    marker: NDArray[np.bool_]  # bool [P], for the marker
    worth: Floats  # float64 [P], by how much the marker holds it for good
    segment: NDArray[np.intp]  # intp [P]


class ErrorFreeFigures(NamedTuple):
    """Figures of how well a marker finds the outputs that are free of errors."""

    outputs: int
    people: float
    marker: float
    mcc: Figure
    f1: Figure
    auc: Figure


def error_free(
    marks: ErrorMarks, place: Judgement, *, rule: ErrorFree, threshold: float
) -> bool | None:
    """True if a judgement says that an output is free of errors; None where it says nothing.

    By "score", it scores at least the threshold; by "spans", no error is marked, omissions
    included; "both": both (WMT 2026, detection of error-free segments).
    """
    if rule != "spans":
        score = np.nan if marks.scores is None else float(marks.scores[place])
        if np.isnan(score):
            return None
        if score < threshold:
            return False
    return rule == "score" or not marks.list_errors(place)


def calls(
    people: ErrorMarks,
    other: ErrorMarks,  # the marker; the same object: people beside each other, by the same rule
    testset: TestSet,
    *,
    rule: ErrorFree,
    threshold: float,
    by_score: bool = False,
) -> Calls:
    """Collect what both call each output.

    A marker calls an output free of errors where it marks none. By score, it calls as many outputs
    free of errors as people do, those that it scores best: a score on another scale has no
    threshold of its own.
    """
    rows = []
    same = other is people
    for _, judgement, theirs in partners(people, other, testset):
        mine = error_free(people, judgement, rule=rule, threshold=threshold)
        scored = by_score or (same and rule != "spans")
        worth = other.penalty(theirs)
        if scored:
            worth = np.nan if other.scores is None else float(other.scores[theirs])
        called: bool | None = not other.list_errors(theirs)
        if same:
            called = error_free(other, theirs, rule=rule, threshold=threshold)
        if None not in (mine, called) and not np.isnan(worth):
            rows.append((mine, called, worth, judgement.segment))
    table = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    gold, marked = table[0] > 0, table[1] > 0
    if by_score and not same and gold.any():
        marked = table[2] >= np.sort(table[2])[::-1][int(gold.sum()) - 1]
    return Calls(gold, marked, table[2], table[3].astype(np.intp))


def error_free_figures(found: Calls, draws: Draws | None) -> ErrorFreeFigures:
    """Matthews' correlation, F1 and the area under the curve of outputs free of errors."""
    p, m = found.people, found.marker
    cells = np.stack([p & m, ~p & m, p & ~m, ~p & ~m]).astype(np.float64)
    judged, values = _sum_segments(cells, found.segment, draws)
    whole = Confusion(*values[:-1].sum(axis=1)[:, None])
    area = float(roc_area(found.worth, p))
    figures = {"mcc": float(matthews(whole)[0]), "f1": float(whole.f1[0]), "auc": area}
    ends = dict.fromkeys(figures, (np.nan, np.nan))
    if judged is not None:
        drawn = Confusion(*judged.sums(values[:-1]))
        which = np.unique(found.segment, return_inverse=True)[1]
        areas = [roc_area(found.worth, p, weights[which]) for weights in judged.weights()]
        samples = {"mcc": matthews(drawn), "f1": drawn.f1, "auc": np.concatenate(areas)}
        for name, each in samples.items():
            low, high = judged.ends(np.array(figures[name]), each)
            ends[name] = float(low), float(high)
    mcc, f1, auc = (Figure(value, *ends[name]) for name, value in figures.items())
    n = len(p)
    share = (float(p.mean()), float(m.mean())) if n else (np.nan, np.nan)
    return ErrorFreeFigures(n, *share, mcc, f1, auc)
