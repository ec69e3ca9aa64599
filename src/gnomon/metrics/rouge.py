"""ROUGE for sentences and summaries, equal to google's rouge-score 0.1.2.

Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries". Tokens are the runs of a-z
and 0-9 in the lower-cased text; scores lie between 0 and 1, as rouge-score gives them.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import chain, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from gnomon.errors import DataError, MissingDependencyError, UsageError
from gnomon.metrics.aligning import aligned_matches
from gnomon.metrics.comparisons import Kernel, pair_rows
from gnomon.metrics.means import MeanOfSegments, aggregate_means, mean_statistics
from gnomon.metrics.sequences import Sequences, TokenMasks
from gnomon.metrics.spec import Options
from gnomon.metrics.tokenise import (
    TokenPlaces,
    Tokens,
    TokenTable,
    Vocabulary,
    code_points,
    lowered,
)
from gnomon.scores import UNREAD
from gnomon.scripts import latin_share, unspaced_language
from gnomon.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics.comparisons import PairRows
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.matching import Matches
    from gnomon.metrics.ngrams import NgramCounts
    from gnomon.metrics.protocol import Input
    from gnomon.testset import TestSet

__all__ = ["Rouge", "RougeScore", "rouge_scores"]


# Longest common subsequences on whole machine words: a row of the table is one integer.
#
# Bits of a row that are 0 mark where the length grows, so that table[i][j] is the number of zeros
# among the lowest j bits of row i (Hyyrö 2004, "Bit-parallel LCS-length computation revisited").


def places(tokens: Sequence[int]) -> dict[int, int]:
    """Token -> the set of its positions, as bits."""
    found: dict[int, int] = {}
    for position, token in enumerate(tokens):
        found[token] = found.get(token, 0) | 1 << position
    return found


def lcs_length(a: Sequence[int], places_of_b: Mapping[int, int], length_of_b: int) -> int:
    """Length of the longest common subsequence.

    >>> lcs_length([1, 2, 3, 4], places([2, 9, 4]), 3)
    2
    """
    row = (1 << length_of_b) - 1
    for row in _rows(a, places_of_b, length_of_b):  # noqa: B007  # the last row is wanted
        pass
    return length_of_b - row.bit_count()


def lcs_pairs(a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int]]:
    """Positions in ``a`` and ``b`` of one longest common subsequence, the last first.

    Of several, the one that ROUGE's backtracking finds: from the ends, equal tokens are taken, and
    a token of ``a`` is given up unless only giving up one of ``b`` keeps the length.
    """
    rows = [(1 << len(b)) - 1, *_rows(a, places(b), len(b))]
    found: list[tuple[int, int]] = []
    i, j = len(a), len(b)
    while i and j:
        if a[i - 1] == b[j - 1]:
            i, j = i - 1, j - 1
            found.append((i, j))
        elif _length(rows[i], j - 1) > _length(rows[i - 1], j):
            j -= 1
        else:
            i -= 1
    return found


def lcs_positions(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """Positions in ``a`` of the subsequence of :func:`lcs_pairs`, the last first."""
    return [own for own, _ in lcs_pairs(a, b)]


def _rows(a: Sequence[int], places_of_b: Mapping[int, int], length_of_b: int) -> Iterator[int]:
    full = (1 << length_of_b) - 1
    row = full
    for token in a:
        matches = row & places_of_b.get(token, 0)
        if matches:
            row = ((row + matches) | (row - matches)) & full
        yield row


def _length(row: int, j: int) -> int:
    return j - (row & ((1 << j) - 1)).bit_count()


# What candidate and reference share under each type of ROUGE.


class _Lines(NamedTuple):
    """A text's sentences and the places of its tokens, for longest common subsequences."""

    sentences: list[list[int]]
    places: dict[int, int]
    size: int


def _ngrams(n: int) -> Kernel[Counter[tuple[int, ...]]]:
    def prepare(ids: list[int], _: int | None) -> Counter[tuple[int, ...]]:
        return Counter(zip(*(ids[i:] for i in range(n)), strict=False))

    def count(a: Counter[tuple[int, ...]], b: Counter[tuple[int, ...]]) -> int:
        return sum(min(times, b[ngram]) for ngram, times in a.items() if ngram in b)

    return Kernel(prepare, Counter.total, count)


