"""TER, translation edit rate (Snover et al. 2006), equal to sacreBLEU's.

Its tokens and its edit distance with shifts (a re-implementation of Tercom, whose heuristics define
the number) are sacreBLEU's; each distinct text is split once and each distinct pair compared once,
by :mod:`gnomon.native.ter`, which finds the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, ClassVar, Literal, Self, cast

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.scripts import base_language, is_unspaced
from gnomon.core.signature import Signature
from gnomon.messages import message
from gnomon.metrics.aligning import aligned_matches, aligned_places
from gnomon.metrics.base import Metric
from gnomon.metrics.comparisons import (
    TokenisedTexts,
    compute_in_blocks,
    pair_keys,
    pair_rows,
    pairs_of,
)
from gnomon.metrics.counted import CountedPairs
from gnomon.metrics.sequences import Sequences, offsets_of
from gnomon.metrics.spec import Options
from gnomon.metrics.tokenise import (
    Aligned,
    inferred_language,
    lowered,
    plain,
    replaced,
    tokenise,
    warn_of_spaces,
)
from gnomon.native import ter as loops

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.comparisons import PairRows
    from gnomon.metrics.counted import PairCounts
    from gnomon.metrics.matching import Matches
    from gnomon.metrics.tokenise import Characters, Tokeniser, TokenTable

__all__ = ["Ter"]

#: what ``normalized`` replaces before it splits, in this order
_ENTITIES = (("\n-", ""), ("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
#: what ``no_punct`` deletes
_PUNCTUATION = '.,?:;!"()'
#: what it deletes with ``asian_support`` beside: CJK punctuation, then full-width punctuation
_ASIAN_PUNCTUATION = (
    "\u3001\u3002"
    + "".join(map(chr, range(0x3008, 0x3012)))
    + "".join(map(chr, range(0x3014, 0x3020)))
    + "".join(map(chr, range(0xFF61, 0xFF66)))
    + "\u30fb\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09"
)


#: no rule changes words of these characters
_SPECIAL = re.compile("[^0-9A-Za-z]|^$")


@dataclass(frozen=True)
class Ter(Options, Metric):
    """TER: edits and shifts of word blocks that turn a candidate into its reference; 0 is perfect.

    Several references: the fewest edits over the mean length of the references, as sacreBLEU does.
    Where all references are empty, TER is 100 for a candidate with words and 0 for an empty one.

    Attributes:
        normalized: split off punctuation and unescape XML entities.
        no_punct: delete punctuation.
        asian_support: with ``normalized`` split CJK text into characters; with ``no_punct`` delete
            CJK and full-width punctuation too.
        case_sensitive: do not lower-case.
        tokenize: "tercom" for sacreBLEU's words, which are what stands between spaces but for the
            options above; "char" for characters. By default tercom, but for languages whose words
            no space parts: Chinese has ``normalized`` and ``asian_support``, Japanese, Korean,
            Thai, Lao, Khmer, Burmese and Tibetan have characters. Where no language is given, the
            script of the references tells these.

    Raises:
        SpecError: an option has a value that it cannot have.
    """

    name: ClassVar[str] = "ter"
    title: ClassVar[str] = "TER"
    pooled: ClassVar[bool] = False
    can: ClassVar[frozenset[str]] = frozenset(("statistics", "mask", "align"))
    packages: ClassVar[tuple[str, ...]] = ("sacrebleu",)
    higher_is_better: ClassVar[bool] = False

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False
    tokenize: Literal["tercom", "char"] | None = None

    def bind(self, testset: TestSet) -> BoundTer:
        """The metric, with the tokens that fit the language of the test set.

        Raises:
            DataError: the test set has no references.
        """
        if not testset.references:
            raise DataError(f"metric {self.spec!r} needs references; {testset.name!r} has none")
        fitting = self._fitting(testset.target_language)
        texts, choice = TokenisedTexts(ter_tokeniser(fitting)), self._choice(fitting, testset)
        return BoundTer(Signature(fitting.spec), texts, fitting, tuple(choice))

    def _fitting(self, language: str | None) -> Ter:
        """The options with which words are separated in a language."""
        if self.tokenize is not None or not is_unspaced(language):
            return self
        if base_language(language) == "zh":
            return replace(self, normalized=True, asian_support=True)
        return replace(self, tokenize="char")

    def _choice(self, fitting: Ter, testset: TestSet) -> Iterator[Message]:
        """Notices of how words are separated."""
        if self.tokenize == "tercom" and not (self.normalized and self.asian_support):
            yield from warn_of_spaces("tercom", "char", testset.target_language)
        if fitting != self and testset.language_pair is None:
            yield message(
                "note.metrics.inferred", language=inferred_language(testset), spec=fitting.spec
            )
        elif fitting.asian_support and not (fitting.normalized or fitting.no_punct):
            yield message("note.metrics.asian_support", spec=fitting.spec)


@dataclass(frozen=True, eq=False)
class BoundTer(CountedPairs):
    """TER, ready to score; remembers tokens and pairs of the texts that it saw last.

    Its statistics are edits and mean reference length: [..., 2].
    """

    metric: Ter  # the options, those that fit the language among them
    choice: tuple[Message, ...] = ()  # what a reader should know of how words are separated

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """TER [...] from summed statistics [..., 2]."""
        edits, length = statistics[..., 0], statistics[..., 1]
        rate = np.where(edits > 0, 1.0, 0.0)
        np.divide(edits, length, out=rate, where=length > 0)
        return 100.0 * rate

    def pair_counts(
        self,
        table: TokenTable,  # noqa: ARG002  # as all metrics
        candidates: Sequences,
        references: Sequences,
        pairs: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Edits of each pair, shifts among them, int64 [P]."""
        return count_edits(candidates, references, pairs)

    def cell_counts(self, rows: PairRows, counts: PairCounts) -> NDArray[np.float64]:
        """Edits and mean reference length, float64 [K, N, 2]."""
        return _statistics(rows, counts.found, counts.reference)

    def plain_references(self, table: TokenTable, rows: PairRows) -> Sequences:
        """References are split, and what comes of that again, as sacreBLEU does."""
        if not self.metric.normalized or not len(rows.cell):
            return super().plain_references(table, rows)
        texts = np.unique(rows.reference).tolist()
        strings = [" ".join(table.strings(text)) for text in texts]
        again = tokenise(strings, self.texts.tokens.tokeniser)
        numbers = {token: number for number, token in enumerate(table.vocabulary)}
        renamed = [numbers.setdefault(token, len(numbers)) for token in again.vocabulary]
        ids = np.split(np.array(renamed, dtype=np.int32)[again.ids], again.offsets[1:-1])
        whole = np.split(table.ids, table.offsets[1:-1])
        for text, words in zip(texts, ids, strict=True):
            whole[text] = words
        lengths = np.array([len(words) for words in whole], dtype=np.int64)
        return Sequences(offsets_of(lengths), np.concatenate(whole))

    def alignments(self, batch: Batch) -> Matches:
        """The words that are left alone once blocks are shifted."""
        table = self.texts.tokens.tokenise(batch.texts)
        kept = match_pairs(Sequences(table.offsets, table.ids), pair_rows(batch))
        matches_of_pairs = aligned_matches(batch, table, lambda *pair: kept[pair][0])
        edits = [
            float(kept[candidate, reference][1])
            for candidate, reference in matches_of_pairs.texts.tolist()
        ]
        return replace(matches_of_pairs, order=np.array(edits))

    def aligned_statistics(
        self, batch: Batch, matches: Matches, shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Edits and mean reference length, float64 [K, N, 2]: of words missed, the given share.

        Insertions and shifts count as they do; without words to miss nothing else does.
        """
        if matches.order is None:
            raise ValueError("these are not alignments of TER")
        rows = pair_rows(batch)
        length = np.diff(matches.reference.offsets)[matches.pair]
        kept = np.bincount(matches.reference.pair, matches.reference.best, len(matches.texts))
        other = matches.order[matches.pair] - (length - kept[matches.pair])
        edits = length * (1 - shares[:, 1]) * (length > 0) + other
        return _statistics(rows, edits, length)

    def aligned_scores(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """TER [...] from summed statistics [..., 2]."""
        return self.aggregate(statistics)

    @property
    def native_fields(self) -> Mapping[str, object]:
        """As sacreBLEU has them, which does not count characters."""
        options, said = self.metric, {True: "yes", False: "no"}
        if options.tokenize == "char":
            return {}
        return {
            "case": "mixed" if options.case_sensitive else "lc",
            "tok": "tercom",
            "norm": said[options.normalized],
            "punct": said[not options.no_punct],
            "asian": said[options.asian_support],
        }


def ter_tokeniser(options: Ter) -> Tokeniser:
    """Tercom's tokens as sacreBLEU makes them, with their places in the text."""
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

    tokenizer = TercomTokenizer(
        normalized=options.normalized,
        no_punct=options.no_punct,
        asian_support=options.asian_support,
        case_sensitive=options.case_sensitive,
    )

    # past its cache: all words are split at once
    tokenize = TercomTokenizer.__call__.__wrapped__

    def split(text: str) -> list[str]:
        words: list[str] = tokenize(tokenizer, text.rstrip()).split()
        return words

    def split_characters(text: str) -> list[str]:
        return list("".join(split(text)))

    by_character = options.tokenize == "char"
    return Aligned(
        name="char" if by_character else "tercom",
        split=split_characters if by_character else split,
        read=partial(_read, options),
        local=True,
        lowercase=not options.case_sensitive,
        rule=None if options.normalized or options.no_punct or by_character else "words",
        special=None if by_character else _SPECIAL,
        # its rule for possessives asks for a blank
        blanks=options.normalized,
    )


def _read(options: Ter, text: str) -> Characters:
    """The characters of a text that the tokeniser keeps; splitting only adds spaces to it."""
    line = text.rstrip()
    characters = plain(line) if options.case_sensitive else lowered(line)
    if options.normalized:
        for old, new in _ENTITIES:
            characters = replaced(characters, old, new)
    if options.no_punct:
        for mark in _PUNCTUATION + (_ASIAN_PUNCTUATION if options.asian_support else ""):
            characters = replaced(characters, mark, "")
    return characters


def _statistics(
    rows: PairRows, edits: NDArray[np.number], lengths: NDArray[np.number]
) -> NDArray[np.float64]:
    """Fewest edits and mean length over the references of each cell, float64 [K, N, 2]."""
    references = rows.per_cell
    fewest = np.full(len(references), np.inf)
    np.minimum.at(fewest, rows.cell, edits.astype(np.float64))
    length = np.zeros(len(references))
    np.add.at(length, rows.cell, lengths.astype(np.float64))
    length /= np.maximum(references, 1)
    fewest = np.where(references > 0, fewest, 0.0)
    return np.stack([fewest, length], axis=-1).reshape(*rows.shape, 2)


def count_edits(
    candidates: Sequences, references: Sequences, pairs: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Edits of each pair (candidate, reference), shifts among them, int64 [P]."""
    edits = compute_in_blocks(
        pairs, lambda some: loops.edit_pairs(candidates, references, some)[0], axis=0
    )
    wide = np.flatnonzero(edits < 0)  # too long a reference for the loops
    if len(wide):
        edits[wide] = plain_edits(candidates, references, pairs[wide])
    return edits


def plain_edits(
    candidates: Sequences, references: Sequences, pairs: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The same by sacreBLEU's own function."""
    from sacrebleu.metrics.lib_ter import translation_edit_rate

    strings: tuple[dict[int, list[str]], dict[int, list[str]]] = {}, {}

    def words(side: int, sequences: Sequences, text: int) -> list[str]:
        # the edit distance takes strings and only asks whether they are equal
        if text not in strings[side]:
            offsets, ids = sequences
            strings[side][text] = list(map(str, ids[offsets[text] : offsets[text + 1]].tolist()))
        return strings[side][text]

    edits = np.zeros(len(pairs), dtype=np.int64)
    for row, (candidate, reference) in enumerate(pairs.tolist()):
        sides = words(0, candidates, candidate), words(1, references, reference)
        if sides[0] != sides[1]:
            edits[row] = translation_edit_rate(*sides)[0]
    return edits


class _Placed(str):
    """A word that knows its place while blocks are shifted."""

    __slots__ = ("place",)
    place: int

    def __new__(cls, word: str, place: int) -> Self:
        """The word at a place."""
        made = super().__new__(cls, word)
        made.place = place
        return made


def match_words(candidate: list[str], reference: list[str]) -> tuple[list[tuple[int, int]], int]:
    """Which words stay as they are, and how many edits there are, shifts included.

    The steps are those of sacreBLEU's ``translation_edit_rate``, which tells their number alone.

    Returns (place in the candidate, place in the reference) of each word that is kept, and the
    edits.

    >>> match_words("on the mat a cat".split(), "a cat on the red mat".split())
    ([(3, 0), (4, 1), (0, 2), (1, 3), (2, 5)], 2)
    """
    from sacrebleu.metrics import lib_ter

    if not reference:
        return [], len(candidate)
    words: list[str] = [_Placed(word, position) for position, word in enumerate(candidate)]
    distance = lib_ter.BeamEditDistance(reference)
    shifts = tried = 0
    while True:
        gain, shifted, tried = lib_ter._shift(words, reference, distance, tried)  # noqa: SLF001  # no other way to the steps
        if tried >= lib_ter._MAX_SHIFT_CANDIDATES or gain <= 0:  # noqa: SLF001  # likewise
            break
        shifts, words = shifts + 1, shifted
    edits, trace = distance(words)
    kept, candidate_place, reference_place = [], 0, 0
    for step in trace:  # of rewriting the candidate into the reference
        if step == " ":
            kept.append((cast("_Placed", words[candidate_place]).place, reference_place))
        candidate_place += step in " sd"
        reference_place += step in " si"
    return kept, shifts + edits


def match_pairs(
    texts: Sequences, rows: PairRows
) -> dict[tuple[int, int], tuple[list[tuple[int, int]], int]]:
    """For each pair (candidate, reference) of some rows what :func:`match_words` says of it."""
    pairs = pairs_of(pair_keys(rows)[0])
    edits, _, _, kept = loops.edit_pairs(texts, texts, pairs, align=True)

    @cache
    def words(text: int) -> list[str]:
        return list(map(str, texts.ids[slice(*texts.offsets[text : text + 2])].tolist()))

    alone = aligned_places(pairs, texts.lengths, kept)
    wide = pairs[edits < 0].tolist()  # too long a reference for the loops
    return {
        **{pair: (alone[pair], count) for pair, count in zip(alone, edits.tolist(), strict=True)},
        **{
            (candidate, reference): match_words(words(candidate), words(reference))
            for candidate, reference in wide
        },
    }
