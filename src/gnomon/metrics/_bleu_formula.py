"""BLEU from counts: sacreBLEU's smoothed form and nltk's unsmoothed one, on arrays."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SmoothMethod", "Smoothing", "bleu", "brevity_penalty", "nltk_bleu"]

SmoothMethod: TypeAlias = Literal["exp", "floor", "add-k", "none"]
_DEFAULTS: dict[SmoothMethod, float] = {"exp": 0.0, "floor": 0.1, "add-k": 1.0, "none": 0.0}
#: what sacreBLEU takes for the logarithm of zero
_LOG_OF_ZERO = -9999999999.0


@dataclass(frozen=True)
class Smoothing:
    """How precisions of zero are made positive (Chen and Cherry 2014; sacreBLEU's names).

    Attributes:
        method: "exp" (halved for each order without a match), "floor" (a small count), "add-k"
            (a constant added above the first order), "none".
        given: the value for "floor" and "add-k"; their defaults are .1 and 1.
    """

    method: SmoothMethod = "exp"
    given: float | None = None

    @property
    def value(self) -> float:
        """The value in use."""
        return _DEFAULTS[self.method] if self.given is None else self.given


def bleu(
    statistics: NDArray[np.float64], smoothing: Smoothing, *, effective_order: bool
) -> NDArray[np.float64]:
    """BLEU, 0 to 100, as sacreBLEU computes it (Papineni et al. 2002; Post 2018).

    Args:
        statistics: [..., 2 + 2 n]: lengths of candidate and reference, matches and totals of
            n-grams of order 1 to n.
        smoothing: how zero matches are smoothed.
        effective_order: leave out the orders for which the candidate is too short.
    """
    columns = np.ascontiguousarray(np.moveaxis(statistics, -1, 0))
    orders = (len(columns) - 2) // 2
    matches, totals = columns[2 : 2 + orders], columns[2 + orders :]
    some = matches.any(axis=0)
    if smoothing.method == "add-k":
        matches, totals = matches.copy(), totals.copy()
        matches[1:] += smoothing.value
        totals[1:] += smoothing.value
    is_open = np.logical_and.accumulate(totals != 0, axis=0)
    missed = matches == 0
    if smoothing.method == "exp":
        halvings = np.cumsum(missed & is_open, axis=0, dtype=np.int32)
        matches = np.where(missed, np.ldexp(1.0, -halvings), matches)
    elif smoothing.method == "floor":
        matches = np.where(missed, smoothing.value, matches)
    positive = is_open & (matches > 0)
    precisions = np.divide(100 * matches, totals, out=np.ones_like(matches), where=positive)
    logarithms = np.log(precisions)
    logarithms[~positive] = _LOG_OF_ZERO
    if effective_order:
        logarithms[~is_open] = 0
    used = np.maximum(is_open.sum(axis=0), 1) if effective_order else orders
    mean = sum(logarithms) / used
    return np.where(some, brevity_penalty(columns[0], columns[1]) * np.exp(mean), 0.0)


def nltk_bleu(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unsmoothed BLEU times 100, as nltk's ``sentence_bleu`` and ``corpus_bleu`` compute it.

    An order without a match counts as the smallest positive float, so that scores such as 1e-76
    occur; without a match of order 1 the score is 0.
    """
    orders = (statistics.shape[-1] - 2) // 2
    matches, totals = statistics[..., 2 : 2 + orders], statistics[..., 2 + orders :]
    safe = np.where(matches > 0, matches / np.where(totals > 0, totals, 1), sys.float_info.min)
    mean = np.log(safe).mean(axis=-1)
    penalty = brevity_penalty(statistics[..., 0], statistics[..., 1])
    return np.where(matches[..., 0] > 0, 100 * penalty * np.exp(mean), 0.0)


def brevity_penalty(
    candidate: NDArray[np.float64], reference: NDArray[np.float64]
) -> NDArray[np.float64]:
    """exp(1 - reference / candidate) for candidates that are too short; 0 for empty ones."""
    ratio = np.ones(np.broadcast_shapes(candidate.shape, reference.shape))
    with np.errstate(divide="ignore"):  # of an empty candidate: exp(-inf) is 0
        np.divide(reference, candidate, out=ratio, where=candidate < reference)
    penalty: NDArray[np.float64] = np.exp(1 - ratio)
    return penalty
