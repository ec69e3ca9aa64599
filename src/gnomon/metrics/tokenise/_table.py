"""Tokens of many texts as arrays: what the n-gram metrics and the masks work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TokenTable"]


@dataclass(frozen=True, eq=False)
class TokenTable:
    """The tokens of T texts, one after the other (compressed sparse rows).

    Attributes:
        tokeniser: name of the tokeniser, as signatures show it.
        offsets: int64 [T + 1]; the tokens of text t are rows ``offsets[t]:offsets[t + 1]``.
        ids: int32 [rows], index of each token into ``vocabulary``.
        start: int32 [rows], first code point of the token in the original text; -1 where the
            tokeniser changed the text so much that the token cannot be found in it.
        end: int32 [rows], code point after its last one (or -1). Starts and ends never decrease
            within a text.
        vocabulary: the distinct tokens as the metric compares them (unescaped, lower-cased).
        tokenised: how many distinct strings the tokeniser was run on: texts, or whitespace words
            where the tokens of a text are those of its words.
    """

    tokeniser: str
    offsets: NDArray[np.int64]
    ids: NDArray[np.int32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    vocabulary: tuple[str, ...]
    tokenised: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each text, int64 [T]."""
        lengths: NDArray[np.int64] = np.diff(self.offsets)
        return lengths

    @property
    def located(self) -> bool:
        """Whether every token was found in its text, so that the table can be masked."""
        return not bool((self.start < 0).any())

    @property
    def text_of(self) -> NDArray[np.int64]:
        """The text of each row, int64 [rows]."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def strings(self, text: int) -> list[str]:
        """The tokens of one text."""
        return [self.vocabulary[i] for i in self.ids[self.rows(text)]]

    def spans(self, text: int) -> list[tuple[int, int]]:
        """Where the tokens of one text stand in it."""
        rows = self.rows(text)
        return list(zip(self.start[rows].tolist(), self.end[rows].tolist(), strict=True))

    def rows(self, text: int) -> slice:
        """The rows of one text."""
        return slice(int(self.offsets[text]), int(self.offsets[text + 1]))
