"""Connections: those that ask for nothing take no place of others, and plain HTTP is refused."""

from __future__ import annotations

import ssl
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

__all__ = ["PatientHttp", "certified"]

#: seconds that a connection may take to say what it asks for, and that it may rest
_PATIENCE = 20.0
#: connections at once; of more, the one that has rested longest makes way
_MOST = 300


# uvicorn chooses the class that this one is made of when it is imported
class PatientHttp(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
    """HTTP of uvicorn, with an end for what says nothing, or says it a byte at a time."""

    rests_since = 0.0
    _look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to look at it; make room where there is none."""
        super().connection_made(transport)
        self.rests_since = self.loop.time()
        self._look = self.loop.call_later(_PATIENCE, self._end_if_it_rests)
        if len(self.connections) > _MOST:
            resting = (other for other in self.connections if other.rests)
            longest = min(resting, key=lambda other: other.rests_since, default=None)
            if longest is not None:
                longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no more."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """It rests from now on."""
        self.rests_since = self.loop.time()
        super().on_response_complete()

    @property
    def rests(self) -> bool:
        """Whether nothing is being answered: what it asks for is not said yet, or was answered."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def _end_if_it_rests(self) -> None:
        left = self.rests_since + _PATIENCE - self.loop.time() if self.rests else _PATIENCE
        if left <= 0:
            self.transport.abort()
        else:
            self._look = self.loop.call_later(left, self._end_if_it_rests)


def certified(certificate: Path, key: Path, address: str) -> ssl.SSLContext:
    """What encrypts connections, and answers those that are not encrypted with a sentence."""
    context = _Context(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    said = f"This server answers encrypted connections alone. Open {address}\n".encode()
    head = (
        f"HTTP/1.1 {HTTPStatus.BAD_REQUEST:d} Bad Request\r\n"
        "content-type: text/plain; charset=utf-8\r\ncache-control: no-store\r\n"
        f"connection: close\r\ncontent-length: {len(said)}\r\n\r\n"
    )
    context.refusal = head.encode() + said
    return context


class _Handshake(ssl.SSLObject):
    """The beginning of a connection."""

    refusal = b""
    outgoing: ssl.MemoryBIO

    def do_handshake(self) -> None:
        """Go on, or answer what is plain HTTP."""
        try:
            super().do_handshake()
        except ssl.SSLError as error:
            if error.reason != "HTTP_REQUEST" or not self.refusal:
                raise
            self.outgoing.write(self.refusal)
            self.refusal = b""
            raise ssl.SSLWantReadError from error  # the answer is sent then; the sender hangs up


class _Context(ssl.SSLContext):
    sslobject_class = _Handshake
    refusal = b""

    def wrap_bio(self, incoming: Any, outgoing: Any, *given: Any, **named: Any) -> Any:
        """Encrypt a connection whose bytes are in memory."""
        begun = super().wrap_bio(incoming, outgoing, *given, **named)
        assert isinstance(begun, _Handshake)  # noqa: S101  # its class is named above
        begun.outgoing, begun.refusal = outgoing, self.refusal
        return begun
