"""ROUGE for sentences and summaries, equal to google's rouge-score 0.1.2.

Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries". Tokens are the runs of a-z
and 0-9 in the lower-cased text; scores lie between 0 and 1, as rouge-score gives them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from gnomon.errors import DataError
from gnomon.metrics._of_options import MeanOfSegments
from gnomon.metrics._pairs import pair_rows
from gnomon.metrics._rouge_pairs import RougePairs
from gnomon.metrics._rouge_tokens import RougeTokeniser, porter
from gnomon.metrics._spec import Options
from gnomon.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics._pairs import PairRows
    from gnomon.metrics._rouge_pairs import Overlaps
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.ngrams import NgramCounts
    from gnomon.metrics.protocol import Need
    from gnomon.metrics.tokenise import TokenTable
    from gnomon.testset import TestSet

__all__ = ["Rouge", "RougeScore", "rouge_scores"]

RougeType: TypeAlias = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]
RougePart: TypeAlias = Literal["f", "precision", "recall"]


class RougeScore(NamedTuple):
    """Precision, recall and F (their harmonic mean), each between 0 and 1."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class Rouge(Options):
    """ROUGE-1, -2, -L or -Lsum: n-grams or longest common subsequences shared with the reference.

    With several references the one with the best F counts, as rouge-score's ``score_multi`` does.
    The system score is the mean over segments. For rougeLsum the sentences of a text are its lines
    (rouge-score's default), so that texts without a newline score as under rougeL.

    Attributes:
        type: "rouge1", "rouge2", "rougeL" or "rougeLsum".
        score: "f", "precision" or "recall".
        stemmer: reduce words to Porter stems first; needs nltk.

    Raises:
        SpecError: an option has a value that it cannot have.
    """

    name: ClassVar[str] = "rouge"
    needs: ClassVar[frozenset[Need]] = frozenset(("references",))
    higher_is_better: ClassVar[bool] = True

    type: RougeType = "rougeL"
    score: RougePart = "f"
    stemmer: bool = False

    @property
    def ngram_orders(self) -> tuple[int, ...]:
        """1 or 2; none for subsequences, which are no n-grams."""
        return {"rouge1": (1,), "rouge2": (2,)}.get(self.type, ())

    def bind(self, testset: TestSet) -> BoundRouge:
        """The metric, ready to score.

        Raises:
            DataError: the test set has no references.
            MissingDependencyError: stemming is asked for and nltk is not installed.
        """
        if not testset.references:
            raise DataError(f"metric {self.spec!r} needs references; {testset.name!r} has none")
        return BoundRouge(self)


@dataclass(frozen=True, eq=False)
class BoundRouge(MeanOfSegments):
    """ROUGE, ready to score; remembers the tokens of the texts that it saw last."""

    metric: Rouge

    def __post_init__(self) -> None:
        # a missing package shall show when binding, not after hours of other work
        _ = self._pairs

    @property
    def signature(self) -> Signature:
        """The spec alone; ROUGE freezes nothing."""
        return Signature(self.metric.spec)

    @cached_property
    def _pairs(self) -> RougePairs:
        tokeniser = RougeTokeniser(
            porter() if self.metric.stemmer else None, lines=self.metric.type == "rougeLsum"
        )
        return RougePairs(self.metric.type, tokeniser)

    def parts(self, batch: Batch) -> NDArray[np.float64]:
        """Precision, recall and F of every candidate, float64 [K, N, 3]; NaN without reference."""
        rows = pair_rows(batch)
        return _best(rows, _scores(self._pairs.overlaps(batch, rows)))

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN for segments without a reference."""
        return self.parts(batch)[..., self._part]

    def mask_lengths(self, batch: Batch, plan: MaskPlan) -> None:
        """Words have no length."""

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        """Sentence scores of every variant, float64 [V, K, N]."""
        rows = pair_rows(batch)
        base = _scores(self._pairs.overlaps(batch, rows))
        scores = np.empty((plan.variants, *rows.shape))
        for variant, (changed, counts) in enumerate(self._pairs.variants(batch, rows, plan)):
            values = base.copy()
            values[changed] = _scores(counts)
            scores[variant] = _best(rows, values)[..., self._part]
        return scores

    @property
    def ngram_orders(self) -> tuple[int, ...]:
        """1 or 2; none for subsequences, which are no n-grams."""
        return self.metric.ngram_orders

    @property
    def ngram_union(self) -> bool:
        """False: the best reference counts."""
        return False

    @property
    def ngram_sums(self) -> bool:
        """False: the corpus score is the mean over segments."""
        return False

    def ngram_tokens(self, texts: tuple[str, ...]) -> TokenTable:
        """The tokens of texts."""
        return self._pairs.tokens.of(texts)

    def ngram_scores(self, counts: NgramCounts, *, corpus: bool) -> NDArray[np.float64]:  # noqa: ARG002  # a corpus is scored by means
        """Precision, recall or F [...] of counts."""
        return _ratios(
            counts.matches[..., 0],
            counts.recalled[..., 0],
            counts.candidate[..., 0],
            counts.reference[..., 0],
        )[..., self._part]

    @property
    def _part(self) -> int:
        return {"precision": 0, "recall": 1, "f": 2}[self.metric.score]


def rouge_scores(
    candidates: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    type: RougeType = "rougeL",  # noqa: A002  # the name of the metric's option
    stemmer: bool = False,
) -> list[RougeScore]:
    """ROUGE of each candidate: precision, recall and F together.

    Args:
        candidates: one text per segment.
        references: one text, or the list of all references, per segment.
        type: "rouge1", "rouge2", "rougeL" or "rougeLsum".
        stemmer: reduce words to Porter stems first; needs nltk.

    Raises:
        LengthMismatchError: unequal numbers of segments.
        DataError: a segment has no reference.

    >>> rouge_scores(["the cat sat"], ["a cat sat down"])
    [RougeScore(precision=0.666..., recall=0.5, f=0.571...)]
    """
    from gnomon.testset import TestSet

    testset = TestSet.from_lists({"candidates": candidates}, references)
    parts = Rouge(type=type, stemmer=stemmer).bind(testset).parts(testset.batch())[0]
    if np.isnan(parts).any():
        first = int(np.flatnonzero(np.isnan(parts).any(axis=1))[0])
        raise DataError(f"segment {first + 1} has no reference; every segment needs one")
    return [RougeScore(*map(float, row)) for row in parts]


def _scores(counts: Overlaps) -> NDArray[np.float64]:
    """Precision, recall and F of each row, float64 [P, 3]; 0 where a side is empty."""
    return _ratios(counts.found, counts.found, counts.candidate, counts.reference)


def _ratios(
    matched: NDArray[np.number],
    recalled: NDArray[np.number],
    candidate: NDArray[np.number],
    reference: NDArray[np.number],
) -> NDArray[np.float64]:
    precision = matched / np.maximum(candidate, 1)
    recall = recalled / np.maximum(reference, 1)
    both = precision + recall
    f = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    return np.stack([precision, recall, f], axis=-1)


def _best(rows: PairRows, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores of each cell's reference with the best F (the first of equals), [K, N, 3]."""
    best = np.full((rows.shape[0] * rows.shape[1], 3), np.nan)
    if rows.per_cell.max(initial=0) <= 1:
        best[rows.cell] = scores
        return best.reshape(*rows.shape, 3)
    order = np.lexsort((-scores[:, 2], rows.cell))
    cells, first = np.unique(rows.cell[order], return_index=True)
    best[cells] = scores[order[first]]
    return best.reshape(*rows.shape, 3)
