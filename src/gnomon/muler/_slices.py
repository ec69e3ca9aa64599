"""Slices of a test set: by document, domain, label, or length of the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from gnomon.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.testset import TestSet

__all__ = ["Slice", "drawn_slices", "slices"]

_Part = TypeVar("_Part")
_BUCKETS = 4
_DRAWN = 12  # heat maps and listings of more slices help nobody; the rows are all there


@dataclass(frozen=True)
class Slice:
    """Some of the segments.

    Attributes:
        name: what they have in common ("news"); ``None`` for all segments.
        members: bool [N].
    """

    name: str | None
    members: NDArray[np.bool_]


def slices(testset: TestSet, by: str | None) -> list[Slice]:
    """All segments, then the slices of one kind in order of appearance (lengths: ascending).

    Args:
        testset: the test set.
        by: "document", "domain", "length" or the name of a label; ``None`` for no slices.

    Raises:
        UnknownNameError: there is no such label.
        UsageError: the test set does not tell its documents or domains.
    """
    whole = Slice(None, np.ones(testset.segments, dtype=np.bool_))
    if by is None:
        return [whole]
    names = _length_names(testset) if by == "length" else list(_labels(testset, by))
    order = sorted(dict.fromkeys(names), key=_first_number) if by == "length" else names
    kept = np.array(names, dtype=object)
    return [whole, *(Slice(name, kept == name) for name in dict.fromkeys(order))]


def drawn_slices(parts: Sequence[_Part]) -> Sequence[_Part]:
    """Of slices that begin with all segments, those that views are made for."""
    return parts[: _DRAWN + 1]


def _labels(testset: TestSet, by: str) -> Sequence[str]:
    known = {"document": testset.documents, "domain": testset.domains, **testset.labels}
    if by not in known:
        raise UnknownNameError("slice (--by)", by, ["length", *known])
    labels = known[by]
    if labels is None:
        raise UsageError(
            f"cannot slice by {by}: test set {testset.name!r} names no {by}s; give them in"
            " documents.tsv (columns document, domain), one row per segment"
        )
    return labels


def _length_names(testset: TestSet) -> list[str]:
    lengths = _reference_lengths(testset)
    edges = np.unique(np.quantile(lengths, np.arange(1, _BUCKETS) / _BUCKETS, method="higher"))
    low = np.concatenate([[0], edges])
    bucket = np.searchsorted(edges, lengths, side="right")
    return [_range_name(low, int(b)) for b in bucket]


def _range_name(low: NDArray[np.float64], bucket: int) -> str:
    first = int(np.ceil(low[bucket]))
    if bucket + 1 == len(low):
        return f"{first}+ words"
    return f"{first}-{int(np.ceil(low[bucket + 1])) - 1} words"


def _first_number(name: str) -> int:
    return int(name.split("-", maxsplit=1)[0].split("+", maxsplit=1)[0])


def _reference_lengths(testset: TestSet) -> NDArray[np.float64]:
    """Mean number of whitespace words over the references of each segment, rounded."""
    columns = list(testset.references.values()) or [testset.sources or ()]
    rows = zip(*columns, strict=True)
    counts = [[len(text.split()) for text in row if text is not None] for row in rows]
    return np.array([round(sum(row) / len(row)) if row else 0 for row in counts], np.float64)
