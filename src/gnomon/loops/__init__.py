"""Compiled loops, whose machine code is kept: a process that finds it there imports no numba.

Importing numba takes longer than most of what its loops do. A loop is compiled by numba once per
installation; the code that numba made of it is then kept beside the source, and loaded by llvmlite
from the next process on. It is used only where it fits in everything that made it; otherwise, as on
any system whose object files are not ELF, numba itself serves.

A module of loops imports nothing but numpy and this: its code is as its own source says. A loop
takes numbers and arrays, returns numbers, arrays, tuples of them or nothing, and is compiled once
for each combination of their types.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
from contextlib import suppress
from functools import cache, cached_property, update_wrapper
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gnomon.loops import _files
from gnomon.loops._from_numba import Trial, copied, object_file
from gnomon.loops._machine_code import MachineCode, form_of, processor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

__all__ = ["Loop", "intrinsic", "is_kept", "load", "njit"]

_LINALG, _HAS_BLAS = "scipy.linalg", "_HAVE_BLAS"
_lock = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child must not wait for a thread that it does not have
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


def njit(**options: Any) -> Callable[[Callable[..., Any]], Loop]:
    """Like numba's decorator of that name; numba is imported where there is no code yet."""
    return lambda function: Loop(function, options)


def load(name: str) -> ModuleType:
    """A module of loops, ready to run.

    Raises:
        ImportError: numba is not installed.
        RuntimeError: there is no code of it yet, and no folder to keep it in.
    """
    if find_spec("numba") is None:
        raise ImportError("numba is not installed")
    module = import_module(name)
    if not _fits(name, processor()):
        for loop in vars(module).values():
            if isinstance(loop, Loop) and not loop.is_cached:
                raise RuntimeError(f"no folder to keep the code of {name} in")
    return module


@cache
def is_kept(name: str) -> bool:
    """Whether there is code of a module of loops, so that it is soon ready to run.

    Its source and the versions of all that made it are looked at, but not the processor: asking
    for that takes as long as loading the code.
    """
    return _fits(name)


def _fits(name: str, processor: Sequence[str] = ()) -> bool:
    spec = find_spec(name)
    if spec is None or not spec.origin or not _files.are_of_use():
        return False
    origin = _files.origin(_files.digest_of(spec.origin))
    return any(
        key[: len(origin)] == origin and key[len(key) - len(processor) :] == list(processor)
        for key in _files.keys(name, spec.origin)
    )


