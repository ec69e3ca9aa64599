"""What a reader of a grid search should know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.bmx.tuning_tables import HALVES, HELD_BACK, IN_TURN, TunedFamily

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from gnomon.bmx.choices import Rule
    from gnomon.bmx.experiments import Experiment, Explained, Grids

__all__ = ["tuning_notices"]


_SHOWN = 8


#: scores beyond this dwarf random importances, which lie in [0, 1]
_SCALE = 10


def tuning_notices(
    mine: Grids,
    controls: Grids,
    aside: Sequence[Experiment],
    families: Sequence[TunedFamily],
    rule: Rule,
    explained: Mapping[Experiment, Explained],
) -> Iterator[str]:
    """What is undefined, left out and not controlled, and what p and w are judged by."""
    yield from _no_metric_notices(aside)
    yield from _undefined(mine)
    yield from _left_out(mine)
    yield from _groups(families, rule)
    yield from _controls(mine, controls, _large(explained))


def _undefined(grids: Grids) -> Iterator[str]:
    for index, reason in sorted(grids.reasons.items())[:_SHOWN]:
        yield f"{grids.experiments[index]}: no correlation is defined: {reason}."
    if len(grids.reasons) > _SHOWN:
        yield f"{len(grids.reasons) - _SHOWN} more experiments have no defined correlation."
    still = [
        str(experiment)
        for i, experiment in enumerate(grids.experiments)
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


def _groups(families: Sequence[TunedFamily], rule: Rule) -> Iterator[str]:
    """What each test set is judged by."""
    judged = {family.data for family in families}
    if IN_TURN in judged:
        groups = {group for family in families for group in family.grids.groups}
        yield (
            f"In turn: p and w by the rule {rule!r} on all other language pairs (or, of one pair,"
            f" test sets), with one of {len(groups)} held out."
        )
        if len(groups) < 3:
            yield f"Intervals over language pairs need three of them; there are {len(groups)}."
    if judged - {IN_TURN, HELD_BACK}:
        yield (
            "There is one test set alone, so that none can be held out"
            + ("; p and w are judged on halves of its segments." if HALVES in judged else ".")
        )


def _controls(grids: Grids, controls: Grids, large: Collection[str]) -> Iterator[str]:
    controlled = {experiment.data for experiment in controls.experiments}
    without = [
        str(experiment) for experiment in grids.experiments if experiment.data not in controlled
    ]
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
            " are far larger, so that at the same weight the control hardly moves them; divide them"
            " (--scale 100; scale=100)."
        )


def _no_metric_notices(aside: Sequence[Experiment]) -> Iterator[str]:
    if aside:
        experiments = "1 experiment" if len(aside) == 1 else f"{len(aside)} experiments"
        yield f"Left out: {experiments} of random numbers in place of a metric."


def _large(by_name: Mapping[Experiment, Explained]) -> list[str]:
    """The metrics whose scores reach beyond ten times the largest random importance."""
    return list(
        dict.fromkeys(
            name.metric
            for name, experiment in by_name.items()
            if (abs(experiment.score) > _SCALE).any()
        )
    )
