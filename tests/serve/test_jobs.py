"""What a queue promises: each comparison once, whole, in turn, and whatever ends meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from tests.serve.comparisons import (
    BETTER,
    REFERENCE,
    choices,
    finished,
    two_systems,
    upload,
    wait_for,
)

from gnomon import TestSet
from gnomon.core.errors import DataError, OutputError, UsageError
from gnomon.serve.comparison import FileChoice, StepChoice
from gnomon.serve.job_table import Job, StepState
from gnomon.serve.jobs import Queue, StepRun, WaitingStep, explain
from gnomon.serve.problems import NotFound
from gnomon.serve.settings import ServerLimits
from gnomon.serve.workers import Background
from gnomon.serve.workspace import Workspace
from gnomon.studies import Store, open_engine, plan, read_study, run, verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.serve.workspace import Comparison


class Stuck:
    """A comparison whose process waits for a file, for as long as a test wants."""

    def __init__(self, queue: Queue, owner: str = "ann", *methods: str, done: int = 0) -> None:
        draft = two_systems(queue.workspace, owner)
        upload = queue.workspace.draft_folder(draft) / "uploads" / "0"
        upload.unlink()
        os.mkfifo(upload)
        self.queue = queue
        with queue._changed:  # it does not start in between
            comparison = queue.workspace.create(draft, choices(*methods))
            for place, step in enumerate(comparison.job.steps[:done]):
                step.state = "done"
                queue.workspace.jobs.change(comparison.id, place, step)
            queue._queued(queue.workspace.study, comparison.id)
        self.id, self.file = comparison.id, comparison.folder / "uploads" / "0"

    @property
    def pid(self) -> int:
        """Its process, once it runs."""
        wait_for(lambda: any(step.pid for step in self.job.steps))
        return next(step.pid for step in self.job.steps if step.pid)

    @property
    def job(self) -> Job:
        return self.queue.workspace.study(self.id).job

    @property
    def deaths(self) -> int:
        return sum(step.deaths for step in self.job.steps)

    def die(self) -> None:
        """End its process, and wait until that is known."""
        deaths, pid = self.deaths, self.pid
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: self.deaths > deaths)

    def let_go(self) -> None:
        """Let it read on."""
        lines = "".join(f"{line}\n" for line in REFERENCE)
        self.file.with_name("whole").write_text(lines)
        pid = self.pid
        self.file.with_name("whole").replace(self.file)
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def queues(workspace: Workspace) -> Iterator[list[Queue]]:
    """Queues to stop in the end."""
    started: list[Queue] = []
    yield started
    for queue in started:
        queue.stop()


@pytest.fixture(scope="module")
def done(queue: Queue) -> Comparison:
    """A comparison that has finished."""
    return finished(queue.workspace, queue.create(two_systems(queue.workspace), choices()).id)


def test_two_files_are_compared_by_a_process(done: Comparison) -> None:
    assert done.job.state == "done", done.job
    (verdict,) = verdicts(Store(done.store))
    assert str(verdict.verdict[0]).startswith("b is worse than a by ")
    assert not (done.folder / "uploads").exists()
    assert list(TestSet.read(done.texts).systems) == ["a", "b"]


def test_files_are_looked_at_by_a_process(queue: Queue) -> None:
    inspection = queue.inspect(two_systems(queue.workspace))
    assert [(file.role, file.segments) for file in inspection.files] == [
        ("reference", 30),
        ("output", 30),
        ("output", 30),
    ]
    assert inspection.ready
    assert inspection.segments == 30


def test_everything_is_for_the_user_of_the_server_alone(done: Comparison) -> None:
    for path in [done.folder, *done.folder.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_the_same_as_a_command_gives_the_same_store_and_computes_nothing(
    done: Comparison, tmp_path: Path
) -> None:
    before = (done.store / "manifest.jsonl").read_bytes()
    made = plan(read_study(done.folder / "study.toml"))
    outcome = run(made, open_engine("here"))
    assert (outcome.done, outcome.failed) == (0, {})
    assert (done.store / "manifest.jsonl").read_bytes() == before
    fresh = tmp_path / "study.toml"
    fresh.write_text(done.command)
    (tmp_path / "texts").symlink_to(done.texts)
    made = plan(read_study(fresh))
    run(made, open_engine("here"))
    theirs = {key: entry.checksums for key, entry in Store(done.store).entries.items()}
    assert theirs == {
        key: entry.checksums for key, entry in Store(tmp_path / "store").entries.items()
    }


def test_a_step_that_is_refused_leaves_the_comparison(queue: Queue) -> None:
    wanted = choices("compare", "muler", "metaeval")
    wanted.language_pair = "en-sw"
    done = finished(queue.workspace, queue.create(two_systems(queue.workspace), wanted).id)
    assert [step.state for step in done.job.steps] == ["done", "done", "refused"]
    assert done.job.state == "done"
    assert done.job.steps[2].said.startswith("metaeval needs people's judgements")
    assert "metaeval" not in done.command
    steps = read_study(done.folder / "study.toml").steps
    assert [step.method for step in steps] == ["compare", "muler"]


def test_a_language_without_a_tagger_is_said_by_its_name() -> None:
    step = StepState("muler")
    explain(step, [{"code": "error.no_tagger", "params": {"language": "sw"}}])
    assert step.said == (
        "There is no tagger for Swahili here, which would tell its kinds of words apart."
    )
    assert step.remedy == "The owner of this server can install one."


def test_a_language_that_was_not_named_is_said_so() -> None:
    step = StepState("muler")
    explain(step, [{"code": "error.no_language", "text": "", "subjects": {}}])
    assert step.said == "Nobody said which language the translations are in."
    assert step.remedy == "Compare the files anew, and name the language."


def test_an_answer_goes_before_further_methods_of_others(queue: Queue) -> None:
    long = Stuck(queue, "ann", "compare", "score", done=1)
    long.pid  # noqa: B018  # it runs
    one = queue.create(two_systems(queue.workspace, "ben"), choices()).id
    assert finished(queue.workspace, one).job.state == "done"  # beside the other, which is stuck
    assert long.job.state == "running"
    queue.cancel(long.id)
    assert [step.state for step in long.job.steps] == ["done", "cancelled"]


def test_texts_that_do_not_fit_are_refused_in_a_sentence(queue: Queue) -> None:
    files = {"ref.txt": REFERENCE, "a.txt": BETTER, "b.txt": BETTER[:1]}
    refused = finished(queue.workspace, queue.create(upload(queue.workspace, files), choices()).id)
    assert refused.job.state == "refused"
    assert "b leaves out 28 of 30 segments; give the whole" in refused.job.steps[0].said


def test_lines_that_do_not_fit_are_aligned_and_the_answer_says_so(queue: Queue) -> None:
    merged = [" ".join(BETTER[:2]), *BETTER[2:]]
    files = {"ref.txt": REFERENCE, "a.txt": BETTER, "b.txt": merged}
    done = finished(queue.workspace, queue.create(upload(queue.workspace, files), choices()).id)
    assert done.job.state == "done"
    said = {str(one) for entry in Store(done.store).entries.values() for one in entry.notices}
    assert any(one.startswith("b has 29 lines for 30: aligned with a (1 merge") for one in said)


def test_a_process_that_ends_is_started_again_and_the_third_time_the_step_has_failed(
    queue: Queue,
) -> None:
    stuck = Stuck(queue)
    for _ in range(2):
        stuck.die()
        assert stuck.job.active
    stuck.die()
    job = stuck.job
    assert (job.state, job.steps[0].deaths) == ("failed", 3)
    assert job.steps[0].said.startswith("Its process ended 3 times before it was done")
    assert queue.again(stuck.id).job.steps[0].deaths == 0
    stuck.let_go()
    assert finished(queue.workspace, stuck.id).job.state == "done"


def test_what_a_step_said_is_overwritten_and_goes_where_its_comparison_is_gone(
    workspace: Workspace, queues: list[Queue]
) -> None:
    step = StepState("compare", state="refused", said="a line that quotes")
    workspace.jobs.replace("gone", Job([step]))
    workspace.jobs.change("gone", 0, StepState("compare"))
    workspace.jobs.replace("gone", Job([StepState("compare")]))
    queues.append(Queue(workspace))
    queues[0].start()
    assert workspace.jobs.job("gone") is None
    kept = [path.read_bytes() for path in workspace.folder.glob("jobs.sqlite*")]
    assert kept
    assert not any(b"a line that quotes" in each for each in kept)


def test_what_a_process_that_ended_left_is_gone_on_with(queue: Queue) -> None:
    stuck = Stuck(queue)
    stuck.let_go()
    done = finished(queue.workspace, stuck.id)
    assert (done.job.state, done.job.steps[0].deaths) == ("done", 1)


def test_cancelling_ends_the_process(queue: Queue) -> None:
    stuck = Stuck(queue)
    pid = stuck.pid
    queue.cancel(stuck.id)
    assert not Path(f"/proc/{pid}").exists()
    assert (stuck.job.state, stuck.job.steps[0].state) == ("cancelled", "cancelled")
    waiting = Stuck(queue), queue.create(two_systems(queue.workspace), choices()).id
    queue.cancel(waiting[1])
    assert queue.workspace.study(waiting[1]).job.state == "cancelled"
    queue.cancel(waiting[0].id)


def test_cancelling_keeps_what_is_done_and_again_goes_on(queue: Queue) -> None:
    stuck = Stuck(queue, "ann", "compare", "score", done=1)
    queue.cancel(stuck.id)
    assert [step.state for step in stuck.job.steps] == ["done", "cancelled"]
    stuck.file.unlink()
    stuck.file.write_text("".join(f"{line}\n" for line in REFERENCE))
    again = finished(queue.workspace, queue.again(stuck.id).id)
    assert [step.state for step in again.job.steps] == ["done", "done"]


def test_deleting_removes_all_of_a_comparison_even_while_it_runs(queue: Queue) -> None:
    stuck = Stuck(queue)
    pid = stuck.pid
    queue.delete(stuck.id)
    assert not Path(f"/proc/{pid}").exists()
    assert stuck.id not in {comparison.id for comparison in queue.workspace.studies()}
    assert not list(queue.workspace.folder.rglob(f"*{stuck.id}*"))
    assert not list((queue.workspace.folder / "studies").glob(".*"))
    with pytest.raises(NotFound):
        queue.workspace.study(stuck.id)


def test_a_second_server_on_a_folder_is_refused(queue: Queue) -> None:
    second = Queue(Workspace(queue.workspace.folder))
    with pytest.raises(UsageError, match="another gnomon serve runs on the folder"):
        second.start()


def test_a_damaged_table_of_jobs_is_said_with_a_way_on(workspace: Workspace) -> None:
    file = workspace.folder / "jobs.sqlite"
    file.write_bytes(b"no table" * 200)
    with pytest.raises(OutputError, match="delete it"):
        Workspace(workspace.folder)
    file.unlink()
    assert Workspace(workspace.folder).jobs.jobs() == {}


def test_a_system_without_forks_is_told_what_it_can_do(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "fork")
    with pytest.raises(UsageError, match="need Linux or macOS"):
        Queue(workspace).start()


@pytest.mark.verify
def test_no_two_processes_work_on_one_comparison(queue: Queue) -> None:
    import fcntl

    draft = two_systems(queue.workspace)
    with (queue.workspace.draft_folder(draft) / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        id = queue.create(draft, choices()).id  # noqa: A001
        for state in ("running", "queued", "running"):  # processes come and go
            wait_for(lambda: queue.workspace.study(id).job.state == state)  # noqa: B023  # at once
        assert not (queue.workspace.study(id).folder / "texts").exists()
    assert finished(queue.workspace, id).job.state == "done"


@pytest.mark.verify
def test_owners_take_turns(queue: Queue) -> None:
    first = Stuck(queue, "dee")
    assert first.pid
    orders = "dee", "dee", "eve", "fay"
    ids = [queue.create(two_systems(queue.workspace, owner), choices()).id for owner in orders]
    ahead = [queue.ahead(id) for id in ids]  # noqa: A001
    turns = [ids[ahead.index(turn)] for turn in range(1, 5)]
    assert [orders[ids.index(turn)] for turn in turns] == ["eve", "fay", "dee", "dee"]
    assert queue.ahead(turns[-1]) == 4
    assert queue.ahead(first.id) is None
    for turn in turns[2:]:
        queue.delete(turn)
    queue.cancel(first.id)
    done = [finished(queue.workspace, turn) for turn in turns[:2]]
    assert sorted(done, key=lambda comparison: comparison.job.steps[0].started or "") == done


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (ServerLimits(memory=1_000_000), "This needs more than 0.0 GB of memory."),
        (ServerLimits(wall=0), "This takes longer than 0 s."),
    ],
)
def test_what_takes_too_much_is_ended_with_a_way_on(
    workspace: Workspace, queues: list[Queue], limits: ServerLimits, said: str
) -> None:
    queue = Queue(workspace, limits=limits)
    queues.append(queue)
    queue.start()
    stuck = Stuck(queue)
    wait_for(lambda: not stuck.job.active)
    step = stuck.job.steps[0]
    assert (stuck.job.state, step.state, step.said) == ("failed", "failed", said)
    assert step.remedy == "Compare fewer segments."


def test_a_limit_of_computing_is_said_as_one(workspace: Workspace, queues: list[Queue]) -> None:
    queue = Queue(workspace, limits=ServerLimits(cpu=1))
    queues.append(queue)
    queue.start()
    many = 4000
    files = {name: lines * (many // 30) for name, lines in
             {"ref.txt": REFERENCE, "a.txt": BETTER, "b.txt": BETTER[::-1]}.items()}  # fmt: skip
    wanted = choices("compare")
    wanted.metrics = ["ter", "bleu", "chrf"]
    wanted.steps[0].options = {"resamples": 20_000}
    ended = finished(workspace, queue.create(upload(workspace, files), wanted).id)
    assert ended.job.steps[0].said == "This needs more than 1 s of computing."


@pytest.mark.verify
def test_a_server_that_ends_well_counts_no_death(workspace: Workspace, queues: list[Queue]) -> None:
    queue = Queue(workspace)
    queue.start()
    stuck = Stuck(queue)
    pid = stuck.pid
    queue.stop()
    assert not Path(f"/proc/{pid}").exists()
    assert stuck.job.state == "queued"
    stuck.file.unlink()
    stuck.file.write_text("".join(f"{line}\n" for line in REFERENCE))
    second = Queue(Workspace(workspace.folder))
    queues.append(second)
    second.start()
    done = finished(workspace, stuck.id)
    assert (done.job.state, done.job.steps[0].deaths) == ("done", 0)


_SERVER = """
import sys, time
from pathlib import Path
from gnomon.serve.jobs import Queue, explain, StepRun, WaitingStep
from gnomon.serve.workspace import Workspace
queue = Queue(Workspace(Path(sys.argv[1])))
queue.start()
print("ready", flush=True)
time.sleep(600)
"""


def test_no_process_outlives_a_server_that_is_killed_and_its_comparison_runs_again(
    workspace: Workspace, queues: list[Queue]
) -> None:
    draft = two_systems(workspace)
    fifo = workspace.draft_folder(draft) / "uploads" / "0"
    fifo.unlink()
    os.mkfifo(fifo)
    id = workspace.create(draft, choices()).id  # noqa: A001
    folder = workspace.study(id).folder
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(workspace.folder)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline()
        wait_for(lambda: workspace.study(id).job.steps[0].pid)
        child = workspace.study(id).job.steps[0].pid
        server.kill()
    wait_for(lambda: not Path(f"/proc/{child}/cmdline").exists())
    (folder / "uploads" / "0").unlink()
    (folder / "uploads" / "0").write_text("".join(f"{line}\n" for line in REFERENCE))
    assert workspace.study(id).job.state == "running"
    queue = Queue(workspace)
    queues.append(queue)
    queue.start()
    done = finished(workspace, id)
    assert (done.job.state, done.job.steps[0].deaths) == ("done", 1)


def test_a_system_that_is_added_joins_the_others(queue: Queue) -> None:
    wanted = choices("score")
    done = finished(queue.workspace, queue.create(two_systems(queue.workspace), wanted).id)
    draft = upload(queue.workspace, {"new.txt": BETTER[:20] + REFERENCE[20:]})
    choice = FileChoice(file=0, name="new.txt", role="output", title="c")
    added = finished(queue.workspace, queue.add_system(done.id, draft, choice).id)
    store = Store(added.store)
    assert added.job.state == "done"
    assert list(TestSet.read(added.texts).systems) == ["a", "b", "c"]
    assert len(store.entries) == 2  # bleu and chrf of all three: those of two are gone
    with pytest.raises(DataError, match="there is a system 'c' already"):
        queue.add_system(done.id, upload(queue.workspace, {"new.txt": BETTER}), choice)


def test_a_system_that_does_not_fit_is_not_added_and_the_comparison_stays(queue: Queue) -> None:
    done = finished(queue.workspace, queue.create(two_systems(queue.workspace), choices()).id)
    before = (done.store / "manifest.jsonl").read_bytes()
    draft = upload(queue.workspace, {"new.txt": BETTER[:1]})
    choice = FileChoice(file=0, name="new.txt", role="output", title="c")
    after = finished(queue.workspace, queue.add_system(done.id, draft, choice).id)
    assert after.job.state == "done"
    assert after.job.steps[0].said == (
        "It could not be added: c leaves out 28 of 30 segments; give the whole text, or write one"
        " segment a line"
    )
    assert list(TestSet.read(after.texts).systems) == ["a", "b"]
    assert (done.store / "manifest.jsonl").read_bytes() == before


def test_other_options_of_a_method_replace_its_answer(queue: Queue) -> None:
    id = queue.create(two_systems(queue.workspace), choices("score")).id  # noqa: A001
    before = {*Store(finished(queue.workspace, id).store).entries}
    queue.ask(id, StepChoice(method="score", metrics=["ter"]))
    done = finished(queue.workspace, id)
    (entry,) = Store(done.store).entries.values()  # what is not asked for any more is gone
    assert entry.key not in before


def test_what_is_deleted_does_not_come_back_when_something_is_added(queue: Queue) -> None:
    id = Stuck(queue).id  # noqa: A001
    queue.cancel(id)
    draft = upload(queue.workspace, {"new.txt": BETTER})
    choice = FileChoice(file=0, name="new.txt", role="output", title="c")
    changes = [
        lambda: queue.delete(id),
        lambda: queue.add_system(id, draft, choice),
        lambda: queue.rename(id, "new"),
        lambda: queue.again(id),
    ]
    with ThreadPoolExecutor(4) as threads:
        started = [threads.submit(change) for change in changes]
    assert all(isinstance(one.exception(), NotFound | DataError | None) for one in started)
    assert started[0].exception() is None
    assert not (queue.workspace.folder / "studies" / id).exists()
    assert id not in queue.workspace.jobs.jobs()


def test_the_history_is_what_the_folders_say(queue: Queue) -> None:
    ids = [queue.create(two_systems(queue.workspace), choices()).id for _ in range(2)]
    for id in ids:  # noqa: A001
        finished(queue.workspace, id)
    (queue.workspace.study(ids[0]).folder / "names.json").write_text("{")
    there = {comparison.id: comparison.damaged for comparison in queue.workspace.studies()}
    assert (there[ids[0]], there[ids[1]]) == (True, False)
    assert next(iter(there)) == ids[1]
    queue.delete(ids[0])
    assert ids[0] not in {comparison.id for comparison in queue.workspace.studies()}


@pytest.mark.parametrize("id", ["", "..", "a" * 31, "A" * 32, "../" + "a" * 29, "a" * 32, "a\0"])
def test_what_is_no_id_leads_nowhere(workspace: Workspace, id: str) -> None:  # noqa: A002
    for look in (workspace.study, workspace.delete, workspace.draft, workspace.delete_draft):
        with pytest.raises(NotFound):
            look(id)


def test_names_of_users_are_data_and_never_names_of_files(queue: Queue) -> None:
    name = '../../x"]\n[methods.score] <b>\u202e\x7f'
    wanted = choices(title=name)
    wanted.files[1].title = name
    done = finished(queue.workspace, queue.create(two_systems(queue.workspace), wanted).id)
    assert done.job.state == "done"
    assert name in TestSet.read(done.texts).systems
    assert read_study(done.folder / "study.toml").name == name
    names = {path.name for path in queue.workspace.folder.rglob("*")}
    assert not any("x" in name and "[" in name for name in names)


def test_what_is_refused_is_nobodys_to_ask_again_until_its_process_has_ended(
    queue: Queue, workspace: Workspace
) -> None:
    made = workspace.create(two_systems(workspace), choices())
    (step,) = made.job.steps
    step.state = "running"
    worker = SimpleNamespace(killed="")
    job = StepRun(workspace, WaitingStep(made.id, 0, step), worker, ServerLimits())
    job.hear({"refused": [{"code": "x", "text": "No.", "subjects": {}}]})
    assert workspace.study(made.id).job.state == "running"
    assert workspace.again(made.id).job.state == "running"
    job.settle(2)
    (step,) = workspace.study(made.id).job.steps
    assert (step.state, step.said) == ("refused", "No.")


def test_a_comparison_whose_job_cannot_be_kept_is_a_draft_still(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = two_systems(workspace)

    def full(*_: object) -> None:
        raise OutputError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(workspace.jobs, "replace", full)
        with pytest.raises(OutputError):
            workspace.create(draft, choices())
    assert workspace.studies() == []
    with monkeypatch.context() as patch:
        patch.setattr(type(draft_folder := workspace.draft_folder(draft)), "rename", _no_disk)
        with pytest.raises(OSError, match="full"):
            workspace.create(draft, choices())
    assert workspace.jobs.jobs() == {}
    assert draft_folder.is_dir()
    assert workspace.create(draft, choices()).job.state == "queued"


def _no_disk(*_: object) -> None:
    raise OSError(28, "full")


@pytest.mark.verify
def test_where_one_cannot_be_started_others_are_and_it_is_tried_again(
    workspace: Workspace, queues: list[Queue], monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = Queue(workspace, workers=2)
    first = queue.create(two_systems(workspace, "ann"), choices()).id
    second = queue.create(two_systems(workspace, "ben"), choices()).id
    failed: list[str] = []
    begin = Queue._begin

    def once(self: Queue, waiting: WaitingStep, comparison: Comparison) -> None:
        if waiting.id == first and not failed:
            failed.append(first)
            raise OSError(11, "no more processes")
        begin(self, waiting, comparison)

    monkeypatch.setattr(Queue, "_begin", once)
    queues.append(queue)
    queue.start()
    assert finished(workspace, second).job.state == "done"
    assert finished(workspace, first).job.state == "done"
    assert failed == [first]


def test_an_inspection_that_fails_gives_no_older_answer_and_ends_with_the_server(
    workspace: Workspace, queues: list[Queue]
) -> None:
    queue = Queue(workspace)
    queues.append(queue)
    draft = two_systems(workspace)
    assert queue.inspect(draft).segments == 30
    upload = workspace.draft_folder(draft) / "uploads" / "0"
    upload.unlink()
    os.mkfifo(upload)  # it waits for ever
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(queue.inspect, draft)
        wait_for(lambda: queue._inspecting)
        queue.stop()
        with pytest.raises(DataError, match="send smaller ones"):
            waits.result(10)


def test_one_endless_line_is_ended_by_the_limit_of_memory(workspace: Workspace) -> None:
    queue = Queue(workspace, limits=ServerLimits(memory=100_000_000))
    draft = upload(workspace, {"ref.txt": ["x" * 60_000_000], "a.txt": ["y"]})
    with pytest.raises(DataError, match="too much memory"):
        queue.inspect(draft)


def test_what_is_made_beside_pages_is_made_once_under_limits_and_ends_with_its_folder(
    tmp_path: Path,
) -> None:
    background = Background(ServerLimits(wall=1))
    store = tmp_path / "store"
    os.mkfifo(store)
    for _ in range(60):
        background.start("report", tmp_path, store)
    assert background.state("report", tmp_path) == "running"
    assert len(background._made) == 1
    background.stop(tmp_path)
    assert background.state("report", tmp_path) == "none"
    background.start("report", tmp_path, store)
    background._made["report", tmp_path].result(30)
    assert background.state("report", tmp_path) == "ended"


@pytest.mark.verify
def test_many_threads_may_ask_at_once(queue: Queue) -> None:
    ids: list[str] = []

    def one(owner: str) -> None:
        ids.append(queue.create(two_systems(queue.workspace, owner), choices()).id)

    threads = [threading.Thread(target=one, args=(f"user {n}",)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == len(set(ids)) == 3
    assert {finished(queue.workspace, each).job.state for each in ids} == {"done"}
