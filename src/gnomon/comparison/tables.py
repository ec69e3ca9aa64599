"""Rows, tables and views of a comparison of systems, and the segments to read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from gnomon.comparison import distributions
from gnomon.comparison.meanings import MEANING, DifferenceMeaningRow
from gnomon.comparison.ngrams import BASELINE, NgramRow
from gnomon.comparison.paired import Decider
from gnomon.core.findings import Bars, Exhibit, ExhibitText, HeatMap, Highlight, Listing, ScoreTable
from gnomon.core.records import (
    METRIC,
    SEGMENT,
    SLICE,
    SYSTEM,
    EndColumns,
    Record,
    column,
    column_of,
    table,
)
from gnomon.core.verdicts import LEAST, metric_title
from gnomon.messages.grammar import counted, p_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.comparison.paired import (
        ComparedSystem,
        PairedScores,
        PairedTest,
        PairedTestPlan,
    )
    from gnomon.core.batch import Batch
    from gnomon.core.findings import Finding, Table, View
    from gnomon.core.testset import TestSet
    from gnomon.metrics.tokenise import TokenTable

SYSTEMS, SLICES, SEGMENTS, NGRAMS = "systems", "slices", "segments", "ngrams"
Outcome: TypeAlias = Literal["better", "worse", "undecided"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_LISTED = 12
_SAME = 1e-9  # gains below this are rounding
_DIFFERENCE = ("difference", "low", "high")
_INFLUENTIAL = "Segments with the largest influence"
#: segments whose outputs are shorter are shown behind all others
_FEWEST_WORDS = 5
_TESTS: Mapping[PairedTest, str] = {
    "bootstrap": "paired bootstrap",
    "sacrebleu": "sacreBLEU's paired bootstrap",
    "ar": "approximate randomisation",
}


# Rows

_COMMON = column("n", help="segments that both have a score for")


class ComparisonRow(Record):
    """A system beside the baseline, under one metric, on all segments or on a slice."""

    system: str = SYSTEM
    baseline: str = BASELINE
    metric: str = METRIC
    score: float | None = column(
        "Score",
        help="on the segments of the slice",
        interval=EndColumns("score_low", "score_high", after="gain"),
    )
    difference: float | None = column(
        "Difference",
        help="difference to the baseline, in points of the metric, on the segments that both have",
        interval=EndColumns(),
    )
    p: float | None = column(
        "p", digits=4, help="adjusted for the family of comparisons that the note names"
    )
    verdict: str | None = column(
        "Verdict",
        help="better or worse where p is at most 1 less the confidence, which is where the interval"
        " leaves 0 out; else undecided",
    )
    slice: str | None = SLICE
    segments: int = _COMMON
    wins: int | None = column("Wins", help="segments where the system scores better")
    ties: int | None = column("Ties", help="segments where both score the same")
    losses: int | None = column("Losses", help="segments where it scores worse")
    decided: bool | None = column(
        "decided", help="better or worse; an end of the interval that is 0 is open then"
    )
    gain: float | None = column(
        "Gain", better="higher", help="the difference, positive where the system is better"
    )
    p_least: float = column("Smallest p", digits=4, help="that the draws can show; 0 without draws")
    beaten_by: str | None = column(
        "Beaten by", help="of those that share the first place, where the baseline does not beat it"
    )
    caveat: str | None = column(
        "Caveat",
        help="why nothing is decided, and there is no interval: lines (those of a file are"
        " wrong), letters (the metric does not read those of the texts), documents (too few of"
        " them), different (too few segments differ), skewed (too few segments for such"
        " differences), by document (p over few documents is too large)",
    )
    p_documents: float | None = column(
        "p by document",
        digits=4,
        help="Holm's, of the same with documents as what is independent, where segments are and"
        " the documents are fewer than 15",
    )
    unit: str = column("Unit", help="what counts as independent: segment or document")
    documents: int | None = column("Documents", help="that both have; empty where none are known")
    design_effect: float | None = column(
        "Design effect",
        help="of the differences: their variance by document over that by segment",
    )
    missing: int = column("Missing", help="segments without a score of the system")
    empty: int = column("Empty", help="empty outputs of the system")
    people: bool = column("People", help="people gave the scores")

    @property
    def gain_ends(self) -> tuple[float | None, float | None]:
        """The ends of the interval of the gain."""
        low, high = self.ends("difference")
        if self.gain is not None and self.gain != self.difference:
            low, high = (None if end is None else -end for end in (high, low))
        return low, high

    @property
    def outcome(self) -> Outcome | None:
        """Outcome of the test; None of the baseline, and where nothing was tested."""
        return next((one for one in OUTCOMES if one == self.verdict), None)

    @property
    def equal(self) -> bool:
        """True if the scores are equal, be it over unlike segments."""
        return self.gain is not None and abs(self.gain) < _SAME

    @property
    def same(self) -> bool:
        """True if both score the same on every segment."""
        return self.gain == 0 and self.ties == self.segments

    @property
    def different(self) -> int:
        """The segments where the scores differ."""
        return self.segments - (self.ties or 0)

    @property
    def few(self) -> bool:
        """True if it rests on too few segments to be read as a finding."""
        return self.gain is not None and self.segments < LEAST


def is_baseline_best(finding: Finding) -> bool:
    """True if the baseline is the system with the best score under each metric."""
    return any(one.get("baseline_by") == "score" for one in finding.signatures.values())


def tested_by(row: ComparisonRow) -> str:
    """Result of a row's test in words; a bound where draws can show no smaller p."""
    p = row.p or 0.0
    return p_value(p, p if p <= row.p_least * (1 + _SAME) else 0.0)


