"""Checksums of fetched files: those that were given, and those recorded at the first fetch."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.errors import DataError, FormatError, UsageError
from gnomon.formats import atomic_write, read_lines
from gnomon.official._alone import alone

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "Expected",
    "Recorded",
    "digest",
    "record",
    "recorded",
    "require_sha256",
    "unverified",
    "verify",
]

_CHUNK = 1 << 20
_VERSION = 1
_LOCK = "lock.json"


@dataclass(frozen=True)
class Expected:
    """The checksums that a file must have, as far as they are known."""

    sha256: str | None = None
    md5: str | None = None


@dataclass(frozen=True)
class Recorded:
    """What ``lock.json`` says of a fetched file."""

    sha256: str
    bytes: int
    file: str


def require_sha256(text: str) -> str:
    """A SHA-256 in hexadecimal digits, in lower case.

    Raises:
        UsageError: it is none.
    """
    if not re.fullmatch(r"[0-9A-Fa-f]{64}", text):
        raise UsageError(f"{text!r} is no SHA-256: 64 hexadecimal digits are expected")
    return text.lower()


def digest(path: Path, kind: str = "sha256") -> str:
    """The checksum of a file, "sha256" or "md5", in hexadecimal digits."""
    found = hashlib.new(kind, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()


def verify(path: Path, expected: Expected, *, shown: str) -> str:
    """Check a file against what is expected of it.

    Args:
        path: the file.
        expected: its checksums; none of them: nothing is checked.
        shown: how to call it in the message.

    Returns:
        Its SHA-256.

    Raises:
        DataError: a checksum differs.
    """
    found = digest(path)
    if expected.sha256 is not None and found != expected.sha256:
        raise _differs(shown, "sha256", found, expected.sha256)
    if expected.md5 is not None and (md5 := digest(path, "md5")) != expected.md5:
        raise _differs(shown, "md5", md5, expected.md5)
    return found


def _differs(shown: str, kind: str, found: str, wanted: str) -> DataError:
    return DataError(
        f"{shown} has the {kind} {found}; {wanted} is expected: the file is damaged, was changed by"
        " its publisher, or is another one. Fetch it again, from elsewhere if need be (--from)"
    )


def unverified(path: Path, sha256: str) -> str:
    """What is said of a file that holds no checksum, and of which none was known."""
    return (
        f"{path} holds no checksum of its content, and none was given, so that damage inside its"
        f" texts cannot be seen; compare its SHA-256 with the publisher's: {sha256}"
    )


def recorded(folder: Path, url: str) -> Recorded | None:
    """What was recorded of an address, if anything.

    Raises:
        FormatError: ``lock.json`` is damaged.
    """
    entry = _read(folder).get(url)
    if entry is None:
        return None
    try:
        return Recorded(str(entry["sha256"]), int(str(entry["bytes"])), str(entry["file"]))
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(folder) from error


def record(folder: Path, url: str, path: Path, sha256: str) -> None:
    """Note the checksum of a file that was fetched, for the next time."""
    with alone(folder / _LOCK):
        entries = _read(folder)
        entries[url] = {"sha256": sha256, "bytes": path.stat().st_size, "file": path.name}
        content = {"version": _VERSION, "files": dict(sorted(entries.items()))}
        with atomic_write(folder / _LOCK) as file:
            file.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _read(folder: Path) -> dict[str, dict[str, object]]:
    file = folder / _LOCK
    if not file.exists():
        return {}
    try:
        content = json.loads("\n".join(read_lines(file)))
        entries = content["files"] if content["version"] == _VERSION else None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(folder) from error
    if not isinstance(entries, dict) or not all(isinstance(e, dict) for e in entries.values()):
        raise _damaged(folder)
    return entries


def _damaged(folder: Path) -> FormatError:
    return FormatError(
        f"is no record of checksums of version {_VERSION}; mend it, or delete it to record anew",
        path=folder / _LOCK,
    )
