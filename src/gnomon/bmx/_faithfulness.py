"""Are explanations faithful? What scores do as the words that they name go, or come.

Deletion (Petsiuk et al., 2018; Samek et al., 2017): words go one by one, the most important ones
first; a faithful explanation makes the score fall at once. Insertion: they come in that order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.bmx._explain import MAX_CALLS
from gnomon.bmx._pairs import NO_TEXT, PairKey, PairTable, Texts
from gnomon.bmx._scorer import Scorer
from gnomon.errors import UsageError
from gnomon.metrics.scoring import bind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.bmx._explanations import Explanations, SideWords
    from gnomon.metrics.protocol import BoundMetric, Metric
    from gnomon.testset import TestSet

__all__ = ["Faithfulness", "curve_area", "faithfulness"]

_GROUP = 4096


@dataclass(frozen=True, eq=False)
class Faithfulness:
    """Areas under the curves of every cell, in units of the metric, oriented: better is higher.

    Attributes:
        deletion: float64 [K, N], mean over the explained sides; lower is more faithful. NaN where
            there is no word, or an importance or score is undefined.
        insertion: float64 [K, N], likewise; higher is more faithful.
        calls: distinct pairs of texts that the metric scored for this.
    """

    deletion: NDArray[np.float64]
    insertion: NDArray[np.float64]
    calls: int


def faithfulness(
    testset: TestSet,
    metric: str | Metric | BoundMetric | Callable[..., float],
    explanations: Explanations,
    *,
    max_calls: int = MAX_CALLS,
    allow_code: bool = False,
) -> Faithfulness:
    """Delete and insert words in the order of their importance.

    Words of one side go, with the white space after them, while the other side is intact; words of
    equal importance in the order of the text.

    Args:
        testset: what was explained.
        metric: what was explained: a spec, a metric, a bound metric or a function of texts.
        explanations: of :func:`explain`, of all or some systems and segments of the test set.
        max_calls: most pairs of texts that may be scored.
        allow_code: let a spec ``python('module:function')`` import and run the module.

    Raises:
        UsageError: more calls may be needed than allowed.
        ScoringError: the metric failed.
    """
    _, bound = bind(testset, metric, allow_code=allow_code)
    words = sum(len(side.importance) for side in explanations.sides)
    if 2 * words > max_calls:
        raise UsageError(
            f"curves of {words} words take up to {2 * words} metric calls, more than the"
            f" {max_calls} that are allowed; allow more (--max-calls; max_calls=), or take"
            " fewer systems or segments"
        )
    names = list(testset.systems)
    batch = testset.batch().select(
        systems=[names.index(name) for name in explanations.systems],
        segments=explanations.segments,
    )
    scorer = Scorer(bound, batch)
    areas = np.full((2, len(explanations.sides), explanations.scores.size), np.nan)
    for group in _groups(explanations):
        _fill(areas, group, _Curves(explanations, batch, scorer))
    means = _mean_defined(areas)
    return Faithfulness(
        deletion=means[0].reshape(batch.shape),
        insertion=means[1].reshape(batch.shape),
        calls=scorer.calls,
    )


def curve_area(scores: NDArray[np.float64]) -> float:
    """Area under a curve over equal steps from 0 to 1, by trapezoids.

    Args:
        scores: float64 [n + 1], with 0, 1, ... n words gone or come.

    >>> curve_area(np.array([1.0, 0.5, 0.0]))
    0.5
    """
    return float(np.trapezoid(scores) / (len(scores) - 1))


class _Curve(NamedTuple):
    """Where the scores of a curve stand."""

    kind: int  # 0 deletion, 1 insertion
    side: int
    cell: int
    at: list[int]


class _Curves:
    """The texts of some curves."""

    def __init__(self, explanations: Explanations, batch: Batch, scorer: Scorer) -> None:
        self.explanations = explanations
        self.batch = batch
        self.scorer = scorer
        self.texts = Texts()
        self.pairs = PairTable()

    def of(self, cell: int, number: int) -> Iterator[_Curve]:
        """Deletion and insertion of one side of a cell."""
        side = self.explanations.sides[number]
        importance = side.importance[side.rows(cell)]
        if not len(importance) or np.isnan(importance).any():
            return
        whole = self._key(cell)
        rank = np.argsort(np.argsort(-importance, kind="stable"), kind="stable")
        words = self.texts.words(whole[1 + number])
        for kind in (0, 1):
            at = []
            for count in range(len(words) + 1):
                kept = rank >= count if kind == 0 else rank < count
                text = self.texts.add(words.text if kept.all() else words.keeping(kept.tolist()))
                key = whole._replace(other=text) if number else whole._replace(candidate=text)
                at.append(self.pairs.add(key))
            yield _Curve(kind, number, cell, at)

    def _key(self, cell: int) -> PairKey:
        system, segment = divmod(cell, self.batch.shape[1])
        judge = int(self.explanations.judged_by[system, segment])
        source = -1 if self.batch.sources is None else int(self.batch.sources[segment])
        if self.scorer.role != "reference":
            source = -1
        return PairKey(
            segment,
            candidate=self._text(int(self.batch.candidates[system, segment])),
            other=self._text(judge),
            source=self._text(source),
            system=system if self.scorer.by_system else -1,
        )

    def _text(self, number: int) -> int:
        return NO_TEXT if number < 0 else self.texts.add(self.batch.texts[number])


def _fill(areas: NDArray[np.float64], cells: list[int], curves: _Curves) -> None:
    sides = range(len(curves.explanations.sides))
    drawn = [curve for cell in cells for side in sides for curve in curves.of(cell, side)]
    scores = curves.scorer.scores(list(curves.pairs.number), curves.texts)
    for curve in drawn:
        areas[curve.kind, curve.side, curve.cell] = curve_area(scores[curve.at])


def _groups(explanations: Explanations) -> Iterator[list[int]]:
    """Cells, segment by segment, as many at a time as their words allow."""
    systems, segments = explanations.shape
    group: list[int] = []
    words = 0
    for cell in (k * segments + i for i in range(segments) for k in range(systems)):
        group.append(cell)
        words += sum(_count(side, cell) for side in explanations.sides)
        if words >= _GROUP:
            yield group
            group, words = [], 0
    if group:
        yield group


def _count(side: SideWords, cell: int) -> int:
    rows = side.rows(cell)
    return int(rows.stop) - int(rows.start)


def _mean_defined(areas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over the sides that have a curve, [kinds, cells]; NaN where none has."""
    defined = ~np.isnan(areas)
    total = np.where(defined, areas, 0.0).sum(axis=1)
    count = defined.sum(axis=1)
    means = np.full(total.shape, np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means
