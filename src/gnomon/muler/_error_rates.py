"""Errors by linguistic feature: tallies, rates per hundred, and their draws.

An occurrence of a feature is hit by every error that it shares a character with. The rate of a
feature is 100 * hits / occurrences over all outputs that somebody checked; outputs that several
checked count once for each. Where spaces do not separate words (Chinese), each character of a
feature is an occurrence, and rates are compared with that of all characters.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from gnomon.core.verdicts import LEAST
from gnomon.metrics.error_marks import severity_of
from gnomon.muler._error_rows import ErrorCountRow, ErrorRateDifferenceRow
from gnomon.muler.pairs import FEWEST_DIFFERING
from gnomon.stats import Family, FamilyPair, SystemFamily, family_draws, family_test
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.spans import SpanTable
    from gnomon.metrics.error_marks import ErrorMarks
    from gnomon.muler.uncertainty import Bootstrap
    from gnomon.stats.draws import Draws

    Floats: TypeAlias = NDArray[np.float64]

#: the feature that all others are compared with: what lies between white space, or, in languages
#: without spaces between words, all characters
WORDS, CHARACTERS = "words", "characters"
#: what is counted, by name
UNITS = {WORDS: re.compile(r"\S+"), CHARACTERS: re.compile(r"\S")}
SEVERITIES = ("any", "major", "minor")
#: severities under which systems are compared
COMPARED = ("any", "major")


@dataclass(frozen=True, eq=False)
class ErrorTallies:
    """Tallies of features in the outputs that were judged, and of errors that hit them."""

    features: tuple[str, ...]
    occurrences: Floats
    hits: Floats
    judged: NDArray[np.bool_]


def error_tallies(
    marks: ErrorMarks,
    texts: Sequence[str],
    numbers: NDArray[np.int32],
    spans: SpanTable,
    unit: str = WORDS,
) -> ErrorTallies:
    """Count occurrences and hits."""
    often = marks.judged.sum(axis=0).astype(np.float64)
    counts = spans.counts()
    occurrences = np.empty((len(spans.features) + 1, *numbers.shape))
    lengths = np.zeros(len(texts))
    used = np.unique(numbers)
    pattern = UNITS[unit]
    lengths[used] = [len(pattern.findall(texts[i])) for i in used.tolist()]
    occurrences[0] = often * lengths[numbers]
    occurrences[1:] = often * counts[:, numbers]
    hits = np.zeros((len(SEVERITIES), *occurrences.shape))
    for position in marks.spans:
        errors = marks.graded(position)
        if not errors:
            continue
        at = int(numbers[position.system, position.segment])
        low, high = spans.rows[at], spans.rows[at + 1]
        words = np.array([match.span() for match in pattern.finditer(texts[at])]).reshape(-1, 2)
        feature = np.concatenate([np.zeros(len(words), np.intp), spans.feature[low:high] + 1])
        start = np.concatenate([words[:, 0], spans.start[low:high]])
        end = np.concatenate([words[:, 1], spans.end[low:high]])
        first, last, major = np.array(errors).T
        over = (start[:, None] < last) & (end[:, None] > first)
        for severity, hit in enumerate((over, over & (major == 1), over & (major == 0))):
            hit_counts = hits[severity, :, position.system, position.segment]
            hit_counts += np.bincount(feature, np.any(hit, axis=1), minlength=len(hit_counts))
    looked = np.any(marks.judged, axis=0)
    return ErrorTallies((unit, *spans.features), occurrences, hits, np.asarray(looked))


def split_into_units(spans: SpanTable, texts: Sequence[str], unit: str) -> SpanTable:
    """The same features, each word (or character) an occurrence; white space is none."""
    places = zip(spans.text.tolist(), spans.start.tolist(), spans.end.tolist(), strict=True)
    found = [
        (row, *match.span())
        for row, (text, low, high) in enumerate(places)
        for match in UNITS[unit].finditer(texts[text], low, high)
    ]
    row, start, end = np.array(found, dtype=np.int32).reshape(-1, 3).T
    return replace(spans, text=spans.text[row], feature=spans.feature[row], start=start, end=end)


class ErrorRates(NamedTuple):
    """Rates per hundred occurrences, all systems together last."""

    occurrences: Floats
    hits: Floats
    rate: Floats
    samples: Floats | None
    draws: Draws | None
    units: Floats  # [F, K + 1], segments or documents that have the feature

    def ends(self) -> tuple[Floats, Floats]:
        """Ends of the intervals of the rates, float64 [3, F, K + 1]; NaN without draws.

        Without a hit the upper end is that rate under which none in so many segments, or
        documents, is as rare as the interval says (3 in n of 95 %, the rule of three).
        """
        if self.draws is None or self.samples is None:
            return np.full_like(self.rate, np.nan), np.full_like(self.rate, np.nan)
        low, high = self.draws.ends(self.rate, self.samples)
        return low, np.where(self.hits == 0, self._rare(1 - self.draws.confidence), high)

    def relative(self, levels: Floats) -> tuple[Floats, Floats, Floats]:
        """Rates as multiples of that of all words, and the ends of intervals, each of its level."""
        value = _divide(self.rate, self.rate[:, :1])
        low, high = np.full((2, *value.shape), np.nan)
        if self.samples is None or self.draws is None:
            return value, low, high
        samples = _divide(self.samples, self.samples[:, :1])
        for at in np.ndindex(value.shape):
            draws = replace(self.draws, confidence=1 - float(levels[at]))
            low[at], high[at] = draws.ends(value[at], samples[at])
        none = _divide(self._rare(levels), self.rate[:, :1])
        return value, low, np.where(self.hits == 0, none, high)

    def _rare(self, level: float | Floats) -> Floats:
        """Rates under which no hit at all is as rare as a level."""
        return np.minimum(100 * _divide(-np.log(level) + 0 * self.rate, self.units), 100.0)

    def tests(self) -> Floats:
        """P of each rate being that of all words, float64 [3, F, K + 1]; NaN without draws.

        The larger one of two tests: by the draws, which know what goes together, and by the
        binomial distribution under the rate of all words, which knows of few errors; without a hit
        that of none in so many segments, or documents.
        """
        if self.samples is None or self.draws is None:
            return np.full_like(self.rate, np.nan)
        relative, samples = _divide(self.rate, self.rate[:, :1]), self.samples
        drawn = self.draws.p(relative - 1, _divide(samples, samples[:, :1]) - 1)
        share = self.rate[:, :1] / 100
        spread = np.sqrt(self.occurrences * share * (1 - share))
        z = _divide(np.abs(self.hits - self.occurrences * share), spread)
        exact = np.vectorize(math.erfc, otypes=[np.float64])(z / math.sqrt(2))
        none = np.where(self.hits == 0, np.exp(-self.units * share), 0.0)
        return np.asarray(np.maximum(np.maximum(drawn, exact), none))


def _divide(above: Floats, below: NDArray[Any]) -> Floats:
    below = np.broadcast_to(below, above.shape)
    ratios = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return np.asarray(ratios)


def error_rates(tallies: ErrorTallies, draws: Draws | None) -> ErrorRates:
    """Rates of all features and systems."""
    occurrences = _append_sum(tallies.occurrences.sum(axis=-1))
    hits = _append_sum(tallies.hits.sum(axis=-1))
    rate = 100 * _divide(hits, occurrences[None])
    if draws is None:
        return ErrorRates(occurrences, hits, rate, None, None, np.zeros(occurrences.shape))
    units = draws.units(_append_sum(tallies.occurrences, axis=1) > 0).astype(np.float64)
    k = tallies.occurrences.shape[1]
    samples = []
    for number in range(len(tallies.features)):
        stacked = np.concatenate([tallies.occurrences[None, number], tallies.hits[:, number]])
        sums = draws.sums(stacked.reshape(-1, stacked.shape[-1]))
        with_all = _append_sum(sums.reshape(len(stacked), k, -1), axis=1)
        samples.append(100 * _divide(with_all[1:], with_all[:1]))
    return ErrorRates(occurrences, hits, rate, np.stack(samples, axis=1), draws, units)


def _append_sum(values: Floats, axis: int = -1) -> Floats:
    """With the sum over the systems behind them."""
    return np.concatenate([values, values.sum(axis=axis, keepdims=True)], axis=axis)


def rate_differences(
    marks: str,
    systems: Sequence[str],
    tallies: ErrorTallies,
    options: Bootstrap,
    documents: NDArray[np.int64] | None,
) -> Iterator[ErrorRateDifferenceRow]:
    """All pairs of systems on all features that occur often enough, the smallest p first.

    Features and pairs of a severity are one family (:func:`gnomon.stats.family_test`), over
    resamples of the segments, or of whole documents; each severity has its equal part of the level,
    because major errors are so rare that they would decide for all others. Features with fewer than
    30 occurrences on either side are left out.
    """
    count = len(systems)
    both = {pair: np.all(tallies.judged[[*pair]], axis=0) for pair in combinations(range(count), 2)}
    pairs, occurrences, commons = [], [], []
    for (a, b), common in both.items():
        for f, of in enumerate(tallies.occurrences):
            fewest = float(of[[a, b]][:, common].sum(axis=1).min()) if common.any() else 0.0
            if fewest >= LEAST:
                pairs.append(FamilyPair(f * count + a, f * count + b))
                occurrences.append(int(fewest))
                commons.append(common)
    marked = {hits.tobytes() for hits in tallies.hits[: len(COMPARED)] if hits.any()}
    families = max(len(marked), 1)
    for severity, name in enumerate(COMPARED if pairs else ()):
        sums = np.stack([tallies.hits[severity], tallies.occurrences], axis=-1)
        sums = np.where(tallies.judged[:, :, None], sums, np.nan).reshape(-1, *sums.shape[2:])
        family = SystemFamily.from_statistics(
            sums, pairs, aggregate=_rate, documents=documents, seed=options.seed
        )
        rates, hits = [], []
        for pair, common in zip(pairs, commons, strict=True):
            cells = sums[[*pair[:2]]][:, common]
            rates.append(_rate(cells.sum(axis=1)))
            some = cells[..., 0].any(axis=0)
            hits.append(
                some.sum() if documents is None else len(np.unique(documents[common][some]))
            )
        by_document = documents is not None
        tested = _test_families(family, np.array(hits), options, families, by_document=by_document)
        order = np.lexsort((-np.abs(family.comparisons.estimates), tested.p))
        for n in order.tolist():
            feature, first = divmod(pairs[n].first, count)
            yield ErrorRateDifferenceRow(
                marks=marks,
                severity=name,
                feature=tallies.features[feature],
                system_a=systems[first],
                system_b=systems[pairs[n].second % count],
                rate_a=float(rates[n][0]),
                rate_b=float(rates[n][1]),
                difference=float(rates[n][0] - rates[n][1]),
                intervals={"difference": (float(tested.low[n]), float(tested.high[n]))},
                p=min(float(families * tested.p[n]), 1.0),
                decided=tested.decided[n],
                occurrences=occurrences[n],
            )


def _rate(sums: Floats) -> Floats:
    """Per hundred, of hits and occurrences [..., 2]."""
    return 100 * _divide(sums[..., 0], sums[..., 1])


def _test_families(
    family: SystemFamily,
    hit: NDArray[np.int64],
    options: Bootstrap,
    families: int,
    *,
    by_document: bool,
) -> Family:
    """Test families; those of too few units, or where too few have errors, show nothing."""
    found = family.comparisons
    if not options.resamples:
        return Family.untested(len(family.pairs))
    same = (found.estimates == 0) & (found.errors == 0)  # nothing differs, however much is marked
    observed = found._replace(different=np.where(same, 0, hit))
    few = observed.units < (LEAST_DOCUMENTS if by_document else LEAST)
    observed = observed._replace(
        estimates=np.where(few, np.nan, observed.estimates),
        errors=np.where(few, np.nan, observed.errors),
    )
    draws = family.draws(family_draws(len(family.pairs), options.resamples))
    least = LEAST_DOCUMENTS if by_document else FEWEST_DIFFERING
    confidence = 1 - (1 - options.confidence) / families
    return family_test(observed, draws.resampled, least=least, confidence=confidence)


# Counts by severity and category.


def error_counts(marks: ErrorMarks, systems: Sequence[str]) -> list[ErrorCountRow]:
    """Counts by system, severity and category, all severities that occur for every system."""
    often = marks.judged.sum(axis=0)
    counts: dict[tuple[int, str, str], list[float]] = {}
    kinds: dict[tuple[str, str], None] = {}
    for column, side in ((0, marks.spans), (1, marks.placeless)):
        for position, errors in side.items():
            weight = 1.0 / float(often[position.system, position.segment])
            for error in errors:
                key = (position.system, error.severity, error.category)
                cell = counts.setdefault(key, [0.0, 0.0])
                cell[0] += weight
                cell[1] += weight * column
                kinds[key[1:]] = None
    outputs = (often > 0).sum(axis=1).tolist()
    rows = []
    for k in np.flatnonzero(outputs).tolist():
        for severity, category in sorted(kinds):
            number, placeless = counts.get((k, severity, category), (0.0, 0.0))
            rows.append(
                ErrorCountRow(
                    marks=marks.name,
                    system=systems[k],
                    severity=severity,
                    category=category,
                    errors=number,
                    per_hundred=100 * number / outputs[k],
                    placeless=placeless,
                    outputs=outputs[k],
                )
            )
    return rows


def major_errors(marks: ErrorMarks, systems: Sequence[str]) -> dict[str, float]:
    """Major (and critical) errors in the outputs of each system, those without a place, too."""
    judged = np.flatnonzero(marks.judged.any(axis=(0, 2))).tolist()
    errors = dict.fromkeys((systems[k] for k in judged), 0.0)
    for row in error_counts(marks, systems):
        if severity_of(row.severity):
            errors[row.system] += row.errors
    return errors
