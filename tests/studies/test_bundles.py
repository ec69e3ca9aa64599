"""Copies of many small files in one: they change nothing but how many files a query opens."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gnomon import study
from gnomon.core.findings import Column, Kind, Table
from gnomon.studies import tables as _tables
from gnomon.studies.definition import SetSource
from gnomon.studies.folder import sealed
from gnomon.studies.sources import PlanRecord
from gnomon.studies.tables import TableSchema, TaskTable, bundle, bundle_of, file_of, source_of
from gnomon.studies.task_runs import Task, TaskResult

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")

_ROWS = "select task, system, segment, score from segments order by all"


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three files are many."""
    monkeypatch.setattr(_tables, "_MANY", 3)


@pytest.fixture
def store(tmp_path: Path) -> study.Store:
    return study.Store.open(tmp_path / "x.store", create=True)


def _add(store: study.Store, number: int, testset: str = "one") -> str:
    """A task whose third column is not there in every file."""
    key = f"{number:04x}"
    task = Task(key, "score", testset, SetSource("x"), (f"s{number}",), ("bleu",), "{}", "c")
    kinds: dict[str, Kind] = {
        "testset": "text",
        "system": "text",
        "segment": "count",
        "score": "number",
    }
    cells: dict[str, list[object]] = {
        "testset": [testset] * 3,
        "system": [f"s{number}"] * 3,
        "segment": [1, 2, 3],
        "score": [float(number), None, 0.5],
    }
    if number % 2:
        kinds["more"], cells["more"] = "truth", [True, None, False]
    columns = tuple(Column(name, name.upper(), kind) for name, kind in kinds.items())
    table = TaskTable(TableSchema(Table("segments", "Segments", columns, ())), cells)  # type: ignore[arg-type]  # cells
    store.add(task, TaskResult(key, (file_of(table),), (), {}, 0.1))
    return key


def _plan(store: study.Store, keys: list[str]) -> None:
    store.keep_plan(PlanRecord("x", tuple(keys)))


def test_queries_read_the_bundle_and_what_came_later(store: study.Store) -> None:
    with store.locked():
        keys = [_add(store, number) for number in range(8)]
        _plan(store, keys)
        before = store.query(_ROWS).rows
        assert not (store.path / "bundles").exists()
        store.bundle()
        found = bundle_of(store.path, "segments", store.entries)
        assert found is not None
        assert found.tasks == set(keys)
        assert store.query(_ROWS).rows == before
        assert source_of(store.files()["segments"], found, keys).files == [found.file]
        keys.append(_add(store, 9))
        _plan(store, keys)
    opened = source_of(store.files()["segments"], found, keys).files
    assert opened == [found.file, store.file("segments", keys[-1])]
    again = study.Store.open(store.path).query(_ROWS).rows
    assert len(again) == len(before) + 3
    assert {*before} < {*again}
    assert again == store.query(_ROWS).rows
    more = "select count(*), count(more) from segments"
    assert study.Store.open(store.path).query(more).rows == ((27, 10),)


def test_columns_and_their_meanings_stay(store: study.Store) -> None:
    with store.locked():
        _plan(store, [_add(store, number) for number in range(6)])
        before = store.describe().rows
        store.bundle()
    assert store.describe().rows == before


def test_a_bundle_is_made_anew_when_a_quarter_is_loose(store: study.Store) -> None:
    with store.locked():
        keys = [_add(store, number) for number in range(20)]
        _plan(store, keys)
        store.bundle()
        first = bundle_of(store.path, "segments", store.entries)
        for number, made in ((23, 20), (24, 20), (25, 25)):
            while len(keys) < number:
                keys.append(_add(store, len(keys)))
            _plan(store, keys)
            store.bundle()
            found = bundle_of(store.path, "segments", store.entries)
            assert found is not None
            assert len(found.tasks) == made
    assert found != first
    files = {file.name for file in (store.path / "bundles").iterdir()}
    assert files == {
        "segments.json",
        first.file.name,
        found.file.name,
    }  # who reads the first goes on


