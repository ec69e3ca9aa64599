"""Outputs that were joined or cut so that they have one text for each segment."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from math import inf
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["LARGEST_DOUBT", "LEAST_MARGIN", "Aligner", "Alignment", "Operation"]

#: what was done for a segment: its text is one line; a part of a line that other segments share;
#: several lines; nothing, where the output leaves it out
Operation: TypeAlias = Literal["match", "merge", "split", "drop"]
#: by what an output was aligned: its lines, or its words where its lines are no segments; with
#: sources by the lengths of texts, or by vectors
Aligner: TypeAlias = Literal["lines", "boundaries", "lengths", "vectors"]

#: boundaries with a smaller margin, in edits, are uncertain
LEAST_MARGIN = 1.0
#: an output with a larger share of uncertain boundaries is refused
LARGEST_DOUBT = 0.25


@dataclass(frozen=True)
class Alignment:
    """An output as one text for each segment of what it was aligned with.

    Attributes:
        texts: one per segment; empty where the output leaves it out.
        lines: the lines of the output, counted from 0, that hold the text of each segment; none of
            a segment that is left out. A line of several segments stands at each of them.
        operations: what was done for each segment.
        margins: of the boundary before each segment but the first: by how many edits (words;
            characters of scripts without spaces) the alignment is better than the best one that
            has this boundary elsewhere; infinite where documents fix it.
        added: what of the output belongs to no segment: number of its line, from 0, -> text.
        by: the aligner.
        guide: the system whose lines it was aligned with; none of the reference, or the source.
    """

    texts: tuple[str, ...]
    lines: tuple[tuple[int, ...], ...]
    operations: tuple[Operation, ...]
    margins: tuple[float, ...]
    added: Mapping[int, str]
    by: Aligner
    guide: str = ""

    @cached_property
    def input_lines(self) -> int:
        """The number of lines of the output, those without text left out."""
        return len({*self.added, *(number for some in self.lines for number in some)})

    @property
    def uses_sources(self) -> bool:
        """True if it was aligned with sources."""
        return self.by in ("lengths", "vectors")

    @property
    def has_lines(self) -> bool:
        """True if most lines of the output are segments."""
        return self.by != "boundaries" and 2 * self.operations.count("merge") <= len(self.texts)

    @cached_property
    def uncertain(self) -> tuple[int, ...]:
        """The segments, counted from 0, before which an uncertain boundary stands."""
        return tuple(i for i, margin in enumerate(self.margins, start=1) if margin < LEAST_MARGIN)

    @cached_property
    def uncertain_segments(self) -> frozenset[int]:
        """The segments, counted from 0, that begin or end at an uncertain boundary."""
        return frozenset(segment for i in self.uncertain for segment in (i - 1, i))

    def select(self, segments: Sequence[int]) -> Alignment:
        """The alignment of some segments, as they are ordered; each with the margin before it.

        Lines of no segment are kept beside one of these.
        """
        margins = (inf, *self.margins)
        some = set(segments)
        ends = list(accumulate((max(numbers, default=-1) for numbers in self.lines), max))
        beside = {number: bisect_left(ends, number) for number in self.added}
        return replace(
            self,
            texts=tuple(self.texts[i] for i in segments),
            lines=tuple(self.lines[i] for i in segments),
            operations=tuple(self.operations[i] for i in segments),
            margins=tuple(margins[i] for i in segments[1:]),
            added={n: self.added[n] for n, i in beside.items() if some & {i - 1, i}},
        )

    @property
    def doubt(self) -> float:
        """The share of boundaries that are uncertain."""
        return len(self.uncertain) / max(1, len(self.margins))

    @cached_property
    def merges(self) -> int:
        """Number of segments that share their line with the one before."""
        pairs = zip(self.lines, self.lines[1:], strict=False)
        return sum(bool(a and b and a[-1] == b[0]) for a, b in pairs)

    @property
    def splits(self) -> int:
        """Number of segments of several lines."""
        return self.operations.count("split")

    @property
    def drops(self) -> int:
        """Number of segments that the output leaves out."""
        return self.operations.count("drop")
