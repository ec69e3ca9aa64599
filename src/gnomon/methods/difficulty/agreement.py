"""Whether people agree: who judges, agreement, gains, ranks, and curves over the best systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.agreement.gains import AgreementGainRow, GainTesting, gain_rows
from gnomon.agreement.judging import ALL, Judging, judge
from gnomon.agreement.measures import Measure
from gnomon.agreement.pairing import PairingRequest, pairings
from gnomon.agreement.significance import Testing
from gnomon.agreement.tables import (
    AgreementRow,
    TopSystemsRow,
    agreement_rows,
    curve_rows,
)
from gnomon.core.errors import UsageError
from gnomon.core.findings import HeatMap, Lines, Listing, Scatter
from gnomon.core.human import are_of_same_judgements
from gnomon.metrics.circularity import kind_counts_edits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.agreement.pairing import Pairing
    from gnomon.core.findings import View
    from gnomon.core.records import Record
    from gnomon.core.scores import Scores
    from gnomon.core.testset import TestSet

#: systems that a correlation needs to say anything
LEAST = 3
_LEFT_OUT = "agreement with people is left out"
MEASURES = tuple(Measure(name, "system", "none") for name in ("pearson", "spearman", "kendall_b"))


# Human scores


@dataclass(frozen=True, eq=False)
class People:
    """Human scores of systems."""

    kind: str  # such as "da-z"
    scores: NDArray[np.float64]  # [K], NaN where a system was not judged or is a person
    order: NDArray[np.int64]  # [judged], the judged systems, best first, ties by name

    def top(self, k: int) -> NDArray[np.int64]:
        """The best k systems in the order of the test set, int64 [k]."""
        return np.sort(self.order[:k])


def judges(
    testset: TestSet, kinds: Sequence[str], informed: Collection[str], *, allow_circular: bool
) -> tuple[list[People], tuple[str, ...]]:
    """Human scores to judge by, kind by kind (all where none is named), and notices.

    Those that the metrics are informed by do not judge; where they were named, that is an error.
    """
    judging: list[People] = []
    notices: list[str] = []
    asked_kinds = kinds or testset.human_kinds("system")
    own_kinds = testset.human_kinds("system")
    if not asked_kinds:
        notices.append(f"{_LEFT_OUT}: {testset.name} has human scores of systems: none")
    for kind in asked_kinds:
        people = _people(testset, kind)
        if testset.systems and kind_counts_edits(testset, kind):
            reason = f"human scores ({kind}) count edits, as TER does, and so cannot judge metrics"
            notices.append(f"{_LEFT_OUT}: {reason}")
            continue
        if len(people.order) < LEAST:
            reason = f"people judged {len(people.order)} system(s) ({kind}); {LEAST} are needed"
            notices.append(f"{_LEFT_OUT}: {reason}")
            continue
        # scores of people from a file may be of any kind
        seen = [
            seen_kind
            for seen_kind in informed
            if are_of_same_judgements(kind, seen_kind) or seen_kind not in own_kinds
        ]
        if seen and not allow_circular:
            if kinds:
                raise UsageError(
                    f"{circular(seen[0])}; take another pool, or allow it (--allow-circular)"
                )
            notices.append(f"{_LEFT_OUT}: {circular(seen[0])} (--allow-circular shows it)")
            continue
        if seen:
            notices.append(f"CIRCULAR, as was allowed: {circular(seen[0])}")
        judging.append(people)
        if not np.ptp(people.scores[people.order]) > 0:
            notices.append(
                f"all human scores ({kind}) are equal: correlations are undefined, and the best"
                " systems are the first by name"
            )
    return judging, tuple(notices)


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


class Subset(NamedTuple):
    """Systems that are judged together."""

    name: str  # "all", or "top K"
    title: str  # in full ("all 22 systems")
    rows: NDArray[np.int64]  # the systems, in the order of the test set


def subsets(people: People, top: str) -> tuple[list[Subset], tuple[str, ...]]:
    """All judged systems, and the best of them; a notice where the best are too few."""
    judged = len(people.order)
    k = best_count(top, judged)
    every = [Subset(ALL, f"all {judged} systems", people.top(judged))]
    if k < LEAST:
        title = f"the top {top} of {judged} systems are {k}, too few to correlate; see --top"
        return every, (title,)
    title = f"top {top}: {k} of {judged} systems" if top.endswith("%") else f"top {k} of {judged}"
    return [*every, Subset(f"top {k}", title, people.top(k))] if k < judged else every, ()


def best_count(top: str, judged: int) -> int:
    """How many systems are the best: "30%" of those judged, rounded down, or a number."""
    share = top.endswith("%")
    digits = top.removesuffix("%")
    if not digits.isdecimal() or int(digits) == 0 or (share and int(digits) > 100):
        raise UsageError(f"the top systems are a number or a share such as 30%; got {top!r}")
    return int(digits) * judged // 100 if share else min(int(digits), judged)


# Rows


def pairings_of(
    testset: TestSet, scored: Sequence[Scores], people: Sequence[People]
) -> Mapping[str | None, Pairing]:
    """The scores of metrics paired with people's, by kind of human scores."""
    named = [(scores.metric, scores) for scores in scored]
    kinds = [judging.kind for judging in people]
    request = PairingRequest(human=kinds, controls=False, allow_circular=True)
    return {pairing.kind: pairing for pairing in pairings([testset], named, request)}


