"""Features split by the first letters of their words, averages, and parts of a finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import numpy as np

from gnomon.core.options import Limits, Metavar
from gnomon.core.spans import SpanTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.findings import Table, View
    from gnomon.messages import Message
    from gnomon.muler.validate._frequency import PartRow
    from gnomon.muler.validate._range import RangeRow

__all__ = [
    "InitialCut",
    "Initials",
    "Part",
    "Shares",
    "averaged",
    "defined_numbers",
    "grouped",
    "initials_by_feature",
]


R = TypeVar("R", "RangeRow", "PartRow")
#: shares of a feature, in (0, 1]
Shares: TypeAlias = Annotated["Sequence[float]", Limits(0, 1), Metavar("SHARE")]


# Splitting a feature by the first letters of its words, until a share of it is reached.


@dataclass(frozen=True)
class InitialCut:
    """The first letters that hold a share of a feature."""

    alpha: float
    share: float
    head: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Initials:
    """The first letters of one feature's spans."""

    feature: str
    rows: NDArray[np.int64]
    letters: tuple[str, ...]
    letter: NDArray[np.int64]
    counts: NDArray[np.int64]

    def cut(self, alpha: float) -> InitialCut | None:
        """Take letters in their order until they hold ``alpha`` of the references' occurrences."""
        total = int(self.counts.sum())
        if not total:
            return None
        held = np.cumsum(self.counts) / total
        last = int(np.argmax(held >= alpha - 1e-12))
        if held[last] >= 1:
            # letters that only outputs use belong to the whole as well
            last = len(self.letters) - 1
            if alpha < 1:
                return None
        return InitialCut(alpha, float(held[last]), self.letter <= last)


def initials(batch: Batch, spans: SpanTable, feature: int, weights: NDArray[np.int64]) -> Initials:
    """The first letters of a feature: the first character of each span, case-folded.

    Texts count as often as they are references: the weights, int64 [texts].
    """
    rows = np.flatnonzero(spans.feature == feature)
    first = [
        batch.texts[text][start].casefold()[:1]
        for text, start in zip(spans.text[rows].tolist(), spans.start[rows].tolist(), strict=True)
    ]
    letters = tuple(sorted(set(first)))
    number = {letter: i for i, letter in enumerate(letters)}
    letter = np.array([number[character] for character in first], dtype=np.int64)
    counts = np.zeros(len(letters), dtype=np.int64)
    np.add.at(counts, letter, weights[spans.text[rows]])
    return Initials(spans.features[feature], rows, letters, letter, counts)


def grouped(
    spans: SpanTable, rows: NDArray[np.int64], groups: Mapping[str, NDArray[np.bool_]]
) -> SpanTable:
    """Some spans of a table in new groups, which may overlap."""
    members = [rows[member] for member in groups.values()]
    chosen = np.concatenate([rows[:0], *members])
    group = np.repeat(
        np.arange(len(members), dtype=np.int32), [len(member_rows) for member_rows in members]
    )
    order = np.lexsort((spans.start[chosen], group, spans.text[chosen]))
    chosen, group = chosen[order], group[order]
    return SpanTable(
        tuple(groups),
        spans.texts,
        spans.text[chosen],
        group,
        spans.start[chosen],
        spans.end[chosen],
    )


def initials_by_feature(batch: Batch, spans: SpanTable) -> list[Initials]:
    """The first letters of every feature.

    They are counted in the references of all systems, or, if there is none, of single ones.
    """
    lists = [batch.references.indices]
    if not len(lists[0]):
        lists = [references.indices for references in batch.system_references.values()]
    weights = np.bincount(np.concatenate(lists), minlength=len(batch.texts)).astype(np.int64)
    return [initials(batch, spans, number, weights) for number in range(len(spans.features))]


# Averages of records over the systems and features of an experiment.


_FEWEST_SEGMENTS = 20  # segments: below, a single sentence decides where a hybrid or a part lies


def averaged(rows: Sequence[R], *keys: str) -> Iterator[tuple[dict[str, Any], list[R]]]:
    """Groups of records with equal keys, without records of fewer than 20 segments."""
    groups: dict[tuple[Any, ...], list[R]] = {}
    for row in rows:
        groups.setdefault(tuple(getattr(row, key) for key in keys), []).append(row)
    for values, group in groups.items():
        enough = [row for row in group if row.segments >= _FEWEST_SEGMENTS]
        yield dict(zip(keys, values, strict=True)), enough


def defined_numbers(values: Iterable[float | None]) -> list[float]:
    """The numbers among some values."""
    return [float(value) for value in values if value is not None]


@dataclass(frozen=True)
class Part:
    """One experiment's part of a finding."""

    table: Table
    views: tuple[View, ...]
    notices: tuple[Message, ...]
