"""Similarities of the tokens of pairs of texts, every text encoded once, memory bounded.

Pairs are taken segment by segment, as many at a time as their vectors fit a budget; vectors of a
text that later pairs need again are kept until the last of them. What stays is the matrix of
similarities of each pair: from a size on it lies in a temporary file.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.formats import explain_failure
from gnomon.models import length_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gnomon.models import Encoder, Pieces

__all__ = ["Best", "Similarities", "similarities"]

#: bytes of vectors held at once, on a CPU and on a GPU
_VECTORS = {"cpu": 1 << 26, "cuda": 1 << 30}
#: float32 values of the two padded sides of a batch of pairs, on a CPU and on a GPU
_PADDED = {"cpu": 1 << 22, "cuda": 1 << 27}
#: bytes of matrices kept in memory
_MATRICES = 1 << 24


@dataclass(frozen=True, eq=False)
class Best:
    """Best matches on one side of the pairs: similarity, and place within the other text.

    Attributes:
        value: float32 [slots].
        place: int32 [slots], position of the match within the other text; -1 where there is none.
    """

    value: NDArray[np.float32]
    place: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Similarities:
    """Cosines between all tokens of the two texts of D pairs.

    Attributes:
        offsets: int64 [D + 1]; the matrix of pair d, candidate by other, row by row, is
            ``values[offsets[d]:offsets[d + 1]]``.
        values: float32, in memory or in a temporary file.
        candidate: best matches of the candidates' tokens, pair after pair.
        other: best matches of the other texts' tokens, pair after pair.
    """

    offsets: NDArray[np.int64]
    values: NDArray[np.float32]
    candidate: Best
    other: Best


def similarities(
    encoder: Encoder,
    pieces: Pieces,
    pairs: NDArray[np.int64],
    order: NDArray[np.int64],
    targets: NDArray[np.bool_],
) -> Similarities:
    """Encode the texts of some pairs and compare their tokens.

    Args:
        encoder: texts to vectors.
        pieces: pieces of all texts.
        pairs: int64 [D, 2], (candidate, other), numbers of texts.
        order: int64 [D], in which order to take the pairs: those with texts in common together.
        targets: bool [rows of ``pieces``], which pieces may be matched.
    """
    sizes = pieces.lengths[pairs]
    matrix = np.concatenate([[0], np.cumsum(sizes[:, 0] * sizes[:, 1])])
    slots = [np.concatenate([[0], np.cumsum(sizes[:, side])]) for side in (0, 1)]
    values, written = _room(int(matrix[-1]))
    found = Similarities(matrix, values, _nothing(int(slots[0][-1])), _nothing(int(slots[1][-1])))
    for chosen, vectors in _vectors(encoder, pieces, pairs, order):
        size = encoder.dimensions * sizes[chosen].max(axis=1)
        for group in length_batches(size, _PADDED[_kind(encoder)]):
            _compare(found, slots, pieces, pairs, chosen[group], vectors, targets)
        del vectors  # before the next ones are made
        written()
    return found


def _kind(encoder: Encoder) -> str:
    return "cpu" if encoder.device == "cpu" else "cuda"


def _room(size: int) -> tuple[NDArray[np.float32], Callable[[], None]]:
    """Room for values, and what to call when some were written: it takes them out of memory."""
    if 4 * size <= _MATRICES:
        return np.empty(size, dtype=np.float32), lambda: None
    # the map keeps the file, which has no name, as long as it lives
    with (
        explain_failure(Path(tempfile.gettempdir())),
        tempfile.TemporaryFile(prefix="gnomon-") as file,
    ):
        if hasattr(os, "posix_fallocate"):  # writing to a map of a full disk kills the process
            os.posix_fallocate(file.fileno(), 0, 4 * size)
        else:
            file.truncate(4 * size)
        pages = mmap.mmap(file.fileno(), 4 * size)
    values = np.frombuffer(pages, dtype=np.float32)
    if not hasattr(mmap, "MADV_DONTNEED"):  # not on this system
        return values, lambda: None
    return values, lambda: pages.madvise(mmap.MADV_DONTNEED)


def _nothing(size: int) -> Best:
    return Best(np.zeros(size, dtype=np.float32), np.full(size, -1, dtype=np.int32))


@dataclass(eq=False)
class _Held:
    """Vectors of the texts at hand: where each text begins in one tensor."""

    start: dict[int, int]
    vectors: Any  # a torch tensor [rows, d]


def _vectors(
    encoder: Encoder, pieces: Pieces, pairs: NDArray[np.int64], order: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], _Held]]:
    """Groups of pairs with the vectors of their texts; each text is encoded once."""
    import torch

    most = _VECTORS[_kind(encoder)] // (4 * encoder.dimensions)
    groups = _groups(pieces, pairs, order, most)
    last = np.full(len(pieces), -1, dtype=np.int64)
    for number, group in enumerate(groups):
        last[pairs[group].ravel()] = number
    held = _Held({}, torch.empty(0, encoder.dimensions, device=encoder.device))
    for number, group in enumerate(groups):
        wanted = np.unique(pairs[group])
        new = np.array([t for t in wanted.tolist() if t not in held.start], dtype=np.int64)
        held = _with(held, encoder, pieces, new)
        yield group, held
        held = _only(held, pieces, [t for t in held.start if last[t] > number])


def _groups(
    pieces: Pieces, pairs: NDArray[np.int64], order: NDArray[np.int64], most: int
) -> list[NDArray[np.int64]]:
    """Pairs in their order, cut where the pieces of their texts exceed a number."""
    lengths = pieces.lengths
    groups: list[list[int]] = [[]]
    seen: set[int] = set()
    held = 0
    for pair, (a, b) in zip(order.tolist(), pairs[order].tolist(), strict=True):
        new = {a, b} - seen
        more = int(sum(lengths[t] for t in new))
        if held + more > most and groups[-1]:
            groups.append([])
            seen, held = set(), 0
            new = {a, b}
            more = int(sum(lengths[t] for t in new))
        groups[-1].append(pair)
        seen |= new
        held += more
    return [np.array(group, dtype=np.int64) for group in groups if group]


def _with(held: _Held, encoder: Encoder, pieces: Pieces, new: NDArray[np.int64]) -> _Held:
    import torch

    if not len(new):
        return held
    found = encoder.embed(pieces, new)
    base = len(held.vectors)
    starts = (base + found.offsets[:-1]).tolist()
    vectors = torch.cat([held.vectors, found.vectors]) if base else found.vectors
    return _Held(held.start | dict(zip(new.tolist(), starts, strict=True)), vectors)


def _only(held: _Held, pieces: Pieces, kept: list[int]) -> _Held:
    import torch

    start: dict[int, int] = {}
    parts, place = [held.vectors[:0]], 0
    for text in kept:
        size = int(pieces.lengths[text])
        start[text] = place
        parts.append(held.vectors[held.start[text] : held.start[text] + size])
        place += size
    return _Held(start, torch.cat(parts))


def _compare(
    found: Similarities,
    slots: list[NDArray[np.int64]],
    pieces: Pieces,
    pairs: NDArray[np.int64],
    group: NDArray[np.int64],
    held: _Held,
    targets: NDArray[np.bool_],
) -> None:
    """Matrices and best matches of a group of pairs, written to their places."""
    import torch

    device = held.vectors.device
    sides, kept, allowed = [], [], []
    for side in (0, 1):
        texts = pairs[group, side]
        lengths = pieces.lengths[texts]
        within = np.arange(int(lengths.max(initial=0)))
        mask = within < lengths[:, None]
        start = np.array([held.start[t] for t in texts.tolist()])[:, None]
        rows = np.where(mask, start + within, 0)
        own = np.where(mask, pieces.offsets[texts][:, None] + within, 0)
        sides.append(held.vectors[torch.as_tensor(rows, device=device)])
        kept.append(mask)
        allowed.append(mask & targets[own])
    matrix = torch.bmm(sides[0], sides[1].transpose(1, 2))
    full = torch.as_tensor(kept[0][:, :, None] & kept[1][:, None, :], device=device)
    _put(found.values, found.offsets, group, matrix[full])
    for side, best in ((0, found.candidate), (1, found.other)):
        barred = torch.as_tensor(~allowed[1 - side], device=device)
        seen = matrix.masked_fill(
            barred[:, None, :] if side == 0 else barred[:, :, None], -torch.inf
        )
        value, place = seen.max(dim=2 - side)
        none = torch.isneginf(value)
        own = torch.as_tensor(kept[side], device=device)
        _put(best.value, slots[side], group, value.masked_fill(none, 0.0)[own])
        _put(best.place, slots[side], group, place.masked_fill(none, -1)[own])


def _put(
    into: NDArray[Any], offsets: NDArray[np.int64], group: NDArray[np.int64], values: Any
) -> None:
    sizes = offsets[group + 1] - offsets[group]
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    into[np.repeat(offsets[group], sizes) + within] = values.cpu().numpy()
