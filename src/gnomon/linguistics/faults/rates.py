"""Rates of marks that translators change, too: numbers, quotation marks, ends of sentences.

A hit is no error by itself: rates of systems are read beside those of the references.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.data_files import data_beside
from gnomon.core.languages import listed_language
from gnomon.linguistics.faults.kinds import Fault, Hit, fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gnomon.linguistics.faults.kinds import Marks, Rule
    from gnomon.linguistics.faults.texts import Texts

_NUMBER = re.compile(r"\d+(?:[.,\u00a0\u202f'\u2019\u066c ]\d{2,3}(?!\d))*(?:[.,\u066b]\d+)?")
_DIGITS = "〇一二三四五六七八九"
_TENS = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 1e4, "萬": 1e4, "億": 1e8, "亿": 1e8, "兆": 1e12}
_NUMERALS = "".join((_DIGITS, *_TENS, *_MYRIADS))
_MIXED = re.compile(rf"[\d,.]*[{_NUMERALS}][\d,.{_NUMERALS}]*")
_SHORT = 3  # letters of a number word that does not go on
_UNSPACED = ("ko", "th")
_HANDLE = re.compile(r"(?<![\w/])[@#]\w*[^\W\d]\w*")
_QUOTE = re.compile('["“”„«»「」『』〝〞〟＂]')
_ENDS = {"?": "?", "？": "?", "؟": "?", "!": "!", "！": "!", ":": ":", "：": ":"}
_CLOSING = "\"'”’“»」』)）]* "


@cache
def _numbers() -> dict[str, Any]:
    return data_beside(str(Path(__file__).with_name("numbers.py")))


def _rate(name: str, marks: Marks) -> Callable[[Rule], Fault]:
    """A kind that hits segments whose source has a mark."""

    def mark_segments(texts: Texts) -> NDArray[np.bool_]:
        return np.array([any(marks(text)) for text in texts.sources or ()], dtype=bool)

    return fault(name, group="rate", needs=["source"], at_stake=mark_segments, marks=marks)


@_rate("number", _NUMBER.finditer)
def number(texts: Texts) -> Iterator[Hit]:
    """A number of the source that the output has in no reading."""
    for column, segment, text, source in texts.outputs():
        found = [*_NUMBER.finditer(source)]
        if not found:
            continue
        there = values_of(text, texts.language)
        for one in found:
            if there.isdisjoint(_values_at(source, one)):
                lacks = {"number": one.group()}
                yield Hit(column, segment, -1, -1, one.start(), one.end(), lacks)
                break


def _readings(written: str) -> set[float]:
    """The values that digits may stand for: a point may part thousands, or begin decimals.

    >>> sorted(_readings("1.234"))
    [1.234, 1234.0]
    """
    plain = re.sub(r"[\u00a0\u202f'\u2019\u066c ]", "", written).replace("\u066b", ".")
    digits = re.sub(r"\D", "", plain)
    values = {float(digits)} if len(re.split(r"[.,]", plain)[-1]) == 3 or plain.isdigit() else set()
    head, mark, tail = plain.replace(",", ".").rpartition(".")
    if mark:
        values.add(float(f"{re.sub(chr(92) + 'D', '', head) or 0}.{tail}"))
    return values or {float(digits)}


def values_of(text: str, language: str) -> set[float]:
    """The values of all numbers of a text: digits, with the word of a scale behind them, words.

    >>> sorted(values_of("1万2,000 Leute am 3. Mai, zwölf Kinder", "de"))
    [1.0, 2.0, 3.0, 5.0, 12.0, 2000.0, 10000.0, 12000.0]
    """
    values: set[float] = set()
    for one in _NUMBER.finditer(text):
        values |= _values_at(text, one)
    for run in _MIXED.finditer(text):
        values.add(_evaluate_run(run.group()))
    return values | _values_of_words(text, language)


def _values_at(text: str, found: re.Match[str]) -> set[float]:
    """The readings of digits, times the scale behind them; of hours after noon two."""
    values = _readings(found.group())
    after = text[found.end() : found.end() + 20].lstrip(" \u00a0-").lower()
    scaled = {
        round(value * float(times), 6)
        for times, words in _numbers()["scales"].items()
        if after.startswith(tuple(words))
        for value in values
    }
    later = {value + 12 for value in values} if after.startswith(("pm", "p.m")) else set()
    return values | scaled | later


def _evaluate_run(run: str) -> float:
    """The value of numerals of Chinese and Japanese, digits among them.

    >>> _evaluate_run("三百二十"), _evaluate_run("1万2000"), _evaluate_run("二〇一五")
    (320.0, 12000.0, 2015.0)
    """
    total = part = value = 0.0
    for sign in re.findall(r"[\d,.]+|.", run):
        if sign in _TENS:
            part += (value or 1) * _TENS[sign]
            value = 0
        elif sign in _MYRIADS:
            total += ((part + value) or 1) * _MYRIADS[sign]
            part = value = 0
        elif sign in _DIGITS:
            value = 10 * value + _DIGITS.index(sign)
        else:
            value = float(sign.replace(",", "").strip(".") or 0) if sign.count(".") < 2 else 0
    return total + part + value


def _values_of_words(text: str, language: str) -> set[float]:
    """The values of number words and of names of months."""
    found = _word_pattern(language)
    if found is None:
        return set()
    pattern, values = found
    return {value for one in pattern.finditer(text.lower()) for value in values[one.group()]}


@cache
def _word_pattern(language: str) -> tuple[re.Pattern[str], dict[str, set[float]]] | None:
    values: dict[str, set[float]] = {}
    language = listed_language(language)
    for some in (_numbers()["words"], _numbers()["months"]):
        for value, forms in enumerate(some.get(language, ()), start=1):
            for form in forms.split():
                values.setdefault(form.replace("_", " "), set()).add(float(value))
    if not values:
        return None
    # longer words go on: "drei" is found in "dreimal"
    forms = sorted(values, key=len, reverse=True)
    listed = "|".join(re.escape(one) + ("" if len(one) > _SHORT else r"\b") for one in forms)
    return re.compile((r"\b" if language not in _UNSPACED else "") + f"(?:{listed})"), values


@_rate("quote", _QUOTE.finditer)
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


@_rate("handle", _HANDLE.finditer)
def handle(texts: Texts) -> Iterator[Hit]:
    """A handle or hashtag of the source that the output lacks."""
    for column, segment, text, source in texts.outputs():
        for found in _HANDLE.finditer(source):
            if found.group().lower() not in text.lower():
                yield Hit(column, segment, -1, -1, *found.span())
                break
