"""The omission test: how far a missing word lowers the score, by how hard the word was."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon import stats
from gnomon.core.batch import Batch
from gnomon.core.errors import UsageError
from gnomon.core.findings import Lines, Listing
from gnomon.core.options import CONFIDENCE, RESAMPLES, SEED
from gnomon.core.records import METRIC, Record, column
from gnomon.methods.difficulty.reference_words import (
    ReferenceWords,
    content_words,
    reference_words,
    split,
    without,
    word_classes,
)
from gnomon.methods.difficulty.sides import base_side, weighted_side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.cache import Cache
    from gnomon.core.findings import Table, View
    from gnomon.core.testset import TestSet
    from gnomon.linguistics import Annotator
    from gnomon.methods.difficulty.sides import Bound, Side

_DECILES = 10
_LEAST = 5  # words that a group needs at least
OMISSION_TITLE = "Omission test: what a missing word costs, by how hard it was"


class OmissionRow(Record):
    """How far a missing word of a group of about equally hard words lowers the score."""

    group: int = column("Group", help="a tenth of the words, easiest first; ties together")
    difficulty_low: float = column("Easiest word", digits=3, help="difficulty of its easiest word")
    difficulty_high: float = column("Hardest word", digits=3, help="difficulty of its hardest word")
    difficulty: float = column("Mean difficulty", digits=3, help="mean difficulty of its words")
    words: int = column("Words", help="deleted, one per segment")
    metric: str = METRIC
    drop: float | None = column("Drop", digits=4, help="of the segment score, mean", interval=True)
    share: float | None = column(
        "Drop, share", digits=3, help="of the mean score before", interval=True
    )


@dataclass(frozen=True)
class Omission:
    """What came out."""

    rows: tuple[OmissionRow, ...]  # one per group of words and metric
    notices: tuple[str, ...]  # how words were chosen, and what there is to know


class _Cut(NamedTuple):
    """A word to be deleted."""

    segment: int
    system: int
    text: str
    word: str
    difficulty: float


def omission_test(
    testset: TestSet,
    bound: Bound,
    *,
    tagger: str | Annotator | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    cache: Cache | None = None,
    known_words: ReferenceWords | None = None,
) -> Omission:
    """Delete one content word per segment, and see what base and weighted score drop by.

    In every segment the output of one system is drawn, and of it one content word that the
    reference has, too. Difficulties stay those of the whole outputs.
    """
    if "references" not in bound.needs:
        raise UsageError(
            f"the omission test deletes words that the reference has, too, and"
            f" {bound.metric.spec!r} compares with the source"
        )
    batch = testset.batch()
    words = reference_words(bound, batch) if known_words is None else known_words
    classes, tagger_name = word_classes(words, testset, tagger, cache) if tagger else (None, "")
    content, meaning = content_words(words, classes, tagger_name)
    cuts = list(_cuts(words, content, batch, np.random.default_rng(seed)))
    if len(cuts) < _LEAST:
        return Omission((), (f"omission test left out: {len(cuts)} segment(s) have a word for it",))
    small = _batch(cuts, batch)
    sides = [side(bound, small) for side in (base_side, weighted_side)]
    difficulty = np.array([cut.difficulty for cut in cuts])
    rows = [row for side in sides for row in _rows(side, difficulty, resamples, confidence, seed)]
    rho = ", ".join(
        f"{side.name} {stats.spearman(difficulty, side.sign * np.subtract(*side.segments)):.3f}"
        for side in sides
    )
    notice = (
        f"omission test: one word deleted in {len(cuts)} of {testset.segments} segments (seed"
        f" {seed}), of an output drawn for each; content words: {meaning}; Spearman's rho of"
        f" difficulty and drop: {rho}"
    )
    return Omission(tuple(rows), (notice,))


def _cuts(
    words: ReferenceWords, content: NDArray[np.bool_], batch: Batch, rng: np.random.Generator
) -> Iterator[_Cut]:
    """One word per segment, where an output has one."""
    by_segment = _by_segment(words, content)
    for index, segment in enumerate(batch.segments.tolist()):
        here = by_segment.get(segment, {})
        for system in rng.permutation(len(batch.systems)).tolist():
            text = batch.texts[int(batch.candidates[system, index])]
            spans = [(a, b) for a, b in split(text) if text[a:b] in here]
            if spans:
                start, end = spans[int(rng.integers(len(spans)))]
                word = text[start:end]
                yield _Cut(index, system, without(text, start, end), word, here[word])
                break


def _by_segment(words: ReferenceWords, content: NDArray[np.bool_]) -> dict[int, dict[str, float]]:
    """Segment -> content word -> mean difficulty of its occurrences in the references."""
    lists: dict[int, dict[str, list[float]]] = {}
    for word in np.flatnonzero(content).tolist():
        values_by_word = lists.setdefault(int(words.segment[word]), {})
        values_by_word.setdefault(str(words.words.text[word]), []).append(
            float(words.difficulty[word])
        )
    return {
        segment: {text: sum(values) / len(values) for text, values in values_by_word.items()}
        for segment, values_by_word in lists.items()
    }


def _batch(cuts: Sequence[_Cut], batch: Batch) -> Batch:
    """The outputs as they are, and without the words, as two systems over the segments cut."""
    whole = [batch.texts[int(batch.candidates[cut.system, cut.segment])] for cut in cuts]
    lists = [
        [batch.texts[int(text)] for text in batch.references_of(cut.system)[cut.segment]]
        for cut in cuts
    ]
    made = Batch.build(
        systems={"whole": whole, "cut": [cut.text for cut in cuts]},
        references=list(zip_longest(*lists)),
        language_pair=batch.language_pair,
    )
    numbers = np.array([int(batch.segments[cut.segment]) for cut in cuts], dtype=np.int32)
    return replace(made, segments=numbers)


def _rows(
    side: Side,
    difficulty: NDArray[np.float64],
    resamples: int,
    confidence: float,
    seed: int,
) -> Iterator[OmissionRow]:
    whole, cut = side.segments
    both = np.stack([whole, side.sign * (whole - cut)], axis=-1)
    for number, members in enumerate(_groups(difficulty), start=1):
        of_group = both[members]
        drop, drop_ends = _interval(of_group, _drop, resamples, confidence, seed)
        share, share_ends = _interval(of_group, _share, resamples, confidence, seed)
        yield OmissionRow(
            group=number,
            difficulty_low=float(difficulty[members].min()),
            difficulty_high=float(difficulty[members].max()),
            difficulty=float(difficulty[members].mean()),
            words=len(of_group),
            metric=side.name,
            drop=drop,
            share=share,
            intervals={"drop": drop_ends, "share": share_ends} if resamples else None,
        )


def _groups(difficulty: NDArray[np.float64]) -> Iterator[NDArray[np.int64]]:
    """Tenths of the words by difficulty, fewer groups where words are few; ties stay together."""
    count = min(_DECILES, max(1, len(difficulty) // _LEAST))
    shares = np.arange(1, count) / count
    edges = np.unique(np.quantile(difficulty, shares, method="higher"))
    group = np.searchsorted(edges, difficulty, side="right")
    return (np.flatnonzero(group == number) for number in np.unique(group))


def _drop(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(rows[:, 1].mean())


def _share(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    before = rows[:, 0].mean()
    return np.asarray(rows[:, 1].mean() / before if before else np.nan)


def _interval(
    rows: NDArray[np.float64],
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    resamples: int,
    confidence: float,
    seed: int,
) -> tuple[float, tuple[float | None, float | None]]:
    """A figure, and the ends of its interval where there are resamples."""
    if not resamples:
        return float(statistic(rows)), (None, None)
    estimate, low, high = stats.bootstrap_interval(
        rows, statistic, level=confidence, count=resamples, seed=seed
    )
    return estimate, (low, high)


def omission_views(tables: Sequence[Table]) -> Iterator[View]:
    """Curves, with bands where there are intervals, and the table; nothing without the table."""
    table = next((table for table in tables if table.name == "omission"), None)
    if table is None:
        return
    title = "Omission test: share of the score lost by how hard the missing word was"
    shown = [
        column.name
        for column in table.columns
        if column.name not in ("difficulty_low", "difficulty_high")
    ]
    low, high = ("share_low", "share_high") if "share_low" in shown else (None, None)
    yield Lines(
        table="omission", title=title, x="group", y="share", series="metric", low=low, high=high
    )
    shown.remove("metric")
    yield Listing("omission", title, ("metric", *shown))
