"""The columns of a meta-evaluation's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.findings import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell

    Row = Mapping[str, Cell]

__all__ = ["COLUMNS", "TIES", "table"]

#: what must stand beside figures that judge ties
TIES = (
    "controls know nothing of quality; a metric that does not clearly beat them on a tie-aware"
    " figure says little by it"
)
_LEVEL = Column("level", "Level", help="system or segment")
_STATISTIC = Column("statistic", "Statistic")
_GROUPING = Column("grouping", "Grouping", help="none, item (within each segment) or system")
_SUBSET = Column("subset", "Systems", help="all, the top K, or those without outliers")
_METRIC = Column("metric", "Metric")
_PLACE = Column("place", "Test set", help="its language pair, if that tells; average; all pooled")
_P = Column("p", "p", "number", 3, help="see alternative")
_KIND = Column(
    "kind", "Kind of judgements", help="of the human scores; none where test sets have several"
)
_VALUE = Column(
    "value",
    "Agreement",
    "number",
    3,
    better="higher",
    help="the statistic; metrics are turned so that higher is better",
    ends=("low", "high"),
)

COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "metaeval": (
        Column("language_pair", "Language pair"),
        _LEVEL,
        _STATISTIC,
        _GROUPING,
        _METRIC,
        _VALUE,
        Column("n", "n", "count", help="systems, scores or pairs behind the value: see unit"),
        Column("p", "p", "number", 3, help="of the test against the baseline: see alternative"),
        Column("low", "Low", "number", 3, help="lower end of the confidence interval"),
        Column("high", "High", "number", 3, help="upper end of the confidence interval"),
        Column("rank", "Rank", "count", help="no metric beats one of its own rank significantly"),
        Column(
            "cluster",
            "Cluster",
            "count",
            help="every metric of a cluster beats every metric of the next ones significantly",
        ),
        Column("p_corrected", "Corrected p", "number", 3, help="for testing several metrics"),
        Column("alternative", "Alternative", help="the hypothesis: metric less baseline is ..."),
        Column("test", "Test", help="behind p, ranks and clusters"),
        Column("interval", "Interval over", help="what was resampled for the interval"),
        Column("unit", "n counts"),
        _SUBSET,
        Column("human", "Human scores"),
        Column("epsilon", "Tie threshold", "number", 4, help="scores this close are ties"),
        Column("control", "Control", "truth", help="no metric: for comparison"),
        Column("few", "Few", "truth", help="fewer than four systems: says little"),
        _PLACE,
        Column("measure", "Measure", help="statistic, level and grouping in words"),
        Column("test_set", "Test set's name", help="none in rows over several test sets"),
    ),
    "gains": (
        _LEVEL,
        _STATISTIC,
        _GROUPING,
        _SUBSET,
        _METRIC,
        Column("average", "Average", "number", 3, better="higher", help="over the test sets"),
        Column("gain", "Ave gain", "number", 3, better="higher", help="over the baseline"),
        Column("gain_min", "Min gain", "number", 3, better="higher"),
        Column("gain_max", "Max gain", "number", 3, better="higher"),
        Column("language_pairs", "Test sets", "count", help="where both are defined"),
        Column("better", "Better", "count", help="test sets on which it is significantly better"),
        Column("worse", "Worse", "count", help="test sets on which the baseline is"),
        _KIND,
    ),
    "wins": (
        _PLACE,
        _LEVEL,
        _STATISTIC,
        _GROUPING,
        _SUBSET,
        _METRIC,
        Column("against", "Against"),
        Column("difference", "Difference", "number", 3, help="on what both have scored"),
        _P,
        Column("wins", "Wins", "truth", help="significantly better: p is at most alpha"),
        _KIND,
    ),
    "systems": (
        _PLACE,
        Column("system", "System"),
        _METRIC,
        Column("score", "Score", "number", 3, help="turned so that higher is better"),
        Column("human", "Human score", "number", 3),
        Column("outlier", "Outlier", "truth", help="by its human score"),
        Column("segments", "Segments", "count", help="scored; none: scores of systems alone"),
        _KIND,
    ),
    "top_k": (
        _PLACE,
        _STATISTIC,
        _METRIC,
        Column("k", "K best systems", "count"),
        Column("value", "Agreement", "number", 3),
        Column("n", "n", "count"),
        _KIND,
    ),
    "decisions": (
        _PLACE,
        _METRIC,
        Column("pairs", "Pairs", "count", help="pairs of systems that people tell apart"),
        Column("right", "Both right", "count"),
        Column("repaired", "Repaired", "count", help="right where the baseline is wrong"),
        Column("broken", "Broken", "count", help="wrong where the baseline is right"),
        Column("wrong", "Both wrong", "count"),
        Column("right_share", "Both right", "share"),
        Column("repaired_share", "Repaired", "share"),
        Column("broken_share", "Broken", "share"),
        Column("wrong_share", "Both wrong", "share"),
        _KIND,
    ),
    "decision_pairs": (
        _PLACE,
        _METRIC,
        Column("change", "Change", help="repaired or broken, against the baseline"),
        Column("better", "Better system", help="by human score"),
        Column("worse", "Worse system"),
        Column("human", "Human difference", "number", 3),
        Column("baseline", "Baseline's difference", "number", 3),
        Column("score", "Metric's difference", "number", 3),
        _KIND,
    ),
}
_TITLES = {
    "metaeval": "Agreement with people",
    "gains": "Gains over the baseline",
    "wins": "Metric against metric",
    "systems": "Scores of systems",
    "top_k": "Agreement over the best systems alone",
    "decisions": "Decisions repaired and broken",
    "decision_pairs": "Pairs of systems decided otherwise than by the baseline",
}


def table(name: str, rows: Sequence[Row], note: str = "") -> Table:
    """One of the tables by name."""
    return Table(name, _TITLES[name], COLUMNS[name], tuple(rows), note)
