"""Rows, exhibits and signatures of all features, metric by metric."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gnomon.muler._exhibits import Showcase
from gnomon.muler._figures import figures
from gnomon.muler._tables import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell, Exhibit
    from gnomon.metrics.protocol import MaskingMetric
    from gnomon.muler._figures import FeatureScores
    from gnomon.muler._presence import Presence
    from gnomon.muler._setup import Setup
    from gnomon.muler._significance import Ends
    from gnomon.muler._significance_gather import Uncertainty
    from gnomon.slices import Slice

__all__ = ["Scored", "scored"]


@dataclass
class Scored:
    """What all metrics gave so far.

    Attributes:
        parts: the slices; the first is all segments.
        uncertainty: intervals and differences; ``None`` where nothing is drawn.
        examples: segments shown per feature and system.
        rows: records by variant.
        negatives: records of segments that score above their oracle.
        negatives_left_out: how many more there are.
        exhibits: segments that a feature costs most.
        signatures: how to make the numbers again, by metric.
        system: scores of the systems, by metric.
    """

    parts: Sequence[Slice]
    uncertainty: Uncertainty | None
    examples: int
    rows: dict[str, list[dict[str, Cell]]] = field(default_factory=dict)
    negatives: list[dict[str, Cell]] = field(default_factory=list)
    negatives_left_out: int = 0
    exhibits: list[Exhibit] = field(default_factory=list)
    signatures: dict[str, str] = field(default_factory=dict)
    system: dict[str, list[float]] = field(default_factory=dict)

    def add(self, setup: Setup, name: str, metric: MaskingMetric) -> None:
        """Score all features under one metric."""
        plan = setup.plan(metric)
        showcase = Showcase(setup.testset, setup.batch, plan.spans, name, self.examples)
        for scores, present in setup.scored(metric, plan, f"scoring {name}"):
            for part in self.parts:
                self._add_rows(name, part, scores, present, setup.batch.systems)
            self._show(showcase, scores, present)
        drawn = {} if self.uncertainty is None else self.uncertainty.options.fields()
        self.signatures[name] = setup.signature(metric, "muler", plan, drawn)
        self.system[name] = metric.system(setup.batch).tolist()

    def _add_rows(
        self,
        metric: str,
        part: Slice,
        scores: FeatureScores,
        present: Presence,
        systems: Sequence[str],
    ) -> None:
        found = figures(scores, present, part.members)
        ends: Sequence[Mapping[str, Ends] | None] = [None] * len(systems)
        if self.uncertainty is not None:
            ends = self.uncertainty.ends(metric, part, scores, present, found)
        for system, one, own in zip(systems, found, ends, strict=True):
            rows = rows_of(
                one, system=system, metric=metric, feature=scores.feature, part=part.name, ends=own
            )
            for variant, row in rows.items():
                self.rows.setdefault(variant, []).append(row)

    def _show(self, showcase: Showcase, scores: FeatureScores, present: Presence) -> None:
        negatives, left_out = showcase.negatives(scores, present)
        self.negatives += negatives
        self.negatives_left_out += left_out
        if self.examples:
            self.exhibits += showcase.costliest(scores, present)


def scored(
    setup: Setup, parts: Sequence[Slice], uncertainty: Uncertainty | None, examples: int
) -> Scored:
    """Score all features under all metrics.

    Args:
        setup: the annotated test set.
        parts: the slices; the first is all segments.
        uncertainty: where intervals and differences are gathered; ``None`` for neither.
        examples: segments shown per feature and system; 0 for none.
    """
    found = Scored(parts, uncertainty, examples)
    for name, metric in setup.metrics.items():
        found.add(setup, name, metric)
    return found
