"""Checks that lines of outputs belong to those of the reference: shifts, shuffles, repetitions.

Each output is looked for among the references by the words that few of them share (pairs of
characters, where spaces part no words). In a file that is in order an output that is found at all
is found at its own line; after a line that is missing, all are found one line on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.testset import TestSet
from gnomon.data.formats.line_sample import SomeLines, pick_references

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

_FARTHEST = 3  # lines of a shift
_LEAST = 5  # lines
_FEW_HOME = 0.2  # of the lines are at home in a file whose order is not looked at further
_SHARE_SHIFTED = 0.03
#: of the lines that are found; by chance at most 1 % stand elsewhere (outputs of WMT 2017 to 2024)
_SHARE_LOOKED, _SHARE_LOST = 0.02, 0.03
#: as many as lines find elsewhere by chance, where texts are of one pattern
_TIMES_CHANCE = 2.0
_CONTROL_STEP, _MOST_CONTROLS = 4, 400
#: lines of which the order is told; of more, as many evenly
_MOST = 3000


class Misplaced(NamedTuple):
    """Lines that stand elsewhere than the references that they fit.

    Attributes:
        shift: by how many lines: output i fits reference i + shift; 0 where they are in no order.
        first: the first such line, from 0.
        segments: how many there are.
        found: how many outputs fit any reference.
        exchanged: neighbours stand in each other's place.
    """

    shift: int
    first: int
    segments: int
    found: int
    exchanged: bool = False


def misplaced_lines(lines: SomeLines, systems: Collection[str]) -> dict[str, Misplaced]:
    """Outputs whose lines fit other references than their own.

    Where a few of some lines are found elsewhere, or few at home, all are looked for.

    Args:
        lines: some lines of a test set.
        systems: which outputs.
    """
    found: dict[str, Misplaced] = {}
    chance: float | None = None
    n = lines.testset.segments
    for name, places in lines.places().items():
        home = int((places == lines.rows).sum())
        away = int((places >= 0).sum()) - home
        few_away = away < max(_LEAST - 1, _SHARE_LOOKED * home)
        if name not in systems or (few_away and _FEW_HOME * len(places) <= home):
            continue
        rows = np.arange(n) if n <= _MOST else np.linspace(0, n - 1, _MOST).astype(np.int64)
        wrong = _verdict(SomeLines(lines.testset, [name], rows).places()[name], rows)
        if wrong is None:
            continue
        if not wrong.shift and not wrong.exchanged:
            lost = len(rows) - wrong.found + wrong.segments
            chance = _chance_share(lines.testset) if chance is None else chance
            if wrong.segments < _TIMES_CHANCE * lost * chance:
                continue
        found[name] = wrong
    return found


def _chance_share(testset: TestSet) -> float:
    """The share of references that fit another one when their own is taken away."""
    texts = [text or "" for text in pick_references(testset)]
    rows = np.arange(0, len(texts), max(_CONTROL_STEP, -(-len(texts) // _MOST_CONTROLS)))
    gone = set(rows.tolist())
    others = [None if row in gone else text for row, text in enumerate(texts)]
    control = TestSet(name="", references={"": others}, systems={"": texts})
    return float((SomeLines(control, rows=rows).places()[""] >= 0).mean())


def _verdict(places: NDArray[np.int64], rows: NDArray[np.int64]) -> Misplaced | None:
    there = np.flatnonzero(places >= 0)
    away = (places - rows)[there]
    moved = int((away != 0).sum())
    ahead = np.flatnonzero((away[:-1] == 1) & (away[1:] == -1) & (np.diff(rows[there]) == 1))
    exchanged = np.zeros(len(away), dtype=np.bool_)
    exchanged[ahead] = exchanged[ahead + 1] = True
    shifts = sorted(range(-_FARTHEST, _FARTHEST + 1), key=abs)[1:]
    candidates = [(shift, (away == shift) & ~exchanged) for shift in shifts]
    for shift, those in [(0, exchanged), *candidates]:
        run = _best_run(np.where(those, 1, np.where((away == 0) | exchanged, -1, 0)))
        count = int(those[slice(*run)].sum())
        if count >= max(_LEAST, _SHARE_SHIFTED * len(there)) and 2 * count > run[1] - run[0]:
            first = int(rows[there[run[0]]])
            return Misplaced(shift, first, count, len(there), exchanged=not shift)
    # of a poor output few lines are found at all, and some of these by chance
    if moved >= max(_LEAST, _SHARE_LOST * len(there)) and len(there) >= _FEW_HOME * len(rows):
        first = int(rows[there[np.flatnonzero(away != 0)[0]]])
        return Misplaced(0, first, moved, len(there))
    return None


def _best_run(values: NDArray[np.int64]) -> tuple[int, int]:
    """First and one after last of the run with the largest sum."""
    best, bounds, total, first = 0, (0, 0), 0, 0
    for at, value in enumerate(values.tolist()):
        if total <= 0:
            total, first = 0, at
        total += value
        if total > best:
            best, bounds = total, (first, at + 1)
    return bounds
