"""Views of a meta-evaluation, and what a study shows next to its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gnomon.agreement.gains import MetricGainRow
from gnomon.agreement.tables import (
    AgreementRow,
    AverageGainRow,
    DecisionRow,
    JudgedSystemRow,
    TopSystemsRow,
    WinRow,
)
from gnomon.core.findings import Bars, Column, HeatMap, Lines, Listing, Scatter, StackedBars
from gnomon.core.store_views import StoredView, SystemScoreColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.agreement.judging import ResultGroup
    from gnomon.agreement.measures import Measure
    from gnomon.core.findings import Cell, Table, View
    from gnomon.core.records import Record

R = TypeVar("R", bound="Record")
_DECIDED = {
    "systems": "Pairs of systems",
    "darr": "Ranked outputs",
    "pairs": "Outputs of one segment",
}
_LISTED = 40  # rows of a statistic that text lists in full; more are shown as a map


def views(
    tables: Mapping[str, Table],
    groups: Sequence[ResultGroup],
    places: Sequence[str],
    baseline: str | None,
) -> tuple[View, ...]:
    """A table (or map over test sets) per statistic, gains, wins, scatter plots, curves."""
    kinds = tuple(dict.fromkeys(group.human for group in groups if group.human is not None))
    sliced = any(group.slice is not None for group in groups)
    measured = dict.fromkeys((group.measure, group.subset) for group in groups)
    shown = _Shown(tables, kinds, {"slice": None} if sliced else {}, len(places), baseline)
    all_views: list[View] = [*shown.overall()]
    for measure, subset in measured:
        all_views += shown.agreement(measure, subset)
    all_views += shown.rankings()
    for measure, subset in measured:
        all_views += shown.averages(measure, subset)
    for measure, subset in measured:
        all_views += shown.wins(measure, subset)
    all_views += shown.plots(places)
    all_views += [*shown.gains(), *shown.decisions()]
    return tuple(all_views)


def _where(measure: Measure, subset: str) -> dict[str, Cell]:
    return {
        "level": measure.level,
        "statistic": measure.statistic,
        "grouping": measure.grouping,
        "subset": subset,
    }


def _title(measure: Measure, subset: str) -> str:
    title = measure.title[0].upper() + measure.title[1:]
    return title if subset == "all" else f"{title}, {subset}"


class _Shown(NamedTuple):
    """Tables to be shown, and their kinds of judgements."""

    tables: Mapping[str, Table]
    kinds: tuple[str, ...]
    whole: Mapping[str, Cell]
    sets: int
    baseline: str | None

    def group_by_kind(self) -> list[tuple[str, dict[str, Cell]]]:
        """Additions to the titles for each kind of judgements, and selections of its rows."""
        return [(f", {kind}", {"human": kind}) for kind in self.kinds] or [("", {})]

    def rows(self, kind: type[R], where: Mapping[str, Cell]) -> list[R]:
        """Rows of a class that agree with fixed values."""
        rows = [row for table in self.tables.values() for row in table.records]
        return [
            row
            for row in rows
            if isinstance(row, kind)
            and all(getattr(row, name) == cell for name, cell in where.items())
        ]

    def agreement(self, measure: Measure, subset: str) -> Iterator[View]:
        """One measure: its rows, maps over test sets and over slices."""
        all_slices, title = _where(measure, subset), _title(measure, subset)
        where = {**all_slices, **self.whole}
        rows = self.rows(AgreementRow, where)
        listed = self.sets == 1 or len(rows) <= _LISTED
        for added, of_kind in self.group_by_kind() if self.sets > 1 else ():
            yield HeatMap(
                table="metaeval",
                title=title + added,
                rows="metric",
                columns="test_set",
                value="value",
                where={**where, **of_kind},
                faint="few",
                under="n",
                prominent=not listed,
            )
        if listed:
            shown = ["human"] if self.kinds else []
            shown += ["test_set"] if self.sets > 1 else []
            shown += ["metric", "value", "low", "high", "n", "rank", "cluster"]
            shown += ["p"] if self.baseline is not None else []
            shown += ["epsilon"] if measure.statistic == "acc_eq" else []
            yield Listing("metaeval", title, tuple(shown), where)
        yield from self.slices(all_slices, title)

    def slices(self, where: Mapping[str, Cell], title: str) -> Iterator[View]:
        """One measure on the slices of each test set."""
        if not self.whole:
            return
        for added, of_kind in self.group_by_kind():
            rows = self.rows(AgreementRow, {**where, **of_kind})
            for test_set in dict.fromkeys(row.test_set for row in rows):
                at = f", {test_set}" if self.sets > 1 else ""
                yield HeatMap(
                    table="metaeval",
                    title=f"{title}{added}{at}: by slice",
                    rows="metric",
                    columns="slice",
                    value="value",
                    where={**where, **of_kind, "test_set": test_set},
                    faint="few",
                    under="n",
                )

    def overall(self) -> Iterator[View]:
        """Averages over tasks."""
        if self.tables["overall"].rows:
            kind = ("human",) if self.kinds else ()
            columns = (*kind, "metric", "average", "place", "tasks")
            yield Listing("overall", "Average over tasks", columns, self.whole)

    def rankings(self) -> Iterator[View]:
        """The metrics of one test set by how far people agree with them, measure by measure."""
        for measure in dict.fromkeys(self.tables["metaeval"].values("measure")):
            for added, of_kind in self.group_by_kind():
                where = {"measure": measure, "subset": "all", "control": False}
                where |= {**of_kind, **self.whole}
                defined = [row for row in self.rows(AgreementRow, where) if row.value is not None]
                if self.sets > 1 or len(defined) < 2 or any(row.few for row in defined):
                    continue
                yield Bars(
                    table="metaeval",
                    title=f"{measure}{added}: agreement of {len(defined)} metrics",
                    category="measure",
                    series="metric",
                    values=("value",),
                    where=where,
                    ordered=True,
                    dots=True,
                )

    def gains(self) -> Iterator[View]:
        """Views of the gains over what metrics are compared with, level by level; as curves."""
        every = self.rows(MetricGainRow, {})
        for level in dict.fromkeys(row.level for row in every):
            rows = [row for row in every if row.level == level]
            shown = ["human"] if self.kinds else []
            shown += ["test_set"] if self.sets > 1 else []
            shown += ["subset"] if len({row.subset for row in rows}) > 1 else []
            shown += ["metric", "statistic"]
            shown += ["grouping"] if len({row.grouping for row in rows}) > 1 else []
            shown += ["base", "value", "gain"]
            if any(row.ends("gain")[0] is not None for row in rows):
                shown += ["gain_low", "gain_high"]
            shown += ["p", "p_segments"] if level == "system" else ["p"]
            shown += ["n"]
            if any(row.method is not None for row in rows):
                shown += ["diversity"]
            shown += ["repaired", "broken"] if level == "system" else []
            where: dict[str, Cell] = {"level": level}
            yield Listing("gains", f"Gains in agreement, {level} level", tuple(shown), where)
        yield from self._paraphrase_views([row for row in every if row.method is not None])

    def _paraphrase_views(self, rows: Sequence[MetricGainRow]) -> Iterator[View]:
        """Gains by diversity and by number of paraphrases, on each test set."""
        for test_set in dict.fromkeys(row.test_set for row in rows):
            for added, of_kind in self.group_by_kind():
                where: dict[str, Cell] = {"level": "system", "statistic": "pearson"}
                where |= {"subset": "all", "test_set": test_set, **of_kind}
                some = [row for row in rows if row in self.rows(MetricGainRow, where)]
                title = f"{test_set}{added}"
                if any(row.diversity is not None for row in some):
                    yield Scatter(
                        table="gains",
                        title=f"Gain by diversity of paraphrases, {title}",
                        x="diversity",
                        y="gain",
                        label="metric",
                        series="method",
                        panels="against",
                        where=where,
                    )
                if len({row.paraphrases for row in some}) > 1:
                    yield Lines(
                        table="gains",
                        title=f"Gain by number of paraphrases, {title}",
                        x="paraphrases",
                        y="gain",
                        series="method",
                        panels="against",
                        where=where,
                    )

    def averages(self, measure: Measure, subset: str) -> Iterator[View]:
        """Gains of one measure over test sets."""
        where = {**_where(measure, subset), **self.whole}
        if not self.rows(AverageGainRow, where):
            return
        kind = ("human",) if self.kinds else ()
        yield Listing(
            "averages",
            f"Gains over the test sets: {measure.title}"
            + ("" if subset == "all" else f", {subset}"),
            (
                *kind,
                "metric",
                "against",
                "average",
                "gain",
                "gain_min",
                "gain_max",
                "percent",
                "percent_min",
                "percent_max",
                "test_sets",
                "better",
                "worse",
            ),
            where,
        )

    def wins(self, measure: Measure, subset: str) -> Iterator[View]:
        """The p-values of all pairs of metrics."""
        for added, of_kind in self.group_by_kind():
            where = {**_where(measure, subset), **self.whole, **of_kind}
            for test_set in dict.fromkeys(row.test_set for row in self.rows(WinRow, where)):
                yield HeatMap(
                    table="wins",
                    title=f"p of row better than column: {measure.title}"
                    + ("" if subset == "all" else f", {subset}")
                    + f", {test_set}{added}",
                    rows="metric",
                    columns="against",
                    value="p",
                    where={**where, "test_set": test_set},
                    low=0.0,
                    high=1.0,
                    prominent=False,
                )

    def plots(self, places: Sequence[str]) -> Iterator[View]:
        """Systems by metric and by people, and curves over the best of them."""
        for test_set in places:
            for added, of_kind in self.group_by_kind():
                if self.rows(JudgedSystemRow, {"test_set": test_set, **of_kind}):
                    yield Scatter(
                        table="systems",
                        title=f"Systems by metric and by people, {test_set}{added}",
                        x="score",
                        y="human_score",
                        label="system",
                        panels="metric",
                        where={"test_set": test_set, **of_kind},
                    )
        for statistic in dict.fromkeys(self.tables["top_k"].values("statistic")):
            for added, of_kind in self.group_by_kind():
                if self.rows(TopSystemsRow, {"statistic": statistic, **of_kind}):
                    yield Lines(
                        table="top_k",
                        title=f"Agreement over the K best systems alone: {statistic}{added}",
                        x="k",
                        y="value",
                        series="metric",
                        panels="test_set",
                        where={"statistic": statistic, **of_kind},
                    )

    def decisions(self) -> Iterator[View]:
        """Decisions repaired and broken, of systems and of segments."""
        for comparison in dict.fromkeys(self.tables["decisions"].values("comparison")):
            for added, of_kind in self.group_by_kind():
                where = {"comparison": comparison, **of_kind}
                rows = self.rows(DecisionRow, where)
                if not rows:
                    continue
                title = _DECIDED[str(comparison)]
                yield StackedBars(
                    table="decisions",
                    title=f"{title}: decisions repaired and broken{added}",
                    category="metric",
                    series="test_set",
                    parts=("right_share", "repaired_share", "broken_share", "wrong_share"),
                    where=where,
                )
                if comparison != "systems":
                    shown = ["test_set"] if self.sets > 1 else []
                    shown += ["metric", "pairs"]
                    for name in ("repaired", "broken"):
                        ends = any(row.ends(f"{name}_share")[0] is not None for row in rows)
                        shown += [f"{name}_share"]
                        shown += [f"{name}_low", f"{name}_high"] if ends else []
                    yield Listing(
                        "decisions",
                        f"{title} decided otherwise than before{added}",
                        tuple(shown),
                        where,
                    )


# What a study shows next to the tables


#: what people said of systems, by kind
PEOPLE = SystemScoreColumn("agreement_systems", "human_score", "human")

BEST_METRICS_VIEW = StoredView(
    "best_metrics",
    "Metrics by agreement",
    ("agreement",),
    'select testset, level, statistic, "grouping", subset, human, rank() over (partition by'
    ' task, testset, level, statistic, "grouping", subset, human order by value desc nulls'
    " last) as rank, metric, value, low, high, n from agreement"
    " where not coalesce(control, false) and slice is null order by all",
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
            "value", "Value", "number", 3, "higher", help="of the statistic", ends=("low", "high")
        ),
        Column("low", "low", "number", 3, help="lower end of its interval"),
        Column("high", "high", "number", 3, help="upper end of its interval"),
        Column("n", "n", "count", help="systems or pairs that it is of"),
    ),
)
