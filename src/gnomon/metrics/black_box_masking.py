"""Masks in texts, for any metric: mask words put in by offset, or words that stand in for others.

A metric that masks its own tokens needs none of this. For any other, three words that occur in no
text stand for the masks (:class:`BlackBox`); or the candidate's words of a feature are replaced by
the reference's own, and by words of that feature from elsewhere (:class:`Substitution`).
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from gnomon.core.batch import Batch, Ragged
from gnomon.core.errors import MaskingError, ScoringError, UsageError
from gnomon.core.options import SEED
from gnomon.linguistics import Edit, apply_edits
from gnomon.messages import message
from gnomon.metrics.base import BoundMetric
from gnomon.metrics.donors import hashes_of, ranks_of
from gnomon.metrics.masking import Action
from gnomon.metrics.means import mean_of_cells
from gnomon.metrics.sequences import TokenMasks
from gnomon.metrics.tokenise import Tokenised, fitting_tokeniser, load_tokeniser

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.signature import Signature
    from gnomon.messages import Message
    from gnomon.metrics.base import Input
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.tokenise import TokenTable

    Rows = Mapping[int, list["_Piece"]]

__all__ = [
    "BlackBox",
    "MaskProbe",
    "MaskWords",
    "Substitution",
    "check_absent",
    "make_maskable",
    "make_substitutable",
    "surviving_words",
]


# Words that stand for masks in texts, and the probe whether a metric tells them apart.


#: scores closer than this (relative and absolute) count as equal
_MARGIN = 1e-6
_PROBED = 12  # segments of the batch that mask words are tried on
_PROBED_COSTLY = 3  # likewise, of a metric that scores many texts for each
_EVERY = 3  # every third word is masked there
_AGREE = 2 / 3  # of the segments where masks make a difference, those that must go the right way


class MaskWords(NamedTuple):
    """The words that stand for masks: one for both sides, and one for each side alone."""

    shared: str
    candidate: str
    reference: str


#: private-use characters; words of rare letters, pairwise without a letter in common; numbers
_PROPOSALS = (
    MaskWords("\ue5a1", "\ue5b2", "\ue5c3"),
    MaskWords("qzqzqz", "xjxjxj", "vkvkvk"),
    MaskWords("zqzqzqzq", "jxjxjxjx", "kvkvkvkv"),
    MaskWords("7171717", "2828282", "9393939"),
    MaskWords("171717171", "828282828", "393939393"),
)


@dataclass(frozen=True)
class MaskProbe:
    """A metric's scores of mask words in references of the batch, each beside itself."""

    words: MaskWords
    identical: NDArray[np.float64]  # [P], scores of references beside themselves, oriented
    # [P], the same with every third word masked alike on both sides
    alike: NDArray[np.float64]
    # [3, P], masked differently: a mask per side; the candidate's mask or the reference's
    # beside the shared one
    different: NDArray[np.float64]

    @property
    def lead(self) -> float:
        """Lead of texts masked alike over those masked differently, the closest of three."""
        return mean_of_cells(self.alike) - max(map(mean_of_cells, self.different))

    @property
    def shortfall(self) -> float:
        """Shortfall of texts masked alike against identical ones; 0: no more than rounding."""
        if not len(self.alike):
            return 0.0
        top, alike = mean_of_cells(self.identical), mean_of_cells(self.alike)
        return 0.0 if math.isclose(top, alike, rel_tol=_MARGIN, abs_tol=_MARGIN) else top - alike

    @property
    def blind(self) -> bool:
        """True if no segment tells masks that are alike from different ones."""
        return bool(_close(self.alike, self.different).any(axis=0).all())

    @property
    def lawful(self) -> bool:
        """True if alike scores above different, on average and in most segments that differ."""
        if not len(self.alike):
            return True
        noise = _MARGIN * max(1.0, abs(mean_of_cells(self.alike)))
        differs = ~_close(self.alike, self.different).all(axis=0)
        better = (self.alike > self.different).all(axis=0)
        return self.lead > noise and better.sum() >= _AGREE * differs.sum()


