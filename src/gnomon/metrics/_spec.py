"""The spec of a metric as data, its canonical text, and the options that a metric declares.

``NAME`` or ``NAME(FIRST, key=literal, ...)``; FIRST is the wrapped metric or a string. Reading is
in ``_reader``; a built-in metric declares its options as the fields of a frozen dataclass::

    @dataclass(frozen=True)
    class Chrf(Options):
        name: ClassVar[str] = "chrf"
        word_order: int = 0
"""

from __future__ import annotations

import inspect
import math
import sys
import types
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from gnomon.errors import SpecError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Literals", "Options", "Spec", "fit", "format_literal"]

#: what a spec can say: strings, numbers, True, False, None, and lists of them (as tuples)
Literals: TypeAlias = bool | int | float | str | tuple["Literals", ...] | None

_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True)
class Spec:
    """What a spec string says.

    Attributes:
        name: name of the metric.
        first: the wrapped metric, or the string that came first.
        arguments: the named arguments, in the order given.
    """

    name: str
    first: Spec | str | None = None
    arguments: tuple[tuple[str, Literals], ...] = ()

    def __str__(self) -> str:
        """The canonical text; reading it gives an equal spec.

        >>> str(Spec("difficulty", Spec("bertscore"), (("pool", "top:30%"),)))
        "difficulty(bertscore, pool='top:30%')"
        """
        return _text(self.name, self.first, self.arguments)


def format_literal(value: Literals) -> str:
    """A literal as specs write it.

    Raises:
        SpecError: specs cannot say this value.
    """
    if isinstance(value, str):
        return "'" + "".join(map(_escape, value)) + "'"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(format_literal, value)) + "]"
    if isinstance(value, float) and math.isnan(value):
        raise SpecError("nan is no value for an option: it would not even equal itself")
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    raise SpecError(
        f"a spec cannot say {value!r}; it takes strings, numbers, True, False, None and lists"
    )


@dataclass(frozen=True)
class Options:
    """Base of the built-in metrics: their fields are the options of their spec.

    Types of fields: bool, int, float, str, ``Literal[...]``, ``tuple[T, ...]`` (a list in specs)
    and unions of them with None. A whole number is taken where a float is wanted. A field that
    changes no score is declared with ``compare=False``: specs do not show it.

    Attributes:
        name: name of the metric.
        positional: the field that a spec gives first and without a name (a wrapped metric, a
            file), if any.
        bounds: option -> the least and the largest value that it takes.

    Raises:
        SpecError: a value is not of its option's type, or out of its range.
    """

    name: ClassVar[str]
    positional: ClassVar[str | None] = None
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = types.MappingProxyType({})

    def __post_init__(self) -> None:
        hints = option_types(type(self))  # type: ignore[arg-type]  # classes have hashes
        for option in fields(self):
            if option.name != self.positional:
                value = getattr(self, option.name)
                fitted = fit(value, hints[option.name], f"{self.name}: {option.name}")
                if fitted is not value:
                    object.__setattr__(self, option.name, fitted)
        for name, (least, most) in self.bounds.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise SpecError(
                    f"{self.name}: {name} is {value}; it must be from {least} to {most}"
                )

    @property
    def spec(self) -> str:
        """Canonical spec: the options that differ from their default, in the order of fields."""
        given = [(option, getattr(self, option.name)) for option in fields(self)]
        first = next((value for option, value in given if option.name == self.positional), None)
        arguments = tuple(
            (option.name, value)
            for option, value in given
            if option.name != self.positional
            and option.compare
            and not _same(value, default_of(option))
        )
        return _text(self.name, first, arguments)


