"""Phrases with which models answer instead of translating: ``phrases.toml``, made ready."""

from __future__ import annotations

import functools
import re
import tomllib
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.languages import listed_language

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["find_phrase", "phrase_languages", "phrase_pattern"]

_ANY = "any"
#: a phrase at the beginning of an output may stand after these
_BEFORE = r"\A[\W_]*"
_SIGNS = {" ": r"\s+", "'": "['’]"}


@functools.cache
def _lists() -> dict[str, dict[str, Sequence[str]]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def phrase_languages() -> list[str]:
    """The languages that have phrases.

    >>> len(phrase_languages()) > 20
    True
    """
    return [language for language in _lists() if language != _ANY]


@functools.cache
def phrase_pattern(language: str, source_language: str = "") -> re.Pattern[str]:
    """A pattern of the phrases that no output in a language has; for texts in lower case.

    Besides those of the language: English phrases, those of the source's language, and what models
    write in whatever language.
    """
    lists = _lists()
    language, source_language = listed_language(language), listed_language(source_language)
    first: list[str] = []
    words: list[str] = []
    others: list[str] = []
    for name in dict.fromkeys((_ANY, "en", source_language, language)):
        written = list(lists.get(name, {}).get("phrases", ()))
        if language not in ("", name):
            written += lists.get(name, {}).get("foreign", ())
        spaced = lists.get(name, {}).get("spaced", True)
        for phrase in (unicodedata.normalize(form, p) for p in written for form in ("NFC", "NFD")):
            if phrase.startswith("^"):
                first.append(phrase[1:])
            else:
                (words if spaced and phrase[0].isalnum() else others).append(phrase)
    some = ((_BEFORE, first), (r"\b", words), ("", others))
    branches = [before + _alternatives(phrases) for before, phrases in some if phrases]
    return re.compile("|".join(branches))


def _alternatives(phrases: Sequence[str]) -> str:
    """A pattern of phrases in which what they begin with stands once: many are tried at once."""
    rests: dict[str, list[str]] = {}
    for phrase in phrases:
        rests.setdefault(phrase[0], []).append(phrase[1:])
    branches = []
    for sign, rest in rests.items():
        ends = "" in rest  # a phrase that goes on is found by its beginning
        branches.append(_SIGNS.get(sign, re.escape(sign)) + ("" if ends else _alternatives(rest)))
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def find_phrase(pattern: re.Pattern[str], text: str) -> tuple[int, int] | None:
    """Where the first phrase stands in a text; None where there is none.

    >>> find_phrase(phrase_pattern("de", "en"), "Hier ist die Übersetzung: Guten Tag!")
    (0, 24)
    """
    found = pattern.search(text.replace("İ", "i").lower())  # as many characters as before
    return found.span() if found else None
