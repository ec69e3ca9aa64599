"""Damage to texts that no translator does: a wrong encoding, entities, split accents, lost case."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gnomon.core.testset import TestSet

__all__ = ["KINDS", "Damage", "DamagedTexts", "damaged_texts"]

_LOOKED_AT = 256  # lines of a text, spread over the test set
_FEWEST = 10  # lines that are damaged, below which it may be meant
_SENTENCE = 25  # characters
_MORE = 5  # times as many as in the texts that it is held against
#: UTF-8 read as Windows-1252 or Latin-1: the letter that a first byte becomes, then another
_FIRST, _OTHERS = "\u00c2-\u00f4", bytes(range(0x80, 0xC0)).decode("cp1252", "ignore")
_MISREAD = re.compile(f"[{_FIRST}][\u0080-\u00bf{_OTHERS}]")
_ENTITY = re.compile(r"&(?:[a-zA-Z]{2,8}|#\d{1,6}|#x[0-9a-fA-F]{1,5});")
_SPACED = re.compile(r"(?<=\w) +(?=[.,;!?])")
_SPACED_SIGNS = (" .", " ,", " ;", " !", " ?")


class Damage(NamedTuple):
    """A kind of damage."""

    name: str
    is_there: Callable[[str], bool]  # in a line
    mend: Callable[[str], str]  # as far as it can be undone
    least: float = 0.1  # of the lines, below which it may be meant


def _read_again(text: str) -> str:
    """A text that was read in a wrong encoding, read in the right one."""
    for wrong in ("cp1252", "latin-1"):
        try:
            return text.encode(wrong).decode("utf-8")
        except UnicodeError:
            continue
    return text


def _is_misread(text: str) -> bool:
    return not text.isascii() and _MISREAD.search(text) is not None


def _has_entities(text: str) -> bool:
    return "&" in text and _ENTITY.search(text) is not None


def _is_split(text: str) -> bool:
    return not text.isascii() and not unicodedata.is_normalized("NFC", text)


def _is_spaced(text: str) -> bool:
    return any(sign in text for sign in _SPACED_SIGNS) and _SPACED.search(text) is not None


def _is_lowered(text: str) -> bool:
    """Whether a line of a sentence's length has no capital letter."""
    return len(text) >= _SENTENCE and text.islower()


#: kinds of damage by which texts match less than they are worth
KINDS = (
    Damage("misread", _is_misread, _read_again),
    Damage("entities", _has_entities, html.unescape),
    Damage("accents", _is_split, lambda text: unicodedata.normalize("NFC", text)),
    Damage("spaces", _is_spaced, lambda text: _SPACED.sub("", text), 0.3),
    Damage("case", _is_lowered, str.lower, 0.5),
)


class DamagedTexts(NamedTuple):
    """A system, or a reference, whose texts are damaged."""

    name: str
    reference: bool
    kind: str  # of :data:`KINDS`
    lines: int  # of those looked at, how many are damaged
    looked_at: int


def damaged_texts(testset: TestSet) -> Iterator[DamagedTexts]:
    """Systems damaged where the references are not, and references where the systems are not.

    What references and outputs have alike, as lower-cased test sets, is no damage.
    """
    references = {name: _some(texts) for name, texts in testset.references.items()}
    systems = {name: _some(texts) for name, texts in testset.systems.items()}
    if not references or not systems:
        return
    for kind in KINDS:
        theirs = {name: _count(kind, lines) for name, lines in references.items()}
        own = {name: _count(kind, lines) for name, lines in systems.items()}
        for counts, others, reference in ((own, theirs, False), (theirs, own, True)):
            most = max(others.values())
            texts = references if reference else systems
            for name, count in counts.items():
                looked_at = len(texts[name])
                if count >= max(_FEWEST, kind.least * looked_at) and count > _MORE * most:
                    yield DamagedTexts(name, reference, kind.name, count, looked_at)


def _some(texts: Sequence[str | None]) -> list[str]:
    """Lines spread over a text."""
    rows = range(len(texts))
    if len(texts) > _LOOKED_AT:
        rows = np.linspace(0, len(texts) - 1, _LOOKED_AT).astype(int).tolist()
    return [text for row in rows if (text := texts[row])]


def _count(kind: Damage, lines: Sequence[str]) -> int:
    return sum(map(kind.is_there, lines))
