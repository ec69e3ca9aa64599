"""Work in processes of their own, which end with the server, if not before."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import msgspec

from gnomon.core.processes import end_with, leash

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

__all__ = ["Background", "begin_work"]


class Background:
    """The processes of one kind of work: one at a time for each key.

    Args:
        module: whose function they run.
        function: its name; it calls :func:`begin_work` first.
    """

    def __init__(self, module: str, function: str = "main") -> None:
        self.processes: dict[Hashable, subprocess.Popen[bytes]] = {}
        self._code = f"from {module} import {function}; {function}()"
        self._lock = threading.Lock()

    def runs(self, key: Hashable) -> bool:
        """Whether this is being worked on."""
        with self._lock:
            return self._runs(key)

    def ran(self, key: Hashable) -> bool:
        """Whether this was worked on since the server runs."""
        return key in self.processes

    def _runs(self, key: Hashable) -> bool:
        process = self.processes.get(key)
        return process is not None and process.poll() is None

    def start(self, key: Hashable, given: Mapping[str, object]) -> bool:
        """Work on this, unless it is being worked on; whether it was begun now."""
        with self._lock:
            if self._runs(key):
                return False
            parent, lasting = leash()
            work = msgspec.json.encode({**given, "parent": parent, "lasting": lasting}).decode()
            self.processes[key] = subprocess.Popen(  # noqa: S603  # this interpreter, gnomon's own code
                [sys.executable, "-c", self._code, work],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            return True

    def stop(self, key: Hashable) -> None:
        """End work on this, and wait until it has ended."""
        with self._lock:
            process = self.processes.pop(key, None)
        if process is not None:
            process.kill()
            process.wait()


def begin_work(niceness: int = 0) -> dict[str, Any]:
    """What this process was given to work on; it ends with the server, and its files are ours."""
    given: dict[str, Any] = msgspec.json.decode(sys.argv[1])
    end_with(given["parent"], given["lasting"])
    if sys.platform != "win32":
        os.nice(niceness)
    os.umask(0o077)
    return given
