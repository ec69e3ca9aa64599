"""Sentences on a trained metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.messages import message
from gnomon.stats.jackknife import LEAST_DOCUMENTS
from gnomon.train.held_out import ALL
from gnomon.train.rows import HeldOutRow, LearnedSetRow, TrainedMetricRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["train_metric_verdict"]


def train_metric_verdict(finding: Finding) -> Iterator[Message]:
    """State what was learnt, on what was held out, beside what needs no training and a control."""
    (row,) = finding.records(TrainedMetricRow)
    single = len(finding.records(LearnedSetRow)) == 1
    whole = [held for held in finding.records(HeldOutRow) if held.test_set == ALL or single]
    whole.sort(key=lambda held: not held.metric.startswith("comet("))
    learned, *others = whole
    r, (low, high) = learned.pearson, learned.ends("pearson")
    if r is not None:
        beside = [
            {"other": other.metric, "theirs": other.pearson}
            for other in others
            if other.pearson is not None
        ]
        yield message(
            "train.metric.held_out",
            finding.positions(whole),
            outputs=learned.outputs,
            r=r,
            low=low,
            high=high,
            compared=bool(beside),
            beside=beside,
            folder=row.folder,
        )
    for other in others if learned.groups >= LEAST_DOCUMENTS else ():
        ends = other.ends("difference")
        if ends[1] is not None and ends[1] < 0:
            yield message(
                "train.metric.worse",
                finding.positions([other]),
                other=other.metric,
                difference=other.difference,
                low=ends[0],
                high=ends[1],
                r=r,
                theirs=other.pearson,
            )
    if r is None or (low is not None and high is not None and low <= 0 <= high):
        parts: dict[str, Any] = {
            "r": r,
            "low": low,
            "high": high,
            "why": "one score" if r is None else "chance",
        }
        yield message("train.metric.nothing", finding.positions([learned]), **parts)
    if row.stopped == "epochs" and row.best == row.passes:
        yield message("train.metric.last_pass")
