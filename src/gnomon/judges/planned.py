"""Requests to judges that are only planned: counted, shown, or written to files for batches.

Within :func:`planned_requests` no server is asked. What methods would ask is collected; what was
answered before is answered from disk, and nothing else is known, so that what they return is of no
use.
"""

from __future__ import annotations

import base64
import json
import math
import re
import urllib.parse
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.core.errors import UsageError
from gnomon.core.findings import Finding, Listing
from gnomon.core.records import Record, column, table
from gnomon.core.signature import content_hash
from gnomon.data.formats import write_lines
from gnomon.judges.costs import estimated_cost
from gnomon.judges.replies import JudgeReply
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.judges.client import ChatAnswer, ChatQuestion, ChatServer, ServerIdentity
    from gnomon.judges.costs import CostEstimate
    from gnomon.judges.rubrics import Rubric
    from gnomon.messages import Message

#: most requests, and bytes, of one file for batches (those of the strictest servers)
_MOST_LINES, _MOST_BYTES = 50_000, 190_000_000
_SHOWN = ("model", "requests", "kept", "read", "written", "money")
_FENCED = re.compile(r"<(\w+)-(\w+)>\n(.*?)\n</\1-\2>", re.DOTALL)
_ID = re.compile(r"gnomon-([\w-]{27})([\w-]{27})")


class PlannedRequestsRow(Record):
    """Requests that a model would be asked."""

    model: str = column("Model", help="as it is asked for")
    endpoint: str = column("Endpoint", help="the server's base address; empty: in a folder here")
    requests: int = column(
        "Requests", help="that would be sent; of a model in a folder, answers to be computed"
    )
    kept: int = column("Answered", help="questions whose answers are on disk, and not asked again")
    read: int = column("Tokens read", help="of the questions, an estimate")
    written: int | None = column(
        "Tokens written", help="of the answers; empty where unknown, or where none is written"
    )
    money: float | None = column("Money", help="by the prices that were given")


class _Planned(NamedTuple):
    """A request that would be sent."""

    identity: bytes  # where it is kept who answers
    question: ChatQuestion
    structured: bool


@dataclass
class PlannedServer:
    """Requests to a model on a server.

    Attributes:
        server: who.
        requests: what would be asked, by the place where the answer would be kept.
        followed: of these, what will be followed by another request, made of the answer.
        kept: questions that were answered, with their answers.
        identified: it is known who answers, and whether the server takes JSON schemas.
    """

    server: ChatServer
    requests: dict[bytes, _Planned] = field(default_factory=dict)
    followed: set[bytes] = field(default_factory=set)
    kept: dict[ChatQuestion, ChatAnswer] = field(default_factory=dict)
    identified: bool = False

    @property
    def cost(self) -> CostEstimate:
        """Cost of the requests, as far as that is known."""
        return estimated_cost(
            [planned.question for planned in self.requests.values()],
            later=len(self.followed),
            earlier=self.kept,
            prices=self.server.prices,
        )

    def bodies(self) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """The requests, each with its place."""
        for key, (_, question, structured) in self.requests.items():
            yield key, question.body(self.server.model, structured=structured)


@dataclass
class PlannedFolder:
    """Answers that a model in a folder would compute.

    Attributes:
        name: of the model.
        missing: questions that it would answer, by the place where the answer would be kept.
        kept: places of answers that are on disk.
    """

    name: str
    missing: dict[bytes, ChatQuestion] = field(default_factory=dict)
    kept: set[bytes] = field(default_factory=set)


