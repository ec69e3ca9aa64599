"""Likeness of texts: the mean share of n-grams of characters in common, as in chrF."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from gnomon.native import ngrams as loops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from gnomon.core.alignments import Aligner

__all__ = ["CHANCE", "Likeness", "LineCut", "LineMeasure", "PairLikeness", "add_pairs"]

_ORDERS = 3
#: likeness that a pair has by chance
CHANCE = 0.17


class PairLikeness(Protocol):
    """Texts whose likeness can be asked for.

    Attributes:
        lengths: of each text.
    """

    lengths: NDArray[np.int64]

    def compute(self, texts: ArrayLike, references: ArrayLike) -> NDArray[np.float64]:
        """Compute the likeness of pairs of texts, by their numbers."""


class LineCut(NamedTuple):
    """Two parts of a line, and the margin of their boundary."""

    texts: Sequence[str]
    margin: float


class LineMeasure(Protocol):
    """A measure of what lines have in common with segments."""

    by: Aligner

    def likeness(self, segments: Sequence[str], lines: Sequence[str]) -> PairLikeness:
        """Likeness of segments, each with the next one, lines, and each of these with the next."""

    def cut(self, line: str, segments: Sequence[str]) -> LineCut:
        """Cut a line between two segments."""


def add_pairs(texts: Sequence[str]) -> list[str]:
    """Texts, and then each with the next one."""
    return [*texts, *(f"{a} {b}" for a, b in pairwise(texts))]


class Likeness:
    """Texts whose likeness is asked for: case and white space do not count.

    Attributes:
        lengths: characters of each text.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        plain = ["".join(text.lower().split()) for text in texts]
        data = "".join(plain).encode("utf-32-le", "surrogatepass")
        codes = np.frombuffer(data, dtype="<u4")
        known, ids = np.unique(codes, return_inverse=True)
        self.lengths = np.array([len(text) for text in plain], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        self._rows = loops.Rows(offsets, ids.astype(np.int32), len(known))

    def compute(self, texts: ArrayLike, references: ArrayLike) -> NDArray[np.float64]:
        """The likeness of pairs of texts, by their numbers; 0 to 1.

        Args:
            texts: int64 [P].
            references: int64 [P], in ascending order.
        """
        some, theirs = np.asarray(texts, np.int64), np.asarray(references, np.int64)
        distinct, groups = np.unique(theirs, return_inverse=True)
        matches = self._rows.matches(some, groups, distinct, np.arange(len(distinct)), _ORDERS)
        shares = np.zeros(len(some))
        orders = np.zeros(len(some))
        for order in range(_ORDERS):
            lengths = np.stack([self.lengths[some], self.lengths[theirs]])
            both = np.maximum(lengths - order, 0).sum(axis=0)
            shares += np.divide(
                2 * matches[:, order], both, out=np.zeros(len(some)), where=both > 0
            )
            orders += both > 0
        return shares / np.maximum(orders, 1)
