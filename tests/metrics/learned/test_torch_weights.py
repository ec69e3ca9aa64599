"""Weights that are published as pickles: converted once, and nothing of them is run."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.metrics.learned import sequence_models

import gnomon as gn
from gnomon.cli import main
from gnomon.core.errors import DataError, UsageError
from gnomon.learned import convert_weights

torch: Any = pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")
pytest.importorskip("transformers", reason="needs transformers: pip install 'gnomon[models]'")


@pytest.fixture
def testset() -> gn.TestSet:
    return gn.TestSet.from_lists({"a": ["the house", ""]}, ["a house", "no"], sources=["x", "y"])


def _pickled(folder: Path, *, parts: int = 1) -> Path:
    """The weights of a folder as torch writes them, in some files."""
    from safetensors.torch import load_file

    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(weights)
    for part in range(parts):
        own = {name: weights[name] for name in names[part::parts]}
        name = f"pytorch_model-{part}.bin" if parts > 1 else "pytorch_model.bin"
        torch.save(own, folder / name)
    return folder


def test_bleurt_scores_the_same_from_converted_weights(
    testset: gn.TestSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sequence_models.bleurt(tmp_path / "tiny-bleurt")
    expected = gn.score(testset, f"bleurt('{folder}')").segments
    _pickled(folder)
    with pytest.raises(DataError, match="gnomon setup model"):
        gn.score(testset, f"bleurt('{folder}')")
    assert main(["setup", "model", str(folder), "-f", "tsv"]) == 0
    assert "bleurt('tiny-bleurt')" in capsys.readouterr().out
    found = gn.score(testset, "bleurt('tiny-bleurt')")
    assert found.segments.tolist() == expected.tolist()
    assert str(found.signature).startswith("bleurt(model='tiny-bleurt')|model:tiny-bleurt#")


def test_metricx_scores_the_same_from_weights_in_several_files(
    testset: gn.TestSet, tmp_path: Path
) -> None:
    folder = sequence_models.metricx(tmp_path / "metricx")
    expected = gn.score(testset, f"metricx('{folder}')").segments
    made = convert_weights(str(_pickled(folder, parts=2)), into=str(tmp_path / "made"))
    assert len(list(made.path.glob("*.safetensors"))) == 2
    assert gn.score(testset, f"metricx('{made.path}')").segments.tolist() == expected.tolist()


class Harmful:
    """What would run code when it is unpickled."""

    def __reduce__(self) -> Any:
        return print, ("this must never be printed",)


def test_a_pickle_that_names_anything_else_is_refused_unread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sequence_models.bleurt(tmp_path / "bleurt")
    (folder / "model.safetensors").unlink()
    torch.save({"classifier.weight": Harmful()}, folder / "pytorch_model.bin")
    with pytest.raises(DataError, match=r"names (builtins|__builtin__)\.print"):
        convert_weights(str(folder), into=str(tmp_path / "made"))
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Harmful()))
    with pytest.raises(DataError, match="loading it could run code, and it is refused"):
        convert_weights(str(folder), into=str(tmp_path / "made"))
    torch.save({"weights": torch.zeros(2), "epoch": 3}, folder / "pytorch_model.bin")
    with pytest.raises(DataError, match="1 things that are no weights: epoch"):
        convert_weights(str(folder), into=str(tmp_path / "made"))
    assert not (tmp_path / "made").exists()
    assert capsys.readouterr().out == ""


def test_a_folder_that_holds_something_else_is_not_replaced(tmp_path: Path) -> None:
    folder = _pickled(sequence_models.bleurt(tmp_path / "bleurt"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(UsageError, match="holds files that gnomon did not write"):
        convert_weights(str(folder), into=str(tmp_path / "mine"))
    made = convert_weights(str(folder), into=str(tmp_path / "made"))
    assert convert_weights(str(folder), into=str(tmp_path / "made")) == made
    with pytest.raises(DataError, match="there is nothing to convert"):
        convert_weights(str(shutil.copytree(made.path, tmp_path / "again")))
    (made.path / "notes.txt").touch()
    (tmp_path / "file").touch()
    for name in ("made", "file"):
        with pytest.raises(UsageError, match="name another folder"):
            convert_weights(str(folder), into=str(tmp_path / name))
    assert (made.path / "notes.txt").is_file()


def test_a_folder_of_the_users_own_model_is_not_replaced(tmp_path: Path) -> None:
    folder = _pickled(sequence_models.bleurt(tmp_path / "bleurt"))
    own = sequence_models.bleurt(tmp_path / "own")
    before = {file.name: file.read_bytes() for file in own.iterdir()}
    with pytest.raises(UsageError, match="holds files that gnomon did not write, which stay"):
        convert_weights(str(folder), into=str(own))
    assert {file.name: file.read_bytes() for file in own.iterdir()} == before
    with pytest.raises(UsageError, match="is the folder of the checkpoint itself"):
        convert_weights(str(folder), into=str(folder))
    assert (folder / "pytorch_model.bin").is_file()


def test_two_checkpoints_of_one_name_are_told_apart(tmp_path: Path) -> None:
    first = _pickled(sequence_models.bleurt(tmp_path / "one" / "twin"))
    other = _pickled(sequence_models.bleurt(tmp_path / "two" / "twin"))
    weights = torch.load(other / "pytorch_model.bin", weights_only=True)
    torch.save({name: one + 1 for name, one in weights.items()}, other / "pytorch_model.bin")
    kept = convert_weights(str(first))
    identity = kept.identity
    assert convert_weights(str(first)).identity == identity
    with pytest.raises(UsageError, match="another checkpoint of the same name, 'twin'"):
        convert_weights(str(other))
    assert kept.identity == identity


def test_converted_weights_win_over_a_checkpoint_of_their_name_in_the_working_directory(
    testset: gn.TestSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _pickled(sequence_models.bleurt(tmp_path / "near-bleurt"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"once with: gnomon setup model \./near"):
        gn.score(testset, "bleurt('./near-bleurt')")
    assert main(["setup", "model", "near-bleurt"]) == 0
    for name in ("near-bleurt", "near-bleurt/", "./near-bleurt", str(tmp_path / "near-bleurt")):
        assert gn.score(testset, f"bleurt('{name}')").segments.shape == (1, 2)


def test_converted_weights_that_were_changed_are_refused(
    testset: gn.TestSet, tmp_path: Path
) -> None:
    folder = _pickled(sequence_models.bleurt(tmp_path / "bleurt"))
    made = convert_weights(str(folder), into=str(tmp_path / "made"))
    file = made.path / "model.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(DataError, match=r"model\.safetensors is not the file that gnomon wrote"):
        gn.score(testset, f"bleurt('{made.path}')")
    (made.path / "converted.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match="states no checksums of the weights"):
        gn.score(testset, f"bleurt('{made.path}')")
