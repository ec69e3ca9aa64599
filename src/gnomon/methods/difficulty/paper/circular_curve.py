"""The curve of figure 2 as the authors draw it: the pool is the K systems that are judged.

People choose the systems that weigh the words, and judge by the same scores: it is circular.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from gnomon.agreement.measures import MeasuredScores, value
from gnomon.agreement.tables import TopSystemsRow
from gnomon.methods.difficulty.agreement import LEAST, MEASURES
from gnomon.methods.difficulty.gram_hardness import measure_grams
from gnomon.methods.difficulty.matched import TokenDifficulty
from gnomon.methods.difficulty.segment_hardness import measure_segments
from gnomon.methods.difficulty.segments import BoundSegmentDifficulty
from gnomon.methods.difficulty.token_hardness import measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.methods.difficulty.agreement import People
    from gnomon.methods.difficulty.sides import Bound
    from gnomon.metrics.ngrams import Ngrams

LEFT_OUT = (
    "curves: the authors' curve, whose pool is the K best systems by the very scores that judge"
    " it, is circular and left out (--allow-circular shows it)"
)


def circular_curve(
    bound: Bound,
    weighted_name: str,
    batch: Batch,
    people: People,
    test_set: str,
    progress: Callable[[str, int, int], None] | None,
) -> tuple[list[TopSystemsRow], str]:
    """The rows of the curve, and a notice."""
    name = f"{weighted_name}, d from the same K systems (circular)"
    scores = _scores_by_k(bound, batch, people, progress)
    notice = (
        f"CIRCULAR, as was allowed: the curve {name!r} lets human scores ({people.kind})"
        " choose the systems that weigh the words, and is judged by them"
    )
    return list(_curve_rows(name, scores, people, test_set)), notice


def _scores_by_k(
    bound: Bound,
    batch: Batch,
    people: People,
    progress: Callable[[str, int, int], None] | None,
) -> Mapping[int, NDArray[np.float64]]:
    """K -> scores of the K best systems under the difficulties of these alone, float64 [K]."""
    scores = {}
    last = len(people.order)
    for k in range(LEAST, last + 1):
        rows = people.top(k)
        names = tuple(batch.systems[int(row)] for row in rows)
        best = batch.select(systems=rows.tolist())
        scores[k] = _with_pool(bound, batch, names).system(best)
        if progress:
            progress("curves", k, last)
    return scores


def _with_pool(bound: Bound, batch: Batch, names: tuple[str, ...]) -> Bound:
    """The same metric with the difficulties of other systems; nothing is encoded again."""
    keep, identity = bound.metric.leave_one_out, ",".join(names)
    if isinstance(bound, TokenDifficulty):
        hardness = measure(bound.compare(batch), batch, names, identity, keep=keep)
        return replace(bound, hardness=hardness, pool=None)
    if isinstance(bound, BoundSegmentDifficulty):
        segments = measure_segments(bound.base, batch, names, identity, keep=keep)
        return replace(bound, hardness=segments, pool=None)
    base = cast("Ngrams", bound.base)
    most = max(base.ngram_orders)
    grams = measure_grams(batch, base.ngram_tokens, names, identity, most=most, keep=keep)
    return replace(bound, hardness=grams, pool=None)


def _curve_rows(
    name: str, scores: Mapping[int, NDArray[np.float64]], people: People, test_set: str
) -> Iterator[TopSystemsRow]:
    """Agreement over the K best systems whose difficulties are those of these systems alone."""
    for k, best in scores.items():
        human = people.scores[people.top(k)]
        for statistic in MEASURES:
            measured = value(MeasuredScores(statistic, (name,), human, best[None]), 0)
            yield TopSystemsRow(
                test_set=test_set,
                statistic=statistic.statistic,
                metric=name,
                k=k,
                value=measured.value,
                n=measured.n,
                human=people.kind,
            )
