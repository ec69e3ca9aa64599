"""Slices of a test set, cut by what all systems share: references, labels, mean scores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.core.manifest import imported
from gnomon.core.scripts import is_unspaced
from gnomon.messages.audiences import flag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gnomon.core.outline import Outline
    from gnomon.core.testset import TestSet

__all__ = ["Slice", "check_slices", "slices"]

_BUCKETS = 4


class Slice(NamedTuple):
    """Some of the segments."""

    name: str | None  # what they have in common ("news"); `None` for all segments
    members: NDArray[np.bool_]  # bool [N]


def slices(
    testset: TestSet, by: str | None, scores: NDArray[np.float64] | None = None
) -> list[Slice]:
    """All segments, then the slices of one kind: buckets ascending, others as they appear.

    Args:
        testset: the test set.
        by: "length" (words of the references, or characters where no spaces part words; four
            buckets), "document", "domain" or the name of a label; "score" (mean score over
            systems, four buckets) where there are scores; ``None`` for no slices.
        scores: float64 [K, N], segment scores of some systems.

    Raises:
        UnknownNameError: there is no such label.
        UsageError: the test set does not tell its documents or domains.
    """
    check_slices(testset.outline, by, scored=scores is not None)
    whole = Slice(None, np.ones(testset.segments, dtype=np.bool_))
    if by is None:
        return [whole]
    if by == "length":
        return [whole, *_buckets(*_lengths(testset))]
    if by == "score" and scores is not None:
        scored = ~np.isnan(scores)
        counts = np.where(scored.any(axis=0), scored.sum(axis=0), np.nan)
        return [whole, *_buckets(np.nansum(scores, axis=0) / counts, _scores)]
    if by == "check":
        lost = imported("gnomon.linguistics.faults.floor:lost_segments")(testset)
        parts = [Slice("all translated", ~lost), Slice("some untranslated", lost)]
        return [whole, *(one for one in parts if one.members.any())]
    names = np.array(_labels(testset)[by], dtype=object)
    return [whole, *(Slice(str(name), names == name) for name in dict.fromkeys(names))]


def check_slices(outline: Outline, by: str | None, *, scored: bool = False) -> None:
    """Refuse a kind of slices that the test set does not have; errors as for :func:`slices`."""
    there = outline.slices
    cut = ("length", "score", "check") if scored else ("length", "check")
    if by is None or by in cut:
        return
    if by not in there:
        raise UnknownNameError(("slice (", flag("by"), ")"), by, [*cut, *there])
    if not there[by]:
        raise UsageError(
            f"cannot slice by {by}: test set {outline.name!r} names no {by}s; give them in"
            " documents.tsv (columns document, domain), one row per segment"
        )


def _labels(testset: TestSet) -> dict[str, Sequence[str] | None]:
    return {"document": testset.documents, "domain": testset.domains, **testset.labels}


def _buckets(
    values: NDArray[np.float64], name: Callable[[float | None, float | None], str]
) -> list[Slice]:
    """Segments between quartiles; equal values share a bucket, undefined ones have none."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return []
    shares = np.arange(1, _BUCKETS) / _BUCKETS
    edges = np.unique(np.quantile(defined, shares, method="higher"))
    edges = edges[edges > defined.min()]  # nothing lies below the smallest value
    bucket = np.where(np.isnan(values), -1, np.searchsorted(edges, values, side="right"))
    bounds: list[float | None] = [None, *edges.tolist(), None]
    return [Slice(name(*bounds[b : b + 2]), bucket == b) for b in range(len(edges) + 1)]


def _sizes(unit: str, low: float | None, high: float | None) -> str:
    first = 0 if low is None else int(low)
    return f"{first}+ {unit}" if high is None else f"{first}-{int(high) - 1} {unit}"


def _scores(low: float | None, high: float | None) -> str:
    if high is None:
        return "any score" if low is None else f"score {low:.6g} or more"
    return f"score below {high:.6g}" if low is None else f"score {low:.6g} to {high:.6g}"


def _lengths(testset: TestSet) -> tuple[NDArray[np.float64], Callable[..., str]]:
    """Mean length over the references of each segment, rounded, and what buckets are called.

    In words between spaces, or in characters of a language that puts none.
    """
    columns = list(testset.references.values()) or [testset.sources or ()]
    unspaced = bool(testset.references) and is_unspaced(testset.target_language)
    rows = zip(*columns, strict=True)
    texts = [[text.split() for text in row if text is not None] for row in rows]
    sizes = [[len("".join(words) if unspaced else words) for words in row] for row in texts]
    means = [round(sum(row) / len(row)) if row else 0 for row in sizes]
    return np.array(means, np.float64), partial(_sizes, "characters" if unspaced else "words")
