"""How far marks agree with what people marked: characters, spans, and outputs free of errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from gnomon.metrics.error_marks import Judgement
from gnomon.stats import pearson
from gnomon.stats.error_spans import (
    Confusion,
    character_counts,
    matthews,
    precision_recall_f1,
    roc_area,
    span_counts,
)
from gnomon.stats.jackknife import Jackknife, jackknife, numbered
from gnomon.stats.resampling import (
    percentile_interval,
    resample_counts,
    resampled_sums,
    shift_test,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.metrics.error_marks import ErrorMarks

    Floats: TypeAlias = NDArray[np.float64]

#: what must hold of an output for people to have found it free of errors
ErrorFree: TypeAlias = Literal["both", "score", "spans"]
#: what is counted, and how outputs are averaged
UNITS = ("characters", "spans")
AVERAGES = ("pooled", "segment")
_BLOCK = 200  # resamples whose weights are held at once


class SpanDraws(NamedTuple):
    """Resamples of the segments, or all segments without each document in turn."""

    # uint8 [N, B], how often each segment counts; None: no intervals
    counts: NDArray[np.uint8] | None
    confidence: float  # of the intervals
    # the document of each segment [N], where column k lacks document k; None: segments were drawn
    documents: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        segments: int,
        *,
        resamples: int,  # how many; 0 for none
        confidence: float,
        seed: int,
        documents: Sequence[str] | None = None,
    ) -> SpanDraws:
        """Draw them."""
        if documents is None or not resamples:
            counts = resample_counts(segments, count=resamples, seed=seed) if resamples else None
            return cls(counts, confidence)
        which = numbered(documents)
        without = which[:, None] != np.arange(int(which.max(initial=-1)) + 1)
        return cls(without.astype(np.uint8), confidence, which)

    def ends(
        self, value: Floats, drawn: Floats, segment: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Ends of the intervals of figures [M], from the same in each draw [M, B]."""
        if self.documents is None:
            low, high = percentile_interval(drawn, self.confidence)
            return np.asarray(low), np.asarray(high)
        test = self._jackknife(value, drawn, segment)
        return test.low, test.high

    def difference(
        self, value: Floats, drawn: Floats, segment: NDArray[np.intp]
    ) -> tuple[float, float, float]:
        """Ends of the interval of a difference, and p of its being 0; arguments as of ``ends``."""
        if self.documents is None:
            return shift_test(float(value), drawn, self.confidence)
        test = self._jackknife(value, drawn, segment)
        return float(test.low), float(test.high), float(test.p)

    def _jackknife(self, value: Floats, drawn: Floats, segment: NDArray[np.intp]) -> Jackknife:
        """Over the documents that hold any of the judgements."""
        assert self.documents is not None  # noqa: S101  # who calls has looked
        used, sizes = np.unique(self.documents[segment], return_counts=True)
        without = np.moveaxis(drawn[..., used], -1, 0)
        return jackknife(value, without, sizes, confidence=self.confidence)

    def documents_of(self, segment: NDArray[np.intp]) -> int | None:
        """How many documents judgements of these segments are of; None: segments were drawn."""
        return None if self.documents is None else len(np.unique(self.documents[segment]))


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
    """What people and a marker marked in the same outputs, P judgements of people."""

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
    penalty: Floats  # float64 [P], minus the penalties of the marker's errors
    score: Floats  # float64 [P], people's scores; NaN where there are none
    marking: bool  # whether the marker marks errors; others score alone

    def of(self, unit: str) -> Floats:
        """The counts of characters, or of spans."""
        return self.characters if unit == "characters" else self.spans

    @cached_property
    def figures(self) -> dict[str, Floats]:
        """Precision, recall and F1 of each output, float64 [3, P], by unit."""
        return {unit: precision_recall_f1(self.of(unit)) for unit in UNITS}


