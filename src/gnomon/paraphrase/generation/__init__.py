"""Paraphrases made batch by batch: by sequence-to-sequence models, and without."""

from gnomon.paraphrase.generation._candidates import METHODS, GenerationOptions
from gnomon.paraphrase.generation._generate import (
    AUTO_CODES,
    COUNTS,
    ConstrainedBy,
    Work,
    generate,
    plan,
)
from gnomon.paraphrase.generation._plain import (
    Kept,
    PlainWork,
    by_commands,
    by_pool,
    by_variants,
)
from gnomon.paraphrase.generation._saving import MadeBatch, Making, save_generated

__all__ = [
    "AUTO_CODES",
    "COUNTS",
    "METHODS",
    "ConstrainedBy",
    "GenerationOptions",
    "Kept",
    "MadeBatch",
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
