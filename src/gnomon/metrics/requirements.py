"""Dependencies of a metric's numbers, and of its score of a system on the others.

Built-in metrics answer both questions, ``requires(language)`` and ``pooled``; so can metrics of
other packages. Of one that does not answer nothing is taken for granted: its numbers depend on its
package, and may depend on all systems.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.dependencies import Dependency
from gnomon.core.options import fields_of, reaches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["GROUP", "needs_of_options", "offering_packages", "requirements"]

#: entry points of packages that offer metrics
GROUP = "gnomon.metrics"
#: options that name models
_MODELS = ("model", "lm")


def requirements(
    metric: object, language: str | None, *, group: str = GROUP
) -> tuple[Dependency, ...]:
    """Dependencies of the numbers of a metric (or of the importances of an explainer)."""
    answer = getattr(metric, "requires", None)
    if callable(answer):
        dependencies = answer(language)
    else:
        dependencies = needs_of_options(metric, language) if is_dataclass(metric) else ()
    name = str(getattr(metric, "name", ""))
    is_foreign = not type(metric).__module__.startswith("gnomon.")
    package = offering_packages(name, group=group) if is_foreign else ()
    return tuple(dict.fromkeys((*package, *dependencies)))


def needs_of_options(
    options: object, language: str | None, *, model: str | None = None
) -> tuple[Dependency, ...]:
    """Dependencies in the options of a metric: models, files, and those of a wrapped metric."""
    return tuple(_needs(options, language, model))


def _needs(options: object, language: str | None, model: str | None) -> Iterator[Dependency]:
    wrapped: list[Dependency] = []
    for package in getattr(options, "packages", ()):
        yield Dependency("package", package)
    declared = fields_of(type(options))
    is_own = type(options).__module__.startswith("gnomon.")  # and so says which options name files
    for option in fields(options):  # type: ignore[arg-type]  # a dataclass, as its caller knows
        value = getattr(options, option.name)
        if option.name in _MODELS:
            name = model if value is None and option.name == "model" else value
            if name is not None:
                yield Dependency("model", str(name), str(getattr(options, "revision", None) or ""))
        elif is_dataclass(value) and not isinstance(value, type):
            wrapped += requirements(value, language)
        elif (
            isinstance(value, str)
            and ("/" in value or "." in value)
            and (not is_own or "files" in reaches(declared[option.name]))
            and Path(value).is_file()
        ):
            yield Dependency("file", str(Path(value).absolute()))
    yield from wrapped


def offering_packages(name: str, *, group: str = GROUP) -> tuple[Dependency, ...]:
    """The package that offers a metric; all that offer some where none has this name."""
    offered = _list_offered(group)
    packages = [offered[name]] if name in offered else dict.fromkeys(offered.values())
    return tuple(Dependency("package", package) for package in packages)


@lru_cache(maxsize=4)
def _list_offered(group: str) -> Mapping[str, str]:
    from importlib.metadata import entry_points

    points = entry_points(group=group)
    return {point.name: point.dist.name for point in points if point.dist is not None}
