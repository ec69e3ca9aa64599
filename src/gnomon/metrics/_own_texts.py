"""Where the texts of a batch stand in the test set that a metric was bound to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.batch import Batch, Ragged

__all__ = ["changed_texts", "positions"]


def positions(batch: Batch, own: Batch, what: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of a batch in the whole of its test set.

    Args:
        batch: some systems and segments of the test set, by name and number, unchanged.
        own: all systems and segments.
        what: which metric asks, for the error.

    Returns:
        Positions of the systems, int64 [K], and of the segments, int64 [N].

    Raises:
        UsageError: the batch holds a system, a segment or a text that is not in its place.
    """
    rows = {name: row for row, name in enumerate(own.systems)}
    strangers = [name for name in batch.systems if name not in rows]
    if strangers:
        raise UsageError(f"{what} cannot score the texts of a system {strangers[0]!r}; {_ONLY}")
    systems = np.array([rows[name] for name in batch.systems], dtype=np.int64)
    segments = batch.segments.astype(np.int64)
    if len(segments) and not 0 <= segments.min() <= segments.max() < len(own.segments):
        raise UsageError(f"{what} has no scores of segment {segments.max() + 1}; {_ONLY}")
    if not _equal(batch, own.select(systems=systems.tolist(), segments=segments.astype(np.int32))):
        raise UsageError(changed_texts(what))
    return systems, segments


def changed_texts(what: str) -> str:
    """Why scores from a file are no scores of changed texts."""
    return f"{what} cannot score changed texts; {_ONLY}"


_ONLY = (
    "scores from a file are known for the texts of their test set alone. For changed texts take a"
    " metric that gnomon computes"
)


def _equal(batch: Batch, own: Batch) -> bool:
    """Whether all texts are the same, whatever their numbers."""
    number = {text: index for index, text in enumerate(own.texts)}
    same = batch.texts is own.texts
    map_ = np.array([index if same else number.get(t, -1) for index, t in enumerate(batch.texts)])
    pairs = [(batch.candidates, own.candidates)]
    if batch.sources is not None and own.sources is not None:
        pairs.append((batch.sources, own.sources))
    alone = batch.system_references or own.system_references
    for k in range(len(batch.systems)) if alone else (0,):
        pairs += _columns(batch.references_of(k), own.references_of(k))
    return all(a.shape == b.shape and np.array_equal(map_[a], b) for a, b in pairs)


def _columns(a: Ragged, b: Ragged) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    return [(a.indices, b.indices)] if np.array_equal(a.offsets, b.offsets) else [_UNEQUAL]


_UNEQUAL = (np.zeros(0, np.int32), np.zeros(1, np.int32))
