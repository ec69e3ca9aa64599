"""Alignment with sources: by the lengths of texts and what both languages write alike, or vectors.

Gale and Church (1993), "A Program for Aligning Sentences in Bilingual Corpora".
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.alignment.boundaries import list_operations
from gnomon.alignment.joining import join_pieces
from gnomon.alignment.likeness import CHANCE, Likeness, LineCut, add_pairs
from gnomon.alignment.lines import align_lines
from gnomon.alignment.signs import split_sentences
from gnomon.core.errors import MissingDependencyError, MissingFileError
from gnomon.core.scripts import spaced_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from gnomon.alignment.likeness import LineMeasure, PairLikeness
    from gnomon.core.alignments import Aligner, Alignment
    from gnomon.models import Encoder

__all__ = ["align_sentences", "choose_measure"]

#: variance of the length of a translation, by character of its source
_VARIANCE = 6.8
#: what lengths say at most, for and against a pair, and the squared deviation at which they say
#: nothing; what characters in common count beside them
_FOR, _AGAINST, _WIDE, _COMMON = 0.25, 0.75, 4.0, 1.0
#: models whose vectors of sentences are alike in many languages, taken where they are there
_MODELS = ("sentence-transformers/LaBSE", "sentence-transformers/stsb-xlm-r-multilingual")


def align_sentences(
    output: Sequence[str], sources: Sequence[str], measure: LineMeasure
) -> Alignment:
    """Align an output without lines, sentence by sentence.

    Args:
        output: its lines.
        sources: one text per segment.
        measure: of what sentences have in common.
    """
    ours = [(part, i) for i, line in enumerate(output) for part in split_sentences(line)]
    theirs = [(part, i) for i, text in enumerate(sources) for part in split_sentences(text)]
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
        operations=tuple(list_operations(numbers_of)),
        margins=tuple(
            margin
            for ((_, a), (_, b)), margin in zip(pairwise(theirs), found.margins, strict=True)
            if a != b
        ),
        added=added,
    )


class _Measure:
    """A measure of translations beside their sources.

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
        """Likeness of segments, each with the next one, lines, and each of these with the next."""
        if self.encoder is None:
            return _Lengths([*add_pairs(segments), *add_pairs(lines)], self.ratio)
        return _Vectors(segments, lines, self.encoder)

    def cut(self, line: str, segments: Sequence[str]) -> LineCut:
        """Cut at the end of a sentence, else of a word, near where the lengths want it."""
        lengths = [len(text) for text in segments]
        wanted = len(line) * lengths[0] / max(sum(lengths), 1)
        sentences = list(split_sentences(line))
        ends = np.cumsum([len(part) + 1 for part in sentences])[:-1].tolist()
        places = ends or [start for start, _ in spaced_words(line)][1:] or [len(line)]
        at = min(places, key=lambda place: abs(place - wanted))
        return LineCut((line[:at].strip(), line[at:].strip()), 0.0)


class _Lengths(Likeness):
    """Likeness by lengths, and by characters in common: names, numbers, addresses."""

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
    """Likeness by the cosine of vectors, above that of pairs that do not belong together.

    The vector of two texts is the mean of theirs, by their lengths.
    """

    def __init__(self, segments: Sequence[str], lines: Sequence[str], encoder: Encoder) -> None:
        texts = [*segments, *lines]
        lengths = np.array([len("".join(text.split())) for text in texts], dtype=np.int64)
        means = encoder.pooled(encoder.pieces(texts), np.arange(len(texts)))
        sides = np.split(np.arange(len(texts)), [len(segments)])
        weighted = means * lengths[:, None]
        self.lengths = np.concatenate([_add_next(lengths[side]) for side in sides])
        vectors = np.concatenate([_add_next(weighted[side]) for side in sides])
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        self.vectors = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
        border = len(self.lengths) - len(_add_next(sides[1]))
        ours, theirs = (some.mean(axis=0) for some in np.split(self.vectors, [border]))
        self.chance = float(ours @ theirs)

    def compute(self, texts: ArrayLike, references: ArrayLike) -> NDArray[np.float64]:
        """Compute the likeness of pairs of texts, by their numbers."""
        both = self.vectors[np.asarray(texts)], self.vectors[np.asarray(references)]
        cosines: NDArray[np.float64] = np.einsum("pd,pd->p", *both, dtype=np.float64)
        return CHANCE + (1 - CHANCE) * (cosines - self.chance) / (1 - self.chance)


def _add_next(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows, and then each and the next one in sum."""
    return np.concatenate([rows, rows[:-1] + rows[1:]])


def choose_measure(output: Sequence[str], sources: Sequence[str], model: str | None) -> LineMeasure:
    """Measure by vectors where a model for both languages is named or there, else by lengths."""
    from gnomon.models import load_encoder

    if model is not None:
        return _Measure(output, sources, load_encoder(model))
    for name in _MODELS:
        with suppress(MissingDependencyError, MissingFileError):
            return _Measure(output, sources, load_encoder(name))
    return _Measure(output, sources, None)
