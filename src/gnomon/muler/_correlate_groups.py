"""Systems by year, architecture and constraint: mean MuLER of each group."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gnomon.findings import Cell
    from gnomon.muler._correlate_points import Point

__all__ = ["EVERY_PAIR", "KINDS", "groups"]

KINDS = ("year", "architecture", "constrained")
EVERY_PAIR = "all"


def groups(points: Iterable[Point]) -> list[dict[str, Cell]]:
    """Mean, smallest and largest MuLER of the systems of a group, as flat records.

    Groups are formed within each language pair and over all of them (named "all"; where there is
    one pair alone, only over all). Systems of which a year or architecture is not known are left
    out of that kind.

    Returns:
        Records ``language_pair, kind, group, metric, variant, feature, systems, muler, low, high,
        score``; years ascending, other groups in order of appearance.
    """
    whole = [point for point in points if point.part is None]
    pairs = list(dict.fromkeys(point.pair for point in whole))
    records: list[dict[str, Cell]] = []
    for pair in (EVERY_PAIR, *(pairs if len(pairs) > 1 else ())):
        chosen = [point for point in whole if pair in (EVERY_PAIR, point.pair)]
        for kind in KINDS:
            records += _of_kind(chosen, pair, kind)
    return records


def _of_kind(points: Sequence[Point], pair: str, kind: str) -> list[dict[str, Cell]]:
    cells: dict[tuple[str, str, str, str | int], list[Point]] = defaultdict(list)
    for point in points:
        group = point.known[kind]
        if group is not None:
            cells[point.metric, point.variant, point.feature, group].append(point)
    names = list(dict.fromkeys(key[3] for key in cells))
    order = sorted(names, key=str) if kind == "year" else names
    return [
        {
            "language_pair": pair,
            "kind": kind,
            "group": str(group),
            "metric": metric,
            "variant": variant,
            "feature": feature,
            **_summary(cells[metric, variant, feature, group]),
        }
        for metric, variant, feature in dict.fromkeys(key[:3] for key in cells)
        for group in order
        if (metric, variant, feature, group) in cells
    ]


def _summary(points: Sequence[Point]) -> dict[str, float | int | None]:
    losses = [point.loss for point in points if point.loss is not None]
    scores = [point.score for point in points if point.score is not None]
    return {
        "systems": len(losses),
        "muler": sum(losses) / len(losses) if losses else None,
        "low": min(losses, default=None),
        "high": max(losses, default=None),
        "score": sum(scores) / len(scores) if scores else None,
    }
