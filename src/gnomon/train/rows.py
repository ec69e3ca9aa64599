"""Rows of a trained metric."""

from __future__ import annotations

from gnomon.core.records import METRIC, TEST_SET, Record, column

__all__ = ["HeldOutRow", "LearnedSetRow", "TrainedMetricRow", "TrainingCurveRow"]


class TrainedMetricRow(Record):
    """The metric that a run of training made."""

    folder: str = column("Folder", help="the metric: comet('FOLDER')")
    encoder: str = column("Encoder", help="name and hash of its files")
    licence: str = column("Licence", help="of the encoder's weights, as its folder states it")
    parameters: int = column("Parameters", help="weights that were learnt")
    passes: int = column("Passes", help="over the examples, over all calls")
    best: int = column("Best pass", help="whose weights were kept; 0: those before the first")
    stopped: str = column("Stopped", help="why: patience or epochs")


class TrainingCurveRow(Record):
    """Results of a pass over the examples."""

    number: int = column("Pass", help="from 1; 0 is before the first")
    loss: float | None = column(
        "Loss", digits=4, better="lower", help="mean squared error in training, with dropout"
    )
    held_out_loss: float = column(
        "Held-out loss", digits=4, better="lower", help="mean squared error on what is held out"
    )
    pearson: float | None = column(
        "Pearson", digits=3, better="higher", help="r on what is held out, within sets and kinds"
    )


class HeldOutRow(Record):
    """Agreement of a metric with people on what was held out."""

    test_set: str = TEST_SET
    human: str = column("Human", help="kind of the human scores")
    metric: str = METRIC
    outputs: int = column("Outputs", help="judged outputs that were held out")
    groups: int = column("Groups", help="documents or segments without a common text")
    pearson: float | None = column(
        "Pearson", digits=3, better="higher", interval=True, help="r, within test sets and kinds"
    )
    difference: float | None = column(
        "Lead", digits=3, interval=True, help="by how much the trained metric's r is higher"
    )


class LearnedSetRow(Record):
    """Numbers of outputs of a test set that were trained on, and held out."""

    test_set: str = TEST_SET
    human: str = column("Human", help="kind of the human scores")
    outputs: int = column("Outputs", help="judged outputs that were trained on")
    held_out: int = column("Held out", help="judged outputs that were held out")
