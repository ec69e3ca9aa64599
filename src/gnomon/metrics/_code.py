"""Functions named as ``module:function``."""

from __future__ import annotations

import importlib
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import SpecError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["imported", "target_of"]

_TARGET = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)


def imported(target: str) -> object:
    """What ``module:function`` names; imports, and so runs, the module.

    Modules are looked for where Python looks, and then in the working directory.

    Raises:
        SpecError: the target is not of that form.
        UsageError: the module cannot be imported.
        UnknownNameError: the module has no such function.
    """
    if not _TARGET.fullmatch(target):
        raise SpecError(f"python(...) takes 'module:function', given: {target!r}")
    module_name, _, path = target.partition(":")
    try:
        with _working_directory_last():
            found: object = importlib.import_module(module_name)
    except Exception as error:
        raise UsageError(
            f"python({target!r}): module {module_name!r} cannot be imported from the installed"
            f" packages or the working directory: {type(error).__name__}: {error}"
        ) from error
    for part in path.split("."):
        if not hasattr(found, part):
            public = [n for n in vars(found) if not n.startswith("_")]
            raise UnknownNameError(f"function of {module_name}", path, public)
        found = getattr(found, part)
    return found


def target_of(function: Callable[..., float]) -> str | None:
    """``module:function`` if importing that gives this very function."""
    module = getattr(function, "__module__", None)
    path = getattr(function, "__qualname__", "")
    target = f"{module}:{path}"
    if module in (None, "__main__") or not _TARGET.fullmatch(target):
        return None
    found: object = sys.modules.get(str(module))
    for part in path.split("."):
        found = getattr(found, part, None)
    return target if found is function else None


@contextmanager
def _working_directory_last() -> Iterator[None]:
    here = str(Path.cwd())
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.reverse()
        sys.path.remove(here)
        sys.path.reverse()
