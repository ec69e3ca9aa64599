"""Segments behind the figures: where a feature costs most, or scores above its oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from gnomon.core.findings import Excerpt, Exhibit, ExhibitText, Highlight
from gnomon.core.records import FEATURE, METRIC, SEGMENT, SYSTEM, Record, column, table
from gnomon.muler.figures import defined, occurrences, per_reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.findings import Table
    from gnomon.core.spans import SpanTable
    from gnomon.core.testset import TestSet
    from gnomon.muler.figures import FeatureScores, Presence

    Values = Mapping[str, float | None]

__all__ = [
    "FeatureExamples",
    "MulerSegmentRow",
    "NegativeRow",
    "SegmentTexts",
    "segment_rows",
    "segment_table",
]


# The texts of a segment as exhibits show them: source, references and outputs, words marked.


@dataclass(frozen=True)
class SegmentTexts:
    """Makes the texts of exhibits of one test set."""

    testset: TestSet
    batch: Batch
    spans: SpanTable | None = None
    feature: str = ""

    def place(self, segment: int) -> dict[str, str | None]:
        """Document and domain of a segment, by the names that exhibits have for them."""
        labels = {"document": self.testset.documents, "domain": self.testset.domains}
        return {name: None if of is None else of[segment] for name, of in labels.items()}

    def source_and_references(
        self, segment: int, values: Callable[[int], Values] = lambda _: {}
    ) -> Iterator[ExhibitText]:
        """The source and the references that the segment has."""
        if self.testset.sources is not None:
            yield ExhibitText("source", "", self.testset.sources[segment])
        texts = iter(self.batch.references[segment].tolist())
        for name, texts_of in self.testset.references.items():
            if texts_of[segment] is not None:
                text = next(texts)
                marks = self._marks(text)
                yield ExhibitText("reference", name, self.batch.texts[text], marks, values(text))

    def candidate(
        self, segment: int, system: int, values: Values, name: str | None = None
    ) -> ExhibitText:
        """The output of a system."""
        text = int(self.batch.candidates[system, segment])
        shown = self.batch.systems[system] if name is None else name
        marks = self._marks(text)
        return ExhibitText("candidate", shown, self.batch.texts[text], marks, values)

    def _marks(self, text: int) -> tuple[Highlight, ...]:
        if self.spans is None or not self.feature:
            return ()
        return tuple(
            Highlight(*span, self.feature) for span in self.spans.spans(text, self.feature)
        )


class NegativeRow(Record):
    """A segment that scores above its oracle."""

    system: str = SYSTEM
    metric: str = METRIC
    feature: str = FEATURE
    segment: int = SEGMENT
    base: float | None = column("base", help="score of the segment")
    oracle: float | None = column("max", help="its score, the feature masked alike on both sides")
    anti_oracle: float | None = column("min", help="its score, masked differently on each side")


class MulerSegmentRow(NegativeRow):
    """Scores of a segment with a feature as it is, masked alike, and masked differently."""

    candidate_count: int = column("in candidate", help="how often the candidate has the feature")
    reference_count: float | None = column(
        "in reference", digits=2, help="likewise the references, on average"
    )


def segment_rows(
    scores: FeatureScores, batch: Batch, spans: SpanTable, number: int, metric: str
) -> Iterator[MulerSegmentRow]:
    """The segments of every system that have a feature on either side."""
    often = occurrences(batch, spans, number)
    for k, system in enumerate(batch.systems):
        counts, reference_counts = often[batch.candidates[k]], per_reference(often, batch, k)
        for n in np.flatnonzero((counts > 0) | (reference_counts > 0)).tolist():
            yield MulerSegmentRow(
                system=system,
                metric=metric,
                feature=scores.feature,
                segment=int(batch.segments[n]) + 1,
                base=defined(scores.base[k, n]),
                oracle=defined(scores.oracle[k, n]),
                anti_oracle=defined(scores.anti_oracle[k, n]),
                candidate_count=int(counts[n]),
                reference_count=defined(reference_counts[n]),
            )


def segment_table(rows: Sequence[MulerSegmentRow]) -> Table:
    """The table of segments; a page holds no more of it than one can look at."""
    note = "Segments without the feature on both sides are left out: masks change nothing there."
    title = "Segments: scores as they are, masked alike and masked differently"
    return table("segments", title, MulerSegmentRow, rows, note=note, excerpt=Excerpt.first(rows))


_NEGATIVES = 20  # listed per feature and system; a note counts the others


@dataclass(frozen=True)
class FeatureExamples:
    """Makes exhibits of one test set under one metric."""

    testset: TestSet
    batch: Batch
    spans: SpanTable
    metric: str
    count: int = 3

    def costliest(self, scores: FeatureScores, present: Presence) -> tuple[Exhibit, ...]:
        """Segments where the feature costs most: on average over systems, and for each system."""
        cost = np.where(present.both, scores.gain(), -np.inf)
        cost[~(cost > 0)] = -np.inf
        total = np.where(np.isfinite(cost), cost, 0.0).mean(axis=0)
        somewhere = np.flatnonzero(total > 0)
        leaders: dict[int, list[int]] = {s: [] for s in _largest(total, self.count, somewhere)}
        for system, row in enumerate(cost):
            for segment in _largest(row, self.count, np.flatnonzero(np.isfinite(row))):
                leaders.setdefault(segment, []).append(system)
        order = sorted(leaders, key=lambda segment: (-total[segment], segment))
        return tuple(
            self._exhibit(scores, segment, leaders[segment], float(total[segment]))
            for segment in order
        )

    def negatives(self, scores: FeatureScores, present: Presence) -> tuple[list[NegativeRow], int]:
        """Segments that score above their oracle, the largest excess of each system first."""
        excess = scores.excess()
        above = present.both & (excess > 0)
        rows = [
            NegativeRow(
                metric=self.metric,
                feature=scores.feature,
                system=self.batch.systems[system],
                segment=int(self.batch.segments[segment]) + 1,
                base=float(scores.base[system, segment]),
                oracle=float(scores.oracle[system, segment]),
                anti_oracle=float(scores.anti_oracle[system, segment]),
            )
            for system in np.flatnonzero(above.any(axis=1)).tolist()
            for segment in _largest(excess[system], _NEGATIVES, np.flatnonzero(above[system]))
        ]
        return rows, int(above.sum()) - len(rows)

    def _exhibit(
        self, scores: FeatureScores, segment: int, leaders: list[int], weight: float
    ) -> Exhibit:
        texts = SegmentTexts(self.testset, self.batch, self.spans, scores.feature)
        outputs = (
            texts.candidate(segment, system, _values(scores, system, segment))
            for system in range(len(self.batch.systems))
        )
        return Exhibit(
            group=scores.feature,
            kind=f"costs most under {self.metric}",
            segment=segment + 1,
            texts=(*texts.source_and_references(segment), *outputs),
            systems=tuple(self.batch.systems[system] for system in leaders),
            weight=weight,
            caption=f"mean loss over systems {weight:.2f}",
            **texts.place(segment),
        )


def _values(scores: FeatureScores, system: int, segment: int) -> Mapping[str, float | None]:
    named = {"base": scores.base, "max": scores.oracle, "min": scores.anti_oracle}
    return {name: float(values[system, segment]) for name, values in named.items()}


def _largest(values: NDArray[np.float64], count: int, among: NDArray[np.intp]) -> list[int]:
    """Positions of the largest values among some positions (ascending), ties by position."""
    order = np.argsort(-values[among], kind="stable")[:count]
    return cast("list[int]", among[order].tolist())
