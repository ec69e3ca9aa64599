"""Requests to a server that speaks the chat-completions protocol; every answer is kept on disk."""

from __future__ import annotations

import asyncio
import email.utils
import json
import logging
import os
import random
import re
import time
from abc import ABC, abstractmethod
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gnomon.core.cache import Cache, default_path
from gnomon.core.cache import key as cache_key
from gnomon.core.errors import ServerFailedError, UsageError, not_installed
from gnomon.core.signature import version
from gnomon.judges.costs import Prices, estimated_cost, tokens_used
from gnomon.judges.endpoints import Endpoint  # noqa: TC001  # of fields
from gnomon.judges.planned import current_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from httpx import AsyncClient, Response

    from gnomon.judges.costs import CostEstimate
    from gnomon.messages import Message

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

#: the folder of answers, where it is not the usual one
ANSWERS = "GNOMON_ANSWERS"
#: changes whenever what is kept is to be read in another way
_SCHEMA = "chat answer 1"
_LIMIT = 1 << 40  # answers cost money: none goes to make room
_REMEDY = f"make room there, or name another folder for the answers of judges ({ANSWERS}=FOLDER)"
_LONGEST_PAUSE = 60.0  # seconds between tries, where the server asks for none
_LONGEST_REPLY = 1 << 24  # bytes
_LONGEST_WAIT = 600.0  # seconds that a server may ask to wait
_TELL_EVERY = 30.0  # seconds
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_ABOUT_QUESTION = frozenset({400, 413, 415, 422})
_NO_MONEY = ("insufficient_quota", "billing_hard_limit_reached")
_FILTERED = ("content_filter", "content_policy_violation")
_FORMAT = ("response_format", "json_schema", "guided", "structured output")
_ABOUT_FORMAT = frozenset({400, 415, 422, 501})


#: the first question of all, which tells who answers
_PRESENTATION = (
    "This is a test of the connection. Answer with any JSON object of the form that you are asked"
    " for; without one, with {}."
)


# Questions and answers.


