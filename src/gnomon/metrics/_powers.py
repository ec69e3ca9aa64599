"""What a metric will be able to do once it is bound, told without binding it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.metrics.protocol import Metric

__all__ = ["lacks"]


def lacks(metric: Metric, *powers: type) -> bool:
    """Whether a metric is known to have none of some powers; binding may load a model.

    What a metric can do stands in its classes of bound metrics, which its ``bind`` names; where
    that cannot be read (metrics of other packages), nothing is known to be lacking.

    Args:
        metric: not yet bound.
        powers: protocols, such as :class:`gnomon.metrics.matching.Matching`.
    """
    classes = _bound_classes(metric)
    return bool(classes) and not any(_has(one, power) for one in classes for power in powers)


def _bound_classes(metric: Metric) -> tuple[type, ...]:
    """The classes that ``bind`` says to return; empty where that cannot be told."""
    bind = type(metric).bind
    said = getattr(bind, "__annotations__", {}).get("return")
    home = sys.modules.get(getattr(bind, "__module__", ""))
    if not isinstance(said, str) or home is None:
        return ()
    found = [getattr(home, name.strip(), None) for name in said.split("|")]
    classes = tuple(one for one in found if isinstance(one, type))
    return classes if len(classes) == len(found) else ()


def _has(kind: type, power: type) -> bool:
    # isinstance looks for attributes too, and issubclass refuses protocols with properties
    return all(hasattr(kind, name) for name in vars(power) if not name.startswith("_"))
