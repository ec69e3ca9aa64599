"""One test set under one metric: points, frequencies, contrasts, negative segments."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gnomon.muler import _contrast
from gnomon.muler._above import above_oracle
from gnomon.muler._correlate_points import points_of
from gnomon.muler._figures import figures
from gnomon.muler._frequency import usage
from gnomon.slices import slices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.batch import Batch
    from gnomon.findings import Cell, Exhibit
    from gnomon.metrics.protocol import BoundMetric, MaskingMetric
    from gnomon.muler._correlate_points import Point
    from gnomon.muler._correlate_sets import Member
    from gnomon.muler._figures import FeatureScores, Figures
    from gnomon.muler._presence import Presence
    from gnomon.muler._setup import Setup
    from gnomon.muler._tables import Variant
    from gnomon.slices import Slice

__all__ = ["Examples", "Gathered", "gather"]

_NEGATIVES = 5  # listed per feature and test set; `muler score` lists them for every system


@dataclass(frozen=True)
class Examples:
    """Which segments are shown.

    Attributes:
        most: contrasts per feature and test set; 0 for none.
        near: their scores differ by this much at most, in the metric's own units.
        far: their MuLER differs by this much at least.
    """

    most: int = 3
    near: float = 1.0
    far: float = 0.5


@dataclass
class Gathered:
    """What all test sets and metrics gave so far."""

    points: list[Point] = field(default_factory=list)
    frequencies: list[dict[str, Cell]] = field(default_factory=list)
    contrasts: list[dict[str, Cell]] = field(default_factory=list)
    negatives: list[dict[str, Cell]] = field(default_factory=list)
    exhibits: list[Exhibit] = field(default_factory=list)
    signatures: dict[tuple[str, str], str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


def gather(
    gathered: Gathered,
    member: Member,
    setup: Setup,
    *,
    variants: Sequence[Variant],
    by: str | None,
    examples: Examples,
) -> None:
    """Score all features of a test set under all its metrics and add what they give."""
    for name, metric in setup.metrics.items():
        plan = setup.plan(metric)
        parts = slices(member.testset, by)
        part = _Part(gathered, member, setup, name, metric, parts, variants, examples)
        scored = setup.scored(metric, plan, f"scoring {member.name} {name}")
        for feature, (scores, present) in enumerate(scored):
            part.add(scores, present, feature)
        gathered.signatures[name, member.name] = setup.signature(metric, "muler", plan)


@dataclass(frozen=True)
class _Part:
    """One test set under one metric."""

    gathered: Gathered
    member: Member
    setup: Setup
    name: str
    metric: MaskingMetric
    parts: Sequence[Slice]
    variants: Sequence[Variant]
    examples: Examples

    @cached_property
    def scores(self) -> list[list[float | None]]:
        """The score of every system, slice by slice."""
        return [_system_scores(self.metric, self.setup.batch, part) for part in self.parts]

    @property
    def place(self) -> dict[str, Cell]:
        """What every record of this part says."""
        return {"test_set": self.member.name, "metric": self.name}

    def add(self, scores: FeatureScores, present: Presence, feature: int) -> None:
        """Add what one feature gives."""
        found = [figures(scores, present, part.members) for part in self.parts]
        for part, rows, score in zip(self.parts, found, self.scores, strict=True):
            self.gathered.points += points_of(
                self.member,
                rows,
                score,
                metric=self.name,
                variants=self.variants,
                feature=scores.feature,
                part=part.name,
                higher_is_better=scores.higher_is_better,
            )
        best = _best(self.scores[0], higher_is_better=scores.higher_is_better)
        if best is not None:
            self.gathered.frequencies += self._frequencies(feature, best, found[0][best])
        self._contrasts(scores, present)
        self._negatives(scores, present)

    def _frequencies(self, feature: int, system: int, found: Figures) -> list[dict[str, Cell]]:
        batch, spans = self.setup.batch, self.setup.spans
        used = usage(batch, spans, feature, system)
        return [
            {
                **self.place,
                "variant": variant,
                "feature": spans.features[feature],
                "system": batch.systems[system],
                "occurrences": used.occurrences,
                "forms": used.forms,
                "per_hundred": used.per_hundred_words,
                "uniqueness": used.uniqueness,
                "muler": found.muler if variant == "ratio" else found.clipped,
            }
            for variant in self.variants
        ]

    def _contrasts(self, scores: FeatureScores, present: Presence) -> None:
        near, far, most = self.examples.near, self.examples.far, self.examples.most
        testset, batch, spans = self.member.testset, self.setup.batch, self.setup.spans
        kind = f"contrast under {self.name}, {self.member.name}"
        found = _contrast.contrasts(scores, present, near=near, far=far, most=most) if most else []
        for one in found:
            place: dict[str, Cell] = {**self.place, "feature": scores.feature}
            self.gathered.contrasts.append(_contrast.record(one, batch, **place))
            self.gathered.exhibits.append(
                _contrast.exhibit(one, testset, batch, spans, scores.feature, kind)
            )

    def _negatives(self, scores: FeatureScores, present: Presence) -> None:
        found = above_oracle(scores, present, self.setup.batch, most=_NEGATIVES)
        self.gathered.negatives += [{**self.place, **row} for row in found]


def _system_scores(metric: BoundMetric, batch: Batch, part: Slice) -> list[float | None]:
    chosen = batch if part.name is None else batch.select(segments=_positions(part))
    return [None if np.isnan(score) else float(score) for score in metric.system(chosen)]


def _positions(part: Slice) -> list[int]:
    return [int(i) for i in np.flatnonzero(part.members)]


def _best(scores: Sequence[float | None], *, higher_is_better: bool) -> int | None:
    """Position of the best score, the first of equal ones; ``None`` where none is defined."""
    sign = 1.0 if higher_is_better else -1.0
    known = [(sign * score, -i) for i, score in enumerate(scores) if score is not None]
    return -max(known)[1] if known else None