@dataclass
class RequestPlan:
    """All requests that would be sent, by model and server, and answers that would be computed.

    Attributes:
        servers: in the order in which they were first needed.
        folders: likewise models in folders, by the content of their files.
        ended: why the work ended early, for lack of answers; empty: it went to its end.
        made_up: judges give made-up answers, so that methods go to their end.
    """

    servers: dict[tuple[str, str], PlannedServer] = field(default_factory=dict)
    folders: dict[str, PlannedFolder] = field(default_factory=dict)
    ended: str = ""
    made_up: bool = False

    def add(
        self,
        server: ChatServer,
        identity: tuple[bytes, ServerIdentity | None],
        missing: Mapping[bytes, ChatQuestion],
        kept: Mapping[ChatQuestion, ChatAnswer],
        *,
        followed: bool,
    ) -> None:
        """Note what would be asked."""
        planned = self.servers.setdefault(
            (server.endpoint.url, server.model), PlannedServer(server)
        )
        key, who = identity
        planned.identified |= who is not None
        structured = who is None or who.structured
        for place, question in missing.items():
            planned.requests.setdefault(place, _Planned(key, question, structured))
        if followed:
            planned.followed |= set(missing)
        planned.kept.update(kept)

    def add_local(
        self, name: str, missing: Mapping[bytes, ChatQuestion], kept: Iterable[bytes]
    ) -> None:
        """Note what a model in a folder would answer, and what it has answered."""
        planned = self.folders.setdefault(name, PlannedFolder(name))
        planned.missing.update(missing)
        planned.kept.update(kept)

    @property
    def computed(self) -> int:
        """Number of answers that models in folders would compute."""
        return sum(len(each.missing) for each in self.folders.values())

    @property
    def requests(self) -> int:
        """Number of requests that would be sent, with those that will follow from the answers."""
        return sum(len(each.requests) + len(each.followed) for each in self.servers.values())

    def first(self) -> dict[str, Any] | None:
        """The first request, as it would be sent; None where there is none."""
        for planned in self.servers.values():
            for _, body in planned.bodies():
                return body
        return None

    def finding(self, command: str) -> Finding:
        """The plan as a table."""
        rows = [
            _row(planned.server.model, planned.server.endpoint.url, planned.cost, len(planned.kept))
            for planned in self.servers.values()
        ]
        rows += [
            _row(
                planned.name, "", estimated_cost(list(planned.missing.values())), len(planned.kept)
            )
            for planned in self.folders.values()
        ]
        title = str(self.summary())
        return Finding(
            method=command,
            title=title,
            tables=(table("requests", title, PlannedRequestsRow, rows),),
            signatures={},
            views=(Listing("requests", title, _SHOWN),),
            notices=tuple(self._notices()),
        )

    def summary(self) -> Message:
        """Summary of how many answers are still to come from where, and how many are there."""
        kept = [len(server.kept) for server in self.servers.values()]
        kept += [len(folder.kept) for folder in self.folders.values()]
        sent = bool(self.servers) or not self.folders
        return message(
            "note.judges.plan.asked",
            sent=sent,
            both=sent and bool(self.folders),
            computed=bool(self.folders),
            requests=self.requests,
            answers=self.computed,
            answered=sum(kept),
        )

    def _notices(self) -> Iterator[Message]:
        if not self.servers and not self.folders:
            yield message("note.judges.plan.nobody")
        for planned in self.servers.values():
            cost, server = planned.cost, planned.server
            who: dict[str, Any] = {"model": server.model, "server": server.endpoint.url}
            if cost.requests:
                yield message("note.judges.plan.costs", **who, cost=cost.message)
            if cost.requests > server.max_calls:
                limit = {**who, "answers": cost.requests, "allowed": server.max_calls}
                yield message("note.judges.plan.beyond", **limit)
            if planned.followed:
                yield message("note.judges.plan.again", **who, again=len(planned.followed))
            if cost.requests and not planned.identified:
                yield message("note.judges.plan.unknown", **who)
        if self.ended:
            yield message("note.judges.plan.ended", why=self.ended)

    def write_batches(self, path: str | Path) -> list[tuple[Path, str, int]]:
        """Write the requests as files for the batch endpoint of the protocol, JSON by line.

        A file holds requests to one model, and no more than servers take (50,000 requests, 190 MB).
        Where several are needed, a number stands before the file's ending.

        Args:
            path: the file.

        Returns:
            The files, each with its model and its number of requests.

        Raises:
            UsageError: nothing is to be asked.
            OutputError: a file cannot be written.
        """
        parts = [part for planned in self.servers.values() for part in _batches(planned)]
        if not parts:
            raise UsageError(
                "no request is left to be written: every question is answered, or no judge is asked"
            )
        path = Path(path)
        written = []
        for number, (model, lines) in enumerate(parts, start=1):
            file = path if len(parts) == 1 else path.with_stem(f"{path.stem}-{number}")
            write_lines(file, lines)
            written.append((file, model, len(lines)))
        return written


