"""Messages of any words, for tests of what shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.messages import Message

if TYPE_CHECKING:
    from gnomon.messages import Level


def told(text: str, level: Level = "finding", **rows: tuple[int, ...]) -> Message:
    """A message that says a text."""
    return Message("data.doubtful", level, {"notice": text}, rows)
