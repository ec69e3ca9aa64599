"""The method ``muler``: the cost of every feature to the systems, under a metric."""

from __future__ import annotations

from gnomon.core.findings import Finding
from gnomon.core.options import (
    CONFIDENCE,
    RESAMPLES,
    SEED,
    By,
    Confidence,
    Count,
    Resamples,
    Seed,
    Unit,
    Workers,
    expand_fields,
)
from gnomon.core.registry import method
from gnomon.core.run_settings import Run
from gnomon.core.slices import slices
from gnomon.core.testset import TestSet
from gnomon.core.threads import using_workers
from gnomon.linguistics import Features, FeatureSources
from gnomon.messages import message
from gnomon.muler._marks import FEATURES_VIEW, feature_marks
from gnomon.muler._score_checks import (
    Metrics,
    are_scorers_alone,
    check_score,
    has_no_metric,
)
from gnomon.muler._score_rows import Scored
from gnomon.muler._sentences import ScorerRow, Scorers, scorers_of, sentence_part
from gnomon.muler._setup import MaskOptions, WordChoice, prepared
from gnomon.muler._verdict import muler_verdict
from gnomon.muler.differences import DifferenceRow, OmissionRow
from gnomon.muler.exhibits import MulerSegmentRow, NegativeRow
from gnomon.muler.figures import VARIANTS, MulerRow, Variants
from gnomon.muler.score_views import score_finding
from gnomon.muler.uncertainty import Bootstrap, Grouping, uncertainty

_EXAMPLES = """\
examples:
  gnomon muler ref.txt -i sysA.txt sysB.txt -l en --features 'pos:*' 'ent:*'
  gnomon muler -t wmt19/de-en --features pos:NOUN ent:PERSON --html page.html
  gnomon muler ref.txt -i sys.txt --features lex:food --lexicon food=food.txt
  gnomon muler ref.txt -i a.txt b.txt -l en --resamples 10000 --tables differences=d.tsv
  gnomon muler ref.txt -i sys.txt -l en --per-segment --tables segments=segments.tsv
  gnomon muler ref.txt -i sys.txt -l en --scorers sentiment concreteness valence=vad.tsv
  gnomon muler ref.txt -i sys.txt -m none --scorers sentiment          # scorers alone
  gnomon muler sentences.txt -i paraphrases.txt -l en -m none --features 'pos:*' 'dep:*'
"""


