"""Words of all references: their hardness, and the systems' share of each."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cached_property
from sys import intern
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import UsageError
from gnomon.core.scripts import word_pattern
from gnomon.difficulty.gram_hardness import ranked, segment_references, translate_ids
from gnomon.difficulty.matched import TokenDifficulty
from gnomon.difficulty.segments import BoundSegmentDifficulty
from gnomon.difficulty.token_hardness import (
    BestMatches,
    Places,
    best_matches,
    mean_difficulty,
)
from gnomon.metrics.sequences import offsets_of, ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.difficulty.ngrams import BoundNgramDifficulty
    from gnomon.difficulty.sides import Bound

__all__ = ["ReferenceWords", "WordSpans", "reference_words", "split", "words_of"]


# Words of references, made of the pieces that a model sees.


@dataclass(frozen=True, eq=False)
class WordSpans:
    """W words of the references, one reference after the other."""

    group: NDArray[np.int64]  # [W], the reference of each, as in ``Places``
    start: NDArray[np.int64]  # [W], first code point
    end: NDArray[np.int64]  # [W], code point after the last one
    text: NDArray[np.object_]  # [W], the words as written
    #: [places], the word of each piece; -1 for special pieces and mere space
    of: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.group)

    @cached_property
    def pieces(self) -> NDArray[np.int64]:
        """Number of pieces of each word, int64 [W]; at least 1."""
        return np.bincount(self.of[self.of >= 0], minlength=len(self))

    def mean(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Mean of the values of a word's pieces, float64 [W]; NaN where one is NaN."""
        in_words = self.of >= 0
        total = np.bincount(self.of[in_words], values[in_words], minlength=len(self))
        means: NDArray[np.float64] = total / np.maximum(self.pieces, 1)
        return means


def words_of(places: Places) -> WordSpans:
    """The words of references: runs of letters and digits, and single signs, as far as seen."""
    numbers, texts = array("q"), list[str]()  # tuples of all words would take ten times as much
    of = np.full(len(places.type), -1, dtype=np.int64)
    for group, text in enumerate(places.text):
        rows = range(int(places.offsets[group]), int(places.offsets[group + 1]))
        for *values, word in _join_words(places, group, text, rows, of, len(texts)):
            numbers.extend(values)
            texts.append(intern(word))
    groups, start, end = np.array(numbers, dtype=np.int64).reshape(-1, 3).T.copy()
    return WordSpans(groups, start, end, np.array(texts, dtype=object), of)


