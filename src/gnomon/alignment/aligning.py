"""Outputs of a test set whose lines are no segments: read, aligned, and refused where in doubt."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import groupby, pairwise
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

from gnomon.alignment.boundaries import align_boundaries, habits_of
from gnomon.alignment.guides import choose_guide
from gnomon.alignment.lines import align_lines
from gnomon.alignment.places import is_in_another_order
from gnomon.alignment.sources import align_sentences, choose_measure
from gnomon.core.alignments import LARGEST_DOUBT, Alignment
from gnomon.core.errors import DataError, LengthMismatchError
from gnomon.data.formats import output_files, read_outputs, read_plain, read_test_set

if TYPE_CHECKING:
    from os import PathLike

    from gnomon.alignment.likeness import LineMeasure
    from gnomon.core.testset import TestSet

__all__ = ["align_outputs", "align_texts", "read_aligned", "read_aligned_set"]

#: of an output with fewer lines than this share of the segments, or more than its inverse, the
#: lines are no segments, and its words are aligned
_LIST = 0.5
#: where the share of uncertain boundaries of lines is between these, as it is of hard-wrapped ones,
#: words are aligned, too, and the alignment with fewer uncertain boundaries counts
_WRAPPED, _SHUFFLED = 0.08, 0.5
#: blank lines are no borders of documents where they make so many more segments and lines misfits
_STRAYS = 4
#: what may stand beside the name of a document in its line: ``<doc id="NAME">``, ``# NAME``
_HEAD = re.compile(r"^\W*(?:doc\w*\W+)?(?:id\W+)?|\W+$")

_Aligner: TypeAlias = Callable[[Sequence[str], Sequence[str]], Alignment]


def read_aligned(
    *,
    references: Sequence[str | PathLike[str]],
    systems: Sequence[str | PathLike[str]],
    source: str | PathLike[str] | None = None,
    language_pair: str | None = None,
    **guide: Any,
) -> TestSet:
    """Read a test set from plain text files, whose outputs may have more or fewer lines."""
    testset = read_plain(
        references=references, systems=[], source=source, language_pair=language_pair
    )
    return align_outputs(testset, systems, **guide)


def read_aligned_set(
    path: str | PathLike[str],
    *,
    systems: Sequence[str] | None = None,
    language_pair: str | None = None,
    by: str | None = None,
    model: str | None = None,
    **options: Any,
) -> TestSet:
    """Read a test set of a folder, some of whose outputs may have more or fewer lines."""
    read = partial(read_test_set, path, language_pair=language_pair, **options)
    files = output_files(path, language_pair=language_pair)
    outputs = {name: next(iter(read_outputs([file]).values())) for name, file in files.items()}
    size = read(systems=[]).segments
    named = [name for name in systems or files if name in files]
    testset = read(systems=[name for name in named if len(outputs[name]) == size])
    rest = {name: outputs[name] for name in named if name not in testset.systems}
    aligned = align_outputs(testset, rest, by=by, model=model)
    return replace(aligned, systems={name: aligned.systems[name] for name in named})


def align_outputs(
    testset: TestSet,
    outputs: Mapping[str, Sequence[str]] | Sequence[str | PathLike[str]],
    *,
    by: str | PathLike[str] | None = None,
    model: str | None = None,
) -> TestSet:
    """The same test set with further outputs; see :meth:`gnomon.TestSet.align`."""
    if not isinstance(outputs, Mapping):
        outputs = read_outputs(outputs)
    for name in outputs:
        if name in testset.systems:
            raise DataError(f"two systems are called {name!r}; rename one of them")
    systems, alignments = {**testset.systems, **outputs}, dict(testset.alignments)
    misfits = [name for name, lines in outputs.items() if len(lines) != testset.segments]
    if misfits or by is not None:
        fitting = {n: systems[n] for n in systems if n not in misfits and n not in alignments}
        guide = choose_guide(testset, fitting, by)
        for name in misfits:
            measure = (
                choose_measure(systems[name], guide.texts, model) if guide.of_sources else None
            )
            found = align_texts(
                systems[name], guide.texts, testset.documents, name=name, measure=measure
            )
            alignments[name] = replace(found, guide=guide.name)
            systems[name] = found.texts
    return replace(testset, systems=systems, alignments=alignments)


def align_texts(
    output: Sequence[str],
    guide: Sequence[str],
    documents: Sequence[str] | None = None,
    *,
    name: str = "the output",
    measure: LineMeasure | None = None,
) -> Alignment:
    """Align one output with a guide; documents hold, where blank lines part as many.

    Its lines are aligned where they may be segments; of a line for each document, of far fewer or
    more lines than segments, or of hard-wrapped lines, the words.

    Args:
        output: its lines.
        guide: one text per segment.
        documents: the document of each segment.
        name: of the output, in errors.
        measure: of what lines have in common with a guide in another language.

    Raises:
        LengthMismatchError: it leaves out more than half of the segments.
        DataError: more than a quarter of its boundaries are uncertain, or its parts stand in
            another order.
    """
    filled = [number for number, line in enumerate(output) if line.strip()]
    sizes = [len(list(some)) for _, some in groupby(documents or [""] * len(guide))]
    listed = _LIST * len(guide) <= len(filled) <= len(guide) / _LIST
    blocks = _find_named_parts(output, documents or ()) or _paragraphs(output)
    if not listed and len(filled) == len(sizes):
        blocks = [range(number, number + 1) for number in filled]
    elif len(blocks) != len(sizes):
        blocks, sizes = [range(len(output))], [len(guide)]
    if measure is None and not listed and is_in_another_order(output, guide):
        raise DataError(
            f"{name} cannot be aligned: its segments stand in another order than those of the"
            " reference; put them in order, or write one segment a line"
        )
    lines, words = _aligners(guide, measure)
    found = _chained(output, guide, blocks, sizes, lines if listed else words)
    if listed and len(blocks) > 1:  # a blank line may stand for a segment that is left out
        other = lines(output, guide)
        if _misfits(found) > 2 * _misfits(other) + _STRAYS:
            found = other
    if listed and _WRAPPED < found.doubt < _SHUFFLED:
        other = _chained(output, guide, blocks, sizes, words)
        found = min(found, other, key=lambda one: one.doubt)
    _check(found, guide, name)
    return found


def _check(found: Alignment, guide: Sequence[str], name: str) -> None:
    """Refuse an alignment that nothing can rest on."""
    there = [i for i, text in enumerate(guide) if text.strip()]
    drops = sum(not found.texts[i] for i in there)
    if drops > _LIST * len(there):
        raise LengthMismatchError(
            f"{name} leaves out {drops:,} of {len(there):,} segments; give the whole"
            " text, or write one segment a line",
            counts={"the segments": len(there), name: len(there) - drops},
        )
    if found.doubt > LARGEST_DOUBT and not found.uses_sources:
        raise DataError(
            f"{name} cannot be aligned: {found.doubt:.0%} of its boundaries are uncertain, and an"
            f" answer may rest on {LARGEST_DOUBT:.0%} at most; write one segment a line"
        )


def _aligners(guide: Sequence[str], measure: LineMeasure | None) -> tuple[_Aligner, _Aligner]:
    """Aligners of lines, and of texts whose lines are no segments."""
    if measure:
        return partial(align_lines, measure=measure), partial(align_sentences, measure=measure)
    habits = cache(partial(habits_of, guide))  # asked for where they are needed
    return align_lines, lambda output, some: align_boundaries(output, some, habits())


def _misfits(one: Alignment) -> int:
    return one.drops + len(one.added)


def _find_named_parts(output: Sequence[str], documents: Sequence[str]) -> list[range]:
    """The lines between lines that name the documents, all of them and in their order."""
    names = [name for name, _ in groupby(documents)]
    heads = [(i, name) for i, line in enumerate(output) if (name := _HEAD.sub("", line)) in names]
    if not names or [name for _, name in heads] != names:
        return []
    return [range(a + 1, b) for a, b in pairwise([*(i for i, _ in heads), len(output)])]


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


def _chained(
    output: Sequence[str],
    guide: Sequence[str],
    blocks: Sequence[range],
    sizes: Sequence[int],
    aligner: _Aligner,
) -> Alignment:
    """Align each document, whose lines are a block; a boundary between two is certain."""
    parts, start = [], 0
    for block, size in zip(blocks, sizes, strict=True):
        part = aligner([output[number] for number in block], guide[start : start + size])
        parts.append(_moved(part, block.start))
        start += size
    margins = [margin for part in parts for margin in (*part.margins, inf)]
    return replace(
        parts[0],
        texts=tuple(text for part in parts for text in part.texts),
        lines=tuple(some for part in parts for some in part.lines),
        operations=tuple(one for part in parts for one in part.operations),
        margins=tuple(margins[:-1]),
        added={number: text for part in parts for number, text in part.added.items()},
    )
