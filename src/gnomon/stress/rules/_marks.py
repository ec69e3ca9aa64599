"""Quotation marks and dashes, written otherwise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.stress.perturbations import Change

_CURVED = re.compile("[“”„«»]")
_APOSTROPHE = re.compile("(?<=[^\\W\\d_])[’'](?=[^\\W\\d_])")


def other_quotes(text: str, opening: str, closing: str) -> list[Change]:
    """The changes that make typographic quotation marks straight, or straight ones typographic.

    Straight marks become a language's own in turns, where their number is even and each opening
    one stands behind white space or a bracket.
    """
    if _CURVED.search(text):
        if '"' in text or "« " in text:
            return []
        return [(*match.span(), '"') for match in _CURVED.finditer(text)]
    places = [match.start() for match in re.finditer('"', text)]
    opens = [place == 0 or text[place - 1] in " ([" for place in places]
    if places and opens == [True, False] * (len(places) // 2):
        return [
            (place, place + 1, opening if first else closing)
            for place, first in zip(places, opens, strict=True)
        ]
    return []


def other_apostrophes(text: str) -> list[Change]:
    """The changes that exchange straight and typographic apostrophes."""
    return [
        (*match.span(), "'" if match[0] == "’" else "’") for match in _APOSTROPHE.finditer(text)
    ]


_DASH = re.compile(
    r"(?<=[^\W_]) (?P<spaced>--|[-–—]) (?=[^\W_])|(?<=[^\W\d_])(?P<close>—)(?=[^\W\d_])"
)


def other_dashes(text: str) -> list[Change]:
    """The changes that write dashes between words otherwise ("a - b": "a – b")."""
    new = {"-": "–", "--": "–", "–": "-", "—": "–"}
    return [
        (*match.span(), f" {new[match['spaced'] or match['close']]} ")
        for match in _DASH.finditer(text)
    ]
