"""Plan of a study: its tasks and their extent."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core import registry as methods
from gnomon.core.dependencies import Dependency
from gnomon.core.errors import GnomonError
from gnomon.core.findings import Column, Finding
from gnomon.core.findings import Table as FindingTable
from gnomon.core.option_files import Problems
from gnomon.studies._checks import step_problems
from gnomon.studies.definition import fits
from gnomon.studies.folder import SKETCHES
from gnomon.studies.mask_kinds import masked_alike
from gnomon.studies.needs import (
    files_of,
    located_options,
    located_spec,
    located_specs,
    options_of_task,
    placeless,
    step_needs,
    traits_of,
)
from gnomon.studies.sources import PlannedSet, PlanRecord, Sketches, content_of
from gnomon.studies.task_runs import Task, task_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Cell
    from gnomon.core.registry import Method
    from gnomon.studies.definition import Step, Study
    from gnomon.studies.needs import Traits
    from gnomon.studies.result_store import Store


# Cutting a study into tasks, each with a key of all that its result depends on.


_log = logging.getLogger(__name__)
_SCORE = "score"


@dataclass
class TaskLayout:
    """Tasks, as they are laid out."""

    folder: Path
    sketches: Sketches
    allow_code: bool = False
    steps: Sequence[Step] = ()
    tasks: dict[str, Task] = field(default_factory=dict)

    def add(self, step: Step, planned: PlannedSet) -> None:
        """The tasks of a method on a test set, and those whose scores they take.

        A task is of one system where what is said of a system does not depend on the others.
        """
        chosen = methods.find(step.method)
        if not chosen.is_applicable(planned.sketch.outline, step.options) or (
            chosen.paraphrased and not planned.source.paraphrases
        ):
            return
        single = [(metric,) for metric in step.metrics]
        for metrics in single if chosen.metrics == "one" else [step.metrics]:
            for task in self._plan_step(step, metrics, planned):
                self.tasks.setdefault(task.key, task)

    def _plan_step(
        self, step: Step, metrics: tuple[str, ...], planned: PlannedSet
    ) -> Iterator[Task]:
        chosen, sketch = methods.find(step.method), planned.sketch
        traits = {spec: self._traits(spec, planned) for spec in metrics}
        together = step.together or not chosen.by_system
        together |= any(trait.together for trait in traits.values())
        if step.method == _SCORE:  # scores of a metric are planned once, whoever takes them
            together |= any(
                other.method == _SCORE and other.together and other.takes(planned.name)
                for other in self.steps
                if set(metrics) & set(other.metrics)
            )
        human = chosen.reads_people(step.options) or any(trait.human for trait in traits.values())
        options, placed = located_options(chosen, step.options, self.folder)
        needs = self._needs(chosen, options, traits, planned)
        after = self._after(chosen, traits, planned)
        said = json.dumps(placeless(chosen, step.options), sort_keys=True)
        places = dict(placed)
        for spec in metrics:
            places |= located_specs(spec, self.folder)
        for systems in [(*sketch.systems,)] if together else [(name,) for name in sketch.systems]:
            files = files_of(chosen, options_of_task(chosen, options, sketch.name, systems))
            all_needs = needs | self._identities(Dependency("file", file) for file in files)
            content = content_of(sketch, systems, human=human)
            yield Task(
                key=task_key(
                    step.method,
                    metrics,
                    said,
                    content,
                    [(need.kind, identity) for need, identity in all_needs.items()],
                ),
                method=step.method,
                testset=sketch.name,
                source=planned.source,
                systems=systems,
                metrics=metrics,
                options=json.dumps(options, sort_keys=True),
                content=content,
                human=human,
                allow_code=self.allow_code,
                needs=all_needs,
                after=after,
                places=places,
                said=said,
            )

    def _after(
        self, chosen: Method, traits: Mapping[str, Traits], planned: PlannedSet
    ) -> dict[str, tuple[str, ...]]:
        """Tasks whose scores are taken, by metric; these are added."""
        from gnomon.studies.definition import Step

        tasks_of = {}
        for spec, trait in traits.items():
            if chosen.from_study and planned.source.paraphrases:
                continue  # it scores with the references that it makes itself
            if chosen.reuses == "all" or (chosen.reuses == "costly" and trait.costly):
                tasks = list(self._plan_step(Step(_SCORE, (spec,)), (spec,), planned))
                for task in tasks:
                    self.tasks.setdefault(task.key, task)
                tasks_of[spec] = tuple(task.key for task in tasks)
        return tasks_of

    def _needs(
        self,
        chosen: Method,
        options: Mapping[str, object],
        traits: Mapping[str, Traits],
        planned: PlannedSet,
    ) -> dict[Dependency, str]:
        of_options = step_needs(
            chosen, options, planned.sketch.outline.target_language, allow_code=self.allow_code
        )
        of_metrics = [need for trait in traits.values() for need in trait.needs]
        files = planned.source.paraphrases if chosen.from_study else ()
        paraphrases = [Dependency("file", file) for file in files]
        return self._identities(dict.fromkeys([*of_metrics, *of_options, *paraphrases]))

    def _identities(
        self, needs: Mapping[Dependency, None] | Iterator[Dependency]
    ) -> dict[Dependency, str]:
        return {need: self.sketches.identity(need) for need in needs}

    def _traits(self, spec: str, planned: PlannedSet) -> Traits:
        located = self._place(spec)
        return traits_of(
            located, planned.sketch.outline.target_language, allow_code=self.allow_code
        )

    def _place(self, spec: str) -> str:
        return located_spec(spec, self.folder)


@dataclass(frozen=True)
class StudyPlan:
    """The tasks of a study.

    Attributes:
        study: what they are for.
        tasks: all of them, each key once; costly ones first.
        sets: the test sets.
        sketches: what is kept of their files.
    """

    study: Study
    tasks: tuple[Task, ...]
    sets: tuple[PlannedSet, ...]
    sketches: Sketches = field(default_factory=Sketches, compare=False, repr=False)

    @property
    def sizes(self) -> dict[str, tuple[int, int]]:
        """Systems and segments of the test sets, by name."""
        return {
            planned.name: (len(planned.sketch.systems), planned.sketch.segments)
            for planned in self.sets
        }

    def record(self) -> PlanRecord:
        """Its record in a store."""
        keys = tuple(task.key for task in self.tasks)
        return PlanRecord(self.study.name, keys, self.study.steps, self.sets)

    def finding(self, store: Store | None = None) -> Finding:
        """The plan as a table: per method and metric, how many tasks there are and are done."""
        kept = store.entries if store else {}
        groups: dict[tuple[str, str], list[Task]] = {}
        for task in self.tasks:
            groups.setdefault((task.method, ", ".join(task.metrics)), []).append(task)
        rows: list[Mapping[str, Cell]] = []
        for (method, metrics), tasks in groups.items():
            done = sum(task.key in kept for task in tasks)
            rows.append(
                {
                    "method": method,
                    "metrics": metrics or None,
                    "testsets": len({task.testset for task in tasks}),
                    "tasks": len(tasks),
                    "done": done,
                    "left": len(tasks) - done,
                }
            )
        return _plan_finding(self, rows)


def plan(study: Study, *, allow_code: bool = False) -> StudyPlan:
    """Read the test sets and lay out the tasks.

    A method whose word on a system does not depend on the others has a task for each system, so
    that one system more costs that system alone.
    """
    problems = Problems()
    sets, sketches = look(study, problems, allow_code=allow_code)
    problems.refuse(study.path)
    folder = _folder(study)
    steps = masked_alike(study.steps, folder, allow_code=allow_code)
    laid = TaskLayout(folder, sketches, allow_code=allow_code, steps=steps)
    for step in steps:
        for planned in sets:
            if step.takes(planned.name):
                laid.add(step, planned)
    whole_sets_first = sorted(laid.tasks.values(), key=lambda task: -len(task.systems))
    return StudyPlan(study, tuple(whole_sets_first), tuple(sets), sketches)


def look(
    study: Study, problems: Problems, *, allow_code: bool = False
) -> tuple[list[PlannedSet], Sketches]:
    """Read the test sets, and note what is wrong with them, and with the methods on them."""
    sketches = Sketches.read(study.store / SKETCHES)
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


def _sketched(study: Study, sketches: Sketches, problems: Problems) -> list[PlannedSet]:
    planned = []
    for number, source in enumerate(study.testsets):
        try:
            planned.append(PlannedSet(source, sketches.sketch(source)))
        except (GnomonError, OSError) as error:
            problems.add(study.set_key(number), f"{source.path}: {error}")
        else:
            _say_unfit(planned[-1], study.set_key(number))
    return planned


def _say_unfit(planned: PlannedSet, key: str) -> None:
    """A misspelt name among right ones would go unseen."""
    names = planned.sketch.systems
    unfit = [
        system for system in planned.source.systems if not any(fits(k, (system,)) for k in names)
    ]
    if unfit:
        _log.warning(
            "%s.systems: no system that is taken of %s fits %s", key, planned.name, ", ".join(unfit)
        )


def _check_names(study: Study, sets: Sequence[PlannedSet], problems: Problems) -> None:
    paths: dict[str, str] = {}
    for planned in sets:
        if planned.name in paths:
            problems.add(
                study.set_key(study.testsets.index(planned.source)),
                f"two test sets are called {planned.name!r}: {paths[planned.name]} and"
                f" {planned.source.path}; results are kept by name, so give one of them another:"
                " name = '...'",
            )
        paths[planned.name] = planned.source.path


def _check_needs(step: Step, where: str, sets: Sequence[PlannedSet], problems: Problems) -> None:
    chosen = methods.find(step.method)
    taken = [planned for planned in sets if step.takes(planned.name)]
    if not taken:
        problems.add(
            f"{where}.testsets",
            f"no test set fits {', '.join(step.testsets)}; there are"
            f" {', '.join(planned.name for planned in sets)}",
        )
        return
    lacking = [planned.name for planned in taken if chosen.systems and not planned.sketch.systems]
    if lacking:
        problems.add(where, f"{step.method} needs systems, and {', '.join(lacking)} has none")
    if not any(chosen.is_applicable(planned.sketch.outline, step.options) for planned in taken):
        problems.add(
            where, f"{step.method} needs people's judgements, and no test set of the study has any"
        )
    if chosen.paraphrased and not any(planned.source.paraphrases for planned in taken):
        problems.add(
            where,
            f"{step.method} needs paraphrases, and no test set of the study has any; name files:"
            " paraphrases = ['made.jsonl'] in [[testsets]]",
        )


def _plan_finding(made: StudyPlan, rows: Sequence[Mapping[str, Cell]]) -> Finding:
    columns = (
        Column("method", "method"),
        Column("metrics", "metrics"),
        Column("testsets", "test sets", "count"),
        Column("tasks", "tasks", "count"),
        Column("done", "done", "count"),
        Column("left", "left", "count"),
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
        },
    )
