"""Scoring a test set under a metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.metrics.comparisons import TokenisedTexts
from gnomon.metrics.functions import FunctionMetric
from gnomon.metrics.protocol import (
    BoundMetric,
    Informed,
    NativeSignature,
    Noticing,
    Statistics,
)
from gnomon.metrics.registry import is_metric, resolve
from gnomon.metrics.spec import read_spec
from gnomon.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from gnomon.batch import Batch
    from gnomon.metrics.protocol import Metric
    from gnomon.signature import Signature
    from gnomon.testset import TestSet

__all__ = ["bind", "reference_count", "score", "signature_of"]


def score(
    testset: TestSet,
    metric: str | Metric | BoundMetric | Callable[..., float],
    *,
    allow_code: bool = False,
) -> Scores:
    """Score every system of a test set.

    Args:
        testset: what was translated, and by whom.
        metric: a spec ("bleu", "chrf(word_order=2)"), a metric, a bound metric, or a function of
            texts (see :func:`gnomon.metric`).
        allow_code: let a spec ``python('module:function')`` import and run the module.

    Returns:
        System scores [K], segment scores [K, N], a signature, and, where the metric has them,
        sufficient statistics of the corpus score.

    Raises:
        UsageError: the spec cannot be read or names an unknown metric or argument.
        DataError: the test set lacks what the metric needs.
        ScoringError: a user's metric failed.

    >>> from gnomon.testset import TestSet
    >>> ts = TestSet.from_lists({"a": ["the cat"]}, ["the cat"])
    >>> score(ts, lambda candidate, reference: candidate == reference).system.tolist()
    [1.0]
    """
    name, bound = bind(testset, metric, allow_code=allow_code)
    batch = testset.batch()
    statistics = bound.statistics(batch) if isinstance(bound, Statistics) else None
    aggregate = bound.aggregate if isinstance(bound, Statistics) else None
    native = bound.native_signatures(batch) if isinstance(bound, NativeSignature) else None
    segments = bound.segments(batch)
    if statistics is None or aggregate is None:
        system = bound.system(batch)
    else:
        system = aggregate(statistics.sum(axis=1))
    scores = Scores(
        metric=name,
        systems=batch.systems,
        system=system,
        segments=segments,
        higher_is_better=bound.higher_is_better,
        signature=signature_of(bound, batch),
        statistics=statistics,
        aggregate=aggregate,
        notices=bound.notices(batch) if isinstance(bound, Noticing) else (),
        native_signatures=native,
        informed_by=bound.informed_by if isinstance(bound, Informed) else (),
    )
    texts = getattr(bound, "texts", None)
    if (
        isinstance(texts, TokenisedTexts) and bound is not metric
    ):  # the aggregate holds the bound metric
        texts.forget()
    return scores


def reference_count(batch: Batch) -> str:
    """References per segment, as sacreBLEU writes it: a number, or ``var``.

    Only the shared references count; output-specific ones come beside them.
    """
    counts = set((batch.references.offsets[1:] - batch.references.offsets[:-1]).tolist())
    return "var" if len(counts) > 1 else str(next(iter(counts), 0))


def bind(
    testset: TestSet,
    metric: str | Metric | BoundMetric | Callable[..., float],
    *,
    allow_code: bool = False,
) -> tuple[str, BoundMetric]:
    """A metric bound to a test set, and what to call it: as it was asked for."""
    if isinstance(metric, BoundMetric) and not is_metric(metric):
        return metric.name, metric
    found = resolve(metric, allow_code=allow_code)
    asked = str(read_spec(metric)) if isinstance(metric, str) else found.spec
    name = found.name if isinstance(found, FunctionMetric) else asked
    return name, found.bind(testset)


def signature_of(bound: BoundMetric, batch: Batch) -> Signature:
    """The signature of a bound metric on a batch: with the number of references.

    Paraphrases among these are named by method, number and a hash of their texts.
    """
    known = {key for key, _ in bound.signature.fields}
    if "references" not in bound.needs:
        return bound.signature
    fields: dict[str, object] = {}
    if "refs" not in known:
        own = {"own_refs": len(batch.system_references)} if batch.system_references else {}
        fields = {"refs": reference_count(batch), **own}
    if batch.paraphrases and "paraphrased" not in known:  # METEOR's "paraphrases" is its table
        fields["paraphrased"] = batch.paraphrases
    return bound.signature.adding(fields) if fields else bound.signature
