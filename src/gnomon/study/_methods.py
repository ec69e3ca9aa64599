"""Which methods a study can run: all that take a test set and give scores or a finding."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from gnomon.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["METHODS", "Method", "method", "options_of"]

#: options that belong to a run and not to a study
_OF_THE_RUN = frozenset({"allow_code", "cache", "progress", "save", "testset", "testsets"})


@dataclass(frozen=True)
class Method:
    """How a study calls a method.

    Attributes:
        function: where it lives, ``module:name``.
        tables: what its tables are called in a store, by their names within a finding; the first
            table of a finding is under "".
        metrics: how it takes metrics: one per call, all at once, or not at all.
        parameter: the name of its parameter for metrics.
        by_system: what it says of a system does not depend on the other systems.
        human: it reads people's scores.
        systems: it needs systems.
    """

    function: str
    tables: Mapping[str, str]
    metrics: Literal["one", "all", "none"] = "one"
    parameter: str = "metric"
    by_system: bool = False
    human: bool = False
    systems: bool = True

    def load(self) -> Callable[..., Any]:
        """The function itself."""
        module, name = self.function.split(":")
        found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return found

    def table(self, name: str, *, first: bool) -> str:
        """What a table of a finding is called in a store."""
        main = self.tables[""]
        return main if first else self.tables.get(name, f"{main}_{name.replace(' ', '_')}")


METHODS: Mapping[str, Method] = {
    "score": Method("gnomon.metrics:score", {"": "scores", "segments": "segments"}, by_system=True),
    "muler.score": Method("gnomon.muler:muler", {"": "muler"}, by_system=True),
    "muler.sentences": Method(
        "gnomon.muler:sentences", {"": "muler_sentences"}, metrics="none", by_system=True
    ),
    "difficulty.score": Method("gnomon.difficulty:score", {"": "difficulty"}, human=True),
    "difficulty.words": Method("gnomon.difficulty:words", {"": "difficulty_words"}),
    "bmx.explain": Method("gnomon.bmx:explain", {"": "importance"}, by_system=True),
    "metaeval": Method(
        "gnomon.metaeval:metaeval",
        {"": "agreement"},
        metrics="all",
        parameter="metrics",
        human=True,
    ),
    "compare": Method(
        "gnomon.metaeval:compare", {"": "comparisons"}, metrics="all", parameter="metrics"
    ),
}


def method(name: str) -> Method:
    """The method of that name.

    Raises:
        UnknownNameError: a study has no such method.
    """
    if name not in METHODS:
        raise UnknownNameError("method of a study", name, METHODS)
    return METHODS[name]


@cache
def options_of(name: str) -> Mapping[str, inspect.Parameter]:
    """The options of a method that a study may set, beside its metrics."""
    found = method(name)
    parameters = list(inspect.signature(found.load()).parameters.values())[1:]
    left_out = _OF_THE_RUN | ({found.parameter} if found.metrics != "none" else set())
    return {one.name: one for one in parameters if one.name not in left_out}
