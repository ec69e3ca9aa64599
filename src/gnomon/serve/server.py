"""Server process: its socket, the address shown, and its end."""

from __future__ import annotations

import errno
import os
import socket
import sys
import webbrowser
from typing import TYPE_CHECKING

from gnomon.core.errors import UsageError
from gnomon.messages.audiences import flag

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import uvicorn
    from starlette.applications import Starlette

__all__ = ["listen", "open_browser", "run_server"]

#: ports that are tried after the usual one
_NEXT = 10
#: seconds that a connection may rest after an answer
_RESTS = 20


def listen(host: str, port: int, *, exactly: bool) -> socket.socket:
    """A socket of this machine.

    Args:
        host: name or address to listen at.
        port: 0 takes any that is free.
        exactly: whether no other port will do.

    Raises:
        UsageError: the port is taken, or the host is none of this machine.
    """
    for wanted in [port] if exactly or not port else range(port, port + _NEXT):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        found = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, wanted))
            found.listen(128)
        except OSError as error:
            found.close()
            if error.errno == errno.EADDRINUSE:
                continue
            _refuse(host, wanted, error)
        return found
    raise UsageError(
        f"port {port} of {host} is taken, by another gnomon serve or another program; end that, or"
        " take any port that is free: gnomon serve --port 0"
    )


def _refuse(host: str, port: int, error: OSError) -> None:
    if isinstance(error, PermissionError):
        raise UsageError(
            f"port {port} may not be used by ordinary users; name one from 1024 up, as: ",
            flag("port", "8765"),
        ) from error
    raise UsageError(
        f"cannot listen at {host}, port {port}: {error.strerror or error}; ",
        flag("host"),
        " names an address of this machine, or 0.0.0.0 for all of them",
    ) from error


def open_browser(url: str) -> bool:
    """Open a page in the browser of this person; whether there is one with a window."""
    windows = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    try:
        return windows and webbrowser.open(url)
    except (OSError, webbrowser.Error):
        return False


def run_server(
    app: Starlette,
    listening: socket.socket,
    *,
    certificate: tuple[Path, Path] | None = None,
    ready: Callable[[], None] | None = None,
) -> None:
    """Answer requests until the process is asked to end.

    Args:
        app: of :func:`gnomon.serve.make_app`.
        listening: of :func:`listen`.
        certificate: files of the certificate and its key.
        ready: called when it answers.

    Raises:
        UsageError: the certificate cannot be used.
    """
    server_of(app, certificate=certificate, ready=ready).run([listening])


def server_of(
    app: Starlette,
    *,
    certificate: tuple[Path, Path] | None = None,
    ready: Callable[[], None] | None = None,
) -> uvicorn.Server:
    """The server of :func:`run_server`."""
    import uvicorn

    file, key = certificate or (None, None)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if ready is not None and self.started:
                ready()

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,  # addresses of links and of the way in hold secrets
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=_RESTS,
        timeout_graceful_shutdown=1,
        ssl_certfile=file,
        ssl_keyfile=key,
    )
    try:
        config.load()
    except OSError as error:  # of which ssl.SSLError is one
        raise UsageError(
            f"the certificate cannot be used: {error.strerror or error}; ",
            flag("certificate"),
            " and ",
            flag("key"),
            " name two PEM files that belong together",
        ) from error
    return Server(config)
