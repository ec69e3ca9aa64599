"""What a metric said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.signature import Signature

__all__ = ["Scores"]


@dataclass(frozen=True)
class Scores:
    """Scores of K systems on N segments under one metric.

    Attributes:
        metric: the metric's name as it was asked for ("bleu", "chrf(word_order=2)").
        systems: names of the K systems.
        system: float64 [K], the corpus score of each system; NaN where undefined.
        segments: float64 [K, N], NaN where undefined.
        higher_is_better: False for error rates.
        signature: how to make the numbers again.
        statistics: float64 [K, N, S], sufficient statistics of the corpus score, if it has any.
        aggregate: statistics [..., S], summed over segments, to corpus scores [...].
        notices: what a reader should know (warnings in words).
        native_signatures: signatures of the tool that defines the metric, by its name.
        informed_by: kinds of human scores that went into the scores, which they therefore cannot
            be judged by.
    """

    metric: str
    systems: tuple[str, ...]
    system: NDArray[np.float64]
    segments: NDArray[np.float64]
    higher_is_better: bool
    signature: Signature
    statistics: NDArray[np.float64] | None = None
    aggregate: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None
    notices: tuple[str, ...] = ()
    native_signatures: Mapping[str, str] | None = None
    informed_by: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, str | float | None]]:
        """One flat record per system: ``system, metric, score, signature``."""
        return [
            {
                "system": name,
                "metric": self.metric,
                "score": _defined(float(score)),
                "signature": str(self.signature),
            }
            for name, score in zip(self.systems, self.system, strict=True)
        ]

    def segment_rows(self) -> list[dict[str, str | int | float | None]]:
        """One flat record per system and segment (from 1): ``system, segment, metric, score``."""
        return [
            {
                "system": name,
                "segment": number,
                "metric": self.metric,
                "score": _defined(float(score)),
            }
            for name, scores in zip(self.systems, self.segments, strict=True)
            for number, score in enumerate(scores, start=1)
        ]


def _defined(score: float) -> float | None:
    return None if score != score else score  # noqa: PLR0124  # NaN is the only such number
