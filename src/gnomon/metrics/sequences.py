"""Sequences of integers in compressed rows, the tokens that a plan masks, and masked editions.

Masks are negative ids, so that they cannot be any token. A shared mask is the same on both sides;
a private one differs between references and candidates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from gnomon.core.errors import AnnotationError, MaskingError
from gnomon.core.spans import rows_by_number
from gnomon.metrics.masking import Action
from gnomon.metrics.tokenise import TokenPlaces
from gnomon.native import ngrams as loops

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from gnomon.core.spans import SpanTable
    from gnomon.metrics.masking import MaskPlan, Overlap
    from gnomon.metrics.tokenise import TokenTable

__all__ = [
    "PRIVATE_CANDIDATE",
    "PRIVATE_REFERENCE",
    "SHARED",
    "NgramLayout",
    "PlacedMasks",
    "Sequences",
    "Side",
    "TokenMasks",
    "TokenRanges",
    "cut_places",
    "has_marked",
    "mask_stretch",
    "offsets_of",
    "ranges",
]


# Sequences of integers in compressed rows, and their masked editions.


class Sequences(NamedTuple):
    """T rows of ids: row t is ``ids[offsets[t]:offsets[t + 1]]``; negative ids are masks."""

    offsets: NDArray[np.int64]
    ids: NDArray[np.int32]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Length of each row, int64 [T]."""
        lengths: NDArray[np.int64] = np.diff(self.offsets)
        return lengths


