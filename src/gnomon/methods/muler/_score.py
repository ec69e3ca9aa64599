"""From a test set and a metric to what every feature costs the systems."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np

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
from gnomon.core.verdicts import LEAST, amount
from gnomon.linguistics import Features, FeatureSources, gloss, standard_tagger, tagger_faults
from gnomon.methods.muler._differences import (
    DifferenceRow,
    differences_table,
    listings,
    pictures,
    significance_notices,
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
    INTERVAL_SEGMENTS,
    VARIANTS,
    WIDE,
    MulerRow,
    Variants,
    defined,
    figures,
    is_outside,
    rows_of,
)
from gnomon.methods.muler._marks import FEATURES_VIEW, feature_marks
from gnomon.methods.muler._mask_kinds import masks_note
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
    from gnomon.methods.muler._figures import FeatureScores, Figures, Presence, Variant
    from gnomon.methods.muler._setup import Setup
    from gnomon.methods.muler._uncertainty import Ends, Uncertainty
    from gnomon.metrics.protocol import AnyMetric, BoundMetric


# Its tables and views


#: columns of what tests say of a system beside several others
_STANDING = ("ahead", "behind")
_NAMED = 6  # features with such intervals that a notice names
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


def main_table(
    rows: Sequence[MulerRow],
    confidence: float | None = None,
    compared: Sequence[DifferenceRow] = (),
) -> Table:
    """The main table."""
    note = "Lower MuLER is better: 0 = nothing of the possible gain is lost, 1 = all of it."
    note += masks_note(rows)
    several = len({(row.system_a, row.system_b) for row in compared}) > 1
    if rows and rows[0].metric == Unscored.name:
        unscored = [name for name in MulerRow.__annotations__ if name not in COUNTED]
        note = "Shares of all segments. miss: less in the candidate; add: more; hit: equally much."
        title = "Discrepancy by feature and system"
        return table(
            "muler", title, MulerRow, rows, note=note, confidence=confidence, without=unscored
        )
    return table(
        "muler",
        "MuLER by feature and system",
        MulerRow,
        _with_standing(rows, compared) if several else rows,
        note=note,
        confidence=confidence,
        without=() if several else _STANDING,
    )


def _with_standing(
    rows: Sequence[MulerRow], compared: Sequence[DifferenceRow]
) -> Iterator[MulerRow]:
    """The rows with how many other systems each is better and worse than."""
    ahead: Counter[tuple[str | None, ...]] = Counter()
    behind: Counter[tuple[str | None, ...]] = Counter()
    for row in compared:
        if row.is_finding:
            ahead[*row.family, row.feature, row.better] += 1
            behind[*row.family, row.feature, row.worse] += 1
    families = {row.family for row in compared}
    for figure in rows:
        key = (*figure.family, figure.feature, figure.system)
        tested = figure.family in families
        yield replace(figure, ahead=ahead[key], behind=behind[key]) if tested else figure


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
    rows = [row for row in table.records if isinstance(row, MulerRow)]
    compared = any(column.name in _STANDING for column in table.columns)
    all_views: list[View] = [
        _heat_map(
            metric, variant, slice_name, rows, prominent=variant == variants[0], compared=compared
        )
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


def _heat_map(
    metric: str,
    variant: Variant,
    slice_name: str | None,
    rows: Sequence[MulerRow],
    *,
    prominent: bool,
    compared: bool,
) -> HeatMap:
    where: dict[str, Cell] = {"metric": metric, "variant": variant, "slice": slice_name}
    shown = [row for row in rows if row.family == (metric, variant, slice_name)]
    slice_label = "" if slice_name is None else f", {slice_name}"
    kind = "" if variant == "ratio" else " (segment-clipped)"
    return HeatMap(
        table="muler",
        title=f"MuLER under {metric}{kind}{slice_label}{(_leader if compared else _worst)(shown)}",
        rows="feature",
        columns="system",
        value="muler",
        beside="segments",
        where=where,
        low=0.0,
        high=1.0,
        marks="outside",
        few=("segments", LEAST),
        signs=_STANDING if compared else None,
        exhibits=True,
        prominent=prominent,
    )


def _leader(rows: Sequence[MulerRow]) -> str:
    """Which of several systems is better than another one most often, for a title."""
    wins: Counter[str] = Counter()
    for row in rows:
        if row.ahead is not None:
            wins[row.system] += row.ahead
    if not wins:
        return ""
    total = wins.total()
    if not total:
        return ": no difference between two systems is significant"
    first, *others = wins.most_common()
    if others and others[0][1] == first[1]:
        return f": {first[0]} and {others[0][0]} are better most often"
    return f": {first[0]} is better most often, in {first[1]:,} of {total:,} differences"


def _worst(rows: Sequence[MulerRow]) -> str:
    """What a single system leaves most of, among the figures that may be read, for a title."""
    sound = [(row.muler, row) for row in rows if row.muler is not None and row.readable]
    if not sound or len({row.system for row in rows}) > 1:
        return ""
    muler, worst = max(sound, key=lambda item: item[0])
    return f": {worst.system} loses most on {gloss(worst.feature)}, {amount(muler, share=True)}"


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
        Bars(
            table="muler",
            title=f"Systems side by side under {metric}",
            category="feature",
            series="system",
            values=("muler",),
            where=where,
            shown=shown,
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
                self._add_rows(setup, name, slice_, number, scores, present, system)
            self._show(showcase, scores, present)
        drawn = {} if self.uncertainty is None else self.uncertainty.fields()
        self.signatures[name] = setup.signature(metric, "muler", plan, drawn)
        self.system[name] = system

    def _add_rows(
        self,
        setup: Setup,
        metric: str,
        slice_: Slice,
        feature: int,
        scores: FeatureScores,
        present: Presence,
        system: Sequence[float],
    ) -> None:
        all_figures = figures(scores, present, slice_.members)
        ends: Sequence[Mapping[str, Ends] | None] = [None] * len(system)
        if self.uncertainty is not None:
            ends = self.uncertainty.ends(metric, slice_, scores, present, all_figures)
        texts = setup.batch.candidates
        empty = np.array([not text.strip() for text in setup.batch.texts])[texts] & slice_.members
        unscored = np.isnan(scores.base) & slice_.members
        for k, name in enumerate(setup.batch.systems):
            rows = rows_of(
                all_figures[k],
                system=name,
                metric=metric,
                feature=scores.feature,
                slice_name=slice_.name,
                masks=setup.metrics[metric].masks_used,
                ends=ends[k],
                by_tagger=_is_by_tagger(setup, feature, k, scores, present, slice_, all_figures[k]),
                empty=int(empty[k].sum()),
                unscored=int(unscored[k].sum()),
                score=defined(system[k]) if slice_.name is None else None,
            )
            for variant, row in rows.items():
                self.rows.setdefault(variant, []).append(row)

    def _show(self, showcase: FeatureExamples, scores: FeatureScores, present: Presence) -> None:
        negatives, left_out = showcase.negatives(scores, present)
        self.negatives += negatives
        self.negatives_left_out += left_out
        if self.examples:
            self.exhibits += showcase.costliest(scores, present)


def _is_by_tagger(
    setup: Setup,
    feature: int,
    system: int,
    scores: FeatureScores,
    present: Presence,
    slice_: Slice,
    system_figures: Figures,
) -> bool:
    """MuLER is outside [0, 1], and inside it where taggers agree, or they hardly do."""
    if not is_outside(system_figures.muler):
        return False
    apart = setup.words.disagree(feature, system)
    alike = figures(scores, present, slice_.members & ~apart)[system]
    if alike.segments < INTERVAL_SEGMENTS:
        return system_figures.segments - alike.segments >= INTERVAL_SEGMENTS
    return alike.muler is not None and not is_outside(alike.muler)


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
        negative, outside, by_tagger, absent, empty, unscored, score``;
        scores in the metric's own units, undefined figures ``None``. With resamples every figure
        from ``muler`` to ``hit`` has the ends of its interval beside it (``muler_low,
        muler_high``, ...), and a table "differences" compares every pair of systems: ``metric,
        variant, slice, feature, system_a, system_b, difference, low, high, p, words, p_words,
        p_bh, segments, resamples, carried, significant, reliable``; a difference has
        to hold in the segments where the words of the feature differ, else it is carried over from
        other words. The table "negative" lists segments that score above their oracle; "segments",
        if asked for, holds ``system, metric, feature, segment, base, oracle, anti_oracle,
        candidate_count, reference_count``; "scorers" ``scorer, source, system, slice, n, signed,
        low, high, absolute, absolute_low, absolute_high, coverage, words_known, mean_reference``:
        the mean over segments of score(reference) - score(candidate) and the mean
        absolute difference, of segments with a score on both sides. Without a metric rows hold
        ``system, feature, slice, segments, add, miss, hit, absent, empty``.

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
    options = None if scored_features.uncertainty is None else scored_features.uncertainty.options
    differences, compared, said = _differences(scored_features, variants[0])
    places = [slice_.name for slice_ in drawn_slices(parts)]
    scored, negatives = Unscored.name not in setup.metrics, scored_features.negatives
    table = main_table(rows, None if options is None else options.confidence, differences)
    scores = next(iter(scored_features.system.values()))
    ranked = sorted(zip(scores, setup.testset.systems, strict=True), key=lambda pair: -pair[0])
    seen = discrepancy_views(setup.testset.outline.systems, places)
    if scored:
        seen = views(list(setup.metrics), variants, places, [name for _, name in ranked], table)
    return Finding(
        method="muler",
        title="MuLER: what each kind of word costs the systems",
        tables=(
            table,
            *([differences_table(differences, options)] if scored and options else []),
            *([negative_table(negatives, scored_features.negatives_left_out)] if scored else []),
            *([segment_table(scored_features.segments)] if scored_features.per_segment else []),
        ),
        signatures=scored_features.signatures,
        views=(
            *(view for view in compared if isinstance(view, Bars)),
            *seen,
            *(view for view in compared if not isinstance(view, Bars)),
        ),
        exhibits=tuple(scored_features.exhibits),
        notices=(*setup.notices, *_of_slices(parts), *_wide_notice(rows), *said),
        facts=setup.facts(),
    )


def _differences(
    scored_features: Scored, variant: Variant
) -> tuple[Sequence[DifferenceRow], tuple[View, ...], tuple[str, ...]]:
    """The differences between systems, their views, and notices on them."""
    if scored_features.uncertainty is None:
        return (), (), ()
    if Unscored.name in scored_features.signatures:
        return (), (), tuple(scored_features.uncertainty.notices())
    options, pairs = scored_features.uncertainty.options, scored_features.uncertainty.differences
    metrics, differences = list(scored_features.signatures), pairs.rows()
    notices = (
        *scored_features.uncertainty.notices(),
        *significance_notices(differences, scored_features.uncertainty.sparse),
    )
    rows = scored_features.rows.get(variant, [])
    wide = {(row.metric, row.feature) for row in _too_wide(rows)}
    drawn = pictures(metrics, variant, differences, wide)
    listed = listings(metrics, variant, differences, options)
    return differences, (*drawn, *listed), notices


def _too_wide(rows: Sequence[MulerRow]) -> list[MulerRow]:
    """The rows over all segments whose intervals are too wide to be useful."""
    return [row for row in rows if row.uninformative and row.slice is None]


def _wide_notice(rows: Sequence[MulerRow]) -> Iterator[str]:
    """Intervals of single systems that are too wide; differences of systems may be clear still."""
    wide = _too_wide(rows)
    if wide:
        names = list(dict.fromkeys(row.feature for row in wide))
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        first = wide[0]
        yield (
            f"{len(wide)} intervals of MuLER are wider than {WIDE:g}, too wide to be useful"
            f" (column 'wide'): {', '.join(names[:_NAMED])}{more}, the first over"
            f" {first.segments} segments"
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
