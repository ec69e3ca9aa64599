"""Settings of a server: its address, limits and permissions."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from gnomon.core.errors import MissingFileError, UsageError
from gnomon.messages.audiences import flag

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["LOOPBACK", "PORT", "ServerLimits", "Settings", "address_of", "read_config"]

PORT = 8765
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class ServerLimits:
    """The limits of a server; sizes in bytes, times in seconds.

    Attributes:
        file: the largest file that may be sent.
        upload: all files of one comparison together.
        quota: all that the folder of the server may hold.
        files: of one comparison.
        memory: of one job.
        cpu: of one job.
        wall: of one job.
    """

    file: int = 50 * _MEGABYTE
    upload: int = 200 * _MEGABYTE
    quota: int = 10_000 * _MEGABYTE
    files: int = 50
    memory: int = 4_000 * _MEGABYTE
    cpu: int = 3600
    wall: int = 7200


@dataclass(frozen=True)
class Settings:
    """One server.

    Attributes:
        folder: of the workspace; none of a server that only shows stores.
        stores: stores that it shows and never changes.
        address: scheme, name and port as a browser has them, without a slash at the end.
        hosts: names and ports, as the ``Host`` of a request, that are this server.
        workers: comparisons that run at once.
        limits: how much it takes.
        metrics: names -> specs that the owner allows beside the harmless ones.
    """

    folder: Path | None = None
    stores: tuple[Path, ...] = ()
    address: str = f"http://127.0.0.1:{PORT}"
    hosts: frozenset[str] = frozenset({f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"[::1]:{PORT}"})
    workers: int = min(2, os.cpu_count() or 1)
    limits: ServerLimits = field(default_factory=ServerLimits)
    metrics: Mapping[str, str] = field(default_factory=dict)

    @property
    def secure(self) -> bool:
        """True if browsers reach it encrypted."""
        return self.address.startswith("https:")


def address_of(url: str) -> tuple[str, str]:
    """The address and the ``Host`` of a URL by which others reach this server.

    >>> address_of("https://compare.example.org/")
    ('https://compare.example.org', 'compare.example.org')

    Raises:
        UsageError: it is no address of a server.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.path.strip("/") or parts.query or parts.username:
        raise UsageError(
            f"{url!r} is not the address of a server; give it as https://compare.example.org,"
            " with a name of its own and without a path"
        )
    host = parts.netloc.lower()
    return f"{parts.scheme}://{host}", host


_MINUTE = 60
#: limits in a file: sizes are in megabytes, times in minutes
_UNITS = {
    "file": _MEGABYTE, "upload": _MEGABYTE, "quota": _MEGABYTE, "memory": _MEGABYTE,
    "cpu": _MINUTE, "wall": _MINUTE, "files": 1,
}  # fmt: skip
Limit = Literal["file", "upload", "quota", "memory", "cpu", "wall", "files"]
Count = Annotated[int, Meta(ge=1)]


class _Serve(msgspec.Struct, forbid_unknown_fields=True):
    workers: Count = Settings.workers
    limits: dict[Limit, Count] = {}
    metrics: dict[str, str] = {}


class _ConfigFile(msgspec.Struct, forbid_unknown_fields=True):
    serve: _Serve = msgspec.field(default_factory=_Serve)


def read_config(file: Path, settings: Settings) -> Settings:
    """The settings with those of a TOML file: ``[serve]`` with workers, limits and metrics.

    Raises:
        MissingFileError: there is no such file.
        UsageError: it is no TOML, or says what no server knows.
    """
    try:
        said = msgspec.toml.decode(file.read_bytes(), type=_ConfigFile).serve
    except FileNotFoundError as error:
        raise MissingFileError(
            f"{file} does not exist; ", flag("config"), " names a TOML file"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{file} cannot be read: {error}; [serve] has workers, limits"
            f" ({', '.join(_UNITS)}) and metrics (names and specs)"
        ) from error
    limits = {name: count * _UNITS[name] for name, count in said.limits.items()}
    return replace(
        settings,
        workers=said.workers,
        limits=replace(settings.limits, **limits),
        metrics=said.metrics,
    )
