"""When compiled loops are used: importing them costs more than a small test set.

Every loop has a plain twin, which serves small inputs and defines what the compiled one computes.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["kernels"]

#: texts or comparisons from which on numba's import pays, and so does loading code that is kept
_ENOUGH, _ENOUGH_IF_KEPT = 5000, 2500
#: times as many, of all that a process did so far: one that does many small things gains, too
_BEFORE = 4


@dataclass
class _Work:
    """What this process did with the loops of each module; results do not depend on it.

    Args:
        done: by the plain ones.
        loaded: the compiled ones; ``None`` where they were refused, though Python has the module.
    """

    done: Counter[str] = field(default_factory=Counter)
    loaded: dict[str, ModuleType | None] = field(default_factory=dict)


_work = _Work()


def kernels(work: int, module: str) -> ModuleType | None:
    """The compiled loops, where they pay: for much work, after much work, or if they are there.

    Args:
        work: texts to split, or comparisons to make; other work by the time that it takes.
        module: the module of the loops.

    Returns:
        The module; ``None`` for small work, or where numba is missing or cannot keep its code.
    """
    if module not in _work.loaded:
        if module not in sys.modules and not _pays(work, module):
            return None
        _work.loaded[module] = _load(module)
    return _work.loaded[module]


def _pays(work: int, module: str) -> bool:
    _work.done[module] += work
    most = max(work, _work.done[module] // _BEFORE)
    if most < _ENOUGH_IF_KEPT:
        return False
    from gnomon.loops import is_kept

    return most >= _ENOUGH or is_kept(module)


def _load(module: str) -> ModuleType | None:
    from gnomon.loops import load

    try:
        return load(module)
    except (ImportError, RuntimeError) as error:
        logging.getLogger("gnomon").debug("compiled loops are not used: %s", error)
        return None
