"""Common parts of analyses that mask: options and checks, annotated texts, bound metrics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import numpy as np

from gnomon.core.errors import DataError, GnomonError, MaskingError, UsageError
from gnomon.core.options import SEED, Group, Help, Rare, fields_of, misfits, refusal
from gnomon.core.scores import name_metric
from gnomon.core.spans import SpanTable
from gnomon.core.validation import Problem, problems
from gnomon.linguistics import (
    Features,
    FeatureSources,
    annotate,
    feature_faults,
    gloss,
    read_labels,
    select_features,
)
from gnomon.linguistics.annotators import untagged
from gnomon.messages import message
from gnomon.messages.audiences import flag, parameter
from gnomon.metrics import bind, make_maskable, resolve, signature_of
from gnomon.metrics.base import list_metrics
from gnomon.metrics.black_box_masking import Substitution, make_substitutable
from gnomon.metrics.masking import (
    Granularity,
    MaskKind,
    MaskPlan,
    Overlap,
)
from gnomon.metrics.registry import check_metric
from gnomon.metrics.scoring import compare_other_references
from gnomon.metrics.sequences import mask_stretch
from gnomon.muler._words import WordsByFeature
from gnomon.muler.discrepancy import Unscored
from gnomon.muler.figures import feature_scores, presence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.cache import Cache
    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.core.run_settings import Run
    from gnomon.core.signature import Signature
    from gnomon.core.testset import TestSet
    from gnomon.linguistics import Annotation
    from gnomon.messages import Message
    from gnomon.metrics import BoundMetric
    from gnomon.metrics.base import AnyMetric, Metrics
    from gnomon.muler.figures import FeatureScores, Presence

    Progress = Callable[[str, int, int], None]


_Part = TypeVar("_Part")
_DRAWN = 12  # heat maps and listings of more slices help nobody; the rows are all there


def slices_to_draw(parts: Sequence[_Part]) -> Sequence[_Part]:
    """Of slices that begin with all segments, those that views are made for."""
    return parts[: _DRAWN + 1]


def used_texts(batch: Batch) -> NDArray[np.intp]:
    """The numbers of the texts that are a candidate or a reference, not those of sources."""
    used = np.zeros(len(batch.texts), dtype=np.bool_)
    used[batch.candidates] = True
    for references in (batch.references, *batch.system_references.values()):
        used[references.indices] = True
    return np.flatnonzero(used)


@dataclass(frozen=True)
class WordChoice(FeatureSources):
    """Which words are marked; as for :func:`gnomon.muler`."""

    features: Features = None

    @classmethod
    def create(cls, sources: FeatureSources, features: Features) -> WordChoice:
        """The words of some features."""
        return cls(**vars(sources), features=features)

    @property
    def origin(self) -> dict[str, Any]:
        """Where features come from, as options of the functions of :mod:`gnomon.linguistics`."""
        return {name: value for name, value in vars(self).items() if name != "features"}

    def annotated(
        self,
        batch: Batch,
        language: str | None,
        cache: Cache | None,
        progress: Progress | None,
        *,
        more: Sequence[str] = (),
        numbers: NDArray[np.intp] | None = None,
    ) -> Annotation:
        """Annotate texts of a batch, by default candidates and references; spans are over all.

        Beside references, words are long, rare or foreign by these; alone, none is rare: a word
        that a reference has is seldom wrong.
        """
        origin = {**self.origin, "labels": read_labels(self.labels), "language": language}
        features = select_features(self.features, **origin, more=more)
        used = used_texts(batch) if numbers is None else numbers
        texts = [batch.texts[i] for i in used]
        rows = batch.references if numbers is None else ()
        references = ["\n".join(batch.texts[i] for i in row) for row in rows]
        annotation = annotate(
            texts, features, **origin, references=references, cache=cache, progress=progress
        )
        if self.features is None and "form:*" in features:
            notices = (untagged(language), *annotation.notices)
            annotation = replace(annotation, notices=notices)
        spans = annotation.spans
        moved = replace(spans, texts=len(batch.texts), text=used[spans.text].astype(np.int32))
        if progress:
            progress("tagging", annotation.tagged + annotation.cached, len(batch.texts))
        return replace(annotation, spans=moved)


@dataclass(frozen=True)
class Masks:
    """Masking of words, for who studies masks: ``masking=Masks(overlap="majority")``.

    Attributes:
        kind: what stands for words, as ``masking`` names it.
        overlap: when a metric token counts as masked: it shares a character with a span ("any"),
            more than half of its characters ("majority"), or all of them ("inside").
        granularity: one mask per "token" or per "span"; the latter is what the kind "spans" means.
        words: three words that are put into texts as masks, for metrics without masks of their own:
            alike on both sides, the candidate's, the reference's. By default some that the metric
            is found to tell apart.
    """

    kind: MaskKind = "auto"
    overlap: Overlap = "any"
    granularity: Granularity = "token"
    words: Sequence[str] | None = None


#: the kind of masks, or all that there is to say of them
MaskingOption: TypeAlias = Annotated[
    "MaskKind | Masks",
    Group("scoring"),
    Rare(),
    Help(
        "what stands for words, or :class:`gnomon.muler.Masks`: masks on each metric's"
        ' "tokens" (mask words where it has none), one mask for all tokens of a span ("spans"),'
        ' masks "in-place" of the words alone (as the authors did), or other words ("substitute"):'
        ' the reference\'s own (oracle), or others of the feature (anti-oracle). "auto":'
        ' "tokens" if that is one kind of mask for all metrics, else "substitute". "pooled": COMET'
        " exchanges words in its vectors. Figures of different kinds do not compare."
    ),
]


@dataclass(frozen=True)
class MaskOptions:
    """The option for masking words, shared by the methods that mask."""

    masking: MaskingOption = "auto"

    def seeded(self, seed: int) -> MaskChoice:
        """With the seed of other words that are drawn."""
        masks = self.masking if isinstance(self.masking, Masks) else Masks(self.masking)
        if masks.kind == "spans":
            masks = replace(masks, kind="tokens", granularity="span")
        return MaskChoice(**vars(masks), seed=seed)


@dataclass(frozen=True)
class MaskChoice(Masks):
    """The choice of how words are masked."""

    seed: int = SEED

    def resolved(self, bound: Mapping[str, BoundMetric]) -> MaskChoice:
        """With the kind of mask that is the same for all metrics in place of "auto"."""
        pooling = [name for name, metric in bound.items() if metric.masks_used == "pooled"]
        if self.kind == "pooled" and not pooling:
            raise UsageError(
                "masking='pooled' is for metrics that pool vectors of words (comet); got"
                f" {', '.join(bound)}: leave masking out"
            )
        if self.kind != "auto":
            return self
        kinds = {"mask" in metric.can for metric in bound.values()}
        alike = self.words is not None or (not pooling and len(kinds) <= 1)
        return replace(self, kind="tokens" if alike else "substitute")

    def metric(self, bound: BoundMetric, batch: Batch) -> BoundMetric:
        """A bound metric that masks so."""
        if self.kind == "substitute":
            return make_substitutable(bound, batch, seed=self.seed)
        return make_maskable(
            bound,
            batch,
            words=self.words,
            in_place=self.kind == "in-place",
            pooled=self.kind == "pooled",
        )

    def fields(self, metric: BoundMetric) -> dict[str, object]:
        """Its fields in a signature, beside those of metrics."""
        if isinstance(metric, Unscored):
            return {}
        options = {"overlap": self.overlap, "granularity": self.granularity}
        left_out = {"in-place": ("overlap",), "substitute": tuple(options)}.get(self.kind, ())
        fields: dict[str, object] = {k: v for k, v in options.items() if k not in left_out}
        return {"masking": "pooled", **fields} if metric.masks_used == "pooled" else fields


# Checks before any work


def side_faults(outline: Outline | None, needs: str) -> Iterator[Problem]:
    """A test set without references or without outputs."""
    if outline is None:
        return
    if not outline.has_references:
        yield Problem("", DataError(f"{needs}, but test set {outline.name!r} has none"))
    elif not outline.systems:
        message = f"test set {outline.name!r} holds no system outputs; name some with -i"
        yield Problem("", DataError(message))


def word_faults(words: WordChoice, language: str | None, *, known: bool) -> Iterator[Problem]:
    """Features that are malformed, or that nothing gives; the language may not be known yet."""
    try:
        wanted = select_features(words.features, **words.origin, language=language)
    except GnomonError as error:  # there is no such tagger
        yield Problem("tagger", error)
        return
    yield from feature_faults(wanted, **words.origin, language=language, known=known)


def mask_faults(
    outline: Outline | None,
    metrics: Metrics,
    words: WordChoice,
    *,
    allow_code: bool = False,
    unseen: bool = False,
) -> Iterator[Problem]:
    """Check metrics, features and a test set as all methods that mask do.

    The outline says what the test set holds; without, that is not known yet, and only what no test
    set could mend is told. Labels may be names of files, which are not read.
    """
    yield from side_faults(outline, "MuLER masks references")
    if isinstance(metrics, list | tuple) and not metrics:
        yield Problem("metrics", UsageError(parameter("metrics"), " must be one or more; got none"))
    for metric in metrics if isinstance(metrics, list | tuple) else (metrics,):
        wrong = list(
            problems("metrics", check_metric, metric, outline, allow_code=allow_code, changed=True)
        )
        if unseen:
            yield from wrong
        else:
            yield from wrong or problems("metrics", _check_seen, metric, allow_code=allow_code)
    language = None if outline is None else outline.target_language
    yield from word_faults(words, language, known=outline is not None)


def check_masked(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of methods that mask, each of which fits alone; others fit together."""
    masks = options.build(MaskOptions).seeded(SEED)
    yield from _mask_faults(masks)
    unseen = masks.kind == "substitute"
    yield from mask_faults(
        outline,
        options.metrics,
        options.build(WordChoice),
        allow_code=options.allow_code,
        unseen=unseen,
    )


