"""Differences of segment scores, and scores by length of segments and by frequency of words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.comparison.ngrams import BASELINE, reference_matches
from gnomon.core.findings import HeatMap, Histogram
from gnomon.core.records import METRIC, SYSTEM, Record, column, table
from gnomon.core.slices import slices
from gnomon.stats.system_tests import summable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.comparison.paired_tests import PairedScores
    from gnomon.core.batch import Batch
    from gnomon.core.findings import Table, View
    from gnomon.core.testset import TestSet
    from gnomon.metrics.tokenise import TokenTable

HISTOGRAM, LENGTHS, WORDS = "histogram", "lengths", "words"
#: bins of a histogram, about
_BINS = 20
#: how often the words of a group occur in the references, at least
_FREQUENCIES = (1, 2, 3, 5, 10, 100)


class DifferenceBinRow(Record):
    """Segments whose gain over the baseline is of one size."""

    system: str = SYSTEM
    baseline: str = BASELINE
    metric: str = METRIC
    bin: str = column("Bin", help="from its least gain to that of the next one")
    low: float = column(
        "Gain of a segment", help="the least one of the bin; positive where the system is better"
    )
    high: float = column("Up to", help="the gain where the next bin begins")
    segments: int = column("Segments", help="with a gain within the bin")


class LengthScoreRow(Record):
    """The score of a system on segments of some length."""

    metric: str = METRIC
    length: str = column("Length", help="of the reference, else of the source")
    system: str = SYSTEM
    segments: int = column("n", help="segments of that length that all systems have a score for")
    score: float = column("Score", help="on these segments")


class WordFrequencyRow(Record):
    """A system's matches with the words that references use so often."""

    frequency: str = column("Frequency", help="how often the references hold the word")
    system: str = SYSTEM
    words: int = column("n", help="occurrences of such words in the references")
    f1: float = column(
        "F1 of words",
        kind="share",
        better="higher",
        help="2 x matches / (words of the outputs + words of the references)",
    )


#: by the names of the tables
ROWS: Mapping[str, type[Record]] = {
    HISTOGRAM: DifferenceBinRow,
    LENGTHS: LengthScoreRow,
    WORDS: WordFrequencyRow,
}


class Bins(NamedTuple):
    """Gains over the baseline in bins of one width."""

    step: float
    places: NDArray[np.float64]  # [K, N], the bin of each segment: 0 holds 0; NaN where undefined

    @classmethod
    def build(cls, paired: PairedScores) -> Bins:
        """The bins of all systems; the places of equal outputs are all undefined."""
        gains = paired.gains()
        largest = float(np.abs(gains[~np.isnan(gains)]).max(initial=0.0))
        if not largest:
            return cls(0.0, np.full(gains.shape, np.nan))
        step = _rounded_up(2 * largest / _BINS)
        return cls(step, np.floor(gains / step + 0.5))

    def ends(self, place: float) -> tuple[float, float]:
        """The least gain of a bin, and that of the next one."""
        return round((place - 0.5) * self.step, 12), round((place + 0.5) * self.step, 12)

    def name(self, place: float) -> str:
        """Name of a bin."""
        low, high = self.ends(place)
        return f"{low:g} to {high:g}"


def difference_rows(paired: PairedScores) -> Iterator[DifferenceBinRow]:
    """The bins of all systems but the baseline; the one in the middle holds 0."""
    bins = Bins.build(paired)
    for name, own in zip(paired.systems[1:], bins.places[1:], strict=True):
        places, counts = np.unique(own[~np.isnan(own)], return_counts=True)
        for place, count in zip(places.tolist(), counts.tolist(), strict=True):
            low, high = bins.ends(place)
            yield DifferenceBinRow(
                system=name,
                baseline=paired.systems[0],
                metric=paired.metric,
                bin=bins.name(place),
                low=low,
                high=high,
                segments=count,
            )


def _rounded_up(number: float) -> float:
    """The next of 1, 2, 5, 10, ..."""
    power = 10.0 ** np.floor(np.log10(number))
    return float(next(power * digit for digit in (1, 2, 5, 10) if power * digit >= number))


