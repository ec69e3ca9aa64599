"""First-order contributions of each token to a score, from differentiable metrics.

The power of differentiating: input times gradient through the model of a metric on embeddings
(Denil et al., 2014; Shrikumar et al., 2016). Greedy matches are differentiable wherever the best
match is unique.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.metrics.sequences import offsets_of, ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gnomon.metrics.comparisons import PairRows
    from gnomon.models import Encoder, Pieces

__all__ = ["Attributions", "TokenValues", "attributions"]


#: pairs whose graph is in memory at a time
_PAIRS = 32


@dataclass(frozen=True, eq=False)
class TokenValues:
    """A value for every token of one side of P comparisons, one comparison after the other."""

    # [P + 1]; the tokens of comparison p are slots ``offsets[p]:offsets[p + 1]``
    offsets: NDArray[np.int64]
    start: NDArray[np.int32]  # [slots], first code point of the token in its text
    special: NDArray[np.bool_]  # [slots], tokens that stand for no part of the text
    value: NDArray[np.float64]  # [slots]

    def slots(self, comparison: int) -> slice:
        """The slots of one comparison."""
        return slice(int(self.offsets[comparison]), int(self.offsets[comparison + 1]))


@dataclass(frozen=True, eq=False)
class Attributions:
    """Contributions of the tokens of both sides to each score."""

    shape: tuple[int, int]  # (K, N)
    cell: NDArray[np.int64]  # [P], system * N + segment of each comparison; never decreases
    score: NDArray[np.float64]  # [P], the score of each comparison
    candidate: TokenValues  # input times gradient of the candidates' tokens
    other: TokenValues  # that of the tokens that they are compared with


def attributions(
    encoder: Encoder, pieces: Pieces, rows: PairRows, score: Callable[[int, Any, Any], Any]
) -> Attributions:
    """Attributions of scores of pairs of texts.

    ``score``: from the number of a comparison and the vectors of both texts, tensors [pieces, d],
    to a scalar tensor.
    """
    from gnomon.models import input_gradients

    values: list[list[NDArray[np.float64]]] = [[], []]
    scores: list[float] = []

    def total(first: int, vectors: Sequence[Any]) -> Any:
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        values_of_pairs = [score(first + number, *pair) for number, pair in enumerate(pairs)]
        scores.extend(float(value.detach()) for value in values_of_pairs)
        return sum(values_of_pairs[1:], start=values_of_pairs[0])

    texts = np.stack([rows.candidate, rows.reference], axis=-1)
    for first in range(0, len(texts), _PAIRS):
        pair_texts = texts[first : first + _PAIRS].ravel()
        products = input_gradients(encoder, pieces, pair_texts, partial(total, first))
        values[0] += products[::2]
        values[1] += products[1::2]
    return Attributions(
        shape=rows.shape,
        cell=rows.cell,
        score=np.array(scores),
        candidate=_token_gradients(pieces, rows.candidate, values[0]),
        other=_token_gradients(pieces, rows.reference, values[1]),
    )


def _token_gradients(
    pieces: Pieces, texts: NDArray[np.int64], values: list[NDArray[np.float64]]
) -> TokenValues:
    sizes = pieces.lengths[texts]
    token = ranges(pieces.offsets[texts], sizes)
    return TokenValues(
        offsets=offsets_of(sizes),
        start=pieces.start[token],
        special=pieces.special[token],
        value=np.concatenate([np.zeros(0), *values]),
    )


# Greedy matching of two texts' vectors in torch, so that it can be differentiated.


class MatchedText(NamedTuple):
    """A text as a metric matches it."""

    vectors: Any  # tensor [n, d]
    weight: Any  # tensor [n], weights of the tokens
    target: Any  # bool tensor [n], which tokens may be matched


def greedy_score(
    candidate: MatchedText, other: MatchedText, part: int, baseline: Sequence[float]
) -> Any:
    """Precision (0), recall (1) or F (2) of greedy matching, rescaled, a scalar tensor.

    Zhang et al. (2020), eq. 1-3; as :meth:`gnomon.metrics.matching.Matches.weighted`.
    """
    import torch

    parts = candidate.vectors.sum() * 0.0, other.vectors.sum() * 0.0
    if candidate.weight.sum() > 0 and other.weight.sum() > 0:
        units = [torch.nn.functional.normalize(side.vectors, dim=-1) for side in (candidate, other)]
        cosines = units[0] @ units[1].T
        parts = (_mean_best(cosines, candidate, other), _mean_best(cosines.T, other, candidate))
    precision, recall = parts
    if part < 2:
        score = parts[part]
    else:
        total = precision + recall
        score = 2 * precision * recall / total if float(total.detach()) else total
    return (score - baseline[part]) / (1 - baseline[part])


def _mean_best(cosines: Any, own: MatchedText, other: MatchedText) -> Any:
    """Weighted mean of the best matches of one side's tokens."""
    if not bool(other.target.any()):
        return cosines.sum() * 0.0
    best = cosines[:, other.target].amax(dim=1)
    return (own.weight * best).sum() / own.weight.sum()