def _close(alike: NDArray[np.float64], different: NDArray[np.float64]) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = np.isclose(alike, different, rtol=_MARGIN, atol=_MARGIN)
    return same | np.isnan(alike) | np.isnan(different)


def surviving_words(
    bound: BoundMetric,
    batch: Batch,
    tokens: Tokenised,
    words: MaskWords | None = None,
    *,
    apart: bool = False,
) -> MaskProbe:
    """Mask words that occur in no text of the batch and survive in the metric.

    They must obey one law: texts masked alike score above texts masked differently. They are
    tried on references of the batch, each in its own segment, so that a metric that froze something
    for each segment finds it there. How identical texts score is not asked for: a metric may think
    little of any mask word.
    """
    if words is not None:
        check_absent(words, batch.texts)
    failures: list[ScoringError] = []
    tried: list[MaskProbe] = []
    for proposal in _PROPOSALS if words is None else (words,):
        if words is None and _present(proposal, batch.texts):
            continue
        try:
            tried.append(_probe(bound, batch, tokens, proposal, apart=apart))
        except ScoringError as error:
            failures.append(error)
            continue
        if tried[-1].lawful:
            return tried[-1]
    if failures and not tried:
        raise failures[0]  # no mask is at fault: the metric fails on any text
    raise MaskingError(_refusal(bound, tried))


def _refusal(bound: BoundMetric, tried: Sequence[MaskProbe]) -> str:
    remedy = (
        "; let other words stand in (masking='substitute'), or name three words that it tells apart"
        " (in Python, masking=gnomon.muler.Masks(words=...))"
    )
    if all(probe.blind for probe in tried):
        return (
            f"oracle equals anti-oracle under {bound.name}: {len(tried)} sets of mask words were"
            " tried, and none makes texts that are masked alike score otherwise than texts that"
            f" are masked differently{remedy}"
        )
    best = max((probe for probe in tried if not probe.blind), key=lambda probe: probe.lead)
    sign = 1.0 if bound.higher_is_better else -1.0
    alike, different = (
        sign * mean_of_cells(best.alike),
        sign * max(map(mean_of_cells, best.different)),
    )
    return (
        f"{bound.name} does not score texts that are masked alike above texts that are masked"
        f" differently: {alike:.4g} and {different:.4g} on {len(best.alike)} segments at best, of"
        f" {len(tried)} sets of mask words{remedy}"
    )


def _probe(
    bound: BoundMetric, batch: Batch, tokens: Tokenised, words: MaskWords, *, apart: bool
) -> MaskProbe:
    """Score references of the batch beside themselves, masked in five ways."""
    places = _choose_probe_segments(batch, bound)
    if not len(places):  # there is nothing that a mask could stand for
        none = np.zeros(0)
        return MaskProbe(words, none, none, np.zeros((3, 0)))
    probed = batch.select(systems=[0], segments=places)
    numbers = [int(row[0]) for row in probed.references_of(0)]
    table = tokens.tokenise(batch.texts)
    plain = [batch.texts[number] for number in numbers]
    masked = [
        _mask_every_third(batch.texts[number], table, number, words, apart=apart)
        for number in numbers
    ]
    shared, candidate, reference = (list(side) for side in zip(*masked, strict=True))
    sides = (
        (plain, plain),
        (shared, shared),
        (candidate, reference),
        (candidate, shared),
        (shared, reference),
    )
    scores = [_score_pairs(bound, probed, *side) for side in sides]
    identical, alike, *different = scores
    return MaskProbe(words, identical, alike, np.array(different))


def _choose_probe_segments(batch: Batch, bound: BoundMetric) -> NDArray[np.int32]:
    """Segments for the probe: spread over those of the first system with words to mask."""
    given = [row.tolist() for row in batch.references_of(0)]
    filled = [i for i, row in enumerate(given) if row and batch.texts[row[0]].strip()]
    most = _PROBED if bound.max_calls is None else _PROBED_COSTLY
    chosen = np.linspace(0, max(len(filled) - 1, 0), min(most, len(filled))).round().astype(int)
    return np.array([filled[i] for i in chosen.tolist()], dtype=np.int32)


