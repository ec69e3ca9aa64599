"""Words with values in the texts of a report: how hard they were, what a metric rests on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.study._page_marks import Layer, Mark, Stretch
    from gnomon.study._page_source import PageSource


#: words of a table of difficulties: a run of letters and digits, or a single sign
_WORD = re.compile(r"[^\W_]+|\S")
_TYPES, _OCCURRENCES = "difficulty_words", "difficulty_words_occurrences"
_STRIPS = "difficulty_words_strips"


def places(text: str, words: Iterable[str]) -> list[tuple[int, int]] | None:
    """Where words stand in a text, one after the other; None where one is not there.

    >>> places("a cat, a dog", ["cat", "a"])
    [(2, 5), (7, 8)]
    """
    found, at = [], 0
    for word in words:
        start = text.find(word, at)
        if start < 0:
            return None
        at = start + len(word)
        found.append((start, at))
    return found


@dataclass(frozen=True)
class DifficultyMarks:
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

    @classmethod
    def of(cls, source: PageSource, testset: str) -> DifficultyMarks:
        """From the tables of ``difficulty.words``.

        Args:
            source: the store.
            testset: its name.
        """
        held = source.rows(_TYPES, testset=testset)
        said = f"select {_metric(source, held)}, word, difficulty from {held}"  # noqa: S608  # no input
        types: dict[str, dict[str, float]] = {}
        for metric, word, value in source.ask(said):
            types.setdefault(metric, {})[word] = value
        own: dict[str, dict[tuple[int, str], list[tuple[str, float]]]] = {}
        single = next((n for n in (_OCCURRENCES, _STRIPS) if testset in source.testsets(n)), None)
        if single:
            for metric, segment, reference, word, value in _single(source, single, testset):
                own.setdefault(metric, {}).setdefault((segment, reference), []).append(
                    (word, value)
                )
        names = list(dict.fromkeys([*types, *own]))
        tops = [max(types.get(name, {"": 1.0}).values(), default=1.0) for name in names]
        return cls(
            tuple(
                ("difficulty", name, 0.0, min(top, 1.0))
                for name, top in zip(names, tops, strict=True)
            ),
            tuple(types.get(name, {}) for name in names),
            tuple(own.get(name, {}) for name in names),
        )

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
        where = places(text, (word for word, _ in own)) if own else None
        if own and where:
            return list(zip(where, (value for _, value in own), strict=True))
        known = self.types[layer]
        return [(one.span(), known[one[0]]) for one in _WORD.finditer(text) if one[0] in known]


@dataclass(frozen=True)
class ImportanceMarks:
    """Marks words by what they add to a metric's score.

    In a reference it is the mean over the systems that it is held beside: of several references a
    system is explained beside the one that fits it best.

    Attributes:
        layers: a layer for each metric and explainer.
        source: the store.
        held: SQL of the rows.
        by: SQL that names a layer.
    """

    layers: tuple[Layer, ...]
    source: PageSource
    held: str
    by: str

    @classmethod
    def of(cls, source: PageSource, testset: str) -> ImportanceMarks:
        """From the table ``importance``."""
        held = source.rows("importance", testset=testset)
        by = _metric(source, held, "explainer")
        rows = source.ask(
            f"select {by} as layer, quantile_cont(abs(importance), 0.98) from {held}"  # noqa: S608  # no input
            " group by 1 order by 1"
        )
        layers = tuple(("importance", name, -(top or 1.0), top or 1.0) for name, top in rows)
        return cls(layers, source, held, by)

    def marks(self, stretch: Stretch) -> Iterator[tuple[int, str, Mark]]:
        """Number of the segment (from 0, within the stretch), text, mark in one of the layers."""
        numbers = {layer[1]: number for number, layer in enumerate(self.layers)}
        for (segment, side, system, name), rows in groupby(self._rows(stretch), lambda r: r[:4]):
            i, layer = segment - 1 - stretch.first, numbers[name]
            outputs, references = stretch.outputs[i], stretch.references[i]
            texts = [outputs[system]] if side == "candidate" else list(references.values())
            for words, values in _means(row[4:] for row in rows).items():
                text = next((one for one in texts if tuple(one.split()) == words), None)
                if text is not None and words:
                    ends = [end for place in places(text, words) or () for end in place]
                    yield i, text, (layer, ends, values)

    def _rows(self, stretch: Stretch) -> list[tuple[Any, ...]]:
        """Of each explanation: segment, side, system (not of references), layer, words, values."""
        low, high = stretch.first + 1, stretch.first + len(stretch.outputs)
        return self.source.ask(
            "select segment, side, case when side = 'candidate' then system end as who,"  # noqa: S608  # no input
            f" {self.by} as layer, list(token order by position),"
            f" list(importance order by position) from {self.held}"
            " where segment between ? and ? and side in ('candidate', 'reference')"
            " group by segment, side, who, layer, system, task order by 1, 2, 3, 4, system, task",
            low,
            high,
        )


def _means(
    found: Iterable[tuple[Sequence[str], Sequence[float | None]]],
) -> dict[tuple[str, ...], list[float | None]]:
    """By the words of a text, the mean of each over explanations: systems have references apart."""
    grouped: dict[tuple[str, ...], list[Sequence[float | None]]] = {}
    for words, values in found:
        grouped.setdefault(tuple(words), []).append(values)
    return {
        words: [
            _mean([one for one in column if one is not None]) for column in zip(*lists, strict=True)
        ]
        for words, lists in grouped.items()
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _single(source: PageSource, table: str, testset: str) -> list[tuple[Any, ...]]:
    """Words one by one, in the order of their text."""
    strips = table == _STRIPS  # which hold each word once per system, numbered
    place = "cast(split_part(token, ' ', 1) as integer)" if strips else "position"
    held = source.rows(table, testset=testset)
    return source.ask(
        f"select {_metric(source, held)}, segment, reference, any_value(word),"  # noqa: S608  # no input
        f" any_value(difficulty) from {held} group by 1, 2, 3, {place} order by 1, 2, 3, {place}"
    )


def _metric(source: PageSource, held: str, *more: str) -> str:
    """SQL for what a row's layer is called: its metric, or that of the task it is from."""
    there = source.columns(held)
    named = [name for name in ("metric", *more) if name in there]
    if "metric" not in there:
        named.insert(0, "(select metrics from tasks where key = task)")
    return f"concat_ws(', ', {', '.join(named)})"
