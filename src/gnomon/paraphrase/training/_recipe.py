"""How a paraphraser is built and trained."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from gnomon.errors import UsageError

__all__ = ["Recipe"]

_AT_LEAST_ONE = (
    *("vocabulary", "dimensions", "encoder_layers", "decoder_layers", "heads", "feed_forward"),
    *("limit", "warmup", "batch_tokens", "accumulate", "validate_every", "dev", "average"),
)
_OPTIONAL = ("epochs", "max_steps", "patience")


@dataclass(frozen=True)
class Recipe:
    """Options of training; Bawden et al. (2020) take those in brackets.

    Attributes:
        vocabulary: pieces, beside sentence codes (33,152 joint).
        dimensions: of the vectors (512).
        encoder_layers: (6).
        decoder_layers: (6).
        heads: of attention (8).
        feed_forward: width of the layers between (2048).
        dropout: (0.1).
        limit: most pieces of a side; longer pairs are left out.
        label_smoothing: (0.1).
        learning_rate: the highest, at the end of the warm-up (3e-4).
        warmup: steps of linear growth, after which the rate falls with the inverse root (16,000).
        clip: greatest norm of the gradient.
        batch_tokens: most pieces of a batch on either side, padding counted.
        accumulate: batches per step.
        dev: pairs held out to validate on (3,000).
        bleu_pairs: of them, how many are decoded for BLEU.
        validate_every: steps between validations, each of which ends in a checkpoint.
        stop_on: what the best model is chosen by, and patience counts (BLEU).
        patience: validations without a better one before training stops; None: never.
        average: the last checkpoints whose mean is tried as the final model.
        epochs: passes over the data at most.
        max_steps: steps at most.
        max_minutes: minutes at most, of each call.
        precision: "fp32", or "bf16" (automatic mixed precision).
        seed: of the weights, the order of the data, dropout and the choice of dev pairs.
    """

    vocabulary: int = 8000
    dimensions: int = 256
    encoder_layers: int = 4
    decoder_layers: int = 4
    heads: int = 4
    feed_forward: int = 1024
    dropout: float = 0.1
    limit: int = 256
    label_smoothing: float = 0.1
    learning_rate: float = 7e-4
    warmup: int = 500
    clip: float = 1.0
    batch_tokens: int = 4000
    accumulate: int = 1
    dev: int = 1000
    bleu_pairs: int = 200
    validate_every: int = 500
    stop_on: Literal["bleu", "loss"] = "bleu"
    patience: int | None = 10
    average: int = 1
    epochs: int | None = None
    max_steps: int | None = None
    max_minutes: float | None = None
    precision: Literal["fp32", "bf16"] = "fp32"
    seed: int = 0

    def __post_init__(self) -> None:
        for name in (*_AT_LEAST_ONE, *_OPTIONAL):
            value = getattr(self, name)
            if not (value is None and name in _OPTIONAL) and value < 1:
                raise UsageError(f"{_spoken(name)} is {value}; it must be 1 or more")
        for name in ("dropout", "label_smoothing"):
            if not 0 <= getattr(self, name) < 1:
                raise UsageError(f"{_spoken(name)} is {getattr(self, name)}; it must be in [0, 1)")
        for name in ("learning_rate", "clip", "max_minutes"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UsageError(f"{_spoken(name)} is {value}; it must be above 0")
        if self.dimensions % self.heads or self.dimensions % 2:
            raise UsageError(
                f"dimensions ({self.dimensions}) must be even and a multiple of heads"
                f" ({self.heads})"
            )
        if self.stop_on not in {"bleu", "loss"} or self.precision not in {"fp32", "bf16"}:
            raise UsageError(
                "training stops on 'bleu' or 'loss', in the precision 'fp32' or 'bf16'"
            )
        if self.stop_on == "bleu" and self.bleu_pairs < 1:
            raise UsageError(
                f"training stops on BLEU, of {self.bleu_pairs} pairs; take some (--bleu-pairs;"
                " bleu_pairs=), or the loss (--stop-on loss; stop_on='loss')"
            )

    def fixed(self) -> dict[str, object]:
        """What must not change when a run is resumed: all but when to stop."""
        free = {"patience", "average", "epochs", "max_steps", "max_minutes"}
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name not in free}


def _spoken(name: str) -> str:
    """An option as the command line and Python both know it."""
    return name.replace("_", " ")