@dataclass(frozen=True)
class ChatQuestion:
    """One question.

    Attributes:
        system: what the model is told to be.
        user: the question itself.
        schema: the JSON schema of the answer, as JSON; empty: free text is wanted.
        temperature: of the draw; None: the server's own.
        seed: of the draw; None: none is sent.
        max_tokens: most tokens of the answer; None: the server's own limit.
        repetition: from 0; equal questions of other repetitions are asked anew.
        turns: pairs of a question and its answer that stand before: examples, or what was said.
        extra: further fields of the request, as a JSON object; empty: none.
    """

    system: str
    user: str
    schema: str = ""
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    repetition: int = 0
    turns: tuple[tuple[str, str], ...] = ()
    extra: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts that the model reads."""
        return (self.schema, *(message["content"] for message in self.messages))

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters that are sent beside the texts."""
        given = {
            "temperature": self.temperature,
            "seed": None if self.seed is None else self.seed + self.repetition,
            "max_tokens": self.max_tokens,
        }
        named = {name: value for name, value in given.items() if value is not None}
        return {**(json.loads(self.extra) if self.extra else {}), **named}

    @property
    def messages(self) -> list[dict[str, str]]:
        """Messages that are sent: the system's, earlier turns, the question."""
        said = [("system", self.system)] if self.system else []
        for question, answer in self.turns:
            said += [("user", question), ("assistant", answer)]
        return [{"role": role, "content": text} for role, text in [*said, ("user", self.user)]]

    def body(self, model: str, *, structured: bool) -> dict[str, Any]:
        """The request."""
        body: dict[str, Any] = {"model": model, "messages": self.messages, **self.parameters}
        if structured and self.schema:
            schema = {"name": "answer", "strict": True, "schema": json.loads(self.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body


@dataclass(frozen=True)
class ChatAnswer:
    """Answer of a server.

    Attributes:
        text: the answer; empty where it was refused.
        model: the model's name as the server gives it.
        fingerprint: of the server's system, where it gives one.
        finish: why the answer ends: "stop", "length" (it is cut), or what the server says.
        refused: the model or the server's filter declined to answer.
        rejected: the server cannot take the question (too long), and why; nothing was answered.
        read: tokens of the question, as the server counted them; None where it tells none.
        written: tokens of the answer, likewise.
    """

    text: str
    model: str = ""
    fingerprint: str = ""
    finish: str = ""
    refused: bool = False
    rejected: str = ""
    read: int | None = None
    written: int | None = None

    def packed(self) -> bytes:
        """As it is kept."""
        said = [self.text, self.model, self.fingerprint, self.finish, self.refused]
        return json.dumps([*said, "", self.read, self.written], ensure_ascii=True).encode()

    @classmethod
    def unpacked(cls, value: bytes) -> ChatAnswer:
        """As it was kept."""
        return cls(*json.loads(value))


class ServerIdentity(NamedTuple):
    """Who answers, as the server said when it was first asked.

    Attributes:
        model: the model's name as the server gives it.
        fingerprint: of its system; empty where it gives none.
        structured: it takes a JSON schema for its answers.
    """

    model: str
    fingerprint: str
    structured: bool


@dataclass(frozen=True)
class ChatServer:
    """Where questions are asked, and how patiently.

    Attributes:
        endpoint: the server.
        model: the model's name.
        concurrency: questions on their way at once.
        timeout: seconds for one answer, from the connection to its last byte.
        tries: how often a question is sent at most, where the server fails; twice as often where it
            has too many questions (429), and answers no other in the meantime.
        pause: seconds before the second try; each further one doubles them, give or take a half.
        max_calls: most answers that may be asked for, those on disk left out.
        prices: of a million tokens of questions, and of answers; None: not known.
    """

    endpoint: Endpoint
    model: str
    concurrency: int = 8
    timeout: float = 120.0
    tries: int = 6
    pause: float = 1.0
    max_calls: int = 10_000
    prices: Prices | None = None


#: in place of an answer where requests are only planned
_NOT_ASKED = ChatAnswer("", rejected="it was not asked: requests are only planned")


def answers_folder() -> Path:
    """Where answers are kept: the folder named by ``GNOMON_ANSWERS``, or one in the cache.

    ``gnomon cache clear`` leaves it: answers cost money.
    """
    given = os.environ.get(ANSWERS)
    return Path(given).expanduser() if given else default_path() / "answers"


def answers_store() -> Cache:
    """Answers by their places, and who gave them."""
    return Cache(answers_folder(), _LIMIT, remedy=_REMEDY)


class KeptAnswers(ABC):
    """Answers on disk, and those that were read from there or given since.

    Attributes:
        counts: "asked" (answers that came), "kept" (answers that were on disk), and others.
    """

    counts: Counter[str]

    def _open(self) -> None:
        self._store = answers_store()
        self._known: dict[bytes, ChatAnswer] = {}

    @abstractmethod
    def _key(self, question: ChatQuestion) -> bytes:
        """Where the answer to a question is kept."""

    def _unpacked(self, value: bytes) -> ChatAnswer:
        return ChatAnswer.unpacked(value)

    def count_unanswered(self, questions: Sequence[ChatQuestion]) -> int:
        """Number of distinct questions that were not answered yet."""
        return len(self._missing(questions))

    def earlier_answers(self, questions: Sequence[ChatQuestion]) -> list[ChatAnswer | None]:
        """The answers that were given before; nothing is asked."""
        self._missing(questions)
        return [self._known.get(self._key(question)) for question in questions]

    def _missing(self, questions: Sequence[ChatQuestion]) -> dict[bytes, ChatQuestion]:
        """Questions without an answer, by their places; what is on disk is read."""
        places = {self._key(question): question for question in questions}
        answers = self._store.get_many([key for key in places if key not in self._known])
        self._known |= {key: self._unpacked(value) for key, value in answers.items()}
        self.counts["kept"] += len(answers)
        return {key: question for key, question in places.items() if key not in self._known}


class _TransientError(Exception):
    """Another try may do."""

    def __init__(
        self, said: str, *, after: float | None = None, absent: bool = False, busy: bool = False
    ) -> None:
        super().__init__(said)
        self.after = after  # seconds that the server asks to wait
        self.absent = absent  # nobody listens there
        self.busy = busy  # too many questions at a time


class _FormatRejectedError(Exception):
    """The server takes no JSON schema."""


class _StoppedError(Exception):
    """Another question failed, or the user stopped the run."""


# Asking.


@dataclass(eq=False)
class ChatClient(KeptAnswers):
    """Asks questions, several at a time, each once: answers are kept on disk as they come.

    A killed run, or one whose server died, asks nothing again that was answered. The first question
    of all is who answers: it tells whether the server takes JSON schemas, and its answer is kept,
    too. Safe to be used by one thread at a time; it asks in a thread of its own.

    Attributes:
        server: who is asked.
        sample: a question of the kind that will be asked; its schema and parameters are tried first
        counts: "asked" (answers that came), "sent" (requests, with those that failed), "kept"
            (answers that were on disk), "busy" (requests that came too soon for the server).
    """

    server: ChatServer
    sample: ChatQuestion
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._open()
        self._identity: ServerIdentity | None = None
        self._not_before = 0.0  # what the server asked of all, on the clock of monotonic()
        self._told = False

    def identity(self) -> ServerIdentity:
        """Who answers: from disk, else the server is asked.

        Raises:
            UsageError: texts may not be sent there, or the server refuses key, model or parameters.
            ServerFailedError: it does not answer.
        """
        if self._identity is None:
            key, known = self._load_identity()
            if known is None and current_plan() is not None:
                return ServerIdentity("", "", structured=True)
            if known is None:
                known = self._introduce(self._presentation())
                self._store.put_many({key: json.dumps(known).encode()})
            self._identity = known
        return self._identity

    def _presentation(self) -> ChatQuestion:
        return replace(self.sample, system="", turns=(), user=_PRESENTATION, repetition=0)

    def _load_identity(self) -> tuple[bytes, ServerIdentity | None]:
        """Where it is kept who answers, and who does, if that is known."""
        key = self._place("identity", self._presentation())
        kept = self._store.get_many([key]).get(key)
        return key, None if kept is None else ServerIdentity(*json.loads(kept))

    def tokens(self) -> Message | None:
        """Notice of the tokens of answers that were asked or read from disk so far."""
        used = tokens_used(self._known.values(), self.server.prices)
        return used.message if used.counted else None

    def ask(self, questions: Sequence[ChatQuestion], *, later: int = 0) -> list[ChatAnswer]:
        """The answers, in the order of the questions; equal questions are asked once.

        Args:
            questions: what is asked.
            later: most answers that will be asked for when these are known: their cost is counted,
                too, before the first question is sent.

        Raises:
            UsageError: more answers are needed than allowed, texts may not be sent there, or the
                server refuses key, model or parameters.
            ServerFailedError: the server stopped answering; what it said is kept.
        """
        missing = self._missing(questions)
        keys = [self._key(question) for question in questions]
        plan = current_plan()
        if plan is not None:
            kept = self._earlier(keys, questions)
            plan.add(self.server, self._load_identity(), missing, kept, followed=later > 0)
            return [self._known.get(key, _NOT_ASKED) for key in keys]
        if missing:
            self.check_budget(len(missing) + later)
            earlier = self._earlier(keys, questions)
            cost = estimated_cost(
                list(missing.values()), later=later, earlier=earlier, prices=self.server.prices
            )
            self._tell(cost, len(earlier))
            try:
                self.identity()
                self._ask_all(missing)
            finally:
                self._store.close()  # what was kept is then in one file, which can be copied
        return [self._known[key] for key in keys]

    def _earlier(
        self, keys: Sequence[bytes], questions: Sequence[ChatQuestion]
    ) -> dict[ChatQuestion, ChatAnswer]:
        """Questions that were answered before, with their answers."""
        return {
            question: self._known[key]
            for key, question in zip(keys, questions, strict=True)
            if key in self._known
        }

    def _key(self, question: ChatQuestion) -> bytes:
        return self._place("answer", question)

    def _place(self, kind: str, question: ChatQuestion) -> bytes:
        server = self.server
        parameters = json.dumps(question.parameters, sort_keys=True)
        number = str(question.repetition)
        texts = [question.system, question.user, question.schema]
        texts += [text for turn in question.turns for text in turn]
        return cache_key(
            _SCHEMA, kind, server.endpoint.url, server.model, parameters, number, *texts
        )

    def check_budget(self, wanted: int) -> None:
        """Refuse what costs too much, before the first question is sent.

        Raises:
            UsageError: more answers are wanted than allowed, or texts may not be sent.
        """
        self.server.endpoint.check_consent()
        done, most = self.counts["asked"], self.server.max_calls
        if done + wanted > most:
            before = f" beside the {done:,} that were asked for before" if done else ""
            raise UsageError(
                f"{wanted:,} answers of {self.server.model!r} at {self.server.endpoint.url} are"
                f" needed{before}, more than the {most:,} that are allowed; allow more with"
                " max_calls= in the judge's spec, or take fewer segments, systems or repeats"
            )

    def _tell(self, cost: CostEstimate, kept: int) -> None:
        """Say what it costs; once, as methods may ask in many small parts."""
        if self._told:
            return
        self._told = True
        _log.info(
            "%s at %s is asked for %s answers (%s); %s are on disk already",
            self.server.model,
            self.server.endpoint.url,
            f"{cost.requests:,}",
            cost,
            f"{kept:,}",
        )

    def _introduce(self, question: ChatQuestion) -> ServerIdentity:
        """Ask who answers, with a JSON schema, and without one where that is refused."""
        self.server.endpoint.check_consent()
        for structured in (True, False):
            body = question.body(self.server.model, structured=structured)
            try:
                answer = _run_in_loop(partial(self._ask_first, body))
            except _FormatRejectedError:
                continue
            if answer.rejected:
                raise UsageError(
                    f"{self.server.endpoint.url} refuses questions to {self.server.model!r}"
                    f" with {_list_parameters(question.parameters)}: {answer.rejected}; leave"
                    " out what it does not take (temperature=None, seed=None, max_tokens=None,"
                    " fields of extra=)"
                )
            return ServerIdentity(answer.model, answer.fingerprint, structured)
        raise UsageError(
            f"{self.server.endpoint.url} refuses the form of its answers although none is asked"
            " for; look at the server's log"
        )

    async def _ask_first(self, body: dict[str, Any], stop: asyncio.Event) -> ChatAnswer:
        async with self._connections() as connections:
            return await self._answer(connections, body, stop)

    def _ask_all(self, missing: Mapping[bytes, ChatQuestion]) -> None:
        try:
            _run_in_loop(partial(self._ask_each, missing))
        except ServerFailedError as error:
            came = sum(key in self._known for key in missing)
            raise ServerFailedError(
                f"{error}; {came:,} of {len(missing):,} answers came and are kept: the same request"
                " asks for the others alone"
            ) from error

    async def _ask_each(self, missing: Mapping[bytes, ChatQuestion], stop: asyncio.Event) -> None:
        """Ask several at a time; after a failure, what is on its way is kept when it comes."""
        progress = AnswerProgress(len(missing))
        queue = iter(missing.items())

        async def work() -> None:
            for key, question in queue:
                try:
                    await self._ask_one(connections, key, question, stop)
                except _StoppedError:
                    return
                except BaseException:
                    stop.set()  # nothing more is sent
                    raise
                progress.tell(1)

        async with self._connections() as connections:
            several = (work() for _ in range(self.server.concurrency))
            ended = await asyncio.gather(*several, return_exceptions=True)
        for error in ended:
            if error is not None:
                raise error

    async def _ask_one(
        self, connections: AsyncClient, key: bytes, question: ChatQuestion, stop: asyncio.Event
    ) -> None:
        """Ask, and keep the answer at once."""
        body = question.body(self.server.model, structured=self.identity().structured)
        try:
            answer = await self._answer(connections, body, stop)
        except _FormatRejectedError as error:
            answer = ChatAnswer("", rejected=str(error))
        if not answer.rejected:
            self._store.put_many({key: answer.packed()})
        self._known[key] = answer
        self.counts["asked"] += 1

    async def _answer(
        self, connections: AsyncClient, body: dict[str, Any], stop: asyncio.Event
    ) -> ChatAnswer:
        """Send a question until it is answered."""
        server, failures, others = self.server, 0, self.counts["asked"]
        while True:
            await self._pause(stop)
            try:
                self.counts["sent"] += 1
                return await self._sent(connections, body)
            except _TransientError as error:
                # a server that answers others in the meantime is no failing one: it is busy
                came, others = self.counts["asked"] > others, self.counts["asked"]
                failures = 0 if error.busy and came else failures + 1
                most = 2 * server.tries if error.busy else server.tries
                if error.absent and not self._known and self._identity is None:
                    most = min(2, most)  # it never was there
                if failures >= most:
                    times = f", {failures} times" if failures > 1 else ""
                    hint = "; is the server running?" if error.absent else ""
                    raise ServerFailedError(
                        f"{server.endpoint.url} gives no answer: {error}{times}{hint}"
                    ) from error
                self._say(error)
                await self._wait_for(error, max(failures - 1, 0), stop)

    def _say(self, error: _TransientError) -> None:
        """Tell of a failure; of many questions that come too soon, once."""
        is_known = error.busy and self.counts["busy"]
        self.counts["busy"] += error.busy
        if not is_known:
            _log.debug("%s: %s; trying again", self.server.endpoint.url, error)

    async def _wait_for(self, error: _TransientError, attempt: int, stop: asyncio.Event) -> None:
        if error.after is not None:
            if error.after > _LONGEST_WAIT:
                raise ServerFailedError(
                    f"{self.server.endpoint.url} asks to wait for {error.after:,.0f} seconds"
                    f" ({error}); come back then"
                ) from error
            # asked of all, not of one
            self._not_before = max(self._not_before, time.monotonic() + error.after)
            return
        spread = random.uniform(0.5, 1.5)  # noqa: S311  # so that not all come back at once
        await _pause_unless(stop, min(self.server.pause * 2**attempt, _LONGEST_PAUSE) * spread)

    async def _pause(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            left = self._not_before - time.monotonic()
            if left <= 0:
                return
            await _pause_unless(stop, left)
        raise _StoppedError

    def _connections(self) -> AsyncClient:
        httpx = _httpx()
        server = self.server
        width = server.concurrency
        made: AsyncClient = httpx.AsyncClient(
            timeout=httpx.Timeout(server.timeout, connect=min(server.timeout, 10.0), pool=None),
            limits=httpx.Limits(max_connections=width, max_keepalive_connections=width),
            # a server on this machine is not asked by a proxy
            trust_env=not server.endpoint.local,
            headers={"User-Agent": f"gnomon/{version()}"},
            follow_redirects=False,  # a key goes where the user said, and nowhere else
        )
        return made

    async def _post(self, connections: AsyncClient, body: dict[str, Any]) -> tuple[Response, bytes]:
        """Send a request, and read the whole reply."""
        endpoint, content = self.server.endpoint, b""
        url, headers = f"{endpoint.url}/chat/completions", endpoint.headers()
        async with connections.stream("POST", url, json=body, headers=headers) as response:
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > _LONGEST_REPLY:
                    raise _TransientError(f"the reply has more than {_LONGEST_REPLY:,} bytes")
        return response, content

    async def _sent(self, connections: AsyncClient, body: dict[str, Any]) -> ChatAnswer:
        httpx = _httpx()
        endpoint = self.server.endpoint
        try:
            # httpx limits single reads, and a server may send a byte now and then without an end
            response, reply = await asyncio.wait_for(
                self._post(connections, body), self.server.timeout
            )
        except (TimeoutError, httpx.TimeoutException) as error:
            said = f"no whole answer within {self.server.timeout:g} seconds"
            raise _TransientError(said) from error
        except httpx.ConnectError as error:
            raise _TransientError(f"nobody listens there ({error})", absent=True) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            said = str(error) or type(error).__name__
            raise _TransientError(f"the connection broke off ({said})") from error
        text = endpoint.hide_key(reply.decode("utf-8", "replace"))
        if response.status_code == 200:
            return _answer_of(text)
        return self._failure(response, text, bound="response_format" in body)

    def _failure(self, response: Response, text: str, *, bound: bool) -> ChatAnswer:
        """Answer for another status than 200; answers may have been bound to a JSON schema."""
        status, endpoint = response.status_code, self.server.endpoint
        code, message = _problem_of(text)
        problem = f"status {status}{f': {message}' if message else ''}"
        if code in _NO_MONEY:
            raise ServerFailedError(f"{endpoint.url} answers no more: {problem}")
        if status in _AGAIN:
            exact = _retry_after(response.headers.get("retry-after-ms"))
            after = (
                _retry_after(response.headers.get("Retry-After")) if exact is None else exact / 1000
            )
            raise _TransientError(problem, after=after, busy=status == 429)
        if status in (401, 403):
            names = " or ".join(endpoint.key_names)
            raise UsageError(
                f"{endpoint.url} refuses the request ({problem}); set the key in the environment"
                f" ({names})"
            )
        name = rf"(?<![\w-]){re.escape(self.server.model)}(?![\w-])"  # it may hold such words
        words = re.sub(name, "", f"{code} {message}")
        if bound and status in _ABOUT_FORMAT and is_about_format(words):
            raise _FormatRejectedError(problem)
        if status in _ABOUT_QUESTION:
            return _reject(code, problem)
        raise UsageError(
            f"{endpoint.url}/chat/completions answers with {problem}; is the endpoint right, and"
            f" does the server have a model {self.server.model!r}?"
        )


def _run_in_loop(work: Callable[[asyncio.Event], Coroutine[Any, Any, _T]]) -> _T:
    """Do work in a loop of events in a thread of its own: the caller may be in a loop, too.

    Where the caller is interrupted, the event is set that the work is given, and it is waited for.
    """
    loop, stop = asyncio.new_event_loop(), asyncio.Event()

    def run() -> _T:
        try:
            return loop.run_until_complete(work(stop))
        finally:
            loop.close()

    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(run)
        try:
            return result.result()
        finally:
            if not result.done():
                loop.call_soon_threadsafe(stop.set)


async def _pause_unless(stop: asyncio.Event, seconds: float) -> None:
    """Wait for some seconds, or until all is stopped."""
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)


class AnswerProgress:
    """Tells now and then how far a long run has come."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self.begun = self.last_report = time.monotonic()

    def tell(self, more: int) -> None:
        """Count further answers, and say now and then how long the others will take."""
        self.done += more
        now = time.monotonic()
        if now - self.last_report < _TELL_EVERY or self.done == self.total:
            return
        self.last_report = now
        left = (self.total - self.done) * (now - self.begun) / self.done / 60
        _log.debug(
            "%s of %s answers, about %.0f minutes left", f"{self.done:,}", f"{self.total:,}", left
        )


# Reading replies, which may be of any shape.


def _answer_of(text: str) -> ChatAnswer:
    """The answer in a reply with the status 200."""
    reply = _json_of(text)
    choice = _first(reply.get("choices")) if isinstance(reply, dict) else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(reply, dict) or not isinstance(message, dict):
        raise _TransientError(f"the reply is no whole chat completion: {_shown(text)!r}")
    content = message.get("content")
    if isinstance(content, list):  # parts of an answer
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    finish = str(choice.get("finish_reason") or "") if isinstance(choice, dict) else ""
    refused = bool(message.get("refusal")) or finish == "content_filter"
    if not isinstance(content, str) and not refused and content is not None:
        raise _TransientError(f"the reply is no whole chat completion: {_shown(text)!r}")
    return ChatAnswer(
        text="" if refused or content is None else content,
        model=str(reply.get("model") or ""),
        fingerprint=str(reply.get("system_fingerprint") or ""),
        finish=finish,
        refused=refused,
        read=_tokens(reply, "prompt_tokens", "input_tokens"),
        written=_tokens(reply, "completion_tokens", "output_tokens"),
    )


def answer_of_reply(text: str) -> ChatAnswer | None:
    """The answer in a reply with the status 200; None where it is no whole chat completion."""
    try:
        return _answer_of(text)
    except _TransientError:
        return None


def answer_of_failure(status: int, text: str) -> tuple[ChatAnswer | None, str]:
    """Answer that another status than 200 means for a question, or None; and its reason."""
    code, message = _problem_of(text)
    problem = (f"status {status}: " if status else "") + (message or code or "no reason is given")
    return (_reject(code, problem) if status in _ABOUT_QUESTION else None), problem


def _reject(code: str, problem: str) -> ChatAnswer:
    if code in _FILTERED:
        return ChatAnswer("", finish="content_filter", refused=True)
    return ChatAnswer("", rejected=problem)


def is_about_format(words: str) -> bool:
    """True if an error speaks of the form of answers."""
    return any(word in words.lower() for word in _FORMAT)


def _tokens(reply: Mapping[str, Any], *names: str) -> int | None:
    """A number of tokens that the server counted; None where it tells none."""
    usage = reply.get("usage")
    counts = [usage.get(name) for name in names] if isinstance(usage, dict) else []
    return next((n for n in counts if type(n) is int and 0 <= n < 1 << 40), None)


def _problem_of(text: str) -> tuple[str, str]:
    """Code and message of an error."""
    reply = _json_of(text)
    error = reply.get("error", reply) if isinstance(reply, dict) else None
    if isinstance(error, dict):
        code = str(error.get("code") or error.get("type") or "")
        return code, _shown(str(error.get("message") or error.get("detail") or ""))
    return "", _shown(error if isinstance(error, str) else text)


def _json_of(text: str) -> Any:  # of any shape
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _first(given: object) -> Any:  # of any shape
    return given[0] if isinstance(given, list) and given else None


def _shown(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 200 else words[:200] + "..."


def _list_parameters(parameters: Mapping[str, object]) -> str:
    listed = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return listed or "no parameters"


def _retry_after(value: str | None) -> float | None:
    """Seconds that a server asks to wait: a number, or a date."""
    if value is None:
        return None
    if re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", value):
        return float(value)
    try:
        date = email.utils.parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, date - time.time())


def _httpx() -> Any:  # optional
    try:
        import httpx
    except ImportError as error:
        raise not_installed("asking a server", "httpx", "judge") from error
    return httpx
