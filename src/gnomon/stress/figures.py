"""Detection rates of metrics on minimal pairs, and the status that follows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from gnomon.core.records import METRIC, EndColumns, Record, column
from gnomon.core.verdicts import further_segments
from gnomon.stats.holm import holm_levels
from gnomon.stats.resampling import Interval
from gnomon.stress.outcomes import FEW_PAIRS, is_worded, share_interval, share_p
from gnomon.stress.penalties import compare_penalties, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.minimal_pairs import Pair
    from gnomon.stress.outcomes import ScoredPairs

__all__ = ["StressOverallRow", "StressRow", "overall_rows", "stress_rows"]


#: the conclusion of a row about a metric
Status: TypeAlias = Literal["detects", "misses", "blind", "undecided", "few", "repeated", ""]
_OF_ALL_ROWS = "Wilson's, which holds for all rows together"
#: a metric is blind to what changes its score in a tenth of the pairs at most
_BLIND = 0.9


class StressRow(Record):
    """Detection rate of one kind of errors under one metric."""

    metric: str = METRIC
    phenomenon: str = column("Phenomenon", help="in what the two texts of a pair differ")
    kind: str = column(
        "Kind",
        help="error; crossed: the text without the error is worded otherwise than the reference;"
        " harmless; sanity: no translation at all",
    )
    severity: str = column("Severity", help="as the set of pairs labels it; blank without a label")
    pairs: int = column("Pairs", help="of which the metric scored both texts")
    detected: float | None = column(
        "Detected",
        kind="share",
        better="higher",
        interval=True,
        help="share of pairs whose better text has the better score; Wilson's interval at the"
        " row's step of Holm's test, over documents where these are known; blank for harmless"
        " changes",
    )
    lowered: float | None = column(
        "Lowered",
        kind="share",
        better="lower",
        interval=True,
        help="of harmless changes: share of pairs whose changed text is scored lower",
    )
    ties: float | None = column("Ties", kind="share", help="share of pairs with equal scores")
    status: str = column(
        "Status",
        help="detects: in more pairs than asked for; misses: in fewer; blind: ties in more than"
        " nine of ten; undecided; few: too few pairs, or documents, to say; repeated: fewer than"
        " half of the pairs are distinct; blank: a harmless change",
    )
    needed: int | None = column("More pairs", help="that would decide, at this share detected")
    penalised_more: float | None = column(
        "Penalised more than harmless",
        kind="share",
        better="higher",
        interval=True,
        help="share of comparisons in which it lowers the score by more than a harmless change of"
        " the same sentence, ties as half, the mean over sentences: .5 is the same penalty; 20"
        " sentences at least",
    )
    detected_worded: float | None = column(
        "Detected, worded alike",
        kind="share",
        better="higher",
        interval=EndColumns("worded_low", "worded_high", how=_OF_ALL_ROWS, kind="share"),
        help="of pairs whose reference has all words that the worse text lacks; 20 pairs at least,"
        " of metrics that read references",
    )
    worded_pairs: int = column("Pairs, worded alike", help="how many these are")
    detected_unworded: float | None = column(
        "Detected, worded otherwise",
        kind="share",
        better="higher",
        interval=EndColumns("unworded_low", "unworded_high", how=_OF_ALL_ROWS, kind="share"),
        help="of pairs whose reference has none of these words; 20 pairs at least",
    )
    unworded_pairs: int = column("Pairs, worded otherwise", help="how many these are")
    control: bool = column("Control", help="random scores, or lengths of texts alone")


class StressOverallRow(Record):
    """Detection rate of a metric over all kinds of errors, and its penalties for them."""

    metric: str = METRIC
    phenomena: int = column("Phenomena", help="kinds of errors, each with the same weight")
    pairs: int = column("Pairs", help="of all of them")
    detected: float | None = column(
        "Detected", kind="share", digits=4, better="higher", help="mean of the shares of all kinds"
    )
    critical_penalised_more: float | None = column(
        "Critical errors penalised more than harmless",
        kind="share",
        better="higher",
        interval=True,
        help="share of comparisons in which a critical error lowers the score by more than a"
        " harmless change of the same sentence, ties as half, the mean over sentences",
    )
    harmless_lowered: float | None = column(
        "Harmless lowered",
        kind="share",
        better="lower",
        interval=True,
        help="share of harmless changes that lower the score",
    )
    control: bool = column("Control", help="random scores, or lengths of texts alone")


def stress_rows(scored: ScoredPairs, *, wanted: float, confidence: float) -> Iterator[StressRow]:
    """A row per metric and phenomenon; status by the interval of each at its step of Holm's test.

    Errors come first, and among them those that the metrics detect least.

    Args:
        scored: the pairs.
        wanted: the share that a metric must detect.
        confidence: of the intervals.
    """
    groups = scored.groups
    by_name = _order_names(scored)
    worded = [is_worded(pair) for pair in groups.pairs]
    alpha = 1 - confidence
    level = 1 - alpha / (len(by_name) * len(scored.outcomes))
    steps = _steps(scored, by_name, wanted, alpha)
    changes = harmless(groups)
    for metric, outcome in scored.outcomes.items():
        comparisons = compare_penalties(outcome, groups, changes)
        for name, numbers in by_name.items():
            there = np.array([n for n in numbers if outcome.scored[n]], dtype=np.intp)
            detected, n = outcome.detected[there], len(there)
            step = steps.get((metric, name), alpha)
            shown = share_interval(detected, groups.clusters[there], level=1 - step)
            tied = int(outcome.tied[there].sum())
            of_words = there[:0] if metric in scored.reference_free else there
            alike, otherwise = (
                np.array([k for k in of_words if worded[k] is answer], dtype=np.intp)
                for answer in (True, False)
            )
            shares = [
                _share(outcome.detected[those], groups.clusters[those], level=level)
                for those in (alike, otherwise)
            ]
            first = groups.pairs[numbers[0]]
            is_harmless = first.kind == "harmless"
            status, needed = _status([groups.pairs[k] for k in there], shown, tied, wanted)
            penalised = comparisons.interval(
                groups, there if first.kind in ("error", "crossed") else there[:0], level=confidence
            )
            yield StressRow(
                metric=metric,
                phenomenon=name,
                kind=first.kind,
                severity=first.severity,
                pairs=n,
                detected=None if is_harmless else shown.estimate,
                lowered=shown.estimate if is_harmless else None,
                ties=tied / n if n else None,
                status=status,
                needed=needed,
                penalised_more=penalised.estimate,
                detected_worded=shares[0].estimate,
                worded_pairs=len(alike),
                detected_unworded=shares[1].estimate,
                unworded_pairs=len(otherwise),
                control=metric in scored.controls,
                intervals={
                    "lowered" if is_harmless else "detected": shown[1:],
                    "penalised_more": penalised[1:],
                    "detected_worded": shares[0][1:],
                    "detected_unworded": shares[1][1:],
                },
            )


def _steps(
    scored: ScoredPairs, by_name: Mapping[str, Sequence[int]], wanted: float, alpha: float
) -> dict[tuple[str, str], float]:
    """Levels at which Holm's procedure tests the shares detected, by metric and phenomenon."""
    groups = scored.groups
    p = {}
    for metric, outcome in scored.outcomes.items():
        for name, numbers in by_name.items():
            there = np.array([n for n in numbers if outcome.scored[n]], dtype=np.intp)
            if groups.pairs[numbers[0]].kind != "harmless" and len(there) >= FEW_PAIRS:
                p[metric, name] = share_p(outcome.detected[there], groups.clusters[there], wanted)
    levels = holm_levels(list(p.values()), alpha)
    return {key: alpha if math.isnan(q) else q for key, q in zip(p, levels.tolist(), strict=True)}


