"""Sentences on coverage."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gnomon.messages import message
from gnomon.metrics.tokenise import unit_of
from gnomon.paraphrase.coverage_rows import CoverageRow, LackingRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["coverage_verdict"]


_IN_FULL = 3  # rows that a sentence rests on


def coverage_verdict(finding: Finding) -> Iterator[Message]:
    """The shares of n-grams that references match, and what they lack most often."""
    rows = finding.records(CoverageRow)
    told = [row for row in rows if row.share is not None and row.n in (1, 4)]
    if told:
        yield message(
            "paraphrase.coverage.matches",
            finding.positions(rows),
            shares=[{"n": row.n, "share": row.share, "wide": row.wide_share} for row in told],
            unit=unit_of(str(finding.signatures["coverage"]["tok"])),
            widened=any(row.wide_share is not None for row in told),
        )
    yield from _lacks(finding, finding.records(LackingRow))


def _lacks(finding: Finding, rows: Sequence[LackingRow]) -> Iterator[Message]:
    if not rows:
        return
    counts = Counter(row.ngram for row in rows)
    lettered = {gram: n for gram, n in counts.items() if any(map(str.isalnum, gram))} or counts
    common = sorted(lettered, key=lambda gram: -lettered[gram])[:_IN_FULL]
    yield message(
        "paraphrase.coverage.lacks",
        finding.positions(rows[:_IN_FULL]),
        share=float(min(row.share for row in rows)),
        grams=len(rows),
        unit=unit_of(str(finding.signatures["coverage"]["tok"])),
        segments=len({row.segment for row in rows}),
        common=[{"ngram": gram, "times": lettered[gram]} for gram in common],
    )
