"""References that were made from a system's output: post-edited, or copied.

Translators write a sentence of several words exactly as a system does in few segments, and within
a tenth of edits in up to one in seven (WMT 2017 to 2024). Where a system is so close much more
often, and more often than the other systems, the references are its own.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.scripts import unspaced_letters
from gnomon.data.formats.line_sample import Numbered

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet

__all__ = ["Favoured", "favoured"]

_EDITS = 0.1  # of the characters: such an output is nearly the reference
_WORDS, _LETTERS = 5, 10  # of a reference that counts: words, or letters where no space parts them
_FEWEST = 30  # such references, below which anything may happen
#: shares of references that equal an output or nearly do, which chance does not explain
_EQUAL, _NEAR = 0.045, 0.15
_BEYOND = 0.04  # and by how much more of them than of the other systems
_SAME = 0.95  # of the references: one file, given twice
_FIRST, _OPEN = 128, 0.9  # segments at first, and of a limit what they show of the whole
_LOOKED_AT = 256  # segments, spread over those in question
_AMID = 1.5  # times as often others are nearer to the references than to the output
_CLEAR = 3.0  # standard errors
_SHARED = 0.5  # of these segments, others are as near to the references
_WORSE = 2.0  # times as many edits elsewhere as another system
_Z = 1.96


class Favoured(NamedTuple):
    """A system from whose output references were made."""

    system: str
    reference: str
    equal: int  # references that are its output
    near: int  # others, within a tenth of edits
    counted: int  # references of at least five words
    own: NDArray[np.bool_]  # which references are its output or nearly so [segments]


def favoured(
    testset: TestSet, without: Collection[str] = (), numbered: Numbered | None = None
) -> Iterator[Favoured]:
    """Systems to which references are closer than chance and the other systems explain.

    For each reference and each system that is not one of people: the share of segments, of those
    whose reference has at least five words, in which the output equals it, and in which it lies
    within a tenth of edits of characters. Both the share and what it is beyond the mean of the
    other systems have to lie above a limit with the low end of their 95 % intervals. Of a system
    alone it is not known whether the references were made of its output, or this of them.

    Args:
        testset: references and systems.
        without: systems that are left out, whose outputs are no translations line by line.
        numbered: its texts as numbers, where they are known.

    Yields:
        One for each reference and system, in their order.
    """
    systems = {
        name: texts
        for name, texts in testset.systems.items()
        if name not in without and not ((info := testset.info.get(name)) and info.human)
    }
    if not systems:
        return
    numbered = Numbered(testset) if numbered is None else numbered
    for reference, texts in testset.references.items():
        rows = np.flatnonzero([_is_long(text) for text in texts])
        if len(rows) < _FEWEST:
            continue
        theirs = numbered.references[reference][rows]
        equal = np.array([numbered.systems[name][rows] == theirs for name in systems])
        some = rows[:: max(1, len(rows) // _FIRST)]
        first = _edits(systems.values(), texts, some) >= 0
        if equal.mean(axis=1).max() <= _EQUAL and first.mean(axis=1).max() <= _OPEN * _NEAR:
            continue
        near = _edits(systems.values(), texts, rows) >= 0
        for number, system in enumerate(systems):
            if equal[number].mean() > _SAME:
                continue  # the reference itself
            if not (_is_beyond(equal, number, _EQUAL) or _is_beyond(near, number, _NEAR)):
                continue
            outputs = list(systems.values())
            own_rows, rest = rows[near[number]], rows[~near[number]]
            if len(testset.systems) > 1 and (
                _is_amid(outputs, number, texts, own_rows) or _is_poor(outputs, number, texts, rest)
            ):
                continue
            same, close = int(equal[number].sum()), int(near[number].sum())
            own = np.zeros(len(texts), dtype=bool)
            own[rows[near[number]]] = True
            yield Favoured(system, reference, same, close - same, len(rows), own)


def _edits(
    systems: Collection[Sequence[str | None]], texts: Sequence[str | None], rows: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Edits between outputs and references [systems, rows], -1 where there are many."""
    from gnomon.native import near as loops  # compiled

    some = rows.tolist()
    theirs = [texts[row] for row in some]
    return np.array(
        [loops.near_edits([own[row] for row in some], theirs, _EDITS) for own in systems]
    )


def _is_amid(
    systems: Sequence[Sequence[str | None]],
    number: int,
    texts: Sequence[str | None],
    rows: NDArray[np.int64],
) -> bool:
    """True if the references stand between the outputs, as where these were made of the references.

    A reference that was made from one output is as far from the others as that output is, or
    farther; of outputs that were each made of the reference, another is nearer to it.
    """
    from gnomon.native import near as loops

    some = rows[:: max(1, len(rows) // _LOOKED_AT)].tolist()
    own, theirs = ([side[row] for row in some] for side in (systems[number], texts))
    nearer = farther = close = 0
    for place, other in enumerate(systems):
        if place != number:
            outputs = [other[row] for row in some]
            to_own, to_theirs = (loops.near_edits(outputs, side, 1.0) for side in (own, theirs))
            told = (to_own >= 0) & (to_theirs >= 0)
            nearer += int((told & (to_theirs < to_own)).sum())
            farther += int((told & (to_theirs > to_own)).sum())
            lengths = np.array([len(text or "") for text in theirs])
            close += int((told & (to_theirs <= _EDITS * lengths)).sum())
    others = (len(systems) - 1) * len(some)
    amid = nearer > _AMID * farther and nearer - farther > _CLEAR * sqrt(nearer + farther)
    return amid or close > _SHARED * others or not others


def _is_poor(
    systems: Sequence[Sequence[str | None]],
    number: int,
    texts: Sequence[str | None],
    rows: NDArray[np.int64],
) -> bool:
    """True if an output is as good as the references here and there, and much worse elsewhere.

    A system whose output was taken for references is elsewhere about as good as others.
    """
    if len(rows) < _FEWEST // 3:
        return False
    some = rows[:: max(1, len(rows) // _LOOKED_AT)].tolist()
    rates = [_rate([side[row] for row in some], [texts[row] for row in some]) for side in systems]
    others = rates[:number] + rates[number + 1 :]
    return rates[number] > _WORSE * min(others)


def _rate(outputs: list[str | None], texts: list[str | None]) -> float:
    """Edits of a character, of texts that have hardly one in common 1."""
    from gnomon.native import near as loops

    edits = loops.near_edits(outputs, texts, 1.0)
    lengths = np.array([max(len(text or ""), 1) for text in texts])
    return float(np.where(edits < 0, 1.0, edits / lengths).mean())


def _is_long(text: str | None) -> bool:
    if text is None:
        return False
    return text.count(" ") >= _WORDS - 1 or unspaced_letters(text) >= _LETTERS


def _is_beyond(close: NDArray[np.bool_], number: int, limit: float) -> bool:
    """True if a system is close in more segments than a limit, and than the others are.

    Where a third of the others are beyond the limit elsewhere, too, all are close to references.
    """
    own, others = close[number].astype(float), np.delete(close, number, axis=0)
    rest = others[:, own == 0] if (own == 0).sum() >= _FEWEST // 3 else others
    if len(others) and 3 * (rest.mean(axis=1) > limit).sum() >= len(others):
        return False
    excess = own - others.mean(axis=0) if len(others) else own
    return _low_end(own) > limit and _low_end(excess) > _BEYOND


def _low_end(values: NDArray[np.float64]) -> float:
    return float(values.mean() - _Z * values.std(ddof=1) / sqrt(len(values)))
