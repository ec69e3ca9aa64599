"""ROUGE for sentences and summaries, equal to google's rouge-score 0.1.2.

Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries". Tokens are the runs of a-z
and 0-9 in the lower-cased text; scores lie between 0 and 1, as rouge-score gives them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias

import numpy as np

from gnomon.core.errors import DataError, UsageError, not_installed
from gnomon.core.scripts import latin_share, unspaced_language
from gnomon.core.signature import Signature
from gnomon.messages import message
from gnomon.metrics.aligning import aligned_matches, aligned_places
from gnomon.metrics.base import Metric
from gnomon.metrics.comparisons import (
    TokenisedTexts,
    best_pairs,
    pair_keys,
    pair_rows,
    pairs_of,
)
from gnomon.metrics.counted import CountedPairs
from gnomon.metrics.means import mean_statistics
from gnomon.metrics.sequences import Sequences, offsets_of
from gnomon.metrics.spec import Options
from gnomon.metrics.tokenise import (
    TokenPlaces,
    Tokens,
    TokenTable,
    Vocabulary,
    code_points,
    lowered,
)
from gnomon.native import rouge as loops

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.comparisons import PairRows
    from gnomon.metrics.counted import PairCounts
    from gnomon.metrics.matching import Matches
    from gnomon.metrics.ngrams import NgramCounts

__all__ = ["Rouge"]


# The tokens of many texts under ROUGE, at once, as :class:`RougeTokeniser` finds them.


_HALF = 0.5  # of the letters and digits of the references
_APART = "\0"  # between two texts: part of no token
_BREAK = ord("\n")


def rouge_table(texts: Sequence[str], tokeniser: RougeTokeniser) -> TokenTable:
    """Split texts; every distinct word is stemmed once."""
    text_words = [tokeniser.pattern.findall(text.lower()) for text in texts]
    words = list(dict.fromkeys(chain.from_iterable(text_words)))
    number = {word: n for n, word in enumerate(words)}
    counts = np.fromiter(map(len, text_words), dtype=np.int64, count=len(text_words))
    used = map(number.__getitem__, chain.from_iterable(text_words))
    ids = np.fromiter(used, dtype=np.int32, count=int(counts.sum()))
    stems = [tokeniser.stem(word) for word in words]
    stem_number = {stem: n for n, stem in enumerate(dict.fromkeys(stems))}
    renamed = np.fromiter(map(stem_number.__getitem__, stems), dtype=np.int32, count=len(stems))
    return TokenTable(
        tokeniser=tokeniser.name,
        offsets=offsets_of(counts),
        ids=renamed[ids] if len(ids) else ids,
        vocabulary=Vocabulary.build(list(stem_number)),
        tokenised=len(texts),
        places=lambda: _places(texts, tokeniser, counts),
    )


def _places(
    texts: Sequence[str], tokeniser: RougeTokeniser, counts: NDArray[np.int64]
) -> TokenPlaces:
    """Tokens are runs of a-z and 0-9; a line break, where it is a token, has no width."""
    lower = [text.lower() for text in texts]
    codes = code_points([string for text in lower for string in (text, _APART)])
    inside = ((codes >= ord("a")) & (codes <= ord("z"))) | (
        (codes >= ord("0")) & (codes <= ord("9"))
    )
    first = inside & ~np.concatenate([[False], inside[:-1]])
    start, end = np.flatnonzero(first), np.flatnonzero(inside & ~np.append(inside[1:], [False])) + 1
    if tokeniser.lines:
        breaks = np.flatnonzero(codes == _BREAK)
        order = np.argsort(np.concatenate([start, breaks]), kind="stable")
        start, end = (np.concatenate([side, breaks])[order] for side in (start, end))
    sizes = np.fromiter(map(len, lower), dtype=np.int64, count=len(lower)) + len(_APART)
    shift = np.repeat(np.cumsum(sizes) - sizes, counts)
    places = TokenPlaces((start - shift).astype(np.int32), (end - shift).astype(np.int32))
    _correct(places, texts, lower, counts)
    return places


def _correct(
    places: TokenPlaces, texts: Sequence[str], lower: Sequence[str], counts: NDArray[np.int64]
) -> None:
    """Turn places in the lower-cased text into those in the text, where its length differs (İ)."""
    start, end = places
    bounds = offsets_of(counts)
    for n, (text, low) in enumerate(zip(texts, lower, strict=True)):
        if len(text) == len(low) or not counts[n]:
            continue
        characters = lowered(text)
        rows = slice(bounds[n], bounds[n + 1])
        solid = end[rows] > start[rows]
        last = np.maximum(end[rows] - 1, start[rows])
        start[rows] = np.asarray(characters.starts)[start[rows]]
        end[rows] = np.where(solid, np.asarray(characters.ends)[last], start[rows])


# The tokens of rouge-score, with their places in the text.


_TOKEN = re.compile(r"[a-z0-9]+")
_TOKEN_OR_BREAK = re.compile(r"[a-z0-9]+|\n")
#: rouge-score leaves shorter words unstemmed
_STEMMED_FROM = 4


class _Stemmer(Protocol):
    def stem(self, word: str) -> str: ...


@dataclass(frozen=True)
class RougeTokeniser:
    """rouge-score's tokens: runs of a-z and 0-9 of the lower-cased text, stemmed if asked."""

    stemmer: _Stemmer | None  # a Porter stemmer, or none
    lines: bool = False  # give line breaks as tokens of no width, for rougeLsum
    name: ClassVar[str] = "rouge"
    local: ClassVar[bool] = True

    def __call__(self, text: str) -> Tokens:
        """The tokens, and where they stand in the text."""
        characters = lowered(text)
        matches = list(self.pattern.finditer(characters.text))
        strings = [self.stem(match[0]) for match in matches]
        starts = [characters.starts[match.start()] for match in matches]
        ends = [characters.ends[match.end() - 1] for match in matches]
        wide = [string != "\n" for string in strings]
        return Tokens(
            strings, starts, [e if w else s for s, e, w in zip(starts, ends, wide, strict=True)]
        )

    def table(self, texts: Sequence[str]) -> TokenTable:
        """The tokens of texts."""
        return rouge_table(texts, self)

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of a token, in a lower-cased text."""
        return _TOKEN_OR_BREAK if self.lines else _TOKEN

    def stem(self, word: str) -> str:
        """The token that stands for a word; short words stay as they are."""
        if self.stemmer is None or len(word) < _STEMMED_FROM:
            return word
        return self.stemmer.stem(word)


def porter() -> _Stemmer:
    """The Porter stemmer of nltk, as rouge-score uses it."""
    try:
        from nltk.stem.porter import PorterStemmer
    except ImportError:
        raise not_installed("rouge(stemmer=True)", "nltk", "rouge") from None
    stemmer: _Stemmer = PorterStemmer()
    return stemmer


RougeType: TypeAlias = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]
RougePart: TypeAlias = Literal["f", "precision", "recall"]


@dataclass(frozen=True)
class Rouge(Options, Metric):
    """ROUGE-1, -2, -L or -Lsum: n-grams or longest common subsequences shared with the reference.

    With several references the one with the best F counts, as rouge-score's ``score_multi`` does.
    The system score is the mean over segments. For rougeLsum the sentences of a text are its lines
    (rouge-score's default), so that texts without a newline score as under rougeL.

    Attributes:
        type: "rouge1", "rouge2", "rougeL" or "rougeLsum".
        score: "f", "precision" or "recall".
        stemmer: reduce words to Porter stems first; needs nltk.

    Raises:
        SpecError: an option has a value that it cannot have.
    """

    name: ClassVar[str] = "rouge"
    title: ClassVar[str] = "ROUGE"
    titles: ClassVar[Mapping[str, str]] = MappingProxyType(
        {f"type='rouge{kind}'": f"ROUGE-{kind}" for kind in ("1", "2", "L", "Lsum")}
    )
    pooled: ClassVar[bool] = False
    packages: ClassVar[tuple[str, ...]] = ("nltk",)

    type: RougeType = "rougeL"
    score: RougePart = "f"
    stemmer: bool = False

    @property
    def can(self) -> frozenset[str]:
        """Subsequences are no n-grams; the hits of rougeLsum are words of several of them."""
        units = {"rouge1": "ngrams", "rouge2": "ngrams", "rougeL": "align"}
        more = {units[self.type]} if self.type in units else set()
        return frozenset({"statistics", "mask"} | more)

    def bind(self, testset: TestSet) -> BoundRouge:
        """The metric, ready to score.

        Raises:
            DataError: the test set has no references.
            MissingDependencyError: stemming is asked for and nltk is not installed.
        """
        if not testset.references:
            raise DataError(f"metric {self.spec!r} needs references; {testset.name!r} has none")
        texts = [text for column in testset.references.values() for text in column if text]
        share = latin_share(texts)
        unread = message("data.unread", what="letters", name=self.name, share=share)
        is_read = share >= _HALF and unspaced_language(texts) is None
        # a missing package shall show when binding, not after hours of other work
        stemmer = porter() if self.stemmer else None
        tokeniser = RougeTokeniser(stemmer, lines=self.type == "rougeLsum")
        tokens = TokenisedTexts(tokeniser)
        return BoundRouge(Signature(self.spec), tokens, self, () if is_read else (unread,))


@dataclass(frozen=True, eq=False)
class BoundRouge(CountedPairs):
    """ROUGE, ready to score; remembers the tokens of the texts that it saw last."""

    metric: Rouge
    choice: tuple[Message, ...] = ()  # what a reader should know of what it counts

    def score_parts(self, batch: Batch) -> NDArray[np.float64]:
        """Precision, recall and F of every candidate, float64 [K, N, 3]; NaN without reference."""
        comparisons, parts = self.texts.base(batch, self.counted)
        return comparisons.spread(parts, np.nan)

    def sentence_scores(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The part of precision, recall and F that was asked for."""
        return counts[..., self._part]

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """Score and 1, or 0 and 0 where undefined: float64 [K, N, 2]."""
        return mean_statistics(self.segments(batch))

    def pair_counts(
        self,
        table: TokenTable,
        candidates: Sequences,
        references: Sequences,
        pairs: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Counts of what pairs share: n-grams, tokens of a subsequence."""
        if self.ngram_orders:
            return loops.shared_ngrams(self.ngram_orders[0], candidates, references, pairs)
        line_break = self._line_break(table)
        if line_break is None:
            return loops.common_subsequences(candidates, references, pairs)
        return loops.union_subsequences(line_break, candidates, references, pairs)

    def sizes(self, table: TokenTable, side: Sequences) -> NDArray[np.int64]:
        """The size of each text as the type counts it, int64 [T]."""
        if self.metric.type == "rouge2":
            return np.maximum(side.lengths - 1, 0)
        line_break = self._line_break(table)
        if line_break is None:
            return side.lengths
        breaks = offsets_of(side.ids == line_break)
        return side.lengths - np.diff(breaks[side.offsets])

    def cell_counts(self, rows: PairRows, counts: PairCounts) -> NDArray[np.float64]:
        """Precision, recall and F against the best reference of each cell, float64 [K, N, 3]."""
        return _best(rows, _ratios(counts.found, *counts))

    def _line_break(self, table: TokenTable) -> int | None:
        """The id between two sentences, where it occurs."""
        if self.metric.type != "rougeLsum":
            return None
        breaks = np.flatnonzero(table.vocabulary.codes == _BREAK)
        ids = np.searchsorted(table.vocabulary.bounds, breaks, "right") - 1
        return int(ids[0]) if len(ids) else None

    @property
    def ngram_orders(self) -> tuple[int, ...]:
        """1 or 2; none for subsequences, which are no n-grams."""
        return {"rouge1": (1,), "rouge2": (2,)}.get(self.metric.type, ())

    def ngram_tokens(self, texts: tuple[str, ...]) -> TokenTable:
        """The tokens of texts."""
        return self.texts.tokens.tokenise(texts)

    def ngram_scores(self, counts: NgramCounts, *, corpus: bool) -> NDArray[np.float64]:  # noqa: ARG002  # a corpus is scored by means
        """Precision, recall or F [...] of counts."""
        return _ratios(
            counts.matches[..., 0],
            counts.recalled[..., 0],
            counts.candidate[..., 0],
            counts.reference[..., 0],
        )[..., self._part]

    def alignments(self, batch: Batch) -> Matches:
        """The longest common subsequence of every candidate and reference."""
        if "align" not in self.can:
            raise UsageError(
                f"{self.metric.spec!r} aligns no single words; take rougeL, whose longest common"
                " subsequence does"
            )
        table = self.texts.tokens.tokenise(batch.texts)
        texts, pairs = Sequences(table.offsets, table.ids), pairs_of(pair_keys(pair_rows(batch))[0])
        positions = loops.aligned_subsequences(texts, texts, pairs)
        aligned = aligned_places(pairs, table.lengths, positions)
        return aligned_matches(batch, table, lambda *pair: aligned[pair])

    def aligned_statistics(
        self, batch: Batch, matches: Matches, shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Score and 1 of every segment, float64 [K, N, 2]; of the reference with the best F."""
        best = _best(pair_rows(batch), _add_f(*shares.T))
        return mean_statistics(best.reshape(*matches.shape, 3)[..., self._part])

    @property
    def _part(self) -> int:
        return {"precision": 0, "recall": 1, "f": 2}[self.metric.score]


def _ratios(
    matched: NDArray[np.number],
    recalled: NDArray[np.number],
    candidate: NDArray[np.number],
    reference: NDArray[np.number],
) -> NDArray[np.float64]:
    return _add_f(matched / np.maximum(candidate, 1), recalled / np.maximum(reference, 1))


def _add_f(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> NDArray[np.float64]:
    both = precision + recall
    f = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    return np.stack([precision, recall, f], axis=-1)


def _best(rows: PairRows, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores of each cell's reference with the best F (the first of equals), [K, N, 3]."""
    best = np.full((rows.shape[0] * rows.shape[1], 3), np.nan)
    if rows.per_cell.max(initial=0) <= 1:
        best[rows.cell] = scores
        return best.reshape(*rows.shape, 3)
    chosen = best_pairs(rows.cell, scores[:, 2])
    best[rows.cell[chosen]] = scores[chosen]
    return best.reshape(*rows.shape, 3)
