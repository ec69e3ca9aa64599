"""Scoring candidates against references pair by pair, each distinct pair once.

For metrics whose score of a pair comes from one count (matches, edits) and the two lengths: ROUGE
and TER. Masked variants rescore only the pairs that they change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from gnomon.metrics._token_masks import Sequences, TokenMasks
from gnomon.metrics.tokenise import Tokenised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.tokenise import Tokeniser, TokenTable

__all__ = ["Kernel", "PairCounts", "PairRows", "PairScorer", "pair_rows"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class PairRows:
    """Every candidate beside each of its references, one row each.

    Attributes:
        shape: (K, N).
        cell: int64 [P], system * N + segment; never decreases.
        candidate: int64 [P], index of the candidate's text.
        reference: int64 [P], index of the reference's text.
    """

    shape: tuple[int, int]
    cell: NDArray[np.int64]
    candidate: NDArray[np.int64]
    reference: NDArray[np.int64]

    @property
    def per_cell(self) -> NDArray[np.int64]:
        """Number of references of each cell, int64 [K * N]."""
        return np.bincount(self.cell, minlength=self.shape[0] * self.shape[1])


class PairCounts(NamedTuple):
    """What scoring found for each row: matches or edits, and the sizes of both sides."""

    found: NDArray[np.int64]
    candidate: NDArray[np.int64]
    reference: NDArray[np.int64]


class Kernel(NamedTuple, Generic[T]):
    """How a metric scores two sequences of token ids.

    Attributes:
        prepare: ids -> what ``run`` takes; done once per distinct sequence. The second argument is
            the id of the line break, if it occurs among the tokens.
        size: length of a prepared sequence, as the metric counts it.
        run: (candidate, reference) -> matches or edits.
    """

    prepare: Callable[[list[int], int | None], T]
    size: Callable[[T], int]
    run: Callable[[T, T], int]


class PairScorer(Generic[T]):
    """Scores batches with a kernel; remembers the pairs of the texts that it saw last.

    Attributes:
        tokens: tokens of the texts.
        counted: how many pairs the kernel was run on.
    """

    def __init__(self, tokeniser: Tokeniser, kernel: Kernel[T]) -> None:
        self.tokens = Tokenised(tokeniser)
        self.counted = 0
        self._kernel = kernel
        self._texts: tuple[str, ...] | None = None
        self._known: dict[int, int] = {}

    def counts(self, batch: Batch, rows: PairRows) -> PairCounts:
        """Counts and sizes of all rows."""
        table = self._table(batch)
        side = _Side(self._kernel, table, Sequences(table.offsets, table.ids))
        return self._count(side, side, rows, self._known)

    def variants(
        self, batch: Batch, rows: PairRows, plan: MaskPlan
    ) -> Iterator[tuple[NDArray[np.bool_], PairCounts]]:
        """For each variant of a plan: which rows it changes, and the counts of these."""
        table = self._table(batch)
        masks = TokenMasks.of(table, plan)
        for variant in range(plan.variants):
            chosen = masks.masks(variant)
            touched = np.zeros(len(table), dtype=np.bool_)
            touched[table.text_of[chosen.token]] = True
            changed = touched[rows.candidate] | touched[rows.reference]
            some = PairRows(
                rows.shape, rows.cell[changed], rows.candidate[changed], rows.reference[changed]
            )
            candidates = _Side(self._kernel, table, masks.placed(chosen, "candidate"))
            references = _Side(self._kernel, table, masks.placed(chosen, "reference"))
            yield changed, self._count(candidates, references, some, {})

    def _table(self, batch: Batch) -> TokenTable:
        if self._texts is not batch.texts:
            self._texts, self._known = batch.texts, {}
        return self.tokens.of(batch.texts)

    def _count(
        self, candidates: _Side[T], references: _Side[T], rows: PairRows, known: dict[int, int]
    ) -> PairCounts:
        keys = rows.candidate << 32 | rows.reference
        distinct, back = np.unique(keys, return_inverse=True)
        for key in distinct.tolist():
            if key not in known:
                known[key] = self._kernel.run(candidates[key >> 32], references[key & _LOW])
                self.counted += 1
        counts = np.array([known[key] for key in distinct.tolist()], dtype=np.int64)
        return PairCounts(
            counts[back.reshape(-1)],
            candidates.sizes(rows.candidate),
            references.sizes(rows.reference),
        )


class _Side(Generic[T]):
    """The sequences of all texts as one side of a variant, prepared when first asked for."""

    def __init__(self, kernel: Kernel[T], table: TokenTable, sequences: Sequences) -> None:
        self._kernel = kernel
        self._sequences = sequences
        self._break = table.vocabulary.index("\n") if "\n" in table.vocabulary else None
        self._prepared: dict[int, T] = {}

    def __getitem__(self, text: int) -> T:
        if text not in self._prepared:
            offsets, ids = self._sequences
            own = ids[offsets[text] : offsets[text + 1]].tolist()
            self._prepared[text] = self._kernel.prepare(own, self._break)
        return self._prepared[text]

    def sizes(self, texts: NDArray[np.int64]) -> NDArray[np.int64]:
        distinct, back = np.unique(texts, return_inverse=True)
        sizes = [self._kernel.size(self[text]) for text in distinct.tolist()]
        return np.array(sizes, dtype=np.int64)[back.reshape(-1)]


def pair_rows(batch: Batch) -> PairRows:
    """The rows of a batch, by system, segment, then reference."""
    systems, segments = batch.shape
    cells, candidates, references = [_NONE], [_NONE], [_NONE]
    for k in range(systems):
        ragged = batch.references_of(k)
        segment = np.repeat(np.arange(segments), np.diff(ragged.offsets))
        cells.append(k * segments + segment)
        candidates.append(batch.candidates[k][segment].astype(np.int64))
        references.append(ragged.indices.astype(np.int64))
    return PairRows(batch.shape, *map(np.concatenate, (cells, candidates, references)))


_NONE = np.zeros(0, dtype=np.int64)
_LOW = (1 << 32) - 1
