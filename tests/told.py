"""Messages of any words, for tests of what shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.messages import Message, message, noted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gnomon.messages import Level


def told(text: str, level: Level = "finding", **rows: tuple[int, ...]) -> Message:
    """A message that says a text."""
    return Message("error.failed", level, {"said": text}, rows)


def notes(notices: Iterable[Message]) -> tuple[str, ...]:
    """What notices say."""
    return tuple(map(noted, notices))


def cut_texts(cut: int, texts: int, metric: str = "") -> Message:
    """A notice of texts that a model does not read to their end."""
    said = message("score.cut", cut=cut, texts=texts, what="texts", limit=512, of="", remedy="")
    return said.about(metrics=[metric]) if metric else said
