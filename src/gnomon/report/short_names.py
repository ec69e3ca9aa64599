"""Short names for charts, distinct and within the room that there is."""

from __future__ import annotations

import json
import os.path
import unicodedata
from typing import TYPE_CHECKING, Any

import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["LONGEST_NAME", "short_names", "shorten_names"]

LONGEST_NAME = 24  # widths of a letter
_DOTS = "\u2026"
#: what a chart's values call their names
_NAMES = ("name", "series", "head", "label")
_WHOLE = ("said", "description")


def short_names(names: Iterable[str], most: int = LONGEST_NAME) -> dict[str, str]:
    """The names that are too long, and what stands for each: its two ends, or where it differs.

    >>> short_names(["a" * 30 + "1", "b"], most=9)
    {'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1': 'aaaa…aaa1'}
    """
    every = dict.fromkeys(names)
    made = {name: _ends(name, most) for name in every if _width(name) > most}
    for short in [one for one in set(made.values()) if list(made.values()).count(one) > 1]:
        alike = [name for name, of in made.items() if of == short]
        start = len(os.path.commonprefix(alike))  # noqa: RUF071  # characters are meant
        made |= {name: _shorten(name, start, most) for name in alike}
    taken = {name for name in every if name not in made}
    for name, short in made.items():
        number, free = 1, short
        while free in taken:
            number += 1
            free = f"{short} ({number})"
        made[name] = free
        taken.add(free)
    return made


def _letters(text: str) -> list[str]:
    """Letters as readers see them, each with its marks."""
    return list(map(str, regex.findall(r"\X", text)))


def _width(text: str) -> int:
    """Characters of East Asia are as wide as two others."""
    return sum(map(_width_of, _letters(text)))


def _width_of(letter: str) -> int:
    return 2 if unicodedata.east_asian_width(letter[0]) in "WF" else 1


def _start(letters: Iterable[str], most: int) -> list[str]:
    """As many of the letters as fit."""
    made: list[str] = []
    for letter in letters:
        most -= _width_of(letter)
        if most < 0:
            break
        made.append(letter)
    return made


def _ends(text: str, most: int) -> str:
    letters, half = _letters(text), most // 2
    end = _start(reversed(letters), most - half - 1)[::-1]
    return "".join([*_start(letters, half), _DOTS, *end])


def _shorten(text: str, start: int, most: int) -> str:
    """The beginning, and what follows where it differs from others."""
    letters = _letters(text)
    head = _start(letters, most // 4)
    rest = letters[max(len(_letters(text[:start])) - 2, len(head)) :]
    shown = _start(rest, most - most // 4 - 2)
    return "".join([*head, _DOTS, *shown, *([_DOTS] if len(shown) < len(rest) else [])])


def shorten_names(chart: dict[str, Any]) -> dict[str, Any]:
    """A specification whose names are short; cards and descriptions keep the whole ones."""
    values = chart["data"]["values"]
    named = (row[key] for row in values for key in _NAMES if isinstance(row.get(key), str))
    short = short_names(named)
    if not short:
        return chart
    whole = {of: name for name, of in short.items()}
    return {**_replaced(chart, short), "usermeta": {"names": whole}}


def _replaced(part: Any, short: dict[str, str]) -> Any:
    if isinstance(part, dict):
        made = {k: of if k in _WHOLE else _replaced(of, short) for k, of in part.items()}
        for name, of in short.items() if isinstance(part.get("test"), str) else ():
            made["test"] = made["test"].replace(json.dumps(name), json.dumps(of))
        return made
    if isinstance(part, list):
        return [_replaced(one, short) for one in part]
    return short.get(part, part) if isinstance(part, str) else part
