"""Whether what TOML gives for an option is of the type that the method's parameter says."""

from __future__ import annotations

import ast
import datetime as dt
import types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ForwardRef, NamedTuple, Union, get_args, get_origin

from gnomon.options import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator


_KINDS: Mapping[type, str] = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "a table",
}
_MANY: Mapping[type, str] = {
    bool: "truth values",
    int: "integers",
    float: "numbers",
    str: "strings",
    list: "lists",
    dict: "tables",
}


_PLAIN: Mapping[str, type] = {"bool": bool, "float": float, "int": int}


class Misfit(NamedTuple):
    """A value of the wrong type.

    Attributes:
        where: its key.
        said: what must stand there.
        given: what does.
    """

    where: str
    said: str
    given: object


def described(value: object) -> str:
    """A value of TOML and its kind, in words."""
    if isinstance(value, dt.date | dt.time):
        return f"a time, {value}"
    kind = next((said for known, said in _KINDS.items() if type(value) is known), "something else")
    return f"{kind}, {value!r}" if not isinstance(value, list | dict) else kind


def hint_of(annotation: object, home: Mapping[str, Any]) -> Any:
    """The type that an annotation stands for, as far as files can give it.

    Choices of words, and objects such as annotators, are named by strings in a file.

    Args:
        annotation: as it stands in the source.
        home: the names of the module.
    """
    text = annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
    return _read(ast.parse(text, mode="eval").body, home) if isinstance(text, str) else str


def _read(node: ast.expr, home: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.BinOp):
        return Union[_read(node.left, home), _read(node.right, home)]  # noqa: UP007  # of values
    if isinstance(node, ast.Constant):
        return None if node.value is None else hint_of(node.value, home)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if node.value.id in ("Sequence", "tuple", "list"):
            return Sequence[_read(parts[0], home)]  # type: ignore[misc]  # made at run time
        if node.value.id == "Mapping":
            return Mapping[str, _read(parts[1], home)]  # type: ignore[misc]  # made at run time
        return str
    name = node.id if isinstance(node, ast.Name) else ""
    alias = home.get(name)
    return _PLAIN.get(name) or (hint_of(alias, home) if isinstance(alias, str) else str)


def file_type(kind: Any) -> Any:
    """The type of an option as far as files can give it; names stand for choices and objects.

    Args:
        kind: as :class:`gnomon.options.Option` has it.
    """
    parts, origin = parts_of(kind), get_origin(kind)
    if len(parts) > 1:
        return Union[tuple(file_type(one) for one in parts)]  # noqa: UP007  # of values
    if origin is Sequence:
        return Sequence[file_type(get_args(kind)[0])]  # type: ignore[misc]  # made at run time
    if origin is Mapping:
        return Mapping[str, file_type(get_args(kind)[1])]  # type: ignore[misc]  # likewise
    return kind if kind in (bool, float, int, type(None)) else str


def misfits(value: object, hint: Any, where: str) -> Iterator[Misfit]:
    """Places at which a value does not fit a type.

    Args:
        value: what TOML gives; None fits anything.
        hint: as :func:`hint_of` gives it: truth values, numbers, strings, sequences, mappings and
            unions of these.
        where: the key of the value.
    """
    if value is None:
        return
    found = min((list(_misfits(value, one, where)) for one in _options(hint)), key=_depth)
    if _inner(found, where):
        yield from found
    elif found:
        said = " or ".join(dict.fromkeys(_said(one) for one in _options(hint)))
        yield Misfit(where, said, value)


def _inner(found: Sequence[Misfit], where: str) -> bool:
    return bool(found) and all(one.where != where for one in found)


def _depth(found: Sequence[Misfit]) -> tuple[bool, int, int]:
    """What fits first; then what was wrong furthest inside."""
    return bool(found), -max((len(one.where) for one in found), default=0), len(found)


def _misfits(value: object, hint: Any, where: str) -> Iterator[Misfit]:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Sequence:
        if not isinstance(value, list | tuple):
            yield Misfit(where, _said(hint), value)
            return
        for number, one in enumerate(value):
            yield from misfits(one, parts[0], f"{where}[{number}]")
    elif origin is Mapping:
        if not isinstance(value, Mapping):
            yield Misfit(where, _said(hint), value)
            return
        for key, one in value.items():
            yield from misfits(one, parts[1], f"{where}.{key}")
    elif not _is(value, hint):
        yield Misfit(where, _said(hint), value)


def _is(value: object, hint: Any) -> bool:
    if hint is float:
        return type(value) in (int, float)
    return type(value) is hint


def _options(hint: Any) -> tuple[Any, ...]:
    """The parts of a union that a file can give; a type by itself."""
    if get_origin(hint) not in (Union, types.UnionType):  # equal ones stand for each other
        return (hint,)
    flat = [one for part in get_args(hint) for one in _options(part)]
    return tuple(dict.fromkeys(one for one in flat if one is not type(None))) or (hint,)


def _said(hint: Any) -> str:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Sequence:
        return f"a list of {_each(parts[0])}"
    if origin is Mapping:
        return f"a table of {_each(parts[1])}"
    return _KINDS.get(hint, "something else")


def _each(hint: Any) -> str:
    return " or ".join(
        dict.fromkeys(_MANY.get(get_origin(one) or one, "values") for one in _options(hint))
    )
