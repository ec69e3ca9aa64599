"""Answers of a server's batch endpoint, read back from its files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from gnomon.core.errors import FormatError
from gnomon.core.findings import Finding, Listing
from gnomon.core.options import InputFile, Metavar
from gnomon.core.records import Record, column, column_names, table
from gnomon.core.registry import method
from gnomon.core.verdicts import Claim, counted
from gnomon.data.formats import read_bytes
from gnomon.metrics.judges.client import (
    ChatAnswer,
    ServerIdentity,
    answer_of_failure,
    answer_of_reply,
    answers_store,
    is_about_format,
)
from gnomon.metrics.judges.costs import tokens_used
from gnomon.metrics.judges.planned import places_of
from gnomon.metrics.judges.verdict import statement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.cache import Cache
    from gnomon.core.findings import Statement

_TITLE = "Answers read from batch files"
_EXAMPLES = """\
examples:
  gnomon compare -t wmt24/en-cs -m "judge('gemba-da', model='NAME')" --batch-write requests.jsonl
  gnomon judges read-batch --results results.jsonl --requests requests.jsonl
"""


class BatchRow(Record):
    """What a file of results holds."""

    file: str = column("File", help="the file")
    lines: int = column("Lines", help="that hold something")
    kept: int = column("Kept", help="answers that are kept now")
    known: int = column("Known", help="answers to what was answered before; the first ones stay")
    refused: int = column("Refused", help="of those kept, answers in which the model declines")
    rejected: int = column("Rejected", help="requests that the server could not take")
    failed: int = column("Failed", help="requests that came to nothing (expired, cancelled, 5xx)")
    unreadable: int = column("Unreadable", help="lines that are no results (cut, or other JSON)")
    foreign: int = column("Foreign", help="results of requests that gnomon did not write")
    models: str = column("Models", help="who answered, as the server says")
    read: int = column("Tokens read", help="of the questions kept, as the server counted")
    written: int = column("Tokens written", help="of the answers kept, likewise")
    why: str = column("Why", help="the most frequent reason for which there is no answer")


class MissingRow(Record):
    """How many requests of a file have no answer yet."""

    file: str = column("File", help="the file of requests")
    requests: int = column("Requests", help="that it holds")
    missing: int = column("Missing", help="of these, without an answer on disk")


_ALL_KEPT = Claim(
    "judges.read_batch.all",
    "{answers} are kept; the command that wrote the requests now asks nothing",
    "undecided",
    "every request of the files has an answer on disk",
)
_SOME_KEPT = Claim(
    "judges.read_batch.kept",
    "{answers} are kept; whether any request is without one is not known without the files of"
    " requests",
    "undecided",
    "no file of requests was given",
)
_MISSING = Claim(
    "judges.read_batch.missing",
    "{missing} of {requests} have no answer; the same command asks for these, or writes them to a"
    " new file of requests",
    "caution",
    "requests of the files without an answer on disk",
)
_WITHOUT_ANSWER = Claim(
    "judges.read_batch.failed",
    "{failed} came to nothing{why}",
    "caution",
    "results that are errors",
)
_NO_RESULTS = Claim(
    "judges.read_batch.unreadable",
    "{lines} of {files} are no results of requests that gnomon wrote, and are left out",
    "caution",
    "lines that are no JSON, or whose custom_id is another one",
)
_FORMAT_REFUSED = Claim(
    "judges.read_batch.schema",
    "the server takes no JSON schema for answers; requests that are written from now on have none",
    "caution",
    "an error that names the form of answers",
)
READ_BATCH_CLAIMS = (
    _ALL_KEPT,
    _SOME_KEPT,
    _MISSING,
    _WITHOUT_ANSWER,
    _NO_RESULTS,
    _FORMAT_REFUSED,
)


def read_batch_verdict(finding: Finding) -> Iterator[Statement]:
    """What is kept, and what is still without an answer."""
    rows = finding.records(BatchRow)
    requests = finding.records(MissingRow)
    everywhere = finding.positions(rows)
    missing = sum(row.missing for row in requests)
    answers = counted(sum(row.kept + row.known for row in rows), "answer")
    if missing:
        total = counted(sum(row.requests for row in requests), "request")
        there = finding.positions(requests)
        yield statement(_MISSING, there, missing=f"{missing:,}", requests=total)
    elif requests:
        yield statement(_ALL_KEPT, everywhere, answers=answers)
    else:
        yield statement(_SOME_KEPT, everywhere, answers=answers)
    failed = sum(row.failed + row.rejected for row in rows)
    if failed:
        why = next((row.why for row in rows if row.why), "")
        said = f" (most often: {why})" if why else ""
        yield statement(_WITHOUT_ANSWER, everywhere, failed=counted(failed, "request"), why=said)
    lines = sum(row.unreadable + row.foreign for row in rows)
    if lines:
        total = counted(sum(row.lines for row in rows), "line")
        yield statement(_NO_RESULTS, everywhere, lines=f"{lines:,}", files=total)
    if finding.facts.get("schema") == "refused":
        yield statement(_FORMAT_REFUSED, everywhere)


@method(
    "judges.read_batch",
    answers="answers of a server's batch endpoint, kept so that commands need not ask",
    title=_TITLE,
    examples=_EXAMPLES,
    data=(),
    given="nothing",
    systems=False,
    rows={"results": BatchRow, "requests": MissingRow},
    verdict=read_batch_verdict,
    claims=READ_BATCH_CLAIMS,
)
def read_batch(
    results: Annotated[Sequence[str], InputFile(), Metavar("FILE")],
    *,
    requests: Annotated[Sequence[str], InputFile(), Metavar("FILE")] = (),
) -> Finding:
    """Keep the answers of a batch, in the folder where all answers of judges are kept.

    Lines may come in any order, and some may be missing or errors. What was answered before stays
    as it was. An answer is known by the request's ``custom_id``, so that texts need not be named.

    Args:
        results: files of the server's batch endpoint: answers, and errors, as JSON by line.
        requests: the files that were sent to it, to tell what has no answer.

    Returns:
        A finding with a row per file of results, and a table "requests" of those still without an
        answer.

    Raises:
        MissingFileError, FormatError: a file cannot be read, or no line of it is a result of a
            request that gnomon wrote.
    """
    store = answers_store()
    try:
        read = _ReadBatch(store)
        rows = [read.file(str(path)) for path in results]
        missing = [_missing(store, str(path)) for path in requests]
    finally:
        store.close()
    return Finding(
        method="judges read-batch",
        title=_TITLE,
        tables=(
            table("results", _TITLE, BatchRow, rows),
            table("requests", "Requests without an answer", MissingRow, missing),
        ),
        signatures={},
        views=(Listing("results", _TITLE, column_names(BatchRow)),),
        facts={"schema": "refused"} if read.format_refused else {},
    )


@dataclass
class _ReadBatch:
    """Results as they come in."""

    store: Cache
    format_refused: bool = False
    servers: dict[bytes, ServerIdentity] = field(default_factory=dict)

    def file(self, path: str) -> BatchRow:
        """Keep the answers of a file."""
        counts: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        answers: dict[bytes, ChatAnswer] = {}
        refused: set[bytes] = set()
        for line in _lines(path):
            counts["lines"] += 1
            if line is None:
                counts["unreadable"] += 1
                continue
            places = places_of(line.get("custom_id"))
            if places is None:
                counts["foreign"] += 1
                continue
            identity, key = places
            answer, problem = _answer(line)
            if answer is None:
                counts["failed"] += 1
                reasons[problem] += 1
            elif answer.rejected:
                counts["rejected"] += 1
                reasons[answer.rejected] += 1
                if is_about_format(answer.rejected):
                    refused.add(identity)
            elif key in answers:
                counts["known"] += 1
            else:
                answers[key] = answer
                self._note(identity, answer)
        if counts["lines"] and counts["lines"] == counts["foreign"] + counts["unreadable"]:
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
        used = tokens_used(new.values())
        models = dict.fromkeys(answer.model for answer in answers.values() if answer.model)
        return BatchRow(
            file=path,
            lines=counts["lines"],
            kept=len(new),
            known=counts["known"] + len(there),
            refused=sum(answer.refused for answer in new.values()),
            rejected=counts["rejected"],
            failed=counts["failed"],
            unreadable=counts["unreadable"],
            foreign=counts["foreign"],
            models=", ".join(models),
            read=used.read,
            written=used.written,
            why=reasons.most_common(1)[0][0] if reasons else "",
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


def _missing(store: Cache, path: str) -> MissingRow:
    """How many requests of a file have no answer."""
    places = [
        places
        for line in _lines(path)
        if line is not None and (places := places_of(line.get("custom_id"))) is not None
    ]
    if not places:
        raise FormatError(
            "holds no request that gnomon wrote; give the file of --batch-write", path=path
        )
    there = store.get_many([key for _, key in places])
    return MissingRow(
        file=path, requests=len(places), missing=sum(key not in there for _, key in places)
    )
