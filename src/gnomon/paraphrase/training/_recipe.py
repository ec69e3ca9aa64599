"""How a paraphraser is built and trained, and what a run writes about itself."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gnomon.errors import FormatError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

#: what describes a model, beside it
ABOUT = "gnomon-paraphraser.json"

_AT_LEAST_ONE = (
    *("vocabulary", "dimensions", "encoder_layers", "decoder_layers", "heads", "feed_forward"),
    *("limit", "warmup", "batch_size", "accumulate", "validate_every", "dev", "average"),
)
_PRECISIONS = ("fp32", "bf16", "fp16")
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
        batch_size: pairs of a batch, on each device.
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
        precision: "fp32"; "bf16" or "fp16" (automatic mixed precision; fp16 on GPUs only).
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
    batch_size: int = 128
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
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    seed: int = 12345

    def __post_init__(self) -> None:
        self._check_numbers()
        for name, allowed in (("stop_on", ("bleu", "loss")), ("precision", _PRECISIONS)):
            if getattr(self, name) not in allowed:
                raise UsageError(
                    f"{_spoken(name)} is {getattr(self, name)!r}; it is one of {', '.join(allowed)}"
                )
        if self.stop_on == "bleu" and self.bleu_pairs < 1:
            raise UsageError(
                f"training stops on BLEU, of {self.bleu_pairs} pairs; take some (--bleu-pairs;"
                " bleu_pairs=), or the loss (--stop-on loss; stop_on='loss')"
            )

    def _check_numbers(self) -> None:
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

    def fixed(self) -> dict[str, object]:
        """What must not change when a run is resumed: all but when to stop."""
        free = {"patience", "average", "epochs", "max_steps", "max_minutes"}
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name not in free}


def _spoken(name: str) -> str:
    """An option as the command line and Python both know it."""
    return name.replace("_", " ")


class Score(NamedTuple):
    """The outcome of a validation.

    Attributes:
        loss: in nats per piece.
        bleu: of greedy decoding, from 0 to 100; None where nothing is decoded.
    """

    loss: float
    bleu: float | None

    def rank(self, stop_on: str) -> tuple[float, ...]:
        """What is greater where a model is better: BLEU and, where it ties, the loss.

        >>> Score(5.0, 0.0).rank("bleu") > Score(6.0, 0.0).rank("bleu")
        True
        """
        return (-self.loss,) if stop_on == "loss" else (self.bleu or 0.0, -self.loss)


@dataclass
class Progress:
    """What a run knows of itself beyond the trainer's own state.

    Attributes:
        seconds: spent, over all calls.
        best: rank of the best validation; see :meth:`Score.rank`.
        lowest: the lowest validation loss.
        stale: validations since one that was better.
    """

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
    """What the model in a folder was validated with; None where there is no model.

    Raises:
        FormatError: its description is damaged.
    """
    path = folder / ABOUT
    if not path.is_file():
        return None
    try:
        return Score(**read_json(path)["validation"])
    except (KeyError, TypeError) as error:
        raise FormatError(
            "does not say how its model was validated; train into another folder", path=path
        ) from error


def read_json(path: Path) -> dict[str, Any]:
    """Read what a run wrote about itself.

    Raises:
        FormatError: the file is damaged.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FormatError(f"is no JSON: {error}; train into another folder", path=path) from error
    if not isinstance(found, dict):
        raise FormatError("is no JSON object; train into another folder", path=path)
    return found
