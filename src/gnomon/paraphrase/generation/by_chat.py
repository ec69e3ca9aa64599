"""Paraphrases by a language model on a server, checked for numbers and names."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar

from gnomon.core.errors import FormatError, MissingDependencyError, SpecError, UsageError
from gnomon.core.options import Capability, InputFile, Limits, Positive, Reaches
from gnomon.core.outline import target_of
from gnomon.core.signature import content_hash
from gnomon.core.testset import Paraphrase
from gnomon.data.formats import read_bytes
from gnomon.judges import (
    FENCES,
    ChatAnswer,
    ChatClient,
    ChatQuestion,
    ChatServer,
    Endpoint,
    fill_places,
    json_objects,
    language_names,
)
from gnomon.judges.fields import check_model
from gnomon.linguistics import TAGGER_NAME, annotate, find_tagger, standard_tagger
from gnomon.messages import message
from gnomon.paraphrase.generation._asking import (
    Candidate,
    RoundMaking,
    Slot,
    group_requests,
    interleave,
)
from gnomon.paraphrase.generation.requests import GenerationRequest, GeneratorOptions

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

    from gnomon.core.testset import TestSet
    from gnomon.linguistics import Annotator
    from gnomon.messages import Message

__all__ = ["ChatParaphrases", "ChatWork"]


_PLACES = ("reference", "n", "target_language")
_INSTRUCTIONS = (
    "You reword sentences as an experienced editor would: the meaning stays the same, with all"
    " numbers and names, and words and structure change as far as they can."
)
_QUESTION = (
    "Reword this {target_language} sentence in {n} ways, each in {target_language}, each as"
    " different from the sentence and from the others as its meaning allows.\n\n{reference}"
)
_FORM = (
    'Answer with one JSON object and nothing else: {"paraphrases": ["first wording", ...]}, each'
    " wording on one line."
)
_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"paraphrases": {"type": "array", "items": {"type": "string"}}},
        "required": ["paraphrases"],
        "additionalProperties": False,
    }
)


@dataclass(frozen=True)
class ChatParaphrases(GeneratorOptions):
    """Wordings by a language model on a server of chat completions (5 of each segment).

    Attributes:
        model: the model's name on the server.
        endpoint: the server's base address.
        n: paraphrases of each segment, where the request says none.
        temperature: of the answers; None: the server's own.
        seed: of the first round of answers, the next ones count on; None: none is sent.
        max_tokens: most tokens of an answer; None: as the server has it.
        prompt: a file of text that is asked in place of ours, with the places {reference}, {n} and
            {target_language}.
        numbers: drop wordings whose numbers in digits are not those of the reference.
        names: drop wordings that lose a name of the reference, or bring one.
        tagger: who tells names, such as spacy:en_core_web_sm; by default the standard one of the
            language.
        max_calls: most answers that may be asked for.
        concurrency: questions on their way at once.
        timeout: seconds for one answer.

    Raises:
        SpecError: no model is named.
        UsageError: the endpoint is no address, or holds a password.
    """

    name: ClassVar[str] = "llm"
    takes: ClassVar[tuple[str, ...]] = ("n",)
    reaches: ClassVar[tuple[Capability, ...]] = ("network",)
    model: Annotated[str, Reaches(("network",))]
    endpoint: Annotated[str, Reaches(("network",))] = "http://localhost:8000/v1"
    n: Positive | None = None
    temperature: Annotated[float, Limits(0, 10)] | None = 1.0
    seed: Annotated[int, Limits(0, 2**31 - 1001)] | None = 1
    max_tokens: Positive | None = None
    prompt: Annotated[str | None, InputFile()] = None
    numbers: bool = True
    names: bool = True
    tagger: Annotated[str | None, TAGGER_NAME] = None
    max_calls: Positive = field(default=10_000, compare=False)
    concurrency: Annotated[int, Limits(1, 256)] = field(default=8, compare=False)
    timeout: Annotated[float, Limits(0.01, 86400)] = field(default=120.0, compare=False)

    def __post_init__(self) -> None:
        """Refuse values that do not fit."""
        super().__post_init__()
        if not self.model.strip():
            raise SpecError("llm takes the model's name on its server: llm(model='NAME')")
        object.__setattr__(self, "endpoint", Endpoint(self.endpoint).url)
        check_model(self.model, self.endpoint, of="llm")

    def plan(self, testset: TestSet, request: GenerationRequest) -> ChatWork:
        """Plan the work; nothing is asked yet.

        Raises:
            MissingFileError, FormatError: the prompt cannot be read, or shows no reference.
            UsageError: texts may not be sent to the server, or more answers are needed than
                allowed; the tagger's name is none.
            MissingDependencyError: the tagger is not installed.
        """
        server = ChatServer(
            Endpoint(self.endpoint),
            self.model,
            concurrency=self.concurrency,
            timeout=self.timeout,
            max_calls=self.max_calls,
        )
        server.endpoint.check_consent()
        system = f"{_INSTRUCTIONS}\n\n{FENCES}\n\n{_FORM}"
        sample = ChatQuestion(system, "", _SCHEMA, self.temperature, self.seed, self.max_tokens)
        language = testset.language_pair and target_of(testset.language_pair)
        tagger, untagged = _tagger(self.tagger, language) if self.names else (None, None)
        work = ChatWork(
            testset=testset,
            method=self.name,
            request=request,
            groups=group_requests(testset),
            generator=self,
            client=ChatClient(server, sample),
            question=_QUESTION if self.prompt is None else _read_prompt(self.prompt),
            tagger=tagger,
            untagged=untagged,
        )
        work.check_cost()
        return work


@dataclass(frozen=True)
class ChatWork(RoundMaking):
    """Everything that is to be done by a language model.

    Attributes:
        generator: how.
        client: who asks.
        question: what is asked, with places for texts.
        tagger: tells names; None where none does.
        untagged: why names are not checked; None where they are.
    """

    generator: ChatParaphrases
    client: ChatClient
    question: str
    tagger: Annotator | None = None
    untagged: Message | None = None
    usual_size: ClassVar[int] = 100
    rounds: ClassVar[int] = 3

    @property
    def wanted(self) -> int:
        """Paraphrases asked for of each segment."""
        return self.request.n or self.generator.n or 5

    @property
    def model(self) -> str:
        """Who answers and what is asked: the server's names, and a hash of the question."""
        who = self.client.identity()
        served = f"{who.model or self.generator.model} {who.fingerprint}".strip()
        return f"{served} prompt:{content_hash(self.client.sample.system, self.question)}"

    def check_cost(self) -> None:
        """Refuse what costs more than allowed, before the first question.

        Raises:
            UsageError: it does.
        """
        asks = [ask for groups in self.groups for group in groups for ask in group.asks]
        asked = [self._question(ask.text, 0) for ask in asks]
        wanted, most = self.client.count_unanswered(asked), self.generator.max_calls
        if wanted > most:
            raise UsageError(
                f"{wanted:,} answers of {self.generator.model!r} at {self.generator.endpoint} are"
                f" needed, more than the {most:,} that are allowed; allow more with max_calls= in"
                " llm(...), or take fewer segments"
            )

    def settings(self) -> dict[str, object]:
        """Settings that the results depend on; not the size of batches."""
        generator = self.generator
        checks = {
            "numbers": generator.numbers,
            "names": self.tagger.signature if self.tagger else None,
        }
        given = {
            "endpoint": generator.endpoint,
            "name": generator.model,
            **self.client.sample.parameters,
        }
        columns = [list(texts) for texts in self.testset.references.values()]
        return {
            "method": self.method,
            "n": self.wanted,
            "model": self.model,
            **given,
            **checks,
            **self.request.settings(),
            "asked": content_hash(repr(columns), str(self.testset.language_pair)),
        }

    def notices(self, counts: Counter[str]) -> tuple[Message, ...]:
        """Notices of what was dropped apart from copies or not read, and of who checked names."""
        some = {name: counts[name] for name in _COUNTED if counts[name]}
        of_counts = [message("note.paraphrase.chat", what=name, n=n) for name, n in some.items()]
        return (*of_counts, *filter(None, [self.untagged]))

    def _question(self, text: str, number: int) -> ChatQuestion:
        languages = language_names(self.testset.language_pair)
        words = {"n": str(self.wanted), "target_language": languages["target_language"]}
        sample = self.client.sample
        user = fill_places(self.question, {"reference": text}, words)
        return ChatQuestion(
            sample.system, user, sample.schema, sample.temperature, sample.seed, sample.max_tokens,
            number,
        )  # fmt: skip

    def ask(self, slots: Sequence[Slot], number: int, counts: Counter[str]) -> None:
        """Ask about all references of some segments."""
        pairs = [(slot, ask.text) for slot in slots for ask in slot.group.asks]
        answers = self.client.ask([self._question(text, number) for _, text in pairs])
        columns: dict[int, list[list[Candidate]]] = {}
        for (slot, text), answer in zip(pairs, answers, strict=True):
            wordings = _wordings(answer)
            if wordings is None:
                counts["refused" if answer.refused else "unreadable"] += 1
            made = [Candidate(wording, reference=text) for wording in wordings or ()]
            columns.setdefault(slot.group.segment, []).append(made)
        for slot in slots:
            slot.queue.extend(interleave(columns[slot.group.segment]))

    def make(self, slot: Slot, candidate: Candidate) -> Paraphrase:
        """A wording with the model and the first seed."""
        about = (self.method, None, None, self.generator.seed, self.model)
        return Paraphrase(slot.group.segment, candidate.text, *about)

    def drop_changed(
        self, offered: Sequence[tuple[Slot, Candidate]], counts: Counter[str]
    ) -> Sequence[tuple[Slot, Candidate]]:
        """Drop those whose numbers or names are not the reference's."""
        pairs = [(candidate.text, candidate.reference) for _, candidate in offered]
        wrong: dict[int, str] = {}
        if self.generator.names and self.tagger is not None and pairs:
            changed = changed_names(pairs, self.tagger, self.request)
            wrong |= {n: "names" for n, yes in enumerate(changed) if yes}
        if self.generator.numbers and pairs:
            wrong |= {n: "numbers" for n, yes in enumerate(changed_numbers(pairs)) if yes}
        counts.update(wrong.values())
        return [offer for n, offer in enumerate(offered) if n not in wrong]