def _mask_faults(masks: Masks) -> Iterator[Problem]:
    for option in fields_of(Masks).values():
        for misfit in misfits(option, getattr(masks, option.name)):
            yield Problem("masking", refusal(option, misfit, named=parameter(option.name)))
    words = masks.words
    if words is None:
        return
    if masks.kind == "substitute":
        message = (
            "words of Masks stand for words, and 'substitute' puts other words there instead; leave"
            " one of the two out"
        )
        yield Problem("masking", UsageError(message))
    folded = {word.casefold() for word in words}
    if len(words) != len(folded) or len(folded) != 3 or any(w.split() != [w] for w in words):
        message = (
            "words of Masks must be three different words without white space (the mask alike on"
            f" both sides, the candidate's, the reference's); got {' '.join(map(repr, words))}"
        )
        yield Problem("masking", UsageError(message))


def _check_seen(metric: AnyMetric, *, allow_code: bool) -> None:
    if isinstance(metric, str) and resolve(metric, allow_code=allow_code).needs == {"sources"}:
        raise MaskingError(
            f"MuLER masks references, and metric {metric!r} looks at sources instead: its oracle"
            " equals its anti-oracle"
        )


# Signatures and facts


def tagger_field(annotation: Annotation) -> dict[str, object]:
    """The field of a signature that names the taggers; none without a tagger."""
    return {"tagger": "+".join(annotation.taggers)} if annotation.taggers else {}


