"""Converted metrics that were damaged, or changed, before they are scored with."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from gnomon.core.errors import DataError
from gnomon.core.testset import TestSet
from gnomon.learned import installed_learned
from gnomon.metrics import parse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
TESTSET = TestSet.from_lists({"s": ["a cat"]}, ["the cat"], sources=["die Katze"])


@pytest.fixture
def converted(oracle: Callable[[str, str], Any], tmp_path: Path) -> Callable[..., Path]:
    """A folder of one's own with a converted metric."""

    def copied(family: str = "regression", model: str = "sparsemax") -> Path:
        return shutil.copytree(oracle(family, model).folder, tmp_path / f"{family}-{model}")

    return copied


def _change(folder: Path, part: str | None, **values: object) -> None:
    """Change what ``config.json`` says; None: leave it out."""
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    own = config if part is None else config[part]
    for key, value in values.items():
        own.pop(key, None)
        if value is not None:
            own[key] = value
    path.write_text(json.dumps(config), encoding="utf-8")


def _refused(folder: Path, told: str, metric: str = "comet") -> None:
    with pytest.raises(DataError, match=told) as error:
        parse(f"{metric}('{folder}', device='cpu')").bind(TESTSET).segments(TESTSET.batch())
    assert folder.name in str(error.value)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"pool": None}, "nothing is said of the hyper-parameter pool"),
        ({"pool": "mean"}, "pool is 'mean'; it is 'avg', 'max', 'cls' or 'default'"),
        ({"activations": "Tanh2"}, "activations is 'Tanh2'; it is one of tanh, sigmoid"),
        ({"layer_norm": "no"}, "layer_norm is 'no'; it is True or False"),
        ({"layer": 1.5}, "layer is 1.5; it is 'mix' or the number of a layer"),
        ({"layer": 9}, "layer is 9; the encoder has layers 0 to 4"),
        ({"hidden_sizes": [7]}, r"estimator\.ff\.0\.weight has the shape .* ask for \(7, 192\)"),
    ],
)
def test_hyper_parameters_that_cannot_be_are_refused_by_name(
    converted: Callable[..., Path], values: dict[str, object], told: str
) -> None:
    folder = converted()
    _change(folder, "hyper_parameters", **values)
    _refused(folder, told)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"num_hidden_layers": 1}, "has 4 layers, and the configuration of its encoder 1"),
        ({"hidden_size": None}, "says hidden_size None; it is a whole number"),
        ({"vocab_size": 10}, "it has 1802 pieces, up to 1801; the encoder knows 10"),
        ({"vocab_size": 1900}, r"has the shape \(1802, 32\).* ask for \(1900, 32\)"),
        ({"pad_token_id": 0}, "the vocabulary is not that of the encoder: <pad> is its piece 1"),
        ({"hidden_act": "none"}, "configuration cannot be used"),
    ],
)
def test_an_encoder_that_its_weights_do_not_fit_is_refused(
    converted: Callable[..., Path], values: dict[str, object], told: str
) -> None:
    folder = converted()
    _change(folder, "encoder", **values)
    _refused(folder, told)


def test_a_class_that_the_weights_are_not_of_is_refused(converted: Callable[..., Path]) -> None:
    folder = converted()
    _change(folder, None, **{"class": "sentinel_regression_metric"})
    _refused(folder, "nothing is said of the hyper-parameter sent_to_use")
    assert installed_learned([str(folder)]) == ()
    _change(folder, "hyper_parameters", sent_to_use="src")
    _refused(folder, r"estimator\.ff\.0\.weight has the shape")
    kiwi = converted("unified", "kiwi")
    _change(kiwi, None, **{"class": "xcomet_metric"})
    _refused(kiwi, r"input_segments is \['mt', 'src'\]; that of a xcomet_metric is", "xcomet")
    _change(kiwi, None, **{"class": "ranking_metric"})
    _refused(kiwi, "'ranking_metric', which gnomon does not compute", "cometkiwi")


def test_weights_that_are_cut_or_of_another_metric_are_refused(
    converted: Callable[..., Path],
) -> None:
    folder, other = converted(), converted("referenceless", "qe_sparsemax")
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    flipped = bytes([*whole[:-1], whole[-1] ^ 1])
    for other_bytes in (whole[:-100], whole[:100], b"\xff" * 1000, flipped):
        weights.write_bytes(other_bytes)
        _refused(folder, "model.safetensors is not the file that gnomon wrote .* convert the")
    shutil.copy(other / "model.safetensors", weights)
    _refused(folder, "model.safetensors is not the file that gnomon wrote")
    stated = json.loads((other / "config.json").read_text(encoding="utf-8"))["sha256"]
    _change(folder, None, sha256=stated)
    _refused(folder, "has the shape")
    _change(folder, None, sha256=None)
    _refused(folder, "states no checksum of model.safetensors .* convert the checkpoint again")
    _change(folder, None, sha256=stated)
    weights.write_bytes(b"")
    _refused(folder, "model.safetensors is empty; fetch it again")
    weights.write_text(POINTER)
    _refused(folder, "model.safetensors is a pointer of git LFS")
    weights.unlink()
    _refused(folder, "holds no model.safetensors")


@pytest.mark.parametrize("metric", ["metricx", "bleurt"])
def test_a_checkpoint_of_comet_is_named_to_other_metrics(
    converted: Callable[..., Path], tmp_path: Path, metric: str
) -> None:
    _refused(
        converted(),
        r"is a checkpoint of COMET's family that gnomon converted; use comet\('",
        metric,
    )
    (tmp_path / "published" / "checkpoints").mkdir(parents=True)
    (tmp_path / "published" / "checkpoints" / "model.ckpt").write_bytes(b"PK")
    _refused(tmp_path / "published", r"is a checkpoint of COMET's family; convert it once", metric)


def test_a_vocabulary_of_another_encoder_is_refused(
    converted: Callable[..., Path], capfd: pytest.CaptureFixture[str]
) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="needs pip install 'gnomon[models]'")
    folder = converted()
    file = folder / "tokenizer.json"
    whole = file.read_bytes()
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("a", -1.0)]
    tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, unk_id=3)).save(str(file))
    _refused(folder, "it has 5 pieces, up to 4; the encoder knows 1802")
    tokenizers.Tokenizer(tokenizers.models.Unigram(pieces[3:], unk_id=0)).save(str(file))
    _refused(folder, "lacks <s>")
    damaged = json.loads(whole)
    damaged["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": "AAAA"}
    # at this one the library gives up with an error that is no Exception
    for text in ("{}", json.dumps(damaged)):
        file.write_text(text, encoding="utf-8")
        _refused(folder, "the vocabulary cannot be read")
    assert "panicked" not in capfd.readouterr().err
    (folder / "config.json").write_text("[" * 100_000, encoding="utf-8")
    _refused(folder, "config.json cannot be read")
