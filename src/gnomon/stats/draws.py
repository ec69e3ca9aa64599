"""Draws by unit, and statistics of sums over them: intervals, p of 0, tests.

Segments are drawn with replacement; documents are left out one at a time. Whoever counts something
in segments asks either for the sums of every draw, and turns these into statistics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from gnomon.stats.jackknife import Jackknife, jackknife, leave_out_sums, numbered
from gnomon.stats.resampling import (
    percentile_interval,
    resample_counts,
    resampled_sums,
    shift_test,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["DocumentDraws", "Draws", "SegmentDraws"]

_BLOCK = 200  # draws whose weights are held at once


@dataclass(frozen=True, eq=False)
class SegmentDraws:
    """Resamples of segments."""

    counts: NDArray[np.uint8]  # [N, B], from :func:`gnomon.stats.resampling.resample_counts`
    confidence: float

    @classmethod
    def draw(cls, segments: int, *, count: int, seed: int, confidence: float) -> Self:
        """Draw them."""
        return cls(resample_counts(segments, count=count, seed=seed), confidence)

    def select(self, rows: NDArray[np.intp], judgements: NDArray[np.intp]) -> SegmentDraws:  # noqa: ARG002  # documents need it
        """Those of some of the segments; see :class:`DocumentDraws`."""
        return SegmentDraws(self.counts[rows], self.confidence)

    def sums(self, values: Floats) -> Floats:
        """The sums of quantities [M, n] over every resample, float64 [M, B]."""
        return resampled_sums(values, self.counts)

    def units(self, having: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Number of units that are drawn, of some segments [..., n]."""
        return np.asarray(having.sum(axis=-1))

    def weights(self) -> Iterator[Floats]:
        """Weights of the segments, float64 [n, at most 200], block by block of resamples."""
        for first in range(0, self.counts.shape[1], _BLOCK):
            yield self.counts[:, first : first + _BLOCK].astype(np.float64)

    def ends(self, values: Floats, samples: Floats) -> tuple[Floats, Floats]:  # noqa: ARG002  # likewise
        """The ends of the intervals of statistics [...] with samples [..., B]: percentiles."""
        return percentile_interval(samples, self.confidence)

    def p(self, values: Floats, samples: Floats) -> Floats:
        """Two-sided p of statistics [...] being 0, normal with the spread of their samples."""
        defined = ~np.isnan(samples)
        n = np.maximum(defined.sum(axis=-1), 1)
        mean = np.where(defined, samples, 0.0).sum(axis=-1) / n
        squares = np.where(defined, samples - mean[..., None], 0.0) ** 2
        with np.errstate(invalid="ignore", divide="ignore"):
            z = np.abs(values) / np.sqrt(squares.sum(axis=-1) / n)
        return np.asarray(np.vectorize(math.erfc, otypes=[np.float64])(z / math.sqrt(2)))

    def test(self, value: float, samples: Floats) -> tuple[float, float, float]:
        """Interval and p of a difference."""
        return shift_test(value, samples, self.confidence)


@dataclass(frozen=True, eq=False)
class DocumentDraws:
    """Documents that are left out one at a time."""

    documents: NDArray[np.int64]  # the document of each segment, from 0 [N]
    sizes: NDArray[np.intp]  # judgements of each document [G]
    confidence: float

    @classmethod
    def leave_out(cls, documents: Sequence[str], judgements: ArrayLike, confidence: float) -> Self:
        """The documents of segments, of which each has so many judgements."""
        which = numbered(documents)
        return cls(which, np.bincount(which, judgements).astype(np.intp), confidence)

    def select(self, rows: NDArray[np.intp], judgements: NDArray[np.intp]) -> DocumentDraws:
        """Those of some of the segments, and of the judgements of each."""
        return self.leave_out(self.documents[rows].tolist(), judgements, self.confidence)

    def sums(self, values: Floats) -> Floats:
        """The sums of quantities [M, n] without each document, float64 [M, G]."""
        return np.asarray(leave_out_sums(values.T, self.documents).T)

    def units(self, having: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Number of documents that have some of some segments [..., n]."""
        within = np.stack([having & (self.documents == d) for d in range(len(self.sizes))])
        return np.asarray(within.any(axis=-1).sum(axis=0))

    def weights(self) -> Iterator[Floats]:
        """Weights of the segments, float64 [n, at most 200], block by block of documents."""
        for first in range(0, len(self.sizes), _BLOCK):
            block = np.arange(len(self.sizes))[first : first + _BLOCK]
            yield (self.documents[:, None] != block).astype(np.float64)

    def ends(self, values: Floats, samples: Floats) -> tuple[Floats, Floats]:
        """The ends of the intervals of statistics [...] with samples [..., G]: jackknife."""
        estimate = self._jackknife(values, samples)
        return estimate.low, estimate.high

    def p(self, values: Floats, samples: Floats) -> Floats:
        """Two-sided p of statistics [...] being 0: jackknife."""
        return self._jackknife(values, samples).p

    def test(self, value: float, samples: Floats) -> tuple[float, float, float]:
        """Interval and p of a difference."""
        estimate = self._jackknife(np.array(value), samples)
        return float(estimate.low), float(estimate.high), float(estimate.p)

    def _jackknife(self, values: Floats, samples: Floats) -> Jackknife:
        some = self.sizes > 0
        without = np.moveaxis(samples, -1, 0)[some]
        return jackknife(values, without, self.sizes[some], confidence=self.confidence)


Draws: TypeAlias = SegmentDraws | DocumentDraws