def test_set_facts(testset: TestSet) -> dict[str, str]:
    """The test set, for the head of a report."""
    return {
        "test set": testset.name,
        "language pair": testset.language_pair or "not given",
        "segments": str(testset.segments),
        "systems": str(len(testset.systems)),
        "references": ", ".join(testset.references),
    }


def facts_of(
    testset: TestSet, annotation: Annotation, metrics: Collection[str] = ()
) -> dict[str, str]:
    """Test set, metrics and features, for the head of a report."""
    facts = test_set_facts(testset)
    if metrics:
        facts["metrics"] = ", ".join(metrics)
    facts["features"] = str(len(annotation.spans.features))
    if annotation.taggers:
        facts["tagger"] = ", ".join(annotation.taggers)
    return facts


@dataclass(frozen=True)
class Setup:
    """A test set ready to be masked."""

    testset: TestSet
    batch: Batch
    annotation: Annotation
    metrics: Mapping[str, BoundMetric]
    masks: MaskChoice
    progress: Callable[[str, int, int], None] | None
    asked: MaskKind = "auto"  # the kind of mask that was asked for

    @property
    def spans(self) -> SpanTable:
        """The features of both sides."""
        return self.annotation.spans

    @cached_property
    def empty(self) -> Mapping[str, int]:
        """Number of empty outputs, by system."""
        return self.testset.empty_outputs

    @cached_property
    def words(self) -> WordsByFeature:
        """The words of the features on both sides."""
        return WordsByFeature(self.batch, self.spans)

    @cached_property
    def notices(self) -> tuple[Message, ...]:
        """Notices of features and masks."""
        notices = [*self.annotation.notices, *self._kinds_of_masks()]
        for name, metric in self.metrics.items():
            notices += [name_metric(name, notice) for notice in metric.choice]
            notices += metric.mask_notices()
            if self.masks.words and metric.masks_used == "tokens":
                notices.append(message("note.muler.masks_tokens", metric=name, instead=_IN_PLACE))
            notices += self._long_masks(name, metric)
            notices += compare_other_references(self.testset, metric, name)
        return tuple(notices)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of masks under each metric."""
        return {name: metric.masks_used for name, metric in self.metrics.items()}

    def _kinds_of_masks(self) -> Iterator[Message]:
        """That words are exchanged though nobody asked for it, or that tokens differ."""
        if self.asked == "auto" and self.masks.kind == "substitute":
            without = [name for name, metric in self.metrics.items() if not _masks_tokens(metric)]
            several = len(self.metrics) > 1
            yield message("note.muler.other_words", without=without, all=several, how=_SUBSTITUTE)
        elif len({type(metric) for metric in self.metrics.values()}) > 1 and (
            set(self.kinds.values()) == {"tokens"}
        ):
            yield message("note.muler.own_tokens", method=None)

    def _long_masks(self, name: str, metric: BoundMetric) -> Iterator[Message]:
        """Where a masked token is longer than the words that it stands for."""
        tokens = metric.mask_tokens(self.batch)
        if tokens is None:
            return
        spans = self.spans
        kept = np.flatnonzero(spans.text < _MEASURED)
        columns = (getattr(spans, column)[kept] for column in ("text", "feature", "start", "end"))
        some = SpanTable(spans.features, spans.texts, *columns)
        stretch = mask_stretch(tokens, self.oracles(some))
        long = [
            (times, name)
            for times, name in zip(stretch.tolist(), spans.features, strict=True)
            if times >= (_LONG_MATCH if name.startswith(("re:", "form:")) else _LONG)
        ]
        if long:
            long.sort(key=lambda item: -item[0])
            yield message(
                "note.muler.long_masks",
                metric=name,
                kinds=[{"kind": gloss(of), "times": times} for times, of in long],
                instead=_IN_PLACE,
            )

    def oracles(self, spans: SpanTable) -> MaskPlan:
        """Oracle and anti-oracle of every group of spans; the metric's lengths are not yet in."""
        return MaskPlan.oracles(
            spans, overlap=self.masks.overlap, granularity=self.masks.granularity
        )

    def plan(self, metric: BoundMetric) -> MaskPlan:
        """Oracle and anti-oracle of every feature, for one metric."""
        plan = self.oracles(self.spans)
        return plan.fill_lengths(metric.mask_lengths(self.batch, plan))

    def scored(
        self, metric: BoundMetric, plan: MaskPlan, stage: str
    ) -> Iterator[tuple[FeatureScores, Presence]]:
        """Every feature of a plan: its sentence scores, and where it occurs."""
        total = len(plan.spans.features)
        for number, scores in enumerate(feature_scores(metric, self.batch, plan)):
            yield scores, presence(self.batch, plan.spans, number)
            self.step(stage, number + 1, total)

    def signature(
        self,
        metric: BoundMetric,
        method: str,
        plan: MaskPlan | None = None,
        fields: Mapping[str, object] | None = None,
    ) -> Signature:
        """Signature of a method's numbers."""
        all_fields: dict[str, object] = {"method": method, **self.masks.fields(metric)}
        all_fields |= tagger_field(self.annotation)
        if plan is not None and plan.lengths is not None:
            pairs = zip(plan.spans.features, plan.lengths, strict=True)
            all_fields["L"] = ",".join(f"{feature}={length}" for feature, length in pairs)
        return signature_of(metric, self.batch).adding({**all_fields, **(fields or {})})

    def facts(self) -> dict[str, str]:
        """Test set, metrics and features, for the head of a report."""
        facts = facts_of(self.testset, self.annotation, self.metrics)
        if Unscored.name in self.metrics:
            return facts
        facts["masks"] = ", ".join(dict.fromkeys(self.kinds.values()))
        return facts

    def step(self, stage: str, done: int, total: int) -> None:
        """Report progress, where somebody wants to hear of it."""
        if self.progress:
            self.progress(stage, done, total)


