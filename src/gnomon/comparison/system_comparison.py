"""Comparisons of systems under metrics: the test of each, and the finding made of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.comparison.deciding_segments import DecidingSegments
from gnomon.comparison.distributions import difference_rows, distribution_tables, length_rows
from gnomon.comparison.meanings import meaning_listing, meaning_table
from gnomon.comparison.paired_tests import PairedScores, deciders, figures, influence
from gnomon.comparison.rows import system_rows
from gnomon.comparison.scores import notices
from gnomon.comparison.views import (
    ngram_table,
    score_table,
    segment_table,
    slice_table,
    system_table,
    views,
)
from gnomon.core.findings import Finding
from gnomon.core.slices import slices
from gnomon.core.threads import map_in_threads
from gnomon.messages import message
from gnomon.stats.jackknife import LEAST_DOCUMENTS, clustering, numbered
from gnomon.stats.p_values import fewest_draws
from gnomon.stats.studentised import influences_of_differences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.comparison.meanings import DifferenceMeaningRow
    from gnomon.comparison.ngrams import NgramRow
    from gnomon.comparison.paired_tests import ComparedSystem, PairedTestPlan
    from gnomon.comparison.rows import ComparisonRow, DecidingSegmentRow
    from gnomon.core.findings import Exhibit, Table
    from gnomon.core.options import Unit
    from gnomon.core.records import Record
    from gnomon.core.scores import Scores
    from gnomon.core.signature import Signature
    from gnomon.core.slices import Slice
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["MetricComparison", "SystemComparison"]


class MetricComparison(NamedTuple):
    """The systems under a metric, and how their differences are tested."""

    scores: Scores
    paired: PairedScores
    slices: Sequence[Slice]  # all segments, then each slice
    plan: PairedTestPlan  # of one difference
    whole: PairedTestPlan  # of the family of all segments
    sliced: PairedTestPlan  # of that of slices
    pairs: int  # that are tested
    every: bool  # these are all pairs of systems

    @property
    def family(self) -> str:
        """Name of the family that is decided at once."""
        if self.pairs == 1:
            return "this one difference"
        return f"all {self.pairs} {'pairs' if self.every else 'differences'} of a metric"

    @property
    def slice_family(self) -> str:
        """The same of slices; empty without any."""
        number = len(self.slices) - 1
        if not number:
            return ""
        of = f"{self.pairs} pairs" if self.every else f"{self.pairs} differences"
        return f"{of} in {number} slices" if self.pairs > 1 else f"{number} slices"

    @property
    def signature(self) -> Signature:
        """Of the scores, with baseline and test."""
        fields = {"baseline": self.paired.systems[0], **self.whole.fields()}
        if self.every:
            fields["baseline_by"] = "score"
        if len(self.slices) > 1 and self.sliced.resamples != self.whole.resamples:
            fields["slices_bs"] = self.sliced.resamples
        return self.scores.signature.adding(fields)


@dataclass
class SystemComparison:
    """A comparison of systems, and its results."""

    testset: TestSet
    by: str | None
    unit: Unit
    chosen: bool  # the baseline is the best system under each metric
    metrics: list[MetricComparison] = field(default_factory=list)
    rows: list[ComparisonRow] = field(default_factory=list)
    meaning: list[DifferenceMeaningRow] = field(default_factory=list)
    segments: list[DecidingSegmentRow] = field(default_factory=list)
    distributed: list[Record] = field(default_factory=list)
    ngrams: list[NgramRow] = field(default_factory=list)
    exhibits: list[Exhibit] = field(default_factory=list)
    notices: list[Message] = field(default_factory=list)

    @cached_property
    def documents(self) -> NDArray[np.int64] | None:
        """The document of each segment, from 0; None where none are known."""
        names = self.testset.documents
        return None if names is None else numbered(names)

    def add(self, scores: Scores, paired: PairedScores, plan: PairedTestPlan) -> None:
        """Compare the systems under one more metric."""
        self.notices += notices(self.testset, scores, paired)
        parts = slices(self.testset, self.by, paired.segments)
        own = replace(
            plan, unit="document" if self._has_document_units(paired, plan) else "segment"
        )
        chosen = self.chosen
        told = (paired.doubted(k) or paired.doubted(j) for k, j, _ in paired.pairs(0, every=chosen))
        pairs = max(1, sum(caveat is None for caveat in told))
        whole, sliced = own.adapt_to_family(pairs), own.adapt_to_family(pairs * (len(parts) - 1))
        if self.unit == "auto" and self.documents is not None and not paired.from_people:
            fewest = min(len(np.unique(self.documents[part.members])) for part in parts)
            if fewest < LEAST_DOCUMENTS:
                sliced = replace(sliced, unit="segment")
        self.metrics.append(
            MetricComparison(scores, paired, parts, own, whole, sliced, pairs, chosen)
        )

    def _has_document_units(self, paired: PairedScores, plan: PairedTestPlan) -> bool:
        """True if documents are the unit of a metric's scores."""
        if self.unit != "auto" or self.documents is None or plan.test == "sacrebleu":
            return self.unit == "document"
        if paired.from_people:
            return True
        added = influences_of_differences(paired.values, paired.aggregate)
        return clustering(added, self.documents).uses_documents

    def add_figures(self, progress: Callable[[str, int, int], None] | None) -> None:
        """The rows of all metrics and slices."""
        tasks = [
            (metric, each, plan)
            for metric in self.metrics
            for each, plan in (
                (metric.slices[:1], metric.whole),
                (metric.slices[1:], metric.sliced),
            )
            if each
        ]

        def figure(
            task: tuple[MetricComparison, Sequence[Slice], PairedTestPlan],
        ) -> list[list[ComparedSystem]]:
            metric, pieces, plan = task
            return figures(
                metric.paired,
                [piece.members for piece in pieces],
                plan,
                self.documents,
                every=metric.every,
                slices=pieces[0].name is not None,
            )

        empty = {
            name: np.array([not text.strip() for text in texts])
            for name, texts in self.testset.systems.items()
        }
        if progress:
            progress("testing", 0, len(tasks))
        for done, ((metric, pieces, plan), compared) in enumerate(
            zip(tasks, map_in_threads(figure, tasks), strict=True), start=1
        ):
            lacking = [
                [int(empty[name][piece.members].sum()) for name in metric.paired.systems]
                for piece in pieces
            ]
            named = [(piece.name, each) for piece, each in zip(pieces, compared, strict=True)]
            self.rows += system_rows(metric.paired, named, plan, lacking)
            if progress:
                progress("testing", done, len(tasks))
        notes = [note for metric in self.metrics for note in _too_coarse(metric.whole)]
        self.notices += dict.fromkeys(notes)

    def add_distributions(self) -> None:
        """Add differences of segment scores, and scores by length, under each metric."""
        for metric in self.metrics:
            self.distributed += difference_rows(metric.paired)
            self.distributed += length_rows(self.testset, metric.paired)

    def add_segments(self, tokens: TokenTable, examples: int) -> None:
        """The segments with the largest influence, with their texts."""
        showcase = DecidingSegments(self.testset, self.testset.batch(), tokens)
        for metric in self.metrics:
            added = influence(metric.paired)
            last = showcase.shown_last(metric.paired)
            for decider in deciders(metric.paired, added, last, examples):
                weight = float(added[decider.system, decider.segment])
                self.segments.append(showcase.row(metric.paired, decider, weight))
                self.exhibits.append(showcase.exhibit(metric.paired, decider, weight))
            if len(metric.paired.systems) == 2:  # of more they would be too many for a page
                self.exhibits += showcase.find_in_bins(metric.paired, added, last, examples)

    def finding(self) -> Finding:
        """The finding."""
        first = self.metrics[0]
        tables: list[Table] = [
            system_table(self.rows, first.whole, first.family, first.slice_family)
        ]
        if self.meaning:
            tables.append(meaning_table(self.meaning))
        if self.by:
            tables.append(slice_table(self.rows))
        tables += distribution_tables(self.distributed)
        if self.segments:
            tables.append(segment_table(self.segments))
        if self.ngrams:
            tables.append(ngram_table(self.ngrams))
        systems = list(self.testset.systems)
        baselines = {m.paired.metric: m.paired.systems[0] for m in self.metrics}
        with_meaning = list(dict.fromkeys(row.metric for row in self.meaning))
        of = "the best one" if self.chosen else systems[0]
        return Finding(
            method="compare",
            title=f"Systems compared with {of}",
            tables=tuple(tables),
            signatures={metric.scores.metric: metric.signature for metric in self.metrics},
            views=(
                *views(tables, baselines, systems, self.distributed),
                *(meaning_listing(metric, with_meaning, self.meaning) for metric in with_meaning),
            ),
            exhibits=tuple(self.exhibits),
            notices=tuple(self.notices),
            facts=self._facts(),
            paper=score_table(
                self.rows, first.whole, first.family, None if self.chosen else systems[0]
            ),
        )

    def _facts(self) -> Mapping[str, str]:
        testset = self.testset
        best = "the best under each metric"
        facts = {
            "test set": testset.name,
            "language pair": testset.language_pair or "not given",
            "segments": str(testset.segments),
            "systems": str(len(testset.systems)),
            "references": ", ".join(testset.references) or "none",
            "baseline": best if self.chosen else next(iter(testset.systems)),
        }
        return {**facts, "slices": self.by} if self.by else facts


def _too_coarse(plan: PairedTestPlan) -> Iterator[Message]:
    """Says so where no p-value of exchanges can be small enough."""
    least = fewest_draws(plan.confidence)
    if plan.test == "ar" and 0 < plan.exchanges < least:
        drawn: dict[str, Any] = {"draws": plan.exchanges, "alpha": plan.alpha, "least": least}
        yield message("note.compare.coarse", **drawn)