def beside_people(
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
                other.penalty(theirs),
                np.nan if people.scores is None else people.scores[judgement],
            )
        )
    table = np.array(rows, dtype=np.float64).reshape(-1, 12).T
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
        penalty=table[10],
        score=table[11],
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
    pairs: MarkedPairs, unit: str, average: str, draws: SpanDraws, system: int | None = None
) -> SpanAgreement:
    """Precision, recall and F1 over all outputs or those of a system.

    Those are of the sums over outputs ("pooled"), or means of the outputs' figures ("segment").
    """
    chosen = np.ones(len(pairs.gold), np.bool_) if system is None else pairs.system == system
    columns = pairs.of(unit) if average == "pooled" else pairs.figures[unit]
    values = _by_segment(columns[:, chosen], pairs.segment[chosen], draws)
    sizes = _by_segment(np.ones((1, int(chosen.sum()))), pairs.segment[chosen], draws)

    def figures(sums: Floats, n: Floats) -> Floats:
        if average == "pooled":
            shares = precision_recall_f1(sums)
        else:
            shares = np.divide(sums, n, out=np.full_like(sums, np.nan), where=n > 0)
        return np.where(n > 0, shares, np.nan)

    whole = figures(values.sum(axis=1), sizes.sum(axis=1))
    low = high = np.full(3, np.nan)
    if draws.counts is not None:
        sums, n = resampled_sums(values, draws.counts), resampled_sums(sizes, draws.counts)
        low, high = draws.ends(whole, figures(sums, n), pairs.segment[chosen])
    precision, recall, f1 = (
        Figure(*map(float, figure)) for figure in zip(whole, low, high, strict=True)
    )
    marked, gold = pairs.of(unit)[2:, chosen].sum(axis=1).tolist()
    documents = draws.documents_of(pairs.segment[chosen])
    return SpanAgreement(precision, recall, f1, int(chosen.sum()), marked, gold, documents)


def _by_segment(columns: Floats, segment: NDArray[np.intp], draws: SpanDraws) -> Floats:
    """Sums over the outputs of each segment, float64 [M, N]."""
    least = int(segment.max(initial=-1)) + 1
    n = least if draws.counts is None else len(draws.counts)
    return np.stack([np.bincount(segment, column, minlength=n) for column in columns])


def penalty_correlation(pairs: MarkedPairs, system: int | None = None) -> float | None:
    """Pearson's correlation of people's scores with minus the penalties of the marks, over outputs.

    None where it is undefined.
    """
    chosen = ~np.isnan(pairs.score)
    if system is not None:
        chosen &= pairs.system == system
    if int(chosen.sum()) < 3:
        return None
    r = float(pearson(pairs.score[chosen], pairs.penalty[chosen]))
    return None if np.isnan(r) else r


class SpanContest(NamedTuple):
    """Two markers on the judgements that both are beside."""

    first: str  # the marker that is named first
    second: str  # the other one
    difference: Figure  # of F1 of characters, pooled; first - second
    p: float  # two-sided; NaN: not tested
    judgements: int  # that both are beside


def span_contests(every: Sequence[MarkedPairs], draws: SpanDraws) -> Iterator[SpanContest]:
    """All pairs of markers, on the judgements that both are beside.

    Over segments the interval is difference -+ q, and p of the same resamples; see
    :func:`gnomon.stats.resampling.shift_p`. Over documents both are the jackknife's.
    """
    marking = [pairs for pairs in every if pairs.marking and not pairs.ceiling]
    for number, first in enumerate(marking):
        for second in marking[number + 1 :]:
            common = np.intersect1d(first.gold, second.gold)
            f1, samples = [], []
            for pairs in (first, second):
                chosen = np.isin(pairs.gold, common)
                values = _by_segment(pairs.characters[:, chosen], pairs.segment[chosen], draws)
                f1.append(float(precision_recall_f1(values.sum(axis=1))[2]))
                if draws.counts is not None:
                    samples.append(precision_recall_f1(resampled_sums(values, draws.counts))[2])
            difference = np.array(f1[0] - f1[1])
            low = high = p = np.nan
            if samples and len(common):
                judged = first.segment[np.isin(first.gold, common)]
                low, high, p = draws.difference(difference, samples[0] - samples[1], judged)
            figure = Figure(float(difference), low, high)
            yield SpanContest(first.name, second.name, figure, p, len(common))


