"""chrF and chrF++ (Popović 2015, 2017), equal to sacreBLEU's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from gnomon.core.errors import SpecError
from gnomon.core.signature import Signature
from gnomon.metrics.base import Metric
from gnomon.metrics.comparisons import TokenisedTexts, best_pairs, references_field
from gnomon.metrics.counted import CountedNgrams
from gnomon.metrics.ngrams import NgramCounter, TextPairs, totals
from gnomon.metrics.sequences import NgramLayout, Sequences, TokenRanges, offsets_of
from gnomon.metrics.spec import Options
from gnomon.metrics.tokenise import (
    Tokenised,
    Tokens,
    code_points,
    load_tokeniser,
    lowered,
    plain,
)
from gnomon.native import ngrams as loops

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.metrics.comparisons import TextComparisons
    from gnomon.metrics.counted import NgramCount
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.ngrams import Counted, NgramCounts
    from gnomon.metrics.sequences import PlacedMasks, TokenMasks
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["BoundChrf", "Chrf"]


# Texts as chrF sees them: characters and words, and which characters each word holds.


def character_layout(words: TokenTable) -> NgramLayout:
    """The characters of the words, white space left out."""
    vocabulary = words.vocabulary
    ids, bounds = loops.spelled(words.ids, vocabulary.bounds, _number_codes(vocabulary.codes))
    base = Sequences(bounds[words.offsets], ids)
    return NgramLayout(base, lambda: TokenRanges(bounds[:-1], bounds[1:]))


def spaced_layout(texts: Sequence[str], words: TokenTable) -> NgramLayout:
    """All characters of the texts (lower-cased already, if so wanted), white space included."""
    codes = code_points(texts)
    visible = np.flatnonzero(~np.isin(codes, _spaces()))
    bounds = offsets_of(token_lengths(words))
    start, last = visible[bounds[:-1]], visible[bounds[1:] - 1]
    base = Sequences(
        offsets_of(np.array([len(text) for text in texts], dtype=np.int64)), _number_codes(codes)
    )
    return NgramLayout(base, lambda: TokenRanges(start, last + 1))


def token_lengths(words: TokenTable) -> NDArray[np.int64]:
    """Characters of each token, int64 [tokens]."""
    lengths: NDArray[np.int64] = np.diff(words.vocabulary.bounds)[words.ids]
    return lengths


def mean_lengths(masks: TokenMasks, references: NDArray[np.int64]) -> tuple[int, ...]:
    """Mean number of characters that a mask stands for in the references, per group.

    Returns one length per group, rounded (halves up), at least 1.
    """
    occurrences = np.bincount(references, minlength=len(masks.tokens))
    lengths = token_lengths(masks.tokens) if masks.parts is None else masks.parts.length
    text_of = masks.tokens.text_of
    means = []
    for group in range(len(masks.plan.spans.features)):
        chosen = masks.group_masks(group)
        weight = occurrences[text_of[chosen.token]]
        characters = int((lengths[chosen.token] * weight).sum())
        number = int((chosen.first * weight).sum())
        means.append(max(1, (2 * characters + number) // (2 * number)) if number else 1)
    return tuple(means)


def _number_codes(codes: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Small numbers in place of code points."""
    occurs = np.zeros(1 + int(codes.max(initial=0)), dtype=np.bool_)
    occurs[codes] = True
    numbers = np.cumsum(occurs, dtype=np.int32) - 1
    return np.asarray(numbers[codes], dtype=np.int32)


@cache
def _spaces() -> NDArray[np.uint32]:
    return code_points(list(filter(str.isspace, map(chr, range(0x110000)))))


