"""What was damaged or lost in a store is told, and computed again by the next run."""

from __future__ import annotations

import errno
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon import study
from gnomon.core.errors import DataError, OutputError
from gnomon.studies import execution
from gnomon.studies import folder as _folder
from gnomon.studies import result_store as _store
from gnomon.studies.sources import FileEntry

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")


def _run(file: Path) -> study.RunOutcome:
    return study.run(study.plan(study.read_study(file)), study.open_engine("here"))


@pytest.fixture
def store(study_file: Path, finished: Callable[[Path], study.Store]) -> study.Store:
    study_file.write_text(study_file.read_text().split("[methods.compare]")[0])
    return finished(study_file)


def _lost(file: Path) -> None:
    file.unlink()


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])


def _emptied(file: Path) -> None:
    file.write_bytes(b"")


def _linked_to_itself(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.name)


@pytest.mark.parametrize("harm", [_lost, _cut, _emptied, _linked_to_itself])
def test_files_that_are_not_whole_are_told_and_made_anew(
    store: study.Store, study_file: Path, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    before = store.query("select * exclude task from scores order by all").rows
    file = store.files()["scores"][1]
    (store.path / "bundles").mkdir()
    (store.path / "bundles" / "scores.json").touch()
    harm(file)
    readers: list[Callable[[study.Store], object]] = [
        lambda one: one.query("from leaderboard"),
        lambda one: one.tables(),
        lambda one: one.export(tmp_path / "x.duckdb"),
        lambda one: one.export(tmp_path / "x"),
        study.pages,
    ]
    for read in readers:
        with pytest.raises(DataError, match=rf"{file.name} is missing or damaged; run the study"):
            read(study.Store.open(store.path))
    assert not (tmp_path / "x.duckdb").exists()
    outcome = _run(study_file)
    assert (outcome.done, outcome.kept) == (1, len(store.entries) - 1)
    assert not list(store.path.glob("bundles/*"))  # what is done again may differ
    again = study.Store.open(store.path)
    assert again.query("select * exclude task from scores order by all").rows == before
    assert _run(study_file).done == 0


def _flip(file: Path, draw: random.Random) -> bytes:
    """Turn one bit of a file around; returns what it held."""
    whole = file.read_bytes()
    bit = draw.randrange(8 * len(whole))
    changed = bytearray(whole)
    changed[bit // 8] ^= 1 << bit % 8
    file.unlink()
    file.write_bytes(changed)
    return whole


def test_any_flipped_bit_of_a_result_is_told_and_made_anew(
    store: study.Store, study_file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    draw = random.Random(15)
    everything = "select * exclude task from {} order by all"
    before = {name: store.query(everything.format(name)).rows for name in store.files()}
    for name, files in store.files().items():
        for file in files:
            for _ in range(8):
                whole = _flip(file, draw)
                assert study.Store.open(store.path).lost(store.entries) == {file.stem: file}
                file.write_bytes(whole)
        whole = _flip(files[-1], draw)
        for read in (
            lambda reader, name=name: reader.query(f"select count(*) from {name}"),
            study.Store.describe,
            lambda reader: reader.export(tmp_path / "x.duckdb"),
            lambda reader: reader.export(tmp_path / "x"),
        ):
            with pytest.raises(DataError, match=r"parquet is missing or damaged; run the study"):
                read(study.Store.open(store.path))
        files[-1].write_bytes(whole)
    assert not list(tmp_path.glob("x*"))
    for files in store.files().values():
        _flip(files[-1], draw)
    outcome = _run(study_file)
    assert outcome.done == len({files[-1].stem for files in store.files().values()})
    assert "missing or damaged: done again: " in caplog.text
    again = study.Store.open(store.path)
    assert {name: again.query(everything.format(name)).rows for name in before} == before


@pytest.mark.parametrize("name", ["manifest.jsonl", "plan.json", "store.json"])
def test_any_flipped_bit_of_what_tells_of_results_is_told(store: study.Store, name: str) -> None:
    draw = random.Random(16)
    last = list(store.entries)[-1]
    for _ in range(60):
        whole = _flip(store.path / name, draw)
        try:
            found = study.Store.open(store.path)
        except DataError:
            pass
        else:  # a line without an end was never finished; elsewhere it is only white space
            assert [key for key in store.entries if key not in found.entries] in ([], [last])
            assert found.planned() == store.planned()
            assert all(one == store.entries[key] for key, one in found.entries.items())
        (store.path / name).write_bytes(whole)


def test_a_file_is_read_once_for_its_checksum(
    store: study.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    monkeypatch.setattr(_folder, "_intact", {})
    checksum_of = _folder.checksum_of
    monkeypatch.setattr(_folder, "checksum_of", lambda file: read.append(file) or checksum_of(file))
    for _ in range(2):
        study.Store.open(store.path).query("from leaderboard")
        assert sorted(read) == sorted(store.files()["scores"])


def test_a_store_that_was_deleted_under_a_run_is_told_and_made_anew(
    store: study.Store, study_file: Path
) -> None:
    plan = study.plan(study.read_study(study_file))
    shutil.rmtree(store.path)
    with pytest.raises(OutputError, match="was deleted while a study ran into it"):
        study.run(
            plan,
            study.open_engine("here"),
            progress=lambda *_: shutil.rmtree(store.path, ignore_errors=True),
        )
    assert not store.path.exists()
    assert _run(study_file).done == len(plan.tasks)


def test_a_run_writes_nothing_into_a_store_that_took_the_place_of_its_own(
    store: study.Store, study_file: Path
) -> None:
    plan = study.plan(study.read_study(study_file))
    shutil.rmtree(store.path)

    def replaced(*_: object) -> None:
        shutil.rmtree(store.path)
        study.Store.open(store.path, create=True)

    with pytest.raises(OutputError, match="was deleted while a study ran into it"):
        study.run(plan, study.open_engine("here"), progress=replaced)
    assert study.Store.open(store.path).entries == {}


@pytest.mark.parametrize("gone", [["store.json"], ["store.json", "manifest.jsonl", "plan.json"]])
def test_what_is_left_of_a_store_is_made_one_again(
    store: study.Store, study_file: Path, gone: list[str]
) -> None:
    (store.path / f".{'0' * 16}.tmp").touch()
    for name in gone:
        (store.path / name).unlink()
    assert _run(study_file).done == (0 if len(gone) == 1 else len(store.entries))
    assert study.Store.open(store.path).entries.keys() == store.entries.keys()
    (store.path / "store.json").unlink()
    (store.path / "tables" / "mine.parquet").mkdir()
    (store.path / "tables" / "mine.parquet" / "x.parquet").touch()
    with pytest.raises(OutputError, match="holds something else"):
        study.Store.open(store.path, create=True)


def test_a_full_disk_is_told(
    store: study.Store, study_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    shutil.rmtree(store.path)
    study.Store.open(store.path, create=True)
    plan = study.plan(study.read_study(study_file))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"cannot write .*\.store.*: the disk is full: free some"):
        study.run(plan, study.open_engine("here"))
    monkeypatch.undo()
    assert _run(study_file).done == len(plan.tasks)


def test_a_report_tells_the_file_that_is_damaged_within(store: study.Store) -> None:
    shown = study.pages(store)
    scores = next(table for table in shown.tables if table.name == "scores")
    for name in ("scores", "segments"):
        for file in store.files()[name]:
            data = bytearray(file.read_bytes())
            data[4:200] = bytes(196)
            file.write_bytes(data)
    with pytest.raises(DataError, match=r"parquet is missing or damaged; run the study"):
        list(scores.parts(100))
    with pytest.raises(DataError, match=r"parquet is missing or damaged; run the study"):
        shown.testsets[0].scores("bleu")


@pytest.mark.parametrize("line", [b"garbage", b"[]", b'{"key": "x"}', b"\xff\xfe", b""])
def test_a_damaged_line_is_told_and_its_task_done_again(
    store: study.Store, study_file: Path, line: bytes
) -> None:
    manifest = store.path / "manifest.jsonl"
    lines = manifest.read_bytes().split(b"\n")
    lines[2] = line
    manifest.write_bytes(b"\n".join(lines))
    with pytest.raises(DataError, match=r"manifest.jsonl:3 is damaged; run the study again"):
        study.Store.open(store.path)
    outcome = _run(study_file)
    assert (outcome.done, outcome.kept) == (1, len(store.entries) - 1)
    assert study.Store.open(store.path).entries.keys() == store.entries.keys()


def test_a_damaged_line_of_no_task_is_taken_away(store: study.Store, study_file: Path) -> None:
    manifest = store.path / "manifest.jsonl"
    before = manifest.read_bytes()
    manifest.write_bytes(before + b"garbage\n")
    assert _run(study_file).done == 0
    assert manifest.read_bytes() == before


@pytest.mark.parametrize("text", ["{", "[1]", "7"])
def test_a_damaged_plan_is_told_and_written_anew(
    store: study.Store, study_file: Path, text: str
) -> None:
    (store.path / "plan.json").write_text(text)
    with pytest.raises(DataError, match=r"plan.json is damaged; run the study again"):
        study.Store.open(store.path)
    assert _run(study_file).done == 0
    assert study.Store.open(store.path).planned() == store.planned()


def test_an_unchanged_study_asks_for_no_lock(
    store: study.Store, study_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (store.path / "lock").unlink()
    os.utime(store.path, (0, 0))
    made = study.plan(study.read_study(study_file))
    made.sketches.fresh.clear()
    monkeypatch.setattr(_store, "locked", None)
    outcome = study.run(made, study.open_engine("here"))
    assert (outcome.done, outcome.kept) == (0, len(made.tasks))
    assert store.path.stat().st_mtime == 0


def test_an_unchanged_study_runs_where_nothing_can_be_written(
    store: study.Store, study_file: Path
) -> None:
    (store.path / "lock").unlink()
    (store.path / "lock").mkdir()  # even the superuser cannot open it
    made = study.plan(study.read_study(study_file))
    made.sketches.fresh["x"] = FileEntry("x")
    assert study.run(made, study.open_engine("here")).kept == len(made.tasks)
    study_file.write_text(study_file.read_text().replace('"chrf"]', '"chrf", "ter"]'))
    with pytest.raises(OutputError, match="cannot be written: Is a directory; allow it"):
        _run(study_file)


def test_a_file_system_without_locks_is_told(
    store: study.Store, study_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def none(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.raises(OutputError, match="No locks available"), store.locked():
        pass


def test_a_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(OutputError, match="a file is there; name another folder"):
        study.Store.open(tmp_path / "mine.txt", create=True)
    with pytest.raises(OutputError, match="name another folder"):
        study.Store.open(tmp_path / "mine.txt" / "deeper", create=True)


def test_export_to_where_nothing_can_be_is_told(store: study.Store, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="there is no folder"):
        store.export(tmp_path / "none" / "x.duckdb")
    (tmp_path / "file").touch()
    for name in ("file/x.duckdb", "file/x", "file"):
        with pytest.raises(OutputError):
            store.export(tmp_path / name)


def test_what_is_lost_is_logged(
    store: study.Store, study_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for file in store.files()["scores"][:2]:
        file.unlink()
    assert _run(study_file).done == 2
    assert "results of 2 tasks are missing or damaged" in caplog.text
    assert execution.__name__ in {record.name for record in caplog.records}
