"""A task: one method on one test set, for one system or all; what a worker gets and gives."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gnomon.errors import DataError, GnomonError
from gnomon.signature import content_hash, version
from gnomon.study._needs import differing
from gnomon.study._sources import content_of, read_set

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.scores import Scores
    from gnomon.study._needs import Need
    from gnomon.study._schema import TaskTable
    from gnomon.study._study import SetSource

__all__ = ["Done", "Failed", "Task", "attempt", "execute", "task_key"]


@dataclass(frozen=True)
class Task:
    """One piece of work, small enough to lose and large enough to be worth sending.

    Attributes:
        key: hash of all that the result depends on: method, options, texts, models, taggers,
            files, version of gnomon.
        method: a name of :data:`gnomon.study.METHODS`.
        testset: the name of the test set.
        source: where it is.
        systems: names of the systems that are looked at.
        metrics: specs, as the study gives them.
        options: keyword options of the method, as JSON.
        content: hash of the texts that the plan saw; a worker that reads others refuses.
        human: what people said is part of that content.
        allow_code: specs may run code.
        needs: what the result depends on beside texts and options, and which one is meant.
        after: by metric, the keys of the tasks whose scores this one takes.
        places: specs whose file names are in full, by those of the study where these are others; of
            metrics, and of metrics among the options.
        said: the options without the folders of files.
        reads: names of the systems that a worker reads; by default all of the source.
    """

    key: str
    method: str
    testset: str
    source: SetSource
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    options: str
    content: str
    human: bool = False
    allow_code: bool = False
    needs: Mapping[Need, str] = field(default_factory=dict)
    after: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    said: str = "{}"
    reads: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What it does, for people."""
        what = ", ".join(self.metrics)
        who = self.systems[0] if len(self.systems) == 1 else f"{len(self.systems)} systems"
        return f"{self.method} {what} of {self.testset}, {who}".replace("  ", " ")

    @property
    def made_with(self) -> dict[str, str]:
        """What the result depends on beside texts and options, by name, and which one it was."""
        return {need.label: found for need, found in self.needs.items()}


@dataclass(frozen=True)
class Done:
    """What a task gave.

    Attributes:
        key: of the task.
        tables: its rows.
        notices: what a reader should know.
        signatures: how to make its numbers again, by what they belong to.
        seconds: how long it took, wall clock.
    """

    key: str
    tables: tuple[TaskTable, ...]
    notices: tuple[str, ...]
    signatures: Mapping[str, str]
    seconds: float


@dataclass(frozen=True)
class Failed:
    """A task that went wrong: said in words, since not every exception can travel.

    Attributes:
        key: of the task.
        said: what happened.
    """

    key: str
    said: str


def attempt(task: Task, scores: Mapping[str, Scores] | None = None) -> Done | Failed:
    """Do a task, whatever comes; this is what workers run."""
    try:
        return execute(task, scores)
    except GnomonError as error:
        return Failed(task.key, str(error))
    except Exception as error:  # noqa: BLE001  # other tasks go on
        return Failed(task.key, f"{type(error).__name__}: {error}")


def task_key(
    name: str,
    metrics: Sequence[str],
    options: str,
    content: str,
    needs: Sequence[tuple[str, str]],
) -> str:
    """The key of a task, from all that it depends on.

    Args:
        name: of the method.
        metrics: specs.
        options: as JSON, without names of places.
        content: hash of texts.
        needs: kind and identity of what else counts.
    """
    parts = (name, json.dumps(list(metrics)), options, content, json.dumps(needs))
    return content_hash("task-2", version(), *parts) + content_hash(*parts)


def execute(task: Task, scores: Mapping[str, Scores] | None = None) -> Done:
    """Do a task: read, check that all is as it was planned, run the method.

    Args:
        task: what to do.
        scores: what metrics said, for a task that takes the scores of others.

    Raises:
        DataError: texts, models, taggers or files here are not those that the plan saw.
        GnomonError: whatever the method raises.
    """
    from threadpoolctl import threadpool_limits

    from gnomon.study._calls import called, signatures_of, tables_of

    start = time.perf_counter()
    whole, sketch = read_set(task.source, only=task.reads)
    if task.reads and content_of(sketch, task.systems, human=task.human) != task.content:
        whole, sketch = read_set(task.source)  # what is said of one system may lie with another
    if content_of(sketch, task.systems, human=task.human) != task.content:
        raise DataError(
            f"{task.source.path} has changed since the study was planned, or is another one on"
            " this worker; run the study again, or give all workers the same files"
        )
    others = differing(dict(task.needs))
    if others:
        raise DataError(
            f"this worker {'; '.join(others)}: run the study again, or make all workers alike"
        )
    every = tuple(whole.systems) == task.systems
    testset = whole if every else whole.select(systems=task.systems)
    # sums of products end in other digits on other numbers of threads
    with threadpool_limits(1, user_api="blas"):
        found = called(task, testset, scores or {})
    return Done(
        task.key,
        tuple(tables_of(task, found)),
        tuple(found.notices),
        signatures_of(found),
        time.perf_counter() - start,
    )
