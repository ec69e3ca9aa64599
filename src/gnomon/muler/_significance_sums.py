"""MuLER, its companions and its standard error as functions of sums over segments.

The same functions serve the test set itself (sums of shape [K]) and its resamples ([K, B]).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

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

__all__ = ["clipped_and_error", "drawn", "figure_columns", "means", "ratio_and_error"]

_STILL = 1e-9  # a standard error of MuLER below this is rounding: nothing varies


def figure_columns(
    scores: FeatureScores, present: Presence, inside: NDArray[np.bool_], rows: NDArray[np.intp]
) -> dict[str, Floats]:
    """What has to be summed over segments, one float64 [K, n] per name.

    Args:
        scores: sentence scores of the feature.
        present: where it occurs.
        inside: bool [K, N], the segments of I in scope.
        rows: intp [n], the segments looked at; outside them every quantity is 0.
    """
    where = inside[:, rows]
    parts = {
        "base": scores.base[:, rows],
        "oracle": scores.oracle[:, rows],
        "anti_oracle": scores.anti_oracle[:, rows],
    }
    found: dict[str, Floats] = {"n": where.astype(np.float64)}
    complete = where.copy()
    for name, values in parts.items():
        valid = where & ~np.isnan(values)
        found[name] = np.where(valid, values, 0.0)
        if (valid != where).any():
            found[f"n {name}"] = valid.astype(np.float64)
            complete &= valid
    sign = 1.0 if scores.higher_is_better else -1.0
    base, oracle, anti_oracle = (sign * values for values in parts.values())
    found |= _squares(base, oracle, anti_oracle, complete)
    share = np.where(where, clipped_ratios(base, oracle, anti_oracle), 0.0)
    found |= {"share": share, "share2": share**2}
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


def means(sums: Sums, judged: Floats, *, higher_is_better: bool) -> dict[str, Floats]:
    """The companions of MuLER but ``base_all``; NaN where undefined.

    Args:
        sums: sums of the columns.
        judged: number of segments with a reference, of the same shape.
        higher_is_better: the metric's direction.
    """
    base, oracle, anti_oracle = (_mean(sums, name) for name in ("base", "oracle", "anti_oracle"))
    sign = 1.0 if higher_is_better else -1.0
    add, miss, hit = (_over(sums[name], judged) for name in ("add", "miss", "hit"))
    return {
        "base": base,
        "oracle": oracle,
        "anti_oracle": anti_oracle,
        "spread": sign * (oracle - anti_oracle),
        "gain": sign * (oracle - base),
        "add": add,
        "miss": miss,
        "hit": hit,
        "neither": np.maximum(1 - add - miss - hit, 0.0),  # not below 0 by rounding
    }


def ratio_and_error(sums: Sums) -> tuple[Floats, Floats]:
    """The ratio of means and its linearised standard error; NaN where undefined.

    With gains a, spreads b and theta = sum a / sum b, the error is
    sqrt(sum (a - theta b)^2) / |sum b|.
    """
    theta = ratios(*(_mean(sums, name) for name in ("base", "oracle", "anti_oracle")))
    spread = np.where(np.isnan(theta), np.nan, sums["spread"])
    squares = sums["gain2"] - 2 * theta * sums["gain spread"] + theta**2 * sums["spread2"]
    return theta, _settled(np.sqrt(np.maximum(squares, 0.0)) / np.abs(spread))


def clipped_and_error(sums: Sums) -> tuple[Floats, Floats]:
    """The mean of clipped ratios and its standard error; NaN where :func:`ratio_and_error` is."""
    defined = ~np.isnan(ratios(*(_mean(sums, name) for name in ("base", "oracle", "anti_oracle"))))
    n = np.where(defined, sums["n"], np.nan)
    mean = _over(sums["share"], n)
    variance = np.maximum(_over(sums["share2"], n) - mean**2, 0.0)
    return mean, _settled(np.sqrt(_over(variance, n)))


def _squares(
    base: Floats, oracle: Floats, anti_oracle: Floats, where: NDArray[np.bool_]
) -> dict[str, Floats]:
    gain = np.where(where, oracle - base, 0.0)
    spread = np.where(where, oracle - anti_oracle, 0.0)
    return {
        "spread": spread,
        "gain2": gain**2,
        "gain spread": gain * spread,
        "spread2": spread**2,
    }


def _mean(sums: Sums, name: str) -> Floats:
    return _over(sums[name], sums.get(f"n {name}", sums["n"]))


def _over(total: Floats, n: Floats) -> Floats:
    found: Floats = np.divide(total, n, out=np.full(np.shape(total), np.nan), where=n > 0)
    return found


def _settled(error: Floats) -> Floats:
    return np.where(error < _STILL, 0.0, error)
