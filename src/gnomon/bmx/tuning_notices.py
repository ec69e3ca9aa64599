"""Notices for the reader of a grid search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.bmx.tuning_tables import HALVES, HELD_BACK, IN_TURN, LEAST_UNITS, TunedFamily
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.bmx.choices import Rule
    from gnomon.bmx.experiments import Experiment, Explained, Grids
    from gnomon.messages import Message

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
) -> Iterator[Message]:
    """Notices of what is undefined, left out and not controlled, and what p and w are judged by."""
    if aside:
        yield message("note.tune.aside", experiments=len(aside))
    yield from _say_undefined(mine)
    if mine.left_out is not None and mine.used is not None and any(mine.left_out):
        left = sum(mine.left_out)
        yield message("note.tune.left_out", left=left, segments=left + sum(mine.used))
    yield from _groups(families, rule)
    yield from _controls(mine, controls, _large(explained))


def _say_undefined(grids: Grids) -> Iterator[Message]:
    for index, reason in sorted(grids.reasons.items())[:_SHOWN]:
        named = str(grids.experiments[index])
        yield message("note.tune.no_correlation", experiment=named, reason=reason)
    if len(grids.reasons) > _SHOWN:
        yield message("note.tune.more", experiments=len(grids.reasons) - _SHOWN)
    still = [
        str(experiment)
        for i, experiment in enumerate(grids.experiments)
        if np.isnan(grids.base[i]) and i not in grids.reasons
    ]
    if still:
        yield message("note.tune.constant", experiments=still)


def _groups(families: Sequence[TunedFamily], rule: Rule) -> Iterator[Message]:
    """Notices of what each test set is judged by."""
    judged = {family.data for family in families}
    if IN_TURN in judged:
        groups = {group for family in families for group in family.grids.groups}
        few = len(groups) < LEAST_UNITS
        yield message("note.tune.in_turn", rule=rule, groups=len(groups), few=few)
    if judged - {IN_TURN, HELD_BACK}:
        yield message("note.tune.one_set", halves=HALVES in judged)


def _controls(grids: Grids, controls: Grids, large: Sequence[str]) -> Iterator[Message]:
    controlled = {experiment.data for experiment in controls.experiments}
    without = sum(experiment.data not in controlled for experiment in grids.experiments)
    if without == len(grids.experiments):
        yield message("note.tune.no_control")
    elif without:
        yield message("note.tune.uncontrolled", without=without, experiments=len(grids.experiments))
    if controls.experiments and large:
        yield message("note.tune.large", metrics=large)


def _large(by_name: Mapping[Experiment, Explained]) -> list[str]:
    """The metrics whose scores reach beyond ten times the largest random importance."""
    return list(
        dict.fromkeys(
            name.metric
            for name, experiment in by_name.items()
            if (abs(experiment.score) > _SCALE).any()
        )
    )
