"""Heads above the encoders of learned metrics: mixes of layers, pooling, feed-forward heads.

All of it is in torch, and differentiable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.learned.architectures import ACTIVATIONS, is_mixed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from gnomon.learned.encoder import LoadedMetric, States

__all__ = ["FeedForward", "LayerMix", "compared", "pooled", "sparsemax"]


def sparsemax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The closest point of the simplex: like softmax, but small weights become 0.

    Martins and Astudillo (2016), "From Softmax to Sparsemax", algorithm 1.

    >>> sparsemax(np.array([2.0, 1.5, 0.0])).tolist()
    [0.75, 0.25, 0.0]
    """
    ordered = np.sort(values)[::-1]
    total = np.cumsum(ordered) - 1
    size = int((ordered > total / np.arange(1, len(values) + 1)).sum())
    weights: NDArray[np.float64] = np.maximum(values - total[size - 1] / size, 0)
    return weights


def _softmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(values - values.max())
    weights: NDArray[np.float64] = powers / powers.sum()
    return weights


@dataclass(frozen=True, eq=False)
class LayerMix:
    """Which layer of the encoder a head looks at: one, or a weighted sum of all.

    Rei et al. (2020), "COMET: A Neural Framework for MT Evaluation", equation 1.
    """

    layer: int | None  # index into the states (0: the embeddings); None: the mix
    weights: NDArray[np.float64]  # [L + 1], of the layers in the mix; they sum to 1
    gamma: float  # by what the sum is multiplied
    # whether each state is normalised first, over all positions and dimensions of a text
    norm: bool

    @classmethod
    def from_metric(cls, metric: LoadedMetric, key: str) -> LayerMix:
        """The mix of a loaded metric, or the layer that a hyper-parameter names."""
        settings, depth = metric.model.settings, metric.encoder.depth
        if not is_mixed(settings, key):
            return cls(int(settings[key]), np.zeros(0), 1.0, norm=False)
        prefix = "layerwise_attention."
        raw = [metric.head[f"{prefix}scalar_parameters.{n}"].item() for n in range(depth + 1)]
        name = settings["layer_transformation"]
        weights = (sparsemax if name == "sparsemax" else _softmax)(np.array(raw))
        gamma = metric.head[f"{prefix}gamma"].item()
        return cls(None, weights, gamma, norm=bool(settings["layer_norm"]))

    def __call__(self, states: States) -> Any:
        """The state that the head looks at, tensor [B, W, d]."""
        if self.layer is not None:
            return states.layers[self.layer]
        mixed = sum(
            weight * (_normalise_state(layer, states) if self.norm else layer)
            for weight, layer in zip(self.weights.tolist(), states.layers, strict=True)
            if weight > 0
        )
        return self.gamma * mixed


def _normalise_state(layer: Any, states: States) -> Any:
    """A state with mean 0 and variance 1 over all that is kept of each text."""
    kept = states.kept[:, :, None]
    count = kept.sum(dim=(1, 2), keepdim=True) * layer.shape[-1]
    mean = (layer * kept).sum(dim=(1, 2), keepdim=True) / count
    variance = (((layer - mean) * kept) ** 2).sum(dim=(1, 2), keepdim=True) / count
    return (layer - mean) / (variance + 1e-12).sqrt()


def pooled(state: Any, kept: Any, how: str) -> Any:
    """One vector for each text, tensor [B, d].

    ``state``: tensor [B, W, d]. ``kept``: bool tensor [B, W], the positions that count.
    """
    if how in ("cls", "default"):
        return state[:, 0]
    mask = kept[:, :, None]
    if how == "avg":
        return (state * mask).sum(dim=1) / mask.sum(dim=1)
    return state.masked_fill(~mask, -np.inf).amax(dim=1)


def compared(*sides: Any) -> Any:
    """Inputs of a head: vectors, their products and their distances, tensor [B, inputs].

    Rei et al. (2020), section 2.3; the order is that of unbabel-comet.

    ``sides``: vectors of the candidate, of the text that it is compared with (the source, where
    there are two) and of the reference, tensors [B, d]; one alone is given back.
    """
    import torch

    if len(sides) == 1:
        return sides[0]
    candidate, source = sides[0], sides[1]
    against = (candidate * source, (candidate - source).abs())
    if len(sides) == 2:
        return torch.cat((candidate, source, *against), dim=1)
    reference = sides[2]
    return torch.cat(
        (candidate, reference, candidate * reference, (candidate - reference).abs(), *against),
        dim=1,
    )


def _activation(name: str) -> Callable[[Any], Any]:
    """An activation by the name that hyper-parameters give it."""
    import torch

    activation: Callable[[Any], Any] = getattr(torch.nn, ACTIVATIONS[name.strip().lower()])()
    return activation


@dataclass(frozen=True, eq=False)
class FeedForward:
    """Linear layers with an activation between them, and perhaps one at the end."""

    layers: tuple[tuple[Any, Any], ...]  # weight and bias of each, from the first to the last
    activation: Callable[[Any], Any]  # between them
    final: Callable[[Any], Any]  # after the last one

    @classmethod
    def from_head(
        cls, head: Mapping[str, Any], settings: Mapping[str, Any], prefix: str
    ) -> FeedForward:
        """The head whose weights are called ``prefix.0.weight``, ``prefix.3.weight`` and so on."""
        layers: list[tuple[Any, Any]] = []
        while f"{prefix}.{3 * len(layers)}.weight" in head:
            name = f"{prefix}.{3 * len(layers)}"
            layers.append((head[f"{name}.weight"], head[f"{name}.bias"]))
        last = settings.get("final_activation")
        return cls(
            tuple(layers),
            _activation(settings["activations"]),
            (lambda values: values) if last is None else _activation(last),
        )

    def __call__(self, features: Any) -> Any:
        """Scores, tensor [B], of features, tensor [B, inputs]."""
        import torch

        for number, (weight, bias) in enumerate(self.layers):
            features = torch.nn.functional.linear(
                self.activation(features) if number else features, weight, bias
            )
        return self.final(features).squeeze(-1)
