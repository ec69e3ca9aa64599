"""Asking a model for paraphrases: texts, candidates in rounds, and filters."""

from __future__ import annotations

import hashlib
import json
import math
import os
from abc import ABC, abstractmethod
from collections import Counter, deque
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, TypeVar

from gnomon.core.errors import DataError, UsageError
from gnomon.core.options import Limits, Positive
from gnomon.core.testset import Paraphrase
from gnomon.messages import message
from gnomon.messages.audiences import flag
from gnomon.models import Seq2Seq, load_seq2seq
from gnomon.paraphrase.generation._saving import MadeBatch, Making
from gnomon.paraphrase.generation.requests import (
    GenerationRequest,
    GeneratorOptions,
    bare_segments,
    keep_fitting,
)
from gnomon.paraphrase.training.recipe import ABOUT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.models.decoding import Hypothesis
    from gnomon.paraphrase._constraints import Constraint

T = TypeVar("T")
#: decimals of scores: arithmetic in batches of other shapes differs from the seventh on
_DIGITS = 3
_MODEL = ("n", "model", "device", "precision")
From0 = Annotated[float, Limits(0)]


# Requests to a model: texts, codes, words that must be in them.


class Ask(NamedTuple):
    """One text to be paraphrased."""

    segment: int
    text: str
    code: int | None = None
    phrases: tuple[str, ...] = ()


class AskedGroup(NamedTuple):
    """Texts of one segment that n paraphrases are wanted of, taken in turn."""

    segment: int
    system: str | None
    asks: tuple[Ask, ...]


class Candidate(NamedTuple):
    """A paraphrase before filters, and the reference that it was made of where that matters."""

    text: str
    score: float | None = None
    unmet: int = 0
    reference: str = ""


@dataclass(frozen=True)
class Models:
    """Models that generate: one model, or two for a round trip."""

    model: Seq2Seq
    back: Seq2Seq | None = None

    @property
    def identity(self) -> str:
        """Of the model; of both, in their order."""
        if self.back is None:
            return self.model.identity
        return f"{self.model.identity} > {self.back.identity}"


def group_requests(
    testset: TestSet,
    *,
    constraints: Sequence[Constraint] | None = None,
    together: bool = False,
    codes: Mapping[str, Sequence[int]] | None = None,
) -> list[list[AskedGroup]]:
    """The groups of every segment; none where all its references are empty."""
    phrases = None if constraints is None else _phrases(testset, constraints, together=together)
    groups: list[list[AskedGroup]] = []
    for i in range(testset.segments):
        columns = testset.references.values()
        texts = [text for column in columns if (text := column[i]) is not None and text.strip()]
        texts = list(dict.fromkeys(texts))
        if not texts:
            groups.append([])
        elif phrases is not None:
            groups.append([_group(i + 1, texts, phrases=these) for these in phrases[i]])
        elif codes is not None:
            groups.append(
                [_group(i + 1, texts, name, code=of[i]) for name, of in codes.items() if of[i] >= 0]
            )
        else:
            groups.append([_group(i + 1, texts)])
    return groups


def digest(groups: Sequence[Sequence[AskedGroup]]) -> str:
    """A hash of what is asked, 16 digits."""
    return hashlib.sha256(json.dumps(groups).encode()).hexdigest()[:16]


def _group(
    segment: int,
    texts: Sequence[str],
    system: str | None = None,
    *,
    code: int | None = None,
    phrases: tuple[str, ...] = (),
) -> AskedGroup:
    given = None if code is None else int(code)
    return AskedGroup(segment, system, tuple(Ask(segment, text, given, phrases) for text in texts))


