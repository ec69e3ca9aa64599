"""Construction and training of a metric."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from gnomon.core.errors import UsageError
from gnomon.core.options import (
    SEED,
    Above0,
    Below1,
    Count,
    Group,
    Limits,
    Metavar,
    Positive,
    Rare,
    Seed,
    Share,
    check_fields,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["HeadRecipe", "HeldOutBy", "Inputs", "Pool"]


#: what a metric looks at beside the output, or alone
Inputs: TypeAlias = Literal["both", "source", "reference", "source-alone", "output-alone"]
#: what is never split between the part that is trained on and the one that is held out
HeldOutBy: TypeAlias = Literal["document", "segment"]
#: how the states of a text become one vector; either may be taken of each layer before these are
#: mixed, since neither a mean nor a choice of position minds the order
Pool: TypeAlias = Literal["avg", "cls"]
_ENCODER = Group("training the encoder", rare=True)
_SENTINELS = ("source-alone", "output-alone")


@dataclass(frozen=True)
class HeadRecipe:
    """Options of training.

    Attributes:
        inputs: the texts compared with the output: "both" source and reference (RegressionMetric),
            the "source" alone (ReferencelessRegression), or the "reference" alone, for encoders of
            one language; "source-alone" and "output-alone" compare nothing: sentinels, which tell
            what can be guessed.
        layers: a trained "mix" of all layers of the encoder, or the "last".
        pool: the vector of a text: mean over its pieces ("avg"), or its first position ("cls").
        hidden_sizes: sizes of the layers above the comparison.
        dropout: share of these layers' numbers that is dropped in training.
        learning_rate: learning rate of AdamW, the same in all steps.
        weight_decay: weight decay of AdamW, for the layers above the comparison.
        batch_size: examples per step.
        epochs: the largest number of passes over the examples.
        patience: passes without a better one before training stops.
        held_out: share of judged outputs held out, to stop training and to report on.
        held_out_by: the unit that is never divided: a "document" (where test sets tell; else
            segments), or a "segment", with the outputs of all systems.
        train_encoder: train the encoder's layers, too; its embeddings stay (use a GPU).
        encoder_learning_rate: learning rate of the encoder's highest layer.
        layer_decay: share of the rate above it at which each layer below learns.
        frozen_epochs: first passes in which the encoder stays as it is.
    """

    inputs: Inputs = "both"
    layers: Literal["mix", "last"] = "mix"
    pool: Annotated[Pool, Rare()] = "avg"
    hidden_sizes: Annotated[Sequence[int], Limits(1, 65536), Metavar("N")] = (256, 64)
    dropout: Below1 = 0.3
    learning_rate: Above0 = 3e-4
    weight_decay: Annotated[float, Limits(0), Metavar("X"), Rare()] = 0.1
    batch_size: Positive = 64
    epochs: Positive = 60
    patience: Positive = 8
    held_out: Share = 0.1
    held_out_by: HeldOutBy = "document"
    train_encoder: Annotated[bool, _ENCODER] = False
    encoder_learning_rate: Annotated[Above0, _ENCODER] = 1e-5
    layer_decay: Annotated[Share, _ENCODER] = 0.95
    frozen_epochs: Annotated[Count, _ENCODER] = 1
    seed: Annotated[Seed, Group("recipe")] = SEED

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        check_fields(self)
        if not self.hidden_sizes:
            raise UsageError("hidden_sizes names one layer or more; got none")
        if not 0 < self.held_out < 1:
            raise UsageError(
                f"held_out must be a share above 0 and below 1; got {self.held_out:g}: what is held"
                " out tells when to stop"
            )

    @property
    def kind(self) -> str:
        """The class of the metric, as COMET's checkpoints name it."""
        if self.inputs in _SENTINELS:
            return "sentinel_regression_metric"
        compared = self.inputs in ("source", "reference")
        return "referenceless_regression_metric" if compared else "regression_metric"

    @property
    def compared(self) -> bool:
        """True if the metric compares two texts; a sentinel looks at one."""
        return self.inputs not in _SENTINELS

    def fixed(self) -> dict[str, object]:
        """Settings that must not change when a run is resumed: all but when to stop."""
        free = {"patience", "epochs"}
        return {name: value for name, value in asdict(self).items() if name not in free}

    def settings(self, encoder: str, name: str) -> dict[str, object]:
        """Hyper-parameters as COMET's checkpoints have them."""
        parameters: dict[str, object] = {
            "encoder_model": encoder,
            "pretrained_model": name,
            "hidden_sizes": list(self.hidden_sizes),
            "activations": "Tanh",
            "final_activation": None,
        }
        looks = {"source": "src", "reference": "ref", "source-alone": "src", "output-alone": "mt"}
        if self.inputs in looks:
            parameters["sent_to_use"] = looks[self.inputs]
        if self.compared:
            parameters |= {
                "layer": "mix" if self.layers == "mix" else -1,
                "layer_transformation": "softmax",
                "layer_norm": False,
                "pool": self.pool,
            }
        return parameters
