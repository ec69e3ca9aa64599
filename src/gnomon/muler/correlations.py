"""Correlations over systems and test sets: their points, pools, groups, tables and views."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon import stats
from gnomon.core.data_cautions import select_messages
from gnomon.core.findings import HeatMap, Scatter
from gnomon.core.options import CONFIDENCE
from gnomon.core.records import (
    FEATURE,
    METRIC,
    SYSTEM,
    TEST_SET,
    EndColumns,
    Record,
    column,
    table,
)
from gnomon.core.verdicts import LEAST, metric_title, titles_of
from gnomon.linguistics import gloss
from gnomon.messages import message
from gnomon.muler.figures import VARIANT, VARIANTS, is_outside
from gnomon.stats import pearson

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, Finding, Table, View
    from gnomon.messages import Message
    from gnomon.muler.correlate_points import Member
    from gnomon.muler.figures import Figures, Variant

__all__ = [
    "SCORER",
    "CorrelationRow",
    "FrequencyRow",
    "GroupRow",
    "PointRow",
    "correlate_verdict",
    "correlation_table",
    "correlations",
    "frequency_table",
    "group_table",
    "groups",
    "point_table",
    "points_of",
    "views",
]


# Correlations of -MuLER with scores: within each test set, and over all of them.


_MULER: Any = column(
    "MuLER",
    kind="share",
    better="lower",
    help="loss on these words, as a share of what the metric could give",
)
ALL = "all systems"
CENTRED = "all systems, centred"
_FEWEST_SYSTEMS = 3  # two points always lie on a line
_FEW_SYSTEMS = 8  # below, a correlation says little


class CorrelationRow(Record):
    """A correlation of -MuLER over systems."""

    test_set: str = TEST_SET
    metric: str = METRIC
    variant: str = VARIANT
    feature: str = FEATURE
    against: str = column(
        "Correlated with",
        help="the metric: its score of the system; indices: the mean sentence score over I;"
        " spread: what the feature can move",
    )
    r: float | None = column(
        "r",
        help="Pearson's r of -MuLER over systems",
        interval=EndColumns(how="Fisher's z, at the level of its own step of Holm's correction"),
    )
    p_corrected: float | None = column(
        "Corrected p",
        digits=3,
        help="that r is 0, after Holm over the features of a metric, its score alone; of 8 systems"
        " and 30 segments or more, over all test sets where there are several",
    )
    decided: bool | None = column("Decided", help="corrected p is at most 1 - confidence")
    n: int = column("n", help="systems where both are defined")
    segments: int | None = column("Segments", help="median over the systems")

    @property
    def is_few(self) -> bool:
        """True if it is of too few systems."""
        return self.n < _FEW_SYSTEMS

    @property
    def is_thin(self) -> bool:
        """True if MuLER rests on too few segments."""
        return (self.segments or LEAST) < LEAST


def correlations(
    points: Sequence[PointRow], lower_is_better: Collection[str] = ()
) -> list[CorrelationRow]:
    """Pearson correlations of -MuLER over systems.

    Within each test set; over all systems as they are; and over all systems after the mean of the
    test set was taken off both sides, so that hard and easy test sets do not make or hide a
    correlation. The last two only where there are several test sets.
    """
    groups: dict[tuple[str, str, str], list[PointRow]] = defaultdict(list)
    for point in points:
        groups[point.metric, point.variant, point.feature].append(point)
    several = len({point.test_set for point in points}) > 1
    return [
        CorrelationRow(
            test_set=name,
            metric=metric,
            variant=variant,
            feature=feature,
            against=what,
            r=pearson(*pairs) if pairs.shape[1] >= _FEWEST_SYSTEMS else None,
            p_corrected=None,
            decided=None,
            n=pairs.shape[1],
            segments=segments,
        )
        for (metric, variant, feature), group in groups.items()
        for what in group[0].companions
        for name, pairs, segments in _pools(
            group, what, several=several, higher_is_better=metric not in lower_is_better
        )
    ]


def _pools(
    group: Sequence[PointRow], what: str, *, several: bool, higher_is_better: bool
) -> Iterator[tuple[str, NDArray[np.float64], int | None]]:
    """Name, pairs of both sides (float64 [2, n]) and the median size of I."""
    sets: dict[str, list[PointRow]] = defaultdict(list)
    for point in group:
        sets[point.test_set].append(point)
    sides = {
        name: _pairs(points, what, higher_is_better=higher_is_better)
        for name, points in sets.items()
    }
    for name, pairs in sides.items():
        yield name, pairs, _segments(sets[name])
    if several:
        centred = [_centre(pairs) for pairs in sides.values()]
        yield ALL, np.concatenate(list(sides.values()), axis=1), _segments(group)
        yield CENTRED, np.concatenate(centred, axis=1), _segments(group)


def _pairs(points: Iterable[PointRow], what: str, *, higher_is_better: bool) -> NDArray[np.float64]:
    pairs = []
    for point in points:
        counterpart = point.counterpart(what, higher_is_better=higher_is_better)
        if point.muler is not None and counterpart is not None:
            pairs.append((-point.muler, counterpart))
    return np.array(pairs, np.float64).reshape(-1, 2).T


def _segments(points: Iterable[PointRow]) -> int | None:
    sizes = [point.segments for point in points if point.segments is not None]
    return int(np.median(sizes)) if sizes else None


def _centre(sides: NDArray[np.float64]) -> NDArray[np.float64]:
    """Deviations from the mean of each side; a lone system has none, and says nothing."""
    if sides.shape[1] < 2:
        return sides[:, :0]
    return np.asarray(sides - sides.mean(axis=1, keepdims=True))


# Systems by year and architecture: mean MuLER of each group.


KINDS = ("year", "architecture")
EVERY_PAIR = "all"


class GroupRow(Record):
    """The systems of a year or an architecture on a feature."""

    language_pair: str = column("Language pair", help="of the test sets; all: of any pair")
    kind: str = column("By", help="what the systems have in common")
    group: str = column("Group", help="the year or architecture")
    metric: str = METRIC
    variant: str = VARIANT
    feature: str = FEATURE
    systems: int = column("Systems", help="whose MuLER is defined")
    muler: float | None = column("Mean MuLER", kind="share", better="lower", help="over them")
    low: float | None = column("Smallest", kind="share", help="smallest MuLER of them")
    high: float | None = column("Largest", kind="share", help="largest MuLER of them")


def groups(points: Iterable[PointRow]) -> list[GroupRow]:
    """Mean, smallest and largest MuLER of the systems of a group.

    Groups are formed within each language pair and over all of them (named "all"; where there is
    one pair alone, only over all). Systems of which a year or architecture is not known are left
    out of that kind.
    """
    whole = list(points)
    pairs = list(dict.fromkeys(point.language_pair for point in whole))
    rows: list[GroupRow] = []
    for pair in (EVERY_PAIR, *(pairs if len(pairs) > 1 else ())):
        chosen = [point for point in whole if pair in (EVERY_PAIR, point.language_pair)]
        for kind in KINDS:
            rows += _group_rows(chosen, pair, kind)
    return rows


def _group_rows(points: Sequence[PointRow], pair: str, kind: str) -> Iterator[GroupRow]:
    cells: dict[tuple[str, str, str, str | int], list[PointRow]] = defaultdict(list)
    for point in points:
        group = getattr(point, kind)
        if group is not None:
            cells[point.metric, point.variant, point.feature, group].append(point)
    names = list(dict.fromkeys(key[3] for key in cells))
    order = sorted(names, key=str) if kind == "year" else names
    for metric, variant, feature in dict.fromkeys(key[:3] for key in cells):
        for group in order:
            if (metric, variant, feature, group) not in cells:
                continue
            members = cells[metric, variant, feature, group]
            losses = [point.muler for point in members if point.muler is not None]
            yield GroupRow(
                language_pair=pair,
                kind=kind,
                group=str(group),
                metric=metric,
                variant=variant,
                feature=feature,
                systems=len(losses),
                muler=sum(losses) / len(losses) if losses else None,
                low=min(losses, default=None),
                high=max(losses, default=None),
            )


# The tables of many systems and test sets.


class FrequencyRow(Record):
    """The frequency of a feature in the best system of a test set."""

    test_set: str = TEST_SET
    metric: str = METRIC
    variant: str = VARIANT
    feature: str = FEATURE
    system: str = column("System", help="the one that scores best on the test set")
    occurrences: int = column("Occurrences", help="in its output")
    per_hundred: float | None = column("Per 100 words", help="occurrences")
    uniqueness: float | None = column(
        "Uniqueness", kind="share", help="distinct forms, case kept, per occurrence"
    )
    muler: float | None = _MULER


def correlation_table(
    rows: Sequence[CorrelationRow], points: Iterable[PointRow] = (), confidence: float = CONFIDENCE
) -> Table:
    """The main table: r of -MuLER over systems, and whether that with the score is none."""
    note = "Pearson's r over systems; undefined under 3 of them, or where all are alike on a side."
    outside, alpha = _outside(points), round(1 - confidence, 12)
    tested = list(rows)
    for metric in dict.fromkeys(row.metric for row in rows):
        sound = [
            row
            for row in _score_rows(rows, metric)
            if not (row.is_few or row.is_thin or (metric, row.feature) in outside)
        ]
        sizes = [_independent(row, rows) for row in sound]
        found = stats.correlation_tests([row.r or 0.0 for row in sound], sizes, alpha)
        for row, p, *ends in zip(sound, *(side.tolist() for side in found), strict=True):
            tested[rows.index(row)] = replace(
                row, p_corrected=p, decided=p <= alpha, intervals={"r": tuple(ends)}
            )
    return table("correlations", "Correlations of -MuLER", CorrelationRow, tested, note=note)


def _independent(row: CorrelationRow, rows: Sequence[CorrelationRow]) -> int:
    """Pairs as a test counts them: centring takes one of each test set but the first."""
    if row.test_set != CENTRED:
        return row.n
    of = attrgetter("metric", "variant", "feature", "against")
    own = [one for one in rows if of(one) == of(row) and one.test_set not in (ALL, CENTRED)]
    return row.n - sum(one.n > 1 for one in own) + 1


def _score_rows(rows: Sequence[CorrelationRow], metric: str) -> list[CorrelationRow]:
    """Correlations with the metric's own score; of several test sets over all, centred."""
    pooled = any(row.test_set == CENTRED for row in rows)
    return [
        row
        for row in rows
        if row.metric == row.against == metric
        and row.variant == rows[0].variant
        and row.r is not None
        and (row.test_set == CENTRED) == pooled
    ]


