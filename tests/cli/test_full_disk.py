"""A disk that is full is told as such by whatever writes, and nothing half-written is left."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from gnomon import example, study

_STUDY = """
store = "{store}"
metrics = ["bleu", "chrf"]
[[testsets]]
path = "{path}"
first = 12
[methods.score]
"""


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk of its own of 2 MB."""
    folder = tmp_path_factory.mktemp("disk")
    if shutil.which("mount") is None or os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only the superuser can mount a small disk")
    order = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if subprocess.run(order, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture(params=[0, 12], ids="{} KB are free".format)
def full(disk: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The disk, with little or no room left."""
    room = os.statvfs(disk)
    (disk / "fill").write_bytes(bytes(room.f_bavail * room.f_frsize - 1024 * request.param))
    yield disk
    for one in disk.iterdir():
        shutil.rmtree(one) if one.is_dir() else one.unlink()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")
    place = tmp_path_factory.mktemp("whole")
    text = _STUDY.format(store=place / "s.store", path=example.path()).replace("first", "#")
    (place / "study.toml").write_text(text)
    made = study.plan(study.read_study(place / "study.toml"))
    study.run(made, study.open_engine("here"))
    return place / "s.store"


@pytest.mark.parametrize(
    "command",
    [
        "export {store} -o {disk}/x.duckdb",
        "export {store} -o {disk}/x/y",
        "report {store} -o {disk}/x",
        "report {store} -o {disk}/x.html",
        "query {store} from-segments -f json -o {disk}/x",
        "score -t {set} -m bleu --html {disk}/x.html",
        "score -t {set} -m bleu chrf --segment-scores {disk}/x.tsv",
        "difficulty score -t {set} -m bleu --save {disk}/x.npz",
        "data convert {set} -o {disk}/x",
    ],
)
def test_a_full_disk_is_told_and_holds_nothing_half_written(
    gnomon: Callable, full: Path, store: Path, command: str
) -> None:
    parts = command.format(store=store, disk=full, set=example.path()).split()
    found = gnomon(*(one.replace("from-", "from ") for one in parts))
    assert found.code == 1
    place = next(one for one in parts if one.startswith(str(full)))
    assert f"cannot write {place}: the disk is full: free some space" in found.err
    assert [one.name for one in full.iterdir()] == ["fill"]


def test_a_study_on_a_full_disk_goes_on_when_there_is_room(
    gnomon: Callable, full: Path, store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "study.toml"
    file.write_text(_STUDY.format(store=full / "s.store", path=example.path()))
    found = gnomon("run", file, "--engine", "here")
    assert found.code == 1
    assert "s.store" in found.err
    assert "the disk is full: free some space" in found.err
    (full / "fill").unlink()
    assert gnomon("run", file, "--engine", "here").code == 0


def test_a_demo_on_a_full_disk_goes_on_when_there_is_room(full: Path) -> None:
    with pytest.raises(OSError, match="the disk is full"):
        example.copy_to(full / "demo")
    (full / "fill").unlink()
    file = example.copy_to(full / "demo")
    assert file.read_bytes() == example.study().read_bytes()


def test_embeddings_are_not_kept_on_a_full_disk_and_that_is_told(
    full: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("safetensors", reason="needs safetensors: pip install 'gnomon[models]'")
    from gnomon.models.vector_store import VectorStore

    folder = full / "vectors-x"
    folder.mkdir()
    kept = VectorStore(folder, {}, 4096, 1 << 30)
    kept.keep([b"k" * 20], np.array([0, 4]), np.ones((4, 4096), dtype=np.float32))
    assert "embeddings are not kept" in caplog.text
    assert "No space left on device" in caplog.text
    assert list(folder.iterdir()) == []


def test_a_library_that_says_it_in_words_alone_is_understood(tmp_path: Path) -> None:
    from gnomon.core.errors import OutputError
    from gnomon.data.formats import explain_failure

    with (
        pytest.raises(OutputError, match="the disk is full: free some space"),
        explain_failure(tmp_path, KeyError),
    ):
        raise KeyError(f"IO Error: {os.strerror(errno.ENOSPC)} (28)")
