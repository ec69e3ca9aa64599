"""Outcomes of metrics on minimal pairs, and the pairs of one sentence or document."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.options import CONFIDENCE, SEED
from gnomon.core.scripts import word_pattern
from gnomon.stats.binomial import wilson_interval
from gnomon.stats.jackknife import (
    LEAST_DOCUMENTS,
    design_effect,
    effective_documents,
    jackknife,
    numbered,
)
from gnomon.stats.resampling import Interval
from gnomon.stats.student import upper_quantile, upper_tail

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.minimal_pairs import Pair

__all__ = [
    "DETECTION",
    "FEW_PAIRS",
    "Detection",
    "Outcomes",
    "PairGroups",
    "ScoredPairs",
    "is_worded",
    "mean_interval",
    "share_interval",
    "share_p",
]


#: shares of fewer pairs, or of fewer sentences, are no finding
FEW_PAIRS = 20


class Detection(NamedTuple):
    """Rule for detecting an error, and for what is shown of it.

    Attributes:
        detection_rate: the share of pairs in which a metric must score the error lower to count as
            detecting such errors.
        tie_tolerance: the largest difference between scores that count as equal: encoders differ by
            about 1e-7 from run to run.
        examples: pairs shown of each kind: first those on which a metric is wrong.
        confidence: of the intervals.
        seed: of the random scores, a control, and of the draw of examples.
    """

    detection_rate: float = 0.8
    tie_tolerance: float = 1e-6
    examples: int = 3
    confidence: float = CONFIDENCE
    seed: int = SEED


DETECTION = Detection()


class Outcomes:
    """Scores of one metric for the two texts of each pair.

    Attributes:
        good: scores of the better texts, [pairs], higher is better; NaN where there is none.
        bad: of the worse texts.
        ties: differences as large as this, or smaller, are none.
        detected: whether the better text has the better score.
        tied: whether both have the same.
        scored: whether both have a score.
    """

    def __init__(self, good: NDArray[np.float64], bad: NDArray[np.float64], ties: float) -> None:
        self.good, self.bad, self.ties = good, bad, ties
        self.scored = np.isfinite(good) & np.isfinite(bad)
        alike = abs(good - bad) <= ties
        self.tied: NDArray[np.bool_] = self.scored & alike
        self.detected: NDArray[np.bool_] = self.scored & ~alike & (good > bad)

    @property
    def drops(self) -> NDArray[np.float64]:
        """Fall of the score from the better text to the worse one, [pairs]."""
        return self.good - self.bad


@dataclass(frozen=True)
class PairGroups:
    """Pairs, and what they have in common.

    Attributes:
        pairs: the pairs.
        names: what each is called in tables: its phenomenon, and its kind where pairs of several
            kinds share a phenomenon.
        sentences: the sentence of each pair as a number, [pairs].
        clusters: its document as a number; its sentence where no document is known, [pairs].
    """

    pairs: Sequence[Pair]
    names: Sequence[str]
    sentences: NDArray[np.int64]
    clusters: NDArray[np.int64]

    @classmethod
    def from_pairs(cls, pairs: Sequence[Pair]) -> PairGroups:
        """The groups of some pairs."""
        kinds: dict[str, dict[str, None]] = {}
        for pair in pairs:
            kinds.setdefault(pair.phenomenon, {})[pair.kind] = None
        first = {
            phenomenon: "error" if "error" in of_kind else next(iter(of_kind))
            for phenomenon, of_kind in kinds.items()
        }
        names = [
            pair.phenomenon
            if pair.kind == first[pair.phenomenon]
            else f"{pair.phenomenon}, {pair.kind}"
            for pair in pairs
        ]
        sentences = [_sentence(pair) for pair in pairs]
        clusters = [
            ("document", pair.document) if pair.document else sentence
            for pair, sentence in zip(pairs, sentences, strict=True)
        ]
        return cls(
            pairs,
            names,
            numbered(sentences),  # type: ignore[arg-type]  # any hashable names
            numbered(clusters),  # type: ignore[arg-type]
        )

    def group_by_name(self) -> dict[str, list[int]]:
        """The pairs of each name."""
        by_name: dict[str, list[int]] = {}
        for number, name in enumerate(self.names):
            by_name.setdefault(name, []).append(number)
        return by_name

    def is_of_kind(self, *kinds: str) -> NDArray[np.bool_]:
        """Which pairs are of one of these kinds, [pairs]."""
        return np.array([pair.kind in kinds for pair in self.pairs], dtype=np.bool_)


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs, and what metrics and controls say of them.

    Attributes:
        groups: the pairs.
        outcomes: what each metric and each control says.
        controls: the names of controls.
        signs: -1 for error rates, by metric.
        reference_free: metrics that read no references.
    """

    groups: PairGroups
    outcomes: Mapping[str, Outcomes]
    controls: Sequence[str]
    signs: Mapping[str, int]
    reference_free: frozenset[str] = frozenset()

    @property
    def metrics(self) -> Mapping[str, Outcomes]:
        """Outcomes of the metrics that are no controls."""
        return {name: said for name, said in self.outcomes.items() if name not in self.controls}


