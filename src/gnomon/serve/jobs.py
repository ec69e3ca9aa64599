"""Queue of jobs of a server, and supervision of their processes."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from gnomon.core.errors import DataError, OutputError, UsageError
from gnomon.serve.comparison import UPLOADS, new_job, now
from gnomon.serve.job_files import BUSY
from gnomon.serve.job_table import Job, StepState
from gnomon.serve.problems import NotFound, word_error
from gnomon.serve.settings import ServerLimits
from gnomon.serve.workers import Worker
from gnomon.serve.workspace import INSPECTION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gnomon.serve._inspection import Inspection
    from gnomon.serve.comparison import ComparisonChoices, FileChoice, StepChoice
    from gnomon.serve.job_table import JobState
    from gnomon.serve.workspace import Comparison, Workspace

__all__ = ["Queue", "StepRun", "WaitingStep", "explain"]


_log = logging.getLogger(__name__)
#: how many times a process may end in the midst of a step
_CHANCES = 3
#: seconds until a comparison is tried again that another process still works on
_LATER = 0.5
#: seconds that an inspection may take, and how many run at once
_INSPECTION, _INSPECTIONS = 120, 2


class WaitingStep(NamedTuple):
    """The next step of a comparison that waits."""

    id: str
    place: int
    step: StepState

    @property
    def first(self) -> bool:
        """True if it is the one that answers."""
        return self.place == 0


@dataclass
class _Running:
    worker: Worker
    first: bool


class Queue:
    """Comparisons that wait and run; a process for each method, ``workers`` at once.

    The first method of a comparison, which answers it, goes before further methods of others: these
    take all processes but one, and where there is one alone, an answer runs beside it.

    Everything that it knows is on disk: a new queue on the same workspace goes on where this one
    ended, however it ended. Its methods may be called from any thread.

    Args:
        workspace: where the comparisons are.
        workers: how many run at once.
        limits: what one of them may take.
    """

    def __init__(
        self, workspace: Workspace, workers: int = 1, limits: ServerLimits | None = None
    ) -> None:
        self.workspace, self.workers = workspace, workers
        self.limits = limits or ServerLimits()
        #: of threads that wait for inspections: those that make pages wait for none
        self.inspections = anyio.CapacityLimiter(_INSPECTIONS)
        self._changed = threading.Condition(threading.RLock())
        self._running: dict[str, _Running] = {}
        self._inspecting: set[Worker] = set()
        self._thread: threading.Thread | None = None
        self._stopping = False

    def start(self) -> None:
        """Take the workspace, put back what was interrupted, and begin."""
        if not hasattr(os, "fork"):
            raise UsageError(
                "comparisons in a browser need Linux or macOS (in Windows, WSL); gnomon serve STORE"
                " shows studies everywhere"
            )
        self.workspace.hold()
        comparisons = list(self.workspace.studies())
        for left in self.workspace.jobs.jobs().keys() - {one.id for one in comparisons}:
            self.workspace.jobs.forget(left)  # a deletion that was interrupted
        for comparison in comparisons:
            self._put_back(comparison)
        self._thread = threading.Thread(target=self._dispatch, name="queue", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End what runs, which goes on at the next start, and let go of the workspace."""
        with self._changed:
            self._stopping = True
            for worker in (*self._inspecting, *(each.worker for each in self._running.values())):
                worker.kill("stopped")
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._running)
        if self._thread is not None:
            self._thread.join()
        self.workspace.release()

    # What pages ask for.

    def inspect(self, draft: str, encodings: Mapping[int, str] | None = None) -> Inspection:
        """Look at the files of a draft, in a process of its own."""
        self.workspace.confirm_encodings(draft, encodings or {})
        folder = self.workspace.draft_folder(draft)
        (folder / INSPECTION).unlink(missing_ok=True)
        limits = self.limits
        room = max(0, limits.quota - self.workspace.bytes_used())
        most = (limits.files, limits.file, min(limits.upload, room))
        worker = Worker("inspect", folder, limits, _INSPECTION, *most)
        self._inspecting.add(worker)
        worker.wait()
        self._inspecting.discard(worker)
        inspection = self.workspace.inspection(draft)
        if inspection is None:
            raise DataError(
                "these files take too much memory or time to be read; send smaller ones"
            )
        return inspection

    def create(self, draft: str, choices: ComparisonChoices) -> Comparison:
        """Make a comparison of a draft, and queue it."""
        return self._queued(self.workspace.create, draft, choices)

    def add_system(self, id: str, draft: str, choice: FileChoice) -> Comparison:  # noqa: A002
        """Give a comparison one more system, and queue it."""
        return self._queued(self.workspace.add_system, id, draft, choice)

    def ask(self, id: str, step: StepChoice) -> Comparison:  # noqa: A002
        """Have a method run on a comparison, in place of what it gave before, and queue it."""
        with self._changed:
            comparison = self.workspace.study(id)
            states = {state.method: state for state in comparison.job.steps}
            state = states.get(step.method)
            known = step in comparison.about.choices.steps and state is not None
            if known and state is not None and (state.is_open or state.state == "done"):
                return comparison
            return self._queued(self.workspace.add_method, id, step)

    def again(self, id: str) -> Comparison:  # noqa: A002
        """Queue a comparison again, for what is not done."""
        return self._queued(self.workspace.again, id)

    def rename(self, id: str, title: str) -> Comparison:  # noqa: A002
        """Give a comparison another title."""
        return self._queued(self.workspace.rename, id, title)

    def cancel(self, id: str) -> None:  # noqa: A002
        """End a comparison; what is done of it stays."""
        with self._changed:
            job = self.workspace.study(id).job
            for place, step in enumerate(job.steps):
                if step.state == "queued":
                    step.state, step.finished = "cancelled", now()
                    self.workspace.jobs.change(id, place, step)
            self._kill(id, "cancelled")

    def delete(self, id: str) -> None:  # noqa: A002
        """Delete all of a comparison; if it runs, its process is ended first."""
        with self._changed:
            self.cancel(id)
            self.workspace.delete(id)

    def ahead(self, id: str) -> int | None:  # noqa: A002
        """Number of jobs that run or start before a comparison; None where it does not wait."""
        with self._changed:
            order = [waiting.id for waiting in self._order()]
            if id not in order:
                return None
            busy = len(self._running) if len(self._running) >= self.workers else 0
            return order.index(id) + busy

    # The order in which comparisons run.

    def _queued(self, change: Callable[..., Comparison], *given: object) -> Comparison:
        """Change a comparison while none starts or is deleted, and look what can start."""
        with self._changed:
            comparison = change(*given)
            self._changed.notify_all()
        return comparison

    def _put_back(self, comparison: Comparison) -> None:
        """Queue what a server that ended had not finished."""
        if comparison.damaged:
            return
        job, anew = comparison.job, new_job(comparison.about)
        if not job.active and (comparison.folder / UPLOADS).is_dir():
            job = anew  # a system that was to be added
        for step in job.steps:
            if step.state == "running":
                _count_death(step)
        known = {step.method: step for step in job.steps}
        steps = [known.get(step.method, step) for step in anew.steps]
        self.workspace.jobs.replace(comparison.id, Job(steps))

    def _order(self) -> list[WaitingStep]:
        """Who waits, in the order in which they will run: those without an answer first."""
        last: dict[str, str] = {}
        waiting: list[WaitingStep] = []
        for id, job in self.workspace.jobs.jobs().items():  # noqa: A001  # the word for it
            for step in job.steps:
                last[step.owner] = max(last.get(step.owner, ""), step.started or "")
            places = [n for n, step in enumerate(job.steps) if step.state == "queued"]
            if places and id not in self._running:
                waiting.append(WaitingStep(id, places[0], job.steps[places[0]]))
        waiting.sort(key=lambda each: each.step.queued)
        turns: Counter[tuple[str, bool]] = Counter()  # each owner in turn, who waited longest first
        keyed = []
        for each in waiting:
            owner = each.step.owner
            keyed.append((not each.first, turns[owner, each.first], last[owner], each))
            turns[owner, each.first] += 1
        return [each for *_, each in sorted(keyed, key=lambda key: key[:3])]

    def _kill(self, id: str, why: str) -> None:  # noqa: A002
        """End the process of a comparison, and wait until it has ended."""
        while id in self._running:
            self._running[id].worker.kill(why)
            self._changed.wait(_LATER)

    # The thread that starts processes, and those that wait for their ends.

    def _dispatch(self) -> None:
        with self._changed:
            while not self._stopping:
                try:
                    self._start_waiting()
                except Exception:  # noqa: BLE001  # it is tried again
                    _log.exception("the queue goes on after an error")
                    self._changed.wait(_LATER)
                else:
                    self._changed.wait()

    def _start_waiting(self) -> None:
        """Begin what may begin; where that fails, those behind it go first."""
        failed: Exception | None = None
        for waiting in self._order():
            if self._has_place(first=waiting.first):
                try:
                    comparison = self.workspace.study(waiting.id)
                    if not comparison.damaged:
                        self._begin(waiting, comparison)
                except NotFound:
                    continue
                except Exception as error:  # noqa: BLE001  # a full disk, say
                    failed = error
        if failed is not None:
            raise failed

    def _has_place(self, *, first: bool) -> bool:
        """True if one more process may start."""
        firsts = [running.first for running in self._running.values()]
        if len(firsts) >= max(2, self.workers):
            return False
        most = self.workers if first else max(1, self.workers - 1)
        return firsts.count(first) < most

    def _begin(self, waiting: WaitingStep, comparison: Comparison) -> None:
        place, step = waiting.place, waiting.step
        steps = enumerate(comparison.job.steps)
        places = [n for n, other in steps if n == place or other.state == "done"]
        worker = Worker("run", comparison.folder, self.limits, self.limits.wall, *places)
        self._running[waiting.id] = _Running(worker, waiting.first)
        step.state, step.started, step.finished = "running", now(), None
        step.pid, step.said, step.remedy = worker.pid, "", ""
        job = StepRun(self.workspace, waiting, worker, self.limits)
        try:
            self.workspace.jobs.change(waiting.id, place, step)
        finally:
            threading.Thread(target=self._attend, args=(waiting.id, job), daemon=True).start()

    def _attend(self, id: str, job: StepRun) -> None:  # noqa: A002
        """Hear what a process says, until it ends."""
        try:
            code = job.worker.wait(job.hear)
            if code == BUSY:
                time.sleep(_LATER)
            job.settle(code)
        except Exception:  # noqa: BLE001  # a full disk, say: it is put back at the next start
            _log.exception("what became of a job cannot be written down")
        finally:
            with self._changed:
                del self._running[id]
                self._changed.notify_all()


