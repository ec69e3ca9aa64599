"""Systems alike in score and apart in MuLER, and the segments drawn from them."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from gnomon import muler
from gnomon.core.errors import DataError
from gnomon.core.run_settings import Run
from gnomon.core.testset import TestSet
from gnomon.muler.contrasting import (
    Contrasts,
    Thresholds,
    WordChoice,
    draw_contrasts,
    near_pairs,
)

PATTERNS = {"number": r"\d+", "word": r"\b[a-z]+\b"}
FEATURES = ["re:number", "re:word"]


def made_set(segments: int = 60, seed: int = 5) -> TestSet:
    """References of words and numbers; "counts" errs in words, "talks" in numbers, alike often."""
    rng = random.Random(seed)
    words = ["red", "green", "blue", "round", "small", "large", "old", "new", "warm", "cold"]
    references, counts, talks = [], [], []
    for _ in range(segments):
        tokens = [rng.choice(words) if i % 2 else str(rng.randrange(1000)) for i in range(12)]
        broken = rng.sample(range(0, 12, 2), 3)
        references.append(" ".join(tokens))
        talks.append(" ".join("0000" if i in broken else t for i, t in enumerate(tokens)))
        counts.append(" ".join("thing" if i - 1 in broken else t for i, t in enumerate(tokens)))
    systems = {"counts": counts, "talks": talks, "empty": ["nothing 7"] * segments}
    return TestSet.from_lists(systems, references, sources=[f"source {i}" for i in range(segments)])


def drawn(testset: TestSet | None = None, metric: str = "bleu", **options: Any) -> Contrasts:
    limits = Thresholds(options.pop("near", 5.0), options.pop("apart", 0.1))
    given = {"items": 100, "seed": 12345, "run": Run()} | options
    words = WordChoice(pattern=PATTERNS, features=FEATURES)
    return draw_contrasts(testset or made_set(), metric, words, limits, **given)


def test_scores_are_near_up_to_and_with_the_limit() -> None:
    scores = np.array([30.0, 31.0, 31.1, np.nan])
    assert near_pairs(scores, 1.0) == [(0, 1), (1, 2)]
    assert near_pairs(scores, 0.0) == []


def test_pairs_are_near_in_score_and_apart_in_muler_the_widest_gap_first() -> None:
    found = drawn().rows
    assert {(row.feature, row.system, row.other) for row in found} == {
        ("re:number", "counts", "talks"),
        ("re:word", "talks", "counts"),
    }
    gaps = [(row.other_muler or 0) - (row.muler or 0) for row in found]
    assert gaps == sorted(gaps, reverse=True)
    reported = {
        (row["system"], row["feature"]): row
        for row in muler.score(made_set(), "bleu", FEATURES, pattern=PATTERNS)
        if row["variant"] == "ratio"
    }
    for row in found:
        assert abs(row.score - row.other_score) <= 5.0
        both = [reported[name, row.feature] for name in (row.system, row.other)]
        assert [one["muler"] for one in both] == [row.muler, row.other_muler]
        assert row.segments == min(one["segments"] for one in both)


def test_items_show_what_they_are_of_and_no_name_of_a_system() -> None:
    testset = made_set()
    for item in drawn(testset, items=40).items:
        texts = {(text.role, text.name): text.text for text in item.texts}
        at = item.segment - 1
        for side, system in zip("AB", item.systems, strict=True):
            assert texts["candidate", side] == testset.systems[system][at]
        assert texts["reference", "A"] == testset.references["A"][at]
        assert texts["source", ""] == f"source {at}"
        assert item.better in item.systems
        assert not {"counts", "talks"} & set(repr(item.texts).split("'"))


def test_features_take_turns_and_no_segment_comes_twice_for_one() -> None:
    found = drawn(items=30)
    counts = Counter(item.feature for item in found.items)
    assert counts == {"re:number": 15, "re:word": 15}
    assert {row.feature: row.drawn for row in found.rows} == counts
    assert set(Counter((item.feature, item.segment) for item in found.items).values()) == {1}


def test_sides_are_thrown_for_each_item() -> None:
    items = drawn().items
    first = sum(item.systems[0] == item.better for item in items)
    assert len(items) / 4 < first < len(items) * 3 / 4


def test_the_same_seed_draws_the_same_and_another_one_others() -> None:
    assert drawn(seed=3).items == drawn(seed=3).items
    assert drawn(seed=3).items != drawn(seed=4).items


def test_the_sides_of_one_test_set_do_not_betray_those_of_another() -> None:
    def sides(seed: int) -> list[bool]:
        items = drawn(made_set(seed=seed), near=9.0, items=20).items
        return [item.systems[0] == item.better for item in items]

    assert sides(5) != sides(6)


def test_words_of_the_feature_are_marked() -> None:
    for item in drawn().items:
        for text in item.texts:
            words = [text.text[m.start : m.end] for m in text.highlights]
            wanted = str.isdigit if item.feature == "re:number" else str.isalpha
            expected = [] if text.role == "source" else list(filter(wanted, text.text.split()))
            assert words == expected


def test_where_nothing_fits_the_message_says_how_far_off_it_was() -> None:
    with pytest.raises(DataError, match=r"widest gap is 0\.\d+: lower min_muler_gap"):
        drawn(apart=0.99)
    with pytest.raises(DataError, match=r"closest two are .* apart: raise max_score_gap"):
        drawn(near=0.0)


def test_error_rates_are_turned_around() -> None:
    assert {(row.feature, row.system) for row in drawn(metric="ter").rows} == {
        ("re:number", "counts"),
        ("re:word", "talks"),
    }
