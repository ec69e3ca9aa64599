"""What methods would refuse of their options and test sets, told when a study is planned."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gnomon.errors import GnomonError
from gnomon.study._labels import label_files
from gnomon.study._methods import METHODS
from gnomon.study._specs import located_options, needs_of_specs
from gnomon.study._traits import located_spec, method_needs, traits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gnomon.outline import Outline
    from gnomon.study._checks import Problems
    from gnomon.study._needs import Need
    from gnomon.study._sources import PlannedSet
    from gnomon.study._study import Step

__all__ = ["StepKey", "key_of", "step_problems"]

#: options that name files
_FILES = ("trees",)


class StepKey(NamedTuple):
    """Where a step stands in the file.

    Attributes:
        where: the key of its table.
        specs: the keys of its metrics, in order.
    """

    where: str
    specs: tuple[str, ...]


class _Said(NamedTuple):
    where: str
    said: str


def key_of(number: int, steps: Sequence[Step]) -> StepKey:
    """The key of a step that no file was read for."""
    step = steps[number]
    same = [place for place, one in enumerate(steps) if one.method == step.method]
    where = f"methods.{step.method}" + (f"[{same.index(number)}]" if len(same) > 1 else "")
    return StepKey(where, tuple(f"{where}.metrics[{n}]" for n in range(len(step.metrics))))


def step_problems(
    step: Step,
    key: StepKey,
    sets: Iterable[PlannedSet],
    folder: Path,
    problems: Problems,
    *,
    allow_code: bool,
) -> None:
    """Note what a method would refuse of a step, and of the test sets that it takes.

    Args:
        step: method, metrics and options.
        key: where it stands.
        sets: test sets as far as they are known; those that it does not take are left out.
        folder: that of the study.
        problems: where errors are noted.
        allow_code: specs may run code.
    """
    taken = [one for one in _taken(step, sets) if one.sketch.outline is not None]
    if not taken:  # what no test set could mend
        for one in _of_step(step, key, None, folder, allow_code=allow_code):
            problems.add(*one)
    named: dict[_Said, list[str]] = {}
    for planned in taken:
        for said in dict.fromkeys(_of_set(step, key, planned, folder, allow_code=allow_code)):
            named.setdefault(said, []).append(planned.name)
    for said, names in named.items():
        some = len(names) < len(taken) and not any(name in said.said for name in names)
        problems.add(said.where, f"{said.said} ({', '.join(names)})" if some else said.said)


def _taken(step: Step, sets: Iterable[PlannedSet]) -> Iterator[PlannedSet]:
    """The test sets that a step has tasks for."""
    chosen = METHODS[step.method]
    for one in sets:
        silent = (chosen.judged and not one.sketch.judged) or (
            chosen.paraphrased and not one.source.paraphrases
        )
        if step.takes(one.name) and not silent:
            yield one


def _of_set(
    step: Step, key: StepKey, planned: PlannedSet, folder: Path, *, allow_code: bool
) -> Iterator[_Said]:
    outline = planned.sketch.outline
    if outline is not None and planned.source.methods:
        outline = replace(outline, paraphrases=())  # the files may hold other methods
    wrong = list(_of_step(step, key, outline, folder, allow_code=allow_code))
    yield from wrong
    language = outline.target_language if outline is not None else None
    for spec, where in zip(step.metrics, key.specs, strict=True):
        if where not in [one.where for one in wrong]:
            yield from _models(
                where.rpartition(": ")[2], spec, language, folder, allow_code=allow_code
            )
    if not wrong:
        options, _ = located_options(step.method, step.options, folder)
        needs = [
            *method_needs(step.method, options, language, tagged=False),
            *needs_of_specs(step.method, options, language, allow_code=allow_code),
        ]
        yield from _absent(key.where, [one for one in needs if one.kind == "model"])
    yield from _caught(
        f"{key.where}.labels", label_files, step.options, planned.name, [*planned.sketch.systems]
    )


def _of_step(
    step: Step, key: StepKey, outline: Outline | None, folder: Path, *, allow_code: bool
) -> Iterator[_Said]:
    """What the check of the method says, with the keys of the file."""
    chosen = METHODS[step.method]
    check = chosen.checks()
    known = inspect.signature(check).parameters
    every = any(one.kind is one.VAR_KEYWORD for one in known.values())
    located, _ = located_options(step.method, step.options, folder)
    options = {**chosen.usual, **located, "allow_code": allow_code}
    if not options.get("labels"):
        options.pop("labels", None)  # no files
    given = {name: value for name, value in options.items() if every or name in known}
    specs = [located_spec(spec, folder) for spec in step.metrics]
    if chosen.metrics == "one":
        for spec, where in zip(specs, key.specs, strict=True):
            for fault in check(outline, **{chosen.parameter: spec}, **given):
                own = where if fault.option == chosen.parameter else _key(key, fault.option)
                yield _Said(own, str(fault.error))
        return
    if chosen.metrics == "all":  # scores that are taken have the names that the study gives them
        names = [_name(spec, allow_code=allow_code) for spec in step.metrics]
        taken = chosen.reuses == "all"
        given[chosen.parameter] = dict(zip(names, specs, strict=True)) if taken else specs
    places = {f"metrics[{number}]": where for number, where in enumerate(key.specs)}
    for fault in check(outline, **given):
        yield _Said(places.get(fault.option) or _key(key, fault.option), str(fault.error))
    yield from _files(step.options, key)


def _name(spec: str, *, allow_code: bool) -> str:
    """What tables call a metric: its spec, or the name of a function."""
    from gnomon.metrics import parse
    from gnomon.metrics._function import FunctionMetric
    from gnomon.metrics._reader import read_spec

    try:
        metric = parse(spec, allow_code=allow_code)
    except GnomonError:
        return spec  # told elsewhere
    return metric.name if isinstance(metric, FunctionMetric) else str(read_spec(spec))


def _key(key: StepKey, option: str) -> str:
    return f"{key.where}.{option}" if option else key.where


def _files(options: Mapping[str, object], key: StepKey) -> Iterator[_Said]:
    for option in _FILES:
        given = options.get(option) or ()
        for name in [given] if isinstance(given, str) else given:  # type: ignore[attr-defined]  # a list of strings
            if not Path(str(name)).is_file():
                yield _Said(f"{key.where}.{option}", f"there is no file {str(name)!r}")


def _models(
    where: str, spec: str, language: str | None, folder: Path, *, allow_code: bool
) -> Iterator[_Said]:
    """Models of a metric that are not here."""
    try:
        traits = traits_of(located_spec(spec, folder), language, allow_code=allow_code)
    except GnomonError as error:
        yield _Said(where, str(error))
        return
    yield from _absent(where, [one for one in traits.needs if one.kind == "model"])


def _absent(where: str, models: Iterable[Need]) -> Iterator[_Said]:
    from gnomon.models import find_model

    for one in models:
        yield from _caught(where, find_model, one.name, one.revision or None)


def _caught(where: str, check: Callable[..., object], *given: object) -> Iterator[_Said]:
    try:
        check(*given)
    except GnomonError as error:
        yield _Said(where, str(error))
