"""Krippendorff's alpha and Cohen's kappa: published figures, slow plain forms, and sums."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from gnomon.stats import cohens_kappa, krippendorff_alpha
from gnomon.stats.reliability import alpha_of_sums, alpha_sums

_NONE = math.nan
#: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C
_PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _NONE, _NONE, _NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _NONE, 3],
    [_NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _NONE],
]


def plain(ratings: np.ndarray, *, nominal: bool = False) -> float:
    """Squared differences of all ordered pairs, or whether they differ, in units and overall."""

    def apart(a: float, b: float) -> float:
        return float(a != b) if nominal else (a - b) ** 2

    units = [column[np.isfinite(column)].tolist() for column in ratings.T]
    units = [unit for unit in units if len(unit) > 1]
    every = [rating for unit in units for rating in unit]
    within = sum(
        sum(apart(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units
    )
    between = sum(apart(a, b) for a, b in permutations(every, 2))
    return 1 - (len(every) - 1) * within / between


def test_the_published_example_has_its_published_alpha() -> None:
    assert round(krippendorff_alpha(_PUBLISHED), 3) == 0.849
    assert round(krippendorff_alpha(_PUBLISHED, nominal=True), 3) == 0.743


@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_that_of_all_pairs_of_ratings(seed: int) -> None:
    draw = np.random.default_rng(seed)
    ratings = draw.normal(50, 20, (4, 30)) + draw.normal(0, 15, 30)
    ratings[draw.random(ratings.shape) < 0.3] = np.nan
    assert krippendorff_alpha(ratings) == pytest.approx(plain(ratings), abs=1e-12)
    answers = ratings // 20
    of_answers = krippendorff_alpha(answers, nominal=True)
    assert of_answers == pytest.approx(plain(answers, nominal=True), abs=1e-12)


def test_equal_ratings_agree_and_constant_ones_say_nothing() -> None:
    assert krippendorff_alpha([[1, 2], [1, 2]]) == 1
    assert krippendorff_alpha([[1, 2], [2, 1]]) < 0
    assert math.isnan(krippendorff_alpha([[3, 3], [3, 3]]))
    assert math.isnan(krippendorff_alpha([[1, _NONE], [_NONE, 2]]))
    assert math.isnan(krippendorff_alpha([[1, _NONE], [_NONE, 2]], nominal=True))
    assert math.isnan(krippendorff_alpha([], nominal=True))


def test_kappa_is_that_of_the_textbook() -> None:
    # Cohen (1960) on 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: (.7 - .5) / (1 - .5)
    pairs = [(0, 0)] * 20 + [(0, 1)] * 5 + [(1, 0)] * 10 + [(1, 1)] * 15
    first, second = zip(*pairs, strict=True)
    assert cohens_kappa(first, second) == pytest.approx(0.4)
    assert cohens_kappa([*first, 1, _NONE], [*second, _NONE, 0]) == pytest.approx(0.4)
    assert math.isnan(cohens_kappa([1, 1], [1, 1]))
    assert math.isnan(cohens_kappa([], []))


def test_sums_of_units_in_any_shape_give_the_same_alpha() -> None:
    ratings = np.random.default_rng(1).normal(0, 1, (3, 4, 5))
    sums = alpha_sums(ratings)
    assert sums.shape == (4, 5, 4)
    whole = alpha_of_sums(sums.sum(axis=(0, 1)))
    assert float(whole) == pytest.approx(krippendorff_alpha(ratings.reshape(3, -1)))
