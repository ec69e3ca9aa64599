"""A metric of random scores: the control for all others."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gnomon.core.signature import Signature, add_texts
from gnomon.metrics.base import Metric, OfOptions
from gnomon.metrics.spec import Options

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.metrics.base import Input

__all__ = ["BoundRandom", "Random"]


@dataclass(frozen=True)
class Random(Options, Metric):
    """Random: uniform between 0 and 1, drawn from the texts and a seed.

    Equal candidates beside equal references and sources get equal scores, whatever the order; any
    change to one of the texts draws anew. The system score is the mean over segments.
    """

    name: ClassVar[str] = "random"
    pooled: ClassVar[bool] = False
    needs: ClassVar[frozenset[Input]] = frozenset()

    seed: int = 0  # another seed gives other scores

    def bind(self, testset: TestSet) -> BoundRandom:  # noqa: ARG002  # nothing is frozen
        """The metric, ready to score."""
        return BoundRandom(self)


@dataclass(frozen=True)
class BoundRandom(OfOptions):
    """Random scores, ready to draw."""

    metric: Random

    @property
    def signature(self) -> Signature:
        """The spec with its seed."""
        return Signature(self.metric.spec).adding(seed=self.metric.seed)

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Draws, float64 [K, N]."""
        systems, segments = batch.shape
        draws = np.empty((systems, segments))
        for k in range(systems):
            references = batch.references_of(k)
            for n in range(segments):
                beside = references[n].tolist()
                if batch.sources is not None:
                    beside.append(int(batch.sources[n]))
                texts = [batch.texts[number] for number in (int(batch.candidates[k, n]), *beside)]
                draws[k, n] = _draw(self.metric.seed, texts)
        return draws


def _draw(seed: int, texts: list[str]) -> float:
    digest = hashlib.blake2b(digest_size=8, key=str(seed).encode()[:64])
    add_texts(digest, texts)
    return (int.from_bytes(digest.digest(), "little") >> 11) / (1 << 53)
