"""What coverage says, in sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gnomon.core.verdicts import counted, listed
from gnomon.messages import message
from gnomon.metrics.tokenise import unit_of
from gnomon.paraphrase.coverage_rows import CoverageRow, LackingRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["coverage_verdict"]


_FURTHER = (
    ". More matches need not mean better agreement with people: gnomon metaeval --paraphrases"
    " tests that"
)


_IN_FULL = 3  # rows that a sentence rests on


def coverage_verdict(finding: Finding) -> Iterator[Message]:
    """The shares of n-grams that references match, and what they lack most often."""
    rows = finding.records(CoverageRow)
    shares, widened = [], False
    unit = unit_of(str(finding.signatures["coverage"]["tok"]))
    for row in rows:
        if row.share is not None and row.n in (1, 4):
            of = f"{unit}s" if row.n == 1 else f"sequences of {row.n} {unit}s"
            now = ""
            if row.wide_share is not None:
                now, widened = f", {row.wide_share:.1%} with paraphrases", True
            shares.append(f"{row.share:.1%} of the {of} of the systems{now}")
    if shares:
        beyond = _FURTHER if widened else ""
        yield message(
            "paraphrase.coverage.matches",
            finding.positions(rows),
            shares="; ".join(shares),
            beyond=beyond,
        )
    yield from _lacks(finding, finding.records(LackingRow))


def _lacks(finding: Finding, rows: Sequence[LackingRow]) -> Iterator[Message]:
    if not rows:
        return
    counts = Counter(row.ngram for row in rows)
    lettered = {gram: n for gram, n in counts.items() if any(map(str.isalnum, gram))} or counts
    common = sorted(lettered, key=lambda gram: -lettered[gram])[:_IN_FULL]
    least = min(row.share for row in rows)
    yield message(
        "paraphrase.coverage.lacks",
        finding.positions(rows[:_IN_FULL]),
        share="All systems" if least == 1 else f"At least {least:.0%} of the systems",
        grams=counted(len(rows), "n-gram"),
        segments=counted(len({row.segment for row in rows})),
        common=listed([f"“{gram}” ({counted(lettered[gram], 'time')})" for gram in common]),
    )
