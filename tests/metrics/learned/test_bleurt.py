"""BLEURT: equal to the original, and what gnomon makes of its scores."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.metrics.learned import sequence_models
from tests.metrics.learned.sequence_models import Original
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import DataError, MissingDependencyError, UsageError
from gnomon.learned.metric import Triple
from gnomon.metrics import parse

pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")
pytest.importorskip("transformers", reason="needs transformers: pip install 'gnomon[models]'")

_NEAR = 1e-5
_MODELS = ("bleurt20_like", "bleurt_base_like")


@pytest.fixture(scope="module")
def original(shared: Path) -> Original:
    if not (shared / "oracles" / "learned" / "bleurt").is_dir():
        pytest.skip("the scores of BLEURT are not there")
    return Original(shared, "bleurt")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sequence_models.bleurt(tmp_path_factory.mktemp("tiny") / "bleurt")


@pytest.mark.parametrize("name", _MODELS)
def test_pieces_are_those_of_the_original(name: str, original: Original) -> None:
    pytest.importorskip("sentencepiece", reason="needs gnomon[sentencepiece]")
    testset = sequence_models.test_set_of(original.rows)
    bound: Any = parse(f"bleurt('{original.folder / name}')").bind(testset)
    found = bound.model.sequences([Triple(row["mt"], None, row["ref"]) for row in original.rows])
    said = original.expected["models"][name]
    for number in original.plain().tolist():
        assert found[number].ids == said["input_ids"][number]
        assert found[number].first == said["second_segment_starts_at"][number]


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("name", _MODELS)
def test_scores_are_those_of_the_original(name: str, batch: int, original: Original) -> None:
    pytest.importorskip("sentencepiece", reason="needs gnomon[sentencepiece]")
    said = original.expected["models"][name]["scores"]
    spec = f"bleurt('{original.folder / name}')"
    assert original.differences(spec, said, batch, original.plain()).max() < _NEAR


@pytest.mark.verify
@pytest.mark.parametrize("name", _MODELS)
def test_half_precision_is_near(name: str, original: Original) -> None:
    said = original.expected["models"][name]["scores"]
    spec = f"bleurt('{original.folder / name}', precision='bf16')"
    found = original.differences(spec, said, 64, original.plain())
    assert 0 < np.median(found) < 0.02


def _testset() -> gn.TestSet:
    outputs = {"a": ["the house", "yes", ""], "b": ["a house", "yes", "no"]}
    return gn.TestSet.from_lists(outputs, ["the house", "yes", "none"])


def test_the_reference_comes_first_and_literal_special_pieces_are_spelled_out(tiny: Path) -> None:
    bound: Any = parse(f"bleurt('{tiny}')").bind(_testset())
    (found,) = bound.model.sequences([Triple("[SEP]", None, "ab")])
    words = (tiny / "vocab.txt").read_text().split()
    assert [words[number] for number in found.ids] == [
        "[CLS]", "a", "##b", "[SEP]", "[", "s", "##e", "##p", "]", "[SEP]",
    ]  # fmt: skip
    assert found.first == 4


def test_equal_pairs_are_read_once_and_batches_change_nothing(tiny: Path) -> None:
    testset = _testset()
    bound: Any = parse(f"bleurt('{tiny}')").bind(testset)
    bound.model.forget()
    before = bound.model.read
    together = bound.segments(testset.batch())
    assert bound.model.read - before == 5
    alone: Any = parse(f"bleurt('{tiny}', batch=1)").bind(testset)
    alone.model.forget()
    assert alone.segments(testset.batch()) == pytest.approx(together, abs=1e-6)
    assert alone.signature == bound.signature


def test_the_score_is_the_mean_over_several_references(tiny: Path) -> None:
    def scored(*references: str) -> float:
        testset = gn.TestSet.from_lists({"a": ["a house"]}, [[*references]])
        return float(gn.score(testset, f"bleurt('{tiny}')").segments[0, 0])

    apart = [scored("the house"), scored("some home")]
    assert scored("the house", "some home") == pytest.approx(sum(apart) / 2)
    assert apart[0] != apart[1]


def test_texts_that_were_cut_are_told_with_their_number(tiny: Path) -> None:
    found = gn.score(_testset(), f"bleurt('{tiny}', limit=12)")
    (told,) = notes(found.notices)
    assert "2 of 5 inputs are longer than the model takes (12 pieces" in told


def test_a_limit_beyond_the_positions_is_refused(tiny: Path) -> None:
    with pytest.raises(UsageError, match="has 24 positions; limit=25 is more"):
        gn.score(_testset(), f"bleurt('{tiny}', limit=25)")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"model_type": "bert"}, "is no BLEURT"),
        ({"num_hidden_layers": 10**9}, "it holds 2 layers"),
        ({"hidden_size": 10**9}, "lacks the layer that gives the score"),
        ({"vocab_size": 10**12}, "word_embeddings.weight"),
        ({"num_attention_heads": "2"}, "num_attention_heads '2'; it is a whole number"),
        ({"embedding_size": 4}, "which is of shape"),
        ({"hidden_act": "no such"}, "cannot be loaded"),
    ],
)
def test_a_configuration_that_the_weights_do_not_fit_is_refused(
    changed: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    """Without room being made for what the file claims."""
    wrong = sequence_models.bleurt(tmp_path, **changed)
    with pytest.raises(DataError, match=expected):
        gn.score(_testset(), f"bleurt('{wrong}')")


def test_a_model_without_a_vocabulary_is_refused(tiny: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny, tmp_path / "bare")
    (folder / "vocab.txt").unlink()
    with pytest.raises(DataError, match="holds no vocabulary"):
        gn.score(_testset(), f"bleurt('{folder}')")
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\na\n")
    with pytest.raises(DataError, match=r"lacks the piece \[CLS\]"):
        gn.score(_testset(), f"bleurt('{folder}')")


def test_a_missing_package_is_named_with_the_extra_that_brings_it(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(tiny, tmp_path / "pieces")
    (folder / "spm.model").write_bytes(b"x")
    monkeypatch.setitem(__import__("sys").modules, "sentencepiece", None)
    with pytest.raises(MissingDependencyError, match=r"gnomon\[models,sentencepiece\]"):
        gn.score(_testset(), f"bleurt('{folder}')")