def _prepare_lines(ids: list[int], line_break: int | None) -> _Lines:
    sentences: list[list[int]] = [[]]
    for token in ids:
        if token == line_break:
            sentences.append([])
        else:
            sentences[-1].append(token)
    filled = [sentence for sentence in sentences if sentence]
    only = places(filled[0]) if len(filled) == 1 else {}
    return _Lines(filled, only, sum(map(len, filled)))


def _count_lines(candidate: _Lines, reference: _Lines) -> int:
    if not candidate.size or not reference.size:
        return 0
    if len(candidate.sentences) == len(reference.sentences) == 1:
        return lcs_length(reference.sentences[0], candidate.places, candidate.size)
    return _union_hits(candidate.sentences, reference.sentences)


def _union_hits(candidate: list[list[int]], reference: list[list[int]]) -> int:
    """Tokens of the reference's union LCS (Lin 2004, section 3.2), none counted twice."""
    left = _multiset(candidate)
    hits = 0
    for sentence in reference:
        union = {place for own in candidate for place in lcs_positions(sentence, own)}
        for place in sorted(union):
            if left[sentence[place]] > 0:
                left[sentence[place]] -= 1
                hits += 1
    return hits


def _multiset(sentences: Iterable[list[int]]) -> Counter[int]:
    return Counter(token for sentence in sentences for token in sentence)


_LCS = Kernel(_prepare_lines, lambda lines: lines.size, _count_lines)
KERNELS: dict[str, Kernel[Any]] = {
    "rouge1": _ngrams(1),
    "rouge2": _ngrams(2),
    "rougeL": _LCS,
    "rougeLsum": _LCS,
}


# The tokens of many texts under ROUGE, at once: what :class:`RougeTokeniser` finds in each.


_HALF = 0.5  # of the letters and digits of the references
_APART = "\0"  # between two texts: part of no token
_BREAK = ord("\n")


class RougeTokens:
    """Tables of tokens for the texts seen last: batches of one test set share theirs.

    Attributes:
        runs: how often texts were split.
    """

    def __init__(self, tokeniser: RougeTokeniser) -> None:
        self.runs = 0
        self._tokeniser = tokeniser
        self._last: tuple[tuple[str, ...], TokenTable] | None = None

    def of(self, texts: tuple[str, ...]) -> TokenTable:
        """The table of these texts; computed again only for another tuple."""
        if self._last is None or self._last[0] is not texts:
            self._last = texts, rouge_table(texts, self._tokeniser)
            self.runs += 1
        return self._last[1]


def rouge_table(texts: Sequence[str], tokeniser: RougeTokeniser) -> TokenTable:
    """Split texts; every distinct word is stemmed once."""
    found = [tokeniser.pattern.findall(text.lower()) for text in texts]
    words = list(dict.fromkeys(chain.from_iterable(found)))
    number = {word: n for n, word in enumerate(words)}
    counts = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
    used = map(number.__getitem__, chain.from_iterable(found))
    ids = np.fromiter(used, dtype=np.int32, count=int(counts.sum()))
    stems = [tokeniser.stem(word) for word in words]
    stem_number = {stem: n for n, stem in enumerate(dict.fromkeys(stems))}
    renamed = np.fromiter(map(stem_number.__getitem__, stems), dtype=np.int32, count=len(stems))
    return TokenTable(
        tokeniser=tokeniser.name,
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        ids=renamed[ids] if len(ids) else ids,
        vocabulary=Vocabulary.of(list(stem_number)),
        tokenised=len(texts),
        places=lambda: _places(texts, tokeniser, counts),
    )


