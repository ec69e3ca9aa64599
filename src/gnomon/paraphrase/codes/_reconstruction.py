"""How much of its trees an autoencoder gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.paraphrase.codes._forest import forest
from gnomon.paraphrase.codes._tree_lstm import encoded, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.paraphrase.codes._forest import Flat
    from gnomon.paraphrase.codes._tree_lstm import Weights

__all__ = ["Reconstruction", "reconstruction"]

_CHUNK = 1000


@dataclass(frozen=True)
class Reconstruction:
    """Shares of nodes and of trees that are told rightly from the vectors of trees.

    Attributes:
        labels: nodes whose label is told.
        labels_majority: nodes that have the commonest label, which a blind guess would get.
        children: nodes whose number of children is told.
        children_majority: nodes that have the commonest number.
        exact: trees of which every label and number is told, so that unpacking gives them back.
    """

    labels: float
    labels_majority: float
    children: float
    children_majority: float
    exact: float


def reconstruction(
    weights: Weights, trees: Sequence[Flat], counts: NDArray[np.int64]
) -> Reconstruction:
    """Pack and unpack trees; each counts as often as sentences have it."""
    import torch

    right = np.zeros(2)
    tables = [np.zeros(len(weights["label"]), np.int64), np.zeros(0, np.int64)]
    tables[1] = np.zeros(len(weights["tell.children.bias"]), np.int64)
    exact = 0
    with torch.no_grad():
        for first in range(0, len(trees), _CHUNK):
            own = forest(trees[first : first + _CHUNK])
            often = counts[first : first + _CHUNK]
            whole = np.ones(len(often), np.bool_)
            said = told(weights, own, encoded(weights, own))
            for level, logits in zip(own.levels, said, strict=True):
                weight = often[level.trees]
                for number, true in enumerate((level.labels, level.children)):
                    good = logits[number].argmax(1).cpu().numpy() == true
                    right[number] += weight[good].sum()
                    whole[level.trees[~good]] = False
                    tables[number] += np.bincount(true, weight, len(tables[number])).astype(int)
            exact += int(often[whole].sum())
    nodes = int(tables[0].sum())
    shares = [float(right[i] / nodes) for i in (0, 1)]
    majority = [float(tables[i].max() / nodes) for i in (0, 1)]
    return Reconstruction(
        shares[0], majority[0], shares[1], majority[1], exact / max(int(counts.sum()), 1)
    )
