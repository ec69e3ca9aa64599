"""Paraphrases made batch by batch: by sequence-to-sequence models, and without."""

from gnomon.methods.paraphrase.generation._asking import AUTO_CODES, ModelGenerator, Work
from gnomon.methods.paraphrase.generation._by_chat import ChatParaphrases, ChatWork
from gnomon.methods.paraphrase.generation._by_model import (
    BeamSearch,
    ConstrainedSearch,
    DiverseBeamSearch,
    ModelRoundTrip,
    OutputCodes,
    ProbableCodes,
    RandomCodes,
    Sampling,
)
from gnomon.methods.paraphrase.generation._generate import (
    Generator,
    describe_generators,
    find_generator,
    generate,
    generator_classes,
    generator_names,
    plan,
)
from gnomon.methods.paraphrase.generation._requests import GenerationRequest, GeneratorOptions
from gnomon.methods.paraphrase.generation._saving import MadeBatch, Making, save_generated
from gnomon.methods.paraphrase.generation._without_model import (
    PlainWork,
    PseudoReferences,
    VariantPhrases,
)

__all__ = [
    "AUTO_CODES",
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
