"""Stores elsewhere, by fsspec: read, queried, exported, and written."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gnomon import study
from gnomon.errors import DataError, MissingDependencyError, OutputError, UsageError
from gnomon.study import _remote, _remote_lock

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")
fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install 'gnomon[remote]'")


@pytest.fixture(params=["memory", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty place, in memory or on disk."""
    if request.param == "file":
        yield f"file://{tmp_path}/far/wmt.store"
        return
    place = f"memory://{tmp_path.name}/wmt.store"
    yield place
    system, root = fsspec.core.url_to_fs(place)
    if system.exists(root):
        system.rm(root, recursive=True)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _there(url: str) -> dict[str, bytes]:
    system, root = fsspec.core.url_to_fs(url)
    return {name.removeprefix(root): system.cat_file(name) for name in system.find(root)}


def _run(file: Path, url: str) -> study.Outcome:
    text = file.read_text()
    if "store = " not in text:
        file.write_text(f'store = "{url}"\n' + text)
    made = study.plan(study.read_study(file))
    return study.run(made, study.open_engine("here"))


def test_a_study_runs_into_a_place_elsewhere_and_is_read_there(
    study_file: Path, url: str, tmp_path: Path
) -> None:
    local = study.plan(study.read_study(study_file))
    study.run(local, study.open_engine("here"))
    here = study.Store.open(local.study.store)
    assert _run(study_file, url).failed == {}
    far = study.Store.open(url)
    sql = "select testset, system, metric, score from scores order by all"
    assert far.query(sql).rows == here.query(sql).rows
    assert far.frame("segments").height == here.frame("segments").height
    assert far.export(tmp_path / "a.duckdb") == here.export(tmp_path / "b.duckdb")
    assert [one.sketch for one in far.sets()] == [one.sketch for one in here.sets()]
    names = {n for n in _there(url) if "/tables/" not in n}
    assert names == {"/store.json", "/manifest.jsonl", "/plan.json"} | (
        {"/sketches.json"} if "/sketches.json" in names else set()
    )
    again = _run(study_file, url)
    assert (again.done, again.kept) == (0, len(far.entries))


def test_files_are_fetched_once_and_only_those_that_a_query_needs(
    study_file: Path, url: str, cache: Path
) -> None:
    _run(study_file, url)
    reader = study.Store.open(url)
    assert reader.query("select count(*) from tasks").rows == ((len(reader.entries),),)
    assert not (reader.path / "tables").exists()
    reader.query("select * from leaderboard")
    assert [folder.name for folder in (reader.path / "tables").iterdir()] == ["scores"]
    before = {f: f.stat().st_ino for f in reader.path.rglob("*.parquet")}
    assert study.Store.open(url).query("select count(*) from scores").rows[0][0] > 0
    assert {f: f.stat().st_ino for f in reader.path.rglob("*.parquet")} == before


def test_a_study_goes_on_from_another_machine(
    study_file: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _run(study_file, url)
    study_file.write_text(study_file.read_text().replace('"chrf"]', '"chrf", "ter"]'))
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "another"))
    again = _run(study_file, url)
    assert (again.failed, again.kept > 0, again.done > 0) == ({}, True, True)
    assert len(study.Store.open(url).entries) > first.done


def test_forgetting_and_pruning_reach_the_place(study_file: Path, url: str) -> None:
    _run(study_file, url)
    study_file.write_text(study_file.read_text().replace("resamples = 20", "resamples = 21"))
    _run(study_file, url)
    assert study.Store.open(url).prune() == 1
    assert sum("/comparisons/" in name for name in _there(url)) == 1
    store = study.Store.open(url)
    store.forget(store.sets()[0].name)
    assert not [name for name in _there(url) if "/tables/" in name]
    assert study.Store.open(url).entries == {}


def test_litter_and_what_was_never_named_are_swept_by_the_next_run(
    study_file: Path, url: str
) -> None:
    _run(study_file, url)
    system, root = fsspec.core.url_to_fs(url)
    lines = system.cat_file(f"{root}/manifest.jsonl").split(b"\n")[:-1]
    system.pipe_file(f"{root}/manifest.jsonl", b"\n".join(lines[:-2]) + b"\n")  # as after a kill
    system.pipe_file(f"{root}/tables/scores/0123.parquet", b"x")
    outcome = _run(study_file, url)
    assert (outcome.done, outcome.kept) == (2, len(lines) - 2)
    assert "/tables/scores/0123.parquet" not in _there(url)
    assert len(study.Store.open(url).entries) == len(lines)


def test_files_that_are_gone_there_are_computed_again(study_file: Path, url: str) -> None:
    done = _run(study_file, url).done
    system, root = fsspec.core.url_to_fs(url)
    gone = next(name for name in system.find(f"{root}/tables") if "/scores/" in name)
    system.rm_file(gone)
    with pytest.raises(DataError, match="lacks a file"):
        study.Store.open(url).query("from scores")
    outcome = _run(study_file, url)
    assert (outcome.done, outcome.kept) == (1, done - 1)
    assert system.exists(gone)


