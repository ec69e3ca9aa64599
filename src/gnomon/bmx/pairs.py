"""Distinct texts, and distinct pairs of them, at their places in a test set."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from gnomon.core.batch import Batch, Ragged
from gnomon.core.errors import ScoringError, UsageError
from gnomon.core.scripts import spaced_words
from gnomon.core.signature import add_texts
from gnomon.core.spans import Span
from gnomon.linguistics import Edit, apply_edits, joint_edits
from gnomon.metrics.score_file import changed_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.metrics.base import BoundMetric

__all__ = [
    "NO_TEXT",
    "Cell",
    "DistinctCells",
    "DistinctTexts",
    "PairKey",
    "PairTable",
    "Role",
    "Scorer",
    "TextWords",
    "cells_of",
    "generator",
    "role_of",
]


# The words of a text that explanations are about, with their places.


#: replacement of a word that LIME and SHAP remove
MASK = "UNKWORDZ"


@dataclass(frozen=True)
class TextWords:
    """A text and its words, every occurrence one word.

    The words are those of ``str.split()``; in scripts that part no words by spaces, each letter is
    one. What lies between them belongs to no word, and edits leave it as it is: a text with nothing
    taken away is the text itself, double and non-breaking spaces included.

    Attributes:
        text: the text.
    """

    text: str

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """The place of each word, half-open, in code points."""
        found = spaced_words(self.text)
        return tuple(Span(*span) for span in found)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words themselves."""
        return tuple(self.text[start:end] for start, end in self.spans)

    def __len__(self) -> int:
        return len(self.spans)

    def drop_word(self, word: int) -> str:
        """The text without one word and the white space after it (before it, at the end).

        >>> TextWords("the old  cat").drop_word(1)
        'the cat'
        """
        return self._drop_spans([self.spans[word]])

    def keeping(self, kept: Sequence[bool]) -> str:
        """The text of some of its words, each with the white space that follows it.

        >>> TextWords("the old  cat ").keeping([True, True, False])
        'the old '
        """
        return self._drop_spans([s for s, keep in zip(self.spans, kept, strict=True) if not keep])

    def masked(self, kept: Sequence[bool]) -> str:
        """The text with ``UNKWORDZ`` in the place of every word that is not kept.

        >>> TextWords("the old  cat").masked([True, False, True])
        'the UNKWORDZ  cat'
        """
        return apply_edits(self.text, compress(self._masks, map(not_, kept)))

    def replaced(self, by: Sequence[str | None]) -> str:
        """The text with other words in the place of some; ``None`` keeps a word.

        >>> TextWords("the old cat").replaced([None, "young", None])
        'the young cat'
        """
        pairs = zip(self.spans, by, strict=True)
        return apply_edits(self.text, [Edit(*s, new) for s, new in pairs if new is not None])

    @cached_property
    def _masks(self) -> tuple[Edit, ...]:
        return tuple(Edit(*span, MASK) for span in self.spans)

    def _drop_spans(self, spans: Sequence[Span]) -> str:
        edits = joint_edits(self.text, [Edit(*span, "") for span in spans], capitals=False)
        return apply_edits(self.text, edits)


#: number of the text on a side that is not there
NO_TEXT = -1


@dataclass
class DistinctTexts:
    """Distinct texts in the order in which they came."""

    all: list[str] = field(default_factory=list)
    _number: dict[str, int] = field(default_factory=dict)
    _words: dict[int, TextWords] = field(default_factory=dict)

    def add(self, text: str) -> int:
        """The number of a text."""
        number = self._number.setdefault(text, len(self.all))
        if number == len(self.all):
            self.all.append(text)
        return number

    def words(self, number: int) -> TextWords:
        """The words of a text."""
        words = self._words.get(number)
        if words is None:
            words = self._words[number] = TextWords(self.all[number])
        return words


class PairKey(NamedTuple):
    """A candidate and what it is judged by."""

    segment: int
    candidate: int
    other: int
    source: int
    system: int


@dataclass
class PairTable:
    """Distinct pairs in the order in which they came."""

    number: dict[PairKey, int] = field(default_factory=dict)

    def add(self, key: PairKey) -> int:
        """The number of a pair."""
        return self.number.setdefault(key, len(self.number))

    def __len__(self) -> int:
        return len(self.number)


# Random draws that depend on texts and a seed alone.


def generator(seed: int, *texts: str) -> np.random.Generator:
    """A generator for some texts: equal texts get equal draws, whatever their segment."""
    digest = hashlib.blake2b(digest_size=16)
    add_texts(digest, (str(seed), *texts))
    return np.random.default_rng(int.from_bytes(digest.digest(), "little"))


# The distinct cells of a batch: what there is to explain.


class Cell(NamedTuple):
    """A candidate and what it is judged by, in numbers of the batch's texts."""

    segment: int
    candidate: int
    others: tuple[int, ...]
    source: int
    system: int


@dataclass(frozen=True, eq=False)
class DistinctCells:
    """Distinct cells, segment by segment."""

    distinct: tuple[Cell, ...]
    of: NDArray[np.int64]


def cells_of(batch: Batch, role: Role, *, by_system: bool) -> DistinctCells:
    """The distinct cells of a batch: systems with equal outputs share theirs."""
    systems, segments = batch.shape
    number: dict[Cell, int] = {}
    of = np.empty((systems, segments), dtype=np.int64)
    ragged = [batch.references_of(k) for k in range(systems)]
    for i in range(segments):
        source = -1 if batch.sources is None else int(batch.sources[i])
        for k in range(systems):
            candidate = int(batch.candidates[k, i])
            system = k if by_system else -1
            if role == "reference":
                cell = Cell(i, candidate, tuple(ragged[k][i].tolist()), source, system)
            else:
                cell = Cell(i, candidate, (source,) if role else (), -1, system)
            of[k, i] = number.setdefault(cell, len(number))
    return DistinctCells(tuple(number), of.ravel())


