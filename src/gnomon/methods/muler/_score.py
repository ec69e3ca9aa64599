"""From a test set and a metric to what every feature costs the systems."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

from gnomon.core.errors import GnomonError, UsageError
from gnomon.core.findings import Bars, Finding, HeatMap, Listing
from gnomon.core.options import (
    CONFIDENCE,
    RESAMPLES,
    SEED,
    By,
    Confidence,
    Count,
    Metavar,
    Resamples,
    Seed,
    Specs,
    Unit,
    Workers,
    with_fields,
)
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.slices import check_slices, slices
from gnomon.core.testset import TestSet
from gnomon.core.threads import using_workers
from gnomon.core.validation import Problem, problems
from gnomon.core.verdicts import LEAST
from gnomon.linguistics import Features, FeatureSources, standard_tagger, tagger_faults
from gnomon.methods.muler._differences import (
    DifferenceRow,
    differences_table,
    listings,
    pictures,
)
from gnomon.methods.muler._discrepancy import (
    COUNTED,
    DISCREPANCY_CLAIMS,
    Unscored,
    discrepancy_verdict,
    discrepancy_views,
    stacked_counts,
)
from gnomon.methods.muler._exhibits import (
    FeatureExamples,
    MulerSegmentRow,
    NegativeRow,
    segment_rows,
    segment_table,
)
from gnomon.methods.muler._figures import (
    VARIANTS,
    MulerRow,
    Variants,
    figures,
    rows_of,
)
from gnomon.methods.muler._marks import FEATURES_VIEW, feature_marks
from gnomon.methods.muler._sentences import (
    SENTENCES_CLAIMS,
    ScorerRow,
    Scorers,
    scorer_faults,
    scorers_of,
    sentence_part,
    sentences_verdict,
)
from gnomon.methods.muler._setup import (
    MaskOptions,
    Run,
    WordChoice,
    check_masked,
    drawn_slices,
    prepared,
    side_faults,
    word_faults,
)
from gnomon.methods.muler._uncertainty import Bootstrap, resample_faults, uncertainty, unit_faults
from gnomon.methods.muler._verdict import SCORE_CLAIMS, score_verdict
from gnomon.metrics.protocol import each_metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Cell, Exhibit, Statement, Table, View
    from gnomon.core.options import BoundOptions
    from gnomon.core.signature import Signature
    from gnomon.core.slices import Slice
    from gnomon.core.summary import Outline
    from gnomon.methods.muler._figures import FeatureScores, Presence, Variant
    from gnomon.methods.muler._setup import Setup
    from gnomon.methods.muler._uncertainty import Ends, Uncertainty
    from gnomon.metrics.protocol import AnyMetric, BoundMetric


# Its tables and views


_LISTED_SYSTEMS = 2  # listed in text; more are shown in heat maps alone
_LISTED = (
    "feature",
    "segments",
    "muler",
    "muler_low",
    "muler_high",
    "uninformative",
    "base",
    "oracle",
    "anti_oracle",
    "gain",
)


def main_table(rows: Sequence[MulerRow], confidence: float | None = None) -> Table:
    """The main table."""
    if rows and rows[0].metric == Unscored.name:
        unscored = [name for name in MulerRow.__annotations__ if name not in COUNTED]
        note = "Shares of all segments. miss: less in the candidate; add: more; hit: equally much."
        title = "Discrepancy by feature and system"
        return table(
            "muler", title, MulerRow, rows, note=note, confidence=confidence, without=unscored
        )
    note = "Lower MuLER is better: 0 = nothing of the possible gain is lost, 1 = all of it."
    title = "MuLER by feature and system"
    return table("muler", title, MulerRow, rows, note=note, confidence=confidence)


def negative_table(rows: Sequence[NegativeRow], left_out: int = 0) -> Table:
    """The segments whose base exceeds their oracle, largest excess first within a feature."""
    note = "Masking the feature alike on both sides lowers the score here."
    if left_out:
        note += (
            f" Of each feature and system the largest are listed, and {left_out} are not; column"
            " 'base > max' of the main table counts all."
        )
    title = "Segments scored above their oracle"
    return table("negative", title, NegativeRow, rows, note=note)


def views(
    metrics: Sequence[str],
    variants: Sequence[Variant],
    parts: Sequence[str | None],
    shown: Sequence[str],
    table: Table,
) -> tuple[View, ...]:
    """Heat maps per metric, variant and slice; then bars of one or two systems, groups, shares.

    Systems are shown in the order given. Of one or two, text also lists each with its companions.
    """
    all_views: list[View] = [
        _heat_map(metric, variant, slice_name, prominent=variant == variants[0])
        for metric in metrics
        for slice_name in parts
        for variant in variants
    ]
    if len(shown) <= _LISTED_SYSTEMS:
        columns = {column.name for column in table.columns}
        if "muler_low" not in columns:
            columns.discard("uninformative")
        listed = tuple(name for name in _LISTED if name in columns)
        all_views += [
            _listing(metric, variants[0], system, listed) for metric in metrics for system in shown
        ]
    for metric in metrics:
        all_views.extend(_bars(metric, variants[0], tuple(shown)))
    return tuple(all_views)


def _listing(metric: str, variant: Variant, system: str, columns: tuple[str, ...]) -> Listing:
    kind = "" if variant == "ratio" else f" ({variant})"
    where: dict[str, Cell] = {
        "metric": metric,
        "variant": variant,
        "slice": None,
        "system": system,
    }
    return Listing("muler", f"{system} under {metric}{kind}", columns, where)


def _heat_map(metric: str, variant: Variant, slice_name: str | None, *, prominent: bool) -> HeatMap:
    slice_label = "" if slice_name is None else f", {slice_name}"
    kind = "" if variant == "ratio" else " (segment-clipped)"
    return HeatMap(
        table="muler",
        title=f"MuLER under {metric}{kind}{slice_label}",
        rows="feature",
        columns="system",
        value="muler",
        beside="segments",
        where={"metric": metric, "variant": variant, "slice": slice_name},
        low=0.0,
        high=1.0,
        marks="outside",
        few=("segments", LEAST),
        exhibits=True,
        prominent=prominent,
    )


def _bars(metric: str, variant: Variant, shown: tuple[str, ...]) -> tuple[View, ...]:
    where: dict[str, Cell] = {"metric": metric, "variant": variant, "slice": None}
    return (
        Bars(
            table="muler",
            title=f"One or two systems under {metric}: what each feature costs",
            category="feature",
            series="system",
            values=("muler", "base", "spread"),
            where=where,
            shown=shown[:2],
            most=2,
            beside="segments",
        ),
        stacked_counts(where),
    )


# Rows, exhibits and signatures of all features, metric by metric.


@dataclass
class Scored:
    """What all metrics gave so far."""

    parts: Sequence[Slice]
    uncertainty: Uncertainty | None
    examples: int
    per_segment: bool = False
    rows: dict[str, list[MulerRow]] = field(default_factory=dict)
    segments: list[MulerSegmentRow] = field(default_factory=list)
    negatives: list[NegativeRow] = field(default_factory=list)
    negatives_left_out: int = 0
    exhibits: list[Exhibit] = field(default_factory=list)
    signatures: dict[str, Signature] = field(default_factory=dict)
    system: dict[str, list[float]] = field(default_factory=dict)

    def add(self, setup: Setup, name: str, metric: BoundMetric) -> None:
        """Score all features under one metric."""
        plan = setup.plan(metric)
        showcase = FeatureExamples(setup.testset, setup.batch, plan.spans, name, self.examples)
        scored_features = setup.scored(metric, plan, f"scoring {name}")
        system = metric.system(setup.batch).tolist()
        for number, (scores, present) in enumerate(scored_features):
            if self.per_segment:
                self.segments += segment_rows(scores, setup.batch, plan.spans, number, name)
            for slice_ in self.parts:
                self._add_rows(setup, name, slice_, scores, present)
            self._show(showcase, scores, present)
        drawn = {} if self.uncertainty is None else self.uncertainty.fields()
        self.signatures[name] = setup.signature(metric, "muler", plan, drawn)
        self.system[name] = system

    def _add_rows(
        self,
        setup: Setup,
        metric: str,
        slice_: Slice,
        scores: FeatureScores,
        present: Presence,
    ) -> None:
        all_figures = figures(scores, present, slice_.members)
        ends: Sequence[Mapping[str, Ends] | None] = [None] * len(all_figures)
        if self.uncertainty is not None:
            ends = self.uncertainty.ends(metric, slice_, scores, present, all_figures)
        for k, name in enumerate(setup.batch.systems):
            rows = rows_of(
                all_figures[k],
                system=name,
                metric=metric,
                feature=scores.feature,
                slice_name=slice_.name,
                masks=setup.metrics[metric].masks_used,
                ends=ends[k],
            )
            for variant, row in rows.items():
                self.rows.setdefault(variant, []).append(row)

    def _show(self, showcase: FeatureExamples, scores: FeatureScores, present: Presence) -> None:
        negatives, left_out = showcase.negatives(scores, present)
        self.negatives += negatives
        self.negatives_left_out += left_out
        if self.examples:
            self.exhibits += showcase.costliest(scores, present)


# The method


#: one or several, as every method takes them; or "none"
Metrics: TypeAlias = Annotated[
    "AnyMetric | Sequence[AnyMetric]", Metavar("METRIC"), Specs(words=(Unscored.name,))
]

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


def check_score(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`score` refuses of options that fit each alone."""
    yield from resample_faults(options.resamples, options.confidence)
    yield from unit_faults(outline, options.unit)
    if options.scorers:
        yield from scorer_faults(options.scorers, allow_code=options.allow_code)
    language = None if outline is None else outline.target_language
    words = options.of(WordChoice)
    if _are_scorers_alone(options.metrics, words, options.scorers, language):
        yield from side_faults(outline, "sentence scorers compare with references")
        tagger = words.tagger if isinstance(words.tagger, str) else None
        yield from tagger_faults("tagger", tagger)
    elif Unscored.name in each_metric(options.metrics):
        if not _without_metric(options.metrics):
            message = "'none' is no metric among others: give it alone, or leave it out"
            yield Problem("metrics", UsageError(message))
        yield from side_faults(outline, "discrepancies are between candidates and references")
        yield from word_faults(words, language, known=outline is not None)
    else:
        yield from check_masked(outline, options)
    if outline is not None:
        yield from problems("by", check_slices, outline, options.by)


