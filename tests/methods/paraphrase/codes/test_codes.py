"""Codes of sentences: fit, assign, save, load."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gnomon.core.errors import (
    DataError,
    FormatError,
    MissingFileError,
    UnknownNameError,
    UsageError,
)
from gnomon.paraphrase import codes

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'gnomon[training]'")

_WORDS = ["the", "cat", "sat", "on", "mat", "a", "dog", "house"]


def _texts(count: int) -> list[str]:
    rng = np.random.default_rng(3)
    return [" ".join(rng.choice(_WORDS, size=rng.integers(2, 9))) for _ in range(count)]


@pytest.fixture(scope="module")
def made(tiny_model: Path) -> codes.Codes:
    return codes.fit([*_texts(60), "", "  "], encoder=f"semantic:{tiny_model}", k=5, device="cpu")


def test_codes_of_a_folder_are_those_that_were_saved(made: codes.Codes, tmp_path: Path) -> None:
    made.save(tmp_path / "new" / "codes")
    read = codes.load(tmp_path / "new" / "codes", device="cpu")
    assert read.identity == made.identity
    assert read.fitted == made.fitted
    assert read.assign(_texts(60)).tolist() == made.assign(_texts(60)).tolist()


def test_what_codes_were_made_from_is_encoded_once(tiny_model: Path) -> None:
    found = codes.fit(_texts(30), encoder=f"semantic:{tiny_model}", k=3, device="cpu")
    encoder = found.space.encoder
    before = encoder.encoded
    placed = found.place([*_texts(30), "a new house"])
    assert encoder.encoded == before + 1
    anew = replace(found, known={}).place([*_texts(30), "a new house"])
    assert placed.codes.tolist() == anew.codes.tolist()
    assert np.allclose(placed.distances, anew.distances, atol=1e-5)


def test_the_same_seed_gives_the_same_codes(made: codes.Codes, tiny_model: Path) -> None:
    again = codes.fit([*_texts(60), ""], encoder=f"semantic:{tiny_model}", k=5, device="cpu")
    other = codes.fit(_texts(60), encoder=f"semantic:{tiny_model}", k=5, seed=1, device="cpu")
    assert again.identity == made.identity
    assert other.identity != made.identity


def test_empty_lines_have_no_code_and_are_counted(made: codes.Codes) -> None:
    assert made.fitted.skipped == 2
    assert made.fitted.sentences == 60
    assert made.assign(["", "the cat", None, " "])[[0, 2, 3]].tolist() == [-1, -1, -1]
    assert made.assign([]).shape == (0,)


def test_a_code_is_that_of_the_nearest_centroid(made: codes.Codes) -> None:
    assert made.space is not None
    texts = _texts(20)
    vectors = np.concatenate(list(made.space.vectors(texts)))
    assert np.allclose((vectors**2).sum(1), 1, atol=1e-5)  # of length 1 by default
    distances = ((vectors[:, None] - made.centroids) ** 2).sum(2)
    placed = made.place(texts)
    assert placed.codes.tolist() == distances.argmin(1).tolist()
    assert np.allclose(placed.distances, distances.min(1), atol=1e-5)


def test_repeated_sentences_count_as_often_as_they_stand_there(tiny_model: Path) -> None:
    found = codes.fit(
        [*_texts(6), *["the cat"] * 10], encoder=f"semantic:{tiny_model}", k=2, device="cpu"
    )
    assert found.fitted.sentences == 16
    assert found.counts.sum() == 16


def test_fewer_different_sentences_than_codes_are_refused(tiny_model: Path) -> None:
    with pytest.raises(UsageError, match=r"2 different sentences cannot make 3 codes.*k=2"):
        codes.fit(["a", "b", "a", ""], encoder=f"semantic:{tiny_model}", k=3, device="cpu")


def test_a_model_that_is_another_one_is_refused(
    made: codes.Codes, tmp_path: Path, tiny_model: Path
) -> None:
    made.save(tmp_path / "codes")
    moved = tmp_path / "moved"
    moved.mkdir()
    for file in tiny_model.iterdir():
        (moved / file.name).write_bytes(file.read_bytes())
    read = codes.load(tmp_path / "codes", model=str(moved), device="cpu")  # elsewhere, but the same
    assert read.assign(_texts(9)).tolist() == made.assign(_texts(9)).tolist()
    assert read.identity == made.identity
    config = json.loads((moved / "config.json").read_text())
    (moved / "config.json").write_text(json.dumps(config | {"layer_norm_eps": 0.1}))
    with pytest.raises(DataError, match="made with"):
        codes.load(tmp_path / "codes", model=str(moved), device="cpu")


def test_a_folder_that_was_changed_is_refused(made: codes.Codes, tmp_path: Path) -> None:
    made.save(tmp_path)
    about = json.loads((tmp_path / "codes.json").read_text())
    (tmp_path / "codes.json").write_text(json.dumps(about | {"identity": "0" * 16}))
    with pytest.raises(DataError, match="not those that were written"):
        codes.load(tmp_path, device="cpu")
    (tmp_path / "codes.json").write_text("{")
    with pytest.raises(DataError, match="no JSON"):
        codes.load(tmp_path)
    (tmp_path / "codes.json").unlink()
    with pytest.raises(MissingFileError, match="holds no codes"):
        codes.load(tmp_path)


def test_a_model_or_a_parser_is_refused_by_codes_that_read_none(
    made: codes.Codes, tmp_path: Path
) -> None:
    made.save(tmp_path)
    with pytest.raises(UsageError, match="parser 'spacy:x' belongs to syntactic codes"):
        codes.load(tmp_path, parser="spacy:x")
    codes.fit(["a"], encoder="random", k=1).save(tmp_path / "random")
    with pytest.raises(UsageError, match="model 'x' belongs to semantic codes"):
        codes.load(tmp_path / "random", model="x")


def test_random_codes_depend_on_seed_and_sentence_alone(tmp_path: Path) -> None:
    texts = _texts(200)
    one = codes.fit(texts, encoder="random", k=7, seed=1)
    assert one.assign(texts).tolist() == one.assign(texts[::-1])[::-1].tolist()
    two = codes.fit(texts, encoder="random", k=7, seed=2)
    assert one.assign(texts).tolist() != two.assign(texts).tolist()
    assert set(one.assign(texts).tolist()) == set(range(7))
    one.save(tmp_path)
    assert codes.load(tmp_path).assign(texts).tolist() == one.assign(texts).tolist()


def test_what_is_asked_wrongly_is_said() -> None:
    with pytest.raises(UnknownNameError, match="kind of codes"):
        codes.fit(["a"], encoder="semantik:x", k=1)
    with pytest.raises(UsageError, match="sentence encoder"):
        codes.fit(["a"], encoder="semantic", k=1)
    with pytest.raises(UsageError, match="take no model"):
        codes.fit(["a"], encoder="random:x", k=1)
    with pytest.raises(UsageError, match="read no trees"):
        codes.fit(["a"], encoder="random", k=1, language="en")


def test_files_of_codes_hold_an_empty_line_where_there_is_none(tmp_path: Path) -> None:
    codes.write_codes(tmp_path / "x.codes.txt", [3, -1, 0])
    assert (tmp_path / "x.codes.txt").read_text() == "3\n\n0\n"
    assert codes.read_codes(tmp_path / "x.codes.txt").tolist() == [3, -1, 0]
    (tmp_path / "x.codes.txt").write_text("1\n-1\n")
    with pytest.raises(FormatError, match=":2: "):
        codes.read_codes(tmp_path / "x.codes.txt")