def _phrases(
    testset: TestSet, constraints: Sequence[Constraint], *, together: bool
) -> list[list[tuple[str, ...]]]:
    by_segment: list[list[str]] = [[] for _ in range(testset.segments)]
    for constraint in constraints:
        if not 1 <= constraint.segment <= testset.segments:
            raise DataError(
                f"the constraint {constraint.text!r} is of segment {constraint.segment}, and the"
                f" test set has {testset.segments} segments, counted from 1; were they made for"
                " another set?"
            )
        by_segment[constraint.segment - 1].append(constraint.text)
    if together:
        return [[tuple(dict.fromkeys(texts))] if texts else [] for texts in by_segment]
    return [[(text,) for text in dict.fromkeys(texts)] for texts in by_segment]


# Asking in rounds, until enough passes the filters.


@dataclass(eq=False)
class Slot:
    """A group at work: candidates that wait, paraphrases kept, rounds of asking done."""

    group: AskedGroup
    queue: deque[Candidate] = field(default_factory=deque)
    kept: list[Paraphrase] = field(default_factory=list)
    round: int = 0


@dataclass(frozen=True)
class RoundMaking(Making):
    """Generation that asks for candidates in rounds."""

    groups: list[list[AskedGroup]]  # requests for each segment
    rounds: ClassVar[int]  # most rounds where filters leave too few

    @property
    @abstractmethod
    def wanted(self) -> int:
        """Paraphrases asked for of each group."""

    @abstractmethod
    def ask(self, slots: Sequence[Slot], number: int, counts: Counter[str]) -> None:
        """Put the candidates of a round (from 0) into the queues of some groups."""

    @abstractmethod
    def make(self, slot: Slot, candidate: Candidate) -> Paraphrase:
        """A candidate as a paraphrase."""

    def drop_changed(
        self, offered: Sequence[tuple[Slot, Candidate]], counts: Counter[str]
    ) -> Sequence[tuple[Slot, Candidate]]:
        """Drop those that change what the reference says, as far as that is checked."""
        del counts
        return offered

    def make_batch(self, segments: range) -> MadeBatch:
        """Ask in rounds, until enough passes the filters."""
        counts = Counter(bare=bare_segments(self.testset, segments), short=0)
        slots = [Slot(group) for i in segments for group in self.groups[i]]
        seen: set[tuple[int, str | None, str]] = set()
        while open_slots := [slot for slot in slots if len(slot.kept) < self.wanted]:
            self._refill([slot for slot in open_slots if not slot.queue], counts)
            offered = [
                (slot, slot.queue.popleft())
                for slot in open_slots
                for _ in range(min(len(slot.queue), self.wanted - len(slot.kept)))
            ]
            if not offered and all(slot.round >= self.rounds for slot in open_slots):
                break
            self._keep(offered, seen, counts)
        counts["short"] = sum(len(slot.kept) < self.wanted for slot in slots)
        return MadeBatch(tuple(tuple(slot.kept) for slot in slots), segments.stop, counts)

    def _refill(self, slots: Sequence[Slot], counts: Counter[str]) -> None:
        """Ask for another round of candidates, of all that have none left."""
        by_round: dict[int, list[Slot]] = {}
        for slot in slots:
            if slot.round < self.rounds:
                by_round.setdefault(slot.round, []).append(slot)
        for number, group in sorted(by_round.items()):
            for slot in group:
                slot.round = number + 1
            self.ask(group, number, counts)

    def _keep(
        self,
        offered: Sequence[tuple[Slot, Candidate]],
        seen: set[tuple[int, str | None, str]],
        counts: Counter[str],
    ) -> None:
        new = []
        for slot, candidate in offered:
            key = (slot.group.segment, slot.group.system, candidate.text)
            if key in seen and candidate.text and not self.request.keep_duplicates:
                counts["duplicates"] += 1
            else:
                new.append((slot, candidate))
            seen.add(key)
        fitting = self.drop_changed(new, counts)
        made = [(slot.kept, self.make(slot, candidate)) for slot, candidate in fitting]
        keep_fitting(self.testset, made, self.request, counts)


def interleave(columns: Sequence[Sequence[T]]) -> list[T]:
    """The best of each, then the second of each, ..."""
    longest = max(map(len, columns), default=0)
    return [column[rank] for rank in range(longest) for column in columns if rank < len(column)]


