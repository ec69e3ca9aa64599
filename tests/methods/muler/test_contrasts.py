"""Segments where two systems score alike and differ on a feature."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon as gn
from gnomon.muler import correlate
from gnomon.muler.contrasts import contrasts, segment_muler
from gnomon.muler.figures import FeatureScores, Presence


@st.composite
def scored(draw: st.DrawFn) -> tuple[FeatureScores, Presence]:
    systems, segments = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    seed = draw(st.integers(0, 10_000))
    higher = draw(st.booleans())
    rng = np.random.default_rng(seed)
    base, oracle, anti = rng.integers(0, 6, (3, systems, segments)).astype(float)
    both = rng.random((systems, segments)) < 0.8
    nothing = np.zeros((systems, segments))
    presence = Presence(both, nothing, nothing, nothing)
    return FeatureScores("f", base, oracle, anti, higher), presence


@given(scored(), st.sampled_from([0.0, 1.0, 3.0]))
def test_the_pairs_are_those_that_trying_all_gives(
    made: tuple[FeatureScores, Presence], near: float
) -> None:
    scores, present = made
    shares = segment_muler(scores, present)
    systems, segments = shares.shape
    every: dict[int, float] = {}
    for segment, (a, b) in itertools.product(
        range(segments), itertools.combinations(range(systems), 2)
    ):
        apart = abs(shares[a, segment] - shares[b, segment])
        if abs(scores.base[a, segment] - scores.base[b, segment]) <= near and apart >= 0.5:
            every[segment] = max(every.get(segment, 0.0), apart)
    found = contrasts(scores, present, max_score_gap=near, most=segments)
    assert {one.segment: one.difference for one in found} == pytest.approx(every)
    assert [one.difference for one in found] == sorted(every.values(), reverse=True)
    assert contrasts(scores, present, max_score_gap=near, most=1) == found[:1]


@given(scored())
def test_segment_muler_lies_between_zero_and_one_and_is_missing_elsewhere(
    made: tuple[FeatureScores, Presence],
) -> None:
    scores, present = made
    share = segment_muler(scores, present)
    defined = share[~np.isnan(share)]
    assert ((defined >= 0) & (defined <= 1)).all()
    assert np.isnan(share[~present.both]).all()
    assert np.isnan(share[scores.oracle == scores.anti_oracle]).all()


def test_a_contrast_shows_both_texts_and_the_system_that_gains_first() -> None:
    testset = gn.TestSet.from_lists(
        {"a": ["the cat sat on that red mat"], "b": ["the dog sat on the red mat"]},
        ["the cat sat on the red mat"],
        sources=["die Katze"],
        domains=["home"],
    )
    found = correlate(
        testset, metrics="rouge1", features=["re:x"], pattern={"x": "cat|dog"}, max_score_gap=0.01
    )
    shown = found.exhibits[0]
    assert (shown.segment, shown.caption) == (1, "MuLER 0.00 and 1.00 at nearly equal score")
    first, second = shown.texts[2:]
    assert (first.values["MuLER"], second.values["MuLER"]) == (0, 1)
    assert first.values["score"] == second.values["score"]
    assert [(text.role, text.name) for text in shown.texts] == [
        ("source", ""), ("reference", "A"), ("candidate", "a"), ("candidate", "b"),
    ]  # fmt: skip
    assert [[text.text[m.start : m.end] for m in text.highlights] for text in shown.texts] == [
        [], ["cat"], ["cat"], ["dog"],
    ]  # fmt: skip
    assert (shown.domain, shown.systems, shown.kind) == (
        "home", ("a", "b"), "contrast under rouge1, test set",
    )  # fmt: skip
    assert not correlate(
        testset, metrics="rouge1", features=["re:x"], pattern={"x": "cat|dog"}, examples=0
    ).exhibits
