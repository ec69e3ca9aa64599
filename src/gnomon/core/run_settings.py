"""Settings of one run: code that it may load, its cache, its progress callback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from gnomon.core.cache import Cache

__all__ = ["Run"]


@dataclass(frozen=True)
class Run:
    """The settings of a run, which change no number."""

    allow_code: bool = False
    cache: Cache | None = None
    progress: Callable[[str, int, int], None] | None = None
