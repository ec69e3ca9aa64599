"""BMX: explain any metric word by word, and let the explanations add to its score.

Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.bmx._explainers import ExplainerDescription as ExplainerDescription
    from gnomon.bmx._explainers import describe_explainers as describe_explainers
    from gnomon.bmx._explainers import find_explainer as find_explainer
    from gnomon.bmx._explanations import Aggregable as Aggregable
    from gnomon.bmx._explanations import Explanations as Explanations
    from gnomon.bmx._explanations import SideWords as SideWords
    from gnomon.bmx._power_mean import combine as combine
    from gnomon.bmx._power_mean import power_mean as power_mean

_HOMES = {
    "Aggregable": "_explanations",
    "ExplainerDescription": "_explainers",
    "Explanations": "_explanations",
    "SideWords": "_explanations",
    "combine": "_power_mean",
    "describe_explainers": "_explainers",
    "find_explainer": "_explainers",
    "power_mean": "_power_mean",
}

__all__ = [
    "Aggregable",
    "ExplainerDescription",
    "Explanations",
    "SideWords",
    "combine",
    "describe_explainers",
    "find_explainer",
    "power_mean",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(f"gnomon.bmx.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'gnomon.bmx' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
