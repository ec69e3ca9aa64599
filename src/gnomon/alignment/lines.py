"""Lists of lines: an output has nearly a line for each segment.

A dynamic programme takes a line for a segment, a line for two segments, two lines for one, a line
that belongs to no segment, or a segment without a line, each for how much the texts have in common.
A segment is looked for around where it is expected alone, so that time grows with the lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.alignment.boundaries import align_boundaries, habits_of
from gnomon.alignment.joining import join_pieces
from gnomon.alignment.likeness import CHANCE, Likeness, LineCut, add_pairs
from gnomon.alignment.places import expected_places
from gnomon.core.alignments import Alignment
from gnomon.core.scripts import spaced_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.alignment.boundaries import Habits
    from gnomon.alignment.likeness import LineMeasure
    from gnomon.core.alignments import Aligner, Operation

__all__ = ["align_lines"]

#: what a line or a segment without another costs; what a merge and a split cost
_ALONE, _JOINED = 0.11, 0.11
#: long texts count for more, up to so many times the usual length
_LENGTH_POWER, _LONGEST = 0.25, 2.5
#: segments whose likeness is computed at once
_BLOCK = 2000
_NEVER = -1e9


class _Step(NamedTuple):
    """A step: segments, and lines of the output, that are taken at once."""

    segments: int
    lines: int


_MATCH, _MERGE, _SPLIT, _DROP, _ADD = (
    _Step(*step) for step in ((1, 1), (2, 1), (1, 2), (1, 0), (0, 1))
)
_PAIRS = (_MATCH, _MERGE, _SPLIT)


class _ReferenceMeasure:
    """A measure by characters that lines and references have in common."""

    by: Aligner = "lines"

    def __init__(self, references: Sequence[str]) -> None:
        self.references = references

    @cached_property
    def habits(self) -> Habits:
        """Where references end and begin."""
        return habits_of(self.references)

    def likeness(self, segments: Sequence[str], lines: Sequence[str]) -> Likeness:
        """The share of n-grams in common."""
        return Likeness([*add_pairs(segments), *add_pairs(lines)])

    def cut(self, line: str, segments: Sequence[str]) -> LineCut:
        """Cut where the fewest words are edited."""
        found = align_boundaries([line], segments, self.habits)
        return LineCut(found.texts, *found.margins)


def align_lines(
    output: Sequence[str], references: Sequence[str], measure: LineMeasure | None = None
) -> Alignment:
    """Align the lines of an output with segments.

    Args:
        output: its lines; those without text are passed over.
        references: one text per segment.
        measure: what they have in common; by default characters, as of texts in one language.
    """
    measure = measure or _ReferenceMeasure(references)
    filled = [number for number, line in enumerate(output) if line.strip()]
    steps = _Programme([output[number] for number in filled], references, measure)
    texts = [""] * len(references)
    lines: list[tuple[int, ...]] = [()] * len(references)
    operations: list[Operation] = ["drop"] * len(references)
    margins = steps.margins.tolist()
    added: dict[int, str] = {}
    for (segment, line), step in steps.path:
        numbers = tuple(filled[line : line + step.lines])
        if step == _ADD:
            added[numbers[0]] = output[numbers[0]]
        elif step == _MERGE:
            both = slice(segment, segment + 2)
            cut = measure.cut(output[numbers[0]], references[both])
            texts[both], lines[both], operations[both] = cut.texts, [numbers] * 2, ["merge"] * 2
            margins[segment] = min(margins[segment], cut.margin)
        elif step != _DROP:
            texts[segment] = join_pieces(output[number] for number in numbers)
            lines[segment] = numbers
            operations[segment] = "match" if step == _MATCH else "split"
    return Alignment(
        texts=tuple(texts),
        lines=tuple(lines),
        operations=tuple(operations),
        margins=tuple(margins),
        added=added,
        by=measure.by,
    )


@dataclass(frozen=True)
class _Programme:
    """The steps from the first line and segment to the last.

    A state is a number of segments and a number of lines; ``low`` and ``high`` bound the lines.
    """

    output: Sequence[str]
    references: Sequence[str]
    measure: LineMeasure

    @cached_property
    def band(self) -> tuple[list[int], list[int]]:
        """The fewest and the most lines before each segment, and before the end."""
        low, high = expected_places(self.output, self.references)
        return low.tolist(), high.tolist()

    @cached_property
    def gains(self) -> dict[_Step, list[NDArray[np.float64]]]:
        """Gains of pairs from each state, by the number of segments before them."""
        found: dict[_Step, list[NDArray[np.float64]]] = {step: [] for step in _PAIRS}
        for start in range(0, len(self.references), _BLOCK):
            self._add_gains(found, start, min(start + _BLOCK, len(self.references)))
        return found

    def _add_gains(
        self, found: dict[_Step, list[NDArray[np.float64]]], start: int, stop: int
    ) -> None:
        """Add those of some segments."""
        low, high = self.band
        first = low[start]
        some = self.output[first : high[stop - 1] + 2]
        here = self.references[start : stop + 1]
        n, m = len(here), len(some)
        begin = np.cumsum([0, n, max(n - 1, 0), m, max(m - 1, 0)])
        likeness = self.measure.likeness(here, some)
        usual = float(np.median(likeness.lengths[: len(here)])) or 1.0
        rows = [np.arange(a, b + 1) for a, b in zip(low[start:stop], high[start:stop], strict=True)]
        segment = np.repeat(np.arange(stop - start), list(map(len, rows)))
        line = np.concatenate(rows) - first
        cuts = np.cumsum(list(map(len, rows)))[:-1]
        for step in _PAIRS:
            theirs = begin[step.segments - 1] + segment
            ours = begin[1 + step.lines] + line
            there = (theirs < begin[step.segments]) & (ours < begin[2 + step.lines])
            gains = np.full(len(segment), _NEVER)
            like = likeness.compute(ours[there], theirs[there]) - CHANCE
            like[likeness.lengths[theirs[there]] == 0] = 0.0  # nothing speaks for it or against it
            length = (likeness.lengths[ours[there]] + likeness.lengths[theirs[there]]) / 2 / usual
            weight = np.minimum(length, _LONGEST) ** _LENGTH_POWER
            gains[there] = like * weight - (_JOINED if step != _MATCH else 0)
            found[step] += np.split(gains, cuts)

    @cached_property
    def before(self) -> list[NDArray[np.float64]]:
        """Gains of the best steps to each state."""
        low, high = self.band
        best: list[NDArray[np.float64]] = []
        for i in range(len(self.references) + 1):
            row = np.full(high[i] - low[i] + 1, _NEVER)
            row[0] = 0.0 if not i else _NEVER
            for step in (*_PAIRS, _DROP):
                k = i - step.segments
                if k >= 0:
                    gains = self.gains[step][k] if step != _DROP else -_ALONE
                    _raise_to(row, low[i], best[k] + gains, low[k] + step.lines)
            best.append(_allow_added_lines(row))
        return best

    @cached_property
    def behind(self) -> list[NDArray[np.float64]]:
        """Gains of the best steps from each state to the end."""
        low, high = self.band
        best: list[NDArray[np.float64]] = []
        n = len(self.references)
        for i in range(n, -1, -1):
            row = np.full(high[i] - low[i] + 1, _NEVER)
            row[-1] = 0.0 if i == n else _NEVER
            for step in (*_PAIRS, _DROP):
                k = i + step.segments
                if k <= n:
                    gains = self.gains[step][i] if step != _DROP else -_ALONE
                    after = np.full(len(row), _NEVER)
                    _raise_to(after, low[i], best[n - k], low[k] - step.lines)
                    np.maximum(row, after + gains, out=row)
            best.append(_allow_added_lines(row[::-1])[::-1])
        return best[::-1]

    @cached_property
    def path(self) -> list[tuple[tuple[int, int], _Step]]:
        """The best steps, each with the state from which it is taken."""
        i, j = 0, 0
        taken = []
        while (i, j) != (len(self.references), len(self.output)):
            step = max(self._steps(i, j), key=lambda one: one[1])[0]
            taken.append(((i, j), step))
            i, j = i + step.segments, j + step.lines
        return taken

    def _steps(self, i: int, j: int) -> Iterator[tuple[_Step, float]]:
        """Steps from a state, and what they and the best ones behind them gain."""
        low, high = self.band
        for step in (*_PAIRS, _DROP, _ADD):
            k, place = i + step.segments, j + step.lines
            if k <= len(self.references) and low[k] <= place <= high[k]:
                gain = self.gains[step][i][j - low[i]] if step in self.gains else -_ALONE
                yield step, float(gain + self.behind[k][place - low[k]])

    @cached_property
    def margins(self) -> NDArray[np.float64]:
        """Margins in words of the best steps over those with a boundary elsewhere."""
        low, _ = self.band
        n = len(self.references)
        states: list[list[int]] = [[] for _ in range(n + 1)]
        for (i, j), _step in self.path:
            states[i].append(j - low[i])
        whole = float(self.behind[0][0])
        words = float(np.median([len(spaced_words(text)) for text in self.references]))
        margins = np.empty(max(n - 1, 0))
        for i in range(1, n):
            through = self.before[i] + self.behind[i]
            through[states[i]] = _NEVER
            other = through.max(initial=_NEVER)
            if states[i]:  # else a merge goes over this boundary already
                after = np.full(len(self.before[i - 1]), _NEVER)
                _raise_to(after, low[i - 1], self.behind[i + 1], low[i + 1] - 1)
                over = self.before[i - 1] + self.gains[_MERGE][i - 1] + after
                other = max(other, over.max())
            margins[i - 1] = (whole - other) * words
        return margins


def _raise_to(row: NDArray[np.float64], low: int, values: NDArray[np.float64], first: int) -> None:
    """Raise a row that begins at ``low`` to values that begin at ``first``."""
    begin, end = max(low, first), min(low + len(row), first + len(values))
    if begin < end:
        part = row[begin - low : end - low]
        np.maximum(part, values[begin - first : end - first], out=part)


def _allow_added_lines(row: NDArray[np.float64]) -> NDArray[np.float64]:
    """A row of states, each reached from those before it, too, by lines that are added."""
    cost = _ALONE * np.arange(len(row))
    best: NDArray[np.float64] = np.maximum.accumulate(row + cost) - cost
    return best
