"""Correlations of -MuLER with scores: within each test set, and over all of them."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from gnomon.stats import pearson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.findings import Cell
    from gnomon.muler._correlate_points import Point

__all__ = ["ALL", "CENTRED", "correlations"]

ALL = "all systems"
CENTRED = "all systems, centred"
_LEAST = 3  # two points always lie on a line


def correlations(points: Sequence[Point], few: int) -> list[dict[str, Cell]]:
    """Pearson correlations of -MuLER over systems, as flat records.

    Within each test set; over all systems as they are; and over all systems after the mean of the
    test set was taken off both sides, so that hard and easy test sets do not make or hide a
    correlation. The last two only where there are several test sets.

    Args:
        points: one per system, test set, metric, variant, feature and slice.
        few: cells of fewer systems than this are flagged ("faint").

    Returns:
        Records ``test_set, pooling, metric, variant, feature, slice, with, r, n, faint,
        segments``; ``with`` is the metric's name (corpus score), "indices" or "spread",
        ``segments`` the median size of I.
    """
    groups: dict[tuple[str, str, str, str | None], list[Point]] = defaultdict(list)
    for point in points:
        groups[point.metric, point.variant, point.feature, point.part].append(point)
    several = len({point.test_set for point in points}) > 1
    return [
        {
            "test_set": name,
            "pooling": pooling,
            "metric": metric,
            "variant": variant,
            "feature": feature,
            "slice": part,
            "with": what,
            **_coefficient(pairs, few),
            "segments": segments,
        }
        for (metric, variant, feature, part), group in groups.items()
        for what in group[0].companions
        for name, pooling, pairs, segments in _pools(group, what, several=several)
    ]


def _pools(
    group: Sequence[Point], what: str, *, several: bool
) -> Iterator[tuple[str, str, NDArray[np.float64], int | None]]:
    """Name, pooling, pairs of both sides (float64 [2, n]) and the median size of I."""
    sets: dict[str, list[Point]] = defaultdict(list)
    for point in group:
        sets[point.test_set].append(point)
    sides = {name: _pairs(points, what) for name, points in sets.items()}
    for name, pairs in sides.items():
        yield name, "none", pairs, _segments(sets[name])
    if several:
        centred = [_centred(pairs) for pairs in sides.values()]
        yield ALL, "all", np.concatenate(list(sides.values()), axis=1), _segments(group)
        yield CENTRED, "centred", np.concatenate(centred, axis=1), _segments(group)


def _pairs(points: Iterable[Point], what: str) -> NDArray[np.float64]:
    sides = [(point.loss, point.beside(what)) for point in points]
    known = [(-loss, beside) for loss, beside in sides if loss is not None and beside is not None]
    return np.array(known, np.float64).reshape(-1, 2).T


def _segments(points: Iterable[Point]) -> int | None:
    sizes = [point.segments for point in points if point.segments is not None]
    return int(np.median(sizes)) if sizes else None


def _centred(sides: NDArray[np.float64]) -> NDArray[np.float64]:
    """Deviations from the mean of each side; a lone system has none, and says nothing."""
    if sides.shape[1] < 2:
        return sides[:, :0]
    return np.asarray(sides - sides.mean(axis=1, keepdims=True))


def _coefficient(pairs: NDArray[np.float64], few: int) -> dict[str, Cell]:
    x, y = pairs
    r = pearson(x, y) if len(x) >= _LEAST else math.nan
    return {"r": None if math.isnan(r) else r, "n": len(x), "faint": len(x) < few}
