"""The words of all references: how hard each was, and how well every system has it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from gnomon.difficulty._grams import known_ids, ranked
from gnomon.difficulty._places import Places
from gnomon.difficulty._seen import Seen, seen
from gnomon.difficulty._whole_words import Words, words_of
from gnomon.difficulty.matched import BoundDifficulty
from gnomon.metrics.sequences import offsets_of, ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.difficulty.ngrams import BoundNgramDifficulty
    from gnomon.difficulty.sides import Bound
    from gnomon.metrics.matching import Matching
    from gnomon.metrics.ngrams import Ngrams

__all__ = ["Observed", "observed"]


@dataclass(frozen=True, eq=False)
class Observed:
    """W words of the references of a test set.

    Attributes:
        metric: the spec of the weighted metric.
        words: the words.
        places: the tokens that they are made of.
        difficulty: float64 [W], mean over the pieces of a word.
        best: float64 [K, W], similarity of its best match in every system's output, mean over the
            pieces (of n-gram metrics 1 where the output has it, else 0); NaN where a system was not
            compared with that reference.
        exact: bool [K, W], whether the best matches are the same pieces.
    """

    metric: str
    words: Words
    places: Places
    difficulty: NDArray[np.float64]
    best: NDArray[np.float64]
    exact: NDArray[np.bool_]

    @cached_property
    def segment(self) -> NDArray[np.int64]:
        """Segment of each word, from 0, int64 [W]."""
        return self.places.segment[self.words.group]

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Whether any system was compared with the word's reference, bool [W]."""
        return np.asarray(self.compared.any(axis=0))

    @cached_property
    def compared(self) -> NDArray[np.bool_]:
        """Whether a system was compared with the word's reference, bool [K, W]."""
        return ~np.isnan(self.best)

    def by(self, systems: Sequence[int]) -> NDArray[np.float64]:
        """How hard the words were for some systems alone, float64 [W]; 1 without any."""
        rows = list(systems)
        known = self.compared[rows]
        total, count = np.where(known, self.best[rows], 0.0).sum(axis=0), known.sum(axis=0)
        mean = np.divide(total, count, out=np.zeros(len(total)), where=count > 0)
        difficulty: NDArray[np.float64] = 1 - mean
        return difficulty


def observed(bound: Bound, batch: Batch) -> Observed:
    """The words of the references of a batch under a weighted metric."""
    if isinstance(bound, BoundDifficulty):
        matches = next(iter(cast("Matching", bound.base).matches(batch)))
        places = bound.hardness.places
        found = seen(matches, batch, places)
        return _observed(bound.metric.spec, places, bound.hardness.value, found)
    return _of_grams(bound, batch)


def _observed(
    metric: str, places: Places, difficulty: NDArray[np.float64], found: Seen
) -> Observed:
    words = words_of(places)
    shape = (len(found.best), len(words))
    best, same = np.empty(shape), np.empty(shape, dtype=np.bool_)
    for k, exact in enumerate(found.exact):
        best[k] = words.mean(found.best[k])
        same[k] = (words.mean((~exact).astype(np.float64)) == 0) & ~np.isnan(best[k])
    return Observed(metric, words, places, words.mean(difficulty), best, same)


def _of_grams(bound: BoundNgramDifficulty, batch: Batch) -> Observed:
    """Single words of a metric on n-grams, however long its n-grams are."""
    tokens = cast("Ngrams", bound.base).ngram_tokens(batch.texts)
    segment, text = _references(batch)
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
    named = known_ids(bound.hardness.known, tokens.vocabulary, places.type)
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
    seen_words = Seen(exact.astype(np.float32), exact)
    return _observed(bound.metric.spec, places, difficulty, seen_words)


def _references(batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Segment (position in the batch) and text of every distinct reference of a segment."""
    lists = [batch.references, *batch.system_references.values()]
    segment = np.concatenate([np.repeat(np.arange(len(r)), np.diff(r.offsets)) for r in lists])
    text = np.concatenate([r.indices for r in lists]).astype(np.int64)
    pairs = np.unique(np.stack([segment, text], axis=-1), axis=0).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
