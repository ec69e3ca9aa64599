"""Where an error stands: marks in a text, offsets of other tools, texts that differ in spaces."""

from __future__ import annotations

import re
from typing import NamedTuple

from gnomon.spans import Span

_MARK = re.compile(r"</?v>")


class Marked(NamedTuple):
    """A text without its marks, and from the first mark's start to the last one's end."""

    text: str
    span: Span | None


def unmark(text: str) -> Marked | None:
    """Take ``<v>`` and ``</v>`` out of a text; None where they do not pair up.

    >>> unmark("a <v>big</v> dog")
    Marked(text='a big dog', span=Span(start=2, end=5))
    """
    if "v>" not in text:
        return Marked(text, None)
    clean, ends, last, opened = "", [], 0, False
    for match in _MARK.finditer(text):
        clean += text[last : match.start()]
        last = match.end()
        if (match.group() == "<v>") == opened:
            return None
        opened = not opened
        ends.append(len(clean))
    if opened:
        return None
    return Marked(clean + text[last:], Span(ends[0], ends[-1]) if ends else None)


def mark(text: str, span: Span | None) -> str:
    """Put marks around a span of a text; an empty span has no place and no mark."""
    if span is None or span.start == span.end:
        return text
    return f"{text[: span.start]}<v>{text[span.start : span.end]}</v>{text[span.end :]}"


def unquoted(text: str) -> str:
    """A field that a spreadsheet wrote in quotation marks, as it was meant.

    >>> unquoted('"He said ""no""."')
    'He said "no".'
    """
    inner = text[1:-1]
    whole = len(text) > 1 and text[0] == text[-1] == '"'
    return inner.replace('""', '"') if whole and '"' not in inner.replace('""', "") else text


def solid(text: str) -> str:
    """A text without its white space."""
    return "".join(text.split())


def moved(span: Span, text: str, target: str) -> Span | None:
    """A span of one text in another that differs in white space at most; None if it differs more.

    >>> moved(Span(3, 5), "a  big dog", "a big dog")
    Span(start=2, end=4)
    """
    if text == target:
        return span
    if solid(text) != solid(target):
        return None
    before = len(solid(text[: span.start]))
    inside = len(solid(text[span.start : span.end]))
    places = [i for i, c in enumerate(target) if not c.isspace()]
    if not inside:
        return Span(len(target), len(target))
    return Span(places[before], places[before + inside - 1] + 1)


def from_browser(start: int, last: int, text: str) -> Span | None:
    """Half-open code points from a browser's inclusive UTF-16 units, line ends not counted.

    Args:
        start: first unit.
        last: last unit, included.
        text: the text that was marked.

    Returns:
        The span; None where it begins behind the text (the mark for something missing).
    """
    units = [i for i, c in enumerate(text) if c != "\n" for _ in range(1 + (ord(c) > 0xFFFF))]
    if not 0 <= start < len(units) or last < start:
        return None
    return Span(units[start], units[min(last, len(units) - 1)] + 1)


def to_browser(span: Span, text: str) -> tuple[int, int]:
    """The other way: first and last unit, both included."""
    return _units(text[: span.start]), _units(text[: span.end]) - 1


def _units(text: str) -> int:
    return sum(1 + (ord(c) > 0xFFFF) for c in text if c != "\n")