class StepRun:
    """One method of a comparison while its process runs."""

    def __init__(
        self, workspace: Workspace, waiting: WaitingStep, worker: Worker, limits: ServerLimits
    ) -> None:
        self.worker = worker
        self._workspace, self._limits = workspace, limits
        self._id, self._place, self._step = waiting
        self._unfit = False
        self._refused: JobState | None = None

    def hear(self, line: Mapping[str, Any]) -> None:
        """Write down a line of the process."""
        step = self._step
        if "stage" in line:
            step.stage, step.done, step.total = (
                line["stage"],
                line.get("done", 0),
                line.get("total", 0),
            )
        states: tuple[JobState, ...] = ("refused", "failed")
        for state in states:
            if line.get(state):
                self._refused = state  # while the process lives, nothing else may begin
                explain(step, line[state])
        self._unfit |= "unfit" in line
        step.said = line.get("unfit") or line.get("said") or step.said
        with suppress(OutputError):  # the next line is written down, or the end
            self._keep()

    def settle(self, code: int) -> None:
        """Write down what became of it."""
        step, why = self._step, self.worker.killed
        if code == -signal.SIGXCPU:
            why = "cpu"
        step.pid, step.stage, step.finished = None, "", now()
        if self._unfit:
            self._refuse_all()
        elif why == "cancelled":
            step.state = "cancelled"
        elif why == "stopped" or code == BUSY:
            step.state, step.finished = "queued", None
        elif why:
            self._fail_limit(why)
        elif code == 0:
            step.state = "done"
        elif self._refused is not None:
            step.state = self._refused
        elif 0 < code < BUSY:
            step.state, step.said = "failed", "It broke off; the log of this comparison says why."
            step.remedy = "Run it again."
        else:
            _count_death(step)
        self._keep()

    def _keep(self) -> None:
        self._workspace.jobs.change(self._id, self._place, self._step)

    def _refuse_all(self) -> None:
        """Nothing can run on texts that make no test set."""
        job = self._workspace.study(self._id).job
        for place, step in enumerate(job.steps):
            if step.is_open and place != self._place:
                step.state, step.finished = "refused", now()
                self._workspace.jobs.change(self._id, place, step)
        self._step.state = "refused"

    def _fail_limit(self, why: str) -> None:
        """Fail the step that took too much."""
        step, limits = self._step, self._limits
        step.state = "failed"
        step.said = {
            "memory": f"This needs more than {limits.memory / 1e9:.1f} GB of memory.",
            "cpu": f"This needs more than {_format_duration(limits.cpu)} of computing.",
            "wall": f"This takes longer than {_format_duration(limits.wall)}.",
        }[why]
        step.remedy = "Compare fewer segments."


