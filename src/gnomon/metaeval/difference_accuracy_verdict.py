"""What a meaning of differences says, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.agreement.meaning import (
    judgements_label,
    of_hundred,
    sets_label,
    span,
)
from gnomon.core.verdicts import counted, listed, p_value, titles_of
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
#: classes that a sentence names
_CLASSES_SAID = 4


def delta_accuracy_verdict(finding: Finding) -> Iterator[Message]:
    """How often people agreed with which differences; then what limits that."""
    titles = titles_of(finding)
    sets = finding.records(MeaningSetRow)
    classes = finding.records(MeaningRow)
    for metric in dict.fromkeys(row.metric for row in classes):
        yield from _of_metric(
            finding,
            titles[metric],
            [row for row in classes if row.metric == metric],
            [row for row in sets if row.metric == metric],
        )
    yield from _newer(finding)


def _newer(finding: Finding) -> Iterator[Message]:
    """Years in which people agreed less often than older sets promised."""
    titles = titles_of(finding)
    for row in finding.records(MeaningYearRow):
        if row.decided and row.share < row.promised:
            reached = f"in {row.year} people agreed in {of_hundred(row.share)}"
            newer = f"{reached}, where older sets promised {100 * row.promised:.0f}"
            p = p_value(row.p_adjusted or 0.0)
            facts = f"{counted(row.sets, 'set')}, {counted(row.pairs, 'pair')}, {p}"
            places = finding.positions([row])
            yield message(
                "metaeval.delta_accuracy.newer",
                places,
                metric=titles[row.metric],
                newer=f"{newer} ({facts})",
            )


def _of_metric(
    finding: Finding, title: str, classes: Sequence[MeaningRow], sets: Sequence[MeaningSetRow]
) -> Iterator[Message]:
    each = [
        f"{span(row.smallest, row.largest, title if not n else '')} in"
        f" {of_hundred(row.share, *row.ends('share'), pairs=not n)}"
        for n, row in enumerate(classes)
    ]
    pairs = sum(row.pairs for row in sets)
    facts = f"{counted(len(sets), 'set')}, {counted(pairs, 'pair')};"
    yield message(
        "metaeval.delta_accuracy.classes",
        finding.positions(classes),
        sets=sets_label([row.test_set for row in sets]),
        classes=listed(each, most=_CLASSES_SAID),
        facts=f"{facts} {judgements_label([row.human for row in sets])}",
    )
    below = [row for row in classes if (row.ends("share")[1] or 0.0) < _COIN]
    open_ = [row for row in classes if (row.ends("share")[0] or 0.0) <= _COIN and row not in below]
    sides: tuple[tuple[Level, list[MeaningRow]], ...] = (("undecided", open_), ("caution", below))
    for level, some in sides:
        if some:
            named = [span(row.smallest, row.largest, title) for row in some]
            yield message(
                "metaeval.delta_accuracy.chance",
                finding.positions(some),
                level=level,
                side=level,
                classes=named,
            )