class ComparisonSliceRow(Record):
    """A system on a slice once more, ready to be looked at side by side."""

    metric: str = METRIC
    slice: str | None = SLICE
    system: str = SYSTEM
    segments: int = _COMMON
    gain: float | None = column_of(
        ComparisonRow,
        "gain",
        help="difference from the baseline, positive where the system is better",
    )
    p: float | None = column_of(ComparisonRow, "p", help="adjusted for systems and slices")
    undecided: bool = column("undecided", help="neither better nor worse")


class DecidingSegmentRow(Record):
    """A segment that moves the difference of a system and the baseline much."""

    system: str = SYSTEM
    baseline: str = BASELINE
    metric: str = METRIC
    side: str = column("Better", help="whose output scores better")
    rank: int = column("Rank", help="1: the largest influence on this side")
    segment: int = SEGMENT
    difference: float = column("Difference", help="of the segment scores, system - baseline")
    score: float = column("Score", help="of the system's output")
    baseline_score: float = column("Baseline score", help="of the baseline's output")
    influence: float = column(
        "Influence", digits=4, help="what the segment adds to the difference of the systems' scores"
    )
    document: str | None = column("Document", help="the segment's document")
    domain: str | None = column("Domain", help="the segment's domain")


#: by the names of the tables
ROWS: Mapping[str, type[Record]] = {
    SYSTEMS: ComparisonRow,
    MEANING: DifferenceMeaningRow,
    SLICES: ComparisonSliceRow,
    **distributions.ROWS,
    SEGMENTS: DecidingSegmentRow,
    NGRAMS: NgramRow,
}


def system_rows(
    scores: PairedScores,
    parts: Sequence[tuple[str | None, Sequence[ComparedSystem]]],
    plan: PairedTestPlan,
    empty: Sequence[Sequence[int]],
) -> list[ComparisonRow]:
    """The rows of one metric; ``empty`` counts the empty outputs of each system, by slice."""
    return [
        _system_row(scores, k, name, system, counts[k], plan)
        for (name, compared), counts in zip(parts, empty, strict=True)
        for k, system in enumerate(compared)
    ]


def _system_row(
    scores: PairedScores,
    k: int,
    name: str | None,
    system: ComparedSystem,
    empty: int,
    plan: PairedTestPlan,
) -> ComparisonRow:
    gain = scores.sign * system.difference + 0.0  # no -0.0
    counts = (None, None, None) if k == 0 else (system.wins, system.ties, system.losses)
    dependence, p_documents = system.dependence, system.p_documents
    return ComparisonRow(
        system=scores.systems[k],
        baseline=scores.systems[0],
        metric=scores.metric,
        score=system.score,
        difference=system.difference,
        intervals={
            "score": (system.score_low, system.score_high),
            "difference": (system.low, system.high),
        },
        p=system.p,
        verdict="baseline" if k == 0 else system.verdict(scores.sign),
        slice=name,
        segments=system.segments,
        wins=counts[0],
        ties=counts[1],
        losses=counts[2],
        decided=system.decided,
        gain=gain,
        p_least=plan.least_p,
        beaten_by=system.beaten_by,
        caveat=system.caveat,
        p_documents=None if np.isnan(p_documents) else p_documents,
        unit=plan.unit,
        documents=dependence.documents or None,
        design_effect=None if np.isnan(dependence.design_effect) else dependence.design_effect,
        missing=system.missing,
        empty=empty,
        people=scores.from_people,
    )