@method(
    "muler",
    purpose="measure what word classes, names and forms cost each system",
    title="MuLER",
    examples=_EXAMPLES,
    tables={"": "muler"},
    rows={
        "muler": MulerRow,
        "differences": DifferenceRow,
        "omissions": OmissionRow,
        "negative": NegativeRow,
        "segments": MulerSegmentRow,
        "scorers": ScorerRow,
    },
    by_system=True,
    untranslated=True,
    tagged=True,
    usual={"examples": 0},
    for_pages={"examples": ""},
    views=(FEATURES_VIEW,),
    marks=feature_marks,
    verdict=muler_verdict,
    check=check_score,
)
@expand_fields(sources=FeatureSources, masks=MaskOptions, run=Run)
def score(
    testset: TestSet,
    metrics: Metrics = "bleu",
    features: Features = None,
    *,
    sources: FeatureSources,
    scorers: Scorers = (),
    variants: Variants = VARIANTS,
    by: By = None,
    masks: MaskOptions,
    examples: Count = 3,
    per_segment: bool = False,
    resamples: Resamples = RESAMPLES,
    confidence: Confidence = CONFIDENCE,
    unit: Unit = "auto",
    seed: Seed = SEED,
    workers: Workers = 1,
    run: Run,
) -> Finding:
    """Cost of each kind of word to the systems under a metric (MuLER, Karidi et al.).

    Args:
        testset: references and the outputs of one or more systems.
        metrics: specs, metrics or functions of texts; one or several. "none": features are
            counted on both sides, and nothing is scored.
        features: names such as ``pos:NOUN``, ``ent:PERSON``, ``morph:Gender=Fem``,
            ``dep:nsubj``, ``dep:long>=5``, ``form:number``, ``lex:NAME``, ``re:NAME``,
            ``check:number``; wildcards ``pos:*``. By default ``pos:*``, ``ent:*``, or ``form:*``
            where no tagger is installed, and the word lists, patterns and labels that are given;
            these alone where no language is known.
        scorers: names of sentence scorers (``sentiment``, ``concreteness``, ``valence=FILE``), in
            Python also scorers or functions of a sentence (see
            :func:`gnomon.annotate.scorers.scorer`). Their figures are the table "scorers", the only
            one where no feature is named and there is neither a metric nor a tagger.
        examples: segments shown per feature and system; 0 for none.
        per_segment: add a table "segments" with base, oracle, anti-oracle and counts of every
            segment that has the feature.
        confidence: confidence level of the intervals; differences are significant at 1 -
            confidence.
        unit: the independent unit: "segment", "document", or "auto": documents where segments of
            one are clearly alike; as in :func:`gnomon.compare`, by the design effect under each
            metric, of each scorer and of the counts of each feature. Documents are left out one at
            a time, in place of resamples.

    Returns:
        A finding whose rows hold ``system, metric, feature, variant, slice, masks, segments, muler,
        uninformative, base, base_all, oracle, anti_oracle, spread, gain, add, miss, hit, surplus,
        p_counts, decided, negative, outside, absent``; scores in the metric's own units, undefined
        figures ``None``. With resamples every figure from ``muler`` to ``gain`` and ``surplus``
        have the ends of their intervals beside them (``muler_low, muler_high``, ...), and a table
        "differences" compares every pair of systems: ``metric, variant, slice, feature, system_a,
        system_b, difference, low, high, p, decided, words, effective, p_words, spill_over,
        segments, resamples, carried, reliable``; a difference has to hold in the segments where the
        words of the feature differ, else it is carried over from other words. "omissions" compares
        how many segments have too few of a feature: ``slice, feature, system_a, system_b,
        difference, low, high, p, decided, words``. The table "negative" lists segments that score
        above their oracle; "segments", if asked for, holds ``system, metric, feature, segment,
        base, oracle, anti_oracle, candidate_count, reference_count``; "scorers" ``scorer, system,
        slice, n, signed, low, high, p, decided, absolute, absolute_low, absolute_high, coverage,
        mean_reference``: the mean over segments of score(reference) - score(candidate) and the mean
        absolute difference, of segments with a score on both sides. Without a metric rows hold
        ``system, feature, slice, segments, add, miss, hit, surplus, p_counts, decided, absent``.

    Raises:
        UsageError: a feature, scorer or option is malformed, or no tagger is named or found.
        UnknownNameError: a metric, feature, scorer, tagger or slice does not exist.
        FormatError: the lexicon of a scorer is malformed; file and line are named.
        MaskingError: the metric cannot tell two masks apart.
        DataError: the test set has no references or no systems.
    """
    draws = Bootstrap(resamples, confidence, seed)
    chosen = scorers_of(scorers, allow_code=run.allow_code) if scorers else {}
    words, parts = WordChoice.create(sources, features), slices(testset, by)
    grouping = Grouping.create(testset, unit)
    finding = None
    if not are_scorers_alone(metrics, words, scorers, testset.target_language):
        if has_no_metric(metrics):
            variants = VARIANTS[:1]
        setup = prepared(testset, metrics, words, masks.seeded(seed), run)
        drawn = uncertainty(draws, grouping, setup.words, parts, variants)
        with using_workers(workers):
            scored_features = Scored(parts, drawn, grouping, examples, per_segment)
            for name, metric in setup.metrics.items():
                scored_features.add(setup, name, metric)
        finding = score_finding(setup, parts, scored_features, list(variants), confidence)
        if not chosen:
            return finding
    scorer_part = sentence_part(
        testset, chosen, parts, confidence, grouping, sources.tagger, examples, run
    )
    if finding is not None:
        return scorer_part.added_to(finding)
    without = message("note.muler.scorers_alone")
    return scorer_part.alone(testset, () if has_no_metric(metrics) else (without,))
