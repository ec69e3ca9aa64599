"""Greedy matching of two texts' vectors in torch, so that it can be differentiated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MatchedText", "greedy_score"]


class MatchedText(NamedTuple):
    """A text as a metric matches it.

    Attributes:
        vectors: tensor [n, d].
        weight: tensor [n], weights of the tokens.
        target: bool tensor [n], which tokens may be matched.
    """

    vectors: Any
    weight: Any
    target: Any


def greedy_score(
    candidate: MatchedText, other: MatchedText, part: int, baseline: Sequence[float]
) -> Any:
    """Precision (0), recall (1) or F (2) of greedy matching, rescaled, a scalar tensor.

    Zhang et al. (2020), eq. 1-3; as :meth:`gnomon.metrics.matching.Matches.weighted`.
    """
    import torch

    parts = candidate.vectors.sum() * 0.0, other.vectors.sum() * 0.0
    if candidate.weight.sum() > 0 and other.weight.sum() > 0:
        units = [torch.nn.functional.normalize(one.vectors, dim=-1) for one in (candidate, other)]
        cosines = units[0] @ units[1].T
        parts = (_mean(cosines, candidate, other), _mean(cosines.T, other, candidate))
    precision, recall = parts
    if part < 2:
        found = parts[part]
    else:
        total = precision + recall
        found = 2 * precision * recall / total if float(total.detach()) else total
    return (found - baseline[part]) / (1 - baseline[part])


def _mean(cosines: Any, own: MatchedText, other: MatchedText) -> Any:
    """Weighted mean of the best matches of one side's tokens."""
    if not bool(other.target.any()):
        return cosines.sum() * 0.0
    best = cosines[:, other.target].amax(dim=1)
    return (own.weight * best).sum() / own.weight.sum()
