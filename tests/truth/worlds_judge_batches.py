"""Worlds of batches: all answered, some not, errors, lines of others."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.metrics.judges.chat_server import Chat
from tests.metrics.judges.test_metric import numbers, sets, spec
from tests.metrics.judges.test_requests import answered, read, write
from tests.truth.worlds import world

import gnomon as gn

if TYPE_CHECKING:
    from collections.abc import Callable

    from gnomon.core.findings import Finding


def batch(
    change: Callable[[list[dict]], object] = lambda _: None, *, name: str, requests: bool = True
) -> Finding:
    """What is said of the results of eight requests, after a change."""
    chat = Chat(url="http://127.0.0.1:9/v1")
    with gn.judges.planned_requests() as plan, TemporaryDirectory() as folder:
        gn.score(sets(s=[f"{name} {n}" for n in range(8)]), spec(chat))
        path = Path(folder) / "requests.jsonl"
        plan.write_batches(path)
        results = answered(read(path), numbers)
        change(results)
        file = write(Path(folder) / "results.jsonl", results)
        return gn.judges.read_batch([file], requests=[str(path)] if requests else [])


@world(
    "a batch in which every request is answered",
    says=["judges.read_batch.all"],
    silent=["judges.*"],
)
def all_answered() -> Finding:
    return batch(name="all")


@world(
    "a batch of which the requests are not at hand",
    says=["judges.read_batch.kept"],
    silent=["judges.*"],
)
def requests_elsewhere() -> Finding:
    return batch(name="elsewhere", requests=False)


@world(
    "a batch that lost two lines",
    says=["judges.read_batch.missing"],
    silent=["judges.*"],
)
def lines_lost() -> Finding:
    def lose(results: list[dict]) -> None:
        del results[2:4]

    return batch(lose, name="lost")


@world(
    "a batch in which a request expired",
    says=["judges.read_batch.missing", "judges.read_batch.failed"],
    silent=["judges.*"],
)
def expired() -> Finding:
    def expire(results: list[dict]) -> None:
        error = {"code": "batch_expired", "message": "too late"}
        results[0] |= {"response": None, "error": error}

    return batch(expire, name="expired")


@world(
    "a batch with a line that another program wrote",
    says=["judges.read_batch.all", "judges.read_batch.unreadable"],
    silent=["judges.*"],
)
def with_others() -> Finding:
    return batch(lambda results: results.append({"custom_id": "row-1"}), name="others")


@world(
    "a batch of a server that takes no schemas",
    says=["judges.read_batch.missing", "judges.read_batch.failed", "judges.read_batch.schema"],
    silent=["judges.*"],
)
def no_schemas() -> Finding:
    def refuse(results: list[dict]) -> None:
        error = {"error": {"message": "response_format is not supported"}}
        for result in results:
            result["response"] = {"status_code": 400, "body": error}

    return batch(refuse, name="schemas")