def _mask_every_third(
    string: str, table: TokenTable, text: int, words: MaskWords, *, apart: bool
) -> tuple[str, str, str]:
    """A text with every third token masked: alike, as a candidate, as a reference."""
    located = [(start, end) for start, end in table.spans(text) if start >= 0]
    pieces = [_Piece(*span, Action.PRIVATE) for span in located[::_EVERY]]
    shared, candidate, reference = (
        _insert_masks(string, pieces, "", word, apart=apart) for word in words
    )
    return shared, candidate, reference


def _score_pairs(
    bound: BoundMetric, part: Batch, candidates: Sequence[str], references: Sequence[str]
) -> NDArray[np.float64]:
    """Scores of pairs of texts, oriented, each in the place of a segment of the first system."""
    index = {text: number for number, text in enumerate(part.texts)}
    candidate_numbers, reference_numbers = (
        [index.setdefault(text, len(index)) for text in side] for side in (candidates, references)
    )
    pairs = replace(
        part,
        texts=tuple(index),
        candidates=np.array([candidate_numbers], dtype=np.int32),
        references=Ragged.pack([[number] for number in reference_numbers]),
        system_references={},
    )
    sign = 1.0 if bound.higher_is_better else -1.0
    scores: NDArray[np.float64] = sign * bound.segments(pairs)[0]
    return scores


def check_absent(words: MaskWords, texts: Sequence[str]) -> None:
    """Refuse texts in which a mask word occurs."""
    if _present(words, texts):
        raise MaskingError(
            f"one of the mask words {', '.join(map(ascii, words))} occurs in a text; take words"
            " that occur in none of them, or name none: a probe chooses them"
        )


def _present(words: MaskWords, texts: Sequence[str]) -> bool:
    # metrics may ignore case
    whole = "\n".join(texts).casefold()
    return any(word.casefold() in whole for word in words)


# Masking for metrics that only take texts: mask words are put into the texts by offset.


#: scores per call of the metric, which bounds the memory of many variants
_CELLS = 250_000


def make_maskable(
    bound: BoundMetric,
    batch: Batch,
    *,
    tokeniser: str | None = None,
    words: Sequence[str] | None = None,
    in_place: bool = False,
    pooled: bool = True,
) -> BoundMetric:
    """A bound metric that has the power of masking: itself, or a wrapper that edits texts.

    Args:
        bound: the metric.
        batch: all texts that will be masked; slices of this batch may be scored later.
        tokeniser: whose tokens are masked; by default BLEU's for the target language (13a for
            most).
        words: the three mask words (see :class:`MaskWords`); chosen by a probe by default.
        in_place: the characters of the spans themselves are masked, each mask a white-space word
            of its own, and not the tokens that they lie in; also of a metric that can mask its own
            tokens.
        pooled: a metric that exchanges words in its vectors (COMET) may do so.

    Returns:
        ``bound`` if it can mask its own tokens, or may exchange words in its vectors; else a metric
        with the same scores whose method ``masked`` works for any function of texts. Its signature
        names the mask words.

    Raises:
        MaskingError: no mask words were found that survive in the metric, or those that are named
            do not.
    """
    masks = "mask" in bound.can and (pooled or bound.masks_used != "pooled")
    if masks and not in_place:
        return bound
    tokens = Tokenised(load_tokeniser(fitting_tokeniser(batch, tokeniser).name))
    named = None if words is None else MaskWords(*words)
    probe = surviving_words(bound, batch, tokens, named, apart=in_place)
    return BlackBox(bound, probe, tokens, in_place)