def _places(
    texts: Sequence[str], tokeniser: RougeTokeniser, counts: NDArray[np.int64]
) -> TokenPlaces:
    """Tokens are runs of a-z and 0-9; a line break, where it is a token, has no width."""
    lower = [text.lower() for text in texts]
    codes = code_points([part for text in lower for part in (text, _APART)])
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
    bounds = np.concatenate([[0], np.cumsum(counts)])
    for n, (text, low) in enumerate(zip(texts, lower, strict=True)):
        if len(text) == len(low) or not counts[n]:
            continue
        characters = lowered(text)
        rows = slice(bounds[n], bounds[n + 1])
        solid = end[rows] > start[rows]
        last = np.maximum(end[rows] - 1, start[rows])
        start[rows] = np.asarray(characters.starts)[start[rows]]
        end[rows] = np.where(solid, np.asarray(characters.ends)[last], start[rows])


# What many candidates share with their references, and the sizes of both sides.


_COMPILED = "gnomon.metrics._rouge_compiled"
#: tokens of the pairs to compare from which on loading the compiled loops pays
_MUCH = 200_000


class Overlaps(NamedTuple):
    """What each pair shares (n-grams, tokens of a subsequence), and the sizes of both sides."""

    found: NDArray[np.int64]
    candidate: NDArray[np.int64]
    reference: NDArray[np.int64]


class RougePairs:
    """Counts what pairs share under one type of ROUGE; remembers the unmasked pairs seen last.

    Attributes:
        tokens: tokens of the texts.
        counted: how many pairs were compared.
    """

    def __init__(self, kind: str, tokeniser: RougeTokeniser) -> None:
        self.tokens = RougeTokens(tokeniser)
        self.counted = 0
        self._kind = kind
        self._break: tuple[TokenTable, int | None] | None = None
        self._last: tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]] | None = None

    def overlaps(self, batch: Batch, rows: PairRows) -> Overlaps:
        """What the rows share, unmasked."""
        table = self.tokens.of(batch.texts)
        plain = Sequences(table.offsets, table.ids)
        keys, back = _distinct(rows.candidate, rows.reference)
        last = self._last
        if last is None or last[0] is not batch.texts or not np.array_equal(keys, last[1]):
            last = batch.texts, keys, self._count(table, plain, plain, keys, 1)
            self._last = last
        sizes = self._sizes(table, plain)
        return Overlaps(last[2][back], sizes[rows.candidate], sizes[rows.reference])

    def variants(
        self, batch: Batch, rows: PairRows, plan: MaskPlan
    ) -> Iterator[tuple[NDArray[np.bool_], Overlaps]]:
        """For each variant of a plan: which rows it changes, and what these share."""
        table = self.tokens.of(batch.texts)
        masks = TokenMasks.of(table, plan)
        for variant in range(plan.variants):
            chosen = masks.masks(variant)
            touched = masks.touched(chosen)
            changed = touched[rows.candidate] | touched[rows.reference]
            candidate, reference = rows.candidate[changed], rows.reference[changed]
            sides = masks.with_masks(chosen, "candidate"), masks.with_masks(chosen, "reference")
            keys, back = _distinct(candidate, reference)
            found = self._count(table, *sides, keys, plan.variants)
            own, other = (self._sizes(table, side) for side in sides)
            yield changed, Overlaps(found[back], own[candidate], other[reference])

    def _count(
        self,
        table: TokenTable,
        candidates: Sequences,
        references: Sequences,
        keys: NDArray[np.int64],
        times: int,
    ) -> NDArray[np.int64]:
        pairs = np.stack([keys >> 32, keys & _LOW], axis=-1)
        self.counted += len(pairs)
        line_break = self._line_break(table)
        work = times * int(candidates.lengths[pairs[:, 0]].sum())
        loops = _loops(work)
        if loops is None:
            return plain_overlaps(self._kind, candidates, references, pairs, line_break)
        return _compiled_overlaps(loops, self._kind, candidates, references, pairs, line_break)

    def _sizes(self, table: TokenTable, side: Sequences) -> NDArray[np.int64]:
        """The size of each text as the type counts it, int64 [T]."""
        if self._kind == "rouge2":
            return np.maximum(side.lengths - 1, 0)
        line_break = self._line_break(table)
        if line_break is None:
            return side.lengths
        breaks = np.concatenate([[0], np.cumsum(side.ids == line_break)])
        return side.lengths - np.diff(breaks[side.offsets])

    def _line_break(self, table: TokenTable) -> int | None:
        """The id between two sentences, where it occurs; looked up once per table."""
        if self._kind != "rougeLsum":
            return None
        if self._break is None or self._break[0] is not table:
            found = table.vocabulary.index("\n") if "\n" in table.vocabulary else None
            self._break = table, found
        return self._break[1]


