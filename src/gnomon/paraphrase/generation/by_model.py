"""Generators that ask a model: searches, draws, sentence codes, constraints, round trips."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.core.options import FILES, MODEL, SEED, Above0, InputFile, Limits, Positive, Seed
from gnomon.linguistics import TAGGER_NAME
from gnomon.messages import message
from gnomon.paraphrase._constraints import (
    Constraint,
    output_constraints,
    read_constraints,
    read_variants,
    variant_constraints,
)
from gnomon.paraphrase.generation._asking import (
    Candidate,
    From0,
    ModelGenerator,
    Models,
    SearchingGenerator,
    Work,
    candidate_of,
    code_facts,
    group_requests,
    loaded,
)
from gnomon.paraphrase.generation.requests import ABOVE_0, GenerationRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.models import Seq2Seq
    from gnomon.models.decoding import Hypothesis
    from gnomon.paraphrase.codes import SentenceCoder
    from gnomon.paraphrase.generation._asking import Ask

__all__ = [
    "BeamSearch",
    "ConstrainedSearch",
    "DiverseBeamSearch",
    "ModelRoundTrip",
    "OutputCodes",
    "ProbableCodes",
    "RandomCodes",
    "Sampling",
    "codes_of_outputs",
]


#: seeds of further rounds of draws lie far from those that people choose
_STRIDE = 1_000_003

# Searches and draws.


@dataclass(frozen=True)
class BeamSearch(SearchingGenerator):
    """The n best of a beam search."""

    name: ClassVar[str] = "beam"


@dataclass(frozen=True)
class DiverseBeamSearch(SearchingGenerator):
    """The n best of a search in groups that avoid each other's words.

    Attributes:
        groups: how many.
        strength: what a piece loses for each earlier group that has it.
    """

    name: ClassVar[str] = "diverse"
    groups: Positive = 5
    strength: From0 = 0.5

    def width(self, wanted: int) -> int:
        """Hypotheses that the search keeps, a multiple of the groups.

        Raises:
            UsageError: the beam that was asked for cannot be split into the groups.
        """
        least = super().width(wanted)
        if self.beam is None:
            return least + -least % self.groups
        if least % self.groups:
            raise UsageError(
                f"a beam of {least} cannot be split into {self.groups} equal groups; give a"
                " multiple of the groups"
            )
        return least

    def candidates(
        self, models: Models, asks: Sequence[Ask], number: int, wanted: int
    ) -> list[list[Candidate]]:
        """All hypotheses of all groups."""
        from gnomon.models import decoding

        if number:
            return [[] for _ in asks]
        made = decoding.diverse(
            models.model,
            [ask.text for ask in asks],
            beam=self.width(wanted),
            groups=self.groups,
            strength=self.strength,
            length_penalty=self.length_penalty,
            limit=self.limit,
        )
        return [[candidate_of(hypothesis) for hypothesis in row] for row in made]


@dataclass(frozen=True)
class Sampling(ModelGenerator):
    """Drawn, from the fewest pieces that have a share of the probability (nucleus sampling).

    Attributes:
        top_p: that share.
        temperature: above 1, draws are more varied, below, more alike.
        seed: of the draws.
    """

    name: ClassVar[str] = "sampled"
    top_p: Annotated[float, Limits(ABOVE_0, 1, words="above 0 and at most 1")] = 0.8
    temperature: Above0 = 1.0
    seed: Seed = SEED

    def candidates(
        self, models: Models, asks: Sequence[Ask], number: int, wanted: int
    ) -> list[list[Candidate]]:
        """As many draws as are wanted, new ones in each round."""
        from gnomon.models import decoding

        made = decoding.sampled(
            models.model,
            [ask.text for ask in asks],
            n=wanted,
            top_p=self.top_p,
            temperature=self.temperature,
            seed=self.seed + number * _STRIDE,
            limit=self.limit,
        )
        return [[candidate_of(hypothesis) for hypothesis in row] for row in made]


# Under sentence codes.


class Coder(Protocol):
    """Model that assigns a code to a sentence; see ``gnomon.paraphrase.codes``."""

    @property
    def k(self) -> int:
        """Number of codes."""

    @property
    def identity(self) -> str:
        """Hash of what decides a code."""

    def assign(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """The code of each text, from 0; -1 for texts that have none."""


@dataclass(frozen=True)
class ProbableCodes(SearchingGenerator):
    """The best paraphrase under each of the n most probable sentence codes."""

    name: ClassVar[str] = "codes"
    coded: ClassVar[bool] = True

    def width(self, wanted: int) -> int:
        """Hypotheses that the search under one code keeps, of which the best is taken."""
        del wanted
        return super().width(1)

    def candidates(
        self, models: Models, asks: Sequence[Ask], number: int, wanted: int
    ) -> list[list[Candidate]]:
        """One paraphrase under each of the next n codes."""
        codes_of_model = list(models.model.codes)
        first = number * wanted
        orders = self._orders(models.model, asks)
        chosen = [[codes_of_model[k] for k in order[first : first + wanted]] for order in orders]
        pairs: list[tuple[str, int | None]] = [
            (ask.text, code) for ask, codes in zip(asks, chosen, strict=True) for code in codes
        ]
        if not pairs:
            return [[] for _ in asks]
        best = iter(self._searched(models.model, pairs, 1, wanted, coded=True))
        return [[candidate for _ in codes for candidate in next(best)] for codes in chosen]

    def _orders(self, model: Seq2Seq, asks: Sequence[Ask]) -> list[Sequence[int]]:
        """The places of the codes, in the order in which they are asked for."""
        from gnomon.models import decoding

        rows = decoding.code_probabilities(model, [ask.text for ask in asks])
        return [np.argsort(-row, kind="stable").tolist() for row in rows]

    def _check(self, model: Seq2Seq, wanted: int) -> None:
        super()._check(model, wanted)
        if wanted > len(model.codes):
            raise UsageError(
                f"the model {model.folder.name!r} has {len(model.codes)} codes; {wanted} are asked"
                " for"
            )


@dataclass(frozen=True)
class RandomCodes(ProbableCodes):
    """The best under each of n codes drawn for the segment: the control for codes.

    Attributes:
        seed: of the draws.
    """

    name: ClassVar[str] = "random-codes"
    seed: Seed = SEED

    def _orders(self, model: Seq2Seq, asks: Sequence[Ask]) -> list[Sequence[int]]:
        seeds = [[self.seed, ask.segment] for ask in asks]
        count = len(model.codes)
        return [np.random.default_rng(seed).permutation(count).tolist() for seed in seeds]


@dataclass(frozen=True)
class OutputCodes(SearchingGenerator):
    """For each system, the best under the sentence code of its output (n of them, 1).

    Attributes:
        codes: the folder of codes that the model was trained with, named first:
            output-codes('codes'); in Python also what assigns codes to sentences.
        encoder: where the encoder of semantic codes lies now, if not where it lay.
        tagger: what parsed the trees of syntactic codes that were made from given trees.
    """

    name: ClassVar[str] = "output-codes"
    positional: ClassVar[str | None] = "codes"
    inputs: ClassVar[tuple[str, ...]] = ("codes", "encoder", "tagger")
    reads_outputs: ClassVar[bool] = True
    usual: ClassVar[int] = 1
    coded: ClassVar[bool] = True
    codes: Annotated[str | Coder, FILES] = field(kw_only=True)
    encoder: Annotated[str | None, MODEL] = None
    tagger: Annotated[str | None, TAGGER_NAME] = None

    def _group_options(
        self, testset: TestSet, request: GenerationRequest, model: Seq2Seq
    ) -> dict[str, Any]:
        coder = self._coder(self.codes, request) if isinstance(self.codes, str) else self.codes
        return {"codes": codes_of_outputs(testset, model, coder)}

    def _coder(self, folder: str, request: GenerationRequest) -> SentenceCoder:
        from gnomon.paraphrase import codes

        made = codes.load(folder, model=self.encoder, parser=self.tagger, device=request.device)
        if made.needs_trees:
            raise UsageError(
                f"the codes in {folder} were made from trees that were given: name the parser that"
                " made them (tagger='spacy:NAME'); in Python, codes may be a SentenceCoder with"
                " trees of the outputs"
            )
        return codes.SentenceCoder(made, cache=request.cache, progress=request.progress)


def codes_of_outputs(testset: TestSet, model: Seq2Seq, coder: Coder) -> dict[str, list[int]]:
    """The code of each output of each system."""
    if not testset.systems:
        raise DataError("the codes are those of outputs, and the test set holds no systems")
    _check_coder(model, coder)
    texts = list(dict.fromkeys(text for column in testset.systems.values() for text in column))
    by_text: dict[str, int] = dict(zip(texts, coder.assign(texts).tolist(), strict=True))
    beyond = max(by_text.values(), default=-1)
    if beyond >= 0 and beyond not in model.codes:
        raise DataError(
            f"an output has code {beyond}, and the model {model.folder.name!r} knows"
            f" {len(model.codes)} codes, counted from 0; were they made for another model?"
        )
    return {name: [by_text[text] for text in column] for name, column in testset.systems.items()}


def _check_coder(model: Seq2Seq, coder: Coder) -> None:
    """Refuse codes that the model was not trained with, as far as it says."""
    trained = code_facts(model).get("identity")
    if trained is not None and trained != coder.identity:
        raise DataError(
            f"the model {model.folder.name!r} was trained with the codes {trained}, and those"
            f" given are {coder.identity}; name the folder of codes that it was trained with"
        )
    if trained is None and coder.k != len(model.codes):
        raise DataError(
            f"the model {model.folder.name!r} has {len(model.codes)} codes, and those given are"
            f" {coder.k}; name the folder of codes that it was trained with"
        )
    if trained is None:
        model.say(message("note.paraphrase.trusted_codes", model=model.folder.name))


# With words that paraphrases must hold.


@dataclass(frozen=True)
class ConstrainedSearch(SearchingGenerator):
    """The best that holds an n-gram, for each that most systems have and the reference lacks.

    Attributes:
        constraints: the file of others, named first: constrained('wanted.jsonl'); made by 'gnomon
            paraphrase coverage --missing-per-segment'; in Python also constraints.
        variants: or a file of variants, which constraints are made of.
        together: all of a segment in one paraphrase, not one for each.

    Raises:
        UsageError: there are two lists of constraints.
    """

    name: ClassVar[str] = "constrained"
    positional: ClassVar[str | None] = "constraints"
    inputs: ClassVar[tuple[str, ...]] = ("constraints", "variants")
    usual: ClassVar[int] = 1
    constraints: Annotated[str | tuple[Constraint, ...] | None, InputFile()] = None
    variants: Annotated[str | None, InputFile()] = None
    together: bool = False

    def __post_init__(self) -> None:
        """Refuse two lists."""
        super().__post_init__()
        if self.constraints is not None and self.variants is not None:
            raise UsageError("constrained: constraints and variants are two lists; give one")

    @property
    def reads_outputs(self) -> bool:  # type: ignore[override]  # of others it is a constant
        """Where nothing says what the words are, they are those of systems."""
        return self.constraints is None and self.variants is None

    def _group_options(
        self, testset: TestSet, request: GenerationRequest, model: Seq2Seq
    ) -> dict[str, Any]:
        del request, model
        constraints: Sequence[Constraint]
        if self.variants is not None:
            constraints = variant_constraints(testset, read_variants(self.variants))
        elif isinstance(self.constraints, str):
            constraints = read_constraints(self.constraints)
        elif self.constraints is not None:
            constraints = self.constraints
        else:
            constraints = output_constraints(testset)
        return {"constraints": constraints, "together": self.together}

    def candidates(
        self, models: Models, asks: Sequence[Ask], number: int, wanted: int
    ) -> list[list[Candidate]]:
        """Hypotheses that hold the phrases; of several, as many as any hypothesis holds."""
        from gnomon.models import decoding

        if number:
            return [[] for _ in asks]
        made = decoding.constrained(
            models.model,
            [ask.text for ask in asks],
            [ask.phrases for ask in asks],
            beam=self.width(wanted),
            n=self.width(wanted),
            length_penalty=self.length_penalty,
            limit=self.limit,
        )
        return [_holding(row) for row in made]


def _holding(row: Sequence[Hypothesis]) -> list[Candidate]:
    most = max((sum(hypothesis.met) for hypothesis in row), default=0)
    best = [hypothesis for hypothesis in row if most and sum(hypothesis.met) == most]
    return [candidate_of(hypothesis, len(hypothesis.met) - most) for hypothesis in best]


# A round trip through two models.


@dataclass(frozen=True)
class ModelRoundTrip(SearchingGenerator):
    """The references translated there and back through two models (n of them, 1).

    Attributes:
        forward: the model that translates into another language, a folder or a name.
        back: the one that translates back.
    """

    name: ClassVar[str] = "round-trip"
    takes: ClassVar[tuple[str, ...]] = ("n", "device", "precision")
    inputs: ClassVar[tuple[str, ...]] = ("forward", "back")
    usual: ClassVar[int] = 1
    forward: Annotated[str, MODEL] = field(kw_only=True)
    back: Annotated[str, MODEL] = field(kw_only=True)

    def plan(self, testset: TestSet, request: GenerationRequest) -> Work:
        """Plan the work; the models are loaded."""
        models = Models(loaded(self.forward, request), loaded(self.back, request))
        return Work(testset, self.name, request, group_requests(testset), models, self)

    def candidates(
        self, models: Models, asks: Sequence[Ask], number: int, wanted: int
    ) -> list[list[Candidate]]:
        """All hypotheses of the search back, of the best translation there."""
        if number or models.back is None:
            return [[] for _ in asks]
        given: list[tuple[str, int | None]] = [(ask.text, None) for ask in asks]
        there = self._searched(models.model, given, 1, wanted, coded=False)
        texts = [row[0].text if row else "" for row in there]
        pairs: list[tuple[str, int | None]] = [(text, None) for text in texts if text]
        width = self.width(wanted)
        again = iter(self._searched(models.back, pairs, width, wanted, coded=False))
        return [next(again) if text else [] for text in texts]
