"""Permissions of the owner, of people with tokens, and of readers of a link to one comparison.

Tokens and links are random, shown once, and kept as hashes. A browser exchanges one for a cookie
that this server signed; what the cookie names is looked up at each request, so that revoking works
at once.
"""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import hashlib
import hmac
import secrets
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import msgspec

from gnomon.core.errors import DataError
from gnomon.serve._link_guard import refuse_link
from gnomon.serve.comparison import locked, write_record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["OWNER", "Access", "EntryToken", "Link", "Role", "User"]

#: from the least to the most
Role: TypeAlias = Literal["reader", "author", "owner"]
_ROLES: tuple[Role, ...] = ("reader", "author", "owner")
#: of who starts the server
OWNER = "owner"
_SESSION = dt.timedelta(days=30)
_ONCE = 60.0  # seconds
_FILE = "access.json"


class ServedStudy(Protocol):
    """A comparison, or a store that is only shown."""

    @property
    def id(self) -> str: ...  # of its address


class EntryToken(msgspec.Struct, frozen=True):
    """A named way in.

    Attributes:
        id: names it in cookies and addresses; says nothing of the token itself.
        name: who it is for.
        role: what they may do.
        hash: of the token.
        made: when, in UTC.
    """

    id: str
    name: str
    role: Role
    hash: str
    made: str


class Link(msgspec.Struct, frozen=True):
    """Leave to read one comparison.

    Attributes:
        id: names it in cookies and addresses; says nothing of the link itself.
        study: the comparison.
        hash: of the link.
        made: when, in UTC.
        until: the last day, in UTC, as 2026-12-31; None for no end.
        texts: whether its readers see texts, or scores and verdicts alone.
        note: whom it was made for.
    """

    id: str
    study: str
    hash: str
    made: str
    until: str | None = None
    texts: bool = True
    note: str = ""

    def ended(self, today: dt.date | None = None) -> bool:
        """True if its last day is over."""
        day = today or dt.datetime.now(dt.UTC).date()
        return self.until is not None and day > dt.date.fromisoformat(self.until)


class _AccessRecords(msgspec.Struct):
    """The contents of the file."""

    key: str  # signs cookies
    tokens: list[EntryToken] = []
    links: list[Link] = []
    open: list[str] = []  # comparisons that everybody with a token may read


class _SignedSession(msgspec.Struct):
    """The contents of a cookie."""

    kind: Literal["token", "link"]
    id: str
    until: int


@dataclass(frozen=True)
class User:
    """Who asks.

    Attributes:
        id: to whom comparisons belong; the same at each visit.
        name: what pages call them.
        role: what they may do.
        link: of readers of one comparison, the link that they came by.
    """

    id: str
    name: str
    role: Role
    link: Link | None = None

    @property
    def texts(self) -> bool:
        """True if they may see texts."""
        return self.link is None or self.link.texts

    def is_at_least(self, role: Role) -> bool:
        """True if they may do what this role may."""
        return _ROLES.index(self.role) >= _ROLES.index(role)


