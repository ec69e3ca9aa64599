"""Metrics learned from people's judgements: networks that read the texts, from weights alone.

A checkpoint of the COMET family is converted once (:mod:`gnomon.learned.checkpoints`,
``gnomon setup model``); scoring reads what the conversion wrote
(:mod:`gnomon.learned.weights`) and never a pickle. Names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.learned.bleurt import Bleurt as Bleurt
    from gnomon.learned.checkpoints import convert as convert
    from gnomon.learned.metricx import MetricX as MetricX
    from gnomon.learned.pear import Pear as Pear
    from gnomon.learned.torch_weights import convert_weights as convert_weights
    from gnomon.learned.weights import LearnedModel as LearnedModel
    from gnomon.learned.weights import find_learned as find_learned
    from gnomon.learned.weights import installed_learned as installed_learned

__getattr__, __dir__, __all__ = lazy_exports(__name__)