# Scores of pairs of texts under a bound metric, as batches of one system.


#: the texts beside a candidate
Role: TypeAlias = Literal["reference", "source"] | None

#: pairs that are scored at a time, which bounds the memory that a metric takes
_AT_ONCE = 16384
_NAME = "explained"


def role_of(bound: BoundMetric, batch: Batch) -> Role:
    """Role of the text beside candidates: the reference where the metric takes any, else source."""
    references = "references" in bound.needs or (not bound.needs and len(batch.references.indices))
    if references:
        return "reference"
    sources = "sources" in bound.needs or (not bound.needs and batch.sources is not None)
    return "source" if sources else None


class Scorer:
    """Scores pairs of texts; never binds, and counts."""

    def __init__(self, bound: BoundMetric, batch: Batch, scale: float = 1.0) -> None:
        self.bound = bound
        self.role = role_of(bound, batch)
        own_texts = bound.is_limited_to_test_set
        self.depends_on_system = own_texts or bound.depends_on_system
        self.calls = 0
        self._batch = batch
        self._fixed = checked_scores(bound, batch) if own_texts else None
        self.scale = scale
        self._sign = 1.0 if bound.higher_is_better else -1.0
        self._last: tuple[list[PairKey], Batch] | None = None

    def scores(
        self,
        keys: Sequence[PairKey],
        texts: DistinctTexts,
        references: Sequence[Sequence[int]] | None = None,
    ) -> NDArray[np.float64]:
        """Scores of some pairs, float64 [P], the better the higher; NaN where not finite.

        With ``references`` candidates are compared with all of these together.
        """
        if self._fixed is not None:
            return self._scores_of_own_texts(keys, texts)
        scores = np.empty(len(keys))
        for numbers in self.batch_positions(keys):
            some = [keys[n] for n in numbers]
            if references is None:
                batch = self.batch(some, texts)
            else:
                batch = self._built(some, [references[n] for n in numbers], texts)
            scores[numbers] = self._scored(batch)
        return scores

    def batch_positions(self, keys: Sequence[PairKey]) -> Iterator[list[int]]:
        """Positions of pairs that make a batch: of one system, and not too many."""
        systems: dict[int, list[int]] = {}
        for number, key in enumerate(keys):
            systems.setdefault(key.system, []).append(number)
        for numbers in systems.values():
            for start in range(0, len(numbers), _AT_ONCE):
                yield numbers[start : start + _AT_ONCE]

    def batch(self, keys: Sequence[PairKey], texts: DistinctTexts) -> Batch:
        """Some pairs, of one system if that matters, as a batch; every pair is a column."""
        if self._last is None or self._last[0] != list(keys):
            others = [[k.other] if self.role == "reference" else [] for k in keys]
            self._last = list(keys), self._built(keys, others, texts)
        return self._last[1]

    def _built(
        self, keys: Sequence[PairKey], references: Sequence[Sequence[int]], texts: DistinctTexts
    ) -> Batch:
        new_numbers: dict[int, int] = {}
        candidates = [new_numbers.setdefault(k.candidate, len(new_numbers)) for k in keys]
        others = Ragged.pack(
            [[new_numbers.setdefault(n, len(new_numbers)) for n in row] for row in references]
        )
        beside = [k.other if self.role == "source" else k.source for k in keys]
        sources = [new_numbers.setdefault(n, len(new_numbers)) for n in beside if n != NO_TEXT]
        return Batch(
            texts=tuple(texts.all[number] for number in new_numbers),
            candidates=np.array([candidates], dtype=np.int32),
            references=others,
            sources=np.array(sources, dtype=np.int32) if sources else None,
            systems=(_NAME if keys[0].system < 0 else self._batch.systems[keys[0].system],),
            segments=self._batch.segments[[k.segment for k in keys]],
            language_pair=self._batch.language_pair,
        )

    def _scores_of_own_texts(
        self, keys: Sequence[PairKey], texts: DistinctTexts
    ) -> NDArray[np.float64]:
        """Scores of a metric that knows those of the batch's own texts alone."""
        cells = [(key.system, key.segment) for key in keys]
        for cell, key in zip(cells, keys, strict=True):
            candidate = int(self._batch.candidates[cell])
            if texts.all[key.candidate] != self._batch.texts[candidate]:
                raise UsageError(changed_texts(self.bound.signature.spec))
        fixed = np.zeros(self._batch.shape) if self._fixed is None else self._fixed
        return self._sign * np.array([fixed[cell] for cell in cells]) / self.scale

    def _scored(self, batch: Batch) -> NDArray[np.float64]:
        self.calls += batch.shape[1]
        scores: NDArray[np.float64] = self._sign * checked_scores(self.bound, batch)[0] / self.scale
        return scores


def checked_scores(bound: BoundMetric, batch: Batch) -> NDArray[np.float64]:
    """The metric's scores of a batch, float64 [K, N]; NaN where they are not finite."""
    values = bound.segments(batch)
    try:
        scores = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ScoringError(f"metric {bound.name!r} returned scores that are no numbers") from error
    if scores.shape != batch.shape:
        raise ScoringError(
            f"metric {bound.name!r} returned scores of shape {scores.shape} for {batch.shape[0]}"
            f" system(s) and {batch.shape[1]} segment(s); it must return one score for each"
        )
    return np.where(np.isfinite(scores), scores, np.nan)
