"""Differences of the authors' code from the paper (``variant='authors'``)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.difficulty.metric import Difficulty
    from gnomon.difficulty.token_hardness import Types
    from gnomon.metrics.base import BoundMetric, Metric


def running_means(types: Types, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The published code's average: the first value, then (so far + next) / 2 in order.

    Of n values the first counts 1 / 2^(n - 1), the j-th 1 / 2^(n - j + 1).
    """
    order = np.argsort(types.of, kind="stable")
    starts = np.cumsum(types.counts) - types.counts
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(starts, types.counts)
    behind = types.counts[types.of] - rank  # 1 for the last
    exponent = np.where(rank == 0, types.counts[types.of] - 1, behind)
    weighted: NDArray[np.float64] = values * 0.5**exponent
    return np.bincount(types.of, weighted, len(types.keys)).astype(np.float64)


def normalised(
    weights: NDArray[np.float64], owner: NDArray[np.int64], owners: int, options: Difficulty
) -> NDArray[np.float64]:
    """The published code's options: a softmax over each text, or division by its largest weight."""
    if options.softmax_norm:
        raised = np.exp(weights)  # weights are near [0, 1]: nothing can overflow
        return raised / np.bincount(owner, raised, owners)[owner]
    if options.max_norm:
        most = np.full(owners, -np.inf)
        np.maximum.at(most, owner, weights)
        divisor = np.where(most > 0, most, 1.0)
        divided: NDArray[np.float64] = weights / divisor[owner]
        return divided
    return weights


def drop_special_tokens(options: Difficulty, testset: TestSet) -> BoundMetric:
    """The metric with special tokens left out, for weights that depend on its matches."""
    # best matches are the same whether similarities are rescaled or not
    wrapped: Metric = replace(options.metric, special="exclude", rescale=False, baseline=None)  # type: ignore[type-var]  # options are dataclasses
    return wrapped.bind(testset)
