"""Frequency: MuLER of a part of a feature, against MuLER of that part named as a feature."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.methods.muler.experiments import parts
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import UsageError

WORDS = ["the", "ant", "bee", "cat", "dog", "sat", "ran", "home", "red", "on", "a"]
FEATURE = {"all": "ant|bee|cat|dog", "part": "ant|bee"}


def _sentences(seed: int, count: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(3, 9))) for _ in range(count)]


@pytest.fixture
def testset() -> gn.TestSet:
    references = ["ant bee cat dog on a red home", *_sentences(1, 30)]
    return gn.TestSet.from_lists({"a": _sentences(2, 31), "b": _sentences(3, 31)}, references)


def _alpha(testset: gn.TestSet) -> float:
    """The share of the feature that its part holds in the references."""
    words = " ".join(str(text) for text in testset.references["A"]).split()
    part, whole = (sum(words.count(w) for w in FEATURE[n].split("|")) for n in ("part", "all"))
    return part / whole


@pytest.mark.parametrize("metric", ["bleu", "bleu(variant='authors')", "chrf", "ter"])
def test_a_part_has_the_muler_of_that_part_named_as_a_feature(
    testset: gn.TestSet, metric: str
) -> None:
    alpha = _alpha(testset)
    found = parts(testset, metric, ["re:all"], pattern=FEATURE, shares=[alpha])
    known = gn.muler(testset, metric, ["re:all", "re:part"], pattern=FEATURE, examples=0)
    by_key = {(r["feature"], r["system"], r["variant"]): r for r in known}
    assert len(found.rows) == 8
    for row in found:
        feature = "re:all" if row["alpha"] == 1 else "re:part"
        one = by_key[feature, row["system"], row["variant"]]
        for name in ("segments", "muler", "gain"):
            assert row[name] == pytest.approx(one[name]), name


def test_changes_are_relative_to_the_whole_feature(testset: gn.TestSet) -> None:
    found = parts(testset, "bleu", ["re:all"], pattern=FEATURE, shares=[0.5])
    for whole, part in zip(found.rows[::2], found.rows[1::2], strict=True):
        assert (whole["alpha"], whole["share"], whole["muler_change"]) == (1.0, 1.0, 0.0)
        assert part["muler_change"] == pytest.approx(part["muler"] / whole["muler"] - 1)
        assert part["gain_change"] == pytest.approx(part["gain"] / whole["gain"] - 1)


def test_both_variants_come_in_rows_of_their_own(testset: gn.TestSet) -> None:
    found = parts(testset, "bleu", ["re:all"], pattern=FEATURE, shares=[0.5])
    assert [r["variant"] for r in found] == ["ratio"] * 4 + ["segment-clipped"] * 4
    assert "alpha:0.5" in str(found.signatures["bleu"])


def test_averages_are_medians_over_systems(testset: gn.TestSet) -> None:
    found = parts(testset, "bleu", ["re:all"], pattern=FEATURE, shares=[0.5])
    some = [r for r in found if r["alpha"] == 0.5 and r["variant"] == "ratio"]
    ours, theirs = (sum(abs(r[name]) for r in some) / 2 for name in ("muler_change", "gain_change"))
    steadier = sum(abs(r["muler_change"]) < abs(r["gain_change"]) for r in some) / 2
    (said,) = (str(one) for one in found.verdict if one.code == "muler.validate.frequency.steady")
    assert f"changes by {ours:.0%} in the median and what masking gains by {theirs:.0%}" in said
    assert f"the steadier one in {steadier:.0%} of 2 pairs" in said


def test_a_feature_of_one_letter_cannot_be_cut_and_says_so() -> None:
    testset = gn.TestSet.from_lists({"s": ["the cat sat", "a cat"]}, ["a cat sat", "the cat"])
    found = parts(testset, "bleu", ["re:all"], pattern=FEATURE, shares=[0.5])
    whole, part = found.rows[:2]
    assert whole["muler"] is not None
    assert (part["share"], part["muler"], part["muler_change"], part["segments"]) == (
        None,
        None,
        None,
        0,
    )
    assert any("matches of 'all' at 0.5" in notice for notice in notes(found.notices))


def test_a_part_without_common_segments_is_undefined() -> None:
    testset = gn.TestSet.from_lists({"s": ["the dog sat"]}, ["an ant and a dog"])
    found = parts(testset, "bleu", ["re:all"], pattern=FEATURE, shares=[0.5])
    part = found.rows[1]
    assert (part["share"], part["segments"], part["muler"]) == (0.5, 0, None)


@pytest.mark.parametrize("shares", [[0.0], [2.0], []])
def test_shares_outside_their_range_are_refused(testset: gn.TestSet, shares: list[Any]) -> None:
    with pytest.raises(UsageError, match=r"shares.* must be"):
        parts(testset, "bleu", ["re:all"], pattern=FEATURE, shares=shares)