class Loop:
    """A function on arrays and numbers, compiled by numba or taken from where its code is kept.

    Args:
        function: what numba is to compile.
        options: numba's, as its ``njit`` takes them.
    """

    __name__: str

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.options = options
        self._home = str(function.__globals__.get("__file__", ""))
        self._source = _files.digest_of(self._home)  # which may be another when it is compiled
        self._known: dict[tuple[str, ...], MachineCode | None] = {}

    def __call__(self, *args: Any) -> Any:
        """What the function returns."""
        forms = tuple([form_of(arg) for arg in args])
        if forms not in self._known:
            with _lock:
                if forms not in self._known:
                    keepable = bool(self._source) and all(forms) and _files.are_of_use()
                    self._known[forms] = code = self._kept(forms) if keepable else None
                    if keepable and code is None:
                        return self._run_and_keep(args, forms)
        code = self._known[forms]
        return self.compiled(*args) if code is None else code(args)

    @property
    def compiled(self) -> Any:
        """The function as numba compiles it."""
        if "_compiled" in vars(self):
            return vars(self)["_compiled"]
        _import_numba()
        try:
            made = self._dispatcher()
        except RuntimeError:  # no folder to keep it in: every process compiles anew
            made = self._dispatcher(cache=False)
        _announce()
        # no lock: another thread may hold it and wait for numba's, which this one holds if numba
        # asks, compiling a loop that calls this one
        return vars(self).setdefault("_compiled", made)

    @property
    def is_cached(self) -> bool:
        """Whether numba compiles it, and has a folder for its own cache of it."""
        stats = getattr(self.compiled, "stats", None)
        return stats is not None and stats.cache_path is not None

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for where another loop calls it."""
        return self.compiled._numba_type_

    def _dispatcher(self, **options: Any) -> Any:
        return import_module("numba").njit(**{**self.options, **options})(self.py_func)

    def _key(self, forms: Sequence[str]) -> list[str]:
        """All that the code for arguments of these forms depends on."""
        return [*_files.origin(self._source), self.__name__, *forms, *processor()]

    def _file(self, forms: Sequence[str]) -> str:
        return _files.name_of(self.__module__, self.__name__, (*forms, *processor()))

    def _kept(self, forms: Sequence[str]) -> MachineCode | None:
        """The code of the function for arguments of these forms, if it is kept and fits."""
        try:
            for folder in _files.folders(self._home):
                found = _files.read(folder / self._file(forms), self._key(forms))
                if found is not None:
                    return MachineCode(*found)
        except Exception as error:  # noqa: BLE001  # of a library's inside: numba itself serves
            logging.getLogger("gnomon").debug("code of %s: %s", self.__name__, error)
        return None

    def _run_and_keep(self, args: Sequence[Any], forms: Sequence[str]) -> Any:
        """What numba's code gives; its code is kept if it gives the same by itself."""
        try:
            before = copied(args)
        except MemoryError:
            return self.compiled(*args)
        result = self.compiled(*args)
        try:
            self._keep(Trial(before, args, result, forms))
        except Exception as error:  # noqa: BLE001  # of a library's inside, or of a disk
            logging.getLogger("gnomon").debug("code of %s: %s", self.__name__, error)
        return result

    def _keep(self, trial: Trial) -> None:
        def made() -> Any:
            return object_file(self.compiled, lambda: self._dispatcher(cache=False), trial)

        folder: Path | None = next(filter(_files.writable, _files.folders(self._home)), None)
        if folder is not None:
            _files.keep(folder / self._file(trial.forms), self._key(trial.forms), made)


class intrinsic:  # noqa: N801  # a decorator, named as numba's
    """Like numba's decorator of that name, for loops to call; numba is imported when they do."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _numba_type_(self) -> Any:
        """What numba takes it for where a loop calls it."""
        made = import_module("numba.extending").intrinsic(self._function)
        known = import_module("numba.core.registry").cpu_target.typing_context
        known.refresh()
        return known.resolve_value_type(made)


# numba itself.


def _import_numba() -> None:
    """Import numba without what takes half of its time and is not needed here.

    It imports scipy.linalg to see whether there is one, and Python looks for cycles among the many
    objects that it makes. Only where no other thread could import anything meanwhile.
    """
    if "numba" in sys.modules:
        return
    with _lock:
        if threading.active_count() > 1 or _LINALG in sys.modules:
            import_module("numba")
            return
        collecting = gc.isenabled()
        gc.disable()
        sys.modules[_LINALG] = None  # type: ignore[assignment]  # which says that there is none
        try:
            import_module("numba")
            target = import_module("numba.core.registry").cpu_target
            with suppress(AttributeError):  # another numba than those that were seen
                target.target_context.refresh()  # loads what the first call of a loop would
        finally:
            del sys.modules[_LINALG]
            if collecting:
                gc.enable()
            # what numba found; without it, inner products are summed by a loop of its own
            arrays = sys.modules.get("numba.np.arraymath")
            if hasattr(arrays, _HAS_BLAS):
                setattr(arrays, _HAS_BLAS, find_spec("scipy") is not None)


@cache
def _announce() -> None:
    """Say so if a loop is compiled, which happens once per installation."""
    from numba.core import event

    class Announcing(event.Listener):
        said = False

        def on_start(self, _event: Any) -> None:  # numba's events have no types
            if not self.said:
                logging.getLogger("gnomon").info(
                    "compiling loops for large inputs; this happens once"
                )
            self.said = True

        def on_end(self, _event: Any) -> None:
            pass

    event.register("numba:compile", Announcing())  # type: ignore[no-untyped-call]  # numba has none
