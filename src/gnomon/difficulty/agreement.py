"""Whether people agree: their scores, correlations, ranks, and the curves over the best systems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from gnomon import stats
from gnomon.difficulty.gram_hardness import measure_grams
from gnomon.difficulty.matched import TokenDifficulty
from gnomon.difficulty.segment_hardness import measure_segments
from gnomon.difficulty.segments import BoundSegmentDifficulty
from gnomon.difficulty.token_hardness import measure
from gnomon.errors import UsageError
from gnomon.findings import Lines, Listing, Scatter
from gnomon.human import are_of_same_judgements
from gnomon.metrics.circularity import kind_counts_edits
from gnomon.records import METRIC, SYSTEM, Record, column
from gnomon.stats.bootstrap import bootstrap_p_value
from gnomon.stats.resampling import percentile_interval, resample_counts, resampled_sums
from gnomon.stats.student import expanded_confidence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.difficulty.sides import Bound, Side
    from gnomon.findings import View
    from gnomon.metrics.ngrams import Ngrams
    from gnomon.testset import TestSet

#: systems that a correlation needs to say anything
LEAST = 3
_LEFT_OUT = "agreement with people is left out"
_STATISTICS: dict[str, Callable[..., float]] = {
    "Pearson's r": stats.pearson,
    "Spearman's rho": stats.spearman,
    "Kendall's tau-b": stats.kendall_b,
}


# What people said


@dataclass(frozen=True, eq=False)
class People:
    """Human scores of systems.

    Attributes:
        kind: "da-z", "mqm", ...
        scores: float64 [K], NaN where a system was not judged or is a person.
        order: int64 [judged], the judged systems, best first, ties by name.
    """

    kind: str
    scores: NDArray[np.float64]
    order: NDArray[np.int64]

    def top(self, k: int) -> NDArray[np.int64]:
        """The best k systems in the order of the test set, int64 [k]."""
        return np.sort(self.order[:k])


def judges(
    testset: TestSet, kinds: Sequence[str], informed: Collection[str], *, allow_circular: bool
) -> tuple[list[People], tuple[str, ...]]:
    """Human scores to judge by, kind by kind, and what should be said of that.

    Args:
        testset: the test set.
        kinds: which human scores were named; none: all kinds that there are.
        informed: kinds of human scores that the metrics have seen.
        allow_circular: judge by them nevertheless.

    Raises:
        UsageError: a kind was named that chose the pool, and circular figures are not allowed.
        UnknownNameError: there is no such kind.
    """
    found: list[People] = []
    notices: list[str] = []
    there = kinds or testset.human_kinds("system")
    known = testset.human_kinds("system")
    if not there:
        notices.append(f"{_LEFT_OUT}: {testset.name} has human scores of systems: none")
    for kind in there:
        people = _people(testset, kind)
        if testset.systems and kind_counts_edits(testset, kind):
            said = f"human scores ({kind}) count edits, as TER does, and so cannot judge metrics"
            notices.append(f"{_LEFT_OUT}: {said}")
            continue
        if len(people.order) < LEAST:
            said = f"people judged {len(people.order)} system(s) ({kind}); {LEAST} are needed"
            notices.append(f"{_LEFT_OUT}: {said}")
            continue
        # scores of people from a file may be of any kind
        seen = [one for one in informed if are_of_same_judgements(kind, one) or one not in known]
        if seen and not allow_circular:
            if kinds:
                raise UsageError(
                    f"{circular(seen[0])}; take another pool, or allow it (--allow-circular)"
                )
            notices.append(f"{_LEFT_OUT}: {circular(seen[0])} (--allow-circular shows it)")
            continue
        if seen:
            notices.append(f"CIRCULAR, as was allowed: {circular(seen[0])}")
        found.append(people)
        notices += _constant(people)
    return found, tuple(notices)


def circular(kind: str) -> str:
    """Why human scores that chose the pool cannot judge."""
    return (
        f"human scores ({kind}) chose the pool (the systems whose misses make words hard), so that"
        " the weights have seen what they would be judged by"
    )


def _people(testset: TestSet, kind: str) -> People:
    scores = testset.human_scores(kind, "system")
    names = list(testset.systems)
    persons = [name in testset.info and testset.info[name].human for name in names]
    scores = np.where(persons, np.nan, scores)
    judged = [k for k in range(len(names)) if not np.isnan(scores[k])]
    order = sorted(judged, key=lambda k: (-scores[k], names[k]))
    return People(kind, scores, np.array(order, dtype=np.int64))


def _constant(found: People) -> tuple[str, ...]:
    if np.ptp(found.scores[found.order]) > 0:
        return ()
    said = f"all human scores ({found.kind}) are equal: correlations are undefined"
    return (f"{said}, and the best systems are the first by name",)


class Subset(NamedTuple):
    """Systems that are judged together.

    Attributes:
        name: for people ("all 22 systems").
        rows: int64, the systems, in the order of the test set.
    """

    name: str
    rows: NDArray[np.int64]


def subsets(people: People, top: str) -> tuple[list[Subset], tuple[str, ...]]:
    """All judged systems, and the best of them.

    Args:
        people: human scores.
        top: "30%" (rounded down) or a number.

    Returns:
        The subsets, and a notice where the best are too few.

    Raises:
        UsageError: ``top`` is neither a number nor a share.
    """
    judged = len(people.order)
    k = best_count(top, judged)
    found = [Subset(f"all {judged} systems", people.top(judged))]
    if k < LEAST:
        said = f"the top {top} of {judged} systems are {k}, too few to correlate; see --top"
        return found, (said,)
    said = f"top {top}: {k} of {judged} systems" if top.endswith("%") else f"top {k} of {judged}"
    return [*found, Subset(said, people.top(k))] if k < judged else found, ()


def best_count(top: str, judged: int) -> int:
    """How many systems are the best: "30%" of those judged, rounded down, or a number.

    Raises:
        UsageError: ``top`` is neither a number nor a share.
    """
    share = top.endswith("%")
    digits = top.removesuffix("%")
    if not digits.isdecimal() or int(digits) == 0 or (share and int(digits) > 100):
        raise UsageError(f"the top systems are a number or a share such as 30%; got {top!r}")
    return int(digits) * judged // 100 if share else min(int(digits), judged)


# Rows


_SUBSET = column("Systems", help="which systems the figure is of")
_KIND = column("Human scores", help="the kind of human scores")


class PeopleAgreementRow(Record):
    """How a metric correlates with people over some systems (table 1)."""

    subset: str = _SUBSET
    metric: str = METRIC
    absolute: float | None = column("|r|", digits=3, help="as the paper prints it")
    pearson: float | None = column("r", digits=3, better="higher", help="Pearson, with its sign")
    spearman: float | None = column("rho", digits=3, better="higher", help="Spearman")
    kendall_b: float | None = column("tau", digits=3, better="higher", help="Kendall's tau-b")
    systems: int = column("K", help="systems")
    segments: int = column("n", help="segments")
    human: str = _KIND


class AgreementGainRow(Record):
    """What the weights add to the agreement with people over some systems."""

    subset: str = _SUBSET
    statistic: str = column("Statistic", help="what measures the agreement")
    metric: str = METRIC
    base: float | None = column("Base", digits=3, help="of the base score, aggregated alike")
    weighted: float | None = column("Weighted", digits=3, help="of the weighted score")
    difference: float | None = column(
        "Difference", digits=3, better="higher", help="weighted less base", interval=True
    )
    p: float | None = column(
        "p", digits=3, help="of the bootstrap over segments, two-sided; not corrected"
    )
    williams_p: float | None = column(
        "p, systems", digits=3, help="Williams's test over systems, two-sided; of Pearson's r alone"
    )
    systems: int = column("K", help="systems")
    kind: str = _KIND


class RankRow(Record):
    """Ranks of a system by people and by both scores within some systems (table 2)."""

    subset: str = _SUBSET
    metric: str = METRIC
    system: str = SYSTEM
    human: float = column("Human", digits=3, help="people's score of the system")
    human_rank: int | None = column("Human rank", help="by people")
    base_rank: int | None = column("Base rank", help="by the base score")
    rank: int | None = column("Rank", help="by the weighted score")
    base_difference: int | None = column(
        "Base, off by", help="human rank less base rank: + is above"
    )
    difference: int | None = column("Weighted, off by", help="human rank less rank: + is above")
    kind: str = _KIND


class RankSumRow(Record):
    """How far the ranks of a metric are from those of people."""

    subset: str = _SUBSET
    metric: str = METRIC
    sum: int = column("Sum |off|", better="lower", help="rank differences without sign")
    in_place: int = column("In place", better="higher", help="systems ranked as by people")
    systems: int = column("K", help="systems")
    kind: str = _KIND


class BestSystemsRow(Record):
    """How a metric correlates with people over the K best systems (figure 2)."""

    statistic: str = column("Statistic", help="what measures the agreement")
    metric: str = METRIC
    k: int = column("K best systems", help="how many systems, by human score")
    value: float | None = column("Agreement", digits=3, help="value of the statistic")
    kind: str = _KIND


class SystemPointRow(Record):
    """What a metric and people gave to a system."""

    metric: str = METRIC
    system: str = SYSTEM
    score: float = column("Score", digits=4, help="of the metric, turned so that higher is better")
    human: float = column("Human score", digits=3, help="people's score of the system")
    kind: str = _KIND


class MetricScores(NamedTuple):
    """System scores of a metric, turned so that higher is better.

    Attributes:
        name: of the metric, for people.
        scores: float64 [K].
    """

    name: str
    scores: NDArray[np.float64]


def agreement_rows(
    judged: Sequence[MetricScores], people: People, chosen: Sequence[Subset], segments: int
) -> Iterator[PeopleAgreementRow]:
    """Correlation of every metric with people over every subset (table 1)."""
    for subset in chosen:
        human = people.scores[subset.rows]
        for metric in judged:
            own = metric.scores[subset.rows]
            r = stats.pearson(human, own)
            yield PeopleAgreementRow(
                subset=subset.name,
                metric=metric.name,
                absolute=abs(r),
                pearson=r,
                spearman=stats.spearman(human, own),
                kendall_b=stats.kendall_b(human, own),
                systems=int((~np.isnan(human) & ~np.isnan(own)).sum()),
                segments=segments,
                human=people.kind,
            )


def gain_rows(
    sides: Sequence[Side],
    people: People,
    chosen: Sequence[Subset],
    metric: str,
    resamples: int,
    confidence: float,
    seed: int,
) -> Iterator[AgreementGainRow]:
    """Differences of agreement, with paired bootstrap intervals and p-values over segments.

    Both are expanded, so that they are right for few segments, too: see
    :func:`gnomon.stats.system_bootstrap_test`. They say whether other segments would give this
    difference; Williams's test says whether other systems would.

    Args:
        sides: the base metric and the weighted one.
        people: human scores.
        chosen: the subsets.
        metric: the spec of the weighted metric.
        resamples: of the segments; the same ones for both sides. 0: no intervals.
        confidence: share of resamples inside the intervals.
        seed: of the resamples.
    """
    drawn = [_resampled(side, resamples, seed) for side in sides] if resamples else []
    segments = sides[0].statistics.shape[1]
    held = expanded_confidence(confidence, segments) if segments > 1 else confidence
    for subset in chosen:
        rows, human = subset.rows, people.scores[subset.rows]
        for statistic, of in _STATISTICS.items():
            own = [side.sign * side.system()[rows] for side in sides]
            base, weighted = (of(human, one) for one in own)
            intervals, p = None, None
            if drawn:
                found = [resampled_agreement(statistic, human, one[rows]) for one in drawn]
                gains = found[1] - found[0]
                low, high = percentile_interval(gains, held)
                intervals = {"difference": (float(low), float(high))}
                p = bootstrap_p_value(gains, weighted - base, drawn=segments)
            yield AgreementGainRow(
                subset=subset.name,
                statistic=statistic,
                metric=metric,
                base=base,
                weighted=weighted,
                difference=weighted - base,
                systems=len(rows),
                kind=people.kind,
                p=p,
                williams_p=None
                if of is not stats.pearson
                else stats.williams(human, own[1], own[0], alternative="two-sided").p,
                intervals=intervals,
            )


def resampled_agreement(
    statistic: str, human: NDArray[np.float64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A statistic of all resamples at once, float64 [B]; NaN where undefined.

    Args:
        statistic: its name.
        human: float64 [K].
        scores: float64 [K, B]; systems without a score in some resample are left out.
    """
    known = ~np.isnan(scores).any(axis=1) & ~np.isnan(human)
    own, wanted = scores[known].T, human[known][None]
    if statistic != "Pearson's r":
        # who is above whom: Kendall's tau-b is the correlation of these signs, and their sums over
        # rivals are ranks, up to a scale
        own, wanted = (np.sign(one[:, :, None] - one[:, None, :]) for one in (own, wanted))
        if statistic == "Spearman's rho":
            own, wanted = own.sum(axis=2), wanted.sum(axis=2)
        own, wanted = (one.reshape(len(one), -1) for one in (own, wanted))
    own, wanted = (one - one.mean(axis=1, keepdims=True) for one in (own, wanted))
    length = np.sqrt((own**2).sum(axis=1) * (wanted**2).sum(axis=1))
    product = (own * wanted).sum(axis=1)
    found = np.full(len(own), np.nan)
    np.divide(product, length, out=found, where=length > 0)
    return found


