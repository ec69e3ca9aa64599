"""Results are kept, and nothing is done twice or lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from gnomon import study
from gnomon.core.errors import DataError, OutputError, UsageError
from gnomon.core.testset import TestSet
from gnomon.metrics import score
from gnomon.studies import task_runs as _tasks

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")


def _run(file: Path, engine: str = "here", store: Path | None = None) -> study.RunOutcome:
    plan = study.plan(study.read_study(file))
    place = study.Store.open(store or plan.study.store, create=True)
    chosen = study.open_engine(engine, workers=2)
    try:
        return study.run(plan, chosen, store=place)
    finally:
        chosen.close()


def _bytes(store: Path) -> dict[str, bytes]:
    return {str(f.relative_to(store)): f.read_bytes() for f in store.glob("tables/*/*.parquet")}


def test_the_store_holds_what_score_says(study_file: Path) -> None:
    outcome = _run(study_file)
    made = study.read_study(study_file)
    store = study.Store.open(made.store)
    testset = TestSet.read(made.testsets[0].path).select(segments=range(12))
    expected = {
        (name, metric): value
        for metric in ("bleu", "chrf")
        for name, value in zip(testset.systems, score(testset, metric).system, strict=True)
    }
    found = store.query("select system, metric, score from scores").rows
    assert {(system, metric): value for system, metric, value in found} == pytest.approx(expected)
    assert len(found) == len(expected)
    assert outcome.failed == {}
    assert outcome.done == len(expected) + 1


def test_a_second_run_does_nothing(study_file: Path) -> None:
    first = _run(study_file)
    again = _run(study_file)
    assert (again.done, again.kept) == (0, first.done)


def test_a_changed_line_recomputes_only_what_depends_on_it(study_file: Path) -> None:
    first = _run(study_file)
    study_file.write_text(study_file.read_text().replace("resamples = 20", "resamples = 21"))
    again = _run(study_file)
    assert (again.done, again.kept) == (1, first.done - 1)
    store = study.Store.open(study.read_study(study_file).store)
    # the comparison of before is kept, and no longer shown
    assert store.query("select count(*) from tasks where method = 'compare'").rows == ((1,),)
    assert store.prune() == 1


def test_one_more_system_costs_one_systems_work(study_file: Path) -> None:
    text = study_file.read_text().replace("[methods.compare]\nresamples = 20\n", "")
    testset = TestSet.read(study.read_study(study_file).testsets[0].path)
    last = list(testset.systems)[-1]
    study_file.write_text(text.replace("first = 12", f'first = 12\nexclude = ["{last}"]'))
    before = _run(study_file)
    study_file.write_text(text)
    assert _run(study_file).done == 2  # two metrics
    assert before.done == 2 * (len(testset.systems) - 1)


def test_a_pool_gives_the_same_bytes(study_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("loky", reason="needs loky: pip install 'gnomon[study]'")
    _run(study_file, "here", tmp_path / "one")
    _run(study_file, "pool", tmp_path / "two")
    assert _bytes(tmp_path / "one") == _bytes(tmp_path / "two")


_THREADS = """
from threadpoolctl import threadpool_info

def value(candidate, reference):
    return max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
"""


def test_tasks_sum_with_one_thread_whatever_number_there_are(
    study_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # with another number, products of matrices end in other digits
    (tmp_path / "threads_of_blas.py").write_text(_THREADS)
    monkeypatch.syspath_prepend(tmp_path)
    text = study_file.read_text().replace(
        '["bleu", "chrf"]', "[\"python('threads_of_blas:value')\"]"
    )
    study_file.write_text(text.replace("[methods.compare]\nresamples = 20\n", ""))
    plan = study.plan(study.read_study(study_file, allow_code=True), allow_code=True)
    with threadpool_limits(4, user_api="blas"):
        assert not study.run(plan, study.open_engine("here")).failed
    store = study.Store.open(plan.study.store)
    assert store.query("select distinct score from scores").rows == ((1.0,),)


def test_rows_come_in_the_order_of_the_plan_whichever_task_ended_first(study_file: Path) -> None:
    _run(study_file)
    store = study.Store.open(study.read_study(study_file).store)
    asked = ("from scores", "from segments", "from tasks", "from leaderboard")
    before = [store.query(sql).rows for sql in asked]
    manifest = store.path / "manifest.jsonl"
    lines = manifest.read_bytes().splitlines(keepends=True)
    manifest.write_bytes(b"".join(reversed(lines)))
    again = study.Store.open(store.path)
    assert [again.query(sql).rows for sql in asked] == before


@pytest.mark.verify
def test_a_dask_cluster_gives_the_same_bytes(study_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs distributed: pip install 'gnomon[dask]'")
    program = """
