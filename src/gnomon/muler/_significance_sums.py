"""MuLER, its companions and their standard errors as functions of sums over segments.

The same functions serve the test set itself (sums of shape [K]) and its resamples ([K, B]).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from gnomon.muler._ratio import clipped_ratios, ratios
from gnomon.stats.resampling import resampled_sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from gnomon.muler._figures import FeatureScores
    from gnomon.muler._presence import Presence

    Floats: TypeAlias = NDArray[np.float64]
    Sums: TypeAlias = Mapping[str, NDArray[np.float64]]

__all__ = ["Estimate", "drawn", "figure_columns", "figures_and_errors", "mean_and_error", "shares"]

_STILL = 1e-9  # a standard error of MuLER below this is rounding: nothing varies
_STILL_SCORES = 1e-7  # likewise of a score, as a share of the scores' size


class Estimate(NamedTuple):
    """A figure and its standard error, of one shape; NaN where undefined, 0 where none varies."""

    value: Floats
    error: Floats


def figure_columns(
    scores: FeatureScores, present: Presence, inside: NDArray[np.bool_], rows: NDArray[np.intp]
) -> dict[str, Floats]:
    """What has to be summed over segments, one float64 [K, n] per name; scores point upwards.

    Args:
        scores: sentence scores of the feature.
        present: where it occurs.
        inside: bool [K, N], the segments of I in scope.
        rows: intp [n], the segments looked at; outside them every quantity is 0.
    """
    where = inside[:, rows]
    sign = 1.0 if scores.higher_is_better else -1.0
    base, oracle, anti_oracle = (
        sign * values[:, rows] for values in (scores.base, scores.oracle, scores.anti_oracle)
    )
    found: dict[str, Floats] = {"n": where.astype(np.float64)}
    complete = where.copy()
    for name, values in (("base", base), ("oracle", oracle), ("anti_oracle", anti_oracle)):
        valid = where & ~np.isnan(values)
        found[name] = np.where(valid, values, 0.0)
        found[f"{name} 2"] = found[name] ** 2
        if (valid != where).any():
            found[f"n {name}"] = valid.astype(np.float64)
            complete &= valid
    found |= _products(base, oracle, anti_oracle, where, complete)
    share = np.where(where, clipped_ratios(base, oracle, anti_oracle), 0.0)
    found |= {"share": share, "share 2": share**2}
    for name in ("add", "miss", "hit"):
        found[name] = np.nan_to_num(getattr(present, name)[:, rows])
    return found


def drawn(columns: Sums, counts: NDArray[np.uint8], rows: NDArray[np.intp]) -> dict[str, Floats]:
    """The sums over every resample, float64 [K, B] each.

    Args:
        columns: quantities of segments, float64 [K, n] each.
        counts: uint8 [N, B], how often each segment was drawn.
        rows: intp [n], which segments the columns hold.
    """
    stacked = np.concatenate(list(columns.values()))
    sums = resampled_sums(stacked, counts, rows)
    return dict(zip(columns, np.split(sums, len(columns)), strict=True))


def figures_and_errors(sums: Sums, *, higher_is_better: bool) -> dict[str, Estimate]:
    """Every figure over I: "muler", "clipped", and the mean scores that they are made of.

    Args:
        sums: sums of the columns.
        higher_is_better: the metric's direction; scores come back in its own units.
    """
    sign = 1.0 if higher_is_better else -1.0
    base, oracle, anti_oracle = (
        mean_and_error(sums[name], sums[f"{name} 2"], sums.get(f"n {name}", sums["n"]))
        for name in ("base", "oracle", "anti_oracle")
    )
    scale = _STILL_SCORES * np.sqrt(_over(sums["oracle 2"], sums.get("n oracle", sums["n"])))
    n = sums.get("n complete", sums["n"])
    gain = mean_and_error(_gain(sums), sums["gain 2"], n)
    spread = mean_and_error(_spread(sums), sums["spread 2"], n)
    found = {
        "base": (sign * base.value, base.error),
        "oracle": (sign * oracle.value, oracle.error),
        "anti_oracle": (sign * anti_oracle.value, anti_oracle.error),
        "spread": (oracle.value - anti_oracle.value, spread.error),
        "gain": (oracle.value - base.value, gain.error),
    }
    theta = ratios(base.value, oracle.value, anti_oracle.value)
    return {
        "muler": Estimate(theta, _settled(_error_of_ratio(sums, theta), _STILL)),
        "clipped": _clipped(sums, ~np.isnan(theta)),
        **{name: Estimate(value, _settled(e, scale)) for name, (value, e) in found.items()},
    }


def shares(sums: Sums, judged: Floats) -> dict[str, Floats]:
    """The shares of segments with more, less, equally much of the feature, and with none.

    Args:
        sums: sums of the columns.
        judged: number of segments with a reference, of the same shape.
    """
    add, miss, hit = (_over(sums[name], judged) for name in ("add", "miss", "hit"))
    neither = np.maximum(1 - add - miss - hit, 0.0)  # not below 0 by rounding
    return {"add": add, "miss": miss, "hit": hit, "neither": neither}


def mean_and_error(total: Floats, squares: Floats, n: Floats) -> Estimate:
    """A mean and its standard error from a sum, a sum of squares and a number of values."""
    mean = _over(total, n)
    variance = np.maximum(_over(squares, n) - mean**2, 0.0)
    return Estimate(mean, np.sqrt(_over(variance, n)))


def _error_of_ratio(sums: Sums, theta: Floats) -> Floats:
    """Linearised: sqrt(sum (a - theta b)^2) / |sum b|, gains a, spreads b, theta their ratio."""
    squares = sums["gain 2"] - 2 * theta * sums["gain spread"] + theta**2 * sums["spread 2"]
    spread = np.where(np.isnan(theta), np.nan, _spread(sums))
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)) / np.abs(spread))


def _clipped(sums: Sums, defined: NDArray[np.bool_]) -> Estimate:
    found = mean_and_error(sums["share"], sums["share 2"], np.where(defined, sums["n"], np.nan))
    return Estimate(found.value, _settled(found.error, _STILL))


def _products(
    base: Floats,
    oracle: Floats,
    anti_oracle: Floats,
    where: NDArray[np.bool_],
    complete: NDArray[np.bool_],
) -> dict[str, Floats]:
    gain = np.where(complete, oracle - base, 0.0)
    spread = np.where(complete, oracle - anti_oracle, 0.0)
    found = {"gain 2": gain**2, "gain spread": gain * spread, "spread 2": spread**2}
    if (complete != where).any():
        found |= {"n complete": complete.astype(np.float64), "gain": gain, "spread": spread}
    return found


def _gain(sums: Sums) -> Floats:
    return sums["gain"] if "gain" in sums else sums["oracle"] - sums["base"]


def _spread(sums: Sums) -> Floats:
    return sums["spread"] if "spread" in sums else sums["oracle"] - sums["anti_oracle"]


def _over(total: Floats, n: Floats) -> Floats:
    found: Floats = np.divide(total, n, out=np.full(np.shape(total), np.nan), where=n > 0)
    return found


def _settled(error: Floats, still: float | Floats) -> Floats:
    return np.where(error < still, 0.0, error)