def _resampled(side: Side, resamples: int, seed: int) -> NDArray[np.float64]:
    """System scores, higher is better, in every resample of the segments, float64 [K, B]."""
    systems, segments, columns = side.statistics.shape
    counts = resample_counts(segments, count=resamples, seed=seed)
    values = np.moveaxis(side.statistics, 1, 2).reshape(systems * columns, segments)
    sums = resampled_sums(np.ascontiguousarray(values), counts)
    found = side.aggregate(np.moveaxis(sums.reshape(systems, columns, resamples), 1, 2))
    return side.sign * found


def curve_rows(
    judged: Sequence[MetricScores],
    people: People,
    following: Mapping[str, Mapping[int, NDArray[np.float64]]],
) -> Iterator[BestSystemsRow]:
    """Correlations over the K best systems, for every K (figure 2).

    Args:
        judged: metrics whose scores are the same at every K.
        people: human scores.
        following: of curves whose pool follows the best systems, by name: K -> float64 [K systems],
            scores with the difficulties of these K systems alone.
    """
    for k in range(LEAST, len(people.order) + 1):
        rows = people.top(k)
        curves = [MetricScores(one.name, one.scores[rows]) for one in judged]
        curves += [MetricScores(name, own[k]) for name, own in following.items()]
        for statistic, of in _STATISTICS.items():
            for curve in curves:
                yield BestSystemsRow(
                    statistic=statistic,
                    metric=curve.name,
                    k=k,
                    value=of(people.scores[rows], curve.scores),
                    kind=people.kind,
                )