import sys, logging
from distributed import LocalCluster
from gnomon import study
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                      silence_logs=logging.CRITICAL) as cluster:
        engine = study.open_engine(cluster.scheduler_address.replace("tcp", "dask"))
        plan = study.plan(study.read_study(sys.argv[1]))
        store = study.Store.open(sys.argv[2], create=True)
        assert not study.run(plan, engine, store=store).failed
        engine.close()
"""
    file = tmp_path / "program.py"
    file.write_text(program)
    _run(study_file, "here", tmp_path / "one")
    done = subprocess.run(
        [sys.executable, str(file), str(study_file), str(tmp_path / "two")],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert _bytes(tmp_path / "one") == _bytes(tmp_path / "two")


def test_a_task_that_fails_leaves_the_others(study_file: Path) -> None:
    study_file.with_name("none.tsv").write_text("system\tsegment\tscore\n")  # of no system
    text = study_file.read_text().replace('["bleu", "chrf"]', '["bleu", "scores(\'none.tsv\')"]')
    study_file.write_text(text.replace("[methods.compare]\nresamples = 20\n", ""))
    outcome = _run(study_file)
    assert outcome.done == len(outcome.failed) > 0
    assert all("none.tsv" in str(said) for said in outcome.failed.values())
    assert all("scores" in said.subjects["tasks"][0] for said in outcome.failed.values())


_DEADLY = """
import os, signal, time
from pathlib import Path

def value(candidate, reference):
    marks = Path({marks!r})
    if candidate == "kill" and len(list(marks.iterdir())) < {times}:
        (marks / str(time.monotonic_ns())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0
"""
_PROGRAM = """
import logging, sys
from contextlib import ExitStack
from gnomon import study
if __name__ == "__main__":
    plan = study.plan(study.read_study(sys.argv[1], allow_code=True), allow_code=True)
    with ExitStack() as stack:
        name = sys.argv[2]
        if name == "dask":
            import dask
            from distributed import LocalCluster
            # a local cluster drops workers that take long to start again
            dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})
            cluster = stack.enter_context(LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None,
                silence_logs=logging.CRITICAL))
            name = cluster.scheduler_address.replace("tcp", "dask")
        engine = study.open_engine(name, workers=2)
        outcome = study.run(plan, engine)
        engine.close()
    print(outcome.done, len(outcome.failed), *outcome.failed.values())
