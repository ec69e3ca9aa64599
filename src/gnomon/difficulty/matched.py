"""Difficulty-aware scoring for metrics that match tokens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.core.scores import name_metric
from gnomon.difficulty.frozen import check_frozen, read_hardness
from gnomon.difficulty.gram_hardness import runs
from gnomon.difficulty.paper.published_code import (
    drop_special_tokens,
    normalised,
    running_means,
)
from gnomon.difficulty.pools import PooledMetric
from gnomon.difficulty.token_hardness import (
    Hardness,
    joined,
    measure,
    rows_of_system,
    similarity,
)
from gnomon.messages import message
from gnomon.metrics.base import OfOptions
from gnomon.metrics.comparisons import pair_rows
from gnomon.metrics.matching import harmonic_mean
from gnomon.metrics.sequences import ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.signature import Signature
    from gnomon.core.testset import TestSet
    from gnomon.difficulty.metric import Difficulty
    from gnomon.difficulty.pools import Pool
    from gnomon.difficulty.token_hardness import Places
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.matching import Matches, SideMatches

__all__ = [
    "BoundAlignedDifficulty",
    "BoundDifficulty",
    "TokenDifficulty",
    "bind_aligned",
    "bind_matched",
]


_PARTS = {"precision": 0, "recall": 1, "f": 2}
_RECALL, _F = 1, 2


# From difficulties to the weights of both sides (Zhan et al. 2021, eq. 5-6), and variants.


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the tokens of references, and the types that these have."""

    places: Places
    value: NDArray[np.float64]  # [places]; 0 for special ones
    #: [types of the references], weight of the same type elsewhere
    type_value: NDArray[np.float64]

    def weigh_types(
        self, group: NDArray[np.int64], type_: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """The weight of some types by the reference of their group; NaN where it lacks the type."""
        positions = self.places.types.find(group, type_)
        if not len(self.type_value):
            return np.full(len(positions), np.nan)
        return np.where(positions >= 0, self.type_value[positions], np.nan)


def weights_of(places: Places, difficulty: NDArray[np.float64], options: Difficulty) -> Weights:
    """Weights from difficulties, smoothed or normalised as the options say."""
    value = np.zeros(len(difficulty))
    plain = places.plain
    group = places.group[plain]
    smoothed = _smooth_values(difficulty[plain], group, len(places.segment), options.smooth)
    value[plain] = normalised(smoothed, group, len(places.segment), options)
    types = places.types
    means = running_means(types, value[plain]) if options.variant else types.means(value[plain])
    return Weights(places, value, means)


def _smooth_values(
    values: NDArray[np.float64], group: NDArray[np.int64], groups: int, smooth: float
) -> NDArray[np.float64]:
    if not smooth:
        return values
    sizes = np.bincount(group, minlength=groups)
    means = np.bincount(group, values, groups) / np.maximum(sizes, 1)
    pulled: NDArray[np.float64] = (1 - smooth) * values + smooth * means[group]
    return pulled


# Precision, recall and F: of segments with several references, and of corpora.


def f_of(
    precision: NDArray[np.float64], recall: NDArray[np.float64], beta: float
) -> NDArray[np.float64]:
    """F of weighted precision and recall, elementwise; 0 where one is above 0 and one below.

    Rescaled similarities may be negative, and where the signs differ the harmonic mean is no mean:
    of P = .034 and R = -.034 + 1e-5 it is -231. It tends to 0 as either part does, from both
    sides, so that 0 is the value that keeps F continuous, between -max(|P|, |R|) and
    max(|P|, |R|), and never falling where a part rises. Where the signs agree it is the published
    formula.
    """
    return np.where(precision * recall > 0, harmonic_mean(precision, recall, beta), 0.0)


def best_of(matches: Matches, parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Precision, recall and F of each cell's comparison with the best F, the first among equals.

    From float64 [comparisons, 3] to [K, N, 3]; NaN where nothing was compared.
    """
    systems, segments = matches.shape
    best = np.full((systems * segments, 3), np.nan)
    order = np.lexsort((-parts[:, 2], matches.cell))
    cells, first = np.unique(matches.cell[order], return_index=True)
    best[cells] = parts[order[first]]
    return best.reshape(systems, segments, 3)


def part_statistics(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Precision, recall and 1, zeros where undefined: float64 [K, N, 3]."""
    defined = ~np.isnan(parts[..., 0])
    both = np.where(defined[..., None], parts[..., :2], 0.0)
    return np.concatenate([both, defined[..., None].astype(np.float64)], axis=-1)


def corpus_parts(statistics: NDArray[np.float64], beta: float) -> NDArray[np.float64]:
    """Mean precision, mean recall and the F of these means [..., 3], from summed statistics."""
    count = statistics[..., 2:]
    means = np.full(statistics[..., :2].shape, np.nan)
    np.divide(statistics[..., :2], count, out=means, where=count > 0)
    f = np.where(np.isnan(means[..., 0]), np.nan, f_of(means[..., 0], means[..., 1], beta))
    return np.concatenate([means, f[..., None]], axis=-1)


def bind_matched(
    options: Difficulty, bound: BoundMetric, testset: TestSet, pool: Pool | None
) -> BoundDifficulty:
    """Freeze difficulties: from a file where there is no pool."""
    batch = testset.batch()
    plain = drop_special_tokens(options, testset) if options.ref_diff else None
    if pool is None:
        hardness = read_hardness(options.frozen or "")
        check_frozen(hardness, batch, bound)
        return BoundDifficulty(options, bound, hardness, None, plain)
    matches = next(iter(bound.matches(batch)))
    hardness = measure(matches, batch, pool.systems, pool.identity, keep=options.leave_one_out)
    return BoundDifficulty(options, bound, hardness, pool, plain)


def bind_aligned(
    options: Difficulty, bound: BoundMetric, testset: TestSet, pool: Pool | None
) -> BoundAlignedDifficulty:
    """Freeze difficulties: from a file where there is no pool."""
    check_options(options)
    batch = testset.batch()
    if pool is None:
        hardness = read_hardness(options.frozen or "")
        check_frozen(hardness, batch, bound)
        return BoundAlignedDifficulty(options, bound, hardness, None)
    parts = [
        measure(
            bound.alignments(run),
            run,
            pool.systems,
            pool.identity,
            keep=options.leave_one_out,
        )
        for run in runs(batch)
    ]
    return BoundAlignedDifficulty(options, bound, joined(parts), pool)


def check_options(options: Difficulty) -> None:
    """Refuse what is for metrics that match tokens by similarity."""
    if options.variant is not None:
        raise UsageError(
            "difficulty: the published code weighs tokens that are matched by similarity;"
            " variant='authors' is for bertscore"
        )
    if options.beta != 1:
        raise UsageError(f"difficulty: {options.metric.spec!r} has no F to give a beta to")


@dataclass(frozen=True, eq=False)
class TokenDifficulty(PooledMetric):
    """Common parts of metrics whose tokens have best matches.

    Attributes:
        metric: the options.
        base: the wrapped metric, bound.
        hardness: how hard each token of the references was.
        pool: the systems that said so; None where difficulties came from a file.
        plain: the wrapped metric with special tokens left out, where weights depend on matches.
    """

    metric: Difficulty
    base: BoundMetric
    hardness: Hardness
    pool: Pool | None
    plain: BoundMetric | None = None

    #: whether the metric's words are aligned one to one
    aligned: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.__dict__["_last"] = None

    def compare(self, batch: Batch) -> Matches:
        """The best matches that the wrapped metric finds."""
        return next(iter(self.base.matches(batch)))

    def _weights(self, system: str) -> Weights:
        cached: dict[str, Weights] = self.__dict__.setdefault("_known", {})
        name = system if self.metric.leave_one_out and system in self.hardness.own else ""
        if name not in cached:
            if name:
                cached.clear()  # one system's weights at a time: memory does not grow with systems
            value = self.hardness.leave_out(name)
            cached[name] = weights_of(self.hardness.places, value, self.metric)
        return cached[name]

    def _groups(self, batch: Batch, matches: Matches) -> _Groups:
        """Which frozen reference each comparison is judged by."""
        segments = batch.segments[matches.cell % max(matches.shape[1], 1)].astype(np.int64)
        texts = matches.texts[matches.pair, 1]
        keys, first, back = np.unique(
            segments << _BITS | texts, return_index=True, return_inverse=True
        )
        places = self.hardness.places
        near = dict(
            zip(places.segment[::-1].tolist(), range(len(places.segment))[::-1], strict=True)
        )
        exact, by = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
        for n, (segment, text) in enumerate(
            zip(segments[first].tolist(), texts[first].tolist(), strict=True)
        ):
            exact[n] = places.number.get((segment, batch.texts[text]), -1)
            by[n] = exact[n] if exact[n] >= 0 else near.get(segment, -1)
        if (by < 0).any():
            missing = int(segments[first][by < 0][0]) + 1
            raise DataError(
                f"{self.metric.spec}: there are no difficulties for segment {missing}; bind the"
                " metric to the test set that is scored"
            )
        return _Groups(exact[back.reshape(-1)], by[back.reshape(-1)])

    def _rows(
        self, matches: Matches, plain: Matches, rows: slice, groups: _Groups, weights: Weights
    ) -> NDArray[np.float64]:
        """Weighted precision and recall of some comparisons, float64 [rows, 2]."""
        pair = matches.pair[rows]
        exact, by = groups.own[rows], groups.by[rows]
        candidate, reference = _slots(matches.candidate, pair), _slots(matches.reference, pair)
        d_reference = _reference_weights(matches, reference, exact, by, weights)
        d_candidate = self._candidate_weights(plain, candidate, exact, by, weights)
        precision, empty = self._mean(matches, matches.candidate, candidate, d_candidate)
        recall, missing = self._mean(matches, matches.reference, reference, d_reference)
        means = np.stack([precision, recall], axis=-1)
        means[empty | missing] = 0.0
        return means

    def _candidate_weights(
        self,
        plain: Matches,
        slots: _Slots,
        exact: NDArray[np.int64],
        by: NDArray[np.int64],
        weights: Weights,
    ) -> NDArray[np.float64]:
        rows = plain.candidate.token[slots.slot]
        values = weights.weigh_types(by[slots.row], plain.tokens.type[rows])
        lacking = np.isnan(values)
        values[lacking] = 1.0
        if self.metric.ref_diff or self.aligned:
            values[lacking] = self._matched_weights(plain, slots, exact, weights)[lacking]
        special = plain.tokens.special[rows]
        values[special] = 0.0
        kept = np.flatnonzero(~special)
        values[kept] = normalised(values[kept], slots.row[kept], len(exact), self.metric)
        return values

    def _matched_weights(
        self, plain: Matches, slots: _Slots, exact: NDArray[np.int64], weights: Weights
    ) -> NDArray[np.float64]:
        """The weight of each token's best match in the reference; 1 where there is none."""
        best, at = plain.candidate.best, plain.candidate.at[slots.slot]
        matched = (at >= 0) & (exact[slots.row] >= 0)
        text = plain.texts[slots.pair, 1]
        places = weights.places
        positions = places.offsets[exact[slots.row]] + at - plain.tokens.offsets[text]
        values = np.ones(len(best[slots.slot]))
        values[matched] = weights.value[positions[matched]]
        return values

    def _mean(
        self, matches: Matches, side: SideMatches, slots: _Slots, difficulty: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Mean of difficulty times similarity of each comparison, and whether it has no tokens."""
        weight = matches.tokens.weight[side.token[slots.slot]]
        best = similarity(matches, side.best[slots.slot])
        total = np.bincount(slots.row, weight * difficulty * best, slots.rows)
        tokens = np.bincount(slots.row, weight, slots.rows)
        by = np.bincount(slots.row, weight * difficulty, slots.rows)
        if not self.aligned:
            divisor = by if self.metric.range_one else tokens
            means = np.divide(total, divisor, out=np.zeros(slots.rows), where=divisor > 0)
            return means, tokens <= 0
        # where all words weigh nothing, nothing was hard and the plain share stands
        plain = np.bincount(slots.row, weight * best, slots.rows)
        means = np.divide(plain, tokens, out=np.zeros(slots.rows), where=tokens > 0)
        return np.divide(total, by, out=means, where=by > 0), tokens <= 0


class OfParts(OfOptions, ABC):
    """Scores of segments and of corpora from precision and recall of each output."""

    metric: Difficulty

    @abstractmethod
    def score_parts(self, batch: Batch) -> NDArray[np.float64]:
        """Precision, recall and F, float64 [K, N, 3]; NaN without a text to compare with."""

    @property
    def _part(self) -> int:
        return _PARTS[getattr(self.metric.metric, "score", "f")]

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN without a text to compare with."""
        return self.score_parts(batch)[..., self._part]

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """Precision, recall and 1, or zeros where undefined: float64 [K, N, 3]."""
        return part_statistics(self.score_parts(batch))

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Corpus scores [...] from summed statistics [..., 3]."""
        return corpus_parts(statistics, self.metric.beta)[..., self._part]


@dataclass(frozen=True, eq=False)
class UnweightedMatches(OfParts):
    """A matching metric without weights, aggregated as the weighted one is.

    Attributes:
        metric: the options.
        base: the wrapped metric, bound.
    """

    metric: Difficulty
    base: BoundMetric

    @property
    def signature(self) -> Signature:
        """Spec, and fields of the wrapped metric."""
        return replace(self.base.signature, spec=self.metric.spec)

    def score_parts(self, batch: Batch) -> NDArray[np.float64]:
        """Precision, recall and F, float64 [K, N, 3]; NaN without a text to compare with."""
        matches = next(iter(self.base.matches(batch)))
        of_pairs = matches.compute_parts()
        parts = (of_pairs.precision[matches.pair], of_pairs.recall[matches.pair])
        precision, recall = (similarity(matches, values) for values in parts)
        f = f_of(precision, recall, self.metric.beta)
        return best_of(matches, np.stack([precision, recall, f], axis=-1))


@dataclass(frozen=True, eq=False)
class BoundDifficulty(TokenDifficulty, OfParts):
    """A matching metric with frozen difficulties, ready to score."""

    def score_parts(self, batch: Batch) -> NDArray[np.float64]:
        """DA-P, DA-R and DA-F, float64 [K, N, 3]; NaN without a text to compare with."""
        last = self.__dict__["_last"]
        if last is None or last[0] is not batch:
            matches = self.compare(batch)
            last = batch, self._weigh_parts(batch, matches)
            self.__dict__["_last"] = last
        parts: NDArray[np.float64] = last[1]
        return parts

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """Those of all difficulties, and what precision and F rest on."""
        notices = list(super().notices(batch))
        if self._part == _RECALL:
            return tuple(notices)
        if getattr(getattr(self.base, "metric", None), "rescale", None) is False:
            notices.append(message("note.difficulty.not_rescaled"))
        if self._part == _F:
            notices += self._sign_notices(batch)
        return tuple(name_metric(self.metric.spec, notice) for notice in notices)

    def _sign_notices(self, batch: Batch) -> Iterator[Message]:
        """Notices of precision and recall of different signs, in segments and on average."""
        parts = self.score_parts(batch)[..., :2]
        segments = int((parts.prod(axis=-1) < 0).sum())
        if segments:
            compared = int((~np.isnan(parts[..., 0])).sum())
            yield message("note.difficulty.signs", segments=segments, compared=compared)
        totals = self.statistics(batch).sum(axis=1)
        means = corpus_parts(totals, self.metric.beta)[:, :2]
        systems = [batch.systems[k] for k in np.flatnonzero(means.prod(axis=-1) < 0)]
        if systems:
            yield message("note.difficulty.mean_signs", systems=systems)

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        """Sentence scores of every variant, float64 [V, K, N].

        Words keep the weights that they have in the unmasked texts; only the matches are edited.
        """
        scores = np.empty((plan.variants, *batch.shape))
        for variant, matches in enumerate(self.base.matches(batch, plan)):
            scores[variant] = self._weigh_parts(batch, matches)[..., self._part]
        return scores

    def _weigh_parts(self, batch: Batch, matches: Matches) -> NDArray[np.float64]:
        """Parts of every cell."""
        groups = self._groups(batch, matches)
        # weights that depend on matches take those of the plain tokens of the unmasked texts
        plain = matches if self.plain is None else next(iter(self.plain.matches(batch)))
        means = np.zeros((len(matches.cell), 2))
        for system, name in enumerate(batch.systems):
            rows = rows_of_system(matches, system)
            means[rows] = self._rows(matches, plain, rows, groups, self._weights(name))
        f = f_of(means[:, 0], means[:, 1], self.metric.beta)
        return best_of(matches, np.column_stack([means, f]))


@dataclass(frozen=True, eq=False)
class BoundAlignedDifficulty(TokenDifficulty):
    """A metric that aligns words, with frozen difficulties: its own formula of weighted shares."""

    #: a synonym weighs as the word that it is aligned with, and shares are divided by weights
    aligned: ClassVar[bool] = True

    def compare(self, batch: Batch) -> Matches:
        """The alignments that the wrapped metric finds."""
        return self.base.alignments(batch)

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN without a reference."""
        compared = (pair_rows(batch).per_cell > 0).reshape(batch.shape)
        return np.where(compared, self.aggregate(self.statistics(batch)), np.nan)

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """Statistics of the wrapped metric for weighted shares, float64 [K, N, S]."""
        last = self.__dict__["_last"]
        if last is None or last[0] is not batch:
            parts = [self._statistics(run) for run in runs(batch)]
            last = batch, np.concatenate(parts, axis=1)
            self.__dict__["_last"] = last
        statistics: NDArray[np.float64] = last[1]
        return statistics

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Corpus scores [...] from summed statistics [..., S]."""
        return self.base.aligned_scores(statistics)

    def _statistics(self, batch: Batch) -> NDArray[np.float64]:
        matches = self.compare(batch)
        groups = self._groups(batch, matches)
        shares = np.zeros((len(matches.cell), 2))
        for system, name in enumerate(batch.systems):
            rows = rows_of_system(matches, system)
            shares[rows] = self._rows(matches, matches, rows, groups, self._weights(name))
        return self.base.aligned_statistics(batch, matches, shares)


class _Groups(NamedTuple):
    """The references that comparisons are judged by, int64 [comparisons] each."""

    own: NDArray[np.int64]
    by: NDArray[np.int64]


class _Slots(NamedTuple):
    """The tokens of one side of some comparisons, one after the other."""

    slot: NDArray[np.int64]
    row: NDArray[np.int64]
    pair: NDArray[np.int64]
    rows: int


_BITS = 32


def _slots(side: SideMatches, pair: NDArray[np.int64]) -> _Slots:
    sizes = np.diff(side.offsets)[pair]
    row = np.repeat(np.arange(len(pair)), sizes)
    return _Slots(ranges(side.offsets[pair], sizes), row, pair[row], len(pair))


def _reference_weights(
    matches: Matches,
    slots: _Slots,
    exact: NDArray[np.int64],
    by: NDArray[np.int64],
    weights: Weights,
) -> NDArray[np.float64]:
    """Weights of the tokens of references; those of unknown texts as their types elsewhere."""
    rows = matches.reference.token[slots.slot]
    text = matches.texts[slots.pair, 1]
    references = exact[slots.row]
    has_hardness = references >= 0
    positions = weights.places.offsets[references] + rows - matches.tokens.offsets[text]
    values = np.zeros(len(rows))
    values[has_hardness] = weights.value[positions[has_hardness]]
    if not has_hardness.all():
        types = matches.tokens.type[rows[~has_hardness]]
        elsewhere = weights.weigh_types(by[slots.row[~has_hardness]], types)
        plain = ~matches.tokens.special[rows[~has_hardness]]
        values[~has_hardness] = np.where(np.isnan(elsewhere), 1.0, elsewhere) * plain
    return values
