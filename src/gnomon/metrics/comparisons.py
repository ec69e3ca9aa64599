"""The distinct comparisons of a batch: candidates, each against one reference or against many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.threads import map_in_threads, workers
from gnomon.metrics.masking import Action
from gnomon.metrics.ngrams import TextPairs
from gnomon.metrics.sequences import TokenMasks, offsets_of, ranges
from gnomon.metrics.tokenise import Tokenised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch, Ragged
    from gnomon.core.testset import TestSet
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.sequences import PlacedMasks
    from gnomon.metrics.tokenise import Tokeniser

__all__ = [
    "PairRows",
    "TextComparisons",
    "TokenisedTexts",
    "best_pairs",
    "compute_in_blocks",
    "masked_scores",
    "pair_keys",
    "pair_rows",
    "pairs_of",
    "reference_count",
    "references_field",
]


N = TypeVar("N", bound=np.generic)


# The distinct comparisons of a batch: candidate texts, each against a list of references.


#: comparisons whose n-grams are laid out at a time: at most, and at least where threads share them
_BLOCK, _LEAST = 16384, 512
#: blocks of each thread, as some take longer than others
_BLOCKS = 4


@dataclass(frozen=True, eq=False)
class TextComparisons:
    """P distinct comparisons; equal texts with equal references are compared once."""

    shape: tuple[int, int]  # (K, N)
    # [K, N], the comparison of each cell; -1 where a segment has no reference
    cell: NDArray[np.int64]
    candidate: NDArray[np.int64]  # [P], candidate text
    group: NDArray[np.int64]  # [P], list of references; ascending
    offsets: NDArray[np.int64]  # [groups + 1], bounds of each list in ``references``
    references: NDArray[np.int64]  # reference texts

    @classmethod
    def collect(cls, batch: Batch) -> TextComparisons:
        """The comparisons that scoring a batch needs."""
        groups: dict[tuple[int, ...], int] = {}
        cell_group = np.zeros(batch.shape, dtype=np.int64)
        shared = _number_lists(batch.references, groups)
        for system in range(batch.shape[0]):
            references = batch.system_references.get(system)
            cell_group[system] = shared if references is None else _number_lists(references, groups)
        texts = max(1, len(batch.texts))
        keys = np.where(cell_group < 0, -1, cell_group * texts + batch.candidates)
        order = np.argsort(keys, axis=None)
        distinct, rank = _rank(keys.reshape(-1)[order])
        # the cells without a reference come first
        missing = int(distinct[0] < 0) if len(distinct) else 0
        cell = np.empty(batch.shape, dtype=np.int64)
        cell.reshape(-1)[order] = rank - missing
        group, candidate = np.divmod(distinct[missing:], texts)
        lengths = np.fromiter(map(len, groups), dtype=np.int64, count=len(groups))
        flat = np.fromiter(chain.from_iterable(groups), dtype=np.int64, count=int(lengths.sum()))
        return cls(batch.shape, cell, candidate, group, offsets_of(lengths), flat)

    def changed(self, texts: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The comparisons in which one of some texts takes part."""
        touched = np.zeros(len(self.offsets) - 1, dtype=np.bool_)
        touched[self._owner[texts[self.references]]] = True
        return np.flatnonzero(texts[self.candidate] | touched[self.group])

    @cached_property
    def _owner(self) -> NDArray[np.int64]:
        """The list of each reference."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def spread(self, values: NDArray[np.float64], missing: float) -> NDArray[np.float64]:
        """Values [P, ...] of comparisons to cells [K, N, ...]."""
        if (self.cell < 0).any():
            values = np.concatenate([values, np.full((1, *values.shape[1:]), missing)])
        cells: NDArray[np.float64] = values[self.cell]
        return cells

    def lists(self, groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The reference texts of some groups, and the position of each text's group in these."""
        lengths = np.diff(self.offsets)[groups]
        texts = self.references[ranges(self.offsets[groups], lengths)]
        return texts, np.repeat(np.arange(len(groups)), lengths)

    def pairing(self, rows: NDArray[np.int64]) -> TextPairs:
        """Some comparisons (ascending), each candidate against all of its references."""
        groups, group = _rank(self.group[rows])
        references, owner = self.lists(groups)
        return TextPairs(self.candidate[rows], group, references, owner)

    def pairs(self, rows: NDArray[np.int64]) -> PairRows:
        """Some comparisons beside each of their references, each a cell of one system."""
        starts = self.offsets[self.group[rows]]
        counts = self.offsets[self.group[rows] + 1] - starts
        cell = np.repeat(np.arange(len(rows)), counts)
        references = self.references[ranges(starts, counts)]
        return PairRows((1, len(rows)), cell, self.candidate[rows][cell], references)


