"""The paraphrases of some segments, as they come out of any method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, overload

from gnomon.testset import Paraphrase

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

__all__ = ["Batch", "Making"]


@dataclass(frozen=True)
class Batch(Sequence[Paraphrase]):
    """The paraphrases of some segments, by segment, best first.

    Attributes:
        groups: the paraphrases of each reference, constraint or system that was asked for, best
            first; the batch itself is the sequence of all of them.
        done: segments done so far, from the first one.
        counts: of this batch: segments without a reference ("bare"), groups of fewer than n
            ("short"), constraints that no paraphrase holds ("unreachable"), and what filters
            dropped ("empty", "copies", "duplicates", "inadequate").
    """

    groups: tuple[tuple[Paraphrase, ...], ...]
    done: int
    counts: Counter[str]

    @property
    def paraphrases(self) -> tuple[Paraphrase, ...]:
        """All of them."""
        return tuple(one for group in self.groups for one in group)

    def __len__(self) -> int:
        return len(self.paraphrases)

    @overload
    def __getitem__(self, index: int) -> Paraphrase: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Paraphrase]: ...
    def __getitem__(self, index: int | slice) -> Paraphrase | Sequence[Paraphrase]:
        return self.paraphrases[index]


class Making(Protocol):
    """Something that makes paraphrases of segment after segment, the same each time."""

    @property
    def total(self) -> int:
        """How many segments there are."""
        ...

    def settings(self) -> dict[str, object]:
        """What the results depend on; not the size of batches."""
        ...

    def batches(self, size: int = ..., after: int = 0) -> Iterator[Batch]:
        """Make paraphrases of ``size`` segments at once, leaving out those done before."""
        ...
