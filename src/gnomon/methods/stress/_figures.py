"""How often a metric scores the better text of minimal pairs higher, and what follows from it."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from gnomon import stats
from gnomon.core.records import METRIC, Record, column
from gnomon.core.verdicts import further_segments
from gnomon.stats.significance import binomial_p, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.pairs import Pair

#: what a row says of a metric
Status: TypeAlias = Literal["sees", "misses", "blind", "undecided", "few"]
#: shares of fewer pairs are no finding
FEW_PAIRS = 20
#: a metric is blind to what changes its score in a tenth of the pairs at most
_BLIND = 0.9
_WORD = re.compile(r"\w+|[^\w\s]")


class StressRow(Record):
    """How often a metric scores an error of one kind below the same text without it."""

    metric: str = METRIC
    phenomenon: str = column("Phenomenon", help="in what the two texts of a pair differ")
    kind: str = column("Kind", help="error, harmless or sanity (no translation at all)")
    severity: str = column("Severity", help="as the set of pairs labels it; blank without a label")
    pairs: int = column("Pairs", help="of which the metric scored both texts")
    distinct: int = column(
        "Distinct", help="pairs that differ from each other, and whose two texts differ"
    )
    seen: float | None = column(
        "Seen",
        kind="share",
        better="higher",
        interval=True,
        help="share of pairs whose better text has the better score; Wilson's interval",
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
        " nine of ten; undecided; few: too few pairs to say",
    )
    needed: int | None = column("More pairs", help="that would decide, at the share seen so far")
    worded_seen: float | None = column(
        "Seen, worded alike",
        kind="share",
        better="higher",
        help="of pairs whose reference has all words that the worse text lacks; 20 pairs at least",
    )
    worded_pairs: int = column("Pairs, worded alike", help="how many these are")
    unworded_seen: float | None = column(
        "Seen, worded otherwise",
        kind="share",
        better="higher",
        help="of pairs whose reference has none of these words; 20 pairs at least",
    )
    unworded_pairs: int = column("Pairs, worded otherwise", help="how many these are")
    control: bool = column("Control", help="random scores, or lengths of texts alone")


class SeenOverallRow(Record):
    """How often a metric sees errors, over all kinds of errors."""

    metric: str = METRIC
    phenomena: int = column("Phenomena", help="kinds of errors, each with the same weight")
    pairs: int = column("Pairs", help="of all of them")
    seen: float | None = column(
        "Seen", kind="share", digits=4, better="higher", help="mean of the shares of all kinds"
    )
    control: bool = column("Control", help="random scores, or lengths of texts alone")


class SeenContrastRow(Record):
    """Two metrics on the same pairs of one kind."""

    phenomenon: str = column("Phenomenon", help="in what the two texts of a pair differ")
    metric: str = METRIC
    other: str = column("Other metric", help="that is compared with it")
    pairs: int = column("Pairs", help="of which both metrics scored both texts")
    metric_only: int = column("Seen by it alone", help="pairs that the first metric alone sees")
    other_only: int = column("By the other alone", help="pairs that the other metric alone sees")
    p: float | None = column("p", digits=3, help="exact test of McNemar, two-sided")
    p_corrected: float | None = column(
        "p, corrected", digits=3, help="Holm's over all rows of this table"
    )


class ExampleRow(Record):
    """A pair that a metric does not see."""

    metric: str = METRIC
    phenomenon: str = column("Phenomenon", help="in what the two texts of the pair differ")
    good: str = column("Better text", help="without the error")
    bad: str = column("Worse text", help="with it")
    reference: str = column("Reference", help="the first; blank without one")
    good_score: float | None = column("Score", help="of the better text")
    bad_score: float | None = column("Score with the error", help="of the worse text")


class Outcomes:
    """What one metric says of each pair.

    Attributes:
        good: scores of the better texts, [pairs], higher is better; NaN where there is none.
        bad: of the worse texts.
        seen: whether the better text has the better score.
        tied: whether both have the same.
        scored: whether both have a score.
    """

    def __init__(self, good: NDArray[np.float64], bad: NDArray[np.float64], ties: float) -> None:
        self.good, self.bad = good, bad
        self.scored = np.isfinite(good) & np.isfinite(bad)
        alike = abs(good - bad) <= ties
        self.tied: NDArray[np.bool_] = self.scored & alike
        self.seen: NDArray[np.bool_] = self.scored & ~alike & (good > bad)


def is_worded(pair: Pair) -> bool | None:
    """Whether a reference has all words that the worse text lacks; None if some of them.

    None, too, where none lack, or where the worse text has more words beside (an addition).

    >>> from gnomon.core.pairs import Pair
    >>> texts = {"good": "two red cats", "bad": "two cats", "phenomenon": "deletion"}
    >>> [is_worded(Pair(**texts, references=(text,))) for text in ("red cats", "two cats")]
    [True, False]
    """
    good, bad = Counter(_words(pair.good)), Counter(_words(pair.bad))
    lost = good - bad
    if not lost or (bad - good).total() > lost.total() or not pair.references:
        return None
    there = {word for text in pair.references for word in _words(text)}
    worded = {word in there for word in lost}
    return worded.pop() if len(worded) == 1 else None


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def stress_rows(
    outcomes: Mapping[str, Outcomes],
    pairs: Sequence[Pair],
    controls: Sequence[str],
    *,
    wanted: float,
    confidence: float,
) -> Iterator[StressRow]:
    """A row per metric and phenomenon; status by intervals that hold for all rows together.

    Errors come first, and among them those that the metrics see least.
    """
    groups = _by_phenomenon(outcomes, pairs, controls)
    worded = [is_worded(pair) for pair in pairs]
    texts = [(pair.good, pair.bad, pair.references) for pair in pairs]
    level = 1 - (1 - confidence) / (len(groups) * len(outcomes))
    for metric, outcome in outcomes.items():
        for phenomenon, numbers in groups.items():
            there = np.array([n for n in numbers if outcome.scored[n]], dtype=np.intp)
            seen, n = int(outcome.seen[there].sum()), len(there)
            tied = int(outcome.tied[there].sum())
            share, low, high = wilson_interval(seen, n, level=level)
            status, needed = _status(n, share, low, high, tied, wanted)
            by_words = {
                answer: [outcome.seen[k] for k in there if worded[k] is answer]
                for answer in (True, False)
            }
            first = pairs[numbers[0]]
            yield StressRow(
                metric=metric,
                phenomenon=phenomenon,
                kind=first.kind,
                severity=first.severity,
                pairs=n,
                distinct=len({given for k in there if (given := texts[k])[0] != given[1]}),
                seen=share,
                ties=tied / n if n else None,
                reversed=(n - seen - tied) / n if n else None,
                tau=2 * share - 1,
                status=status,
                needed=needed,
                worded_seen=_share(by_words[True]),
                worded_pairs=len(by_words[True]),
                unworded_seen=_share(by_words[False]),
                unworded_pairs=len(by_words[False]),
                control=metric in controls,
                intervals={"seen": wilson_interval(seen, n, level=confidence)[1:]},
            )


def _by_phenomenon(
    outcomes: Mapping[str, Outcomes], pairs: Sequence[Pair], controls: Sequence[str]
) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for number, pair in enumerate(pairs):
        groups.setdefault(pair.phenomenon, []).append(number)
    metrics = [outcome for name, outcome in outcomes.items() if name not in controls]

    def order(phenomenon: str) -> tuple[bool, float]:
        numbers = groups[phenomenon]
        seen = sum(int(outcome.seen[numbers].sum()) for outcome in metrics) / len(numbers)
        return pairs[numbers[0]].kind != "error", seen

    return {phenomenon: groups[phenomenon] for phenomenon in sorted(groups, key=order)}


def _share(seen: Sequence[bool]) -> float | None:
    return sum(seen) / len(seen) if len(seen) >= FEW_PAIRS else None


def _status(
    n: int, share: float, low: float, high: float, tied: int, wanted: float
) -> tuple[Status, int | None]:
    if n < FEW_PAIRS:
        return "few", None
    if low >= wanted:
        return "sees", None
    if high < wanted:
        return ("blind" if tied > _BLIND * n else "misses"), None
    return "undecided", further_segments(n, share - wanted, low - wanted, high - wanted)


def overall_rows(rows: Sequence[StressRow]) -> Iterator[SeenOverallRow]:
    """The mean share of errors seen, by metric; of nothing but errors."""
    for metric in dict.fromkeys(row.metric for row in rows):
        errors = [row for row in rows if row.metric == metric and row.kind == "error" and row.pairs]
        yield SeenOverallRow(
            metric=metric,
            phenomena=len(errors),
            pairs=sum(row.pairs for row in errors),
            seen=math.fsum(row.seen or 0.0 for row in errors) / len(errors) if errors else None,
            control=any(row.control for row in errors),
        )


def contrast_rows(
    outcomes: Mapping[str, Outcomes], pairs: Sequence[Pair], controls: Sequence[str]
) -> list[SeenContrastRow]:
    """Each two metrics that are no controls, on each kind of errors."""
    names = [name for name in outcomes if name not in controls]
    kinds = list(dict.fromkeys(pair.phenomenon for pair in pairs if pair.kind == "error"))
    of_kind = {kind: np.array([pair.phenomenon == kind for pair in pairs]) for kind in kinds}
    fields = []
    for position, metric in enumerate(names):
        for other in names[position + 1 :]:
            first, second = outcomes[metric], outcomes[other]
            for kind in kinds:
                both = of_kind[kind] & first.scored & second.scored
                alone = int((both & first.seen & ~second.seen).sum())
                reverse = int((both & second.seen & ~first.seen).sum())
                p = binomial_p(alone, alone + reverse)
                fields.append((kind, metric, other, int(both.sum()), alone, reverse, p))
    corrected = stats.holm([values[-1] for values in fields]).tolist() if fields else []
    return [
        SeenContrastRow(
            phenomenon=kind,
            metric=metric,
            other=other,
            pairs=n,
            metric_only=alone,
            other_only=reverse,
            p=p,
            p_corrected=adjusted,
        )
        for (kind, metric, other, n, alone, reverse, p), adjusted in zip(
            fields, corrected, strict=True
        )
    ]


def example_rows(
    outcomes: Mapping[str, Outcomes],
    pairs: Sequence[Pair],
    controls: Sequence[str],
    *,
    most: int,
    signs: Mapping[str, int],
) -> Iterator[ExampleRow]:
    """The first pairs that each metric does not see, of each kind of errors."""
    for metric, outcome in outcomes.items():
        left: Counter[str] = Counter()
        for number, pair in enumerate(pairs):
            unseen = outcome.scored[number] and not outcome.seen[number]
            if metric in controls or pair.kind != "error" or not unseen:
                continue
            if left[pair.phenomenon] == most:
                continue
            left[pair.phenomenon] += 1
            yield ExampleRow(
                metric=metric,
                phenomenon=pair.phenomenon,
                good=pair.good,
                bad=pair.bad,
                reference=pair.references[0] if pair.references else "",
                good_score=signs[metric] * outcome.good[number],
                bad_score=signs[metric] * outcome.bad[number],
            )
