"""What explainers found: importances of the words of both sides of every cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.signature import Signature

__all__ = ["Aggregable", "Explanations", "SideWords"]


@dataclass(frozen=True, eq=False)
class SideWords:
    """The words of one side of K x N cells, one cell after the other (compressed sparse rows).

    Cell (k, i) is number k * N + i.

    Attributes:
        side: "candidate", "reference" or "source".
        text: int32 [K * N], index of each cell's text in ``Explanations.texts``; -1 for none.
        offsets: int64 [K * N + 1]; the words of a cell are rows
            ``offsets[cell]:offsets[cell + 1]``.
        start: int32 [rows], first code point of the word in its text.
        end: int32 [rows], code point after the last one.
        importance: float64 [rows], in units of the metric; positive where the word makes the
            candidate look better. NaN where the metric was undefined.
    """

    side: str
    text: NDArray[np.int32]
    offsets: NDArray[np.int64]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    importance: NDArray[np.float64]

    def rows(self, cell: int) -> slice:
        """The rows of one cell."""
        return slice(int(self.offsets[cell]), int(self.offsets[cell + 1]))


class Aggregable(NamedTuple):
    """The importances of every cell, both sides together (compressed sparse rows).

    Attributes:
        values: float64 [rows], candidate first.
        offsets: int64 [K * N + 1].
    """

    values: NDArray[np.float64]
    offsets: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Explanations:
    """Explanations of a metric's scores of K systems on N segments.

    Attributes:
        metric: the metric's spec.
        systems: names of the K systems.
        segments: int32 [N], 0-based numbers of the segments in their test set.
        texts: the distinct texts that the sides point to.
        scores: float64 [K, N], what the metric says, in its own units.
        held: float64 [K, N], the same beside the one reference that explanations hold on to: that
            of several which scores best. Equal to ``scores`` where there is one reference.
        judged_by: int32 [K, N], index in ``texts`` of what each candidate is judged by: the held
            reference, or the source; -1 for none.
        higher_is_better: False for error rates, whose importances are those of the negated score.
        sides: the words of the candidate, then, if they are explained too, of the other side.
        signature: metric, explainer with its options and seed, sides.
        calls: distinct pairs of texts that the metric scored for this.
        known: cells that a cache knew.
        notices: what a reader should know.
    """

    metric: str
    systems: tuple[str, ...]
    segments: NDArray[np.int32]
    texts: tuple[str, ...]
    scores: NDArray[np.float64]
    held: NDArray[np.float64]
    judged_by: NDArray[np.int32]
    higher_is_better: bool
    sides: tuple[SideWords, ...]
    signature: Signature
    calls: int
    known: int = 0
    notices: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """(K, N)."""
        systems, segments = self.scores.shape
        return systems, segments

    @property
    def oriented(self) -> NDArray[np.float64]:
        """Scores beside all references, better is higher, float64 [K, N]: what w weighs."""
        return self.scores if self.higher_is_better else -self.scores

    def both(self) -> Aggregable:
        """The importances of both sides of each cell, as the power mean takes them."""
        lengths = np.sum([np.diff(side.offsets) for side in self.sides], axis=0)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        values = np.empty(int(offsets[-1]))
        at = offsets[:-1].copy()
        for side in self.sides:
            own = np.diff(side.offsets)
            within = np.arange(len(side.importance)) - np.repeat(side.offsets[:-1], own)
            values[np.repeat(at, own) + within] = side.importance
            at += own
        return Aggregable(values, offsets)

    def rows(self) -> list[dict[str, str | int | float | None]]:
        """One flat record per word: ``system, segment, side, token, position, importance``.

        Segments and positions count from 1; an undefined importance is None.
        """
        found: list[dict[str, str | int | float | None]] = []
        for cell in range(self.shape[0] * self.shape[1]):
            system, segment = divmod(cell, self.shape[1])
            for side in self.sides:
                found += self._rows_of(cell, side, self.systems[system], segment)
        return found

    def _rows_of(
        self, cell: int, side: SideWords, system: str, segment: int
    ) -> list[dict[str, str | int | float | None]]:
        own = side.rows(cell)
        number = int(side.text[cell])
        places = zip(side.start[own].tolist(), side.end[own].tolist(), strict=True)
        return [
            {
                "system": system,
                "segment": int(self.segments[segment]) + 1,
                "side": side.side,
                "token": self.texts[number][start:end],
                "position": position,
                "importance": None if np.isnan(value) else value,
            }
            for position, ((start, end), value) in enumerate(
                zip(places, side.importance[own].tolist(), strict=True), start=1
            )
        ]
