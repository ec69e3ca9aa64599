"""Tables of a run of training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.findings import Finding, Listing
from gnomon.core.records import column_names, table
from gnomon.train.held_out import judge_held_out
from gnomon.train.rows import HeldOutRow, LearnedSetRow, TrainedMetricRow, TrainingCurveRow

if TYPE_CHECKING:
    from gnomon.train._estimator import Pass, Training
    from gnomon.train.runs import TrainingRequest

__all__ = ["training_finding"]


def training_finding(request: TrainingRequest, training: Training, stopped: str) -> Finding:
    """The metric, its agreement with people on what was held out, its passes and its data."""
    data, base = training.data, training.features.base
    held = judge_held_out(request, training)
    best: Pass = max(training.curve, key=lambda pass_: pass_.rank)
    row = TrainedMetricRow(
        folder=str(request.folder),
        encoder=base.folder.identity,
        licence=base.licence,
        parameters=sum(weight.numel() for weight in training.weights.values()),
        passes=training.curve[-1].number,
        best=best.number,
        stopped=stopped,
    )
    curve = [TrainingCurveRow(**pass_._asdict()) for pass_ in training.curve]
    sets = [
        LearnedSetRow(
            test_set=judged_set.name,
            human=judged_set.kind,
            outputs=int(((data.judged == n) & ~data.held_out).sum()),
            held_out=int(((data.judged == n) & data.held_out).sum()),
        )
        for n, judged_set in enumerate(data.sets)
    ]
    tables = (
        table("metric", f"The metric in {request.folder}", TrainedMetricRow, [row]),
        table("held_out", "Agreement with people on what was held out", HeldOutRow, held,
              confidence=request.confidence),
        table("curve", "Passes over the examples", TrainingCurveRow, curve),
        table("sets", "What was learnt from", LearnedSetRow, sets),
    )  # fmt: skip
    return Finding(
        method="train metric",
        title=tables[0].title,
        tables=tables,
        signatures={},
        views=tuple(
            Listing(shown.name, shown.title, column_names(kind))
            for shown, kind in zip(
                tables,
                (TrainedMetricRow, HeldOutRow, TrainingCurveRow, LearnedSetRow),
                strict=True,
            )
        ),
    )
