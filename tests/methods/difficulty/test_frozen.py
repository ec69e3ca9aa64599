"""Difficulties that were saved, and applied to other systems."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import DataError, FormatError, MissingFileError, OutputError, UsageError
from gnomon.difficulty.frozen import read_grams
from gnomon.metrics import bind

if TYPE_CHECKING:
    from pathlib import Path

REFERENCES = ["the cat sat on the mat .", "a dog"]
POOL = {"a": ["the cat sat .", "dog"], "b": ["a cat on the mat", "a house"]}
NEW = {"new": ["the dog sat on the mat", "the dog"]}


@pytest.fixture(params=["tokens", "n-grams", "rouge"])
def inner(request: pytest.FixtureRequest) -> str:
    if request.param == "tokens":
        pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
        return f"bertscore(model='{request.getfixturevalue('tiny_model')}', layer=2)"
    return {"n-grams": "bleu", "rouge": "rouge(type='rouge1')"}[request.param]


def _set(systems: dict[str, list[str]], references: list[str] = REFERENCES) -> gn.TestSet:
    return gn.TestSet.from_lists(systems, references, language_pair="en")


def test_saved_difficulties_score_other_systems_as_the_pool_would(inner, tmp_path: Path) -> None:
    path = tmp_path / "hard.npz"
    bind(_set(POOL), f"difficulty({inner})")[1].save(path)  # type: ignore[attr-defined]  # difficulty can
    found = gn.score(_set(NEW), f"difficulty({inner}, frozen='{path}')")
    whole = gn.score(_set({**POOL, **NEW}), f"difficulty({inner}, pool=['a', 'b'])")
    assert np.allclose(found.segments, whole.segments[2:])
    assert found.system == pytest.approx(whole.system[2:])
    assert "frozen" in dict(found.signature.fields)["pool"]
    assert any("read from a file" in notice for notice in notes(found.notices))


def test_difficulties_of_other_references_are_refused(inner, tmp_path: Path) -> None:
    path = tmp_path / "hard.npz"
    bind(_set(POOL), f"difficulty({inner})")[1].save(path)  # type: ignore[attr-defined]  # difficulty can
    with pytest.raises(DataError, match="that of segment 2 is not among them"):
        gn.score(_set(NEW, [REFERENCES[0], "a cat"]), f"difficulty({inner}, frozen='{path}')")


def test_files_that_are_none_are_refused(inner, tmp_path: Path) -> None:
    spec = f"difficulty({inner}, frozen='{tmp_path / 'hard.npz'}')"
    with pytest.raises(MissingFileError, match=r"hard\.npz"):
        gn.score(_set(NEW), spec)
    for content in (b"", b"no zip", b"PK\x03\x04 broken"):
        (tmp_path / "hard.npz").write_bytes(content)
        with pytest.raises(FormatError, match="no file of difficulties"):
            gn.score(_set(NEW), spec)
    np.savez(tmp_path / "hard.npz", other=np.zeros(3))
    with pytest.raises(FormatError, match="no file of difficulties"):
        gn.score(_set(NEW), spec)


def test_difficulties_of_another_metric_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "hard.npz"
    bind(_set(POOL), "difficulty(bleu)")[1].save(path)  # type: ignore[attr-defined]  # difficulty can
    with pytest.raises(DataError, match="measured with bleu"):
        gn.score(_set(NEW), f"difficulty(rouge1, frozen='{path}')")


def test_what_is_left_out_one_by_one_cannot_be_saved(inner, tmp_path: Path) -> None:
    bound = bind(_set(POOL), f"difficulty({inner}, leave_one_out=True)")[1]
    with pytest.raises(UsageError, match="difficulties of its own"):
        bound.save(tmp_path / "hard.npz")  # type: ignore[attr-defined]  # difficulty can
    whole = bind(_set(POOL), f"difficulty({inner})")[1]
    with pytest.raises(OutputError, match="cannot write"):
        whole.save(tmp_path / "no" / "hard.npz")  # type: ignore[attr-defined]  # difficulty can


@pytest.mark.parametrize(
    ("saved", "applied"),
    [
        ("rouge1", "rouge2"),
        ("rouge1", "rouge(type='rouge1', stemmer=True)"),
        ("bleu", "bleu(max_ngram_order=2)"),
    ],
)
def test_difficulties_of_other_ngrams_are_refused(tmp_path: Path, saved, applied) -> None:
    path = tmp_path / "hard.npz"
    bind(_set(POOL), f"difficulty({saved})")[1].save(path)  # type: ignore[attr-defined]  # difficulty can
    with pytest.raises(DataError, match="their tokens do not fit"):
        gn.score(_set(NEW), f"difficulty({applied}, frozen='{path}')")


@pytest.mark.parametrize("option", ["long='window'", "rescale=True, baseline=BASELINE"])
def test_difficulties_of_tokens_that_were_cut_or_compared_otherwise_are_refused(
    tmp_path: Path, tiny_model, option
) -> None:
    baseline = tmp_path / "xx.tsv"
    baseline.write_text("LAYER,P,R,F\n0,.1,.1,.1\n1,.1,.1,.1\n2,.1,.1,.1\n", encoding="utf-8")
    path = tmp_path / "hard.npz"
    long = [" ".join([text] * 40) for text in REFERENCES]
    inner = f"bertscore(model='{tiny_model}', layer=2"
    bind(_set(POOL, long), f"difficulty({inner}))")[1].save(path)  # type: ignore[attr-defined]  # difficulty can
    other = f"{inner}, {option.replace('BASELINE', repr(str(baseline)))})"
    with pytest.raises(DataError, match="their tokens do not fit"):
        gn.score(_set(NEW, long), f"difficulty({other}, frozen='{path}')")


def test_damaged_parts_are_refused(inner, tmp_path: Path) -> None:
    path = tmp_path / "hard.npz"
    bind(_set(POOL), f"difficulty({inner})")[1].save(path)  # type: ignore[attr-defined]  # difficulty can
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    changes = {name: arrays[name] * 0.5 for name in ("offsets", "keys1") if name in arrays}
    changes |= {name: arrays[name] * np.nan for name in ("value",) if name in arrays}
    said = [np.frombuffer(text, dtype=np.uint8) for text in (b"[1]", b"[" * 100_000)]
    for name, value in (*changes.items(), *(("about", about) for about in said)):
        np.savez(path, **{**arrays, name: value})
        with pytest.raises(FormatError, match="it is damaged"):
            gn.score(_set(NEW), f"difficulty({inner}, frozen='{path}')")


def test_a_text_is_no_file_of_difficulties(tmp_path: Path) -> None:
    (tmp_path / "hard.npz").write_text("hard\n", encoding="utf-8")
    with pytest.raises(FormatError, match="it is no zip of arrays") as refused:
        gn.score(_set(NEW), f"difficulty(rouge1, frozen='{tmp_path / 'hard.npz'}')")
    assert "pickle" not in str(refused.value)


def test_damage_inside_a_file_of_difficulties_is_told(tmp_path: Path) -> None:
    file = tmp_path / "hard.npz"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("about.npy", bytes(5000))
    data = bytearray(file.read_bytes())
    data[39:60] = b"\xff" * 21  # what is compressed, behind the member's header
    file.write_bytes(data)
    with pytest.raises(FormatError, match="or it is damaged"):
        read_grams(file)
