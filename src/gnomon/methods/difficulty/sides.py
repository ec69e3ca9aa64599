"""The weighted metric of a request, and both sides of the comparison: with and without weights."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gnomon.core.errors import UsageError
from gnomon.core.records import table
from gnomon.methods.difficulty.matched import (
    BoundDifficulty,
    UnweightedMatches,
)
from gnomon.methods.difficulty.metric import Difficulty
from gnomon.metrics import resolve
from gnomon.metrics.means import aggregate_means, mean_statistics, quotients
from gnomon.metrics.protocol import Statistics

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.findings import Table
    from gnomon.core.records import Record
    from gnomon.core.testset import TestSet
    from gnomon.methods.difficulty.matched import BoundAlignedDifficulty
    from gnomon.methods.difficulty.ngrams import BoundNgramDifficulty
    from gnomon.methods.difficulty.segments import BoundSegmentDifficulty
    from gnomon.metrics.protocol import BoundMetric, Metric

    Bound = BoundDifficulty | BoundAlignedDifficulty | BoundNgramDifficulty | BoundSegmentDifficulty

_LONG = 24  # characters of a spec that tables show whole


@dataclass(frozen=True, eq=False)
class Side:
    """Scores of a metric, in a form from which corpus scores of any segments can be made."""

    name: str  # what to call it in tables
    segments: NDArray[np.float64]  # [K, N], NaN where undefined
    statistics: NDArray[np.float64]  # [K, N, S]; they add up
    #: corpus scores [...] from summed statistics [..., S]
    aggregate: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    sign: int = 1  # -1 where lower is better, else 1

    def system(self, members: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """Corpus scores over some segments (bool [N]), or all of them: float64 [K]."""
        chosen = self.statistics if members is None else self.statistics[:, members]
        scores: NDArray[np.float64] = self.aggregate(chosen.sum(axis=1))
        return scores

    def mean(self) -> NDArray[np.float64]:
        """Mean of the segment scores that are defined, float64 [K]; NaN without any."""
        defined = ~np.isnan(self.segments)
        total = np.where(defined, self.segments, 0.0).sum(axis=1)
        count = defined.sum(axis=1)
        return quotients(total, count)


def wrapped(metric: str | Metric, *, allow_code: bool = False, **options: Any) -> Difficulty:
    """The metric under difficulty; one that is so already takes the options that it lacks.

    Options that are None or False are not given.
    """
    given = {name: value for name, value in options.items() if value not in (None, False)}
    resolved = resolve(metric, allow_code=allow_code)
    if isinstance(resolved, Difficulty) and not resolved.weighted:
        raise UsageError(f"{resolved.spec!r} weighs no words; leave out weighted=False")
    if not isinstance(resolved, Difficulty):
        return Difficulty(metric=resolved, **given)
    defaults = {field.name: field.default for field in fields(resolved)}
    for name, value in given.items():
        option = getattr(resolved, name)
        if option not in (defaults[name], value):
            raise UsageError(
                f"{name} is given twice: {value!r} as an option, and {option!r} in"
                f" {resolved.spec!r}; leave one out"
            )
    return replace(resolved, **given)


def weighted_side(bound: Bound, batch: Batch) -> Side:
    """The weighted metric."""
    return _side(f"difficulty({_short(bound)})", cast("BoundMetric", bound), batch)


def base_side(bound: Bound, batch: Batch) -> Side:
    """The metric without weights, aggregated as the weighted one: only the weights differ."""
    by_match = isinstance(bound, BoundDifficulty)
    base = UnweightedMatches(bound.metric, bound.base) if by_match else bound.base
    return _side(_short(bound), base, batch)


def _short(bound: Bound) -> str:
    """The wrapped metric for headings: its spec, or its name where that is long."""
    spec = bound.metric.metric.spec
    return spec if len(spec) <= _LONG else bound.base.name


def _side(name: str, bound: BoundMetric, batch: Batch) -> Side:
    segments = bound.segments(batch)
    sign = 1 if bound.higher_is_better else -1
    if isinstance(bound, Statistics):
        return Side(name, segments, bound.statistics(batch), bound.aggregate, sign)
    return Side(name, segments, mean_statistics(segments), aggregate_means, sign)


def tables_of(
    classes: Mapping[str, type[Record]],
    titles: Mapping[str, str],
    rows: Mapping[str, Sequence[Record]],
    of_one: Collection[str],
    confidence: float | None,
) -> list[Table]:
    """Tables that have rows, and the first; those of one metric do not name it."""
    first = next(iter(titles))
    return [
        table(
            name,
            title,
            classes[name],
            rows[name],
            without=("metric",) if name in of_one else (),
            confidence=confidence,
        )
        for name, title in titles.items()
        if name == first or rows[name]
    ]


def facts_of(
    testset: TestSet, bound: Sequence[Bound], key: str, kinds: Sequence[str] = ()
) -> dict[str, str]:
    """What a page says of the data."""
    pools = ("from a file" if metric.pool is None else metric.pool.how for metric in bound)
    facts = {
        "test set": testset.name,
        "language pair": testset.language_pair or "not given",
        "segments": str(testset.segments),
        "systems": str(len(testset.systems)),
        key: ", ".join(metric.metric.metric.spec for metric in bound),
        "pool (systems whose misses make words hard)": ", ".join(dict.fromkeys(pools)),
    }
    return facts | {"human scores": ", ".join(kinds)} if kinds else facts
