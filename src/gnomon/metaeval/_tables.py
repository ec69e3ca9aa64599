"""The tables of a meta-evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon import stats
from gnomon.findings import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell
    from gnomon.metaeval._cells import Value
    from gnomon.metaeval._judge import Judging, Result

    Row = Mapping[str, Cell]

__all__ = ["defined", "metaeval_table", "rows_of"]

_COLUMNS = (
    Column("language_pair", "Language pair"),
    Column("level", "Level", help="system or segment"),
    Column("statistic", "Statistic"),
    Column("grouping", "Grouping", help="none, item (within each segment) or system"),
    Column("metric", "Metric"),
    Column(
        "value",
        "Agreement",
        "number",
        3,
        better="higher",
        help="the statistic; metrics are oriented so that higher is better",
        ends=("low", "high"),
    ),
    Column("n", "n", "count", help="systems, scores or pairs behind the value; see unit"),
    Column("p", "p", "number", 3, help="of the hypothesis in alternative, against the baseline"),
    Column("low", "Low", "number", 3, help="lower end of the confidence interval"),
    Column("high", "High", "number", 3, help="upper end of the confidence interval"),
    Column(
        "rank", "Rank", "count", help="no metric is significantly better than one of its own rank"
    ),
    Column(
        "cluster",
        "Cluster",
        "count",
        help="all metrics of a cluster are significantly better than all of the next",
    ),
    Column("p_corrected", "Corrected p", "number", 3, help="for testing several metrics"),
    Column("alternative", "Alternative", help="hypothesis that p speaks of: metric GREATER ..."),
    Column("test", "Test", help="where p, ranks and clusters come from"),
    Column("interval", "Interval over", help="what was resampled for the interval"),
    Column("unit", "n counts"),
    Column("subset", "Systems", help="all, the top K, or those without outliers"),
    Column("human", "Human scores"),
    Column("epsilon", "Tie threshold", "number", 4, help="metric scores this close are ties"),
    Column("control", "Control", help="no metric: for comparison"),
    Column("test_set", "Test set", help="none in rows over several test sets"),
)


def metaeval_table(rows: Sequence[Row]) -> Table:
    """The table of the contract."""
    return Table("metaeval", "Agreement with people", _COLUMNS, tuple(rows))


def rows_of(
    result: Result, judging: Judging, baseline: str | None, correction: str | None
) -> Iterator[Row]:
    """One row per metric, best first, then the controls."""
    p = _against(result, baseline)
    corrected = _corrected(p, correction)
    order = sorted(
        range(len(result.values)),
        key=lambda k: (-np.nan_to_num(result.values[k].value, nan=-np.inf), result.cells.names[k]),
    )
    for k in order:
        yield _row(result, result.cells.names[k], result.values[k]) | {
            "p": defined(p[k]),
            "low": defined(result.verdicts.low[k]),
            "high": defined(result.verdicts.high[k]),
            "rank": _whole(result.ranks[k]),
            "cluster": _whole(result.clusters[k]),
            "p_corrected": defined(corrected[k]),
            "alternative": judging.testing.alternative if defined(p[k]) is not None else None,
            "test": result.verdicts.test or None,
            "interval": result.verdicts.interval or None,
        }
    for name, found in result.controls:
        yield _row(result, name, found) | {"control": True}


def _row(result: Result, metric: str, found: Value) -> dict[str, Cell]:
    measure, contest = result.measure, result.contest
    empty: dict[str, Cell] = {column.name: None for column in _COLUMNS}
    ranked = measure.statistic == "darr" and result.cells.pairs is not None
    return empty | {
        "language_pair": contest.pair,
        "level": measure.level,
        "statistic": measure.statistic,
        "grouping": measure.grouping,
        "metric": metric,
        "value": defined(found.value),
        "n": found.n,
        "unit": measure.unit,
        "subset": result.subset,
        "human": contest.kinds.get("ranking" if ranked else measure.human_level),
        "epsilon": None if found.epsilon is None else defined(found.epsilon),
        "control": False,
        "test_set": contest.name,
    }


def _against(result: Result, baseline: str | None) -> list[float]:
    if baseline not in result.cells.names:
        return [float("nan")] * len(result.values)
    column = result.verdicts.p[:, result.cells.names.index(str(baseline))]
    return [float(p) for p in column]


def _corrected(p: Sequence[float], correction: str | None) -> list[float]:
    if correction is None:
        return [float("nan")] * len(p)
    correct = {"holm": stats.holm, "benjamini-hochberg": stats.benjamini_hochberg}[correction]
    return [float(q) for q in correct(p)]


def defined(number: float) -> float | None:
    """The number, or None where it is NaN."""
    return None if np.isnan(number) else float(number)


def _whole(number: float) -> int | None:
    return None if np.isnan(number) else int(number)
