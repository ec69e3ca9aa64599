"""A boosted metric beside the metric itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from gnomon.bmx._explanations import MAX_CALLS, cache_of
from gnomon.bmx.metric import Bmx
from gnomon.findings import Column, Finding, Listing, Table
from gnomon.metrics import resolve
from gnomon.metrics.means import mean_over_segments
from gnomon.metrics.scoring import score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.bmx._engine import Progress
    from gnomon.bmx._explanations import Sides
    from gnomon.cache import Cache
    from gnomon.findings import Cell
    from gnomon.metrics.protocol import Metric
    from gnomon.scores import Scores
    from gnomon.testset import TestSet


class Beside(NamedTuple):
    """Scores under a metric, and under the same metric boosted."""

    base: Scores
    boosted: Scores


def boosted_scores(
    testset: TestSet,
    metric: str | Metric,
    *,
    explainer: str = "lime",
    p: Sequence[float] | float | None = None,
    w: Sequence[float] | float | None = None,
    iterations: int = 1,
    shift: Literal["paper", "floor", "exponential"] = "paper",
    sides: Sides = "both",
    max_calls: int = MAX_CALLS,
    cache: Cache | None = None,
    progress: Progress | None = None,
    allow_code: bool = False,
) -> Beside:
    """Score under a metric and under BMX of it; options as those of :class:`Bmx`.

    Args:
        testset: what was translated, and by whom.
        metric: a spec or a metric.
        explainer: spec of an explainer.
        p: exponent, or one for each iteration; the published median by default.
        w: weight of the metric's own score, likewise.
        iterations: how often to explain.
        shift: how importances are made positive.
        sides: explain "both" sides or the "candidate" alone.
        max_calls: most pairs of texts that may be scored.
        cache: remembers explanations.
        progress: called with a stage, how much is done and how much there is.
        allow_code: let a spec ``python('module:function')`` import and run the module.

    Raises:
        SpecError: an option has a value that it cannot have.
        GnomonError: whatever scoring raises.
    """
    base = resolve(metric, allow_code=allow_code)
    boosted = Bmx(
        metric=base,
        explainer=explainer,
        p=_option(p),
        w=_option(w),
        iterations=iterations,
        shift=shift,
        sides=sides,
        max_calls=max_calls,
    )
    bound = boosted.bind(testset)
    kept, notices = cache_of(bound.bound, cache)
    found = score(testset, replace(bound, cache=kept, progress=progress))
    plain = score(testset, bound.bound)
    return Beside(
        replace(plain, metric=base.spec),
        replace(found, metric=boosted.spec, notices=(*notices, *found.notices)),
    )


def beside_base(testset: TestSet, found: Sequence[Beside]) -> Finding:
    """Base and boosted scores side by side, with the ranks of the systems under both."""
    rows = [row for pair in found for row in _rows(pair)]
    columns = (
        Column("system", "System"),
        Column("metric", "Metric"),
        Column("score", "Boosted", "number", digits=4),
        Column("base_score", "Base", "number", digits=4),
        Column("rank", "Rank", "count"),
        Column("base_rank", "Base rank", "count"),
        Column("system_score", "Corpus score", "number", digits=4, help="of the metric, unboosted"),
    )
    note = (
        "Boosted and base scores are means over segments, so that they differ in the explanations"
        " alone; the corpus score is what the metric itself says of the system."
    )
    title = f"Boosted metrics beside the metrics themselves: {testset.name}"
    notices = (notice for pair in found for one in pair for notice in one.notices)
    return Finding(
        method="bmx score",
        title=title,
        tables=(Table("scores", title, columns, tuple(rows), note),),
        signatures={one.metric: str(one.signature) for pair in found for one in pair},
        views=(Listing("scores", title, tuple(column.name for column in columns)),),
        notices=tuple(dict.fromkeys(notices)),
        facts={
            "test set": testset.name,
            "systems": str(len(testset.systems)),
            "segments": str(testset.segments),
        },
    )


def _rows(pair: Beside) -> list[dict[str, Cell]]:
    boosted, base = pair.boosted, pair.base
    means = [mean_over_segments(one.segments) for one in (boosted, base)]
    ranks = [_ranks(mean, up=base.higher_is_better) for mean in means]
    return [
        {
            "system": name,
            "metric": boosted.metric,
            "score": _defined(means[0][k]),
            "base_score": _defined(means[1][k]),
            "rank": ranks[0][k],
            "base_rank": ranks[1][k],
            "system_score": _defined(base.system[k]),
        }
        for k, name in enumerate(boosted.systems)
    ]


def _ranks(scores: NDArray[np.float64], *, up: bool) -> list[int | None]:
    """Rank of each system, 1 is best; equal scores share the better rank."""
    oriented = scores if up else -scores
    return [
        None if np.isnan(value) else 1 + int((oriented > value).sum())
        for value in oriented.tolist()
    ]


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _option(given: Sequence[float] | float | None) -> Any:
    """One value as itself, several as a tuple: as the options of the metric take them."""
    if given is None or isinstance(given, (int, float)):
        return given
    return given[0] if len(given) == 1 else tuple(given)
