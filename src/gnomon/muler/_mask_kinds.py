"""Kinds of mask, whose figures do not compare: the column, and sentences on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.core.records import column
from gnomon.core.verdicts import titles_of
from gnomon.messages import message
from gnomon.metrics.masking import MASKS_USED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["MASKS", "masks_differ", "mixed_masks"]

#: the column of tables with figures under masks
MASKS: Any = column(
    "Masks",
    help=f"what stood for words: {', '.join(MASKS_USED)}; figures compare within one kind alone",
)


def masks_differ(
    kinds: Mapping[str, str], rows: Mapping[str, Sequence[int]] | None = None
) -> Iterator[Message]:
    """A caution where metrics, by their titles, have several kinds of mask."""
    metrics: dict[str, list[str]] = {}
    for metric, kind in kinds.items():
        metrics.setdefault(kind, []).append(metric)
    if len(metrics) > 1:
        how = [{"kind": kind, "metrics": names} for kind, names in metrics.items()]
        yield message("muler.masks", rows, metrics=list(kinds), how=how)


def mixed_masks(finding: Finding, rows: Iterable[Any]) -> Iterator[Message]:
    """A caution where rows, of any class with metric and masks, are of several kinds of mask."""
    titles = titles_of(finding)
    first: dict[str, Any] = {}
    for row in rows:
        first.setdefault(row.metric, row)
    kinds = {titles[metric]: row.masks for metric, row in first.items()}
    yield from masks_differ(kinds, finding.positions(first.values()))
