"""Generators of paraphrases, named by specs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from gnomon.core.options import expand_fields
from gnomon.metrics.catalogue import Catalogue
from gnomon.paraphrase.generation.requests import GenerationRequest

if TYPE_CHECKING:
    from gnomon.core.options import Capability
    from gnomon.core.testset import TestSet
    from gnomon.metrics.registry import Description
    from gnomon.paraphrase.generation._saving import Making

__all__ = [
    "Generator",
    "describe_generators",
    "find_generator",
    "generator_classes",
    "generator_names",
    "plan",
    "reaches_of_generator",
]


class Generator(Protocol):
    """A generator with its options; packages offer more by the entry point ``gnomon.generators``.

    Attributes:
        name: name in specs ("sampled").
        spec: canonical spec ("sampled(top_p=0.9)").
        reads_outputs: it reads what systems said.
        takes: what it reads of a request: "n", "model", "device", "precision".
    """

    @property
    def name(self) -> str:
        """Name in specs."""

    @property
    def reads_outputs(self) -> bool:
        """True if it reads what systems said."""

    @property
    def takes(self) -> tuple[str, ...]:
        """Parts of a request that it reads."""

    def plan(self, testset: TestSet, request: GenerationRequest) -> Making:
        """Plan the work, checked and ready."""


_CATALOGUE = Catalogue(
    "method of generation",
    "gnomon.generators",
    {
        "pseudo": "gnomon.paraphrase.generation._without_model:PseudoReferences",
        "variants": "gnomon.paraphrase.generation._without_model:VariantPhrases",
        "llm": "gnomon.paraphrase.generation.by_chat:ChatParaphrases",
        "beam": "gnomon.paraphrase.generation.by_model:BeamSearch",
        "diverse": "gnomon.paraphrase.generation.by_model:DiverseBeamSearch",
        "sampled": "gnomon.paraphrase.generation.by_model:Sampling",
        "codes": "gnomon.paraphrase.generation.by_model:ProbableCodes",
        "random-codes": "gnomon.paraphrase.generation.by_model:RandomCodes",
        "output-codes": "gnomon.paraphrase.generation.by_model:OutputCodes",
        "constrained": "gnomon.paraphrase.generation.by_model:ConstrainedSearch",
        "round-trip": "gnomon.paraphrase.generation.by_model:ModelRoundTrip",
    },
    ("name", "reads_outputs", "takes", "plan"),
)


def reaches_of_generator(text: str) -> frozenset[Capability]:
    """Capabilities that the spec of a generator reaches; nothing that it names is opened."""
    return _CATALOGUE.reaches(text)


def generator_names() -> tuple[str, ...]:
    """The names of all generators: built-in ones, then those of packages."""
    return _CATALOGUE.names()


def describe_generators() -> tuple[Description, ...]:
    """Every generator, for ``gnomon list generators``."""
    return _CATALOGUE.describe()


def generator_classes() -> dict[str, type[Any]]:
    """The classes of the built-in generators; their fields are the options of their specs."""
    return {name: _CATALOGUE.load(name) for name in _CATALOGUE.built_in}


def find_generator(method: str | Generator) -> Generator:
    """The generator that a spec names: ``beam``, ``sampled(top_p=.9, seed=3)``.

    Raises:
        SpecError: the spec cannot be read, or an option is missing or of the wrong type.
        UnknownNameError: there is no such generator, or it has no such option.
        UsageError: options do not go together, or the package that offers it is broken.
    """
    generator: Generator = _CATALOGUE.find(method) if isinstance(method, str) else method
    return generator


@expand_fields(request=GenerationRequest)
def plan(
    testset: TestSet, method: str | Generator = "beam", *, request: GenerationRequest
) -> Making:
    """Check what is asked and load the models; ``batches()`` of what it gives makes paraphrases.

    What filters drop is replaced by the next best candidates, as long as there are any: a search
    gives as many as its beam holds, draws and codes are asked four times. A segment with several
    references has n paraphrases, taken from them in turn. Empty references have none.

    Each paraphrase holds the model's identity, the seed where the method draws, and as score the
    log probability, divided by the length to the power of the penalty.

    Args:
        testset: references; outputs, for generators that read them.
        method: the generator, as a spec or made.
        request: what is asked of it.

    Raises:
        MissingDependencyError: torch, transformers or a model is not installed.
        DataError: a folder holds no encoder-decoder model; codes or constraints do not fit.
        UsageError: the generator cannot do what is asked.
    """
    return find_generator(method).plan(testset, request)
