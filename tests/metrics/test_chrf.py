from __future__ import annotations

import numpy as np
import pytest

from gnomon.core.errors import DataError, SpecError
from gnomon.core.spans import SpanTable
from gnomon.core.testset import TestSet
from gnomon.metrics import parse
from gnomon.metrics.chrf import Chrf
from gnomon.metrics.masking import MaskPlan


def test_bound_chrf_has_all_powers() -> None:
    testset = TestSet.from_lists({"a": ["a"]}, ["a"])
    bound = Chrf().bind(testset)
    assert bound.can == {"statistics", "mask", "ngrams"}
    assert "sacrebleu" in bound.native_signatures(testset.batch())


def test_the_signature_gives_the_metric_again() -> None:
    metric = Chrf(word_order=2, whitespace=True)
    text = str(metric.bind(TestSet.from_lists({"a": ["a"]}, ["a"])).signature)
    assert text.startswith(
        "chrf(word_order=2, whitespace=True)|refs:1|case:mixed|eff:yes|nc:6|nw:2|space:yes|gnomon:"
    )
    assert parse(text) == metric


def test_a_segment_without_a_reference_is_undefined_and_left_out_of_the_corpus() -> None:
    testset = TestSet.from_lists({"a": ["abc", "x"]}, [["abc"], [None]])
    bound = Chrf().bind(testset)
    assert bound.segments(testset.batch())[0] == pytest.approx([100, np.nan], nan_ok=True)
    assert bound.system(testset.batch()) == pytest.approx([100])


def test_a_test_set_without_references_is_refused() -> None:
    testset = TestSet(name="t", references={}, systems={"a": ["x"]}, sources=["y"])
    with pytest.raises(DataError, match="has none"):
        Chrf().bind(testset)


@pytest.mark.parametrize(
    "options",
    [
        {"char_order": 0},
        {"word_order": -1},
        {"char_order": -1, "word_order": 3},
        {"char_order": 100_000_000},
        {"word_order": 100_000_000},
        {"beta": 0},
        {"beta": 10**200},
    ],
)
def test_impossible_orders_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(SpecError, match=r"must be (1 or more|from [01] to 1000?$)"):
        Chrf(**options)  # type: ignore[arg-type]  # options by name


def plan_for(
    testset: TestSet, places: dict[str, list[tuple[int, int]]], **options: str
) -> MaskPlan:
    """A plan for one feature, by text."""
    batch = testset.batch()
    annotations = [{"f": places.get(text, [])} for text in batch.texts]
    return MaskPlan.oracles(SpanTable.build(annotations, ["f"]), **options)  # type: ignore[arg-type]  # literals


def test_the_length_of_a_mask_is_the_mean_length_of_masked_words_in_the_references() -> None:
    testset = TestSet.from_lists({"a": ["a zzzzzzzzz", "q", "q"]}, ["to bake", "to bake", "sit."])
    places = {"to bake": [(3, 7)], "sit.": [(0, 3)], "a zzzzzzzzz": [(2, 11)]}
    plan = plan_for(testset, places)
    bound = Chrf().bind(testset)
    # (4 + 4 + 3) / 3: twice the same reference counts twice, candidates do not count
    assert bound.mask_lengths(testset.batch(), plan) == (4,)
    assert bound.mask_lengths(testset.batch().select(segments=[0, 2]), plan) == (4,)
    assert bound.mask_lengths(testset.batch().select(segments=[2]), plan) == (3,)


def test_one_mask_per_span_is_as_long_as_spans_are() -> None:
    testset = TestSet.from_lists({"a": ["q"]}, ["in New York"])
    places = {"in New York": [(3, 11)]}
    bound = Chrf().bind(testset)
    lengths = {
        granularity: bound.mask_lengths(
            testset.batch(), plan_for(testset, places, granularity=granularity)
        )
        for granularity in ("token", "span")
    }
    assert lengths == {"token": (4,), "span": (7,)}


def test_a_feature_that_no_reference_has_gets_masks_of_one_character() -> None:
    testset = TestSet.from_lists({"a": ["cat"]}, ["dog"])
    bound = Chrf().bind(testset)
    assert bound.mask_lengths(testset.batch(), plan_for(testset, {"cat": [(0, 3)]})) == (1,)


def test_no_systems_have_no_scores() -> None:
    testset = TestSet.from_lists({}, ["the cat"])
    bound = Chrf().bind(testset)
    assert bound.system(testset.batch()).shape == (0,)
    assert bound.segments(testset.batch()).shape == (0, 1)
