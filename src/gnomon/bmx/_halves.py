"""Held-out gains within one experiment: chosen on half of its segments, measured on the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.bmx._correlations import grid_correlations, usable
from gnomon.bmx._experiments import P, W
from gnomon.bmx._power_mean import power_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.bmx._experiments import Explained
    from gnomon.bmx._shifts import Shift

    Floats = NDArray[np.float64]

__all__ = ["Halves", "halves"]


class Halves(NamedTuple):
    """Gains on the halves that settings were not chosen on.

    - ``gains``: float64 [splits * 2], against the metric alone.
    - ``over_control``: likewise against the random explainer at the same weight; NaN without one.
    """

    gains: Floats
    over_control: Floats


def halves(
    one: Explained,
    control: Explained | None,
    *,
    p: Floats = P,
    w: Floats = W,
    shift: Shift = "paper",
    splits: int = 10,
    seed: int = 0,
) -> Halves:
    """Choose the best setting on half of the segments, measure its gain on the others; both ways.

    Args:
        one: the experiment.
        control: the random explainer on the same segments; its p is chosen on the same half at the
            weight that was chosen.
        p: exponents.
        w: weights.
        shift: of the importances.
        splits: how many random splits.
        seed: seed of the splits.

    Returns:
        Two gains for each split; NaN where a half has no defined correlation.
    """
    kept, reason = usable(one)
    if control is not None:
        kept &= usable(control).kept
    n = int(kept.sum())
    if reason is not None or n < 6:
        return Halves(np.full(2 * splits, np.nan), np.full(2 * splits, np.nan))
    sides = [
        power_means(side.values, side.offsets, p, shift=shift).means[:, kept]
        for side in (one, control)
        if side is not None
    ]
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(splits):
        order = generator.permutation(n)
        first, second = np.sort(order[: n // 2]), np.sort(order[n // 2 :])
        for half, rest in ((first, second), (second, first)):
            found.append(_measured(one.score[kept], one.human[kept], sides, w, (half, rest)))
    return Halves(*np.array(found).T)


def _measured(
    score: Floats,
    human: Floats,
    sides: list[Floats],
    w: Floats,
    split: tuple[NDArray[np.intp], NDArray[np.intp]],
) -> tuple[float, float]:
    (seen, unseen), nan = split, float("nan")
    mine, *controls = (
        grid_correlations(score[seen], means[:, seen], human[seen], w) for means in sides
    )
    if np.isnan(mine).all():
        return nan, nan
    row, column = divmod(int(np.nanargmax(mine)), len(w))
    weight = w[[column, -1]]
    boosted, base = grid_correlations(
        score[unseen], sides[0][row : row + 1, unseen], human[unseen], weight
    )[0]
    if not controls or np.isnan(controls[0][:, column]).all():
        return float(boosted - base), nan
    other = int(np.nanargmax(controls[0][:, column]))
    beside = grid_correlations(
        score[unseen], sides[1][other : other + 1, unseen], human[unseen], weight
    )[0, 0]
    return float(boosted - base), float(boosted - beside)
