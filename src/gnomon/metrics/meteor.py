"""METEOR: matched words, their stems and synonyms, and the difference of their order.

Banerjee and Lavie (2005) and Lavie and Agarwal (2007); equal to nltk's ``meteor_score`` on the same
words. Scores lie between 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple, Protocol

import numpy as np

from gnomon.core.dependencies import Dependency
from gnomon.core.errors import not_installed
from gnomon.core.options import FILES
from gnomon.core.signature import Signature
from gnomon.metrics.aligning import aligned_matches
from gnomon.metrics.base import Metric, OfOptions, check_needs
from gnomon.metrics.comparisons import pair_keys, pair_rows, pairs_of
from gnomon.metrics.means import (
    best_by_cell,
    mean_statistics,
)
from gnomon.metrics.spec import Options
from gnomon.metrics.tokenise import (
    Tokenised,
    check_tokeniser,
    fitting_tokeniser,
    load_tokeniser,
    tokeniser_needs,
)
from gnomon.metrics.wordnet import WordNet, find_wordnet

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.outline import Outline
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.matching import Matches
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["BoundMeteor", "Meteor"]


def lowered_words(table: TokenTable) -> list[tuple[str, ...]]:
    """The words of every text, lower-cased."""
    lowered = [word.lower() for word in table.vocabulary]
    ids = table.ids.tolist()
    return [tuple(lowered[i] for i in ids[a:b]) for a, b in pairwise(table.offsets.tolist())]


# Matches of the words of a candidate and a reference.


class Stemmer(Protocol):
    """A stemmer: it reduces words to stems."""

    def stem(self, word: str, /) -> str:
        """The stem of a word."""
        ...


class MeteorWord(NamedTuple):
    """A word that is not yet matched: its place, and how it is spelt at this stage."""

    place: int
    form: str


def align(
    candidate: Sequence[str],
    reference: Sequence[str],
    stem: Callable[[str], str],
    synonyms: Callable[[str], Collection[str]],
) -> list[tuple[int, int]]:
    """Match words in three stages: equal, of equal stem, synonyms of each other's stem.

    At each stage the candidate's words, last first, take the last reference word that is free
    (nltk's order). Synonyms are looked up for stems, as nltk does.

    Returns (place in the candidate, place in the reference), by the former.
    """
    candidate_words = [MeteorWord(i, form) for i, form in enumerate(candidate)]
    reference_words = [MeteorWord(i, form) for i, form in enumerate(reference)]
    exact, candidate_words, reference_words = _match(
        candidate_words, reference_words, lambda form: (form,)
    )
    candidate_words, reference_words = (
        [MeteorWord(i, stem(form)) for i, form in side]
        for side in (candidate_words, reference_words)
    )
    stemmed, candidate_words, reference_words = _match(
        candidate_words, reference_words, lambda form: (form,)
    )
    meant, _, _ = _match(candidate_words, reference_words, lambda form: (form, *synonyms(form)))
    return sorted(exact + stemmed + meant)


def chunks(pairs: Sequence[tuple[int, int]]) -> int:
    """Number of runs that are adjacent, and in the same order, on both sides.

    >>> chunks([(0, 3), (1, 4), (2, 6)])
    2
    """
    return bool(pairs) + sum((a[0] + 1, a[1] + 1) != b for a, b in pairwise(pairs))


def _match(
    own: list[MeteorWord], other: list[MeteorWord], wanted: Callable[[str], Iterable[str]]
) -> tuple[list[tuple[int, int]], list[MeteorWord], list[MeteorWord]]:
    """Matched places, and the words of both sides that are left."""
    free: dict[str, list[int]] = {}
    for position, word in enumerate(other):
        free.setdefault(word.form, []).append(position)
    pairs: list[tuple[int, int]] = []
    left: list[MeteorWord] = []
    taken: set[int] = set()
    for word in reversed(own):
        places = [free[form] for form in wanted(word.form) if free.get(form)]
        if not places:
            left.append(word)
            continue
        position = max(places, key=lambda column: column[-1]).pop()
        taken.add(position)
        pairs.append((word.place, other[position].place))
    return pairs, left[::-1], [word for i, word in enumerate(other) if i not in taken]


#: languages that nltk has Snowball stemmers for
_SNOWBALL = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
}


@dataclass(frozen=True)
class Meteor(Options, Metric):
    """METEOR: words matched as they are, by stem and by synonym, less a penalty for disorder.

    With m matches in c chunks, P = m / words of the candidate, R = m / words of the reference, the
    score is (1 - gamma (c / m) ** beta) P R / (alpha P + (1 - alpha) R). With several references
    the best counts. The system score is the mean over segments. For English, words are stemmed by
    Porter's algorithm and synonyms are WordNet's; for other languages stemmed by Snowball where
    nltk has it, and there are no synonyms.
    """

    name: ClassVar[str] = "meteor"
    title: ClassVar[str] = "METEOR"
    pooled: ClassVar[bool] = False
    can: ClassVar[frozenset[str]] = frozenset(("statistics", "align"))
    packages: ClassVar[tuple[str, ...]] = ("nltk",)
    bounds = MappingProxyType({"alpha": (0, 1), "beta": (0, 100), "gamma": (0, 1)})

    # name of a tokeniser; by default BLEU's choice for the target language
    tokenize: str | None = None
    alpha: float = 0.9  # weight of precision against recall; defaults are nltk's
    beta: float = 3.0  # how fast the penalty grows with disorder
    gamma: float = 0.5  # the largest penalty
    # folder of WordNet's files; looked for in the usual places by default
    wordnet: Annotated[str | None, FILES] = None

    def requires(self, language: str | None) -> tuple[Dependency, ...]:
        """nltk, the tokeniser's packages, and, for English alone, WordNet."""
        dependencies = (*super().requires(language), *tokeniser_needs(self.tokenize, language))
        if (language or "en").lower() != "en":
            return dependencies
        folder = str(Path(self.wordnet).absolute()) if self.wordnet else ""
        return (*dependencies, Dependency("wordnet", folder))

    def check_outline(self, outline: Outline | None) -> None:
        """Refuse a tokeniser or WordNet that cannot be had; errors as for :meth:`bind`."""
        if outline is None:
            return
        language = (outline.target_language or "en").lower()
        if self.tokenize is not None:
            check_tokeniser(self.tokenize)
        if language == "en":
            find_wordnet(self.wordnet)

    def bind(self, testset: TestSet) -> BoundMeteor:
        """Find stemmer and synonyms for the target language."""
        check_needs(self, testset.outline)
        language = (testset.target_language or "en").lower()
        chosen = fitting_tokeniser(testset, self.tokenize)
        tokens, notices = Tokenised(load_tokeniser(chosen.name)), chosen.notices
        stemmer, name = _stemmer(language)
        wordnet = find_wordnet(self.wordnet) if language == "en" else None
        return BoundMeteor(self, tokens, stemmer, name, wordnet, choice=notices)


@dataclass(frozen=True, eq=False)
class BoundMeteor(OfOptions):
    """METEOR, ready to score; remembers the pairs seen in the last batch."""

    metric: Meteor
    tokens: Tokenised
    stemmer: Stemmer | None  # reduces words to stems, if there is one for the language
    stemmed_by: str  # its name, for signatures
    wordnet: WordNet | None  # synonyms, for English
    choice: tuple[Message, ...] = ()

    @property
    def signature(self) -> Signature:
        """Spec, variant, tokeniser, stemmer, and a hash of WordNet."""
        wordnet = "none" if self.wordnet is None else self.wordnet.identity
        return Signature(self.metric.spec).adding(
            variant="nltk",
            tok=self.tokens.tokeniser.name,
            stem=self.stemmed_by,
            wordnet=wordnet,
        )

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN for segments without a reference."""
        rows = pair_rows(batch)
        keys, back = pair_keys(rows)
        words, memory = (
            lowered_words(self.tokens.tokenise(batch.texts)),
            self.memory_of(batch.texts),
        )
        values = []
        for candidate, reference in pairs_of(keys).tolist():
            pair = words[candidate], words[reference]
            if pair not in memory:
                memory[pair] = self._score(*pair)
            values.append(memory[pair])
        return best_by_cell(rows.shape, rows.cell, np.array(values, dtype=np.float64)[back])

    def alignments(self, batch: Batch) -> Matches:
        """Words matched as they are, by stem or by synonym."""
        table = self.tokens.tokenise(batch.texts)
        words = lowered_words(table)
        runs: dict[tuple[int, int], float] = {}

        def pairs(candidate: int, reference: int) -> list[tuple[int, int]]:
            aligned = align(words[candidate], words[reference], self._stem, self._synonyms)
            runs[candidate, reference] = chunks(aligned)
            return aligned

        forms = [word.lower() for word in table.vocabulary]
        matches = aligned_matches(batch, table, pairs, words=forms)
        order = [runs[candidate, reference] for candidate, reference in matches.texts.tolist()]
        return replace(matches, order=np.array(order, dtype=np.float64))

    def aligned_statistics(
        self, batch: Batch, matches: Matches, shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Score and 1 of every segment, float64 [K, N, 2]; the penalty for disorder stays."""
        if matches.order is None:
            raise ValueError("these are not alignments of METEOR")
        side = matches.candidate
        matched = np.bincount(side.pair, side.best, len(matches.texts))[matches.pair]
        alpha, precision, recall = self.metric.alpha, *shares.T
        below = alpha * precision + (1 - alpha) * recall
        mean = np.divide(precision * recall, below, out=np.zeros_like(below), where=below > 0)
        parts = matches.order[matches.pair] / np.maximum(matched, 1)
        penalty = self.metric.gamma * parts**self.metric.beta
        scores = np.where(matched > 0, (1 - penalty) * mean, 0.0)
        rows = pair_rows(batch)
        return mean_statistics(best_by_cell(rows.shape, rows.cell, scores))

    def _score(self, candidate: tuple[str, ...], reference: tuple[str, ...]) -> float:
        """The score of a pair."""
        pairs = align(candidate, reference, self._stem, self._synonyms)
        matched = len(pairs)
        if not matched:
            return 0.0
        precision, recall = matched / len(candidate), matched / len(reference)
        alpha = self.metric.alpha
        below = alpha * precision + (1 - alpha) * recall
        penalty = self.metric.gamma * (chunks(pairs) / matched) ** self.metric.beta
        return float((1 - penalty) * precision * recall / below)

    @cached_property
    def _stems(self) -> dict[str, str]:
        return {}

    def _stem(self, word: str) -> str:
        if self.stemmer is None:
            return word
        if word not in self._stems:
            self._stems[word] = self.stemmer.stem(word)
        return self._stems[word]

    def _synonyms(self, word: str) -> frozenset[str]:
        return frozenset() if self.wordnet is None else self.wordnet.synonyms(word)


def _stemmer(language: str) -> tuple[Stemmer | None, str]:
    """The stemmer of a language, and its name."""
    try:
        from nltk.stem.porter import PorterStemmer
        from nltk.stem.snowball import SnowballStemmer
    except ImportError:
        raise not_installed("meteor", "nltk", "rouge") from None
    if language == "en":
        porter: Stemmer = PorterStemmer()
        return porter, "porter"
    name = _SNOWBALL.get(language)
    if name is None:
        return None, "none"
    snowball: Stemmer = SnowballStemmer(name)
    return snowball, f"snowball-{name}"
