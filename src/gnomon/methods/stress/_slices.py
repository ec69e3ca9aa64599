"""Which errors metrics see in slices of the texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.findings import HeatMap
from gnomon.core.records import METRIC, SLICE, Record, column, column_of, table
from gnomon.methods.stress._figures import StressRow
from gnomon.methods.stress._outcomes import FEW_PAIRS, share_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Table, View
    from gnomon.methods.stress._outcomes import ScoredPairs


class SliceSeenRow(Record):
    """How often a metric sees an error of one kind in a slice of the texts."""

    slice: str = SLICE
    metric: str = METRIC
    phenomenon: str = column_of(StressRow, "phenomenon")
    kind: str = column_of(StressRow, "kind")
    pairs: int = column_of(StressRow, "pairs")
    seen: float | None = column(
        "Seen",
        kind="share",
        better="higher",
        interval=True,
        help="share of pairs whose better text has the better score",
    )
    ties: float | None = column_of(StressRow, "ties")


def slice_tables(
    scored: ScoredPairs, parts: Mapping[str, Sequence[int]], *, confidence: float
) -> tuple[tuple[Table, ...], tuple[View, ...]]:
    """A table of slices, and a picture per metric; none without slices."""
    rows = list(_rows(scored, parts, confidence))
    if not rows:
        return (), ()
    title = "By slice"
    views = (
        HeatMap(
            "slices",
            f"{title}: {metric}",
            "phenomenon",
            "slice",
            "seen",
            where={"metric": metric},
            beside="pairs",
            low=0,
            high=1,
            few=("pairs", FEW_PAIRS),
        )
        for metric in scored.metrics
    )
    return (table("slices", title, SliceSeenRow, rows, confidence=confidence),), tuple(views)


def _rows(
    scored: ScoredPairs, parts: Mapping[str, Sequence[int]], confidence: float
) -> Iterator[SliceSeenRow]:
    lowest = set(scored.groups.lowest_doses())
    names = np.array(scored.groups.names, dtype=object)
    for part, members in parts.items():
        numbers = np.array([n for n in members if n in lowest], dtype=np.intp)
        for metric, outcome in scored.metrics.items():
            for name in dict.fromkeys(names[numbers].tolist()):
                there = numbers[(names[numbers] == name) & outcome.scored[numbers]]
                if not len(there):
                    continue
                clusters = scored.groups.clusters[there]
                seen = share_interval(outcome.seen[there], clusters, level=confidence)
                yield SliceSeenRow(
                    slice=part,
                    metric=metric,
                    phenomenon=name,
                    kind=scored.groups.pairs[there[0]].kind,
                    pairs=len(there),
                    seen=seen.estimate,
                    ties=float(outcome.tied[there].mean()),
                    intervals={"seen": seen[1:]},
                )
