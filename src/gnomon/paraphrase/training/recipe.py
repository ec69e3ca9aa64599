"""Construction and training of a paraphraser, and the files of a run about itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from gnomon.core.errors import FormatError, UsageError
from gnomon.core.options import (
    SEED,
    Above0,
    Below1,
    Count,
    Group,
    Positive,
    Rare,
    Seed,
    check_fields,
)
from gnomon.models.training_runs import read_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ABOUT", "Progress", "Recipe", "Score", "score_of"]


#: files that describe a model
ABOUT = "gnomon-paraphraser.json"


@dataclass(frozen=True)
class Recipe:
    """Options of training; those in brackets are of Bawden et al. (2020).

    Attributes:
        vocabulary: number of pieces, sentence codes not counted (33,152 joint).
        dimensions: dimensions of the vectors (512).
        encoder_layers: layers of the encoder (6).
        decoder_layers: layers of the decoder (6).
        heads: heads of attention (8).
        feed_forward: width of the layers between (2048).
        dropout: share of numbers that is dropped in training (0.1).
        limit: the largest number of pieces of a side; longer pairs are left out.
        label_smoothing: share of probability that is given to other pieces (0.1).
        learning_rate: the highest one, at the end of the warm-up (3e-4).
        warmup: steps of linear growth, after which the rate falls with the inverse root (16,000).
        clip: the largest norm of the gradient.
        batch_size: pairs of a batch, on each device.
        accumulate: batches per step.
        dev: pairs held out to validate on (3,000).
        bleu_pairs: number of them that are decoded for BLEU.
        validate_every: steps between validations, each of which ends in a checkpoint.
        stop_on: the measure that chooses the best model, and that patience counts (BLEU).
        patience: validations without a better one before training stops; in Python None: never.
        epochs: the largest number of passes over the data.
        max_steps: the largest number of steps.
        max_minutes: the largest number of minutes of a call.
        precision: "fp32"; "bf16" or "fp16" (automatic mixed precision; fp16 on GPUs only).

    Raises:
        UsageError: a number is out of its range, or two do not go together.
    """

    vocabulary: Positive = 8000
    dimensions: Positive = 256
    encoder_layers: Annotated[Positive, Rare()] = 4
    decoder_layers: Annotated[Positive, Rare()] = 4
    heads: Annotated[Positive, Rare()] = 4
    feed_forward: Annotated[Positive, Rare()] = 1024
    dropout: Annotated[Below1, Rare()] = 0.1
    limit: Annotated[Positive, Rare()] = 256
    label_smoothing: Annotated[Below1, Rare()] = 0.1
    learning_rate: Above0 = 7e-4
    warmup: Positive = 500
    clip: Annotated[Above0, Rare()] = 1.0
    batch_size: Positive = 128
    accumulate: Annotated[Positive, Rare()] = 1
    dev: Positive = 1000
    bleu_pairs: Count = 200
    validate_every: Positive = 500
    stop_on: Literal["bleu", "loss"] = "bleu"
    patience: Positive | None = 10
    epochs: Positive | None = None
    max_steps: Positive | None = None
    max_minutes: Above0 | None = None
    precision: Annotated[Literal["fp32", "bf16", "fp16"], Rare()] = "fp32"
    seed: Annotated[Seed, Group("recipe")] = SEED

    def __post_init__(self) -> None:
        """Refuse values that cannot be."""
        check_fields(self)
        if self.stop_on == "bleu" and self.bleu_pairs < 1:
            raise UsageError(
                f"training stops on BLEU, of {self.bleu_pairs} pairs; take some (bleu_pairs),"
                " or the loss (stop_on='loss')"
            )
        if self.dimensions % self.heads or self.dimensions % 2:
            raise UsageError(
                f"dimensions ({self.dimensions}) must be even and a multiple of heads"
                f" ({self.heads})"
            )

    def fixed(self) -> dict[str, object]:
        """Settings that must not change when a run is resumed: all but when to stop."""
        free = {"patience", "epochs", "max_steps", "max_minutes"}
        return {name: value for name, value in asdict(self).items() if name not in free}


class Score(NamedTuple):
    """The outcome of a validation."""

    loss: float
    bleu: float | None

    def rank(self, stop_on: str) -> tuple[float, ...]:
        """Rank that is greater where a model is better: BLEU and, where it ties, the loss.

        >>> Score(5.0, 0.0).rank("bleu") > Score(6.0, 0.0).rank("bleu")
        True
        """
        return (-self.loss,) if stop_on == "loss" else (self.bleu or 0.0, -self.loss)


@dataclass
class Progress:
    """Progress of a run beyond the trainer's own state."""

    seconds: float = 0.0
    best: tuple[float, ...] | None = None
    lowest: float | None = None
    stale: int = 0

    def count(self, score: Score, stop_on: str) -> None:
        """Take note of a validation.

        While nothing matches yet (BLEU is 0), a lower loss is progress, even if a lucky match went
        before.
        """
        rank = score.rank(stop_on)
        lower = self.lowest is None or score.loss < self.lowest
        better = self.best is None or rank > self.best
        self.stale = 0 if better or (lower and score.bleu == 0) else self.stale + 1
        self.best = rank if better else self.best
        self.lowest = score.loss if lower else self.lowest


def score_of(folder: Path) -> Score | None:
    """Validation score of the model in a folder; None where there is no model."""
    path = folder / ABOUT
    if not path.is_file():
        return None
    try:
        return Score(**read_json(path)["validation"])
    except (KeyError, TypeError) as error:
        raise FormatError(
            "does not say how its model was validated; train into another folder", path=path
        ) from error