def plain_overlaps(
    kind: str,
    candidates: Sequences,
    references: Sequences,
    pairs: NDArray[np.int64],
    line_break: int | None,
) -> NDArray[np.int64]:
    """What pairs share, by the definition.

    Args:
        kind: type of ROUGE.
        candidates: ids of all texts as candidates.
        references: ids of all texts as references.
        pairs: int64 [P, 2], (candidate, reference).
        line_break: the id between two sentences, if it occurs.
    """
    kernel = KERNELS[kind]
    prepared: list[dict[int, Any]] = [{}, {}]

    def side(number: int, sequences: Sequences, text: int) -> Any:  # the kernel knows its type
        if text not in prepared[number]:
            offsets, ids = sequences
            own = ids[offsets[text] : offsets[text + 1]].tolist()
            prepared[number][text] = kernel.prepare(own, line_break)
        return prepared[number][text]

    counts = [
        kernel.run(side(0, candidates, own), side(1, references, other))
        for own, other in pairs.tolist()
    ]
    return np.array(counts, dtype=np.int64)


def _compiled_overlaps(
    loops: Any,  # a module
    kind: str,
    candidates: Sequences,
    references: Sequences,
    pairs: NDArray[np.int64],
    line_break: int | None,
) -> NDArray[np.int64]:
    """The same as :func:`plain_overlaps`, in machine code."""
    low = min(
        (int(side.ids.min()) for side in (candidates, references) if len(side.ids)), default=0
    )
    high = max(
        (int(side.ids.max()) for side in (candidates, references) if len(side.ids)), default=0
    )
    span = high - low + 1
    own, other = (side.ids.astype(np.int64) - low for side in (candidates, references))
    sides = (candidates.offsets, own, pairs, references.offsets, other, span)
    if kind in ("rouge1", "rouge2"):
        found: NDArray[np.int64] = loops.shared_ngrams(int(kind[-1]), *sides)
    elif line_break is None:
        found = loops.common_subsequences(*sides)
    else:
        found = loops.union_subsequences(line_break - low, *sides)
    return found


def _loops(work: int) -> Any:  # a module
    """The compiled loops, where they pay or are there already."""
    if work < _MUCH:
        return sys.modules.get(_COMPILED)
    return import_module(_COMPILED)


def _distinct(
    candidate: NDArray[np.int64], reference: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each pair of texts once, as one number, and where each row's pair is among them."""
    keys, back = np.unique(candidate << 32 | reference, return_inverse=True)
    return keys, back.reshape(-1)


_LOW = (1 << 32) - 1


# The tokens of rouge-score, with their places in the text.


_TOKEN = re.compile(r"[a-z0-9]+")
_TOKEN_OR_BREAK = re.compile(r"[a-z0-9]+|\n")
#: rouge-score leaves shorter words unstemmed
_STEMMED_FROM = 4


class _Stemmer(Protocol):
    def stem(self, word: str) -> str: ...


@dataclass(frozen=True)
class RougeTokeniser:
    """rouge-score's tokens: runs of a-z and 0-9 of the lower-cased text, stemmed if asked.

    Attributes:
        stemmer: a Porter stemmer, or none.
        lines: give line breaks as tokens of no width, for rougeLsum.
    """

    stemmer: _Stemmer | None
    lines: bool = False
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

    @property
    def pattern(self) -> re.Pattern[str]:
        """What a token is, in a lower-cased text."""
        return _TOKEN_OR_BREAK if self.lines else _TOKEN

    def stem(self, word: str) -> str:
        """The token that stands for a word; short words stay as they are."""
        if self.stemmer is None or len(word) < _STEMMED_FROM:
            return word
        return self.stemmer.stem(word)


def porter() -> _Stemmer:
    """The Porter stemmer of nltk, as rouge-score uses it.

    Raises:
        MissingDependencyError: nltk is not installed.
    """
    try:
        from nltk.stem.porter import PorterStemmer
    except ImportError:
        raise MissingDependencyError(
            "rouge(stemmer=True) needs nltk, which is not installed; run:"
            " pip install 'gnomon[rouge]'"
        ) from None
    stemmer: _Stemmer = PorterStemmer()
    return stemmer


RougeType: TypeAlias = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]
RougePart: TypeAlias = Literal["f", "precision", "recall"]