def _order_names(scored: ScoredPairs) -> dict[str, list[int]]:
    groups, by_name = scored.groups, scored.groups.group_by_name()

    def order(name: str) -> tuple[bool, bool, float]:
        numbers = by_name[name]
        kind = groups.pairs[numbers[0]].kind
        detected = sum(int(said.detected[numbers].sum()) for said in scored.metrics.values())
        return kind not in ("error", "crossed"), kind == "crossed", detected / len(numbers)

    return {name: by_name[name] for name in sorted(by_name, key=order)}


def _share(detected: NDArray[np.bool_], clusters: NDArray[np.int64], *, level: float) -> Interval:
    """The share of pairs that are detected; NaN of fewer than 20."""
    if len(detected) < FEW_PAIRS:
        return Interval(math.nan, math.nan, math.nan)
    return share_interval(detected, clusters, level=level)


def _status(
    pairs: Sequence[Pair], interval: Interval, tied: int, wanted: float
) -> tuple[Status, int | None]:
    share, low, high = interval
    n = len(pairs)
    if 2 * len({(p.good, p.bad, p.references) for p in pairs if p.good != p.bad}) < n:
        return "repeated", None
    if n and pairs[0].kind == "harmless":
        return "", None
    if n < FEW_PAIRS or math.isnan(low):
        return "few", None
    if low >= wanted:
        return "detects", None
    if high < wanted:
        return ("blind" if tied > _BLIND * n else "misses"), None
    return "undecided", further_segments(n, share - wanted, low - wanted, high - wanted)


def overall_rows(
    rows: Sequence[StressRow], scored: ScoredPairs, *, confidence: float
) -> Iterator[StressOverallRow]:
    """The mean share of errors detected, by metric, and their penalties beside harmless changes."""
    groups = scored.groups
    changes = harmless(groups)
    critical = groups.is_of_kind("error", "crossed") & np.array(
        [pair.severity == "critical" for pair in groups.pairs]
    )
    for metric, outcome in scored.outcomes.items():
        errors = [row for row in rows if row.metric == metric and row.kind == "error" and row.pairs]
        penalised = compare_penalties(outcome, groups, changes).interval(
            groups, np.flatnonzero(critical), level=confidence
        )
        there = np.flatnonzero(changes & outcome.scored)
        lowered = _share(outcome.detected[there], groups.clusters[there], level=confidence)
        total = math.fsum(row.detected or 0.0 for row in errors)
        yield StressOverallRow(
            metric=metric,
            phenomena=len(errors),
            pairs=sum(row.pairs for row in errors),
            detected=total / len(errors) if errors else None,
            critical_penalised_more=penalised.estimate,
            harmless_lowered=lowered.estimate,
            control=metric in scored.controls,
            intervals={
                "critical_penalised_more": penalised[1:],
                "harmless_lowered": lowered[1:],
            },
        )
