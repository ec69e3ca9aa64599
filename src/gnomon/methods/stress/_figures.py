"""How often a metric scores the better text of minimal pairs higher, and what follows from it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from gnomon.core.records import METRIC, Record, column
from gnomon.core.verdicts import further_segments
from gnomon.methods.stress._corpus import hidden_errors, neighbour_difference
from gnomon.methods.stress._outcomes import FEW_PAIRS, is_worded, share_interval
from gnomon.methods.stress._prices import SEVERITIES, compared, harmless, in_order, price_of
from gnomon.stats.resampling import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.methods.stress._outcomes import Outcomes, PairGroups, ScoredPairs

#: what a row says of a metric
Status: TypeAlias = Literal["sees", "misses", "blind", "undecided", "few", ""]
#: a metric is blind to what changes its score in a tenth of the pairs at most
_BLIND = 0.9


class StressRow(Record):
    """How often a metric scores an error of one kind below the same text without it."""

    metric: str = METRIC
    phenomenon: str = column("Phenomenon", help="in what the two texts of a pair differ")
    kind: str = column(
        "Kind",
        help="error; crossed: the text without the error is worded otherwise than the reference;"
        " harmless; sanity: no translation at all",
    )
    severity: str = column("Severity", help="as the set of pairs labels it; blank without a label")
    feature: str = column("Feature", help="what was changed, where the pairs say so")
    pairs: int = column("Pairs", help="of which the metric scored both texts")
    distinct: int = column(
        "Distinct", help="pairs that differ from each other, and whose two texts differ"
    )
    seen: float | None = column(
        "Seen",
        kind="share",
        better="higher",
        interval=True,
        help="share of pairs whose better text has the better score; Wilson's interval, over"
        " documents where these are known",
    )
    lowered: float | None = column(
        "Lowered",
        kind="share",
        better="lower",
        help="of harmless changes: share of pairs whose changed text is scored lower",
    )
    ties: float | None = column("Ties", kind="share", help="share of pairs with equal scores")
    reversed: float | None = column(
        "Reversed", kind="share", better="lower", help="share with the worse text scored higher"
    )
    tau: float | None = column(
        "Tau", better="higher", help="as ACES has it: 2 x seen - 1, so that a tie counts as wrong"
    )
    status: str = column(
        "Status",
        help="sees: seen in more pairs than asked for; misses: in fewer; blind: ties in more than"
        " nine of ten; undecided; few: too few pairs, or documents, to say; blank: a harmless"
        " change",
    )
    needed: int | None = column("More pairs", help="that would decide, at the share seen so far")
    harmless_lowered: float | None = column(
        "Harmless changes that lower the score",
        kind="share",
        help="of all harmless changes, under this metric: the same in all of its rows",
    )
    mostly_ties: bool = column("Mostly ties", help="more than half of the pairs are ties")
    priced: float | None = column(
        "Dearer than harmless",
        kind="share",
        better="higher",
        interval=True,
        help="share of comparisons in which it lowers the score by more than a harmless change of"
        " the same sentence, ties as half, the mean over sentences: .5 is the same price; 20"
        " sentences at least",
    )
    priced_sentences: int = column(
        "Sentences with both", help="that have this error and a harmless change"
    )
    price: str = column(
        "Price",
        help="dearer than harmless changes; no dearer; or undecided, by an interval that holds for"
        " all rows together",
    )
    worded_seen: float | None = column(
        "Seen, worded alike",
        kind="share",
        better="higher",
        help="of pairs whose reference has all words that the worse text lacks; 20 pairs at least,"
        " of metrics that read references",
    )
    worded_pairs: int = column("Pairs, worded alike", help="how many these are")
    unworded_seen: float | None = column(
        "Seen, worded otherwise",
        kind="share",
        better="higher",
        help="of pairs whose reference has none of these words; 20 pairs at least",
    )
    unworded_pairs: int = column("Pairs, worded otherwise", help="how many these are")
    fall: float | None = column(
        "Fall of the corpus score",
        better="higher",
        help="if each of these sentences has the error, in the metric's units",
    )
    hidden: float | None = column(
        "Hidden errors",
        digits=0,
        better="lower",
        help="in how many of 100 sentences such errors cost no more than the median difference"
        " between neighbouring systems; where four or more are known",
    )
    control: bool = column("Control", help="random scores, or lengths of texts alone")


class SeenOverallRow(Record):
    """How often a metric sees errors, over all kinds of errors, and what they cost."""

    metric: str = METRIC
    phenomena: int = column("Phenomena", help="kinds of errors, each with the same weight")
    pairs: int = column("Pairs", help="of all of them")
    seen: float | None = column(
        "Seen", kind="share", digits=4, better="higher", help="mean of the shares of all kinds"
    )
    critical_priced: float | None = column(
        "Critical above harmless",
        kind="share",
        better="higher",
        interval=True,
        help="share of comparisons in which a critical error lowers the score by more than a"
        " harmless change of the same sentence, ties as half, the mean over sentences",
    )
    critical_sentences: int = column(
        "Sentences with both", help="that have a critical error and a harmless change"
    )
    harmless_lowered: float | None = column(
        "Harmless lowered",
        kind="share",
        better="lower",
        interval=True,
        help="share of harmless changes that lower the score",
    )
    harmless: int = column("Harmless changes", help="how many pairs these are")
    in_order: float | None = column(
        "In order of severity",
        kind="share",
        better="higher",
        interval=True,
        help="share of comparisons in which the more severe of two errors of a sentence lowers the"
        " score by more, ties as half, the mean over sentences",
    )
    ordered_sentences: int = column(
        "Sentences with several", help="that have errors of several degrees of severity"
    )
    control: bool = column("Control", help="random scores, or lengths of texts alone")


def stress_rows(scored: ScoredPairs, *, wanted: float, confidence: float) -> Iterator[StressRow]:
    """A row per metric and phenomenon; status by intervals that hold for all rows together.

    Errors come first, and among them those that the metrics see least.

    Args:
        scored: the pairs.
        wanted: the share that a metric must see.
        confidence: of the intervals.
    """
    groups, outcomes = scored.groups, scored.outcomes
    by_name = _by_name(scored)
    worded = [is_worded(pair) for pair in groups.pairs]
    level = 1 - (1 - confidence) / (len(by_name) * len(outcomes))
    changes = harmless(groups)
    for metric, outcome in outcomes.items():
        comparisons = compared(outcome, groups, changes)
        lowered = _lowered(outcome, groups, changes, confidence)
        difference = neighbour_difference(scored.systems.get(metric, ()))
        for name, numbers in by_name.items():
            there = np.array([n for n in numbers if outcome.scored[n]], dtype=np.intp)
            seen, n = outcome.seen[there], len(there)
            at_once, shown = (
                share_interval(seen, groups.clusters[there], level=wide)
                for wide in (level, confidence)
            )
            tied = int(outcome.tied[there].sum())
            status, needed = _status(n, at_once, tied, wanted)
            of_words = there[:0] if metric in scored.reference_free else there
            by_words = {
                answer: [outcome.seen[k] for k in of_words if worded[k] is answer]
                for answer in (True, False)
            }
            first = groups.pairs[numbers[0]]
            wrong = first.kind in ("error", "crossed")
            of_price = there if wrong else there[:0]
            price_at_once, _ = comparisons.interval(groups, of_price, level=level)
            priced, sentences = comparisons.interval(groups, of_price, level=confidence)
            corpus = scored.corpora.get(metric, {}).get(name)
            fall = corpus.fall if corpus else None
            yield StressRow(
                metric=metric,
                phenomenon=name,
                kind=first.kind,
                severity=first.severity,
                feature=first.feature,
                pairs=n,
                distinct=_distinct(groups, there),
                seen=shown.estimate,
                lowered=shown.estimate if first.kind == "harmless" else None,
                ties=tied / n if n else None,
                reversed=(n - int(seen.sum()) - tied) / n if n else None,
                tau=2 * shown.estimate - 1,
                harmless_lowered=lowered.estimate,
                mostly_ties=2 * tied > n,
                status="" if first.kind == "harmless" else status,
                needed=None if first.kind == "harmless" else needed,
                priced=priced.estimate,
                priced_sentences=sentences,
                price=price_of(price_at_once, sentences),
                worded_seen=_share(by_words[True]),
                worded_pairs=len(by_words[True]),
                unworded_seen=_share(by_words[False]),
                unworded_pairs=len(by_words[False]),
                fall=fall,
                hidden=hidden_errors(fall, difference) if wrong else None,
                control=metric in scored.controls,
                intervals={"seen": shown[1:], "priced": priced[1:]},
            )


def _lowered(
    outcome: Outcomes, groups: PairGroups, changes: NDArray[np.bool_], confidence: float
) -> Interval:
    """The share of harmless changes that lower the score."""
    there = np.flatnonzero(changes & outcome.scored)
    if len(there) < FEW_PAIRS:
        return Interval(math.nan, math.nan, math.nan)
    return share_interval(outcome.seen[there], groups.clusters[there], level=confidence)


def _by_name(scored: ScoredPairs) -> dict[str, list[int]]:
    groups, by_name = scored.groups, scored.groups.by_name()

    def order(name: str) -> tuple[bool, bool, float]:
        numbers = by_name[name]
        kind = groups.pairs[numbers[0]].kind
        seen = sum(int(said.seen[numbers].sum()) for said in scored.metrics.values()) / len(numbers)
        return kind not in ("error", "crossed"), kind == "crossed", seen

    return {name: by_name[name] for name in sorted(by_name, key=order)}


def _distinct(groups: PairGroups, numbers: Sequence[int] | NDArray[np.intp]) -> int:
    pairs = [groups.pairs[n] for n in numbers]
    return len({(p.good, p.bad, p.references) for p in pairs if p.good != p.bad})


def _share(seen: Sequence[bool]) -> float | None:
    return sum(seen) / len(seen) if len(seen) >= FEW_PAIRS else None


def _status(n: int, interval: Interval, tied: int, wanted: float) -> tuple[Status, int | None]:
    share, low, high = interval
    if n < FEW_PAIRS or math.isnan(low):
        return "few", None
    if low >= wanted:
        return "sees", None
    if high < wanted:
        return ("blind" if tied > _BLIND * n else "misses"), None
    return "undecided", further_segments(n, share - wanted, low - wanted, high - wanted)


def overall_rows(
    rows: Sequence[StressRow], scored: ScoredPairs, *, confidence: float
) -> Iterator[SeenOverallRow]:
    """The mean share of errors seen, by metric, and what they cost beside harmless changes."""
    groups = scored.groups
    changes, wrong = harmless(groups), groups.of_kind("error", "crossed")
    critical = np.array([pair.severity == SEVERITIES[-1] for pair in groups.pairs]) & wrong
    for metric, outcome in scored.outcomes.items():
        errors = [row for row in rows if row.metric == metric and row.kind == "error" and row.pairs]
        beside_harmless = compared(outcome, groups, changes)
        priced, sentences = beside_harmless.interval(
            groups, np.flatnonzero(critical), level=confidence
        )
        order, ordered_sentences = in_order(outcome, groups).interval(
            groups, np.flatnonzero(wrong), level=confidence
        )
        lowered = _lowered(outcome, groups, changes, confidence)
        yield SeenOverallRow(
            metric=metric,
            phenomena=len(errors),
            pairs=sum(row.pairs for row in errors),
            seen=math.fsum(row.seen or 0.0 for row in errors) / len(errors) if errors else None,
            critical_priced=priced.estimate,
            critical_sentences=sentences,
            harmless_lowered=lowered.estimate,
            harmless=int((changes & outcome.scored).sum()),
            in_order=order.estimate,
            ordered_sentences=ordered_sentences,
            control=metric in scored.controls,
            intervals={
                "critical_priced": priced[1:],
                "harmless_lowered": lowered[1:],
                "in_order": order[1:],
            },
        )
