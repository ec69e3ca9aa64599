"""Constraints as a finding and as a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gnomon.errors import DataError
from gnomon.findings import Column, Exhibit, ExhibitText, Finding, Highlight, Listing, Table
from gnomon.formats import atomic_write, read_records
from gnomon.paraphrase._constraints import Constraint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from gnomon.formats import FileRecord
    from gnomon.testset import TestSet

__all__ = ["constraint_finding", "read_constraints", "write_constraints"]

_TITLE = "N-grams that the references lack"
_SHOWN = 20
_COLUMNS = (
    Column("segment", "Segment", "count"),
    Column("constraint", "N-gram"),
    Column("n", "n", "count", help="its tokens"),
    Column("systems", "Systems", "count", help="systems whose output holds it"),
    Column("share", "Share", "share", 2, help="among all systems; none for variants of a list"),
    Column("replaces", "For", help="the part of the reference that it is a variant of"),
)


def constraint_finding(testset: TestSet, found: Sequence[Constraint], signature: str) -> Finding:
    """Constraints as rows ``segment, constraint, n, systems, share, replaces``, with examples.

    Args:
        testset: what they were found in.
        found: the constraints.
        signature: how to find them again.
    """
    rows = tuple(
        {
            "segment": one.segment,
            "constraint": one.text,
            "n": len(one.tokens),
            "systems": one.systems,
            "share": one.share,
            "replaces": one.replaces,
        }
        for one in found
    )
    segments = len({one.segment for one in found})
    order = sorted(found, key=lambda one: (-(one.share or 0.0), -len(one.tokens), one.segment))
    return Finding(
        method="paraphrase constraints",
        title=_TITLE,
        tables=(Table("constraints", _TITLE, _COLUMNS, rows),),
        signatures={"constraints": signature},
        views=(Listing("constraints", _TITLE, tuple(c.name for c in _COLUMNS), most=_SHOWN),),
        exhibits=tuple(_exhibit(testset, one) for one in order[:_SHOWN]),
        facts={
            "test set": testset.name,
            "systems": str(len(testset.systems)),
            "constraints": f"{len(found)} in {segments} of {testset.segments} segments",
        },
    )


def write_constraints(path: str | PathLike[str], found: Sequence[Constraint]) -> None:
    """Write constraints as JSONL: ``segment, text, tokens, systems, share, replaces``.

    Raises:
        OutputError: the file cannot be written.
    """
    keys = ("segment", "text", "tokens", "systems", "share", "replaces")
    rows = [{key: getattr(one, key) for key in keys} for one in found]
    with atomic_write(path) as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def read_constraints(path: str | PathLike[str]) -> tuple[Constraint, ...]:
    """Read constraints that :func:`write_constraints` wrote, or your own: ``segment`` and ``text``.

    Raises:
        MissingFileError: there is no such file.
        FormatError: a line is not what it should be; file and line are named.
        DataError: the file holds none.
    """
    found = tuple(_of_record(record) for record in read_records(path, "jsonl"))
    if not found:
        raise DataError(f"{path} holds no constraints; 'gnomon paraphrase constraints' finds some")
    return found


def _of_record(record: FileRecord) -> Constraint:
    values = record.values
    segment, text = record.value("segment"), record.text("text")
    if type(segment) is not int or segment < 1:
        raise record.error(f"segment is {segment!r:.40}; a number from 1 is expected")
    if not text.strip():
        raise record.error("text is empty; the words that a paraphrase is to hold are expected")
    tokens = values.get("tokens")
    if not (isinstance(tokens, list) and all(isinstance(one, str) for one in tokens)):
        tokens = text.split()
    systems, share, replaces = (values.get(key) for key in ("systems", "share", "replaces"))
    return Constraint(
        segment=segment,
        tokens=tuple(tokens),
        text=text,
        systems=systems if type(systems) is int else 0,
        share=share if isinstance(share, float) else None,
        replaces=replaces if isinstance(replaces, str) else None,
    )


def _exhibit(testset: TestSet, one: Constraint) -> Exhibit:
    i = one.segment - 1
    texts = [
        ExhibitText("reference", name, texts[i] or "", _marks(texts[i] or "", one.replaces))
        for name, texts in testset.references.items()
        if texts[i] is not None
    ]
    holding = [name for name, texts in testset.systems.items() if one.text in texts[i]][:3]
    texts += [
        ExhibitText(
            "candidate", name, testset.systems[name][i], _marks(testset.systems[name][i], one.text)
        )
        for name in holding
    ]
    said = "from the list" if one.share is None else f"in {one.systems} systems"
    return Exhibit(
        group="constraints",
        kind="absent from the references",
        segment=one.segment,
        texts=tuple(texts),
        systems=tuple(holding),
        weight=one.share or 0.0,
        caption=f"{one.text!r}: {said}",
    )


def _marks(text: str, part: str | None) -> tuple[Highlight, ...]:
    start = text.find(part) if part else -1
    return (Highlight(start, start + len(part)),) if part and start >= 0 else ()
