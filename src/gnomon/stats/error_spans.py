"""Agreement of marked errors with people's: characters, spans, and whole outputs.

Spans are ``(start, end, major)``, half-open, in code points. Whatever is undefined is NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

__all__ = [
    "Confusion",
    "GradedSpan",
    "SpanCounts",
    "character_counts",
    "matthews",
    "precision_recall_f1",
    "roc_area",
    "span_counts",
]


class GradedSpan(NamedTuple):
    """An error of one of two severities."""

    start: int
    end: int
    major: bool


class SpanCounts(NamedTuple):
    """Counts for precision and recall; they add up over outputs.

    Attributes:
        found: credit of what was marked, out of ``marked``.
        covered: credit of what people marked, out of ``gold``.
        marked: characters (or spans) that were marked.
        gold: characters (or spans) that people marked.
    """

    found: float
    covered: float
    marked: float
    gold: float


def character_counts(
    length: int,
    gold: Sequence[GradedSpan],
    marked: Sequence[GradedSpan],
    *,
    partial_credit: float = 0.5,
) -> SpanCounts:
    """Characters that are marked by both (WMT 2025, error span detection).

    A character counts once for each span that it stands in. Of one character, spans of equal
    severity are matched first, and then spans of the other severity, for part of the credit. What
    lies beyond the text is cut off.

    Args:
        length: of the text, in code points.
        gold: what people marked.
        marked: what is judged.
        partial_credit: for a character that is marked by both with other severities, 0 to 1.

    >>> gold, marked = [GradedSpan(0, 4, True)], [GradedSpan(2, 6, False)]
    >>> character_counts(10, gold, marked)
    SpanCounts(found=1.0, covered=1.0, marked=4.0, gold=4.0)
    """
    of_gold, of_marked = _depths(length, gold), _depths(length, marked)
    matched = np.minimum(of_gold, of_marked)
    left = np.minimum((of_gold - matched).sum(axis=0), (of_marked - matched).sum(axis=0))
    credit = float(matched.sum() + partial_credit * left.sum())
    return SpanCounts(credit, credit, float(of_marked.sum()), float(of_gold.sum()))


def _depths(length: int, spans: Sequence[GradedSpan]) -> NDArray[np.int64]:
    """Count the spans of either severity over each character, int64 [2, length]."""
    depths = np.zeros((2, length), dtype=np.int64)
    for start, end, major in spans:
        depths[int(major), start:end] += 1
    return depths


def span_counts(
    gold: Sequence[GradedSpan], marked: Sequence[GradedSpan], *, partial_credit: float = 1.0
) -> SpanCounts:
    """Spans that overlap, one to one, for the share of them that does.

    Of a pair, precision is given the share of the marked span that lies within the other one, and
    recall the share of the other one. Of all ways to pair the spans of both sides, that of the
    highest F1 of the text is taken; of several, that of the highest sum of precision and recall
    (match with partial overlap and partial credit; Perrella et al., 2026, "Span-level machine
    translation meta-evaluation"; as in their package span-mt-metrics-eval, whose severity_penalty
    is 1 - partial_credit). Empty spans are left out. Where more than ten spans overlap each other
    on both sides, their pairs are those of the highest sum of shares.

    Args:
        gold: what people marked.
        marked: what is judged.
        partial_credit: for a pair of other severities, 0 to 1; 1: severities do not matter.

    >>> span_counts([GradedSpan(0, 4, True)], [GradedSpan(2, 10, True), GradedSpan(20, 21, True)])
    SpanCounts(found=0.25, covered=0.5, marked=2.0, gold=1.0)
    """
    of_gold, of_marked = ([s for s in side if s.end > s.start] for side in (gold, marked))
    shares = _shares(of_gold, of_marked, partial_credit)
    ways = [(0.0, 0.0)]
    for group in _groups(shares):
        each = _best_pairings(group)
        ways = _select_undominated([(a + c, b + d) for a, b in ways for c, d in each])[:_MOST_WAYS]
    sizes = max(len(of_marked), 1), max(len(of_gold), 1)
    matched, covered = max(ways, key=lambda way: _worth(way[0] / sizes[0], way[1] / sizes[1]))
    return SpanCounts(matched, covered, float(len(of_marked)), float(len(of_gold)))


#: contributions of a pair to precision and recall, by the numbers of its spans
_Pairs: TypeAlias = "dict[tuple[int, int], tuple[float, float]]"
_LARGE = 10  # spans of both sides that overlap each other, beyond which not all ways are tried
_MOST_WAYS = 2000


def _worth(precision: float, recall: float) -> tuple[float, float]:
    total = precision + recall
    return (2 * precision * recall / total if total else 0.0), total


def _shares(
    own: Sequence[GradedSpan], other: Sequence[GradedSpan], partial_credit: float
) -> _Pairs:
    shares: _Pairs = {}
    for i, a in enumerate(own):
        for j, b in enumerate(other):
            overlap = min(a.end, b.end) - max(a.start, b.start)
            credit = 1.0 if a.major == b.major else partial_credit
            if overlap > 0 and credit > 0:
                worth = credit * overlap
                shares[i, j] = worth / (b.end - b.start), worth / (a.end - a.start)
    return shares


def _groups(pairs: _Pairs) -> list[_Pairs]:
    """Pairs that share spans, directly or by others, together."""
    by_span: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for pair in pairs:
        for end in enumerate(pair):
            by_span.setdefault(end, []).append(pair)
    groups: list[_Pairs] = []
    left = dict(pairs)
    while left:
        first = next(iter(left))
        group = {first: left.pop(first)}
        near = [*enumerate(first)]
        while near:
            for pair in by_span.pop(near.pop(), ()):
                if pair in left:
                    group[pair] = left.pop(pair)
                    near += enumerate(pair)
        groups.append(group)
    return groups


def _best_pairings(pairs: _Pairs) -> list[tuple[float, float]]:
    """Best precision and recall of the one-to-one pairings of a group."""
    if len(pairs) == 1:
        return list(pairs.values())
    rows, columns = (sorted({pair[side] for pair in pairs}) for side in (0, 1))
    if min(len(rows), len(columns)) > _LARGE:
        worth = np.array([[sum(pairs.get((i, j), (0.0, 0.0))) for j in columns] for i in rows])
        at = zip(*_best_pairs(worth), strict=True)
        taken = [pairs.get((rows[i], columns[j]), (0.0, 0.0)) for i, j in at]
        return [(sum(a for a, _ in taken), sum(b for _, b in taken))]
    fewer = 0 if len(rows) <= len(columns) else 1
    # by the spans of the smaller side that are taken, row by row of the larger one
    best: dict[int, list[tuple[float, float]]] = {0: [(0.0, 0.0)]}
    small, large = (rows, columns) if fewer == 0 else (columns, rows)
    bit = {span: 1 << n for n, span in enumerate(small)}
    for span in large:
        partners = {p[fewer]: credit for p, credit in pairs.items() if p[1 - fewer] == span}
        longer = {mask: list(ways) for mask, ways in best.items()}
        for mask, ways in best.items():
            for other, (a, b) in partners.items():
                if not mask & bit[other]:
                    more = [(x + a, y + b) for x, y in ways]
                    longer.setdefault(mask | bit[other], []).extend(more)
        best = {mask: _select_undominated(ways) for mask, ways in longer.items()}
    return _select_undominated([way for ways in best.values() for way in ways])


def _select_undominated(ways: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Those than which no other is better on one side and as good on the other."""
    kept: list[tuple[float, float]] = []
    for way in sorted(ways, reverse=True):
        if not kept or way[1] > kept[-1][1]:
            kept.append(way)
    return kept


