"""Writing errors that raters marked, in the columns of the public MQM files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.errors import DataError
from gnomon.formats._marked import mark
from gnomon.formats._mqm import COLUMNS
from gnomon.formats._tsv import write_tsv
from gnomon.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from gnomon.human import ErrorSpan, HumanScores
    from gnomon.testset import TestSet


def write_mqm(path: str | PathLike[str], testset: TestSet, kind: str) -> None:
    """Write error spans and unmarred segments of a kind as an MQM file.

    Raises:
        DataError: there are no judgements of this kind, or a cell cannot hold a text.
        OutputError: the file cannot be written.
    """
    write_tsv(path, COLUMNS, list(_rows(testset, kind)))


def _rows(testset: TestSet, kind: str) -> Iterable[Sequence[str]]:
    scores = _of_raters(testset, kind)
    errors: dict[tuple[str | None, str, int], list[ErrorSpan]] = {}
    for error in testset.errors:
        if error.kind == kind:
            errors.setdefault((error.rater, error.system, error.segment), []).append(error)
    if not scores and not errors:
        raise DataError(f"there are no segment scores or error spans of the kind {kind!r}")
    rated = dict.fromkeys(errors)
    for human in scores:
        for system, values in zip(human.systems, human.values, strict=True):
            clean = (i for i, value in enumerate(values) if value == 0)
            rated |= dict.fromkeys((human.rater, system, i) for i in clean)
    for rater, system, segment in sorted(rated, key=lambda key: (key[1], key[2], key[0] or "")):
        found = errors.get((rater, system, segment), ())
        for one in found or (None,):
            yield _row(testset, system, segment, rater, one)


def _of_raters(testset: TestSet, kind: str) -> list[HumanScores]:
    fitting = [h for h in testset.human if (h.kind, h.level) == (kind, "segment")]
    return [h for h in fitting if h.rater is not None] or fitting


def _row(
    testset: TestSet, system: str, segment: int, rater: str | None, error: ErrorSpan | None
) -> Sequence[str]:
    target = testset.systems[system][segment] if system in testset.systems else ""
    source = "" if testset.sources is None else testset.sources[segment]
    span = None if error is None else Span(error.start, error.end)
    if error is not None and error.side == "source":
        source = mark(source, span)
    elif error is not None:
        target = mark(target, span)
    document, number = _document(testset, segment)
    return (
        system,
        document,
        str(number),
        str(segment + 1),
        rater or "",
        source,
        target,
        "No-error" if error is None else error.category,
        "No-error" if error is None else error.severity,
    )


def _document(testset: TestSet, segment: int) -> tuple[str, int]:
    if testset.documents is None:
        return testset.name, segment + 1
    name = testset.documents[segment]
    return name, testset.documents[: segment + 1].count(name)
