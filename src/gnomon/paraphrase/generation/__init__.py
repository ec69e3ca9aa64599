"""Paraphrases by sequence-to-sequence models."""

from gnomon.paraphrase.generation._constrained import ConstrainedBy
from gnomon.paraphrase.generation._generate import COUNTS, Batch, Work, generate, plan
from gnomon.paraphrase.generation._models import AUTO_CODES
from gnomon.paraphrase.generation._options import METHODS, GenerationOptions
from gnomon.paraphrase.generation._saving import save_generated

__all__ = [
    "AUTO_CODES",
    "COUNTS",
    "METHODS",
    "Batch",
    "ConstrainedBy",
    "GenerationOptions",
    "Work",
    "generate",
    "plan",
    "save_generated",
]
