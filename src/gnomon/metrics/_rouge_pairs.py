"""What many candidates share with their references, and the sizes of both sides."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.metrics._rouge_kernels import KERNELS
from gnomon.metrics._rouge_table import RougeTokens
from gnomon.metrics._token_masks import Sequences, TokenMasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics._pairs import PairRows
    from gnomon.metrics._rouge_tokens import RougeTokeniser
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["Overlaps", "RougePairs", "plain_overlaps"]

_COMPILED = "gnomon.metrics._rouge_compiled"
#: tokens of the pairs to compare from which on loading the compiled loops pays
_MUCH = 200_000


class Overlaps(NamedTuple):
    """What each pair shares (n-grams, tokens of a subsequence), and the sizes of both sides."""

    found: NDArray[np.int64]
    candidate: NDArray[np.int64]
    reference: NDArray[np.int64]


class RougePairs:
    """Counts what pairs share under one type of ROUGE; remembers the unmasked pairs seen last.

    Attributes:
        tokens: tokens of the texts.
        counted: how many pairs were compared.
    """

    def __init__(self, kind: str, tokeniser: RougeTokeniser) -> None:
        self.tokens = RougeTokens(tokeniser)
        self.counted = 0
        self._kind = kind
        self._break: tuple[TokenTable, int | None] | None = None
        self._last: tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]] | None = None

    def overlaps(self, batch: Batch, rows: PairRows) -> Overlaps:
        """What the rows share, unmasked."""
        table = self.tokens.of(batch.texts)
        plain = Sequences(table.offsets, table.ids)
        keys, back = _distinct(rows.candidate, rows.reference)
        last = self._last
        if last is None or last[0] is not batch.texts or not np.array_equal(keys, last[1]):
            last = batch.texts, keys, self._count(table, plain, plain, keys, 1)
            self._last = last
        sizes = self._sizes(table, plain)
        return Overlaps(last[2][back], sizes[rows.candidate], sizes[rows.reference])

    def variants(
        self, batch: Batch, rows: PairRows, plan: MaskPlan
    ) -> Iterator[tuple[NDArray[np.bool_], Overlaps]]:
        """For each variant of a plan: which rows it changes, and what these share."""
        table = self.tokens.of(batch.texts)
        masks = TokenMasks.of(table, plan)
        for variant in range(plan.variants):
            chosen = masks.masks(variant)
            touched = masks.touched(chosen)
            changed = touched[rows.candidate] | touched[rows.reference]
            candidate, reference = rows.candidate[changed], rows.reference[changed]
            sides = masks.placed(chosen, "candidate"), masks.placed(chosen, "reference")
            keys, back = _distinct(candidate, reference)
            found = self._count(table, *sides, keys, plan.variants)
            own, other = (self._sizes(table, side) for side in sides)
            yield changed, Overlaps(found[back], own[candidate], other[reference])

    def _count(
        self,
        table: TokenTable,
        candidates: Sequences,
        references: Sequences,
        keys: NDArray[np.int64],
        times: int,
    ) -> NDArray[np.int64]:
        pairs = np.stack([keys >> 32, keys & _LOW], axis=-1)
        self.counted += len(pairs)
        line_break = self._line_break(table)
        work = times * int(candidates.lengths[pairs[:, 0]].sum())
        loops = _loops(work)
        if loops is None:
            return plain_overlaps(self._kind, candidates, references, pairs, line_break)
        return _compiled_overlaps(loops, self._kind, candidates, references, pairs, line_break)

    def _sizes(self, table: TokenTable, side: Sequences) -> NDArray[np.int64]:
        """The size of each text as the type counts it, int64 [T]."""
        if self._kind == "rouge2":
            return np.maximum(side.lengths - 1, 0)
        line_break = self._line_break(table)
        if line_break is None:
            return side.lengths
        breaks = np.concatenate([[0], np.cumsum(side.ids == line_break)])
        return side.lengths - np.diff(breaks[side.offsets])

    def _line_break(self, table: TokenTable) -> int | None:
        """The id between two sentences, where it occurs; looked up once per table."""
        if self._kind != "rougeLsum":
            return None
        if self._break is None or self._break[0] is not table:
            found = table.vocabulary.index("\n") if "\n" in table.vocabulary else None
            self._break = table, found
        return self._break[1]


def plain_overlaps(
    kind: str,
    candidates: Sequences,
    references: Sequences,
    pairs: NDArray[np.int64],
    line_break: int | None,
) -> NDArray[np.int64]:
    """What pairs share, by the definition.

    Args:
        kind: type of ROUGE.
        candidates: ids of all texts as candidates.
        references: ids of all texts as references.
        pairs: int64 [P, 2], (candidate, reference).
        line_break: the id between two sentences, if it occurs.
    """
    kernel = KERNELS[kind]
    prepared: list[dict[int, Any]] = [{}, {}]

    def side(number: int, sequences: Sequences, text: int) -> Any:  # the kernel knows its type
        if text not in prepared[number]:
            offsets, ids = sequences
            own = ids[offsets[text] : offsets[text + 1]].tolist()
            prepared[number][text] = kernel.prepare(own, line_break)
        return prepared[number][text]

    counts = [
        kernel.run(side(0, candidates, own), side(1, references, other))
        for own, other in pairs.tolist()
    ]
    return np.array(counts, dtype=np.int64)


def _compiled_overlaps(
    loops: Any,  # a module
    kind: str,
    candidates: Sequences,
    references: Sequences,
    pairs: NDArray[np.int64],
    line_break: int | None,
) -> NDArray[np.int64]:
    """The same as :func:`plain_overlaps`, in machine code."""
    low = min(
        (int(side.ids.min()) for side in (candidates, references) if len(side.ids)), default=0
    )
    high = max(
        (int(side.ids.max()) for side in (candidates, references) if len(side.ids)), default=0
    )
    span = high - low + 1
    own, other = (side.ids.astype(np.int64) - low for side in (candidates, references))
    sides = (candidates.offsets, own, pairs, references.offsets, other, span)
    if kind in ("rouge1", "rouge2"):
        found: NDArray[np.int64] = loops.shared_ngrams(int(kind[-1]), *sides)
    elif line_break is None:
        found = loops.common_subsequences(*sides)
    else:
        found = loops.union_subsequences(line_break - low, *sides)
    return found


def _loops(work: int) -> Any:  # a module
    """The compiled loops, where they pay or are there already."""
    if work < _MUCH:
        return sys.modules.get(_COMPILED)
    return import_module(_COMPILED)


def _distinct(
    candidate: NDArray[np.int64], reference: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each pair of texts once, as one number, and where each row's pair is among them."""
    keys, back = np.unique(candidate << 32 | reference, return_inverse=True)
    return keys, back.reshape(-1)


_LOW = (1 << 32) - 1
