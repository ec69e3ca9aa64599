"""Rules by which the metrics tasks of WMT turned draws into verdicts."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from gnomon.core.errors import UnknownNameError
from gnomon.stats.p_values import EarlyStopping

if TYPE_CHECKING:
    from collections.abc import Mapping


__all__ = [
    "PRESETS",
    "TaskRules",
    "rules",
]


class TaskRules(NamedTuple):
    """Options of the tests in one shared task.

    - ``plus_one``: whether the observation counts as a draw.
    - ``early_stopping``: when drawing ended early.
    - ``spa_seed``: seed of the sign flips of soft pairwise accuracy, where the task used it.
    """

    plus_one: bool = True
    early_stopping: EarlyStopping | None = None
    spa_seed: int = 0


PRESETS: Mapping[str, TaskRules] = MappingProxyType(
    {
        # Williams's test one-sided at system level; bootstrap of DaRR, r/B, at segment level
        "wmt19": TaskRules(plus_one=False),
        # PERM-BOTH over cells, r/B, in blocks of 100 until p < .02 or p > .5
        "wmt22": TaskRules(plus_one=False, early_stopping=EarlyStopping(100, 0.02, 0.5)),
        # the same; decisions instead of scores are exchanged for acc_eq
        "wmt23": TaskRules(plus_one=False, early_stopping=EarlyStopping(100, 0.02, 0.5)),
        # likewise, and soft pairwise accuracy
        "wmt24": TaskRules(
            plus_one=False, early_stopping=EarlyStopping(100, 0.02, 0.5), spa_seed=4
        ),
    }
)


def rules(preset: str | None) -> TaskRules:
    """The rules of a shared task; gnomon's own (+1 correction, all draws) for None.

    Raises:
        UnknownNameError: no such preset.

    >>> rules("wmt24").plus_one, rules(None).plus_one
    (False, True)
    """
    if preset is None:
        return TaskRules()
    if preset not in PRESETS:
        raise UnknownNameError("preset", str(preset), PRESETS)
    return PRESETS[preset]
