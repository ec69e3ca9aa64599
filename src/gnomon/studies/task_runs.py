"""Tasks: one method on one test set, for one system or all; a worker's input and output."""

from __future__ import annotations

import json
import logging
import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gnomon.core import registry as methods
from gnomon.core.errors import DataError, GnomonError
from gnomon.core.findings import Bars, Column, Finding, Table
from gnomon.core.records import SYSTEM, Record, column, columns_of
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature, content_hash, version
from gnomon.studies.needs import differing, options_of_task
from gnomon.studies.sources import content_of, paraphrases_of, read_original, read_set
from gnomon.studies.tables import TableFile, TableSchema, TaskTable, file_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gnomon.core.dependencies import Dependency
    from gnomon.core.findings import Cell, View
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.studies.definition import SetSource
    from gnomon.studies.tables import Cells

    Progress = Callable[[str, int, int], None]

__all__ = [
    "SystemScore",
    "Task",
    "TaskFailure",
    "TaskResult",
    "attempt",
    "broken_off",
    "execute",
    "reporting",
    "task_key",
]


@dataclass(frozen=True)
class Task:
    """One piece of work, small enough to lose and large enough to be worth sending.

    Attributes:
        key: hash of all that the result depends on: method, options, texts, models, taggers,
            files, version of gnomon.
        method: a name of :func:`gnomon.core.registry.steps`.
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
    needs: Mapping[Dependency, str] = field(default_factory=dict)
    after: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    said: str = "{}"
    reads: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Its label, for people."""
        what = ", ".join(self.metrics)
        who = self.systems[0] if len(self.systems) == 1 else f"{len(self.systems)} systems"
        return f"{self.method} {what} of {self.testset}, {who}".replace("  ", " ")

    @property
    def made_with(self) -> dict[str, str]:
        """Dependencies of the result beside texts and options, by name, each with its version."""
        return {need.label: identity for need, identity in self.needs.items()}


@dataclass(frozen=True)
class TaskResult:
    """The result of a task."""

    key: str
    tables: tuple[TableFile, ...]
    notices: tuple[Message, ...]
    signatures: Mapping[str, str]
    seconds: float
    verdict: tuple[Message, ...] = ()


@dataclass(frozen=True)
class TaskFailure:
    """A task that went wrong: as a message, since not every exception can travel."""

    key: str
    said: Message


_progress: ContextVar[Progress | None] = ContextVar("progress", default=None)


@contextmanager
def reporting(progress: Progress) -> Iterator[None]:
    """Let tasks that run in this thread say how far they are.

    Args:
        progress: is given a stage, how much of it is done, and of how much.
    """
    token = _progress.set(progress)
    try:
        yield
    finally:
        _progress.reset(token)


def attempt(task: Task, scores: Mapping[str, Scores] | None = None) -> TaskResult | TaskFailure:
    """Do a task, whatever comes; this is what workers run."""
    try:
        return execute(task, scores)
    except GnomonError as error:
        return TaskFailure(task.key, error.message)
    except Exception as error:  # noqa: BLE001  # other tasks go on
        return TaskFailure(task.key, broken_off(error))


def broken_off(error: BaseException) -> Message:
    """Message on an error that is none of gnomon's."""
    return GnomonError(f"{type(error).__name__}: {error}").message


def task_key(
    name: str,
    metrics: Sequence[str],
    options: str,
    content: str,
    needs: Sequence[tuple[str, str]],
) -> str:
    """The key of a task, from all that it depends on."""
    parts = (name, json.dumps(list(metrics)), options, content, json.dumps(needs))
    return content_hash("task-3", version(), *parts) + content_hash(*parts)


def execute(task: Task, scores: Mapping[str, Scores] | None = None) -> TaskResult:
    """Do a task: read, check that all is as it was planned, run the method."""
    from threadpoolctl import threadpool_limits

    start = time.perf_counter()
    with _quiet_reading():
        whole, sketch = read_set(task.source, only=task.reads)
        if task.reads and content_of(sketch, task.systems, human=task.human) != task.content:
            whole, sketch = read_set(task.source)  # what is said of one may lie with another
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
        result = called(task, testset, scores or {})
    return TaskResult(
        task.key,
        tuple(map(file_of, tables_of(task, result))),
        tuple(result.notices),
        signatures_of(result),
        time.perf_counter() - start,
        verdict_of(task, result),
    )


