"""The head of a metric and how it is trained: a mix of layers, a comparison, layers that score.

The encoder's layers are pooled before they are mixed: without a norm between, the mean over the
pieces of a weighted sum of layers is the weighted sum of their means. What a frozen encoder says
of a text is so a table of vectors, and the mix is learnt on it like the rest.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch.nn import Parameter

from gnomon.core.errors import DataError, FormatError
from gnomon.data.formats import atomic_write
from gnomon.learned.architectures import architecture_of
from gnomon.learned.encoder import ENCODER
from gnomon.learned.heads import FeedForward, compared
from gnomon.train.judged import ROLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from gnomon.train._features import Features
    from gnomon.train.judged import JudgedOutputs
    from gnomon.train.recipe import HeadRecipe

_MIX = "layerwise_attention."
_HEAD = "estimator.ff"
_ROWS = 2048  # examples that are compared at a time where nothing is learnt
_SMALLEST = 1e-6  # spread of an input below which it is left as it is
#: how much faster the few weights of the mix learn: AdamW moves any weight by about its rate
_MIX_RATE = 30.0
_PASS = 1_000_003  # of seeds: passes of one never meet those of the next


class Pass(NamedTuple):
    """Results of a pass over the examples."""

    number: int
    loss: float | None
    held_out_loss: float
    pearson: float | None

    @property
    def rank(self) -> tuple[float, float]:
        """Rank that is greater where the metric is better."""
        return (-2.0 if self.pearson is None else self.pearson, -self.held_out_loss)


def centre_sets(values: NDArray[np.float64], judged: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values without the mean of their judged set, so that sets differ by nothing else."""
    sums = np.bincount(judged, values) / np.maximum(np.bincount(judged), 1)
    return values - sums[judged]


def agreement(
    scores: NDArray[np.float64], labels: NDArray[np.float64], judged: NDArray[np.int64]
) -> float | None:
    """Pearson's r within judged sets; None where it is undefined."""
    x, y = centre_sets(scores, judged), centre_sets(labels, judged)
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return None if spread <= 1e-12 * max(len(x), 1) else float(x @ y) / spread


class Estimator(torch.nn.Module):  # type: ignore[misc]  # torch is not read by mypy
    """A mix of layers and the layers above it; its weights have COMET's names.

    Inputs are standardised while it learns: :meth:`exported` puts that into the first layer.
    """

    mean: torch.Tensor
    spread: torch.Tensor

    def __init__(
        self, kind: str, settings: Mapping[str, Any], dimensions: int, depth: int, dropout: float
    ) -> None:
        super().__init__()
        self.settings, self.dropout = settings, dropout
        self.own: dict[str, Parameter] = {}
        for name, shape in architecture_of(kind).shapes(settings, dimensions, depth).items():
            self.own[name] = Parameter(_fresh_weights(name, shape))
            self.register_parameter(name.replace(".", "/"), self.own[name])
        inputs = self.own[f"{_HEAD}.0.weight"].shape[1]
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("spread", torch.ones(inputs))

    def mixed(self, layers: Any) -> Any:
        """One vector of each text, tensor [..., d], of those of its layers, [..., layers, d]."""
        raw = [weight for name, weight in self.own.items() if name.startswith(f"{_MIX}scalar")]
        if not raw:
            return layers[..., -1, :]
        weights = torch.softmax(torch.cat(raw), dim=0)
        return self.own[f"{_MIX}gamma"] * torch.einsum("...ld,l->...d", layers, weights)

    def inputs(self, sides: Sequence[Any]) -> Any:
        """Inputs of the layers, tensor [B, inputs], of the layers of each side."""
        return compared(*(self.mixed(layers) for layers in sides))

    def forward(self, sides: Sequence[Any]) -> Any:
        """Scores, tensor [B], of the layers of each side, tensors [B, layers, d]."""
        values = (self.inputs(sides) - self.mean) / self.spread
        head = FeedForward.from_head(self.own, self.settings, _HEAD)
        for number, (weight, bias) in enumerate(head.layers):
            if number:
                values = torch.nn.functional.dropout(
                    head.activation(values), self.dropout, training=self.training
                )
            values = torch.nn.functional.linear(values, weight, bias)
        return values.squeeze(-1)

    def exported(self) -> dict[str, Any]:
        """The weights for inputs as they are: (x - m) / s and then W is x and then W / s."""
        weights = {name: tensor.detach().double().cpu() for name, tensor in self.own.items()}
        weight = weights[f"{_HEAD}.0.weight"] / self.spread.double().cpu()
        weights[f"{_HEAD}.0.bias"] -= weight @ self.mean.double().cpu()
        weights[f"{_HEAD}.0.weight"] = weight
        return {name: tensor.float().contiguous() for name, tensor in weights.items()}


