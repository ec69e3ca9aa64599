"""METEOR: matched words, their stems and synonyms, and how much their order differs.

Banerjee and Lavie (2005) and Lavie and Agarwal (2007); equal to nltk's ``meteor_score`` on the same
words. METEOR 1.5 is here without its paraphrase table. Scores lie between 0 and 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from gnomon.core.dependencies import Dependency
from gnomon.core.errors import SpecError, not_installed
from gnomon.core.options import FILES, InputFile
from gnomon.core.signature import Signature, content_hash
from gnomon.data.formats import read_text
from gnomon.metrics.aligning import aligned_matches
from gnomon.metrics.base import Metric, OfOptions, check_needs
from gnomon.metrics.comparisons import best_pairs, pair_keys, pair_rows, pairs_of
from gnomon.metrics.embeddings import compared_texts
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
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.summary import Outline
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.comparisons import PairRows
    from gnomon.metrics.matching import Matches
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["BoundMeteor", "Meteor"]


# Words as METEOR sees them: lower-cased, and which of them are function words.


#: METEOR calls words function words that make up more than this share of a large text
_SHARE = 1e-3
#: in a small text, a share says nothing
_TIMES = 10


class FunctionWords(NamedTuple):
    """Words that count less."""

    words: frozenset[str]  # the words, lower-cased
    identity: str  # where they are from, and a hash of them, for signatures


def lowered_words(table: TokenTable) -> list[tuple[str, ...]]:
    """The words of every text, lower-cased."""
    lowered = [word.lower() for word in table.vocabulary]
    ids = table.ids.tolist()
    return [tuple(lowered[i] for i in ids[a:b]) for a, b in pairwise(table.offsets.tolist())]


def frequent_words(texts: Iterable[Iterable[str]]) -> FunctionWords:
    """The words that make up more than a thousandth of some texts, and occur ten times or more.

    >>> frequent_words([["the", "cat"]] * 12 + [["a", "dog"]]).words == {"the", "cat"}
    True
    """
    counts = Counter(word for text in texts for word in text)
    least = max(_SHARE * counts.total(), _TIMES - 1)
    return _word_list("references", (word for word, count in counts.items() if count > least))


def listed_words(path: str) -> FunctionWords:
    """The words of a file, one per line."""
    words = (line.strip().lower() for line in read_text(path).split("\n"))
    return _word_list(Path(path).name, (word for word in words if word))


def _word_list(origin: str, words: Iterable[str]) -> FunctionWords:
    kept = frozenset(words)
    return FunctionWords(kept, f"{origin}#{len(kept)}-{content_hash(*sorted(kept))}")


# What METEOR 1.5 weighs, by language (Denkowski and Lavie 2014; its task "rank").


class Parameters(NamedTuple):
    """Weights of METEOR 1.5."""

    origin: str  # whose they are, for signatures
    alpha: float  # weight of precision against recall, 0 to 1
    beta: float  # how fast the penalty grows with disorder
    gamma: float  # the largest penalty
    delta: float  # weight of content words against function words, 0 to 1
    stem: float  # weight of a match by stem; 0: there is no such stage
    synonym: float  # weight of a match by synonym; 0: there is no such stage


#: tuned to rankings of WMT; matches of equal words weigh 1
_RANK = {
    "cs": Parameters("rank-cs", 0.95, 0.20, 0.60, 0.80, 0.0, 0.0),
    "de": Parameters("rank-de", 0.95, 1.00, 0.55, 0.55, 0.8, 0.0),
    "en": Parameters("rank-en", 0.85, 0.20, 0.60, 0.75, 0.6, 0.8),
    "es": Parameters("rank-es", 0.65, 1.30, 0.50, 0.80, 0.8, 0.0),
    "fr": Parameters("rank-fr", 0.90, 1.40, 0.60, 0.65, 0.2, 0.0),
    "ru": Parameters("rank-ru", 0.75, 1.40, 0.70, 0.50, 0.5, 0.0),
}
#: what METEOR takes for every other language
_OTHER = Parameters("language-independent", 0.75, 1.40, 0.70, 0.50, 0.5, 0.0)


def published_parameters(language: str) -> Parameters:
    """The parameters of a target language.

    >>> published_parameters("en").delta
    0.75
    """
    return _RANK.get(language, _OTHER)


# Which words METEOR 1.5 aligns: all stages together, resolved by beam search.
#
# Denkowski and Lavie (2011), section 2: every word is in at most one match; the weight of the words
# covered is maximal; then there are fewest chunks; then the matches lie at the nearest places.


#: partial alignments that are kept, as in METEOR
_BEAM = 40


class WordMatch(NamedTuple):
    """A word of a candidate and one of a reference that may be aligned."""

    candidate: int  # place in the candidate
    reference: int  # place in the reference
    stage: str  # "exact", "stem" or "synonym"


class _Partial(NamedTuple):
    """What is aligned so far; smaller is better."""

    lost: float  # weight that was left uncovered, of what could be covered
    chunks: int  # runs so far
    distance: int  # sum over matches of the distance between the two places
    used: int  # reference places that are taken, as bits
    last: tuple[int, int]  # the last match, or (-2, -2)
    chosen: tuple[WordMatch, object] | None  # the matches, last first, as a chain


def best_alignment(matches: Sequence[WordMatch], weights: Mapping[str, float]) -> list[WordMatch]:
    """The matches that METEOR chooses among all possible ones.

    Returns the chosen ones, by place in the candidate.
    """
    options: dict[int, list[WordMatch]] = {}
    for match in matches:
        options.setdefault(match.candidate, []).append(match)
    rivals = Counter(match.reference for match in matches)
    beam = [_Partial(0.0, 0, 0, 0, (-2, -2), None)]
    for choices in options.values():
        contested = len(choices) > 1 or rivals[choices[0].reference] > 1
        most = max(weights[match.stage] for match in choices)
        beam = _extend(beam, choices, weights, most, contested=contested)
    return _unwind(beam[0].chosen)


def _extend(
    beam: list[_Partial],
    choices: list[WordMatch],
    weights: Mapping[str, float],
    most: float,
    *,
    contested: bool,
) -> list[_Partial]:
    """The best partial alignments with one more word of the candidate."""
    best: dict[tuple[int, tuple[int, int]], _Partial] = {}
    for partial in beam:
        if contested:
            _keep(best, partial._replace(lost=partial.lost + most))
        for match in choices:
            if not partial.used >> match.reference & 1:
                _keep(best, _add_match(partial, match, most - weights[match.stage]))
    return sorted(best.values(), key=_rank)[:_BEAM]


def _add_match(partial: _Partial, match: WordMatch, lost: float) -> _Partial:
    pair = match.candidate, match.reference
    joins = (partial.last[0] + 1, partial.last[1] + 1) == pair
    return _Partial(
        partial.lost + lost,
        partial.chunks + (not joins),
        partial.distance + abs(pair[0] - pair[1]),
        partial.used | 1 << match.reference,
        pair,
        (match, partial.chosen),
    )


def _keep(found: dict[tuple[int, tuple[int, int]], _Partial], partial: _Partial) -> None:
    """Of partial alignments that go on alike, keep the best."""
    key = partial.used, partial.last
    if key not in found or _rank(partial) < _rank(found[key]):
        found[key] = partial


def _rank(partial: _Partial) -> tuple[float, int, int]:
    return round(partial.lost, 9), partial.chunks, partial.distance


def _unwind(chosen: object) -> list[WordMatch]:
    matches: list[WordMatch] = []
    while isinstance(chosen, tuple):
        match, chosen = chosen
        matches.append(match)
    return matches[::-1]


# Which words of a candidate METEOR matches with which words of a reference.


class Stemmer(Protocol):
    """What reduces words to stems."""

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


# METEOR 1.5 without its paraphrase table.
#
# Denkowski and Lavie (2014), "Meteor Universal: Language Specific Translation Evaluation for Any
# Target Language".


#: what covering two words counts in choosing an alignment (not in the score), as in METEOR
_COVER = {"exact": 1.0, "stem": 0.5, "synonym": 0.5}


@dataclass(frozen=True, eq=False)
class WordPairs(OfOptions, ABC):
    """What both forms of METEOR have in common; remembers the pairs seen in the last batch."""

    metric: Meteor
    tokens: Tokenised
    stemmer: Stemmer | None  # reduces words to stems, if there is one for the language
    stemmed_by: str  # its name, for signatures
    wordnet: WordNet | None  # synonyms, for English

    columns: ClassVar[int]  # of what a pair comes to

    @abstractmethod
    def count_pair(
        self, candidate: tuple[str, ...], reference: tuple[str, ...]
    ) -> tuple[float, ...]:
        """What a candidate beside a reference comes to."""

    def pair_values(self, batch: Batch) -> tuple[PairRows, NDArray[np.float64]]:
        """What each candidate beside each of its references comes to, float64 [P, columns]."""
        rows = pair_rows(batch)
        keys, back = pair_keys(rows)
        words, memory = lowered_words(self.tokens.of(batch.texts)), self.memory_of(batch.texts)
        values = []
        for candidate, reference in pairs_of(keys).tolist():
            pair = words[candidate], words[reference]
            if pair not in memory:
                memory[pair] = self.count_pair(*pair)
            values.append(memory[pair])
        return rows, np.array(values, dtype=np.float64).reshape(-1, self.columns)[back]


@dataclass(frozen=True, eq=False)
class BoundMeteor15(WordPairs):
    """METEOR 1.5, ready to score."""

    columns: ClassVar[int] = 7

    parameters: Parameters  # weights for the language
    function_words: FunctionWords  # words that count less
    choice: tuple[Message, ...] = ()

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
        rows, sums = self.pair_values(batch)
        return best_by_cell(rows.shape, rows.cell, self.aggregate(sums))

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """Sums for the best reference of each segment, float64 [K, N, 7].

        Matched and total weight of the candidate, the same of the reference, chunks (0 where the
        sides are one chunk and wholly matched), matches, 1; zeros without a reference.
        """
        return self._best_sums(*self.pair_values(batch))

    def alignments(self, batch: Batch) -> Matches:
        """Words matched as they are, by stem or by synonym, worth what their stage weighs."""
        table = self.tokens.of(batch.texts)
        words = lowered_words(table)
        worth = self._worth

        def pairs(candidate: int, reference: int) -> list[tuple[int, int, float]]:
            matches = self._matches(words[candidate], words[reference])
            chosen = best_alignment(matches, _COVER)
            return [(m.candidate, m.reference, worth[m.stage]) for m in chosen]

        forms = [word.lower() for word in table.vocabulary]
        weights = np.array([self._weight(form) for form in forms])[table.ids]
        return aligned_matches(batch, table, pairs, weights, forms)

    def aligned_statistics(
        self,
        batch: Batch,
        matches: Matches,  # noqa: ARG002  # what they tell stands in the sums
        shares: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Sums as in :meth:`statistics` whose matched weights are the given shares."""
        rows, sums = self.pair_values(batch)
        weighed = sums.copy()
        weighed[:, 0], weighed[:, 2] = shares[:, 0] * sums[:, 1], shares[:, 1] * sums[:, 3]
        return self._best_sums(rows, weighed)

    def aligned_scores(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores [...] from summed statistics [..., 7]."""
        return self.aggregate(statistics)

    def _best_sums(self, rows: PairRows, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        chosen = best_pairs(rows.cell, self.aggregate(sums))
        best = np.zeros((rows.shape[0] * rows.shape[1], 7))
        best[rows.cell[chosen]] = sums[chosen]
        return best.reshape(*rows.shape, 7)

    @property
    def _worth(self) -> dict[str, float]:
        return {"exact": 1.0, "stem": self.parameters.stem, "synonym": self.parameters.synonym}

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores [...] from summed statistics [..., 7]; 0 where nothing matches."""
        some = statistics[..., 5] > 0
        safe = np.where(some[..., None], statistics, 1.0)
        matched, weight, wanted, total, chunks, matches, _ = np.moveaxis(safe, -1, 0)
        precision, recall = matched / weight, wanted / total
        alpha, beta, gamma = self.parameters[1:4]
        below = alpha * precision + (1 - alpha) * recall
        # under weights, all that matches may weigh nothing
        mean = np.divide(precision * recall, below, out=np.zeros_like(below), where=below != 0)
        scores = (1 - gamma * (chunks / matches) ** beta) * mean
        return np.where(statistics[..., 6] > 0, np.where(some, scores, 0.0), np.nan)

    def count_pair(
        self, candidate: tuple[str, ...], reference: tuple[str, ...]
    ) -> tuple[float, ...]:
        """The statistics of a pair, as in :meth:`statistics`."""
        chosen = best_alignment(self._matches(candidate, reference), _COVER)
        worth = self._worth
        candidate_weights = [worth[m.stage] * self._weight(candidate[m.candidate]) for m in chosen]
        reference_weights = [worth[m.stage] * self._weight(reference[m.reference]) for m in chosen]
        runs = bool(chosen) + sum(
            (a.candidate + 1, a.reference + 1) != (b.candidate, b.reference)
            for a, b in pairwise(chosen)
        )
        whole = runs == 1 and len(chosen) == len(candidate) == len(reference)
        return (
            sum(candidate_weights),
            sum(map(self._weight, candidate)),
            sum(reference_weights),
            sum(map(self._weight, reference)),
            0 if whole else runs,
            len(chosen),
            1,
        )

    def _weight(self, word: str) -> float:
        delta = self.parameters.delta
        return 1 - delta if word in self.function_words.words else delta

    def _matches(self, candidate: Sequence[str], reference: Sequence[str]) -> list[WordMatch]:
        """Possible matches, each at its first stage; stages that weigh nothing are left out."""
        places: dict[tuple[str, object], list[int]] = {}
        for other, word in enumerate(reference):
            for stage, form in self._forms(word):
                places.setdefault((stage, form), []).append(other)
        matches = []
        for position, word in enumerate(candidate):
            met: dict[int, str] = {}
            for stage, form in self._forms(word):
                for other in places.get((stage, form), ()):
                    met.setdefault(other, stage)
            matches += [WordMatch(position, other, stage) for other, stage in sorted(met.items())]
        return matches

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

    Variant "1.5" is METEOR 1.5 (Denkowski and Lavie 2014) with its published parameters, but
    without its paraphrase table: matches are weighted by stage, function words count less, the
    alignment is the best one, and the system score is that of all segments taken as one.
    """

    name: ClassVar[str] = "meteor"
    title: ClassVar[str] = "METEOR"
    pooled: ClassVar[bool] = False
    can: ClassVar[frozenset[str]] = frozenset(("statistics", "align"))
    packages: ClassVar[tuple[str, ...]] = ("nltk",)
    bounds = MappingProxyType({"alpha": (0, 1), "beta": (0, 100), "gamma": (0, 1), "delta": (0, 1)})

    # "nltk", equal to nltk's ``meteor_score`` on the same words; or "1.5"
    variant: Literal["nltk", "1.5"] = "nltk"
    # name of a tokeniser; by default BLEU's choice for the target language
    tokenize: str | None = None
    # weight of precision against recall; by default the variant's own, as below
    alpha: float | None = None
    beta: float | None = None  # how fast the penalty grows with disorder
    gamma: float | None = None  # the largest penalty
    delta: float | None = None  # weight of content words against function words; variant "1.5" only
    # folder of WordNet's files; looked for in the usual places by default
    wordnet: Annotated[str | None, FILES] = None
    # file with one function word per line, for variant "1.5"; by default the words that make up
    # over a thousandth of the references, and occur ten times or more
    function_words: Annotated[str | None, InputFile()] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("delta", "function_words"):
            if self.variant == "nltk" and getattr(self, name) is not None:
                raise SpecError(f"meteor: {name} belongs to variant='1.5'; leave it out, or say so")

    def requires(self, language: str | None) -> tuple[Dependency, ...]:
        """nltk, the tokeniser's packages, function words, and, for English alone, WordNet."""
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

    def bind(self, testset: TestSet) -> BoundMeteor | BoundMeteor15:
        """Find stemmer and synonyms for the target language."""
        check_needs(self, testset.outline)
        language = (testset.target_language or "en").lower()
        chosen = fitting_tokeniser(testset, self.tokenize)
        tokens, notices = Tokenised(load_tokeniser(chosen.name)), chosen.notices
        stemmer, name = _stemmer(language, self.variant)
        wordnet = find_wordnet(self.wordnet) if language == "en" else None
        if self.variant == "nltk":
            return BoundMeteor(self, tokens, stemmer, name, wordnet, choice=notices)
        parameters = self._parameters(published_parameters(language))
        if not parameters.stem:
            stemmer, name = None, "none"
        if self.function_words is not None:
            words = listed_words(self.function_words)
        else:
            references = tokens.of(tuple(compared_texts(testset, self.needs)))
            words = frequent_words(lowered_words(references))
        return BoundMeteor15(
            self, tokens, stemmer, name, wordnet, parameters, words, choice=notices
        )

    def _parameters(self, published: Parameters) -> Parameters:
        """The published parameters, but for those that are given."""
        given = {name: getattr(self, name) for name in ("alpha", "beta", "gamma", "delta")}
        return published._replace(**{k: value for k, value in given.items() if value is not None})


@dataclass(frozen=True, eq=False)
class BoundMeteor(WordPairs, OfOptions):
    """METEOR, ready to score."""

    columns: ClassVar[int] = 1
    choice: tuple[Message, ...] = ()

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
        rows, values = self.pair_values(batch)
        return best_by_cell(rows.shape, rows.cell, values.reshape(-1))

    def alignments(self, batch: Batch) -> Matches:
        """Words matched as they are, by stem or by synonym, each worth 1."""
        table = self.tokens.of(batch.texts)
        words = lowered_words(table)
        runs: dict[tuple[int, int], float] = {}

        def pairs(candidate: int, reference: int) -> list[tuple[int, int, float]]:
            aligned = align(words[candidate], words[reference], self._stem, self._synonyms)
            runs[candidate, reference] = chunks(aligned)
            return [(*places, 1.0) for places in aligned]

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
        alpha, beta, gamma = _parameters_of(self.metric)
        precision, recall = shares.T
        below = alpha * precision + (1 - alpha) * recall
        mean = np.divide(precision * recall, below, out=np.zeros_like(below), where=below > 0)
        parts = matches.order[matches.pair] / np.maximum(matched, 1)
        scores = np.where(matched > 0, (1 - gamma * parts**beta) * mean, 0.0)
        rows = pair_rows(batch)
        return mean_statistics(best_by_cell(rows.shape, rows.cell, scores))

    def count_pair(
        self, candidate: tuple[str, ...], reference: tuple[str, ...]
    ) -> tuple[float, ...]:
        """The score of a pair."""
        pairs = align(candidate, reference, self._stem, self._synonyms)
        matched = len(pairs)
        if not matched:
            return (0.0,)
        precision, recall = matched / len(candidate), matched / len(reference)
        alpha, beta, gamma = _parameters_of(self.metric)
        below = alpha * precision + (1 - alpha) * recall
        penalty = gamma * (chunks(pairs) / matched) ** beta
        return ((1 - penalty) * precision * recall / below,)

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


#: alpha, beta, gamma of Lavie and Agarwal (2007) as nltk has them
_NLTK_PARAMETERS = (0.9, 3.0, 0.5)


def _parameters_of(options: Meteor) -> tuple[float, float, float]:
    """Alpha, beta and gamma: those that are given, else nltk's."""
    given = (options.alpha, options.beta, options.gamma)
    alpha, beta, gamma = (
        d if g is None else g for g, d in zip(given, _NLTK_PARAMETERS, strict=True)
    )
    return alpha, beta, gamma


def _stemmer(language: str, variant: str) -> tuple[Stemmer | None, str]:
    """The stemmer of a language, and its name; METEOR 1.5 itself stems English by Snowball."""
    try:
        from nltk.stem.porter import PorterStemmer
        from nltk.stem.snowball import SnowballStemmer
    except ImportError:
        raise not_installed("meteor", "nltk", "rouge") from None
    if language == "en" and variant == "nltk":
        porter: Stemmer = PorterStemmer()
        return porter, "porter"
    name = "english" if language == "en" else _SNOWBALL.get(language)
    if name is None:
        return None, "none"
    snowball: Stemmer = SnowballStemmer(name)
    return snowball, f"snowball-{name}"
