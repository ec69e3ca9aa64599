"""Random shares of the vocabulary as features, and MuLER of them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.spans import SpanTable
from gnomon.metrics.tokenise import fitting_tokeniser, load_tokeniser, tokenise
from gnomon.muler.figures import ratios

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.metrics.base import BoundMetric
    from gnomon.metrics.masking import MaskPlan

__all__ = ["PlacedWords", "RandomSplits", "Synthetic", "random_groups", "synthetic", "words_of"]


# The words of references and outputs, and random shares of their vocabulary as features.


@dataclass(frozen=True, eq=False)
class PlacedWords:
    """Words of the texts of a batch, with their place and type.

    A word is a token of BLEU's tokeniser for the language; a type is its case-folded form, so that
    a word at the beginning of a sentence is the word that it is elsewhere.
    """

    texts: int
    types: tuple[str, ...]
    text: NDArray[np.int32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    type: NDArray[np.int32]
    in_references: NDArray[np.int64]
    in_outputs: NDArray[np.int64]
    drawable: NDArray[np.int64]

    def select_system(self, batch: Batch, system: int) -> PlacedWords:
        """The words of the references and the output of one system, and only their types."""
        references = batch.references_of(system).indices
        in_references = np.bincount(references, minlength=self.texts)
        in_outputs = np.bincount(batch.candidates[system], minlength=self.texts)
        rows = np.flatnonzero((in_references + in_outputs)[self.text])
        kept, numbers = np.unique(self.type[rows], return_inverse=True)
        return replace(
            self,
            types=tuple(self.types[i] for i in kept),
            text=self.text[rows],
            start=self.start[rows],
            end=self.end[rows],
            type=numbers.reshape(-1).astype(np.int32),
            in_references=in_references,
            in_outputs=in_outputs,
            drawable=np.flatnonzero(np.isin(kept, self.drawable)),
        )

    def shares(self, members: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Share of the references' and of the output's words that some types make up."""
        sides = []
        for occurrences in (self.in_references, self.in_outputs):
            counts = np.bincount(self.type, occurrences[self.text], len(self.types))
            with np.errstate(invalid="ignore"):
                sides.append(members @ counts / counts.sum())
        return sides[0], sides[1]

    @property
    def drawable_share(self) -> float:
        """Share of the references' words whose types may be drawn."""
        members = np.zeros((1, len(self.types)), dtype=np.bool_)
        members[0, self.drawable] = True
        return float(self.shares(members)[0][0])

    def covered(self, spans: SpanTable, feature: int) -> float | None:
        """Share of the references' words that meet a span of a feature."""
        weights = self.in_references[self.text]
        total = int(weights.sum())
        return int(weights[self._met(spans, feature)].sum()) / total if total else None

    def restrict_to(self, spans: SpanTable) -> PlacedWords:
        """The same words; types that meet a span more often than not may be drawn."""
        met = np.zeros(len(self.text), dtype=np.bool_)
        for feature in range(len(spans.features)):
            met |= self._met(spans, feature)
        inside, every = (
            np.bincount(types, minlength=len(self.types)) for types in (self.type[met], self.type)
        )
        return replace(self, drawable=np.flatnonzero(2 * inside > every))

    def _met(self, spans: SpanTable, feature: int) -> NDArray[np.bool_]:
        """Which words share a character with a span of a feature, bool [R]."""
        rows = np.flatnonzero(spans.feature == feature)
        stride = np.int64(2 + max(self.end.max(initial=0), spans.end.max(initial=0)))
        ends = spans.text[rows] * stride + spans.end[rows]
        starts = np.append(spans.text[rows] * stride + spans.start[rows], np.iinfo(np.int64).max)
        # the first span that ends behind the beginning of the word
        near = np.searchsorted(ends, self.text * stride + self.start, side="right")
        met: NDArray[np.bool_] = starts[near] < self.text * stride + self.end
        return met

    def spans(self, members: NDArray[np.bool_]) -> SpanTable:
        """The words of some types as features: one per row of ``members``, bool [D, types]."""
        number, row = np.nonzero(members[:, self.type])
        order = np.argsort(self.text[row], kind="stable")  # by text, then feature
        row, number = row[order], number[order]
        return SpanTable(
            tuple(f"words:{n}" for n in range(len(members))),
            self.texts,
            self.text[row],
            number.astype(np.int32),
            self.start[row],
            self.end[row],
        )


