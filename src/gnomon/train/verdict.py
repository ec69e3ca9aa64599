"""What a trained metric says, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.verdicts import amount, counted
from gnomon.messages import message
from gnomon.stats.jackknife import LEAST_DOCUMENTS
from gnomon.train.held_out import ALL, LENGTH
from gnomon.train.rows import HeldOutRow, LearnedSetRow, TrainedMetricRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["train_metric_verdict"]


def train_metric_verdict(finding: Finding) -> Iterator[Message]:
    """What was learnt, on what was held out, beside what needs no training and a control."""
    (row,) = finding.records(TrainedMetricRow)
    single = len(finding.records(LearnedSetRow)) == 1
    whole = [held for held in finding.records(HeldOutRow) if held.test_set == ALL or single]
    whole.sort(key=lambda held: not held.metric.startswith("comet("))
    learned, *others = whole
    r, (low, high) = learned.pearson, learned.ends("pearson")
    if r is None:
        yield message("train.metric.nothing", finding.positions([learned]))
    else:
        beside = [
            f"{_called(other)} {amount(other.pearson, share=True)}"
            for other in others
            if other.pearson is not None
        ]
        yield message(
            "train.metric.held_out",
            finding.positions(whole),
            outputs=counted(learned.outputs, "judged output"),
            r=amount(r, low, high, share=True),
            beside=f" ({', '.join(beside)})" if beside else "",
            folder=row.folder,
        )
    for other in others if r is not None and learned.groups >= LEAST_DOCUMENTS else ():
        lead, theirs, ends = other.difference, other.pearson, other.ends("difference")
        if lead is None or theirs is None or ends[0] is None or ends[1] is None or ends[1] >= 0:
            continue
        yield message(
            "train.metric.worse",
            finding.positions([other]),
            other=_called(other),
            size=amount(-lead, -ends[1], -ends[0], share=True),
            facts=f"r = {amount(r or 0.0, share=True)} against {amount(theirs, share=True)}",
        )
    if r is not None and low is not None and high is not None and low <= 0 <= high:
        maybe = amount(r, low, high, share=True)
        yield message("train.metric.maybe_nothing", finding.positions([learned]), r=maybe)
    if row.stopped == "epochs" and row.best == row.passes:
        yield message("train.metric.last_pass")


def _called(row: HeldOutRow) -> str:
    """A metric beside the learned one; the length of outputs is a control."""
    return "the length of the output alone" if row.metric == LENGTH else row.metric
