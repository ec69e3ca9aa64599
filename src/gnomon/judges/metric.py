"""A language model that judges, as a metric: ``judge('gemba-da', model='...')``."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from gnomon.core.dependencies import Dependency
from gnomon.core.errors import DataError, SpecError, UsageError
from gnomon.core.options import InputFile, Reaches
from gnomon.core.signature import Signature
from gnomon.judges.calibration import Anchors, Calibration, fit_calibration, read_anchors
from gnomon.judges.client import ChatClient, ChatQuestion, ChatServer
from gnomon.judges.endpoints import Endpoint
from gnomon.judges.fields import check_model, check_prices, checked_fields
from gnomon.judges.local import LocalJudge, answer_form, check_settings, local_folder
from gnomon.judges.noise import judge_noise
from gnomon.judges.pairs import pair_questions, preferences, share_of_first, users_of
from gnomon.judges.planned import current_plan, make_up_reply
from gnomon.judges.replies import (
    JudgeReply,
    error_spans,
    listed_errors,
    mean_score,
    read_reply,
    remarks_of,
    strip_thoughts,
)
from gnomon.judges.rubric_files import find_rubric
from gnomon.judges.rubrics import ANSWER, ERRORS, Rubric, language_names
from gnomon.messages import message
from gnomon.metrics.base import Metric, OfOptions
from gnomon.metrics.means import quotients
from gnomon.metrics.spec import Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.options import Capability
    from gnomon.core.outline import Outline
    from gnomon.core.spans import ErrorSpan
    from gnomon.core.testset import TestSet
    from gnomon.judges.client import ChatAnswer
    from gnomon.messages import Message
    from gnomon.metrics.base import Input
    from gnomon.models import ModelFolder

_log = logging.getLogger(__name__)
#: the share of preferences for one place that is said, at least
_BIASED = 0.6
#: why answers say nothing, in words
_REASONS = ("refused", "rejected", "cut", "unreadable")


@dataclass(frozen=True)
class ChatJudge(Options, Metric):
    """Scores of outputs by a language model on a server, under a rubric.

    ``judge('gemba-da', model='NAME')`` asks any server that speaks the chat-completions protocol.
    The system score is the mean over segments. Every answer is kept on disk; an answer that cannot
    be read is missing, and counted, never 0.

    Attributes:
        rubric: what is asked: gemba-da, gemba-sqm, gemba-mqm, gemba-esa, summary-coherence,
            summary-consistency, summary-fluency, summary-relevance,
            adequacy, or a file of TOML.
        model: the model's name on the server; or the folder of a causal language model, which
            then answers without one, by the probabilities of its answers.
        endpoint: the server's base address.
        references: show references, too, under rubrics that have such a question.
        repeats: how often each question is asked; the score is the mean.
        temperature: of the answers; None: the server's own.
        seed: of the first repetition, the next ones count on; None: none is sent.
        max_tokens: most tokens of an answer; None: as the server has it.
        extra: further fields of each request, as {'reasoning_effort': 'low', 'top_p': 0.9}.
        calibration: TSV of human scores (source, candidate, reference, score) that the judge's
            scores are carried over to.
        max_calls: most answers that may be asked for.
        concurrency: questions on their way at once.
        timeout: seconds for one answer.
        prices: of a million tokens of questions, and of answers, in your currency; for estimates.

    Raises:
        SpecError: no rubric or no model is given, or a value is out of its range.
        UsageError: the endpoint is no address, or holds a password.
    """

    name: ClassVar[str] = "judge"
    pooled: ClassVar[bool] = False
    masks: ClassVar[frozenset[str]] = frozenset(("",))  # whatever is asked
    positional: ClassVar[str] = "rubric"
    #: what ``judge([...])`` stands for; it is made of judges, and so loaded when it is used
    several: ClassVar[str] = "gnomon.judges.panels:panel_of"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = MappingProxyType(
        {
            "repeats": (1, 1000),
            "temperature": (0, 10),
            "seed": (0, 2**31 - 1001),
            "max_tokens": (1, 10**7),
            "max_calls": (1, 10**9),
            "concurrency": (1, 256),
            "timeout": (0.01, 86400),
        }
    )

    reaches: ClassVar[tuple[Capability, ...]] = ("network",)
    rubric: Annotated[str, InputFile()] = ""
    model: Annotated[str, Reaches(("network",))] = ""
    endpoint: Annotated[str, Reaches(("network",))] = "http://localhost:8000/v1"
    references: bool = False
    repeats: int = 1
    temperature: float | None = 0.0
    seed: int | None = 1
    max_tokens: int | None = None
    extra: str = ""
    calibration: Annotated[str | None, InputFile()] = None
    max_calls: int = field(default=10_000, compare=False)
    concurrency: int = field(default=8, compare=False)
    timeout: float = field(default=120.0, compare=False)
    prices: tuple[float, ...] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "extra", checked_fields(self.extra, self.endpoint))
        super().__post_init__()
        check_prices(self.prices)
        given: object = self.rubric  # in a spec, a metric may stand there
        if not isinstance(given, str) or not given:
            raise SpecError(
                "judge takes a rubric first, in quotes, as in judge('gemba-da', model='NAME');"
                f" got {getattr(given, 'spec', repr(given)) if given else 'none'}"
            )
        if not self.model.strip():
            raise SpecError(
                f"judge takes the model's name on its server, as in judge({given!r}, model='NAME'),"
                " or the folder of one, model='FOLDER'"
            )
        object.__setattr__(self, "endpoint", Endpoint(self.endpoint).url)
        check_model(self.model, self.endpoint, of="judge")

    @property
    def full_rubric(self) -> Rubric:
        """The rubric, read; a model in a folder is asked for no reasons, as it writes none."""
        rubric = find_rubric(self.rubric, references=self.references)
        silent = rubric.reasons and self.local is not None
        return replace(rubric, reasons=False) if silent else rubric

    @property
    def is_pairwise(self) -> bool:
        """True if it compares two outputs, and scores none."""
        return self.full_rubric.answer == "choice"

    @property
    def can(self) -> frozenset[str]:
        """Mark errors, or prefer one of two outputs, where the rubric asks for that."""
        rubric = self.full_rubric
        more = {"prefer"} if self.is_pairwise else {"spans"} if rubric.marks_errors else set()
        return frozenset({"statistics"} | more)

    @property
    def needs(self) -> frozenset[Input]:
        """Inputs that the rubric's question shows beside the candidate."""
        return self.full_rubric.needs

    @property
    def higher_is_better(self) -> bool:
        """As the rubric says; True where scores are calibrated."""
        return self.full_rubric.higher_is_better or self.calibration is not None

    @property
    def label(self) -> str:
        """The spec with names of files alone: equal files give equal signatures anywhere."""
        calibration = None if self.calibration is None else Path(self.calibration).name
        model = self.model if self.local is None else Path(self.model).resolve().name
        return replace(
            self, rubric=Path(self.rubric).name, model=model, calibration=calibration
        ).spec

    def requires(self, language: str | None) -> tuple[Dependency, ...]:  # noqa: ARG002  # as all metrics
        """The files that it names; who answers stands in signatures."""
        named = [self.rubric] if self.rubric.endswith(".toml") else []
        named += [self.calibration] if self.calibration else []
        files = tuple(Dependency("file", str(Path(file).absolute())) for file in named)
        return files if self.local is None else (*files, Dependency("model", self.local.name))

    def check_outline(self, outline: Outline | None) -> None:  # noqa: ARG002  # one rule for all
        """Refuse files that are not there, unwanted sending, and what no folder can do.

        Raises:
            UsageError: texts may not be sent to the server, or a model in a folder cannot be asked
                that.
            UnknownNameError, MissingFileError, FormatError: there is no such rubric.
            MissingFileError, DataError: there is no such folder, or it cannot be read safely.
        """
        if self.calibration is not None:
            self.anchors()
        if self.local is None:
            Endpoint(self.endpoint).check_consent()
            return
        answer_form(self.full_rubric)
        check_settings(
            {one.name: getattr(self, one.name) for one in fields(self)},
            {one.name: one.default for one in fields(self)},
        )

    def anchors(self) -> Anchors:
        """The human scores of the calibration.

        Raises:
            MissingFileError, FormatError, DataError: they cannot be read.
        """
        texts = {"candidate", "source", "reference"} & self.full_rubric.places
        return read_anchors(str(self.calibration), frozenset(texts))

    def question(
        self, user: str, turn: int = 0, languages: Mapping[str, str] | None = None
    ) -> ChatQuestion:
        """A question to the judge, in the first turn or the second, after the rubric's shots."""
        rubric = self.full_rubric.turns[turn]
        return ChatQuestion(
            system=rubric.instructions(),
            user=user,
            schema=rubric.schema,
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            extra=self.extra,
            turns=rubric.examples(languages or language_names(None)),
        )

    @property
    def local(self) -> ModelFolder | None:
        """The folder of the model, where it is asked without a server.

        Raises:
            MissingFileError, DataError: there is no such folder, or it cannot be read safely.
        """
        return local_folder(self.model, chosen=self.endpoint != type(self).endpoint)

    def client(self) -> ChatClient | LocalJudge:
        """A client for the judge's server, or the model in its folder."""
        if (folder := self.local) is not None:
            return LocalJudge(folder, answer_form(self.full_rubric))
        server = ChatServer(
            Endpoint(self.endpoint),
            self.model,
            concurrency=self.concurrency,
            timeout=self.timeout,
            max_calls=self.max_calls,
            prices=None if self.prices is None else (self.prices[0], self.prices[1]),
        )
        turns = self.full_rubric.turns
        bound = [turn for turn, rubric in enumerate(turns) if not rubric.plain]
        return ChatClient(server, self.question("", bound[0] if bound else 0))

    def bind(self, testset: TestSet) -> BoundChatJudge | BoundMarkingJudge | BoundPairJudge:
        """The judge of a test set in its languages; nothing is asked yet.

        Raises:
            DataError: the test set lacks what the rubric shows.
            UsageError: as :meth:`check_outline`.
        """
        self.check_outline(None)
        for need, there in (("references", testset.references), ("sources", testset.sources)):
            if need in self.needs and not there:
                raise DataError(f"metric {self.spec!r} needs {need}; {testset.name!r} has none")
        bound = self.bound(testset.language_pair)
        bound.informed_by = self._judged_by(testset)
        return bound

    def _judged_by(self, testset: TestSet) -> tuple[str, ...]:
        """Kinds of human scores of a test set whose outputs calibrate the judge."""
        if self.calibration is None:
            return ()
        seen = {texts["candidate"] for texts in self.anchors().texts}
        if seen.isdisjoint(text for texts in testset.systems.values() for text in texts):
            return ()
        return (*dict.fromkeys(scores.kind for scores in testset.human), *testset.outline.rankings)

    def bound(self, language_pair: str | None) -> BoundChatJudge:
        """The judge of texts in some languages; nothing is looked at."""
        if self.is_pairwise:
            return BoundPairJudge(self, language_pair)
        kind = BoundMarkingJudge if self.full_rubric.marks_errors else BoundChatJudge
        return kind(self, language_pair)


