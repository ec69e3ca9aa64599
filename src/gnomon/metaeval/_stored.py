"""What a study shows of agreement beside its tables: people's scores of systems, best metrics."""

from __future__ import annotations

from gnomon.findings import Column
from gnomon.stored import Standing, StoredView

#: what people said of systems, by kind
PEOPLE = Standing("agreement_systems", "human", "kind")

BEST_METRICS_VIEW = StoredView(
    "best_metrics",
    "Metrics by agreement",
    ("agreement",),
    'select testset, level, statistic, "grouping", subset, human, rank() over (partition by'
    ' task, testset, level, statistic, "grouping", subset, human order by value desc nulls'
    " last) as rank, metric, value, low, high, n from agreement"
    " where not coalesce(control, false) order by all",
    (
        Column("testset", "Test set", help="name of the test set"),
        Column("level", "Level", help="system or segment"),
        Column("statistic", "Statistic", help="of agreement"),
        Column("grouping", "Grouping", help="of segments"),
        Column("subset", "Subset", help="of systems"),
        Column("human", "Human scores", help="kind of human scores"),
        Column(
            "rank",
            "Rank",
            "count",
            better="lower",
            help="of the metric, by the value, within a step of the study; 1 agrees best",
        ),
        Column("metric", "Metric", help="spec of the metric"),
        Column(
            "value",
            "Value",
            "number",
            3,
            "higher",
            help="of the statistic",
            ends=("low", "high"),
        ),
        Column("low", "low", "number", 3, help="lower end of its interval"),
        Column("high", "high", "number", 3, help="upper end of its interval"),
        Column("n", "n", "count", help="systems or pairs that it is of"),
    ),
)
