"""A function that compares words as a metric: the least that greedy matching needs.

Five lines make a metric that difficulty, MuLER and explanations by matches understand::

    def alike(candidate_tokens, reference_tokens):
        return [[difflib.SequenceMatcher(None, a, b).ratio() for b in reference_tokens]
                for a in candidate_tokens]

    gnomon.score(testset, gnomon.metric(alike))
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gnomon.core.dependencies import Dependency
from gnomon.core.errors import DataError, ScoringError
from gnomon.core.signature import Signature
from gnomon.metrics.aligning import aligned_matches
from gnomon.metrics.base import Metric, OfOptions
from gnomon.metrics.comparisons import pair_keys, pair_rows, pairs_of
from gnomon.metrics.masking import Action
from gnomon.metrics.requirements import offering_packages
from gnomon.metrics.sequences import TokenMasks
from gnomon.metrics.tokenise import (
    Tokenised,
    fitting_tokeniser,
    load_tokeniser,
    tokeniser_needs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.matching import Matches
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["PARAMETERS", "BoundSimilarity", "SimilarityMetric"]

#: the names of its parameters tell that a function compares words
PARAMETERS = ("candidate_tokens", "reference_tokens")


@dataclass(frozen=True)
class SimilarityMetric(Metric):
    """Greedy matching by a function of words; made by :func:`gnomon.metric`.

    Precision is the mean over the candidate's words of the similarity to their best match, recall
    the same over the reference's, the score their harmonic mean; the best of several references.
    """

    # (candidate_tokens, reference_tokens) -> similarities [C, R], 1 for equal words and at most 1
    function: Callable[[list[str], list[str]], ArrayLike]
    name: str
    spec: str  # ``python('module:function')`` if it can be imported, or the name alone
    fields: tuple[tuple[str, str], ...] = ()  # what else its signature tells

    pooled: ClassVar[bool] = False
    can: ClassVar[frozenset[str]] = frozenset(("statistics", "match"))

    def requires(self, language: str | None) -> tuple[Dependency, ...]:
        """The function, the package that offers it, and those of the tokeniser."""
        offered = offering_packages(self.name) if "package" in dict(self.fields) else ()
        return (Dependency("code", self.spec), *offered, *tokeniser_needs(None, language))

    def bind(self, testset: TestSet) -> BoundSimilarity:
        """The metric, with the tokeniser of the target language."""
        if not testset.references:
            raise DataError(f"metric {self.spec!r} needs references; {testset.name!r} has none")
        chosen = fitting_tokeniser(testset)
        return BoundSimilarity(self, Tokenised(load_tokeniser(chosen.name)), chosen.notices)


@dataclass(frozen=True, eq=False)
class BoundSimilarity(OfOptions):
    """Greedy matching, ready to score; remembers the similarities of the texts seen last."""

    metric: SimilarityMetric
    tokens: Tokenised
    choice: tuple[Message, ...] = ()

    @property
    def signature(self) -> Signature:
        """The spec, the tokeniser, and a hash of the function's source where it can be had."""
        tokeniser = {"tok": self.tokens.tokeniser.name}
        return Signature(self.metric.spec).adding(tokeniser | dict(self.metric.fields))

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """F, float64 [K, N]; NaN for segments without a reference."""
        (matches,) = self.matches(batch)
        return matches.best_of(matches.compute_parts().f)

    def matches(self, batch: Batch, plan: MaskPlan | None = None) -> Iterator[Matches]:
        """Best matches of all words, as they are or under every variant of a plan."""
        table = self.tokens.tokenise(batch.texts)
        matrices = self._matrices(batch, table)
        base = aligned_matches(batch, table, lambda *_: ())
        if plan is None:
            yield _best_matches(base, list(matrices.values()))
            return
        masks = TokenMasks.locate(table, plan)
        for variant in range(plan.variants):
            chosen = masks.masks(variant)
            action = np.zeros(len(table.ids), dtype=np.int8)
            action[chosen.token] = chosen.action
            parts = np.split(action, table.offsets[1:-1])
            edited = [
                _mask_matrix(matrix, parts[candidate], parts[reference])
                for (candidate, reference), matrix in matrices.items()
            ]
            yield _best_matches(base, edited)

    def _matrices(
        self, batch: Batch, table: TokenTable
    ) -> dict[tuple[int, int], NDArray[np.float64]]:
        """Candidate and reference -> similarities of their words, in the order of ``Matches``."""
        memory = self.memory_of(batch.texts)
        pairs = [
            (candidate, reference)
            for candidate, reference in pairs_of(pair_keys(pair_rows(batch))[0]).tolist()
        ]
        for pair in pairs:
            if pair not in memory:
                memory[pair] = self._compare(*map(table.strings, pair))
        return {pair: memory[pair] for pair in pairs}

    def _compare(self, candidate: list[str], reference: list[str]) -> NDArray[np.float64]:
        shape = len(candidate), len(reference)
        if not all(shape):
            return np.zeros(shape)
        try:
            similarities = np.asarray(self.metric.function(candidate, reference), dtype=np.float64)
        except Exception as error:
            raise ScoringError(
                f"metric {self.name!r} failed on {candidate} and {reference}:"
                f" {type(error).__name__}: {error}"
            ) from error
        if (
            similarities.shape != shape
            or not (np.isfinite(similarities) & (similarities <= 1)).all()
        ):
            raise ScoringError(
                f"metric {self.name!r} returned {similarities.tolist()!r} for {shape[0]} words and"
                f" {shape[1]}; it must return a finite similarity of at most 1 for each pair, shape"
                f" {shape}"
            )
        return similarities


def _best_matches(base: Matches, matrices: list[NDArray[np.float64]]) -> Matches:
    """The best of every row and every column."""
    sides = []
    for number, side in enumerate((base.candidate, base.reference)):
        best, at = side.best.copy(), side.at.copy()
        for pair, matrix in enumerate(matrices):
            slots = slice(int(side.offsets[pair]), int(side.offsets[pair + 1]))
            if matrix.size:
                position = matrix.argmax(axis=1 - number)
                best[slots] = matrix.max(axis=1 - number)
                at[slots] = base.tokens.offsets[base.texts[pair, 1 - number]] + position
        sides.append(replace(side, best=best, at=at))
    return replace(base, candidate=sides[0], reference=sides[1])


def _mask_matrix(
    matrix: NDArray[np.float64], own: NDArray[np.int8], other: NDArray[np.int8]
) -> NDArray[np.float64]:
    """Similarities under masks: 1 where two shared ones meet, 0 for private ones."""
    edited = matrix.copy()
    edited[own == Action.PRIVATE] = 0.0
    edited[:, other == Action.PRIVATE] = 0.0
    edited[np.ix_(own == Action.SHARED, other == Action.SHARED)] = 1.0
    return edited