def rank_rows(
    sides: Sequence[MetricScores],
    people: People,
    chosen: Sequence[Subset],
    systems: Sequence[str],
    metric: str,
) -> Iterator[RankRow]:
    """Ranks by people and by both metrics within every subset, and their differences (table 2).

    Args:
        sides: the base metric and the weighted one.
        people: human scores.
        chosen: the subsets.
        systems: their names.
        metric: the spec of the weighted metric.
    """
    for subset in chosen:
        by_people = ranks(people.scores[subset.rows])
        base, weighted = (ranks(side.scores[subset.rows]) for side in sides)
        for place in sorted(range(len(subset.rows)), key=lambda p: (by_people[p] or 0, p)):
            yield RankRow(
                subset=subset.name,
                metric=metric,
                system=systems[int(subset.rows[place])],
                human=float(people.scores[subset.rows[place]]),
                human_rank=by_people[place],
                base_rank=base[place],
                rank=weighted[place],
                base_difference=_difference(by_people[place], base[place]),
                difference=_difference(by_people[place], weighted[place]),
                kind=people.kind,
            )


def sum_rows(rows: Sequence[RankRow], sides: Sequence[MetricScores]) -> Iterator[RankSumRow]:
    """Sums of the rank differences without their signs, and how many systems are in place.

    Args:
        rows: of one metric under one kind of human scores.
        sides: the base metric and the weighted one.
    """
    for subset in dict.fromkeys(row.subset for row in rows):
        mine = [row for row in rows if row.subset == subset]
        off = ([row.base_difference for row in mine], [row.difference for row in mine])
        for own, side in zip(off, sides, strict=True):
            known = [one for one in own if one is not None]
            yield RankSumRow(
                subset=subset,
                metric=side.name,
                sum=sum(map(abs, known)),
                in_place=known.count(0),
                systems=len(known),
                kind=mine[0].kind,
            )


