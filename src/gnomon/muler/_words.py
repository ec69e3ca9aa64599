"""Words of a feature on which two systems differ.

A score of sentences sees neighbours: n-grams carry an error over to words that are the same on both
sides. So systems are compared on a feature only where its own words differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.scripts import word_pattern
from gnomon.metrics.sequences import cut_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.spans import SpanTable


class _Tokens(NamedTuple):
    """The words of all texts, in order."""

    first: NDArray[np.int64]
    word: NDArray[np.int64]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WordsByFeature:
    """The words of features in the texts of a batch."""

    batch: Batch
    spans: SpanTable
    _pairs: dict[tuple[int, int], NDArray[np.uint8]] = field(default_factory=dict)

    def differ(self, feature: int, first: int, second: int) -> NDArray[np.bool_]:
        """The segments in which the words of a feature differ between two systems, bool [N].

        They do where one side has a word of the feature that the other text does not hold as
        often, or the same ones in another order. A word that both texts hold, and that is tagged
        as the feature on one side alone, is no difference.
        """
        if (first, second) not in self._pairs:
            self._pairs[first, second] = np.packbits(self._differ(first, second), axis=1)
        row = self._pairs[first, second][feature]
        return np.unpackbits(row, count=self.batch.shape[1]).astype(np.bool_)

    def _differ(self, first: int, second: int) -> NDArray[np.bool_]:
        ours, theirs = self.batch.candidates[[first, second]]
        differ = np.zeros((len(self.spans.features), self.batch.shape[1]), dtype=np.bool_)
        rows = np.flatnonzero(ours != theirs)
        for texts, others in ((ours[rows], theirs[rows]), (theirs[rows], ours[rows])):
            feature, at = self._spans_with(texts, self._uneven(texts, others))
            differ[feature, rows[at]] = True
        bags, orders = self._contents
        moved = (bags[:, ours] == bags[:, theirs]) & (orders[:, ours] != orders[:, theirs])
        return np.asarray(differ | moved)

    def _uneven(self, texts: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Of the words of some texts, those that others do not hold as often."""
        first, word, often, entry = self._bags
        size = int(word.max(initial=0)) + 1
        (words_of_texts, at), (their, to) = (
            _ranges(first[t], first[t + 1]) for t in (texts, others)
        )
        keys, against = at * size + word[words_of_texts], to * size + word[their]
        nearest = np.minimum(np.searchsorted(against, keys), max(len(against) - 1, 0))
        uneven = np.ones(len(keys), dtype=np.bool_)
        if len(against):
            uneven = (against[nearest] != keys) | (often[their[nearest]] != often[words_of_texts])
        words, of = _ranges(self._tokens.first[texts], self._tokens.first[texts + 1])
        sizes = first[texts + 1] - first[texts]
        shift = np.cumsum(sizes) - sizes - first[texts]
        return np.asarray(uneven[entry[words] + shift[of]])

    @cached_property
    def _bags(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The distinct words of each text in order: where they begin, which, and how often.

        Last, for every word of the texts its place among these.
        """
        tokens = self._tokens
        size = int(tokens.word.max(initial=0)) + 1
        text = np.repeat(np.arange(len(tokens.first) - 1), np.diff(tokens.first))
        keys, entry, often = np.unique(
            text * size + tokens.word, return_inverse=True, return_counts=True
        )
        first = np.searchsorted(keys, np.arange(len(tokens.first)) * size)
        return first, keys % size, often, entry

    def _spans_with(
        self, texts: NDArray[np.int32], chosen: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Features of spans that hold a chosen word, and which of the texts these are in."""
        tokens, rows = self._tokens, self.spans.rows
        spans, at = _ranges(rows[texts], rows[texts + 1])
        before = np.concatenate([[0], np.cumsum(chosen)])
        sizes = tokens.first[texts + 1] - tokens.first[texts]
        shift = (np.cumsum(sizes) - sizes - tokens.first[texts])[at]
        hit = before[tokens.ends[spans] + shift] > before[tokens.begins[spans] + shift]
        return self.spans.feature[spans[hit]], at[hit]

    @cached_property
    def _tokens(self) -> _Tokens:
        """The words, cut where a span begins or ends within one."""
        texts = self.batch.texts
        found = [
            (text, *match.span())
            for text, string in enumerate(texts)
            for match in word_pattern(syllables=True).finditer(string)
        ]
        text, starts, ends = np.array(found, dtype=np.int64).reshape(-1, 3).T
        cut = cut_places(text, starts, ends, self.spans)
        if cut is not None:
            token, starts, ends = (column.astype(np.int64) for column in cut)
            text = text[token]
        numbers: dict[str, int] = {}
        places = zip(text.tolist(), starts.tolist(), ends.tolist(), strict=True)
        words = [numbers.setdefault(texts[t][a:b], len(numbers)) for t, a, b in places]
        bounds = np.searchsorted(text, np.arange(len(texts) + 1))
        # positions in all texts, one behind the other
        stride = max(map(len, texts), default=0) + 1
        base = text * stride
        shift = self.spans.text.astype(np.int64) * stride
        begins = np.searchsorted(base + ends, shift + self.spans.start, "right")
        over = np.searchsorted(base + starts, shift + self.spans.end, "left")
        return _Tokens(bounds, np.array(words, dtype=np.int64), begins, np.maximum(over, begins))

    @cached_property
    def _contents(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Numbers of the words of each feature in each text, unordered and in order [F, texts]."""
        shape = (len(self.spans.features), len(self.batch.texts))
        bags, orders = np.zeros((2, *shape), dtype=np.int32)
        numbers: dict[tuple[int, ...], int] = {(): 0}
        tokens, spans = self._tokens, self.spans
        words = tokens.word.tolist()
        columns = (spans.feature, spans.text, tokens.begins, tokens.ends)
        gathered: dict[tuple[int, int], list[int]] = {}
        for feature, text, begin, end in zip(*(column.tolist() for column in columns), strict=True):
            gathered.setdefault((feature, text), []).extend(words[begin:end])
        for key, feature_words in gathered.items():
            orders[key] = numbers.setdefault(tuple(feature_words), len(numbers))
            bags[key] = numbers.setdefault((-1, *sorted(feature_words)), len(numbers))
        return bags, orders


def _ranges(
    low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All whole numbers of some ranges, one behind the other, and the range of each."""
    sizes = high - low
    of = np.repeat(np.arange(len(sizes)), sizes)
    before = np.cumsum(sizes) - sizes
    return np.arange(len(of)) - before[of] + low[of], of
