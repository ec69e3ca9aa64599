"""ONNX Runtime beside torch: the same vectors, files that are written once, what is refused."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnomon as gn
from gnomon.core.cache import Cache, default_path
from gnomon.core.errors import DataError, OutputError, UsageError
from gnomon.models import Encoder, ModelFolder, _folder, encoder, load_encoder
from gnomon.models import _onnx as onnx_files

torch = pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
pytest.importorskip("onnx", reason="pip install 'gnomon[onnx]'")
pytest.importorskip("onnxruntime", reason="pip install 'gnomon[onnx]'")

TEXTS = ("the cat sat on the mat .", "unbelievable", "", "  a dog !  ", "xyz " * 30)
TESTSET = gn.TestSet.from_lists(
    {"a": ["the cat sat .", "unbelievable !", ""], "b": ["a cat sat", "the dog", "house"]},
    [["the cat sat on the mat .", "a cat"], ["an unbelievable dog", "un"], ["a house", "the"]],
    sources=["a cat on the mat .", "un !", "the house"],
    language_pair="es-en",
)


@pytest.fixture(autouse=True)
def _fresh_encoders() -> Iterator[None]:
    encoder._load.cache_clear()
    yield
    encoder._load.cache_clear()


@pytest.fixture
def exports(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The layer of every model that is written."""
    seen: list[int] = []
    plain = onnx_files._export

    def counted(folder: Any, layer: int, model: Any, into: Path) -> None:
        seen.append(layer)
        plain(folder, layer, model, into)

    monkeypatch.setattr(onnx_files, "_export", counted)
    return seen


def _vectors(encoder: Encoder) -> np.ndarray:
    pieces = encoder.pieces(TEXTS)
    found: np.ndarray = encoder.embed(pieces, np.arange(len(TEXTS))).vectors.numpy()
    return found


def _onnx(model: Path, layer: int | None = 2, **more: Any) -> Encoder:
    return load_encoder(str(model), layer=layer, backend="onnx", **more)


@pytest.mark.parametrize("layer", [0, 1, 3])
def test_vectors_are_those_of_torch(tiny_model: Path, layer: int) -> None:
    plain = load_encoder(str(tiny_model), layer=layer, device="cpu")
    np.testing.assert_allclose(_vectors(_onnx(tiny_model, layer)), _vectors(plain), atol=1e-5)


def test_pooled_vectors_are_those_of_torch(tiny_model: Path) -> None:
    both = [load_encoder(str(tiny_model), device="cpu"), _onnx(tiny_model, None)]
    found = [e.pooled(e.pieces(TEXTS), np.array([0, 3, 4])) for e in both]
    np.testing.assert_allclose(found[0], found[1], atol=1e-5)


@pytest.mark.parametrize(
    "metric", ["bertscore", "xbertscore", "sbert", "moverscore", "xmoverscore"]
)
def test_scores_of_all_metrics_are_those_of_torch(tiny_model: Path, metric: str) -> None:
    if metric.endswith("moverscore"):
        pytest.importorskip("ot", reason="needs POT: pip install 'gnomon[models]'")
    given = f"model={str(tiny_model)!r}, layer=2"
    plain = gn.score(TESTSET, f"{metric}({given}, device='cpu')")
    other = gn.score(TESTSET, f"{metric}({given}, backend='onnx')")
    # a distance magnifies what is rounded in the cosine of nearly equal vectors
    atol = 1e-3 if metric.endswith("moverscore") else 1e-5
    np.testing.assert_allclose(other.segments, plain.segments, atol=atol)
    assert "|backend:onnxruntime-" in str(other.signature)
    assert "|backend:" not in str(plain.signature)
    assert not other.notices


def test_a_model_is_written_once_per_layer(tiny_model: Path, exports: list[int]) -> None:
    for layer in (2, 1, 2):
        _onnx(tiny_model, layer)
        encoder._load.cache_clear()
    assert exports == [2, 1]
    assert not list((default_path() / "gnomon-onnx").glob(".*"))


def test_clearing_the_cache_removes_what_was_written(tiny_model: Path) -> None:
    _onnx(tiny_model)
    Cache().clear()
    assert not (default_path() / "gnomon-onnx").exists()