# Tables


def system_table(
    rows: Sequence[ComparisonRow], plan: PairedTestPlan, family: str, slices: str
) -> Table:
    """The table of all systems, metrics and slices, with the families that are decided at once."""
    return table(SYSTEMS, "Systems compared", ComparisonRow, rows, note=_note(plan, family, slices))


def _note(plan: PairedTestPlan, family: str, slices: str) -> str:
    if not plan.resamples:
        return "No resamples: neither intervals nor p."
    whole = " of whole documents" * (plan.unit == "document")
    over = f"{family}, and over {slices}" if slices else family
    if plan.test == "sacrebleu":
        return (
            f"p: sacreBLEU's paired bootstrap, {plan.resamples} resamples; not adjusted for other"
            " comparisons, and without an interval."
        )
    if plan.test == "ar":
        return (
            f"p: approximate randomisation{whole}, {plan.exchanges} draws, two-sided, over {over};"
            " there are no intervals."
        )
    level = 100 * plan.confidence
    return (
        f"low, high: {level:g}% intervals of the difference, which hold for all at once, over"
        f" {over}; an end of 0 is open. p: of the same paired bootstrap{whole}, {plan.resamples}"
        " resamples, two-sided."
    )


def slice_table(rows: Sequence[ComparisonRow]) -> Table:
    """The slices of the first table, to be compared side by side."""
    gains = (row for row in rows if row.slice is not None and row.system != row.baseline)
    sliced = [ComparisonSliceRow.of(row, undecided=not row.decided) for row in gains]
    return table(SLICES, "Gains by slice", ComparisonSliceRow, sliced)


def segment_table(rows: Sequence[DecidingSegmentRow]) -> Table:
    """The segments with the largest influence."""
    return table(SEGMENTS, _INFLUENTIAL, DecidingSegmentRow, rows)


def ngram_table(rows: Sequence[NgramRow]) -> Table:
    """The n-grams that only one system gets right."""
    note = (
        "A match: the output and a reference of the segment hold the phrase, counted as often as"
        " both do. Ordered by the matches of this side less those of the other."
    )
    return table(NGRAMS, "Phrases that only one system gets right", NgramRow, rows, note=note)


# Views


def views(
    tables: Sequence[Table],
    baselines: Mapping[str, str],
    systems: Sequence[str],
    distributed: Sequence[Record],
) -> tuple[View, ...]:
    """Views of text, then those of a page.

    ``baselines``: by metric; ``distributed``: rows of :mod:`gnomon.comparison.distributions`.
    """
    kinds = {table.name: table for table in tables}
    rows = [row for row in tables[0].records if isinstance(row, ComparisonRow)]
    alone = systems[1] if len(systems) == 2 else None
    titles = {metric: metric_title(metric, baselines) for metric in baselines}
    chosen: list[View] = [
        _listing(metric, titles[metric], first) for metric, first in baselines.items()
    ]
    if SLICES in kinds and alone:
        chosen += [_slices(metric, titles[metric], alone) for metric in baselines]
    chosen += [_bars(*one, titles[one[0]], rows) for one in baselines.items()]
    chosen += distributions.distribution_views(distributed, titles)
    if SLICES in kinds:
        chosen += [
            _slice_map(rows, metric, titles[metric], prominent=alone is None)
            for metric in baselines
        ]
    if SEGMENTS in kinds and alone:
        chosen += [
            Listing(
                SEGMENTS,
                f"{titles[metric]}: {_INFLUENTIAL.lower()}",
                ("side", "segment", "difference", "score", "baseline_score", "influence"),
                {"metric": metric},
            )
            for metric in baselines
        ]
    if NGRAMS in kinds and alone:
        there = kinds[NGRAMS].values("side")
        chosen += [_ngrams(side) for side in (alone, systems[0]) if side in there]
    return tuple(chosen)


