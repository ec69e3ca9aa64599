"""Outputs of a test set whose lines are no segments: read, aligned, and refused where in doubt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from gnomon.alignment.boundaries import align_boundaries, habits_of
from gnomon.alignment.lines import align_lines
from gnomon.core.alignments import LARGEST_DOUBT, Alignment
from gnomon.core.errors import DataError, LengthMismatchError
from gnomon.data.formats import read_outputs, read_plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from gnomon.core.testset import TestSet

__all__ = ["align_outputs", "align_texts", "read_aligned"]

#: of an output with fewer lines than this share of the segments, or more than its inverse, the
#: lines are no segments, and its words are aligned
_LIST = 0.5
#: where the share of uncertain boundaries of lines is between these, as it is of hard-wrapped ones,
#: words are aligned, too, and the alignment with fewer uncertain boundaries counts
_WRAPPED, _SHUFFLED = 0.08, 0.5
#: blank lines are no borders of documents where they make so many more segments and lines misfits
_STRAYS = 4
_NEVER_ELSEWHERE = float("inf")


def read_aligned(
    *,
    references: Sequence[str | PathLike[str]],
    systems: Sequence[str | PathLike[str]],
    source: str | PathLike[str] | None = None,
    language_pair: str | None = None,
) -> TestSet:
    """Read a test set from plain text files, whose outputs may have more or fewer lines."""
    testset = read_plain(
        references=references, systems=[], source=source, language_pair=language_pair
    )
    return align_outputs(testset, systems)


def align_outputs(
    testset: TestSet, outputs: Mapping[str, Sequence[str]] | Sequence[str | PathLike[str]]
) -> TestSet:
    """The same test set with further outputs; see :meth:`gnomon.TestSet.align`."""
    if not isinstance(outputs, Mapping):
        outputs = read_outputs(outputs)
    reference = next(iter(testset.references.values()), None)
    if reference is None:
        raise DataError("outputs are aligned with references, and there are none; give some")
    systems, alignments = dict(testset.systems), dict(testset.alignments)
    for name, lines in outputs.items():
        if name in systems:
            raise DataError(f"two systems are called {name!r}; rename one of them")
        systems[name] = lines
        if len(lines) != testset.segments:
            guide = [text or "" for text in reference]
            alignments[name] = align_texts(lines, guide, testset.documents, name=name)
            systems[name] = alignments[name].texts
    return replace(testset, systems=systems, alignments=alignments)


def align_texts(
    output: Sequence[str],
    references: Sequence[str],
    documents: Sequence[str] | None = None,
    *,
    name: str = "the output",
) -> Alignment:
    """Align one output with references; documents hold, where blank lines part as many.

    Its lines are aligned where they may be segments; of a line for each document, of far fewer or
    more lines than references, or of hard-wrapped lines, the words.

    Args:
        output: its lines.
        references: one text per segment.
        documents: the document of each segment.
        name: of the output, in errors.

    Raises:
        LengthMismatchError: it leaves out more than half of the segments.
        DataError: more than a quarter of its boundaries are uncertain.
    """
    filled = [number for number, line in enumerate(output) if line.strip()]
    sizes = [len(list(some)) for _, some in groupby(documents or [""] * len(references))]
    listed = _LIST * len(references) <= len(filled) <= len(references) / _LIST
    blocks = _paragraphs(output)
    if not listed and len(filled) == len(sizes):
        blocks = [range(number, number + 1) for number in filled]
    elif len(blocks) != len(sizes):
        blocks, sizes = [range(len(output))], [len(references)]
    found = _aligned(output, references, blocks, sizes, words=not listed)
    if listed and len(blocks) > 1:  # a blank line may stand for a segment that is left out
        other = _aligned(output, references, [range(len(output))], [len(references)], words=False)
        if _misfits(found) > 2 * _misfits(other) + _STRAYS:
            found = other
    if listed and _WRAPPED < found.doubt < _SHUFFLED:
        other = _aligned(output, references, blocks, sizes, words=True)
        found = min(found, other, key=lambda one: one.doubt)
    if found.drops > _LIST * len(references):
        raise LengthMismatchError(
            f"{name} leaves out {found.drops:,} of {len(references):,} segments; give the whole"
            " text, or write one segment a line",
            counts={"the references": len(references), name: len(filled)},
        )
    if found.doubt > LARGEST_DOUBT:
        raise DataError(
            f"{name} cannot be aligned: {found.doubt:.0%} of its boundaries are uncertain, and an"
            f" answer may rest on {LARGEST_DOUBT:.0%} at most; write one segment a line"
        )
    return found


def _misfits(one: Alignment) -> int:
    return one.drops + len(one.added)


def _aligned(
    output: Sequence[str],
    references: Sequence[str],
    blocks: Sequence[range],
    sizes: Sequence[int],
    *,
    words: bool,
) -> Alignment:
    """Align each document, whose lines are a block, by its words or its lines."""
    habits = habits_of(references) if words else None
    parts, start = [], 0
    for block, size in zip(blocks, sizes, strict=True):
        some, guide = [output[number] for number in block], references[start : start + size]
        part = align_boundaries(some, guide, habits) if habits else align_lines(some, guide)
        parts.append(_moved(part, block.start))
        start += size
    return _chained(parts)


def _paragraphs(output: Sequence[str]) -> list[range]:
    """Runs of lines with text, between blank lines."""
    runs: list[range] = []
    for number, line in enumerate(output):
        if not line.strip():
            continue
        if runs and runs[-1].stop == number:
            runs[-1] = range(runs[-1].start, number + 1)
        else:
            runs.append(range(number, number + 1))
    return runs


def _moved(part: Alignment, by: int) -> Alignment:
    """An alignment of lines that stand further on in their file."""
    return replace(
        part,
        lines=tuple(tuple(number + by for number in some) for some in part.lines),
        added={number + by: text for number, text in part.added.items()},
    )


def _chained(parts: Sequence[Alignment]) -> Alignment:
    """The alignments of documents as that of the whole; a boundary between two is certain."""
    margins = [margin for part in parts for margin in (*part.margins, _NEVER_ELSEWHERE)]

    return replace(
        parts[0],
        texts=tuple(text for part in parts for text in part.texts),
        lines=tuple(some for part in parts for some in part.lines),
        operations=tuple(one for part in parts for one in part.operations),
        margins=tuple(margins[:-1]),
        added={number: text for part in parts for number, text in part.added.items()},
    )
