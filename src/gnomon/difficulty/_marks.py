"""Marks of hard words in the references of a study."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gnomon.stored import Layer, metric_sql, words_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.stored import Mark, StoredRows, Stretch

#: words of a table of difficulties: a run of letters and digits, or a single sign
_WORD = re.compile(r"[^\W_]+|\S")
_TYPES, _OCCURRENCES = "difficulty_words", "difficulty_words_occurrences"
_STRIPS = "difficulty_words_strips"


def hard_word_marks(stored: StoredRows) -> HardWordMarks | None:
    """What marks hard words, by the tables of ``difficulty.words``; None where these are empty."""
    rows = stored.rows(_TYPES)
    if rows is None:
        return None
    said = f"select {metric_sql(stored, rows)}, word, difficulty from {rows}"  # noqa: S608  # no input
    types: dict[str, dict[str, float]] = {}
    for metric, word, value in stored.ask(said):
        types.setdefault(metric, {})[word] = value
    own: dict[str, dict[tuple[int, str], list[tuple[str, float]]]] = {}
    for metric, segment, reference, word, value in _single(stored):
        own.setdefault(metric, {}).setdefault((segment, reference), []).append((word, value))
    names = list(dict.fromkeys([*types, *own]))
    tops = [max(types.get(name, {"": 1.0}).values(), default=1.0) for name in names]
    return HardWordMarks(
        tuple(
            Layer("values", name, f"difficulty: {name}", 0.0, min(top, 1.0), ("easy", "hard"))
            for name, top in zip(names, tops, strict=True)
        ),
        tuple(types.get(name, {}) for name in names),
        tuple(own.get(name, {}) for name in names),
    )


@dataclass(frozen=True)
class HardWordMarks:
    """Marks hard words of references.

    Words carry their own difficulty where the store has it, else the mean over their occurrences.

    Attributes:
        layers: a layer for each metric.
        types: by layer, word -> mean difficulty.
        own: by layer, segment (from 1) and reference -> words and their difficulties.
    """

    layers: tuple[Layer, ...]
    types: tuple[Mapping[str, float], ...]
    own: tuple[Mapping[tuple[int, str], Sequence[tuple[str, float]]], ...]

    def marks(self, stretch: Stretch) -> Iterator[tuple[int, str, Mark]]:
        """Number of the segment (from 0, within the stretch), text, mark in one of the layers."""
        for i, references in enumerate(stretch.references):
            for name, text in references.items():
                for layer in range(len(self.layers)):
                    found = self._words(layer, stretch.first + i + 1, name, text)
                    if found:
                        ends = [end for place, _ in found for end in place]
                        yield i, text, (layer, ends, [value for _, value in found])

    def _words(
        self, layer: int, segment: int, reference: str, text: str
    ) -> list[tuple[tuple[int, int], float]]:
        own = self.own[layer].get((segment, reference))
        where = words_in(text, [word for word, _ in own]) if own else None
        if own and where:
            return list(zip(where, (value for _, value in own), strict=True))
        known = self.types[layer]
        return [(one.span(), known[one[0]]) for one in _WORD.finditer(text) if one[0] in known]


def _single(stored: StoredRows) -> list[tuple[Any, ...]]:
    """Metric, segment, reference, word and difficulty, word by word in the order of texts."""
    rows, place = stored.rows(_OCCURRENCES), "position"
    if rows is None:  # strips hold each word once per system, numbered
        rows, place = stored.rows(_STRIPS), "cast(split_part(token, ' ', 1) as integer)"
    if rows is None:
        return []
    return stored.ask(
        f"select {metric_sql(stored, rows)}, segment, reference, any_value(word),"  # noqa: S608  # no input
        f" any_value(difficulty) from {rows} group by 1, 2, 3, {place} order by 1, 2, 3, {place}"
    )