def _best_pairs(worth: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the pairs of most worth, one to one (the Hungarian method)."""
    if len(worth) > len(worth.T):
        columns, rows = _best_pairs(worth.T)
        return rows, columns
    n, m = worth.shape
    cost = worth.max() - worth
    u, v = np.zeros(n + 1), np.zeros(m + 1)
    taken = np.zeros(m + 1, dtype=np.intp)  # by which row, from 1; column 0 is the row to place
    for row in range(1, n + 1):
        taken[0], column = row, 0
        least, before = np.full(m + 1, np.inf), np.zeros(m + 1, dtype=np.intp)
        tried = np.zeros(m + 1, dtype=np.bool_)
        while taken[column]:
            tried[column] = True
            open_ = np.flatnonzero(~tried[1:]) + 1
            slack = cost[taken[column] - 1, open_ - 1] - u[taken[column]] - v[open_]
            nearer = slack < least[open_]
            least[open_[nearer]], before[open_[nearer]] = slack[nearer], column
            step = least[open_].min()
            following = int(open_[np.argmin(least[open_])])
            u[taken[tried]] += step
            v[tried] -= step
            least[open_] -= step
            column = following
        while column:
            taken[column], column = taken[before[column]], int(before[column])
    columns = np.flatnonzero(taken[1:])
    return taken[1:][columns] - 1, columns


def precision_recall_f1(counts: Floats) -> Floats:
    """Precision, recall and their harmonic mean of summed counts.

    Where nothing was marked, precision is 1, and where there was nothing to mark, recall is; F1 is
    0 where both are (as WMT 2025 has it).

    Args:
        counts: float64 [4, ...], as :class:`SpanCounts`.

    Returns:
        float64 [3, ...].
    """
    matched, covered, marked, gold = counts
    precision = np.divide(matched, marked, out=np.ones_like(matched), where=marked > 0)
    recall = np.divide(covered, gold, out=np.ones_like(covered), where=gold > 0)
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    return np.stack([precision, recall, f1])


class Confusion(NamedTuple):
    """Outputs by what people and a marker call them, float64 [...] each.

    Attributes:
        both: free of errors for both.
        marker: for the marker alone.
        people: for people alone.
        neither: for neither.
    """

    both: Floats
    marker: Floats
    people: Floats
    neither: Floats

    @property
    def f1(self) -> Floats:
        """F1 of finding what is free of errors; NaN where nothing is on either side."""
        total = 2 * self.both + self.marker + self.people
        return np.divide(2 * self.both, total, out=np.full_like(total, np.nan), where=total > 0)


def matthews(table: Confusion) -> Floats:
    """Matthews' correlation of two calls, -1 to 1; NaN where a side calls all outputs the same."""
    a, b, c, d = table
    square = (a + b) * (a + c) * (d + b) * (d + c)
    root = np.sqrt(square)
    return np.divide(a * d - b * c, root, out=np.full_like(root, np.nan), where=square > 0)


def roc_area(
    scores: Floats, positive: NDArray[np.bool_], weights: Floats | None = None
) -> Floats | float:
    """Share of pairs in which a positive scores above a negative, ties counting half.

    Args:
        scores: float64 [n], finite.
        positive: bool [n].
        weights: float64 [n, B], how often each counts, B times over; None: once.

    Returns:
        A number, or float64 [B]; NaN where there are no positives, or no negatives.

    >>> roc_area(np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False]))
    0.875
    """
    single = weights is None
    each = np.ones((len(scores), 1)) if weights is None else weights
    _, level = np.unique(scores, return_inverse=True)
    levels = int(level.max(initial=-1)) + 1
    ups, downs = np.zeros((2, levels, each.shape[1]))
    np.add.at(ups, level[positive], each[positive])
    np.add.at(downs, level[~positive], each[~positive])
    below = np.cumsum(downs, axis=0) - downs
    won = (ups * (below + downs / 2)).sum(axis=0)
    pairs = ups.sum(axis=0) * downs.sum(axis=0)
    area = np.divide(won, pairs, out=np.full_like(won, np.nan), where=pairs > 0)
    return float(area[0]) if single else area
