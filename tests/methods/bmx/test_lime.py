"""LIME against the package lime, and its samples."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.bmx import find_explainer
from gnomon.bmx.pairs import TextWords
from gnomon.bmx.perturbing import Lime, lime_masks, lime_weights
from gnomon.core.errors import SpecError

REASON = "the oracle: pip install lime==0.2.0.1"


@pytest.mark.parametrize("words", [1, 2, 7, 30, 99, 100, 101, 300])
def test_weights_equal_those_of_the_package_lime(words: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its imports
        lime_base = pytest.importorskip("lime.lime_base", reason=REASON)
        metrics = pytest.importorskip("sklearn.metrics", reason=REASON)
    draw = np.random.default_rng(words)
    masks = lime_masks(words, 100, draw)
    scores = masks @ draw.normal(size=words) + draw.normal(size=100)
    # as LimeTextExplainer does with its data
    rows = masks.astype(float)
    distances = metrics.pairwise_distances(rows, rows[:1], metric="cosine").ravel() * 100

    def kernel(distance: np.ndarray) -> np.ndarray:
        return np.sqrt(np.exp(-(distance**2) / 25**2))

    base = lime_base.LimeBase(kernel, random_state=np.random.RandomState(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, found, *_ = base.explain_instance_with_data(
            rows, scores[:, None], distances, 0, words, feature_selection="none"
        )
    expected = np.zeros(words)
    for word, weight in found:
        expected[word] = weight
    np.testing.assert_allclose(lime_weights(masks, scores), expected, rtol=0, atol=1e-9)


def test_words_that_do_not_matter_weigh_nothing() -> None:
    masks = lime_masks(5, 100, np.random.default_rng(0))
    np.testing.assert_allclose(lime_weights(masks, np.full(100, 0.7)), 0, atol=1e-12)


@given(st.integers(1, 40), st.integers(2, 60), st.integers(0, 5))
def test_every_sample_but_the_first_lacks_a_word(words: int, samples: int, seed: int) -> None:
    masks = lime_masks(words, samples, np.random.default_rng(seed))
    assert masks.shape == (samples, words)
    assert masks[0].all()
    assert not masks[1:].all(axis=1).any()


def test_how_many_words_go_is_uniform_and_which_too() -> None:
    masks = lime_masks(5, 50_001, np.random.default_rng(3))[1:]
    gone = (~masks).sum(axis=1)
    np.testing.assert_allclose(np.bincount(gone, minlength=6)[1:] / 50_000, 0.2, atol=0.01)
    np.testing.assert_allclose((~masks)[gone == 2].mean(axis=0), 0.4, atol=0.02)


def test_equal_texts_get_equal_samples_and_seeds_other_ones() -> None:
    text = TextWords("the cat sat on the mat")
    first, again, other = (
        Lime().plans([text, TextWords(text.text)])[:1]
        + Lime().plans([TextWords("x"), text])[1:]
        + Lime(seed=1).plans([text])
    )
    assert first.texts == again.texts
    assert first.texts != other.texts
    assert len(first.texts) == 99


def test_a_spec_gives_the_options_and_comes_back() -> None:
    assert find_explainer("lime(samples=50, seed=3)") == Lime(samples=50, seed=3)
    assert Lime(samples=50).spec == "lime(samples=50)"
    with pytest.raises(SpecError, match="2 or more"):
        find_explainer("lime(samples=1)")
