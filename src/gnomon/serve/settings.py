"""What whoever starts a server decides: where it listens, how much it takes, what it allows."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

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
    """How much a server takes; sizes in bytes, times in seconds.

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
        """Whether browsers reach it encrypted."""
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


#: keys of [serve] in a file, and how to read them; sizes are in megabytes, times in minutes
_SIZES = {"file": _MEGABYTE, "upload": _MEGABYTE, "quota": _MEGABYTE, "memory": _MEGABYTE}
_TIMES = {"cpu": 60, "wall": 60}
_COUNTS = {"files": 1}


def read_config(file: Path, settings: Settings) -> Settings:
    """The settings with those of a TOML file: ``[serve]`` with workers, limits and metrics.

    Raises:
        MissingFileError: there is no such file.
        UsageError: it is no TOML, or says what no server knows.
    """
    try:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise MissingFileError(
            f"{file} does not exist; ", flag("config"), " names a TOML file"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read as TOML: {error}") from error
    table = said.get("serve", {})
    _refuse_unknown(file, said, {"serve"})
    _refuse_unknown(file, table, {"workers", "limits", "metrics"})
    return replace(
        settings,
        workers=_positive(file, "workers", table.get("workers", settings.workers)),
        limits=_limits(file, table.get("limits", {}), settings.limits),
        metrics=_metrics(file, table.get("metrics", {})),
    )


def _limits(file: Path, said: Mapping[str, Any], limits: ServerLimits) -> ServerLimits:
    _refuse_unknown(file, said, {each.name for each in fields(ServerLimits)})
    units = {**_SIZES, **_TIMES, **_COUNTS}
    read = {name: _positive(file, name, value) * units[name] for name, value in said.items()}
    return replace(limits, **read)


def _metrics(file: Path, said: object) -> dict[str, str]:
    if isinstance(said, dict) and all(isinstance(spec, str) for spec in said.values()):
        return said
    raise UsageError(f'{file}: metrics are names and specs, as: metrics = {{ "BLEU" = "bleu" }}')


def _positive(file: Path, name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"{file}: {name} is {value!r}; it must be a whole number, 1 or more")
    return value


def _refuse_unknown(file: Path, said: object, known: set[str]) -> None:
    if not isinstance(said, dict):
        raise UsageError(f"{file}: {said!r} must be a table")
    if unknown := sorted(set(said) - known):
        raise UsageError(
            f"{file}: there is no setting {unknown[0]!r}; there are: {', '.join(sorted(known))}"
        )