class TokenRanges(NamedTuple):
    """Which part of a layout each token holds, from the start to the end, int64 [tokens] each."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NgramLayout:
    """Layout of the units whose n-grams are counted (words, characters), and parts of tokens."""

    base: Sequences  # the ids of all texts, unmasked
    # finds the part of each token in ``base.ids``, called when something is masked; none where
    # every token is one id, and every mask is one
    parts: Callable[[], TokenRanges] | None = None

    @classmethod
    def number_words(cls, tokens: TokenTable) -> NgramLayout:
        """The tokens themselves, one id each."""
        return cls(Sequences(tokens.offsets, tokens.ids))

    @cached_property
    def rows(self) -> loops.Rows:
        """The ids, as compiled loops take them."""
        return loops.Rows(*self.base, 1 + int(self.base.ids.max(initial=-1)))

    def masked_rows(self, masks: TokenMasks) -> loops.MaskedRows:
        """The ids, as loops take them that mask tokens of the texts, or parts of tokens."""
        if self.parts is None:
            return loops.MaskedRows(self.rows, masks.whole.offsets)
        held = self.parts()
        if masks.parts is not None:
            held = masks.parts.split_ranges(held)
        return loops.MaskedRows(self.rows, masks.tokens.offsets, *held)


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Some ranges of integers, one after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    shift = starts - offsets_of(lengths)[:-1]
    total = int(lengths.sum())
    return np.repeat(shift, lengths) + np.arange(total)


def offsets_of(lengths: ArrayLike) -> NDArray[np.int64]:
    """Offsets of rows of these lengths, int64 [rows + 1].

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def has_marked(offsets: NDArray[np.int64], marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows have a marked element, bool [rows].

    >>> has_marked(np.array([0, 2, 2, 3]), np.array([False, True, False])).tolist()
    [True, False, False]
    """
    before = offsets_of(marked)
    return before[offsets[1:]] > before[offsets[:-1]]


# Metric tokens that a plan masks, and the token sequences of its variants.


#: ids of masks
SHARED, PRIVATE_REFERENCE, PRIVATE_CANDIDATE = -1, -2, -3

Side: TypeAlias = Literal["reference", "candidate"]
_PRIVATE: dict[Side, int] = {"reference": PRIVATE_REFERENCE, "candidate": PRIVATE_CANDIDATE}


@dataclass(frozen=True, eq=False)
class PlacedMasks:
    """The masked tokens of one variant, each once, in the order of the table."""

    token: NDArray[np.int64]  # [M], row of the token table
    group: NDArray[np.int32]  # [M], the group whose action won (the first one among equals)
    # [M], the span of that group (row of the span table) that the token lies in
    span: NDArray[np.int32]
    action: NDArray[np.int8]  # [M], SHARED or PRIVATE
    # [M], whether a mask begins here: everywhere, or, with one mask per span, where the token
    # before is not masked for the same span
    first: NDArray[np.bool_]

    def private(self) -> PlacedMasks:
        """The same tokens, every mask a private one."""
        return replace(self, action=np.full_like(self.action, Action.PRIVATE))

    def ids(self, side: Side) -> NDArray[np.int32]:
        """The mask of each token, int32 [M]."""
        masks = np.where(self.action == Action.SHARED, SHARED, _PRIVATE[side])
        return masks.astype(np.int32)


def cut_places(
    text: NDArray[np.int64],
    start: NDArray[np.int32] | NDArray[np.int64],
    end: NDArray[np.int32] | NDArray[np.int64],
    spans: SpanTable,
    allowed: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]] | None:
    """Tokens in parts, so that spans begin and end with one: of each the token, start and end.

    Args:
        text: the text of each token, ascending.
        start: where they begin there, ascending in a text.
        end: where they end.
        spans: over the same texts.
        allowed: tokens that may be cut; by default all.

    Returns:
        None where no span begins or ends within a token.
    """
    stride = 1 + int(max(end.max(initial=0), spans.end.max(initial=0)))
    first, cut_tokens, cut_at = text * stride + start, [], []
    for edge in (spans.start, spans.end):
        place = spans.text.astype(np.int64) * stride + edge
        token = np.maximum(np.searchsorted(first, place, side="right") - 1, 0)
        within = place - first[token]
        inside = np.flatnonzero((within > 0) & (within < (end - start)[token]))
        cut_tokens.append(token[inside])
        cut_at.append(edge[inside])
    token, at = np.concatenate(cut_tokens), np.concatenate(cut_at)
    if allowed is not None:
        token, at = token[allowed[token]], at[allowed[token]]
    if not len(token):
        return None
    token, at = np.divmod(np.unique(token * stride + at), stride)
    token = np.append(np.arange(len(start)), token)
    starts = np.append(start, at).astype(np.int32)
    order = np.lexsort((starts, token))
    token, starts = token[order], starts[order]
    last = np.diff(token, append=-1) != 0
    ends = np.where(last, end[token], np.append(starts[1:], 0)).astype(np.int32)
    return token, starts, ends


class TokenParts(NamedTuple):
    """Tokens in parts, so that spans begin and end with one."""

    whole: TokenTable
    tokens: TokenTable  # each part is a token
    token: NDArray[np.int64]  # [parts], the token that each is of
    before: NDArray[np.int64]  # [parts], characters of the token before it
    length: NDArray[np.int64]  # [parts]

    @classmethod
    def split(cls, tokens: TokenTable, plan: MaskPlan) -> TokenParts | None:
        """The parts of tokens, or none where no span begins or ends within one.

        A token that the tokeniser made longer or shorter stays whole.
        """
        size = np.diff(tokens.vocabulary.bounds)[tokens.ids]
        same = size == tokens.end - tokens.start
        cut = cut_places(tokens.text_of, tokens.start, tokens.end, plan.spans, same)
        if cut is None:
            return None
        token, start, end = cut
        last = np.diff(token, append=-1) != 0
        before = (start - tokens.start[token]).astype(np.int64)
        length = np.where(last, size[token], np.append(before[1:], 0)) - before
        parts = replace(
            tokens,
            offsets=offsets_of(np.bincount(tokens.text_of[token], minlength=len(tokens))),
            ids=tokens.ids[token],
            places=lambda: TokenPlaces(start, end),
        )
        return cls(tokens, parts, token, before, length)

    def split_ranges(self, held: TokenRanges) -> TokenRanges:
        """Ranges of each part in a layout, from ranges of tokens."""
        start = held.start[self.token] + self.before
        return TokenRanges(start, start + self.length)


@dataclass(frozen=True, eq=False)
class TokenMasks:
    """Tokens that a plan's groups of spans cover: one row per token and group.

    Rows are ordered by text, group, token.
    """

    tokens: TokenTable
    plan: MaskPlan
    token: NDArray[np.int64]  # [R], row of the token table
    group: NDArray[np.int32]  # [R], index of the group
    # [R], the first span of the group (row of the span table) that meets the token
    span: NDArray[np.int32]
    parts: TokenParts | None = None  # the tokens are parts of those of the metric

    @classmethod
    def locate(cls, tokens: TokenTable, plan: MaskPlan, *, cut: bool = False) -> TokenMasks:
        """Find the tokens that each group covers.

        A group covers a token that shares a character with one of its spans (overlap "any"), more
        than half of whose characters lie in its spans ("majority"), or all of them ("inside").
        With ``cut`` and "any" it covers those characters of the token alone.
        """
        _check_located(tokens, plan)
        parts = TokenParts.split(tokens, plan) if cut and plan.overlap == "any" else None
        tokens = tokens if parts is None else parts.tokens
        token, span, covered = _find_covered(tokens, plan)
        size = tokens.end[token] - tokens.start[token]
        keep = np.flatnonzero(_covers(covered, size, plan.overlap))
        token, span = token[keep], span[keep]
        return cls(tokens, plan, token, plan.spans.feature[span], span.astype(np.int32), parts)

    @property
    def whole(self) -> TokenTable:
        """The tokens of the metric."""
        return self.tokens if self.parts is None else self.parts.whole

    def masks(self, variant: int) -> PlacedMasks:
        """The masks of one variant; where groups meet in a token, the strongest action wins."""
        actions = self.plan.actions[variant]
        acting = np.flatnonzero(actions != Action.KEEP)
        rows = np.concatenate([self._rows_of(group) for group in acting.tolist()] or [_NO_ROWS])
        if len(acting) > 1:
            rows = self._strongest(rows, actions)
        token, group, span = self.token[rows], self.group[rows], self.span[rows]
        return PlacedMasks(token, group, span, actions[group], self._begins(token, span))

    def changed(self, variant: int) -> NDArray[np.bool_]:
        """Which texts a variant changes at all, bool [T]."""
        return self.touched(self.masks(variant))

    def touched(self, masks: PlacedMasks) -> NDArray[np.bool_]:
        """Which texts some masks are in, bool [T]."""
        touched = np.zeros(len(self.tokens), dtype=np.bool_)
        touched[self._text_of[masks.token]] = True
        return touched

    def sequences(self, variant: int, side: Side) -> Sequences:
        """The ids of all texts as one side of a variant, masks in their places."""
        return self.insert_masks(self.masks(variant), side)

    def insert_masks(self, masks: PlacedMasks, side: Side) -> Sequences:
        """The ids of all texts with some masks in their places."""
        ids = self.tokens.ids.copy()
        ids[masks.token] = masks.ids(side)
        if masks.first.all():
            return Sequences(self.tokens.offsets, ids)
        keep = np.ones(len(ids), dtype=np.bool_)
        keep[masks.token[~masks.first]] = False
        before = offsets_of(keep)
        return Sequences(before[self.tokens.offsets], ids[keep])

    @cached_property
    def _text_of(self) -> NDArray[np.int64]:
        return self.tokens.text_of

    @cached_property
    def _texts(self) -> NDArray[np.int64]:
        """The text of each row."""
        return self._text_of[self.token]

    def change_plan(self, plan: MaskPlan) -> TokenMasks | None:
        """These masks with the variants of another plan over the same spans, else none."""
        if plan.spans is not self.plan.spans or plan.overlap != self.plan.overlap:
            return None
        other = replace(self, plan=plan)
        for name in ("_text_of", "_rows_by_group"):
            other.__dict__[name] = getattr(self, name)
        return other

    def group_masks(self, group: int) -> PlacedMasks:
        """The masks of a variant that acts on one group alone."""
        rows = self._rows_of(group)
        token, span = self.token[rows], self.span[rows]
        action = np.full(len(rows), Action.SHARED, dtype=np.int8)
        return PlacedMasks(token, self.group[rows], span, action, self._begins(token, span))

    @cached_property
    def _rows_by_group(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return rows_by_number(self.group, len(self.plan.spans.features))

    def _rows_of(self, group: int) -> NDArray[np.int64]:
        order, bounds = self._rows_by_group
        return order[bounds[group] : bounds[group + 1]]

    def _strongest(self, rows: NDArray[np.int64], actions: NDArray[np.int8]) -> NDArray[np.int64]:
        strength = -actions[self.group[rows]].astype(np.int64)
        rows = rows[np.lexsort((rows, strength, self.token[rows]))]
        first = np.ones(len(rows), dtype=np.bool_)
        first[1:] = np.diff(self.token[rows]) != 0
        return rows[first]

    def join_parts(self, masks: PlacedMasks) -> PlacedMasks:
        """Some masks as masks of the metric's tokens; the strongest action on a part decides."""
        if self.parts is None:
            return masks
        token = self.parts.token[masks.token]
        order = np.lexsort((masks.group, -masks.action.astype(np.int64), token))
        order = order[np.diff(token[order], prepend=-1) != 0]
        token, span = token[order], masks.span[order]
        first = self._begins_span(token, span) | (self.plan.granularity == "token")
        return PlacedMasks(token, masks.group[order], span, masks.action[order], first)

    def _begins(self, token: NDArray[np.int64], span: NDArray[np.int32]) -> NDArray[np.bool_]:
        begins = self._begins_span(token, span)
        if self.plan.granularity == "token":
            whole = token if self.parts is None else self.parts.token[token]
            begins |= np.diff(whole, prepend=-1) != 0
        return begins

    @staticmethod
    def _begins_span(token: NDArray[np.int64], span: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Where a token does not go on with the span of the token before."""
        other_token, other_span = np.diff(token, prepend=-2) != 1, np.diff(span, prepend=-1) != 0
        begins: NDArray[np.bool_] = other_token | other_span
        return begins


_NO_ROWS = np.zeros(0, dtype=np.int64)


def mask_stretch(tokens: TokenTable, plan: MaskPlan) -> NDArray[np.float64]:
    """Ratio of the length of masked tokens to what spans cover of them, float64 [groups].

    Characters of the masked tokens over those of them that lie in spans; NaN where none is masked.
    A white-space tokeniser takes a Chinese sentence for one token: masking a word masks it whole.
    """
    token, span, covered = _find_covered(tokens, plan)
    size = tokens.end[token] - tokens.start[token]
    keep = np.flatnonzero(_covers(covered, size, plan.overlap))
    group, count = plan.spans.feature[span[keep]], len(plan.spans.features)
    with np.errstate(invalid="ignore"):
        stretch: NDArray[np.float64] = np.bincount(group, size[keep], count) / np.bincount(
            group, covered[keep], count
        )
    return stretch


def _check_located(tokens: TokenTable, plan: MaskPlan) -> None:
    if plan.spans.texts != len(tokens):
        raise AnnotationError(
            f"the spans to mask are of {plan.spans.texts} texts, the batch has {len(tokens)};"
            " annotate the texts of the batch, in their order"
        )
    lost = np.zeros(len(tokens), dtype=np.bool_)
    lost[tokens.text_of[tokens.start < 0]] = True
    if lost[plan.spans.text].any():
        raise MaskingError(
            f"tokeniser {tokens.tokeniser!r} changes the characters of"
            f" {int(lost.sum())} of {len(tokens)} texts, so that its tokens cannot be found in"
            " them and cannot be masked; use another tokeniser ('13a', 'intl', 'char')"
        )


def _find_covered(
    tokens: TokenTable, plan: MaskPlan
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    spans = plan.spans
    return loops.covered_tokens(
        tokens.offsets, tokens.start, tokens.end, spans.text, spans.feature, spans.start, spans.end
    )


def _covers(
    covered: NDArray[np.int64], size: NDArray[np.int32], overlap: Overlap
) -> NDArray[np.bool_]:
    needed = {"any": covered > 0, "majority": 2 * covered > size, "inside": covered >= size}
    return needed[overlap]
