"""Paraphrases that were made: the row, and what it says in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.core.records import Record, column
from gnomon.core.verdicts import counted, listed
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["GeneratedRow", "generate_verdict"]


class GeneratedRow(Record):
    """How many paraphrases were made, and what became of the others."""

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
    """How many paraphrases were made, and how many were dropped."""
    (row,) = finding.records(GeneratedRow)
    counts = {name: getattr(row, name) for name in ("empty", "copies", "duplicates", "inadequate")}
    dropped = [f"{n:,} {name}" for name, n in counts.items() if n]
    parts: dict[str, Any] = {
        "method": row.method,
        "segments": counted(row.segments),
        "dropped": f"dropped: {listed(dropped, most=4)}" if dropped else "none was dropped",
    }
    position = finding.positions([row])
    if row.paraphrases:
        yield message(
            "paraphrase.generate.made",
            position,
            made=counted(row.paraphrases, "paraphrase"),
            **parts,
        )
    else:
        yield message("paraphrase.generate.nothing", position, **parts)
    if row.short:
        yield message("paraphrase.generate.fewer", position, times=counted(row.short, "time"))
