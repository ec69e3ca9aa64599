"""Servers of judges: address, key, and permission to send texts."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import urllib.parse
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.core.errors import UsageError
from gnomon.messages.audiences import Named

if TYPE_CHECKING:
    from collections.abc import Iterator

#: set to 1: texts may be sent to servers on other machines
CONSENT = "GNOMON_ALLOW_NETWORK"
#: the key of any server; ``GNOMON_JUDGE_KEY_API_EXAMPLE_ORG`` is that of api.example.org alone
KEY = "GNOMON_JUDGE_KEY"
#: keys that other tools name, by the host that they belong to
_OF_HOSTS = {"api.openai.com": "OPENAI_API_KEY"}
_HIDDEN = "(key)"
_SHORTEST = 12  # characters of a key; shorter ones occur in any text


@dataclass(frozen=True)
class Endpoint:
    """The base address of a server that speaks the chat-completions protocol.

    Attributes:
        url: ``http://localhost:8000/v1``, without a slash at its end.

    Raises:
        UsageError: it is no address of HTTP or HTTPS, or holds a user name, a password or a query:
            addresses stand in signatures and files, where no key belongs.
    """

    url: str

    def __post_init__(self) -> None:
        try:
            parts = urllib.parse.urlsplit(self.url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            host = None
        if (
            not host
            or parts.scheme not in ("http", "https")
            or re.search(r"[\s\x00-\x1f]", self.url)
        ):
            raise UsageError(
                f"endpoint must be the base address of a server, as 'http://localhost:8000/v1';"
                f" got {self.url.rpartition('@')[2]!r}"
            )
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise UsageError(
                f"the endpoint on {host} holds a user name, a password or a query; addresses are"
                f" written into results, so give the bare one, and a key by the environment"
                f" ({KEY}=...)"
            )
        object.__setattr__(self, "url", self.url.rstrip("/"))

    @property
    def host(self) -> str:
        """Name or number of the server's machine."""
        return str(urllib.parse.urlsplit(self.url).hostname)

    @property
    def local(self) -> bool:
        """True if the server runs on this machine, so that texts do not leave it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def check_consent(self) -> None:
        """Refuse to send texts to another machine unless that was allowed.

        Raises:
            UsageError: it was not, or a key would travel unencrypted.
        """
        if self.local:
            return
        if os.environ.get(CONSENT, "") in ("", "0"):
            raise UsageError(
                f"texts would be sent to {self.host}, which is another machine, and answers may"
                " cost money; if that is wanted, allow it (",
                Named("--allow-network", "gnomon.judges.network_allowed()"),
                "), or ask a server on this machine (endpoint='http://localhost:8000/v1')",
            )
        if self.url.startswith("http:") and self._key():
            raise UsageError(
                f"the key for {self.host} would travel unencrypted; give an endpoint that begins"
                " with https://"
            )

    def headers(self) -> dict[str, str]:
        """Headers that authorise a request; the key is read from the environment and kept nowhere.

        Raises:
            UsageError: the key holds signs that no key holds (the message does not show it).
        """
        key = self._key()
        if not key:
            return {}
        if not re.fullmatch(r"[\x21-\x7e]+", key):
            raise UsageError(
                f"the key for {self.host} holds spaces, line ends or other signs that no key holds;"
                f" look at {self.key_names[0]} and {self.key_names[-1]} in the environment"
            )
        return {"Authorization": f"Bearer {key}"}

    @property
    def key_names(self) -> tuple[str, ...]:
        """Variables of the environment that may hold the key, the first that is set counts."""
        of_host = f"{KEY}_{re.sub('[^A-Z0-9]', '_', self.host.upper())}"
        other = _OF_HOSTS.get(self.host)
        return tuple(variable for variable in (of_host, other, KEY) if variable)

    def hide_key(self, text: str) -> str:
        """A text of the server's in which the key does not stand, should it repeat it."""
        key = self._key()
        if len(key) < _SHORTEST:
            return text
        try:  # JSON may write a sign of the key in another way
            plain = json.dumps(json.loads(text), ensure_ascii=False)
        except (ValueError, RecursionError):
            plain = text
        return plain.replace(key, _HIDDEN) if key in plain else text.replace(key, _HIDDEN)

    def holds_key(self, text: str) -> bool:
        """True if the key stands in a text."""
        key = self._key()
        return len(key) >= _SHORTEST and key in text

    def _key(self) -> str:
        keys = (os.environ.get(name, "").strip() for name in self.key_names)
        return next((key for key in keys if key), "")


@contextmanager
def network_allowed() -> Iterator[None]:
    """Let texts be sent to servers on other machines, of this process and those that it starts.

    >>> with network_allowed():
    ...     Endpoint("https://example.org/v1").check_consent()
    """
    before = os.environ.get(CONSENT)
    os.environ[CONSENT] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[CONSENT]
        else:
            os.environ[CONSENT] = before
