"""Execution of a plan: stored results are reused, lost ones are computed again."""

from __future__ import annotations

import json
import logging
import os
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, entry_points
from importlib.metadata import version as installed
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core import registry as methods
from gnomon.core.data_cautions import select_messages
from gnomon.core.errors import DataError, OutputError
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature, version
from gnomon.messages import message
from gnomon.metrics.means import aggregate_means, mean_statistics
from gnomon.studies.needs import differing
from gnomon.studies.result_store import Store
from gnomon.studies.tables import cells_of
from gnomon.studies.task_runs import TaskFailure, TaskResult, attempt, broken_off

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from gnomon.core.dependencies import Dependency
    from gnomon.core.findings import Cell
    from gnomon.messages import Message
    from gnomon.studies._plan import StudyPlan
    from gnomon.studies.engines import TaskEngine
    from gnomon.studies.task_runs import Task

__all__ = [
    "Equipment",
    "RunOutcome",
    "equipment",
    "narrowed",
    "preflight",
    "run",
    "stored_scores",
    "waves",
]


# Before anything runs: is every worker like this process, and does it see the data?


#: packages whose version can change a number
_PACKAGES = ("sacrebleu", "numpy", "spacy", "torch", "transformers", "nltk", "scipy")
_SHOWN = 10


@dataclass(frozen=True)
class Equipment:
    """The equipment of a worker."""

    versions: Mapping[str, str]
    missing: tuple[str, ...]
    others: tuple[str, ...] = ()


def equipment(paths: Sequence[str], needs: Mapping[Dependency, str] = {}) -> Equipment:
    """The equipment of this process, and the paths and things that it lacks."""
    versions = {"gnomon": version()}
    offered = entry_points()
    plugins = {
        offer.dist.name
        for group in offered.groups
        if group.startswith("gnomon.")
        for offer in offered.select(group=group)
        if offer.dist is not None
    }
    for name in (*_PACKAGES, *sorted(plugins)):
        try:
            versions[name] = installed(name)
        except PackageNotFoundError:
            continue
    missing = tuple(path for path in paths if not os.path.exists(path))  # noqa: PTH110  # a string stays a string
    return Equipment(versions, missing, tuple(differing(dict(needs))))


def preflight(plan: StudyPlan, engine: TaskEngine) -> None:
    """Compare every worker with this process."""
    paths = sorted({task.source.path for task in plan.tasks})
    # files are compared by every task that reads them
    needs = {n: i for task in plan.tasks for n, i in task.needs.items() if n.kind != "file"}
    others = engine.call_workers(equipment, paths, needs)
    if not others:
        return
    mine = equipment(())
    problems = [
        f"  {name}: {said}"
        for name, theirs in others.items()
        for said in _differences(mine, theirs)
    ]
    if problems:
        more = f"\n  and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise DataError(
            "workers are not like this process; nothing was started:\n"
            + "\n".join(problems[:_SHOWN])
            + more
        )


def _differences(mine: Equipment, theirs: Equipment) -> list[str]:
    names = sorted(mine.versions.keys() | theirs.versions.keys())
    differences = [
        f"has {name} {theirs.versions.get(name, '(none)')},"
        f" and here it is {mine.versions.get(name, '(none)')}; install the same"
        for name in names
        if mine.versions.get(name) != theirs.versions.get(name)
    ]
    return [*differences, *theirs.others] + [
        f"does not see {path}; give all workers the same folders" for path in theirs.missing
    ]


# Scores that a store holds, as a metric gave them: for tasks that judge metrics.


def stored_scores(store: Store, task: Task) -> dict[str, Scores]:
    """The scores that a task takes from others, by spec; exactly those that were computed.

    Where corpus scores of resamples come from statistics, which a store does not hold, scores are
    left out for methods that resample; these compute them again.
    """
    scores_of = {}
    method = methods.find(task.method)
    resampled = method.reuses != "all" or bool(json.loads(task.options).get(method.resamples_with))
    for spec, keys in task.after.items():
        if all(key in store.entries for key in keys):
            scores, made_of = _scores(store, keys)
            if made_of != "statistics" or not resampled:
                scores_of[spec] = scores
    return scores_of


