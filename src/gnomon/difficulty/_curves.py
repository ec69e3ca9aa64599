"""Scores of the K best systems under the difficulties of these K systems alone.

The curve that the authors draw (figure 2): the pool follows the systems that are judged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from gnomon.difficulty._gram_hardness import measure_grams
from gnomon.difficulty._hardness import measure
from gnomon.difficulty.matched import BoundDifficulty

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.difficulty._people import People
    from gnomon.difficulty._setup import Bound
    from gnomon.metrics.matching import Matching
    from gnomon.metrics.ngrams import Ngrams

__all__ = ["LEAST", "following"]

LEAST = 3


def following(
    bound: Bound,
    batch: Batch,
    people: People,
    progress: Callable[[str, int, int], None] | None,
) -> Mapping[int, NDArray[np.float64]]:
    """K -> scores of the K best systems (in the order of the test set), float64 [K].

    Args:
        bound: the weighted metric; its options hold but for the pool.
        batch: the texts, whose matches the wrapped metric remembers.
        people: what ranks the systems.
        progress: called with a stage, what is done and the total.
    """
    found = {}
    last = len(people.order)
    for k in range(LEAST, last + 1):
        rows = people.top(k)
        names = tuple(batch.systems[int(row)] for row in rows)
        part = batch.select(systems=rows.tolist())
        found[k] = with_pool(bound, batch, names).system(part)
        if progress:
            progress("curves", k, last)
    return found


def with_pool(bound: Bound, batch: Batch, names: tuple[str, ...]) -> Bound:
    """The same metric with the difficulties of other systems; nothing is encoded again."""
    keep, identity = bound.metric.leave_one_out, ",".join(names)
    if isinstance(bound, BoundDifficulty):
        matches = next(iter(cast("Matching", bound.base).matches(batch)))
        hardness = measure(matches, batch, names, identity, keep=keep)
        return BoundDifficulty(bound.metric, bound.base, hardness, None, bound.plain)
    base = cast("Ngrams", bound.base)
    tokens, most = base.ngram_tokens(batch.texts), max(base.ngram_orders)
    grams = measure_grams(batch, tokens, names, identity, most=most, keep=keep)
    return replace(bound, hardness=grams, pool=None)