def _outside(points: Iterable[PointRow]) -> set[tuple[str, str]]:
    """Metrics and features where MuLER of a system is outside 0 to 1."""
    return {
        (row.metric, row.feature)
        for row in points
        if row.variant == VARIANTS[0] and is_outside(row.muler)
    }


def point_table(rows: Iterable[PointRow]) -> Table:
    """MuLER and scores of every system."""
    return table("systems", "MuLER and scores of every system", PointRow, rows)


def group_table(rows: Iterable[GroupRow]) -> Table:
    """Systems by year and architecture."""
    return table("groups", "Systems by year and architecture", GroupRow, rows)


def frequency_table(rows: Iterable[FrequencyRow]) -> Table:
    """Table of the frequencies of features in the best system, with their forms."""
    note = "Counted in the output that scores best on the test set, case kept."
    return table("frequency", "Frequency and uniqueness", FrequencyRow, rows, note=note)


# Views of correlations over many systems and test sets.


def views(tables: Mapping[str, Table], metrics: Sequence[str]) -> tuple[View, ...]:
    """Heat maps of correlations, scatter plots, groups, frequency; per metric and variant."""
    all_views: list[View] = []
    titles = {metric: metric_title(metric, metrics) for metric in metrics}
    for metric, title in titles.items():
        for variant in VARIANTS:
            all_views += _maps(tables["correlations"], metric, title, variant)
    for metric, title in titles.items():
        where: dict[str, Cell] = {"metric": metric, "variant": VARIANTS[0]}
        all_views += _scatters(title, where)
        all_views += _group_maps(tables["groups"], metric, title, VARIANTS[0])
        all_views += _frequency(title, where)
    return tuple(all_views)