def test_a_damaged_copy_here_is_fetched_again_and_damage_there_is_told(
    study_file: Path, url: str
) -> None:
    _run(study_file, url)
    reader = study.Store.open(url)
    before = reader.query("from segments").rows
    (file, *_) = reader.files()["segments"]
    whole = file.read_bytes()
    flipped = whole[:40] + bytes([whole[40] ^ 1]) + whole[41:]
    file.write_bytes(flipped)
    assert study.Store.open(url).query("from segments").rows == before
    assert file.read_bytes() == whole
    system, root = fsspec.core.url_to_fs(url)
    system.pipe_file(f"{root}/tables/segments/{file.name}", flipped)
    file.unlink()
    with pytest.raises(DataError, match=r"://.*parquet is missing or damaged; .*rename it before"):
        study.Store.open(url).query("from segments")


def test_a_damaged_manifest_there_is_mended_by_the_next_run(study_file: Path, url: str) -> None:
    done = _run(study_file, url).done
    system, root = fsspec.core.url_to_fs(url)
    lines = system.cat_file(f"{root}/manifest.jsonl").split(b"\n")
    system.pipe_file(f"{root}/manifest.jsonl", b"\n".join([b"garbage", *lines[1:]]))
    with pytest.raises(DataError, match=r"://.*manifest.jsonl:1 is damaged"):
        study.Store.open(url)
    assert _run(study_file, url).done == 1
    assert len(study.Store.open(url).entries) == done


def test_another_writer_is_respected_until_its_lock_is_old(study_file: Path, url: str) -> None:
    _run(study_file, url)
    study_file.write_text(study_file.read_text().replace("resamples = 20", "resamples = 22"))
    system, root = fsspec.core.url_to_fs(url)

    def held(**said: Any) -> None:
        lock = {"pid": 1, "host": "elsewhere", "time": time.time(), **said}
        system.pipe_file(f"{root}/lock.json", json.dumps(lock).encode())

    held()
    with pytest.raises(DataError, match=r"process 1 on elsewhere .*delete .*lock.json"):
        _run(study_file, url)
    held(time=time.time() - 3600)
    assert _run(study_file, url).done == 1
    assert "/lock.json" not in _there(url)
    held(host=socket.gethostname(), pid=_dead_process())
    assert _run(study_file, url).failed == {}


def test_a_lock_lasts_as_long_as_its_task(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1e9]
    monkeypatch.setattr(_remote_lock, "time", SimpleNamespace(time=lambda: now[0]))
    monkeypatch.setattr(_remote_lock, "_RENEWALS", 90_000)  # every hundredth of a second
    first, second = _remote.mirror(url, writes=True), _remote.mirror(url, writes=True)
    with first.locked():
        now[0] += 10_000  # a lock that nobody renews would be left over
        until = time.monotonic() + 300
        while b"1000010000" not in _there(url)["/lock.json"] and time.monotonic() < until:
            time.sleep(0.01)
        first.put([])  # it may still write
        monkeypatch.setattr(socket, "gethostname", lambda: "elsewhere")
        with pytest.raises(DataError, match="is running a study"), second.locked():
            pass
    with second.locked():  # it is given back
        pass
    assert "/lock.json" not in _there(url)


def test_who_lost_the_lock_writes_no_more(study_file: Path, url: str) -> None:
    study_file.write_text(f'store = "{url}"\n' + study_file.read_text())
    plan = study.plan(study.read_study(study_file))
    system, root = fsspec.core.url_to_fs(url)
    left: dict[str, bytes] = {}

    def taken(*_: object) -> None:
        lock = {"pid": 1, "host": "elsewhere", "time": time.time(), "token": "theirs"}
        system.pipe_file(f"{root}/lock.json", json.dumps(lock).encode())
        left.update(_there(url))

    with pytest.raises(OutputError, match="process 1 on elsewhere took the lock"):
        study.run(plan, study.open_engine("here"), progress=taken)
    assert _there(url) == left


def _dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_manifest_is_not_written_for_every_task(
    study_file: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    write = _remote.Mirror._write

    def counted(self: Any, target: str, data: bytes) -> None:
        written.append(target.rsplit("/", 1)[-1])
        write(self, target, data)

    monkeypatch.setattr(_remote.Mirror, "_write", counted)
    monkeypatch.setattr(_remote, "_PAUSE", 1e9)
    outcome = _run(study_file, url)
    assert written.count("manifest.jsonl") == 2 < outcome.done  # the first, and at the end
    assert len(study.Store.open(url).entries) == outcome.done


def test_places_that_cannot_be_reached_are_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="there is no store in"):
        study.Store.open(url)
    with pytest.raises(UsageError, match="nonsense"):
        study.Store.open("nonsense://x")
    with pytest.raises(MissingDependencyError, match="s3fs"):
        study.Store.open("s3://bucket/x")

    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(_remote, "import_module", missing)
    with pytest.raises(MissingDependencyError, match=r"gnomon\[remote\]"):
        study.Store.open(url)


def test_a_place_that_cannot_be_written_is_told(
    study_file: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, _ = fsspec.core.url_to_fs(url)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(system), "pipe_file", full)
    with pytest.raises(OutputError, match="cannot be written"):
        _run(study_file, url)