def _sentence(pair: Pair) -> Hashable:
    if pair.origin:
        return "origin", pair.document, pair.origin
    return "text", pair.language_pair, pair.good


def is_worded(pair: Pair) -> bool | None:
    """True if a reference has all words that the worse text lacks; None if some of them.

    None, too, where none lack, or where the worse text has more words beside (an addition).

    >>> from gnomon.core.minimal_pairs import Pair
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
    return list(word_pattern().findall(text))


# Intervals over documents, where these are known.


def share_interval(
    successes: NDArray[np.bool_], clusters: NDArray[np.int64], *, level: float
) -> Interval:
    """The share of pairs, and its interval: Wilson's of as many independent pairs as say as much.

    Pairs of several clusters of one pair each are independent. Else the number of pairs is divided
    by the design effect, and Student's quantile takes the place of the normal one (Korn and
    Graubard, 1998). Ends are NaN for fewer than 15 documents.

    >>> share = share_interval(np.arange(40) % 5 > 0, np.arange(40) // 2, level=0.95)
    >>> [round(value, 2) for value in share]
    [0.8, 0.64, 0.9]
    """
    n, seen = len(successes), int(successes.sum())
    independent, df = _independent(successes, clusters)
    if math.isinf(df):
        return Interval(*wilson_interval(seen, n, level=level))
    if math.isnan(independent):
        return Interval(seen / n, math.nan, math.nan)
    t = upper_quantile((1 - level) / 2, df)
    share, weight = seen / n, t * t / independent
    middle = (share + weight / 2) / (1 + weight)
    reach = t * math.sqrt(share * (1 - share) / independent + weight / (4 * independent))
    reach /= 1 + weight
    return Interval(share, max(0.0, middle - reach), min(1.0, middle + reach))


def share_p(successes: NDArray[np.bool_], clusters: NDArray[np.int64], wanted: float) -> float:
    """Two-sided p of the share being another one: at most 1 - level where its interval is beside.

    >>> seen, documents = np.arange(40) % 5 > 0, np.arange(40) // 2
    >>> p = share_p(seen, documents, 0.9)
    >>> round(share_interval(seen, documents, level=1 - p).high, 6)
    0.9
    """
    independent, df = _independent(successes, clusters)
    if not len(successes) or math.isnan(independent):
        return math.nan
    apart, spread = abs(float(successes.mean()) - wanted), math.sqrt(wanted * (1 - wanted))
    if not spread or not apart:
        return float(not apart)
    z = apart / spread * math.sqrt(independent)
    return math.erfc(z / math.sqrt(2)) if math.isinf(df) else 2 * upper_tail(z, df)


def _independent(successes: NDArray[np.bool_], clusters: NDArray[np.int64]) -> tuple[float, float]:
    """Number of independent pairs that say as much (NaN: too few clusters); degrees of freedom."""
    n = len(successes)
    _, which, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    if n == len(sizes):
        return n, math.inf
    df = effective_documents(sizes) - 1
    if len(sizes) < LEAST_DOCUMENTS:
        return math.nan, df
    effect = design_effect(successes, which)
    return n / max(1.0, effect if math.isfinite(effect) else 1.0), df


def mean_interval(
    values: NDArray[np.float64], clusters: NDArray[np.int64], *, level: float
) -> Interval:
    """The mean of shares, and its interval over clusters of them (jackknife, Student's t).

    NaN for fewer than 20 values; ends are NaN for fewer than 15 clusters.
    """
    if len(values) < FEW_PAIRS:
        return Interval(math.nan, math.nan, math.nan)
    _, which = np.unique(clusters, return_inverse=True)
    sums, sizes = np.bincount(which, values), np.bincount(which)
    mean = float(values.mean())
    if len(sizes) < LEAST_DOCUMENTS:
        return Interval(mean, math.nan, math.nan)
    without = (sums.sum() - sums) / (len(values) - sizes)
    found = jackknife(mean, without, sizes, confidence=level)
    return Interval(mean, max(0.0, float(found.low)), min(1.0, float(found.high)))