class RougeScore(NamedTuple):
    """Precision, recall and F (their harmonic mean), each between 0 and 1."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class Rouge(Options):
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
    needs: ClassVar[frozenset[Input]] = frozenset(("references",))
    higher_is_better: ClassVar[bool] = True

    type: RougeType = "rougeL"
    score: RougePart = "f"
    stemmer: bool = False

    @property
    def ngram_orders(self) -> tuple[int, ...]:
        """1 or 2; none for subsequences, which are no n-grams."""
        return {"rouge1": (1,), "rouge2": (2,)}.get(self.type, ())

    @property
    def aligns(self) -> bool:
        """Whether it aligns words: the hits of rougeLsum are words of several subsequences."""
        return self.type == "rougeL"

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
        if share >= _HALF and unspaced_language(texts) is None:
            return BoundRouge(self)
        said = (
            f"{self.name} counts runs of a-z and 0-9 alone, as rouge-score does, which are"
            f" {share:.0%} of the letters and digits of the references: {UNREAD}"
        )
        return BoundRouge(self, (said,))


@dataclass(frozen=True, eq=False)
class BoundRouge(MeanOfSegments):
    """ROUGE, ready to score; remembers the tokens of the texts that it saw last.

    Attributes:
        metric: the options.
        choice: what a reader should know of what it counts.
    """

    metric: Rouge
    choice: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # a missing package shall show when binding, not after hours of other work
        _ = self._pairs

    @property
    def signature(self) -> Signature:
        """The spec alone; ROUGE freezes nothing."""
        return Signature(self.metric.spec)

    @cached_property
    def _pairs(self) -> RougePairs:
        tokeniser = RougeTokeniser(
            porter() if self.metric.stemmer else None, lines=self.metric.type == "rougeLsum"
        )
        return RougePairs(self.metric.type, tokeniser)

    def parts(self, batch: Batch) -> NDArray[np.float64]:
        """Precision, recall and F of every candidate, float64 [K, N, 3]; NaN without reference."""
        rows = pair_rows(batch)
        return _best(rows, _scores(self._pairs.overlaps(batch, rows)))

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN for segments without a reference."""
        return self.parts(batch)[..., self._part]

    def mask_lengths(self, batch: Batch, plan: MaskPlan) -> None:
        """Words have no length."""

    def mask_tokens(self, batch: Batch) -> TokenTable:
        """The tokens that masks are put on."""
        return self._pairs.tokens.of(batch.texts)

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        """Sentence scores of every variant, float64 [V, K, N]."""
        rows = pair_rows(batch)
        base = _scores(self._pairs.overlaps(batch, rows))
        scores = np.empty((plan.variants, *rows.shape))
        for variant, (changed, counts) in enumerate(self._pairs.variants(batch, rows, plan)):
            values = base.copy()
            values[changed] = _scores(counts)
            scores[variant] = _best(rows, values)[..., self._part]
        return scores

    @property
    def ngram_orders(self) -> tuple[int, ...]:
        """1 or 2; none for subsequences, which are no n-grams."""
        return self.metric.ngram_orders

    @property
    def ngram_union(self) -> bool:
        """False: the best reference counts."""
        return False

    @property
    def ngram_sums(self) -> bool:
        """False: the corpus score is the mean over segments."""
        return False

    def ngram_tokens(self, texts: tuple[str, ...]) -> TokenTable:
        """The tokens of texts."""
        return self._pairs.tokens.of(texts)

    def ngram_scores(self, counts: NgramCounts, *, corpus: bool) -> NDArray[np.float64]:  # noqa: ARG002  # a corpus is scored by means
        """Precision, recall or F [...] of counts."""
        return _ratios(
            counts.matches[..., 0],
            counts.recalled[..., 0],
            counts.candidate[..., 0],
            counts.reference[..., 0],
        )[..., self._part]

    def alignments(self, batch: Batch) -> Matches:
        """The longest common subsequence of every candidate and reference.

        Raises:
            UsageError: the type is not rougeL.
        """
        if not self.metric.aligns:
            raise UsageError(
                f"{self.metric.spec!r} aligns no single words; take rougeL, whose longest common"
                " subsequence does"
            )
        table = self._pairs.tokens.of(batch.texts)
        ids = [table.ids[a:b].tolist() for a, b in pairwise(table.offsets.tolist())]

        def align(candidate: int, reference: int) -> list[tuple[int, int, float]]:
            found = lcs_pairs(ids[reference], ids[candidate])
            return [(own, other, 1.0) for other, own in found]

        return aligned_matches(batch, table, align)

    def aligned_statistics(
        self, batch: Batch, matches: Matches, shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Score and 1 of every segment, float64 [K, N, 2]; of the reference with the best F."""
        precision, recall = shares.T
        both = precision + recall
        f = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
        best = _best(pair_rows(batch), np.stack([precision, recall, f], axis=-1))
        return mean_statistics(best.reshape(*matches.shape, 3)[..., self._part])

    def aligned_scores(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Means [...] from summed statistics [..., 2]."""
        return aggregate_means(statistics)

    @property
    def _part(self) -> int:
        return {"precision": 0, "recall": 1, "f": 2}[self.metric.score]


def rouge_scores(
    candidates: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    type: RougeType = "rougeL",  # noqa: A002  # the name of the metric's option
    stemmer: bool = False,
) -> list[RougeScore]:
    """ROUGE of each candidate: precision, recall and F together.

    Args:
        candidates: one text per segment.
        references: one text, or the list of all references, per segment.
        type: "rouge1", "rouge2", "rougeL" or "rougeLsum".
        stemmer: reduce words to Porter stems first; needs nltk.

    Raises:
        LengthMismatchError: unequal numbers of segments.
        DataError: a segment has no reference.

    >>> rouge_scores(["the cat sat"], ["a cat sat down"])
    [RougeScore(precision=0.666..., recall=0.5, f=0.571...)]
    """
    from gnomon.testset import TestSet

    testset = TestSet.from_lists({"candidates": candidates}, references)
    parts = Rouge(type=type, stemmer=stemmer).bind(testset).parts(testset.batch())[0]
    if np.isnan(parts).any():
        first = int(np.flatnonzero(np.isnan(parts).any(axis=1))[0])
        raise DataError(f"segment {first + 1} has no reference; every segment needs one")
    return [RougeScore(*map(float, row)) for row in parts]


def _scores(counts: Overlaps) -> NDArray[np.float64]:
    """Precision, recall and F of each row, float64 [P, 3]; 0 where a side is empty."""
    return _ratios(counts.found, counts.found, counts.candidate, counts.reference)


def _ratios(
    matched: NDArray[np.number],
    recalled: NDArray[np.number],
    candidate: NDArray[np.number],
    reference: NDArray[np.number],
) -> NDArray[np.float64]:
    precision = matched / np.maximum(candidate, 1)
    recall = recalled / np.maximum(reference, 1)
    both = precision + recall
    f = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    return np.stack([precision, recall, f], axis=-1)


def _best(rows: PairRows, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores of each cell's reference with the best F (the first of equals), [K, N, 3]."""
    best = np.full((rows.shape[0] * rows.shape[1], 3), np.nan)
    if rows.per_cell.max(initial=0) <= 1:
        best[rows.cell] = scores
        return best.reshape(*rows.shape, 3)
    order = np.lexsort((-scores[:, 2], rows.cell))
    cells, first = np.unique(rows.cell[order], return_index=True)
    best[cells] = scores[order[first]]
    return best.reshape(*rows.shape, 3)
