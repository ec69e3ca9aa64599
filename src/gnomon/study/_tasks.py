"""A task: one method on one test set, for one system or all; what a worker gets and gives."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gnomon.errors import DataError, GnomonError
from gnomon.findings import Cell, Finding
from gnomon.scores import Scores
from gnomon.signature import content_hash, version
from gnomon.study._labels import labels_of
from gnomon.study._methods import METHODS, method
from gnomon.study._sources import content_of, read_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.findings import Table
    from gnomon.study._config import SetSource
    from gnomon.testset import TestSet

__all__ = ["Done", "Failed", "Task", "TaskTable", "attempt", "execute", "task_key"]

#: column -> cells
Cells: TypeAlias = "Mapping[str, Sequence[Cell]]"

_SQL = {"text": "text", "count": "count", "number": "number", "share": "number"}


@dataclass(frozen=True)
class Task:
    """One piece of work, small enough to lose and large enough to be worth sending.

    Attributes:
        key: hash of all that the result depends on: method, options, texts, version of gnomon.
        method: a name of :data:`gnomon.study.METHODS`.
        testset: the name of the test set.
        source: where it is.
        systems: names of the systems that are looked at.
        metrics: specs.
        options: keyword options of the method, as JSON.
        content: hash of the texts that the plan saw; a worker that reads others refuses.
        allow_code: specs may run code.
        made_with: versions and hashes of what the result depends on beside texts and options.
    """

    key: str
    method: str
    testset: str
    source: SetSource
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    options: str
    content: str
    allow_code: bool = False
    made_with: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What it does, for people."""
        what = ", ".join(self.metrics)
        who = self.systems[0] if len(self.systems) == 1 else f"{len(self.systems)} systems"
        return f"{self.method} {what} of {self.testset}, {who}".replace("  ", " ")


class TaskTable(NamedTuple):
    """Rows for one table of a store, column by column, and the kind of each column."""

    name: str
    kinds: Mapping[str, str]
    cells: Cells


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


def attempt(task: Task) -> Done | Failed:
    """Do a task, whatever comes; this is what workers run."""
    try:
        return execute(task)
    except GnomonError as error:
        return Failed(task.key, str(error))
    except Exception as error:  # noqa: BLE001  # other tasks go on
        return Failed(task.key, f"{type(error).__name__}: {error}")


def task_key(
    name: str, metrics: Sequence[str], options: str, content: str, *, files: Iterable[str] = ()
) -> str:
    """The key of a task, from all that it depends on."""
    return content_hash(
        "task-1", version(), name, json.dumps(list(metrics)), options, content, *files
    ) + content_hash(name, options, content)


def execute(task: Task) -> Done:
    """Do a task: read, check that the texts are those of the plan, run the method.

    Raises:
        DataError: the texts here are not those that the plan saw.
        GnomonError: whatever the method raises.
    """
    start = time.perf_counter()
    chosen = method(task.method)
    whole, sketch = read_set(task.source)
    if content_of(sketch, task.systems, human=chosen.human) != task.content:
        raise DataError(
            f"{task.source.path} has changed since the study was planned, or is another one on"
            " this worker; run the study again, or give all workers the same files"
        )
    found = _called(task, whole.select(systems=task.systems))
    return Done(
        task.key,
        tuple(_tables(task, found)),
        tuple(found.notices),
        {found.metric: str(found.signature)} if isinstance(found, Scores) else found.signatures,
        time.perf_counter() - start,
    )


def _called(task: Task, testset: TestSet) -> Scores | Finding:
    chosen = METHODS[task.method]
    function = chosen.load()
    options = json.loads(task.options)
    if chosen.metrics != "none":
        options[chosen.parameter] = task.metrics[0] if chosen.metrics == "one" else task.metrics
    if options.get("labels"):
        options["labels"] = labels_of(options, task.testset, task.systems)
    options |= _of_the_run(function, task)
    found = function(testset, **options)
    if not isinstance(found, Scores | Finding):
        raise DataError(f"{task.method} gave neither scores nor a finding; a study cannot keep it")
    return found


def _of_the_run(function: object, task: Task) -> dict[str, object]:
    import inspect

    from gnomon.cache import Cache, default_path

    known = inspect.signature(function).parameters  # type: ignore[arg-type]  # a callable
    given: dict[str, object] = {}
    if "allow_code" in known:
        given["allow_code"] = task.allow_code
    if "cache" in known:
        given["cache"] = Cache(default_path())
    return given


def _tables(task: Task, found: Scores | Finding) -> Iterator[TaskTable]:
    names = METHODS[task.method].tables
    if isinstance(found, Scores):
        kinds = {"system": "text", "metric": "text", "score": "number", "signature": "text"}
        yield _of_set(task, names[""], kinds, _columns(found.rows(), kinds))
        kinds = {"system": "text", "segment": "count", "metric": "text", "score": "number"}
        yield _of_set(task, names["segments"], kinds, _columns(found.segment_rows(), kinds))
        return
    for number, table in enumerate(found.tables):
        name = METHODS[task.method].table(table.name, first=number == 0)
        yield _of_set(task, name, _kinds(table), found.to_dict(table.name))


def _of_set(task: Task, name: str, kinds: Mapping[str, str], cells: Cells) -> TaskTable:
    count = len(next(iter(cells.values()), ()))
    return TaskTable(
        name, {"testset": "text", **kinds}, {"testset": [task.testset] * count, **cells}
    )


def _columns(rows: Sequence[Mapping[str, Cell]], kinds: Mapping[str, str]) -> dict[str, list[Cell]]:
    return {name: [row[name] for row in rows] for name in kinds}


def _kinds(table: Table) -> dict[str, str]:
    found = {column.name: _SQL[column.kind] for column in table.columns}
    for name, kind in list(found.items()):
        values = [value for value in table.values(name) if value is not None]
        if values and all(isinstance(value, bool) for value in values):
            found[name] = "truth"
        elif kind != "text" and any(isinstance(value, str) for value in values):
            found[name] = "text"
    return found