def _wordings(answer: ChatAnswer) -> list[str] | None:
    """The wordings in an answer; None where none can be read."""
    if answer.refused or answer.rejected:
        return None
    try:
        lists = [
            given["paraphrases"] for given in json_objects(answer.text) if "paraphrases" in given
        ]
    except ValueError:  # an object has a key twice
        return None
    if len(lists) != 1 or not isinstance(lists[0], list):
        return None
    if not all(isinstance(text, str) for text in lists[0]):
        return None
    return [" ".join(text.split()) for text in lists[0]]


def _read_prompt(path: str) -> str:
    """A prompt of the user's."""
    try:
        text = read_bytes(path).decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise FormatError(f"is not UTF-8: {error}", path=path) from error
    places = re.findall(r"\{([A-Za-z_]\w*)\}", text)
    unknown = sorted(set(places) - set(_PLACES))
    if unknown or "reference" not in places:
        wrong = f"has the unknown place {{{unknown[0]}}}" if unknown else "shows no {reference}"
        names = ", ".join(f"{{{name}}}" for name in _PLACES)
        raise FormatError(f"{wrong}; a prompt has the places {names}", path=path)
    return text


# Numbers and names of wordings, by annotators.


_NUMBER = r"\d+(?:[.,]\d+)*"
_SHORTEST = 3  # letters by which a name is known again in another form


