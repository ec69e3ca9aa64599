"""Vectors of texts some of whose pieces are masked, from the states of all pieces.

States are made once; masks later cost no encoding. Those of wide encoders are kept in half
precision; beyond a size they lie in a temporary file. Vectors of texts without masks are exact in
any case.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.options import SEED
from gnomon.metrics.donors import hashes_of, ranks_of
from gnomon.metrics.embeddings import piece_table
from gnomon.metrics.large_arrays import large_array
from gnomon.metrics.masking import Action
from gnomon.metrics.sequences import has_marked, ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.learned.matching import PooledPieces
    from gnomon.metrics.sequences import TokenMasks
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["POOLS", "PieceMasks", "ReplacementWords", "StatesOfTexts"]

#: ways of pooling that look at all positions
POOLS = ("avg", "max")
#: most dimensions of states that are kept as they are; those of more in half precision. It goes by
#: the model alone: by the size of the batch, a score would depend on what else is scored
_EXACT = 512
#: bytes of states that are kept in memory
_MEMORY = 1 << 26
#: least size of a state, so that one can divide by it
_SMALLEST = 1e-30


# States.


@dataclass(frozen=True, eq=False)
class PieceStates:
    """The states of pieces."""

    values: NDArray[np.floating]  # float32 [rows, d]; or float16, to multiply by ``scale``
    scale: NDArray[np.float32] | None  # [rows], or None

    @classmethod
    def empty(cls, rows: int, dimensions: int) -> PieceStates:
        """Room for the states of some pieces."""
        if dimensions <= _EXACT:
            return cls(large_array((rows, dimensions), np.float32, _MEMORY).values, None)
        values = large_array((rows, dimensions), np.float16, _MEMORY).values
        return cls(values, np.ones(rows, dtype=np.float32))

    def put(self, rows: slice, states: NDArray[np.float32]) -> None:
        """Keep the states of some pieces."""
        if self.scale is not None:  # large states are beyond what 16 bits can say
            self.scale[rows] = np.maximum(np.abs(states).max(axis=1), _SMALLEST)
            states = states / self.scale[rows, None]
        self.values[rows] = states

    def select(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The states of some pieces, float32 [R, d]."""
        states: NDArray[np.floating] = self.values[rows]
        if self.scale is not None:
            states = states * self.scale[rows, None]
        return np.asarray(states, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class StatesOfTexts:
    """The states of the pieces of some texts."""

    texts: tuple[str, ...]  # all texts
    # their pieces, special ones included; texts that were not asked for have none
    table: TokenTable
    states: PieceStates  # in the order of the table
    vectors: NDArray[np.float32]  # [E, d], of the texts as they are
    # [T], row of each text in these; -1 for texts that were not asked for
    place: NDArray[np.int64]
    how: str  # "avg" or "max"

    @classmethod
    def encode(
        cls, encoder: PooledPieces, texts: tuple[str, ...], wanted: NDArray[np.int64], how: str
    ) -> StatesOfTexts:
        """Encode some texts (ascending), each once."""
        pieces = encoder.pieces(texts, wanted.tolist())
        states = PieceStates.empty(len(pieces.ids), encoder.dimensions)
        vectors = large_array((len(wanted), encoder.dimensions), np.float32, _MEMORY).values
        for group, batch in encoder.states(pieces, wanted):
            state = batch.cpu().numpy()
            for row, number in enumerate(group.tolist()):
                first, end = pieces.offsets[wanted[number] : wanted[number] + 2].tolist()
                text_states = state[row, : end - first]
                vectors[number] = _pool_states(how, text_states)
                states.put(slice(first, end), text_states)
        row_of = np.full(len(texts), -1, dtype=np.int64)
        row_of[wanted] = np.arange(len(wanted))
        table = piece_table(pieces, "the model's vocabulary")
        return cls(texts, table, states, vectors, row_of, how)

    def holds(self, texts: tuple[str, ...], wanted: NDArray[np.int64]) -> bool:
        """True if these texts are known."""
        same = self.texts is texts or self.texts == texts
        return same and bool((self.table.lengths[wanted] > 0).all())

    def touched(self, pieces: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which texts have one of some pieces, bool [T]."""
        return has_marked(self.table.offsets, pieces)

    def pooled(self, texts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of some texts, float32 [E, d]."""
        return self.vectors[self.place[texts]]

    def masked(
        self,
        pairs: NDArray[np.int64],  # [P, 2], numbers of the texts and of those beside them
        masks: PieceMasks,
        donors: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The vectors of some texts, each beside another one, with words exchanged.

        - Words that are masked alike become those of the text beside: what both have stays, the
          rest of the first text's goes, and the rest of the other's comes, each piece with its
          state.
        - Words that are masked apart take the mean state of the words that are masked apart in a
          third text (for "max" its largest values), in their own number.

        A mean is not formed anew: what goes is taken from it, and what comes is added.

        ``donors``: int64 [D, P], numbers of third texts, each of which has words that are masked
        apart; -1: such words are left out. The special pieces at both ends are never masked, so
        that no text is empty. Returns int64 [C], the pairs that the masks change; float32 [D, C,
        d], the vectors of these with the words of each of the third texts.
        """
        texts, others = pairs.T
        if donors is None:
            donors = np.full((1, len(pairs)), -1)
        rows, owner = self._rows(texts)
        gone = masks.apart[rows]
        lost = np.bincount(owner[gone], minlength=len(texts))
        gone |= masks.alike[rows] & ~masks.common(rows, others[owner])
        beside, of = self._rows(others)
        taken = masks.alike[beside] & ~masks.common(beside, texts[of])
        beside, of = beside[taken], of[taken]
        changed = np.union1d(owner[gone], of)
        total, count = self._sum_remaining(texts, rows, owner, gone)
        some, values, sizes = self._reduced(beside, of)
        self._add(total, count, some, values, sizes)
        vectors = np.empty((len(donors), len(changed), total.shape[1]), dtype=np.float32)
        for draw, third in enumerate(donors):
            whole, size = total.copy(), count.copy()
            open_ = np.flatnonzero((lost > 0) & (third >= 0))
            distinct, back = np.unique(third[open_], return_inverse=True)
            given, of = self._rows(distinct)
            taken = masks.apart[given]
            _, values, sizes = self._reduced(given[taken], of[taken])
            if self.how == "avg":
                values /= sizes[:, None]
                values = values[back] * lost[open_, None]
            else:
                values = values[back]
            self._add(whole, size, open_, values, lost[open_])
            vectors[draw] = (
                whole[changed] if self.how == "max" else (whole / size[:, None])[changed]
            )
        return changed, vectors

    def _sum_remaining(
        self,
        texts: NDArray[np.int64],
        rows: NDArray[np.int64],
        owner: NDArray[np.int64],
        gone: NDArray[np.bool_],
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Sums (or maxima) over the rows of each text that are not gone, and how many these are."""
        if self.how == "max":
            _, values, sizes = self._reduced(rows[~gone], owner[~gone])
            return values.astype(np.float64), sizes
        count = self.table.lengths[texts]
        total = self.pooled(texts).astype(np.float64) * count[:, None]
        some, values, sizes = self._reduced(rows[gone], owner[gone])
        total[some] -= values
        count[some] -= sizes
        return total, count

    def _add(
        self,
        total: NDArray[np.float64],
        count: NDArray[np.int64],
        some: NDArray[np.int64],
        values: NDArray[np.float32],
        sizes: NDArray[np.int64],
    ) -> None:
        """Add what is pooled of other rows to some of what is pooled."""
        total[some] = np.maximum(total[some], values) if self.how == "max" else total[some] + values
        count[some] += sizes

    def _rows(self, texts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of some texts, and the position of the text of each."""
        sizes = self.table.lengths[texts]
        rows = ranges(self.table.offsets[texts], sizes)
        return rows, np.repeat(np.arange(len(texts)), sizes)

    def _reduced(
        self, rows: NDArray[np.int64], owner: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]:
        """Owners of some rows, sums (or maxima) over the rows of each, and how many these are."""
        some, bounds, sizes = np.unique(owner, return_index=True, return_counts=True)
        values = self.states.select(rows)
        if not len(some):
            return some, values, sizes
        over = np.maximum if self.how == "max" else np.add
        return some, over.reduceat(values, bounds, axis=0, dtype=np.float32), sizes


def _pool_states(how: str, states: NDArray[np.float32]) -> NDArray[np.floating]:
    """The vector of a text, of the states of all its pieces."""
    values: NDArray[np.floating] = (
        states.max(axis=0) if how == "max" else states.mean(axis=0, dtype=np.float64)
    )
    return values


# Masks.


@dataclass(frozen=True, eq=False)
class PieceMasks:
    """The masked pieces of one variant.

    A *word* is what one span covers. Words of several features may hold the same pieces; what a
    word is does not change with what else is masked.
    """

    alike: NDArray[np.bool_]  # [rows], pieces that are masked alike on both sides
    apart: NDArray[np.bool_]  # [rows], pieces that are masked differently on each side
    # [M], ascending: the pieces of words that are masked alike, once for each word
    rows: NDArray[np.int64]
    # [M], of these words: the same for equal words (the same ids), where the first of a text
    # is another word than the second
    codes: NDArray[np.int64]
    known: NDArray[np.int64]  # sorted: text * stride + code of all of them
    stride: int  # one more than the largest code

    @classmethod
    def from_variant(cls, masks: TokenMasks, variant: int) -> PieceMasks:
        """The pieces that a variant of a plan masks."""
        table, won = masks.tokens, masks.masks(variant)
        alike = np.zeros(len(table.ids), dtype=np.bool_)
        apart = alike.copy()
        alike[won.token[won.action == Action.SHARED]] = True
        apart[won.token[won.action == Action.PRIVATE]] = True
        words = _words(masks, variant)
        texts = np.searchsorted(table.offsets, [word[0] for word in words], "right") - 1
        numbers: dict[tuple[int, bytes, int], int] = {}
        counts: Counter[tuple[int, bytes]] = Counter()
        code = np.zeros(len(words), dtype=np.int64)
        for number, (text, word) in enumerate(zip(texts.tolist(), words, strict=True)):
            ids = table.ids[word].tobytes()
            counts[text, ids] += 1
            key = (len(word), ids, counts[text, ids])
            code[number] = numbers.setdefault(key, len(numbers))
        stride = len(numbers) + 1
        rows = np.concatenate([np.zeros(0, np.int64), *words])
        codes = np.repeat(code, [len(word) for word in words])
        order = np.argsort(rows, kind="stable")
        coded = np.unique(texts * stride + code)
        return cls(alike, apart, rows[order], codes[order], coded, stride)

    def common(self, rows: NDArray[np.int64], texts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """True where a word of each of some pieces is masked alike in a text, too, bool [R]."""
        low = np.searchsorted(self.rows, rows, "left")
        sizes = np.searchsorted(self.rows, rows, "right") - low
        owner = np.repeat(np.arange(len(rows)), sizes)
        wanted = texts[owner] * self.stride + self.codes[ranges(low, sizes)]
        shared = owner[np.isin(wanted, self.known)]
        return np.bincount(shared, minlength=len(rows)) > 0


def _words(masks: TokenMasks, variant: int) -> list[NDArray[np.int64]]:
    """The pieces of each word that is masked alike, in the order of the texts; each word once."""
    words: dict[bytes, NDArray[np.int64]] = {}
    for group in np.flatnonzero(masks.plan.actions[variant] == Action.SHARED).tolist():
        masked = masks.group_masks(group)
        for pieces in np.split(masked.token, np.flatnonzero(np.diff(masked.span)) + 1):
            if len(pieces):
                words.setdefault(pieces.tobytes(), pieces)
    return sorted(words.values(), key=lambda word: (int(word[0]), len(word)))


#: other references whose words stand in the place of words that are masked differently: with one
#: more segments score below their anti-oracle, with eight fewer, but each costs a pass of the head
_DRAWS = 2
#: hashes that are in memory at a time
_RANKED = 1 << 22
_LAST = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True, eq=False)
class ReplacementWords:
    """References that can give words to other segments, in an order that each segment has.

    The order is that of a hash of the seed, of the segment's first reference and of the other one:
    it depends on nothing else, so that what a segment draws changes only where a reference comes
    (or goes) that stands before the others.
    """

    texts: NDArray[np.int64]  # [D], numbers of the references
    marks: NDArray[np.uint64]  # [D], hashes of these
    # [N], hashes of the seed and of each segment's first reference
    segment_marks: NDArray[np.uint64]
    segments: NDArray[np.int64]  # [N], for each segment the first one that draws as it does
    # [O, 2], segments, and places in ``texts`` of references of theirs
    own: NDArray[np.int64]

    @classmethod
    def order_references(cls, batch: Batch, texts: NDArray[np.int64]) -> ReplacementWords:
        """Order some references for every segment of a batch.

        ``texts``: numbers of the references, ascending.
        """
        sides = [tuple(references.tolist()) for references in batch.references]
        first: dict[tuple[int, ...], int] = {}
        segments = [first.setdefault(references, number) for number, references in enumerate(sides)]
        position = {text: number for number, text in enumerate(texts.tolist())}
        own_positions = [
            (n, position[t])
            for n, references in enumerate(sides)
            for t in references
            if t in position
        ]
        return cls(
            texts,
            hashes_of((batch.texts[text],) for text in texts.tolist()),
            hashes_of(
                (str(SEED), *(batch.texts[text] for text in references[:1])) for references in sides
            ),
            np.array(segments, dtype=np.int64),
            np.array(own_positions, dtype=np.int64).reshape(-1, 2),
        )

    def choose(self, having: NDArray[np.bool_]) -> NDArray[np.int64]:
        """For each segment the first references of others that have something.

        ``having``: bool [T], which texts have it. Returns int64 [draws, N], numbers of texts. Where
        only one reference has it, all draws are that one; where none has, they are -1.
        """
        size = len(self.segments)
        draws = np.full((_DRAWS, size), -1, dtype=np.int64)
        chosen = np.flatnonzero(having[self.texts])
        if not len(chosen):
            return draws
        position = np.full(len(self.texts), -1, dtype=np.int64)
        position[chosen] = np.arange(len(chosen))
        own_places = np.stack([self.own[:, 0], position[self.own[:, 1]]], axis=1)
        own_places = own_places[own_places[:, 1] >= 0]
        step = max(1, _RANKED // len(chosen))
        for at in range(0, size, step):
            ranks = ranks_of(self.segment_marks[at : at + step, None], self.marks[chosen])
            low, high = np.searchsorted(own_places[:, 0], [at, at + len(ranks)])
            ranks[own_places[low:high, 0] - at, own_places[low:high, 1]] = _LAST
            rows = np.arange(len(ranks))
            for draw in range(_DRAWS):
                best = ranks.argmin(axis=1)
                there = ranks[rows, best] < _LAST
                before = draws[max(draw - 1, 0), at : at + step]
                draws[draw, at : at + step] = np.where(there, self.texts[chosen[best]], before)
                ranks[rows, best] = _LAST
        return draws