class Access:
    """Tokens, links and sessions of one server.

    Args:
        folder: of the workspace; None keeps all in memory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._file = folder / _FILE if folder else None
        if self._file:
            refuse_link(self._file)
            refuse_link(self._file.with_suffix(".lock"))
        self._lock = threading.Lock()
        self._launch = ""
        self._once: dict[str, float] = {}
        self._kept = _AccessRecords(key=secrets.token_hex(32))
        if self._file and not self._file.exists():
            with self._changing():
                pass

    # what is kept

    def records(self) -> _AccessRecords:
        """The file's current records; another process may have changed it."""
        if self._file is None:
            return self._kept
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_AccessRecords)
        except FileNotFoundError:
            return self._kept
        except (ValueError, OSError, RecursionError) as error:
            raise DataError(
                f"{self._file} is damaged: nobody can be let in; delete it, and make tokens"
                " and links anew"
            ) from error

    @contextlib.contextmanager
    def _changing(self) -> Iterator[_AccessRecords]:
        """Lend the records for a change: written when the block ends, one process at a time."""
        if self._file is None:
            with self._lock:
                yield self._kept
            return
        with locked(self._file.with_suffix(".lock"), wait=True):
            kept = self.records()
            yield kept
            write_record(self._file, kept)

    # tokens

    def launch_token(self) -> str:
        """The token of whoever starts the server: new at each start, and kept nowhere."""
        token = secrets.token_urlsafe(24)
        self._launch = _hash(token)
        return token

    def create_code(self) -> str:
        """Make a code that lets the owner's browser in once, within a minute: others may see it."""
        code = secrets.token_urlsafe(24)
        self._once[_hash(code)] = time.monotonic() + _ONCE
        return code

    def add_token(self, name: str, role: Role) -> tuple[EntryToken, str]:
        """Let somebody in.

        Args:
            name: who it is for.
            role: what they may do: "reader", "author" or "owner".

        Returns:
            What is kept of the token, and the token itself, which nobody can read again.
        """
        token = secrets.token_urlsafe(24)
        made = EntryToken(secrets.token_hex(8), name, role, _hash(token), _now())
        with self._changing() as kept:
            kept.tokens.append(made)
        return made, token

    def revoke_token(self, id: str) -> bool:  # noqa: A002  # as it is called everywhere
        """Take a token back, and the sessions that it opened; whether there was one."""
        with self._changing() as kept:
            before = len(kept.tokens)
            kept.tokens = [token for token in kept.tokens if token.id != id]
            return len(kept.tokens) < before

    def tokens(self) -> list[EntryToken]:
        """All that are not revoked."""
        return list(self.records().tokens)

    # links

    def add_link(
        self,
        study: str,
        *,
        until: dt.date | None = None,
        texts: bool = True,
        note: str = "",
    ) -> tuple[Link, str]:
        """Let whoever has a link read one comparison.

        Args:
            study: ID of the comparison.
            until: the last day, in UTC; None for no end.
            texts: whether its readers see texts, or scores and verdicts alone.
            note: whom it is for.

        Returns:
            What is kept of the link, and its secret, which nobody can read again.
        """
        secret = secrets.token_urlsafe(24)
        end = until.isoformat() if until else None
        made = Link(secrets.token_hex(8), study, _hash(secret), _now(), end, texts, note)
        with self._changing() as kept:
            kept.links.append(made)
        return made, secret

    def revoke_link(self, study: str, id: str) -> bool:  # noqa: A002  # as it is called everywhere
        """Take the link of this ID to a comparison back; whether there was one."""
        with self._changing() as kept:
            before = len(kept.links)
            kept.links = [x for x in kept.links if (x.study, x.id) != (study, id)]
            return len(kept.links) < before

    def links(self, study: str) -> list[Link]:
        """Links to a comparison that are not revoked."""
        return [link for link in self.records().links if link.study == study]

    def link(self, secret: str) -> Link | None:
        """The link with this secret, where it still opens."""
        digest = _hash(secret)
        open_links = (link for link in self.records().links if not link.ended())
        return next((x for x in open_links if hmac.compare_digest(x.hash, digest)), None)

    # comparisons that are open to all with a token

    def set_open(self, study: str, *, open: bool) -> None:  # noqa: A002  # what the field is called
        """Let everybody with a token read a comparison, or no longer."""
        with self._changing() as kept:
            kept.open = [each for each in kept.open if each != study] + [study] * open

    def is_open(self, study: str) -> bool:
        """True if everybody with a token may read a comparison."""
        return study in self.records().open

    def forget(self, study: str) -> None:
        """A comparison is deleted: nothing of it stays."""
        with self._changing() as kept:
            kept.links = [link for link in kept.links if link.study != study]
            kept.open = [each for each in kept.open if each != study]

    def rights(self, user: User, study: ServedStudy) -> Literal["read", "change"] | None:
        """A person's rights to a comparison, or to a store that is only shown.

        A link opens its comparison alone. The owner of the server may change all comparisons, an
        author those of their own; everybody with a token reads what was opened to them.
        """
        fixed = bool(getattr(study, "fixed", False))
        if user.link is not None:
            return "read" if user.link.study == study.id else None
        if not fixed and (user.role == "owner" or user.id == owner_of(study) != ""):
            return "change"
        return "read" if fixed or self.is_open(study.id) else None

    def name_of(self, owner: str) -> str:
        """Name of the person to whom a comparison belongs."""
        names = {token.id: token.name for token in self.records().tokens}
        return "the owner" if owner == OWNER else names.get(owner, "somebody")

    # sessions

    def user_of_token(self, token: str) -> User | None:
        """Who has this token, as a program does."""
        found = self._token(token)
        return _person(found) if found else None

    def session_for(self, token: str) -> str | None:
        """Cookie for a token, or None where there is no such token."""
        found = self._token(token)
        return self._signed("token", found.id) if found else None

    def session_of_link(self, link: Link) -> str:
        """Cookie for a link."""
        return self._signed("link", link.id)

    def user_of_session(self, cookie: str) -> User | None:
        """Who has this cookie, as long as what it was given for holds."""
        session = self._opened(cookie)
        if session is None:
            return None
        if session.kind == "link":
            open_links = (link for link in self.records().links if not link.ended())
            link = next((link for link in open_links if link.id == session.id), None)
            return User(f"link-{link.id}", "a reader", "reader", link) if link else None
        tokens = (_OF_OWNER, *self.records().tokens)
        return next((_person(token) for token in tokens if token.id == session.id), None)

    def sign(self, text: str) -> str:
        """Signature of a text, which only this server can have written."""
        key = bytes.fromhex(self.records().key)
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()

    def _token(self, token: str) -> EntryToken | None:
        digest = _hash(token)
        once = self._once.pop(digest, 0.0) > time.monotonic()
        if once or (self._launch and hmac.compare_digest(self._launch, digest)):
            return _OF_OWNER
        same = (t for t in self.records().tokens if hmac.compare_digest(t.hash, digest))
        return next(same, None)

    def _signed(self, kind: Literal["token", "link"], id: str) -> str:  # noqa: A002  # as everywhere
        until = int((dt.datetime.now(dt.UTC) + _SESSION).timestamp())
        session = _SignedSession(kind, id, until)
        said = base64.urlsafe_b64encode(msgspec.json.encode(session)).decode().rstrip("=")
        return f"{said}.{self.sign(f'session {said}')}"

    def _opened(self, cookie: str) -> _SignedSession | None:
        said, _, signature = cookie.partition(".")
        if not hmac.compare_digest(signature.encode(), self.sign(f"session {said}").encode()):
            return None
        data = base64.urlsafe_b64decode(said + "=" * (-len(said) % 4))
        session = msgspec.json.decode(data, type=_SignedSession)
        return session if session.until > dt.datetime.now(dt.UTC).timestamp() else None


#: of whoever starts the server
_OF_OWNER = EntryToken(OWNER, "you", "owner", "", "")


def _person(token: EntryToken) -> User:
    return User(token.id, token.name, token.role)


def owner_of(study: ServedStudy) -> str:
    """To whom a comparison belongs; "" of a store that is only shown."""
    about = getattr(study, "about", None)
    return str(about.owner) if about is not None else ""


def _hash(secret: str) -> str:
    """Of 192 random bits: no salt, and no slow hash, is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