def point_rows(
    judged: Sequence[MetricScores], people: People, systems: Sequence[str]
) -> Iterator[SystemPointRow]:
    """What people and each metric gave to every system."""
    for metric in judged:
        for k in people.order.tolist():
            if not np.isnan(metric.scores[k]):
                yield SystemPointRow(
                    metric=metric.name,
                    system=systems[k],
                    score=float(metric.scores[k]),
                    human=float(people.scores[k]),
                    kind=people.kind,
                )


def ranks(scores: NDArray[np.float64]) -> list[int | None]:
    """1 for the highest; equal scores share the best of their ranks; None for NaN.

    >>> ranks(np.array([3.0, 5.0, 3.0, np.nan]))
    [2, 1, 2, None]
    """
    return [None if np.isnan(own) else 1 + int((scores > own).sum()) for own in scores]


def _difference(people: int | None, metric: int | None) -> int | None:
    return None if people is None or metric is None else people - metric


# The curve that the authors draw (figure 2): the pool follows the systems that are judged


def following(
    bound: Bound,
    batch: Batch,
    people: People,
    progress: Callable[[str, int, int], None] | None,
) -> Mapping[int, NDArray[np.float64]]:
    """K -> scores of the K best systems under the difficulties of these alone, float64 [K].

    Args:
        bound: the weighted metric; its options hold but for the pool.
        batch: the texts, whose matches the wrapped metric remembers.
        people: what ranks the systems.
        progress: called with a stage, what is done and the total.

    Returns:
        Scores in the order of the test set.
    """
    found = {}
    last = len(people.order)
    for k in range(LEAST, last + 1):
        rows = people.top(k)
        names = tuple(batch.systems[int(row)] for row in rows)
        part = batch.select(systems=rows.tolist())
        found[k] = with_pool(bound, batch, names).system(part)
        if progress:
            progress("curves", k, last)
    return found


