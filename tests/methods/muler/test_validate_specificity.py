"""Random words: random shares of the vocabulary, against texts masked by hand and sacreBLEU."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.muler.experiments import random_words
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import UsageError
from gnomon.metrics import MaskPlan, bind
from gnomon.muler.validate import random_words as _random_words
from gnomon.muler.validate.random_words import RandomSplits, random_groups, synthetic, words_of

WORDS = ["the", "The", "cat", "dog", "horse", "sat", "ran", "home", "red", "on", "a", "now"]
ANIMAL = {"animal": "cat|dog|horse"}


def _sentences(seed: int, count: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(4, 9))) for _ in range(count)]


def _testset(count: int = 25) -> gn.TestSet:
    return gn.TestSet.from_lists({"a": _sentences(1, count), "b": _sentences(2, count)},
                                 _sentences(3, count))  # fmt: skip


def _validated(testset: gn.TestSet, metric: Any = "bleu", **more: Any) -> gn.Finding:
    request: dict[str, Any] = {"features": ["re:animal"], "pattern": ANIMAL, "draws": 12}
    return random_words(testset, metric, **{**request, **more})


def _by_hand(candidates: list[str], references: list[str], group: set[str]) -> float | None:
    """MuLER of some words, of masked strings, by sacreBLEU."""

    def masked(text: str, mask: str) -> str:
        return " ".join(mask if word.casefold() in group else word for word in text.split())

    both = [
        (c, r)
        for c, r in zip(candidates, references, strict=True)
        if group & set(c.casefold().split()) and group & set(r.casefold().split())
    ]

    def mean(candidate: str | None, reference: str | None) -> float:
        return sum(
            sacrebleu.sentence_bleu(
                masked(c, candidate) if candidate else c, [masked(r, reference) if reference else r]
            ).score
            for c, r in both
        ) / len(both)

    if not both:
        return None
    base, top, bottom = mean(None, None), mean("MASKa", "MASKa"), mean("MASKb", "MASKc")
    return None if top == bottom else (top - base) / (top - bottom)


def _drawn_features(
    testset: gn.TestSet, groups: int, draws: int, spec: str = "bleu"
) -> tuple[Any, Any, Any]:
    """The words of the first system, the types of each random feature, and their figures."""
    batch = testset.batch()
    words = words_of(batch).select_system(batch, 0)
    _, metric = bind(testset, spec)
    found = synthetic(
        metric,  # type: ignore[arg-type]  # all of these mask their own tokens
        batch.select(systems=[0]),
        words,
        MaskPlan.oracles,
        RandomSplits(groups, draws, 7),
        lambda _: None,
    )
    members = random_groups(len(words.types), groups, first=0, last=draws, seed=7)
    return words, [{words.types[i] for i in np.flatnonzero(row)} for row in members], found


@pytest.mark.parametrize("groups", [2, 4, 11])
def test_random_features_equal_texts_masked_by_hand_and_scored_by_sacrebleu(groups: int) -> None:
    testset = _testset()
    words, features, found = _drawn_features(testset, groups, 15)
    assert words.types == tuple(sorted({word.casefold() for word in WORDS}))
    references = [str(text) for text in testset.references["A"]]
    for number, group in enumerate(features):
        expected = _by_hand(list(testset.systems["a"]), references, group)
        if expected is None:
            assert np.isnan(found.muler[number])
        else:
            assert found.muler[number] == pytest.approx(expected, abs=1e-9)
        tokens = " ".join(references).casefold().split()
        assert found.reference[number] == pytest.approx(
            sum(token in group for token in tokens) / len(tokens)
        )


@pytest.mark.parametrize("metric", ["bleu", "bleu(variant='authors')", "chrf", "ter"])
def test_random_features_have_the_muler_of_a_feature_named_by_their_words(metric: str) -> None:
    testset = _testset()
    _, features, found = _drawn_features(testset, 3, 6, metric)
    for number, group in enumerate(features):
        pattern = rf"(?i)\b({'|'.join(sorted(group))})\b"
        named = gn.muler(testset, metric, ["re:own"], pattern={"own": pattern}, examples=0)
        row = next(dict(r) for r in named if (r["system"], r["variant"]) == ("a", "ratio"))
        if row["muler"] is None:
            assert np.isnan(found.muler[number])
        else:
            assert found.muler[number] == pytest.approx(row["muler"])


def test_how_many_are_scored_at_a_time_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, together = _drawn_features(_testset(), 3, 9)
    monkeypatch.setattr(_random_words, "_SPANS", 150)
    _, _, apart = _drawn_features(_testset(), 3, 9)
    for name in ("reference", "output", "muler"):
        assert getattr(together, name).tolist() == getattr(apart, name).tolist()


@given(
    types=st.integers(2, 40),
    groups=st.integers(2, 9),
    seed=st.integers(0, 99),
    at=st.integers(0, 5),
)
def test_groups_are_equal_up_to_one_type_and_depend_on_their_number_alone(
    types: int, groups: int, seed: int, at: int
) -> None:
    members = random_groups(types, groups, first=0, last=6, seed=seed)
    sizes = set(members.sum(axis=1).tolist())
    assert sizes <= {types // groups, -(-types // groups)}
    alone = random_groups(types, groups, first=at, last=at + 1, seed=seed)
    assert (alone[0] == members[at]).all()


def test_every_type_is_as_likely_as_any_other() -> None:
    members = random_groups(10, 3, first=0, last=6000, seed=5)
    share = members.mean(axis=0)
    # standard deviation of a share: sqrt(1/3 * 2/3 / 6000) = .006
    assert np.abs(share - 1 / 3).max() < 0.025


def test_shares_count_words_of_references_that_meet_the_feature() -> None:
    testset = gn.TestSet.from_lists(
        {"s": ["the cat sat now", "on"]}, ["cat dog sat", "The horse !"]
    )
    (row,) = _validated(testset).rows
    assert row["reference_share"] == pytest.approx(3 / 6)
    assert row["groups"] == 2


def test_a_real_feature_stands_beside_random_ones_of_like_frequency() -> None:
    testset = _testset()
    found = _validated(testset, groups=[2])
    known = gn.muler(testset, "bleu", ["re:animal"], pattern=ANIMAL, examples=0)
    by_system = {r["system"]: r for r in known if r["variant"] == "ratio"}
    for row in found:
        if row["muler"] is None:  # random words alone, of two groups
            assert (row["feature"], row["groups"]) == ("random words, p = 2", 2)
            continue
        assert row["groups"] == int(1 / row["reference_share"] + 0.5)
        assert row["muler"] == by_system[row["system"]]["muler"]
        assert row["random_reference_share"] == pytest.approx(row["reference_share"], abs=0.1)
        assert row["deviation"] == pytest.approx(row["muler"] - row["mean"])
        assert row["deviation_low"] <= row["deviation"] <= row["deviation_high"]
        assert row["below"] * row["draws"] == pytest.approx(round(row["below"] * row["draws"]))


def test_the_seed_decides_and_stands_in_the_signature() -> None:
    first, again, other = (_validated(_testset(), seed=seed) for seed in (3, 3, 4))
    assert first.rows == again.rows
    assert [r["mean"] for r in first] != [r["mean"] for r in other]
    assert "seed:3" in str(first.signatures["bleu"])
    assert "draws:12" in str(first.signatures["bleu"])


def test_a_system_has_the_same_figures_whoever_stands_beside_it() -> None:
    both = _testset()
    alone = gn.TestSet.from_lists(
        {"b": list(both.systems["b"])}, [str(text) for text in both.references["A"]]
    )
    together = [r for r in _validated(both).rows if r["system"] == "b"]
    assert together == list(_validated(alone).rows)


def test_a_vocabulary_too_small_for_its_groups_is_undefined_and_says_so() -> None:
    found = _validated(_testset(), groups=[50])
    row = next(r for r in found if r["groups"] == 50)
    assert (row["draws"], row["mean"], row["variance"]) == (0, None, None)
    assert any(
        "11 types cannot be split into 50 groups" in notice for notice in notes(found.notices)
    )


def test_a_feature_that_the_references_lack_is_undefined() -> None:
    testset = gn.TestSet.from_lists({"s": ["the cat sat", "a red"]}, ["the hen sat", "a hen"])
    found = _validated(testset, groups=[2])
    row = found.rows[0]
    assert (row["segments"], row["muler"], row["groups"], row["deviation"]) == (0, None, None, None)
    assert row["reference_share"] == 0


def test_random_features_without_a_muler_are_left_out_and_counted() -> None:
    testset = gn.TestSet.from_lists({"s": ["b c d e f g"]}, ["a b x y z w"])
    found = _validated(testset, groups=[9])
    row = next(r for r in found if r["groups"] == 9)
    assert row["draws"] < 12


@pytest.mark.parametrize("metric", ["chrf", "rougeL", "ter"])
def test_other_metrics_score_random_features_too(metric: str) -> None:
    found = _validated(_testset(), metric, groups=[2])
    assert all(0 < row["mean"] < 1 for row in found)


def test_several_references_are_masked_and_counted() -> None:
    references = [list(pair) for pair in zip(_sentences(3, 20), _sentences(4, 20), strict=True)]
    testset = gn.TestSet.from_lists({"a": _sentences(1, 20)}, references)
    found = _validated(testset, groups=[2])
    tokens = [word for pair in references for text in pair for word in text.split()]
    share = sum(word in ("cat", "dog", "horse") for word in tokens) / len(tokens)
    assert found.rows[0]["reference_share"] == pytest.approx(share)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"draws": 1}, "draws must be a whole number, 2 or more"),
        ({"draws": 0}, "2 or more; got 0"),
        ({"groups": [2, 1]}, "2 or more; got 1"),
        ({"seed": -1}, "0 or more"),
    ],
)
def test_wrong_requests_say_what_is_allowed(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        _validated(_testset(), **options)
