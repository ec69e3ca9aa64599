"""The store survives whatever happens to the process that writes."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gnomon import study
from gnomon.cli import main
from gnomon.core.errors import DataError, OutputError, UnknownNameError, UsageError, WrongTypeError

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")


@pytest.fixture
def store(study_file: Path, finished: Callable[[Path], study.Store]) -> study.Store:
    return finished(study_file)


@pytest.mark.parametrize("name", ["manifest.jsonl", "plan.json", "sketches.json"])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(store: study.Store, name: str) -> None:
    (store.path / name).unlink()
    os.mkfifo(store.path / name)
    for create in (False, True):
        with pytest.raises(DataError, match=rf"{name} is a pipe, a socket or a device"):
            study.Store.open(store.path, create=create)


@contextmanager
def _soon() -> Iterator[None]:
    """Ends what waits for ever."""

    def ended(*_: object) -> None:
        raise AssertionError("it waits for a pipe")

    before = signal.signal(signal.SIGALRM, ended)
    signal.alarm(60)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_a_pipe_in_place_of_a_table_is_not_waited_for(
    store: study.Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = store.files()["scores"][0]
    file.unlink()
    os.mkfifo(file)
    with _soon():
        for act in (
            lambda: store.query("select * from scores"),
            lambda: store.export(tmp_path / "out"),
        ):
            with pytest.raises(DataError, match=rf"{file.name} is a pipe, a socket or a device"):
                act()
        assert main(["report", str(store.path), "-o", str(tmp_path / "page.html")]) == 1
    assert f"{file.name} is a pipe, a socket or a device" in capsys.readouterr().err


def test_a_pipe_in_place_of_a_copy_of_tables_is_passed_over(store: study.Store) -> None:
    (store.path / "bundles").mkdir(exist_ok=True)
    os.mkfifo(store.path / "bundles" / "scores.json")
    with _soon():
        assert store.query("select count(*) from scores").rows


def test_a_store_is_opened_by_its_constructor_and_nothing_else_is(
    store: study.Store, tmp_path: Path
) -> None:
    assert study.Store(store.path).methods() == store.methods() == ("score", "compare")
    assert study.Store(str(store.path)).files()  # type: ignore[arg-type]  # as users write it
    for given in (5, None, ["a"]):
        for made in (study.Store, study.Store.open):
            with pytest.raises(WrongTypeError, match=r"takes the folder of a store, a str or a"):
                made(given)  # type: ignore[arg-type]  # wrong on purpose
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    told = {"file": "file is a file; a store is a folder", "empty": "there is no store in .*empty",
            "none": "there is no store in .*none", "pipe": "pipe is a pipe, a socket"}  # fmt: skip
    for name, what in told.items():
        with pytest.raises(DataError, match=what):
            study.Store(tmp_path / name)


def test_a_torn_line_and_files_of_no_task_are_taken_away(store: study.Store) -> None:
    manifest = store.path / "manifest.jsonl"
    whole = manifest.read_bytes()
    lines = [line + b"\n" for line in whole.split(b"\n")[:-1]]
    manifest.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    lost = json.loads(lines[-1])["key"]
    (store.path / "tables" / "scores" / ".scratch.tmp").touch()
    reader = study.Store.open(store.path)
    assert lost not in reader.entries  # a reader is not disturbed
    reader.repair()
    assert manifest.read_bytes() == b"".join(lines[:-1])
    left = [f for f in store.path.glob("tables/*/*") if f.stem == lost or f.name[0] == "."]
    assert left == []


_PROGRAM = """
import sys
from gnomon import example, study
plan = study.plan(study.read_study(sys.argv[1]))
print("ready", flush=True)
study.run(plan, study.open_engine("here"))
"""


def _killed_at(file: Path, seconds: float) -> None:
    running = subprocess.Popen([sys.executable, "-c", _PROGRAM, str(file)], stdout=subprocess.PIPE)
    assert running.stdout is not None
    running.stdout.readline()
    time.sleep(seconds)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    running.stdout.close()


@pytest.mark.parametrize(
    "kills", [pytest.param(4, marks=pytest.mark.slow), pytest.param(100, marks=pytest.mark.verify)]
)
def test_a_kill_at_any_time_loses_the_running_task_at_most(study_file: Path, kills: int) -> None:
    plan = study.plan(study.read_study(study_file))
    draw = random.Random(7)
    known: set[str] = set()
    for _ in range(kills):
        if plan.study.store.exists() and draw.random() < 0.2:
            shutil.rmtree(plan.study.store)  # begin anew: otherwise all is soon done
            known = set()
        _killed_at(study_file, draw.uniform(0.0, 0.5))
        if not (plan.study.store / "store.json").exists():
            continue
        store = study.Store.open(plan.study.store)
        assert known <= set(store.entries)  # what was finished stays
        known = set(store.entries)
        for name, files in store.files().items():
            rows = store.query(f'select count(*) from "{name}"').rows[0][0]
            assert rows == sum(store.entries[f.stem].rows[name] for f in files)
    study.run(plan, study.open_engine("here"))
    store = study.Store.open(plan.study.store)
    assert set(store.entries) == {task.key for task in plan.tasks}
    lines = (store.path / "manifest.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    keys = [json.loads(line)["key"] for line in lines]
    assert len(keys) == len(set(keys))


def test_readers_see_finished_tasks_once_while_a_run_goes_on(study_file: Path) -> None:
    plan = study.plan(study.read_study(study_file))
    seen: list[int] = []

    def read(*_: object) -> None:
        reader = study.Store.open(plan.study.store)
        seen.append(len(reader.entries))
        if "scores" in reader.files():
            counts = "select count(*), count(distinct (system, metric)) from scores"
            finished = sum("scores" in entry.rows for entry in reader.entries.values())
            assert reader.query(counts).rows == ((finished, finished),)

    outcome = study.run(plan, study.open_engine("here"), progress=read)
    assert outcome.failed == {}
    assert seen == list(range(1, outcome.done + 1))


def test_nothing_is_deleted_while_another_process_writes(store: study.Store) -> None:
    with store.locked(), pytest.raises(DataError, match="another process"):
        study.Store.open(store.path).prune()


def test_queries_reach_nothing_outside(store: study.Store, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    for sql in (
        f"select * from '{tmp_path / 'secret.csv'}'",
        f"copy (select 1) to '{tmp_path / 'out.csv'}'",
        "set enable_external_access = true",
        "install httpfs",
    ):
        with pytest.raises(UsageError):
            store.query(sql)
    assert not (tmp_path / "out.csv").exists()


_COPY = "copy (select 'x' as a) to '{}'"


@pytest.mark.parametrize(
    "sql",
    [
        _COPY.format("{store}/manifest.jsonl"),
        _COPY + " (format parquet, use_tmp_file false)",
        f"with a as ({_COPY} (use_tmp_file false)) select 1",
        f"with a as ({_COPY} (use_tmp_file false)) pivot scores on metric using sum(score)",
        f"create table t as pivot scores on metric using sum(score); {_COPY}",
        f"select 1; {_COPY}",
        f"select 1) ; {_COPY} (use_tmp_file false); select (1",
        "attach '{store}/evil.db'",
        f"select * from query('{_COPY}')",
        "pragma table_info('scores')",
        "explain analyze " + _COPY,
        "drop view scores",
        "update extensions",
    ],
)
def test_queries_write_nothing(store: study.Store, sql: str) -> None:
    before = {str(f): f.read_bytes() for f in store.path.rglob("*") if f.is_file()}
    with pytest.raises(UsageError):
        store.query(sql.replace("{store}", str(store.path)).replace("{}", str(_a_file(store))))
    assert {str(f): f.read_bytes() for f in store.path.rglob("*") if f.is_file()} == before


def _a_file(store: study.Store) -> Path:
    """A file that queries of scores read."""
    return store.files()["scores"][0].resolve()


@pytest.mark.parametrize(
    "sql",
    [
        "from scores",
        "with a as (from scores) select count(*) from a;",
        "pivot scores on metric using avg(score) group by system -- wide",
        "select 'a copy' as what, score from scores order by score",
        "select * from (unpivot (select system, score from scores) on score)",
        "describe scores",
        "show tables",
        "summarize scores",
        "values (1), (2)",
        "select 'a copy; of it' as said, metric as query from scores",
        f"-- the query {'-' * 200}\nselect count(*) from scores",
        "select 'slow query (all)' as said -- query (x)",
        'select score as "query" from scores',
    ],
)
def test_whatever_reads_is_answered(store: study.Store, sql: str) -> None:
    assert store.query(sql).rows


@pytest.mark.parametrize("sql", ["", ";", " -- nothing", "select 1; select 2"])
def test_a_query_is_one_statement(store: study.Store, sql: str) -> None:
    with pytest.raises(UsageError, match="write one SELECT"):
        store.query(sql)


def test_wrong_sql_is_told_with_the_tables(store: study.Store) -> None:
    with pytest.raises(UsageError, match=r"there are the tables.*scores"):
        store.query("select * from score")


def _with_another_metric(study_file: Path) -> study.StudyPlan:
    study_file.write_text(study_file.read_text().replace('"chrf"]', '"chrf", "ter"]'))
    return study.plan(study.read_study(study_file))


def test_pruning_leaves_what_another_process_finished_meanwhile(
    store: study.Store, study_file: Path
) -> None:
    plan = _with_another_metric(study_file)
    study.run(plan, study.open_engine("here"))
    store.prune()
    assert set(study.Store.open(store.path).entries) == {task.key for task in plan.tasks}


def test_a_run_that_prunes_lets_nobody_write_in_between(
    store: study.Store, study_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prune, seen = study.Store.prune, []

    def watched(self: study.Store) -> int:
        with (
            pytest.raises(DataError, match="another process"),
            study.Store.open(self.path).locked(),
        ):
            pass
        seen.append(prune(self))
        return seen[-1]

    monkeypatch.setattr(study.Store, "prune", watched)
    study_file.write_text(study_file.read_text().replace("resamples = 20", "resamples = 21"))
    plan = study.plan(study.read_study(study_file))
    assert study.run(plan, study.open_engine("here"), prune=True).pruned == 1
    assert seen == [1]


@pytest.mark.parametrize("layout", [3, 99, "4", None])
def test_another_layout_is_refused(store: study.Store, layout: object) -> None:
    (store.path / "store.json").write_text(json.dumps({"gnomon-store": layout}))
    for create in (False, True):
        with pytest.raises(DataError, match=r"has layout .* reads layout 4; run the study into"):
            study.Store.open(store.path, create=create)


def test_a_store_tells_its_test_sets_and_reads_their_texts_again(
    store: study.Store, study_file: Path
) -> None:
    (found,) = study.Store.open(store.path).sets()
    assert found.source == study.read_study(study_file).testsets[0]
    testset = found.read()
    assert testset.segments == found.sketch.segments == 12
    assert list(testset.systems) == list(found.sketch.systems)


@pytest.mark.parametrize("text", ["?", "[" * 100_000, '{"gnomon-store": ' + "[" * 100_000])
def test_a_damaged_store_is_told(store: study.Store, text: str) -> None:
    (store.path / "store.json").write_text(text)
    with pytest.raises(DataError, match=r"store\.json is damaged"):
        study.Store.open(store.path)


def test_export_writes_all_tables_in_every_kind(store: study.Store, tmp_path: Path) -> None:
    import duckdb

    counts = store.export(tmp_path / "all.duckdb")
    with duckdb.connect(str(tmp_path / "all.duckdb"), read_only=True) as found:
        for name, count in counts.items():
            assert found.execute(f'select count(*) from "{name}"').fetchone() == (count,)
    assert store.export(tmp_path / "csv") == counts
    for name, count in counts.items():
        file = tmp_path / "csv" / f"{name}.csv"
        assert duckdb.execute(f"select count(*) from '{file}'").fetchone() == (count,)


def test_export_does_not_overwrite(store: study.Store, tmp_path: Path) -> None:
    (tmp_path / "x.duckdb").touch()
    with pytest.raises(OutputError, match="is there already"):
        store.export(tmp_path / "x.duckdb")
    with pytest.raises(UnknownNameError):
        store.export(tmp_path / "y.duckdb", tables=["score"])
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(OutputError, match="cannot write"):
        store.export(tmp_path / "circle")


def test_a_frame_has_the_rows_of_its_table(store: study.Store) -> None:
    frame = store.query("from scores").to_frame()
    assert frame.height == store.query("select count(*) from scores").rows[0][0]