class TokenisedTexts:
    """A bound metric's memory of the texts that it saw last, and counts of its work."""

    def __init__(self, tokeniser: Tokeniser, *, cut: bool = False) -> None:
        """With ``cut``, masks are on the characters of spans, not on whole tokens."""
        self.tokens = Tokenised(tokeniser)
        self._cut = cut
        self.compared = 0
        self.rescored = 0
        self._masks: TokenMasks | None = None
        self._base: tuple[Batch, TextComparisons, NDArray[np.float64]] | None = None
        self._pairs: tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]] | None = None

    def forget(self) -> None:
        """Let go of the texts: what keeps the metric for its formula does not keep them."""
        self.tokens.forget()
        self._masks = self._base = self._pairs = None

    def base(
        self, batch: Batch, count: Callable[[Batch, TextComparisons], NDArray[np.float64]]
    ) -> tuple[TextComparisons, NDArray[np.float64]]:
        """The comparisons of a batch and their unmasked statistics; counted once for a batch."""
        if self._base is None or self._base[0] is not batch:
            comparisons = TextComparisons.collect(batch)
            self._base = batch, comparisons, count(batch, comparisons)
            self.compared += len(comparisons.candidate)
        return self._base[1:]

    def pair_counts(
        self,
        texts: tuple[str, ...],
        keys: NDArray[np.int64],
        count: Callable[[NDArray[np.int64]], NDArray[np.int64]],
    ) -> NDArray[np.int64]:
        """Counts of distinct unmasked pairs; each is counted once for all batches of texts."""
        if self._pairs is None or self._pairs[0] is not texts:
            self._pairs = texts, _NONE, _NONE
        _, counted, counts = self._pairs
        new = np.setdiff1d(keys, counted, assume_unique=True)
        if len(new):
            counted, counts = np.concatenate([counted, new]), np.concatenate([counts, count(new)])
            order = np.argsort(counted, kind="stable")
            counted, counts = counted[order], counts[order]
            self._pairs = texts, counted, counts
        return counts[np.searchsorted(counted, keys)]

    def masks(self, batch: Batch, plan: MaskPlan) -> TokenMasks:
        """Which tokens a plan masks; found once for all plans over the same spans."""
        tokens = self.tokens.tokenise(batch.texts)
        last = self._masks
        masks = last.change_plan(plan) if last is not None and last.whole is tokens else None
        self._masks = masks or TokenMasks.locate(tokens, plan, cut=self._cut)
        return self._masks


class Rescore(Protocol):
    """Scores some comparisons (ascending) under the masks of a variant.

    Returns one array of scores, or, with ``both``, also the scores if all masks were private.
    """

    def __call__(
        self, rows: NDArray[np.int64], chosen: PlacedMasks, *, both: bool
    ) -> tuple[NDArray[np.float64], ...]: ...


def masked_scores(
    comparisons: TextComparisons,
    base: NDArray[np.float64],  # [P], unmasked scores
    masks: TokenMasks,
    rescore: Rescore,
) -> tuple[NDArray[np.float64], int]:
    """Scores of every variant; comparisons that a variant leaves alone keep their base score.

    Returns float64 [V, K, N], and how many comparisons were rescored, each variant apart.
    """
    scores = np.empty((masks.plan.variants, *comparisons.shape))

    def rescored(job: tuple[int, bool]) -> int:
        variant, both = job
        chosen = masks.masks(variant)
        rows = comparisons.changed(masks.touched(chosen))
        changed = rescore(rows, chosen, both=both) if len(rows) else (base[rows],) * (1 + both)
        for offset, values in enumerate(changed):
            column = base.copy()
            column[rows] = values
            scores[variant + offset] = comparisons.spread(column, np.nan)
        return len(rows) * (1 + both)

    return scores, sum(map_in_threads(rescored, list(_jobs(masks.plan))))


def _jobs(plan: MaskPlan) -> Iterator[tuple[int, bool]]:
    """Every variant; an oracle with the anti-oracle that follows it is one job."""
    variant = 0
    while variant < plan.variants:
        both = variant + 1 < plan.variants and _is_oracle(*plan.actions[variant : variant + 2])
        yield variant, both
        variant += 1 + both


