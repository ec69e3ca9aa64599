"""The doors of rooms: public names are imported when asked for, and check what they are given.

What a function takes stands in its annotations. Whoever passes a path where a test set is wanted
is told so at the door, before the function stumbles over it. What annotations do not tell apart
(choices of words, protocols) is left to the function.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import numbers
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar, cast

from gnomon.errors import WrongTypeError

__all__ = ["checked", "door"]

P = ParamSpec("P")
R = TypeVar("R")

_PLAIN: Mapping[str, tuple[Any, str]] = {
    "int": (numbers.Integral, "a whole number"),
    "float": (numbers.Real, "a number"),
    "str": (str, "a text"),
    "Path": (os.PathLike, "a path"),
    "PathLike": (os.PathLike, "a path"),
    "Mapping": (Mapping, "a mapping"),
    "Callable": (Callable, "a function"),
}
_LISTS = ("Collection", "Iterable", "Sequence")
#: classes of gnomon that have no protocol, and how to get an object of each
_MADE = {
    "TestSet": "read one: gnomon.TestSet.read({})",
    "Scores": "make some: gnomon.score(testset, 'bleu')",
    "Finding": "methods such as gnomon.compare(testset) give one",
    "Explained": "make one: gnomon.bmx.explained(testset, 'bleu')",
    "Explanations": "make some: gnomon.bmx.explain(testset, 'bleu')",
    "Grids": "read some: gnomon.bmx.read_grids({})",
    "Paraphrase": "read some: gnomon.formats.read_paraphrases([{}])",
    "Plan": "make one: gnomon.study.plan(gnomon.study.read_study({}))",
    "Store": "open one: gnomon.study.Store({})",
    "Study": "read one: gnomon.study.read_study({})",
}


def door(room: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a room.

    Args:
        room: its name.
        homes: the modules of its public names; those of the room itself without its name.
    """

    def found(name: str) -> Any:  # whatever has the name
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        home = homes[name]
        place = home if home.startswith("gnomon.") else f"{room}.{home}"
        public = getattr(importlib.import_module(place), name)
        return _of_room(public, room) if inspect.isfunction(public) else public

    return found


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which refuses what its annotations do not allow.

    Raises:
        WrongTypeError: the function was given something else; raised when it is called.
    """

    @functools.wraps(function)
    def called(*given: P.args, **options: P.kwargs) -> R:
        for name, kind, value in _arguments(function, given, options):
            if _fits(kind, value) is False:
                raise WrongTypeError(
                    f"{function.__name__}: {name} must be {_said(kind)}; got {value!r:.60}"
                    f" ({type(value).__name__}){_remedy(kind, value)}"
                )
        return function(*given, **options)

    return called


@functools.cache
def _of_room(function: Callable[P, R], room: str) -> Callable[P, R]:
    found = checked(function)
    found.__module__ = room  # where pickles find it again
    return found


def _arguments(
    function: Callable[..., object], given: tuple[Any, ...], options: Mapping[str, Any]
) -> list[tuple[str, ast.expr, Any]]:
    signature, kinds = _kinds(function)
    try:
        bound = signature.bind(*given, **options).arguments
    except TypeError:
        return []  # Python says what is missing or unknown
    return [(name, kinds[name], value) for name, value in bound.items() if name in kinds]


@functools.cache
def _kinds(function: Callable[..., object]) -> tuple[inspect.Signature, Mapping[str, ast.expr]]:
    signature = inspect.signature(function)
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return signature, {
        name: ast.parse(one.annotation, mode="eval").body
        for name, one in signature.parameters.items()
        if isinstance(one.annotation, str) and one.kind not in variadic
    }


def _fits(kind: ast.expr, value: Any) -> bool | None:
    """Whether a value is of a kind; None where the annotation does not tell."""
    if isinstance(kind, ast.BinOp):
        either = (_fits(kind.left, value), _fits(kind.right, value))
        return True if True in either else None if None in either else False
    if isinstance(kind, ast.Constant):
        return value is None if kind.value is None else None
    name = _name(kind)
    if name in _MADE:
        return any(one.__name__ == name for one in type(value).__mro__)
    if name == "bool":
        return type(value).__name__ in ("bool", "bool_")
    if name in _LISTS:
        return _fits_list(cast("ast.Subscript", kind).slice, value)
    return isinstance(value, _PLAIN[name][0]) if name in _PLAIN else None


def _fits_list(kind: ast.expr, values: Any) -> bool | None:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        return False
    if not isinstance(values, list | tuple):
        return None  # an array, a view, a generator: not walked through here
    each = {_fits(kind, value) for value in values}
    return False if False in each else None if None in each else True


def _name(kind: ast.expr) -> str:
    kind = kind.value if isinstance(kind, ast.Subscript) else kind
    return kind.attr if isinstance(kind, ast.Attribute) else getattr(kind, "id", "")


def _parts(kind: ast.expr) -> list[ast.expr]:
    """The parts of a union; a kind by itself."""
    if isinstance(kind, ast.BinOp):
        return [*_parts(kind.left), *_parts(kind.right)]
    return [kind]


def _said(kind: ast.expr) -> str:
    names = {_name(one) for one in _parts(kind)}
    path = names & {"Path", "PathLike"}
    said = [_part(one) for one in _parts(kind) if not (path and _name(one) == "str")]
    return " or ".join(dict.fromkeys(said))


def _part(kind: ast.expr) -> str:
    name = _name(kind)
    if name in _LISTS:
        inner = _parts(cast("ast.Subscript", kind).slice)
        each = [_part(one).removeprefix("a ").partition(" of ")[0] for one in inner]
        many = " or ".join(f"{one}s" for one in each if one not in ("", "None"))
        return f"a list of {many}" if many else "a list"
    if name in _MADE:
        return f"a {name}"
    if isinstance(kind, ast.Constant):
        return "None"
    return "True or False" if name == "bool" else _PLAIN[name][1] if name in _PLAIN else ""


def _remedy(kind: ast.expr, value: object) -> str:
    named = [_name(node) for node in ast.walk(kind) if isinstance(node, ast.Name)]
    made = next((_MADE[name] for name in named if name in _MADE), "")
    if made:
        path = os.fspath(value) if isinstance(value, str | os.PathLike) else "path"
        return f"; {made.format(repr(path))}"
    alone = any(_name(one) in _LISTS for one in _parts(kind)) and isinstance(value, str)
    return f": pass [{value!r}]" if alone else ""
