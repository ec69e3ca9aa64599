"""Ranks and clusters."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.core.errors import LengthMismatchError, UsageError
from gnomon.stats import clusters, ranks

NAN = float("nan")


def wins(n: int, *pairs: tuple[int, int]) -> np.ndarray:
    """p-values in which only the named pairs are significant."""
    p = np.full((n, n), 0.5)
    for winner, loser in pairs:
        p[winner, loser], p[loser, winner] = 0.01, 0.99
    return p


def test_a_rank_begins_with_the_first_metric_that_its_rank_beats() -> None:
    scores, p = [0.9, 0.8, 0.7, 0.6], wins(4, (0, 2), (1, 3))
    # 2 loses to 0 and opens rank 2; 3 loses to 1, which is of rank 1 already
    assert ranks(scores, p).tolist() == [1, 1, 2, 2]


def test_ranks_follow_scores_and_not_rows() -> None:
    order = [2, 0, 3, 1]
    scores, p = np.array([0.9, 0.8, 0.7, 0.6]), wins(4, (0, 2), (1, 3))
    moved = ranks(scores[order], p[np.ix_(order, order)])
    assert moved.tolist() == ranks(scores, p)[order].tolist()


def test_a_cluster_ends_where_all_above_beat_all_below() -> None:
    scores = [0.9, 0.8, 0.7, 0.6]
    assert clusters(scores, wins(4, (0, 2), (0, 3), (1, 3))).tolist() == [1, 1, 1, 1]
    assert clusters(scores, wins(4, (0, 2), (0, 3), (1, 2), (1, 3))).tolist() == [1, 1, 2, 2]


def test_undefined_scores_have_no_rank_and_undefined_tests_decide_nothing() -> None:
    p = wins(3, (0, 1), (0, 2))
    p[0, 2] = NAN
    scores = [0.9, NAN, 0.1]
    for found in (ranks(scores, p), clusters(scores, p)):
        assert np.array_equal(found, [1, NAN, 1], equal_nan=True)


def test_nothing_to_rank() -> None:
    assert ranks([], np.empty((0, 0))).shape == (0,)
    assert clusters([NAN], [[NAN]]).shape == (1,)


def test_unfit_arguments_are_refused() -> None:
    with pytest.raises(LengthMismatchError, match=r"\[n, n\]"):
        ranks([1, 2], [[1]])
    with pytest.raises(UsageError, match="strictly between"):
        clusters([1], [[1]], alpha=0)
