"""Averages of records over the systems and features of an experiment."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell

__all__ = ["averaged", "known", "means", "middle"]

_LEAST = 20  # segments: below, a single sentence decides where a hybrid or a part lies


def averaged(
    rows: Sequence[Mapping[str, Cell]], *keys: str, over: str = "feature"
) -> Iterator[tuple[dict[str, Cell], list[Mapping[str, Cell]]]]:
    """Groups of records with equal keys: per ``over``, and, where it has several, for all of them.

    Records of fewer than 20 segments are left out; their groups remain.

    Args:
        rows: the records, with a column ``segments``.
        keys: columns that name a group.
        over: the one of them that is ``None`` in groups over all of its values.
    """
    several = len({row[over] for row in rows}) > 1
    groups: dict[tuple[Cell, ...], list[Mapping[str, Cell]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    for row in rows if several else ():
        whole = tuple(None if key == over else row[key] for key in keys)
        groups.setdefault(whole, []).append(row)
    for values, part in groups.items():
        yield dict(zip(keys, values, strict=True)), [row for row in part if _solid(row)]


def known(rows: Sequence[Mapping[str, Cell]], name: str) -> list[float]:
    """The numbers of a column, without what is undefined."""
    cells = (row[name] for row in rows)
    return [float(cell) for cell in cells if isinstance(cell, int | float)]


def means(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return sum(values) / len(values) if values else None


def middle(values: Sequence[float]) -> float | None:
    """The median; None of nothing."""
    return median(values) if values else None


def _solid(row: Mapping[str, Cell]) -> bool:
    segments = row["segments"]
    return isinstance(segments, int) and segments >= _LEAST
