"""XMoverScore as its authors' program computes it, without mapped vectors.

Zhao et al. (2020), "On the Limitations of Cross-lingual Encoders as Exposed by Reference-Free
Machine Translation Evaluation"; the paper does not mention that parts of the flow are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.metrics._transport import transport_flow
from gnomon.metrics.moverscore import BoundMoverScore, Grams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.models import CausalModel
    from gnomon.signature import Signature

__all__ = ["BoundAuthorsXMoverScore", "thinned"]

#: share of the parts of a flow that are left out, the smallest ones
_DROPPED = 0.3
#: weight of the language model
_FLUENCY = 0.1
#: what counts as no flow, and as equal flows
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class BoundAuthorsXMoverScore(BoundMoverScore):
    """XMoverScore of the authors, ready to score.

    Attributes:
        lm: the language model.
    """

    lm: CausalModel

    @property
    def signature(self) -> Signature:
        """Spec, model with revision or hash, layer, language model."""
        return super().signature.adding(variant="authors", lm=self.lm.identity)

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]."""
        return super().segments(batch) + _FLUENCY * self._fluency(batch)

    def _fluency(self, batch: Batch) -> NDArray[np.float64]:
        """Mean log-probabilities of the candidates, float64 [K, N]; each text is scored once."""
        if self.__dict__.get("_texts") is not batch.texts:
            self.__dict__["_texts"], self.__dict__["_known"] = batch.texts, {}
        known: dict[int, float] = self.__dict__["_known"]
        used = np.unique(batch.candidates).tolist()
        new = [number for number in used if number not in known]
        found = self.lm.log_probabilities([batch.texts[number] for number in new])
        known |= dict(zip(new, found.tolist(), strict=True))
        values = np.array([known[number] for number in used])
        return values[np.searchsorted(used, batch.candidates)].reshape(batch.shape)

    @property
    def _grams(self) -> type[Grams]:
        return _Pieces


class _Pieces(Grams):
    """All pieces of the texts, special ones too, of equal weight."""

    def kept(self, text: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Positions and weights of all pieces."""
        rows = self.tokens.rows(text)
        count = rows.stop - rows.start
        return np.arange(count), np.ones(count)

    def cost(
        self, own: NDArray[np.float64], other: NDArray[np.float64], distance: NDArray[np.float64]
    ) -> float:
        """The cost of what is left of the flow."""
        return float((thinned(transport_flow(own, other, distance)) * distance).sum())


def thinned(flow: NDArray[np.float64]) -> NDArray[np.float64]:
    """A flow without its smallest parts.

    Of n parts, those are left out that are smaller than the k-th smallest, k = max(floor(.3 n), 1).

    >>> thinned(np.array([0.04, 0.06, 0.1, 0.15, 0.2, 0.2, 0.25])).tolist()
    [0.0, 0.06, 0.1, 0.15, 0.2, 0.2, 0.25]
    """
    parts = np.sort(flow[flow > _NOTHING])
    least = parts[max(int(_DROPPED * len(parts)), 1) - 1]
    return np.where(flow < least - _NOTHING, 0.0, flow)