class BoundChatJudge(OfOptions):
    """A judge, ready to be asked; remembers what was answered.

    Attributes:
        metric: the options.
        rubric: what is asked.
        client: who asks.
        informed_by: kinds of human scores of the test set that may calibrate it.
    """

    metric: ChatJudge
    informed_by: tuple[str, ...] = ()

    def __init__(self, metric: ChatJudge, language_pair: str | None) -> None:
        self.metric = metric
        self.rubric = metric.full_rubric
        self.client = metric.client()
        self._turns, self._shows = self.rubric.turns, self.rubric.needs
        self._texts: dict[str, Mapping[str, str]] = {}  # that a second turn shows again
        # what a model in a folder would say is told as JSON, whatever the form of the answer
        silent = isinstance(self.client, LocalJudge)
        self._read_as = replace(self.rubric, reply="json") if silent else self.rubric
        self._languages = language_names(language_pair)
        self._calibration: Calibration | None = None
        self._samples = [
            metric.question("", turn, self._languages) for turn in range(len(self._turns))
        ]

    @property
    def signature(self) -> Signature:
        """The spec, the rubric's hash, and who answers, as the server said when first asked."""
        who = self.client.identity()
        more: dict[str, object] = {
            "rubric": self.rubric.identity,
            "answers": who.model or "unnamed",
        }
        if who.fingerprint:
            more["system"] = who.fingerprint
        if not all(turn.plain for turn in self._turns):
            more["schema"] = "yes" if who.structured else "no"
        if self.metric.calibration is not None:
            more["anchors"] = self.metric.anchors().identity
        return Signature(self.metric.label).adding(more)

    @property
    def max_calls(self) -> int:
        """Most answers that one request may cost."""
        return self.metric.max_calls

    def cost(self, batch: Batch) -> int:
        """Largest number of answers of a batch: one for each question, turn and repetition."""
        return len(set(self.users(batch))) * self.metric.repeats * len(self._turns)

    def check_budget(self, users: Sequence[str]) -> None:
        """Refuse more answers about some questions than allowed, before the first is asked.

        Raises:
            UsageError: they are more than ``max_calls``.
        """
        missing = self.client.count_unanswered(self._questions(users))
        if missing and current_plan() is None:
            self.client.check_budget(len(self._turns) * missing)

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Mean scores of the readable repetitions, float64 [K, N]; NaN where there are none.

        Raises:
            UsageError: more answers are needed than allowed, or texts may not be sent.
            ServerFailedError: the server stopped answering; what it said is kept.
        """
        each = self.repetitions(batch)
        readable = np.isfinite(each)
        return quotients(np.where(readable, each, 0.0).sum(axis=0), readable.sum(axis=0))

    def repetitions(self, batch: Batch) -> NDArray[np.float64]:
        """Scores of each repetition, float64 [R, K, N]; NaN where nothing can be read.

        Raises:
            UsageError, ServerFailedError: as :meth:`segments`.
        """
        scores = np.full((self.metric.repeats, *batch.shape), np.nan)
        for (k, i), judged in self.judgements(batch).items():
            scores[:, k, i] = [reply.score for reply in judged]
        line = self.calibration
        return scores if line is None else line(scores)

    @property
    def calibration(self) -> Calibration | None:
        """Calibration to people's scores; None where none is wanted. The judge is asked.

        Raises:
            DataError: its scores of the texts that people scored do not rise with theirs.
        """
        if self.metric.calibration is None:
            return None
        if self._calibration is None:
            anchors = self.metric.anchors()
            replies = self.ask([self.question_about(texts) for texts in anchors.texts])
            if current_plan() is not None:  # nothing was answered
                return None
            self._calibration = self._fitted(anchors, replies)
        return self._calibration

    def _fitted(self, anchors: Anchors, replies: Sequence[Sequence[JudgeReply]]) -> Calibration:
        means = [mean_score(row) for row in replies]
        return fit_calibration(means, anchors.scores, higher_is_better=self.rubric.higher_is_better)

    def judgements(self, batch: Batch) -> dict[tuple[int, int], list[JudgeReply]]:
        """Replies on each output of a batch, by system and segment; of all repetitions.

        Outputs without a reference, under a rubric that shows one, are left out.
        """
        users = {cell: user for cell, user in self._users(batch).items() if user}
        return dict(zip(users, self.ask(list(users.values())), strict=True))

    def remarks(self, batch: Batch) -> dict[tuple[int, int], dict[str, str]]:
        """Reasons and answers as they were written, by system and segment; of all repetitions."""
        return {cell: remarks_of(replies) for cell, replies in self.judgements(batch).items()}

    def answered(self, batch: Batch) -> NDArray[np.bool_]:
        """True where an answer about each output can be read, bool [K, N]."""
        answered = np.zeros(batch.shape, dtype=np.bool_)
        for cell, replies in self.judgements(batch).items():
            answered[cell] = any(not reply.missing for reply in replies)
        return answered

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """Notices of unread answers, whose answers they are, the judge's own noise, lost quotes."""
        line = self.calibration
        fitted = message("note.judges.calibrated", **vars(line)) if line else None
        return (
            *self.notices_of(self.users(batch)),
            *self._judge_notices(self._noise(batch), fitted),
        )

    def notices_of(self, users: Sequence[str]) -> tuple[Message, ...]:
        """Notices of unread answers to some questions, and of whose answers they are."""
        missing = self._missing(self.ask(users))
        return self._judge_notices(missing, self._say_other_models(users), self.client.tokens())

    def _judge_notices(self, *said: Message | None) -> tuple[Message, ...]:
        """Notices about the judge."""
        return tuple(one.about(metrics=[self.metric.label]) for one in said if one)

    def question_about(self, texts: Mapping[str, str]) -> str:
        """The rubric's question about some texts, by the names of their places."""
        user = self._turns[0].question_about(texts, self._languages)
        if len(self._turns) > 1:
            self._texts[user] = texts
        return user

    def ask(self, users: Sequence[str]) -> list[list[JudgeReply]]:
        """Ask questions that were made of the rubric; replies of all repetitions."""
        number = self.metric.repeats
        read = self._read(users)[0]
        plan = current_plan()
        if plan is not None and plan.made_up:
            read = [
                make_up_reply(f"{n % number} {users[n // number]}", self.rubric)
                if reply.missing
                else reply
                for n, reply in enumerate(read)
            ]
        return [read[n : n + number] for n in range(0, len(read), number)]

    def _read(self, users: Sequence[str]) -> tuple[list[JudgeReply], list[ChatAnswer]]:
        """Read the replies to each question, repetition by repetition; and all answers."""
        asked = self._questions(users)
        if len(self._turns) == 1:
            answers = self.client.ask(asked)
            return [read_reply(answer, self._read_as) for answer in answers], answers
        before = self.client.earlier_answers(asked)
        first_replies = [
            None if answer is None else read_reply(answer, self._turns[0]) for answer in before
        ]
        again = self._second_turn(asked, first_replies)
        unknown = {ask for ask, answer in zip(asked, before, strict=True) if answer is None}
        later = len(unknown) + self.client.count_unanswered(list(again.values()))
        answers = self.client.ask(asked, later=later)
        read = [read_reply(answer, self._turns[0]) for answer in answers]
        again = self._second_turn(asked, read)
        more = self.client.ask(list(again.values()))
        for n, answer in zip(again, more, strict=True):
            scored = read_reply(answer, self._turns[1])
            read[n] = read[n]._replace(
                score=scored.score,
                missing=scored.missing,
                reason=scored.reason or read[n].reason,
                text=scored.text,
                first=read[n].text,
            )
        return read, [*answers, *more]

    def _second_turn(
        self, asked: Sequence[ChatQuestion], read: Sequence[JudgeReply | None]
    ) -> dict[int, ChatQuestion]:
        """The questions for a score, given what the first answers say; by place."""
        questions = {}
        for n, (question, reply) in enumerate(zip(asked, read, strict=True)):
            if reply is not None and not reply.missing:
                said = strip_thoughts(reply.text)
                texts = self._texts[question.user]
                texts = {**texts, ERRORS: listed_errors(reply.errors), ANSWER: said}
                questions[n] = replace(
                    self._samples[1],
                    user=self._turns[1].question_about(texts, self._languages),
                    repetition=question.repetition,
                )
        return questions

    def _questions(self, users: Sequence[str]) -> list[ChatQuestion]:
        repetitions, sample = range(self.metric.repeats), self._samples[0]
        return [replace(sample, user=user, repetition=r) for user in users for r in repetitions]

    def users(self, batch: Batch) -> list[str]:
        """All questions about the outputs of a batch."""
        return [user for user in self._users(batch).values() if user]

    def _users(self, batch: Batch) -> dict[tuple[int, int], str]:
        """The question about each output; empty where the rubric shows a reference and none is."""
        made: dict[tuple[str, ...], str] = {}
        questions = {}
        for k, i in np.ndindex(batch.shape):
            texts = self.shown_texts(batch, k, i)
            if texts is None:
                questions[k, i] = ""
                continue
            key = tuple(texts.values())
            if key not in made:
                made[key] = self.question_about(texts)
            questions[k, i] = made[key]
        return questions

    def shown_texts(self, batch: Batch, k: int, i: int) -> dict[str, str] | None:
        """The texts of a question about an output, by the names of their places.

        None where the rubric shows a reference and there is none.
        """
        texts = {"candidate": batch.texts[int(batch.candidates[k, i])]}
        if "sources" in self._shows:
            if batch.sources is None:
                raise DataError(f"metric {self.metric.spec!r} needs sources")
            texts["source"] = batch.texts[int(batch.sources[i])]
        if "references" in self._shows:
            references = [batch.texts[number] for number in batch.references_of(k)[i].tolist()]
            if not references:
                return None
            texts["reference"] = "\n".join(references)
        return texts

    def _missing(self, rows: Sequence[Sequence[JudgeReply]]) -> Message | None:
        counts = Counter(reply.missing for row in rows for reply in row)
        total = counts.total()
        lacking = [{"n": counts[why], "why": why} for why in _REASONS if counts[why]]
        empty = sum(all(reply.missing for reply in row) for row in rows) or None
        if not lacking:
            return None
        return message("note.judges.left_out", total=total, lacking=lacking, empty=empty)

    def _say_other_models(self, users: Sequence[str]) -> Message | None:
        """Notice of others that answered than the one that introduced itself."""
        who = self.client.identity()
        served = Counter(
            (answer.model, answer.fingerprint)
            for answer in self._read(users)[1]
            if not answer.rejected
        )
        others = [
            {"other": " ".join(system).strip(), "n": n}
            for system, n in served.items()
            if system != (who.model, who.fingerprint)
        ]
        if not others:
            return None
        return message("note.judges.others", judge=" ".join(who[:2]).strip(), others=others)

    def _noise(self, batch: Batch) -> Message | None:
        repeats = self.metric.repeats
        if repeats == 1:
            return None
        each = self.repetitions(batch)
        errors = [judge_noise(each[:, k]).of_judge for k in range(batch.shape[0])]
        defined = [error for error in errors if np.isfinite(error)]
        if not defined:
            return None
        if max(defined) == 0:
            return message("note.judges.no_noise", repeats=repeats)
        return message("note.judges.noise", least=min(defined), most=max(defined), repeats=repeats)


