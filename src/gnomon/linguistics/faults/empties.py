"""Outputs without text, and outputs that go round in circles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gnomon.linguistics.faults.kinds import Hit, fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.linguistics.faults.texts import Texts

# a letter, a digit, or a sign beyond punctuation: emoji
_SAYS = re.compile(r"[^\W_]|[\u2190-\u2bff\U0001f000-\U0001faff]")


@fault("empty", group="untranslated", cheap=True)
def empty(texts: Texts) -> Iterator[Hit]:
    """No letter, digit or emoji where the source has one."""
    sources = texts.sources or ["x"] * texts.segments
    for column, outputs in texts.columns.items():
        for segment, output in enumerate(outputs):
            if output is not None and not _SAYS.search(output) and _SAYS.search(sources[segment]):
                yield Hit(column, segment)
