"""How to search, and what a search holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Found", "Options", "Plan", "Stopping"]

Stopping = Literal["exact", "usual"]


@dataclass(frozen=True)
class Plan:
    """How to search.

    Attributes:
        beam: hypotheses per text and group.
        n: targets wanted per text and group.
        length_penalty: exponent of the length by which log-probabilities are divided.
        stopping: "exact" or "usual"; see :func:`gnomon.models.decoding.beam`.
        groups: groups that are to differ from each other.
        strength: what a piece loses for each hypothesis of an earlier group that takes it.
    """

    beam: int
    n: int
    length_penalty: float = 1.0
    stopping: Stopping = "exact"
    groups: int = 1
    strength: float = 0.0

    def score(self, log_probability: Any, length: Any) -> Any:
        """What hypotheses are ranked by; ``</s>`` counts as a piece."""
        return log_probability / np.asarray(length, dtype=np.float64) ** self.length_penalty


class Found(NamedTuple):
    """A finished hypothesis: pieces without ``</s>``, log-probability, score."""

    pieces: tuple[int, ...]
    log_probability: float
    score: float


class Options(NamedTuple):
    """Continuations of the hypotheses of each slot, the preferred ones first; arrays [S, M].

    Attributes:
        parent: the hypothesis that is continued, from 0 in each slot.
        piece: what it is continued with.
        total: log-probability up to it; -inf for what cannot be.
        state: of the constraints after it; 0 without constraints.
    """

    parent: NDArray[np.int64]
    piece: NDArray[np.int64]
    total: NDArray[np.float64]
    state: NDArray[np.int64]

    def take(self, order: NDArray[np.int64]) -> Options:
        """Those at some places of each slot."""
        return Options(
            np.take_along_axis(self.parent, order, axis=1),
            np.take_along_axis(self.piece, order, axis=1),
            np.take_along_axis(self.total, order, axis=1),
            np.take_along_axis(self.state, order, axis=1),
        )

    def widened(self, size: int) -> Options:
        """As many as asked for, those that are added impossible."""
        more = ((0, 0), (0, size - self.parent.shape[1]))
        return Options(
            np.pad(self.parent, more),
            np.pad(self.piece, more),
            np.pad(self.total, more, constant_values=-np.inf),
            np.pad(self.state, more),
        )