def length_rows(testset: TestSet, paired: PairedScores) -> Iterator[LengthScoreRow]:
    """Scores by length, the shortest first; none of a metric that reads two outputs at once."""
    if paired.preferences is not None:
        return
    values, score = summable(paired.values, paired.aggregate)
    there = ~np.isnan(values).any(axis=(0, 2))
    for part in slices(testset, "length")[1:]:
        members = part.members & there
        if not members.any():
            continue
        scores = score(values[:, members].sum(axis=1)).tolist()
        for name, own in zip(paired.systems, scores, strict=True):
            yield LengthScoreRow(
                metric=paired.metric,
                length=str(part.name),
                system=name,
                segments=int(members.sum()),
                score=own,
            )


def word_rows(batch: Batch, tokens: TokenTable) -> Iterator[WordFrequencyRow]:
    """F1 by frequency, the rarest words first."""
    matches = next(reference_matches(batch, tokens, 1))
    frequency = np.bincount(matches.gram, matches.held, len(matches.examples))
    group = np.searchsorted(_FREQUENCIES, frequency, side="right") - 1
    size, of_cell = len(_FREQUENCIES), group[matches.gram]
    of_word = np.full(len(tokens.vocabulary), -1)
    of_word[matches.examples[:, 0]] = group
    used = _count_tokens(tokens, of_word[tokens.ids], size)
    held = np.bincount(of_cell, matches.held, size)
    ends = [*(str(high - 1) for high in _FREQUENCIES[1:]), ""]
    for n, (low, high) in enumerate(zip(map(str, _FREQUENCIES), ends, strict=True)):
        for name, own, matched in zip(
            batch.systems, batch.candidates, matches.matched, strict=True
        ):
            if held[n]:
                found = float(matched[of_cell == n].sum())
                yield WordFrequencyRow(
                    frequency=low if low == high else f"{low}-{high}" if high else f"{low}+",
                    system=name,
                    words=int(held[n]),
                    f1=2 * found / float(used[own, n].sum() + held[n]),
                )


def _count_tokens(tokens: TokenTable, groups: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The tokens of each text by group, int64 [T, size]; -1 is none."""
    texts = np.repeat(np.arange(len(tokens)), tokens.lengths)
    places = (texts * size + groups)[groups >= 0]
    return np.bincount(places, minlength=len(tokens) * size).reshape(len(tokens), size)


def distribution_tables(rows: Sequence[Record]) -> list[Table]:
    """The tables of such rows."""
    titles = {
        HISTOGRAM: "Differences of segment scores",
        LENGTHS: "Scores by length",
        WORDS: "Words by frequency",
    }
    kinds = {name: [row for row in rows if type(row) is kind] for name, kind in ROWS.items()}
    return [table(name, titles[name], ROWS[name], own) for name, own in kinds.items() if own]


def distribution_views(rows: Sequence[Record], titles: Mapping[str, str]) -> Iterator[View]:
    """A histogram of each system, and heat maps by length and frequency.

    ``titles``: of metrics.
    """
    pairs = ((r.metric, r.system, r.baseline) for r in rows if isinstance(r, DifferenceBinRow))
    for metric, system, baseline in dict.fromkeys(pairs):
        title = f"{titles[metric]} of segments: gain of {system} over {baseline}"
        where = {"metric": metric, "system": system}
        yield Histogram(HISTOGRAM, title, "bin", "low", "high", "segments", where)
    for metric in dict.fromkeys(row.metric for row in rows if isinstance(row, LengthScoreRow)):
        yield HeatMap(
            LENGTHS,
            f"{titles[metric]} by length",
            rows="length",
            columns="system",
            value="score",
            beside="segments",
            where={"metric": metric},
            prominent=False,
        )
    if any(isinstance(row, WordFrequencyRow) for row in rows):
        yield HeatMap(
            WORDS,
            "F1 of words by their frequency in the references",
            rows="frequency",
            columns="system",
            value="f1",
            beside="words",
            prominent=False,
        )
