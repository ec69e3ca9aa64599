"""The segments that systems change most on the scale of a sentence scorer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from gnomon.findings import Exhibit, ExhibitText

if TYPE_CHECKING:
    from gnomon.annotate.scorers import SentenceScores
    from gnomon.batch import Batch
    from gnomon.muler._sentence_scores import Differences
    from gnomon.testset import TestSet

__all__ = ["sentence_exhibits"]

Role: TypeAlias = Literal["reference", "candidate"]


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
    return [
        _exhibit(scores, label, testset, batch, segment, leaders[segment], float(mean[segment]))
        for segment in order
    ]


def _exhibit(
    scores: SentenceScores,
    label: str,
    testset: TestSet,
    batch: Batch,
    segment: int,
    leaders: list[int],
    mean: float,
) -> Exhibit:
    labels = (testset.documents, testset.domains)
    document, domain = (None if names is None else names[segment] for names in labels)
    return Exhibit(
        group=label,
        kind=f"{label} changes most",
        segment=segment + 1,
        texts=tuple(_texts(scores, label, testset, batch, segment)),
        systems=tuple(batch.systems[system] for system in leaders),
        document=document,
        domain=domain,
        weight=mean,
        caption=f"mean distance over systems {mean:.2f}",
    )


def _texts(
    scores: SentenceScores, label: str, testset: TestSet, batch: Batch, segment: int
) -> list[ExhibitText]:
    def shown(role: Role, name: str, text: int) -> ExhibitText:
        value = float(scores.values[text])
        values = {label: None if np.isnan(value) else value}
        return ExhibitText(role, name, batch.texts[text], (), values)

    texts = []
    if testset.sources is not None:
        texts.append(ExhibitText("source", "", testset.sources[segment]))
    index = iter(batch.references[segment].tolist())
    names = [name for name, column in testset.references.items() if column[segment] is not None]
    texts += [shown("reference", name, next(index)) for name in names]
    candidates = batch.candidates[:, segment].tolist()
    texts += [
        shown("candidate", name, text) for name, text in zip(batch.systems, candidates, strict=True)
    ]
    return texts
