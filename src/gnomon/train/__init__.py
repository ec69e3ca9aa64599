"""Training: how to train a metric on human scores.

The room is callable as its main method: ``gnomon.train(...)`` is ``gnomon.train.metric``.
Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.doors import callable_room, door

if TYPE_CHECKING:
    from gnomon.train._metric import metric as metric

__getattr__, __dir__, __all__ = door(__name__)

callable_room(__name__, "metric")