def _scores(store: Store, keys: Sequence[str]) -> tuple[Scores, str]:
    files = [store.file(table, key) for table in ("scores", "segments") for key in keys]
    store.check_files(files)
    totals = [cells_of(store.file("scores", key)) for key in keys]
    systems = [str(name) for row in totals for name in row["system"]]
    cells = [cells_of(store.file("segments", key)) for key in keys]
    first = totals[0]
    informed = first["informed_by"][0]
    # of the metric; what is wrong with the texts is said by whoever reads them
    said = dict.fromkeys(notice for key in keys for notice in store.entries[key].notices)
    scores = Scores(
        metric=str(first["metric"][0]),
        systems=tuple(systems),
        system=_floats([score for row in totals for score in row["score"]]),
        segments=_floats([score for row in cells for score in row["score"]]).reshape(
            len(systems), -1
        ),
        higher_is_better=bool(first["higher_is_better"][0]),
        signature=Signature.parse(str(first["signature"][0])),
        informed_by=tuple(str(informed).split(", ")) if informed else (),
        from_people=bool(first["from_people"][0]),
        notices=tuple(
            notice for notice in said if notice not in select_messages("data.doubtful", said)
        ),
    )
    made_of = str(first["made_of"][0])
    if made_of == "segments":
        statistics = mean_statistics(scores.segments)
        scores = replace(scores, statistics=statistics, aggregate=aggregate_means)
    return scores, made_of


def _floats(cells: Sequence[Cell]) -> NDArray[np.float64]:
    return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)


_log = logging.getLogger(__name__)

#: a task that takes its worker with it this often is set aside
_CHANCES = 2
#: seconds without an answer after which the engine is asked whether it still has workers
_LOOK = 10.0


@dataclass(frozen=True)
class RunOutcome:
    """The outcome of a plan.

    Attributes:
        kept: tasks whose results were there before.
        done: tasks that were done now.
        failed: what went wrong, by the key of the task; its subjects are the task, as people call
            it ("tasks"), the test set, and files.
        pruned: tasks that were taken away, as the plan does not have them.
    """

    kept: int
    done: int
    failed: Mapping[str, Message]
    pruned: int = 0


