"""Scores of pairs of texts under a bound metric, as batches of one system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from gnomon.batch import Batch, Ragged
from gnomon.bmx._pairs import NO_TEXT
from gnomon.errors import ScoringError
from gnomon.metrics.protocol import Partial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx._pairs import PairKey, Texts
    from gnomon.metrics.protocol import BoundMetric

__all__ = ["Role", "Scorer", "checked_scores", "role_of"]

#: what stands on the other side of a candidate
Role: TypeAlias = Literal["reference", "source"] | None

#: pairs that are scored at a time, which bounds the memory that a metric takes
_AT_ONCE = 16384
_NAME = "explained"


def role_of(bound: BoundMetric, batch: Batch) -> Role:
    """What candidates are judged by: the reference where the metric takes any, else the source."""
    references = "references" in bound.needs or (not bound.needs and len(batch.references.indices))
    if references:
        return "reference"
    sources = "sources" in bound.needs or (not bound.needs and batch.sources is not None)
    return "source" if sources else None


class Scorer:
    """Scores pairs of texts; never binds, and counts.

    Args:
        bound: the metric.
        batch: whose segments and language the pairs belong to.

    Attributes:
        role: what the other side of a pair is.
        by_system: scores depend on the name of the system, so that pairs have to tell it.
        calls: pairs scored so far.
    """

    def __init__(self, bound: BoundMetric, batch: Batch) -> None:
        self.bound = bound
        self.role = role_of(bound, batch)
        self.by_system = isinstance(bound, Partial) and bound.by_system
        self.calls = 0
        self._batch = batch
        self._sign = 1.0 if bound.higher_is_better else -1.0
        self._last: tuple[list[PairKey], Batch] | None = None

    def scores(self, keys: Sequence[PairKey], texts: Texts) -> NDArray[np.float64]:
        """Scores of some pairs, float64 [P], the better the higher; NaN where not finite."""
        found = np.empty(len(keys))
        for part in self.parts(keys):
            found[part] = self._scored(self.batch([keys[n] for n in part], texts))
        return found

    def beside_all(
        self, keys: Sequence[PairKey], references: Sequence[Sequence[int]], texts: Texts
    ) -> NDArray[np.float64]:
        """Scores of candidates beside all of their references together, float64 [P]."""
        found = np.empty(len(keys))
        for part in self.parts(keys):
            own = [keys[n] for n in part], [references[n] for n in part]
            found[part] = self._scored(self._built(*own, texts))
        return found

    def parts(self, keys: Sequence[PairKey]) -> Iterator[list[int]]:
        """Positions of pairs that make a batch: of one system, and not too many."""
        systems: dict[int, list[int]] = {}
        for number, key in enumerate(keys):
            systems.setdefault(key.system, []).append(number)
        for own in systems.values():
            for start in range(0, len(own), _AT_ONCE):
                yield own[start : start + _AT_ONCE]

    def batch(self, keys: Sequence[PairKey], texts: Texts) -> Batch:
        """Some pairs, of one system if that matters, as a batch; every pair is a column."""
        if self._last is None or self._last[0] != list(keys):
            others = [[k.other] if self.role == "reference" else [] for k in keys]
            self._last = list(keys), self._built(keys, others, texts)
        return self._last[1]

    def _built(
        self, keys: Sequence[PairKey], references: Sequence[Sequence[int]], texts: Texts
    ) -> Batch:
        own: dict[int, int] = {}
        candidates = [own.setdefault(k.candidate, len(own)) for k in keys]
        others = Ragged.of([[own.setdefault(n, len(own)) for n in row] for row in references])
        beside = [k.other if self.role == "source" else k.source for k in keys]
        sources = [own.setdefault(n, len(own)) for n in beside if n != NO_TEXT]
        return Batch(
            texts=tuple(texts.all[number] for number in own),
            candidates=np.array([candidates], dtype=np.int32),
            references=others,
            sources=np.array(sources, dtype=np.int32) if sources else None,
            systems=(_NAME if keys[0].system < 0 else self._batch.systems[keys[0].system],),
            segments=self._batch.segments[[k.segment for k in keys]],
            language_pair=self._batch.language_pair,
        )

    def _scored(self, batch: Batch) -> NDArray[np.float64]:
        self.calls += batch.shape[1]
        scores: NDArray[np.float64] = self._sign * checked_scores(self.bound, batch)[0]
        return scores


def checked_scores(bound: BoundMetric, batch: Batch) -> NDArray[np.float64]:
    """The metric's scores of a batch, float64 [K, N]; NaN where they are not finite.

    Raises:
        ScoringError: the metric returned no numbers, or not one for each cell.
    """
    found = bound.segments(batch)
    try:
        scores = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ScoringError(f"metric {bound.name!r} returned scores that are no numbers") from error
    if scores.shape != batch.shape:
        raise ScoringError(
            f"metric {bound.name!r} returned scores of shape {scores.shape} for {batch.shape[0]}"
            f" system(s) and {batch.shape[1]} segment(s); it must return one score for each"
        )
    return np.where(np.isfinite(scores), scores, np.nan)
