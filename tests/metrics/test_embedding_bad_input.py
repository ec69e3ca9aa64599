"""What every metric on embeddings does with texts and models that are not as they should be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import DataError, MissingDependencyError, MissingFileError, SpecError
from gnomon.metrics import bind, parse
from gnomon.metrics.baselines import find_baseline

pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")
pytest.importorskip("transformers", reason="needs transformers: pip install 'gnomon[models]'")

#: "xsbert": sbert against the source
METRICS = ("bertscore", "xbertscore", "sbert", "xsbert", "moverscore", "xmoverscore")


def _spec(name: str, folder: Path, *more: str) -> str:
    if "moverscore" in name:
        pytest.importorskip("ot", reason="needs POT: pip install 'gnomon[models]'")
    against = ["against='source'"] if name == "xsbert" else []
    given = [f"model={str(folder)!r}", "layer=2", *against, *more, "device='cpu'"]
    return f"{name.replace('xsbert', 'sbert')}({', '.join(given)})"


def _testset(candidates: list[str], others: list[str]) -> gn.TestSet:
    """The same texts as references and as sources."""
    return gn.TestSet.from_lists({"s": candidates}, others, sources=others, language_pair="de-en")


def _scores(name: str, folder: Path, candidates: list[str], others: list[str]) -> gn.Scores:
    return gn.score(_testset(candidates, others), _spec(name, folder))


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("candidate", "other"),
    [("", "the cat"), ("the cat", ""), ("", ""), (" \t", "the cat"), ("the cat", "\u3000")],
)
def test_an_empty_side_scores_0(name: str, candidate: str, other: str, tiny_model: Path) -> None:
    found = _scores(name, tiny_model, [candidate, "a dog"], [other, "the dog"])
    assert found.segments[0, 0] == 0.0
    assert found.segments[0, 1] > 0.1
    assert found.system[0] == pytest.approx(found.segments[0].mean())


@pytest.mark.parametrize("name", METRICS)
def test_one_token_is_a_text(name: str, tiny_model: Path) -> None:
    found = _scores(name, tiny_model, ["cat", "cat", "."], ["cat", "dog", "."])
    assert found.segments[0, [0, 2]] == pytest.approx(1.0, abs=1e-5)
    assert -1 <= found.segments[0, 1] < 0.999


@pytest.mark.parametrize("name", METRICS)
def test_texts_that_are_too_long_are_cut_and_that_is_said(name: str, tiny_model: Path) -> None:
    long = "the cat sat on the mat " * 20  # 120 pieces, and the model takes 40
    found = _scores(name, tiny_model, [long, "a dog"], ["the cat", "a dog"])
    assert np.isfinite(found.segments).all()
    cut = _scores(name, tiny_model, [long + "a house", "a dog"], ["the cat", "a dog"])
    np.testing.assert_array_equal(found.segments, cut.segments)
    assert any("1 of 3 texts are longer than the model takes" in n for n in notes(found.notices))
    fine = _scores(name, tiny_model, ["a dog"], ["the cat"])
    assert notes(fine.notices) == ()


@pytest.mark.parametrize("name", METRICS)
def test_an_unknown_script_is_scored_and_warned_of(name: str, tiny_model: Path) -> None:
    found = _scores(name, tiny_model, ["猫が座った", "das"], ["猫", "das"])
    assert np.isfinite(found.segments).all()
    assert any(
        "of the pieces are unknown to the model's vocabulary" in n for n in notes(found.notices)
    )


@pytest.mark.parametrize("name", METRICS)
def test_odd_characters_are_scored(name: str, tiny_model: Path) -> None:
    odd = ["a\u2028b", "\u202ecat", "cat\ud800", "\x01dog", "a" * 5000]
    found = _scores(name, tiny_model, odd, ["the cat"] * len(odd))
    assert np.isfinite(found.segments).all()


@pytest.mark.parametrize("name", METRICS)
def test_a_model_without_safetensors_is_refused(
    name: str, tiny_model: Path, tmp_path: Path
) -> None:
    for file in tiny_model.iterdir():
        if file.suffix != ".safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04K\x01.")
    with pytest.raises(DataError, match=r"holds no \*\.safetensors file.*convert it with"):
        bind(_testset(["a"], ["a"]), _spec(name, tmp_path))


@pytest.mark.parametrize("name", METRICS)
def test_damaged_weights_are_refused(name: str, tiny_model: Path, tmp_path: Path) -> None:
    for file in tiny_model.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"\x00" * 64)
    with pytest.raises(DataError, match="cannot be loaded"):
        bind(_testset(["a"], ["a"]), _spec(name, tmp_path))


@pytest.mark.parametrize("name", METRICS)
def test_a_folder_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="there is no model folder"):
        bind(_testset(["a"], ["a"]), _spec(name, tmp_path / "none"))


def test_rescaling_needs_a_baseline_for_language_and_model(tiny_model: Path) -> None:
    with pytest.raises(MissingDependencyError, match=r"needs a baseline for model.*language 'en'"):
        bind(_testset(["a"], ["a"]), _spec("bertscore", tiny_model, "rescale=True"))
    with pytest.raises(MissingDependencyError, match=r"language 'xx'.*baseline='FILE'"):
        find_baseline("roberta-large", "xx")
    with pytest.raises(SpecError, match="baseline='FILE'"):
        parse("xbertscore(rescale=True)")


def test_a_baseline_without_the_layer_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    file = tmp_path / "en.tsv"
    file.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.2,0.2,0.2\n", encoding="utf-8")
    more = ("rescale=True", f"baseline={str(file)!r}")
    with pytest.raises(DataError, match="layer"):
        bind(_testset(["a"], ["a"]), _spec("bertscore", tiny_model, *more))


@pytest.mark.parametrize("name", METRICS)
def test_a_layer_that_the_model_lacks_is_refused(name: str, tiny_model: Path) -> None:
    with pytest.raises(ValueError, match="has layers 0 to 3; layer 9 is asked"):
        bind(_testset(["a"], ["a"]), _spec(name, tiny_model).replace("layer=2", "layer=9"))
