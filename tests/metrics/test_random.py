"""The random control: content decides, nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import gnomon as gn
from gnomon.metrics import parse

texts = st.lists(st.text(max_size=6), min_size=1, max_size=6)


@given(texts, st.integers(0, 2**40))
def test_equal_texts_get_equal_scores_in_any_order(column: list[str], seed: int) -> None:
    testset = gn.TestSet.from_lists({"a": column, "b": column}, column)
    turned = gn.TestSet.from_lists({"a": column[::-1]}, column[::-1])
    found = gn.score(testset, f"random(seed={seed})").segments
    assert (found[0] == found[1]).all()
    assert (found[0] == gn.score(turned, f"random(seed={seed})").segments[0, ::-1]).all()


def test_scores_are_uniform() -> None:
    testset = gn.TestSet.from_lists({"a": [str(i) for i in range(4000)]}, ["r"] * 4000)
    found = np.sort(gn.score(testset, "random").segments[0])
    # Kolmogorov-Smirnov: above 0.031 one time in a thousand
    assert np.abs(found - np.arange(4000) / 4000).max() < 0.031


def test_seed_reference_and_source_all_matter() -> None:
    def draw(spec: str, reference: str, source: str) -> float:
        testset = gn.TestSet.from_lists({"a": ["x"]}, [reference], sources=[source])
        return float(gn.score(testset, spec).segments[0, 0])

    drawn = {
        draw("random", "r", "s"),
        draw("random(seed=1)", "r", "s"),
        draw("random", "t", "s"),
        draw("random", "r", "t"),
    }
    assert len(drawn) == 4


def test_the_seed_stands_in_the_signature() -> None:
    testset = gn.TestSet.from_lists({"a": ["x"]}, ["y"])
    assert "|seed:0|" in str(gn.score(testset, "random").signature)
    assert parse("random(seed=3)").spec == "random(seed=3)"
