"""Test sets as parts of a site: texts some segments at a time, scores some systems at a time."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.report.site._json import rounded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.report.site._content import SegmentContent, SetContent, TextContent
    from gnomon.report.site._sinks import Sink

__all__ = ["add_set"]

#: outputs in one part, and scores in one part: about a megabyte each
_OUTPUTS, _SCORES = 2000, 60_000


def add_set(sink: Sink, number: int, given: SetContent) -> dict[str, Any]:
    """Write the parts of a test set; returns what the page must know of it beforehand."""
    systems = max(1, len(given.systems))
    block = max(1, min(100, _OUTPUTS // systems, given.segments))
    some = max(1, _SCORES // max(1, given.segments))
    scores = [given.scores(metric) for metric in given.metrics]
    for m, rows in enumerate(scores):
        for b, start in enumerate(range(0, len(rows), some)):
            sink.add(f"score-{number}-{m}-{b}", _plain(rows[start : start + some]))
    if scores:
        sink.add(f"mean-{number}", [_overview(rows) for rows in scores])
    where = _Where(given, systems)
    blocks = 0
    for first, segments in _blocks(given, block):
        sink.add(
            f"text-{number}-{blocks}",
            [_segment(one, scores, first + i) for i, one in enumerate(segments)],
        )
        where.look(first, segments)
        blocks += 1
    where.write(sink, number)
    return {
        "name": given.name,
        "pair": given.language_pair,
        "segments": given.segments,
        "systems": list(given.systems),
        "references": list(given.references),
        "metrics": list(given.metrics),
        "layers": [list(layer) for layer in given.layers],
        "missing": given.missing,
        "block": block,
        "blocks": blocks,
        "scored": some,
    }


def _blocks(given: SetContent, size: int) -> Iterator[tuple[int, list[SegmentContent]]]:
    first, found = 0, []
    for one in given.read():
        found.append(one)
        if len(found) == size:
            yield first, found
            first, found = first + size, []
    if found:
        yield first, found


def _plain(rows: NDArray[np.float64]) -> list[list[float | None]]:
    return [[None if value != value else value for value in row] for row in rows.tolist()]  # noqa: PLR0124  # NaN


def _overview(rows: NDArray[np.float64]) -> list[list[float | None]]:
    """Per segment the mean over the systems, and how far these are apart."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # no system has a score there
        mean, apart = np.nanmean(rows, axis=0), np.nanmax(rows, axis=0) - np.nanmin(rows, axis=0)
    return [rounded(part.tolist()) for part in (mean, apart)]


def _segment(one: SegmentContent, scores: Sequence[NDArray[np.float64]], i: int) -> list[Any]:
    """Document, domain, texts, their roles, and the scores of every system by every metric."""
    return [
        one.document,
        one.domain,
        [_text(text) for text in one.texts],
        one.source,
        list(one.references),
        list(one.outputs),
        [rounded(rows[:, i].tolist()) for rows in scores],
    ]


def _text(one: TextContent) -> list[Any]:
    marks = [
        [layer, list(ends), *([rounded(values)] if values else [])]
        for layer, ends, values in one.marks
    ]
    return [one.text, marks] if marks else [one.text]


class _Where:
    """Which segments have a feature, by reference and by system: a bit for each."""

    def __init__(self, given: SetContent, systems: int) -> None:
        self.layers = [n for n, layer in enumerate(given.layers) if layer[0] == "feature"]
        size = (given.segments + 7) // 8
        rows = systems + 1
        self.bits = {n: [bytearray(size) for _ in range(rows)] for n in self.layers}

    def look(self, first: int, segments: Sequence[SegmentContent]) -> None:
        if not self.layers:
            return
        for i, one in enumerate(segments, start=first):
            marked = [[m[0] for m in text.marks if m[0] in self.bits] for text in one.texts]
            byte, bit = i >> 3, 1 << (i & 7)
            for reference in one.references:
                for layer in marked[reference] if reference is not None else ():
                    self.bits[layer][0][byte] |= bit
            for k, output in enumerate(one.outputs, start=1):
                for layer in marked[output] if output is not None else ():
                    self.bits[layer][k][byte] |= bit

    def write(self, sink: Sink, number: int) -> None:
        for layer, rows in self.bits.items():
            sink.add(f"where-{number}-{layer}", [row.hex() for row in rows])
