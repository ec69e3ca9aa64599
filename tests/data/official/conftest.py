"""A web server on this machine, which can be made to fail."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@dataclass
class Site:
    """What is served, what goes wrong, and what was asked for.

    Attributes:
        files: path -> bytes.
        cuts: after so many bytes the connection ends, once for each entry.
        statuses: answered first, once for each entry.
        redirects: path -> address.
        stall: seconds to wait before an answer, at most until the test ends.
        asked: method, path and Range header of every request.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    cuts: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    redirects: dict[str, str] = field(default_factory=dict)
    stall: float = 0.0
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    url: str = ""
    ended: threading.Event = field(default_factory=threading.Event)


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        site = self.site
        site.asked.append((self.path, self.headers.get("Range")))
        site.ended.wait(site.stall)
        path = re.sub(r"^http://[^/]+", "", self.path)  # as a proxy is asked
        if path in site.redirects:
            self.send_response(302)
            self.send_header("Location", site.redirects[path])
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif site.statuses:
            self.send_error(site.statuses.pop(0))
        elif path not in site.files:
            self.send_error(404)
        else:
            self._send(site.files[path])

    def _send(self, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        body = data[: self.site.cuts.pop(0)] if self.site.cuts else data
        with contextlib.suppress(ConnectionError):  # who asked may be gone
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server of its own for each test; no proxy stands between."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    found = Site()
    handler = type("Handler", (_Handler,), {"site": found})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    found.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        found.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()
