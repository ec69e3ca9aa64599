"""Damage to texts that no translator does: a wrong encoding, entities, split accents, lost case."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gnomon.data.formats.line_sample import LineCounts, SomeLines

__all__ = ["KINDS", "MENDING", "Damage", "DamagedTexts", "damaged_texts"]

_FEWEST = 10  # lines that are damaged, below which it may be meant
_SENTENCE = 25  # characters
_MORE = 5  # times as many as in the texts that it is held against
#: UTF-8 read as Windows-1252 or Latin-1: what its first byte becomes, and the others
_OTHERS = f"[\u0080-\u00bf{bytes(range(0x80, 0xC0)).decode('cp1252', 'ignore')}]"
_MISREAD = re.compile(
    f"[\u00c2-\u00df]{_OTHERS}|[\u00e0-\u00ef]{_OTHERS}{{2}}|[\u00f0-\u00f4]{_OTHERS}{{3}}"
)
_ENTITY = re.compile(r"&(?:[a-zA-Z]{2,8}|#\d{1,6}|#x[0-9a-fA-F]{1,5});")
_SPACED = re.compile(r" (?<=\w ) *(?=[.,;!?])")


class Damage(NamedTuple):
    """A kind of damage."""

    name: str
    is_there: Callable[[str], bool]  # in a line
    mend: Callable[[str], str]  # on either side, so that it costs nothing
    least: float = 0.1  # of the lines, below which it may be meant
    shortest: int = 1  # characters of a line that tells


def _read_again(text: str) -> str:
    """A text that was read in a wrong encoding, read in the right one."""
    for wrong in ("cp1252", "latin-1"):
        try:
            return text.encode(wrong).decode("utf-8")
        except UnicodeError:
            continue
    return text


def _is_misread(text: str) -> bool:
    return _MISREAD.search(text) is not None


def _has_entities(text: str) -> bool:
    return _ENTITY.search(text) is not None


def _is_split(text: str) -> bool:
    return not unicodedata.is_normalized("NFC", text)


def _is_lowered(text: str) -> bool:
    # a word of Latin letters is no sentence in Japanese or Thai
    return text.islower() and 2 * sum(map(str.islower, text)) >= len(text)


def _is_spaced(text: str) -> bool:
    return _SPACED.search(text) is not None


#: by which texts match less than they are worth, in the order of the bits of ``LineCounts.signs``
KINDS = (
    Damage("misread", _is_misread, _read_again),
    Damage("entities", _has_entities, html.unescape),
    Damage("accents", _is_split, lambda text: unicodedata.normalize("NFC", text)),
    Damage("spaces", _is_spaced, lambda text: _SPACED.sub("", text), 0.3),
    Damage("case", _is_lowered, str.lower, 0.5, _SENTENCE),
)
#: how texts are mended, by the name of the damage
MENDING = {kind.name: kind.mend for kind in KINDS}


class DamagedTexts(NamedTuple):
    """A system, or a reference, whose texts are damaged."""

    name: str
    reference: bool
    kind: str  # of :data:`KINDS`
    damaged: int  # lines
    lines: int  # that are not empty


def damaged_texts(lines: SomeLines) -> Iterator[DamagedTexts]:
    """Systems damaged where the references are not, and references where the systems are not.

    What references and outputs have alike, as lower-cased test sets, is no damage.
    """
    if not lines.references or not lines.systems:
        return
    references, systems = lines.testset.references, lines.testset.systems
    for number, kind in enumerate(KINDS):
        bit = 1 << number
        every = (*lines.references.values(), *lines.systems.values())
        if max(np.count_nonzero(counts.signs & bit) for counts in every) < _FEWEST:
            continue
        theirs = {n: _count(kind, bit, references[n], c) for n, c in lines.references.items()}
        own = {n: _count(kind, bit, systems[n], c) for n, c in lines.systems.items()}
        for counts, others, reference in ((own, theirs, False), (theirs, own, True)):
            most = max(others.values())
            texts = references if reference else systems
            for name, count in counts.items():
                if count < _FEWEST or count <= _MORE * most:
                    continue
                whole = [text for text in texts[name] if text]
                damaged = list(map(kind.is_there, whole))
                telling = [n for n, text in enumerate(whole) if len(text) >= kind.shortest]
                if sum(damaged[n] for n in telling) >= kind.least * len(telling):
                    yield DamagedTexts(name, reference, kind.name, sum(damaged), len(whole))


def _count(kind: Damage, bit: int, texts: Sequence[str | None], lines: LineCounts) -> int:
    """Number of damaged lines."""
    some = [texts[row] or "" for row in lines.rows[lines.signs & bit > 0].tolist()]
    return sum(len(text) >= kind.shortest and kind.is_there(text) for text in some)
