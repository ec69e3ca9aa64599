"""What may be said of metrics whose masks differ, and of such that are masked alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from tests.methods.muler.experiments import hybrids, parts, random_words
from tests.truth.worlds import world
from tests.truth.worlds_muler import PATTERN, lines
from tests.truth.worlds_train import task

import gnomon as gn
from gnomon.core.signature import Signature
from gnomon.metrics import Rouge
from gnomon.studies._pages import _mixed_masks

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.findings import Finding, Statement
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.protocol import BoundMetric
    from gnomon.studies._folder import FinishedTask


@dataclass(frozen=True)
class Vectors:
    """A metric that exchanges words in vectors, as COMET does: ROUGE whose masks say so."""

    name: str = "vectors"
    higher_is_better: bool = True
    needs: ClassVar[frozenset[str]] = frozenset({"references"})

    @property
    def spec(self) -> str:
        return self.name

    def bind(self, testset: gn.TestSet) -> _Pooling:
        return _Pooling(Rouge(type="rouge1").bind(testset))


@dataclass(frozen=True, eq=False)
class _Pooling:
    rouge: BoundMetric
    masks_used: ClassVar[str] = "pooled"
    name: ClassVar[str] = "vectors"
    needs: ClassVar[frozenset[str]] = frozenset({"references"})
    higher_is_better: ClassVar[bool] = True

    @property
    def signature(self) -> Signature:
        return Signature("vectors")

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        return self.rouge.segments(batch)

    def system(self, batch: Batch) -> NDArray[np.float64]:
        return self.rouge.system(batch)

    def mask_lengths(self, batch: Batch, plan: MaskPlan) -> None:
        """Vectors have no length."""

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        return self.rouge.masked(batch, plan)  # type: ignore[attr-defined,no-any-return]  # ROUGE masks


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


# Of a study, whose tasks know nothing of each other.


def _done(metric: str, signature: str, method: str = "muler") -> FinishedTask:
    return replace(task("A", "B"), method=method, metrics=(metric,), signatures={metric: signature})


_SIGNATURES = {
    "comet": "comet|model:x|method:muler|masking:pooled|overlap:any|gnomon:0",
    "bleu": "bleu|method:muler|overlap:any|granularity:token|gnomon:0",
    "other": "bleu|masking:substitute|draw:1|method:muler|gnomon:0",
    "words": "overlap|tok:13a|mask:U+E5A1|method:muler|overlap:any|gnomon:0",
}


def _cautions(*metrics: str) -> list[Statement]:
    done = [_done(metric, _SIGNATURES[metric]) for metric in metrics]
    return [
        said for page in _mixed_masks("set", done, {m: m for m in metrics}) for said in page.verdict
    ]


@world("a study whose steps pool one metric and mask tokens of another", says=["study.masks"])
def study_pooled() -> list[Statement]:
    return _cautions("comet", "bleu")


@world("a study with mask words beside other words", says=["study.masks"])
def study_words() -> list[Statement]:
    return _cautions("words", "other")


@world("a study of one kind of mask", silent=["study.masks"])
def study_alike() -> list[Statement]:
    return [*_cautions("comet"), *_cautions("bleu"), *_cautions("other", "other")]