def with_pool(bound: Bound, batch: Batch, names: tuple[str, ...]) -> Bound:
    """The same metric with the difficulties of other systems; nothing is encoded again."""
    keep, identity = bound.metric.leave_one_out, ",".join(names)
    if isinstance(bound, TokenDifficulty):
        hardness = measure(bound.compare(batch), batch, names, identity, keep=keep)
        return replace(bound, hardness=hardness, pool=None)
    if isinstance(bound, BoundSegmentDifficulty):
        segments = measure_segments(bound.base, batch, names, identity, keep=keep)
        return replace(bound, hardness=segments, pool=None)
    base = cast("Ngrams", bound.base)
    most = max(base.ngram_orders)
    grams = measure_grams(batch, base.ngram_tokens, names, identity, most=most, keep=keep)
    return replace(bound, hardness=grams, pool=None)


# Views


_AGREEMENT = ("metric", "absolute", "pearson", "spearman", "kendall_b", "systems", "segments")
_RANKS = (
    *("system", "human", "human_rank", "base_rank", "rank"),
    *("base_difference", "difference"),
)
_SUMS = ("subset", "metric", "sum", "in_place", "systems")


def agreement_views(rows: Mapping[str, Sequence[Record]], titles: Mapping[str, str]) -> list[View]:
    """Agreement for each kind of human scores and subset; then ranks, curves and points.

    Args:
        rows: the rows of "agreement", "gains", "ranks" and so on, by the names of their tables.
        titles: of these tables.
    """
    found: list[View] = []
    agreement = cast("Sequence[PeopleAgreementRow]", rows.get("agreement", ()))
    ranked = cast("Sequence[RankRow]", rows.get("ranks", ()))
    kinds = list(dict.fromkeys(row.human for row in agreement))
    several = len(kinds) > 1
    for kind in kinds:
        said, own = (f" ({kind})", {"human": kind}) if several else ("", {})
        for subset in dict.fromkeys(row.subset for row in agreement if row.human == kind):
            title = f"{titles['agreement']}, {subset}{said}"
            found.append(Listing("agreement", title, _AGREEMENT, {"subset": subset, **own}))
    found += _gain_views(cast("Sequence[AgreementGainRow]", rows.get("gains", ())), titles["gains"])
    metrics = list(dict.fromkeys(row.metric for row in ranked))
    for kind in kinds:
        # those of all systems stand beside the scores already
        last = list(dict.fromkeys(row.subset for row in ranked if row.kind == kind))[-1:]
        for subset in last:
            for metric in metrics:
                of = [metric] * (len(metrics) > 1) + [kind] * several
                where = {"subset": subset, **({"kind": kind} if several else {})}
                where |= {"metric": metric} if len(metrics) > 1 else {}
                title = f"Ranks, {subset}{' (' + ', '.join(of) + ')' if of else ''}"
                found.append(Listing("ranks", title, _RANKS, where))
    if rows.get("rank_sums"):
        shown = (*_SUMS, "kind") if several else _SUMS
        found.append(Listing("rank_sums", titles["rank_sums"], shown))
    for kind in kinds:
        said, where = (f" ({kind})", {"kind": kind}) if several else ("", {})
        if rows.get("curves"):
            found.append(
                Lines(
                    table="curves",
                    title=f"{titles['curves']}{said}",
                    x="k",
                    y="value",
                    series="metric",
                    panels="statistic",
                    where=where,
                )
            )
        if rows.get("points"):
            found.append(
                Scatter(
                    "points",
                    f"{titles['points']}{said}",
                    x="score",
                    y="human",
                    label="system",
                    panels="metric",
                    where=where,
                )
            )
    return found


def _gain_views(rows: Sequence[AgreementGainRow], title: str) -> Iterator[View]:
    """One listing, which names the kind of human scores where there are several."""
    ends = ("difference_low", "difference_high") if rows and rows[0].intervals else ()
    kind = ("kind",) if len({row.kind for row in rows}) > 1 else ()
    metric = ("metric",) if len({row.metric for row in rows}) > 1 else ()
    shown = ("subset", *metric, "statistic", "base", "weighted", "difference")
    if rows:
        yield Listing("gains", title, (*shown, *ends, "systems", *kind))
