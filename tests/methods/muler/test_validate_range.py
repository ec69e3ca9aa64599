"""Range: hybrids of oracle and anti-oracle, against texts masked by hand and sacreBLEU."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.muler.experiments import hybrids
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.muler.validate.initials import Initials

ANIMAL = {"animal": "(?i)cat|dog|horse"}
REFERENCES = ["the Cat sat on the mat", "a dog and a horse ran home", "my cat sat at home now"]
OUTPUTS = ["the dog sat on a mat", "a dog and a cat ran home", "my cat sat with us now"]
WORDS = ["the", "cat", "dog", "horse", "Cat", "sat", "ran", "home", "on", "a"]

words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
segments = st.lists(st.tuples(words, words), min_size=1, max_size=5)


def _rows(testset: gn.TestSet, metric: Any = "bleu", **more: Any) -> list[dict[str, Any]]:
    found = hybrids(testset, metric, ["re:animal"], pattern=ANIMAL, **more)
    return [dict(row) for row in found.rows]


def _masked(text: str, masks: Mapping[str, str]) -> str:
    """Each animal replaced by the mask of its first letter."""
    words = (masks[w[0].lower()] if re.fullmatch(ANIMAL["animal"], w) else w for w in text.split())
    return " ".join(words)


def _mean(candidates: Mapping[str, str], references: Mapping[str, str]) -> float:
    scores = [
        sacrebleu.sentence_bleu(_masked(c, candidates), [_masked(r, references)]).score
        for c, r in zip(OUTPUTS, REFERENCES, strict=True)
    ]
    return sum(scores) / len(scores)


def test_a_hybrid_equals_texts_masked_by_hand_and_scored_by_sacrebleu() -> None:
    # the references hold cat twice, dog and horse once: the letter c alone reaches one half
    testset = gn.TestSet.from_lists({"s": OUTPUTS}, REFERENCES)
    half, three_quarters, whole = _rows(testset, shares=[0.5, 0.6, 1.0])
    alike = dict.fromkeys("cdh", "MASKa")
    assert (half["share"], half["segments"], three_quarters["share"]) == (0.5, 3, 0.75)
    low = _mean(dict.fromkeys("cdh", "MASKb"), dict.fromkeys("cdh", "MASKc"))
    high = _mean(alike, alike)
    assert half["anti_oracle"] == pytest.approx(low, abs=1e-9)
    assert half["oracle"] == pytest.approx(high, abs=1e-9)
    by_c = _mean({**alike, "d": "MASKb", "h": "MASKb"}, {**alike, "d": "MASKc", "h": "MASKc"})
    by_c_and_d = _mean({**alike, "h": "MASKb"}, {**alike, "h": "MASKc"})
    assert half["hybrid"] == pytest.approx(by_c, abs=1e-9)
    assert three_quarters["hybrid"] == pytest.approx(by_c_and_d, abs=1e-9)
    assert half["position"] == pytest.approx((by_c - low) / (high - low), abs=1e-9)
    assert whole["hybrid"] == whole["oracle"]


@pytest.mark.parametrize("metric", ["bleu", "bleu(variant='authors')", "chrf", "rouge1", "ter"])
@given(rows=segments)
def test_the_hybrid_of_the_whole_feature_is_its_oracle(
    metric: str, rows: list[tuple[str, str]]
) -> None:
    candidates, references = (list(column) for column in zip(*rows, strict=True))
    testset = gn.TestSet.from_lists({"s": candidates}, references)
    (row,) = _rows(testset, metric, shares=[1.0])
    (known,) = gn.muler(
        testset, metric, ["re:animal"], pattern=ANIMAL, variants=["ratio"], examples=0
    ).rows
    assert row["segments"] == known["segments"]
    if row["share"] is not None:
        assert row["hybrid"] == row["oracle"] == known["oracle"]
        assert row["anti_oracle"] == known["anti_oracle"]


@given(segments)
def test_hybrids_of_unigrams_lie_between_the_oracles_and_never_fall(
    rows: list[tuple[str, str]],
) -> None:
    candidates, references = (list(column) for column in zip(*rows, strict=True))
    found = _rows(
        gn.TestSet.from_lists({"s": candidates}, references), "rouge1", shares=[0.2, 0.5, 0.8]
    )
    hybrids_of_shares = [row["hybrid"] for row in found if row["hybrid"] is not None]
    assert hybrids_of_shares == pytest.approx(sorted(hybrids_of_shares))
    for row in found:
        if row["hybrid"] is not None:
            assert row["anti_oracle"] - 1e-12 <= row["hybrid"] <= row["oracle"] + 1e-12


@given(
    letters=st.lists(st.integers(0, 4), min_size=1, max_size=30),
    weights=st.lists(st.integers(0, 3), min_size=30, max_size=30),
    alpha=st.floats(0.01, 0.99),
)
def test_a_cut_is_the_shortest_run_of_letters_that_reaches_its_share(
    letters: list[int], weights: list[int], alpha: float
) -> None:
    letter = np.unique(letters, return_inverse=True)[1].astype(np.int64)
    weight = np.array(weights[: len(letter)])
    counts = np.bincount(letter, weight).astype(np.int64)
    names = tuple("abcde"[: len(counts)])
    cut = Initials("f", np.arange(len(letter)), names, letter, counts).cut(alpha)
    if cut is None:
        before_last = counts[: np.flatnonzero(counts)[-1]].sum() if counts.any() else 0
        assert before_last < alpha * counts.sum() or not counts.any()
        return
    held = letter[cut.head].max()
    assert not (letter[~cut.head] <= held).any()
    assert cut.share == pytest.approx(weight[cut.head].sum() / weight.sum())
    assert cut.share >= alpha - 1e-9
    assert weight[letter < held].sum() / weight.sum() < alpha


def test_letters_mind_no_case_and_count_in_the_references_alone() -> None:
    testset = gn.TestSet.from_lists(
        {"s": ["Dog dog dog dog dog x"]}, ["Cat cat Dog dog"], language_pair="en"
    )
    (row,) = _rows(testset, shares=[0.5])
    assert row["share"] == 0.5


def test_error_rates_lie_on_the_same_scale() -> None:
    testset = gn.TestSet.from_lists({"s": OUTPUTS}, REFERENCES)
    half, whole = _rows(testset, "ter", shares=[0.5, 1.0])
    assert half["anti_oracle"] > half["hybrid"] > half["oracle"]
    assert 0 < half["position"] < 1
    assert whole["position"] == pytest.approx(1)


def test_a_feature_of_one_letter_cannot_be_split_and_says_so() -> None:
    testset = gn.TestSet.from_lists({"s": ["the cat sat"]}, ["a cat sat"])
    found = hybrids(testset, "bleu", ["re:animal"], pattern=ANIMAL)
    assert all(row["hybrid"] is None and row["share"] is None for row in found)
    assert all(row["oracle"] is not None for row in found)
    assert any("matches of 'animal' at 0.3" in notice for notice in notes(found.notices))


def test_a_feature_without_common_segments_is_undefined() -> None:
    testset = gn.TestSet.from_lists({"s": ["the cow sat"]}, ["a cat and a dog sat"])
    found = hybrids(testset, "bleu", ["re:animal"], pattern=ANIMAL)
    assert {row["segments"] for row in found} == {0}
    assert {row["hybrid"] for row in found} == {None}


def test_averages_leave_out_small_sets_of_segments() -> None:
    few = gn.TestSet.from_lists({"s": OUTPUTS}, REFERENCES)
    many = gn.TestSet.from_lists({"s": OUTPUTS * 10}, REFERENCES * 10)
    said = [
        [
            str(one)
            for one in hybrids(testset, "bleu", ["re:animal"], pattern=ANIMAL, shares=[0.5]).verdict
            if one.code == "muler.validate.range.scale"
        ]
        for testset in (few, many)
    ]
    assert said[0] == []
    assert "(1 pair of a system and a feature)" in said[1][0]


def test_every_metric_has_rows_views_and_a_signature() -> None:
    testset = gn.TestSet.from_lists({"s": OUTPUTS}, REFERENCES)
    found = hybrids(testset, ["bleu", "chrf"], ["re:animal"], pattern=ANIMAL)
    assert list(found.signatures) == ["bleu", "chrf"]
    assert "alpha:0.3,0.4,0.5" in str(found.signatures["bleu"])
    assert "method:muler-validate|" in str(found.signatures["chrf"])
    assert {row["metric"] for row in found} == {"bleu", "chrf"}
    for view in found.views:
        found.table(view.table)
    assert found.to_latex().count("\\toprule") == 2
    assert found.to_frame().height == 6


@pytest.mark.parametrize("shares", [[0.0], [1.5], [-0.1, 0.5], [float("nan")], []])
def test_shares_outside_their_range_are_refused(shares: list[float]) -> None:
    testset = gn.TestSet.from_lists({"s": OUTPUTS}, REFERENCES)
    with pytest.raises(UsageError, match=r"shares.* must be"):
        _rows(testset, shares=shares)


@pytest.mark.parametrize(
    ("testset", "request_", "error", "said"),
    [
        (gn.TestSet("e", {"A": ["x"]}, {}), {}, DataError, "no system outputs"),
        (None, {"features": "re:animal"}, UsageError, "list of texts"),
        (None, {"experiments": []}, UsageError, "one or more of range, frequency, random"),
        (None, {"metrics": ["bleu", "bleu"]}, UsageError, "twice"),
        (None, {"features": ["re:plant"]}, UnknownNameError, "animal"),
    ],
)
def test_wrong_requests_say_what_is_allowed(
    testset: gn.TestSet | None, request_: dict[str, Any], error: type[Exception], said: str
) -> None:
    given_set = testset or gn.TestSet.from_lists({"s": OUTPUTS}, REFERENCES)
    request: dict[str, Any] = {"metrics": "bleu", "features": ["re:animal"], "pattern": ANIMAL}
    with pytest.raises(error, match=said):
        gn.muler.validate(given_set, **{"experiments": ["range"], **request, **request_})


def _shared_words(candidate: str, reference: str) -> float:
    """Clipped unigram F, as ROUGE-1 of words in small letters."""
    left, common = reference.split(), 0
    for word in candidate.split():
        if word in left:
            left.remove(word)
            common += 1
    return 2 * common / (len(candidate.split()) + len(reference.split()))


def test_a_function_gives_what_the_built_in_metric_gives() -> None:
    outputs, references = ([t.lower() for t in texts] for texts in (OUTPUTS, REFERENCES))
    testset = gn.TestSet.from_lists({"s": outputs}, references)
    own = gn.metric(_shared_words, name="own")
    for by_text, built_in in zip(_rows(testset, own), _rows(testset, "rouge1"), strict=True):
        for name in ("share", "segments", "anti_oracle", "oracle", "hybrid"):
            assert by_text[name] == pytest.approx(built_in[name]), name
