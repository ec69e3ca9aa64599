"""Progress of comparisons: a table in SQLite with a row for each of their methods."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import msgspec

from gnomon.core.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Job", "JobState", "JobTable", "StepState"]

JobState = Literal["queued", "running", "done", "refused", "failed", "cancelled"]


class StepState(msgspec.Struct):
    """Progress of one method: a row of the table, behind its comparison and its place there.

    Attributes:
        method: its name.
        owner: whose turn it takes.
        queued: when it was put into the queue, UTC.
        state: how far it is.
        started: when it began, UTC.
        finished: when it ended, UTC.
        pid: of its process.
        deaths: how many times its process ended before it.
        stage: what it does now, and ``done`` of ``total`` of it.
        said: why it was refused, or failed.
        remedy: a way on.
    """

    method: str
    owner: str = ""
    queued: str = ""
    state: JobState = "queued"
    started: str | None = None
    finished: str | None = None
    pid: int | None = None
    deaths: int = 0
    stage: str = ""
    done: int = 0
    total: int = 0
    said: str = ""
    remedy: str = ""

    @property
    def is_open(self) -> bool:
        """True if it waits or runs."""
        return self.state in ("queued", "running")


@dataclass
class Job:
    """Progress of a comparison: its methods, in the order in which they run."""

    steps: list[StepState] = field(default_factory=list)

    @property
    def state(self) -> JobState:
        """Of all of it: "done" where any of its steps is and none is open, "failed" without any."""
        states = [step.state for step in self.steps]
        order: tuple[JobState, ...] = (
            "running", "queued", "done", "failed", "refused", "cancelled"
        )  # fmt: skip
        return next((state for state in order if state in states), "failed")

    @property
    def active(self) -> bool:
        """True if it waits or runs."""
        return any(step.is_open for step in self.steps)


_FIELDS = StepState.__struct_fields__
_COLUMNS = ", ".join(("study", "place", *_FIELDS))
_LAYOUT = f"create table if not exists jobs ({_COLUMNS}, primary key (study, place))"
_SELECT = "select * from jobs"
_ADD = f"insert into jobs values (?, ?{', ?' * len(_FIELDS)})"  # noqa: S608  # our own names
_SET = ", ".join(f"{name} = ?" for name in _FIELDS)
_CHANGE = f"update jobs set {_SET} where study = ? and place = ?"  # noqa: S608  # likewise


class JobTable:
    """The table, in a file that several threads and processes may ask at once.

    Args:
        file: made, for its owner alone, where there is none.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        with self._connection() as connection:
            connection.execute("pragma journal_mode = wal")
            connection.execute(_LAYOUT)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection for one transaction."""
        try:
            with closing(sqlite3.connect(self._file, timeout=60)) as connection, connection:
                connection.execute("pragma secure_delete = on")  # what is said may quote texts
                yield connection
        except sqlite3.OperationalError as error:  # a full disk, say
            raise OutputError(f"{self._file} cannot be read or written: {error}") from error
        except sqlite3.DatabaseError as error:  # torn, as copies of a running server may be
            raise OutputError(
                f"{self._file} is damaged: {error}; delete it, and all comparisons are looked"
                " through again"
            ) from error

    def jobs(self) -> dict[str, Job]:
        """All of them, by comparison."""
        found: dict[str, Job] = {}
        with self._connection() as connection:
            for study, _, *row in connection.execute(f"{_SELECT} order by study, place"):
                found.setdefault(study, Job()).steps.append(StepState(*row))
        return found

    def job(self, study: str) -> Job | None:
        """That of a comparison; None where it has none yet."""
        with self._connection() as connection:
            asked = connection.execute(f"{_SELECT} where study = ? order by place", [study])
            rows = asked.fetchall()
        return Job([StepState(*row[2:]) for row in rows]) if rows else None

    def replace(self, study: str, job: Job) -> None:
        """Put a job in place of the one that a comparison has."""
        rows = [(study, n, *msgspec.structs.astuple(step)) for n, step in enumerate(job.steps)]
        with self._connection() as connection:
            connection.execute("delete from jobs where study = ?", [study])
            connection.executemany(_ADD, rows)

    def forget(self, study: str) -> None:
        """Leave nothing of a comparison that is deleted: what it said may quote its texts."""
        with self._connection() as connection:
            connection.execute("delete from jobs where study = ?", [study])
        with self._connection() as connection:
            connection.execute("pragma wal_checkpoint(truncate)")

    def change(self, study: str, place: int, step: StepState) -> None:
        """Keep how far a step is; nothing where its comparison was deleted."""
        with self._connection() as connection:
            connection.execute(_CHANGE, [*msgspec.structs.astuple(step), study, place])
