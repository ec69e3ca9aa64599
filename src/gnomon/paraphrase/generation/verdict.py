"""Paraphrases that were made, as a row and in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.records import Record, column
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["GeneratedRow", "generate_verdict"]


class GeneratedRow(Record):
    """Numbers of paraphrases that were made, and what became of the others."""

    method: str = column("Method", help="what the paraphrases are called")
    paraphrases: int = column("Paraphrases", help="in the file")
    segments: int = column("Segments", help="that have some")
    bare: int = column("Empty references", help="segments whose references are empty")
    short: int | None = column("Short", help="times that fewer than n were left after filters")
    unreachable: int | None = column("Unreachable", help="constraints that no paraphrase holds")
    empty: int = column("Empty", help="dropped: the generator wrote nothing")
    copies: int = column("Copies", help="dropped: they equal a reference")
    duplicates: int = column("Duplicates", help="dropped: the segment has them already")
    inadequate: int = column("Inadequate", help="dropped: the filter does not let them through")


def generate_verdict(finding: Finding) -> Iterator[Message]:
    """State how many paraphrases were made, and how many were dropped."""
    (row,) = finding.records(GeneratedRow)
    names = ("empty", "copies", "duplicates", "inadequate")
    reasons = [{"reason": name, "n": n} for name in names if (n := getattr(row, name))]
    yield message(
        "paraphrase.generate.made",
        finding.positions([row]),
        level="caution" if row.short or not row.paraphrases else "undecided",
        method=row.method,
        made=row.paraphrases,
        segments=row.segments,
        dropped="some" if reasons else "none",
        reasons=reasons,
        short=row.short or None,
    )
