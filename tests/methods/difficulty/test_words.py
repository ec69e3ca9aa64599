"""``gnomon.difficulty.words``: words of pieces, types, systems, and segments to read."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.difficulty.sets import rows
from tests.told import notes

import gnomon as gn
from gnomon import difficulty
from gnomon.core.errors import UsageError
from gnomon.difficulty.token_hardness import Places
from gnomon.difficulty.word_matches import reference_words, split, words_of
from gnomon.metrics import bind

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.core.findings import Finding

REFERENCES = ["the unbelievable cat .", "a dog on the mat"]
SYSTEMS = {
    "a": ["the unbelievable cat .", "a dog on the mat"],
    "b": ["the cat .", "a dog on a mat"],
    "c": ["the house .", "a dog"],
}


@pytest.fixture
def testset() -> gn.TestSet:
    return gn.TestSet.from_lists(SYSTEMS, REFERENCES, language_pair="en")


@pytest.fixture
def tokens(tiny_model: Path) -> str:
    pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
    return f"bertscore(model='{tiny_model}', layer=2, device='cpu')"


def one(found: Finding, table: str, **wanted: object) -> dict:
    (row,) = rows(found, table, **wanted)
    return row


def test_difficulties_of_words_by_hand(testset) -> None:
    # of three systems b and c lack "unbelievable", c lacks "cat", "on", "mat"; "the" of segment 2
    # is in a alone
    found = difficulty.words(testset, "rouge1")
    d = {row["word"]: row["difficulty"] for row in found.rows}
    assert d["unbelievable"] == pytest.approx(2 / 3)
    assert d["cat"] == d["mat"] == d["on"] == pytest.approx(1 / 3)
    assert d["the"] == pytest.approx((0 + 2 / 3) / 2)
    assert d["dog"] == d["a"] == pytest.approx(0)
    assert [row["difficulty"] for row in found.rows] == sorted(d.values(), reverse=True)
    the = one(found, "words", word="the")
    assert (the["count"], the["segments"]) == (2, 2)
    assert the["exact"] == pytest.approx((1 + 1 / 3) / 2)


def test_a_word_of_several_pieces_is_the_mean_of_its_pieces(testset, tokens) -> None:
    bound = bind(testset, f"difficulty({tokens})")[1]
    places = bound.hardness.places  # type: ignore[attr-defined]  # difficulty of tokens
    text = places.text[0]
    inside = [
        d
        for d, start, end, special, group in zip(
            bound.hardness.value, places.start, places.end, places.special, places.group,  # type: ignore[attr-defined]  # likewise
            strict=True,
        )
        if group == 0 and not special and text[start:end] in ("un", "believ", "able")
    ]  # fmt: skip
    assert len(inside) == 3
    found = difficulty.words(testset, tokens)
    row = one(found, "words", word="unbelievable")
    assert row["difficulty"] == pytest.approx(np.mean(inside))
    assert any("are seen in several pieces" in notice for notice in notes(found.notices))


def test_a_system_has_a_word_where_all_pieces_match_themselves(testset, tokens) -> None:
    words = reference_words(bind(testset, f"difficulty({tokens})")[1], testset.batch())  # type: ignore[arg-type]  # difficulty
    at = words.words.text.tolist().index("unbelievable")
    assert words.exact[:, at].tolist() == [True, False, False]
    assert words.best[0, at] == pytest.approx(1, abs=1e-5)
    assert words.difficulty[at] == pytest.approx(1 - words.best[:, at].mean(), abs=1e-6)


@given(st.text(max_size=40))
def test_words_never_overlap_and_leave_only_space_out(text: str) -> None:
    spans = list(split(text))
    assert all(a < b for a, b in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    covered = {place for a, b in spans for place in range(a, b)}
    assert all(text[place].isspace() for place in range(len(text)) if place not in covered)


def test_pieces_that_cross_words_and_unspaced_scripts_are_kept_whole() -> None:
    text = "It's done... 日本語だ"
    pieces = [(0, 2), (2, 4), (5, 9), (9, 12), (12, 15), (15, 17)]
    places = Places(
        segment=np.array([0]), text=(text,), offsets=np.array([0, len(pieces)]),
        type=np.arange(len(pieces), dtype=np.int32),
        start=np.array([a for a, _ in pieces], dtype=np.int32),
        end=np.array([b for _, b in pieces], dtype=np.int32),
        special=np.zeros(len(pieces), dtype=bool),
    )  # fmt: skip
    words = words_of(places)
    assert words.text.tolist() == ["It's", "done", "...", "日本", "語だ"]
    assert words.of.tolist() == [0, 0, 1, 2, 3, 4]


def test_who_has_the_hard_words_by_hand(testset) -> None:
    # the hardest tenth of 9 words by d: "unbelievable" and the second "the", both 2/3
    found = difficulty.words(testset, "rouge1")
    assert {row["system"]: row["hard"] for row in rows(found, "systems")} == {
        "a": 1,
        "b": 0,
        "c": 0,
    }
    assert one(found, "systems", system="b")["other"] == 1
    assert one(found, "systems", system="c")["other"] == pytest.approx(3 / 6)
    assert [row["system"] for row in rows(found, "systems")] == ["a", "b", "c"]  # best first


def test_rare_words_are_not_listed_and_that_is_said(testset) -> None:
    found = difficulty.words(testset, "rouge1", min_count=2)
    assert {row["word"] for row in found.rows} == {"the"}
    assert any("fewer than 2 times" in notice for notice in notes(found.notices))
    with pytest.raises(UsageError, match="1 or more"):
        difficulty.words(testset, "rouge1", min_count=0)


def test_examples_mark_the_hard_words(testset) -> None:
    found = difficulty.words(testset, "rouge1", examples=1)
    (exhibit,) = found.exhibits
    (reference,) = (text for text in exhibit.texts if text.role == "reference")
    marked = [reference.text[mark.start : mark.end] for mark in reference.highlights]
    # of segment 1: the had by all, cat missed by c, unbelievable by b and c
    assert (exhibit.segment, marked) == (1, ["unbelievable"])
    assert exhibit.weight == pytest.approx((0 + 2 / 3 + 1 / 3) / 3)
    assert [mark.label for mark in reference.highlights] == ["difficulty 0.667; missed by b, c"]
    assert {text.name for text in exhibit.texts if text.role == "candidate"} == {"a", "b", "c"}


def test_frozen_difficulties_judge_new_systems(testset, tokens, tmp_path: Path) -> None:
    path = str(tmp_path / "hard.npz")
    for spec in ("rouge1", tokens):
        before = difficulty.words(testset, spec)
        difficulty.score(testset, spec, save=path)
        alone = testset.select(systems=["b"])
        after = difficulty.words(alone, f"difficulty({spec}, frozen='{path}')")
        expected = {row["word"]: row["difficulty"] for row in before.rows}
        assert {row["word"]: row["difficulty"] for row in after.rows} == pytest.approx(expected)


def test_sources_can_be_what_words_are_compared_with(tiny_model: Path) -> None:
    pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
    own = gn.TestSet.from_lists(SYSTEMS, REFERENCES, sources=REFERENCES, language_pair="en-en")
    found = difficulty.words(own, f"xbertscore(model='{tiny_model}', layer=2)")
    assert {row["word"] for row in found.rows} >= {"unbelievable", "dog"}


def test_rows_of_several_metrics_name_them(testset) -> None:
    found = difficulty.words(testset, ["rouge1", "bleu"])
    for spec in ("rouge1", "bleu"):
        alone = difficulty.words(testset, spec)
        (own,) = alone.signatures
        for table in alone.tables:
            mine = rows(found, table.name, metric=own)
            assert [{k: v for k, v in r.items() if k != "metric"} for r in mine] == [*table.rows]
