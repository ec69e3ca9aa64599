"""Gains in agreement with people, of metrics and of paraphrases, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gnomon.agreement.gains import OWN_OUTPUTS, MetricGainRow, largest_numbers
from gnomon.core.verdicts import LEAST, counted, listed, metric_title, p_value, titles_of
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

_Direction: TypeAlias = Literal["better", "worse", "undecided"]
_MOST = 3  # gains that a sentence names
#: the share of segments without a paraphrase that is said, at least
_MISSING = 0.01


def gains_verdict(finding: Finding) -> Iterator[Message]:
    """Which metrics agree better than what they are compared with; then cautions."""
    rows = finding.records(MetricGainRow)
    for level in ("system", "segment"):
        speaking = [row for row in rows if row.level == level and row.decided is not None]
        yield from _said(finding, level, speaking)
    yield from _cautions(finding, largest_numbers(rows))


def _said(finding: Finding, level: str, rows: Sequence[MetricGainRow]) -> Iterator[Message]:
    """The gains of a level: those that are clear, by direction, then the others."""
    groups: dict[tuple[_Direction, str, str | None, str], list[MetricGainRow]] = {}
    for row in rows:
        direction: _Direction = row.direction if row.decided else "undecided"
        groups.setdefault((direction, row.test_set, row.human, row.against), []).append(row)
    titles, sets = titles_of(finding), {row.test_set for row in rows}
    corrected = "corrected " if len(rows) > 1 else ""
    for (direction, test_set, human, base), of in sorted(
        groups.items(), key=lambda group: group[0][0] == "undecided"
    ):
        on = f"{test_set}, " if len(sets) > 1 else ""
        sizes = [
            f"{row.direction} by {row.size}" if direction == "undecided" else row.size for row in of
        ]
        largest = max((row.p_adjusted for row in of if row.p_adjusted is not None), default=None)
        tested = "" if largest is None else f", {corrected}{p_value(largest)}"
        parts: dict[str, Any] = {
            "level_name": level,
            "gains": listed([_named(row, titles) for row in of], most=_MOST),
            "agree": "agrees" if len(of) == 1 else "agree",
            "people": "people" if human is None else f"people ({human})",
            "base": titles.get(base) or metric_title(base),
            "sizes": listed(sizes, most=_MOST),
            "facts": f"{on}{_over(of[0])}{tested}",
        }
        if direction == "undecided":
            yield message("metaeval.gain_alike", finding.positions(of), **parts)
        else:
            yield message("metaeval.gain", finding.positions(of), more=direction, **parts)


def _named(row: MetricGainRow, titles: Mapping[str, str]) -> str:
    """The metric; with paraphrases, how many and by which method."""
    name = row.metric if row.method is None else row.against
    title = titles.get(name) or metric_title(name)
    if row.method is None:
        return title
    number_of = counted(row.paraphrases or 0, "paraphrase")
    return f"{title} with {number_of} of each reference ({row.method})"


def _over(row: MetricGainRow) -> str:
    """What the gains rest on."""
    name = {"pearson": "Pearson", "darr": "DaRR"}[row.statistic]
    over = f"{name}, {counted(row.n, row.unit.removesuffix('s'))}"
    in_documents = row.interval == "documents" and row.drawn is not None
    return f"{over} in {counted(row.drawn or 0, 'document')}" if in_documents else over


def _cautions(finding: Finding, rows: Sequence[MetricGainRow]) -> Iterator[Message]:
    """Segments without a paraphrase, and paraphrases that are outputs of those who are judged."""
    firsts: dict[tuple[str, str], MetricGainRow] = {}
    for row in rows:
        if row.method is not None:
            firsts.setdefault((row.test_set, row.method), row)
    named = {key: f"{row.method} on {row.test_set}" for key, row in firsts.items()}
    missing = [
        f"{row.without:,} of {counted((row.without or 0) + (row.covered or 0), 'segment')} have no"
        f" paraphrase ({named[key]})"
        for key, row in firsts.items()
        if (row.without or 0) > _MISSING * ((row.without or 0) + (row.covered or 0))
    ]
    if missing:
        yield message("metaeval.paraphrases_missing", missing=listed(missing))
    for key, row in firsts.items():
        if (row.outputs or 0.0) >= OWN_OUTPUTS:
            share = f"{row.outputs:.0%}"
            yield message(
                "metaeval.own_output", finding.positions([row]), share=share, method=named[key]
            )
    few = [key for key, row in firsts.items() if (row.covered or 0) < LEAST]
    if few:
        rows_of = [firsts[key] for key in few]
        of = listed([named[key] for key in few])
        yield message("metaeval.few_paraphrases", finding.positions(rows_of), of=of)
