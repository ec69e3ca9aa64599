"""What all analyses that mask share: annotated texts, bound metrics, signatures, facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypedDict, cast

from gnomon.errors import UnknownNameError, UsageError
from gnomon.metrics import bind, signature_of, with_masking
from gnomon.metrics.masking import MaskPlan
from gnomon.muler._annotated import annotated, facts_of, tagger_field
from gnomon.muler._checks import check_masks, check_sides
from gnomon.muler._figures import feature_scores
from gnomon.muler._presence import presence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.annotate import Annotation, Annotator, Labels
    from gnomon.batch import Batch
    from gnomon.cache import Cache
    from gnomon.metrics import BoundMetric, Metric
    from gnomon.metrics.masking import Granularity, Overlap
    from gnomon.metrics.protocol import MaskingMetric
    from gnomon.muler._figures import FeatureScores
    from gnomon.muler._presence import Presence
    from gnomon.spans import SpanTable
    from gnomon.testset import TestSet

    AnyMetric: TypeAlias = str | Metric | BoundMetric | Callable[..., float]

__all__ = ["DEFAULT_FEATURES", "AnyMetric", "Options", "Setup", "prepared"]

DEFAULT_FEATURES = ("pos:*", "ent:*")


class Options(TypedDict, total=False):
    """What every analysis takes besides its own options; as for :func:`gnomon.muler.muler`.

    Attributes:
        tagger: ``spacy:NAME`` or an annotator; by default one for the target language.
        lexicons: word lists for ``lex:NAME``.
        patterns: regular expressions for ``re:NAME``.
        labels: the user's own labels.
        overlap: when a metric token counts as masked: "any" (default), "majority" or "inside".
        granularity: one mask per "token" (default) or per "span".
        allow_code: let a spec ``python('module:function')`` import and run the module.
        cache: where annotations are kept between runs; none by default.
        progress: called with a stage, what is done and the total.
    """

    tagger: str | Annotator | None
    lexicons: Mapping[str, str | PathLike[str] | Sequence[str]] | None
    patterns: Mapping[str, str] | None
    labels: Labels | None
    overlap: Overlap
    granularity: Granularity
    allow_code: bool
    cache: Cache | None
    progress: Callable[[str, int, int], None] | None


@dataclass(frozen=True)
class Setup:
    """A test set ready to be masked.

    Attributes:
        testset: the test set.
        batch: its texts.
        annotation: the features of both sides, over the texts of the batch.
        metrics: the metrics by name.
        overlap: when a metric token counts as masked.
        granularity: one mask per token or per span.
        progress: called with a stage, what is done and the total.
    """

    testset: TestSet
    batch: Batch
    annotation: Annotation
    metrics: Mapping[str, MaskingMetric]
    overlap: Overlap
    granularity: Granularity
    progress: Callable[[str, int, int], None] | None

    @property
    def spans(self) -> SpanTable:
        """The features of both sides."""
        return self.annotation.spans

    def oracles(self, spans: SpanTable) -> MaskPlan:
        """Oracle and anti-oracle of every group of spans; the metric's lengths are not yet in."""
        return MaskPlan.oracles(spans, overlap=self.overlap, granularity=self.granularity)

    def plan(self, metric: MaskingMetric) -> MaskPlan:
        """Oracle and anti-oracle of every feature, for one metric."""
        plan = self.oracles(self.spans)
        return plan.with_lengths(metric.mask_lengths(self.batch, plan))

    def scored(
        self, metric: MaskingMetric, plan: MaskPlan, stage: str
    ) -> Iterator[tuple[FeatureScores, Presence]]:
        """Every feature of a plan: its sentence scores, and where it occurs.

        Args:
            metric: the metric.
            plan: a plan of oracles with the metric's lengths.
            stage: reported after each feature.
        """
        total = len(plan.spans.features)
        for number, scores in enumerate(feature_scores(metric, self.batch, plan)):
            yield scores, presence(self.batch, plan.spans, number)
            self.step(stage, number + 1, total)

    def signature(
        self,
        metric: MaskingMetric,
        method: str,
        plan: MaskPlan | None = None,
        fields: Mapping[str, object] | None = None,
    ) -> str:
        """How to make the numbers of a method again.

        Args:
            metric: the metric.
            method: name of the method.
            plan: where its lengths of masks decide the numbers.
            fields: the method's own parameters.
        """
        known: dict[str, object] = {"method": method}
        known |= {"overlap": self.overlap, "granularity": self.granularity}
        known |= tagger_field(self.annotation)
        if plan is not None and plan.lengths is not None:
            pairs = zip(plan.spans.features, plan.lengths, strict=True)
            known["L"] = ",".join(f"{feature}={length}" for feature, length in pairs)
        return str(signature_of(metric, self.batch).adding({**known, **(fields or {})}))

    def facts(self) -> dict[str, str]:
        """What was looked at, for the head of a report."""
        return facts_of(self.testset, self.annotation, self.metrics)

    def step(self, stage: str, done: int, total: int) -> None:
        """Report progress, where somebody wants to hear of it."""
        if self.progress:
            self.progress(stage, done, total)


def prepared(
    testset: TestSet,
    metric: AnyMetric | Sequence[AnyMetric],
    features: Sequence[str],
    options: Options,
) -> Setup:
    """Bind the metrics, annotate the texts.

    Raises:
        DataError: the test set has no references or no systems.
        MaskingError: a metric cannot tell two masks apart.
        UnknownNameError: a metric, feature, tagger or option does not exist.
        UsageError: a metric is named twice, or features are not a list.
    """
    for name in options:
        if name not in Options.__annotations__:
            raise UnknownNameError("option", name, Options.__annotations__)
    overlap, granularity = options.get("overlap", "any"), options.get("granularity", "token")
    progress = options.get("progress")
    check_sides(testset.outline, "MuLER masks references")
    check_masks(overlap, granularity)
    named = list(metric) if isinstance(metric, list | tuple) else [cast("AnyMetric", metric)]
    bound = _bound(testset, named, allow_code=options.get("allow_code", False))
    batch = testset.batch()
    annotation = annotated(
        batch,
        features,
        options.get("tagger"),
        testset,
        options.get("lexicons"),
        options.get("patterns"),
        options.get("labels"),
        options.get("cache"),
        progress,
    )
    masking = {name: with_masking(one, batch) for name, one in bound.items()}
    return Setup(testset, batch, annotation, masking, overlap, granularity, progress)


def _bound(
    testset: TestSet, metrics: Sequence[AnyMetric], *, allow_code: bool
) -> dict[str, BoundMetric]:
    bound: dict[str, BoundMetric] = {}
    for metric in metrics:
        name, one = bind(testset, metric, allow_code=allow_code)
        if name in bound:
            raise UsageError(f"metric {name!r} is named twice; name each metric once")
        bound[name] = one
    return bound
