"""Outputs without text, and outputs that go round in circles."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from gnomon.linguistics.faults.kinds import Hit, fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.linguistics.faults.texts import Texts

# a letter, a digit, or a sign beyond punctuation: emoji
_SAYS = re.compile(r"[^\W_]|[\u2190-\u2bff\U0001f000-\U0001faff]")
_LOOP, _TIMES = 20, 4  # characters and periods at least
_PERIODS = 60  # characters of a period, at most


@fault("empty", group="untranslated", cheap=True)
def empty(texts: Texts) -> Iterator[Hit]:
    """No letter, digit or emoji where the source has one."""
    sources = texts.sources or ["x"] * texts.segments
    for column, outputs in texts.columns.items():
        for segment, output in enumerate(outputs):
            if output is not None and not _SAYS.search(output) and _SAYS.search(sources[segment]):
                yield Hit(column, segment)


@fault("loop", group="untranslated")
def loop(texts: Texts) -> Iterator[Hit]:
    """A stretch of text four times in a row, and none in the source."""
    spans: dict[str, tuple[int, int] | None] = {}
    for column, segment, text, source in texts.outputs():
        if text not in spans:
            spans[text] = find_loop(text)
        span = spans[text]
        if span and not find_loop(source):
            yield Hit(column, segment, *span)


def find_loop(text: str) -> tuple[int, int] | None:
    """Where a text repeats itself.

    >>> find_loop("so it goes on and on and on and on and on.")
    (10, 41)
    """
    if len(text) < _LOOP or not _may_loop(text):
        return None
    for period in range(1, min(_PERIODS, len(text) // _TIMES) + 1):
        needed = max(_TIMES * period, _LOOP) - period
        # every stretch that is long enough has a place among these
        at = needed - 1
        while at < len(text) - period:
            if text[at] != text[at + period]:
                at += needed
                continue
            start = run = at
            while start and text[start - 1] == text[start - 1 + period]:
                start -= 1
            while run + period < len(text) and text[run] == text[run + period]:
                run += 1
            if run - start >= needed and any(map(str.isalnum, text[start : start + period])):
                return start, run + period
            at = run + needed
    return None


def _may_loop(text: str) -> bool:
    """True if pairs of words come again, or a word is long, in a quick look."""
    words = text.split()
    if len(words) - len(set(words)) >= _TIMES - 1:
        pairs = [*pairwise(words)]
        if len(pairs) - len(set(pairs)) >= _TIMES - 2:
            return True
    return any(len(word) >= _LOOP for word in words)
