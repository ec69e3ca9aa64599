"""From a test set and a metric to what the metric charges every feature for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.faults import refuse
from gnomon.findings import Finding
from gnomon.muler._requests import check_muler
from gnomon.muler._run_scored import Scored, scored
from gnomon.muler._sentence_names import AnyScorer, scorers_of
from gnomon.muler._sentences import sentence_part
from gnomon.muler._setup import DEFAULT_FEATURES, Options, prepared
from gnomon.muler._significance import SEED, Bootstrap
from gnomon.muler._significance_gather import uncertainty
from gnomon.muler._significance_tables import differences_table, listings, significance_notices
from gnomon.muler._slices import drawn_slices
from gnomon.muler._tables import VARIANTS, main_table, negative_table, views
from gnomon.slices import slices

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from gnomon.annotate import Annotator, Labels
    from gnomon.cache import Cache
    from gnomon.findings import Table, View
    from gnomon.metrics.masking import Granularity, Overlap
    from gnomon.muler._setup import AnyMetric, Setup
    from gnomon.muler._tables import Variant
    from gnomon.slices import Slice
    from gnomon.testset import TestSet

__all__ = ["muler"]


def muler(
    testset: TestSet,
    metric: AnyMetric | Sequence[AnyMetric] = "bleu",
    features: Sequence[str] = DEFAULT_FEATURES,
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
        below, ordered, outside``; scores in the metric's own units, undefined figures ``None``.
        With a bootstrap every figure from ``muler`` to ``neither`` has the ends of its interval
        beside it (``muler_low, muler_high``, ...), and a table "differences" compares every pair
        of systems:
        ``metric, variant, slice, feature, system_a, system_b, difference, low, high, p, p_holm,
        p_bh, p_max, segments, significant``. The table "negative" lists segments that score above
        their oracle.

    Raises:
        UsageError: a feature, scorer or option is malformed, or no tagger is named or found.
        UnknownNameError: a metric, feature, scorer, tagger or slice does not exist.
        MaskingError: the metric cannot tell two masks apart.
        DataError: the test set has no references or no systems.
    """
    draws = Bootstrap(bootstrap, confidence, seed)
    options = Options(
        tagger=tagger,
        lexicons=lexicons,
        patterns=patterns,
        labels=labels,
        overlap=overlap,
        granularity=granularity,
        allow_code=allow_code,
        cache=cache,
        progress=progress,
    )
    refuse(
        check_muler(
            testset.outline, metric, features, scorers=scorers, variants=variants, by=by,
            examples=examples, bootstrap=bootstrap, confidence=confidence, seed=seed, **options,
        )
    )  # fmt: skip
    chosen = scorers_of(scorers, allow_code=allow_code) if scorers else {}
    setup = prepared(testset, metric, features, options)
    parts = slices(testset, by)
    found = scored(setup, parts, uncertainty(draws, setup.batch, parts, variants), examples)
    finding = _finding(setup, parts, found, list(variants))
    if not chosen:
        return finding
    part = sentence_part(
        testset, setup.batch, chosen, parts, draws, tagger, examples, cache, progress
    )  # the same draws as for features
    return part.added_to(finding)


def _finding(
    setup: Setup, parts: Sequence[Slice], found: Scored, variants: list[Variant]
) -> Finding:
    rows = [row for variant in variants for row in found.rows.get(variant, [])]
    confidence = None if found.uncertainty is None else found.uncertainty.options.confidence
    differences, listed, said = _differences(found, variants[0])
    places = [part.name for part in drawn_slices(parts)]
    table = main_table(rows, confidence)
    seen = views(list(setup.metrics), variants, places, _picked(setup, found), table)
    return Finding(
        method="muler score",
        title="MuLER: what the metric charges each feature for",
        tables=(
            table,
            *differences,
            negative_table(found.negatives, found.negatives_left_out),
        ),
        signatures=found.signatures,
        views=(*seen, *listed),
        exhibits=tuple(found.exhibits),
        notices=(*setup.annotation.notices, *_of_slices(parts), *said),
        facts=setup.facts(),
    )


def _differences(
    found: Scored, variant: Variant
) -> tuple[tuple[Table, ...], tuple[View, ...], tuple[str, ...]]:
    """The table of differences between systems, how text shows it, what is said of it."""
    if found.uncertainty is None:
        return (), (), ()
    options, pairs = found.uncertainty.options, found.uncertainty.differences
    table = differences_table(pairs, options)
    listed = listings(list(found.signatures), variant, table, options)
    said = significance_notices(options, pairs, table, found.uncertainty.sparse)
    return (table,), listed, said


def _picked(setup: Setup, found: Scored) -> list[str]:
    """The systems shown first: the two with the highest score, then the others."""
    scores = next(iter(found.system.values()))
    ranked = sorted(zip(scores, setup.testset.systems, strict=True), key=lambda pair: -pair[0])
    return [name for _, name in ranked]


def _of_slices(parts: Sequence[Slice]) -> tuple[str, ...]:
    drawn = drawn_slices(parts)
    if len(drawn) == len(parts):
        return ()
    notice = (
        f"{len(parts) - 1} slices: heat maps are drawn for the first {len(drawn) - 1}, the rows"
        " hold all of them; systems are compared over all segments alone"
    )
    return (notice,)