# Which outputs are free of errors


@dataclass(frozen=True, eq=False)
class Calls:
    """What people and a marker call the same outputs."""

    people: NDArray[np.bool_]  # bool [P], free of errors for people
    marker: NDArray[np.bool_]  # bool [P], for the marker
    worth: Floats  # float64 [P], by how much the marker holds it for good
    segment: NDArray[np.intp]  # intp [P]
    # score from which on the marker calls an output free of errors; NaN: it goes by marks
    cut: float = float("nan")


class ErrorFreeFigures(NamedTuple):
    """How well a marker finds the outputs that are free of errors."""

    outputs: int
    people: float
    marker: float
    mcc: Figure
    f1: Figure
    auc: Figure


def error_free(
    marks: ErrorMarks, place: Judgement, *, rule: ErrorFree, threshold: float
) -> bool | None:
    """Whether a judgement says that an output is free of errors; None where it says nothing.

    By "score", it scores at least the threshold; by "spans", no error is marked, omissions
    included; "both": both (WMT 2026, detection of error-free segments).
    """
    if rule != "spans":
        score = np.nan if marks.scores is None else float(marks.scores[place])
        if np.isnan(score):
            return None
        if score < threshold:
            return False
    return rule == "score" or not marks.every(place)


def calls(
    people: ErrorMarks,
    other: ErrorMarks,  # the marker; the same object: people beside each other, by the same rule
    testset: TestSet,
    *,
    rule: ErrorFree,
    threshold: float,
    by_score: bool = False,
) -> Calls:
    """What both call each output.

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
        called: bool | None = not other.every(theirs)
        if same:
            called = error_free(other, theirs, rule=rule, threshold=threshold)
        if None not in (mine, called) and not np.isnan(worth):
            rows.append((mine, called, worth, judgement.segment))
    table = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    gold, marked = table[0] > 0, table[1] > 0
    cut = np.nan
    if by_score and not same and gold.any():
        cut = float(np.sort(table[2])[::-1][int(gold.sum()) - 1])
        marked = table[2] >= cut
    return Calls(gold, marked, table[2], table[3].astype(np.intp), cut)


def error_free_figures(found: Calls, draws: SpanDraws) -> ErrorFreeFigures:
    """Matthews' correlation, F1 and the area under the curve of outputs free of errors."""
    p, m = found.people, found.marker
    cells = np.stack([p & m, ~p & m, p & ~m, ~p & ~m]).astype(np.float64)
    values = _by_segment(cells, found.segment, draws)
    whole = Confusion(*values.sum(axis=1)[:, None])
    area = float(roc_area(found.worth, p))
    figures = {"mcc": float(matthews(whole)[0]), "f1": float(whole.f1[0]), "auc": area}
    ends = dict.fromkeys(figures, (np.nan, np.nan))
    if draws.counts is not None and len(p):
        drawn = Confusion(*resampled_sums(values, draws.counts))
        samples = {"mcc": matthews(drawn), "f1": drawn.f1, "auc": _areas(found, draws.counts)}
        for name, each in samples.items():
            low, high = draws.ends(np.array(figures[name]), each, found.segment)
            ends[name] = float(low), float(high)
    mcc, f1, auc = (Figure(value, *ends[name]) for name, value in figures.items())
    n = len(p)
    share = (float(p.mean()), float(m.mean())) if n else (np.nan, np.nan)
    return ErrorFreeFigures(n, *share, mcc, f1, auc)


def _areas(found: Calls, counts: NDArray[np.uint8]) -> Floats:
    """The area under the curve in every resample, float64 [B]."""
    areas = []
    for first in range(0, counts.shape[1], _BLOCK):
        weights = counts[found.segment, first : first + _BLOCK].astype(np.float64)
        areas.append(roc_area(found.worth, found.people, weights))
    return np.concatenate(areas)
