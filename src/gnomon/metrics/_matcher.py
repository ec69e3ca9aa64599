"""From the texts of a batch to best matches, masked or not.

What was found for the batch seen last is kept with the encoder: metrics that differ in weights,
baseline or part of the score do not encode it again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.metrics._similarities import similarities
from gnomon.metrics._token_masks import TokenMasks
from gnomon.metrics.masking import Action
from gnomon.metrics.matching import Matches, Side, TokenRows
from gnomon.metrics.tokenise import Places, TokenTable, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics._pairs import PairRows
    from gnomon.metrics._similarities import Best, Similarities
    from gnomon.metrics.masking import MaskPlan
    from gnomon.models import Encoder, Pieces


__all__ = ["Matcher", "Seen"]


class _Memory(NamedTuple):
    texts: tuple[str, ...]
    keys: NDArray[np.int64]  # pairs as numbers, ascending
    seen: Seen

    def holds(self, texts: tuple[str, ...], keys: NDArray[np.int64]) -> bool:
        """Whether these pairs of these texts are known."""
        same = self.texts is texts or self.texts == texts
        return same and bool(np.isin(keys, self.keys).all())


@dataclass(frozen=True, eq=False)
class Seen:
    """What is known of D distinct pairs of the texts of a batch."""

    texts: NDArray[np.int64]
    pieces: Pieces
    similarities: Similarities
    candidate: Side
    reference: Side


class Matcher:
    """Matches the pieces of candidates with those of other texts.

    Args:
        encoder: texts to vectors.
        weigh: from pieces to the weight of each.
        special: whether special pieces may be matched ("match") or not ("exclude").
    """

    def __init__(
        self, encoder: Encoder, weigh: Callable[[Pieces], NDArray[np.float64]], special: str
    ) -> None:
        self.encoder = encoder
        self._weigh = weigh
        self._special = special
        self._tokens: tuple[Pieces, TokenRows] | None = None

    def seen(self, batch: Batch, rows: PairRows) -> tuple[Seen, NDArray[np.int64]]:
        """What is known of the pairs of some rows, and the pair of each row, int64 [P]."""
        keys = rows.candidate << 32 | rows.reference
        name = f"similarities, special {self._special}"
        last: _Memory | None = self.encoder.memory.get(name)
        if last is None or not last.holds(batch.texts, keys):
            last = _Memory(batch.texts, *self._look(batch, rows, keys))
            self.encoder.memory[name] = last
        return last.seen, np.searchsorted(last.keys, keys)

    def tokens(self, pieces: Pieces) -> TokenRows:
        """The pieces with their weights."""
        if self._tokens is None or self._tokens[0] is not pieces:
            rows = TokenRows(
                offsets=pieces.offsets,
                type=pieces.ids,
                word=pieces.word,
                start=pieces.start,
                end=pieces.end,
                special=pieces.special,
                weight=self._weigh(pieces),
            )
            self._tokens = pieces, rows
        return self._tokens[1]

    def matches(self, batch: Batch, rows: PairRows) -> Matches:
        """Best matches of the texts as they are."""
        seen, pair = self.seen(batch, rows)
        tokens = self.tokens(seen.pieces)
        return Matches(
            rows.shape, rows.cell, pair, seen.texts, tokens, seen.candidate, seen.reference
        )

    def variants(self, batch: Batch, rows: PairRows, plan: MaskPlan) -> Iterator[Matches]:
        """Best matches of every variant of a plan (Karidi et al., appendix C)."""
        base = self.matches(batch, rows)
        seen, _ = self.seen(batch, rows)
        masks = TokenMasks.of(_table(seen.pieces, self.encoder.identity), plan)
        for variant in range(plan.variants):
            chosen = masks.masks(variant)
            action = np.zeros(len(seen.pieces.ids), dtype=np.int8)
            action[chosen.token] = chosen.action
            yield replace(
                base,
                candidate=_masked(seen, action, self.targets(seen.pieces), 0),
                reference=_masked(seen, action, self.targets(seen.pieces), 1),
            )

    def targets(self, pieces: Pieces) -> NDArray[np.bool_]:
        """Which pieces may be matched, bool [rows]."""
        return ~pieces.special if self._special == "exclude" else np.ones_like(pieces.special)

    def _look(
        self, batch: Batch, rows: PairRows, keys: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], Seen]:
        distinct, first = np.unique(keys, return_index=True)
        texts = np.stack([distinct >> 32, distinct & _LOW], axis=-1)
        pieces = self.encoder.pieces(batch.texts, np.unique(texts).tolist())
        segment = rows.cell[first] % max(rows.shape[1], 1)
        order = np.argsort(segment, kind="stable")
        found = similarities(self.encoder, pieces, texts, order, self.targets(pieces))
        sides = [
            _side(pieces, texts, number, best)
            for number, best in enumerate((found.candidate, found.other))
        ]
        return distinct, Seen(texts, pieces, found, *sides)


_LOW = (1 << 32) - 1


def _side(pieces: Pieces, texts: NDArray[np.int64], side: int, best: Best) -> Side:
    sizes = pieces.lengths[texts]
    offsets = np.concatenate([[0], np.cumsum(sizes[:, side])])
    token = _ranges(pieces.offsets[texts[:, side]], sizes[:, side])
    other = np.repeat(pieces.offsets[texts[:, 1 - side]], sizes[:, side])
    at = np.where(best.place >= 0, other + best.place, -1)
    return Side(offsets, token, best.value, at)


def _masked(seen: Seen, action: NDArray[np.int8], targets: NDArray[np.bool_], number: int) -> Side:
    """One side's best matches under a variant.

    A private mask matches nothing. A shared mask matches a shared mask on the other side fully.
    All else keeps its best match among the tokens that are not privately masked.
    """
    side = seen.reference if number else seen.candidate
    own, other = action[side.token], seen.texts[:, 1 - number]
    shared = _has(seen.pieces, action == Action.SHARED)[other][side.pair]
    private = _has(seen.pieces, action == Action.PRIVATE)[other][side.pair]
    lost = (side.at >= 0) & (action[side.at] == Action.PRIVATE)
    best, at = side.best.copy(), side.at.copy()
    full = (own == Action.SHARED) & shared
    again = np.flatnonzero(lost & ~full & (own != Action.PRIVATE))
    best[again] = _rematched(seen, again, targets & (action != Action.PRIVATE), number)
    at[again] = -1
    np.maximum(best, 0, out=best, where=private)
    best[full], at[full] = 1.0, -1
    gone = own == Action.PRIVATE
    best[gone], at[gone] = 0.0, -1
    return replace(side, best=best, at=at)


def _has(pieces: Pieces, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which texts have a marked piece, bool [T]."""
    before = np.concatenate([[0], np.cumsum(marked)])
    return before[pieces.offsets[1:]] > before[pieces.offsets[:-1]]


