"""Explaining the segments of a test set that people judged, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.bmx._experiments import Experiment, Explained
from gnomon.bmx._explain import MAX_CALLS, cache_of, calls_of, check_sides, explain_batch
from gnomon.bmx._explainers import find_explainer
from gnomon.errors import DataError, UsageError
from gnomon.metrics.scoring import bind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gnomon.bmx._engine import Progress
    from gnomon.bmx._explain import Sides
    from gnomon.bmx._explanations import Explanations
    from gnomon.bmx._protocol import Explainer
    from gnomon.cache import Cache
    from gnomon.metrics.protocol import BoundMetric, Metric
    from gnomon.testset import TestSet

    Floats = NDArray[np.float64]

__all__ = ["explained"]


def explained(
    testset: TestSet,
    metric: str | Metric | BoundMetric | Callable[..., float],
    explainer: str | Explainer = "erasure",
    *,
    human: str | None = None,
    sides: Sides = "both",
    sample: int | None = None,
    seed: int = 0,
    human_systems: bool = False,
    max_calls: int = MAX_CALLS,
    cache: Cache | None = None,
    progress: Progress | None = None,
    allow_code: bool = False,
) -> Explained:
    """Explanations of the segments that people scored, with their scores, for :func:`tune`.

    Args:
        testset: a test set with human segment scores.
        metric: as in :func:`explain`.
        explainer: likewise.
        human: kind of the human scores; may be left out where there is one.
        sides: explain ``both`` sides or the ``candidate`` alone.
        sample: so many scored segments, drawn with the seed over all systems; by default all.
        seed: of the sample.
        human_systems: whether outputs that are human translations count.
        max_calls: most pairs of texts that may be scored for this.
        cache: as in :func:`explain`.
        progress: as in :func:`explain`.
        allow_code: as in :func:`explain`.

    Returns:
        The experiment: segments of all systems one after the other.

    Raises:
        DataError: there are no human segment scores, or several kinds and none was named.
        UsageError: the sample is not positive, or whatever :func:`explain` refuses.
    """
    chosen, both = find_explainer(explainer), check_sides(sides)
    scores = _scores(testset, human, human_systems=human_systems)
    wanted = _sampled(~np.isnan(scores), sample, seed)
    _, bound = bind(testset, metric, allow_code=allow_code)
    kept, notices = cache_of(bound, cache)
    ready, batch, parts = chosen.bind(testset, bound), testset.batch(), _Parts()
    blocks = list(_blocks(wanted))
    batches = [batch.select(systems=systems, segments=segments) for systems, segments in blocks]
    calls = sum(calls_of(bound, block, ready, both=both, cache=kept) for block in batches)
    if calls > max_calls:
        raise UsageError(
            f"explaining {bound.name!r} by {chosen.spec} on {int(wanted.sum())} scored segments of"
            f" {testset.name!r} takes up to {calls} metric calls, more than the {max_calls} that"
            " are allowed; allow more (--max-calls; max_calls=), take a sample of the segments"
            " (--sample; sample=), fewer systems, or a cheaper explainer"
        )
    for block, (systems, segments) in zip(batches, blocks, strict=True):
        found = explain_batch(
            bound, block, ready, both=both, max_calls=max_calls, cache=kept, progress=progress
        )
        parts.add(found.explanations, scores[np.ix_(systems, segments)])
    name = Experiment(
        testset.name,
        chosen.spec,
        bound.signature.spec,
        testset.language_pair or "",
        "both" if both else "candidate",
    )
    return parts.joined(name, notices)


class _Parts:
    """Explanations of some blocks, put together."""

    def __init__(self) -> None:
        self.scores: list[Floats] = []
        self.human: list[Floats] = []
        self.values: list[Floats] = []
        self.sizes: list[NDArray[np.int64]] = []
        self.signature = ""

    def add(self, found: Explanations, human: Floats) -> None:
        both = found.both()
        self.scores.append(found.oriented.ravel())
        self.human.append(human.ravel())
        self.values.append(both.values)
        self.sizes.append(np.diff(both.offsets))
        self.signature = str(found.signature)

    def joined(self, name: Experiment, notices: tuple[str, ...]) -> Explained:
        offsets = np.concatenate([[0], np.cumsum(np.concatenate(self.sizes))]).astype(np.int64)
        score, values, human = map(np.concatenate, (self.scores, self.values, self.human))
        return Explained(name, score, values, offsets, human, self.signature, notices)


def _scores(testset: TestSet, kind: str | None, *, human_systems: bool) -> Floats:
    """Human scores [K, N]; NaN for human translations, unless they count."""
    scores = testset.human_scores(kind, "segment").copy()
    for k, name in enumerate(testset.systems):
        told = testset.info.get(name)
        if told is not None and told.human and not human_systems:
            scores[k] = np.nan
    if np.isnan(scores).all():
        raise DataError(
            f"test set {testset.name!r} has no human segment score of any of its systems; BMX is"
            " tuned on scores of segments"
        )
    return scores


def _sampled(wanted: NDArray[np.bool_], sample: int | None, seed: int) -> NDArray[np.bool_]:
    if sample is None:
        return wanted
    if sample < 1:
        raise UsageError(f"a sample has at least one segment; got {sample}")
    there = np.flatnonzero(wanted)
    kept = np.random.default_rng(seed).permutation(there)[:sample]
    chosen = np.zeros(wanted.size, dtype=bool)
    chosen[kept] = True
    return chosen.reshape(wanted.shape)


def _blocks(wanted: NDArray[np.bool_]) -> Iterator[tuple[list[int], list[int]]]:
    """Systems with the same segments together, so that what they share is scored once."""
    alike: dict[bytes, list[int]] = {}
    for k, row in enumerate(wanted):
        if row.any():
            alike.setdefault(row.tobytes(), []).append(k)
    for systems in alike.values():
        yield systems, np.flatnonzero(wanted[systems[0]]).tolist()
