"""The lock of a store elsewhere: a file that names who writes, renewed as long as it does."""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from gnomon.errors import DataError, OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["LOCK", "RemoteLock"]

LOCK = "lock.json"
#: a lock that nobody renewed for so many seconds is left over
_STALE = 900.0
#: how often it is renewed in that time, however long a task takes
_RENEWALS = 6


@dataclass
class RemoteLock:
    """Who writes to a place elsewhere.

    Attributes:
        url: of the place.
        read: what the file there holds; nothing where there is none.
        write: puts it there.
        remove: takes it away.
    """

    url: str
    read: Callable[[], bytes]
    write: Callable[[bytes], None]
    remove: Callable[[], None]
    _token: str = field(default="", repr=False)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Say that this process writes, as long as it does.

        Where two begin at the same moment, one of them finds out when it writes.

        Raises:
            DataError: another process said so not long ago.
        """
        holder = self._holder()
        if holder and not _left_over(holder):
            raise DataError(
                f"{_named(holder)} is running a study into {self.url}; wait for it, or delete"
                f" {self.url}/{LOCK} if it is no more"
            )
        self._token = secrets.token_hex(8)
        self._claim()
        ended = Event()
        renewing = Thread(target=self._renew, args=(ended,), daemon=True)
        renewing.start()
        try:
            yield
        finally:
            ended.set()
            renewing.join()
            with suppress(DataError, OSError):
                if self._own():
                    self.remove()
            self._token = ""

    def check(self) -> None:
        """Do not write where another process took the lock of this one.

        Raises:
            OutputError: it did.
        """
        if self._token and not self._own():
            raise OutputError(
                f"{_named(self._holder())} took the lock of {self.url} from this process, which"
                " therefore writes no more; results that the manifest there does not name are"
                " lost: run the study again when nobody else does"
            )

    def _renew(self, ended: Event) -> None:
        while not ended.wait(_STALE / _RENEWALS):
            with suppress(DataError, OSError):  # the next time may go better
                if self._own():
                    self._claim()

    def _own(self) -> bool:
        return self._holder().get("token") == self._token

    def _claim(self) -> None:
        said = {"pid": os.getpid(), "host": socket.gethostname(), "time": time.time()}
        self.write(json.dumps({**said, "token": self._token}).encode())

    def _holder(self) -> dict[str, Any]:  # what JSON holds
        try:
            return dict(json.loads(self.read()))
        except (ValueError, TypeError):
            return {}


def _named(holder: dict[str, Any]) -> str:  # what JSON holds
    return f"process {holder.get('pid')} on {holder.get('host')}" if holder else "somebody"


def _left_over(holder: dict[str, Any]) -> bool:  # what JSON holds
    """Whether a lock is old, this process's own, or of one on this machine that is no more."""
    if time.time() - float(holder.get("time", 0.0)) > _STALE:
        return True
    here = holder.get("host") == socket.gethostname()
    return here and not _is_another(int(holder.get("pid", 0)))


def _is_another(process: int) -> bool:
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is there, and not ours
        return True
    return True
