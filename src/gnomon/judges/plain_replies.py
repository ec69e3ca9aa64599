"""Readings of plain answers: a number, a choice, or errors by their severity."""

from __future__ import annotations

import re
from typing import NamedTuple

_NUMBER = re.compile(r"(?<![\w.])[+-]?\d{1,9}(?:\.\d{1,9})?(?!\w|\.\d)")
_SEVERITY = re.compile(r"\W*(critical|major|minor)(?: errors?)?\W*:\W*(.*)", re.IGNORECASE)
_NO_ERROR = re.compile(r"\bno[- ]errors?\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“”„«](.+?)[\"“”»]")
_BULLET = re.compile(r"^(?:[-*•]|\d+[.)])\s+")


class ListedError(NamedTuple):
    """An error of a list, as it is written.

    Attributes:
        severity: "critical", "major" or "minor".
        category: what kind of error it is.
        quote: the words that it is about; may be empty.
        of_source: the words are the source's, as they were left out or are at fault there.
    """

    severity: str
    category: str
    quote: str
    of_source: bool


def number_in(text: str, least: float, most: float) -> float | None:
    """The only number of an answer; None where there are several, or it is beyond the scale.

    The scale itself, as in "85/100", "85 out of 100" or "Score (0-100): 85", is no number of it.

    >>> number_in("I would say 85/100.", 0, 100)
    85.0
    >>> number_in("85 or 90", 0, 100)
    """
    low, high = (re.escape(f"{end:g}") for end in (least, most))
    text = re.sub(rf"(?<![\w.]){low}\s*(?:-|–|to)\s*{high}(?![\w.]*\d)", " ", text)
    text = re.sub(rf"(?<=\d)\s*(?:/|out of)\s*{high}(?!\d)", " ", text)
    numbers = {float(number) for number in _NUMBER.findall(text)}
    number = numbers.pop() if len(numbers) == 1 else None
    return number if number is not None and least <= number <= most else None


def errors_in(text: str) -> list[ListedError] | None:
    r"""The errors that stand under "Critical:", "Major:" and "Minor:", one a line.

    A line is a kind of error and, between quotation marks, the words, as GEMBA-MQM shows it:
    ``accuracy/mistranslation - "the words"``. A line that holds "no-error" names none, and a
    non-translation is critical wherever it stands. What stands before the first severity is not
    read.

    Returns:
        The errors; None where the answer names no severity and does not say that there is no error.

    >>> errors_in('Major:\nno-error\nMinor:\nstyle/awkward - "etc."')
    [ListedError(severity='minor', category='style/awkward', quote='etc.', of_source=False)]
    >>> errors_in("It is good.")
    """
    errors, severity, is_readable = [], "", False
    for line in text.split("\n"):
        heading = _SEVERITY.fullmatch(line.strip())
        if heading:
            severity, is_readable, line = heading[1].lower(), True, heading[2]  # noqa: PLW2901  # what is left of it
        if _NO_ERROR.search(line):
            is_readable = True
        elif severity and re.search(r"\w", line):
            errors.append(_error_of(line.strip(), severity))
    return errors if is_readable else None


def _error_of(line: str, severity: str) -> ListedError:
    line = _BULLET.sub("", line)
    category, _, rest = re.sub(r"\s+[–—]\s+|:\s+", " - ", line, count=1).partition(" - ")
    quoted = _QUOTED.search(rest)
    category = category.strip(" *`")
    return ListedError(
        "critical" if "non-translation" in category.lower() else severity,
        category,
        quoted[1] if quoted else rest.strip(),
        bool(re.search("omission|source", category, re.IGNORECASE)),
    )


def choice_in(text: str) -> str | None:
    """The only one of first, second and tie that an answer names, whatever its case.

    >>> choice_in("The second."), choice_in("First or second?")
    ('second', None)
    """
    named = set(re.findall(r"\b(?:first|second|tie)\b", text.lower()))
    return named.pop() if len(named) == 1 else None
