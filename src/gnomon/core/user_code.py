"""Functions and classes of users, named as ``module:function`` or ``file.py:function``."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import SpecError, UnknownNameError, UsageError
from gnomon.core.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

__all__ = ["import_target", "is_target", "module_of"]


_NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_TARGET = re.compile(rf"((?P<file>[^:]+\.py)|{_NAME}):(?P<path>{_NAME})", re.ASCII)


def is_target(text: str) -> bool:
    """True if a text has the form of a function's name.

    >>> is_target("mymetrics:overlap"), is_target("code/my.py:overlap"), is_target("my.py")
    (True, True, False)
    """
    return _TARGET.fullmatch(text) is not None


def module_of(target: str) -> ModuleType:
    """The module of ``module:function``, or of a file; it is imported, and so run.

    Modules are looked for where Python looks, and then in the working directory.
    """
    match = _TARGET.fullmatch(target)
    if match is None:
        raise SpecError(f"{target!r} names no function; write module:function or file.py:function")
    try:
        if match["file"]:
            return _module_of_file(Path(match["file"]))
        with _working_directory_last():
            return importlib.import_module(match[1])
    except Exception as error:
        where = "" if match["file"] else " from the installed packages or the working directory"
        raise UsageError(
            f"{target!r}: {match[1]!r} cannot be imported{where}: {type(error).__name__}: {error}"
        ) from error


def import_target(target: str) -> object:
    """The object of ``module:function`` or ``file.py:function``; imports, so runs, the module."""
    member: object = module_of(target)
    module, _, path = target.rpartition(":")
    for attribute in path.split("."):
        if not hasattr(member, attribute):
            public = [n for n in vars(member) if not n.startswith("_")]
            raise UnknownNameError(f"function of {module}", path, public)
        member = getattr(member, attribute)
    return member


def _module_of_file(path: Path) -> ModuleType:
    """The module of a file, run once, under a name that no other file has."""
    name = f"{path.stem}_{content_hash(str(path.resolve()))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


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
