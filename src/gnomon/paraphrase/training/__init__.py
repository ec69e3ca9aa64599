"""Training a paraphraser: pairs of sentences in, a model of Hugging Face's form out."""

from __future__ import annotations

from gnomon.paraphrase.training.fitting import TrainingPlan, fit, plan
from gnomon.paraphrase.training.paraphraser import train
from gnomon.paraphrase.training.recipe import Recipe
from gnomon.paraphrase.training.training_pairs import (
    Filters,
    Selected,
    SentencePair,
    read_pairs,
    select,
)
from gnomon.paraphrase.training.verdict import Trained

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
