"""Answers of a server's batch endpoint, read back from its files."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.core.errors import FormatError
from gnomon.data.formats import read_bytes
from gnomon.judges.client import (
    ChatAnswer,
    ServerIdentity,
    answer_of_failure,
    answer_of_reply,
    answers_store,
    is_about_format,
)
from gnomon.judges.planned import places_of
from gnomon.messages.grammar import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from gnomon.core.cache import Cache


class BatchResults(NamedTuple):
    """Contents of a file of results.

    Attributes:
        file: the file.
        kept: answers that are kept now.
        known: answers to what was answered before; the first ones stay.
        lost: requests that the server could not take, or that came to nothing (expired, 5xx).
        foreign: lines that are no results of requests that gnomon wrote.
        why: the most frequent reason for which there is no answer.
        format_refused: the server takes no JSON schema for answers.
    """

    file: str
    kept: int
    known: int
    lost: int
    foreign: int
    why: str
    format_refused: bool

    def __str__(self) -> str:
        """In words."""
        parts = [f"{self.file}: {counted(self.kept, 'answer')} kept, {self.known:,} known before"]
        if self.lost:
            why = f" (most often: {self.why})" if self.why else ""
            parts.append(
                f"{counted(self.lost, 'request')} came to nothing{why}, and may be asked again"
            )
        if self.foreign:
            parts.append(f"{counted(self.foreign, 'line')} are no results of gnomon's")
        if self.format_refused:
            parts.append("the server takes no JSON schema; requests have none from now on")
        return "; ".join(parts)


def read_batch(path: str | PathLike[str]) -> BatchResults:
    """Keep the answers of a batch, in the folder where all answers of judges are kept.

    Lines may come in any order, and some may be missing or errors. What was answered before stays
    as it was. An answer is known by the request's ``custom_id``, so that texts need not be named.

    Args:
        path: a file of the server's batch endpoint: answers, and errors, as JSON by line.

    Raises:
        MissingFileError, FormatError: the file cannot be read, or no line of it is a result of a
            request that gnomon wrote.
    """
    store = answers_store()
    try:
        return _ReadBatch(store).file(str(path))
    finally:
        store.close()


@dataclass
class _ReadBatch:
    """Results as they come in."""

    store: Cache
    format_refused: bool = False
    servers: dict[bytes, ServerIdentity] = field(default_factory=dict)

    def file(self, path: str) -> BatchResults:
        """Keep the answers of a file."""
        counts: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        answers: dict[bytes, ChatAnswer] = {}
        refused: set[bytes] = set()
        for line in _lines(path):
            places = None if line is None else places_of(line.get("custom_id"))
            if line is None or places is None:
                counts["foreign"] += 1
                continue
            identity, key = places
            answer, problem = _answer(line)
            if answer is None or answer.rejected:
                counts["lost"] += 1
                reasons[problem if answer is None else answer.rejected] += 1
                if answer is not None and is_about_format(answer.rejected):
                    refused.add(identity)
            elif key in answers:
                counts["known"] += 1
            else:
                answers[key] = answer
                self._note(identity, answer)
        if counts["foreign"] and not answers and not counts["lost"]:
            raise FormatError(
                "holds no result of a request that gnomon wrote; give the file that the server's"
                " batch endpoint made of it (lines with a custom_id that begins with 'gnomon-', and"
                " a response)",
                path=path,
            )
        there = set(self.store.get_many(list(answers)))
        new = {key: answer for key, answer in answers.items() if key not in there}
        self.store.put_many({key: answer.packed() for key, answer in new.items()})
        for identity in refused:
            self._refuse_format(identity)
        self._keep_servers()
        return BatchResults(
            file=path,
            kept=len(new),
            known=counts["known"] + len(there),
            lost=counts["lost"],
            foreign=counts["foreign"],
            why=reasons.most_common(1)[0][0] if reasons else "",
            format_refused=self.format_refused,
        )

    def _note(self, identity: bytes, answer: ChatAnswer) -> None:
        """Remember who answers, by the first answer."""
        who = ServerIdentity(answer.model, answer.fingerprint, structured=True)
        self.servers.setdefault(identity, who)

    def _refuse_format(self, identity: bytes) -> None:
        self.format_refused = True
        who = self.servers.get(identity, ServerIdentity("", "", structured=False))
        self.servers[identity] = who._replace(structured=False)

    def _keep_servers(self) -> None:
        """Keep who answers, where it is not known; a server without a name gets the first one."""
        kept = self.store.get_many(list(self.servers))
        before = {key: ServerIdentity(*json.loads(value)) for key, value in kept.items()}
        named: dict[bytes, ServerIdentity] = {}
        for key, who in self.servers.items():
            known = before.get(key)
            if known is None or not who.structured:
                named[key] = who
            elif not known.model:
                named[key] = who._replace(structured=known.structured)
        self.store.put_many({key: json.dumps(who).encode() for key, who in named.items()})


def _lines(path: str) -> Iterator[dict[str, Any] | None]:
    """The objects of a file, line by line; None for a line that holds none."""
    for line in read_bytes(path).decode("utf-8-sig", "replace").split("\n"):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
        except (ValueError, RecursionError):
            given = None
        yield given if isinstance(given, dict) else None


def _answer(line: dict[str, Any]) -> tuple[ChatAnswer | None, str]:
    """The answer in a result; None, and why, where there is none."""
    response, error = line.get("response"), line.get("error")
    if isinstance(response, dict):
        status, body = response.get("status_code", 200), response.get("body")
        text = json.dumps(body)
        if status == 200:
            answer = answer_of_reply(text)
            return answer, "" if answer else "the reply is no whole chat completion"
        return answer_of_failure(status if isinstance(status, int) else 0, text)
    return answer_of_failure(0, json.dumps({"error": error}))
