"""Paraphrases made batch by batch: by sequence-to-sequence models, and without."""

from gnomon.paraphrase.generation._asking import ModelGenerator, Work
from gnomon.paraphrase.generation._saving import MadeBatch, Making, save_generated
from gnomon.paraphrase.generation._without_model import PlainWork, PseudoReferences, VariantPhrases
from gnomon.paraphrase.generation.by_chat import ChatParaphrases, ChatWork
from gnomon.paraphrase.generation.by_model import (
    BeamSearch,
    ConstrainedSearch,
    DiverseBeamSearch,
    ModelRoundTrip,
    OutputCodes,
    ProbableCodes,
    RandomCodes,
    Sampling,
)
from gnomon.paraphrase.generation.further_references import generate
from gnomon.paraphrase.generation.generators import (
    Generator,
    describe_generators,
    find_generator,
    generator_classes,
    generator_names,
    plan,
)
from gnomon.paraphrase.generation.requests import GenerationRequest, GeneratorOptions

__all__ = [
    "BeamSearch",
    "ChatParaphrases",
    "ChatWork",
    "ConstrainedSearch",
    "DiverseBeamSearch",
    "GenerationRequest",
    "Generator",
    "GeneratorOptions",
    "MadeBatch",
    "Making",
    "ModelGenerator",
    "ModelRoundTrip",
    "OutputCodes",
    "PlainWork",
    "ProbableCodes",
    "PseudoReferences",
    "RandomCodes",
    "Sampling",
    "VariantPhrases",
    "Work",
    "describe_generators",
    "find_generator",
    "generate",
    "generator_classes",
    "generator_names",
    "plan",
    "save_generated",
]
