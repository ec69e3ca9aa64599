"""What a reader of a grid search should know, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from gnomon.bmx._experiments import Grids
    from gnomon.bmx._outcomes import Asked

__all__ = ["notices"]

_IN_SAMPLE = (
    "All rules but held-out choose p and w on the very scores that they are judged on: expect less"
    " on other data."
)
_SHOWN = 8
_MANY = 0.5


def notices(
    grids: Grids, controls: Grids, asked: Asked, large: Collection[str] = ()
) -> tuple[str, ...]:
    """All that should be said.

    Args:
        grids: the experiments but for the controls.
        controls: the experiments of the random explainer.
        asked: what was asked for.
        large: metrics whose scores are far larger than random importances.
    """
    return (
        _IN_SAMPLE,
        *_undefined(grids),
        *_left_out(grids),
        *_groups(grids, asked),
        *_controls(grids, controls, large),
        *_collapsed(grids, asked),
    )


def _undefined(grids: Grids) -> Iterator[str]:
    for place, reason in sorted(grids.reasons.items())[:_SHOWN]:
        yield f"{grids.experiments[place]}: no correlation is defined: {reason}."
    if len(grids.reasons) > _SHOWN:
        yield f"{len(grids.reasons) - _SHOWN} more experiments have no defined correlation."
    still = [
        str(one)
        for i, one in enumerate(grids.experiments)
        if np.isnan(grids.base[i]) and i not in grids.reasons
    ]
    if still:
        more = f" and {len(still) - _SHOWN} more" if len(still) > _SHOWN else ""
        yield (
            f"The metric gives all segments the same score, so that there is nothing to gain over:"
            f" {', '.join(still[:_SHOWN])}{more}."
        )


def _left_out(grids: Grids) -> Iterator[str]:
    if grids.left_out is None or grids.used is None or not any(grids.left_out):
        return
    left = sum(grids.left_out)
    yield (
        f"{left} of {left + sum(grids.used)} segments lack a score, an explanation or a human"
        " score and are left out."
    )


def _groups(grids: Grids, asked: Asked) -> Iterator[str]:
    what = asked.held_out_by.replace("_", " ")
    number = len(grids.levels(asked.held_out_by))
    if number < 2:
        yield (
            f"There is one {what} alone, so that none can be held out"
            + ("; see the halves of its own segments." if grids.used is not None else ".")
        )
        return
    yield (
        f"Held-out: p and w by the rule {asked.held_out_rule!r} on all other {what}s, with one of"
        f" {number} held out in turn."
    )
    if number < 3:
        yield f"Intervals over {what}s need three of them; there are {number}."


def _controls(grids: Grids, controls: Grids, large: Collection[str]) -> Iterator[str]:
    there = {one.data for one in controls.experiments}
    without = [str(one) for one in grids.experiments if one.data not in there]
    if len(without) == len(grids.experiments):
        yield (
            "The random explainer was not run beside these, so that it is unknown how much of a"
            " gain any numbers in the place of importances would bring."
        )
    elif without:
        yield f"{len(without)} of {len(grids.experiments)} experiments have no random control."
    if controls.experiments and large:
        yield (
            f"Random importances lie in [0, 1], whatever the metric: scores of {', '.join(large)}"
            " are far larger, so that at the same weight the control hardly moves them."
        )


def _collapsed(grids: Grids, asked: Asked) -> Iterator[str]:
    if grids.collapsed is None or asked.shift != "paper":
        return
    shares = grids.collapsed[:, grids.p < 0]
    known = shares[~np.isnan(shares)]
    if len(known) and float(known.mean()) > _MANY:
        yield (
            f"Over p < 0, {float(known.mean()):.0%} of the power mean's values collapsed: the"
            " smallest importance, shifted to 1e-9, decides alone, and they tell of little but the"
            " number of words; the shifts 'floor' and 'exponential' do not collapse."
        )
