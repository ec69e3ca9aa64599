"""Cutting a study into tasks, each with a key of all that its result depends on."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.study._labels import label_files
from gnomon.study._methods import METHODS
from gnomon.study._needs import Need
from gnomon.study._sources import content_of
from gnomon.study._specs import located_options, needs_of_specs
from gnomon.study._tasks import Task, task_key
from gnomon.study._traits import located_spec, method_needs, traits_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.study._methods import Method
    from gnomon.study._sketches import Sketches
    from gnomon.study._sources import PlannedSet
    from gnomon.study._study import Step
    from gnomon.study._traits import Traits

__all__ = ["Layout"]

_SCORE = "score"


@dataclass
class Layout:
    """Tasks, as they are laid out.

    Attributes:
        folder: that of the study; file names in specs are relative to it.
        sketches: what is remembered of files.
        allow_code: specs may run code.
        steps: all of the study: one that scores all systems together does so for the others too.
        tasks: all of them, by key.
    """

    folder: Path
    sketches: Sketches
    allow_code: bool = False
    steps: Sequence[Step] = ()
    tasks: dict[str, Task] = field(default_factory=dict)

    def add(self, step: Step, planned: PlannedSet) -> None:
        """The tasks of a method on a test set, and those whose scores they take.

        A task is of one system where what is said of a system does not depend on the others.
        """
        chosen = METHODS[step.method]
        if (chosen.judged and not planned.sketch.judged) or (
            chosen.paraphrased and not planned.source.paraphrases
        ):
            return
        single = [(one,) for one in step.metrics]
        for metrics in single if chosen.metrics == "one" else [step.metrics]:
            for task in self._of(step, metrics, planned):
                self.tasks.setdefault(task.key, task)

    def _of(self, step: Step, metrics: tuple[str, ...], planned: PlannedSet) -> Iterator[Task]:
        chosen, sketch = METHODS[step.method], planned.sketch
        traits = {spec: self._traits(spec, planned) for spec in metrics}
        together = step.together or not chosen.by_system
        together |= any(one.together for one in traits.values())
        if step.method == _SCORE:  # scores of a metric are planned once, whoever takes them
            together |= self._scored_together(metrics, planned)
        human = chosen.reads_people(step.options) or any(one.human for one in traits.values())
        options, placed = located_options(step.method, step.options, self.folder)
        needs = self._needs(step, options, traits, planned)
        after = self._after(chosen, traits, planned)
        said = json.dumps(_placeless(step.options), sort_keys=True)
        places = {spec: place for spec in metrics if (place := self._place(spec)) != spec} | placed
        for systems in [(*sketch.systems,)] if together else [(one,) for one in sketch.systems]:
            files = label_files(step.options, sketch.name, systems)
            own = needs | self._identified(Need("file", file) for file in files)
            content = content_of(sketch, systems, human=human)
            yield Task(
                key=task_key(
                    step.method,
                    metrics,
                    said,
                    content,
                    [(need.kind, found) for need, found in own.items()],
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
                needs=own,
                after=after,
                places=places,
                said=said,
            )

    def _scored_together(self, metrics: Sequence[str], planned: PlannedSet) -> bool:
        return any(
            one.method == _SCORE and one.together and one.takes(planned.name)
            for one in self.steps
            if set(metrics) & set(one.metrics)
        )

    def _after(
        self, chosen: Method, traits: Mapping[str, Traits], planned: PlannedSet
    ) -> dict[str, tuple[str, ...]]:
        """By metric, the tasks whose scores are taken; these are added."""
        from gnomon.study._study import Step

        found = {}
        for spec, one in traits.items():
            if chosen.reuses == "all" or (chosen.reuses == "costly" and one.costly):
                tasks = list(self._of(Step(_SCORE, (spec,)), (spec,), planned))
                for task in tasks:
                    self.tasks.setdefault(task.key, task)
                found[spec] = tuple(task.key for task in tasks)
        return found

    def _needs(
        self,
        step: Step,
        options: Mapping[str, object],
        traits: Mapping[str, Traits],
        planned: PlannedSet,
    ) -> dict[Need, str]:
        chosen, language = METHODS[step.method], _target(planned)
        own = method_needs(
            step.method,
            step.options,
            language,
            tagged=chosen.tagged,
            allow_code=self.allow_code,
        )
        own += needs_of_specs(step.method, options, language, allow_code=self.allow_code)
        rest = {key: value for key, value in step.options.items() if key != "labels"}
        files = [Need("file", file) for file in _files(rest)]
        if chosen.given != "set":
            files += [Need("file", file) for file in planned.source.paraphrases]
        of_metrics = [need for one in traits.values() for need in one.needs]
        return self._identified(dict.fromkeys([*of_metrics, *own, *files]))

    def _identified(self, needs: Mapping[Need, None] | Iterator[Need]) -> dict[Need, str]:
        return {need: self.sketches.identity(need) for need in needs}

    def _traits(self, spec: str, planned: PlannedSet) -> Traits:
        place = self._place(spec)
        return traits_of(place, _target(planned), allow_code=self.allow_code)

    def _place(self, spec: str) -> str:
        return located_spec(spec, self.folder)


def _target(planned: PlannedSet) -> str | None:
    pair = planned.sketch.language_pair
    return pair.rsplit("-", maxsplit=1)[-1] if pair else None


def _placeless(value: object) -> object:
    """Options without the folders of files: what these hold counts, not where they are."""
    if isinstance(value, str):
        if Path(value).is_absolute() and "{" in value:
            return Path(value).name
        head, file = _file(value)
        return head + Path(file).name if file else value
    if isinstance(value, Mapping):
        return {key: _placeless(one) for key, one in value.items()}
    return [_placeless(one) for one in value] if isinstance(value, list | tuple) else value


def _files(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if file := _file(value)[1]:
            yield file
        return
    parts: Sequence[object] = ()
    if isinstance(value, Mapping):
        parts = list(value.values())
    elif isinstance(value, list | tuple):
        parts = value
    for one in parts:
        yield from _files(one)


def _file(text: str) -> tuple[str, str]:
    """What stands before the file that an option names, and the file: NAME=FILE of a scorer."""
    name, equals, source = text.partition("=")
    for head, file in (("", text), (name + equals, source)):
        if Path(file).is_absolute() and os.path.isfile(file):  # noqa: PTH113  # a long text is no file, and no error
            return head, file
    return "", ""
