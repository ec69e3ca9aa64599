"""Tokens of many texts as arrays: what the n-gram metrics and the masks work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["Places", "TokenTable", "Vocabulary", "code_points"]


class Places(NamedTuple):
    """Where tokens stand in their texts, int32 [rows] each, as in :class:`TokenTable`."""

    start: NDArray[np.int32]
    end: NDArray[np.int32]


class Vocabulary(Sequence[str]):
    """Distinct tokens, kept as code points and made into strings when asked for.

    Attributes:
        codes: uint32, the code points of all tokens.
        bounds: int64 [V + 1], bounds of each token in ``codes``.
    """

    def __init__(self, codes: NDArray[np.uint32], bounds: NDArray[np.int64]) -> None:
        self.codes = codes
        self.bounds = bounds

    @classmethod
    def of(cls, tokens: Sequence[str]) -> Vocabulary:
        """The vocabulary that holds these tokens in this order."""
        sizes = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
        return cls(code_points(tokens), np.concatenate([[0], np.cumsum(sizes)]))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self._strings[index]

    @cached_property
    def _strings(self) -> list[str]:
        text = self.codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        bounds = self.bounds.tolist()
        return [text[low:high] for low, high in pairwise(bounds)]


@dataclass(frozen=True, eq=False)
class TokenTable:
    """The tokens of T texts, one after the other (compressed sparse rows).

    Attributes:
        tokeniser: name of the tokeniser, as signatures show it.
        offsets: int64 [T + 1]; the tokens of text t are rows ``offsets[t]:offsets[t + 1]``.
        ids: int32 [rows], index of each token into ``vocabulary``.
        vocabulary: the distinct tokens as the metric compares them (unescaped, lower-cased).
        tokenised: how many distinct strings the tokeniser was run on: texts, or whitespace words
            where the tokens of a text are those of its words.
        places: finds the tokens in the texts; called once, when first needed.
    """

    tokeniser: str
    offsets: NDArray[np.int64]
    ids: NDArray[np.int32]
    vocabulary: Vocabulary
    tokenised: int
    places: Callable[[], Places]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def start(self) -> NDArray[np.int32]:
        """First code point of each token in the original text, int32 [rows].

        -1 where the tokeniser changed the text so much that the token cannot be found in it.
        Starts and ends never decrease within a text.
        """
        return self._found.start

    @property
    def end(self) -> NDArray[np.int32]:
        """Code point after the last one of each token (or -1), int32 [rows]."""
        return self._found.end

    @cached_property
    def _found(self) -> Places:
        return self.places()

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each text, int64 [T]."""
        lengths: NDArray[np.int64] = np.diff(self.offsets)
        return lengths

    @property
    def located(self) -> bool:
        """Whether every token was found in its text, so that the table can be masked."""
        return not bool((self.start < 0).any())

    @cached_property
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


def code_points(texts: Sequence[str]) -> NDArray[np.uint32]:
    """The code points of texts, one after the other, uint32."""
    # lone surrogates are characters like any others here
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype="<u4").astype(np.uint32, copy=False)
