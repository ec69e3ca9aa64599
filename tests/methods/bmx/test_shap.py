"""Shapley values: by brute force, against the package shap, and what they add up to."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.bmx.pairs import TextWords
from gnomon.bmx.perturbing import (
    Shap,
    antithetic_masks,
    antithetic_values,
    exact_masks,
    exact_values,
)
from gnomon.core.errors import SpecError


def _game(words: int, seed: int) -> Callable[[np.ndarray], np.ndarray]:
    """A value for every coalition, with effects of single words, pairs and triples."""
    draw = np.random.default_rng(seed)
    single, pair = draw.normal(size=words), draw.normal(size=(words, words))

    def value(masks: np.ndarray) -> np.ndarray:
        kept = masks.astype(float)
        return kept @ single + np.einsum("vi,ij,vj->v", kept, pair, kept) + kept.prod(axis=1)

    return value


def _brute_force(words: int, value: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The mean gain of each word over all orders, one by one."""
    values = np.zeros(words)
    for order in itertools.permutations(range(words)):
        kept = np.zeros((1, words), dtype=bool)
        before = value(kept)[0]
        for word in order:
            kept[0, word] = True
            after = value(kept)[0]
            values[word] += after - before
            before = after
    return values / math.factorial(words)


@pytest.mark.parametrize("words", [1, 2, 3, 5, 6])
def test_exact_values_equal_the_mean_over_all_orders(words: int) -> None:
    value = _game(words, words)
    masks = exact_masks(words)
    found = exact_values(masks, value(masks))
    np.testing.assert_allclose(found, _brute_force(words, value), atol=1e-12)


@pytest.fixture(scope="module")
def shap() -> Iterator[ModuleType]:
    import numba

    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")  # of its imports
        patch.setattr(numba.config, "DISABLE_JIT", True)  # compiling takes longer than its work
        yield pytest.importorskip("shap", reason="the oracle: pip install shap==0.51.0")


@pytest.mark.parametrize("words", [1, 2, 4, 7])
def test_exact_values_equal_those_of_the_package_shap(shap: ModuleType, words: int) -> None:
    value = _game(words, 10 + words)
    masks = exact_masks(words)
    explain = shap.explainers.Exact(value, np.zeros((1, words), dtype=bool))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = explain(np.ones((1, words), dtype=bool)).values[0]
    np.testing.assert_allclose(exact_values(masks, value(masks)), expected, atol=1e-6)


@pytest.mark.parametrize("words", [8, 20, 45])
def test_sampled_values_equal_those_of_the_package_shap_along_the_same_orders(
    shap: ModuleType, monkeypatch: pytest.MonkeyPatch, words: int
) -> None:
    value = _game(words, words)
    orders: list[np.ndarray] = []
    shuffle = np.random.shuffle  # what the package draws with

    def remember(order: np.ndarray) -> None:
        shuffle(order)
        orders.append(order.copy())

    monkeypatch.setattr(np.random, "shuffle", remember)
    explain = shap.explainers.Permutation(value, np.zeros((1, words), dtype=bool), seed=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = explain(np.ones((1, words), dtype=bool), max_evals=500).values[0]
    assert len(orders) == 500 // (2 * words + 1)
    drawn = np.array(orders)
    scores = value(antithetic_masks(drawn).reshape(-1, words)).reshape(len(drawn), -1)
    np.testing.assert_allclose(antithetic_values(drawn, scores), expected, atol=1e-6)


@given(st.integers(1, 40), st.integers(0, 3))
def test_values_add_up_to_the_score_minus_that_of_nothing(words: int, seed: int) -> None:
    value = _game(words, seed)
    (plan,) = Shap(seed=seed).plans([TextWords(" ".join(f"w{i}" for i in range(words)))])
    masks = np.array(
        [[word != "UNKWORDZ" for word in TextWords(text).words] for text in plan.texts]
    )
    both = value(np.array([np.ones(words), np.zeros(words)], dtype=bool))
    found = plan.importances(float(both[0]), value(masks))
    np.testing.assert_allclose(found.sum(), both[0] - both[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("words", "most"), [(1, 1), (7, 127), (8, 500), (30, 500), (249, 500)])
def test_distinct_texts_are_no_more_than_allowed(words: int, most: int) -> None:
    text = TextWords(" ".join(f"w{i}" for i in range(words)))
    (plan,) = Shap().plans([text])
    distinct = set(plan.texts) - {text.text}
    assert len(distinct) <= Shap().calls(words) <= most


def test_a_side_too_long_for_one_order_is_walked_once_all_the_same() -> None:
    text = TextWords(" ".join(f"w{i}" for i in range(300)))
    (plan,) = Shap().plans([text])
    assert len(plan.texts) == 601


def test_equal_texts_get_equal_orders_and_seeds_other_ones() -> None:
    text = TextWords("one two three four five six seven eight nine")
    first, other = Shap().plans([text, TextWords("x")])[0], Shap(seed=1).plans([text])[0]
    assert first.texts == Shap().plans([TextWords(text.text)])[0].texts
    assert first.texts != other.texts


def test_no_evaluations_at_all_are_refused() -> None:
    with pytest.raises(SpecError, match="max_evals is 1 or more"):
        Shap(max_evals=0)
