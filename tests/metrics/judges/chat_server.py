"""A server of chat completions on this machine, which can be made to fail in every way."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: what a request is, to the function that answers: its body
Reply = Callable[[dict[str, Any]], str | None]

#: what is no answer, whatever its status says
_PAGES = {
    "html": b"<html>busy</html>",
    "error": b'{"error": {"message": "the model is being loaded"}}',
}
#: what a server begins with, and then sends again and again
_ENDLESS = {
    "slow": (b"", b""),
    "headers": (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x"),
    "early": (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" "),
}


@dataclass
class Chat:
    """What is answered, what goes wrong, and what was asked.

    Attributes:
        reply: the text of an answer; None: the model refuses.
        faults: done first, once for each entry: a status, or "slow", "cut" (JSON), "html", "drop",
            "broken" (the connection ends within an answer), "error" (one with the status 200);
            "headers" (a byte of a header now and then), "early" (answers of the status 103), "body"
            (a byte of the answer now and then), without an end.
        dies_after: so many answers are given, then what ``dies_by`` says; None: it lives.
        dies_by: "drop" (connections are closed), or a status.
        apart: seconds between answers; what comes sooner is too soon (429).
        structured: it takes JSON schemas.
        headers: sent with errors.
        error: body of an error.
        finish: why answers end.
        served: what the model is called.
        fingerprint: of the system.
        key: the key that it wants; None: any or none.
        usage: tokens of a question and of an answer that it counts; None: it tells none.
        bodies: the requests, as they came.
        widest: most requests that were under way at once.
        given: how often each question was answered in full.
        keys: Authorization headers, as they came.
    """

    reply: Reply = lambda _: '{"score": 50}'
    problems: list[int | str] = field(default_factory=list)
    dies_after: int | None = None
    dies_by: int | str = "drop"
    apart: float = 0.0
    structured: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] = field(default_factory=dict)
    finish: str = "stop"
    served: str = "fake-1"
    fingerprint: str = "fp_1"
    key: str | None = None
    usage: tuple[int, int] | None = None
    bodies: list[dict[str, Any]] = field(default_factory=list)
    under_way: int = 0
    widest: int = 0
    given: Counter[str] = field(default_factory=Counter)
    keys: list[str | None] = field(default_factory=list)
    url: str = ""
    next_at: float = 0.0
    ended: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def answered(self) -> int:
        """Answers that were given, without that to the first question of all."""
        first = "test of the connection"
        with self.lock:
            return sum(n for question, n in self.given.items() if first not in question)

    @property
    def most(self) -> int:
        """How often one question was answered at most."""
        with self.lock:
            return max(self.given.values(), default=0)


class _Handler(BaseHTTPRequestHandler):
    chat: Chat
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet per answer: small ones apart wait for each other
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        chat = self.chat
        with chat.lock:
            chat.under_way += 1
            chat.widest = max(chat.widest, chat.under_way)
            self.is_under_way = True
        try:
            self._serve(chat)
        finally:
            self._end()

    def _end(self) -> None:
        """Count the request no more: what is answered may be followed by the next one at once."""
        with self.chat.lock:
            self.chat.under_way -= self.is_under_way
            self.is_under_way = False

    def _serve(self, chat: Chat) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with chat.lock:
            chat.bodies.append(body)
            chat.keys.append(self.headers.get("Authorization"))
            fault = chat.problems.pop(0) if chat.problems else None
            if chat.dies_after is not None and sum(chat.given.values()) >= chat.dies_after:
                fault = chat.dies_by
            if fault is None and time.monotonic() < chat.next_at:
                fault = 429
            elif fault is None:
                chat.next_at = time.monotonic() + chat.apart
        if chat.key is not None and self.headers.get("Authorization") != f"Bearer {chat.key}":
            self._send(401, {"error": {"message": f"bad key {self.headers['Authorization']}"}})
        elif fault == "drop":
            self.close_connection = True
        elif isinstance(fault, int):
            self._send(fault, chat.error or {"error": {"message": f"made to fail: {fault}"}})
        elif fault in _PAGES:
            self._write(200, _PAGES[fault])
        elif fault in _ENDLESS:
            self._drip(*_ENDLESS[fault])
        elif "response_format" in body and not chat.structured:
            self._send(400, {"error": {"message": "response_format is not supported"}})
        else:
            self._answer(body, fault)

    def _answer(self, body: dict[str, Any], fault: str | None) -> None:
        chat = self.chat
        question = str(body["messages"][-1]["content"])
        said = "{}" if "test of the connection" in question else chat.reply(body)
        message = {"role": "assistant", "content": said}
        if said is None:
            message["refusal"] = "I cannot judge that."
        completion = {
            "model": chat.served,
            "system_fingerprint": chat.fingerprint,
            "choices": [{"index": 0, "message": message, "finish_reason": chat.finish}],
        }
        if chat.usage is not None:
            read, written = chat.usage
            counted = {"prompt_tokens": read, "completion_tokens": written}
            completion["usage"] = {**counted, "total_tokens": read + written}
        whole = json.dumps(completion).encode()
        if fault == "cut":
            self._write(200, whole[: len(whole) // 2])
            return
        if fault == "broken":
            self._write(200, whole[: len(whole) // 2], length=len(whole))
            self.close_connection = True
            return
        with chat.lock:
            chat.given[json.dumps({k: v for k, v in body.items() if k != "model"})] += 1
        self._write(200, whole)

    def _drip(self, begun: bytes, more: bytes) -> None:
        """Send a little at a time, until the client goes away."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.wfile.write(begun)
            while not self.chat.ended.wait(0.02):
                self.wfile.write(more)
                self.wfile.flush()

    def _send(self, status: int, body: dict[str, Any]) -> None:
        self._write(status, json.dumps(body).encode())

    def _write(self, status: int, data: bytes, length: int | None = None) -> None:
        self._end()
        with contextlib.suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Length", str(length or len(data)))
            if status != 200:
                for name, value in self.chat.headers.items():
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        """A client that goes away is no fault."""


@contextlib.contextmanager
def serving(chat: Chat) -> Iterator[Chat]:
    """The server at work; ``chat.url`` is its endpoint."""
    handler = type("Handler", (_Handler,), {"chat": chat})
    server = _Server(("127.0.0.1", 0), handler)
    chat.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield chat
    finally:
        chat.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
