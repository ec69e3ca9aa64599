"""Gains over metrics whose scores are drawn, for tests of what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnomon import Scores, TestSet
from gnomon.agreement.gains import AgreementGainRow, draw_scores, gain_row
from gnomon.agreement.measures import Measure
from gnomon.agreement.pairing import PairingRequest, pairings
from gnomon.agreement.significance import Testing
from gnomon.core.human import HumanScores
from gnomon.core.signature import Signature

if TYPE_CHECKING:
    import numpy as np

    from gnomon.core.batch import Batch
    from gnomon.metrics.base import BoundMetric


def names(count: int) -> tuple[str, ...]:
    """Names of systems, in order."""
    return tuple(f"s{k:02}" for k in range(count))


def means(segments: np.ndarray, name: str) -> Scores:
    """Scores of segments [K, N], and their means."""
    system = segments.mean(axis=1)
    return Scores(name, names(len(segments)), system, segments, True, Signature(name))


def scores_of(bound: BoundMetric, batch: Batch) -> Scores:
    """Scores of the systems in order, with the statistics that they are made of."""
    values, segments = bound.system(batch), bound.segments(batch)
    parts = bound.statistics(batch), bound.aggregate  # type: ignore[attr-defined]  # of sums
    return Scores(
        bound.name, names(len(segments)), values, segments, True, Signature(bound.name), *parts
    )


def gained(human: np.ndarray, pair: Sequence[Scores], seed: int) -> AgreementGainRow:
    """What the second metric adds to Pearson's r of the first with people's scores of systems."""
    systems, segments = pair[0].segments.shape
    outputs = {name: ["w"] * segments for name in names(systems)}
    people = HumanScores("da", "system", names(systems), human[:, None])
    plain = TestSet.from_lists(outputs, ["w"] * segments, language_pair="de-en", name="drawn")
    testset = TestSet(
        name="drawn", references=plain.references, systems=plain.systems, human=(people,)
    )
    metrics = [(scores.metric, scores) for scores in pair]
    (pairing,) = pairings([testset], metrics, PairingRequest(controls=False))
    how = Testing(resamples=199, seed=seed)
    pair = pairing.entries
    drawn = [draw_scores(metric, segments, how) for metric in pair]
    return gain_row(pairing, pair, Measure("pearson", "system", "none"), how, drawn)
