"""METEOR: matched words, their stems and synonyms, and how much their order differs.

Banerjee and Lavie (2005) and Lavie and Agarwal (2007); equal to nltk's ``meteor_score`` on the same
words. Scores lie between 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from gnomon.errors import DataError, MissingDependencyError
from gnomon.metrics._embedding import target_language
from gnomon.metrics._meteor_alignment import Stemmer, align, chunks
from gnomon.metrics._of_options import MeanOfSegments
from gnomon.metrics._pairs import pair_rows
from gnomon.metrics._spec import Options
from gnomon.metrics._wordnet import WordNet, find_wordnet
from gnomon.metrics.tokenise import Tokenised, default_tokeniser, load_tokeniser
from gnomon.signature import Signature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics.protocol import Need
    from gnomon.testset import TestSet

__all__ = ["BoundMeteor", "Meteor"]

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
class Meteor(Options):
    """METEOR: words matched as they are, by stem and by synonym, less a penalty for disorder.

    With m matches in c chunks, P = m / words of the candidate, R = m / words of the reference, the
    score is (1 - gamma (c / m) ** beta) P R / (alpha P + (1 - alpha) R). With several references
    the best counts. The system score is the mean over segments. For English, words are stemmed by
    Porter's algorithm and synonyms are WordNet's; for other languages stemmed by Snowball where
    nltk has it, and there are no synonyms.

    Attributes:
        variant: "nltk", equal to nltk's ``meteor_score`` on the same words.
        tokenize: name of a tokeniser; by default BLEU's choice for the target language.
        alpha: weight of precision against recall.
        beta: how fast the penalty grows with disorder.
        gamma: the largest penalty.
        wordnet: folder of WordNet's files; looked for in the usual places by default.

    Raises:
        SpecError: an option has a value that it cannot have.
    """

    name: ClassVar[str] = "meteor"
    needs: ClassVar[frozenset[Need]] = frozenset(("references",))
    higher_is_better: ClassVar[bool] = True

    variant: Literal["nltk"] = "nltk"
    tokenize: str | None = None
    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5
    wordnet: str | None = None

    def bind(self, testset: TestSet) -> BoundMeteor:
        """Find stemmer and synonyms for the target language.

        Raises:
            DataError: the test set has no references.
            MissingDependencyError: nltk or WordNet is not installed.
            UnknownNameError: there is no such tokeniser.
        """
        if not testset.references and not testset.system_references:
            raise DataError(f"metric {self.spec!r} needs references; {testset.name!r} has none")
        language = (target_language(testset) or "en").lower()
        tokeniser = load_tokeniser(self.tokenize or default_tokeniser(language))
        stemmer, name = _stemmer(language)
        wordnet = find_wordnet(self.wordnet) if language == "en" else None
        return BoundMeteor(self, Tokenised(tokeniser), stemmer, name, wordnet)


@dataclass(frozen=True, eq=False)
class BoundMeteor(MeanOfSegments):
    """METEOR, ready to score; remembers the pairs that it has seen in the last batch.

    Attributes:
        metric: the options.
        tokens: splits texts into words.
        stemmer: reduces words to stems, if there is one for the language.
        stemmed_by: its name, for signatures.
        wordnet: synonyms, for English.
    """

    metric: Meteor
    tokens: Tokenised
    stemmer: Stemmer | None
    stemmed_by: str
    wordnet: WordNet | None

    @property
    def signature(self) -> Signature:
        """Spec, variant, tokeniser, stemmer, and a hash of WordNet."""
        wordnet = "none" if self.wordnet is None else self.wordnet.identity
        return Signature(self.metric.spec).adding(
            variant=self.metric.variant,
            tok=self.tokens.tokeniser.name,
            stem=self.stemmed_by,
            wordnet=wordnet,
        )

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN for segments without a reference."""
        rows = pair_rows(batch)
        keys, back = np.unique(rows.candidate << 32 | rows.reference, return_inverse=True)
        words = self._words(batch)
        found = np.array([self._score(words[k >> 32], words[k & _LOW]) for k in keys.tolist()])
        best = np.full(rows.shape[0] * rows.shape[1], -np.inf)
        np.maximum.at(best, rows.cell, found[back.reshape(-1)])
        best[np.isneginf(best)] = np.nan
        return best.reshape(rows.shape)

    def _score(self, candidate: tuple[str, ...], reference: tuple[str, ...]) -> float:
        key = candidate, reference
        if key not in self._known:
            pairs = align(candidate, reference, self._stem, self._synonyms)
            self._known[key] = _value(
                self.metric, len(pairs), chunks(pairs), len(candidate), len(reference)
            )
        return self._known[key]

    def _words(self, batch: Batch) -> list[tuple[str, ...]]:
        table = self.tokens.of(batch.texts)
        if self.__dict__.get("_texts") is not batch.texts:
            self.__dict__["_texts"] = batch.texts
            self._known.clear()
        lowered = [word.lower() for word in table.vocabulary]
        ids = table.ids.tolist()
        bounds = pairwise(table.offsets.tolist())
        return [tuple(lowered[i] for i in ids[low:high]) for low, high in bounds]

    @cached_property
    def _known(self) -> dict[tuple[tuple[str, ...], tuple[str, ...]], float]:
        return {}

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


_LOW = (1 << 32) - 1


def _value(options: Meteor, matched: int, runs: int, candidate: int, reference: int) -> float:
    if not matched:
        return 0.0
    precision, recall = matched / candidate, matched / reference
    below = options.alpha * precision + (1 - options.alpha) * recall
    penalty = options.gamma * (runs / matched) ** options.beta
    score: float = (1 - penalty) * precision * recall / below
    return score


def _stemmer(language: str) -> tuple[Stemmer | None, str]:
    """The stemmer of a language, and its name."""
    try:
        from nltk.stem.porter import PorterStemmer
        from nltk.stem.snowball import SnowballStemmer
    except ImportError:
        raise MissingDependencyError(
            "meteor needs nltk for stems, which is not installed; run: pip install 'gnomon[rouge]'"
        ) from None
    if language == "en":
        porter: Stemmer = PorterStemmer()
        return porter, "porter"
    if language not in _SNOWBALL:
        return None, "none"
    snowball: Stemmer = SnowballStemmer(_SNOWBALL[language])
    return snowball, f"snowball-{_SNOWBALL[language]}"