def _fresh_weights(name: str, shape: tuple[int, ...]) -> Any:
    """Fresh weights: Glorot's, no bias, an even mix."""
    if name.endswith("gamma"):
        return torch.ones(shape)
    if len(shape) < 2:
        return torch.zeros(shape)
    return torch.nn.init.xavier_uniform_(torch.empty(shape))


@dataclass(eq=False)
class Training:
    """A run of training."""

    data: JudgedOutputs
    features: Features
    table: NDArray[np.float32]
    estimator: Estimator
    recipe: HeadRecipe
    curve: list[Pass] = field(default_factory=list)

    def __post_init__(self) -> None:
        recipe, data = self.recipe, self.data
        self.device = self.features.base.encoder.device
        self.estimator.to(self.device)
        self.roles = ROLES[recipe.inputs]
        held = data.held_out[data.cell]
        self.rows, self.held_rows = np.flatnonzero(~held), np.flatnonzero(held)
        self.weights = {f"head.{k}": v for k, v in self.estimator.own.items()}
        parameters = self.estimator.own
        mix = [parameter for name, parameter in parameters.items() if name.startswith(_MIX)]
        layers = [parameter for parameter in parameters.values() if parameter.dim() > 1]
        biases = [parameter for name, parameter in parameters.items() if name.endswith(".bias")]
        rate, decay = recipe.learning_rate, recipe.weight_decay
        groups = [
            {"params": layers, "lr": rate, "weight_decay": decay},
            {"params": biases, "lr": rate, "weight_decay": 0.0},
        ]
        if mix:
            groups.append({"params": mix, "lr": rate * _MIX_RATE, "weight_decay": 0.0})
        if recipe.train_encoder:
            self.ids = self.features.sequences(data.texts)
            for name, weight, rate in self._encoder_weights():
                weight.requires_grad_(True)  # noqa: FBT003  # torch's signature
                self.weights[f"encoder.{name}"] = weight
                groups.append({"params": [weight], "lr": rate, "weight_decay": 0.01})
        self.optimizer = torch.optim.AdamW(groups)
        self.best = self._copied()

    def _encoder_weights(self) -> Iterator[tuple[str, Any, float]]:
        """The encoder's weights that learn, with their rates: lower layers learn more slowly."""
        encoder, recipe = self.features.base.encoder, self.recipe
        for name, weight in encoder.model.named_parameters():
            if name.startswith("encoder.layer."):
                below_top = encoder.depth - 1 - int(name.split(".")[2])
                yield name, weight, recipe.encoder_learning_rate * recipe.layer_decay**below_top

    def _copied(self) -> dict[str, Any]:
        return {name: weight.detach().clone() for name, weight in self.weights.items()}

    def standardise(self) -> None:
        """Measure mean and spread of each input over the examples that are trained on."""
        total = torch.zeros(len(self.estimator.mean), dtype=torch.float64)
        squares = total.clone()
        with torch.inference_mode():
            for at in range(0, len(self.rows), _ROWS):
                sides = self._frozen_sides(self.rows[at : at + _ROWS])
                inputs = self.estimator.inputs(sides).double().cpu()
                total += inputs.sum(dim=0)
                squares += (inputs**2).sum(dim=0)
        mean = total / len(self.rows)
        spread = (squares / len(self.rows) - mean**2).clamp(min=0).sqrt()
        spread[spread < _SMALLEST] = 1.0
        self.estimator.mean.copy_(mean.float())
        self.estimator.spread.copy_(spread.float())

    def run(self, path: Path, progress: Callable[[str, int, int], object] | None) -> str:
        """Train until there is no better pass, or as far as a run may go; the best pass stays."""
        if not self.curve:
            self._count(None)
        while True:
            done = self.curve[-1].number
            best = max(self.curve, key=lambda pass_: pass_.rank).number
            if done - best >= self.recipe.patience and done > self.recipe.frozen_epochs:
                stopped = "patience"
                break
            if done >= self.recipe.epochs:
                stopped = "epochs"
                break
            self._count(self._learn(done + 1))
            self.keep(path)
            if progress:
                progress("training", done + 1, self.recipe.epochs)
        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(self.best[name])
        return stopped

    def _count(self, loss: float | None) -> None:
        scores = self.scores(self.held_rows)
        cells = self.data.held_out
        all_scores = np.full(len(self.data.cell), np.nan)
        all_scores[self.held_rows] = scores
        scored, label = self.data.cell_means(all_scores)[cells], self.data.label[cells]
        number = self.curve[-1].number + 1 if self.curve else 0
        error = float(np.mean((scored - label) ** 2))
        pass_ = Pass(number, loss, error, agreement(scored, label, self.data.judged[cells]))
        if not self.curve or pass_.rank > max(before.rank for before in self.curve):
            self.best = self._copied()
        self.curve.append(pass_)

    def _learn(self, number: int) -> float:
        """One pass over the examples; its mean loss."""
        torch.manual_seed((self.recipe.seed * _PASS + number) % 2**63)
        order = self.rows[torch.randperm(len(self.rows)).numpy()]
        live = self.recipe.train_encoder and number > self.recipe.frozen_epochs
        label = torch.from_numpy(self.data.label[self.data.cell]).float()
        encoder = self.features.base.encoder
        self.estimator.train()
        encoder.model.train(live)
        total, size = 0.0, self.recipe.batch_size
        for at in range(0, len(order), size):
            some = order[at : at + size]
            sides = self._live_sides(some) if live else self._frozen_sides(some)
            loss = torch.nn.functional.mse_loss(self.estimator(sides), label[some].to(self.device))
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(list(self.weights.values()), 1.0)
            self.optimizer.step()
            total += float(loss.detach()) * len(some)
        encoder.model.eval()
        if not np.isfinite(total):
            raise DataError(
                f"the loss is {total} in pass {number}: training has gone astray; take a lower"
                " learning rate (learning_rate)"
            )
        return total / len(order)

    def scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores of examples by the present weights, float64."""
        self.estimator.eval()
        live = self.recipe.train_encoder and any(pass_.number for pass_ in self.curve)
        size = self.recipe.batch_size if live else _ROWS
        batches = [np.zeros(0)]
        with torch.inference_mode():
            for at in range(0, len(rows), size):
                some = rows[at : at + size]
                sides = self._live_sides(some) if live else self._frozen_sides(some)
                batches.append(self.estimator(sides).double().cpu().numpy())
        return np.concatenate(batches)

    def _frozen_sides(self, rows: NDArray[np.int64]) -> list[Any]:
        sides = self.data.sides[rows]
        return [torch.from_numpy(self.table[sides[:, r]]).to(self.device) for r in self.roles]

    def _live_sides(self, rows: NDArray[np.int64]) -> list[Any]:
        """The same by the present encoder; each distinct text is encoded once."""
        sides = self.data.sides[rows][:, self.roles]
        numbers, back = np.unique(sides, return_inverse=True)
        sequences = [self.ids[number] for number in numbers.tolist()]
        lengths = np.array([len(sequence) for sequence in sequences])
        kept = np.arange(int(lengths.max())) < lengths[:, None]
        ids = np.full(kept.shape, self.features.base.encoder.padding, dtype=np.int64)
        ids[kept] = np.concatenate(sequences)
        vectors = self.features.pool_states(self.features.base.encoder.forward(ids, kept))
        places = torch.from_numpy(back.reshape(sides.shape)).to(self.device)
        return [vectors[places[:, role]] for role in range(len(self.roles))]

    # What a run needs to be resumed.

    def keep(self, path: Path) -> None:
        """Write weights, the best ones, the optimiser's state and the curve: all or nothing."""
        names = {id(tensor): name for name, tensor in self.weights.items()}
        tensors = {f"now.{k}": v.detach() for k, v in self.weights.items()}
        tensors |= {f"best.{k}": v for k, v in self.best.items()}
        for weight, state in self.optimizer.state.items():
            tensors |= {f"{key}.{names[id(weight)]}": tensor for key, tensor in state.items()}
        tensors |= {"mean": self.estimator.mean, "spread": self.estimator.spread}
        clean = {key: tensor.cpu().contiguous() for key, tensor in tensors.items()}
        with atomic_write(path, "wb") as file:
            file.write(save(clean, {"curve": json.dumps(self.curve)}))

    def resume(self, path: Path) -> None:
        """Take up a run where it was left."""
        try:
            with safe_open(path, "pt") as file:
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  # no mapping
                curve = [Pass(*row) for row in json.loads(file.metadata()["curve"])]
            with torch.no_grad():
                for name, weight in self.weights.items():
                    weight.copy_(tensors[f"now.{name}"])
                    self.best[name] = tensors[f"best.{name}"].to(self.device)
                    keys = ("step", "exp_avg", "exp_avg_sq")
                    state = {
                        key: tensors[f"{key}.{name}"] for key in keys if f"{key}.{name}" in tensors
                    }
                    if state:
                        moved = {
                            k: v if k == "step" else v.to(self.device) for k, v in state.items()
                        }
                        self.optimizer.state[weight] = moved
                self.estimator.mean.copy_(tensors["mean"])
                self.estimator.spread.copy_(tensors["spread"])
        except (
            SafetensorError,
            OSError,
            LookupError,
            ValueError,
            TypeError,
            RuntimeError,
        ) as error:
            raise FormatError(
                f"is no state of this run ({error}); train into another folder", path=path
            ) from error
        self.curve = curve

    def exported(self) -> dict[str, Any]:
        """All weights of the metric by name, the encoder's among them."""
        model = self.features.base.encoder.model
        encoder_weights = {
            f"{ENCODER}{name}": weight.detach().cpu() for name, weight in model.named_parameters()
        }
        return encoder_weights | self.estimator.exported()
