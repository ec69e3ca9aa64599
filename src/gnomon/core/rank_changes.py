"""Ranks of systems under a metric and under a reweighted one, and their changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from gnomon.core.findings import Bars
from gnomon.core.verdicts import metric_title
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["RankedRow", "base_views", "rank_changes", "ranked_by_metric", "ranks"]


class RankedRow(Protocol):
    """A row with the columns system, metric, rank, score, base_rank and base_score."""

    @property
    def system(self) -> str:
        """The system."""
        ...

    @property
    def metric(self) -> str:
        """The metric that ranks."""
        ...

    @property
    def rank(self) -> int | None:
        """The rank of the system; None where it has no score."""
        ...

    @property
    def base_rank(self) -> int | None:
        """Its rank under the metric itself."""
        ...


def ranks(scores: NDArray[np.float64]) -> list[int | None]:
    """1 for the highest; equal scores share the best of their ranks; None for NaN.

    >>> ranks(np.array([3.0, 5.0, 3.0, np.nan]))
    [2, 1, 2, None]
    """
    return [None if np.isnan(score) else 1 + int((scores > score).sum()) for score in scores]


def ranked_by_metric(rows: Sequence[RankedRow]) -> Iterator[list[Any]]:
    """The rows of each metric that ranks two systems or more."""
    for metric in dict.fromkeys(row.metric for row in rows):
        ranked = [row for row in rows if row.metric == metric and row.rank is not None]
        if len(ranked) > 1:
            yield ranked


def rank_changes(
    finding: Finding, rows: Sequence[Any], title: str, by: Literal["boosted", "weighted"]
) -> Message:
    """Who is first under a metric, and who rises or falls; nothing was tested.

    Args:
        finding: which has the rows.
        rows: of one metric.
        title: its short name.
        by: what was done to its scores.
    """
    first, before = _first(rows)
    same = set(first) == set(before)
    up, down = ([row for row in rows if sign * _moved(row) > 0] for sign in (1, -1))
    return message(
        "score.reranked",
        finding.positions(rows),
        first=first,
        before=before,
        metric=title,
        how=f"{by}_or_not" if same else by,
        moves="some" if up or down else "none",
        up=_moves(up),
        rising=bool(up),
        down=_moves(down),
        falling=bool(down),
        both=bool(up and down),
        segments=int(finding.facts["segments"]),
        remedy=by,
    )


def _first(rows: Sequence[RankedRow]) -> tuple[list[str], list[str]]:
    """Who is first, and who is under the metric itself."""
    return (
        [row.system for row in rows if row.rank == 1],
        [row.system for row in rows if row.base_rank == 1],
    )


def _moved(row: RankedRow) -> int:
    """Places up; negative is down."""
    return 0 if row.base_rank is None or row.rank is None else row.base_rank - row.rank


def _moves(rows: Sequence[RankedRow]) -> list[dict[str, object]]:
    """Systems and the places by which they moved, the farthest first."""
    ordered = sorted(rows, key=lambda row: -abs(_moved(row)))
    return [{"system": row.system, "by": abs(_moved(row))} for row in ordered]


def base_views(table: str, rows: Sequence[RankedRow]) -> Iterator[Bars]:
    """Dots of a score beside its base score, of all systems that have a rank, metric by metric."""
    metrics = [row.metric for row in rows]
    for ranked in ranked_by_metric(rows):
        metric = ranked[0].metric
        yield Bars(
            table=table,
            title=f"{metric_title(metric, metrics)}: scores beside base scores",
            category="system",
            series="metric",
            values=("score", "base_score"),
            where={"metric": metric},
            most=1,
            dots=True,
        )
