"""Metrics: the base classes, the spec language, the registry, scoring, and the built-in metrics.

Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.metrics.base import BoundMetric as BoundMetric
    from gnomon.metrics.base import Metric as Metric
    from gnomon.metrics.base import OfOptions as OfOptions
    from gnomon.metrics.bertscore import BertScore as BertScore
    from gnomon.metrics.black_box_masking import make_maskable as make_maskable
    from gnomon.metrics.bleu import Bleu as Bleu
    from gnomon.metrics.chrf import Chrf as Chrf
    from gnomon.metrics.embeddings import Matcher as Matcher
    from gnomon.metrics.embeddings import TextEncoder as TextEncoder
    from gnomon.metrics.encoders import BertScorePlan as BertScorePlan
    from gnomon.metrics.encoders import bertscore_plan as bertscore_plan
    from gnomon.metrics.functions import TextMetric as TextMetric
    from gnomon.metrics.functions import metric as metric
    from gnomon.metrics.masking import Action as Action
    from gnomon.metrics.masking import MaskPlan as MaskPlan
    from gnomon.metrics.matching import Matches as Matches
    from gnomon.metrics.registry import Description as Description
    from gnomon.metrics.registry import describe as describe
    from gnomon.metrics.registry import names as names
    from gnomon.metrics.registry import parse as parse
    from gnomon.metrics.registry import resolve as resolve
    from gnomon.metrics.rouge import Rouge as Rouge
    from gnomon.metrics.scoring import bind as bind
    from gnomon.metrics.scoring import score as score
    from gnomon.metrics.scoring import signature_of as signature_of
    from gnomon.metrics.spec import Options as Options
    from gnomon.metrics.ter import Ter as Ter

__getattr__, __dir__, __all__ = lazy_exports(__name__)
