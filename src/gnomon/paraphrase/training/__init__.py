"""Training a paraphraser: pairs of sentences in, a model of Hugging Face's form out."""

from __future__ import annotations

from gnomon.paraphrase.training._pairs import Filters, Pair, Selected, read_pairs, select
from gnomon.paraphrase.training._recipe import Recipe
from gnomon.paraphrase.training._train import CodeKind, Plan, Trained, plan, train

__all__ = [
    "CodeKind",
    "Filters",
    "Pair",
    "Plan",
    "Recipe",
    "Selected",
    "Trained",
    "plan",
    "read_pairs",
    "select",
    "train",
]