# Generators that ask a model.


@dataclass(frozen=True)
class ModelGenerator(GeneratorOptions, ABC):
    """A generator that asks one model.

    Attributes:
        limit: most pieces of a paraphrase; by default what the model takes.
    """

    takes: ClassVar[tuple[str, ...]] = _MODEL
    #: the options that decide what is asked, of which results need not tell
    inputs: ClassVar[tuple[str, ...]] = ()
    usual: ClassVar[int] = 5
    coded: ClassVar[bool] = False
    limit: Positive | None = None

    def wanted(self, request: GenerationRequest) -> int:
        """Paraphrases asked for of each segment, constraint or system."""
        return request.n or self.usual

    def settings(self, wanted: int) -> dict[str, object]:
        """The options that results depend on."""
        names = [field.name for field in fields(self) if field.name not in self.inputs]
        return {"method": self.name, "n": wanted, **{name: getattr(self, name) for name in names}}

    def plan(self, testset: TestSet, request: GenerationRequest) -> Work:
        """Plan the work; the model is loaded.

        Raises:
            MissingDependencyError: torch, transformers or the model is not installed.
            DataError: a folder holds no encoder-decoder model; codes or constraints do not fit.
            UsageError: no model is named, or it cannot do what is asked.
        """
        if request.model is None:
            raise UsageError(
                f"the method {self.name} needs a model (",
                flag("model", "FOLDER", "'FOLDER'"),
                ")",
            )
        self.settings(self.wanted(request))  # refuses what does not go together
        models = Models(loaded(request.model, request))
        self._check(models.model, self.wanted(request))
        groups = group_requests(testset, **self._group_options(testset, request, models.model))
        return Work(testset, self._called(models.model), request, groups, models, self)

    @abstractmethod
    def candidates(
        self, models: Models, asks: Sequence[Ask], number: int, wanted: int
    ) -> list[list[Candidate]]:
        """Candidates of each text, best first, in a round."""

    def _check(self, model: Seq2Seq, wanted: int) -> None:
        """Refuse a model that cannot do what is asked."""
        del wanted
        if self.coded and not model.codes:
            raise UsageError(
                f"the method {self.name} asks for sentence codes, and the model"
                f" {model.folder.name!r} knows none; take one that was trained with codes, or the"
                " method beam, sampled or diverse"
            )

    def _group_options(
        self, testset: TestSet, request: GenerationRequest, model: Seq2Seq
    ) -> dict[str, Any]:
        """Requests in addition to the references; arguments of :func:`group_requests`."""
        del testset, request, model
        return {}

    def _called(self, model: Seq2Seq) -> str:
        """Name of the paraphrases: ``beam``, ``codes-semantic``, ``random-codes-syntactic``."""
        kind = code_facts(model).get("kind") if self.coded else None
        return f"{self.name}-{kind}" if kind else self.name


