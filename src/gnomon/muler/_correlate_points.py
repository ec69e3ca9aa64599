"""What is correlated: MuLER of a feature and scores, one point per system and test set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell
    from gnomon.muler._correlate_sets import Member
    from gnomon.muler._figures import Figures
    from gnomon.muler._tables import Variant

__all__ = ["SCORER", "Point", "points_of"]

SCORER = "scorer:"  # what the features of sentence scorers begin with


@dataclass(frozen=True)
class Point:
    """One system on one test set (or slice of it): what it loses on a feature, and its scores.

    Attributes:
        test_set: name of the test set.
        pair: its language pair; empty where not known.
        system: name of the system.
        known: its year, architecture and constraint.
        metric: name of the metric.
        variant: definition of MuLER.
        feature: name of the feature.
        part: name of the slice; ``None`` for all segments.
        segments: size of I.
        loss: MuLER, or the mean absolute difference of a sentence scorer; lower is better.
        score: score of the system over all segments of the slice.
        indices: mean sentence score over I.
        spread: max - min, oriented.
        higher_is_better: orientation of ``score`` and ``indices``.
    """

    test_set: str
    pair: str
    system: str
    known: Mapping[str, str | int | None]
    metric: str
    variant: Variant
    feature: str
    part: str | None
    segments: int | None
    loss: float | None
    score: float | None
    indices: float | None = None
    spread: float | None = None
    higher_is_better: bool = True

    @property
    def companions(self) -> tuple[str, ...]:
        """What -MuLER is correlated with; of a sentence scorer, which has no max, the score."""
        more = () if self.feature.startswith(SCORER) else ("indices", "spread")
        return (self.metric, *more)

    def beside(self, what: str) -> float | None:
        """The figure that -MuLER is correlated with, oriented so that higher is better."""
        value = {"indices": self.indices, "spread": self.spread}.get(what, self.score)
        if value is None or what == "spread" or self.higher_is_better:
            return value
        return -value

    def row(self) -> dict[str, Cell]:
        """The point as a flat record."""
        return {
            "test_set": self.test_set,
            "language_pair": self.pair,
            "system": self.system,
            **self.known,
            "metric": self.metric,
            "variant": self.variant,
            "feature": self.feature,
            "slice": self.part,
            "segments": self.segments,
            "muler": self.loss,
            "score": self.score,
            "indices": self.indices,
            "spread": self.spread,
        }


def points_of(
    member: Member,
    figures: Sequence[Figures],
    scores: Sequence[float | None],
    *,
    metric: str,
    variants: Sequence[Variant],
    feature: str,
    part: str | None,
    higher_is_better: bool,
) -> Iterator[Point]:
    """One point per variant and system."""
    for variant in variants:
        for system, found, score in zip(member.testset.systems, figures, scores, strict=True):
            yield Point(
                test_set=member.name,
                pair=member.pair,
                system=system,
                known=member.known(system),
                metric=metric,
                variant=variant,
                feature=feature,
                part=part,
                segments=found.segments,
                loss=found.muler if variant == "ratio" else found.clipped,
                score=score,
                indices=found.base,
                spread=found.spread,
                higher_is_better=higher_is_better,
            )
