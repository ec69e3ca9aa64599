"""A judge that needs no server: a causal language model in a folder, asked for probabilities.

The model writes nothing. What it would answer is one of a few texts (the numbers of a scale, or
"first", "second", "tie"), and the probabilities of all tell more than the most probable one. A
score is their expectation, as in Liu et al. (2023), "G-Eval: NLG Evaluation using GPT-4 with Better
Human Alignment".
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.cache import key as cache_key
from gnomon.core.errors import DataError, MissingFileError, UsageError
from gnomon.core.signature import VERSION
from gnomon.judges.client import AnswerProgress, ChatAnswer, KeptAnswers, ServerIdentity
from gnomon.judges.planned import current_plan
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.judges.client import ChatQuestion
    from gnomon.judges.rubrics import Rubric
    from gnomon.messages import Message
    from gnomon.models import ModelFolder
    from gnomon.models.causal import CausalModel

__all__ = ["AnswerForm", "LocalJudge", "answer_form", "check_settings", "local_folder"]

_SCHEMA = "probabilities of answers 1"
#: origin of its answers, in signatures
_HOW = "probabilities of answers"
#: whole numbers of a scale that are all asked for; of a longer scale, and of fractions, some
_WHOLE, _STEPS = 101, 21
_CHOICES = ("first", "second", "tie")
#: below it, most of what a model would say is no answer
_LITTLE = 0.5
#: options of servers that a folder lacks
_OF_SERVERS = ("repeats", "temperature", "seed", "max_tokens", "extra", "prices")


@dataclass(frozen=True)
class AnswerForm:
    """The answers that are compared.

    Attributes:
        key: what an object of JSON calls the answer.
        answers: what each is called.
        values: what each counts as a score; empty where they are choices.
        plain: the model is asked for plain text, and not for JSON.
    """

    key: str
    answers: tuple[str, ...]
    values: tuple[float, ...] = ()
    plain: bool = False

    @property
    def begin(self) -> str:
        """Beginning of every answer."""
        return "" if self.plain else f'{{"{self.key}":'

    def ends(self, stop: str = "\n") -> tuple[str, ...]:
        """Continuations of the beginning, to the end: so 1 is told from 10.

        ``stop``: what stands behind a plain answer.
        """
        if self.plain:
            return tuple(f"{answer}{stop}" for answer in self.answers)
        texts = self.answers if self.values else map(json.dumps, self.answers)
        return tuple(f" {text}}}" for text in texts)

    def answer(self, logs: Sequence[float]) -> str:
        """Answer of the model, as JSON: the expected score, or the most probable choice.

        ``logs``: natural logarithms of the probabilities of all answers.
        """
        probabilities = np.exp(np.asarray(logs) - max(logs))
        probabilities /= probabilities.sum()
        mass = float(np.exp(np.logaddexp.reduce(logs)))
        if self.values:
            score = float(probabilities @ np.array(self.values))
            # by rounding alone it may lie beyond the scale
            score = min(max(score, min(self.values)), max(self.values))
            return json.dumps({self.key: score, "probability": mass})
        best = np.flatnonzero(probabilities == probabilities.max())
        choice = self.answers[int(best[0])] if len(best) == 1 else "tie"
        shares = dict(zip(self.answers, probabilities.tolist(), strict=True))
        return json.dumps({self.key: choice, "probability": mass, "probabilities": shares})


def answer_form(rubric: Rubric) -> AnswerForm:
    """The answers that a rubric allows.

    Raises:
        UsageError: it asks for errors, or twice, which are no choices among a few texts.
    """
    if rubric.answer == "choice":
        return AnswerForm("better", _CHOICES, plain=rubric.plain)
    if rubric.answer != "score":
        raise UsageError(
            f"the rubric {rubric.name!r} asks for errors, or in two turns; a model in a folder is"
            " asked for the probabilities of scores or choices alone: take a rubric such as"
            " gemba-da or pairwise, or a server (endpoint='http://localhost:8000/v1')"
        )
    least, most = rubric.scale
    whole = least.is_integer() and most.is_integer() and most - least < _WHOLE
    values = np.arange(least, most + 1) if whole else np.linspace(least, most, _STEPS)
    texts = tuple(f"{value:g}" for value in values.tolist())
    return AnswerForm("score", texts, tuple(map(float, texts)), plain=rubric.plain)


def local_folder(model: str, *, chosen: bool) -> ModelFolder | None:
    """The folder of a model that is named in place of one on a server; None: it is one of a server.

    Args:
        model: as the judge names it.
        chosen: an endpoint is named, too, so that it is a server's model, whatever it is called.

    Raises:
        MissingFileError: the name can be nothing but a folder, and there is none.
        DataError: the folder holds no model that can be read safely.
    """
    from gnomon.models import find_model

    if chosen:
        return None
    path = Path(model).expanduser()
    if model.startswith("package:") or (path / "config.json").is_file():
        return find_model(str(path) if path.is_dir() else model)
    if model.startswith(("./", "../", "~")):
        raise MissingFileError(f"there is no folder {model!r} with the config.json of a model")
    return None


def check_settings(given: Mapping[str, object], defaults: Mapping[str, object]) -> None:
    """Refuse options that only a server has.

    Raises:
        UsageError: one is given.
    """
    wrong = [name for name in _OF_SERVERS if given[name] != defaults[name]]
    if wrong:
        raise UsageError(
            f"a model in a folder gives probabilities, once and without a draw: leave out"
            f" {', '.join(f'{name}=' for name in wrong)}"
        )


@dataclass(eq=False)
class LocalJudge(KeptAnswers):
    """Answers questions as :class:`gnomon.judges.ChatClient` does, without a server.

    Every answer is kept on disk, found by the model's files and the question.

    Attributes:
        folder: the model.
        form: the answers that are compared.
        counts: "asked" (questions that the model read), "kept" (answers that were on disk).
    """

    folder: ModelFolder
    form: AnswerForm
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._open()

    def identity(self) -> ServerIdentity:
        """The model with its revision or the hash of its files."""
        return ServerIdentity(self.folder.identity, _HOW, structured=False)

    def tokens(self) -> Message | None:
        """Notice of how much of what the model would say are answers at all."""
        given = [json.loads(answer.text) for answer in self._known.values() if answer.text]
        if not given:
            return None
        mass = float(np.median([answer["probability"] for answer in given]))
        return message("note.judges.probability", mass=mass, little=mass < _LITTLE)

    def check_budget(self, wanted: int) -> None:
        """Refuse nothing: no answer costs money."""

    def ask(self, questions: Sequence[ChatQuestion], *, later: int = 0) -> list[ChatAnswer]:  # noqa: ARG002  # nothing costs money
        """The answers, in the order of the questions; equal questions are asked once.

        Raises:
            MissingDependencyError: torch or transformers is not installed.
            DataError: the folder holds no causal language model.
        """
        missing = self._missing(questions)
        keys = [self._key(question) for question in questions]
        plan = current_plan()
        if plan is not None:
            plan.add_local(self.folder.identity, missing, self._known.keys() & set(keys))
            planned = ChatAnswer("", rejected="it was not asked: requests are only planned")
            return [self._known.get(key, planned) for key in keys]
        progress = AnswerProgress(len(missing))
        for key, question in missing.items():
            answer = self._answer(question)
            self._known[key] = answer
            self.counts["asked"] += 1
            if not answer.rejected:
                self._store.put_many({key: answer.packed()})
            progress.tell(1)
        return [self._known[key] for key in keys]

    def _answer(self, question: ChatQuestion) -> ChatAnswer:
        prompt, special = self._prompt(question)
        ends = self.form.ends("\n" if special else self.model.tokenizer.eos_token or "\n")
        logs = self.model.answer_log_probabilities(prompt, ends, special=special)
        if logs is None:
            return ChatAnswer("", rejected=f"longer than the model's {self.model.limit} tokens")
        identity = self.identity()
        text = self.form.answer(logs.tolist())
        return ChatAnswer(text, identity.model, identity.fingerprint, "stop")

    def _prompt(self, question: ChatQuestion) -> tuple[str, bool]:
        """Prompt of the model, to the beginning of its answer; true if special pieces lack."""
        tokenizer = self.model.tokenizer
        if not getattr(tokenizer, "chat_template", None):
            said = "\n\n".join(message["content"] for message in question.messages)
            return f"{said}\n\n{self.form.begin}", True
        options = {"tokenize": False, "add_generation_prompt": True, "enable_thinking": False}
        try:
            text = tokenizer.apply_chat_template(question.messages, **options)
        except Exception:  # noqa: BLE001  # templates raise any; many know no system's message
            text = tokenizer.apply_chat_template(
                _merge_system_message(question.messages), **options
            )
        return f"{text}{self.form.begin}", False

    @cached_property
    def model(self) -> CausalModel:
        """The model in memory."""
        from gnomon.models import load_causal

        name = self.folder.name
        model = load_causal(name)
        if model.looks_ahead:
            raise DataError(
                f"model {name!r} looks at later words, so that it is no model that writes texts"
                " from left to right; take such a one as a judge"
            )
        return model

    def _key(self, question: ChatQuestion) -> bytes:
        folder = self.folder
        content = folder.identity if folder.revision else folder.identity.rpartition("#")[2]
        form = (self.form.begin, *self.form.ends(), *map(repr, self.form.values))
        return cache_key(_SCHEMA, VERSION, content, json.dumps(question.messages), *form)

    def _unpacked(self, value: bytes) -> ChatAnswer:
        # another copy of the same files may have answered
        return replace(ChatAnswer.unpacked(value), model=self.folder.identity)


def _merge_system_message(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    """Messages in which the first question says what the system's message says."""
    if messages[0]["role"] != "system":
        return messages
    system, first, *rest = messages
    return [{**first, "content": f"{system['content']}\n\n{first['content']}"}, *rest]