def _maps(table: Table, metric: str, metric_name: str, variant: Variant) -> Iterator[View]:
    """Of several test sets, features by test sets for each score; of one, by scores."""
    sets = list(dict.fromkeys(str(name) for name in table.values("test_set")))
    first = variant == VARIANTS[0]
    kind = "" if first else f" ({variant})"
    where: dict[str, Cell] = {"metric": metric, "variant": variant}
    if len(sets) == 1:
        yield _map(f"Correlations of -MuLER{kind} on {sets[0]}", "against", where, prominent=first)
        return
    beside = {metric: metric_name, "indices": f"{metric_name} over I", "spread": "max - min"}
    for what, name in beside.items():
        title = f"Correlation of -MuLER{kind} with {name}"
        yield _map(title, "test_set", {**where, "against": what}, prominent=first)


def _map(title: str, columns: str, where: Mapping[str, Cell], *, prominent: bool) -> HeatMap:
    return HeatMap(
        table="correlations",
        title=title,
        rows="feature",
        columns=columns,
        value="r",
        beside="segments",
        where=where,
        low=-1.0,
        high=1.0,
        few=("n", _FEW_SYSTEMS),
        under="n",
        prominent=prominent,
    )


def _scatters(metric_name: str, where: dict[str, Cell]) -> Iterator[View]:
    for x, name in (("score", metric_name), ("spread", "max - min")):
        yield Scatter(
            table="systems",
            title=f"MuLER against {name}, one point per system",
            x=x,
            y="muler",
            label="system",
            series="test_set",
            panels="feature",
            where=where,
        )


def _group_maps(table: Table, metric: str, title: str, variant: Variant) -> Iterator[View]:
    present = set(zip(table.values("kind"), table.values("group"), strict=True))
    for kind in KINDS:
        if sum(name == kind for name, _ in present) > 1:
            yield HeatMap(
                table="groups",
                title=f"Mean MuLER under {title}, by {kind}",
                rows="feature",
                columns="group",
                value="muler",
                where={
                    "kind": kind,
                    "language_pair": EVERY_PAIR,
                    "metric": metric,
                    "variant": variant,
                },
                low=0.0,
                high=1.0,
                under="systems",
            )


