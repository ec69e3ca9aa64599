"""From a test set and a metric to what the metric charges every feature for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, cast

from gnomon.errors import DataError, UnknownNameError, UsageError
from gnomon.findings import Finding
from gnomon.metrics import bind, signature_of, with_masking
from gnomon.metrics.masking import MaskPlan
from gnomon.muler._annotated import annotated
from gnomon.muler._exhibits import Showcase
from gnomon.muler._figures import feature_scores, figures
from gnomon.muler._presence import presence
from gnomon.muler._sentence_names import AnyScorer, scorers_of
from gnomon.muler._sentences import sentence_part
from gnomon.muler._significance import SEED, Bootstrap
from gnomon.muler._significance_gather import Uncertainty
from gnomon.muler._significance_pairs import Differences
from gnomon.muler._significance_tables import differences_table, listings, significance_notices
from gnomon.muler._slices import slices
from gnomon.muler._tables import VARIANTS, main_table, negative_table, rows_of, views

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from gnomon.annotate import Annotation, Annotator, Labels
    from gnomon.batch import Batch
    from gnomon.cache import Cache
    from gnomon.findings import Cell, Exhibit
    from gnomon.metrics import BoundMetric, Metric
    from gnomon.metrics.masking import Granularity, Overlap
    from gnomon.muler._figures import FeatureScores
    from gnomon.muler._presence import Presence
    from gnomon.muler._significance import Ends
    from gnomon.muler._slices import Slice
    from gnomon.muler._tables import Variant
    from gnomon.signature import Signature
    from gnomon.testset import TestSet

    AnyMetric: TypeAlias = str | Metric | BoundMetric | Callable[..., float]

__all__ = ["muler"]

_SLICES_SHOWN = 12  # heat maps beyond this many slices help nobody; the rows are all there


@dataclass
class _Gathered:
    """Rows, exhibits and signatures, metric by metric."""

    rows: dict[str, list[dict[str, Cell]]] = field(default_factory=dict)
    negatives: list[dict[str, Cell]] = field(default_factory=list)
    negatives_left_out: int = 0
    exhibits: list[Exhibit] = field(default_factory=list)
    signatures: dict[str, str] = field(default_factory=dict)
    system: dict[str, list[float]] = field(default_factory=dict)


def muler(
    testset: TestSet,
    metric: AnyMetric | Sequence[AnyMetric] = "bleu",
    features: Sequence[str] = ("pos:*", "ent:*"),
    *,
    tagger: str | Annotator | None = None,
    lexicons: Mapping[str, str | PathLike[str] | Sequence[str]] | None = None,
    patterns: Mapping[str, str] | None = None,
    labels: Labels | None = None,
    scorers: Sequence[AnyScorer] = (),
    variants: Sequence[Variant] = VARIANTS,
    by: str | None = None,
    overlap: Overlap = "any",
    granularity: Granularity = "token",
    examples: int = 3,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    seed: int = SEED,
    allow_code: bool = False,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """What a metric charges each feature for (MuLER, Karidi et al.).

    Args:
        testset: references and the outputs of one or more systems.
        metric: spec string, metric or function; or several of them.
        features: names such as ``pos:NOUN``, ``ent:PERSON``, ``morph:Gender=Fem``,
            ``dep:nsubj``, ``dep:long>=5``, ``lex:NAME``, ``re:NAME``; wildcards ``pos:*``.
        tagger: ``spacy:NAME`` or an annotator; by default one for the test set's target language.
        lexicons: word lists for ``lex:NAME``, as words or as a file of one entry per line.
        patterns: regular expressions for ``re:NAME``.
        labels: the user's own labels.
        scorers: sentence scorers (``sentiment``, ``concreteness``, ``valence=FILE``), as for
            :func:`gnomon.muler.sentences`; what they find is the table "scorers".
        variants: "ratio" (ratio of means), "segment-clipped" (mean of clipped segment ratios).
        by: slice by "document", "domain", "length" or a label of the test set.
        overlap: when a metric token counts as masked: "any", "majority" or "inside".
        granularity: one mask per "token" or per "span".
        examples: segments shown per feature and system; 0 for none.
        bootstrap: resamples of the segments, for intervals and for tests of differences between
            systems; 0 for neither.
        confidence: of the intervals; differences are significant at 1 - confidence.
        seed: of the resamples; the same seed gives the same figures.
        allow_code: let a spec ``python('module:function')`` import and run the module.
        cache: where annotations are kept between runs; none by default.
        progress: called with a stage, what is done and the total.

    Returns:
        A finding whose rows hold ``system, metric, feature, variant, slice, segments, muler,
        base, base_all, oracle, anti_oracle, spread, gain, add, miss, hit, neither, negative,
        outside``; scores in the metric's own units, undefined figures ``None``. With a bootstrap
        every figure from ``muler`` to ``neither`` has the ends of its interval beside it
        (``muler_low, muler_high``, ...), and a table "differences" compares every pair of systems:
        ``metric, variant, slice, feature, system_a, system_b, difference, low, high, p, p_holm,
        p_bh, p_max, segments, significant``. The table "negative" lists segments that score above
        their oracle.

    Raises:
        UsageError: a feature, scorer or option is malformed, or no tagger is named or found.
        UnknownNameError: a metric, feature, scorer, tagger or slice does not exist.
        MaskingError: the metric cannot tell two masks apart.
        DataError: the test set has no references or no systems.
    """
    _check(testset, variants)
    _check_options(features, overlap, granularity, examples)
    options = Bootstrap(bootstrap, confidence, seed)
    metrics = list(metric) if isinstance(metric, list | tuple) else [cast("AnyMetric", metric)]
    bound = _bind(testset, metrics, allow_code=allow_code)
    chosen = scorers_of(scorers, allow_code=allow_code) if scorers else {}
    batch = testset.batch()
    annotation = annotated(
        batch, features, tagger, testset, lexicons, patterns, labels, cache, progress
    )
    if progress:
        progress("tagging", annotation.tagged + annotation.cached, len(batch.texts))
    plan = MaskPlan.oracles(annotation.spans, overlap=overlap, granularity=granularity)
    parts = slices(testset, by)
    gathered = _Gathered()
    uncertainty = _uncertainty(options, batch, parts, variants)
    for name, one in bound.items():
        _gather(
            gathered, uncertainty, one, name, testset, batch, plan, parts, annotation, examples,
            progress,
        )  # fmt: skip
    finding = _finding(gathered, uncertainty, testset, annotation, parts, list(variants))
    if not chosen:
        return finding
    part = sentence_part(
        testset, batch, chosen, parts, options, tagger, examples, cache, progress
    )  # the same draws as for features
    return part.added_to(finding)


def _check(testset: TestSet, variants: Sequence[str]) -> None:
    if not testset.references and not testset.system_references:
        raise DataError(f"MuLER masks references, but test set {testset.name!r} has none")
    if not testset.systems:
        raise DataError(f"test set {testset.name!r} holds no system outputs; name some with -i")
    unknown = [v for v in variants if v not in VARIANTS]
    if unknown or not variants:
        raise UsageError(f"variants are {' and '.join(VARIANTS)}; got {list(variants)}")


def _check_options(features: Sequence[str], overlap: str, granularity: str, examples: int) -> None:
    if isinstance(features, str):
        raise UsageError(f"features must be a list of names; got {features!r}: pass [{features!r}]")
    for name, value, allowed in (
        ("overlap", overlap, ("any", "majority", "inside")),
        ("granularity", granularity, ("token", "span")),
    ):
        if value not in allowed:
            raise UnknownNameError(name, value, allowed)
    if examples < 0:
        raise UsageError(f"examples is a number of segments, 0 or more; got {examples}")


def _bind(
    testset: TestSet, metrics: Sequence[AnyMetric], *, allow_code: bool
) -> dict[str, BoundMetric]:
    bound: dict[str, BoundMetric] = {}
    for metric in metrics:
        name, one = bind(testset, metric, allow_code=allow_code)
        if name in bound:
            raise UsageError(f"metric {name!r} is named twice; name each metric once")
        bound[name] = one
    return bound


def _uncertainty(
    options: Bootstrap, batch: Batch, parts: Sequence[Slice], variants: Sequence[Variant]
) -> Uncertainty | None:
    counts = options.draw(batch.shape[1])
    if counts is None:
        return None
    compared = parts if len(parts) <= _SLICES_SHOWN + 1 else parts[:1]
    return Uncertainty(
        options,
        counts,
        variants,
        {part.name for part in compared},
        Differences(batch.systems, options.confidence),
    )


def _gather(
    gathered: _Gathered,
    uncertainty: Uncertainty | None,
    metric: BoundMetric,
    name: str,
    testset: TestSet,
    batch: Batch,
    plan: MaskPlan,
    parts: Sequence[Slice],
    annotation: Annotation,
    examples: int,
    progress: Callable[[str, int, int], None] | None,
) -> None:
    masking = with_masking(metric, batch)
    plan = plan.with_lengths(masking.mask_lengths(batch, plan))
    showcase = Showcase(testset, batch, plan.spans, name, examples)
    total = len(plan.spans.features)
    for done, scores in enumerate(feature_scores(metric, masking, batch, plan), start=1):
        present = presence(batch, plan.spans, done - 1)
        for part in parts:
            _add_rows(gathered, uncertainty, name, part, scores, present, batch.systems)
        negatives, left_out = showcase.negatives(scores, present)
        gathered.negatives += negatives
        gathered.negatives_left_out += left_out
        if examples:
            gathered.exhibits += showcase.costliest(scores, present)
        if progress:
            progress(f"scoring {name}", done, total)
    options = None if uncertainty is None else uncertainty.options
    signature = _signature(signature_of(masking, batch), plan, annotation, options)
    gathered.signatures[name] = str(signature)
    gathered.system[name] = metric.system(batch).tolist()


def _add_rows(
    gathered: _Gathered,
    uncertainty: Uncertainty | None,
    metric: str,
    part: Slice,
    scores: FeatureScores,
    present: Presence,
    systems: Sequence[str],
) -> None:
    found = figures(scores, present, part.members)
    ends: Sequence[Mapping[str, Ends] | None] = [None] * len(systems)
    if uncertainty is not None:
        ends = uncertainty.ends(metric, part, scores, present, found)
    for system, one, own in zip(systems, found, ends, strict=True):
        rows = rows_of(
            one, system=system, metric=metric, feature=scores.feature, part=part.name, ends=own
        )
        for variant, row in rows.items():
            gathered.rows.setdefault(variant, []).append(row)


def _signature(
    signature: Signature, plan: MaskPlan, annotation: Annotation, options: Bootstrap | None
) -> Signature:
    fields: dict[str, object] = {"method": "muler", "overlap": plan.overlap}
    fields["granularity"] = plan.granularity
    if annotation.taggers:
        fields["tagger"] = "+".join(annotation.taggers)
    if plan.lengths is not None:
        pairs = zip(plan.spans.features, plan.lengths, strict=True)
        fields["L"] = ",".join(f"{feature}={length}" for feature, length in pairs)
    if options is not None:
        fields |= {"bs": options.resamples, "confidence": options.confidence, "seed": options.seed}
    return signature.adding(fields)


def _finding(
    gathered: _Gathered,
    uncertainty: Uncertainty | None,
    testset: TestSet,
    annotation: Annotation,
    parts: Sequence[Slice],
    variants: list[Variant],
) -> Finding:
    shown = [part.name for part in parts[: _SLICES_SHOWN + 1]]
    rows = [row for variant in variants for row in gathered.rows.get(variant, [])]
    names = list(gathered.signatures)
    confidence = None if uncertainty is None else uncertainty.options.confidence
    tables = [main_table(rows, confidence)]
    seen = views(names, variants, shown, _picked(testset, gathered.system[names[0]]))
    notices = _notices(annotation, parts)
    if uncertainty is not None:
        options, pairs = uncertainty.options, uncertainty.differences
        tables.append(differences_table(pairs, options))
        seen += listings(names, variants[0], tables[1], options)
        notices += significance_notices(options, pairs, tables[1], uncertainty.sparse)
    tables.append(negative_table(gathered.negatives, gathered.negatives_left_out))
    return Finding(
        method="muler score",
        title="MuLER: what the metric charges each feature for",
        tables=tuple(tables),
        signatures=gathered.signatures,
        views=seen,
        exhibits=tuple(gathered.exhibits),
        notices=notices,
        facts=_facts(testset, annotation, names),
    )


def _picked(testset: TestSet, scores: Sequence[float]) -> list[str]:
    """The systems shown first: the two with the highest score, then the others."""
    ranked = sorted(zip(scores, testset.systems, strict=True), key=lambda pair: -pair[0])
    return [name for _, name in ranked]


def _notices(annotation: Annotation, parts: Sequence[Slice]) -> tuple[str, ...]:
    notices = list(annotation.notices)
    if len(parts) > _SLICES_SHOWN + 1:
        notices.append(
            f"{len(parts) - 1} slices: heat maps are drawn for the first {_SLICES_SHOWN}, the rows"
            " hold all of them; systems are compared over all segments alone"
        )
    return tuple(notices)


def _facts(testset: TestSet, annotation: Annotation, metrics: Sequence[str]) -> dict[str, str]:
    facts = {
        "test set": testset.name,
        "language pair": testset.language_pair or "not given",
        "segments": str(testset.segments),
        "systems": str(len(testset.systems)),
        "references": ", ".join(testset.references),
        "metrics": ", ".join(metrics),
        "features": str(len(annotation.spans.features)),
    }
    if annotation.taggers:
        facts["tagger"] = ", ".join(annotation.taggers)
    return facts
