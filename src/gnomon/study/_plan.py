"""From a study to its tasks, and what they come to."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import GnomonError, UnknownNameError
from gnomon.findings import Column, Finding
from gnomon.findings import Table as FindingTable
from gnomon.study._checks import Problems
from gnomon.study._demands import step_problems
from gnomon.study._estimate import left_of, said
from gnomon.study._folder import SKETCHES
from gnomon.study._layout import Layout
from gnomon.study._methods import METHODS
from gnomon.study._sketches import Sketches
from gnomon.study._sources import PlannedSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell
    from gnomon.study._store import Store
    from gnomon.study._study import Step, Study
    from gnomon.study._tasks import Task

__all__ = ["Plan", "look", "plan"]


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
            "steps": [asdict(step) for step in self.study.steps],
            "testsets": [
                {
                    "source": asdict(one.source),
                    "sketch": one.sketch.record(),
                    "tasks": [task.key for task in self.tasks if task.testset == one.name],
                }
                for one in self.sets
            ],
        }

    def finding(self, store: Store | None = None, *, workers: int = 1) -> Finding:
        """The plan as a table: per method and metric, how many tasks there are and are done.

        Args:
            store: where results are kept; without, nothing is done.
            workers: how many there will be, for the estimate of time.
        """
        groups = left_of(self, store)
        rows = [
            {
                "method": one.method,
                "metrics": one.metrics or None,
                "testsets": one.testsets,
                "tasks": one.tasks,
                "done": one.tasks - one.left,
                "left": one.left,
                "seconds": one.seconds,
            }
            for one in groups
        ]
        return _plan_finding(self, rows, said(groups, workers))


def plan(study: Study, *, allow_code: bool = False) -> Plan:
    """Read the test sets and lay out the tasks.

    A method whose word on a system does not depend on the others has a task for each system, so
    that one system more costs that system alone.

    Args:
        study: the study.
        allow_code: specs may run code.

    Raises:
        DataError: test sets cannot be read, share a name, or lack what a method needs, or options
            are not right for them: all of that is told, each with its key.
    """
    problems = Problems()
    sets, sketches = look(study, problems, allow_code=allow_code)
    problems.refuse(study.path)
    laid = Layout(_folder(study), sketches, allow_code=allow_code, steps=study.steps)
    for step in study.steps:
        for one in sets:
            if step.takes(one.name):
                laid.add(step, one)
    whole_sets_first = sorted(laid.tasks.values(), key=lambda task: -len(task.systems))
    return Plan(study, tuple(whole_sets_first), tuple(sets), sketches)


def look(
    study: Study, problems: Problems, *, allow_code: bool = False
) -> tuple[list[PlannedSet], Sketches]:
    """Read the test sets, and note what is wrong with them, and with the methods on them.

    Args:
        study: the study.
        problems: where errors are noted.
        allow_code: specs may run code.

    Returns:
        The test sets that can be read, and what is remembered of files.
    """
    sketches = _remembered(study)
    sets = _sketched(study, sketches, problems)
    _check_names(study, sets, problems)
    for number, step in enumerate(study.steps):
        key = study.step_key(number)
        if sets and len(sets) == len(study.testsets):
            _check_needs(step, key.where, sets, problems)
        step_problems(step, key, sets, _folder(study), problems, allow_code=allow_code)
    return sets, sketches


def _folder(study: Study) -> Path:
    return Path(study.path).absolute().parent


def _remembered(study: Study) -> Sketches:
    return Sketches.read(study.store / SKETCHES)


def _sketched(study: Study, sketches: Sketches, problems: Problems) -> list[PlannedSet]:
    found = []
    for number, source in enumerate(study.testsets):
        try:
            found.append(PlannedSet(source, sketches.sketch(source)))
        except (GnomonError, OSError) as error:
            problems.add(f"{study.set_key(number)}{_part(error)}", f"{source.path}: {error}")
    return found


def _part(error: Exception) -> str:
    """Which key of a test set an error speaks of."""
    if isinstance(error, UnknownNameError):
        for said, key in (("method", ".methods"), ("reference", ".references")):
            if said in error.kind:
                return key
        if "pair" in error.kind:
            return ".language_pair"
    return ""


def _check_names(study: Study, sets: Sequence[PlannedSet], problems: Problems) -> None:
    paths: dict[str, str] = {}
    for one in sets:
        if one.name in paths:
            problems.add(
                study.set_key(study.testsets.index(one.source)),
                f"two test sets are called {one.name!r}: {paths[one.name]} and {one.source.path};"
                " results are kept by name, so give one of them another: name = '...'",
            )
        paths[one.name] = one.source.path


def _check_needs(step: Step, where: str, sets: Sequence[PlannedSet], problems: Problems) -> None:
    chosen = METHODS[step.method]
    taken = [one for one in sets if step.takes(one.name)]
    if not taken:
        problems.add(
            f"{where}.testsets",
            f"no test set fits {', '.join(step.testsets)}; there are"
            f" {', '.join(one.name for one in sets)}",
        )
        return
    lacking = [one.name for one in taken if chosen.systems and not one.sketch.systems]
    if lacking:
        problems.add(where, f"{step.method} needs systems, and {', '.join(lacking)} has none")
    if chosen.judged and not any(one.sketch.judged for one in taken):
        problems.add(
            where, f"{step.method} needs people's judgements, and no test set of the study has any"
        )
    if chosen.paraphrased and not any(one.source.paraphrases for one in taken):
        problems.add(
            where,
            f"{step.method} needs paraphrases, and no test set of the study has any; name files:"
            " paraphrases = ['made.jsonl'] in [[testsets]]",
        )


def _plan_finding(made: Plan, rows: Sequence[Mapping[str, Cell]], estimate: str) -> Finding:
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
        facts={
            "study": made.study.name,
            "test sets": sets,
            "tasks": f"{len(made.tasks)}, {sum(int(row['left'] or 0) for row in rows)} left",
            "time": estimate,
        },
    )
