"""Scoring a test set under a metric."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

import numpy as np

from gnomon.core.data_cautions import select_messages
from gnomon.core.options import OutputFile, Workers
from gnomon.core.registry import method
from gnomon.core.scores import Preferences, Scores
from gnomon.core.testset import TestSet
from gnomon.core.threads import using_workers
from gnomon.core.verdicts import metric_title
from gnomon.data.formats.damage import MENDING
from gnomon.metrics.base import Metrics
from gnomon.metrics.comparisons import reference_count
from gnomon.metrics.functions import FunctionMetric
from gnomon.metrics.registry import check_score, resolve
from gnomon.metrics.spec import read_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.signature import Signature
    from gnomon.messages import Message
    from gnomon.metrics.base import AnyMetric, BoundMetric, Metric

__all__ = [
    "bind",
    "compare_other_references",
    "compared_scores",
    "score",
    "signature_of",
]

_COST = 0.001  # of a score, below which mending texts changes nothing

Progress: TypeAlias = "Callable[[str, int, int], None] | None"


_EXAMPLES = """\
examples:
  gnomon score ref.txt -i sysA.txt sysB.txt -m bleu chrf
  gnomon score ref1.txt ref2.txt -i sys.txt -m 'bleu(tokenize="intl")' -b
  gnomon score -t newstest2019/de-en -m bleu ter --segment-scores scores.tsv
"""


@overload
def score(  # type: ignore[overload-overlap]  # a text is one metric, and no list of them
    testset: TestSet,
    metrics: AnyMetric = ...,
    *,
    segment_scores: OutputFile = ...,
    workers: int = ...,
    allow_code: bool = ...,
    progress: Progress = ...,
) -> Scores: ...


@overload
def score(
    testset: TestSet,
    metrics: Sequence[AnyMetric],
    *,
    segment_scores: OutputFile = ...,
    workers: int = ...,
    allow_code: bool = ...,
    progress: Progress = ...,
) -> list[Scores]: ...


@method(
    "score",
    purpose="score systems under any metrics",
    title="Scores",
    unread=("documents", "domains"),
    examples=_EXAMPLES,
    tables={"": "scores", "segments": "segments"},
    by_system=True,
    untranslated=True,
    check=check_score,
)
def score(
    testset: TestSet,
    metrics: Metrics = "bleu",
    *,
    segment_scores: OutputFile = None,
    workers: Workers = 1,
    allow_code: bool = False,
    progress: Progress = None,
) -> Scores | list[Scores]:
    """Score every system of a test set.

    Args:
        testset: what was translated, and by whom.
        metrics: a spec ("bleu", "chrf(word_order=2)"), a metric, a bound metric, or a function of
            texts (see :func:`gnomon.metric`); or a list of these.
        segment_scores: write scores per segment there: .tsv, .csv, .jsonl, or .seg.score
            (mt-metrics-eval).

    Returns:
        System scores [K], segment scores [K, N], a signature, and, where the metric has them,
        sufficient statistics of the corpus score; a list of these for a list of metrics.

    Raises:
        UsageError: the spec cannot be read or names an unknown metric or argument.
        DataError: the test set lacks what the metric needs.
        ScoringError: a user's metric failed.

    >>> from gnomon.core.testset import TestSet
    >>> ts = TestSet.from_lists({"a": ["the cat"]}, ["the cat"])
    >>> score(ts, lambda candidate, reference: candidate == reference).system.tolist()
    [1.0]
    """
    several = isinstance(metrics, list | tuple)
    every = cast("Sequence[Any]", metrics if several else [metrics])
    scores = []
    for done, given in enumerate(every):
        if progress:
            progress("scoring", done, len(every))
        with using_workers(workers):
            scores.append(_score(testset, given, allow_code=allow_code))
    if progress:
        progress("scoring", len(every), len(every))
    if segment_scores is not None:
        from gnomon.data.formats import write_segment_scores

        write_segment_scores(segment_scores, scores, testset)
    return scores if several else scores[0]


def compared_scores(
    testset: TestSet,
    metric: str | Metric | BoundMetric | Callable[..., float],
    *,
    workers: int = 1,
    allow_code: bool = False,
) -> Scores:
    """As :func:`score`; of a metric that reads two outputs at once, what it prefers."""
    with using_workers(workers):
        return _score(testset, metric, allow_code=allow_code, pairs=True)


def _score_preferences(name: str, bound: BoundMetric, batch: Batch) -> Scores:
    """Preferences, and the mean preference of each output over those of the other systems."""
    read = bound.pair_scores(batch)
    values = (read - read.transpose(1, 0, 2)) / 2
    others = ~np.eye(len(values), dtype=np.bool_)[:, :, None]
    segments = _means(values, np.isfinite(values) & others)
    return Scores(
        metric=name,
        systems=batch.systems,
        system=_means(segments, np.isfinite(segments)),
        segments=segments,
        higher_is_better=True,
        signature=bound.signature.adding(pairs="full"),
        notices=bound.pair_notices(batch),
        preferences=Preferences(values, bound.graded),
    )


def _means(values: NDArray[np.float64], defined: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Over the second axis; NaN where there is none."""
    count = defined.sum(axis=1)
    means = np.full(count.shape, np.nan)
    np.divide(np.where(defined, values, 0.0).sum(axis=1), count, out=means, where=count > 0)
    return means