def split(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of the words of a text, in code points.

    >>> ["It's on 3 mats."[a:b] for a, b in split("It's on 3 mats.")]
    ["It's", 'on', '3', 'mats', '.']
    """
    return (match.span() for match in word_pattern("['’]").finditer(text))


def _join_words(
    places: Places, group: int, text: str, rows: range, of: NDArray[np.int64], first: int
) -> list[tuple[int, int, int, str]]:
    """The words of one reference; writes the word of each of its pieces into ``of``."""
    spans = list(split(text))
    at = np.full(len(text) + 1, -1, dtype=np.int64)
    for number, (start, end) in enumerate(spans):
        at[start:end] = number
    last, words = -1, list[tuple[int, int, int, str]]()
    for row in rows:
        start, end = int(places.start[row]), int(places.end[row])
        touched = at[start:end]
        touched = touched[touched >= 0]
        if places.special[row] or not len(touched):
            continue
        word = int(touched[0])
        if word > last:
            words.append((group, *spans[word], ""))
            last = word
        # a piece may reach beyond a word: into a full stop, or the next character
        words[-1] = (group, words[-1][1], max(words[-1][2], end), "")
        last = max(last, int(touched[-1]))
        of[row] = first + len(words) - 1
    return [(g, start, end, text[start:end].rstrip()) for g, start, end, _ in words]


# The words of all references: how hard each was, and how well every system has it.


@dataclass(frozen=True, eq=False)
class ReferenceWords:
    """W words of the references of a test set."""

    metric: str  # the spec of the weighted metric
    words: WordSpans
    places: Places  # the tokens that they are made of
    difficulty: NDArray[np.float64]  # [W], mean over the pieces of a word
    #: [K, W], similarity of its best match in every system's output, mean over the pieces
    #: (of n-gram metrics 1 where the output has it, else 0); NaN where a system was not compared
    #: with that reference
    best: NDArray[np.float64]
    exact: NDArray[np.bool_]  # [K, W], whether the best matches are the same pieces

    @cached_property
    def segment(self) -> NDArray[np.int64]:
        """Segment of each word, from 0, int64 [W]."""
        return self.places.segment[self.words.group]

    @cached_property
    def is_compared(self) -> NDArray[np.bool_]:
        """True where any system was compared with the word's reference, bool [W]."""
        return np.asarray(self.compared.any(axis=0))

    @cached_property
    def compared(self) -> NDArray[np.bool_]:
        """True where a system was compared with the word's reference, bool [K, W]."""
        return ~np.isnan(self.best)

    def difficulty_for(self, systems: Sequence[int]) -> NDArray[np.float64]:
        """Difficulty of the words for some systems alone, float64 [W]; 1 without any."""
        return mean_difficulty(self.best[list(systems)])


def reference_words(bound: Bound, batch: Batch) -> ReferenceWords:
    """The words of the references of a batch under a weighted metric."""
    if isinstance(bound, BoundSegmentDifficulty):
        raise UsageError(no_words(bound.metric.spec))
    if isinstance(bound, TokenDifficulty):
        places = bound.hardness.places
        matches = best_matches(bound.compare(batch), batch, places)
        return _words_of_places(bound.metric.spec, places, bound.hardness.value, matches)
    return _words_of_grams(bound, batch)


def no_words(spec: str) -> str:
    """Why there are no words to show."""
    return (
        f"{spec!r} weighs whole segments and tells no words; take a metric that tells them (bleu,"
        " chrf, ter, rougeL, meteor, bertscore)"
    )


def _words_of_places(
    metric: str, places: Places, difficulty: NDArray[np.float64], matches: BestMatches
) -> ReferenceWords:
    words = words_of(places)
    shape = (len(matches.best), len(words))
    best, same = np.empty(shape), np.empty(shape, dtype=np.bool_)
    for k, exact in enumerate(matches.exact):
        best[k] = words.mean(matches.best[k])
        same[k] = (words.mean((~exact).astype(np.float64)) == 0) & ~np.isnan(best[k])
    return ReferenceWords(metric, words, places, words.mean(difficulty), best, same)


def _words_of_grams(bound: BoundNgramDifficulty, batch: Batch) -> ReferenceWords:
    """Single words of a metric on n-grams, however long its n-grams are."""
    tokens = bound.base.ngram_tokens(batch.texts)
    segment, text = segment_references(batch)
    sizes = tokens.lengths[text]
    rows = ranges(tokens.offsets[text], sizes)
    places = Places(
        segment=batch.segments[segment].astype(np.int64),
        text=tuple(batch.texts[number] for number in text.tolist()),
        offsets=offsets_of(sizes),
        type=tokens.ids[rows],
        start=tokens.start[rows],
        end=tokens.end[rows],
        special=np.zeros(len(rows), dtype=np.bool_),
    )
    named = translate_ids(bound.hardness.known, tokens.vocabulary, places.type)
    rank = next(bound.hardness.known.ranks(places.offsets, named))
    at = bound.hardness.find(1, places.segment[places.group], rank)
    missed = bound.hardness.missed[0]
    difficulty = np.where(at >= 0, missed[at], 1.0) if len(missed) else np.ones(len(rows))
    width = 1 + int(tokens.ids.max(initial=0))
    wanted = segment[places.group] * width + places.type
    exact = np.zeros((len(batch.systems), len(rows)), dtype=np.bool_)
    for k, texts in enumerate(batch.candidates.astype(np.int64)):
        lengths = tokens.lengths[texts]
        owner = np.repeat(np.arange(len(texts)), lengths)
        has = np.unique(owner * width + tokens.ids[ranges(tokens.offsets[texts], lengths)])
        exact[k] = ranked(has, wanted) >= 0
    seen_words = BestMatches(exact.astype(np.float64), exact)
    return _words_of_places(bound.metric.spec, places, difficulty, seen_words)