class BoundMarkingJudge(BoundChatJudge):
    """A judge that is asked for errors, too, and quotes them."""

    def error_spans(self, batch: Batch) -> tuple[ErrorSpan, ...]:
        """The errors that the judge quotes, where the texts hold the quotes; by system and segment.

        Of several repetitions each span counts once; its confidence is the share of those that
        mark it.

        Raises:
            UsageError, ServerFailedError: as :meth:`segments`.
        """
        return tuple(self._spans(batch)[0])

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """As of any judge, and how many quotes the texts do not hold, and severities it lacks."""
        return (
            *super().notices(batch),
            *self._judge_notices(self._lost(batch), self._lowered(batch)),
        )

    def _spans(self, batch: Batch) -> tuple[list[ErrorSpan], Counter[str]]:
        every: list[ErrorSpan] = []
        counts: Counter[str] = Counter()
        for (k, i), judged in self.judgements(batch).items():
            texts = {"candidate": batch.texts[int(batch.candidates[k, i])]}
            if batch.sources is not None:
                texts["source"] = batch.texts[int(batch.sources[i])]
            spans, more = error_spans(
                judged,
                texts,
                self.rubric,
                system=batch.systems[k],
                segment=i,
                rater=self.metric.spec,
            )
            every += spans
            counts.update(more)
        return every, counts

    def _lowered(self, batch: Batch) -> Message | None:
        replies = [reply for judged in self.judgements(batch).values() for reply in judged]
        lowered = sum(reply.lowered for reply in replies)
        if not lowered:
            return None
        errors = sum(len(reply.errors) for reply in replies)
        return message(
            "note.judges.lowered", lowered=lowered, errors=errors, rubric=self.rubric.name
        )

    def _lost(self, batch: Batch) -> Message | None:
        counts = self._spans(batch)[1]
        lost, quoted = counts["lost"], counts["quoted"]
        return message("note.judges.lost", lost=lost, quoted=quoted) if lost else None


