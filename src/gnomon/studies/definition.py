"""The definition of a study: test sets, methods, and the place of results."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003  # steps are read from JSON by their types
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["SetSource", "Step", "StepKey", "Study", "fits"]


def fits(name: str, patterns: Sequence[str]) -> bool:
    """True if a name is one of some names, or fits one of them as a pattern (``online-*``)."""
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


@dataclass(frozen=True)
class SetSource:
    """Where a test set is, and what of it a study takes.

    Attributes:
        path: directory or file of a test set.
        name: what to call it; by default what its folder is called.
        language_pair: which pair, where the directory holds several.
        systems: patterns (``online-*``) of which a system's name must fit one; all by default.
        exclude: patterns of which it must fit none.
        references: names of the references to take; all by default.
        first: how many segments to take, from the first; all by default.
        human: files of what people said of it.
        paraphrases: files of further references.
        n: how many paraphrases of each method to take.
        methods: which methods of paraphrases to take.
    """

    path: str
    name: str | None = None
    language_pair: str | None = None
    systems: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    first: int | None = None
    paraphrases: tuple[str, ...] = ()
    n: int | None = None
    methods: tuple[str, ...] = ()
    human: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """All that is read for it."""
        return (self.path, *self.human, *self.paraphrases)


@dataclass(frozen=True)
class Step:
    """One method with its metrics and options, for all test sets.

    Attributes:
        method: a name of :func:`gnomon.core.registry.steps`.
        metrics: specs.
        options: keyword options of the method, as TOML gives them.
        together: one task for all systems, which are then compared where the method does so.
        testsets: patterns of which a test set's name must fit one; all by default.
    """

    method: str
    metrics: tuple[str, ...]
    options: Mapping[str, object] = field(default_factory=dict)
    together: bool = False
    testsets: tuple[str, ...] = ()

    def takes(self, testset: str) -> bool:
        """True if it looks at a test set of that name."""
        return not self.testsets or fits(testset, self.testsets)


class StepKey(NamedTuple):
    """Where a step stands in the file."""

    where: str
    specs: tuple[str, ...]


@dataclass(frozen=True)
class Study:
    """A study: the methods, their test sets, and the place of the results.

    Attributes:
        name: what to call it.
        path: the file that it was read from.
        testsets: where the test sets are.
        steps: the methods.
        store: folder of the results.
        set_keys: where the test sets stand in the file, one key for each; empty: in no file.
        step_keys: likewise the methods with their metrics.
    """

    name: str
    path: str
    testsets: tuple[SetSource, ...]
    steps: tuple[Step, ...]
    store: Path
    set_keys: tuple[str, ...] = field(default=(), compare=False)
    step_keys: tuple[StepKey, ...] = field(default=(), compare=False)

    def set_key(self, number: int) -> str:
        """Where a test set stands."""
        complete = len(self.set_keys) == len(self.testsets)
        return self.set_keys[number] if complete else f"testsets[{number}]"

    def step_key(self, number: int) -> StepKey:
        """Where a method stands."""
        counts = [len(key.specs) for key in self.step_keys]
        complete = counts == [len(step.metrics) for step in self.steps]
        return self.step_keys[number] if complete else key_of(number, self.steps)


def key_of(number: int, steps: Sequence[Step]) -> StepKey:
    """The key of a step that no file was read for."""
    step = steps[number]
    same = [position for position, other in enumerate(steps) if other.method == step.method]
    where = f"methods.{step.method}" + (f"[{same.index(number)}]" if len(same) > 1 else "")
    return StepKey(where, tuple(f"{where}.metrics[{n}]" for n in range(len(step.metrics))))
