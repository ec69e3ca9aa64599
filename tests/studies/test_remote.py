"""Stores elsewhere, by fsspec: read, queried and exported, and never written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gnomon import study
from gnomon.core.errors import DataError, MissingDependencyError, UsageError
from gnomon.studies import _remote

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


def _copied(file: Path, url: str) -> study.Store:
    """Run a study into a folder, copy that to a place elsewhere."""
    made = study.plan(study.read_study(file))
    assert study.run(made, study.open_engine("here")).failed == {}
    system, root = fsspec.core.url_to_fs(url)
    system.makedirs(root, exist_ok=True)
    for one in made.study.store.rglob("*"):
        if one.is_file():
            target = f"{root}/{one.relative_to(made.study.store).as_posix()}"
            system.makedirs(target.rsplit("/", 1)[0], exist_ok=True)
            system.pipe_file(target, one.read_bytes())
    return study.Store.open(made.study.store)


def test_a_store_that_was_copied_elsewhere_is_read_there(
    study_file: Path, url: str, tmp_path: Path
) -> None:
    here = _copied(study_file, url)
    far = study.Store.open(url)
    sql = "select testset, system, metric, score from scores order by all"
    assert far.query(sql).rows == here.query(sql).rows
    assert far.frame("segments").height == here.frame("segments").height
    assert far.schema("comparisons") == here.schema("comparisons")
    assert far.export(tmp_path / "a.duckdb") == here.export(tmp_path / "b.duckdb")
    assert [one.sketch for one in far.sets()] == [one.sketch for one in here.sets()]


def test_files_are_fetched_once_and_only_those_that_a_query_needs(
    study_file: Path, url: str, cache: Path
) -> None:
    _copied(study_file, url)
    reader = study.Store.open(url)
    assert reader.query("select count(*) from tasks").rows == ((len(reader.entries),),)
    assert not (reader.path / "tables").exists()
    reader.query("select * from leaderboard")
    assert [folder.name for folder in (reader.path / "tables").iterdir()] == ["scores"]
    before = {f: f.stat().st_ino for f in reader.path.rglob("*.parquet")}
    assert study.Store.open(url).query("select count(*) from scores").rows[0][0] > 0
    assert {f: f.stat().st_ino for f in reader.path.rglob("*.parquet")} == before


def test_files_that_are_gone_there_are_told(study_file: Path, url: str) -> None:
    _copied(study_file, url)
    system, root = fsspec.core.url_to_fs(url)
    system.rm_file(next(name for name in system.find(f"{root}/tables") if "/scores/" in name))
    with pytest.raises(DataError, match="lacks a file"):
        study.Store.open(url).query("from scores")


def test_a_damaged_copy_here_is_fetched_again_and_damage_there_is_told(
    study_file: Path, url: str
) -> None:
    _copied(study_file, url)
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
    with pytest.raises(
        DataError, match=r"://.*parquet is missing or damaged; .*copy its store anew"
    ):
        study.Store.open(url).query("from segments")


def test_a_damaged_manifest_there_is_told(study_file: Path, url: str) -> None:
    _copied(study_file, url)
    system, root = fsspec.core.url_to_fs(url)
    lines = system.cat_file(f"{root}/manifest.jsonl").split(b"\n")
    system.pipe_file(f"{root}/manifest.jsonl", b"\n".join([b"garbage", *lines[1:]]))
    with pytest.raises(DataError, match=r"://.*manifest.jsonl:1 is damaged; .*copy its store anew"):
        study.Store.open(url)


def test_what_is_added_there_is_seen(study_file: Path, url: str) -> None:
    before = len(_copied(study_file, url).entries)
    reader = study.Store.open(url)
    study_file.write_text(study_file.read_text().replace('"chrf"]', '"chrf", "ter"]'))
    _copied(study_file, url)
    reader.refresh()
    assert len(reader.entries) > before
    assert reader.query("select count(distinct metric) from scores").rows == ((3,),)


def test_stores_elsewhere_are_not_written(study_file: Path, url: str) -> None:
    here = _copied(study_file, url)
    before, far = _there(url), study.Store.open(url)
    plan = study.plan(study.read_study(study_file))
    for write in (
        lambda: study.Store.open(url, create=True),
        lambda: far.forget(here.sets()[0].name),
        far.prune,
        lambda: study.run(
            replace(plan, tasks=()), study.open_engine("here"), store=far, prune=True
        ),
    ):
        with pytest.raises(UsageError, match="run the study into a folder, and copy that there"):
            write()
    assert _there(url) == before
    text = study_file.read_text()
    study_file.write_text(f'store = "{url}"\n{text}')
    for read in (study.read_study, study.store_of):
        with pytest.raises(DataError, match=r"store: .* is elsewhere, where stores are only read"):
            read(study_file)


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
