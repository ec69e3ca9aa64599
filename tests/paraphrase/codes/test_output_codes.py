"""Codes of outputs, and whether a model was trained with them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gnomon.errors import DataError
from gnomon.paraphrase import codes
from gnomon.paraphrase.generation._models import codes_of_outputs
from gnomon.testset import TestSet

pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")
pytest.importorskip("transformers", reason="needs transformers: pip install 'gnomon[models]'")

from tests.models.tiny_seq2seq import build

from gnomon.models import Seq2Seq, load_seq2seq

_OUTPUTS = TestSet.from_lists({"x": ["a cat", "a dog"], "y": ["a cat", ""]}, ["the cat", "the dog"])


def _random(k: int = 4, seed: int = 0) -> codes.Codes:
    return codes.fit(["a cat", "a dog"], encoder="random", k=k, seed=seed)


def _model(folder: Path, said: dict[str, object] | None) -> Seq2Seq:
    build(folder, codes=4)
    if said is not None:
        about = json.dumps({"format": 1, "codes": said})
        (folder / "gnomon-paraphraser.json").write_text(about, encoding="utf-8")
    return load_seq2seq(str(folder), device="cpu")


def test_codes_of_the_identity_that_a_model_names_are_taken(tmp_path: Path) -> None:
    made = _random()
    # 3: the highest code of the training data and 1, where the last cluster was empty
    model = _model(tmp_path, {"kind": "random", "count": 3, "identity": made.identity})
    found = codes_of_outputs(_OUTPUTS, model, made)
    assert found["y"] == [made.assign(["a cat"])[0], -1]
    assert not model.notices
    with pytest.raises(DataError, match="name the folder of codes"):
        codes_of_outputs(_OUTPUTS, model, _random(seed=1))


@pytest.mark.parametrize("said", [{"kind": "random", "count": 4, "identity": None}, None])
def test_a_model_that_names_no_identity_is_trusted_and_that_is_said(
    tmp_path: Path, said: dict[str, object] | None
) -> None:
    model = _model(tmp_path, said)
    codes_of_outputs(_OUTPUTS, model, _random())
    assert "does not say which codes it was trained with" in model.notices[0]
    with pytest.raises(DataError, match=r"number of the codes .* is 4, and of those given 5"):
        codes_of_outputs(_OUTPUTS, model, _random(k=5))


def test_codes_of_another_kind_are_refused(tmp_path: Path) -> None:
    model = _model(tmp_path, {"kind": "semantic", "count": 4, "identity": None})
    with pytest.raises(
        DataError, match=r"kind of the codes .* is semantic, and of those given ran"
    ):
        codes_of_outputs(_OUTPUTS, model, _random())


def test_a_folder_says_what_its_codes_are(tmp_path: Path) -> None:
    made = _random(k=7)
    made.save(tmp_path)
    assert codes.facts(tmp_path) == codes.Facts("random", 7, made.identity)
    (tmp_path / "codes.json").write_text('{"format": 1}', encoding="utf-8")
    with pytest.raises(DataError, match="lacks what codes need"):
        codes.facts(tmp_path)


def test_the_codes_of_outputs_are_counted_from_0(tmp_path: Path) -> None:
    class _Far:
        kind, k, identity = "random", 4, "x"

        def assign(self, texts: list[str]) -> np.ndarray:
            return np.full(len(texts), 9, np.int32)

    model = _model(tmp_path, {"kind": "random", "count": 4, "identity": "x"})
    with pytest.raises(DataError, match="an output has code 9"):
        codes_of_outputs(_OUTPUTS, model, _Far())
