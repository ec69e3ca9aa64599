"""Paraphrases made batch by batch: by sequence-to-sequence models, and without."""

from gnomon.paraphrase.generation._batch import Batch, Making
from gnomon.paraphrase.generation._constrained import ConstrainedBy
from gnomon.paraphrase.generation._generate import COUNTS, Work, generate, plan
from gnomon.paraphrase.generation._models import AUTO_CODES
from gnomon.paraphrase.generation._options import METHODS, GenerationOptions
from gnomon.paraphrase.generation._plain import (
    Kept,
    PlainWork,
    by_commands,
    by_pool,
    by_variants,
)
from gnomon.paraphrase.generation._saving import save_generated

__all__ = [
    "AUTO_CODES",
    "COUNTS",
    "METHODS",
    "Batch",
    "ConstrainedBy",
    "GenerationOptions",
    "Kept",
    "Making",
    "PlainWork",
    "Work",
    "by_commands",
    "by_pool",
    "by_variants",
    "generate",
    "plan",
    "save_generated",
]
