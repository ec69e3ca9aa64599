"""Encoders against transformers' own forward pass, and what they count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import DataError, MissingDependencyError, MissingFileError, UsageError
from gnomon.models import Encoder, find_model, length_batches, load_encoder

torch = pytest.importorskip("torch", reason="pip install 'gnomon[models]'")

TEXTS = ("the cat sat on the mat .", "unbelievable", "", "  a dog !  ", "xyz " * 30)


@pytest.fixture
def encoder(tiny_model: Path) -> Encoder:
    return load_encoder(str(tiny_model), layer=2, device="cpu")


def _plain(folder: Path, text: str) -> Any:
    """Hidden states of all layers for one text, by transformers alone."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        ids = tokenizer(text, truncation=True, max_length=40, return_tensors="pt")
        return model(**ids, output_hidden_states=True).hidden_states


@pytest.mark.parametrize("layer", [0, 1, 2, 3])
def test_vectors_are_those_of_the_layer_at_unit_length(tiny_model: Path, layer: int) -> None:
    encoder = load_encoder(str(tiny_model), layer=layer, device="cpu")
    pieces = encoder.pieces(TEXTS)
    found = encoder.embed(pieces, np.arange(len(TEXTS)))
    for number, text in enumerate(TEXTS):
        expected = _plain(tiny_model, text.strip())[layer][0]
        expected = expected / expected.norm(dim=-1, keepdim=True)
        rows = slice(*found.offsets[number : number + 2].tolist())
        assert torch.allclose(found.vectors[rows], expected, atol=1e-5)


def test_pooled_vectors_are_means_over_all_pieces(tiny_model: Path, encoder: Encoder) -> None:
    pieces = encoder.pieces(TEXTS)
    found = encoder.pooled(pieces, np.array([0, 3]))
    for row, number in enumerate((0, 3)):
        expected = _plain(tiny_model, TEXTS[number].strip())[2][0].mean(dim=0).numpy()
        np.testing.assert_allclose(found[row], expected, atol=1e-5)


def test_pieces_know_their_place_and_word_in_the_untouched_text(encoder: Encoder) -> None:
    text = "  the unbelievable cat "
    pieces = encoder.pieces([text])
    shown = [text[a:b] for a, b in zip(pieces.start, pieces.end, strict=True)]
    assert shown == ["", "the", "un", "believ", "able", "cat", ""]
    assert pieces.word.tolist() == [-1, 0, 1, 1, 1, 2, -1]
    assert pieces.special.tolist() == [True, *[False] * 5, True]


def test_lone_surrogates_and_line_separators_do_no_harm(encoder: Encoder) -> None:
    pieces = encoder.pieces(["a \ud800 cat\u2028sat"])
    assert pieces.end.max() == len("a \ud800 cat\u2028sat")


@given(st.text(max_size=30))
def test_places_of_pieces_never_go_back_and_stay_inside(tiny_model: Path, text: str) -> None:
    pieces = load_encoder(str(tiny_model), layer=2, device="cpu").pieces([text])
    assert (np.diff(pieces.start) >= 0).all()
    assert (np.diff(pieces.end) >= 0).all()
    assert pieces.start.min() >= 0
    assert pieces.end.max() <= len(text)
    plain = ~pieces.special
    assert (pieces.end[plain] > pieces.start[plain]).all()
    assert (pieces.end[~plain] == pieces.start[~plain]).all()


def test_unknown_pieces_are_counted(encoder: Encoder) -> None:
    assert encoder.pieces(["the \u6771 cat \u4eac"]).unknown == 2


def test_long_texts_are_cut_at_the_limit_and_marked(encoder: Encoder) -> None:
    pieces = encoder.pieces(TEXTS)
    assert pieces.truncated.tolist() == [False, False, False, False, True]
    assert pieces.lengths[4] == encoder.limit == 40


def test_texts_that_are_not_wanted_have_no_pieces(encoder: Encoder) -> None:
    before = encoder.tokenised
    pieces = encoder.pieces(TEXTS, wanted=[1])
    assert pieces.lengths.tolist() == [0, 5, 0, 0, 0]
    assert encoder.tokenised == before + 1


