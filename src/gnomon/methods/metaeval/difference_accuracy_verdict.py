"""What a meaning of differences says, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.agreement.meaning import (
    judgements_label,
    of_hundred,
    sets_label,
    span,
)
from gnomon.core.verdicts import Claim, counted, listed, p_value, titles_of
from gnomon.methods.metaeval.difference_accuracy_tables import (
    MeaningRow,
    MeaningSetRow,
    MeaningYearRow,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding, Statement

_COIN = 0.5
#: classes that a sentence names
_CLASSES_SAID = 4
_CLASSES = Claim(
    "metaeval.delta_accuracy.classes",
    "In {sets}, people agreed with a difference {classes} ({facts})",
    "undecided",
    "the pairs of each class and the interval of redrawn sets",
)
_CHANCE = Claim(
    "metaeval.delta_accuracy.chance",
    "With a difference {classes}, the data cannot tell whether people agree more often than a"
    " coin would",
    "undecided",
    "the intervals of these classes, which hold one half",
)
_AGAINST = Claim(
    "metaeval.delta_accuracy.against",
    "with a difference {classes}, people agreed less often than a coin would",
    "caution",
    "the intervals of these classes, which lie below one half",
)
_NEWER = Claim(
    "metaeval.delta_accuracy.newer",
    "what a difference of {metric} means changed: {newer}",
    "caution",
    "the share that was reached, tested against what the older sets' curve promised by how far"
    " these lie from one another's curves; Holm's correction over years and metrics",
)
CLAIMS = (_CLASSES, _CHANCE, _AGAINST, _NEWER)


def delta_accuracy_verdict(finding: Finding) -> Iterator[Statement]:
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


def _newer(finding: Finding) -> Iterator[Statement]:
    """Years in which people agreed less often than older sets promised."""
    titles = titles_of(finding)
    for row in finding.records(MeaningYearRow):
        if row.decided and row.share < row.promised:
            reached = f"in {row.year} people agreed in {of_hundred(row.share)}"
            newer = f"{reached}, where older sets promised {100 * row.promised:.0f}"
            p = p_value(row.p_adjusted or 0.0)
            facts = f"{counted(row.sets, 'set')}, {counted(row.pairs, 'pair')}, {p}"
            places = finding.positions([row])
            yield _NEWER.said(places, metric=titles[row.metric], newer=f"{newer} ({facts})")


def _of_metric(
    finding: Finding, title: str, classes: Sequence[MeaningRow], sets: Sequence[MeaningSetRow]
) -> Iterator[Statement]:
    each = [
        f"{span(row.smallest, row.largest, title if not n else '')} in"
        f" {of_hundred(row.share, *row.ends('share'), pairs=not n)}"
        for n, row in enumerate(classes)
    ]
    pairs = sum(row.pairs for row in sets)
    facts = f"{counted(len(sets), 'set')}, {counted(pairs, 'pair')};"
    yield _CLASSES.said(
        finding.positions(classes),
        sets=sets_label([row.test_set for row in sets]),
        classes=listed(each, most=_CLASSES_SAID),
        facts=f"{facts} {judgements_label([row.human for row in sets])}",
    )
    below = [row for row in classes if (row.ends("share")[1] or 0.0) < _COIN]
    open_ = [row for row in classes if (row.ends("share")[0] or 0.0) <= _COIN and row not in below]
    for claim, some in ((_CHANCE, open_), (_AGAINST, below)):
        if some:
            named = " or ".join(span(row.smallest, row.largest, title) for row in some)
            yield claim.said(finding.positions(some), classes=named)
