"""Tables and views of weighted scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.difficulty._omission_tables import omission_table, omission_views
from gnomon.findings import Column, Finding, HeatMap, Lines, Listing, Scatter, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.difficulty._people import People
    from gnomon.difficulty._setup import Bound
    from gnomon.findings import Cell, View
    from gnomon.signature import Signature
    from gnomon.testset import TestSet

    Row = Mapping[str, Cell]

__all__ = ["score_finding"]

_SYSTEM = Column("system", "System")
_SCORE = Column("score", "Weighted", "number", 4, better="higher", help="under difficulty")
_BASE = Column(
    "base_score",
    "Base",
    "number",
    4,
    better="higher",
    help="without weights, aggregated as the weighted score",
)
_RANK = Column("rank", "Rank", "count", help="by the weighted score")
_BASE_RANK = Column("base_rank", "Base rank", "count", help="by the base score")
_SUBSET = Column("subset", "Systems")
_METRIC = Column("metric", "Metric")
_HUMAN_RANK = Column("human_rank", "Human rank", "count")

_COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "scores": (
        _SYSTEM,
        _METRIC,
        _SCORE,
        _BASE,
        _RANK,
        _BASE_RANK,
        Column("moved", "Up", "count", help="places that the weights move it up (- down)"),
        _HUMAN_RANK,
        Column("mean", "Weighted, mean", "number", 4, help="mean of the weighted segment scores"),
        Column("base_mean", "Base, mean", "number", 4, help="mean of the base segment scores"),
        Column(
            "in_pool", "In pool", "truth", help="whether it is one of those that say what is hard"
        ),
        Column("precision", "Precision", "number", 4, help="weighted, mean over segments"),
        Column("recall", "Recall", "number", 4, help="likewise"),
        Column("base_precision", "Base precision", "number", 4, help="mean over segments"),
        Column("base_recall", "Base recall", "number", 4, help="likewise"),
    ),
    "agreement": (
        _SUBSET,
        _METRIC,
        Column("absolute", "|r|", "number", 3, help="as the paper prints it"),
        Column("pearson", "r", "number", 3, better="higher", help="Pearson, with its sign"),
        Column("spearman", "rho", "number", 3, better="higher", help="Spearman"),
        Column("kendall_b", "tau", "number", 3, better="higher", help="Kendall's tau-b"),
        Column("systems", "K", "count", help="systems"),
        Column("segments", "n", "count", help="segments"),
        Column("human", "Human scores"),
    ),
    "ranks": (
        _SUBSET,
        _SYSTEM,
        Column("human", "Human", "number", 3),
        _HUMAN_RANK,
        _BASE_RANK,
        _RANK,
        Column(
            "base_difference", "Base, off by", "count", help="human rank less base rank: + is above"
        ),
        Column("difference", "Weighted, off by", "count", help="human rank less rank: + is above"),
    ),
    "rank_sums": (
        _SUBSET,
        _METRIC,
        Column("sum", "Sum |off|", "count", better="lower", help="rank differences without sign"),
        Column(
            "in_place", "In place", "count", better="higher", help="systems ranked as by people"
        ),
        Column("systems", "K", "count"),
    ),
    "curves": (
        Column("statistic", "Statistic"),
        _METRIC,
        Column("k", "K best systems", "count"),
        Column("value", "Agreement", "number", 3),
    ),
    "points": (
        _METRIC,
        _SYSTEM,
        Column("score", "Score", "number", 4),
        Column("human", "Human score", "number", 3),
    ),
    "slices": (
        Column("slice", "Slice"),
        Column("segments", "Segments", "count"),
        _SYSTEM,
        _SCORE,
        _BASE,
        _RANK,
        _BASE_RANK,
    ),
}
_TITLES = {
    "scores": "Scores with and without difficulty",
    "agreement": "Agreement with people",
    "ranks": "Ranks by people, base and weighted score",
    "rank_sums": "Distance to the ranks by people",
    "curves": "Agreement over the K best systems",
    "points": "Systems by metric and by people",
    "slices": "Scores over slices",
}


def score_finding(
    testset: TestSet,
    bound: Bound,
    signature: Signature,
    tables: Mapping[str, Sequence[Row]],
    notices: Sequence[str],
    judge: People | None,
) -> Finding:
    """The finding of ``difficulty score``; tables without rows are left out, but for the first."""
    made = [
        Table(name, _TITLES[name], columns, tuple(tables.get(name, ())))
        for name, columns in _COLUMNS.items()
        if name == "scores" or tables.get(name)
    ]
    omitted = tables.get("omission")
    further = [omission_table(omitted)] if omitted else []
    return Finding(
        method="difficulty score",
        title=f"Scores by how hard words were: {testset.name}",
        tables=(*made, *further),
        signatures={bound.metric.spec: str(signature)},
        views=tuple(_views(tables, judge)),
        notices=tuple(dict.fromkeys(notices)),
        facts=_facts(testset, bound, judge),
    )


def _facts(testset: TestSet, bound: Bound, judge: People | None) -> dict[str, str]:
    facts = {
        "test set": testset.name,
        "language pair": testset.language_pair or "not given",
        "segments": str(testset.segments),
        "systems": str(len(testset.systems)),
        "base metric": bound.metric.metric.spec,
        "pool": "from a file" if bound.pool is None else bound.pool.how,
    }
    return facts if judge is None else facts | {"human scores": judge.kind}


def _views(tables: Mapping[str, Sequence[Row]], judge: People | None) -> Iterator[View]:
    human = () if judge is None else ("human_rank",)
    columns = ("system", "score", "rank", "base_score", "base_rank", "moved", *human)
    yield Listing("scores", _TITLES["scores"], columns)
    yield from _agreement(tables.get("agreement", ()))
    yield from _ranks(tables)
    if tables.get("curves"):
        yield Lines(
            table="curves",
            title=_TITLES["curves"],
            x="k",
            y="value",
            series="metric",
            panels="statistic",
        )
    if tables.get("points"):
        yield Scatter(
            "points", _TITLES["points"], x="score", y="human", label="system", panels="metric"
        )
    yield from _slices(tables.get("slices", ()))
    yield from omission_views() if tables.get("omission") else ()


def _agreement(rows: Sequence[Row]) -> Iterator[View]:
    columns = ("metric", "absolute", "pearson", "spearman", "kendall_b", "systems", "segments")
    for subset in dict.fromkeys(row["subset"] for row in rows):
        yield Listing("agreement", f"Agreement with people, {subset}", columns, {"subset": subset})


def _ranks(tables: Mapping[str, Sequence[Row]]) -> Iterator[View]:
    columns = (
        "system",
        "human",
        "human_rank",
        "base_rank",
        "rank",
        "base_difference",
        "difference",
    )
    subsets = list(dict.fromkeys(row["subset"] for row in tables.get("ranks", ())))
    for subset in subsets[-1:]:  # those of all systems stand beside the scores already
        yield Listing("ranks", f"Ranks, {subset}", columns, {"subset": subset})
    if tables.get("rank_sums"):
        shown = ("subset", "metric", "sum", "in_place", "systems")
        yield Listing("rank_sums", _TITLES["rank_sums"], shown)


def _slices(rows: Sequence[Row]) -> Iterator[View]:
    for value, said in (("score", "weighted"), ("base_score", "base")) if rows else ():
        yield HeatMap(
            table="slices",
            title=f"Scores over slices, {said}",
            rows="slice",
            columns="system",
            value=value,
            beside="segments",
        )
