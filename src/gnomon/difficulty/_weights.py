"""From difficulties to the weights of both sides (Zhan et al. 2021, eq. 5-6), and variants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.difficulty._places import Places
    from gnomon.difficulty.metric import Difficulty

__all__ = ["Weights", "normalised", "weights_of"]


@dataclass(frozen=True, eq=False)
class Weights:
    """What the tokens of references weigh, and the types that these have.

    Attributes:
        places: the tokens.
        value: float64 [places]; 0 for special ones.
        type_value: float64 [types of the references], weight of the same type elsewhere.
    """

    places: Places
    value: NDArray[np.float64]
    type_value: NDArray[np.float64]

    def of_types(self, group: NDArray[np.int64], type_: NDArray[np.int32]) -> NDArray[np.float64]:
        """The weight of some types by the reference of their group, float64; NaN where it lacks it.

        Args:
            group: int64, a reference for each token.
            type_: int32, the tokens' types.
        """
        found = self.places.types.find(group, type_)
        if not len(self.type_value):
            return np.full(len(found), np.nan)
        return np.where(found >= 0, self.type_value[found], np.nan)


def weights_of(places: Places, difficulty: NDArray[np.float64], options: Difficulty) -> Weights:
    """Weights from difficulties, smoothed or normalised as the options say.

    Args:
        places: the tokens of the references.
        difficulty: float64 [places].
        options: of the metric.
    """
    value = np.zeros(len(difficulty))
    plain = places.plain
    group = places.group[plain]
    smoothed = _smoothed(difficulty[plain], group, len(places.segment), options.smooth)
    value[plain] = normalised(smoothed, group, len(places.segment), options)
    types = places.types
    averaged = types.running if options.variant else types.means
    return Weights(places, value, averaged(value[plain]))


def normalised(
    weights: NDArray[np.float64], owner: NDArray[np.int64], owners: int, options: Difficulty
) -> NDArray[np.float64]:
    """The published code's options: a softmax over each text, or division by its largest weight.

    Args:
        weights: float64, one per token.
        owner: int64, the text of each.
        owners: number of texts.
        options: of the metric.
    """
    if options.softmax_norm:
        raised = np.exp(weights)  # weights are near [0, 1]: nothing can overflow
        return raised / np.bincount(owner, raised, owners)[owner]
    if options.max_norm:
        most = np.full(owners, -np.inf)
        np.maximum.at(most, owner, weights)
        divisor = np.where(most > 0, most, 1.0)
        divided: NDArray[np.float64] = weights / divisor[owner]
        return divided
    return weights


def _smoothed(
    values: NDArray[np.float64], group: NDArray[np.int64], groups: int, smooth: float
) -> NDArray[np.float64]:
    if not smooth:
        return values
    sizes = np.bincount(group, minlength=groups)
    means = np.bincount(group, values, groups) / np.maximum(sizes, 1)
    pulled: NDArray[np.float64] = (1 - smooth) * values + smooth * means[group]
    return pulled
