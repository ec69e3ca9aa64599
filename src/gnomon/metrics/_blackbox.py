"""Masking for metrics that only take texts: mask words are put into the texts by offset.

Mask words occur in none of the texts, and the metric is probed: texts with equal masks must score
like identical texts and strictly better than texts with different masks. Some tokenisers delete
characters that others keep, so several kinds of words are tried.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from gnomon.batch import Ragged
from gnomon.errors import UsageError
from gnomon.metrics._mask_words import check_absent, surviving_words
from gnomon.metrics._token_masks import TokenMasks
from gnomon.metrics.masking import Action
from gnomon.metrics.protocol import Costly, Masking
from gnomon.metrics.tokenise import Tokenised, default_tokeniser, load_tokeniser

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics._mask_words import MaskWords
    from gnomon.metrics._token_masks import Masks
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.protocol import BoundMetric, MaskingMetric, Need
    from gnomon.metrics.tokenise import TokenTable
    from gnomon.signature import Signature

__all__ = ["BlackBox", "with_masking"]

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
    def needs(self) -> frozenset[Need]:
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
