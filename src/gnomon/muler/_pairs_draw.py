"""Drawing segments from pairs of systems: evenly over features and pairs, with a seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from gnomon.muler._pairs_contrasts import Contrast

__all__ = ["Draw", "draw"]


@dataclass(frozen=True)
class Draw:
    """A segment of a pair of systems.

    Attributes:
        contrast: the pair, by its position in the list that was drawn from.
        place: position of the segment in the pair's ``segments``.
        swapped: the system that MuLER calls better is shown second.
    """

    contrast: int
    place: int
    swapped: bool


def draw(found: Sequence[Contrast], *, items: int, rng: np.random.Generator) -> list[Draw]:
    """Draw segments, in random order, each with a coin thrown for the order of its outputs.

    Features take turns, and so do the pairs of a feature, until enough are drawn or none are left.
    No segment is drawn twice for a feature, so that the judgements of a feature are independent.

    Args:
        found: the pairs of systems.
        items: how many segments, at most.
        rng: the source of randomness.
    """
    names = list(dict.fromkeys(one.feature for one in found))
    rng.shuffle(names)
    turns = [_segments_of(found, name, rng) for name in names]
    drawn: list[tuple[int, int]] = []
    while turns and len(drawn) < items:
        taken = [next(turn, None) for turn in turns]
        turns = [turn for turn, one in zip(turns, taken, strict=True) if one is not None]
        drawn += [one for one in taken if one is not None]
    order = rng.permutation(min(items, len(drawn))).tolist()
    coins = rng.integers(0, 2, size=len(order)).tolist()
    return [
        Draw(contrast=drawn[i][0], place=drawn[i][1], swapped=bool(coin))
        for i, coin in zip(order, coins, strict=True)
    ]


def _segments_of(
    found: Sequence[Contrast], feature: str, rng: np.random.Generator
) -> Iterator[tuple[int, int]]:
    """The (pair, place) of one feature, pair by pair in turn, no segment twice."""
    pairs = [n for n, one in enumerate(found) if one.feature == feature]
    rng.shuffle(pairs)
    left = {n: rng.permutation(len(found[n].segments)).tolist() for n in pairs}
    used: set[int] = set()
    while left:
        for n in list(left):
            place = _next_unused(left[n], found[n], used)
            if place is None:
                del left[n]
            else:
                yield n, place


def _next_unused(places: list[int], one: Contrast, used: set[int]) -> int | None:
    while places:
        place = places.pop()
        segment = int(one.segments[place])
        if segment not in used:
            used.add(segment)
            return place
    return None
