"""What is compared: candidates beside the references that judge them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.metrics.comparisons import pair_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.batch import Batch

__all__ = ["GramRows", "gram_rows"]


@dataclass(frozen=True, eq=False)
class GramRows:
    """P comparisons of a candidate with one reference, or with several that count together.

    Attributes:
        cell: int64 [P], system * N + segment; never decreases.
        segment: int64 [P], number of the segment in its test set, from 0.
        candidate: int64 [P], text of the candidate.
        offsets: int64 [P + 1]; the references of comparison p are
            ``references[offsets[p]:offsets[p + 1]]``.
        references: int64, texts.
    """

    cell: NDArray[np.int64]
    segment: NDArray[np.int64]
    candidate: NDArray[np.int64]
    offsets: NDArray[np.int64]
    references: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.cell)

    def part(self, rows: slice) -> GramRows:
        """Some of the comparisons."""
        low, high = int(self.offsets[rows.start]), int(self.offsets[rows.stop])
        return GramRows(
            self.cell[rows],
            self.segment[rows],
            self.candidate[rows],
            self.offsets[rows.start : rows.stop + 1] - low,
            self.references[low:high],
        )


def gram_rows(batch: Batch, *, union: bool) -> GramRows:
    """The comparisons of a batch: one for each cell, or one for each cell and reference."""
    rows = pair_rows(batch)
    cell, first = (
        np.unique(rows.cell, return_index=True) if union else (rows.cell, np.arange(len(rows.cell)))
    )
    return GramRows(
        cell=cell,
        segment=batch.segments[cell % max(batch.shape[1], 1)].astype(np.int64),
        candidate=rows.candidate[first],
        offsets=np.append(first, len(rows.cell)),
        references=rows.reference,
    )
