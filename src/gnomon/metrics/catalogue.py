"""Catalogues of what specs name beside metrics: built-in things, and those that packages offer.

What a catalogue holds are dataclasses (best subclasses of :class:`gnomon.metrics.Options`) whose
fields are the options of the spec. They are loaded when they are named, and what packages offer
cannot take the place of a built-in one.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import GnomonError, SpecError, UnknownNameError
from gnomon.core.options import CAPABILITIES
from gnomon.core.plugins import entry_points
from gnomon.metrics.registry import (
    FOREIGN,
    Description,
    broken_plugin,
    load_class,
    package_of,
    reaches_of,
    summarise,
)
from gnomon.metrics.spec import default_of, reaches_of_arguments, read_spec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import EntryPoint

    from gnomon.core.options import Capability

__all__ = ["Catalogue"]


@dataclass(frozen=True)
class Catalogue:
    """The things of one kind."""

    kind: str  # what they are, in the singular, for messages
    group: str  # the entry points of packages that offer more
    built_in: Mapping[str, str]  # name -> "module:class"
    needed: tuple[str, ...]  # attributes that a class must have

    def names(self) -> tuple[str, ...]:
        """Names that specs may use: built-in ones, then what packages offer."""
        return (*self.built_in, *self._offered())

    def find(self, text: str) -> Any:
        """The object that a spec names."""
        spec = read_spec(text)
        kind = self.load(spec.name)
        options = [option.name for option in fields(kind) if option.init]
        arguments: dict[str, object] = dict(spec.arguments)
        for key in arguments:
            if key not in options:
                raise UnknownNameError(f"option of {spec.name}", key, options)
        if spec.first is not None:
            first = getattr(kind, "positional", None)
            if first is None or first in arguments:
                problem = (
                    "takes options by name only" if first is None else f"is given {first!r} twice"
                )
                raise SpecError(f"{self.kind} {spec.name!r} {problem}; given: {text}")
            arguments[first] = str(spec.first)
        needed = [option.name for option in fields(kind) if default_of(option) is MISSING]
        lacking = [name for name in needed if name not in arguments]
        if lacking:
            example = f"{spec.name}({', '.join(f'{name}=...' for name in needed)})"
            raise SpecError(f"{self.kind} {text!r} lacks {', '.join(lacking)}; write {example}")
        return kind(**arguments)

    def reaches(self, text: str) -> frozenset[Capability]:
        """Capabilities that a spec from an untrusted user reaches; of packages: all."""
        spec = read_spec(text)
        if spec.name in self.built_in:
            return reaches_of_arguments(spec, self.load(spec.name))
        if spec.name not in self._offered():
            raise UnknownNameError(self.kind, spec.name, self.names())
        return frozenset(CAPABILITIES)

    def load(self, name: str) -> type[Any]:
        """The class of a name."""
        if name in self.built_in:
            return load_class(self.built_in[name])
        offered = self._offered()
        if name not in offered:
            raise UnknownNameError(self.kind, name, self.names())
        return self._load_from_package(offered[name])

    def describe(self) -> tuple[Description, ...]:
        """All of them, for ``gnomon list``; what packages offer is named but not loaded."""
        offered = (
            Description(name, (), f"offered as {point.value}", package_of(point), FOREIGN)
            for name, point in self._offered().items()
        )
        built_in = (
            Description(name, *summarise(kind), "built-in", reaches_of(kind))
            for name, kind in ((name, self.load(name)) for name in self.built_in)
        )
        return (*built_in, *offered)

    def _load_from_package(self, point: EntryPoint) -> type[Any]:
        try:
            kind = point.load()
        except GnomonError:
            raise
        except Exception as error:  # a stranger's module may fail in any way
            raise broken_plugin(self.kind, point, f"{type(error).__name__}: {error}") from error
        if not (isinstance(kind, type) and is_dataclass(kind)):
            raise broken_plugin(self.kind, point, f"{kind!r:.80} is no dataclass")
        lacking = [attribute for attribute in self.needed if not hasattr(kind, attribute)]
        if lacking:
            raise broken_plugin(self.kind, point, f"it lacks {', '.join(lacking)}")
        return kind

    def _offered(self) -> dict[str, EntryPoint]:
        """Entry points of packages by name; of two under one name the first."""
        points = sorted(
            entry_points(group=self.group), key=lambda point: (point.name, package_of(point))
        )
        return {point.name: point for point in reversed(points) if point.name not in self.built_in}
