"""The problems of a study, gathered, so that all of them are shown at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gnomon.core import registry as methods
from gnomon.core.errors import GnomonError, MissingFileError
from gnomon.core.option_files import Problems, described, typed_options
from gnomon.studies.needs import (
    located_files,
    located_options,
    located_spec,
    missing_files,
    options_of_task,
    step_needs,
    traits_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from gnomon.core.dependencies import Dependency
    from gnomon.core.outline import Outline
    from gnomon.core.registry import Method
    from gnomon.metrics.base import Metric
    from gnomon.studies.definition import Step, StepKey
    from gnomon.studies.sources import PlannedSet


def checked_specs(
    given: object, where: str, folder: Path, problems: Problems, *, allow_code: bool
) -> tuple[str, ...]:
    """Specs of metrics in their canonical spelling, which tables have too; none twice."""
    from gnomon.metrics import parse
    from gnomon.metrics.spec import read_spec

    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list):
        problems.add(where, f"must be specs such as ['bleu']; got {described(given)}")
        return ()
    specs: list[str] = []
    for number, spec in enumerate(listed):
        key = f"{where}[{number}]"
        if not isinstance(spec, str):
            problems.add(key, f"must be a spec such as 'bleu'; got {described(spec)}")
            continue
        try:
            metric = parse(located_spec(spec, folder), allow_code=allow_code)
        except GnomonError as error:
            problems.add(key, error)
            continue
        canonical = str(read_spec(spec))
        if canonical in specs:
            same = "" if canonical == spec else f": it is {canonical}"
            problems.add(key, f"{spec!r} is named twice{same}")
        _check_name(metric, canonical, key, problems)
        specs.append(canonical)
    return tuple(specs)


def _check_name(metric: Metric, spec: str, key: str, problems: Problems) -> None:
    """Note two functions that tables would call the same."""
    from gnomon.metrics.functions import FunctionMetric

    name = metric.name if isinstance(metric, FunctionMetric) else spec
    other = problems.called.setdefault(name, spec)
    if other != spec:
        problems.add(
            key,
            f"tables would call {spec} {name!r}, as they call {other}; give it another name:"
            f" python('module:function', name='{name}2')",
        )


def checked_options(
    method: Method, given: Mapping[str, object], folder: Path, where: str, problems: Problems
) -> dict[str, object]:
    """The options of a method, those known and of the right type; files found beside the study."""
    declared = method.step_options
    typed = typed_options(declared, given, where, problems)
    return {name: located_files(declared[name], value, folder) for name, value in typed.items()}


# What methods would refuse of their options and test sets, said when a study is planned.


class _Remark(NamedTuple):
    where: str
    error: GnomonError


def step_problems(
    step: Step,
    key: StepKey,
    sets: Iterable[PlannedSet],
    folder: Path,
    problems: Problems,
    *,
    allow_code: bool,
) -> None:
    """Note what a method would refuse of a step, and of the test sets that it takes."""
    taken = list(_sets_of_step(step, sets))
    if not taken:  # what no test set could mend
        for remark in _check_step(step, key, None, folder, allow_code=allow_code):
            problems.add(*remark)
    remarks: dict[tuple[str, str], tuple[_Remark, dict[str, None]]] = {}
    for planned in taken:
        for remark in _check_set(step, key, planned, folder, allow_code=allow_code):
            same = remarks.setdefault((remark.where, str(remark.error)), (remark, {}))
            same[1][planned.name] = None
    for (where, error), names in remarks.values():
        some = [f" ({', '.join(names)})"] if len(names) < len(taken) else []
        problems.add(where, error, *some)


def _sets_of_step(step: Step, sets: Iterable[PlannedSet]) -> Iterator[PlannedSet]:
    """The test sets that a step has tasks for."""
    chosen = methods.find(step.method)
    for planned in sets:
        silent = not chosen.is_applicable(planned.sketch.outline, step.options) or (
            chosen.paraphrased and not planned.source.paraphrases
        )
        if step.takes(planned.name) and not silent:
            yield planned


def _check_set(
    step: Step, key: StepKey, planned: PlannedSet, folder: Path, *, allow_code: bool
) -> Iterator[_Remark]:
    outline = planned.sketch.outline
    if planned.source.methods:
        outline = replace(outline, paraphrases=())  # the files may hold other methods
    wrong = list(_check_step(step, key, outline, folder, allow_code=allow_code, of=planned))
    yield from wrong
    language = outline.target_language
    for spec, where in zip(step.metrics, key.specs, strict=True):
        if where not in [remark.where for remark in wrong]:
            yield from _missing_models_of_metric(
                where.rpartition(": ")[2], spec, language, folder, allow_code=allow_code
            )
    if not wrong:
        chosen = methods.find(step.method)
        options, _ = located_options(chosen, step.options, folder)
        needs = step_needs(chosen, options, language, allow_code=allow_code)
        yield from _missing_models(key.where, [need for need in needs if need.kind == "model"])


def _check_step(
    step: Step,
    key: StepKey,
    outline: Outline | None,
    folder: Path,
    *,
    allow_code: bool,
    of: PlannedSet | None = None,
) -> Iterator[_Remark]:
    """Yield problems of the method, with the keys of the file; and files that are not there."""
    chosen = methods.find(step.method)
    located, _ = located_options(chosen, step.options, folder)
    if of is not None:
        located = options_of_task(chosen, located, of.name, [*of.sketch.systems])
    given = {**chosen.usual, **located, "allow_code": allow_code}
    specs = [located_spec(spec, folder) for spec in step.metrics]
    reported: set[str] = set()
    if chosen.metrics == "one":
        for spec, where in zip(specs, key.specs, strict=True):
            for fault in chosen.problems(outline, {"metrics": spec, **given}):
                reported.add(_option_of(fault.option))
                named = where if fault.option == "metrics" else _key(key, fault.option)
                yield _Remark(named, fault.error)
    else:
        if chosen.metrics == "all":  # scores that are taken have the names of the study
            names = [_table_name(spec, folder, allow_code=allow_code) for spec in step.metrics]
            taken = chosen.reuses == "all"
            given["metrics"] = dict(zip(names, specs, strict=True)) if taken else specs
        places = {f"metrics[{number}]": where for number, where in enumerate(key.specs)}
        for fault in chosen.problems(outline, given):
            reported.add(_option_of(fault.option))
            yield _Remark(places.get(fault.option) or _key(key, fault.option), fault.error)
    for option, file in missing_files(chosen, located):
        if option not in reported:
            yield _Remark(f"{key.where}.{option}", MissingFileError(f"there is no file {file!r}"))


def _option_of(option: str) -> str:
    """The option of a place within it."""
    return option.partition("[")[0].partition(".")[0]


def _table_name(spec: str, folder: Path, *, allow_code: bool) -> str:
    """Name of a metric in tables: its spec, or the name of a function."""
    from gnomon.metrics import parse
    from gnomon.metrics.functions import FunctionMetric
    from gnomon.metrics.spec import read_spec

    try:
        metric = parse(located_spec(spec, folder), allow_code=allow_code)
    except GnomonError:
        return spec  # the error is reported elsewhere
    return metric.name if isinstance(metric, FunctionMetric) else str(read_spec(spec))


def _key(key: StepKey, option: str) -> str:
    return f"{key.where}.{option}" if option else key.where


def _missing_models_of_metric(
    where: str, spec: str, language: str | None, folder: Path, *, allow_code: bool
) -> Iterator[_Remark]:
    """Models of a metric that are not here."""
    try:
        traits = traits_of(located_spec(spec, folder), language, allow_code=allow_code)
    except GnomonError as error:
        yield _Remark(where, error)
        return
    yield from _missing_models(where, [need for need in traits.needs if need.kind == "model"])


def _missing_models(where: str, models: Iterable[Dependency]) -> Iterator[_Remark]:
    for model in models:
        from gnomon.models import find_model  # most metrics have none

        try:
            find_model(model.name, model.revision or None)
        except GnomonError as error:
            yield _Remark(where, error)
