"""BLEU (Papineni et al. 2002), equal to sacreBLEU's (Post 2018) or to nltk's unsmoothed form."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from gnomon.core.errors import SpecError, UnknownNameError
from gnomon.core.signature import Signature
from gnomon.metrics.base import Metric
from gnomon.metrics.comparisons import TokenisedTexts, references_field
from gnomon.metrics.counted import CountedNgrams
from gnomon.metrics.ngrams import NgramCounter, totals
from gnomon.metrics.sequences import NgramLayout, offsets_of, ranges
from gnomon.metrics.spec import Options
from gnomon.metrics.tokenise import (
    TOKENISERS,
    check_tokeniser,
    fitting_tokeniser,
    load_tokeniser,
    tokeniser_needs,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.dependencies import Dependency
    from gnomon.core.outline import Outline
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.comparisons import TextComparisons
    from gnomon.metrics.counted import NgramCount
    from gnomon.metrics.ngrams import Counted, NgramCounts, TextPairs
    from gnomon.metrics.sequences import PlacedMasks, TokenMasks
    from gnomon.metrics.tokenise import TokenTable

__all__ = ["Bleu", "BoundBleu"]


# BLEU from counts: sacreBLEU's smoothed form and nltk's unsmoothed one, on arrays.


SmoothMethod: TypeAlias = Literal["exp", "floor", "add-k", "none"]
_DEFAULTS: dict[SmoothMethod, float] = {"exp": 0.0, "floor": 0.1, "add-k": 1.0, "none": 0.0}
#: what sacreBLEU takes for the logarithm of zero
_LOG_OF_ZERO = -9999999999.0


@dataclass(frozen=True)
class Smoothing:
    """Smoothing of precisions of zero (Chen and Cherry 2014; sacreBLEU's names)."""

    # "exp" (halved for each order without a match), "floor" (a small count), "add-k" (a constant
    # added above the first order), "none"
    method: SmoothMethod = "exp"
    given: float | None = None  # the value for "floor" and "add-k"; their defaults are .1 and 1

    @property
    def value(self) -> float:
        """The value in use."""
        return _DEFAULTS[self.method] if self.given is None else self.given


def bleu(
    statistics: NDArray[np.float64], smoothing: Smoothing, *, effective_order: bool
) -> NDArray[np.float64]:
    """BLEU, 0 to 100, as sacreBLEU computes it (Papineni et al. 2002; Post 2018).

    ``statistics``: [..., 2 + 2 n]: lengths of candidate and reference, matches and totals of
    n-grams of order 1 to n.
    """
    columns = np.ascontiguousarray(np.moveaxis(statistics, -1, 0))
    orders = (len(columns) - 2) // 2
    matches, totals = columns[2 : 2 + orders], columns[2 + orders :]
    some = matches.any(axis=0)
    if smoothing.method == "add-k":
        matches, totals = matches.copy(), totals.copy()
        matches[1:] += smoothing.value
        totals[1:] += smoothing.value
    is_open = np.logical_and.accumulate(totals != 0, axis=0)
    missed = matches == 0
    if smoothing.method == "exp":
        halvings = np.cumsum(missed & is_open, axis=0, dtype=np.int32)
        matches = np.where(missed, np.ldexp(1.0, -halvings), matches)
    elif smoothing.method == "floor":
        matches = np.where(missed, smoothing.value, matches)
    positive = is_open & (matches > 0)
    precisions = np.divide(100 * matches, totals, out=np.ones_like(matches), where=positive)
    logarithms = np.log(precisions)
    logarithms[~positive] = _LOG_OF_ZERO
    if effective_order:
        logarithms[~is_open] = 0
    used = np.maximum(is_open.sum(axis=0), 1) if effective_order else orders
    mean = sum(logarithms) / used
    return np.where(some, brevity_penalty(columns[0], columns[1]) * np.exp(mean), 0.0)


def nltk_bleu(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unsmoothed BLEU times 100, as nltk's ``sentence_bleu`` and ``corpus_bleu`` compute it.

    An order without a match counts as the smallest positive float, so that scores such as 1e-76
    occur; without a match of order 1 the score is 0.
    """
    orders = (statistics.shape[-1] - 2) // 2
    matches, totals = statistics[..., 2 : 2 + orders], statistics[..., 2 + orders :]
    safe = np.where(matches > 0, matches / np.where(totals > 0, totals, 1), sys.float_info.min)
    mean = np.log(safe).mean(axis=-1)
    penalty = brevity_penalty(statistics[..., 0], statistics[..., 1])
    return np.where(matches[..., 0] > 0, 100 * penalty * np.exp(mean), 0.0)


def brevity_penalty(
    candidate: NDArray[np.float64], reference: NDArray[np.float64]
) -> NDArray[np.float64]:
    """exp(1 - reference / candidate) for candidates that are too short; 0 for empty ones."""
    ratio = np.ones(np.broadcast_shapes(candidate.shape, reference.shape))
    with np.errstate(divide="ignore"):  # of an empty candidate: exp(-inf) is 0
        np.divide(reference, candidate, out=ratio, where=candidate < reference)
    penalty: NDArray[np.float64] = np.exp(1 - ratio)
    return penalty


@dataclass(frozen=True)
class Bleu(Options, Metric):
    """BLEU: n-gram precision against the references, with a penalty for brevity; 0 to 100.

    Segments and systems score as sacreBLEU's sentence_score and corpus_score do.

    Attributes:
        lowercase: ignore case.
        tokenize: sacreBLEU's name of the tokeniser; by default its choice for the target
            language: zh, ja-mecab, ko-mecab (char where these two are not installed), else 13a;
            char for Thai, Lao, Khmer, Burmese and Tibetan. Where no language is given, the script
            of the references tells these languages.
        smooth_method: "exp", "floor", "add-k" or "none".
        smooth_value: for "floor" (.1 by default) and "add-k" (1).
        max_ngram_order: length of the longest n-grams, at most 100.
        effective_order: leave out orders that are longer than the candidate; by default for
            segments but not for systems, as sacreBLEU's command does.
        variant: "authors" for nltk's unsmoothed BLEU times 100, which MuLER's paper used.

    Raises:
        SpecError: an option is out of range, or does not go with ``variant``.
        UnknownNameError: there is no such tokeniser.
    """

    name: ClassVar[str] = "bleu"
    title: ClassVar[str] = "BLEU"
    titles: ClassVar[Mapping[str, str]] = MappingProxyType({"tokenize='flores200'": "spBLEU"})
    pooled: ClassVar[bool] = False
    can: ClassVar[frozenset[str]] = frozenset(("statistics", "mask", "ngrams"))
    packages: ClassVar[tuple[str, ...]] = ("sacrebleu",)
    bounds = MappingProxyType({"max_ngram_order": (1, 100), "smooth_value": (0, 1000)})

    lowercase: bool = False
    tokenize: str | None = None
    smooth_method: SmoothMethod = "exp"
    smooth_value: float | None = None
    max_ngram_order: int = 4
    effective_order: bool | None = None
    variant: Literal["authors"] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        tokenisers = [name for name in TOKENISERS if name != "chrf"]
        if self.tokenize is not None and self.tokenize not in tokenisers:
            raise UnknownNameError("tokeniser", self.tokenize, tokenisers)
        if self.variant and replace(self, variant=None) != Bleu(self.lowercase, self.tokenize):
            raise SpecError(
                f"{self.spec}: the authors' variant is unsmoothed BLEU of order 4; it goes with"
                " lowercase and tokenize only"
            )

    def check_outline(self, outline: Outline | None) -> None:  # noqa: ARG002  # as all metrics
        """Refuse a tokeniser that cannot be had; errors as for :meth:`bind`."""
        if self.tokenize is not None:
            check_tokeniser(self.tokenize)

    def requires(self, language: str | None) -> tuple[Dependency, ...]:
        """sacreBLEU, and the packages of the tokeniser."""
        return (*super().requires(language), *tokeniser_needs(self.tokenize, language))

    def bind(self, testset: TestSet) -> BoundBleu:
        """Choose the tokeniser for the language of the test set.

        Raises:
            DataError: the test set has no references.
            MissingDependencyError: the tokeniser needs a package or a model that is not there.
        """
        chosen = fitting_tokeniser(testset, self.tokenize)
        tokeniser = load_tokeniser(chosen.name, lowercase=self.lowercase)
        effective = {None: "segments", True: "yes", False: "no"}[self.effective_order]
        fields = {
            **references_field(testset, self.name),
            "case": "lc" if self.lowercase else "mixed",
            "eff": "no" if self.variant else effective,
            "tok": tokeniser.name,
            "smooth": "none" if self.variant else _smooth_field(self.smoothing),
        }
        signature = Signature(self.spec).adding(fields)
        return BoundBleu(signature, TokenisedTexts(tokeniser), self, chosen.notices)

    @property
    def smoothing(self) -> Smoothing:
        """The smoothing of zero matches."""
        return Smoothing(self.smooth_method, self.smooth_value)


@dataclass(frozen=True, eq=False)
class BoundBleu(CountedNgrams):
    """BLEU with its tokeniser; has the powers statistics, masking and native signature.

    Its statistics are lengths (candidate, closest reference), matches, totals: [..., 2 + 2 n].
    """

    ngram_union: ClassVar[bool] = True
    ngram_sums: ClassVar[bool] = True

    metric: Bleu
    choice: tuple[Message, ...] = ()

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Corpus BLEU [...] of summed statistics [..., 2 + 2 n]."""
        if self.metric.variant:
            return nltk_bleu(statistics)
        effective = bool(self.metric.effective_order)
        return bleu(statistics, self.metric.smoothing, effective_order=effective)

    def sentence_scores(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sentence BLEU [...] of statistics [..., 2 + 2 n]."""
        if self.metric.variant:
            return nltk_bleu(counts)
        effective = self.metric.effective_order is not False
        return bleu(counts, self.metric.smoothing, effective_order=effective)

    def ngram_count(
        self, batch: Batch, comparisons: TextComparisons, masks: TokenMasks | None
    ) -> NgramCount:
        """The counter of comparisons, each against all of its references at once."""
        layout = NgramLayout.number_words(self.texts.tokens.tokenise(batch.texts))
        counter = NgramCounter(layout, self.metric.max_ngram_order, masks)

        def count(
            rows: NDArray[np.int64], chosen: PlacedMasks | None, *, both: bool
        ) -> list[NDArray[np.float64]]:
            pairing = comparisons.pairing(rows)
            return [
                self._columns(pairing, counted) for counted in counter(pairing, chosen, both=both)
            ]

        return count

    @property
    def ngram_orders(self) -> tuple[int, ...]:
        """1 to the length of the longest n-grams."""
        return tuple(range(1, self.metric.max_ngram_order + 1))

    def ngram_tokens(self, texts: tuple[str, ...]) -> TokenTable:
        """The tokens of texts."""
        return self.texts.tokens.tokenise(texts)

    def ngram_scores(self, counts: NgramCounts, *, corpus: bool) -> NDArray[np.float64]:
        """BLEU [...] of counts, with the penalty for brevity of their lengths."""
        counted = np.concatenate([counts.lengths, counts.matches, counts.candidate], axis=-1)
        return self.aggregate(counted) if corpus else self.sentence_scores(counted)

    @property
    def native_fields(self) -> Mapping[str, object]:
        """As sacreBLEU has them, which has no authors' variant."""
        if self.metric.variant:
            return {}
        return {
            "case": "lc" if self.metric.lowercase else "mixed",
            "eff": "yes" if self.metric.effective_order else "no",
            "tok": self.texts.tokens.tokeniser.name,
            "smooth": _smooth_field(self.metric.smoothing),
        }

    def _columns(self, pairing: TextPairs, found: Counted) -> NDArray[np.float64]:
        """Statistics of some comparisons, float64 [P, 2 + 2 n]."""
        orders = self.metric.max_ngram_order
        counts = totals(found.candidates, orders)
        columns = np.empty((len(counts), 2 + 2 * orders))
        columns[:, 0] = found.candidates
        columns[:, 1] = closest_lengths(pairing, found)
        columns[:, 2 : 2 + orders] = found.matches
        columns[:, 2 + orders :] = np.maximum(counts, 1) if self.metric.variant else counts
        return columns


def closest_lengths(pairing: TextPairs, found: Counted) -> NDArray[np.int64]:
    """Length of the reference nearest in length to each candidate, the shorter one among equals."""
    lengths = found.references
    counts = np.bincount(pairing.reference_groups)
    if counts.max(initial=0) <= 1:
        return lengths[pairing.groups]
    mine = counts[pairing.groups]
    starts = offsets_of(counts)[pairing.groups]
    lengths_of_candidates = np.repeat(found.candidates, mine)
    theirs = lengths[ranges(starts, mine)]
    stride = 1 + int(lengths.max(initial=0))
    nearest: NDArray[np.int64] = np.minimum.reduceat(
        np.abs(lengths_of_candidates - theirs) * stride + theirs, offsets_of(mine)[:-1]
    )
    return nearest % stride


def _smooth_field(smoothing: Smoothing) -> str:
    has_value = smoothing.method in ("floor", "add-k")
    return f"{smoothing.method}[{smoothing.value:.2f}]" if has_value else smoothing.method
