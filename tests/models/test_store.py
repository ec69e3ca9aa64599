"""Vectors kept on disk: what is read again, what is checked, what goes when room is short."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon as gn
from gnomon.core.errors import OutputError, UsageError
from gnomon.metrics import bind
from gnomon.models import Encoder, encoder, load_encoder
from gnomon.models.vector_store import VectorStore, open_store, vector_key

torch = pytest.importorskip("torch", reason="pip install 'gnomon[models]'")

TEXTS = ("the cat sat on the mat .", "unbelievable", "", "  a dog !  ", "xyz " * 30)
ALL = np.arange(len(TEXTS))
SYSTEMS = {"a": ["the cat sat .", "unbelievable !"], "b": ["a cat sat", "the dog"]}
REFERENCES = [["the cat sat on the mat ."], ["an unbelievable dog"]]
SOURCES = ["a cat", "un"]


def _testset() -> gn.TestSet:
    return gn.TestSet.from_lists(SYSTEMS, REFERENCES, sources=SOURCES, language_pair="en")


@pytest.fixture(autouse=True)
def _fresh_encoders() -> Iterator[None]:
    encoder._load.cache_clear()
    yield
    encoder._load.cache_clear()


def _encoder(model: Path, folder: Path, **more: Any) -> Encoder:
    """An encoder as a later run has it."""
    encoder._load.cache_clear()
    given: dict[str, Any] = {"layer": 2, "device": "cpu", **more}
    return load_encoder(str(model), embeddings=str(folder), **given)


def _vectors(encoder: Encoder, texts: tuple[str, ...] = TEXTS) -> np.ndarray:
    pieces = encoder.pieces(texts)
    found: np.ndarray = encoder.embed(pieces, np.arange(len(texts))).vectors.numpy()
    return found


def test_a_second_run_encodes_nothing(tiny_model: Path, tmp_path: Path) -> None:
    first, again = (_encoder(tiny_model, tmp_path) for _ in range(2))
    expected = _vectors(first)
    assert first.encoded == len(TEXTS)
    assert (_vectors(again) == expected).all()
    assert again.encoded == 0
    plain = load_encoder(str(tiny_model), layer=2, device="cpu")
    np.testing.assert_allclose(_vectors(plain), expected, atol=1e-6)


def test_only_new_texts_are_encoded(tiny_model: Path, tmp_path: Path) -> None:
    _vectors(_encoder(tiny_model, tmp_path), TEXTS[:3])
    encoder = _encoder(tiny_model, tmp_path)
    mixed = ("house", TEXTS[2], "a mat", TEXTS[0])
    found = _vectors(encoder, mixed)
    assert encoder.encoded == 2
    plain = load_encoder(str(tiny_model), layer=2, device="cpu")
    np.testing.assert_allclose(found, _vectors(plain, mixed), atol=1e-6)


def test_mean_vectors_and_vectors_of_pieces_are_kept_apart(
    tiny_model: Path, tmp_path: Path
) -> None:
    encoder = _encoder(tiny_model, tmp_path)
    pieces = encoder.pieces(["a"])
    encoder.embed(pieces, np.array([0]))
    mean = encoder.pooled(pieces, np.array([0]))
    assert encoder.encoded == 2
    again = _encoder(tiny_model, tmp_path)
    assert (again.pooled(pieces, np.array([0])) == mean).all()
    assert again.encoded == 0


@pytest.mark.parametrize("more", [{"layer": 1}, {"precision": "bf16"}, {"limit": 20}])
def test_other_vectors_are_not_taken_for_these(
    tiny_model: Path, tmp_path: Path, more: dict[str, Any]
) -> None:
    _vectors(_encoder(tiny_model, tmp_path))
    other = _encoder(tiny_model, tmp_path, **more)
    _vectors(other)
    assert other.encoded == len(TEXTS)
    assert len(list(tmp_path.glob("vectors-*"))) == 2


@pytest.mark.parametrize("metric", ["bertscore", "xbertscore", "sbert", "moverscore"])
def test_scores_and_signatures_do_not_tell_whether_vectors_were_kept(
    tiny_model: Path, tmp_path: Path, metric: str
) -> None:
    if metric == "moverscore":
        pytest.importorskip("ot", reason="needs POT: pip install 'gnomon[models]'")
    spec = f"{metric}(model={str(tiny_model)!r}, layer=2, device='cpu'"
    plain = gn.score(_testset(), f"{spec})")
    for run in range(2):
        encoder._load.cache_clear()
        testset, bound = _testset(), None
        _, bound = bind(testset, f"{spec}, embeddings={str(tmp_path)!r})")
        np.testing.assert_allclose(bound.segments(testset.batch()), plain.segments, atol=1e-5)
        assert str(bound.signature) == str(bind(testset, f"{spec})")[1].signature)
        assert (bound.encoder.encoded == 0) == (run == 1)  # type: ignore[attr-defined]


def test_specs_leave_the_folder_out_and_still_read_as_the_same_metric() -> None:
    metric = gn.metrics.parse("bertscore(model='m', layer=1, embeddings='somewhere')")
    assert metric.spec == "bertscore(model='m', layer=1)"
    assert gn.metrics.parse(metric.spec) == metric


def _shard(folder: Path) -> Path:
    (shard,) = folder.glob("vectors-*/*.safetensors")
    return shard


@pytest.mark.parametrize("where", ["header", "index", "vectors", "short", "empty"])
def test_a_damaged_shard_is_found_out_and_made_anew(
    tiny_model: Path, tmp_path: Path, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    expected = _vectors(_encoder(tiny_model, tmp_path))
    shard = _shard(tmp_path)
    data = bytearray(shard.read_bytes())
    begin = 8 + int.from_bytes(data[:8], "little")
    if where == "short":
        data = data[:-100]
    elif where == "empty":
        data = bytearray()
    else:
        data[{"header": 12, "index": begin + 3, "vectors": len(data) - 3}[where]] ^= 255
    shard.write_bytes(data)
    again = _encoder(tiny_model, tmp_path)
    np.testing.assert_allclose(_vectors(again), expected, atol=1e-6)
    assert again.encoded > 0
    assert "damaged" in caplog.text
    third = _encoder(tiny_model, tmp_path)
    _vectors(third)
    assert third.encoded < len(TEXTS)  # what was made anew is there


@given(st.data())
def test_no_single_changed_byte_changes_a_vector(data: st.DataObject) -> None:
    import tempfile

    rng = np.random.default_rng(3)
    vectors = rng.random((7, 4), dtype=np.float32)
    keys, offsets = [vector_key("pieces", np.array([n])) for n in range(3)], np.array([0, 2, 2, 7])
    with tempfile.TemporaryDirectory() as folder:
        open_store(folder, {"model": "m"}, 4).keep(keys, offsets, vectors)
        shard = _shard(Path(folder))
        content = bytearray(shard.read_bytes())
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
        shard.write_bytes(content)
        into = np.full_like(vectors, -1)
        found = open_store(folder, {"model": "m"}, 4).fill(keys, offsets, into)
        for number in np.flatnonzero(found):
            rows = slice(*offsets[number : number + 2])
            assert (into[rows] == vectors[rows]).all()


@pytest.mark.parametrize(("old", "new"), [(b'"vectors"', b'"vectoss"'), (b'"F32"', b'"I32"')])
def test_vectors_of_another_name_or_kind_are_damaged(
    tmp_path: Path, old: bytes, new: bytes
) -> None:
    keys, offsets = [vector_key("pieces", np.array([1]))], np.array([0, 2])
    open_store(tmp_path, {"model": "m"}, 4).keep(keys, offsets, np.ones((2, 4), dtype=np.float32))
    shard = _shard(tmp_path)
    shard.write_bytes(shard.read_bytes().replace(old, new))
    into = np.zeros((2, 4), dtype=np.float32)
    assert not open_store(tmp_path, {"model": "m"}, 4).fill(keys, offsets, into).any()
    assert not shard.exists()


def test_shards_appear_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import safetensors.numpy

    def fail(_: object, part: Path, __: object) -> None:
        part.write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(safetensors.numpy, "save_file", fail)
    store = open_store(str(tmp_path), {}, 4)
    store.keep([b"k" * 16], np.array([0, 1]), np.ones((1, 4), np.float32))
    assert not [f for f in tmp_path.rglob("*") if f.is_file()]
    assert "no space left" in caplog.text


def _keep(store: VectorStore, number: int) -> list[bytes]:
    keys = [vector_key("pieces", np.array([number], dtype=np.int32))]
    store.keep(keys, np.array([0, 50]), np.full((50, 4), number, dtype=np.float32))
    return keys


def _has(store: VectorStore, keys: list[bytes]) -> bool:
    found = store.fill(keys, np.array([0, 50]), np.empty((50, 4), np.float32))
    return bool(found.all())


def test_above_the_limit_the_shards_unused_for_longest_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = open_store(str(tmp_path), {"model": "old"}, 4)
    keys = [_keep(old, number) for number in range(3)]
    size = _total(tmp_path)
    for age, shard in enumerate(
        sorted(tmp_path.glob("vectors-*/*"), key=lambda s: s.stat().st_mtime)
    ):
        os.utime(shard, (1000 + age, 1000 + age))
    monkeypatch.setenv("GNOMON_EMBEDDINGS_LIMIT", str(size))
    assert _has(open_store(str(tmp_path), {"model": "old"}, 4), keys[0])  # now the newest
    new = open_store(str(tmp_path), {"model": "new"}, 4)
    kept = _keep(new, 9)
    later = [open_store(str(tmp_path), {"model": name}, 4) for name in ("old", "new")]
    assert [_has(later[0], key) for key in keys] == [True, False, True]
    assert _has(later[1], kept)
    assert _total(tmp_path) <= size


def _total(folder: Path) -> int:
    return sum(f.stat().st_size for f in folder.glob("vectors-*/*"))


def test_a_run_that_exceeds_the_limit_drops_nothing_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("GNOMON_EMBEDDINGS_LIMIT", "2500")
    store = open_store(str(tmp_path), {}, 4)
    keys = [_keep(store, number) for number in range(5)]
    assert [_has(store, key) for key in keys] == [True, True, False, False, False]
    assert caplog.text.count("GNOMON_EMBEDDINGS_LIMIT=BYTES") == 1


def test_other_files_of_the_folder_are_left_alone(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"mine")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "x.safetensors").write_bytes(b"mine")
    monkeypatch.setenv("GNOMON_EMBEDDINGS_LIMIT", "1")
    _vectors(_encoder(tiny_model, tmp_path))
    assert (tmp_path / "model.safetensors").exists()
    assert (tmp_path / "own" / "x.safetensors").exists()


def test_a_shard_that_another_process_removed_is_not_missed(
    tiny_model: Path, tmp_path: Path
) -> None:
    expected = _vectors(_encoder(tiny_model, tmp_path))
    again = _encoder(tiny_model, tmp_path)
    assert again.store is not None
    assert again.store._vector_places
    _shard(tmp_path).unlink()
    np.testing.assert_allclose(_vectors(again), expected, atol=1e-6)
    assert again.encoded == len(TEXTS)


def test_nothing_of_the_texts_is_written(tiny_model: Path, tmp_path: Path) -> None:
    _vectors(_encoder(tiny_model, tmp_path))
    content = _shard(tmp_path).read_bytes()
    assert b"unbelievable" not in content
    assert b"tiny#" in content


def test_a_folder_that_cannot_be_made_is_an_error(tiny_model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match="embeddings cannot be kept"):
        _encoder(tiny_model, tmp_path / "file")


def test_a_limit_that_is_no_number_is_an_error(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_EMBEDDINGS_LIMIT", "5GB")
    with pytest.raises(UsageError, match="number of bytes"):
        _encoder(tiny_model, tmp_path)


def test_a_shard_that_goes_while_room_is_made_keeps_nothing_else_out(tmp_path: Path) -> None:
    store = open_store(str(tmp_path), {"model": "m"}, 2)
    (store.folder / "gone.safetensors").symlink_to(tmp_path / "nowhere")
    vectors = np.ones((3, 2), dtype=np.float32)
    store.keep([b"k" * 16], np.array([0, 3]), vectors)
    into = np.zeros((3, 2), dtype=np.float32)
    assert store.fill([b"k" * 16], np.array([0, 3]), into).all()
    assert (into == 1).all()