def test_a_damaged_file_is_written_anew(
    tiny_model: Path, exports: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    expected = _vectors(_onnx(tiny_model))
    (file,) = (default_path() / "gnomon-onnx").glob("*/model.onnx")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    encoder._load.cache_clear()
    assert (_vectors(_onnx(tiny_model)) == expected).all()
    assert exports == [2, 2]
    assert "damaged" in caplog.text


def test_a_file_that_gives_other_vectors_is_refused(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = onnx_files.OnnxEngine.run
    monkeypatch.setattr(onnx_files.OnnxEngine, "run", lambda *given: plain(*given) + 1)
    with pytest.raises(DataError, match="gives other vectors"):
        _onnx(tiny_model)
    assert not list((default_path() / "gnomon-onnx").iterdir())


def test_a_model_that_cannot_be_written_says_so(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no such operator")

    monkeypatch.setattr(torch.onnx, "export", fail)
    with pytest.raises(DataError, match="no such operator; take backend='torch'"):
        _onnx(tiny_model)


def test_a_cache_that_cannot_be_written_says_so(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "file"))
    with pytest.raises(OutputError, match="GNOMON_CACHE=FOLDER"):
        _onnx(tiny_model)


def _carrying(tiny_model: Path, folder: Path, *, weights: bool) -> Path:
    """A copy of the model with its last layer as an ONNX file."""
    _onnx(tiny_model, None)
    shutil.copytree(tiny_model, folder)
    (file,) = (default_path() / "gnomon-onnx").glob("*/model.onnx")
    (folder / "onnx").mkdir()
    shutil.copy(file, folder / "onnx")
    if not weights:
        (folder / "model.safetensors").unlink()
    encoder._load.cache_clear()
    return folder


def test_a_file_that_came_with_the_model_serves_for_the_last_layer(
    tiny_model: Path, tmp_path: Path, exports: list[int]
) -> None:
    folder = _carrying(tiny_model, tmp_path / "copy", weights=True)
    exports.clear()
    plain = load_encoder(str(folder), device="cpu")
    carried = _onnx(folder, None)
    assert "/model.onnx#" in carried.engine.name
    np.testing.assert_allclose(_vectors(carried), _vectors(plain), atol=1e-5)
    assert not exports
    _onnx(folder, 1)
    assert exports == [1]


def test_without_weights_only_the_last_layer_of_an_onnx_file_can_be_had(
    tiny_model: Path, tmp_path: Path
) -> None:
    folder = _carrying(tiny_model, tmp_path / "copy", weights=False)
    assert len(_vectors(_onnx(folder, None)))
    for asked in ({"backend": "onnx", "layer": 1}, {"backend": "torch"}):
        with pytest.raises(DataError, match="no \\*\\.safetensors"):
            load_encoder(str(folder), **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize("content", ["damaged", "other"])
def test_files_that_are_no_encoder_are_refused(
    tiny_model: Path, tmp_path: Path, content: str
) -> None:
    from onnx import TensorProto, helper, save

    folder = tmp_path / "copy"
    shutil.copytree(tiny_model, folder)
    place = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])
    gone = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])
    graph = helper.make_graph([helper.make_node("Abs", ["x"], ["y"])], "g", [place], [gone])
    save(
        helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]),
        folder / "model.onnx",
    )
    if content == "damaged":
        (folder / "model.onnx").write_bytes(b"damaged")
    with pytest.raises(DataError, match="cannot be loaded" if content == "damaged" else "takes x"):
        _onnx(folder, None)


def test_eight_bits_are_near_and_say_that_they_are_approximate(tiny_model: Path) -> None:
    spec = f"bertscore(model={str(tiny_model)!r}, layer=2, backend='onnx'"
    plain, rounded = gn.score(TESTSET, f"{spec})"), gn.score(TESTSET, f"{spec}, precision='int8')")
    assert np.abs(plain.segments - rounded.segments).mean() < 0.05
    assert (plain.segments != rounded.segments).any()
    assert ",int8|" in str(rounded.signature)
    assert "|scores:approximate|" in str(rounded.signature)
    assert "scores are approximate" in rounded.notices[0]
    assert "approximate" not in str(plain.signature)


def test_eight_bits_leave_nothing_but_the_rounded_file(tiny_model: Path, tmp_path: Path) -> None:
    _onnx(tiny_model, precision="int8")
    (folder,) = (default_path() / "gnomon-onnx").iterdir()
    assert sorted(f.name for f in folder.iterdir()) == ["digest", "model.onnx"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"precision": "int8"}, "needs backend='onnx'"),
        ({"backend": "onnx", "precision": "bf16"}, "'fp32', 'int8'"),
        ({"backend": "onnx", "device": "cuda"}, "runs on the CPU"),
        ({"backend": "tensorflow"}, "'torch' and 'onnx'"),
    ],
)
def test_what_a_backend_cannot_do_is_refused(
    tiny_model: Path, asked: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        load_encoder(str(tiny_model), **asked)


@pytest.mark.parametrize("family", ["Roberta", "DistilBert", "T5", "DebertaV2", "Albert"])
def test_models_of_other_families_are_written_and_compared(tmp_path: Path, family: str) -> None:
    import transformers

    small: dict[str, Any] = {
        "Roberta": {"max_position_embeddings": 42, "pad_token_id": 1},
        "DistilBert": {"dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 32},
        "T5": {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 3, "num_heads": 2},
        "DebertaV2": {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
        "Albert": {"embedding_size": 8},
    }[family]
    if family not in {"DistilBert", "T5"}:
        small |= {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
        small |= {"num_hidden_layers": 3}
    config = getattr(transformers, f"{family}Config")(vocab_size=60, **small)
    getattr(transformers, f"{family}Model")(config).save_pretrained(tmp_path / "model")
    folder = ModelFolder(family, tmp_path / "model")
    model = _folder.read_model(folder, config, 2)
    onnx_files._export(folder, 2, model, tmp_path)  # compares what it wrote with torch
    assert (tmp_path / "model.onnx").is_file()