def test_what_is_pruned_is_in_no_bundle(store: study.Store) -> None:
    with store.locked():
        keys = [_add(store, n, "one" if n < 4 else "two") for n in range(8)]
        _plan(store, keys)
        store.bundle()
        _plan(store, keys[:4])
        store.prune()
    assert [*(store.path / "bundles").iterdir()] == []
    assert store.query("select distinct testset from segments").rows == (("one",),)


def test_damage_to_the_list_of_a_bundle_costs_nothing_but_time(store: study.Store) -> None:
    with store.locked():
        _plan(store, [_add(store, number) for number in range(6)])
        before = store.query(_ROWS).rows
        store.bundle()
    listed = store.path / "bundles" / "segments.json"
    for text in ("", "[]", "{}", sealed({"file": "nowhere.parquet", "made": "0" * 8, "tasks": []})):
        listed.write_text(text)
        assert bundle_of(store.path, "segments", store.entries) is None
        assert store.query(_ROWS).rows == before


def test_a_table_that_cannot_be_copied_is_told_and_left(
    store: study.Store, caplog: pytest.LogCaptureFixture
) -> None:
    with store.locked():
        keys = [_add(store, number) for number in range(6)]
        _plan(store, keys)
        file = store.file("segments", keys[2])
        size = file.stat().st_size
        file.write_bytes(b"PAR1" + bytes(size - 12) + file.read_bytes()[-8:])
        store.bundle()
    assert "segments is not copied into one file" in caplog.text
    assert f"{file.name} is missing or damaged" in caplog.text
    assert [*store.path.glob("bundles/*")] == []


def test_a_bundle_that_is_damaged_is_told_and_made_anew(
    store: study.Store, caplog: pytest.LogCaptureFixture
) -> None:
    with store.locked():
        _plan(store, [_add(store, number) for number in range(6)])
        store.bundle()
        before = store.query(_ROWS).rows
        (file,) = store.path.glob("bundles/*.parquet")
        whole = file.read_bytes()
        file.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
        assert store.query(_ROWS).rows == before
        assert f"{file.name} is damaged and not read" in caplog.text
        assert not store.bundles_are_intact()
        store.bundle()
        assert store.bundles_are_intact()
    assert file.read_bytes() == whole


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_planned_finished_or_forgotten_rows_are_those_of_the_files(
    store: study.Store, seed: int
) -> None:
    rng = random.Random(seed)
    number = 0
    for _ in range(12):
        with store.locked():
            for _ in range(rng.randrange(4)):
                _add(store, number, rng.choice(["one", "two"]))
                number += 1
            keys = [*store.entries]
            _plan(store, rng.sample(keys, rng.randrange(len(keys) + 1)))
            if rng.random() < 0.5:
                bundle(store)
        sets = {entry.testset for entry in store.entries.values()}
        if sets and rng.random() < 0.2:
            store.prune()
        files = store.files().get("segments")
        if files:
            known = bundle_of(store.path, "segments", store.entries)
            assert _rows(source_of(files, known, store.planned()).sql) == _rows(
                source_of(files, None, ()).sql
            )


def _rows(sql: str) -> list[tuple[object, ...]]:
    import duckdb

    with duckdb.connect() as connection:
        return connection.execute(
            f"select task, system, segment, score from ({sql}) order by all"
        ).fetchall()


def test_a_column_that_some_tasks_have_is_told_though_a_bundle_is_read(store: study.Store) -> None:
    with store.locked():
        keys = [_add(store, number) for number in range(8)]
        _plan(store, keys)
        store.bundle()
    told = {row[1]: row[3] for row in store.describe().rows if row[0] == "segments"}
    assert told["more"] == "MORE"
    assert [one.name for one in store.schema("segments").columns][-1] == "more"
