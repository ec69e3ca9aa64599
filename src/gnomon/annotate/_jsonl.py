"""Labels as JSON lines: character spans of one segment per line."""

from __future__ import annotations

import json
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

from gnomon.annotate._facts import Mark
from gnomon.errors import AnnotationError, FormatError, LengthMismatchError
from gnomon.formats import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["read_jsonl"]

_SHAPE = '{"text": "...", "spans": [{"start": 0, "end": 4, "label": "ent:PERSON"}]}'
_LABEL_AND_START = attrgetter("label", "start")


def read_jsonl(
    path: str, aligned: str | None = None
) -> Iterator[tuple[int, str, dict[str, Sequence[Mark]]]]:
    """Line number, text and marks of each segment.

    Args:
        path: the file.
        aligned: a text file of as many segments; the objects may then lack ``text``.

    Raises:
        FormatError: a line is not an object of the right shape.
        AnnotationError: a span lies outside its text, or overlaps one of the same label.
        LengthMismatchError: the two files have unequal numbers of segments.
    """
    lines = read_lines(path)
    texts = None if aligned is None else read_lines(aligned)
    if texts is not None and len(texts) != len(lines):
        raise LengthMismatchError(
            f"{path} labels {len(lines)} segments, {aligned} has {len(texts)}; give one object per"
            " segment"
        )
    for number, line in enumerate(lines, start=1):
        record = _record(line, path, number)
        text = record.get("text", None if texts is None else texts[number - 1])
        if not isinstance(text, str):
            _refuse("'text' is missing", path, number)
        if texts is not None and text != texts[number - 1]:
            raise AnnotationError(
                f"{path}:{number}: the text is {text[:60]!r}, but segment {number} of {aligned} is"
                f" {texts[number - 1][:60]!r}"
            )
        marks = sorted(_mark(span, text, path, number) for span in record["spans"])
        _check_overlaps(marks, path, number)
        yield number, text, {"named": tuple(marks)}


def _record(line: str, path: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise FormatError(f"not JSON ({error}); write {_SHAPE}", path=path, line=number) from error
    if not isinstance(record, dict) or not isinstance(record.get("spans"), list):
        _refuse("not an object with a list 'spans'", path, number)
    found: dict[str, Any] = record
    return found


def _mark(span: object, text: str, path: str, number: int) -> Mark:
    if not isinstance(span, dict):
        _refuse(f"span {span!r} is not an object", path, number)
    start, end, label = span.get("start"), span.get("end"), span.get("label")
    if type(start) is not int or type(end) is not int:
        _refuse(f"'start' and 'end' of span {span!r} are not whole numbers", path, number)
    if not isinstance(label, str) or not label.strip() or "\n" in label:
        _refuse(f"'label' of span {span!r} is not a name", path, number)
    if not 0 <= start < end <= len(text):
        raise AnnotationError(
            f"{path}:{number}: span {start}:{end} ({label}) does not fit its text of {len(text)}"
            " characters; spans are half-open code points, 0 <= start < end <= length"
        )
    return Mark(start, end, label if ":" in label else f"label:{label}")


def _check_overlaps(marks: Sequence[Mark], path: str, number: int) -> None:
    for one, other in pairwise(sorted(set(marks), key=_LABEL_AND_START)):
        if one.label == other.label and other.start < one.end:
            raise AnnotationError(
                f"{path}:{number}: spans {one.start}:{one.end} and {other.start}:{other.end} of"
                f" {one.label} overlap; spans of one feature must not"
            )


def _refuse(problem: str, path: str, number: int) -> NoReturn:
    raise FormatError(f"{problem}; write {_SHAPE}", path=path, line=number)
