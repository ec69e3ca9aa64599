"""The common base of BLEU, chrF, TER and ROUGE: counts shared by distinct texts, and masks.

A metric says how comparisons are counted, and how counts become scores; each distinct comparison is
counted once, and under masks only those that a edition changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from gnomon.core.plugins import version_of
from gnomon.metrics.base import OfOptions
from gnomon.metrics.comparisons import (
    PairRows,
    compute_in_blocks,
    masked_scores,
    pair_keys,
    pairs_of,
    reference_count,
)
from gnomon.metrics.sequences import Sequences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.signature import Signature
    from gnomon.metrics.comparisons import Rescore, TextComparisons, TokenisedTexts
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.sequences import PlacedMasks, TokenMasks
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["CountedMetric", "CountedNgrams", "CountedPairs", "NgramCount", "PairCounts"]


@dataclass(frozen=True, eq=False)
class CountedMetric(OfOptions, ABC):
    """A bound metric that counts what texts share."""

    signature: Signature  # what its numbers depend on
    texts: TokenisedTexts  # tokens of the texts seen last, and counts of the work done

    def sentence_scores(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sentence scores [...] of the counts of comparisons [..., S]."""
        return self.aggregate(counts)

    @abstractmethod
    def counted(self, batch: Batch, comparisons: TextComparisons) -> NDArray[np.float64]:
        """The counts of all comparisons of a batch, float64 [P, S]."""

    @abstractmethod
    def rescore(self, batch: Batch, comparisons: TextComparisons, masks: TokenMasks) -> Rescore:
        """The function that scores comparisons under masks."""

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN where a segment has no reference."""
        comparisons, counts = self.texts.base(batch, self.counted)
        return comparisons.spread(self.sentence_scores(counts), np.nan)

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """Summands of corpus scores, float64 [K, N, S]; 0 where there is no reference."""
        comparisons, counts = self.texts.base(batch, self.counted)
        return comparisons.spread(counts, 0.0)

    @property
    def native_fields(self) -> Mapping[str, object]:
        """Fields of sacreBLEU's signature for the options; empty where it has none."""
        return {}

    def native_signatures(self, batch: Batch) -> Mapping[str, str]:
        """Signatures of corpus scores by sacreBLEU; importing it takes longer than to score."""
        fields = self.native_fields
        every = {"nrefs": reference_count(batch), **fields, "version": version_of("sacrebleu")}
        text = "|".join(f"{name}:{value}" for name, value in every.items())
        return {"sacrebleu": text} if fields else {}

    def forget(self) -> None:
        """Free tokens and counts of texts."""
        self.texts.forget()

    def mask_tokens(self, batch: Batch) -> TokenTable | None:
        """The tokens that masks are put on."""
        return self.texts.tokens.tokenise(batch.texts)

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        """Sentence scores of every edition, float64 [V, K, N]."""
        masks = self.texts.masks(batch, plan)
        comparisons, counts = self.texts.base(batch, self.counted)
        base, rescore = self.sentence_scores(counts), self.rescore(batch, comparisons, masks)
        scores, rescored = masked_scores(comparisons, base, masks, rescore)
        self.texts.rescored += rescored
        return scores


class NgramCount(Protocol):
    """Counts some comparisons as they are, or under the masks of a edition.

    With ``both``, also what comes of it if all masks were private; float64 [P, S] each.
    """

    def __call__(  # noqa: D102  # said above
        self, rows: NDArray[np.int64], chosen: PlacedMasks | None, *, both: bool
    ) -> Sequence[NDArray[np.float64]]: ...


class CountedNgrams(CountedMetric):
    """A metric of n-grams, whose texts are laid out anew for each block of comparisons."""

    @abstractmethod
    def ngram_count(
        self, batch: Batch, comparisons: TextComparisons, masks: TokenMasks | None
    ) -> NgramCount:
        """The counter of n-grams of comparisons."""

    def counted(self, batch: Batch, comparisons: TextComparisons) -> NDArray[np.float64]:
        """The counts of all comparisons of a batch, float64 [P, S]."""
        count = self.ngram_count(batch, comparisons, None)
        every = np.arange(len(comparisons.candidate))
        return compute_in_blocks(every, lambda block: count(block, None, both=False)[0], axis=0)

    def rescore(self, batch: Batch, comparisons: TextComparisons, masks: TokenMasks) -> Rescore:
        """The function that scores comparisons under masks."""
        count = self.ngram_count(batch, comparisons, masks)

        def rescored(
            rows: NDArray[np.int64], chosen: PlacedMasks, *, both: bool
        ) -> tuple[NDArray[np.float64], ...]:
            def compare(block: NDArray[np.int64]) -> NDArray[np.float64]:
                counts = count(block, chosen, both=both)
                return np.stack([self.sentence_scores(values) for values in counts])

            return tuple(compute_in_blocks(rows, compare))

        return rescored


