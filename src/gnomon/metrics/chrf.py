"""chrF and chrF++ (Popović 2015, 2017), equal to sacreBLEU's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gnomon.errors import SpecError
from gnomon.metrics._chrf_layout import character_layout, mean_lengths, spaced_layout
from gnomon.metrics._comparisons import (
    Comparisons,
    Texts,
    in_blocks,
    masked_scores,
    references_field,
)
from gnomon.metrics._ngrams import Sides, clipped_matches, totals
from gnomon.metrics._sequences import Layout
from gnomon.metrics._spec import Options
from gnomon.metrics.tokenise import load_tokeniser
from gnomon.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics._token_masks import Masks
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.protocol import Need
    from gnomon.testset import TestSet

__all__ = ["BoundChrf", "Chrf"]


@dataclass(frozen=True)
class Chrf(Options):
    """chrF: F-score over n-grams of characters, and of words for chrF++; 0 to 100.

    Segments and systems score as sacreBLEU's sentence_score and corpus_score do.

    Attributes:
        char_order: length of the longest n-grams of characters.
        word_order: length of the longest n-grams of words; 2 is chrF++.
        beta: weight of recall against precision.
        lowercase: ignore case.
        whitespace: n-grams of characters include white space.
        eps_smoothing: average over all orders, as chrF++.py, nltk and Moses do, not only over
            those that occur.

    Raises:
        SpecError: an order is negative or there is none, or beta is not positive.
    """

    name: ClassVar[str] = "chrf"
    needs: ClassVar[frozenset[Need]] = frozenset(("references",))
    higher_is_better: ClassVar[bool] = True

    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.char_order, self.word_order) < 0 or self.char_order + self.word_order < 1:
            raise SpecError(
                f"chrf: char_order is {self.char_order} and word_order {self.word_order}; neither"
                " may be negative, and one must be 1 or more"
            )
        if self.beta < 1:
            raise SpecError(f"chrf: beta is {self.beta}; it must be 1 or more")

    def bind(self, testset: TestSet) -> BoundChrf:
        """Bind to the references of a test set.

        Raises:
            DataError: the test set has no references.
        """
        fields = {
            **references_field(testset, self.name),
            "case": "lc" if self.lowercase else "mixed",
            "eff": "no" if self.eps_smoothing else "yes",
            "nc": self.char_order,
            "nw": self.word_order,
            "space": "yes" if self.whitespace else "no",
        }
        tokeniser = load_tokeniser("chrf", lowercase=self.lowercase)
        return BoundChrf(self, Signature(self.spec).adding(fields), Texts(tokeniser))


@dataclass(frozen=True, eq=False)
class BoundChrf:
    """Bound chrF; has the powers statistics, masking and native signature.

    Attributes:
        options: what was asked for.
        signature: options and number of references.
        texts: words of the texts seen last, and counts of the work done.
    """

    options: Chrf
    signature: Signature
    texts: Texts

    name: ClassVar[str] = Chrf.name
    needs: ClassVar[frozenset[Need]] = Chrf.needs
    higher_is_better: ClassVar[bool] = True

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence chrF, float64 [K, N]; NaN where a segment has no reference."""
        comparisons = Comparisons.of(batch)
        scores = self.aggregate(self._statistics(batch, comparisons))
        return comparisons.spread(scores, np.nan)

    def system(self, batch: Batch) -> NDArray[np.float64]:
        """Corpus chrF, float64 [K]; segments without a reference are left out."""
        return self.aggregate(self.statistics(batch).sum(axis=1))

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """Per order: n-grams of the candidate, of its best reference, matches; [K, N, 3 orders]."""
        comparisons = Comparisons.of(batch)
        return comparisons.spread(self._statistics(batch, comparisons), 0.0)

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores [...] of statistics [..., 3 orders], summed or not."""
        return chrf(statistics, self.options.beta, eps_smoothing=self.options.eps_smoothing)

    def mask_lengths(self, batch: Batch, plan: MaskPlan) -> tuple[int, ...]:
        """Mean length of what a mask stands for in the references of the batch, per group."""
        references = batch.references.indices.astype(np.int64)
        return mean_lengths(self.texts.masks(batch, plan), references)

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        """Sentence chrF of every variant, float64 [V, K, N].

        A masked word is a run of one private character, of the group's length in ``plan.lengths``
        (from this batch, if the plan has none), and one word among the n-grams of words.
        """
        lengths = plan.lengths or self.mask_lengths(batch, plan)
        masks = self.texts.masks(batch, plan)
        layouts = self._layouts(batch)
        comparisons = Comparisons.of(batch)

        def rescore(rows: NDArray[np.int64], chosen: Masks) -> NDArray[np.float64]:
            compare = partial(self._compare, comparisons, layouts, chosen, lengths)
            return self.aggregate(in_blocks(rows, compare))

        base = self.aggregate(self._statistics(batch, comparisons))
        scores, rescored = masked_scores(comparisons, base, masks, rescore)
        self.texts.rescored += rescored
        return scores

    def native_signatures(self, batch: Batch) -> Mapping[str, str]:
        """The signature that sacreBLEU prints for corpus scores."""
        from sacrebleu.metrics.chrf import CHRFSignature

        from gnomon.metrics.scoring import reference_count

        arguments = {
            "num_refs": reference_count(batch),
            "lowercase": self.options.lowercase,
            "eps_smoothing": self.options.eps_smoothing,
            "char_order": self.options.char_order,
            "word_order": self.options.word_order,
            "whitespace": self.options.whitespace,
        }
        return {"sacrebleu": str(CHRFSignature(arguments))}

    def _layouts(self, batch: Batch) -> tuple[tuple[Layout, int], ...]:
        """Characters and words, each with the length of its longest n-grams."""
        words = self.texts.tokens.of(batch.texts)
        if self.options.whitespace:
            texts = [t.lower() for t in batch.texts] if self.options.lowercase else batch.texts
            characters = spaced_layout(texts, words)
        else:
            characters = character_layout(words)
        orders = (self.options.char_order, self.options.word_order)
        return tuple(zip((characters, Layout.of_words(words)), orders, strict=True))

    def _statistics(self, batch: Batch, comparisons: Comparisons) -> NDArray[np.float64]:
        compare = partial(self._compare, comparisons, self._layouts(batch), None, None)
        return in_blocks(np.arange(len(comparisons.candidate)), compare)

    def _compare(
        self,
        comparisons: Comparisons,
        layouts: tuple[tuple[Layout, int], ...],
        masks: Masks | None,
        lengths: Sequence[int] | None,
        rows: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Statistics of some comparisons against their best references, [rows, 3 orders]."""
        own, theirs = comparisons.pairs(rows)
        order = np.argsort(theirs, kind="stable")
        references, group = np.unique(theirs[order], return_inverse=True)
        candidates = comparisons.candidate[rows][own[order]]
        parts = []
        for (layout, orders), run in zip(layouts, (lengths, None), strict=True):
            sides = Sides(
                layout.of(candidates, masks, "candidate", run),
                group,
                layout.of(references, masks, "reference", run),
                np.arange(len(references)),
            )
            parts.append(_counts(sides, orders))
        statistics = np.empty((len(order), 3 * sum(orders for _, orders in layouts)))
        statistics[order] = np.concatenate(parts, axis=1).reshape(len(order), -1)
        return statistics[_best(own, self.aggregate(statistics))]