@contextmanager
def _quiet_reading() -> Iterator[None]:
    """Silence messages on files: they came when these were planned, and workers repeat them."""
    logger = logging.getLogger("gnomon.formats")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


# How a worker calls a method, and what of the answer a store keeps.


_TESTSET = Column("testset", "Test set", help="name of the test set")
_METRIC = Column("metric", "Metric", help="the metric, as the study names it")
_SYSTEM = Column("system", "System", help="name of the system")
_OF_SYSTEM = Column("system", "System", help="name of the system that the row is of")
_SEGMENTS = (
    _SYSTEM,
    Column("segment", "Segment", "count", help="number of the segment, from 1"),
    _METRIC,
    Column("score", "Score", "number", 4, help="score of the segment, in the metric's own units"),
)


class SystemScore(Record):
    """The score of a system, as a store holds it."""

    system: str = SYSTEM
    metric: str = column("Metric", help="the metric, as the study names it")
    score: float | None = column("Score", digits=4, help="corpus score, in the metric's own units")
    higher_is_better: bool = column("Higher is better", help="false for error rates")
    informed_by: str | None = column(
        "Informed by", help="kinds of human scores that went into it, which cannot judge it"
    )
    from_people: bool = column("From people", help="people gave the scores, no metric")
    doubtful: bool = column("Doubtful", help="its lines are wrong, as a notice says")
    empty: int = column("Empty", help="empty outputs of the system")
    made_of: str = column(
        "Made of", help="segments: a mean; statistics: of their sums; itself: of the whole alone"
    )
    signature: str = column("Signature", help="how to make the number again")


def called(task: Task, testset: TestSet, scores: Mapping[str, Scores]) -> Scores | Finding:
    """Call a method on a test set."""
    chosen = methods.find(task.method)
    options = options_of_task(chosen, json.loads(task.options), task.testset, task.systems)
    options = {**chosen.usual, **options, **_run_arguments(task)}
    if chosen.metrics != "none":
        wanted = [scores.get(spec, task.places.get(spec, spec)) for spec in task.metrics]
        options["metrics"] = wanted[0] if chosen.metrics == "one" else wanted
    data = dict(zip(chosen.data, _data_of(task, testset), strict=False))
    result = chosen.function(**data, **options)
    if not isinstance(result, Scores | Finding):
        raise DataError(f"{task.method} gave neither scores nor a finding; a study cannot keep it")
    return _rename_metrics(task, result)


def signatures_of(result: Scores | Finding) -> dict[str, str]:
    """Signatures of the numbers, by what they belong to."""
    if isinstance(result, Scores):
        return {result.metric: str(result.signature)}
    return {name: str(one) for name, one in result.signatures.items()}


def verdict_of(task: Task, result: Scores | Finding) -> tuple[Message, ...]:
    """Verdict of a finding; scores have none, for others stand beside them."""
    if isinstance(result, Scores):
        return ()
    method, names = methods.find(task.method), [table.name for table in result.tables]
    return tuple(
        replace(
            statement,
            rows={method.table(k, first=k == names[0]): rows for k, rows in statement.rows.items()},
        )
        for statement in result.verdict
    )


def tables_of(task: Task, result: Scores | Finding) -> Iterator[TaskTable]:
    """The rows that a store keeps."""
    names = methods.find(task.method).tables
    if isinstance(result, Scores):
        rows = [
            SystemScore(
                system=name,
                metric=result.metric,
                score=score,
                higher_is_better=result.higher_is_better,
                informed_by=", ".join(result.informed_by) or None,
                from_people=result.from_people,
                doubtful=name in result.doubtful,
                empty=result.empty.get(name, 0),
                made_of=_source_of_resamples(result),
                signature=str(result.signature),
            ).cells()
            for name, score in zip(result.systems, result.system.tolist(), strict=True)
        ]
        yield _score_table(task, names[""], "Scores", columns_of(SystemScore), rows)
        yield _score_table(
            task, names["segments"], "Scores of segments", _SEGMENTS, result.segment_rows()
        )
        return
    for number, table in enumerate(result.tables):
        if number and not table.rows and _is_of_one_system(task):
            continue  # what compares systems says nothing of one
        name = methods.find(task.method).table(table.name, first=number == 0)
        views = [replace(view, table=name) for view in result.views if view.table == table.name]
        schema = TableSchema(
            Table(name, table.title, table.columns, (), table.note),
            result.method,
            tuple(_views_of_many(views) if _is_of_one_system(task) else views),
        )
        yield _add_set_columns(task, schema, result.to_dict(table.name))