def score_table(
    rows: Sequence[ComparisonRow], plan: PairedTestPlan, family: str, best: str | None
) -> ScoreTable:
    """The scores under all metrics, as a paper has them.

    Args:
        rows: of all systems and metrics.
        plan: the test of all segments.
        family: what is decided at once.
        best: the system that others differ from; None: the best one under each metric.
    """
    whole = [row for row in rows if row.slice is None]
    systems = len({row.system for row in whole})
    on = counted(max(row.segments for row in whole))
    title = f"Scores of {systems} systems on {on}. The best are bold."
    if plan.resamples:
        differs = "worse than the best" if best is None else f"different from {best}"
        said = f"\u2020: significantly {differs}"
        if not any(row.decided for row in whole):
            said = f"None is significantly {differs}"
        title = f"{title} {said} ({_test_in_brief(plan, family)})."
    better: dict[str, Literal["higher", "lower"]] = {
        metric: "lower" if _is_lower_better(whole, metric) else "higher"
        for metric in dict.fromkeys(row.metric for row in whole)
    }
    where = {"slice": None}
    return ScoreTable(SYSTEMS, title, better, where, significant="decided", ordered=best is None)


def _test_in_brief(plan: PairedTestPlan, family: str) -> str:
    draws = plan.exchanges if plan.test == "ar" else plan.resamples
    parts = [
        _TESTS[plan.test],
        f"{draws:,} draws" + " of whole documents" * (plan.unit == "document"),
    ]
    level = f"{100 * plan.alpha:g}% level"
    together = "each by itself" if plan.test == "sacrebleu" else f"over {family}"
    return ", ".join([*parts, f"{level} {together}"])


def _is_lower_better(rows: Sequence[ComparisonRow], metric: str) -> bool:
    defined = (row for row in rows if row.metric == metric and row.gain is not None)
    return any(row.gain != row.difference for row in defined)


def _listing(metric: str, title: str, baseline: str) -> Listing:
    counts = ("wins", "ties", "losses")
    return Listing(
        SYSTEMS,
        f"{title}, compared with {baseline}",
        ("system", "score", *_DIFFERENCE, "p", "verdict", *counts),
        {"metric": metric, "slice": None},
    )


def _slices(metric: str, title: str, system: str) -> Listing:
    return Listing(
        SYSTEMS,
        f"{title} of {system} by slice",
        ("slice", "segments", "score", *_DIFFERENCE, "p", "verdict"),
        {"metric": metric, "system": system},
    )


def _slice_map(
    rows: Sequence[ComparisonRow], metric: str, title: str, *, prominent: bool
) -> HeatMap:
    gains = (row.gain for row in rows if row.metric == metric and row.slice is not None)
    reach = max((abs(gain) for gain in gains if gain is not None), default=0.0) or None
    return HeatMap(
        SLICES,
        f"{title}: gain over the baseline by slice",
        rows="slice",
        columns="system",
        value="gain",
        beside="segments",
        where={"metric": metric},
        low=None if reach is None else -reach,
        high=reach,
        faint="undecided",
        prominent=prominent,
    )


def _ngrams(side: str) -> Listing:
    return Listing(
        NGRAMS,
        f"Phrases that only {side} gets right",
        ("ngram", "count", "other", "reference"),
        {"side": side},
        most=_LISTED,
    )


def _bars(metric: str, baseline: str, title: str, rows: Sequence[ComparisonRow]) -> Bars:
    return Bars(
        SYSTEMS,
        f"{title} of each system",
        category="metric",
        series="system",
        values=("score",),
        where={"metric": metric, "slice": None},
        ordered=True,
        strong="decided",
        dots=True,
        better="lower" if _is_lower_better(rows, metric) else "higher",
        band=baseline,
        told=("difference", "p"),
    )


# Segments to read


