"""Decisions that other scores repair and break, held against loops and against scipy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom

from gnomon import stats
from gnomon.core.errors import LengthMismatchError


def drawn(seed: int, shape: tuple[int, int] = (5, 30)) -> np.ndarray:
    return np.round(np.random.default_rng(seed).normal(size=shape), 1)


@pytest.mark.parametrize("threshold", [None, 0.5, 1.0])
def test_ordered_pairs_are_those_that_people_scored_unlike(threshold: float | None) -> None:
    human = drawn(1)
    human[2, 3:9] = np.nan
    found = stats.ordered_pairs(human, threshold=threshold)
    told = set(zip(*(side.tolist() for side in found), strict=True))
    expected = set()
    for segment in range(human.shape[1]):
        for a, b in combinations(range(len(human)), 2):
            gap = human[a, segment] - human[b, segment]
            if (gap != 0 and gap == gap) if threshold is None else abs(gap) >= threshold:  # noqa: PLR0124  # NaN is unlike itself
                expected.add((segment, a, b) if gap > 0 else (segment, b, a))
    assert told == expected
    assert len(found.segment) == len(expected)


def test_decisions_are_counted_as_loops_count_them_and_ties_are_wrong() -> None:
    human, before, after = drawn(1), drawn(2), drawn(3)
    before[0, 0], after[1, 4] = np.nan, np.nan
    pairs = stats.ordered_pairs(human)
    found = stats.changed_decisions(pairs, before, after, resamples=0)
    counts = {(True, True): 0, (False, True): 0, (True, False): 0, (False, False): 0}
    for segment, better, worse in zip(*pairs, strict=True):
        cells = [one[k, segment] for one in (before, after) for k in (better, worse)]
        if not np.isnan(cells).any():
            counts[cells[0] > cells[1], cells[2] > cells[3]] += 1
    assert found[:4] == tuple(counts.values())
    assert np.isnan(found.low).all()


def test_daRR_gains_twice_the_share_of_decisions() -> None:  # noqa: N802  # its name
    human, before, after = drawn(1), drawn(2), drawn(3)
    pairs = stats.ordered_pairs(human)
    taus = [
        stats.darr_pairs(one[pairs.better, pairs.segment], one[pairs.worse, pairs.segment])
        for one in (before, after)
    ]
    found = stats.changed_decisions(pairs, before, after, resamples=0)
    gain = (found.repaired - found.broken) / sum(found[:4])
    assert taus[1] - taus[0] == pytest.approx(2 * gain)


def test_intervals_of_one_pair_per_segment_are_those_of_the_binomial() -> None:
    rng = np.random.default_rng(5)
    n = 400
    human = np.array([np.ones(n), np.zeros(n)])
    before, after = rng.normal(size=(2, 2, n))
    found = stats.changed_decisions(
        stats.ordered_pairs(human), before, after, resamples=4000, seed=3
    )
    for place, count in enumerate(found[:4]):
        low, high = binom.ppf([0.025, 0.975], n, count / n) / n
        assert found.low[place] == pytest.approx(low, abs=0.006)
        assert found.high[place] == pytest.approx(high, abs=0.006)


def test_scores_of_other_outputs_are_refused() -> None:
    pairs = stats.ordered_pairs(drawn(1))
    with pytest.raises(LengthMismatchError, match="of other outputs"):
        stats.changed_decisions(pairs, drawn(1), drawn(2)[:, :3])


def test_no_pair_is_no_decision() -> None:
    found = stats.changed_decisions(stats.ordered_pairs(np.ones((3, 4))), drawn(1), drawn(2))
    assert (sum(found[:4]), np.isnan(found.low).all()) == (0, True)
