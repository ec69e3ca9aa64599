"""Table 2: ranks by people, by the base metric and by the weighted one, and their differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gnomon.agreement.tables import HUMAN, SUBSET
from gnomon.core.findings import Listing
from gnomon.core.records import METRIC, SYSTEM, Record, column
from gnomon.methods.difficulty.agreement import ranks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.core.findings import View
    from gnomon.methods.difficulty.agreement import People, Subset

_RANKS = (
    *("system", "human_score", "human_rank", "base_rank", "rank"),
    *("base_difference", "difference"),
)
_SUMS = ("subset", "metric", "sum", "in_place", "systems")


class RankRow(Record):
    """Ranks of a system by people and by both scores within some systems (table 2)."""

    subset: str = SUBSET
    metric: str = METRIC
    system: str = SYSTEM
    human_score: float = column("Human score", digits=3, help="people's score of the system")
    human_rank: int | None = column("Human rank", help="by people")
    base_rank: int | None = column("Base rank", help="by the base score")
    rank: int | None = column("Rank", help="by the weighted score")
    base_difference: int | None = column(
        "Base, off by", help="human rank less base rank: + is above"
    )
    difference: int | None = column("Weighted, off by", help="human rank less rank: + is above")
    human: str = HUMAN


class RankSumRow(Record):
    """How far the ranks of a metric are from those of people."""

    subset: str = SUBSET
    metric: str = METRIC
    sum: int = column("Sum |off|", better="lower", help="rank differences without sign")
    in_place: int = column("In place", better="higher", help="systems ranked as by people")
    systems: int = column("K", help="systems")
    human: str = HUMAN


class MetricScores(NamedTuple):
    """System scores of a metric, turned so that higher is better."""

    name: str
    scores: NDArray[np.float64]  # [K]


def rank_rows(
    sides: Sequence[MetricScores],
    people: People,
    chosen: Sequence[Subset],
    systems: Sequence[str],
    metric: str,
) -> Iterator[RankRow]:
    """Ranks by people and by both metrics within every subset, and their differences (table 2)."""
    for subset in chosen:
        by_people = ranks(people.scores[subset.rows])
        base, weighted = (ranks(side.scores[subset.rows]) for side in sides)
        for position in sorted(range(len(subset.rows)), key=lambda p: (by_people[p] or 0, p)):
            yield RankRow(
                subset=subset.name,
                metric=metric,
                system=systems[int(subset.rows[position])],
                human_score=float(people.scores[subset.rows[position]]),
                human_rank=by_people[position],
                base_rank=base[position],
                rank=weighted[position],
                base_difference=_difference(by_people[position], base[position]),
                difference=_difference(by_people[position], weighted[position]),
                human=people.kind,
            )


def sum_rows(rows: Sequence[RankRow], sides: Sequence[MetricScores]) -> Iterator[RankSumRow]:
    """Sums of the rank differences without their signs, and how many systems are in place."""
    for subset in dict.fromkeys(row.subset for row in rows):
        ranked = [row for row in rows if row.subset == subset]
        off = ([row.base_difference for row in ranked], [row.difference for row in ranked])
        for differences, side in zip(off, sides, strict=True):
            defined = [difference for difference in differences if difference is not None]
            yield RankSumRow(
                subset=subset,
                metric=side.name,
                sum=sum(map(abs, defined)),
                in_place=defined.count(0),
                systems=len(defined),
                human=ranked[0].human,
            )


def _difference(people: int | None, metric: int | None) -> int | None:
    return None if people is None or metric is None else people - metric


def rank_views(
    rows: Sequence[RankRow],
    sums: Sequence[RankSumRow],
    kinds: Sequence[str | None],
    sums_title: str,
) -> Iterator[View]:
    """Ranks for each kind of human scores, within the smallest subset, and their sums."""
    several = len(kinds) > 1
    metrics = list(dict.fromkeys(row.metric for row in rows))
    for kind in kinds:
        # those of all systems are in the table of scores already
        last = list(dict.fromkeys(row.subset for row in rows if row.human == kind))[-1:]
        for subset in last:
            for metric in metrics:
                of = [metric] * (len(metrics) > 1) + [str(kind)] * several
                where = {"subset": subset, **({"human": kind} if several else {})}
                where |= {"metric": metric} if len(metrics) > 1 else {}
                name = f"{subset} systems"
                title = f"Ranks, {name}{' (' + ', '.join(of) + ')' if of else ''}"
                yield Listing("ranks", title, _RANKS, where)
    if sums:
        yield Listing("rank_sums", sums_title, (*_SUMS, "human") if several else _SUMS)
