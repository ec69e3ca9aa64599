"""Which slices of a test set views are made for."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["drawn_slices"]

_Part = TypeVar("_Part")
_DRAWN = 12  # heat maps and listings of more slices help nobody; the rows are all there


def drawn_slices(parts: Sequence[_Part]) -> Sequence[_Part]:
    """Of slices that begin with all segments, those that views are made for."""
    return parts[: _DRAWN + 1]
