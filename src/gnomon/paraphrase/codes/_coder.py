"""Codes with all that sentences need to get theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.cache import Cache
    from gnomon.formats import Tree
    from gnomon.paraphrase.codes._codes import Codes, Kind

__all__ = ["SentenceCoder"]


@dataclass(frozen=True)
class SentenceCoder:
    """Codes of sentences whose trees are known, for what knows sentences alone.

    Attributes:
        codes: the codes.
        trees: tree of each sentence, for syntactic codes; by default they are parsed. A sentence
            that is not among them, or has None, has no code.
        cache: where trees that are parsed are kept between runs.
        progress: called with a stage, what is done, and the total.
    """

    codes: Codes
    trees: Mapping[str, Tree | None] | None = None
    cache: Cache | None = None
    progress: Callable[[str, int, int], None] | None = None

    @property
    def kind(self) -> Kind:
        """What the codes stand for."""
        return self.codes.kind

    @property
    def k(self) -> int:
        """How many codes there are."""
        return self.codes.k

    @property
    def identity(self) -> str:
        """Hash of what decides a code."""
        return self.codes.identity

    def assign(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """The code of each sentence, int32 [T]; -1 where it has none.

        Raises:
            UsageError: there are trees, and the codes are not syntactic; or the codes need trees,
                and there are none.
        """
        trees = None if self.trees is None else [self.trees.get(text) for text in texts]
        return self.codes.assign(texts, trees=trees, cache=self.cache, progress=self.progress)