def judged_rows(
    pairing: Pairing, chosen: Sequence[Subset], curves: Mapping[str, str]
) -> tuple[list[AgreementRow], list[TopSystemsRow]]:
    """Agreement of every metric with people over every subset (table 1), and over the K best."""
    tops = tuple(len(subset.rows) for subset in chosen if subset.name != ALL)
    judging = Judging(MEASURES, Testing(resamples=0), top=tops)
    results = list(judge(pairing, judging))
    rows = [
        row for result in results for row in agreement_rows(result, judging.testing, None, "none")
    ]
    over_best = [
        TopSystemsRow.of(row, metric=curves[row.metric])
        for row in curve_rows(results)
        if row.metric in curves
    ]
    return rows, over_best


def weight_gain_rows(
    pairing: Pairing,
    sides: tuple[str, str],
    chosen: Sequence[Subset],
    systems: Sequence[str],
    how: GainTesting,
) -> Iterator[AgreementGainRow]:
    """What weights add to the agreement with people, over segments and over systems.

    The bootstrap says whether other segments would give this difference; Williams's test says
    whether other systems would.
    """
    metrics = {entry.metric: entry for entry in pairing.entries}
    subsets = [
        (subset.name, np.isin(pairing.systems, [systems[k] for k in subset.rows]))
        for subset in chosen
    ]
    yield from gain_rows(pairing, (metrics[sides[0]], metrics[sides[1]]), MEASURES, how, subsets)


def ranks(scores: NDArray[np.float64]) -> list[int | None]:
    """1 for the highest; equal scores share the best of their ranks; None for NaN.

    >>> ranks(np.array([3.0, 5.0, 3.0, np.nan]))
    [2, 1, 2, None]
    """
    return [None if np.isnan(score) else 1 + int((scores > score).sum()) for score in scores]


# Views


def agreement_views(
    agreement: Sequence[AgreementRow],
    gains: Sequence[AgreementGainRow],
    titles: Mapping[str, str],
) -> Iterator[View]:
    """Agreement for each kind of human scores and subset, and what the weights add."""
    kinds = list(dict.fromkeys(row.human for row in agreement))
    several = len(kinds) > 1
    for kind in kinds:
        said, of_kind = (f" ({kind})", {"human": kind}) if several else ("", {})
        judged = [row for row in agreement if row.human == kind]
        most = max(row.n for row in judged)
        for subset in dict.fromkeys(row.subset for row in judged):
            systems = f"all {most} systems" if subset == ALL else f"{subset} of {most} systems"
            yield HeatMap(
                table="agreement",
                title=f"{titles['agreement']}, {systems}{said}",
                rows="metric",
                columns="statistic",
                value="value",
                where={"subset": subset, **of_kind},
                faint="few",
                under="n",
            )
    yield from _gain_views(gains, titles["gains"])


def curve_views(
    rows: Mapping[str, Sequence[Record]], titles: Mapping[str, str], kinds: Sequence[str | None]
) -> Iterator[View]:
    """Curves over the best systems, and systems by metric and by people."""
    several = len(kinds) > 1
    for kind in kinds:
        said, where = (f" ({kind})", {"human": kind}) if several else ("", {})
        if rows.get("curves"):
            yield Lines(
                table="curves",
                title=f"{titles['curves']}{said}",
                x="k",
                y="value",
                series="metric",
                panels="statistic",
                where=where,
            )
        if rows.get("points"):
            yield Scatter(
                "points",
                f"{titles['points']}{said}",
                x="score",
                y="human_score",
                label="system",
                panels="metric",
                where=where,
            )


def _gain_views(rows: Sequence[AgreementGainRow], title: str) -> Iterator[View]:
    """One listing, which names the kind of human scores where there are several."""
    ends = ("gain_low", "gain_high") if any(row.interval for row in rows) else ()
    human = ("human",) if len({row.human for row in rows}) > 1 else ()
    metric = ("metric",) if len({row.metric for row in rows}) > 1 else ()
    shown = ("subset", *metric, "statistic", "base", "value", "gain", *ends, "n", *human)
    if rows:
        yield Listing("gains", title, shown)
