"""What verdicts of judges share: their names in sentences, and answers that cannot be read."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from gnomon.core.verdicts import Claim, counted, titles_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.core.findings import Finding, Level, Statement
    from gnomon.core.records import Record

ALPHA = 0.05
#: the share of answers without a score that is said, at least
_MISSING = 0.01

UNREADABLE = Claim(
    "judges.missing",
    "{missing} of {metric} say nothing that can be read and are left out; nobody knows what they"
    " would have said",
    "caution",
    "more than 1 in 100 answers have no score",
)


class _OfMetric(Protocol):
    @property
    def metric(self) -> str:
        """The judge, as it was given."""
        ...


R = TypeVar("R", bound=_OfMetric)


def by_metric(finding: Finding, rows: Iterable[R]) -> dict[str, list[R]]:
    """The rows of each judge, by its short name."""
    titles, grouped = titles_of(finding), dict[str, list[R]]()
    for row in rows:
        grouped.setdefault(judge_title(titles[row.metric]), []).append(row)
    return grouped


def judge_title(title: str) -> str:
    """What sentences call a judge, or a metric that was probed like one."""
    return f"the {title}" if title.startswith("judge") else title


def statement(
    claim: Claim,
    rows: Mapping[str, Sequence[int]],
    level: Level | None = None,
    **parts: object,
) -> Statement:
    """The sentence, which may begin with the name of a judge."""
    sentence = claim.said(rows, level=level, **parts)
    return replace(sentence, text=sentence.text[0].upper() + sentence.text[1:])


def or_nan(value: float | None) -> float:
    """A figure; NaN where it is undefined."""
    return math.nan if value is None else value


def unreadable(
    finding: Finding, metric: str, rows: Iterable[Record], missing: int, of: int
) -> Iterator[Statement]:
    """What is left out, where it is more than 1 in 100 answers."""
    if missing > _MISSING * of:
        share = f"{missing:,} of {counted(of, 'answer')}"
        yield statement(UNREADABLE, finding.positions(rows), missing=share, metric=metric)
