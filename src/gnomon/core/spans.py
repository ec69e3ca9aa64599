"""Half-open spans of characters: of features in many texts, and of errors that someone marked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from gnomon.core.errors import AnnotationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["MARKERS", "SIDES", "ErrorSpan", "Span", "SpanMarker", "SpanTable", "rows_by_number"]

#: the texts that errors are marked in
SIDES = ("candidate", "source")
#: what may mark an error
SpanMarker: TypeAlias = Literal["person", "metric", "judge"]
MARKERS: tuple[SpanMarker, ...] = get_args(SpanMarker)


class Span(NamedTuple):
    """Characters ``start`` to ``end`` of a text, in code points, ``end`` not included."""

    start: int
    end: int


@dataclass(frozen=True)
class ErrorSpan:
    """An error that a person, a metric or a judge marked.

    Attributes:
        system: whose output.
        segment: 0-based segment.
        side: "candidate" or "source".
        start: first code point of the error.
        end: code point after the error; ``start`` for an error that has no place (an omission).
        category: e.g. "Accuracy/Mistranslation"; "" where the marker names none.
        severity: e.g. "major".
        rater: who marked it: a person's name, or the spec of a metric or a judge.
        kind: the judgements that it belongs to ("mqm", "esa").
        score: the penalty that the file gives it, 0 or more, if it gives one.
        confidence: how sure the marker is, 0 to 1; None where it does not say.
        by: what kind of marker it is.
    """

    system: str
    segment: int
    side: str
    start: int
    end: int
    category: str
    severity: str
    rater: str | None = None
    kind: str = "errors"
    score: float | None = None
    confidence: float | None = None
    by: SpanMarker = "person"


@dataclass(frozen=True)
class SpanTable:
    """Where features occur in a list of distinct texts: one row per span.

    Rows are ordered by text, then feature, then start. Spans of one feature in one text do not
    overlap; spans of different features may.

    Attributes:
        features: names of the features; ``feature`` holds indices into it. A feature that was
            asked for and never occurs is listed and has no rows.
        texts: number of texts that were annotated.
        text: int32 [R], index of the text.
        feature: int32 [R], index of the feature.
        start: int32 [R], first code point.
        end: int32 [R], code point after the last one.
    """

    features: tuple[str, ...]
    texts: int
    text: NDArray[np.int32]
    feature: NDArray[np.int32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]

    @classmethod
    def build(
        cls,
        annotations: Sequence[Mapping[str, Iterable[tuple[int, int]]]],
        features: Sequence[str],
    ) -> SpanTable:
        """Collect the spans of some features from one mapping per text.

        Args:
            annotations: for each text, feature name -> spans. Names not in ``features`` are
                left out.
            features: the features to keep, in the order that the table shall have.

        Raises:
            AnnotationError: a span is empty or reversed, or two spans of one feature overlap.
        """
        index = {name: i for i, name in enumerate(features)}
        rows: list[tuple[int, int, int, int]] = []
        for number, annotation in enumerate(annotations):
            for name, spans in annotation.items():
                if name in index:
                    rows.extend((number, index[name], start, end) for start, end in spans)
        rows.sort()
        _check_rows(rows, features)
        table = np.array(rows, dtype=np.int32).reshape(-1, 4)
        columns = [np.ascontiguousarray(table[:, i]) for i in range(4)]
        return cls(tuple(features), len(annotations), *columns)

    def counts(self) -> NDArray[np.int32]:
        """Spans of each feature in each text, int32 [features, texts]."""
        counts = np.zeros((len(self.features), self.texts), dtype=np.int32)
        np.add.at(counts, (self.feature, self.text), 1)
        return counts

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """int64 [texts + 1]; the rows of text t are ``rows[t]`` to ``rows[t + 1]``."""
        return np.searchsorted(self.text, np.arange(self.texts + 1, dtype=self.text.dtype))

    def rows_of(self, feature: int) -> NDArray[np.intp]:
        """The rows of one feature (by index), in order."""
        order, bounds = self._rows_by_feature
        return order[bounds[feature] : bounds[feature + 1]]

    @cached_property
    def _rows_by_feature(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return rows_by_number(self.feature, len(self.features))

    def spans(self, text: int, feature: str) -> tuple[Span, ...]:
        """The spans of one feature in one text, in order."""
        low, high = self.rows[text], self.rows[text + 1]
        rows = np.flatnonzero(self.feature[low:high] == self.features.index(feature)) + low
        return tuple(Span(int(self.start[r]), int(self.end[r])) for r in rows)

    def select(self, features: Sequence[str]) -> SpanTable:
        """The table of some of the features, in the order given."""
        position = np.full(len(self.features), -1, dtype=np.int32)
        for new, name in enumerate(features):
            position[self.features.index(name)] = new
        feature = position[self.feature]
        keep = np.flatnonzero(feature >= 0)
        order = keep[np.lexsort((self.start[keep], feature[keep], self.text[keep]))]
        return SpanTable(
            tuple(features),
            self.texts,
            self.text[order],
            feature[order],
            self.start[order],
            self.end[order],
        )


def rows_by_number(
    numbers: NDArray[np.int32], count: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows of each number from 0 on, one number after the other, and where each begins.

    >>> [one.tolist() for one in rows_by_number(np.array([1, 0, 1]), 3)]
    [[1, 0, 2], [0, 1, 3, 3]]
    """
    # numpy sorts small integers by their digits
    small = numbers.astype(np.int16) if count < 1 << 15 else numbers
    sizes = np.bincount(numbers, minlength=count)
    return np.argsort(small, kind="stable"), np.concatenate([[0], np.cumsum(sizes)])


def _check_rows(rows: Sequence[tuple[int, int, int, int]], features: Sequence[str]) -> None:
    previous = (-1, -1, 0, 0)
    for row in rows:
        text, feature, start, end = row
        if not 0 <= start < end:
            raise AnnotationError(
                f"span {start}:{end} of {features[feature]} in text {text + 1} is empty or"
                " reversed; spans are half-open, 0 <= start < end, in code points"
            )
        if row[:2] == previous[:2] and start < previous[3]:
            raise AnnotationError(
                f"spans {previous[2]}:{previous[3]} and {start}:{end} of {features[feature]} in"
                f" text {text + 1} overlap; spans of one feature must not"
            )
        previous = row
