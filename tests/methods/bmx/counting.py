"""A metric that remembers which pairs of texts it scored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.signature import Signature
from gnomon.metrics.base import BoundMetric

if TYPE_CHECKING:
    from gnomon.core.batch import Batch
    from gnomon.metrics.base import Input


def overlap(candidate: str, reference: str) -> float:
    """Share of the words of both sides that are on both."""
    a, b = set(candidate.split()), set(reference.split())
    return 100 * 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0


@dataclass
class Counting(BoundMetric):
    """A bound metric, from a function of two texts; the best reference counts."""

    function: Callable[[str, str], float] = overlap
    needs: frozenset[Input] = frozenset(("references",))
    higher_is_better: bool = True
    name: str = "counting"
    signature: Signature = field(default_factory=lambda: Signature("counting"))
    scored: list[tuple[str, str]] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)

    def segments(self, batch: Batch) -> np.ndarray:
        self.batches.append(batch)
        scores = np.full(batch.shape, np.nan)
        for k, i in np.ndindex(batch.shape):
            candidate = batch.texts[batch.candidates[k, i]]
            found = []
            for other in self._others(batch, k, i):
                self.scored.append((candidate, other))
                found.append(self.function(candidate, other))
            if found:
                scores[k, i] = max(found) if self.higher_is_better else min(found)
        return scores

    def system(self, batch: Batch) -> np.ndarray:
        return self.segments(batch).mean(axis=1)

    def _others(self, batch: Batch, k: int, i: int) -> list[str]:
        if "references" in self.needs:
            return [batch.texts[number] for number in batch.references_of(k)[i]]
        if batch.sources is None:
            return [""]
        return [batch.texts[batch.sources[i]]]