@cache
def option_types(options: type[Any]) -> Mapping[str, Any]:
    """Option -> its type, for a dataclass; annotations of anything but fields are not looked at."""
    types_of: dict[str, Any] = {}
    for owner in reversed(options.__mro__):
        own = inspect.get_annotations(owner)
        names = {f.name for f in getattr(owner, "__dataclass_fields__", {}).values()} & set(own)

        def only() -> None: ...

        only.__annotations__ = {
            name: own[name] for name in names if "ClassVar" not in str(own[name])
        }
        types_of |= get_type_hints(only, globalns=vars(sys.modules[owner.__module__]))
    return types.MappingProxyType(types_of)


def default_of(option: Field[Any]) -> object:
    """The default of a dataclass field; ``MISSING`` where it has none."""
    if option.default_factory is not MISSING:
        return option.default_factory()
    return option.default


def describe_type(kind: Any) -> str:
    """A type hint in words, for messages and lists.

    >>> describe_type(int | None)
    'a whole number or None'
    """
    words = {bool: "True or False", int: "a whole number", float: "a number", str: "a string"}
    if kind in words:
        return words[kind]
    if kind in (None, type(None)):
        return "None"
    if get_origin(kind) is Literal:
        return ", ".join(format_literal(choice) for choice in get_args(kind))
    if get_origin(kind) is tuple:
        return f"a list of ({describe_type(get_args(kind)[0])})"
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(describe_type(part) for part in get_args(kind))
    return str(kind)


def unknown_argument(metric: str, given: str, known: Iterable[str]) -> SpecError:
    """The error for an argument that a metric lacks."""
    names = list(known)
    near = nearest(given, names)
    hint = f"; did you mean {near!r}?" if near else ""
    takes = f"it takes: {', '.join(names)}" if names else "it takes no options"
    return SpecError(f"metric {metric!r} has no option {given!r}{hint}; {takes}")


def check_names(metric: str, options: type[Any], arguments: Mapping[str, object]) -> None:
    """Refuse arguments that are not fields of a dataclass.

    Raises:
        SpecError: with what was given, what exists and the nearest match.
    """
    known = [option.name for option in fields(options) if option.init]
    for name in arguments:
        if name not in known:
            raise unknown_argument(metric, name, known)


def fit(value: object, kind: Any, where: str) -> object:
    """A value as its option wants it (a whole number as a float).

    Raises:
        SpecError: the value is not of that type.
    """
    fitted = _fitted(value, kind)
    if fitted is _UNFIT:
        shown = format_literal(value) if isinstance(value, str) else repr(value)
        raise SpecError(f"{where} cannot be {shown}; it takes {describe_type(kind)}")
    return fitted


_UNFIT = object()


def _fitted(value: object, kind: Any) -> object:  # noqa: PLR0911  # one exit per kind
    if get_origin(kind) in (Union, types.UnionType):
        results = (_fitted(value, part) for part in get_args(kind))
        return next((result for result in results if result is not _UNFIT), _UNFIT)
    if get_origin(kind) is Literal:
        return value if any(_same(value, choice) for choice in get_args(kind)) else _UNFIT
    if get_origin(kind) is tuple:
        if not isinstance(value, (list, tuple)):
            return _UNFIT
        items = tuple(_fitted(item, get_args(kind)[0]) for item in value)
        return _UNFIT if _UNFIT in items else items
    if kind is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) if value == value else _UNFIT  # noqa: PLR0124  # nan is refused
    if kind in (None, type(None)):
        return value if value is None else _UNFIT
    return value if type(value) is kind else _UNFIT


def _same(a: object, b: object) -> bool:
    # 1 == True == 1.0 in Python, but not as options
    return type(a) is type(b) and a == b


def _text(name: str, first: object, arguments: tuple[tuple[str, Literals], ...]) -> str:
    parts = [] if first is None else [_first_text(first)]
    parts += [f"{key}={format_literal(value)}" for key, value in arguments]
    return f"{name}({', '.join(parts)})" if parts else name


def _first_text(first: object) -> str:
    # a string, a spec, or a metric, which has a canonical spec of its own
    return format_literal(first) if isinstance(first, str) else str(getattr(first, "spec", first))


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if character.isprintable():
        return character
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