@dataclass(frozen=True)
class DecidingSegments:
    """Makes exhibits of one test set."""

    testset: TestSet  # its systems are those compared
    batch: Batch
    tokens: TokenTable  # of its texts

    def shown_last(self, paired: PairedScores) -> NDArray[np.bool_]:
        """Segments of a few words, or with the outputs of an earlier one, bool [K, N]."""
        places = [self.batch.systems.index(name) for name in paired.systems]
        outputs = self.batch.candidates[places]
        words = self.tokens.lengths[outputs]
        again = np.ones(outputs.shape, dtype=np.bool_)
        for own, ids in zip(again, outputs, strict=True):
            pairs = np.stack([ids, outputs[0]])
            own[np.unique(pairs, axis=1, return_index=True)[1]] = False
        last: NDArray[np.bool_] = again | (np.maximum(words, words[0]) < _FEWEST_WORDS)
        return last

    def row(self, paired: PairedScores, decider: Decider, influence: float) -> DecidingSegmentRow:
        """The row of a segment."""
        scores = paired.segments[[decider.system, 0], decider.segment].tolist()
        document, domain = self._document_and_domain(decider.segment)
        return DecidingSegmentRow(
            system=paired.systems[decider.system],
            baseline=paired.systems[0],
            metric=paired.metric,
            side=paired.systems[decider.system if decider.better else 0],
            rank=decider.rank,
            segment=decider.segment + 1,
            difference=scores[0] - scores[1],
            score=scores[0],
            baseline_score=scores[1],
            influence=influence,
            document=document,
            domain=domain,
        )

    def find_in_bins(
        self,
        paired: PairedScores,
        added: NDArray[np.float64],
        last: NDArray[np.bool_],
        most: int,
    ) -> Iterator[Exhibit]:
        """The segments of each bin of the histogram with the largest influence."""
        bins, gains = distributions.Bins.build(paired), paired.gains()
        order = np.lexsort((-np.abs(added[1]), last[1]))
        places = bins.places[1, order]
        for place in np.unique(places[~np.isnan(places)]).tolist():
            for rank, segment in enumerate(order[places == place][:most].tolist(), start=1):
                decider = Decider(1, bool(gains[1, segment] > 0), rank, segment)
                shown = self.exhibit(paired, decider, float(added[1, segment]))
                yield replace(shown, kind=bins.name(place))

    def exhibit(self, paired: PairedScores, decider: Decider, influence: float) -> Exhibit:
        """Source, references, the system's output and the baseline's."""
        system, baseline = paired.systems[decider.system], paired.systems[0]
        scores = paired.segments[[decider.system, 0], decider.segment].tolist()
        side = "better" if decider.better else "worse"
        document, domain = self._document_and_domain(decider.segment)
        return Exhibit(
            group=paired.metric,
            kind=f"{side} than {baseline}",
            segment=decider.segment + 1,
            texts=tuple(self._texts(paired, decider, scores)),
            systems=(system,),
            document=document,
            domain=domain,
            weight=abs(influence),
            caption=f"{system} {scores[0]:.2f}, {baseline} {scores[1]:.2f}",
        )

    def _document_and_domain(self, segment: int) -> tuple[str | None, str | None]:
        document, domain = (
            None if names is None else names[segment]
            for names in (self.testset.documents, self.testset.domains)
        )
        return document, domain

    def _texts(
        self, paired: PairedScores, decider: Decider, scores: list[float]
    ) -> Iterator[ExhibitText]:
        texts = self.batch.texts
        if self.testset.sources is not None:
            yield ExhibitText("source", "", self.testset.sources[decider.segment])
        names = [paired.systems[k] for k in (decider.system, 0)]
        places = [self.batch.systems.index(name) for name in names]
        output, other = self.batch.candidates[places, decider.segment].tolist()
        references = self.batch.references[decider.segment].tolist()
        columns = self.testset.references.items()
        present = [name for name, column in columns if column[decider.segment] is not None]
        for name, text in zip(present, references, strict=True):
            yield ExhibitText("reference", name, texts[text])
        marks = self._marks(output, other, references)
        for k, text, score in zip((decider.system, 0), (output, other), scores, strict=True):
            name, said = paired.systems[k], paired.remarks.get((k, decider.segment), {})
            values: dict[str, float | str | None] = {paired.metric: score, **said}
            yield ExhibitText("candidate", name, texts[text], marks[k == 0], values)

    def _marks(
        self, output: int, other: int, references: list[int]
    ) -> tuple[tuple[Highlight, ...], tuple[Highlight, ...]]:
        """The words that only one of two outputs shares with the references."""
        table = self.tokens
        matches = [_matched(table, text, references) for text in (output, other)]
        return (
            _highlights(table, output, matches[0] - matches[1]),
            _highlights(table, other, matches[1] - matches[0]),
        )


def _matched(table: TokenTable, text: int, references: list[int]) -> Counter[str]:
    referred: Counter[str] = Counter()
    for reference in references:
        referred |= Counter(table.strings(reference))
    return Counter(table.strings(text)) & referred


def _highlights(table: TokenTable, text: int, only: Mapping[str, int]) -> tuple[Highlight, ...]:
    """Marks on every occurrence of these words: which of several is meant cannot be known."""
    spans = zip(table.strings(text), table.spans(text), strict=True)
    return tuple(
        Highlight(start, end, "right only here")
        for word, (start, end) in spans
        if word in only and 0 <= start < end
    )
