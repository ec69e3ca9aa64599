"""Words of two texts aligned one to one: the power of metrics whose scores are made of that.

TER, ROUGE-L and METEOR each find which word of a candidate stands for which word of a reference,
and reduce that to a score: how much of either side is aligned, and how well the order is kept.
What weighs words, as difficulty does, changes the former alone.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gnomon.metrics.comparisons import pair_keys, pair_rows, pairs_of
from gnomon.metrics.matching import Matches, SideMatches, TokenRows
from gnomon.metrics.sequences import offsets_of, ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["Aligned", "aligned_matches", "aligned_places"]

#: place in the candidate (-1: no single word), place in the reference
Aligned: TypeAlias = "tuple[int, int]"


def aligned_matches(
    batch: Batch,
    table: TokenTable,
    align: Callable[[int, int], Iterable[Aligned]],
    words: Sequence[str] | None = None,
) -> Matches:
    """The matches of all comparisons of a batch; each distinct pair of texts is aligned once."""
    rows = pair_rows(batch)
    keys, pair = pair_keys(rows)
    texts = pairs_of(keys)
    sides = [_make_unmatched(table, texts[:, side]) for side in (0, 1)]
    for number, (candidate, reference) in enumerate(texts.tolist()):
        places = [int(side.offsets[number]) for side in sides]
        starts = int(table.offsets[reference]), int(table.offsets[candidate])
        for mine, theirs in align(candidate, reference):
            slot = places[1] + theirs
            sides[1].best[slot] = 1
            if mine >= 0:
                sides[1].at[slot] = starts[1] + mine
                sides[0].best[places[0] + mine] = 1
                sides[0].at[places[0] + mine] = starts[0] + theirs
    forms = list(table.vocabulary) if words is None else words
    types = np.array([_type(form) for form in forms], dtype=np.int32)
    first = np.asarray(table.start)
    tokens = TokenRows(
        offsets=table.offsets,
        type=types[table.ids] if len(types) else np.zeros(0, dtype=np.int32),
        word=ranges(np.zeros(len(table), np.int64), table.lengths).astype(np.int32),
        start=first,
        end=np.asarray(table.end),
        special=np.zeros(len(first), dtype=np.bool_),
        weight=np.ones(len(first)),
    )
    shape = rows.shape
    return Matches(shape, rows.cell, pair, texts, tokens, sides[0], sides[1])


def aligned_places(
    pairs: NDArray[np.int64], lengths: NDArray[np.int64], places: NDArray[np.int64]
) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """For each pair (candidate, reference) the places of either side that are aligned.

    ``pairs``: int64 [P, 2]. ``places``: for each word of each pair's reference, one after the
    other, the place of the candidate's word, or -1.
    """
    ends = np.cumsum(lengths[pairs[:, 1]])
    aligned = {}
    for (candidate, reference), at in zip(pairs.tolist(), np.split(places, ends)[:-1], strict=True):
        some = np.flatnonzero(at >= 0)
        aligned[candidate, reference] = list(zip(at[some].tolist(), some.tolist(), strict=True))
    return aligned


def _make_unmatched(table: TokenTable, texts: NDArray[np.int64]) -> SideMatches:
    sizes = table.lengths[texts]
    offsets = offsets_of(sizes)
    token = ranges(table.offsets[texts], sizes)
    nothing = np.full(len(token), -1, dtype=np.int64)
    return SideMatches(offsets, token, np.zeros(len(token)), nothing)


def _type(word: str) -> int:
    """A number that is the same in every process, so that difficulties can be kept in files."""
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "little") >> 1
