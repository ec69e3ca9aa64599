"""The distinct cells of a batch: what there is to explain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.bmx._scorer import Role

__all__ = ["Cell", "Cells", "cells_of"]


class Cell(NamedTuple):
    """A candidate and what it is judged by, in numbers of the batch's texts.

    Attributes:
        segment: position in the batch.
        candidate: the text.
        others: its references; or the source; or nothing.
        source: the source beside the references; -1 for none.
        system: position in the batch, for metrics that look at its name; else -1.
    """

    segment: int
    candidate: int
    others: tuple[int, ...]
    source: int
    system: int


@dataclass(frozen=True, eq=False)
class Cells:
    """Distinct cells, segment by segment.

    Attributes:
        distinct: the cells.
        of: int64 [K * N], the distinct cell of system k and segment i at k * N + i.
    """

    distinct: tuple[Cell, ...]
    of: NDArray[np.int64]


def cells_of(batch: Batch, role: Role, *, by_system: bool) -> Cells:
    """The distinct cells of a batch: systems with equal outputs share theirs.

    Args:
        batch: the texts.
        role: what candidates are judged by.
        by_system: systems share nothing, their scores depend on their names.
    """
    systems, segments = batch.shape
    number: dict[Cell, int] = {}
    of = np.empty((systems, segments), dtype=np.int64)
    ragged = [batch.references_of(k) for k in range(systems)]
    for i in range(segments):
        source = -1 if batch.sources is None else int(batch.sources[i])
        for k in range(systems):
            candidate = int(batch.candidates[k, i])
            own = k if by_system else -1
            if role == "reference":
                cell = Cell(i, candidate, tuple(ragged[k][i].tolist()), source, own)
            else:
                cell = Cell(i, candidate, (source,) if role else (), -1, own)
            of[k, i] = number.setdefault(cell, len(number))
    return Cells(tuple(number), of.ravel())