def _is_oracle(first: NDArray[np.int8], second: NDArray[np.int8]) -> bool:
    shared, private = first == Action.SHARED, second == Action.PRIVATE
    return bool(
        (shared == private).all()
        and (shared == (first != Action.KEEP)).all()
        and (private == (second != Action.KEEP)).all()
    )


def compute_in_blocks(
    rows: NDArray[np.int64],
    compare: Callable[[NDArray[np.int64]], NDArray[N]],
    *,
    axis: int = -1,
) -> NDArray[N]:
    """Compute values of comparisons block by block along an axis: memory stays bounded."""
    size = _BLOCK
    if workers() > 1:
        size = min(max(_LEAST, -(-len(rows) // (_BLOCKS * workers()))), _BLOCK)
    starts = range(0, max(len(rows), 1), size)
    blocks = map_in_threads(lambda at: compare(rows[at : at + size]), starts)
    first = next(blocks)
    if len(rows) <= size:
        return first
    shape = list(first.shape)
    shape[axis] = len(rows)
    # filled as results come: parts of it take the place of those before
    every = np.empty(shape, dtype=first.dtype)
    along = np.moveaxis(every, axis, 0)
    for at, block in zip(starts, chain([first], blocks), strict=True):
        along[at : at + size] = np.moveaxis(block, axis, 0)
    return every


def reference_count(batch: Batch) -> str:
    """References per segment, as sacreBLEU writes it: a number, or ``var``.

    Only the shared references count; output-specific ones come beside them.
    """
    counts = set((batch.references.offsets[1:] - batch.references.offsets[:-1]).tolist())
    return "var" if len(counts) > 1 else str(next(iter(counts), 0))


def references_field(testset: TestSet, metric: str) -> dict[str, str]:
    """The signature's count of references, as sacreBLEU writes it: a number or ``var``."""
    if not testset.references and not testset.system_references:
        raise DataError(
            f"{metric} compares with references, and test set {testset.name!r} has none; give at"
            " least one reference"
        )
    columns = testset.references.values()
    counts = {sum(text is not None for text in row) for row in zip(*columns, strict=True)}
    field = {"refs": "var" if len(counts) > 1 else str(next(iter(counts), 0))}
    own_references = len(testset.system_references)
    return {**field, "own_refs": str(own_references)} if own_references else field


def _rank(ascending: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct values of ascending ones, and the rank of each value among them."""
    new = np.ones(len(ascending), dtype=np.bool_)
    new[1:] = ascending[1:] != ascending[:-1]
    return ascending[new], np.cumsum(new) - 1


def _number_lists(ragged: Ragged, groups: dict[tuple[int, ...], int]) -> NDArray[np.int64]:
    """The number of each list; -1 for empty ones."""
    indices = ragged.indices.tolist()
    rows = [tuple(indices[low:high]) for low, high in pairwise(ragged.offsets.tolist())]
    return np.array([groups.setdefault(row, len(groups)) if row else -1 for row in rows], np.int64)


# Candidates beside references, pair by pair.


@dataclass(frozen=True, eq=False)
class PairRows:
    """Every candidate beside each of its references, one row each."""

    shape: tuple[int, int]  # (K, N)
    cell: NDArray[np.int64]  # [P], system * N + segment; never decreases
    candidate: NDArray[np.int64]  # [P], index of the candidate's text
    reference: NDArray[np.int64]  # [P], index of the reference's text

    @property
    def per_cell(self) -> NDArray[np.int64]:
        """Number of references of each cell, int64 [K * N]."""
        return np.bincount(self.cell, minlength=self.shape[0] * self.shape[1])

    def select(self, rows: NDArray[np.int64]) -> PairRows:
        """Some of the rows."""
        return PairRows(self.shape, self.cell[rows], self.candidate[rows], self.reference[rows])


def best_pairs(cell: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each distinct cell its first row with the highest score; ``cell`` ascends."""
    order = np.lexsort((-scores, cell))
    first = np.ones(len(cell), dtype=np.bool_)
    first[1:] = cell[1:] != cell[:-1]
    return order[first]


def pair_keys(rows: PairRows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each pair of texts once, as a number, and where each row's pair is among these.

    Pairs of a reference follow each other, which is how loops are quickest.
    """
    keys, back = np.unique(rows.reference << 32 | rows.candidate, return_inverse=True)
    return keys, back.reshape(-1)


def pairs_of(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pairs (candidate, reference) that numbers stand for, int64 [P, 2]."""
    return np.stack([keys & _LOW, keys >> 32], axis=-1)


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
