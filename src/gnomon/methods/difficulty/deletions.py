"""Which words of a reference any metric credits a candidate with: found by deleting them.

A metric that tells nothing but a score tells by it what it makes of a word, too: where the score
falls as the word is taken out of the reference, the candidate had been credited with it; where it
rises, the word had been missed. Where it stays (a recall of 1 stays 1) the metric does not tell,
and a word counts as had where the candidate holds it as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gnomon.core.batch import Batch
from gnomon.core.errors import UsageError
from gnomon.methods.difficulty.reference_words import split, without
from gnomon.metrics.aligning import aligned_matches, share_of
from gnomon.metrics.comparisons import pair_rows
from gnomon.metrics.means import aggregate_means, mean_statistics
from gnomon.metrics.protocol import Noticing, Partial
from gnomon.metrics.tokenise import Tokenised, Tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.core.signature import Signature
    from gnomon.metrics.aligning import Aligned
    from gnomon.metrics.matching import Matches
    from gnomon.metrics.protocol import BoundMetric, Input

__all__ = ["DeletedWords"]

#: changes of a score below this are none
_LEAST = 1e-9
_LOW = (1 << 32) - 1


class _Words:
    """Runs of letters and digits, and single signs."""

    name: ClassVar[str] = "words"
    local: ClassVar[bool] = False

    def __call__(self, text: str) -> Tokens:
        spans = list(split(text))
        return Tokens([text[a:b] for a, b in spans], [a for a, _ in spans], [b for _, b in spans])


@dataclass(frozen=True, eq=False)
class DeletedWords:
    """Any metric as the share of the reference's words that it credits a candidate with, 0 to 1."""

    base: BoundMetric
    max_calls: int  # most scores of texts that a batch may take

    higher_is_better: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.__dict__["_last"] = None
        self.__dict__["_words"] = Tokenised(_Words())

    @property
    def name(self) -> str:
        """Name of the metric, and that its words are deleted."""
        return f"{self.base.name}, deletions"

    @property
    def needs(self) -> frozenset[Input]:
        """What the metric needs."""
        return self.base.needs

    @property
    def signature(self) -> Signature:
        """The metric's own, and how its words are found."""
        return self.base.signature.adding(words="deleted")

    def notices(self, batch: Batch) -> tuple[str, ...]:
        """The metric's own."""
        return self.base.notices(batch) if isinstance(self.base, Noticing) else ()

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """The share of the words, float64 [K, N]; of several references the best."""
        matches = self.alignments(batch)
        shares = share_of(matches.reference, matches)[matches.pair]
        statistics = self.aligned_statistics(batch, matches, np.stack([shares, shares], axis=-1))
        compared = (pair_rows(batch).per_cell > 0).reshape(batch.shape)
        return np.where(compared, statistics[..., 0], np.nan)

    def system(self, batch: Batch) -> NDArray[np.float64]:
        """Means over segments, float64 [K]."""
        return aggregate_means(mean_statistics(self.segments(batch)).sum(axis=1))

    def alignments(self, batch: Batch) -> Matches:
        """1 for every word of a reference that a candidate is credited with."""
        last = self.__dict__["_last"]
        if last is None or last[0] is not batch:
            last = batch, self._credited(batch)
            self.__dict__["_last"] = last
        matches: Matches = last[1]
        return matches

    def aligned_statistics(
        self, batch: Batch, matches: Matches, shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Share and 1 of every segment, float64 [K, N, 2]; of the best reference."""
        best = np.full(matches.shape[0] * matches.shape[1], -np.inf)
        np.maximum.at(best, pair_rows(batch).cell, shares[:, 1])
        best[np.isneginf(best)] = np.nan
        return mean_statistics(best.reshape(matches.shape))

    def aligned_scores(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Means [...] from summed statistics [..., 2]."""
        return aggregate_means(statistics)

    def _credited(self, batch: Batch) -> Matches:
        if isinstance(self.base, Partial) and self.base.by_system:
            raise UsageError(
                f"{self.base.signature.spec!r} scores equal texts of two systems differently, so"
                " that no text alone says what deleting a word does"
            )
        rows = pair_rows(batch)
        keys, first = np.unique(rows.candidate << 32 | rows.reference, return_index=True)
        segments = rows.cell[first] % max(batch.shape[1], 1)
        table = self.__dict__["_words"].of(batch.texts)
        spans = [list(split(batch.texts[key & _LOW])) for key in keys.tolist()]
        calls = sum(map(len, spans)) + len(spans)
        if calls > self.max_calls:
            raise UsageError(
                f"deleting every word of the references takes {calls} scores of texts, more than"
                f" the {self.max_calls} that are allowed; take fewer segments or systems, weigh"
                " segments (units='segments'), or allow more (max_calls=)"
            )
        credit = self._credit(batch, keys, segments, spans)

        def align(candidate: int, reference: int) -> list[Aligned]:
            return [(-1, position, 1.0) for position in credit[candidate << 32 | reference]]

        return aligned_matches(batch, table, align)

    def _credit(
        self,
        batch: Batch,
        keys: NDArray[np.int64],
        segments: NDArray[np.int64],
        spans: list[list[tuple[int, int]]],
    ) -> dict[int, list[int]]:
        """Pair of texts -> the places of the words that the metric credits."""
        candidates, references, owner = [], [], []
        for number, (key, word_spans) in enumerate(zip(keys.tolist(), spans, strict=True)):
            text = batch.texts[key & _LOW]
            cuts = [text, *(without(text, start, end) for start, end in word_spans)]
            references += cuts
            candidates += [batch.texts[key >> 32]] * len(cuts)
            owner += [number] * len(cuts)
        places = segments[owner]
        sources = None
        if batch.sources is not None:
            sources = [batch.texts[int(batch.sources[segment])] for segment in places.tolist()]
        made = Batch.build(
            systems={"any": candidates},
            references=[references],
            sources=sources,
            language_pair=batch.language_pair,
        )
        made = replace(made, segments=batch.segments[places].astype(np.int32))
        sign = 1 if self.base.higher_is_better else -1
        scores = sign * self.base.segments(made)[0]
        credited, at = {}, 0
        for key, word_spans in zip(keys.tolist(), spans, strict=True):
            drops = scores[at] - scores[at + 1 : at + 1 + len(word_spans)]
            candidate, reference = batch.texts[key >> 32], batch.texts[key & _LOW]
            held = {candidate[start:end] for start, end in split(candidate)}
            in_candidate = np.array(
                [reference[start:end] in held for start, end in word_spans], dtype=np.bool_
            )
            credited[key] = np.flatnonzero(
                (drops > _LEAST) | (in_candidate & (drops >= -_LEAST))
            ).tolist()
            at += 1 + len(word_spans)
        return credited
