"""From the probable pieces of some masks to probable whole words."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Piece", "Speller", "best_words"]

#: combinations of pieces that are looked at until one is a whole word
_TRIES = 256


class Piece(NamedTuple):
    """A piece, by its number in the vocabulary, and its probability under a mask."""

    number: int
    probability: float


@dataclass(frozen=True)
class Speller:
    """Knows which pieces are words, and which words pieces make.

    Attributes:
        tokenizer: of transformers.
        size: how many pieces the model can predict.
    """

    tokenizer: Any
    size: int

    def read(self, numbers: tuple[int, ...]) -> str | None:
        """The whole word that pieces make: cut again, it gives them. None if they make none."""
        made = "".join(self.tokenizer.decode(list(numbers)).split())
        if not made:
            return None
        again = self.tokenizer(made, add_special_tokens=False)["input_ids"]
        return made if again == list(numbers) else None

    def allowed(self, own: Sequence[int]) -> list[NDArray[np.bool_]]:
        """The pieces that may stand for each piece of a word, bool [size].

        A word of one piece gives way to any other. In a word of several, pieces that are words
        give way to such, loose parts of words to loose parts, and marks to marks.
        """
        words, marks, usable = self._kinds
        if len(own) == 1:
            return [words]
        unknown = self.tokenizer.unk_token_id
        return [
            (usable if place else words)
            if number == unknown
            else usable & (words == words[number]) & (marks == marks[number])
            for place, number in enumerate(own)
        ]

    @cached_property
    def _kinds(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Which pieces are words by themselves, have no letter or digit, are not special."""
        count = min(len(self.tokenizer), self.size)
        backend = self.tokenizer.backend_tokenizer
        texts = backend.decode_batch([[n] for n in range(count)], skip_special_tokens=False)
        made = ["".join(text.split()) for text in texts]
        again = backend.encode_batch(made, add_special_tokens=False)
        usable = np.zeros(self.size, dtype=np.bool_)
        usable[:count] = [bool(text) for text in made]
        usable[[n for n in self.tokenizer.all_special_ids if n < self.size]] = False
        words, marks = np.zeros_like(usable), np.zeros_like(usable)
        words[:count] = [one.ids == [number] for number, one in enumerate(again)]
        marks[:count] = [not any(map(str.isalnum, text)) for text in made]
        return words & usable, marks, usable


def best_words(
    options: Sequence[Sequence[Piece]],
    read: Callable[[tuple[int, ...]], str | None],
    threshold: float,
) -> list[tuple[str, float]]:
    """Whole words whose probability exceeds a threshold; if none does, the most probable one.

    Args:
        options: for each mask its most probable pieces, the most probable first.
        read: the word that some pieces make, or None.
        threshold: in (0, 1).

    Returns:
        Words and probabilities, the most probable first; none where no combination within reach
        is a word. Combinations that read alike are one word, their probabilities added up.
    """
    found: dict[str, float] = {}
    for tries, (numbers, probability) in enumerate(_combinations(options)):
        within = probability > threshold
        if not within and (found or tries >= _TRIES):
            break
        word = read(numbers)
        if word is not None:
            found[word] = found.get(word, 0.0) + probability
    return sorted(found.items(), key=lambda item: -item[1])


def _combinations(
    options: Sequence[Sequence[Piece]],
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Combinations of one piece per mask, by falling probability."""
    if not all(options):
        return
    first = (0,) * len(options)
    heap = [(-_product(options, first), first)]
    seen = {first}
    while heap:
        negative, places = heapq.heappop(heap)
        yield tuple(row[at].number for row, at in zip(options, places, strict=True)), -negative
        for mask, at in enumerate(places):
            after = (*places[:mask], at + 1, *places[mask + 1 :])
            if at + 1 < len(options[mask]) and after not in seen:
                seen.add(after)
                heapq.heappush(heap, (-_product(options, after), after))


def _product(options: Sequence[Sequence[Piece]], places: Sequence[int]) -> float:
    product = 1.0
    for row, at in zip(options, places, strict=True):
        product *= row[at].probability
    return product
