"""The doors of rooms: public names are imported when asked for, and check what they are given.

What a function takes stands in its annotations (:mod:`gnomon.options`). Whoever passes a path where
a test set is wanted is told so at the door, before the function stumbles over it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from gnomon.errors import nearest
from gnomon.options import check_arguments, refuse_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["callable_room", "checked", "door", "unknown_attribute"]

P = ParamSpec("P")
R = TypeVar("R")


def door(
    room: str, *, checking: bool = True
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a room.

    Its public names are those that its own source imports for type checkers, each with its module
    (``from gnomon.muler._figures import ratio as ratio``), and its methods.

    Args:
        room: its name.
        checking: its functions check what they are given; else those that say so themselves.
    """
    homes = dict(_imported(room))
    names = sorted(homes)

    def found(name: str) -> Any:  # whatever has the name
        home = homes.get(name) or _home_of_method(room, name)
        if home is None:
            raise unknown_attribute(room, name, names)
        public = getattr(importlib.import_module(home), name)
        return _of_room(public, room) if checking and inspect.isfunction(public) else public

    return found, lambda: sorted({*vars(sys.modules[room]), *names}), names


def unknown_attribute(room: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error of a name that a module lacks, with the one that was most likely meant."""
    near = nearest(name, known) if not name.startswith("_") else ""
    meant = f"; did you mean {near!r}?" if near else ""
    # Python itself would suggest names that were imported so far alone
    return AttributeError(f"module {room!r} has no attribute {name!r}{meant}")


def _imported(room: str) -> Iterator[tuple[str, str]]:
    """What a room imports for others: name, module."""
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[room]))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                if one.asname == one.name:
                    yield one.name, node.module


def _home_of_method(room: str, name: str) -> str | None:
    """The module of a method that only the registry names."""
    from gnomon.methods import BUILT_IN  # which imports what may come by this door

    home = BUILT_IN.get(f"{room.partition('.')[2]}.{name}", "")
    module, _, function = home.partition(":")
    return module if function == name else None


def callable_room(room: str, function: str) -> None:
    """Let a room be called as one of its functions, with that function's signature.

    Args:
        room: its name.
        function: the function's name within the room.
    """

    class Room(ModuleType):
        def __call__(self, *args: Any, **options: Any) -> Any:  # as the function
            return getattr(self, function)(*args, **options)

        @property
        def __signature__(self) -> inspect.Signature:
            return inspect.signature(getattr(self, function))

    sys.modules[room].__class__ = Room


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which refuses what its annotations do not allow.

    Raises:
        WrongTypeError: the function was given something else; raised when it is called.
        UsageError: a number is out of its limits, or a name not among the choices.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def called(*given: P.args, **options: P.kwargs) -> R:
        try:
            arguments = signature.bind(*given, **options).arguments
        except TypeError:
            refuse_unknown(function, options)
            arguments = {}  # Python says what is missing
        check_arguments(function, arguments)
        return function(*given, **options)

    return called


@functools.cache
def _of_room(function: Callable[P, R], room: str) -> Callable[P, R]:
    found = function if hasattr(function, "method") else checked(function)
    found.__module__ = room  # where pickles find it again
    return found