def test_every_text_asked_for_is_encoded_once(encoder: Encoder) -> None:
    pieces = encoder.pieces(TEXTS)
    before = encoder.encoded, encoder.tokens
    encoder.embed(pieces, np.array([3, 0]))
    assert encoder.encoded - before[0] == 2
    assert encoder.tokens - before[1] == pieces.lengths[[3, 0]].sum()


def test_the_same_request_gives_the_same_encoder(tiny_model: Path) -> None:
    assert load_encoder(str(tiny_model), layer=1) is load_encoder(str(tiny_model), layer=1)


def test_mixed_precision_is_close_and_named(tiny_model: Path, encoder: Encoder) -> None:
    half = load_encoder(str(tiny_model), layer=2, device="cpu", precision="bf16")
    assert half.identity == f"{encoder.identity},bf16"
    pieces = encoder.pieces(TEXTS)
    both = [e.embed(pieces, np.arange(2)).vectors for e in (encoder, half)]
    assert torch.allclose(*both, atol=0.05)


def test_a_local_model_is_named_by_a_hash_of_its_files(tiny_model: Path, tmp_path: Path) -> None:
    copy = tmp_path / "tiny"
    copy.mkdir()
    for file in tiny_model.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    identity = find_model(str(tiny_model)).identity
    assert find_model(str(copy)).identity == identity
    (copy / "config.json").write_text("{}", encoding="utf-8")
    assert find_model(str(copy)).identity != identity


def test_a_layer_that_is_not_there_is_refused(tiny_model: Path) -> None:
    with pytest.raises(UsageError, match="layers 0 to 3; layer 4"):
        load_encoder(str(tiny_model), layer=4)


def test_a_device_that_is_not_there_is_refused(tiny_model: Path) -> None:
    with pytest.raises(UsageError, match="'nonsense' cannot be used"):
        load_encoder(str(tiny_model), device="nonsense")


def test_a_model_of_the_hub_that_is_not_here_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GNOMON_ALLOW_DOWNLOADS", raising=False)
    with pytest.raises(MissingDependencyError, match="hf download some/model --revision abc"):
        find_model("some/model", "abc")


@pytest.mark.parametrize("hidden", [False, True])
def test_a_gated_model_of_the_hub_says_what_to_accept(
    monkeypatch: pytest.MonkeyPatch, *, hidden: bool
) -> None:
    from huggingface_hub import errors

    gated = errors.GatedRepoError.__new__(errors.GatedRepoError)

    def refuse(*_: object, **__: object) -> None:
        if hidden:
            raise errors.LocalEntryNotFoundError("nothing is here") from gated
        raise gated

    monkeypatch.setattr("huggingface_hub.snapshot_download", refuse)
    with pytest.raises(MissingDependencyError, match=r"'some/model' is gated.*hf auth login"):
        find_model("some/model")


def test_folders_without_safetensors_are_refused(tiny_model: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes((tiny_model / "config.json").read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(DataError, match="no \\*\\.safetensors"):
        load_encoder(str(tmp_path))


def test_damaged_weights_are_an_error_of_the_model(tiny_model: Path, tmp_path: Path) -> None:
    for file in tiny_model.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(DataError, match="cannot be loaded"):
        load_encoder(str(tmp_path))


@pytest.mark.parametrize("name", ["/nowhere/at/all", "./nowhere"])
def test_folders_that_do_not_exist_are_missing_files(name: str) -> None:
    with pytest.raises(MissingFileError):
        find_model(name)


@pytest.mark.parametrize("name", ["package:no_such_package/x", "package:gnomon/no_such_folder"])
def test_packages_and_their_folders_are_looked_for(name: str) -> None:
    with pytest.raises(MissingDependencyError, match="package"):
        find_model(name)


def test_batches_hold_every_text_once_within_the_budget() -> None:
    lengths = np.array([5, 1, 9, 3, 3, 40, 2])
    groups = length_batches(lengths, 12)
    assert sorted(np.concatenate(groups).tolist()) == list(range(7))
    assert all(len(g) == 1 or lengths[g].max() * len(g) <= 12 for g in groups)
