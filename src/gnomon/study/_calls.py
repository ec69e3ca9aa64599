"""How a worker calls a method, and what of the answer a store keeps."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from gnomon.errors import DataError
from gnomon.findings import Bars, Column, Finding, Table
from gnomon.scores import Scores
from gnomon.study._labels import labels_of
from gnomon.study._methods import METHODS
from gnomon.study._schema import TableSchema, TaskTable
from gnomon.study._sources import paraphrases_of, read_original

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell, View
    from gnomon.study._schema import Cells
    from gnomon.study._tasks import Task
    from gnomon.testset import TestSet

__all__ = ["called", "signatures_of", "tables_of"]

_TESTSET = Column("testset", "Test set", help="name of the test set")
_METRIC = Column("metric", "Metric", help="the metric, as the study names it")
_SYSTEM = Column("system", "System", help="name of the system")
_OF_SYSTEM = Column("system", "System", help="name of the system that the row is of")
_SCORES = (
    _SYSTEM,
    _METRIC,
    Column("score", "Score", "number", 4, help="corpus score, in the metric's own units"),
    Column("higher_is_better", "Higher is better", "truth", help="false for error rates"),
    Column(
        "informed_by",
        "Informed by",
        help="kinds of human scores that went into it, which cannot judge it",
    ),
    Column(
        "made_of",
        "Made of",
        help="segments: a mean; statistics: of their sums; itself: of the whole alone",
    ),
    Column("signature", "Signature", help="how to make the number again"),
)
_SEGMENTS = (
    _SYSTEM,
    Column("segment", "Segment", "count", help="number of the segment, from 1"),
    _METRIC,
    Column("score", "Score", "number", 4, help="score of the segment, in the metric's own units"),
)


def called(task: Task, testset: TestSet, scores: Mapping[str, Scores]) -> Scores | Finding:
    """What a method says of a test set.

    Args:
        task: which method, with which options.
        testset: the systems of the task.
        scores: what metrics said before, by spec.

    Raises:
        DataError: the method gives nothing that a store can keep.
        GnomonError: whatever the method raises.
    """
    chosen = METHODS[task.method]
    function = chosen.load()
    options = {**chosen.usual, **json.loads(task.options)}
    if chosen.metrics != "none":
        wanted = [scores.get(one, task.places.get(one, one)) for one in task.metrics]
        options[chosen.parameter] = wanted[0] if chosen.metrics == "one" else wanted
    if "labels" in options:
        options["labels"] = labels_of(options, task.testset, task.systems)
    if options.get("trees"):
        options["trees"] = _trees(options["trees"])
    options |= _of_the_run(task)
    found = function(*_given(task, testset), **options)
    if not isinstance(found, Scores | Finding):
        raise DataError(f"{task.method} gave neither scores nor a finding; a study cannot keep it")
    return _as_named(task, found)


def signatures_of(found: Scores | Finding) -> dict[str, str]:
    """How to make the numbers again, by what they belong to."""
    if isinstance(found, Scores):
        return {found.metric: str(found.signature)}
    return dict(found.signatures)


def tables_of(task: Task, found: Scores | Finding) -> Iterator[TaskTable]:
    """The rows that a store keeps."""
    names = METHODS[task.method].tables
    if isinstance(found, Scores):
        said = {
            "higher_is_better": found.higher_is_better,
            "informed_by": ", ".join(found.informed_by) or None,
            "made_of": _made_of(found),
        }
        rows = [{**row, **said} for row in found.rows()]
        yield _of_scores(task, names[""], "Scores", _SCORES, rows)
        yield _of_scores(
            task, names["segments"], "Scores of segments", _SEGMENTS, found.segment_rows()
        )
        return
    for number, table in enumerate(found.tables):
        if number and not table.rows and _alone(task):
            continue  # what compares systems says nothing of one
        name = METHODS[task.method].table(table.name, first=number == 0)
        views = [
            _of_many(replace(view, table=name), task)
            for view in found.views
            if view.table == table.name
        ]
        schema = TableSchema(
            Table(name, table.title, table.columns, (), table.note), found.method, tuple(views)
        )
        yield _of_set(task, schema, found.to_dict(table.name))


def _made_of(scores: Scores) -> str:
    """Where corpus scores of resamples can come from."""
    import numpy as np

    from gnomon.metrics._means import mean_statistics

    if scores.statistics is None:
        return "itself"
    means = mean_statistics(scores.segments)
    return "segments" if np.array_equal(means, scores.statistics) else "statistics"


def _given(task: Task, testset: TestSet) -> tuple[object, ...]:
    given = METHODS[task.method].given
    if given == "set":
        return (testset,)
    original = read_original(task.source)
    if task.systems:
        original = original.select(systems=task.systems)
    if given == "before and after":
        return original, testset
    paraphrases = paraphrases_of(task.source) if task.source.paraphrases else []
    if given == "paraphrases":
        return original, paraphrases
    from gnomon.paraphrase import first_of, sets_of

    chosen = first_of(paraphrases, n=task.source.n, methods=task.source.methods or None)
    return (sets_of(original, chosen),)


def _of_the_run(task: Task) -> dict[str, object]:
    from gnomon.cache import Cache, default_path

    chosen = METHODS[task.method]
    known = inspect.signature(chosen.load()).parameters
    given: dict[str, object] = {}
    if "allow_code" in known or chosen.more:
        given["allow_code"] = task.allow_code
    if "cache" in known or chosen.more:
        given["cache"] = Cache(default_path())
    return given


def _trees(files: str | list[str]) -> object:
    from gnomon.paraphrase import tree_sets

    return tree_sets([files] if isinstance(files, str) else files)


def _as_named(task: Task, found: Scores | Finding) -> Scores | Finding:
    """Metrics under the names that the study gives them, not with files in full."""
    if not task.places:
        return found
    names = {_canonical(place): _canonical(name) for name, place in task.places.items()}
    if isinstance(found, Scores):
        return replace(found, metric=names.get(found.metric, found.metric))
    tables = tuple(
        replace(table, rows=tuple(_renamed(row, names) for row in table.rows))
        for table in found.tables
    )
    signatures = {_named(k, names): _named(value, names) for k, value in found.signatures.items()}
    notices = tuple(_named(one, names) for one in found.notices)
    return replace(found, tables=tables, signatures=signatures, notices=notices)


def _canonical(spec: str) -> str:
    from gnomon.metrics._reader import read_spec

    return str(read_spec(spec))


def _renamed(row: Mapping[str, Cell], names: Mapping[str, str]) -> Mapping[str, Cell]:
    metric = row.get("metric")
    return {**row, "metric": _named(metric, names)} if isinstance(metric, str) else row


def _named(text: str, names: Mapping[str, str]) -> str:
    """What a method says, which may name metrics within others: ``by='scores(...)'``."""
    from gnomon.metrics._spec import format_literal

    for place, name in names.items():
        text = text.replace(place, name)
        text = text.replace(format_literal(place)[1:-1], format_literal(name)[1:-1])
    return text


def _alone(task: Task) -> bool:
    return len(task.systems) == 1 and METHODS[task.method].by_system


def _of_many(view: View, task: Task) -> View:
    """A view without the system that one task of many is of."""
    return replace(view, shown=()) if isinstance(view, Bars) and _alone(task) else view


def _of_scores(
    task: Task,
    name: str,
    title: str,
    columns: tuple[Column, ...],
    rows: Sequence[Mapping[str, Cell]],
) -> TaskTable:
    cells = {column.name: [row[column.name] for row in rows] for column in columns}
    return _of_set(task, TableSchema(Table(name, title, columns, ()), "score"), cells)


def _of_set(task: Task, schema: TableSchema, cells: Cells) -> TaskTable:
    """Rows with the test set in front, and metric and system where each has tables of its own."""
    count = len(next(iter(cells.values()), ()))
    own = {_TESTSET: task.testset}
    if METHODS[task.method].metrics == "one" and "metric" not in cells:
        own[_METRIC] = _canonical(task.metrics[0])
    if _alone(task) and "system" not in cells:
        own[_OF_SYSTEM] = task.systems[0]
    table = replace(schema.table, columns=(*own, *schema.columns))
    first = {column.name: [value] * count for column, value in own.items()}
    return TaskTable(replace(schema, table=table), {**first, **cells})
