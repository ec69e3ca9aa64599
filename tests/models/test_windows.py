"""Texts longer than a model takes: windows against a plain reading of each, and what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.told import notes

import gnomon as gn
from gnomon.models import Encoder, load_encoder
from gnomon.models.word_pieces import Pieces, windows

torch = pytest.importorskip("torch", reason="pip install 'gnomon[models]'")

LONG = "the cat sat on a mat . un able dog ! " * 11  # 156 pieces; the model takes 40
FITS = ("the cat sat", "a dog", "", "on the mat " * 9)


def _encoder(model: Path, long: Any = "window", **more: Any) -> Encoder:
    return load_encoder(str(model), layer=2, device="cpu", long=long, **more)


def _made(lengths: list[int]) -> Pieces:
    """Texts of so many pieces, the first and the last of each special."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows = int(offsets[-1])
    word = np.zeros(rows, np.int32)
    word[offsets[:-1]] = word[offsets[1:] - 1] = -1
    none = np.zeros(rows, np.int32)
    return Pieces(
        offsets,
        np.arange(rows, dtype=np.int32),
        none,
        none,
        word,
        word < 0,
        np.zeros(len(lengths), np.bool_),
        0,
    )


@given(st.lists(st.integers(3, 90), min_size=1, max_size=6), st.integers(4, 30))
def test_windows_cover_every_piece_once_and_none_exceeds_the_limit(
    lengths: list[int], limit: int
) -> None:
    pieces = _made(lengths)
    found = windows(pieces, np.arange(len(lengths)), limit)
    assert max(len(part) for part in found) <= limit
    for text, length in enumerate(lengths):
        own = [part for part in found if part.text == text]
        rows = np.concatenate([part.rows[part.kept] for part in own])
        assert rows.tolist() == list(range(pieces.offsets[text], pieces.offsets[text + 1]))
        places = [part.place + np.arange(len(part.rows[part.kept])) for part in own]
        assert np.concatenate(places).tolist() == list(range(length))


@given(st.integers(30, 200), st.integers(8, 28))
def test_every_piece_is_taken_from_the_window_where_it_has_most_context(
    length: int, limit: int
) -> None:
    parts = windows(_made([length]), np.array([0]), limit)

    def context(rows: np.ndarray, row: int) -> int:
        inner = rows[1:-1]
        left = length if inner[0] == 1 else row - inner[0]
        right = length if inner[-1] == length - 2 else inner[-1] - row
        return int(min(left, right))

    for part in parts:
        for row in part.rows[part.kept].tolist():
            if 0 < row < length - 1:
                others = [context(p.rows, row) for p in parts if row in p.rows[1:-1]]
                # an even overlap has two middles
                assert context(part.rows, row) >= max(others) - 1


def test_windows_change_nothing_where_a_text_fits(tiny_model: Path) -> None:
    found = []
    for long in ("truncate", "window"):
        encoder = _encoder(tiny_model, long)
        pieces = encoder.pieces(FITS)
        found.append(encoder.embed(pieces, np.arange(len(FITS))).vectors)
    assert torch.equal(*found)


def test_vectors_are_those_of_the_windows_read_as_texts(tiny_model: Path) -> None:
    encoder = _encoder(tiny_model)
    pieces = encoder.pieces([LONG])
    before = encoder.encoded, encoder.tokens
    found = encoder.embed(pieces, np.array([0])).vectors
    assert len(found) == len(pieces.ids) == 156
    assert encoder.encoded - before[0] == 1
    assert encoder.tokens - before[1] > len(pieces.ids)
    seen = np.zeros(len(pieces.ids), dtype=int)
    for part in windows(pieces, np.array([0]), encoder.limit):
        ids = pieces.ids[part.rows][None].astype(np.int64)
        plain = encoder.hidden(ids, np.ones_like(ids, dtype=bool))
        plain = torch.nn.functional.normalize(plain, dim=-1)[part.kept]
        rows = slice(part.place, part.place + len(plain))
        assert torch.allclose(found[rows], plain, atol=1e-5)
        seen[rows] += 1
    assert (seen == 1).all()


def test_pieces_of_a_windowed_text_reach_its_end(tiny_model: Path) -> None:
    cut, whole = (_encoder(tiny_model, long).pieces([LONG]) for long in ("truncate", "window"))
    assert cut.truncated.all()
    assert len(cut.ids) == 40
    assert not whole.truncated.any()
    assert whole.end.max() == len(LONG.rstrip())


def test_the_mean_vector_counts_every_piece_once(tiny_model: Path) -> None:
    encoder = _encoder(tiny_model)
    pieces = encoder.pieces(["a dog", LONG])
    found = encoder.pooled(pieces, np.array([1, 0]))
    total = np.zeros(encoder.dimensions)
    for _, _, hidden in encoder._encoded(pieces, np.array([1])):
        total += hidden.numpy().sum(axis=0)
    np.testing.assert_allclose(found[0], total / 156, atol=1e-5)


@pytest.mark.parametrize("text", ["[SEP] " * 60, "[CLS] " * 50 + "dog", "dog " + "[SEP] " * 90])
def test_texts_that_name_special_pieces_are_read_too(tiny_model: Path, text: str) -> None:
    encoder = _encoder(tiny_model)
    pieces = encoder.pieces([text])
    assert len(encoder.embed(pieces, np.array([0])).vectors) == len(pieces.ids) > 40


@pytest.mark.parametrize("metric", ["bertscore", "xbertscore", "sbert", "moverscore"])
def test_metrics_say_how_many_texts_were_long(tiny_model: Path, metric: str) -> None:
    if metric == "moverscore":
        pytest.importorskip("ot", reason="needs POT: pip install 'gnomon[models]'")
    testset = gn.TestSet.from_lists(
        {"a": [LONG, "a dog"]}, [["the cat"], ["a cat"]], sources=["a mat", "the dog"]
    )
    spec = f"{metric}(model={str(tiny_model)!r}, layer=2, device='cpu'"
    cut, whole = gn.score(testset, f"{spec})"), gn.score(testset, f"{spec}, long='window')")
    assert "1 of 4 texts are longer than the model takes (40 pieces)" in notes(cut.notices)[0]
    assert "only their beginnings are scored" in notes(cut.notices)[0]
    assert "1 of 4 texts are longer" in notes(whole.notices)[0]
    assert "overlapping windows" in notes(whole.notices)[0]
    assert "long='window'" in str(whole.signature)
    assert cut.segments[0, 0] != whole.segments[0, 0]
    assert cut.segments[0, 1] == pytest.approx(whole.segments[0, 1], abs=1e-6)