"""


def _killed(folder: Path, times: int, engine: str) -> tuple[str, study.Store]:
    """A study one of whose systems kills its worker so often; what came of it."""
    systems = folder / "set" / "systems"
    systems.mkdir(parents=True)
    (folder / "deaths").mkdir()
    (folder / "set" / "ref.A.txt").write_text("a b\nc d\n")
    for number in range(6):
        (systems / f"sys{number}.txt").write_text("a b\n" + ("kill\n" if number == 2 else "c e\n"))
    file = folder / "study.toml"
    file.write_text("metrics = [\"python('deadly:value')\"]\n[[testsets]]\npath = 'set'\n")
    deadly = _DEADLY.format(marks=str(folder / "deaths"), times=times)
    (folder / "deadly.py").write_text(deadly)
    program = folder / "program.py"
    program.write_text(_PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program), str(file), engine],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, study.Store.open(folder / "study.store")


@pytest.mark.verify
@pytest.mark.parametrize(
    ("engine", "times", "done", "failed"),
    [
        pytest.param("pool", 1, 6, 0, marks=pytest.mark.verify),
        ("pool", 99, 5, 1),
        pytest.param("dask", 1, 6, 0, marks=pytest.mark.verify),
        pytest.param("dask", 99, 5, 1, marks=pytest.mark.verify),
    ],
)
def test_a_worker_that_dies_loses_and_doubles_nothing(
    tmp_path: Path, engine: str, times: int, done: int, failed: int
) -> None:
    package = {"pool": "loky", "dask": "distributed"}[engine]
    pytest.importorskip(package, reason=f"needs {package}: pip install 'gnomon[study,dask]'")
    said, store = _killed(tmp_path, times, engine)
    assert said.startswith(f"{done} {failed}")
    assert ("was set aside" in said) == bool(failed)
    systems = [row[0] for row in store.query("select system from scores order by 1").rows]
    assert systems == [f"sys{n}" for n in range(6) if not (failed and n == 2)]


def test_a_cluster_without_workers_is_not_waited_for_for_ever(
    study_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from concurrent.futures import Future

    from gnomon.studies import execution

    class Deserted:
        workers = 2

        def prepare(self, *_: object) -> None:
            pass

        def call_workers(self, *_: object) -> dict[str, object]:
            return {}

        def submit(self, *_: object) -> Future[object]:
            return Future()

        def lost(self) -> bool:
            return True

    monkeypatch.setattr(execution, "_LOOK", 0.01)
    plan = study.plan(study.read_study(study_file))
    outcome = study.run(plan, Deserted())  # type: ignore[arg-type]  # as much of an engine as it needs
    assert len(outcome.failed) == len(plan.tasks)
    assert all("no worker any more" in str(said) for said in outcome.failed.values())


@pytest.mark.parametrize("times", [1, 2])
def test_a_task_whose_answer_got_lost_on_its_way_is_done_again(
    study_file: Path, times: int
) -> None:
    from concurrent.futures import Future

    plan = study.plan(study.read_study(study_file))

    class Stumbling:
        workers = 2

        def __init__(self) -> None:
            self.left = times

        def prepare(self, *_: object) -> None:
            pass

        def call_workers(self, *_: object) -> dict[str, object]:
            return {}

        def submit(
            self, function: Callable[..., object], task: _tasks.Task, *given: object
        ) -> object:
            future: Future[object] = Future()
            if task.key == plan.tasks[1].key and self.left:
                self.left -= 1
                future.set_exception(TypeError("cannot unpack non-iterable Done object"))
            else:
                future.set_result(function(task, *given))
            return future

        def lost(self) -> bool:
            return False

    outcome = study.run(plan, Stumbling())  # type: ignore[arg-type]  # as much of an engine as it needs
    assert outcome.done == len(plan.tasks) - (times == 2)
    assert [*map(str, outcome.failed.values())] == [
        "TypeError: cannot unpack non-iterable Done object"
    ] * (times == 2)


def test_what_a_cluster_cancels_is_told(study_file: Path) -> None:
    from concurrent.futures import Future

    class Leaving:
        workers = 2

        def prepare(self, *_: object) -> None:
            pass

        def call_workers(self, *_: object) -> dict[str, object]:
            return {}

        def submit(self, *_: object) -> Future[object]:
            future: Future[object] = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

        def lost(self) -> bool:
            return False

    plan = study.plan(study.read_study(study_file))
    outcome = study.run(plan, Leaving())  # type: ignore[arg-type]  # as much of an engine as it needs
    assert len(outcome.failed) == len(plan.tasks)
    assert all("the cluster cancelled it" in str(said) for said in outcome.failed.values())


def test_other_texts_than_planned_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    (folder / "systems").mkdir(parents=True)
    (folder / "ref.A.txt").write_text("a b\nc d\n")
    (folder / "systems" / "s.txt").write_text("a b\nc e\n")
    file = tmp_path / "study.toml"
    file.write_text('metrics = ["bleu"]\n[[testsets]]\npath = "set"\n')
    plan = study.plan(study.read_study(file))
    (folder / "systems" / "s.txt").write_text("a b\nc f\n")
    with pytest.raises(DataError, match="has changed since the study was planned"):
        _tasks.execute(plan.tasks[0])


def test_only_one_process_writes(study_file: Path) -> None:
    from gnomon.studies.result_store import locked

    made = study.read_study(study_file)
    store = study.Store.open(made.store, create=True)
    with locked(store.path), pytest.raises(DataError, match="another process"):
        _run(study_file)


def test_unknown_engines_and_workers_are_told() -> None:
    with pytest.raises(UsageError, match="pool"):
        study.open_engine("poool")
    with pytest.raises(UsageError, match="at least one worker"):
        study.open_engine("pool", workers=0)


def test_a_folder_with_other_things_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(OutputError, match="holds something else"):
        study.Store.open(tmp_path, create=True)


def test_some_tasks_may_be_done_and_others_left_for_later(study_file: Path) -> None:
    plan = study.plan(study.read_study(study_file))
    first = {task.key for task in plan.tasks if task.method == "compare"}
    stages = []
    with study.reporting(lambda stage, done, total: stages.append((stage, done, total))):
        outcome = study.run(plan, study.open_engine("here"), only=first)
    store = study.Store.open(plan.study.store)
    assert (outcome.done, set(store.entries)) == (len(first), first)
    assert store.planned() == [task.key for task in plan.tasks]
    assert ("segments and n-grams", 1, 1) in stages
    rest = study.run(plan, study.open_engine("here"))
    assert (rest.kept, rest.done) == (len(first), len(plan.tasks) - len(first))