class PairCounts(NamedTuple):
    """Counts of each row: matches or edits, and the sizes of both sides."""

    found: NDArray[np.int64]
    candidate: NDArray[np.int64]
    reference: NDArray[np.int64]


class CountedPairs(CountedMetric):
    """A metric of one count of each pair (candidate, reference) and the sizes of both texts."""

    @abstractmethod
    def pair_counts(
        self,
        table: TokenTable,
        candidates: Sequences,
        references: Sequences,
        pairs: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Count pairs of rows of two sides, candidates and references, int64 [P]."""

    @abstractmethod
    def cell_counts(self, rows: PairRows, counts: PairCounts) -> NDArray[np.float64]:
        """The counts of each cell from those of its pairs, float64 [K, N, S]."""

    def sizes(self, table: TokenTable, side: Sequences) -> NDArray[np.int64]:  # noqa: ARG002  # some ask for its words
        """The size of each text, int64 [T]."""
        return side.lengths

    def plain_references(self, table: TokenTable, rows: PairRows) -> Sequences:  # noqa: ARG002  # some split these again
        """The tokens of all texts as references that are not masked."""
        return Sequences(table.offsets, table.ids)

    def counted(self, batch: Batch, comparisons: TextComparisons) -> NDArray[np.float64]:
        """The counts of all comparisons of a batch, float64 [P, S]."""
        counts: NDArray[np.float64] = self.cell_counts(*self._plain(batch, comparisons))[0]
        return counts

    def rescore(self, batch: Batch, comparisons: TextComparisons, masks: TokenMasks) -> Rescore:
        """The function that scores comparisons under masks: only changed pairs are recounted."""
        every, plain = self._plain(batch, comparisons)

        def rescored(
            rows: NDArray[np.int64], chosen: PlacedMasks, *, both: bool
        ) -> tuple[NDArray[np.float64], ...]:
            touched = masks.touched(chosen)
            changed = np.flatnonzero(touched[every.candidate] | touched[every.reference])
            some = every.select(changed)
            keys, back = pair_keys(some)
            scores = []
            for edition in (chosen, chosen.private())[: 1 + both]:
                sides = (
                    masks.insert_masks(edition, "candidate"),
                    masks.insert_masks(edition, "reference"),
                )
                counts_of_pairs = self.pair_counts(masks.tokens, *sides, pairs_of(keys))
                counts = self._add_sizes(masks.tokens, counts_of_pairs[back], sides, some)
                merged = PairCounts(*(column.copy() for column in plain))
                for column, values in zip(merged, counts, strict=True):
                    column[changed] = values
                scores.append(self.sentence_scores(self.cell_counts(every, merged)[0])[rows])
            return tuple(scores)

        return rescored

    def _plain(self, batch: Batch, comparisons: TextComparisons) -> tuple[PairRows, PairCounts]:
        """All comparisons beside each of their references, unmasked."""
        rows = comparisons.pairs(np.arange(len(comparisons.candidate)))
        table = self.texts.tokens.tokenise(batch.texts)
        sides = Sequences(table.offsets, table.ids), self.plain_references(table, rows)
        keys, back = pair_keys(rows)
        counts_of_pairs = self.texts.pair_counts(
            batch.texts, keys, lambda new: self.pair_counts(table, *sides, pairs_of(new))
        )
        return rows, self._add_sizes(table, counts_of_pairs[back], sides, rows)

    def _add_sizes(
        self,
        table: TokenTable,
        found: NDArray[np.int64],
        sides: tuple[Sequences, Sequences],
        rows: PairRows,
    ) -> PairCounts:
        candidate_sizes, reference_sizes = (self.sizes(table, side) for side in sides)
        return PairCounts(found, candidate_sizes[rows.candidate], reference_sizes[rows.reference])