def _score(
    testset: TestSet,
    metric: str | Metric | BoundMetric | Callable[..., float],
    *,
    allow_code: bool,
    pairs: bool = False,
) -> Scores:
    name, bound = bind(testset, metric, allow_code=allow_code)
    batch = testset.batch()
    if pairs and "prefer" in bound.can:
        return _score_preferences(name, bound, batch)
    summed = "statistics" in bound.can
    statistics = bound.statistics(batch) if summed else None
    segments = bound.segments(batch)
    system = bound.system(batch) if statistics is None else bound.aggregate(statistics.sum(axis=1))
    scores = Scores(
        metric=name,
        systems=batch.systems,
        system=system,
        segments=segments,
        higher_is_better=bound.higher_is_better,
        signature=signature_of(bound, batch),
        statistics=statistics,
        aggregate=bound.aggregate if summed else None,
        notices=bound.notices(batch),
        native_signatures=bound.native_signatures(batch),
        informed_by=bound.informed_by,
        from_people=bound.human,
        empty=testset.empty_outputs,
        remarks=bound.remarks(batch),
    )
    if bound is not metric:  # the aggregate holds the bound metric
        bound.forget()
    if not summed:
        return scores
    mended = _say_mended(testset, metric, scores)
    by_others = compare_other_references(testset, metric, name, allow_code=allow_code)
    return replace(scores, notices=(*scores.notices, *mended, *by_others))


def _say_mended(
    testset: TestSet, metric: str | Metric | BoundMetric | Callable[..., float], scores: Scores
) -> Iterator[Message]:
    """Say scores of damaged systems as if their texts, and the references, were mended."""
    for said in select_messages("data.damaged", testset.anomalies):
        system, what = str(said.params["name"]), str(said.params["what"])
        if said.params["text"] != "system":
            continue
        mend = MENDING[what]
        whole = replace(
            testset.select(systems=[system]),
            systems={system: list(map(mend, testset.systems[system]))},
            references={
                name: [text and mend(text) for text in texts]
                for name, texts in testset.references.items()
            },
        )
        _, bound = bind(whole, metric, allow_code=True)  # it was allowed
        value = float(bound.aggregate(bound.statistics(whole.batch()).sum(axis=1))[0])
        score = float(scores.system[scores.systems.index(system)])
        costs = abs(value - score) > _COST * abs(score)
        told = {"value": value, "score": score, "metric": metric_title(scores.metric)}
        some = "caseless" if what == "case" else "some"
        params: dict[str, Any] = {**said.params, "effect": some if costs else "nothing", **told}
        yield replace(said, params=params, level="caution" if costs else "note")


def compare_other_references(
    testset: TestSet,
    metric: str | Metric | BoundMetric | Callable[..., float],
    name: str,
    *,
    allow_code: bool = False,
) -> Iterator[Message]:
    """Say scores by references of unknown origin, where some are a system's output."""
    suspected = select_messages("data.favoured", testset.anomalies)
    wrong = {said.params["among"] for said in suspected}
    others = [one for one in testset.references if one not in wrong]
    if not suspected or len(others) == len(testset.references) or not others:
        return
    rest = testset.select(references=others)
    _, bound = bind(rest, metric, allow_code=allow_code)
    if "statistics" not in bound.can:
        return
    values = bound.aggregate(bound.statistics(rest.batch()).sum(axis=1))
    scores = dict(zip(rest.systems, values.tolist(), strict=True))
    best = (max if bound.higher_is_better else min)(scores, key=scores.__getitem__)
    figures = {"references": others, "best": best, "value": scores[best]}
    for said in suspected:
        system = str(said.params["system"])
        own = None if system == best else {"system": system, "score": scores[system]}
        by = {**figures, "own": own, "metric": metric_title(name)}
        yield replace(said, params={**said.params, "by": by})


def bind(
    testset: TestSet,
    metric: str | Metric | BoundMetric | Callable[..., float],
    *,
    allow_code: bool = False,
) -> tuple[str, BoundMetric]:
    """A metric bound to a test set, and what to call it: as it was asked for."""
    resolved = resolve(metric, allow_code=allow_code)
    asked = str(read_spec(metric)) if isinstance(metric, str) else resolved.spec
    name = resolved.name if isinstance(resolved, FunctionMetric) else asked
    return name, resolved.bind(testset)


def signature_of(bound: BoundMetric, batch: Batch) -> Signature:
    """The signature of a bound metric on a batch: with the number of references.

    Paraphrases among these are named by method, number and a hash of their texts.
    """
    if "references" not in bound.needs:
        return bound.signature
    fields: dict[str, object] = {}
    there = dict(bound.signature)
    if "refs" not in there:
        own_references = (
            {"own_refs": len(batch.system_references)} if batch.system_references else {}
        )
        fields = {"refs": reference_count(batch), **own_references}
    # METEOR's "paraphrases" is its table
    if batch.paraphrases and "paraphrased" not in there:
        fields["paraphrased"] = batch.paraphrases
    return bound.signature.adding(fields) if fields else bound.signature
