"""Metrics learned from people's judgements: networks that read the texts, from weights alone.

A checkpoint of the COMET family is converted once (:mod:`gnomon.metrics.learned.checkpoints`,
``gnomon setup model``); scoring reads what the conversion wrote
(:mod:`gnomon.metrics.learned.weights`) and never a pickle. Names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.metrics.learned.bleurt import Bleurt as Bleurt
    from gnomon.metrics.learned.checkpoints import convert as convert
    from gnomon.metrics.learned.metricx import MetricX as MetricX
    from gnomon.metrics.learned.pear import Pear as Pear
    from gnomon.metrics.learned.torch_weights import convert_weights as convert_weights
    from gnomon.metrics.learned.weights import LearnedModel as LearnedModel
    from gnomon.metrics.learned.weights import find_learned as find_learned
    from gnomon.metrics.learned.weights import installed_learned as installed_learned

__getattr__, __dir__, __all__ = lazy_exports(__name__)
