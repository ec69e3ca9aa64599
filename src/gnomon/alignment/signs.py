"""Signs at which segments end and begin."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from gnomon.core.scripts import FULL_STOPS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CLAUSE", "CLOSING", "FINAL", "FULL_WIDTH", "OPENING", "split_sentences"]

FINAL = frozenset(".!?…！？．؟۔॥" + "".join(FULL_STOPS.values()))
CLAUSE = frozenset(",;:،؛、，；：–—-")
FULL_WIDTH = frozenset("。！？、，；：」』）》〉】")
OPENING = frozenset("\"'„“‘«‹([{「『（《〈【¿¡")
CLOSING = frozenset("\"'”“’»›)]}」』）》〉】")


def split_sentences(text: str) -> Iterator[str]:
    """Cut a text behind signs that end sentences: those of full width, and those before a space.

    >>> list(split_sentences('He said: "Go." She went 1.5 miles. 一。二'))
    ['He said: "Go."', 'She went 1.5 miles.', '一。', '二']
    """
    start = 0
    for found in _ends().finditer(text):
        yield text[start : found.end()].strip()
        start = found.end()
    if text[start:].strip():
        yield text[start:].strip()


@lru_cache
def _ends() -> re.Pattern[str]:
    final, closing, wide = (
        re.escape("".join(sorted(some))) for some in (FINAL, CLOSING, FINAL & FULL_WIDTH)
    )
    return re.compile(rf"[{wide}]+[{closing}]*\s*|[{final}]+[{closing}]*\s+")