@dataclass(frozen=True, eq=False)
class TextEditing(BoundMetric, ABC):
    """A metric on texts that are edited; what it says of texts as they are is the metric's own."""

    bound: BoundMetric

    @property
    def name(self) -> str:
        """Name of the metric."""
        return self.bound.name

    @property
    def needs(self) -> frozenset[Input]:
        """The inputs that the metric scores candidates against."""
        return self.bound.needs

    @property
    def higher_is_better(self) -> bool:
        """False for error rates."""
        return self.bound.higher_is_better

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """The metric's sentence scores, float64 [K, N]."""
        return self.bound.segments(batch)

    def system(self, batch: Batch) -> NDArray[np.float64]:
        """The metric's corpus scores, float64 [K]."""
        return self.bound.system(batch)

    def check_cost(self, batch: Batch, plan: MaskPlan) -> None:
        """Refuse a plan that costs more than a costly metric may."""
        if self.bound.max_calls is None:
            return
        calls = sum(
            self.bound.cost(batch.select(segments=edited.columns.astype(np.int32)))
            for edited in self._variants(batch, plan)
        )
        if calls > self.bound.max_calls:
            raise UsageError(
                f"{plan.variants} masked variants under {self.name!r} take up to {calls} metric"
                f" calls beside those of the texts as they are, more than the"
                f" {self.bound.max_calls} that are allowed; take fewer features, systems or"
                " segments, or allow more with max_calls= in the metric's spec"
            )

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        """Sentence scores of every variant, float64 [V, K, N].

        Segments that a variant leaves as they are keep their scores and are not scored again.
        """
        self.check_cost(batch, plan)
        return self._score(batch, plan)

    def _score(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        scores = np.broadcast_to(self.bound.segments(batch), (plan.variants, *batch.shape)).copy()
        for chunk in _chunks(self._variants(batch, plan), batch.shape[0]):
            joined = _join_edited(batch, chunk)
            edited_scores = np.split(
                self.bound.segments(joined),
                np.cumsum([len(edited.columns) for edited in chunk])[:-1],
                axis=1,
            )
            for edited, values in zip(chunk, edited_scores, strict=True):
                scores[edited.variant][:, edited.columns] = values
        return scores

    @abstractmethod
    def _variants(self, batch: Batch, plan: MaskPlan) -> Iterator[_Edited]:
        """Yield the texts as edited by each variant that changes something."""


@dataclass(frozen=True, eq=False)
class BlackBox(TextEditing):
    """A metric on texts, with masks; made by :func:`make_maskable`."""

    probe: MaskProbe  # the mask words, and what the metric made of them
    tokens: Tokenised  # the tokens that are masked
    in_place: bool = False  # spans themselves are masked instead

    @property
    def masks_used(self) -> str:
        """Words in the place of tokens, or of the spans themselves."""
        return "in-place" if self.in_place else "mask words"

    @property
    def words(self) -> MaskWords:
        """The mask words."""
        return self.probe.words

    @property
    def signature(self) -> Signature:
        """The metric's signature, with the masked tokens and the word for a shared mask."""
        mask = _spell_mask(self.words.shared)
        if self.in_place:
            return self.bound.signature.adding(masking="in-place", mask=mask)
        return self.bound.signature.adding(tok=self.tokens.tokeniser.name, mask=mask)

    def mask_tokens(self, batch: Batch) -> TokenTable | None:
        """The tokens that masks are put on; None: on spans themselves."""
        return None if self.in_place else self.tokens.tokenise(batch.texts)

    def mask_notices(self) -> tuple[Message, ...]:
        """Notices of the masks for readers of MuLER."""
        short = self.probe.shortfall
        if not short:
            return ()
        sign = 1.0 if self.higher_is_better else -1.0
        top, alike = (
            sign * mean_of_cells(scores) for scores in (self.probe.identical, self.probe.alike)
        )
        how = "worse" if short > 0 else "better"
        notice = message(
            "note.metrics.masked_alike",
            metric=self.name,
            how=how,
            so=how,
            alike=alike,
            top=top,
            references=len(self.probe.alike),
        )
        return (notice,)

    def _variants(self, batch: Batch, plan: MaskPlan) -> Iterator[_Edited]:
        check_absent(self.words, batch.texts)
        masks = (
            None if self.in_place else TokenMasks.locate(self.tokens.tokenise(batch.texts), plan)
        )
        candidate_texts, reference_texts = _sides(batch)
        shared, candidate, reference = self.words
        for variant in range(plan.variants):
            pieces = (
                _span_pieces(batch, plan, variant)
                if masks is None
                else _token_pieces(masks, variant)
            )
            candidates, references = (
                {
                    text: _insert_masks(
                        batch.texts[text], rows, shared, private, apart=self.in_place
                    )
                    for text, rows in pieces.items()
                    if text in side
                }
                for side, private in ((candidate_texts, candidate), (reference_texts, reference))
            )
            columns = _changed_columns(batch, set(candidates), set(references))
            if len(columns):
                yield _Edited(variant, columns, candidates, references, {})


def _spell_mask(mask: str) -> str:
    return mask if mask.isascii() else "+".join(f"U{ord(c):X}" for c in mask)


# Words that stand in for others: the reference's own, or some of the same class from elsewhere.


def make_substitutable(bound: BoundMetric, batch: Batch, *, seed: int = SEED) -> Substitution:
    """A bound metric whose oracle and anti-oracle are made of words instead of masks.

    Args:
        bound: the metric.
        batch: all texts that will be masked; words of anti-oracles are those of its references.
        seed: of the words that are drawn.
    """
    by_system = {
        batch.systems[k]: _texts_of(batch, references)
        for k, references in batch.system_references.items()
    }
    return Substitution(bound, _texts_of(batch, batch.references), by_system, seed)


def _texts_of(batch: Batch, references: Ragged) -> Mapping[str, int]:
    """The texts of some references, and how often each occurs."""
    return Counter(batch.texts[number] for number in references.indices.tolist())


@dataclass(frozen=True, eq=False)
class Substitution(TextEditing):
    """A metric on texts whose candidates' words are replaced; references stay as they are.

    Within a segment, spans of the candidate whose words the reference has too are left to these;
    the other spans take, in their order, the words that the reference has left. Spans beyond these
    have no counterpart. Of several references the one with the nearest number of spans counts, the
    first among equals.

    - *oracle* (a shared mask in a plan): each span becomes its counterpart's words, so that the
      candidate says of the feature what the reference says, where it says anything of it;
    - *anti-oracle* (a private mask): each span becomes words of the feature that some other
      reference of the whole test set has and this segment's do not, drawn by hashes of the seed, of
      the segment's references and of the words, and by the number of the span: the same for all
      systems, whatever is scored beside it (:mod:`gnomon.metrics.donors`). Where there are none,
      it stays.

    What a plan does with a span that has a counterpart is what it does with the counterpart.
    """

    masks_used: ClassVar[str] = "substitute"

    givers: Mapping[str, int]  # references of the test set, and how often each occurs
    system_givers: Mapping[str, Mapping[str, int]]  # likewise of systems that have their own
    seed: int = SEED
    # hash of each occurrence of a word that was asked for
    hashes: dict[tuple[str, int], np.uint64] = field(default_factory=dict)

    @property
    def signature(self) -> Signature:
        """The metric's signature, with the seed of the words."""
        return self.bound.signature.adding(masking="substitute", draw=self.seed)

    def _variants(self, batch: Batch, plan: MaskPlan) -> Iterator[_Edited]:
        for variant in range(plan.variants):
            pieces = _span_pieces(batch, plan, variant, whole=True)
            yield from self._edit_system(batch, variant, pieces)

    def _edit_system(self, batch: Batch, variant: int, pieces: Rows) -> Iterator[_Edited]:
        shared = self._donors(batch, self.givers, pieces)
        texts: dict[tuple[int, int], str] = {}
        for system, name in enumerate(batch.systems):
            references = batch.references_of(system)
            givers = self.system_givers.get(name)
            donors = shared if givers is None else self._donors(batch, givers, pieces)
            for n, text in enumerate(batch.candidates[system].tolist()):
                rows = pieces.get(text)
                if not rows:
                    continue
                beside = [pieces.get(r, []) for r in references[n].tolist()]
                if not any(beside):
                    continue
                others = references[n].tolist()
                new = self._replace_words(batch, donors, text, rows, others, beside)
                if new != batch.texts[text]:
                    texts[system, n] = new
        if texts:
            columns = np.unique([n for _, n in texts])
            yield _Edited(variant, columns, {}, {}, texts)

    def _replace_words(
        self,
        batch: Batch,
        donors: _DonorWords,
        text: int,
        rows: list[_Piece],
        references: list[int],
        beside: list[list[_Piece]],
    ) -> str:
        """The text of a candidate with other words in its spans."""
        near = min(
            (i for i, spans in enumerate(beside) if spans),
            key=lambda i: (abs(len(beside[i]) - len(rows)), i),
        )
        reference = batch.texts[references[near]]
        replaced_words = [batch.texts[text][p.start : p.end] for p in rows]
        its = [reference[p.start : p.end] for p in beside[near]]
        partners = _counterparts(replaced_words, its)
        actions = [
            piece.action if partner is None else beside[near][partner].action
            for piece, partner in zip(rows, partners, strict=True)
        ]
        drawn: Sequence[str | None] = [None] * len(rows)
        if Action.PRIVATE in actions:
            absent = {
                batch.texts[r][p.start : p.end].casefold()
                for r, spans in zip(references, beside, strict=True)
                for p in spans
            }
            segment = (str(self.seed), *(batch.texts[r] for r in references))
            drawn = donors.draw(segment, len(rows), absent)
        words: list[str] = []
        for action, word, partner, other in zip(
            actions, replaced_words, partners, drawn, strict=True
        ):
            if action == Action.PRIVATE:
                words.append(other or word)
            else:
                words.append(word if partner is None else its[partner])
        return _insert_words(batch.texts[text], rows, words)

    def _donors(self, batch: Batch, givers: Mapping[str, int], pieces: Rows) -> _DonorWords:
        """The words of some spans of references that may stand for others."""
        counts: Counter[str] = Counter()
        for text, spans in pieces.items():
            times = givers.get(batch.texts[text], 0)
            for piece in spans if times else ():
                counts[batch.texts[text][piece.start : piece.end]] += times
        words = sorted(counts)
        hashes = []
        for word in words:
            for occurrence in range(counts[word]):
                known = self.hashes.get((word, occurrence))
                if known is None:
                    known = hashes_of([(word, str(occurrence))])[0]
                    self.hashes[word, occurrence] = known
                hashes.append(known)
        return _DonorWords(
            tuple(words),
            {
                folded: [number for number, _ in same]
                for folded, same in groupby(
                    sorted(enumerate(map(str.casefold, words)), key=itemgetter(1)), itemgetter(1)
                )
            },
            np.repeat(np.arange(len(words)), [counts[word] for word in words]),
            np.array(hashes, dtype=np.uint64),
        )


@dataclass(frozen=True, eq=False)
class _DonorWords:
    """The words of a feature in references; each occurrence may be drawn."""

    words: tuple[str, ...]
    numbers: Mapping[str, Sequence[int]]  # by the case-folded word
    owner: NDArray[np.int64]  # [O], the word of each occurrence
    hashes: NDArray[np.uint64]  # [O]

    def draw(
        self, segment: tuple[str, ...], count: int, absent: Collection[str]
    ) -> list[str | None]:
        """Words that a segment draws for its spans; None where all words are absent ones.

        ``segment``: what decides the draw; ``absent``: case-folded words that it must not be.
        """
        fits = np.ones(len(self.words), dtype=np.bool_)
        fits[[number for word in absent for number in self.numbers.get(word, ())]] = False
        allowed = fits[self.owner]
        owner = self.owner[allowed]
        if not len(owner):
            return [None] * count
        spans = hashes_of((*segment, str(span)) for span in range(count))
        hashes = self.hashes[allowed]
        return [self.words[owner[ranks_of(span, hashes).argmin()]] for span in spans]


def _counterparts(own: Sequence[str], its: Sequence[str]) -> list[int | None]:
    """For each word of one list its partner in the other: an equal word, else what is left over.

    >>> _counterparts(["dog", "cat", "cow"], ["cat", "hen"])
    [1, 0, None]
    """
    free: dict[str, list[int]] = {}
    for number, word in enumerate(its):
        free.setdefault(word, []).append(number)
    partners = [free[word].pop(0) if free.get(word) else None for word in own]
    left = iter(sorted(number for numbers in free.values() for number in numbers))
    return [next(left, None) if partner is None else partner for partner in partners]


# Editing texts by offset.


class _Edited(NamedTuple):
    """The texts as one variant edits them."""

    variant: int  # number of the variant
    columns: NDArray[np.int64]  # segments that it changes for some system
    candidates: Mapping[int, str]  # text index -> its text as a candidate, for those that change
    references: Mapping[int, str]  # text index -> its text as a reference, for those that change
    # (system, segment) -> the candidate's text there, where it changes by segment
    cells: Mapping[tuple[int, int], str]


class _Piece(NamedTuple):
    """Characters of a text that something else stands for, and what is done with them."""

    start: int
    end: int
    action: int
    begins: bool = True


def _insert_masks(
    text: str, pieces: Sequence[_Piece], shared: str, private: str, *, apart: bool = False
) -> str:
    """A text with mask words; ``apart``: each is a white-space word of its own."""
    masks = [shared if piece.action == Action.SHARED else private for piece in pieces]
    if apart:
        starts, ends = {piece.start for piece in pieces}, {piece.end for piece in pieces}
        for number, (start, end, *_) in enumerate(pieces):
            before, after = text[:start][-1:], text[end : end + 1]
            left = " " if before.strip() and start not in ends else ""
            right = " " if after.strip() and end not in starts else ""
            masks[number] = left + masks[number] + right
    return _insert_words(text, pieces, masks)


def _insert_words(text: str, pieces: Sequence[_Piece], words: Sequence[str]) -> str:
    """A text with words in place of pieces; neighbours that touch get a space between.

    A piece that does not begin a mask goes with the one before, and with what is between them.
    """
    edits: list[Edit] = []
    at = -1
    for piece, word in zip(pieces, words, strict=True):
        if piece.begins:
            space = " " if piece.start <= at else ""
            edits.append(Edit(max(piece.start, at), max(piece.end, at), space + word))
        else:
            edits[-1] = edits[-1]._replace(end=max(piece.end, at))
        at = edits[-1].end
    return apply_edits(text, edits)


def _sides(batch: Batch) -> tuple[set[int], set[int]]:
    """The texts that are candidates, and those that are references."""
    every = [batch.references, *batch.system_references.values()]
    return (
        set(np.unique(batch.candidates).tolist()),
        set(np.unique(np.concatenate([ragged.indices for ragged in every])).tolist()),
    )


def _token_pieces(masks: TokenMasks, variant: int) -> Rows:
    """The masked tokens of the texts that a variant touches."""
    table, chosen = masks.tokens, masks.masks(variant)
    pieces: dict[int, list[_Piece]] = {}
    columns = (
        table.text_of[chosen.token].tolist(),
        table.start[chosen.token].tolist(),
        table.end[chosen.token].tolist(),
        chosen.action.tolist(),
        chosen.first.tolist(),
    )
    for text, *piece in zip(*columns, strict=True):
        pieces.setdefault(text, []).append(_Piece(*piece))
    return pieces


def _span_pieces(batch: Batch, plan: MaskPlan, variant: int, *, whole: bool = False) -> Rows:
    """The spans of the texts that a variant touches; where spans meet, the strongest one counts."""
    spans, actions = plan.spans, plan.actions[variant]
    rows = np.flatnonzero(actions[spans.feature] != Action.KEEP)
    strength = -actions[spans.feature[rows]].astype(np.int64)
    # by text and strength; what meets a stronger span is left out
    rows = rows[np.lexsort((spans.start[rows], strength, spans.text[rows]))]
    pieces: dict[int, list[_Piece]] = {}
    columns = (spans.text, spans.start, spans.end, actions[spans.feature])
    for text, start, end, action in zip(*(part[rows].tolist() for part in columns), strict=True):
        text_pieces = pieces.setdefault(text, [])
        if all(end <= piece.start or piece.end <= start for piece in text_pieces):
            text_pieces.append(_Piece(start, end, action))
    for text, text_pieces in pieces.items():
        text_pieces.sort()
        if not whole and plan.granularity == "token":
            pieces[text] = [
                word for piece in text_pieces for word in _split_words(batch.texts[text], piece)
            ]
    return pieces


def _split_words(text: str, piece: _Piece) -> list[_Piece]:
    """The white-space words of a piece."""
    return [
        _Piece(piece.start + word.start(), piece.start + word.end(), piece.action)
        for word in re.finditer(r"\S+", text[piece.start : piece.end])
    ]


def _changed_columns(batch: Batch, candidates: set[int], references: set[int]) -> NDArray[np.int64]:
    changed = np.zeros(batch.shape[1], dtype=np.bool_)
    changed |= np.isin(batch.candidates, list(candidates)).any(axis=0)
    for ragged in (batch.references, *batch.system_references.values()):
        segment = np.repeat(np.arange(batch.shape[1]), np.diff(ragged.offsets))
        changed[segment[np.isin(ragged.indices, list(references))]] = True
    return np.flatnonzero(changed)


def _chunks(variants: Iterator[_Edited], systems: int) -> Iterator[list[_Edited]]:
    chunk: list[_Edited] = []
    cells = 0
    for edited in variants:
        chunk.append(edited)
        cells += systems * len(edited.columns)
        if cells >= _CELLS:
            yield chunk
            chunk, cells = [], 0
    if chunk:
        yield chunk


def _join_edited(batch: Batch, chunk: Sequence[_Edited]) -> Batch:
    """The changed segments of some variants side by side, every distinct text once."""
    index = {text: number for number, text in enumerate(batch.texts)}
    same = np.arange(len(batch.texts))

    def renumbered(edits: Mapping[int, str]) -> NDArray[np.int64]:
        numbers = same.copy()
        for text, edited in edits.items():
            numbers[text] = index.setdefault(edited, len(index))
        return numbers

    parts = [batch.select(segments=edited.columns.astype(np.int32)) for edited in chunk]

    def stacked(ragged: Sequence[Ragged]) -> Ragged:
        rows = [
            numbers[row].tolist()
            for numbers, reference_lists in zip(as_reference, ragged, strict=True)
            for row in reference_lists
        ]
        return Ragged.pack(rows)

    candidates = []
    for edited, batch_part in zip(chunk, parts, strict=True):
        texts = renumbered(edited.candidates)[batch_part.candidates]
        column = {int(n): i for i, n in enumerate(edited.columns)}
        for (system, n), text in edited.cells.items():
            texts[system, column[n]] = index.setdefault(text, len(index))
        candidates.append(texts)
    as_reference = [renumbered(edited.references) for edited in chunk]
    sources = [batch_part.sources for batch_part in parts if batch_part.sources is not None]
    return replace(
        batch,
        texts=tuple(index),
        candidates=np.concatenate(candidates, axis=1).astype(np.int32),
        references=stacked([batch_part.references for batch_part in parts]),
        sources=np.concatenate(sources) if sources else None,
        segments=np.concatenate([batch_part.segments for batch_part in parts]),
        system_references={
            system: stacked([batch_part.system_references[system] for batch_part in parts])
            for system in batch.system_references
        },
    )
