"""Masking for metrics that only take texts: mask words are put into the texts by offset."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from gnomon.batch import Batch, Ragged
from gnomon.errors import MaskingError, ScoringError, UsageError
from gnomon.metrics.masking import Action
from gnomon.metrics.protocol import Costly, Masking
from gnomon.metrics.sequences import TokenMasks
from gnomon.metrics.tokenise import Tokenised, default_tokeniser, load_tokeniser

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.protocol import BoundMetric, Input, MaskingMetric
    from gnomon.metrics.sequences import Masks
    from gnomon.metrics.tokenise import TokenTable
    from gnomon.signature import Signature

__all__ = ["BlackBox", "MaskWords", "check_absent", "surviving_words", "with_masking"]


# Words that stand for masks in texts, and the probe whether a metric tells them apart.


#: scores closer than this (relative and absolute) count as equal
_MARGIN = 1e-6


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


def surviving_words(bound: BoundMetric, batch: Batch) -> MaskWords:
    """Mask words that occur in no text of the batch and survive in the metric.

    Raises:
        MaskingError: there are none: oracle equals anti-oracle under this metric.
        ScoringError: the metric fails, whatever the mask.
    """
    failures: list[ScoringError] = []
    tried = 0
    for words in _PROPOSALS:
        if _present(words, batch.texts):
            continue
        tried += 1
        try:
            if _survive(bound, words, batch.language_pair):
                return words
        except ScoringError as error:
            failures.append(error)
    if failures and len(failures) == tried:
        raise failures[0]  # no mask is at fault: the metric fails on any text
    raise MaskingError(
        f"oracle equals anti-oracle under {bound.name}: {len(_PROPOSALS)} sets of mask words were"
        " tried, and none makes texts with equal masks score like identical texts and better than"
        " texts with different masks; MuLER is undefined for this metric"
    )


def _survive(bound: BoundMetric, words: MaskWords, language_pair: str | None) -> bool:
    """Whether a metric tells three mask words apart in a short sentence."""
    plain = _carrier("house", "garden")
    shared, candidate, reference = (_carrier(word, word) for word in words)
    pairs = [
        (plain, plain),
        (shared, shared),
        (candidate, reference),
        (candidate, shared),
        (shared, reference),
    ]
    probe = Batch.build(
        systems={"probe": [pair[0] for pair in pairs]},
        references=[[pair[1] for pair in pairs]],
        sources=[plain] * len(pairs),
        language_pair=language_pair,
    )
    sign = 1.0 if bound.higher_is_better else -1.0
    identical, equal, *different = (sign * bound.segments(probe)[0]).tolist()
    return _reaches(equal, identical) and all(_beats(equal, other) for other in different)


def _carrier(first: str, second: str) -> str:
    return f"we saw the {first} near the {second} today ."


def _reaches(score: float, goal: float) -> bool:
    return score >= goal or math.isclose(score, goal, rel_tol=_MARGIN, abs_tol=_MARGIN)


def _beats(score: float, other: float) -> bool:
    return score > other and not math.isclose(score, other, rel_tol=_MARGIN, abs_tol=_MARGIN)


def check_absent(words: MaskWords, texts: Sequence[str]) -> None:
    """Refuse texts in which a mask word occurs.

    Raises:
        MaskingError: one does.
    """
    if _present(words, texts):
        raise MaskingError(
            f"one of the mask words {', '.join(map(ascii, words))} occurs in a text; choose them"
            " for these very texts: with_masking(bound, batch)"
        )


def _present(words: MaskWords, texts: Sequence[str]) -> bool:
    # metrics may ignore case
    whole = "\n".join(texts).casefold()
    return any(word in whole for word in words)


# Masking for metrics that only take texts: mask words are put into the texts by offset.
#
# Mask words occur in none of the texts, and the metric is probed: texts with equal masks must score
# like identical texts and strictly better than texts with different masks. Some tokenisers delete
# characters that others keep, so several kinds of words are tried.


#: scores per call of the metric, which bounds the memory of many variants
_CELLS = 250_000


def with_masking(
    bound: BoundMetric, batch: Batch, *, tokeniser: str | None = None
) -> MaskingMetric:
    """A bound metric that has the power of masking: itself, or a wrapper that edits texts.

    Args:
        bound: the metric.
        batch: all texts that will be masked; slices of this batch may be scored later.
        tokeniser: whose tokens are masked; by default BLEU's for the target language (13a for
            most).

    Returns:
        ``bound`` if it can mask its own tokens; else a metric with the same scores whose method
        ``masked`` works for any function of texts. Its signature names the mask words.

    Raises:
        MaskingError: oracle equals anti-oracle under the metric: no mask words were found that
            survive in it.
    """
    if isinstance(bound, Masking):
        return cast("MaskingMetric", bound)
    words = surviving_words(bound, batch)
    chosen = tokeniser or default_tokeniser(batch.target_language)
    return BlackBox(bound, words, Tokenised(load_tokeniser(chosen)))


@dataclass(frozen=True, eq=False)
class BlackBox:
    """A metric on texts, with masks; made by :func:`with_masking`.

    Attributes:
        bound: the metric that scores.
        words: the mask words.
        tokens: the tokens that are masked.
    """

    bound: BoundMetric
    words: MaskWords
    tokens: Tokenised

    @property
    def name(self) -> str:
        """Name of the metric."""
        return self.bound.name

    @property
    def needs(self) -> frozenset[Input]:
        """What the metric scores candidates against."""
        return self.bound.needs

    @property
    def higher_is_better(self) -> bool:
        """False for error rates."""
        return self.bound.higher_is_better

    @property
    def signature(self) -> Signature:
        """The metric's signature, with the masked tokens and the word for a shared mask."""
        mask = self.words.shared
        shown = mask if mask.isascii() else "+".join(f"U{ord(c):X}" for c in mask)
        return self.bound.signature.adding(tok=self.tokens.tokeniser.name, mask=shown)

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """The metric's sentence scores, float64 [K, N]."""
        return self.bound.segments(batch)

    def system(self, batch: Batch) -> NDArray[np.float64]:
        """The metric's corpus scores, float64 [K]."""
        return self.bound.system(batch)

    def mask_lengths(self, batch: Batch, plan: MaskPlan) -> None:
        """Mask words have a fixed length."""

    def check_cost(self, batch: Batch, plan: MaskPlan) -> None:
        """Refuse a plan that costs more than a costly metric may.

        Raises:
            UsageError: it does.
        """
        if not isinstance(self.bound, Costly):
            return
        table = self.tokens.of(batch.texts)
        masks = TokenMasks.of(table, plan)
        calls = sum(
            self.bound.calls(batch.select(segments=edited.columns.astype(np.int32)))
            for edited in _variants(batch, table, masks, self.words)
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

        Raises:
            MaskingError: a mask word occurs in a text.
            UsageError: the variants together cost more than the metric may.
        """
        check_absent(self.words, batch.texts)
        self.check_cost(batch, plan)
        table = self.tokens.of(batch.texts)
        masks = TokenMasks.of(table, plan)
        scores = np.broadcast_to(self.bound.segments(batch), (plan.variants, *batch.shape)).copy()
        for chunk in _chunks(_variants(batch, table, masks, self.words), batch.shape[0]):
            joined = _joined(batch, chunk)
            found = np.split(
                self.bound.segments(joined),
                np.cumsum([len(edited.columns) for edited in chunk])[:-1],
                axis=1,
            )
            for edited, part in zip(chunk, found, strict=True):
                scores[edited.variant][:, edited.columns] = part
        return scores


class _Edited(NamedTuple):
    """What one variant makes of the texts.

    Attributes:
        variant: number of the variant.
        columns: segments that it changes for some system.
        candidates: text index -> its text as a candidate, for those that change.
        references: text index -> its text as a reference, for those that change.
    """

    variant: int
    columns: NDArray[np.int64]
    candidates: dict[int, str]
    references: dict[int, str]


def _variants(
    batch: Batch, table: TokenTable, masks: TokenMasks, words: MaskWords
) -> Iterator[_Edited]:
    as_candidate = set(np.unique(batch.candidates).tolist())
    every = [batch.references, *batch.system_references.values()]
    as_reference = set(np.unique(np.concatenate([part.indices for part in every])).tolist())
    for variant in range(masks.plan.variants):
        chosen = masks.masks(variant)
        touched = np.unique(table.text_of[chosen.token]).tolist()
        edits = {text: _Edit.of(batch.texts[text], table, text, chosen) for text in touched}
        candidates = {
            t: edits[t].side(words, words.candidate) for t in touched if t in as_candidate
        }
        references = {
            t: edits[t].side(words, words.reference) for t in touched if t in as_reference
        }
        columns = _changed_columns(batch, set(candidates), set(references))
        if len(columns):
            yield _Edited(variant, columns, candidates, references)


class _Edit(NamedTuple):
    """The masked tokens of one text: (start, end, shared or not, whether a mask begins here)."""

    text: str
    rows: list[tuple[int, int, bool, bool]]

    @classmethod
    def of(cls, string: str, table: TokenTable, text: int, masks: Masks) -> _Edit:
        own = table.rows(text)
        low, high = np.searchsorted(masks.token, [own.start, own.stop])
        token = masks.token[low:high]
        columns = (
            table.start[token].tolist(),
            table.end[token].tolist(),
            (masks.action[low:high] == Action.SHARED).tolist(),
            masks.first[low:high].tolist(),
        )
        return cls(string, list(zip(*columns, strict=True)))

    def side(self, words: MaskWords, private: str) -> str:
        """The text with mask words; neighbours that touch are kept apart by a space."""
        parts: list[str] = []
        at = 0
        for start, end, shared, first in self.rows:
            if first:
                between = self.text[at:start]
                parts += [between or (" " if parts else ""), words.shared if shared else private]
            at = max(at, end)
        return "".join([*parts, self.text[at:]])


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


def _joined(batch: Batch, chunk: Sequence[_Edited]) -> Batch:
    """The changed segments of some variants side by side, every distinct text once."""
    index = {text: number for number, text in enumerate(batch.texts)}
    same = np.arange(len(batch.texts))

    def renumbered(edits: dict[int, str]) -> NDArray[np.int64]:
        numbers = same.copy()
        for text, edited in edits.items():
            numbers[text] = index.setdefault(edited, len(index))
        return numbers

    as_candidate = [renumbered(edited.candidates) for edited in chunk]
    as_reference = [renumbered(edited.references) for edited in chunk]
    parts = [batch.select(segments=edited.columns.astype(np.int32)) for edited in chunk]

    def stacked(ragged: Sequence[Ragged]) -> Ragged:
        rows = [
            numbers[row].tolist()
            for numbers, own in zip(as_reference, ragged, strict=True)
            for row in own
        ]
        return Ragged.of(rows)

    candidates = [
        numbers[part.candidates] for numbers, part in zip(as_candidate, parts, strict=True)
    ]
    sources = [part.sources for part in parts if part.sources is not None]
    return replace(
        batch,
        texts=tuple(index),
        candidates=np.concatenate(candidates, axis=1).astype(np.int32),
        references=stacked([part.references for part in parts]),
        sources=np.concatenate(sources) if sources else None,
        segments=np.concatenate([part.segments for part in parts]),
        system_references={
            system: stacked([part.system_references[system] for part in parts])
            for system in batch.system_references
        },
    )
