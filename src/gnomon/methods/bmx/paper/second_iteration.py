"""A second iteration (appendix E): the boosted metric is explained once more.

It must start where the first one ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.errors import SpecError, UsageError
from gnomon.core.records import METRIC, Record, column
from gnomon.methods.bmx._experiments import RANDOM, Experiment
from gnomon.methods.bmx.explainers import find_explainer
from gnomon.methods.bmx.metric import PUBLISHED, Bmx
from gnomon.methods.bmx.tuning_columns import DATASET, EXPLAINER, LANGUAGE_PAIR
from gnomon.metrics import resolve
from gnomon.metrics.spec import read_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.methods.bmx._experiments import Grids
    from gnomon.methods.bmx._explanations import Sides
    from gnomon.methods.bmx._power_mean import Shift

    Floats = NDArray[np.float64]


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
    iterations = []
    for second in grids.experiments:
        first_iteration = _first_iteration(second.metric)
        if first_iteration is None:
            continue
        metric, explainer, p, w = first_iteration
        first = Experiment(second.dataset, explainer, metric, second.language_pair, second.sides)
        if first in grids.experiments and p in grids.p and w in grids.w:
            iterations.append(Iteration(first, second, p, w))
    return iterations


def _first_iteration(metric: str) -> tuple[str, str, float, float] | None:
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


def boosted_metrics(
    pairs: Sequence[tuple[TestSet, Any]],
    explainers: Sequence[Any],
    fixed: Sequence[float] | None,
    options: tuple[Shift, Sides, float, int, bool],
) -> list[tuple[TestSet, Bmx, Any]]:
    """Test sets, boosted metrics and what explains them again."""
    shift, sides, scale, max_calls, allow_code = options
    requests = []
    for explainer in explainers:
        name = find_explainer(explainer).name
        if name == RANDOM:
            continue
        if fixed is None and name not in PUBLISHED:
            raise UsageError(
                f"no p and w are published for explainer {name!r}, with which a second iteration"
                " could begin; give them (--fixed P W; fixed=(p, w))"
            )
        p, w = fixed if fixed is not None else (PUBLISHED[name].p, PUBLISHED[name].w)
        for testset, metric in pairs:
            boosted = Bmx(
                resolve(metric, allow_code=allow_code),
                explainer=explainer,
                p=float(p),
                w=float(w),
                shift=shift,
                sides=sides,
                scale=scale,
                max_calls=max_calls,
            )
            requests.append((testset, boosted, explainer))
    return requests


def second_iteration_difference(
    first: Grids, second: Grids, *, p: float = -0.3, w: float = 0.6
) -> Floats:
    """How far a second iteration is from starting where the first one ended.

    The metric of the second iteration is the boosted one of the first, so that its w = 1 column
    equals the first iteration's correlation at the p and w that it was boosted with.
    """
    rows = np.flatnonzero(np.isclose(first.p, p, rtol=0, atol=1e-9))
    columns = np.flatnonzero(np.isclose(first.w, w, rtol=0, atol=1e-9))
    if not len(rows) or not len(columns):
        raise UsageError(f"the first grid has no point p = {p}, w = {w}")
    if len(first.experiments) != len(second.experiments):
        raise UsageError(
            f"{len(first.experiments)} grids of a first iteration and {len(second.experiments)} of"
            " a second one; give one of each per experiment, in the same order"
        )
    ended = first.correlations[:, rows[0], columns[0]]
    return np.asarray(np.abs(second.correlations[:, :, -1] - ended[:, None]).max(axis=1))


class IterationStart(Record):
    """Where a second iteration starts, where the first one ended, and what it adds."""

    dataset: str = DATASET
    language_pair: str = LANGUAGE_PAIR
    metric: str = METRIC
    explainer: str = EXPLAINER
    first: float | None = column("First iteration", digits=6, help="correlation at its p and w")
    second: float | None = column("Second at w = 1", digits=6, help="what it starts from")
    difference: float | None = column("Difference", digits=9, help="0 but for rounding")
    boosts: str = column("Boosts", help="the metric that the first iteration boosts")
    base: float | None = column("Base", digits=6, help="correlation of that metric alone")
    again: float | None = column(
        "Second iteration", digits=6, help="correlation at the p and w of the first"
    )
    best: float | None = column(
        "Best of the second", digits=6, help="its largest correlation, p and w chosen in hindsight"
    )
    best_p: float | None = column("Best p", digits=1, help="of the second iteration")
    best_w: float | None = column("Best w", digits=1, help="of the second iteration")


def iteration_rows(grids: Grids, iterations: Sequence[Iteration]) -> Iterator[IterationStart]:
    """Where every second iteration starts and ends, and the largest difference over p."""
    for iteration in iterations:
        row = int(np.abs(grids.p - iteration.p).argmin())
        number = int(np.abs(grids.w - iteration.w).argmin())
        first = float(grids.of(iteration.first)[row, number])
        grid = grids.of(iteration.second)
        starts = grid[:, -1]
        most = divmod(int(np.where(np.isnan(grid), -np.inf, grid).argmax()), len(grids.w))
        yield IterationStart(
            dataset=iteration.second.dataset,
            language_pair=iteration.second.language_pair,
            metric=iteration.second.metric,
            explainer=iteration.second.explainer,
            first=first,
            second=float(starts[0]),
            difference=float(np.abs(starts - first).max()),
            boosts=iteration.first.metric,
            base=float(grids.of(iteration.first)[0, -1]),
            again=float(grid[row, number]),
            best=float(grid[most]),
            best_p=float(grids.p[most[0]]),
            best_w=float(grids.w[most[1]]),
        )


def iteration_notices(rows: Sequence[IterationStart]) -> Iterator[str]:
    """What second iterations add, in a sentence."""
    gains = [
        (row.again > row.first, row.best > row.first)
        for row in rows
        if row.first is not None and row.again is not None and row.best is not None
    ]
    if gains:
        again, best = map(sum, zip(*gains, strict=True))
        yield (
            f"Second iterations, at the p and w of the first again, are above it in {again} of"
            f" {len(gains)} experiments; at their best p and w, chosen in hindsight, in {best}."
        )
