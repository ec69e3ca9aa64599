"""Lazy exports: public names are imported when first used, and check what they are given.

What a function takes stands in its annotations (:mod:`gnomon.core.options`). Whoever passes a path
where a test set is wanted is told so before the function runs.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from gnomon.core.errors import nearest
from gnomon.core.manifest import BUILT_IN, EXPORTS, imported
from gnomon.core.options import check_arguments, refuse_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["callable_package", "checked", "lazy_exports", "unknown_attribute"]

P = ParamSpec("P")
R = TypeVar("R")


def lazy_exports(
    package: str, *, checking: bool = True
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a package, or of a module.

    Its public names are those that it imports for type checkers, each with its module
    (``from gnomon.muler.figures import ratio as ratio``), as the manifest has them, its
    methods and its modules.
    With ``checking``, its functions check what they are given; else those that say so themselves.
    """
    homes = EXPORTS[package]
    names = list(homes)

    def get_attribute(name: str) -> Any:  # whatever has the name
        home = homes.get(name) or _home_of_method(package, name)
        if home is None:
            holds_modules = "__path__" in vars(sys.modules[package]) and not name.startswith("_")
            if holds_modules and importlib.util.find_spec(f"{package}.{name}"):
                return importlib.import_module(f"{package}.{name}")
            raise unknown_attribute(package, name, names)
        public = imported(f"{home}:{name}")
        return (
            _move_to_package(public, package) if checking and inspect.isfunction(public) else public
        )

    return get_attribute, lambda: sorted({*vars(sys.modules[package]), *names}), names


def unknown_attribute(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error of a name that a module lacks, with the one that was most likely meant."""
    near = nearest(name, known) if not name.startswith("_") else ""
    meant = f"; did you mean {near!r}?" if near else ""
    # Python itself would suggest names that were imported so far alone
    return AttributeError(f"module {module!r} has no attribute {name!r}{meant}")


def _home_of_method(package: str, name: str) -> str | None:
    """The module of a method that only the registry names."""
    group = package.removeprefix("gnomon.").removeprefix("methods.").removeprefix("metrics.")
    entry = BUILT_IN.get(f"{group}.{name}")
    module, _, function = entry.home.partition(":") if entry else ("", "", "")
    return module if function == name else None


def callable_package(package: str, function: str) -> None:
    """Let a package be called as one of its functions, with that function's signature."""

    class CallableModule(ModuleType):
        def __call__(self, *args: Any, **options: Any) -> Any:  # as the function
            return getattr(self, function)(*args, **options)

        @property
        def __signature__(self) -> inspect.Signature:
            return inspect.signature(getattr(self, function))

    sys.modules[package].__class__ = CallableModule


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which refuses what its annotations do not allow."""
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
def _move_to_package(function: Callable[P, R], package: str) -> Callable[P, R]:
    public = function if hasattr(function, "method") else checked(function)
    public.__module__ = package  # where pickles find it again
    return public
