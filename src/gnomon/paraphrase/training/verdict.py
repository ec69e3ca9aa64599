"""Rows and sentences on training a paraphraser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.records import Record, column
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["DroppedPairsRow", "Trained", "train_verdict"]


class Trained(Record):
    """Results of a run of training.

    Attributes:
        folder: the model.
        steps: updates, over all calls.
        epochs: whole passes.
        seconds: spent, over all calls.
        loss: validation loss of the model in the folder, in nats per piece.
        bleu: its validation BLEU by greedy decoding, if that was measured.
        stopped: why the run ended: "epochs", "steps", "minutes" or "patience".
    """

    folder: str = column("Folder", help="the model")
    steps: int = column("Steps", help="updates, over all calls")
    epochs: int = column("Epochs", help="whole passes")
    seconds: float = column("Seconds", digits=1, help="spent, over all calls")
    loss: float | None = column(
        "Loss", digits=3, better="lower", help="of validation, in nats per piece"
    )
    bleu: float | None = column(
        "BLEU", digits=1, better="higher", help="of validation, by greedy decoding"
    )
    stopped: str = column("Stopped", help="why: epochs, steps, minutes or patience")


class DroppedPairsRow(Record):
    """Pairs that a filter dropped."""

    filter: str = column("Filter", help="in the order in which they are applied")
    dropped: int = column("Dropped", help="pairs")


def train_verdict(finding: Finding) -> Iterator[Message]:
    """State what a model has learnt."""
    for row in finding.records(Trained):
        yield message(
            "paraphrase.train.trained",
            finding.positions([row]),
            updates=row.steps,
            epochs=row.epochs,
            loss=row.loss,
            bleu=row.bleu,
        )
