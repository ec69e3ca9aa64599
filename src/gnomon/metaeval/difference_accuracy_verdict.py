"""Sentences on the meaning of differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.agreement.meaning import describe_class, judgement_names, set_names
from gnomon.core.verdicts import titles_of
from gnomon.messages import message
from gnomon.metaeval.difference_accuracy_tables import (
    MeaningRow,
    MeaningSetRow,
    MeaningYearRow,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Level, Message

_COIN = 0.5


def delta_accuracy_verdict(finding: Finding) -> Iterator[Message]:
    """State how often people agreed with which differences; then what limits that."""
    titles = titles_of(finding)
    sets = finding.records(MeaningSetRow)
    classes = finding.records(MeaningRow)
    for metric in dict.fromkeys(row.metric for row in classes):
        yield from _say_accuracy(
            finding,
            titles[metric],
            [row for row in classes if row.metric == metric],
            [row for row in sets if row.metric == metric],
        )
    for row in finding.records(MeaningYearRow):
        if row.decided and row.share < row.promised:
            yield message(
                "metaeval.delta_accuracy.newer",
                finding.positions([row]),
                metric=titles[row.metric],
                year=row.year,
                share=row.share,
                promised=row.promised,
                n=row.sets,
                pairs=row.pairs,
                p=row.p_adjusted or 0.0,
            )


def _say_accuracy(
    finding: Finding, title: str, classes: Sequence[MeaningRow], sets: Sequence[MeaningSetRow]
) -> Iterator[Message]:
    """State how often people agreed with differences of a metric, by their size."""
    yield message(
        "metaeval.delta_accuracy.classes",
        finding.positions(classes),
        sets=set_names([row.test_set for row in sets]),
        classes=_classes(classes, title),
        n=len(sets),
        pairs=sum(row.pairs for row in sets),
        human=judgement_names([row.human for row in sets]),
    )
    below = [row for row in classes if (row.ends("share")[1] or 0.0) < _COIN]
    open_ = [row for row in classes if (row.ends("share")[0] or 0.0) <= _COIN and row not in below]
    sides: tuple[tuple[Level, list[MeaningRow]], ...] = (("undecided", open_), ("caution", below))
    for level, some in sides:
        if some:
            yield message(
                "metaeval.delta_accuracy.chance",
                finding.positions(some),
                level=level,
                side=level,
                classes=_classes(some, title),
            )


def _classes(rows: Sequence[MeaningRow], title: str) -> list[dict[str, Any]]:
    """Classes of differences, the first one with the metric."""
    return [
        describe_class(
            (row.smallest, row.largest),
            (row.share, *row.ends("share")),
            None if number else title,
        )
        for number, row in enumerate(rows)
    ]
