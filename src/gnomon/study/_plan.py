"""From a study to its tasks, and what they come to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import DataError, GnomonError
from gnomon.findings import Column, Finding
from gnomon.findings import Table as FindingTable
from gnomon.signature import content_hash
from gnomon.study._labels import label_files
from gnomon.study._methods import METHODS
from gnomon.study._sketches import Sketches
from gnomon.study._sources import PlannedSet, content_of
from gnomon.study._tasks import Task, task_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from gnomon.findings import Cell
    from gnomon.study._config import Step, Study

__all__ = ["Plan", "plan"]


@dataclass(frozen=True)
class Plan:
    """The tasks of a study.

    Attributes:
        study: what they are for.
        tasks: all of them, each key once; costly ones first.
        sets: the test sets.
        sketches: what is remembered of their files.
    """

    study: Study
    tasks: tuple[Task, ...]
    sets: tuple[PlannedSet, ...]
    sketches: Sketches = field(default_factory=Sketches, compare=False, repr=False)

    @property
    def sizes(self) -> dict[str, tuple[int, int]]:
        """Systems and segments of the test sets, by name."""
        return {one.name: (len(one.sketch.systems), one.sketch.segments) for one in self.sets}

    def record(self) -> dict[str, object]:
        """What a store keeps of it."""
        return {
            "name": self.study.name,
            "tasks": [task.key for task in self.tasks],
            "testsets": [
                {"source": asdict(one.source), "sketch": one.sketch.record()} for one in self.sets
            ],
        }

    def finding(self, done: Collection[str] = (), seconds: Mapping[str, float] = {}) -> Finding:
        """The plan as a table: per method and metric, how many tasks there are and are done.

        Args:
            done: keys of finished tasks.
            seconds: mean seconds of finished tasks by method and metrics, for an estimate.
        """
        groups: dict[tuple[str, str], list[Task]] = {}
        for task in self.tasks:
            groups.setdefault((task.method, ", ".join(task.metrics)), []).append(task)
        rows = []
        for (name, metrics), tasks in groups.items():
            left = [task for task in tasks if task.key not in done]
            mean = seconds.get(f"{name} {metrics}")
            rows.append(
                {
                    "method": name,
                    "metrics": metrics or None,
                    "testsets": len({task.testset for task in tasks}),
                    "tasks": len(tasks),
                    "done": len(tasks) - len(left),
                    "left": len(left),
                    "seconds": None if mean is None else mean * len(left),
                }
            )
        return _plan_finding(self, rows)


def plan(study: Study, *, allow_code: bool = False) -> Plan:
    """Read the test sets and lay out the tasks.

    A method whose word on a system does not depend on the others has a task for each system, so
    that one system more costs that system alone.

    Args:
        study: the study.
        allow_code: specs may run code.

    Raises:
        DataError: test sets cannot be read, share a name, or lack what a method needs; all are
            named.
    """
    sketches = Sketches.read(study.store / "sketches.json")
    sets = _sketched(study, sketches)
    _check_names(sets)
    _check_needs(study, sets)
    found: dict[str, Task] = {}
    for step in study.steps:
        for one in sets:
            for task in _tasks(step, one, allow_code=allow_code):
                found.setdefault(task.key, task)
    whole_sets_first = sorted(found.values(), key=lambda task: -len(task.systems))
    return Plan(study, tuple(whole_sets_first), tuple(sets), sketches)


def _sketched(study: Study, sketches: Sketches) -> list[PlannedSet]:
    found, problems = [], []
    for source in study.testsets:
        try:
            found.append(PlannedSet(source, sketches.sketch(source)))
        except GnomonError as error:
            problems.append(f"  {source.path}: {error}")
    if problems:
        raise DataError(f"{study.path}: test sets cannot be read:\n" + "\n".join(problems))
    return found


def _check_names(sets: Sequence[PlannedSet]) -> None:
    paths: dict[str, str] = {}
    for one in sets:
        if one.name in paths:
            raise DataError(
                f"two test sets are called {one.name!r}: {paths[one.name]} and {one.source.path};"
                " results are kept by name, so rename one of the folders"
            )
        paths[one.name] = one.source.path


def _check_needs(study: Study, sets: Sequence[PlannedSet]) -> None:
    for step in study.steps:
        needed = METHODS[step.method].systems
        lacking = [one.name for one in sets if needed and not one.sketch.systems]
        if lacking:
            raise DataError(f"{step.method} needs systems, and {', '.join(lacking)} has none")
    if any(step.method == "metaeval" for step in study.steps) and not any(
        one.sketch.judged for one in sets
    ):
        raise DataError("metaeval needs people's judgements, and no test set of the study has any")


def _tasks(step: Step, planned: PlannedSet, *, allow_code: bool) -> Iterator[Task]:
    chosen, sketch = METHODS[step.method], planned.sketch
    if step.method == "metaeval" and not sketch.judged:
        return
    options = json.dumps(step.options, sort_keys=True)
    files = [_file_hash(place) for place in _files(step.options)]
    groups = [(name,) for name in sketch.systems] if chosen.by_system else [(*sketch.systems,)]
    bundles: list[tuple[str, ...]] = (
        [(one,) for one in step.metrics] if chosen.metrics == "one" else [step.metrics]
    )
    for systems in groups:
        labels = [_file_hash(one) for one in label_files(step.options, sketch.name, systems)]
        content = content_of(sketch, systems, human=chosen.human)
        for metrics in bundles:
            yield Task(
                key=task_key(step.method, metrics, options, content, files=[*files, *labels]),
                method=step.method,
                testset=sketch.name,
                source=planned.source,
                systems=systems,
                metrics=metrics,
                options=options,
                content=content,
                allow_code=allow_code,
            )


def _files(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if Path(value).is_absolute() and Path(value).is_file():
            yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _files(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _files(one)


def _file_hash(path: str) -> str:
    return content_hash(Path(path).read_bytes())


def _plan_finding(made: Plan, rows: Sequence[Mapping[str, Cell]]) -> Finding:
    columns = (
        Column("method", "method"),
        Column("metrics", "metrics"),
        Column("testsets", "test sets", "count"),
        Column("tasks", "tasks", "count"),
        Column("done", "done", "count"),
        Column("left", "left", "count"),
        Column("seconds", "seconds of one core", "number", 0, help="by what such tasks took"),
    )
    sets = "; ".join(f"{name}: {k} systems x {n}" for name, (k, n) in made.sizes.items())
    table = FindingTable("plan", f"Plan of {made.study.name}", columns, tuple(rows))
    return Finding(
        method="run",
        title=f"Plan of {made.study.name}",
        tables=(table,),
        signatures={},
        facts={"study": made.study.name, "test sets": sets, "tasks": str(len(made.tasks))},
    )
