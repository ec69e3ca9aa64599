"""Agreement with people: table 1, the curves of figure 2 and the ranks of table 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon import stats
from gnomon.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.difficulty._people import People
    from gnomon.findings import Cell

    Row = Mapping[str, Cell]

__all__ = [
    "Judged",
    "Subset",
    "agreement_rows",
    "best_count",
    "curve_rows",
    "point_rows",
    "rank_rows",
    "ranks",
    "subsets",
    "sum_rows",
]

STATISTICS: dict[str, Callable[..., float]] = {
    "pearson": stats.pearson,
    "spearman": stats.spearman,
    "kendall_b": stats.kendall_b,
}
_TITLES = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall_b": "Kendall's tau-b"}
_LEAST = 3  # systems that a correlation needs to say anything


class Judged(NamedTuple):
    """System scores of a metric, turned so that higher is better.

    Attributes:
        name: of the metric, for people.
        scores: float64 [K].
    """

    name: str
    scores: NDArray[np.float64]


class Subset(NamedTuple):
    """Systems that are judged together.

    Attributes:
        name: for people ("all 22 systems").
        rows: int64, the systems, in the order of the test set.
    """

    name: str
    rows: NDArray[np.int64]


def subsets(people: People, top: str) -> tuple[list[Subset], tuple[str, ...]]:
    """All judged systems, and the best of them.

    Args:
        people: human scores.
        top: "30%" (rounded down) or a number.

    Returns:
        The subsets, and a notice where the best are too few.

    Raises:
        UsageError: ``top`` is neither a number nor a share.
    """
    judged = len(people.order)
    k = best_count(top, judged)
    found = [Subset(f"all {judged} systems", people.top(judged))]
    if k < _LEAST:
        said = f"the top {top} of {judged} systems are {k}, too few to correlate; see --top"
        return found, (said,)
    said = f"top {top}: {k} of {judged} systems" if top.endswith("%") else f"top {k} of {judged}"
    return [*found, Subset(said, people.top(k))] if k < judged else found, ()


def agreement_rows(
    judged: Sequence[Judged], people: People, chosen: Sequence[Subset], segments: int
) -> Iterator[Row]:
    """Correlation of every metric with people over every subset (table 1)."""
    for subset in chosen:
        human = people.scores[subset.rows]
        for metric in judged:
            own = metric.scores[subset.rows]
            found = {name: _defined(of(human, own)) for name, of in STATISTICS.items()}
            r = found["pearson"]
            yield {
                "subset": subset.name,
                "metric": metric.name,
                "absolute": None if r is None else abs(r),
                **found,
                "systems": int((~np.isnan(human) & ~np.isnan(own)).sum()),
                "segments": segments,
                "human": people.kind,
            }


def curve_rows(
    judged: Sequence[Judged],
    people: People,
    following: Mapping[int, NDArray[np.float64]],
    name: str,
) -> Iterator[Row]:
    """Correlations over the K best systems, for every K (figure 2).

    Args:
        judged: metrics whose scores are the same at every K.
        people: human scores.
        following: K -> float64 [K systems], scores with the difficulties of these K systems alone.
        name: of that curve.
    """
    for k in range(_LEAST, len(people.order) + 1):
        rows = people.top(k)
        curves = [Judged(one.name, one.scores[rows]) for one in judged]
        curves += [Judged(name, following[k])] if k in following else []
        for statistic, of in STATISTICS.items():
            for curve in curves:
                yield {
                    "statistic": _TITLES[statistic],
                    "metric": curve.name,
                    "k": k,
                    "value": _defined(of(people.scores[rows], curve.scores)),
                }


def rank_rows(
    sides: Sequence[Judged], people: People, chosen: Sequence[Subset], systems: Sequence[str]
) -> Iterator[Row]:
    """Ranks by people and by both metrics within every subset, and their differences (table 2).

    Args:
        sides: the base metric and the weighted one.
        people: human scores.
        chosen: the subsets.
        systems: their names.
    """
    for subset in chosen:
        by_people = ranks(people.scores[subset.rows])
        base, weighted = (ranks(side.scores[subset.rows]) for side in sides)
        for place in sorted(range(len(subset.rows)), key=lambda p: (by_people[p] or 0, p)):
            yield {
                "subset": subset.name,
                "system": systems[int(subset.rows[place])],
                "human": float(people.scores[subset.rows[place]]),
                "human_rank": by_people[place],
                "base_rank": base[place],
                "rank": weighted[place],
                "base_difference": _difference(by_people[place], base[place]),
                "difference": _difference(by_people[place], weighted[place]),
            }


def sum_rows(rows: Sequence[Row], sides: Sequence[Judged]) -> Iterator[Row]:
    """Sums of the rank differences without their signs, and how many systems are in place."""
    for subset in dict.fromkeys(row["subset"] for row in rows):
        for key, side in zip(("base_difference", "difference"), sides, strict=True):
            own = [row[key] for row in rows if row["subset"] == subset]
            known = [one for one in own if isinstance(one, int)]
            yield {
                "subset": subset,
                "metric": side.name,
                "sum": sum(map(abs, known)),
                "in_place": known.count(0),
                "systems": len(known),
            }


def point_rows(judged: Sequence[Judged], people: People, systems: Sequence[str]) -> Iterator[Row]:
    """What people and each metric gave to every system."""
    for metric in judged:
        for k in people.order.tolist():
            score = _defined(float(metric.scores[k]))
            if score is not None:
                human = float(people.scores[k])
                yield {"metric": metric.name, "system": systems[k], "score": score, "human": human}


def ranks(scores: NDArray[np.float64]) -> list[int | None]:
    """1 for the highest; equal scores share the best of their ranks; None for NaN.

    >>> ranks(np.array([3.0, 5.0, 3.0, np.nan]))
    [2, 1, 2, None]
    """
    return [None if np.isnan(own) else 1 + int((scores > own).sum()) for own in scores]


def best_count(top: str, judged: int) -> int:
    """How many systems are the best: "30%" of those judged, rounded down, or a number.

    Raises:
        UsageError: ``top`` is neither a number nor a share.
    """
    share = top.endswith("%")
    digits = top.removesuffix("%")
    if not digits.isdecimal() or int(digits) == 0 or (share and int(digits) > 100):
        raise UsageError(f"the top systems are a number or a share such as 30%; got {top!r}")
    return int(digits) * judged // 100 if share else min(int(digits), judged)


def _difference(people: int | None, metric: int | None) -> int | None:
    return None if people is None or metric is None else people - metric


def _defined(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