def run(
    plan: StudyPlan,
    engine: TaskEngine,
    *,
    store: Store | None = None,
    prune: bool = False,
    only: Collection[str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> RunOutcome:
    """Do the tasks of a plan that its store does not hold.

    Only this process writes. A task that fails is reported and the others go on; a task that
    kills its worker twice (the second time alone) is set aside. With ``only``, tasks of other keys
    are left for later.
    """
    target = store or Store.open(plan.study.store, create=True)
    target.refresh()
    left = _tasks_left(plan, target, only)
    whole = not (prune or target.damaged or left) and target.bundles_are_intact()
    if whole and target.has_plan(plan.record()):
        if plan.sketches.fresh:  # sketches of files are kept where that is possible
            with suppress(DataError, OutputError), target.locked():
                target.keep_sketches(plan.sketches)
        return RunOutcome(len(plan.tasks), 0, {})
    with target.locked():
        left = _tasks_left(plan, target, only)
        if left:
            engine.prepare({task.method for task in left})
            preflight(plan, engine)
        if left or target.damaged:
            target.repair(_report_lost(left, target))
        target.keep_plan(plan.record())
        target.keep_sketches(plan.sketches)
        total, kept = len(plan.tasks), len(plan.tasks) - len(left)
        left = narrowed(left, plan)
        driver = _TaskDriver(engine, target, total, kept, progress)
        for wave in waves(left, set(target.entries)):
            driver.run_all(driver.runnable(wave))
        pruned = target.prune() if prune else 0
        target.bundle()
    return RunOutcome(kept, driver.finished - kept, driver.failed, pruned)


def _tasks_left(plan: StudyPlan, store: Store, only: Collection[str] | None) -> list[Task]:
    """Tasks without results, and those whose results were lost."""
    tasks = [task for task in plan.tasks if only is None or task.key in only]
    lost = store.lost(task.key for task in tasks)
    return [task for task in tasks if task.key in lost or task.key not in store.entries]


def _report_lost(left: Sequence[Task], store: Store) -> Collection[str]:
    """The tasks whose results were lost, after a word on which they are."""
    lost = store.lost(task.key for task in left)
    if lost:
        first, *others = map(str, lost.values())
        more = f" and files of {len(others)} more tasks" if others else ""
        _log.warning(
            "results of %d tasks are missing or damaged: done again: %s%s", len(lost), first, more
        )
    return lost


def narrowed(tasks: Sequence[Task], plan: StudyPlan) -> list[Task]:
    """Tasks that read no more than half of the systems of their test set where that will do."""
    plain = (planned for planned in plan.sets if not planned.source.paraphrases)
    every = {planned.name: tuple(planned.sketch.systems) for planned in plain}
    wanted: dict[str, set[str]] = {name: set() for name in every}
    for task in tasks:
        if task.testset in every and task.systems != every[task.testset]:
            wanted[task.testset].update(task.systems)
    reads = {
        name: tuple(system for system in systems if system in wanted[name])
        for name, systems in every.items()
        if 0 < 2 * len(wanted[name]) <= len(systems)
    }
    return [
        replace(task, reads=reads[task.testset])
        if task.testset in reads and task.systems != every[task.testset]
        else task
        for task in tasks
    ]


def waves(tasks: Sequence[Task], done: Collection[str]) -> list[list[Task]]:
    """Tasks in the order of what they take from each other; each wave needs only earlier ones."""
    ordered: list[list[Task]] = []
    left, finished = list(tasks), set(done)
    while left:
        wave = [
            task for task in left if all(finished.issuperset(keys) for keys in task.after.values())
        ]
        if not wave:  # their scores are not even planned; they will say so
            return [*ordered, left]
        ordered.append(wave)
        finished |= {task.key for task in wave}
        left = [task for task in left if task.key not in finished]
    return ordered


@dataclass
class _TaskDriver:
    engine: TaskEngine
    store: Store
    total: int
    finished: int
    progress: Callable[[str, int, int], None] | None
    failed: dict[str, Message] = field(default_factory=dict)
    deaths: dict[str, int] = field(default_factory=dict)

    def runnable(self, wave: Sequence[Task]) -> list[Task]:
        """The tasks whose scores are all there; the others have failed."""
        tasks = []
        for task in wave:
            lacking = [k for keys in task.after.values() for k in keys if k in self.failed]
            if lacking:
                reason = self.failed[lacking[0]]
                said = message("error.scores_lack", count=len(lacking), reason=reason)
                self._fail(said, task)
            else:
                tasks.append(task)
        return tasks

    def _fail(self, said: Message, *tasks: Task) -> None:
        for task in tasks:
            self.failed[task.key] = said.about(tasks=[task.label], testsets=[task.testset])

    def run_all(self, tasks: list[Task]) -> None:
        """Keep the workers busy; after a death, suspects run one by one."""
        suspects = self._run_together(tasks)
        while suspects:
            self.engine.restart()
            alone, rest = suspects[0], suspects[1:]
            died = self._run_together([alone])
            suspects = [task for task in died if self.deaths[task.key] < _CHANCES] + rest
            for task in died:
                if self.deaths[task.key] >= _CHANCES:
                    self._fail(message("error.worker_died", times=_CHANCES), task)
            if not died:
                suspects = self._run_together(suspects)

    def _run_together(self, tasks: list[Task]) -> list[Task]:
        """Run tasks; returns those that were running or waiting when a worker died."""
        waiting = list(reversed(tasks))
        running: dict[Future[TaskResult | TaskFailure], Task] = {}
        while waiting or running:
            try:
                while waiting and len(running) < 2 * self.engine.workers:
                    task = waiting[-1]
                    scores = stored_scores(self.store, task)
                    running[self.engine.submit(attempt, task, scores)] = task
                    waiting.pop()
            except BrokenExecutor:
                return self._collect_suspects(running, waiting)
            ready, _ = wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED)
            if not ready and self.engine.lost():
                self._fail(message("error.no_worker"), *running.values(), *waiting)
                return []
            broken = False
            for future in ready:
                error = _error(future)
                if isinstance(error, CancelledError):
                    self.engine.lost()  # tells where a whole cluster is gone
                if isinstance(error, BrokenExecutor):
                    broken = True
                elif self._may_do_again(running[future], error):
                    waiting.append(running.pop(future))
                else:
                    self._keep(running.pop(future), future)
            if broken:
                return self._collect_suspects(running, waiting)
        return []

    def _may_do_again(self, task: Task, error: BaseException | None) -> bool:
        """True if the engine failed, not the task: tasks catch what goes wrong in them.

        A cluster that loses a worker between an answer and its delivery hands over neither.
        """
        if error is None or isinstance(error, CancelledError) or _is_killed(error):
            return False
        self.deaths[task.key] = self.deaths.get(task.key, 0) + 1
        return self.deaths[task.key] < _CHANCES

    def _collect_suspects(
        self, running: Mapping[Future[TaskResult | TaskFailure], Task], waiting: list[Task]
    ) -> list[Task]:
        suspects = []
        for future, task in running.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                self._keep(task, future)
            else:
                self.deaths[task.key] = self.deaths.get(task.key, 0) + 1
                suspects.append(task)
        return suspects + list(reversed(waiting))

    def _keep(self, task: Task, future: Future[TaskResult | TaskFailure]) -> None:
        error = _error(future)
        result = future.result() if error is None else TaskFailure(task.key, _cluster_error(error))
        if isinstance(result, TaskResult):
            self.store.add(task, result)
            self.finished += 1
        else:
            self._fail(result.said, task)
        if self.progress is not None:
            self.progress("tasks", self.finished + len(self.failed), self.total)


def _error(future: Future[TaskResult | TaskFailure]) -> BaseException | None:
    """The error outside the task; a cluster that goes away cancels what it had."""
    return CancelledError() if future.cancelled() else future.exception()


def _is_killed(error: BaseException) -> bool:
    return type(error).__name__ == "KilledWorker"  # of a library that need not be installed


def _cluster_error(error: BaseException) -> Message:
    """Describe a cluster's reason for giving up a task."""
    if _is_killed(error):
        return message("error.workers_died")
    return message("error.cancelled") if isinstance(error, CancelledError) else broken_off(error)
