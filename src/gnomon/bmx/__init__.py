"""BMX: explain any metric word by word, and let the explanations add to its score.

Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.bmx._power_mean import combine as combine
    from gnomon.bmx._power_mean import power_mean as power_mean

_HOMES = {
    "combine": "_power_mean",
    "power_mean": "_power_mean",
}

__all__ = [
    "combine",
    "power_mean",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(f"gnomon.bmx.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'gnomon.bmx' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
