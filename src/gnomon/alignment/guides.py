"""The guide with which outputs are aligned: a system whose lines fit, a reference, or sources."""

from __future__ import annotations

from os import fspath
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.alignment.likeness import Likeness
from gnomon.core.errors import DataError, LengthMismatchError
from gnomon.data.formats import plain_name, read_outputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from gnomon.core.testset import TestSet

__all__ = ["SOURCE", "Guide", "choose_guide"]

#: the guide that is the sources
SOURCE = "source"
#: a system with less in common with the reference than this is no guide, nor is one of few segments
_ALIKE, _FEWEST = 0.3, 2


class Guide(NamedTuple):
    """One text for each segment."""

    texts: Sequence[str]
    name: str = ""  # of a system; of a reference and of sources none
    of_sources: bool = False


def choose_guide(
    testset: TestSet, fitting: Mapping[str, Sequence[str]], by: str | PathLike[str] | None
) -> Guide:
    """The guide that is named, or the best one that is there.

    Args:
        testset: with references or sources.
        fitting: outputs with a line for each segment.
        by: the name of a text of the test set, "source", or a file.
    """
    reference = next(iter(testset.references.values()), None)
    if by == SOURCE or (by is None and reference is None):
        if testset.sources is None:
            raise DataError("there is nothing to align outputs with; give a reference or sources")
        return Guide(testset.sources, of_sources=True)
    rest = [text or "" for text in reference or [""] * testset.segments]
    if by is None:
        like = {name: _likeness_above_chance(texts, rest) for name, texts in fitting.items()}
        best = max(like, key=lambda name: like[name], default="")
        if not best or like[best] < _ALIKE:
            return Guide(rest)
        return Guide(_filled(fitting[best], rest), best)
    if by in testset.references:
        return Guide(_filled(testset.references[str(by)], rest))
    texts = fitting.get(str(by)) or next(iter(read_outputs([by]).values()))
    if len(texts) != testset.segments:
        raise LengthMismatchError(
            f"outputs are aligned by a line for each segment: {fspath(by)} has {len(texts):,}, and"
            f" there are {testset.segments:,} segments; name another file",
            counts={"the segments": testset.segments, fspath(by): len(texts)},
        )
    return Guide(_filled(texts, rest), plain_name(by))


def _filled(texts: Sequence[str | None], others: Sequence[str]) -> list[str]:
    """Texts, and others where they are empty."""
    return [a if a and a.strip() else b for a, b in zip(texts, others, strict=True)]


def _likeness_above_chance(texts: Sequence[str], references: Sequence[str]) -> float:
    """The mean likeness of texts to references, where 0 is that to references of other segments."""
    there = [i for i, text in enumerate(references) if text.strip()]
    n = len(there)
    likeness = Likeness([*(texts[i] for i in there), *(references[i] for i in there)])
    rows = np.arange(n)
    if n < _FEWEST:
        return 0.0
    alike, chance = (
        float(likeness.compute(np.roll(rows, k), n + rows).mean()) for k in (0, n // 2)
    )
    return (alike - chance) / (1 - chance)
