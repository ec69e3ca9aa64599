"""Diversity of sets, as rows and in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.records import Record, column
from gnomon.core.verdicts import LEAST
from gnomon.messages import message
from gnomon.paraphrase.adequacy import adequacy_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["DiversityRow", "diversity_verdict"]


class DiversityRow(Record):
    """Diversity of the wordings of a set, by one measure."""

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


#: the measures that sentences tell
_TOLD = ("lexical", "syntactic")


def diversity_verdict(finding: Finding) -> Iterator[Message]:
    """Which set differs most within itself, by each measure."""
    every = [row for row in finding.records(DiversityRow) if row.value is not None]
    told = [row for row in every if row.measure in _TOLD]
    for measure in _TOLD:
        rows = sorted(
            (row for row in told if row.measure == measure), key=lambda row: -(row.value or 0.0)
        )
        if rows:
            sets = [{"set": row.set, "value": row.value, "n": row.n} for row in rows]
            places = finding.positions(rows)
            yield message("paraphrase.diversity.sets", places, measure=measure, sets=sets)
    least = min(told, key=lambda row: row.n, default=None)
    if least is not None and least.n < LEAST:
        yield message(
            "data.few",
            finding.positions([least]),
            of=[least.set],
            n=least.n,
            unit="segment",
            least=LEAST,
        )
    yield from adequacy_verdict(finding)
