"""METEOR 1.5 without its paraphrase table.

Denkowski and Lavie (2014), "Meteor Universal: Language Specific Translation Evaluation for Any
Target Language".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gnomon.metrics._meteor_beam import Match, best_alignment
from gnomon.metrics._meteor_words import lowered_words
from gnomon.metrics._of_options import OfOptions
from gnomon.metrics._pairs import pair_rows
from gnomon.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics._meteor_alignment import Stemmer
    from gnomon.metrics._meteor_parameters import Parameters
    from gnomon.metrics._meteor_words import FunctionWords
    from gnomon.metrics._pairs import PairRows
    from gnomon.metrics._wordnet import WordNet
    from gnomon.metrics.meteor import Meteor
    from gnomon.metrics.tokenise import Tokenised

__all__ = ["BoundMeteor15"]

#: what covering two words counts in choosing an alignment (not in the score), as in METEOR
_COVER = {"exact": 1.0, "stem": 0.5, "synonym": 0.5}
_LOW = (1 << 32) - 1


@dataclass(frozen=True, eq=False)
class BoundMeteor15(OfOptions):
    """METEOR 1.5, ready to score; remembers the pairs that it has seen in the last batch.

    Attributes:
        metric: the options.
        tokens: splits texts into words.
        stemmer: reduces words to stems, if there is one for the language.
        stemmed_by: its name, for signatures.
        wordnet: synonyms, for English.
        parameters: weights for the language.
        function_words: words that count less.
    """

    metric: Meteor
    tokens: Tokenised
    stemmer: Stemmer | None
    stemmed_by: str
    wordnet: WordNet | None
    parameters: Parameters
    function_words: FunctionWords

    @property
    def signature(self) -> Signature:
        """Spec, parameters, tokeniser, stages, and function words."""
        return Signature(self.metric.spec).adding(
            variant="1.5",
            params=self.parameters.origin,
            tok=self.tokens.tokeniser.name,
            stem=self.stemmed_by,
            wordnet="none" if self.wordnet is None else self.wordnet.identity,
            paraphrases="none",
            function=self.function_words.identity,
        )

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN for segments without a reference."""
        rows, sums = self._sums(batch)
        best = np.full(rows.shape[0] * rows.shape[1], -np.inf)
        np.maximum.at(best, rows.cell, self.aggregate(sums))
        best[np.isneginf(best)] = np.nan
        return best.reshape(rows.shape)

    def system(self, batch: Batch) -> NDArray[np.float64]:
        """Scores of all segments taken as one, float64 [K]; NaN where there is no reference."""
        return self.aggregate(self.statistics(batch).sum(axis=1))

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """Sums for the best reference of each segment, float64 [K, N, 7].

        Matched and total weight of the candidate, the same of the reference, chunks (0 where the
        sides are one chunk and wholly matched), matches, 1; zeros without a reference.
        """
        rows, sums = self._sums(batch)
        order = np.lexsort((-self.aggregate(sums), rows.cell))
        cells, first = np.unique(rows.cell[order], return_index=True)
        found = np.zeros((rows.shape[0] * rows.shape[1], 7))
        found[cells] = sums[order[first]]
        return found.reshape(*rows.shape, 7)

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores [...] from summed statistics [..., 7]; 0 where nothing matches."""
        some = statistics[..., 5] > 0
        safe = np.where(some[..., None], statistics, 1.0)
        matched, weight, wanted, total, chunks, matches, _ = np.moveaxis(safe, -1, 0)
        precision, recall = matched / weight, wanted / total
        alpha, beta, gamma = self.parameters[1:4]
        mean = precision * recall / (alpha * precision + (1 - alpha) * recall)
        scores = (1 - gamma * (chunks / matches) ** beta) * mean
        return np.where(statistics[..., 6] > 0, np.where(some, scores, 0.0), np.nan)

    def _sums(self, batch: Batch) -> tuple[PairRows, NDArray[np.float64]]:
        """The statistics of each candidate beside each of its references, float64 [P, 7]."""
        rows = pair_rows(batch)
        keys, back = np.unique(rows.candidate << 32 | rows.reference, return_inverse=True)
        if self.__dict__.get("_texts") is not batch.texts:
            self.__dict__["_texts"] = batch.texts
            self._known.clear()
        words = lowered_words(self.tokens.of(batch.texts))
        known = [self._pair(words[k >> 32], words[k & _LOW]) for k in keys.tolist()]
        return rows, np.array(known, dtype=np.float64).reshape(-1, 7)[back.reshape(-1)]

    def _pair(self, candidate: tuple[str, ...], reference: tuple[str, ...]) -> tuple[float, ...]:
        key = candidate, reference
        if key not in self._known:
            self._known[key] = self._counted(candidate, reference)
        return self._known[key]

    def _counted(self, candidate: tuple[str, ...], reference: tuple[str, ...]) -> tuple[float, ...]:
        chosen = best_alignment(self._matches(candidate, reference), _COVER)
        worth = {"exact": 1.0, "stem": self.parameters.stem, "synonym": self.parameters.synonym}
        own = [worth[m.stage] * self._weight(candidate[m.candidate]) for m in chosen]
        other = [worth[m.stage] * self._weight(reference[m.reference]) for m in chosen]
        runs = bool(chosen) + sum(
            (a.candidate + 1, a.reference + 1) != (b.candidate, b.reference)
            for a, b in pairwise(chosen)
        )
        whole = runs == 1 and len(chosen) == len(candidate) == len(reference)
        return (
            sum(own),
            sum(map(self._weight, candidate)),
            sum(other),
            sum(map(self._weight, reference)),
            0 if whole else runs,
            len(chosen),
            1,
        )

    def _weight(self, word: str) -> float:
        delta = self.parameters.delta
        return 1 - delta if word in self.function_words.words else delta

    def _matches(self, candidate: Sequence[str], reference: Sequence[str]) -> list[Match]:
        """Possible matches, each at its first stage; stages that weigh nothing are left out."""
        places: dict[tuple[str, object], list[int]] = {}
        for place, word in enumerate(reference):
            for stage, form in self._forms(word):
                places.setdefault((stage, form), []).append(place)
        found = []
        for own, word in enumerate(candidate):
            met: dict[int, str] = {}
            for stage, form in self._forms(word):
                for place in places.get((stage, form), ()):
                    met.setdefault(place, stage)
            found += [Match(own, place, stage) for place, stage in sorted(met.items())]
        return found

    def _forms(self, word: str) -> list[tuple[str, object]]:
        """What a word is compared by: itself, its stem, its senses."""
        if word not in self._compared:
            forms: list[tuple[str, object]] = [("exact", word)]
            if self.stemmer is not None and self.parameters.stem:
                forms.append(("stem", self.stemmer.stem(word)))
            if self.wordnet is not None and self.parameters.synonym:
                forms += [("synonym", sense) for sense in self.wordnet.senses(word)]
            self._compared[word] = forms
        return self._compared[word]

    @cached_property
    def _compared(self) -> dict[str, list[tuple[str, object]]]:
        return {}

    @cached_property
    def _known(self) -> dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[float, ...]]:
        return {}
