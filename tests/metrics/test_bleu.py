from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from tests.told import notes

from gnomon.core.errors import DataError, MissingDependencyError, SpecError, UnknownNameError
from gnomon.core.testset import TestSet
from gnomon.metrics import parse
from gnomon.metrics.bleu import Bleu, Smoothing, bleu

words = st.lists(st.sampled_from("abcd."), max_size=8).map(" ".join)


@given(
    candidates=st.lists(words, min_size=1, max_size=3),
    references=st.lists(st.lists(words, min_size=1, max_size=3), min_size=3, max_size=3),
)
def test_the_authors_variant_equals_nltk(
    candidates: list[str], references: list[list[str]]
) -> None:
    from nltk.translate.bleu_score import corpus_bleu, sentence_bleu

    rows = references[: len(candidates)]
    testset = TestSet.from_lists({"a": candidates}, rows)
    bound = Bleu(variant="authors").bind(testset)
    batch = testset.batch()
    split = [[reference.split() for reference in row] for row in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nltk warns of every order without a match
        sentences = [
            sentence_bleu(own, candidate.split())
            for own, candidate in zip(split, candidates, strict=True)
        ]
        corpus = corpus_bleu(split, [candidate.split() for candidate in candidates])
    found = bound.segments(batch)[0] / 100
    assert found == pytest.approx(sentences, rel=1e-9, abs=0)
    assert bound.system(batch)[0] / 100 == pytest.approx(corpus, rel=1e-9, abs=0)


def test_the_authors_variant_is_next_to_zero_without_a_match_of_some_order() -> None:
    testset = TestSet.from_lists({"a": ["a b c x d e f"]}, ["a b c y d e f"])
    score = float(Bleu(variant="authors").bind(testset).segments(testset.batch())[0, 0])
    # nltk 3.9: sentence_bleu warns and returns 4.5e-78
    assert 0 < score < 1e-70


@pytest.mark.parametrize(
    "options",
    [{"smooth_method": "none"}, {"max_ngram_order": 3}, {"effective_order": True}],
)
def test_the_authors_variant_goes_with_no_smoothing_option(options: dict[str, object]) -> None:
    with pytest.raises(SpecError, match="lowercase and tokenize only"):
        Bleu(variant="authors", **options)  # type: ignore[arg-type]  # options by name


def test_the_authors_variant_has_no_signature_of_sacrebleu() -> None:
    testset = TestSet.from_lists({"a": ["a"]}, ["a"])
    bound = Bleu(variant="authors", lowercase=True).bind(testset)
    assert bound.native_signatures(testset.batch()) == {}
    assert str(bound.signature).startswith("bleu(lowercase=True, variant='authors')|refs:1|case:lc")


def test_bound_bleu_has_all_powers() -> None:
    testset = TestSet.from_lists({"a": ["a"]}, ["a"])
    bound = Bleu().bind(testset)
    assert bound.can == {"statistics", "mask", "ngrams"}
    assert "sacrebleu" in bound.native_signatures(testset.batch())


def test_the_signature_says_what_was_frozen_and_gives_the_metric_again() -> None:
    testset = TestSet.from_lists({"a": ["a b", "c"]}, [["a", "b"], ["c"]])
    metric = Bleu(smooth_method="floor", tokenize="intl")
    text = str(metric.bind(testset).signature)
    assert text.startswith(
        "bleu(tokenize='intl', smooth_method='floor')"
        "|refs:var|case:mixed|eff:segments|tok:intl|smooth:floor[0.10]|gnomon:"
    )
    assert parse(text) == metric


def test_the_target_language_chooses_the_tokeniser_when_binding() -> None:
    texts = {"a": ["猫坐在垫子上"]}
    testset = TestSet.from_lists(texts, ["猫坐在垫子"], language_pair="en-zh")
    bound = Bleu().bind(testset)
    assert bound.texts.tokens.tokeniser.name == "zh"
    assert bound.statistics(testset.batch())[0, 0, :2].tolist() == [6, 5]


@pytest.mark.parametrize("language", ["en-ja", None])
def test_characters_stand_in_for_a_tokeniser_whose_package_is_missing(
    monkeypatch: pytest.MonkeyPatch, language: str | None
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "MeCab", None)
    texts = ["猫はどこ"]
    testset = TestSet.from_lists({"a": texts}, texts, language_pair=language)
    bound = Bleu().bind(testset)
    assert bound.texts.tokens.tokeniser.name == "char"
    assert "pip install 'sacrebleu[ja]'" in notes(bound.notices(testset.batch()))[-1]
    with pytest.raises(MissingDependencyError, match=r"sacrebleu\[ja\]"):
        Bleu(tokenize="ja-mecab").bind(testset)


def test_a_segment_without_a_reference_is_undefined_and_left_out_of_the_corpus() -> None:
    testset = TestSet.from_lists({"a": ["a b c d", "x"]}, [["a b c d"], [None]])
    bound = Bleu().bind(testset)
    segments = bound.segments(testset.batch())
    assert segments[0, 0] == pytest.approx(100)
    assert np.isnan(segments[0, 1])
    assert bound.system(testset.batch()) == pytest.approx([100])


def test_a_test_set_without_references_is_refused() -> None:
    testset = TestSet(name="t", references={}, systems={"a": ["x"]}, sources=["y"])
    with pytest.raises(DataError, match="has none; give at least one reference"):
        Bleu().bind(testset)


def test_references_of_one_system_count_for_it_alone() -> None:
    testset = TestSet(
        name="t",
        references={"A": ["a b c d"]},
        systems={"one": ["e f g h"], "two": ["e f g h"]},
        system_references={"two": {"own": ["e f g h"]}},
    )
    bound = Bleu().bind(testset)
    assert bound.segments(testset.batch())[:, 0] == pytest.approx([0, 100])
    assert "|own_refs:1|" in str(bound.signature)


def test_unknown_tokenisers_and_impossible_orders_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean '13a'"):
        Bleu(tokenize="13b")
    with pytest.raises(UnknownNameError):
        Bleu(tokenize="chrf")
    for order in (0, 1_000_000_000):
        with pytest.raises(
            SpecError, match=rf"max_ngram_order is {order}; it must be from 1 to 100"
        ):
            Bleu(max_ngram_order=order)
    with pytest.raises(SpecError, match=r"smooth_value is -1\.0; it must be from 0 to 1000"):
        Bleu(smooth_method="add-k", smooth_value=-1)


def test_texts_are_tokenised_once_for_all_that_is_asked() -> None:
    testset = TestSet.from_lists({"a": ["a b", "b"], "b": ["a b", "c"]}, ["a b", "c"])
    bound = Bleu().bind(testset)
    batch = testset.batch()
    bound.segments(batch)
    bound.system(batch)
    bound.segments(batch.select(segments=[1]))
    assert bound.texts.tokens.runs == 1


@pytest.mark.parametrize("effective", [True, False])
@pytest.mark.parametrize("method", ["exp", "floor", "add-k", "none"])
@given(
    counts=st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=1, max_size=4),
    lengths=st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
def test_counts_score_as_sacrebleu_scores_them(
    method: Any, effective: bool, counts: list[list[int]], lengths: tuple[int, int]
) -> None:
    own, reference = lengths
    totals = [max(own - n, 0) for n in range(4)]
    matches = [[min(m, t) for m, t in zip(row, totals, strict=True)] for row in counts]
    statistics = np.array([[own, reference, *row, *totals] for row in matches], dtype=np.float64)
    found = bleu(statistics, Smoothing(method), effective_order=effective)
    expected = [
        sacrebleu.BLEU.compute_bleu(
            row, list(totals), own, reference, method, effective_order=effective
        ).score
        for row in matches
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-300)