class BoundPairJudge(BoundChatJudge):
    """A judge of pairs, ready to be asked: it has preferences, and no scores."""

    graded: ClassVar[bool] = False

    def segments(self, batch: Batch) -> NDArray[np.float64]:  # noqa: ARG002  # as of all metrics
        """Refused.

        Raises:
            UsageError: it scores no outputs.
        """
        raise UsageError(
            f"{self.metric.spec} compares two outputs and scores none; ask it by gnomon compare"
        )

    def cost(self, batch: Batch) -> int:
        """Largest number of answers that the pairs of a batch take."""
        return len(set(users_of(pair_questions(self, batch)))) * self.metric.repeats

    def pair_scores(self, batch: Batch) -> NDArray[np.float64]:
        """Preferences from -1 to 1, float64 [K, K, N]; NaN where no answer says anything.

        Each pair of outputs is shown twice, either one first, and the two answers are averaged, so
        that a judge that always prefers the first text says nothing. Equal outputs are ties, and
        not asked about.

        Raises:
            UsageError: more answers are needed than allowed, or texts may not be sent.
            ServerFailedError: the server stopped answering; what it said is kept.
        """
        asked = pair_questions(self, batch)
        users = users_of(asked)
        return preferences(batch, asked, dict(zip(users, self.ask(users), strict=True)))

    def pair_notices(self, batch: Batch) -> tuple[Message, ...]:
        """Notices of unread answers, and of a judge's preference for a place."""
        asked = pair_questions(self, batch)
        users = users_of(asked)
        notices = self.notices_of(users)
        first = share_of_first(asked, dict(zip(users, self.ask(users), strict=True)))
        if first is None or abs(first - 0.5) < _BIASED - 0.5:
            return notices
        place, share = "first" if first > 0.5 else "second", max(first, 1 - first)
        biased = message("note.judges.place", place=place, share=share)
        return (*notices, *self._judge_notices(biased))
