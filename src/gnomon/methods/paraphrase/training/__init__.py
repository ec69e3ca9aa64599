"""Training a paraphraser: pairs of sentences in, a model of Hugging Face's form out."""

from __future__ import annotations

from gnomon.methods.paraphrase.training._pairs import (
    Filters,
    Selected,
    SentencePair,
    read_pairs,
    select,
)
from gnomon.methods.paraphrase.training._recipe import Recipe
from gnomon.methods.paraphrase.training._train import TrainingPlan, fit, plan, train
from gnomon.methods.paraphrase.training._verdict import Trained

__all__ = [
    "Filters",
    "Recipe",
    "Selected",
    "SentencePair",
    "Trained",
    "TrainingPlan",
    "fit",
    "plan",
    "read_pairs",
    "select",
    "train",
]