def _without_metric(metrics: Metrics) -> bool:
    return each_metric(metrics) == [Unscored.name]


def _are_scorers_alone(
    metrics: Metrics, words: WordChoice, scorers: Scorers, language: str | None
) -> bool:
    """Whether nothing but sentence scorers is asked for, or can be had: no feature is named."""
    if not scorers or replace(words, tagger=None) != WordChoice():
        return False
    if _without_metric(metrics):
        return True
    if words.tagger is not None:
        return False
    try:
        standard_tagger(language or "")
    except GnomonError:
        return True
    return False


def _verdict(finding: Finding) -> Iterator[Statement]:
    """What MuLER says; what there is too much and too little of; what scorers say."""
    rows = finding.records(MulerRow)
    if rows and rows[0].metric != Unscored.name:
        yield from score_verdict(finding)
    if rows:
        yield from discrepancy_verdict(finding)
    if any(table.name == "scorers" for table in finding.tables):
        yield from sentences_verdict(finding)


@method(
    "muler",
    answers="which word classes, names and forms cost each system its score",
    title="MuLER",
    examples=_EXAMPLES,
    tables={"": "muler"},
    rows={
        "muler": MulerRow,
        "differences": DifferenceRow,
        "negative": NegativeRow,
        "segments": MulerSegmentRow,
        "scorers": ScorerRow,
    },
    by_system=True,
    tagged=True,
    usual={"examples": 0},
    for_pages={"examples": ""},
    views=(FEATURES_VIEW,),
    marks=feature_marks,
    verdict=_verdict,
    claims=(*SCORE_CLAIMS, *DISCREPANCY_CLAIMS, *SENTENCES_CLAIMS),
    check=check_score,
)
@with_fields(sources=FeatureSources, masks=MaskOptions, run=Run)
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
    """What each kind of word costs the systems under a metric (MuLER, Karidi et al.).

    Args:
        testset: references and the outputs of one or more systems.
        metrics: specs, metrics or functions of texts; one or several. "none": features are
            counted on both sides, and nothing is scored.
        features: names such as ``pos:NOUN``, ``ent:PERSON``, ``morph:Gender=Fem``,
            ``dep:nsubj``, ``dep:long>=5``, ``lex:NAME``, ``re:NAME``; wildcards ``pos:*``. By
            default ``pos:*``, ``ent:*``, and the word lists, patterns and labels that are given;
            these alone where neither a tagger is named nor the language is known.
        scorers: sentence scorers: names (``sentiment``, ``concreteness``, ``valence=FILE``),
            scorers or functions of a sentence; see :func:`gnomon.annotate.scorers.scorer`. What
            they find is the table "scorers"; the only one where no feature is named and there is
            neither a metric nor a tagger.
        examples: segments shown per feature and system; 0 for none.
        per_segment: add a table "segments": base, oracle, anti-oracle and counts on both sides of
            every segment that has the feature.
        confidence: of the intervals; differences are significant at 1 - confidence.
        unit: what is independent: "segment", "document" (left out one at a time, in place of
            resamples), or "auto": segments.

    Returns:
        A finding whose rows hold ``system, metric, feature, variant, slice, masks, segments, muler,
        uninformative, base, base_all, oracle, anti_oracle, spread, gain, add, miss, hit,
        negative, outside, absent``; scores in the metric's own units, undefined figures ``None``.
        With resamples every figure from ``muler`` to ``hit`` has the ends of its interval beside it
        (``muler_low, muler_high``, ...), and a table "differences" compares every pair of systems:
        ``metric, variant, slice, feature, system_a, system_b, difference, low, high, p, words,
        p_words, p_bh, segments, resamples, carried, significant, reliable``; a difference has to
        hold in the segments where the words of the feature differ, else it is carried over from
        other words. The table "negative" lists segments that score above their oracle; "segments",
        if asked for, holds ``system, metric, feature, segment, base, oracle, anti_oracle,
        candidate_count, reference_count``; "scorers" ``scorer, system, slice, n, signed, low, high,
        absolute, absolute_low, absolute_high, coverage, mean_reference``: the mean over segments of
        score(reference) - score(candidate) and the mean absolute difference, of segments with a
        score on both sides. Without a metric rows hold ``system, feature, slice, segments, add,
        miss, hit, absent``.

    Raises:
        UsageError: a feature, scorer or option is malformed, or no tagger is named or found.
        UnknownNameError: a metric, feature, scorer, tagger or slice does not exist.
        FormatError: the lexicon of a scorer is malformed; file and line are named.
        MaskingError: the metric cannot tell two masks apart.
        DataError: the test set has no references or no systems.
    """
    draws = Bootstrap(resamples, confidence, seed)
    chosen = scorers_of(scorers, allow_code=run.allow_code) if scorers else {}
    words, parts = WordChoice.of(sources, features), slices(testset, by)
    finding = None
    if not _are_scorers_alone(metrics, words, scorers, testset.target_language):
        if _without_metric(metrics):
            variants = VARIANTS[:1]
        setup = prepared(testset, metrics, words, masks.seeded(seed), run)
        drawn = uncertainty(draws, unit, setup.words, testset, parts, variants)
        with using_workers(workers):
            scored_features = Scored(parts, drawn, examples, per_segment)
            for name, metric in setup.metrics.items():
                scored_features.add(setup, name, metric)
        finding = _finding(setup, parts, scored_features, list(variants))
        if not chosen:
            return finding
    scorer_part = sentence_part(
        testset,
        testset.batch(),
        chosen,
        parts,
        draws,
        sources.tagger,
        examples,
        run.cache,
        run.progress,
    )  # the same draws as for features
    if finding is not None:
        return scorer_part.added_to(finding)
    without = "no feature is named, and no tagger is there to give any: sentence scorers alone"
    return scorer_part.alone(testset, () if _without_metric(metrics) else (without,))


