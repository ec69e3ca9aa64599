"""The operations by which outputs were aligned (``gnomon align``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from gnomon.core.errors import UsageError
from gnomon.core.findings import Finding, Listing
from gnomon.core.options import Flags, OutputFile
from gnomon.core.records import SYSTEM, Record, column, table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.data.formats import write_lines
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.alignments import Alignment
    from gnomon.messages import Message

__all__ = ["align"]

_ROWS, _TITLE = "align", "Alignment of outputs"
_SHOWN, _LONGEST = ("system", "segment", "lines", "operation", "uncertain", "text"), 60
_EXAMPLES = """\
examples:
  gnomon align ref.txt -i whole.txt -o aligned.txt
  gnomon align ref.txt -i whole.txt --by sysA.txt -o aligned.txt
  gnomon align -s src.txt -i whole.txt -o aligned.txt
  gnomon align ref.txt -i whole.txt -f tsv > operations.tsv
  gnomon compare ref.txt -i old.txt whole.txt     # aligns by itself, and says so
"""


class OperationRow(Record):
    """A segment, or lines that belong to none."""

    system: str = SYSTEM
    segment: int | None = column("Segment", help="number of the segment, from 1")
    lines: str = column("Lines", help="of the output that hold it, from 1")
    operation: str = column(
        "Operation",
        help="match: it is one line; merge: it is a part of a line; split: it is several lines;"
        " drop: the output lacks it; add: lines of no segment",
    )
    uncertain: bool = column("Uncertain", help="whether a boundary beside it has a small margin")
    changed: bool = column(
        "Changed",
        help="whether it is uncertain, left out, added, or no plain line where most are",
    )
    text: str = column("Text", help="of the segment, or of lines of none")


def align_verdict(finding: Finding) -> Iterator[Message]:
    """That lines fit, where nothing else is said of them."""
    if not finding.rows:
        yield message("align.fits", segments=int(finding.facts["segments"]))


@method(
    "align",
    purpose="align the lines of outputs with the segments of the reference",
    title="Alignment of outputs",
    examples=_EXAMPLES,
    rows={_ROWS: OperationRow},
    aligns=True,
    guided=True,
    unread=("domains", "paraphrases"),
    verdict=align_verdict,
)
def align(testset: TestSet, *, save: Annotated[OutputFile, Flags(("-o",))] = None) -> Finding:
    """The operations by which outputs were aligned: lines joined, cut, left out and added.

    An output has more or fewer lines than the reference where a translator, or a model that
    translates documents, joins and cuts sentences. Its lines are aligned for what they have in
    common with a system whose lines fit, or with the reference (:meth:`gnomon.TestSet.align`); an
    output with more than a quarter of its boundaries uncertain is refused. Without references,
    lines are aligned with the source, which is a rough help.

    Args:
        testset: a test set with outputs that were aligned, or fit.
        save: a file for the aligned output, one line per segment.

    Returns:
        A finding whose rows hold ``system, segment, lines, operation, uncertain, changed, text``.

    Raises:
        UsageError: there is a file for one output, and there are several.
    """
    if save is not None:
        if len(testset.systems) != 1:
            raise UsageError(
                f"one aligned output is written to a file; got {len(testset.systems)}: name one"
            )
        write_lines(save, *testset.systems.values())
    rows = [row for name, one in testset.alignments.items() for row in _rows(name, one)]
    return Finding(
        method="align",
        title=_TITLE,
        tables=(table(_ROWS, _TITLE, OperationRow, rows),),
        views=(Listing(_ROWS, _TITLE, _SHOWN, {"changed": True}, longest=_LONGEST),)
        if any(row.changed for row in rows)
        else (),
        signatures={},
        facts={"segments": str(testset.segments)},
    )


def _rows(system: str, one: Alignment) -> Iterator[OperationRow]:
    """The segments of an output, then its lines of none."""
    plain = ("match",) if one.has_lines else ("match", "merge", "split")
    for i, operation in enumerate(one.operations):
        uncertain = i in one.uncertain_segments
        yield OperationRow(
            system=system,
            segment=i + 1,
            lines=", ".join(str(number + 1) for number in one.lines[i]),
            operation=operation,
            uncertain=uncertain,
            changed=uncertain or operation not in plain,
            text=one.texts[i],
        )
    for number, text in one.added.items():
        yield OperationRow(
            system=system,
            segment=None,
            lines=str(number + 1),
            operation="add",
            uncertain=False,
            changed=True,
            text=text,
        )