def _rematched(
    seen: Seen, slots: NDArray[np.int64], open_: NDArray[np.bool_], number: int
) -> NDArray[np.float32]:
    """The best similarity of some slots to open tokens of the other side; 0 where none is."""
    if not len(slots):
        return np.zeros(0, dtype=np.float32)
    side = seen.reference if number else seen.candidate
    pair = side.pair[slots]
    position = slots - side.offsets[pair]
    sizes = seen.pieces.lengths[seen.texts[pair]]
    width, start = sizes[:, 1], seen.similarities.offsets[pair]
    counts = sizes[:, 1 - number]
    step = np.repeat(np.where(number == 0, 1, width), counts)
    first = np.repeat(start + position * (width if number == 0 else 1), counts)
    within = _ranges(np.zeros_like(counts), counts)
    values = np.asarray(seen.similarities.values[first + step * within])
    target = _ranges(seen.pieces.offsets[seen.texts[pair, 1 - number]], counts)
    values[~open_[target]] = 0.0
    bounds = np.cumsum(counts) - counts
    return np.maximum.reduceat(values, bounds)


def _ranges(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers from each start on, as many as its size, one range after the other."""
    before = np.cumsum(sizes) - sizes
    numbers: NDArray[np.int64] = np.arange(int(sizes.sum())) + np.repeat(starts - before, sizes)
    return numbers


def _table(pieces: Pieces, name: str) -> TokenTable:
    """The pieces as a table that spans can be laid over."""
    return TokenTable(
        tokeniser=name,
        offsets=pieces.offsets,
        ids=pieces.ids,
        vocabulary=Vocabulary.of([]),
        tokenised=len(pieces),
        places=lambda: Places(pieces.start, pieces.end),
    )
