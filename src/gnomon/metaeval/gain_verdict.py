"""Gains in agreement with people, of metrics and of paraphrases, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gnomon.agreement.gains import OWN_OUTPUTS, MetricGainRow, largest_numbers
from gnomon.core.verdicts import LEAST, metric_title, titles_of
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

_Direction: TypeAlias = Literal["better", "worse", "undecided"]
#: the share of segments without a paraphrase that is said, at least
_MISSING = 0.01


def gains_verdict(finding: Finding) -> Iterator[Message]:
    """Which metrics agree better than what they are compared with; then cautions."""
    rows = finding.records(MetricGainRow)
    for level in ("system", "segment"):
        speaking = [row for row in rows if row.level == level and row.decided is not None]
        yield from _say_gains(finding, level, speaking)
    yield from _cautions(finding, largest_numbers(rows))


def _say_gains(finding: Finding, level: str, rows: Sequence[MetricGainRow]) -> Iterator[Message]:
    """The gains of a level: those that are clear, by direction, then the others."""
    groups: dict[tuple[_Direction, str, str | None, str], list[MetricGainRow]] = {}
    for row in rows:
        direction: _Direction = row.direction if row.decided else "undecided"
        groups.setdefault((direction, row.test_set, row.human, row.against), []).append(row)
    titles, sets = titles_of(finding), {row.test_set for row in rows}
    for (direction, test_set, human, base), of in sorted(
        groups.items(), key=lambda group: group[0][0] == "undecided"
    ):
        gains = [_gain(row, titles) for row in of]
        parts: dict[str, Any] = {
            "level_name": level,
            "gains": gains,
            "sizes": gains,
            "direction": None if direction == "undecided" else direction,
            "human": human,
            "base": titles.get(base) or metric_title(base),
            "test_set": test_set if len(sets) > 1 else None,
            "several": len(rows) > 1,
            "p": max((row.p_adjusted for row in of if row.p_adjusted is not None), default=None),
            **_count_evidence(of[0]),
        }
        code = "metaeval.gains.undecided" if direction == "undecided" else "metaeval.gains.differ"
        yield message(code, finding.positions(of), **parts)


def _gain(row: MetricGainRow, titles: Mapping[str, str]) -> dict[str, Any]:
    """A metric, with how many paraphrases by which method, and its gain."""
    name = row.metric if row.method is None else row.against
    low, high = row.ends("gain")
    return {
        "metric": titles.get(name) or metric_title(name),
        "paraphrases": None if row.method is None else row.paraphrases or 0,
        "method": row.method,
        "gain": row.gain or 0.0,
        "low": low,
        "high": high,
        "way": row.direction,
    }


def _count_evidence(row: MetricGainRow) -> dict[str, Any]:
    """Count the evidence for the gains."""
    documents = row.drawn if row.interval == "documents" else None
    return {"statistic": row.statistic, "n": row.n, "unit": row.unit, "documents": documents}


def _cautions(finding: Finding, rows: Sequence[MetricGainRow]) -> Iterator[Message]:
    """Segments without a paraphrase, and paraphrases that are outputs of those who are judged."""
    firsts: dict[tuple[str, str], MetricGainRow] = {}
    for row in rows:
        if row.method is not None:
            firsts.setdefault((row.test_set, row.method), row)
    for (test_set, method), row in firsts.items():
        without, covered = row.without or 0, row.covered or 0
        place = finding.positions([row])
        parts: dict[str, Any] = {"method": method, "set": test_set}
        if without > _MISSING * (without + covered):
            numbers: dict[str, Any] = {"without": without, "segments": without + covered}
            yield message("metaeval.gains.missing", place, **parts, **numbers)
        if (row.outputs or 0.0) >= OWN_OUTPUTS:
            yield message("metaeval.gains.own_output", place, **parts, share=row.outputs)
        if covered < LEAST:
            units: dict[str, Any] = {"n": covered, "unit": "segment", "least": LEAST}
            yield message("data.few", place, of=[f"{method} on {test_set}"], **units)
