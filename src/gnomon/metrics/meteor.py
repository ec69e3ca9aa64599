"""METEOR: matched words, their stems and synonyms, and how much their order differs.

Banerjee and Lavie (2005) and Lavie and Agarwal (2007); equal to nltk's ``meteor_score`` on the same
words. METEOR 1.5 is in ``_meteor15``. Scores lie between 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from gnomon.errors import MissingDependencyError, SpecError
from gnomon.metrics._check import check_needs
from gnomon.metrics._embedding import reference_texts, target_language
from gnomon.metrics._meteor15 import BoundMeteor15
from gnomon.metrics._meteor_alignment import Stemmer, align, chunks
from gnomon.metrics._meteor_parameters import published_parameters
from gnomon.metrics._meteor_words import frequent_words, listed_words, lowered_words
from gnomon.metrics._of_options import MeanOfSegments
from gnomon.metrics._pairs import pair_rows
from gnomon.metrics._spec import Options
from gnomon.metrics._wordnet import WordNet, find_wordnet
from gnomon.metrics.tokenise import Tokenised, check_tokeniser, default_tokeniser, load_tokeniser
from gnomon.signature import Signature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics._meteor_parameters import Parameters
    from gnomon.metrics._meteor_words import FunctionWords
    from gnomon.metrics.protocol import Need
    from gnomon.outline import Outline
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

    Variant "1.5" is METEOR 1.5 (Denkowski and Lavie 2014) with its published parameters, but
    without its paraphrase table: matches are weighted by stage, function words count less, the
    alignment is the best one, and the system score is that of all segments taken as one.

    Attributes:
        variant: "nltk", equal to nltk's ``meteor_score`` on the same words; or "1.5".
        tokenize: name of a tokeniser; by default BLEU's choice for the target language.
        alpha: weight of precision against recall; by default the variant's own, as below.
        beta: how fast the penalty grows with disorder.
        gamma: the largest penalty.
        delta: weight of content words against function words; variant "1.5" only.
        wordnet: folder of WordNet's files; looked for in the usual places by default.
        function_words: file with one function word per line, for variant "1.5"; by default the
            words that make up over a thousandth of the references, and occur ten times or more.

    Raises:
        SpecError: an option has a value that it cannot have.
    """

    name: ClassVar[str] = "meteor"
    needs: ClassVar[frozenset[Need]] = frozenset(("references",))
    higher_is_better: ClassVar[bool] = True
    bounds = MappingProxyType({"alpha": (0, 1), "beta": (0, 100), "gamma": (0, 1), "delta": (0, 1)})

    variant: Literal["nltk", "1.5"] = "nltk"
    tokenize: str | None = None
    alpha: float | None = None
    beta: float | None = None
    gamma: float | None = None
    delta: float | None = None
    wordnet: str | None = None
    function_words: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("delta", "function_words"):
            if self.variant == "nltk" and getattr(self, name) is not None:
                raise SpecError(f"meteor: {name} belongs to variant='1.5'; leave it out, or say so")

    def check_outline(self, outline: Outline | None) -> None:
        """Refuse a tokeniser or WordNet that cannot be had; errors as for :meth:`bind`."""
        if outline is None:
            return
        language = (outline.target_language or "en").lower()
        check_tokeniser(self.tokenize or default_tokeniser(language))
        if language == "en":
            find_wordnet(self.wordnet)

    def bind(self, testset: TestSet) -> BoundMeteor | BoundMeteor15:
        """Find stemmer and synonyms for the target language.

        Raises:
            DataError: the test set has no references.
            MissingDependencyError: nltk or WordNet is not installed.
            UnknownNameError: there is no such tokeniser.
        """
        check_needs(self, testset.outline)
        language = (target_language(testset) or "en").lower()
        tokeniser = load_tokeniser(self.tokenize or default_tokeniser(language))
        tokens = Tokenised(tokeniser)
        stemmer, name = _stemmer(language, self.variant)
        wordnet = find_wordnet(self.wordnet) if language == "en" else None
        if self.variant == "nltk":
            return BoundMeteor(self, tokens, stemmer, name, wordnet)
        parameters = self._parameters(published_parameters(language))
        if not parameters.stem:
            stemmer, name = None, "none"
        words = self._function_words(testset, tokens)
        return BoundMeteor15(self, tokens, stemmer, name, wordnet, parameters, words)

    def _parameters(self, published: Parameters) -> Parameters:
        """The published parameters, but for those that are given."""
        given = {name: getattr(self, name) for name in ("alpha", "beta", "gamma", "delta")}
        return published._replace(**{k: value for k, value in given.items() if value is not None})

    def _function_words(self, testset: TestSet, tokens: Tokenised) -> FunctionWords:
        if self.function_words is not None:
            return listed_words(self.function_words)
        return frequent_words(lowered_words(tokens.of(tuple(reference_texts(testset)))))


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
        if self.__dict__.get("_texts") is not batch.texts:
            self.__dict__["_texts"] = batch.texts
            self._known.clear()
        return lowered_words(self.tokens.of(batch.texts))

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
#: alpha, beta, gamma of Lavie and Agarwal (2007) as nltk has them
_NLTK_PARAMETERS = (0.9, 3.0, 0.5)


def _value(options: Meteor, matched: int, runs: int, candidate: int, reference: int) -> float:
    if not matched:
        return 0.0
    precision, recall = matched / candidate, matched / reference
    given = (options.alpha, options.beta, options.gamma)
    alpha, beta, gamma = (
        d if g is None else g for g, d in zip(given, _NLTK_PARAMETERS, strict=True)
    )
    below = alpha * precision + (1 - alpha) * recall
    penalty = gamma * (runs / matched) ** beta
    score: float = (1 - penalty) * precision * recall / below
    return score


def _stemmer(language: str, variant: str) -> tuple[Stemmer | None, str]:
    """The stemmer of a language, and its name; METEOR 1.5 itself stems English by Snowball."""
    try:
        from nltk.stem.porter import PorterStemmer
        from nltk.stem.snowball import SnowballStemmer
    except ImportError:
        raise MissingDependencyError(
            "meteor needs nltk for stems, which is not installed; run: pip install 'gnomon[rouge]'"
        ) from None
    if language == "en" and variant == "nltk":
        porter: Stemmer = PorterStemmer()
        return porter, "porter"
    name = "english" if language == "en" else _SNOWBALL.get(language)
    if name is None:
        return None, "none"
    snowball: Stemmer = SnowballStemmer(name)
    return snowball, f"snowball-{name}"
