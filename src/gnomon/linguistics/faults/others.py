"""Outputs that are the translation of another segment, and files that are one under two names."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gnomon.linguistics.faults.kinds import Hit, fault
from gnomon.linguistics.faults.texts import REFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.linguistics.faults.texts import Texts

_SIGNS = 12  # characters of a text that returns
_SHARED = 0.5  # of the words of two sources
_SAME = 0.9  # of the outputs
_WORDS, _LETTERS = 5, 10  # of an output that may be equal by accident below
_FEWEST = 10  # such outputs


@fault("other-segment", group="shape", cheap=True, needs=["source"])
def other_segment(texts: Texts) -> Iterator[Hit]:
    """The same output of two sources that have little in common; the one that it fits is let go."""
    sources = texts.sources or ()
    for column, outputs in texts.columns.items():
        for text, segments in _find_repeated(texts, column):
            owner = max(segments, key=lambda one: (_fit(texts, column, text, one), -one))
            own = set(texts.words(sources[owner].lower()))
            for segment in segments:
                words = set(texts.words(sources[segment].lower()))
                if len(own & words) < _SHARED * max(len(own), len(words), 1):
                    yield Hit(column, segment, 0, len(outputs[segment] or ""), params={"of": owner})


def _find_repeated(texts: Texts, column: str) -> Iterator[tuple[str, list[int]]]:
    """Texts that a column has in several segments, and where."""
    numbers = texts.numbers[column]
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-2, append=-2))
    for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        segments = order[start:end].tolist()
        text = texts.columns[column][segments[0]]
        if len(segments) > 1 and text and len(text) >= _SIGNS:
            yield text, segments


def _fit(texts: Texts, column: str, text: str, segment: int) -> float:
    """Share of its pairs of characters that a text has in common with the others of a segment."""
    pairs = character_pairs(text)
    others = [
        character_pairs(outputs[segment] or "")
        for name, outputs in texts.columns.items()
        if name != column and outputs[segment] != text
    ]
    return max((len(pairs & one) / max(len(pairs | one), 1) for one in others), default=0.0)


def character_pairs(text: str) -> set[str]:
    """Its pairs of neighbouring characters."""
    return {text[at : at + 2] for at in range(len(text) - 1)}


@fault("double", group="shape", cheap=True, floor=False)
def double(texts: Texts) -> Iterator[Hit]:
    """Nine in ten outputs are those of another system, or of a reference."""
    numbers = texts.numbers
    for name, other in combinations(texts.columns, 2):
        if name.startswith(REFERENCE) or other == f"{REFERENCE}{name}":
            continue
        same = np.flatnonzero(numbers[name] == numbers[other])
        if 2 * len(same) < texts.segments * _SAME:
            continue
        enough = [row for row, text in enumerate(texts.systems[name]) if _is_enough(texts, text)]
        equal = sorted(set(same.tolist()) & set(enough))
        if len(enough) >= _FEWEST and len(equal) >= _SAME * len(enough):
            for segment in equal:
                for column, twin in ((name, other), (other, name)):
                    if not column.startswith(REFERENCE):
                        yield Hit(column, segment, params={"other": twin})


def _is_enough(texts: Texts, text: str) -> bool:
    return len(text) >= _LETTERS if texts.unspaced else text.count(" ") >= _WORDS - 1
