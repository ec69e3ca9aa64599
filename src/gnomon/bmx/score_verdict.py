"""What boosted scores say, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.bmx.score_rows import BoostedSystem
from gnomon.core.verdicts import are_on_top, counted, listed, said_of, titles_of
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["headline", "ranked", "score_verdict"]


def score_verdict(finding: Finding) -> Iterator[Message]:
    """Who is on top under boosted metrics, and who rises; nothing is tested there."""
    titles, every = titles_of(finding), finding.records(BoostedSystem)
    for metric in dict.fromkeys(row.metric for row in every):
        rows = [row for row in every if row.metric == metric and row.rank is not None]
        if len(rows) < 2:
            continue
        top, base, moved = ranked(rows)
        yield message(
            "bmx.score.ranks",
            finding.positions(rows),
            top=top,
            metric=titles[metric],
            base=base,
            moved=moved,
        )
    yield from said_of("bmx.score.collapsed", finding.notices)[:1]
    yield from said_of("score.cut", finding.notices)


def ranked(rows: Sequence[BoostedSystem]) -> tuple[str, str, str]:
    """Who is on top boosted, who without explanations, and how many changed place, in words."""
    boosted = [row.system for row in rows if row.rank == 1]
    base = [row.system for row in rows if row.base_rank == 1]
    same = set(boosted) == set(base)
    moved = sum(row.rank != row.base_rank for row in rows)
    return (
        are_on_top(boosted),
        ", boosted or not" if same else f", without explanations {listed(base)}",
        f"{moved or 'none'} of {counted(len(rows), 'system')} changed place",
    )


def headline(rows: Sequence[BoostedSystem]) -> str:
    """Who is on top under one metric, boosted or not, as the title of a picture."""
    top, base, moved = ranked(rows)
    return f"{rows[0].metric}: {top}{base}; {moved}"
