"""What may be said of metrics whose masks differ, and of such that are masked alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tests.methods.muler.experiments import hybrids, parts, random_words
from tests.truth.worlds import world
from tests.truth.worlds_muler import PATTERN, lines

import gnomon as gn
from gnomon.core.signature import Signature
from gnomon.metrics import Rouge
from gnomon.metrics.base import BoundMetric, Metric

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.findings import Finding
    from gnomon.metrics.masking import MaskPlan


@dataclass(frozen=True)
class Vectors(Metric):
    """A metric that exchanges words in vectors, as COMET does: ROUGE whose masks say so."""

    name: str = "vectors"
    can: ClassVar[frozenset[str]] = frozenset(("mask",))
    masks: ClassVar[frozenset[str]] = frozenset(("pooled",))

    @property
    def spec(self) -> str:
        return self.name

    def bind(self, testset: gn.TestSet) -> _Pooling:
        return _Pooling(Rouge(type="rouge1").bind(testset))


@dataclass(frozen=True, eq=False)
class _Pooling(BoundMetric):
    rouge: BoundMetric
    masks_used: ClassVar[str] = "pooled"
    name: ClassVar[str] = "vectors"

    @property
    def signature(self) -> Signature:
        return Signature("vectors")

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        return self.rouge.segments(batch)

    def system(self, batch: Batch) -> NDArray[np.float64]:
        return self.rouge.system(batch)

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        return self.rouge.masked(batch, plan)


_MADE = {"A": {"animal": 0.2}, "B": {"animal": 0.5}}


def _found(
    method: Callable[..., Finding], metrics: list[object], masking: str, **options: object
) -> Finding:
    testset = gn.TestSet.from_lists(*lines(_MADE))
    return method(testset, metrics, ["re:animal"], pattern=PATTERN, masking=masking, **options)


def _overlap(candidate: str, reference: str) -> float:
    ours, theirs = set(candidate.split()), set(reference.split())
    return len(ours & theirs) / len(ours | theirs)


@world("vectors pooled with words exchanged beside masks on tokens", says=["muler.masks"])
def pooled_beside_tokens() -> Finding:
    return _found(gn.muler.score, [Vectors(), "bleu"], "pooled", resamples=0)


@world("likewise, whether half is half", says=["muler.masks"])
def pooled_range() -> Finding:
    return _found(hybrids, [Vectors(), "bleu"], "pooled")


@world("likewise, of rarer words", says=["muler.masks"])
def pooled_frequency() -> Finding:
    return _found(parts, [Vectors(), "bleu"], "pooled")


@world("likewise, beside random words", says=["muler.masks"])
def pooled_specificity() -> Finding:
    options = {"draws": 5, "groups": [2]}
    return _found(random_words, [Vectors(), "bleu"], "pooled", **options)


@world("mask words in texts beside masks on tokens", says=["muler.masks"])
def mask_words_beside_tokens() -> Finding:
    overlap = gn.metric(_overlap, name="overlap")
    return _found(gn.muler.score, [overlap, "bleu"], "tokens", resamples=0)


@world("the same metrics, masked by default", silent=["muler.masks"])
def masked_by_default() -> Finding:
    overlap = gn.metric(_overlap, name="overlap")
    return _found(gn.muler.score, [Vectors(), overlap, "bleu"], "auto", resamples=0)


@world("the same by default, in an experiment", silent=["muler.masks"])
def experiment_by_default() -> Finding:
    return _found(hybrids, [Vectors(), "bleu"], "auto")


@world("two metrics that mask their own tokens", silent=["muler.masks"])
def own_tokens() -> Finding:
    return _found(gn.muler.score, ["bleu", "chrf"], "auto", resamples=0)


@world("pooled vectors alone", silent=["muler.masks"])
def pooled_alone() -> Finding:
    return _found(gn.muler.score, [Vectors()], "pooled", resamples=0)
