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
    orders = (statistics.shape[-1] - 2) // 2
    matches, totals = statistics[..., 2 : 2 + orders], statistics[..., 2 + orders :]
    logarithms = np.zeros(statistics.shape[:-1])
    used = np.zeros(statistics.shape[:-1])
    open_ = np.ones(statistics.shape[:-1], dtype=np.bool_)
    halved = np.ones(statistics.shape[:-1])
    for n in range(orders):
        match, total = matches[..., n], totals[..., n]
        if smoothing.method == "add-k" and n:
            match, total = match + smoothing.value, total + smoothing.value
        open_ = open_ & (total != 0)
        if smoothing.method == "exp":
            halved = np.where(open_ & (match == 0), 2 * halved, halved)
            match = np.where(match == 0, 1 / halved, match)
        elif smoothing.method == "floor":
            match = np.where(match == 0, smoothing.value, match)
        precision = np.where(open_, 100 * match / np.where(open_, total, 1), 0)
        counted = open_ if effective_order else np.ones_like(open_)
        logarithms += np.where(counted, _log(precision), 0)
        used += counted
    penalty = brevity_penalty(statistics[..., 0], statistics[..., 1])
    score = penalty * np.exp(logarithms / np.where(used > 0, used, 1))
    return np.where(matches.any(axis=-1), score, 0.0)


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
    short = candidate < reference
    ratio = np.where(short, reference, 0) / np.where(candidate > 0, candidate, 1)
    penalty: NDArray[np.float64] = np.where(short, np.exp(1 - ratio), 1.0)
    return np.where(short & (candidate == 0), 0.0, penalty)


def _log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    logarithms: NDArray[np.float64] = np.log(np.where(values > 0, values, 1))
    return np.where(values > 0, logarithms, _LOG_OF_ZERO)
