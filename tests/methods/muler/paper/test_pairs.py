"""Pairs of systems for manual analysis, and the blind sheet drawn from them."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gnomon import muler
from gnomon.core.errors import DataError, UsageError
from gnomon.core.testset import TestSet
from gnomon.methods.muler.paper.pairs import near_pairs

if TYPE_CHECKING:
    from gnomon.methods.muler import PairStudy

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


def study(testset: TestSet | None = None, **options: object) -> PairStudy:
    return muler.pairs(testset or made_set(), "bleu", FEATURES, pattern=PATTERNS, **options)  # type: ignore[arg-type]  # options are checked at run time


def test_scores_are_near_up_to_and_with_the_limit() -> None:
    scores = np.array([30.0, 31.0, 31.1, np.nan])
    assert near_pairs(scores, 1.0) == [(0, 1), (1, 2)]
    assert near_pairs(scores, 0.0) == []


def test_pairs_are_near_in_score_and_apart_in_muler_the_widest_gap_first() -> None:
    found = study(near=5.0)
    table = {(row["feature"], row["system"], row["other"]) for row in found}
    assert table == {("re:number", "counts", "talks"), ("re:word", "talks", "counts")}
    gaps = [row["gap"] for row in found]
    assert gaps == sorted(gaps, reverse=True)
    reported = {
        (row["system"], row["feature"]): row
        for row in muler.score(made_set(), "bleu", FEATURES, pattern=PATTERNS)
        if row["variant"] == "ratio"
    }
    for row in found:
        assert abs(row["score"] - row["other_score"]) <= 5.0
        assert row["muler"] == reported[row["system"], row["feature"]]["muler"]
        assert row["other_segments"] == reported[row["other"], row["feature"]]["segments"]
        assert row["gap"] == row["other_muler"] - row["muler"]


def test_items_show_what_the_key_says_and_no_name_of_a_system() -> None:
    testset = made_set()
    found = study(testset, near=5.0, items=40)
    assert list(found.sheet.items) == list(found.key.rows)
    for name, exhibit in found.sheet.items.items():
        row = found.key.rows[name]
        texts = {(text.role, text.name): text.text for text in exhibit.texts}
        at = row.segment - 1
        assert texts["candidate", "A"] == testset.systems[row.a][at]
        assert texts["candidate", "B"] == testset.systems[row.b][at]
        assert texts["reference", "A"] == testset.references["A"][at]
        assert texts["source", ""] == f"source {at}"
        assert exhibit.group == row.feature
        assert "counts" not in repr(exhibit)
        assert "talks" not in repr(exhibit)


def test_drawn_segments_cost_the_two_systems_unequally_much() -> None:
    for row in study(near=5.0).key.rows.values():
        assert row.cost_a != row.cost_b
        assert row.cheaper == (row.a if row.cost_a < row.cost_b else row.b)
        assert row.better == (row.a if row.muler_a < row.muler_b else row.b)


def test_features_take_turns_and_no_segment_comes_twice_for_one() -> None:
    rows = study(near=5.0, items=30).key.rows.values()
    assert Counter(row.feature for row in rows) == {"re:number": 15, "re:word": 15}
    drawn = Counter((row.feature, row.segment) for row in rows)
    assert set(drawn.values()) == {1}


def test_sides_are_thrown_for_each_item() -> None:
    rows = study(near=5.0).key.rows.values()
    first = sum(row.a == row.better for row in rows)
    assert len(rows) / 4 < first < len(rows) * 3 / 4


def test_the_same_seed_gives_the_same_sheet_and_another_one_another() -> None:
    assert study(near=5.0, seed=3).key == study(near=5.0, seed=3).key
    assert study(near=5.0, seed=3).key != study(near=5.0, seed=4).key


def test_the_sides_of_one_test_set_do_not_betray_those_of_another() -> None:
    def sides(seed: int) -> list[bool]:
        rows = study(made_set(seed=seed), near=9.0, items=20).key.rows.values()
        return [row.a == row.better for row in rows]

    assert sides(5) != sides(6)


def test_words_of_the_feature_are_marked_only_on_request() -> None:
    plain, marked = study(near=5.0), study(near=5.0, highlight=True)
    assert not any(text.highlights for e in plain.sheet.items.values() for text in e.texts)
    for exhibit in marked.sheet.items.values():
        for text in exhibit.texts:
            words = [text.text[m.start : m.end] for m in text.highlights]
            wanted = str.isdigit if exhibit.group == "re:number" else str.isalpha
            expected = [] if text.role == "source" else list(filter(wanted, text.text.split()))
            assert words == expected


def test_where_nothing_fits_the_message_says_how_far_off_it_was() -> None:
    with pytest.raises(DataError, match=r"widest gap is 0\.\d+: lower apart"):
        study(near=5.0, apart=0.99)
    with pytest.raises(DataError, match=r"closest two are .* apart: raise near"):
        study(near=0.0)
    with pytest.raises(DataError, match="at least two systems"):
        study(made_set().select(systems=["counts"]))


@pytest.mark.parametrize(
    "wrong", [{"near": -1.0}, {"near": float("nan")}, {"apart": -0.1}, {"least": 0}, {"items": 0}]
)
def test_options_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        study(**wrong)


def test_an_option_that_does_not_exist_is_not_swallowed() -> None:
    with pytest.raises(TypeError, match="takes no 'taggers'; did you mean 'tagger'"):
        study(taggers="spacy:x")


def test_a_limit_that_selects_nothing_is_said() -> None:
    notices = study(near=1000.0).notices
    assert any("select nothing" in notice for notice in notices)


def test_error_rates_are_turned_around() -> None:
    found = muler.pairs(made_set(), "ter", FEATURES, pattern=PATTERNS, near=5.0)
    assert {(row["feature"], row["system"]) for row in found} == {
        ("re:number", "counts"),
        ("re:word", "talks"),
    }