def words_of(batch: Batch) -> PlacedWords:
    """The words of all texts of a batch; words that cannot be found in their text are left out."""
    table = tokenise(batch.texts, load_tokeniser(fitting_tokeniser(batch).name))
    folded = [word.casefold() for word in table.vocabulary]
    types = tuple(sorted(set(folded)))
    number = {word: i for i, word in enumerate(types)}
    type_of = np.array([number[word] for word in folded], dtype=np.int32)
    rows = np.flatnonzero(table.end > table.start)
    none = np.zeros(len(batch.texts), dtype=np.int64)
    return PlacedWords(
        len(batch.texts),
        types,
        table.text_of[rows].astype(np.int32),
        table.start[rows],
        table.end[rows],
        type_of[table.ids[rows]],
        none,
        none,
        np.arange(len(types)),
    )


def random_groups(
    types: int, groups: int, *, first: int, last: int, seed: int
) -> NDArray[np.bool_]:
    """One group of each of some random splits of a vocabulary into equal groups.

    Groups differ by one type at most. A draw depends on the seed, the number of groups and its own
    number alone, so that it does not matter how many are made at a time.
    """
    members = np.zeros((last - first, types), dtype=np.bool_)
    for number in range(first, last):
        generator = np.random.default_rng((seed, groups, number))
        size = (types + int(generator.integers(groups))) // groups
        members[number - first, generator.permutation(types)[:size]] = True
    return members


# MuLER of many random features of one system, batch by batch.


_SPANS = 500_000  # of all features of a batch together: bounds memory to some 100 MB
_CELLS = 4_000_000  # float64 scores of a batch


@dataclass(frozen=True, eq=False)
class Synthetic:
    """D random features of one system under one metric, float64 [D] each; NaN where undefined."""

    reference: NDArray[np.float64]
    output: NDArray[np.float64]
    muler: NDArray[np.float64]


class RandomSplits(NamedTuple):
    """Number of random divisions of a vocabulary, and of groups in each."""

    groups: int
    draws: int
    seed: int


def synthetic(
    metric: BoundMetric,
    batch: Batch,
    words: PlacedWords,
    plan_of: Callable[[SpanTable], MaskPlan],
    splits: RandomSplits,
    progress: Callable[[int], None],
) -> Synthetic:
    """Score random features of one system: each a group of a split of the vocabulary."""
    base = metric.segments(batch)[0]
    parts = []
    for first, last in _batches(words, splits):
        members = np.zeros((last - first, len(words.types)), dtype=np.bool_)
        members[:, words.drawable] = random_groups(
            len(words.drawable), splits.groups, first=first, last=last, seed=splits.seed
        )
        plan = plan_of(words.spans(members))
        plan = plan.fill_lengths(metric.mask_lengths(batch, plan))
        scores = metric.masked(batch, plan)[:, 0]
        sign = 1.0 if metric.higher_is_better else -1.0
        inside = _inside(batch, plan.spans)
        muler = _muler(sign * base, sign * scores[0::2], sign * scores[1::2], inside)
        parts.append(Synthetic(*words.shares(members), muler))
        progress(last)
    names = [field.name for field in fields(Synthetic)]
    return Synthetic(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))


def _batches(words: PlacedWords, splits: RandomSplits) -> Iterator[tuple[int, int]]:
    each = max(1, len(words.text) // splits.groups)
    most = max(1, min(_SPANS // each, _CELLS // (2 * words.texts + 1)))
    for first in range(0, splits.draws, most):
        yield first, min(first + most, splits.draws)


def _inside(batch: Batch, spans: SpanTable) -> NDArray[np.bool_]:
    """The set I of every feature for the one system of a batch, bool [D, N]."""
    has = np.zeros((len(spans.features), spans.texts), dtype=np.bool_)
    has[spans.feature, spans.text] = True
    references = batch.references_of(0)
    width = np.diff(references.offsets)
    segment = np.repeat(np.arange(len(width)), width)
    inside = np.zeros((len(has), len(width)), dtype=np.bool_)
    number, position = np.nonzero(has[:, references.indices])
    inside[number, segment[position]] = True
    both: NDArray[np.bool_] = inside & has[:, batch.candidates[0]]
    return both


def _muler(
    base: NDArray[np.float64],
    oracle: NDArray[np.float64],
    anti_oracle: NDArray[np.float64],
    inside: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """MuLER, float64 [D]; scores oriented, [N] and twice [D, N]."""
    bottom, top = _means(anti_oracle, inside), _means(oracle, inside)
    reached = _means(np.broadcast_to(base, oracle.shape), inside)
    return ratios(reached, top, bottom)


def _means(scores: NDArray[np.float64], inside: NDArray[np.bool_]) -> NDArray[np.float64]:
    chosen = inside & ~np.isnan(scores)
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = np.where(chosen, scores, 0.0).sum(axis=1) / chosen.sum(axis=1)
    return means
