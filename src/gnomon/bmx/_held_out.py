"""What a setting gains on data that it was not chosen on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from gnomon.bmx._choices import Setting, choose
from gnomon.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.bmx._choices import Rule
    from gnomon.bmx._experiments import Grids

    Floats = NDArray[np.float64]

__all__ = ["GROUPS", "Group", "HeldOut", "held_out"]

Group = Literal["language_pair", "dataset"]
GROUPS: tuple[Group, ...] = get_args(Group)


class HeldOut(NamedTuple):
    """One experiment at a setting that was chosen on the other groups.

    - ``place``: the experiment, its place among the grids.
    - ``group``: the group that was held out.
    - ``setting``: chosen on the others; ``None`` where the rule finds none there.
    - ``boosted``: its correlation there.
    - ``gain``: less the metric alone.
    - ``control_p``: exponent of the random explainer at the same weight, chosen on the others too.
    - ``control``: correlation with the random explainer at that setting; NaN without one.
    """

    place: int
    group: str
    setting: Setting | None
    boosted: float
    gain: float
    control_p: float
    control: float

    @property
    def over_control(self) -> float:
        """What the explainer adds to the random one at the same weight."""
        return self.boosted - self.control


def held_out(
    grids: Grids, controls: Grids, *, by: Group = "language_pair", rule: Rule = "largest-mean"
) -> list[HeldOut]:
    """Every experiment at the setting that its group had no part in choosing.

    Each language pair (or data set) in turn is held out, with all its experiments; p and w are
    chosen on all others. The control is the random explainer on the same data with the same
    weight; its own p is the one of the largest mean gain at this weight on the same other groups.

    Args:
        grids: the experiments of one explainer.
        controls: experiments of the random explainer.
        by: what is held out.
        rule: how a setting is chosen, see :func:`choose`.

    Returns:
        One result per experiment, in their order; none where there are fewer than two groups.

    Raises:
        UnknownNameError: no such group or rule.
    """
    if by not in GROUPS:
        raise UnknownNameError("group", str(by), GROUPS)
    groups = [getattr(one, by) for one in grids.experiments]
    if len(set(groups)) < 2:
        return []
    found = [
        result
        for group in dict.fromkeys(groups)
        for result in _of_group(grids, controls, groups, group, rule)
    ]
    return sorted(found, key=lambda one: one.place)


def _of_group(
    grids: Grids, controls: Grids, groups: Sequence[str], group: str, rule: Rule
) -> list[HeldOut]:
    others = grids.take([i for i, name in enumerate(groups) if name != group])
    mine = [i for i, name in enumerate(groups) if name == group]
    try:
        setting = choose(others, rule)
    except DataError:
        nan = float("nan")
        return [HeldOut(i, group, None, nan, nan, nan, nan) for i in mine]
    beside = {one.data: i for i, one in enumerate(controls.experiments)}
    row = _control_row(others, controls, beside, setting.column)
    return [_result(grids, i, group, setting, controls, beside, row) for i in mine]


def _result(
    grids: Grids,
    place: int,
    group: str,
    setting: Setting,
    controls: Grids,
    beside: dict[tuple[str, str, str, str], int],
    row: int | None,
) -> HeldOut:
    boosted = float(grids.correlations[place, setting.row, setting.column])
    other = beside.get(grids.experiments[place].data)
    there = row is not None and other is not None
    return HeldOut(
        place,
        group,
        setting,
        boosted,
        boosted - float(grids.base[place]),
        float(controls.p[row]) if there else float("nan"),
        float(controls.correlations[other, row, setting.column]) if there else float("nan"),
    )


def _control_row(
    others: Grids, controls: Grids, beside: dict[tuple[str, str, str, str], int], column: int
) -> int | None:
    """The exponent of the random explainer that gains most on the other groups at this weight."""
    places = [beside[one.data] for one in others.experiments if one.data in beside]
    gains = controls.gains[places, :, column]
    known = ~np.isnan(gains).any(axis=1)
    if not known.any():
        return None
    return int(gains[known].mean(axis=0).argmax())
