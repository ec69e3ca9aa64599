"""Loading encoder-decoder models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gnomon.core.errors import DataError, MissingFileError, UsageError
from gnomon.models import load_seq2seq
from gnomon.models.decoding import beam, log_probabilities

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")
pytest.importorskip("transformers", reason="needs transformers: pip install 'gnomon[models]'")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    from tests.models.tiny_seq2seq import build

    return build(tmp_path_factory.mktemp("seq2seq") / "tiny", codes=12)


def test_the_same_request_gives_the_same_object(folder: Path) -> None:
    assert load_seq2seq(str(folder)) is load_seq2seq(str(folder))


def test_codes_are_found_in_the_vocabulary(folder: Path) -> None:
    model = load_seq2seq(str(folder))
    assert dict(model.codes) == {code: 13 + code for code in range(12)}


def test_texts_become_pieces_and_pieces_texts(folder: Path) -> None:
    model = load_seq2seq(str(folder))
    assert model.pieces(["the cat", "zebra"]) == [[3, 5, 1], [2, 1]]
    assert model.target_pieces("the cat") == [3, 5]
    assert model.text([0, 13, 3, 5, 1]) == "the cat"
    assert model.pieces([]) == []


def test_special_pieces_are_never_produced_and_codes_may_be(folder: Path) -> None:
    model = load_seq2seq(str(folder))
    assert model.silent.tolist() == [True, False, True] + [False] * 22


def test_codes_are_produced_at_the_beginning_alone(folder: Path) -> None:
    model = load_seq2seq(str(folder))
    assert model.silent_at(0).tolist() == [0, 2]
    assert model.silent_at(1).tolist() == model.silent_at(7).tolist() == [0, 2, *range(13, 25)]


def test_pieces_that_go_on_with_a_word_are_known(tmp_path: Path) -> None:
    from tests.models.tiny_seq2seq import build

    words = ("▁un", "able", "▁cat", "s", ".", "▁")
    model = load_seq2seq(str(build(tmp_path / "tiny", words=words, codes=1)))
    names = model.tokenizer.convert_ids_to_tokens(range(model.size))
    assert [names[number] for number in model.continuing.nonzero()[0]] == ["able", "s"]


def test_a_forced_first_piece_stands_before_every_target(tmp_path: Path) -> None:
    from tests.models.tiny_seq2seq import build

    settings = build(tmp_path / "tiny", kind="bart") / "generation_config.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"forced_bos_token_id": 4}))
    model = load_seq2seq(str(tmp_path / "tiny"))
    assert model.start == (0, 4)
    assert model.limit == 62
    found = beam(model, ["the cat", "a"], beam=3)
    forced = log_probabilities(model, ["the cat", "a"], [row[0].pieces for row in found])
    assert [row[0].log_probability for row in found] == pytest.approx(forced.tolist(), abs=1e-4)


def test_half_precision_is_loaded(folder: Path) -> None:
    import torch

    model = load_seq2seq(str(folder), precision="bf16")
    assert next(model.model.parameters()).dtype == torch.bfloat16
    assert beam(model, ["the cat"], beam=2, limit=4)[0]


def test_models_in_other_precisions_are_other_models(folder: Path) -> None:
    whole, half = load_seq2seq(str(folder)), load_seq2seq(str(folder), precision="bf16")
    assert whole.identity == whole.folder.identity
    assert half.identity == f"{whole.identity},bf16"


def test_what_cannot_be_loaded_is_said(folder: Path, tmp_path: Path, tiny_model: Path) -> None:
    with pytest.raises(MissingFileError):
        load_seq2seq(str(tmp_path / "none"))
    with pytest.raises(DataError, match="cannot be loaded"):
        load_seq2seq(str(tiny_model))
    with pytest.raises(UsageError, match="precision='int8'"):
        load_seq2seq(str(folder), precision="int8")
    with pytest.raises(UsageError, match="device 'nowhere'"):
        load_seq2seq(str(folder), device="nowhere")
