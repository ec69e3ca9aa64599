"""Metrics against each other on the same pairs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gnomon import stats
from gnomon.core.records import METRIC, Record, column
from gnomon.stats.jackknife import LEAST_DOCUMENTS, jackknife
from gnomon.stats.significance import binomial_p

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.methods.stress._outcomes import ScoredPairs


class SeenContrastRow(Record):
    """Two metrics on the same pairs of one kind."""

    phenomenon: str = column("Phenomenon", help="in what the two texts of a pair differ")
    metric: str = METRIC
    other: str = column("Other metric", help="that is compared with it")
    pairs: int = column("Pairs", help="of which both metrics scored both texts")
    metric_only: int = column("Seen by it alone", help="pairs that the first metric alone sees")
    other_only: int = column("By the other alone", help="pairs that the other metric alone sees")
    p: float | None = column(
        "p",
        digits=3,
        help="exact test of McNemar, two-sided; where documents or sentences have several pairs,"
        " that of the difference over these (jackknife)",
    )
    p_corrected: float | None = column(
        "p, corrected", digits=3, help="Holm's over all rows of this table"
    )


def contrast_rows(scored: ScoredPairs) -> list[SeenContrastRow]:
    """Each two metrics that are no controls, on each kind of errors."""
    groups, outcomes, metrics = scored.groups, scored.outcomes, list(scored.metrics)
    errors = np.flatnonzero(groups.of_kind("error", "crossed"))
    names = list(dict.fromkeys(groups.names[n] for n in errors.tolist()))
    of_name = {name: np.array([other == name for other in groups.names]) for name in names}
    fields = []
    for position, metric in enumerate(metrics):
        for other in metrics[position + 1 :]:
            first, second = outcomes[metric], outcomes[other]
            for name in names:
                both = np.flatnonzero(of_name[name] & first.scored & second.scored)
                gain = first.seen[both].astype(np.int64) - second.seen[both]
                p = _p_value(gain, groups.clusters[both])
                alone, reverse = int((gain > 0).sum()), int((gain < 0).sum())
                fields.append((name, metric, other, len(both), alone, reverse, p))
    corrected = stats.holm([values[-1] for values in fields]).tolist() if fields else []
    return [
        SeenContrastRow(
            phenomenon=name,
            metric=metric,
            other=other,
            pairs=n,
            metric_only=alone,
            other_only=reverse,
            p=p,
            p_corrected=adjusted,
        )
        for (name, metric, other, n, alone, reverse, p), adjusted in zip(
            fields, corrected, strict=True
        )
    ]


def _p_value(gain: NDArray[np.int64], clusters: NDArray[np.int64]) -> float:
    """Of one metric seeing as many pairs as the other."""
    _, which, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    if len(sizes) == len(gain):
        return binomial_p(int((gain > 0).sum()), int(np.count_nonzero(gain)))
    if len(sizes) < LEAST_DOCUMENTS:
        return math.nan
    sums = np.bincount(which, gain)
    without = (sums.sum() - sums) / (len(gain) - sizes)
    return float(jackknife(gain.mean(), without, sizes).p)
