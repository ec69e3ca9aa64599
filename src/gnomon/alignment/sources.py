"""Alignment with sources: by the lengths of texts and what both languages write alike, or vectors.

Gale and Church (1993), "A Program for Aligning Sentences in Bilingual Corpora".
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gnomon.alignment.boundaries import operations_of
from gnomon.alignment.joining import join_pieces
from gnomon.alignment.likeness import CHANCE, Cut, Likeness, with_pairs
from gnomon.alignment.lines import align_lines
from gnomon.alignment.signs import sentences_of
from gnomon.core.errors import MissingDependencyError, MissingFileError
from gnomon.core.scripts import spaced_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from gnomon.alignment.likeness import Measure, PairLikeness
    from gnomon.core.alignments import Aligner, Alignment
    from gnomon.models import Encoder

__all__ = ["align_sentences", "measure_of"]

#: variance of the length of a translation, by character of its source
_VARIANCE = 6.8
#: what lengths say at most, for and against a pair, and the squared deviation at which they say
#: nothing; what characters in common count beside them
_FOR, _AGAINST, _WIDE, _COMMON = 0.25, 0.75, 4.0, 1.0
#: models whose vectors of sentences are alike in many languages, taken where they are there
_MODELS = ("sentence-transformers/LaBSE", "sentence-transformers/stsb-xlm-r-multilingual")


def align_sentences(output: Sequence[str], sources: Sequence[str], measure: Measure) -> Alignment:
    """Align an output without lines, sentence by sentence.

    Args:
        output: its lines.
        sources: one text per segment.
        measure: of what sentences have in common.
    """
    ours = [(part, i) for i, line in enumerate(output) for part in sentences_of(line)]
    theirs = [(part, i) for i, text in enumerate(sources) for part in sentences_of(text)]
    found = align_lines([part for part, _ in ours], [part for part, _ in theirs], measure)
    pieces: list[list[str]] = [[] for _ in sources]
    lines: list[dict[int, None]] = [{} for _ in sources]
    for (_, segment), text, numbers in zip(theirs, found.texts, found.lines, strict=True):
        pieces[segment].append(text)
        lines[segment] |= dict.fromkeys(ours[number][1] for number in numbers)
    added: dict[int, str] = {}
    for number, text in found.added.items():
        line = ours[number][1]
        added[line] = join_pieces([added.get(line, ""), text])
    numbers_of = [tuple(some) for some in lines]
    return replace(
        found,
        texts=tuple(map(join_pieces, pieces)),
        lines=tuple(numbers_of),
        operations=tuple(operations_of(numbers_of)),
        margins=tuple(
            margin
            for ((_, a), (_, b)), margin in zip(pairwise(theirs), found.margins, strict=True)
            if a != b
        ),
        added=added,
    )


class _Measure:
    """What lines have in common with sources.

    Args:
        output: all lines.
        sources: all segments.
        encoder: of sentences in both languages; none: lengths alone, and characters in common.
    """

    def __init__(
        self, output: Sequence[str], sources: Sequence[str], encoder: Encoder | None
    ) -> None:
        sizes = [sum(len("".join(text.split())) for text in side) for side in (output, sources)]
        self.ratio = max(sizes[0], 1) / max(sizes[1], 1)
        self.encoder = encoder
        self.by: Aligner = "vectors" if encoder else "lengths"

    def likeness(self, segments: Sequence[str], lines: Sequence[str]) -> PairLikeness:
        """By lengths, or by vectors."""
        texts = [*with_pairs(segments), *with_pairs(lines)]
        if self.encoder is None:
            return _Lengths(texts, self.ratio)
        return _Vectors(texts, self.encoder, 2 * len(segments) - 1)

    def cut(self, line: str, segments: Sequence[str]) -> Cut:
        """Cut at the end of a sentence, else of a word, near where the lengths want it."""
        lengths = [len(text) for text in segments]
        wanted = len(line) * lengths[0] / max(sum(lengths), 1)
        sentences = list(sentences_of(line))
        ends = np.cumsum([len(part) + 1 for part in sentences])[:-1].tolist()
        places = ends or [start for start, _ in spaced_words(line)][1:] or [len(line)]
        at = min(places, key=lambda place: abs(place - wanted))
        return Cut((line[:at].strip(), line[at:].strip()), 0.0)


class _Lengths(Likeness):
    """By how well lengths fit, and characters in common: names, numbers, addresses."""

    def __init__(self, texts: Sequence[str], ratio: float) -> None:
        super().__init__(texts)
        self.ratio = ratio

    def compute(self, texts: ArrayLike, references: ArrayLike) -> NDArray[np.float64]:
        """Compute the likeness of pairs of texts, by their numbers."""
        ours = self.lengths[np.asarray(texts)] / self.ratio
        theirs = self.lengths[np.asarray(references)]
        off = (ours - theirs) ** 2 / (_VARIANCE * (ours + theirs) / 2 + 1)
        fits = np.maximum(_FOR * (1 - off / _WIDE), -_AGAINST)
        like: NDArray[np.float64] = CHANCE + fits + _COMMON * super().compute(texts, references)
        return like


class _Vectors:
    """By the cosine of their vectors, above that of pairs that do not belong together."""

    def __init__(self, texts: Sequence[str], encoder: Encoder, segments: int) -> None:
        self.lengths = np.array([len("".join(text.split())) for text in texts], dtype=np.int64)
        pieces = encoder.pieces(list(texts))
        vectors = encoder.pooled(pieces, np.arange(len(texts)))
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        self.vectors = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
        means = (self.vectors[:segments].mean(axis=0), self.vectors[segments:].mean(axis=0))
        self.chance = float(np.dot(*means))

    def compute(self, texts: ArrayLike, references: ArrayLike) -> NDArray[np.float64]:
        """Compute the likeness of pairs of texts, by their numbers."""
        both = self.vectors[np.asarray(texts)], self.vectors[np.asarray(references)]
        cosines: NDArray[np.float64] = np.einsum("pd,pd->p", *both, dtype=np.float64)
        return CHANCE + (1 - CHANCE) * (cosines - self.chance) / (1 - self.chance)


def measure_of(output: Sequence[str], sources: Sequence[str], model: str | None) -> Measure:
    """By vectors where a model for both languages is named or there, else by lengths."""
    from gnomon.models import load_encoder

    if model is not None:
        return _Measure(output, sources, load_encoder(model))
    for name in _MODELS:
        with suppress(MissingDependencyError, MissingFileError):
            return _Measure(output, sources, load_encoder(name))
    return _Measure(output, sources, None)
