"""The segments behind the figures."""

from __future__ import annotations

import numpy as np

from gnomon import TestSet
from gnomon.core.spans import SpanTable
from gnomon.muler.exhibits import FeatureExamples
from gnomon.muler.figures import FeatureScores, Presence
from gnomon.muler.score_views import negative_table


def test_the_largest_excesses_over_the_oracle_are_listed_and_the_others_counted() -> None:
    testset = TestSet.from_lists({"a": ["x"] * 25, "b": ["x"] * 25}, ["y"] * 25)
    batch = testset.batch()
    showcase = FeatureExamples(testset, batch, SpanTable.build([{}, {}], ["f"]), "bleu")
    oracle = np.full((2, 25), 50.0)
    base = np.stack([oracle[0] + np.arange(25), oracle[0] - 1])  # system a: 24 above its oracle
    ones = np.ones((2, 25))
    scores = FeatureScores("f", base, oracle, oracle - 20, higher_is_better=True)
    found, left_out = showcase.negatives(scores, Presence(ones > 0, ones, ones, ones))
    assert [row.segment for row in found] == list(range(25, 5, -1))
    assert {row.system for row in found} == {"a"}
    assert left_out == 4
    assert "4 are not" in negative_table(found, left_out).note
    assert "are not" not in negative_table(found).note
