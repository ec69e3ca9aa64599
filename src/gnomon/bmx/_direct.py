"""Explainers that look into the metric (its matches, its gradient), or at nothing (random)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gnomon.bmx._pairs import generator
from gnomon.bmx.explainers import PairImportances
from gnomon.errors import UsageError
from gnomon.metrics.differentiable import Differentiable
from gnomon.metrics.matching import Matching
from gnomon.metrics.protocol import lacks
from gnomon.metrics.spec import Options
from gnomon.options import SEED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.bmx._pairs import TextWords
    from gnomon.bmx.explainers import TextPair
    from gnomon.metrics.differentiable import TokenValues
    from gnomon.metrics.matching import SideMatches, TokenRows
    from gnomon.metrics.protocol import BoundMetric, Metric
    from gnomon.testset import TestSet


# Matches as explanations: how similar is each word to its best match on the other side?


@dataclass(frozen=True)
class Match(Options):
    """Match: the similarity of a word to its best match, for metrics that match words.

    The mean over the word's pieces; 0 for a word without any (beyond the model's limit). Costs one
    score.
    """

    name: ClassVar[str] = "match"
    blind: ClassVar[bool] = False

    @property
    def fields(self) -> Mapping[str, object]:
        """Nothing beside the spec."""
        return {}

    def bind(self, testset: TestSet, bound: BoundMetric) -> Match:  # noqa: ARG002  # nothing is frozen
        """Itself, if the metric matches words.

        Raises:
            UsageError: it does not.
        """
        if not isinstance(bound, Matching):
            raise UsageError(_no_matches(bound.name))
        return self

    def check(self, metric: Metric) -> None:
        """Refuse a metric that will not match words.

        Raises:
            UsageError: likewise.
        """
        if lacks(metric, Matching):
            raise UsageError(_no_matches(metric.name))

    def look(
        self, bound: BoundMetric, batch: Batch, pairs: Sequence[TextPair]
    ) -> Sequence[PairImportances]:
        """Matched similarities of the words of both sides."""
        if not isinstance(bound, Matching):  # bind() saw to it
            raise UsageError(f"{bound.name!r} has no matches")
        (matches,) = bound.matches(batch)
        found = [_NOTHING] * len(pairs)
        for column, number in zip(matches.cell.tolist(), matches.pair.tolist(), strict=True):
            candidate, other = pairs[column]
            tokens = matches.tokens
            found[column] = PairImportances(
                _means(candidate, matches.candidate, tokens, number),
                np.zeros(0) if other is None else _means(other, matches.reference, tokens, number),
            )
        return found


def _no_matches(name: str) -> str:
    return (
        f"explainer 'match' shows the matches of a metric, and {name!r} has none; take bertscore or"
        " xbertscore, or another explainer (erasure, lime, shap)"
    )


_NOTHING = PairImportances(np.zeros(0), np.zeros(0))


def _means(
    words: TextWords, side: SideMatches, tokens: TokenRows, pair: int
) -> NDArray[np.float64]:
    """Mean similarity over the pieces of each word; a piece belongs where it begins."""
    slots = slice(int(side.offsets[pair]), int(side.offsets[pair + 1]))
    own = side.token[slots]
    plain = ~tokens.special[own]
    ends = np.array([span.end for span in words.spans])
    word = np.searchsorted(ends, tokens.start[own[plain]], side="right")
    inside = word < len(words)
    similar = side.best[slots][plain][inside].astype(np.float64)
    total = np.bincount(word[inside], similar, minlength=len(words))
    count = np.bincount(word[inside], minlength=len(words))
    return np.divide(total, count, out=np.zeros(len(words)), where=count > 0)


# Gradients as explanations: what would the score lose if a word's vectors shrank?


@dataclass(frozen=True)
class Gradient(Options):
    """Gradient: input times gradient through the encoder, for differentiable metrics.

    The sum over the word's pieces of the product of the piece's input embedding and the gradient
    of the score in it (Denil et al., 2014; Shrikumar et al., 2016); 0 for a word without any piece
    (beyond the model's limit). Costs one pass forth and one back. For metrics on one encoder:
    bertscore, xbertscore, sbert.
    """

    name: ClassVar[str] = "gradient"
    blind: ClassVar[bool] = False

    @property
    def fields(self) -> Mapping[str, object]:
        """Nothing beside the spec."""
        return {}

    def bind(self, testset: TestSet, bound: BoundMetric) -> Gradient:  # noqa: ARG002  # nothing is frozen
        """Itself, if the metric can be differentiated.

        Raises:
            UsageError: it cannot.
        """
        _check(bound)
        return self

    def check(self, metric: Metric) -> None:
        """Refuse a metric that will not be differentiable.

        Raises:
            UsageError: likewise.
        """
        if lacks(metric, Differentiable):
            raise UsageError(_not_differentiable(metric.name))

    def look(
        self, bound: BoundMetric, batch: Batch, pairs: Sequence[TextPair]
    ) -> Sequence[PairImportances]:
        """Input times gradient, summed over the pieces of each word of both sides."""
        found = _check(bound).attributions(batch)
        sign = 1.0 if bound.higher_is_better else -1.0
        importances = [_NOTHING] * len(pairs)
        for number, column in enumerate(found.cell.tolist()):
            candidate, other = pairs[column]
            importances[column] = PairImportances(
                sign * _sums(candidate, found.candidate, number),
                np.zeros(0) if other is None else sign * _sums(other, found.other, number),
            )
        return importances


def _check(bound: BoundMetric) -> Differentiable:
    if not isinstance(bound, Differentiable):
        raise UsageError(_not_differentiable(bound.name))
    return bound


def _not_differentiable(name: str) -> str:
    return (
        f"explainer 'gradient' needs a metric that can be differentiated, and {name!r} cannot; take"
        " bertscore, xbertscore or sbert, or another explainer (erasure, lime, shap)"
    )


def _sums(words: TextWords, side: TokenValues, comparison: int) -> NDArray[np.float64]:
    """Sums over the pieces of each word; a piece belongs where it begins."""
    slots = side.slots(comparison)
    plain = ~side.special[slots]
    ends = np.array([span.end for span in words.spans])
    word = np.searchsorted(ends, side.start[slots][plain], side="right")
    inside = word < len(words)
    values = side.value[slots][plain][inside]
    return np.bincount(word[inside], values, minlength=len(words)).astype(np.float64)


# Random importances: the control for explainers that claim to know something.


@dataclass(frozen=True)
class RandomExplainer(Options):
    """Random: uniform between 0 and 1, drawn from both texts and a seed.

    Attributes:
        seed: another seed draws other importances.
    """

    name: ClassVar[str] = "random"
    blind: ClassVar[bool] = True

    seed: int = SEED

    @property
    def fields(self) -> Mapping[str, object]:
        """The seed."""
        return {"seed": self.seed}

    def bind(self, testset: TestSet, bound: BoundMetric) -> RandomExplainer:  # noqa: ARG002  # any metric
        """Itself: nothing is frozen."""
        return self

    def look(
        self,
        bound: BoundMetric,  # noqa: ARG002  # looks at nothing
        batch: Batch,  # noqa: ARG002  # looks at nothing
        pairs: Sequence[TextPair],
    ) -> Sequence[PairImportances]:
        """Draws for the words of both sides."""
        return [self._draw(pair) for pair in pairs]

    def _draw(self, pair: TextPair) -> PairImportances:
        other = () if pair.other is None else (pair.other.text,)
        draw = generator(self.seed, pair.candidate.text, *other)
        sizes = len(pair.candidate), 0 if pair.other is None else len(pair.other)
        return PairImportances(*(draw.random(size) for size in sizes))
