"""Second iterations: explaining the boosted metric again must start where the first one ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.bmx._experiments import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.bmx._experiments import Grids
    from gnomon.findings import Cell

    Row = Mapping[str, Cell]

__all__ = ["Iteration", "found_iterations", "iteration_rows"]


class Iteration(NamedTuple):
    """An experiment whose metric is another one's, boosted.

    - ``first``: the experiment that was boosted.
    - ``second``: the one that explains the result.
    - ``p``, ``w``: what the first was boosted with.
    """

    first: Experiment
    second: Experiment
    p: float
    w: float


def found_iterations(grids: Grids) -> list[Iteration]:
    """The experiments whose metric is a spec ``bmx(METRIC, explainer=..., p=..., w=...)``.

    Only those whose first iteration is among the grids, with this p and w on them.
    """
    found = []
    for second in grids.experiments:
        told = _told(second.metric)
        if told is None:
            continue
        metric, explainer, p, w = told
        first = Experiment(second.dataset, explainer, metric, second.language_pair, second.sides)
        if first in grids.experiments and p in grids.p and w in grids.w:
            found.append(Iteration(first, second, p, w))
    return found


def iteration_rows(grids: Grids, iterations: Sequence[Iteration]) -> Iterator[Row]:
    """Both correlations of every second iteration, and the largest difference over p."""
    for one in iterations:
        row = int(np.abs(grids.p - one.p).argmin())
        column = int(np.abs(grids.w - one.w).argmin())
        first = float(grids.of(one.first)[row, column])
        starts = grids.of(one.second)[:, -1]
        difference = float(np.abs(starts - first).max())
        yield {
            "dataset": one.second.dataset,
            "language_pair": one.second.language_pair,
            "metric": one.second.metric,
            "explainer": one.second.explainer,
            "first": None if np.isnan(first) else first,
            "second": None if np.isnan(starts[0]) else float(starts[0]),
            "difference": None if np.isnan(difference) else difference,
        }


def _told(metric: str) -> tuple[str, str, float, float] | None:
    from gnomon.errors import SpecError
    from gnomon.metrics.spec import read_spec

    try:
        spec = read_spec(metric)
    except SpecError:
        return None
    options = dict(spec.arguments)
    explainer, p, w = (options.get(name) for name in ("explainer", "p", "w"))
    if spec.name != "bmx" or spec.first is None or not isinstance(explainer, str):
        return None
    if not isinstance(p, int | float) or not isinstance(w, int | float):
        return None
    return str(spec.first), explainer, float(p), float(w)
