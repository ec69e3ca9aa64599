"""Training: train a metric on human scores.

The package is callable as its main method: ``gnomon.train(...)`` is ``gnomon.train.metric``.
Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports

if TYPE_CHECKING:
    from gnomon.train.metric_training import metric as metric

__getattr__, __dir__, __all__ = lazy_exports(__name__)

callable_package(__name__, "metric")