@dataclass(frozen=True)
class Chrf(Options, Metric):
    """chrF: F-score over n-grams of characters, and of words for chrF++; 0 to 100.

    Segments and systems score as sacreBLEU's sentence_score and corpus_score do.

    Attributes:
        char_order: length of the longest n-grams of characters, at most 100.
        word_order: length of the longest n-grams of words; 2 is chrF++.
        beta: weight of recall against precision.
        lowercase: ignore case.
        whitespace: n-grams of characters include white space.
        eps_smoothing: average over all orders, as chrF++.py, nltk and Moses do, not only over
            those that occur.

    Raises:
        SpecError: an order or beta is out of range, or both orders are 0.
    """

    name: ClassVar[str] = "chrf"
    title: ClassVar[str] = "chrF"
    titles: ClassVar[Mapping[str, str]] = MappingProxyType({"word_order=2": "chrF++"})
    pooled: ClassVar[bool] = False
    packages: ClassVar[tuple[str, ...]] = ("sacrebleu",)
    bounds = MappingProxyType({"char_order": (0, 100), "word_order": (0, 100), "beta": (1, 1000)})

    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.char_order + self.word_order:
            raise SpecError("chrf: char_order and word_order are 0; one must be 1 or more")

    @property
    def can(self) -> frozenset[str]:
        """Where words count beside characters, its n-grams are units of two kinds."""
        return frozenset(("statistics", "mask", *(() if self.word_order else ("ngrams",))))

    @property
    def signature_fields(self) -> dict[str, object]:
        """Fields of sacreBLEU's signatures for the options."""
        return {
            "case": "lc" if self.lowercase else "mixed",
            "eff": "no" if self.eps_smoothing else "yes",
            "nc": self.char_order,
            "nw": self.word_order,
            "space": "yes" if self.whitespace else "no",
        }

    def bind(self, testset: TestSet) -> BoundChrf:
        """Bind to the references of a test set.

        Raises:
            DataError: the test set has no references.
        """
        fields = {**references_field(testset, self.name), **self.signature_fields}
        tokeniser = load_tokeniser("chrf", lowercase=self.lowercase)
        return BoundChrf(
            Signature(self.spec).adding(fields), TokenisedTexts(tokeniser, cut=True), self
        )


@dataclass(frozen=True, eq=False)
class BoundChrf(CountedNgrams):
    """Bound chrF; has the powers statistics, masking and native signature.

    Its statistics are, per order, n-grams of the candidate, of its best reference, and matches:
    [..., 3 orders]. Of a word the characters of a span are masked: a run of one private character,
    of its group's mean length in the references (or that which a plan has); among the n-grams of
    words the whole word is one mask.
    """

    ngram_sums: ClassVar[bool] = True

    metric: Chrf

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores [...] of statistics [..., 3 orders], summed or not."""
        return chrf(statistics, self.metric.beta, eps_smoothing=self.metric.eps_smoothing)

    def mask_tokens(self, batch: Batch) -> None:
        """None: masks are on characters."""

    def mask_lengths(self, batch: Batch, plan: MaskPlan) -> tuple[int, ...]:
        """Mean length of what a mask stands for in the references of the batch, per group."""
        return self._lengths(batch, self.texts.masks(batch, plan.fill_lengths(None)))

    @staticmethod
    def _lengths(batch: Batch, masks: TokenMasks) -> tuple[int, ...]:
        """The plan's lengths of masks, by default those of this batch."""
        references = batch.references.indices.astype(np.int64)
        return masks.plan.lengths or mean_lengths(masks, references)

    def ngram_count(
        self, batch: Batch, comparisons: TextComparisons, masks: TokenMasks | None
    ) -> NgramCount:
        """The counter of comparisons, each against each of its references: the best counts."""
        lengths = None if masks is None else self._lengths(batch, masks)
        counters = [
            NgramCounter(layout, orders, masks, lengths if layout.parts else None)
            for layout, orders in self._layouts(batch)
        ]

        def count(
            rows: NDArray[np.int64], chosen: PlacedMasks | None, *, both: bool
        ) -> list[NDArray[np.float64]]:
            pairs = _Pairs.select(comparisons, rows)
            counted = (counter(pairs.pairing, chosen, both=both) for counter in counters)
            return [self._columns(pairs, parts) for parts in zip(*counted, strict=True)]

        return count

    @property
    def native_fields(self) -> Mapping[str, object]:
        """As sacreBLEU has them."""
        return self.metric.signature_fields

    @property
    def ngram_orders(self) -> tuple[int, ...]:
        """Those of characters."""
        return tuple(range(1, self.metric.char_order + 1))

    def ngram_tokens(self, texts: tuple[str, ...]) -> TokenTable:
        """The characters of texts, each a token."""
        return self._characters.tokenise(texts)

    def ngram_scores(self, counts: NgramCounts, *, corpus: bool) -> NDArray[np.float64]:  # noqa: ARG002  # the formula is the same
        """ChrF [...] of counts."""
        columns = (counts.candidate, counts.reference, counts.matches, counts.recalled)
        options = self.metric
        return _chrf(*columns, options.beta, eps_smoothing=options.eps_smoothing)

    @cached_property
    def _characters(self) -> Tokenised:
        return Tokenised(_Characters(self.metric))

    def _layouts(self, batch: Batch) -> tuple[tuple[NgramLayout, int], ...]:
        """Characters and words, each with the length of its longest n-grams."""
        words = self.texts.tokens.tokenise(batch.texts)
        orders = (self.metric.char_order, self.metric.word_order)
        if self.metric.whitespace:
            texts = [t.lower() for t in batch.texts] if self.metric.lowercase else batch.texts
            characters = spaced_layout(texts, words)
        else:
            characters = character_layout(words)
        layouts = zip((characters, NgramLayout.number_words(words)), orders, strict=True)
        return tuple(layout for layout in layouts if layout[1])

    def _columns(self, pairs: _Pairs, parts: Sequence[Counted]) -> NDArray[np.float64]:
        """Statistics of comparisons against their best references, [comparisons, 3 orders]."""
        columns = [_columns(pairs.pairing, counted) for counted in parts]
        joined = np.concatenate(columns, axis=1)
        sorted_ = joined.reshape(len(pairs.order), joined.shape[1] * joined.shape[2])
        statistics = np.empty_like(sorted_)
        statistics[pairs.order] = sorted_
        if len(pairs.own) == 1 + int(pairs.own.max(initial=-1)):
            return statistics
        return statistics[best_pairs(pairs.own, self.aggregate(statistics))]