def _frequency(title: str, where: dict[str, Cell]) -> Iterator[View]:
    for x, name in (("per_hundred", "how often"), ("uniqueness", "in how many forms")):
        yield Scatter(
            table="frequency",
            title=f"MuLER under {title} against {name} the best system uses a feature",
            x=x,
            y="muler",
            label="feature",
            panels="test_set",
            where=where,
        )


# Points: MuLER of a feature and scores, of each system and test set.


SCORER = "scorer:"  # what the features of sentence scorers begin with


class PointRow(Record):
    """MuLER and scores of a system on a test set."""

    test_set: str = TEST_SET
    language_pair: str = column("Language pair", help="of the test set")
    system: str = SYSTEM
    year: int | None = column("Year", kind="text", help="in which the system took part")
    architecture: str | None = column("Architecture", help="of the system, if it is known")
    metric: str = METRIC
    variant: str = VARIANT
    feature: str = FEATURE
    segments: int | None = column("Segments", help="segments where both sides have the feature")
    muler: float | None = _MULER
    score: float | None = column("Score", help="of the system")
    indices: float | None = column("base (I)", help="mean sentence score over I")
    spread: float | None = column("max - min", help="what the feature can move")

    @property
    def companions(self) -> tuple[str, ...]:
        """Figures that -MuLER is correlated with; the score of a sentence scorer."""
        more = () if self.feature.startswith(SCORER) else ("indices", "spread")
        return (self.metric, *more)

    def counterpart(self, what: str, *, higher_is_better: bool) -> float | None:
        """The figure that -MuLER is correlated with, oriented so that higher is better."""
        value = {"indices": self.indices, "spread": self.spread}.get(what, self.score)
        if value is None or what == "spread" or higher_is_better:
            return value
        return -value


def points_of(
    member: Member,
    figures: Sequence[Figures],
    scores: Sequence[float | None],
    *,
    metric: str,
    feature: str,
) -> Iterator[PointRow]:
    """One point per variant and system."""
    for variant in VARIANTS:
        for system, of_system, score in zip(member.testset.systems, figures, scores, strict=True):
            yield PointRow(
                test_set=member.name,
                language_pair=member.pair,
                system=system,
                **member.traits(system),
                metric=metric,
                variant=variant,
                feature=feature,
                segments=of_system.segments,
                muler=of_system.get_muler(variant),
                score=score,
                indices=of_system.base,
                spread=of_system.spread,
            )


# Sentences on correlations.


def correlate_verdict(finding: Finding) -> Iterator[Message]:
    """Which features go along with the score over systems."""
    yield from select_messages("muler.masks", finding.notices)
    every = finding.records(CorrelationRow)
    titles, outside = titles_of(finding), _outside(finding.records(PointRow))
    for metric in dict.fromkeys(row.metric for row in every):
        rows = _score_rows(every, metric)
        flagged = [row for row in rows if (metric, row.feature) in outside]
        yield from _say_correlated(
            finding, titles[metric], [row for row in rows if row not in flagged]
        )
        if flagged:
            names = [gloss(row.feature) for row in flagged]
            yield message(
                "note.muler.correlate.left_out",
                finding.positions(flagged),
                features=names,
                why="outside",
            )


def _say_correlated(
    finding: Finding, title: str, rows: Sequence[CorrelationRow]
) -> Iterator[Message]:
    significant = [row for row in rows if row.decided]
    for sign, what in ((1, "less"), (-1, "more")):
        some = [row for row in significant if sign * (row.r or 0.0) > 0]
        some.sort(key=lambda row: -abs(row.r or 0.0))
        if some:
            yield message(
                "muler.correlate.along",
                finding.positions(some),
                metric=title,
                what=what,
                features=[_correlation(row) for row in some],
            )
    rest = sum(row.decided is False for row in rows)
    if rest:
        yield message("muler.correlate.chance", {}, n=rest, metric=title)
    few = [row for row in rows if row.is_few]
    if few:
        places = finding.positions(few)
        yield message("muler.correlate.few-systems", places, n=len(few), metric=title)
    thin = [row for row in rows if row.is_thin and not row.is_few]
    if thin:
        names = [gloss(row.feature) for row in thin]
        yield message(
            "note.muler.correlate.left_out", finding.positions(thin), features=names, why="few"
        )


def _correlation(row: CorrelationRow) -> dict[str, Any]:
    low, high = row.ends("r")
    figures = {"r": row.r, "low": low, "high": high, "p": row.p_corrected, "n": row.n}
    return {"feature": gloss(row.feature), **figures}