def _count_death(step: StepState) -> None:
    """Note that a process ended in the midst of a step; the third time, the step has failed."""
    step.deaths += 1
    step.state = "queued"
    if step.deaths >= _CHANCES:
        step.state, step.finished = "failed", now()
        step.said = (
            f"Its process ended {_CHANCES} times before it was done; perhaps the memory of this"
            " machine is not enough."
        )
        step.remedy = "Run it again."


def explain(step: StepState, messages: Sequence[Mapping[str, Any]]) -> None:
    """Say why a method was refused, without folders of the server, and a way on."""
    first = messages[0]
    if first["code"] == "error.no_tagger":
        from gnomon.core.languages import english_names

        asked = str(first["params"]["language"])
        language = english_names().get(asked, asked)
        step.said = (
            f"There is no tagger for {language} here, which would tell its kinds of words apart."
        )
        step.remedy = "The owner of this server can install one."
    elif first["code"] == "error.no_language":
        step.said = "Nobody said which language the translations are in."
        step.remedy = "Compare the files anew, and name the language."
    else:
        own = f"methods.{step.method}"
        lines = []
        for said in messages:
            (key,) = said["subjects"].get("options") or [""]
            where = f"{key}: " if key and not key.startswith(own) else ""
            lines.append(f"{where}{said['text']}")
        step.said = "\n".join(dict.fromkeys(map(word_error, lines)))


def _format_duration(seconds: int) -> str:
    whole = f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"
    return whole if seconds >= 120 else f"{seconds} s"