def _source_of_resamples(scores: Scores) -> str:
    """Where corpus scores of resamples can come from."""
    import numpy as np

    from gnomon.metrics.means import mean_statistics

    if scores.statistics is None:
        return "itself"
    means = mean_statistics(scores.segments)
    return "segments" if np.array_equal(means, scores.statistics) else "statistics"


def _data_of(task: Task, testset: TestSet) -> tuple[object, ...]:
    """Arguments of the method: the test set, or values made of it and of its paraphrases."""
    make = methods.find(task.method).from_study
    if make is None:
        return (testset,)
    from gnomon.paraphrase import first_of

    original, paraphrases = testset, []
    if task.source.paraphrases:
        original = read_original(task.source).select(systems=task.systems or None)
        paraphrases = paraphrases_of(task.source)
    return make(
        testset=testset,
        original=original,
        paraphrases=paraphrases,
        chosen=first_of(paraphrases, n=task.source.n, methods=task.source.methods or None),
    )


def _run_arguments(task: Task) -> dict[str, object]:
    from gnomon.core.cache import Cache, default_path, is_kept
    from gnomon.judges.planned import current_plan

    given: dict[str, object] = {
        "allow_code": task.allow_code,
        # what follows from made-up answers is kept nowhere
        "cache": Cache(default_path()) if is_kept() and current_plan() is None else None,
        "progress": _progress.get(),
    }
    parameters = methods.find(task.method).runtime_parameters
    return {name: value for name, value in given.items() if name in parameters}


def _rename_metrics(task: Task, result: Scores | Finding) -> Scores | Finding:
    """Metrics under the names that the study gives them, not with files in full."""
    if not task.places:
        return result
    names = {_canonical(written): _canonical(name) for name, written in task.places.items()}

    def renamed(name: str) -> str:
        return names.get(name, name)

    if isinstance(result, Scores):
        return replace(result, metric=renamed(result.metric))
    return replace(
        result,
        tables=tuple(
            replace(table, records=tuple(_renamed(row, names) for row in table.rows))
            for table in result.tables
        ),
        views=tuple(replace(view, where=_renamed(view.where, names)) for view in result.views),
        signatures={
            renamed(name): Signature(
                renamed(one.spec),
                tuple((field, renamed(value)) for field, value in one.fields),
                one.gnomon,
            )
            for name, one in result.signatures.items()
        },
        notices=tuple(
            notice if isinstance(notice, str) else notice.renamed(renamed)
            for notice in result.notices
        ),
        verdict=tuple(statement.renamed(renamed) for statement in result.verdict),
    )


def _canonical(spec: str) -> str:
    from gnomon.metrics.spec import read_spec

    return str(read_spec(spec))


def _renamed(row: Mapping[str, Cell], names: Mapping[str, str]) -> Mapping[str, Cell]:
    metric = row.get("metric")
    return {**row, "metric": names.get(metric, metric)} if isinstance(metric, str) else row


def _is_of_one_system(task: Task) -> bool:
    return len(task.systems) == 1 and methods.find(task.method).by_system


def _views_of_many(views: Iterable[View]) -> Iterator[View]:
    """The views of one system that also show many: each system has a task of its own."""
    for view in views:
        if "system" not in view.where:
            yield replace(view, shown=()) if isinstance(view, Bars) else view


def _score_table(
    task: Task,
    name: str,
    title: str,
    columns: tuple[Column, ...],
    rows: Sequence[Mapping[str, Cell]],
) -> TaskTable:
    cells = {column.name: [row[column.name] for row in rows] for column in columns}
    return _add_set_columns(task, TableSchema(Table(name, title, columns, ()), "score"), cells)


def _add_set_columns(task: Task, schema: TableSchema, cells: Cells) -> TaskTable:
    """Rows with the test set in front, and metric and system where each has tables of its own."""
    count = len(next(iter(cells.values()), ()))
    first_cells = {_TESTSET: task.testset}
    if methods.find(task.method).metrics == "one" and "metric" not in cells:
        first_cells[_METRIC] = _canonical(task.metrics[0])
    if _is_of_one_system(task) and "system" not in cells:
        first_cells[_OF_SYSTEM] = task.systems[0]
    table = replace(schema.table, columns=(*first_cells, *schema.columns))
    first = {column.name: [value] * count for column, value in first_cells.items()}
    return TaskTable(replace(schema, table=table), {**first, **cells})
