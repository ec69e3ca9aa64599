"""A line of an output that holds two segments, cut between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.alignment.likeness import Likeness
from gnomon.core.scripts import spaced_words

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Cut", "cut_line"]

#: what it is worth that a line is cut behind the sign with which the reference ends
_SIGN = 0.1
_SIGNS = frozenset('.!?:;…。！？：；．।॥؟۔։"”»」』)）')


class Cut(NamedTuple):
    """Two parts of a line; by how many words the cut is better than the next best one."""

    left: str
    right: str
    margin: float


def cut_line(line: str, references: Sequence[str]) -> Cut:
    """Cut a line where its parts are most like two references."""
    places = [start for start, _ in spaced_words(line)][1:]
    if not places:
        return Cut(line.strip(), "", 0.0)
    parts = [line[:at] for at in places] + [line[at:] for at in places]
    likeness = Likeness([*references, *parts])
    sides = np.repeat([0, 1], len(places))
    left, right = likeness.compute(2 + np.arange(len(parts)), sides).reshape(2, -1)
    first = references[0].strip()[-1:]
    fits = np.array([(line[:at].rstrip()[-1:] in _SIGNS) for at in places])
    worth = left + right + _SIGN * (fits if first in _SIGNS else ~fits)
    best = int(worth.argmax())
    others = np.delete(worth, best)
    margin = (worth[best] - others.max(initial=0.0)) * (len(places) + 1) / 2
    at = places[best]
    return Cut(line[:at].strip(), line[at:].strip(), float(margin))
