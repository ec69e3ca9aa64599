"""Sentences on boosted scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.bmx.score_rows import BoostedSystem
from gnomon.core.data_cautions import select_messages
from gnomon.core.rank_changes import rank_changes, ranked_by_metric
from gnomon.core.verdicts import titles_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = ["score_verdict"]


def score_verdict(finding: Finding) -> Iterator[Message]:
    """Who is first under boosted metrics, and who rises; nothing is tested there."""
    titles = titles_of(finding)
    for rows in ranked_by_metric(finding.records(BoostedSystem)):
        yield rank_changes(finding, rows, titles[rows[0].metric], "boosted")
    yield from select_messages("bmx.score.collapsed", finding.notices)[:1]
    yield from select_messages("score.cut", finding.notices)
