"""BLEU (Papineni et al. 2002), equal to sacreBLEU's (Post 2018) or to nltk's unsmoothed form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from gnomon.errors import SpecError, UnknownNameError
from gnomon.metrics._bleu_formula import Smoothing, SmoothMethod, bleu, nltk_bleu
from gnomon.metrics._comparisons import (
    Comparisons,
    Texts,
    in_blocks,
    masked_scores,
    references_field,
)
from gnomon.metrics._ngrams import Sides, clipped_matches, totals
from gnomon.metrics._sequences import Layout, offsets_of, ranges
from gnomon.metrics._spec import Options
from gnomon.metrics.tokenise import TOKENISERS, default_tokeniser, load_tokeniser
from gnomon.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics._token_masks import Masks
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.protocol import Need
    from gnomon.metrics.tokenise import Tokeniser
    from gnomon.testset import TestSet

__all__ = ["Bleu", "BoundBleu"]


@dataclass(frozen=True)
class Bleu(Options):
    """BLEU: n-gram precision against the references, with a penalty for brevity; 0 to 100.

    Segments and systems score as sacreBLEU's sentence_score and corpus_score do.

    Attributes:
        lowercase: ignore case.
        tokenize: sacreBLEU's name of the tokeniser; by default its choice for the target
            language: zh, ja-mecab, ko-mecab, else 13a.
        smooth_method: "exp", "floor", "add-k" or "none".
        smooth_value: for "floor" (.1 by default) and "add-k" (1).
        max_ngram_order: length of the longest n-grams.
        effective_order: leave out orders that are longer than the candidate; by default for
            segments but not for systems, as sacreBLEU's command does.
        variant: "authors" for nltk's unsmoothed BLEU times 100, which MuLER's paper used.

    Raises:
        SpecError: an option is out of range, or does not go with ``variant``.
        UnknownNameError: there is no such tokeniser.
    """

    name: ClassVar[str] = "bleu"
    needs: ClassVar[frozenset[Need]] = frozenset(("references",))
    higher_is_better: ClassVar[bool] = True

    lowercase: bool = False
    tokenize: str | None = None
    smooth_method: SmoothMethod = "exp"
    smooth_value: float | None = None
    max_ngram_order: int = 4
    effective_order: bool | None = None
    variant: Literal["authors"] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        known = [name for name in TOKENISERS if name != "chrf"]
        if self.tokenize is not None and self.tokenize not in known:
            raise UnknownNameError("tokeniser", self.tokenize, known)
        if self.max_ngram_order < 1:
            raise SpecError(
                f"bleu: max_ngram_order is {self.max_ngram_order}; it must be 1 or more"
            )
        if self.variant and replace(self, variant=None) != Bleu(self.lowercase, self.tokenize):
            raise SpecError(
                f"{self.spec}: the authors' variant is unsmoothed BLEU of order 4; it goes with"
                " lowercase and tokenize only"
            )

    def bind(self, testset: TestSet) -> BoundBleu:
        """Choose the tokeniser for the language of the test set.

        Raises:
            DataError: the test set has no references.
            MissingDependencyError: the tokeniser needs a package or a model that is not there.
        """
        chosen = self.tokenize or default_tokeniser(testset.target_language)
        tokeniser = load_tokeniser(chosen, lowercase=self.lowercase)
        effective = {None: "segments", True: "yes", False: "no"}[self.effective_order]
        fields = {
            **references_field(testset, self.name),
            "case": "lc" if self.lowercase else "mixed",
            "eff": "no" if self.variant else effective,
            "tok": tokeniser.name,
            "smooth": "none" if self.variant else _smooth_field(self.smoothing),
        }
        return BoundBleu(self, tokeniser, Signature(self.spec).adding(fields), Texts(tokeniser))

    @property
    def smoothing(self) -> Smoothing:
        """How zero matches are smoothed."""
        return Smoothing(self.smooth_method, self.smooth_value)


@dataclass(frozen=True, eq=False)
class BoundBleu:
    """BLEU with its tokeniser; has the powers statistics, masking and native signature.

    Attributes:
        options: what was asked for.
        tokeniser: the tokeniser in use.
        signature: options, number of references, tokeniser.
        texts: tokens of the texts seen last, and counts of the work done.
    """

    options: Bleu
    tokeniser: Tokeniser
    signature: Signature
    texts: Texts

    name: ClassVar[str] = Bleu.name
    needs: ClassVar[frozenset[Need]] = Bleu.needs
    higher_is_better: ClassVar[bool] = True

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence BLEU, float64 [K, N]; NaN where a segment has no reference."""
        comparisons = Comparisons.of(batch)
        scores = self._sentence_scores(self._statistics(batch, comparisons))
        return comparisons.spread(scores, np.nan)

    def system(self, batch: Batch) -> NDArray[np.float64]:
        """Corpus BLEU, float64 [K]; segments without a reference are left out."""
        return self.aggregate(self.statistics(batch).sum(axis=1))

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """Lengths (candidate, closest reference), matches, totals: float64 [K, N, 2 + 2 n]."""
        comparisons = Comparisons.of(batch)
        return comparisons.spread(self._statistics(batch, comparisons), 0.0)

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Corpus BLEU [...] of summed statistics [..., 2 + 2 n]."""
        if self.options.variant:
            return nltk_bleu(statistics)
        effective = bool(self.options.effective_order)
        return bleu(statistics, self.options.smoothing, effective_order=effective)

    def mask_lengths(self, batch: Batch, plan: MaskPlan) -> None:
        """None: masked words have no length."""

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        """Sentence BLEU of every variant, float64 [V, K, N].

        Raises:
            MaskingError: the tokeniser's tokens cannot be found in the texts.
        """
        masks = self.texts.masks(batch, plan)
        layout = Layout.of_words(masks.tokens)
        comparisons = Comparisons.of(batch)

        def rescore(rows: NDArray[np.int64], chosen: Masks) -> NDArray[np.float64]:
            statistics = in_blocks(rows, lambda r: self._compare(comparisons, r, layout, chosen))
            return self._sentence_scores(statistics)

        base = self._sentence_scores(self._statistics(batch, comparisons))
        scores, rescored = masked_scores(comparisons, base, masks, rescore)
        self.texts.rescored += rescored
        return scores

    def native_signatures(self, batch: Batch) -> Mapping[str, str]:
        """The signature that sacreBLEU prints for corpus scores; none for the authors' variant."""
        if self.options.variant:
            return {}
        from sacrebleu.metrics.bleu import BLEUSignature

        from gnomon.metrics.scoring import reference_count

        arguments = {
            "num_refs": reference_count(batch),
            "lowercase": self.options.lowercase,
            "effective_order": bool(self.options.effective_order),
            "tokenizer_signature": self.tokeniser.name,
            "smooth_method": self.options.smooth_method,
            "smooth_value": self.options.smooth_value,
        }
        return {"sacrebleu": str(BLEUSignature(arguments))}

    def _statistics(self, batch: Batch, comparisons: Comparisons) -> NDArray[np.float64]:
        layout = Layout.of_words(self.texts.tokens.of(batch.texts))
        rows = np.arange(len(comparisons.candidate))
        return in_blocks(rows, lambda r: self._compare(comparisons, r, layout, None))

    def _compare(
        self,
        comparisons: Comparisons,
        rows: NDArray[np.int64],
        layout: Layout,
        masks: Masks | None,
    ) -> NDArray[np.float64]:
        """Statistics of some comparisons, float64 [rows, 2 + 2 n]."""
        groups, group = np.unique(comparisons.group[rows], return_inverse=True)
        references, owner = comparisons.lists(groups)
        sides = Sides(
            layout.of(comparisons.candidate[rows], masks, "candidate"),
            group,
            layout.of(references, masks, "reference"),
            owner,
        )
        orders = self.options.max_ngram_order
        counts = totals(sides.candidates.lengths, orders)
        columns = (
            sides.candidates.lengths[:, None],
            closest_lengths(sides)[:, None],
            clipped_matches(sides, orders),
            np.maximum(counts, 1) if self.options.variant else counts,
        )
        return np.hstack(columns).astype(np.float64)

    def _sentence_scores(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.options.variant:
            return nltk_bleu(statistics)
        effective = self.options.effective_order is not False
        return bleu(statistics, self.options.smoothing, effective_order=effective)


def closest_lengths(sides: Sides) -> NDArray[np.int64]:
    """Length of the reference nearest in length to each candidate, the shorter one among equals."""
    lengths = sides.references.lengths
    counts = np.bincount(sides.reference_group)
    if counts.max(initial=0) <= 1:
        return lengths[sides.candidate_group]
    mine = counts[sides.candidate_group]
    starts = offsets_of(counts)[sides.candidate_group]
    own = np.repeat(sides.candidates.lengths, mine)
    theirs = lengths[ranges(starts, mine)]
    stride = 1 + int(lengths.max(initial=0))
    nearest: NDArray[np.int64] = np.minimum.reduceat(
        np.abs(own - theirs) * stride + theirs, offsets_of(mine)[:-1]
    )
    return nearest % stride


def _smooth_field(smoothing: Smoothing) -> str:
    has_value = smoothing.method in ("floor", "add-k")
    return f"{smoothing.method}[{smoothing.value:.2f}]" if has_value else smoothing.method
