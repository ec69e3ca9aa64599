"""Masked language models against transformers' own forward pass."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from tests.models.tiny_masked import LIMIT, PIECES, VOCABULARY, save_masked_lm

from gnomon.bmx.pairs import TextWords
from gnomon.core.errors import DataError, UsageError
from gnomon.models import MaskedLM, load_masked_lm
from gnomon.models.masked import Piece, best_words

torch = pytest.importorskip("torch", reason="pip install 'gnomon[models]'")

TEXT = "the unable cat sat on the mat."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_masked_lm(tmp_path_factory.mktemp("masked"))


@pytest.fixture
def model(folder: Path) -> MaskedLM:
    return load_masked_lm(str(folder), device="cpu")


def _plain(folder: Path, masked: str) -> Any:
    """Probabilities at the masks of a text, by transformers alone, float64 [masks, V]."""
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    plain = AutoModelForMaskedLM.from_pretrained(folder).eval()
    given = tokenizer(masked, return_tensors="pt")
    with torch.no_grad():
        logits = plain(**given).logits[0]
    return logits[given["input_ids"][0] == tokenizer.mask_token_id].double().softmax(-1).numpy()


def _fill(model: MaskedLM, *texts: str, threshold: float = 0.05) -> list[list[dict[str, float]]]:
    found = model.fill(texts, [TextWords(text).spans for text in texts], threshold=threshold)
    return [[{one.word: one.probability for one in place} for place in text] for text in found]


def test_probabilities_of_words_of_one_piece_are_those_at_the_mask(
    folder: Path, model: MaskedLM
) -> None:
    (shares,) = _plain(folder, "the unable [MASK] sat on the mat .")
    expected = {
        piece: shares[VOCABULARY.index(piece)] for piece in PIECES if not piece.startswith("##")
    }
    found = _fill(model, TEXT, threshold=1e-6)[0][2]
    assert found == pytest.approx({k: v for k, v in expected.items() if v > 1e-6}, rel=1e-5)
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_a_word_of_several_pieces_gets_as_many_masks_and_their_product(
    folder: Path, model: MaskedLM
) -> None:
    first, second = _plain(folder, "the [MASK] [MASK] cat sat on the mat .")
    whole = [piece for piece in PIECES if not piece.startswith("##") and piece.isalpha()]
    expected = {
        a + b.removeprefix("##"): first[VOCABULARY.index(a)] * second[VOCABULARY.index(b)]
        for a, b in itertools.product(whole, ("##able", "##er"))
    }
    found = _fill(model, TEXT, threshold=1e-9)[0][1]
    assert found == pytest.approx({k: v for k, v in expected.items() if v > 1e-9}, rel=1e-5)


def test_marks_stay_marks_within_words(model: MaskedLM) -> None:
    found = _fill(model, TEXT, threshold=1e-9)[0][6]
    assert found
    assert {word[-1] for word in found} == {".", ","}


def test_the_best_word_stands_alone_where_none_is_probable_enough(model: MaskedLM) -> None:
    every = _fill(model, TEXT, threshold=1e-9)[0][0]
    best = max(every, key=lambda word: every[word])
    assert _fill(model, TEXT, threshold=0.999)[0][0] == pytest.approx({best: every[best]})


def test_neither_company_nor_order_changes_what_fits(model: MaskedLM) -> None:
    texts = [TEXT, "the dog", "cat , dog . un the sat mat"]
    together = _fill(model, *texts, threshold=0.01)
    alone = [_fill(model, text, threshold=0.01)[0] for text in texts]
    for a, b in zip(together, alone, strict=True):
        for x, y in zip(a, b, strict=True):
            assert x == pytest.approx(y, rel=1e-4)


def test_words_stay_as_they_are_written_where_the_model_expects_them(tmp_path: Path) -> None:
    sure = load_masked_lm(str(save_masked_lm(tmp_path, {"cat": 0.9})), device="cpu")
    assert list(_fill(sure, "The Cat sat")[0][1]) == ["Cat"]


def test_texts_beyond_the_limit_are_read_around_each_word(model: MaskedLM) -> None:
    text = " ".join(["the cat sat on the mat . the dog sat on the big mat , the cat"] * 3)
    found = _fill(model, text)[0]
    assert len(found) == len(text.split()) > LIMIT
    assert all(found)


def test_unknown_words_and_pieces_of_words_show(model: MaskedLM) -> None:
    assert model.fluency(["the cat", "the xyz"]).unknown == 1 / 4
    known = model.fluency(["the unable cat"])
    assert known.letters == pytest.approx((3 + 2 + 4 + 3) / 4)
    assert known.pieces == pytest.approx(4 / 3)


def test_a_model_without_its_head_is_refused(tiny_model: Path) -> None:
    with pytest.raises(DataError, match="without the head"):
        load_masked_lm(str(tiny_model), device="cpu")


def test_an_unknown_device_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="cannot be used"):
        load_masked_lm(str(folder), device="cuda:99")


def test_words_come_by_falling_probability_until_the_threshold() -> None:
    options = [[Piece(0, 0.6), Piece(1, 0.4)], [Piece(2, 0.7), Piece(3, 0.3)]]
    names = {(0, 2): "a", (0, 3): "b", (1, 2): None, (1, 3): "d"}
    assert best_words(options, names.get, 0.15) == [("a", 0.42), ("b", 0.18)]
    assert best_words(options, names.get, 0.5) == [("a", 0.42)]
    assert best_words(options, lambda _: None, 0.05) == []
    assert best_words([[], []], names.get, 0.05) == []