class _Pairs(NamedTuple):
    """TextComparisons beside each of their references."""

    own: NDArray[np.int64]  # [pairs], ascending, the comparison of each pair
    # [pairs], from the pairs as they are in ``pairing`` to those of ``own``
    order: NDArray[np.int64]
    pairing: TextPairs  # the pairs, a group for each reference

    @classmethod
    def select(cls, comparisons: TextComparisons, rows: NDArray[np.int64]) -> _Pairs:
        pairs = comparisons.pairs(rows)
        order = np.argsort(pairs.reference, kind="stable")
        references, group = np.unique(pairs.reference[order], return_inverse=True)
        pairing = TextPairs(pairs.candidate[order], group, references, np.arange(len(references)))
        return cls(pairs.cell, order, pairing)


class _Characters:
    """Single characters, without white space unless the options count it."""

    name: ClassVar[str] = "characters"
    local: ClassVar[bool] = False

    def __init__(self, options: Chrf) -> None:
        self._options = options

    def __call__(self, text: str) -> Tokens:
        read = lowered(text) if self._options.lowercase else plain(text)
        kept = [
            n
            for n, character in enumerate(read.text)
            if self._options.whitespace or not character.isspace()
        ]
        return Tokens(
            [read.text[n] for n in kept],
            [read.starts[n] for n in kept],
            [read.ends[n] for n in kept],
        )


def chrf(statistics: NDArray[np.float64], beta: int, *, eps_smoothing: bool) -> NDArray[np.float64]:
    """F-score, 0 to 100, from counts per order: candidate, reference, matches.

    By default precision and recall are averaged over the orders that both sides have; with
    ``eps_smoothing`` F is averaged over all orders, 0/0 being 1e-16 (sacreBLEU's two forms).
    """
    of_candidate, of_reference, matches = (statistics[..., i::3] for i in range(3))
    return _chrf(of_candidate, of_reference, matches, matches, beta, eps_smoothing=eps_smoothing)


def _chrf(
    of_candidate: NDArray[np.float64],
    of_reference: NDArray[np.float64],
    matches: NDArray[np.float64],
    recalled: NDArray[np.float64],
    beta: int,
    *,
    eps_smoothing: bool,
) -> NDArray[np.float64]:
    """As :func:`chrf`, where n-grams may match with another weight on either side."""
    factor = float(beta**2)
    precision = np.where(of_candidate > 0, matches / np.maximum(of_candidate, 1), _EPSILON)
    recall = np.where(of_reference > 0, recalled / np.maximum(of_reference, 1), _EPSILON)
    if eps_smoothing:
        weights = factor * precision + recall
        scores = (1 + factor) * precision * recall / np.where(weights > 0, weights, 1)
        means: NDArray[np.float64] = np.where(weights > 0, scores, _EPSILON).mean(axis=-1)
        return 100 * means
    both = (of_candidate > 0) & (of_reference > 0)
    orders = np.maximum(both.sum(axis=-1), 1)
    mean_precision = np.where(both, precision, 0).sum(axis=-1) / orders
    mean_recall = np.where(both, recall, 0).sum(axis=-1) / orders
    weights = factor * mean_precision + mean_recall
    product = mean_precision * mean_recall
    score: NDArray[np.float64] = (1 + factor) * product / np.where(weights > 0, weights, 1)
    return 100 * score


_EPSILON = 1e-16


def _columns(pairing: TextPairs, found: Counted) -> NDArray[np.float64]:
    """n-grams of each candidate, of its reference, matches: float64 [P, orders, 3]."""
    orders = found.matches.shape[1]
    of_reference = totals(found.references, orders)[pairing.groups]
    columns = np.empty((*of_reference.shape, 3))
    # sacreBLEU counts no n-grams of a candidate where the reference has none
    columns[..., 0] = np.where(of_reference > 0, totals(found.candidates, orders), 0)
    columns[..., 1] = of_reference
    columns[..., 2] = found.matches
    return columns
