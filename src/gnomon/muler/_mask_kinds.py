"""Figures under different kinds of mask do not compare: what notices and verdicts say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.core.records import column
from gnomon.core.verdicts import titles_of
from gnomon.messages import message
from gnomon.metrics.masking import MASKS_USED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["MASKS", "mixed_masks", "of_each_kind"]

#: the column of tables with figures under masks
MASKS: Any = column(
    "Masks",
    help=f"what stood for words: {', '.join(MASKS_USED)}; figures compare within one kind alone",
)


def of_each_kind(kinds: Mapping[str, str]) -> list[dict[str, Any]]:
    """The kinds of mask, and the metrics of each."""
    metrics: dict[str, list[str]] = {}
    for metric, kind in kinds.items():
        metrics.setdefault(kind, []).append(metric)
    return [{"kind": kind, "metrics": names} for kind, names in metrics.items()]


def mixed_masks(finding: Finding, rows: Iterable[Any]) -> Iterator[Message]:
    """A caution where rows, of any class with metric and masks, are of several kinds of mask."""
    titles = titles_of(finding)
    first: dict[str, Any] = {}
    for row in rows:
        first.setdefault(row.metric, row)
    kinds = {titles[metric]: row.masks for metric, row in first.items()}
    if len(set(kinds.values())) > 1:
        places = finding.positions(first.values())
        yield message("muler.masks", places, metrics=list(kinds), how=of_each_kind(kinds))
