"""Differences of MuLER between systems: intervals, p-values, and corrections for asking often."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from gnomon.muler._significance import LEAST
from gnomon.stats.resampling import shift_distance, shift_p
from gnomon.stats.significance import benjamini_hochberg, holm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.findings import Cell

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["Compared", "Differences", "compared"]

_FIELDS = ("difference", "low", "high", "p", "p_holm", "p_bh", "p_max", "segments")
_COLUMNS = ("first", "second", "difference", "low", "high", "p", "segments", "errors")
_ROUNDING = 1e-12  # 1 - 0.95 is not quite 0.05
_CELLS = 4_000_000  # float64 differences held at once (32 MB)


@dataclass(frozen=True)
class Compared:
    """Every pair of K systems on one feature, P = K (K - 1) / 2; NaN where undefined.

    Attributes:
        first: intp [P], the system that comes first in the test set.
        second: intp [P], the other one.
        difference: float64 [P], MuLER of the first less that of the second.
        low: float64 [P], lower ends of its intervals.
        high: float64 [P], upper ends.
        p: float64 [P], two-sided.
        segments: intp [P], the smaller of the two sizes of I.
        errors: float64 [P], how many bootstrap standard errors the difference is away from 0.
        farthest: float64 [B], the farthest that any pair moves in a resample, likewise.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    segments: NDArray[np.intp]
    errors: Floats
    farthest: Floats


def compared(
    estimates: Floats, samples: Floats, sizes: NDArray[np.intp], confidence: float
) -> Compared:
    """Compare every pair of systems by a paired bootstrap.

    The interval is difference -+ q, q the quantile over resamples of |difference* - difference|,
    and p = (1 + #{|difference* - difference| >= |difference|}) / (B + 1); a pair with fewer than
    ``LEAST`` segments in either I has neither.

    Args:
        estimates: float64 [K]; NaN where undefined.
        samples: float64 [K, B], the same in every resample.
        sizes: int [K], the size of I.
        confidence: of the intervals.
    """
    first, second = np.triu_indices(len(estimates), 1)
    difference = estimates[first] - estimates[second]
    segments = np.minimum(sizes[first], sizes[second])
    wide, p, errors = np.full((3, len(first)), np.nan)
    farthest = np.zeros(samples.shape[1])
    tested = np.flatnonzero((segments >= LEAST) & ~np.isnan(difference))
    step = max(1, _CELLS // samples.shape[1])
    for start in range(0, len(tested), step):
        pairs = tested[start : start + step]
        drawn = samples[first[pairs]] - samples[second[pairs]]
        wide[pairs] = shift_distance(difference[pairs], drawn, confidence)
        p[pairs] = shift_p(difference[pairs], drawn)
        moved = np.abs(drawn - difference[pairs][:, None])
        unit = np.sqrt(np.nanmean(moved**2, axis=1))
        errors[pairs] = _per_unit(np.abs(difference[pairs]), unit)
        farthest = np.fmax(farthest, np.fmax.reduce(_per_unit(moved, unit[:, None]), axis=0))
    low, high = difference - wide, difference + wide
    return Compared(first, second, difference, low, high, p, segments, errors, farthest)


def _per_unit(values: Floats, unit: Floats) -> Floats:
    """Values in units of a standard error; where nothing ever moves, 0 stays 0 and all else far."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values <= _ROUNDING, values * 0.0, values / unit)


@dataclass
class Differences:
    """Gathers comparisons feature by feature, family by family (metric, variant, slice).

    Attributes:
        systems: names of the systems.
        confidence: a difference is significant where its p-value, corrected after Benjamini and
            Hochberg, is at most 1 - confidence.
    """

    systems: Sequence[str]
    confidence: float
    families: dict[tuple[str, str, str | None], dict[str, Compared]] = field(default_factory=dict)

    def add(
        self, metric: str, variant: str, part: str | None, feature: str, found: Compared
    ) -> None:
        """Note the comparisons of one feature."""
        self.families.setdefault((metric, variant, part), {})[feature] = found

    def largest_family(self) -> int:
        """The largest number of tests that are corrected together."""
        sizes = [
            sum(int((~np.isnan(found.p)).sum()) for found in family.values())
            for family in self.families.values()
        ]
        return max(sizes, default=0)

    def rows(self) -> list[dict[str, Cell]]:
        """Records of all comparisons, the most significant of each family first."""
        return [row for key, family in self.families.items() for row in self._family(key, family)]

    def _family(
        self, key: tuple[str, str, str | None], family: dict[str, Compared]
    ) -> list[dict[str, Cell]]:
        """Records of one family; p-values are corrected over its features and pairs."""
        parts = list(family.values())
        joined = {name: np.concatenate([getattr(c, name) for c in parts]) for name in _COLUMNS}
        joined |= {
            "p_holm": holm(joined["p"]),
            "p_bh": benjamini_hochberg(joined["p"]),
            "p_max": _max_p(joined["errors"], np.max([c.farthest for c in parts], axis=0)),
        }
        features = [name for name, c in family.items() for _ in range(len(c.p))]
        values = {name: _cells(column) for name, column in joined.items()}
        metric, variant, part = key
        return [
            {
                "metric": metric,
                "variant": variant,
                "slice": part,
                "feature": features[i],
                "system_a": self.systems[int(joined["first"][i])],
                "system_b": self.systems[int(joined["second"][i])],
                **{name: values[name][i] for name in _FIELDS},
                "significant": bool(joined["p_bh"][i] <= 1 - self.confidence + _ROUNDING),
            }
            for i in _order(joined)
        ]


def _max_p(errors: Floats, farthest: Floats) -> Floats:
    """(1 + resamples in which any difference of the family moves as far) / (B + 1)."""
    ordered = np.sort(farthest)
    farther = len(ordered) - np.searchsorted(ordered, errors - _ROUNDING, side="left")
    return np.where(np.isnan(errors), np.nan, (1 + farther) / (1 + len(ordered)))


def _order(joined: dict[str, NDArray[Any]]) -> list[int]:
    """Smallest p first; among equals the difference of most standard errors."""
    order = np.lexsort((-joined["errors"], joined["p"]))
    return cast("list[int]", order.tolist())


def _cells(column: NDArray[Any]) -> list[Cell]:
    return [None if math.isnan(value) else value for value in column.tolist()]
