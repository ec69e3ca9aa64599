"""Rows of a comparison of systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from gnomon.comparison import distributions
from gnomon.comparison.meanings import MEANING, DifferenceMeaningRow
from gnomon.comparison.ngrams import BASELINE, NgramRow
from gnomon.core.records import (
    METRIC,
    SEGMENT,
    SLICE,
    SYSTEM,
    EndColumns,
    Record,
    column,
    column_of,
)
from gnomon.core.verdicts import LEAST
from gnomon.messages.grammar import p_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.comparison.paired_tests import (
        ComparedSystem,
        PairedScores,
        PairedTestPlan,
    )
    from gnomon.core.findings import Finding

SYSTEMS, SLICES, SEGMENTS, NGRAMS = "systems", "slices", "segments", "ngrams"
Outcome: TypeAlias = Literal["better", "worse", "undecided"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_SAME = 1e-9  # gains below this are rounding

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
