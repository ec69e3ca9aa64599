"""Krippendorff's alpha: published figures, a slow plain form, and sums."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from gnomon.stats import krippendorff_alpha
from gnomon.stats.reliability import alpha_of_sums, alpha_sums

_NONE = math.nan
#: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C
_PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _NONE, _NONE, _NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _NONE, 3],
    [_NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _NONE],
]


def plain(ratings: np.ndarray) -> float:
    """Squared differences of all ordered pairs, within units and of all ratings."""
    units = [column[np.isfinite(column)].tolist() for column in ratings.T]
    units = [unit for unit in units if len(unit) > 1]
    every = [rating for unit in units for rating in unit]
    within = sum(
        sum((a - b) ** 2 for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units
    )
    between = sum((a - b) ** 2 for a, b in permutations(every, 2))
    return 1 - (len(every) - 1) * within / between


def test_the_published_example_has_its_published_alpha() -> None:
    assert round(krippendorff_alpha(_PUBLISHED), 3) == 0.849


@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_that_of_all_pairs_of_ratings(seed: int) -> None:
    draw = np.random.default_rng(seed)
    ratings = draw.normal(50, 20, (4, 30)) + draw.normal(0, 15, 30)
    ratings[draw.random(ratings.shape) < 0.3] = np.nan
    assert krippendorff_alpha(ratings) == pytest.approx(plain(ratings), abs=1e-12)


def test_equal_ratings_agree_and_constant_ones_say_nothing() -> None:
    assert krippendorff_alpha([[1, 2], [1, 2]]) == 1
    assert krippendorff_alpha([[1, 2], [2, 1]]) < 0
    assert math.isnan(krippendorff_alpha([[3, 3], [3, 3]]))
    assert math.isnan(krippendorff_alpha([[1, _NONE], [_NONE, 2]]))


def test_sums_of_units_in_any_shape_give_the_same_alpha() -> None:
    ratings = np.random.default_rng(1).normal(0, 1, (3, 4, 5))
    sums = alpha_sums(ratings)
    assert sums.shape == (4, 5, 4)
    whole = alpha_of_sums(sums.sum(axis=(0, 1)))
    assert float(whole) == pytest.approx(krippendorff_alpha(ratings.reshape(3, -1)))
