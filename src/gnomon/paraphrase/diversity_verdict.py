"""Diversity of sets as rows, and what it says in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.records import Record, column
from gnomon.core.verdicts import LEAST, amount, counted, listed
from gnomon.messages import message
from gnomon.paraphrase.adequacy import adequacy_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["DiversityRow", "diversity_verdict"]


class DiversityRow(Record):
    """How different the wordings of a set are, by one measure."""

    set: str = column("Set", help="a method of paraphrasing, references, or the systems' outputs")
    measure: str = column("Measure", help="what is compared: words, or trees (syntactic)")
    value: float | None = column(
        "Diversity",
        kind="share",
        digits=4,
        better="higher",
        help="0: equal wordings, 1: nothing in common",
    )
    n: int = column("n", help="segments with two wordings or more")
    wordings: float | None = column(
        "Wordings", digits=1, help="mean number of wordings of these segments"
    )
    skipped: int | None = column("Skipped", help="wordings without a tree (syntactic)")


#: the measures that sentences tell, and what these are called there
_DIVERSITY = {
    "lexical": "Diversity of words",
    "syntactic": "Diversity of sentence structures",
}


def diversity_verdict(finding: Finding) -> Iterator[Message]:
    """Which set differs most within itself, by each measure."""
    every = [row for row in finding.records(DiversityRow) if row.value is not None]
    for measure, what in _DIVERSITY.items():
        rows = [row for row in every if row.measure == measure]
        if not rows:
            continue
        rows.sort(key=lambda row: -(row.value or 0.0))
        sets = [
            f"{row.set} {amount(row.value or 0.0, share=True)} ({counted(row.n)})" for row in rows
        ]
        few = any(row.n < LEAST for row in rows)
        yield message(
            "paraphrase.diversity.few_segments" if few else "paraphrase.diversity.sets",
            finding.positions(rows),
            measure=what[0].lower() + what[1:] if few else what,
            sets=listed(sets),
        )
    yield from adequacy_verdict(finding)