_plan: RequestPlan | None = None  # of the whole process, whichever thread asks


def current_plan() -> RequestPlan | None:
    """The plan that requests are to be added to; None where servers are asked."""
    return _plan


@contextmanager
def planned_requests(*, made_up: bool = False) -> Iterator[RequestPlan]:
    """Ask nothing, and collect what would be asked.

    That holds for the whole process, so that no worker asks. What methods return within is made of
    answers on disk alone.

    Args:
        made_up: let judges answer what is not on disk as chance has it, for methods that do not go
            to their end without answers (MuLER), and so ask less than they would. What they return
            is then worthless, and must be thrown away.

    >>> with planned_requests() as plan:
    ...     pass
    >>> plan.requests
    0
    """
    global _plan  # noqa: PLW0603  # methods may ask from threads of their own
    before, plan = _plan, RequestPlan(made_up=made_up)
    _plan = plan
    try:
        yield plan
    finally:
        _plan = before


def make_up_reply(question: str, rubric: Rubric) -> JudgeReply:
    """A reply for :func:`planned_requests`, the same each time.

    Its score is the share of the reference's words that the candidate has, which methods that
    mask texts want of a metric; without a reference it is drawn by chance.
    """
    number = int(content_hash("made up", question), 16)
    texts = {name: text.split() for name, _, text in _FENCED.findall(question)}
    share, reference = number % 1009 / 1008, texts.get("reference")
    if reference and "candidate" in texts:
        same = sum(word in set(texts["candidate"]) for word in reference)
        share = 0.999 * same / len(reference) + 0.001 * share
    least, most = rubric.scale
    choice = ("first", "second", "tie")[number % 3] if rubric.answer == "choice" else ""
    score = least + (most - least) * share
    return JudgeReply(math.nan if choice else score, choice=choice)


def _row(model: str, endpoint: str, cost: CostEstimate, kept: int) -> PlannedRequestsRow:
    return PlannedRequestsRow(
        model=model,
        endpoint=endpoint,
        requests=cost.requests,
        kept=kept,
        read=cost.read,
        written=cost.written,
        money=cost.money,
    )


# Files for batches. What a line asks is known again by its custom_id, which holds the places where
# its answer, and who gave it, are kept: results need nothing but this folder of answers.


def custom_id(identity: bytes, answer: bytes) -> str:
    """The name of a request in a file, 61 characters that all servers take.

    >>> places = (bytes(20), bytes([255] * 20))
    >>> places_of(custom_id(*places)) == places
    True
    """
    return "gnomon-" + "".join(
        base64.urlsafe_b64encode(place).decode().rstrip("=") for place in (identity, answer)
    )


def places_of(name: object) -> tuple[bytes, bytes] | None:
    """Where it is kept who answered, and the answer; None where the name is not gnomon's."""
    match = _ID.fullmatch(name) if isinstance(name, str) and name.isascii() else None
    if match is None:
        return None
    identity, answer = (base64.urlsafe_b64decode(f"{part}=") for part in match.groups())
    return identity, answer


def _batches(planned: PlannedServer) -> Iterator[tuple[str, Sequence[str]]]:
    """The lines of each file that the requests to a model take."""
    path = urllib.parse.urlsplit(planned.server.endpoint.url).path
    lines: list[str] = []
    size = 0
    for key, body in planned.bodies():
        line = json.dumps(
            {
                "custom_id": custom_id(planned.requests[key].identity, key),
                "method": "POST",
                "url": f"{path}/chat/completions",
                "body": body,
            },
            ensure_ascii=True,
        )
        if lines and (len(lines) == _MOST_LINES or size + len(line) > _MOST_BYTES):
            yield planned.server.model, lines
            lines, size = [], 0
        lines.append(line)
        size += len(line) + 1
    if lines:
        yield planned.server.model, lines
