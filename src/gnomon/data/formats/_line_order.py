"""Whether the lines of an output belong to the lines of the reference: shifted, shuffled, repeated.

Each output is looked for among the references by the words that few of them share (pairs of
characters, where spaces part no words). In a file that is in order an output that is found at all
is found at its own line; after a line that is missing, all are found one line on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.scripts import unspaced_language

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

#: a line is looked for among so many references at first, in blocks with their neighbours
_BLOCKS, _BLOCK = 16, 10
_FARTHEST = 3  # lines of a shift
#: words that stand in more of the references than these say little of the place
_RARE, _RAREST = 20, 3
#: pairs of characters are more of a line, and more lines have each
_RARE_PAIRS = 5
_LIKE = 0.3  # of the weight of both lines is shared by lines that are found
_TIMES = 3.0  # as like as its own line is another one where an output is found elsewhere
_LEAST = 5  # lines
_FEW_HOME = 0.2  # of the lines are at home in a file whose order is not looked at further
_SHARE_SHIFTED = 0.03
#: of the lines that are found; by chance at most 1 % stand elsewhere (outputs of WMT 2017 to 2024)
_SHARE_LOOKED, _SHARE_LOST = 0.02, 0.03
#: as many as lines find elsewhere by chance, where texts are of one pattern
_TIMES_CHANCE = 2.0
_CONTROL_STEP, _MOST_CONTROLS = 4, 400
_WORD = re.compile(r"\w+")
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


def misplaced_lines(
    references: Sequence[str | None], outputs: Mapping[str, Sequence[str]]
) -> dict[str, Misplaced]:
    """Outputs whose lines fit other references than their own.

    Some lines of each are looked for among all references; where a few of them are found elsewhere,
    or few at home, all are.

    Args:
        references: a text per segment; None where there is none.
        outputs: a text per segment of each system.
    """
    if not outputs:
        return {}
    n, some = len(references), _blocks(len(references))
    pairs = unspaced_language(references) is not None
    found = {}
    for name, places in _places(references, outputs, some, pairs=pairs).items():
        home = int((places == some).sum())
        away = int((places >= 0).sum()) - home
        if away < max(_LEAST - 1, _SHARE_LOOKED * home) and _FEW_HOME * len(some) <= home:
            continue
        rows = np.arange(n) if n <= _MOST else np.linspace(0, n - 1, _MOST).astype(np.int64)
        whole = _places(references, {name: outputs[name]}, rows, pairs=pairs)[name]
        wrong = _verdict(whole, rows)
        if wrong is None:
            continue
        if not wrong.shift and not wrong.exchanged:
            lost = len(rows) - wrong.found + wrong.segments
            if wrong.segments < _TIMES_CHANCE * lost * _found_by_chance(references, pairs=pairs):
                continue
        found[name] = wrong
    return found


def _places(
    references: Sequence[str | None],
    outputs: Mapping[str, Sequence[str]],
    rows: NDArray[np.int64],
    *,
    pairs: bool,
) -> dict[str, NDArray[np.int64]]:
    """The reference that each of some lines fits, its own where it fits nearly as well; else -1."""
    from gnomon.native import lines as loops  # compiled

    texts = [text or "" for text in references]
    texts += [output[row] for output in outputs.values() for row in rows.tolist()]
    offsets, ids, terms = (_character_pairs if pairs else _words)(texts)
    most = min(max(len(references) // _RARE, _RAREST), _RARE_PAIRS if pairs else _RARE)
    own = np.tile(rows, len(outputs))
    found = loops.places(offsets, ids, terms, len(references), own, most, _LIKE, _TIMES)
    return dict(zip(outputs, found.reshape(len(outputs), -1), strict=True))


def _found_by_chance(references: Sequence[str | None], *, pairs: bool) -> float:
    """The share of references that fit another one when their own is taken away."""
    rows = np.arange(0, len(references), _CONTROL_STEP)[:_MOST_CONTROLS]
    gone = set(rows.tolist())
    others = [None if row in gone else text for row, text in enumerate(references)]
    texts = [text or "" for text in references]
    (places,) = _places(others, {"": texts}, rows, pairs=pairs).values()
    return float((places >= 0).mean())


def _words(texts: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    from gnomon.native import text as loops

    def reread(at: int) -> str:
        return " ".join(texts[at].split())

    offsets, ids, _, spelled = loops.tokens_of(texts, loops.T13A, True, reread)  # noqa: FBT003
    return offsets, ids, len(spelled) - 1


def _character_pairs(texts: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    letters = ["".join(_WORD.findall(text.casefold())) for text in texts]
    offsets = np.cumsum([0, *(max(len(text) - 1, 0) for text in letters)])
    codes = np.frombuffer("".join(letters).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    inside = np.ones(max(len(codes) - 1, 0), dtype=bool)  # not from the end of a text to the next
    inside[np.cumsum([len(text) for text in letters if text])[:-1] - 1] = False
    keys = codes[:-1].astype(np.int64) << 21 | codes[1:]
    terms, ids = np.unique(keys[inside], return_inverse=True)
    return offsets, ids.astype(np.int32), len(terms)


def _blocks(n: int) -> NDArray[np.int64]:
    """Segments in blocks, spread over the test set; all of a small one."""
    if n <= _BLOCKS * (_BLOCK + 2 * _FARTHEST):
        return np.arange(n)
    starts = np.linspace(0, n - _BLOCK, _BLOCKS).astype(np.int64)
    return np.unique(starts[:, None] + np.arange(_BLOCK))


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
