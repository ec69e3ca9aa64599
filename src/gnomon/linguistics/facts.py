"""Annotators' labels of texts, as arrays, and their storage."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.cache import key
from gnomon.core.errors import AnnotationError
from gnomon.core.spans import SpanTable
from gnomon.linguistics.feature_names import features_of, long_arcs, reach_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.cache import Cache

__all__ = ["FORMAT", "LayerFacts", "Mark", "columns", "keep", "pack", "recall", "table", "unpack"]


FORMAT = "1"  # of the packed bytes; part of every cache key
_BITS = 63  # of a row, as one number


class Mark(NamedTuple):
    """Characters ``start`` to ``end`` (half-open code points) and what a layer says of them.

    Labels of the layers ``pos`` and ``dep`` hold several facts, parted by bars
    (``NOUN|Gender=Fem|Number=Sing``). Those of ``lemma`` (the base form) and ``head`` (how many
    tokens later the head stands, ``-2``; 0 for a root) are no features. Of other layers the label
    is the feature's name after the colon (``PERSON``).
    """

    start: int
    end: int
    label: str


_START, _END, _LABEL = map(itemgetter, range(3))


@dataclass(frozen=True)
class LayerFacts:
    """The marks of one layer over some texts, as columns."""

    layer: str
    texts: int
    text: NDArray[np.int32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    label: NDArray[np.int32]
    labels: tuple[str, ...]
    without: frozenset[str] = frozenset()

    def select(self, rows: Sequence[int]) -> LayerFacts:
        """The facts of some texts, repetitions allowed, in the order given."""
        chosen = np.asarray(rows, dtype=np.int64)
        if np.array_equal(chosen, np.arange(self.texts)):
            return self
        counts = np.bincount(self.text, minlength=self.texts)
        starts = np.concatenate([[0], np.cumsum(counts)])[chosen]
        lengths = counts[chosen]
        shift = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        places = shift + np.arange(len(shift))
        text = np.repeat(np.arange(len(chosen), dtype=np.int32), lengths)
        columns = (self.start[places], self.end[places], self.label[places])
        return LayerFacts(self.layer, len(chosen), text, *columns, self.labels, self.without)

    def marks(self) -> list[list[Mark]]:
        """The marks of each text."""
        marks: list[list[Mark]] = [[] for _ in range(self.texts)]
        columns = (column.tolist() for column in (self.text, self.start, self.end, self.label))
        for text, start, end, label in zip(*columns, strict=True):
            marks[text].append(Mark(start, end, self.labels[label]))
        return marks

    def features(self, bounds: Sequence[int] = ()) -> list[tuple[str, ...]]:
        """The features that each distinct label carries, ``dep:long>=N`` for the bounds N too."""
        return [
            tuple(
                name
                for name in (
                    *features_of(self.layer, label),
                    *long_arcs(self.layer, label, bounds),
                )
                if name.partition(":")[0] not in self.without
            )
            for label in self.labels
        ]


def pack(marks: Sequence[Mark]) -> bytes:
    """The marks of one text as bytes: count, starts, ends, label numbers, labels.

    >>> len(pack([])), unpack("ent", [pack([Mark(0, 3, "PERSON")])]).labels
    (4, ('PERSON',))
    """
    if not marks:
        return bytes(4)
    starts, ends, labels = zip(*marks, strict=True)
    index = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    columns = (starts, ends, [index[label] for label in labels])
    return b"".join(
        (
            np.array([len(marks)], dtype="<i4").tobytes(),
            *(np.array(column, dtype="<i4").tobytes() for column in columns),
            "\n".join(index).encode(),
        )
    )


def unpack(layer: str, entries: Sequence[bytes]) -> LayerFacts:
    """The marks of many texts as columns, one packed entry per text."""
    counts = np.array([int.from_bytes(entry[:4], "little") for entry in entries], dtype=np.int64)
    index: dict[str, int] = {}
    numbers: list[int] = []
    bases: list[int] = []
    for entry, count in zip(entries, counts.tolist(), strict=True):
        bases.append(len(numbers))
        if count:
            labels = entry[4 + 12 * count :].decode().split("\n")
            numbers.extend([index.setdefault(label, len(index)) for label in labels])
    starts, ends, local = (_column(entries, counts.tolist(), column) for column in range(3))
    shift = np.repeat(np.array(bases, dtype=np.int64), counts)
    return LayerFacts(
        layer=layer,
        texts=len(entries),
        text=np.repeat(np.arange(len(entries), dtype=np.int32), counts),
        start=starts,
        end=ends,
        label=np.array(numbers, dtype=np.int32)[local + shift],
        labels=tuple(index),
    )


def columns(layer: str, marks: Sequence[Sequence[Mark]]) -> LayerFacts:
    """The marks of many texts as columns, as :func:`unpack` gives them, without packing them.

    >>> columns("ent", [[Mark(0, 3, "PERSON")], []]).labels
    ('PERSON',)
    """
    counts = np.fromiter(map(len, marks), dtype=np.int64, count=len(marks))
    every = list(chain.from_iterable(marks))
    index = {label: i for i, label in enumerate(dict.fromkeys(map(_LABEL, every)))}
    numbers = map(index.__getitem__, map(_LABEL, every))
    starts, ends, labels = (
        np.fromiter(column, dtype=np.int32, count=len(every))
        for column in (map(_START, every), map(_END, every), numbers)
    )
    texts = np.repeat(np.arange(len(marks), dtype=np.int32), counts)
    return LayerFacts(layer, len(marks), texts, starts, ends, labels, tuple(index))


def _column(entries: Sequence[bytes], counts: list[int], column: int) -> NDArray[np.int32]:
    parts = [
        entry[4 + 4 * column * count : 4 + 4 * (column + 1) * count]
        for entry, count in zip(entries, counts, strict=True)
    ]
    return np.frombuffer(b"".join(parts), dtype="<i4").astype(np.int32)


def table(facts: Sequence[LayerFacts], features: Sequence[str], texts: int) -> SpanTable:
    """The spans of some features, from all layers; a span given twice counts once."""
    number = {name: i for i, name in enumerate(features)}
    parts = [_rows(layer_facts, number) for layer_facts in facts]
    text, feature, start, end = (
        np.concatenate([layer_facts[i] for layer_facts in parts])
        if parts
        else np.zeros(0, dtype=np.int32)
        for i in range(4)
    )
    spans = SpanTable(tuple(features), texts, *_sort_rows(text, feature, start, end))
    _check(spans)
    return spans


def _sort_rows(*columns: NDArray[np.int32]) -> list[NDArray[np.int32]]:
    """Text, feature, start and end of rows in this order, each row once."""
    widths = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(widths) > _BITS or any(column.min(initial=0) < 0 for column in columns):
        rows = np.unique(np.stack(columns, 1), axis=0)
        return [np.ascontiguousarray(column) for column in rows.T]
    # one number per row is sorted many times as fast as four
    keys = np.zeros(len(columns[0]), dtype=np.int64)
    for column, width in zip(columns, widths, strict=True):
        keys <<= width
        keys |= column
    keys.sort()
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
    ordered = []
    for width in reversed(widths):
        ordered.append((keys & ((1 << width) - 1)).astype(np.int32))
        keys = keys >> width
    return ordered[::-1]


def _rows(facts: LayerFacts, number: dict[str, int]) -> tuple[NDArray[np.int32], ...]:
    """Columns text, feature, start, end: one row for each asked feature of each mark."""
    bounds = [bound for bound in map(reach_of, number) if bound is not None]
    wanted = [
        [number[name] for name in names if name in number] for names in facts.features(bounds)
    ]
    sizes = np.array([len(numbers) for numbers in wanted], dtype=np.int64)
    flat = np.array([n for numbers in wanted for n in numbers], dtype=np.int32)
    firsts = np.cumsum(sizes) - sizes
    repeats = sizes[facts.label] if len(sizes) else np.zeros(0, dtype=np.int64)
    rows = np.repeat(np.arange(len(facts.text)), repeats)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    feature = flat[firsts[facts.label[rows]] + within] if len(rows) else flat[:0]
    return facts.text[rows], feature, facts.start[rows], facts.end[rows]


def _check(spans: SpanTable) -> None:
    same = (spans.text[1:] == spans.text[:-1]) & (spans.feature[1:] == spans.feature[:-1])
    clash = np.flatnonzero(same & (spans.start[1:] < spans.end[:-1]))
    empty = np.flatnonzero((spans.start < 0) | (spans.start >= spans.end))
    for row in empty[:1].tolist():
        raise AnnotationError(
            f"span {spans.start[row]}:{spans.end[row]} of {spans.features[spans.feature[row]]} in"
            f" text {spans.text[row] + 1} is empty or reversed; spans are half-open,"
            " 0 <= start < end, in code points"
        )
    for row in clash[:1].tolist():
        raise AnnotationError(
            f"spans {spans.start[row]}:{spans.end[row]} and"
            f" {spans.start[row + 1]}:{spans.end[row + 1]} of"
            f" {spans.features[spans.feature[row]]} in text {spans.text[row] + 1} overlap;"
            " spans of one feature must not"
        )


# The facts of a whole list of texts, kept as one entry: a test set is looked up at once.


#: shorter lists are looked up text by text
_MANY = 1000


def recall(
    cache: Cache | None, signature: str, layers: Sequence[str], texts: Sequence[str]
) -> dict[str, LayerFacts]:
    """The facts of those layers that were kept for exactly these texts in this order."""
    if cache is None or len(texts) < _MANY:
        return {}
    names = _keys_of_layers(signature, layers, texts)
    entries = cache.get_many(list(names.values()))
    return {
        layer: _facts_of_entry(layer, entries[name])
        for layer, name in names.items()
        if name in entries
    }


def keep(
    cache: Cache | None, signature: str, facts: Mapping[str, LayerFacts], texts: Sequence[str]
) -> None:
    """Keep the facts of some layers of these texts."""
    if cache is None or len(texts) < _MANY or not facts:
        return
    names = _keys_of_layers(signature, list(facts), texts)
    cache.put_many(
        {names[layer]: _entry_of_facts(layer_facts) for layer, layer_facts in facts.items()}
    )


def _keys_of_layers(
    signature: str, layers: Sequence[str], texts: Sequence[str]
) -> dict[str, bytes]:
    all_texts = key(*texts).hex()
    return {layer: key(FORMAT, signature, layer, "whole", all_texts) for layer in layers}


def _entry_of_facts(facts: LayerFacts) -> bytes:
    labels = json.dumps(facts.labels).encode("ascii")
    counts = np.bincount(facts.text, minlength=facts.texts)
    sizes = np.array([len(labels), facts.texts, len(facts.text)], dtype="<i4")
    columns = (counts, facts.start, facts.end, facts.label)
    return b"".join([sizes.tobytes(), labels, *(c.astype("<i4").tobytes() for c in columns)])


def _facts_of_entry(layer: str, entry: bytes) -> LayerFacts:
    labels, texts, rows = np.frombuffer(entry, dtype="<i4", count=3).tolist()
    at = 12 + labels

    def column(count: int) -> NDArray[np.int32]:
        nonlocal at
        numbers = np.frombuffer(entry, dtype="<i4", count=count, offset=at).astype(np.int32)
        at += 4 * count
        return numbers

    counts, start, end, label = (column(count) for count in (texts, rows, rows, rows))
    return LayerFacts(
        layer=layer,
        texts=texts,
        text=np.repeat(np.arange(texts, dtype=np.int32), counts),
        start=start,
        end=end,
        label=label,
        labels=tuple(json.loads(entry[12 : 12 + labels])),
    )
