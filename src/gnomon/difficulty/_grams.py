"""N-grams of many texts as integers: exact keys for any vocabulary and order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["GramTable", "Known", "grams", "known_ids", "ranked"]


@dataclass(frozen=True, eq=False)
class GramTable:
    """The n-grams of one order that begin at each position of T texts.

    Attributes:
        offsets: int64 [T + 1]; the n-grams of text t are rows ``offsets[t]:offsets[t + 1]``.
        key: int64 [rows], equal for equal n-grams.
    """

    offsets: NDArray[np.int64]
    key: NDArray[np.int64]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of n-grams of each text, int64 [T]."""
        sizes: NDArray[np.int64] = np.diff(self.offsets)
        return sizes


def grams(
    offsets: NDArray[np.int64], ids: NDArray[np.int64] | NDArray[np.int32], most: int
) -> list[GramTable]:
    """The n-grams of order 1 to ``most``; ids may be negative (masks).

    Args:
        offsets: int64 [T + 1], bounds of the texts.
        ids: the tokens of all texts.
        most: the longest order.
    """
    single = np.unique(ids, return_inverse=True)[1].reshape(-1).astype(np.int64)
    width = 1 + int(single.max(initial=0))
    ends = np.repeat(offsets[1:], np.diff(offsets))
    rank, position = single, np.arange(len(ids))
    tables = []
    for order in range(1, most + 1):
        if order > 1:
            kept = position + order <= ends[position]
            position, rank = position[kept], rank[kept]
            pairs = rank * width + single[position + order - 1]
            rank = np.unique(pairs, return_inverse=True)[1].reshape(-1)
        sizes = np.maximum(np.diff(offsets) - (order - 1), 0)
        tables.append(GramTable(np.concatenate([[0], np.cumsum(sizes)]), rank))
    return tables


@dataclass(frozen=True, eq=False)
class Known:
    """N-grams that can be told apart by name, whatever the texts at hand.

    Attributes:
        vocabulary: their distinct tokens.
        keys: per order, int64, ascending: rank of the n-gram without its last token (for order 1
            always 0) times the size of the vocabulary, plus the last token.
    """

    vocabulary: tuple[str, ...]
    keys: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(
        cls, offsets: NDArray[np.int64], ids: NDArray[np.int64], words: Sequence[str], most: int
    ) -> Known:
        """The n-grams of some texts, given as ids of words."""
        used, ids = np.unique(ids, return_inverse=True)
        vocabulary = tuple(words[number] for number in used.tolist())
        keys: list[NDArray[np.int64]] = []
        ends = np.repeat(offsets[1:], np.diff(offsets))
        rank, position = np.zeros(len(ids), dtype=np.int64), np.arange(len(ids))
        ids = ids.reshape(-1).astype(np.int64)
        for order in range(1, most + 1):
            kept = position + order <= ends[position]
            position, rank = position[kept], rank[kept]
            own, back = np.unique(
                rank * len(vocabulary) + ids[position + order - 1], return_inverse=True
            )
            rank = back.reshape(-1).astype(np.int64)
            keys.append(own)
        return cls(vocabulary, tuple(keys))

    def ranks(
        self, offsets: NDArray[np.int64], ids: NDArray[np.int32]
    ) -> Iterator[NDArray[np.int64]]:
        """Per order, the rank of the n-gram at each position where one begins; -1 where unknown.

        Args:
            offsets: int64 [T + 1], bounds of the texts.
            ids: int32, indices into ``vocabulary``; -1 for other tokens.
        """
        ends = np.repeat(offsets[1:], np.diff(offsets))
        rank, position = np.zeros(len(ids), dtype=np.int64), np.arange(len(ids))
        for order, keys in enumerate(self.keys, start=1):
            kept = position + order <= ends[position]
            position, rank = position[kept], rank[kept]
            last = ids[position + order - 1]
            wanted = np.where((rank < 0) | (last < 0), -1, rank * len(self.vocabulary) + last)
            rank = ranked(keys, wanted)
            yield rank


def ranked(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Position of each wanted key among ascending keys, int64; -1 where it is not there."""
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def known_ids(known: Known, words: Sequence[str], ids: NDArray[np.int32]) -> NDArray[np.int32]:
    """Ids of a vocabulary as indices into another; -1 for words that it lacks."""
    number = {word: n for n, word in enumerate(known.vocabulary)}
    renamed = np.fromiter((number.get(word, -1) for word in words), np.int32, len(words))
    return renamed[ids] if len(words) else np.zeros(0, dtype=np.int32)
