"""Rows, exhibits and signatures of all features, metric by metric."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gnomon.muler.exhibits import (
    FeatureExamples,
    MulerSegmentRow,
    NegativeRow,
    segment_rows,
)
from gnomon.muler.figures import MulerRow, RowPlace, figures, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.core.findings import Exhibit
    from gnomon.core.signature import Signature
    from gnomon.core.slices import Slice
    from gnomon.metrics.base import BoundMetric
    from gnomon.muler._setup import Setup
    from gnomon.muler.figures import FeatureScores, Presence
    from gnomon.muler.uncertainty import Ends, Grouping, Uncertainty
    from gnomon.stats.student import Mean


@dataclass
class Scored:
    """The results of all metrics so far."""

    parts: Sequence[Slice]
    uncertainty: Uncertainty | None
    grouping: Grouping
    examples: int
    per_segment: bool = False
    # with the figures by which there are too few or too many
    rows: dict[str, list[tuple[MulerRow, Mean]]] = field(default_factory=dict)
    by_document: list[str] = field(default_factory=list)  # features whose counts are
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
            if self.grouping.has_document_units(present.surplus):
                self.by_document.append(scores.feature)
            for slice_ in self.parts:
                self._add_rows(setup, name, slice_, scores, present)
            self._show(showcase, scores, present)
        drawn = {} if self.uncertainty is None else self.uncertainty.fields(name)
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
        by_document = scores.feature in self.by_document
        documents = self.grouping.select_documents(slice_.members) if by_document else None
        ends: Sequence[Mapping[str, Ends] | None] = [None] * len(setup.batch.systems)
        if self.uncertainty is not None:
            ends = self.uncertainty.ends(metric, slice_, scores, present)
        all_figures = figures(scores, present, slice_.members, documents)
        for k, name in enumerate(setup.batch.systems):
            masks, empty = setup.metrics[metric].masks_used, setup.empty.get(name, 0)
            place = RowPlace(name, metric, scores.feature, slice_.name, masks, empty)
            rows = rows_of(all_figures[k], place, ends[k])
            for variant, row in rows.items():
                self.rows.setdefault(variant, []).append((row, all_figures[k].surplus))

    def _show(self, showcase: FeatureExamples, scores: FeatureScores, present: Presence) -> None:
        negatives, left_out = showcase.negatives(scores, present)
        self.negatives += negatives
        self.negatives_left_out += left_out
        if self.examples:
            self.exhibits += showcase.costliest(scores, present)