def chrf(statistics: NDArray[np.float64], beta: int, *, eps_smoothing: bool) -> NDArray[np.float64]:
    """F-score, 0 to 100, from counts per order: candidate, reference, matches.

    By default precision and recall are averaged over the orders that both sides have; with
    ``eps_smoothing`` F is averaged over all orders, 0/0 being 1e-16 (sacreBLEU's two forms).
    """
    of_candidate, of_reference, matches = (statistics[..., i::3] for i in range(3))
    factor = float(beta**2)
    precision = np.where(of_candidate > 0, matches / np.maximum(of_candidate, 1), _EPSILON)
    recall = np.where(of_reference > 0, matches / np.maximum(of_reference, 1), _EPSILON)
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


def _counts(sides: Sides, orders: int) -> NDArray[np.float64]:
    """n-grams of each candidate, of its reference, matches: float64 [P, orders, 3]."""
    of_reference = totals(sides.references.lengths, orders)[sides.candidate_group]
    # sacreBLEU counts no n-grams of a candidate where the reference has none
    of_candidate = np.where(of_reference > 0, totals(sides.candidates.lengths, orders), 0)
    matches = clipped_matches(sides, orders)
    return np.stack([of_candidate, of_reference, matches], axis=-1).astype(np.float64)


def _best(own: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each comparison its first pair with the highest score; ``own`` ascends."""
    order = np.lexsort((-scores, own))
    first = np.ones(len(own), dtype=np.bool_)
    first[1:] = own[1:] != own[:-1]
    return order[first]
