"""How much an archive may hold, counted while it is unpacked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gnomon.errors import FormatError
from gnomon.formats import largest_input

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Progress = Callable[[str, int, int], None]

__all__ = ["Budget", "Limits"]

_STEP = 1 << 20
_FREE = 64 << 20  # bytes: so much is no bomb, however well it was packed


@dataclass(frozen=True)
class Limits:
    """What an archive may hold.

    Attributes:
        unpacked: bytes in all; where larger inputs than that are allowed, as many as these.
        files: files and folders.
        ratio: unpacked bytes per byte of the archive, beyond the first 64 MiB.
    """

    unpacked: int = field(default_factory=lambda: max(32 << 30, largest_input()))
    files: int = 500_000
    ratio: float = 200.0


class Budget:
    """What is left of the limits while one archive is read."""

    def __init__(self, archive: Path, limits: Limits, progress: Progress | None = None) -> None:
        self._archive = archive
        self._limits = limits
        self._progress = progress
        self._size = archive.stat().st_size
        self._reported = 0
        self._most = min(limits.unpacked, _FREE + int(limits.ratio * self._size))
        self._bytes = 0
        self._files = 0

    def take(self, count: int) -> None:
        """Count unpacked bytes.

        Raises:
            FormatError: they are too many.
        """
        self._bytes += count
        if self._bytes > self._most:
            raise self._refusal(
                f"unpacks to more than {self._most:,} bytes (allowed are"
                f" {self._limits.unpacked:,}, and {self._limits.ratio:g} per byte of the archive)"
            )

    def report(self, position: int) -> None:
        """Say how much of the archive was read, once per MiB."""
        if self._progress is not None and position - self._reported >= _STEP:
            self._reported = position
            self._progress("unpack", position, self._size)

    def take_file(self) -> None:
        """Count a file or a folder.

        Raises:
            FormatError: they are too many.
        """
        self._files += 1
        if self._files > self._limits.files:
            raise self._refusal(f"holds more than {self._limits.files:,} files")

    def _refusal(self, problem: str) -> FormatError:
        return FormatError(
            f"{problem}; nothing of it was kept. If this is meant, unpack it yourself and give the"
            " folder, or raise the limits (--max-input for its bytes, gnomon.official.Limits for"
            " all)",
            path=self._archive,
        )
