"""What translators change, too: numbers, quotation marks, ends of sentences, handles.

A hit is no error by itself: rates of systems are read beside those of the references.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.data_files import data_beside
from gnomon.linguistics.faults.kinds import Hit, fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.linguistics.faults.texts import Texts

_NUMBER = re.compile(r"\d+(?:[.,\u00a0\u202f'\u2019 ]\d{2,3}(?!\d))*(?:[.,]\d+)?")
_HANDLE = re.compile(r"(?<![\w/])[@#]\w*[^\W\d]\w*")
_QUOTE = re.compile('["“”„«»「」『』〝〞〟＂]')
_ENDS = {"?": "?", "？": "?", "؟": "?", "!": "!", "！": "!", ":": ":", "：": ":"}
_CLOSING = "\"'”’“»」』)）]* "


@cache
def _numbers() -> dict[str, Any]:
    return data_beside(str(Path(__file__).with_name("numbers.py")))


def _has_digits(texts: Texts) -> NDArray[np.bool_]:
    return np.array([bool(_NUMBER.search(text)) for text in texts.sources or ()], dtype=bool)


def _has_quotes(texts: Texts) -> NDArray[np.bool_]:
    return np.array([bool(_QUOTE.search(text)) for text in texts.sources or ()], dtype=bool)


def _has_handles(texts: Texts) -> NDArray[np.bool_]:
    return np.array([bool(_HANDLE.search(text)) for text in texts.sources or ()], dtype=bool)


@fault("number", group="rate", needs=["source"], at_stake=_has_digits)
def number(texts: Texts) -> Iterator[Hit]:
    """A number of the source that the output has in no reading."""
    for column, segment, text, source in texts.outputs():
        found = [*_NUMBER.finditer(source)]
        if not found:
            continue
        there = values_of(text, texts.language)
        for one in found:
            if there.isdisjoint(_readings(one.group())):
                lacks = {"number": one.group()}
                yield Hit(column, segment, -1, -1, one.start(), one.end(), lacks)
                break


def _readings(written: str) -> set[float]:
    """The values that digits may stand for: a point may part thousands, or begin decimals.

    >>> sorted(_readings("1.234"))
    [1.234, 1234.0]
    """
    plain = re.sub(r"[\u00a0\u202f'\u2019 ]", "", written)
    digits = re.sub(r"\D", "", plain)
    values = {float(digits)} if len(re.split(r"[.,]", plain)[-1]) == 3 or plain.isdigit() else set()
    head, mark, tail = plain.replace(",", ".").rpartition(".")
    if mark:
        values.add(float(f"{re.sub(chr(92) + 'D', '', head) or 0}.{tail}"))
    return values or {float(digits)}


def values_of(text: str, language: str) -> set[float]:
    """The values of all numbers of a text: digits, with the word of a scale behind them, words."""
    data = _numbers()
    scales: dict[str, float] = data["scales"]
    values: set[float] = set()
    for one in _NUMBER.finditer(text):
        readings = _readings(one.group())
        values |= readings
        after = text[one.end() :].lstrip(" \u00a0-").lower()
        for scale, times in scales.items():
            if after.startswith(scale):
                values |= {round(value * times, 6) for value in readings}
    words: dict[str, list[str]] = data["words"].get(language, {})
    lower = text.lower()
    for value, forms in words.items():
        if any(form in lower for form in forms):
            values.add(float(value))
    return values


@fault("quote", group="rate", needs=["source"], at_stake=_has_quotes)
def quote(texts: Texts) -> Iterator[Hit]:
    """Quotation marks of the source that the output lacks."""
    for column, segment, text, source in texts.outputs():
        found = _QUOTE.search(source)
        if found and not _QUOTE.search(text):
            yield Hit(column, segment, -1, -1, *found.span())


@fault("end-mark", group="rate", needs=["source"])
def end_mark(texts: Texts) -> Iterator[Hit]:
    """Another end than the source's: a question, an exclamation, a colon."""
    for column, segment, text, source in texts.outputs():
        if _end(text) != _end(source):
            at = len(text.rstrip(_CLOSING))
            yield Hit(column, segment, max(at - 1, 0), at)


def _end(text: str) -> str:
    return _ENDS.get(text.rstrip(_CLOSING)[-1:], "")


@fault("handle", group="rate", needs=["source"], at_stake=_has_handles)
def handle(texts: Texts) -> Iterator[Hit]:
    """A handle or hashtag of the source that the output lacks."""
    for column, segment, text, source in texts.outputs():
        for found in _HANDLE.finditer(source):
            if found.group().lower() not in text.lower():
                yield Hit(column, segment, -1, -1, *found.span())
                break
