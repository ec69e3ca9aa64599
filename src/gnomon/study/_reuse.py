"""Scores that a store holds, as a metric gave them: for tasks that judge metrics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gnomon.metrics._means import aggregate_means, mean_statistics
from gnomon.scores import Scores
from gnomon.signature import Signature
from gnomon.study._methods import METHODS
from gnomon.study._parquet import cells_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.findings import Cell
    from gnomon.study._store import Store
    from gnomon.study._tasks import Task

__all__ = ["stored_scores"]


def stored_scores(store: Store, task: Task) -> dict[str, Scores]:
    """The scores that a task takes from others, by spec; exactly those that were computed.

    Where corpus scores of resamples come from statistics, which a store does not hold, scores are
    left out for methods that resample; these compute them again.
    """
    found = {}
    for spec, keys in task.after.items():
        if all(key in store.entries for key in keys):
            scores, made_of = _scores(store, keys)
            if METHODS[task.method].reuses == "all" or made_of != "statistics":
                found[spec] = scores
    return found


def _scores(store: Store, keys: Sequence[str]) -> tuple[Scores, str]:
    files = [store.file(table, key) for table in ("scores", "segments") for key in keys]
    store.fetch(files)
    totals = [cells_of(store.file("scores", key)) for key in keys]
    systems = [str(name) for one in totals for name in one["system"]]
    cells = [cells_of(store.file("segments", key)) for key in keys]
    first = totals[0]
    informed = first["informed_by"][0]
    scores = Scores(
        metric=str(first["metric"][0]),
        systems=tuple(systems),
        system=_floats([score for one in totals for score in one["score"]]),
        segments=_floats([score for one in cells for score in one["score"]]).reshape(
            len(systems), -1
        ),
        higher_is_better=bool(first["higher_is_better"][0]),
        signature=Signature.parse(str(first["signature"][0])),
        informed_by=tuple(str(informed).split(", ")) if informed else (),
    )
    made_of = str(first["made_of"][0])
    if made_of == "segments":
        statistics = mean_statistics(scores.segments)
        scores = replace(scores, statistics=statistics, aggregate=aggregate_means)
    return scores, made_of


def _floats(cells: Sequence[Cell]) -> NDArray[np.float64]:
    return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
