"""A published file, from its address, a mirror, a file or a folder; always checked."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import urllib.parse
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError, FormatError, MissingFileError, UsageError
from gnomon.data.formats import atomic_write, read_lines
from gnomon.data.official.downloading import download, require_url
from gnomon.messages.audiences import Words, flag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.data.official.downloading import Progress

__all__ = [
    "Origin",
    "alone",
    "base_name",
    "digest",
    "find_given",
    "obtain",
    "require_sha256",
    "verify",
]


# One process at a time, by a lock that goes with the process.


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait until no other process works on a file or folder, and keep others waiting."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: what is written is whole all the same
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# Checksums of fetched files: those that were given, and those recorded at the first fetch.


_VERSION = 1
_LOCK = "lock.json"


def require_sha256(text: str) -> str:
    """A SHA-256 in hexadecimal digits, in lower case."""
    if not re.fullmatch(r"[0-9A-Fa-f]{64}", text):
        raise UsageError(f"{text!r} is no SHA-256: 64 hexadecimal digits are expected")
    return text.lower()


def digest(path: Path, kind: str = "sha256") -> str:
    """The checksum of a file, "sha256" or "md5", in hexadecimal digits."""
    new = partial(hashlib.new, kind, usedforsecurity=False)
    with path.open("rb") as file:
        return hashlib.file_digest(file, new).hexdigest()


def verify(path: Path, expected: str | None, kind: str = "sha256") -> str:
    """Check the checksum of a file, if that is known, and give it."""
    checksum = digest(path, kind)
    if expected is not None and checksum != expected:
        raise DataError(
            f"{path} has the {kind} {checksum}; {expected} is expected: the file is damaged, was"
            " changed by its publisher, or is another one. Fetch it again, from elsewhere if need"
            " be (--from)"
        )
    return checksum


def record(folder: Path, url: str, path: Path, sha256: str) -> None:
    """Note the checksum of a file that was fetched, for the next time."""
    with alone(folder / _LOCK):
        entries = _recorded(folder)
        entries[url] = {"sha256": sha256, "bytes": path.stat().st_size, "file": path.name}
        content = {"version": _VERSION, "files": dict(sorted(entries.items()))}
        with atomic_write(folder / _LOCK) as file:
            file.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _recorded(folder: Path) -> dict[str, dict[str, object]]:
    """Records of fetched files, by their address: "sha256", "bytes", "file"."""
    file = folder / _LOCK
    if not file.exists():
        return {}
    try:
        content = json.loads("\n".join(read_lines(file)))
        entries: dict[str, dict[str, object]] = content["files"]
        sums = [entry["sha256"] for entry in entries.values()]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damage(folder) from error
    if content["version"] != _VERSION or not all(sums):
        raise _damage(folder)
    return entries


def _damage(folder: Path) -> FormatError:
    return FormatError(
        f"is no record of checksums of version {_VERSION}; mend it, or delete it to record anew",
        path=folder / _LOCK,
    )


_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Origin:
    """Where files come from."""

    home: Path
    given: str | None = None
    sha256: str | None = None
    progress: Progress | None = None

    @property
    def downloads(self) -> Path:
        """The folder of downloaded files and of their checksums."""
        return self.home / "downloads"


def base_name(url: str) -> str:
    """The last part of an address, as a file may be called."""
    name = urllib.parse.unquote(urllib.parse.urlsplit(url).path).rpartition("/")[2]
    return re.sub(r"[^\w.+-]", "_", name).lstrip(".")[-100:] or "file"


@contextmanager
def obtain(url: str, origin: Origin) -> Iterator[Path]:
    """The file of an address, fetched if it is not here, and checked.

    Checked is the SHA-256 that the user gave, or else the one recorded when the address was first
    fetched. It is recorded when the block that reads the file has ended well: a damaged file must
    not become the one that is expected from then on. Of a download that nobody vouches for, and
    that cannot be read, nothing is kept but under another name.
    """
    known = _recorded(origin.downloads).get(url, {}).get("sha256")
    mine = origin.given is None or "://" in origin.given
    if mine:
        path = _downloaded(origin.given or url, url, origin)
    else:
        path = find_given(Path(origin.given or ""), [base_name(url)])
    sha256 = origin.sha256 or (None if known is None else str(known))
    try:
        checksum = verify(path, sha256)
    except DataError as error:
        remedy: tuple[Words, ...] = (_set_aside(path),) if mine else ()
        if sha256 == known:
            remedy += (
                f". The expected one was recorded when {url} was first fetched, in ",
                f"{origin.downloads / 'lock.json'}; if the new file is meant, pass its own with ",
                flag("sha256"),
            )
        raise DataError(*error.said, *remedy) from error
    try:
        yield path
    except DataError as error:
        if not mine or sha256 is not None:
            raise
        raise DataError(f"{error}{_set_aside(path)}, and its checksum is not recorded") from error
    if checksum != known:
        record(origin.downloads, url, path, checksum)
        _log.debug("%s: SHA-256 %s, recorded in %s", path, checksum, origin.downloads / _LOCK)


def _set_aside(path: Path) -> str:
    """Give a bad download another name, so that the next try fetches anew."""
    aside = path.with_name(f"{path.name}.rejected")
    path.replace(aside)
    return f". It was renamed to {aside.name}"


def _downloaded(address: str, url: str, origin: Origin) -> Path:
    require_url(address)
    mark = hashlib.sha256(url.encode()).hexdigest()[:8]
    target = origin.downloads / f"{mark}-{base_name(url)}"
    origin.downloads.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        _log.debug("fetching %s", address)
        download(address, target, progress=origin.progress)
    return target


def find_given(given: Path, names: Sequence[str]) -> Path:
    """The file that a user names, or one of these names in the folder."""
    if given.is_file():
        return given
    if not given.is_dir():
        raise MissingFileError(f"there is no file or directory {given}, which --from names")
    for name in names:
        for path in (given / name, given / "raw" / name):
            if path.is_file():
                return path
    raise MissingFileError(
        f"{given} holds none of {', '.join(dict.fromkeys(names))}; name the file itself with --from"
    )
