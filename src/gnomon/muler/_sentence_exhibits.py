"""The segments that systems change most on the scale of a sentence scorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.findings import Exhibit
from gnomon.muler._segment_texts import SegmentTexts

if TYPE_CHECKING:
    from gnomon.annotate.scorers import SentenceScores
    from gnomon.batch import Batch
    from gnomon.muler._sentence_scores import Differences
    from gnomon.testset import TestSet

__all__ = ["sentence_exhibits"]


def sentence_exhibits(
    found: Differences,
    scores: SentenceScores,
    label: str,
    testset: TestSet,
    batch: Batch,
    count: int,
) -> list[Exhibit]:
    """The ``count`` segments that each system changes most, once each, largest mean first."""
    distance = np.where(np.isnan(found.absolute), 0.0, found.absolute)
    leaders: dict[int, list[int]] = {}
    for system, row in enumerate(distance):
        for segment in np.argsort(-row, kind="stable")[:count].tolist():
            if row[segment] > 0:
                leaders.setdefault(segment, []).append(system)
    mean = distance.mean(axis=0)
    order = sorted(leaders, key=lambda segment: (-mean[segment], segment))
    texts = SegmentTexts(testset, batch)
    return [
        _exhibit(scores, label, texts, segment, leaders[segment], float(mean[segment]))
        for segment in order
    ]


def _exhibit(
    scores: SentenceScores,
    label: str,
    texts: SegmentTexts,
    segment: int,
    leaders: list[int],
    mean: float,
) -> Exhibit:
    def said(text: int) -> dict[str, float | None]:
        value = float(scores.values[text])
        return {label: None if np.isnan(value) else value}

    batch = texts.batch
    outputs = (
        texts.candidate(segment, system, said(int(text)))
        for system, text in enumerate(batch.candidates[:, segment])
    )
    return Exhibit(
        group=label,
        kind=f"{label} changes most",
        segment=segment + 1,
        texts=(*texts.given(segment, said), *outputs),
        systems=tuple(batch.systems[system] for system in leaders),
        weight=mean,
        caption=f"mean distance over systems {mean:.2f}",
        **texts.place(segment),
    )