#: counts of answers, apart from copies
_COUNTED = ("numbers", "names", "refused", "unreadable")


def _tagger(name: str | None, language: str | None) -> tuple[Annotator | None, Message | None]:
    """Tagger of names in a language; or why there is none."""
    if name is not None:
        return find_tagger(name), None
    if not language:
        return None, message("note.paraphrase.unchecked", why="language", error=None)
    try:
        return standard_tagger(language, "ent"), None
    except MissingDependencyError as error:
        said = message("note.paraphrase.unchecked", why="tagger", error=error.message)
        return None, said


def changed_numbers(pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """True for each wording whose numbers in digits differ; signs between digits do not count.

    >>> changed_numbers([("1000 came", "There came 1,000."), ("two came", "2 came")])
    [False, True]
    """
    texts = [text for pair in pairs for text in pair]
    spans = annotate(texts, ["re:number"], pattern={"number": _NUMBER}).spans
    numbers = [
        {re.sub(r"[.,]", "", text[span.start : span.end]) for span in spans.spans(n, "re:number")}
        if "re:number" in spans.features
        else set()
        for n, text in enumerate(texts)
    ]
    return [numbers[n] != numbers[n + 1] for n in range(0, len(numbers), 2)]


def changed_names(
    pairs: Sequence[tuple[str, str]], tagger: Annotator, request: GenerationRequest
) -> list[bool]:
    """True for each wording that loses a name of its reference, or brings one.

    A proper noun (UPOS) counts as held if the other text has a word that begins with the first half
    of its letters, three at least: names take endings. A word that a wording begins with is no new
    name: taggers take many of those for names.
    """
    texts = [text for pair in pairs for text in pair]
    spans = annotate(texts, ["pos:PROPN"], tagger=tagger, cache=request.cache).spans
    names = [
        {text[span.start : span.end].casefold(): span.start for span in spans.spans(n, "pos:PROPN")}
        if "pos:PROPN" in spans.features
        else {}
        for n, text in enumerate(texts)
    ]
    return [
        _lost(names[n + 1], texts[n]) or _lost(_inner(names[n]), texts[n + 1])
        for n in range(0, len(texts), 2)
    ]


def _inner(names: Mapping[str, int]) -> dict[str, int]:
    return {name: start for name, start in names.items() if start > 0}


def _lost(names: Mapping[str, int], text: str) -> bool:
    words = re.findall(r"\w+", text.casefold())
    for name in names:
        for piece in re.findall(r"\w+", name):
            beginning = piece[: max(_SHORTEST, (len(piece) + 1) // 2)]
            if not any(word.startswith(beginning) for word in words):
                return True
    return False
