"""All correlations of a grid at once: Pearson's r of w S0 + (1 - w) s_hat with human scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.bmx.aggregation import power_means
from gnomon.bmx.experiments import Grids, P, W
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.bmx.aggregation import Shift
    from gnomon.bmx.experiments import Explained
    from gnomon.messages import Message

    Floats = NDArray[np.float64]

__all__ = ["grid_correlations", "search", "usable"]


#: spread below this share of the magnitude is rounding, not variation (as gnomon.stats has it)
_CONSTANT = 1e-13
#: a sum whose variance is below this share of its parts' is computed anew
_CANCELLED = 1e-4
_FEWEST = 3
#: power means computed together: they stay in the processor's cache
_ROWS = 32


class Usable(NamedTuple):
    """The segments of an experiment that have a score, an explanation and a human score.

    - ``kept``: bool [N].
    - ``reason``: why no correlation is defined; ``None`` where some may be.
    """

    kept: NDArray[np.bool_]
    reason: Message | None


def search(
    explained: Sequence[Explained],
    *,
    p: Floats = P,
    w: Floats = W,
    shift: Shift = "paper",
) -> Grids:
    """The grids of some experiments, from explanations that were computed once."""
    correlations = np.full((len(explained), len(p), len(w)), np.nan)
    collapsed = np.full((len(explained), len(p)), np.nan)
    some = [usable(explanations) for explanations in explained]
    for i, (explanations, (kept, reason)) in enumerate(zip(explained, some, strict=True)):
        means_by_p = power_means(explanations.values, explanations.offsets, p, shift=shift)
        collapsed[i] = means_by_p.share_collapsed
        if reason is None:
            means = means_by_p.means if kept.all() else means_by_p.means[:, kept]
            correlations[i] = grid_correlations(
                explanations.score[kept], means, explanations.human[kept], w
            )
    return Grids(
        experiments=tuple(explanations.experiment for explanations in explained),
        p=p,
        w=w,
        correlations=correlations,
        used=tuple(int(kept.sum()) for kept, _ in some),
        left_out=tuple(int((~kept).sum()) for kept, _ in some),
        collapsed=collapsed,
        reasons={i: reason for i, (_, reason) in enumerate(some) if reason is not None},
    )


def usable(explained: Explained) -> Usable:
    """Which segments count, and why no correlation is defined where that is so."""
    wrong = np.concatenate([[0], np.cumsum(~np.isfinite(explained.values))])
    sound = (np.diff(explained.offsets) > 0) & (np.diff(wrong[explained.offsets]) == 0)
    kept = sound & np.isfinite(explained.score) & np.isfinite(explained.human)
    n = int(kept.sum())
    if n < _FEWEST:
        few = message("note.tune.few_segments", n=n, segments=len(kept), least=_FEWEST)
        return Usable(kept, few)
    if not _varies(explained.human[kept]):
        return Usable(kept, message("note.tune.equal"))
    return Usable(kept, None)


def grid_correlations(score: Floats, means: Floats, human: Floats, w: Floats = W) -> Floats:
    """Pearson's r of every combination w S0 + (1 - w) s_hat with human scores.

    All of them follow from three sums per exponent, of centred values: s_hat with itself, with S0
    and with the human scores. Where S0 and s_hat nearly cancel, the sum is formed and centred.
    """
    if len(score) < _FEWEST:
        return np.full((len(means), len(w)), np.nan)
    h, s0, unit = _centre(human), _centre(score), float(_unit(score))
    h, s0 = h / _or_one(np.sqrt(h @ h)), s0 / unit
    sums = [_sums(means[i : i + _ROWS], h, s0) for i in range(0, len(means), _ROWS)]
    scales, squares, with_h, with_s0 = np.concatenate(sums, axis=1) if sums else np.empty((4, 0))
    ratio = scales / unit  # both sides are numbers up to 1; the weights say how they compare
    a, b = w[None, :], (1 - w)[None, :] * ratio[:, None]
    covariance = a * (s0 @ h) + b * with_h[:, None]
    parts = a * a * (s0 @ s0) + b * b * squares[:, None]
    variance = parts + 2 * a * b * with_s0[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        r = covariance / np.sqrt(variance)
    for i, j in np.argwhere((variance < _CANCELLED * parts) & (b > 0)):
        r[i, j] = _alone(w[j] * score + (1 - w[j]) * means[i], h)
    r[:, w == 1] = _alone(score, h)
    r[parts == 0] = np.nan
    if not _varies(human):
        r[:] = np.nan
    return np.asarray(np.clip(r, -1.0, 1.0))


def _sums(means: Floats, h: Floats, s0: Floats) -> Floats:
    """Of centred rows in units of their largest magnitude: that, and their three sums [4, rows]."""
    scales = _unit(means)
    s_hat = _centre(means / scales[:, None])
    squares = np.einsum("ij,ij->i", s_hat, s_hat)
    return np.stack([scales, squares, s_hat @ h, s_hat @ s0])


def _alone(values: Floats, h: Floats) -> float:
    centred = _centre(values) / _unit(values)
    length = np.sqrt(centred @ centred)
    return float(centred @ h / length) if length > 0 else float("nan")


def _unit(values: Floats) -> Floats:
    """The largest magnitude of every row, so that squares stay in range; 1 where that is 0."""
    return np.asarray(_or_one(np.abs(values).max(axis=-1)))


def _centre(values: Floats) -> Floats:
    """Rows less their means; 0 all along where a row does not vary."""
    centred = values - values.mean(axis=-1, keepdims=True)
    spread = centred.max(axis=-1) - centred.min(axis=-1)
    still = spread <= _CONSTANT * np.abs(values).max(axis=-1)
    centred[still] = 0.0
    return np.asarray(centred)


def _varies(values: Floats) -> bool:
    return bool(_centre(values).any())


def _or_one(values: Floats) -> Floats:
    return np.asarray(np.where(values > 0, values, 1.0))