@dataclass(frozen=True)
class Work(RoundMaking):
    """Generation by models."""

    models: Models
    generator: ModelGenerator
    rounds: ClassVar[int] = 4

    @property
    def wanted(self) -> int:
        """Paraphrases asked for of each group."""
        return self.generator.wanted(self.request)

    def settings(self) -> dict[str, object]:
        """Settings that the results depend on; not the size of batches."""
        of_generator = self.generator.settings(self.wanted)
        models = {"model": self.models.identity, "asked": digest(self.groups)}
        return {**of_generator, **self.request.settings(), **models}

    def notices(self, counts: Counter[str]) -> tuple[Message, ...]:
        """Notices of what was out of reach, and of the models."""
        statements: list[Message] = []
        if self.models.model.codes and not self.generator.coded:
            statements.append(message("note.paraphrase.auto_codes"))
        if counts["unreachable"]:
            phrases = sum(len(group.asks[0].phrases) for row in self.groups for group in row)
            statements.append(
                message("note.paraphrase.unreachable", n=counts["unreachable"], constraints=phrases)
            )
        models = [model for model in (self.models.model, self.models.back) if model is not None]
        return tuple(
            dict.fromkeys((*statements, *(notice for model in models for notice in model.notices)))
        )

    def ask(self, slots: Sequence[Slot], number: int, counts: Counter[str]) -> None:
        """Ask the models for all texts at once."""
        asks = [ask for slot in slots for ask in slot.group.asks]
        rows = iter(self.generator.candidates(self.models, asks, number, self.wanted))
        for slot in slots:
            slot.queue.extend(interleave([next(rows) for _ in slot.group.asks]))
            if not slot.queue:
                slot.round = self.rounds  # nor will it give more
            if number == 0:
                phrases = len(slot.group.asks[0].phrases)
                unmet = (candidate.unmet for candidate in slot.queue)
                counts["unreachable"] += min(unmet, default=phrases)

    def make(self, slot: Slot, candidate: Candidate) -> Paraphrase:
        """A candidate with the models, and the seed of generators that draw."""
        drawn: int | None = getattr(self.generator, "seed", None)
        about = (self.method, slot.group.system, candidate.score, drawn, self.models.identity)
        return Paraphrase(slot.group.segment, candidate.text, *about)


def loaded(model: str | os.PathLike[str] | Seq2Seq, request: GenerationRequest) -> Seq2Seq:
    if not isinstance(model, str | os.PathLike):
        return model
    return load_seq2seq(os.fspath(model), device=request.device, precision=request.precision)


@dataclass(frozen=True)
class SearchingGenerator(ModelGenerator):
    """A generator that searches.

    Attributes:
        beam: hypotheses that the search keeps; by default 20, under codes 6.
        length_penalty: log probabilities are divided by the length to this power.
    """

    beam: Positive | None = None
    length_penalty: From0 = 1.0

    def width(self, wanted: int) -> int:
        """Hypotheses that the search keeps: at least as many as are wanted of it."""
        return max(self.beam or (6 if self.coded else 20), wanted)

    def settings(self, wanted: int) -> dict[str, object]:
        """The options that results depend on."""
        return {**super().settings(wanted), "beam": self.width(wanted)}

    def candidates(
        self, models: Models, asks: Sequence[Ask], number: int, wanted: int
    ) -> list[list[Candidate]]:
        """All hypotheses of a search, which begins with the code where there is one."""
        if number:
            return [[] for _ in asks]
        coded = any(ask.code is not None for ask in asks)
        pairs = [(ask.text, ask.code) for ask in asks]
        return self._searched(models.model, pairs, self.width(wanted), wanted, coded=coded)

    def _searched(
        self,
        model: Seq2Seq,
        pairs: Sequence[tuple[str, int | None]],
        n: int,
        wanted: int,
        *,
        coded: bool,
    ) -> list[list[Candidate]]:
        from gnomon.models import decoding

        distinct = list(dict.fromkeys(pairs))
        starts = [[model.codes[code]] if code is not None else [] for _, code in distinct]
        made = decoding.beam(
            model,
            [text for text, _ in distinct],
            beam=self.width(wanted),
            n=n,
            length_penalty=self.length_penalty,
            prefixes=starts if coded else None,
            limit=self.limit,
        )
        by_pair = {
            pair: [candidate_of(hypothesis) for hypothesis in row]
            for pair, row in zip(distinct, made, strict=True)
        }
        return [by_pair[pair] for pair in pairs]


def candidate_of(one: Hypothesis, unmet: int = 0) -> Candidate:
    score = round(float(one.score), _DIGITS)
    return Candidate(" ".join(one.text.split()), score if math.isfinite(score) else None, unmet)


def code_facts(model: Seq2Seq) -> Mapping[str, Any]:
    path = model.folder.path / ABOUT
    if not path.is_file():
        return {}
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    codes = facts.get("codes") if isinstance(facts, dict) else None
    return codes if isinstance(codes, dict) else {}
