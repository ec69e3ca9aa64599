"""Difficulty-aware scoring for metrics that count n-grams."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.difficulty.frozen import check_frozen_grams, read_grams
from gnomon.difficulty.gram_hardness import (
    GramHardness,
    GramRows,
    GramTable,
    count,
    gram_rows,
    grams,
    measure_grams,
    runs,
    translate_ids,
)
from gnomon.difficulty.matched import check_options
from gnomon.difficulty.pools import PooledMetric
from gnomon.metrics.means import aggregate_means, mean_statistics
from gnomon.metrics.ngrams import NgramCounts
from gnomon.metrics.sequences import TokenMasks, offsets_of, ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.difficulty.gram_hardness import Weigh
    from gnomon.difficulty.metric import Difficulty
    from gnomon.difficulty.pools import Pool
    from gnomon.metrics.base import BoundMetric
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["BoundNgramDifficulty", "bind_ngrams"]


# Weights of n-grams: their difficulty, 1 where the references of the segment lack them.


@dataclass(frozen=True, eq=False)
class GramWeights:
    """Weights of the n-grams of the references, order by order."""

    hardness: GramHardness  # which n-grams there are
    value: tuple[NDArray[np.float64], ...]  # per order, float64

    def row_weights(self, order: int, ranks: NDArray[np.int64]) -> Weigh:
        """A function from segments and rows of n-grams to weights; rank -1 is an unknown n-gram."""

        def weigh(segments: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
            positions = self.hardness.find(order, segments, ranks[rows])
            weights = np.ones(len(positions))
            weights[positions >= 0] = self.value[order - 1][positions[positions >= 0]]
            return weights

        return weigh


def gram_weights(
    hardness: GramHardness, missed: tuple[NDArray[np.float64], ...], options: Difficulty
) -> GramWeights:
    """Weights from difficulties, pulled to the mean of their segment as ``smooth`` says."""
    if not options.smooth:
        return GramWeights(hardness, missed)
    smoothed = []
    for order, (keys, values) in enumerate(zip(hardness.keys, missed, strict=True)):
        owner = keys // max(len(hardness.known.keys[order]), 1)
        _, owner = np.unique(owner, return_inverse=True)
        owner = owner.reshape(-1)
        counts = np.bincount(owner)
        means = np.bincount(owner, values) / np.maximum(counts, 1)
        smoothed.append((1 - options.smooth) * values + options.smooth * means[owner])
    return GramWeights(hardness, tuple(smoothed))


def bind_ngrams(
    options: Difficulty, bound: BoundMetric, testset: TestSet, pool: Pool | None
) -> BoundNgramDifficulty:
    """Freeze difficulties: from a file where there is no pool."""
    check_options(options)
    batch = testset.batch()
    if pool is None:
        hardness = read_grams(options.frozen or "")
        check_frozen_grams(hardness, batch, bound)
        return BoundNgramDifficulty(options, bound, hardness, None)
    hardness = measure_grams(
        batch,
        bound.ngram_tokens,
        pool.systems,
        pool.identity,
        most=max(bound.ngram_orders),
        keep=options.leave_one_out,
    )
    return BoundNgramDifficulty(options, bound, hardness, pool)


@dataclass(frozen=True, eq=False)
class BoundNgramDifficulty(PooledMetric):
    """A metric on n-grams with frozen difficulties, ready to score.

    Attributes:
        metric: the options.
        base: the wrapped metric, bound.
        hardness: how hard each n-gram of the references was.
        pool: the systems that said so; None where difficulties came from a file.
    """

    metric: Difficulty
    base: BoundMetric
    hardness: GramHardness
    pool: Pool | None

    def __post_init__(self) -> None:
        self.__dict__["_last"] = None

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN for segments without a reference."""
        return self._scored(batch)[0]

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """Counts and weighted counts where corpus scores come from sums, else score and 1.

        float64 [K, N, 2 + 4 n]: lengths; then matches, n-grams, weight of the matches, weight of
        the n-grams; where the best reference counts, the same of its n-grams, too. Or float64
        [K, N, 2].
        """
        return self._scored(batch)[1]

    def _scored(self, batch: Batch) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sentence scores and statistics; those of the batch seen last are remembered."""
        last = self.__dict__["_last"]
        if last is None or last[0] is not batch:
            scored = [self._scored_run(run) for run in runs(batch)]
            last = (
                batch,
                tuple(np.concatenate(arrays, axis=1) for arrays in zip(*scored, strict=True)),
            )
            self.__dict__["_last"] = last
        scores: tuple[NDArray[np.float64], NDArray[np.float64]] = last[1]
        return scores

    def _scored_run(self, batch: Batch) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        plain = self._tokens(batch).ids
        rows, counted = self._count(batch, (plain, plain))
        scores = self._scores(counted)
        segments = self._best(batch, rows, scores)
        if not self.base.ngram_sums:
            return segments, mean_statistics(segments)
        sides = (counted.candidate,) if self.base.ngram_union else counted[1:]
        columns = [counted.lengths, *(side.reshape(len(rows), -1) for side in sides)]
        # of several references the one with the best score, the first among equals
        order = np.lexsort((-scores, rows.cell))
        cells, first = np.unique(rows.cell[order], return_index=True)
        bounds = np.cumsum([0, *(column.shape[1] for column in columns)]).tolist()
        best = np.zeros((batch.shape[0] * batch.shape[1], bounds[-1]))
        for column, low, high in zip(columns, bounds, bounds[1:], strict=False):
            best[cells, low:high] = column[order[first]]
        return segments, best.reshape(*batch.shape, -1)

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Corpus scores [...] from summed statistics."""
        if not self.base.ngram_sums:
            return aggregate_means(statistics)
        counts = statistics[..., 2:].reshape(*statistics.shape[:-1], -1, self._orders, 4)
        sides = counts[..., 0, :, :], counts[..., -1, :, :]
        return self._scores(_Counted(statistics[..., :2], *sides), corpus=True)

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        """Sentence scores of every variant, float64 [V, K, N].

        N-grams keep the weights that they have in the unmasked texts; only the matches change.

        Raises:
            UsageError: one mask stands for a whole span, which leaves no n-grams to keep weights.
        """
        if plan.granularity == "span":
            raise UsageError(
                f"{self.metric.spec}: masks are one per token here, so that n-grams keep their"
                " weights; leave out granularity='span'"
            )
        masks = TokenMasks.locate(self._tokens(batch), plan)
        scores = np.empty((plan.variants, *batch.shape))
        for variant in range(plan.variants):
            sides = [masks.sequences(variant, side).ids for side in ("candidate", "reference")]
            rows, counted = self._count(batch, (sides[0], sides[1]))
            scores[variant] = self._best(batch, rows, self._scores(counted))
        return scores

    @property
    def _orders(self) -> int:
        return len(self.base.ngram_orders)

    def _tokens(self, batch: Batch) -> TokenTable:
        return self.base.ngram_tokens(batch.texts)

    def _count(
        self, batch: Batch, ids: tuple[NDArray[np.int32], NDArray[np.int32]]
    ) -> tuple[GramRows, _Counted]:
        """Counts of all comparisons; ids of the tokens of all texts as candidate and reference."""
        tokens = self._tokens(batch)
        rows = gram_rows(batch, union=self.base.ngram_union)
        self._check_segments(rows)
        # the texts of these systems alone
        texts, number = np.unique(
            np.concatenate([rows.candidate, rows.references]), return_inverse=True
        )
        at = ranges(tokens.offsets[texts], tokens.lengths[texts])
        offsets, candidate = offsets_of(tokens.lengths[texts]), ids[0][at]
        reference = candidate if ids[0] is ids[1] else ids[1][at]
        tables = _two_sides(offsets, candidate, reference, max(self.base.ngram_orders))
        named = translate_ids(self.hardness.known, tokens.vocabulary, tokens.ids[at])
        ranks = list(self.hardness.known.ranks(offsets, named))
        counts = np.zeros((2, len(rows), self._orders, 4))
        candidates, theirs = np.split(number.reshape(-1), [len(rows)])
        local = replace(rows, candidate=candidates, references=theirs)
        segments = max(batch.shape[1], 1)
        for system, name in enumerate(batch.systems):
            ends = np.array([system, system + 1]) * segments
            of_system = slice(*np.searchsorted(rows.cell, ends).tolist())
            system_rows, weights = local.part(of_system), self._weights(name)
            for n, order in enumerate(self.base.ngram_orders):
                weigh = weights.row_weights(order, ranks[order - 1])
                counts[:, of_system, n] = count(
                    system_rows, tables[0][order - 1], tables[1][order - 1], weigh
                )
        return rows, _Counted(_lengths(rows, tokens), counts[0], counts[1])

    def _weights(self, system: str) -> GramWeights:
        cached: dict[str, GramWeights] = self.__dict__.setdefault("_known", {})
        name = system if system in self.hardness.own else ""
        if name not in cached:
            if name:
                cached.clear()  # one system's weights at a time: memory does not grow with systems
            cached[name] = gram_weights(self.hardness, self.hardness.leave_out(name), self.metric)
        return cached[name]

    def _scores(self, counted: _Counted, *, corpus: bool = False) -> NDArray[np.float64]:
        """Scores [...] of counts whose matches are shares of the weight."""
        counts = NgramCounts(
            lengths=counted.lengths,
            matches=_effective(counted.candidate),
            candidate=counted.candidate[..., 1],
            recalled=_effective(counted.reference),
            reference=counted.reference[..., 1],
        )
        return self.base.ngram_scores(counts, corpus=corpus)

    def _best(
        self, batch: Batch, rows: GramRows, scores: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        best = np.full(batch.shape[0] * batch.shape[1], -np.inf)
        np.maximum.at(best, rows.cell, scores)
        best[np.isneginf(best)] = np.nan
        return best.reshape(batch.shape)

    def _check_segments(self, rows: GramRows) -> None:
        measured = self.__dict__.get("_segments")
        if measured is None:
            measured = np.unique([segment for segment, _ in self.hardness.references])
            self.__dict__["_segments"] = measured
        missing = rows.segment[~np.isin(rows.segment, measured)]
        if len(missing):
            raise DataError(
                f"{self.metric.spec}: there are no difficulties for segment {int(missing[0]) + 1};"
                " bind the metric to the test set that is scored"
            )


class _Counted(NamedTuple):
    """Counts of comparisons."""

    lengths: NDArray[np.float64]
    candidate: NDArray[np.float64]
    reference: NDArray[np.float64]


def _effective(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Matches that make the plain ratio equal to the weighted one.

    Smoothing looks at matches and n-grams, so that both stay on the scale of counts. Where all
    weights are 0, nothing was hard and the plain counts stand.
    """
    matches, total, weighted, weight = np.moveaxis(counts, -1, 0)
    share = np.divide(weighted, weight, out=np.zeros_like(weight), where=weight > 0)
    effective: NDArray[np.float64] = np.where(weight > 0, share * total, matches)
    return effective


def _two_sides(
    offsets: NDArray[np.int64],
    candidate: NDArray[np.int32],
    reference: NDArray[np.int32],
    most: int,
) -> tuple[list[GramTable], list[GramTable]]:
    """N-grams of all texts as candidates and as references, with the same keys."""
    if candidate is reference:
        tables = grams(offsets, candidate, most)
        return tables, tables
    texts = len(offsets) - 1
    both = grams(
        np.concatenate([offsets, offsets[1:] + offsets[-1]]),
        np.concatenate([candidate, reference]),
        most,
    )
    halves: tuple[list[GramTable], list[GramTable]] = [], []
    for table in both:
        middle = int(table.offsets[texts])
        for half, rows, bounds in (
            (0, slice(0, middle), table.offsets[: texts + 1]),
            (1, slice(middle, None), table.offsets[texts:] - middle),
        ):
            halves[half].append(GramTable(bounds, table.key[rows]))
    return halves


def _lengths(rows: GramRows, tokens: TokenTable) -> NDArray[np.float64]:
    """Tokens of each candidate and of its reference nearest in length (the shorter of equals)."""
    lengths = tokens.lengths[rows.candidate]
    theirs = tokens.lengths[rows.references]
    number = np.diff(rows.offsets)
    stride = 1 + int(theirs.max(initial=0))
    distance = np.abs(np.repeat(lengths, number) - theirs) * stride + theirs
    nearest = np.minimum.reduceat(distance, rows.offsets[:-1]) % stride if len(rows) else lengths
    return np.stack([lengths, nearest], axis=-1).astype(np.float64)
