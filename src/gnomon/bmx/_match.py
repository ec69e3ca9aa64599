"""Matches as explanations: how similar is each word to its best match on the other side?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gnomon.bmx._protocol import PairImportances
from gnomon.errors import UsageError
from gnomon.metrics.matching import Matching
from gnomon.metrics.protocol import lacks
from gnomon.metrics.spec import Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.bmx._protocol import Pair
    from gnomon.bmx._words import Words
    from gnomon.metrics.matching import SideMatches, TokenRows
    from gnomon.metrics.protocol import BoundMetric, Metric
    from gnomon.testset import TestSet

__all__ = ["Match"]


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
        self, bound: BoundMetric, batch: Batch, pairs: Sequence[Pair]
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


def _means(words: Words, side: SideMatches, tokens: TokenRows, pair: int) -> NDArray[np.float64]:
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
