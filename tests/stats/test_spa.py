"""Soft pairwise accuracy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from gnomon.core.errors import LengthMismatchError, UnknownNameError, UsageError
from gnomon.stats import spa, system_p_values

NAN = float("nan")


def exact_p(a: np.ndarray, b: np.ndarray) -> float:
    """All sign flips instead of random ones."""
    differences = a - b
    flips = np.array(list(itertools.product([1, -1], repeat=len(differences))))
    return float(np.mean(flips @ differences >= differences.sum() - 1e-9))


def test_p_values_approach_those_of_all_sign_flips() -> None:
    scores = np.random.default_rng(0).normal(size=(3, 9)).round(1)
    found = system_p_values(scores, count=20000)
    for i, j in itertools.permutations(range(3), 2):
        assert found[i, j] == pytest.approx(exact_p(scores[i], scores[j]), abs=0.012)


def test_half_counted_ties_make_the_value_independent_of_the_order_of_systems() -> None:
    generator = np.random.default_rng(1)
    human, metric = generator.integers(0, 3, (2, 6, 12)).astype(float)
    order = generator.permutation(6)
    p = system_p_values(human, ties="half")
    assert np.allclose((p + p.T)[~np.eye(6, dtype=bool)], 1)
    moved = spa(human[order], metric[order], ties="half")
    assert moved == pytest.approx(spa(human, metric, ties="half"), abs=1e-12)


def test_segments_count_for_the_pairs_that_have_them() -> None:
    generator = np.random.default_rng(2)
    scores = generator.normal(size=(4, 30))
    scores[1, :10] = NAN
    p = system_p_values(scores, seed=3)
    alone = system_p_values(np.delete(scores, 1, axis=0), seed=3)
    assert np.array_equal(np.delete(np.delete(p, 1, 0), 1, 1), alone, equal_nan=True)
    assert p[0, 1] == system_p_values(scores[[0, 1]], seed=3)[0, 1]


def test_segments_that_no_system_has_change_nothing() -> None:
    generator = np.random.default_rng(2)
    human, metric = generator.normal(size=(2, 4, 30))
    human[:, 20:] = NAN
    assert spa(human, metric) == spa(human[:, :20], metric[:, :20])


def test_the_same_scores_agree_fully_and_opposite_ones_hardly() -> None:
    human = np.arange(5)[:, None] + np.random.default_rng(0).normal(size=(5, 40)) / 10
    assert spa(human, 3 * human + 1) == 1
    assert spa(human, -human) < 0.01


def test_constant_scores_leave_every_order_open() -> None:
    assert system_p_values(np.ones((2, 5)), ties="half")[0, 1] == 0.5
    assert system_p_values(np.ones((2, 5)))[0, 1] == 1


@pytest.mark.parametrize("shape", [(0, 0), (1, 5), (3, 0)])
def test_without_a_pair_or_a_segment_it_is_undefined(shape: tuple[int, int]) -> None:
    assert math.isnan(spa(np.ones(shape), np.ones(shape)))
    assert math.isnan(spa(np.ones((2, 3)), [[1, 2, 3], [NAN] * 3]))


def test_unfit_arguments_are_refused() -> None:
    with pytest.raises(LengthMismatchError, match="SPA needs"):
        spa([[1, 2]], [[1, 2, 3]])
    with pytest.raises(UsageError, match="sign flip"):
        spa([[1, 2]], [[1, 2]], count=0)
    with pytest.raises(UnknownNameError, match="half"):
        system_p_values([[1]], ties="mean")
    with pytest.raises(LengthMismatchError, match="systems, segments"):
        system_p_values([1, 2])