def _finding(
    setup: Setup, parts: Sequence[Slice], scored_features: Scored, variants: list[Variant]
) -> Finding:
    rows = [row for variant in variants for row in scored_features.rows.get(variant, [])]
    uncertainty, metrics = scored_features.uncertainty, list(setup.metrics)
    places = [slice_.name for slice_ in drawn_slices(parts)]
    table = main_table(rows, None if uncertainty is None else uncertainty.options.confidence)
    tables = [table]
    seen = discrepancy_views(setup.testset.outline.systems, places)
    drawn: tuple[View, ...] = ()
    if Unscored.name not in setup.metrics:
        scores = next(iter(scored_features.system.values()))
        ranked = sorted(zip(scores, setup.testset.systems, strict=True), key=lambda pair: -pair[0])
        seen = views(metrics, variants, places, [name for _, name in ranked], table)
        if uncertainty is not None:
            differences = uncertainty.differences.rows()
            tables.append(differences_table(differences, uncertainty.options))
            too_wide = [row for row in rows if row.uninformative and row.slice is None]
            wide = {(row.metric, row.feature) for row in too_wide}
            drawn = pictures(metrics, variants[0], differences, wide)
            seen += listings(metrics, variants[0], differences, uncertainty.options)
        tables.append(negative_table(scored_features.negatives, scored_features.negatives_left_out))
    if scored_features.per_segment:
        tables.append(segment_table(scored_features.segments))
    said = () if uncertainty is None else uncertainty.notices()
    return Finding(
        method="muler",
        title="MuLER: what each kind of word costs the systems",
        tables=tuple(tables),
        signatures=scored_features.signatures,
        views=(*drawn, *seen),
        exhibits=tuple(scored_features.exhibits),
        notices=(*setup.notices, *_of_slices(parts), *said),
        facts=setup.facts(),
    )


def _of_slices(parts: Sequence[Slice]) -> tuple[str, ...]:
    drawn = drawn_slices(parts)
    if len(drawn) == len(parts):
        return ()
    notice = (
        f"{len(parts) - 1} slices: heat maps are drawn for the first {len(drawn) - 1}, the rows"
        " hold all of them; systems are compared over all segments alone"
    )
    return (notice,)