def _masks_tokens(metric: BoundMetric) -> bool:
    """True if a metric whose words are exchanged could mask its own tokens."""
    bound = metric.bound if isinstance(metric, Substitution) else metric
    return "mask" in bound.can and bound.masks_used == "tokens"


_MEASURED = 4000  # texts in which masked tokens are measured
_LONG = 3.0  # times the length of its words from which on there is a notice
_LONG_MATCH = 1.05  # likewise, of what a pattern matches
# alternatives for the reader
_IN_PLACE, _SUBSTITUTE = flag("masking", "in-place"), flag("masking", "substitute")


def prepared(
    testset: TestSet,
    metrics: Metrics,
    words: WordChoice,
    masks: MaskChoice,
    run: Run,
    more: Sequence[str] = (),
) -> Setup:
    """Bind the metrics, annotate the texts."""
    named = list_metrics(metrics)
    counted = named == [Unscored.name]
    bound = {} if counted else _bound(testset, named, allow_code=run.allow_code)
    batch = testset.batch()
    language = testset.target_language
    annotation = words.annotated(batch, language, run.cache, run.progress, more=more)
    asked, masks = masks.kind, masks.resolved(bound)

    masking = {name: masks.metric(metric, batch) for name, metric in bound.items()}
    if counted:
        masking[Unscored.name] = Unscored()
    return Setup(testset, batch, annotation, masking, masks, run.progress, asked)


def _bound(
    testset: TestSet, metrics: Sequence[AnyMetric], *, allow_code: bool
) -> dict[str, BoundMetric]:
    bound: dict[str, BoundMetric] = {}
    for metric in metrics:
        # scores were refused: they cannot be masked
        name, bound_metric = bind(testset, metric, allow_code=allow_code)  # type: ignore[arg-type]
        if name in bound:
            raise UsageError(f"metric {name!r} is named twice; name each metric once")
        bound[name] = bound_metric
    return bound
