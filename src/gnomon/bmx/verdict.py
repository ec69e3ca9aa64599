"""Sentences on BMX: use of explanations, gains in rank, words that hurt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.bmx.explained_texts import CountedWord
from gnomon.bmx.judging import JudgedRow
from gnomon.bmx.tuning_tables import ALL_SETS, HALVES, HELD_BACK, IN_TURN, ROUNDING, TunedGain
from gnomon.core.data_cautions import select_messages
from gnomon.core.scripts import unit_of_words
from gnomon.core.verdicts import LEAST, titles_of
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Level, Message

__all__ = ["explain_verdict", "tune_verdict"]


#: a mean that collapses on more segments than this share says nothing of words
_COLLAPSED = 0.1


def tune_verdict(finding: Finding) -> Iterator[Message]:
    """State whether explanations help where p and w were not chosen, beyond random ones."""
    circular = select_messages("metaeval.circular", finding.notices)
    yield from circular
    if not all(said.params["left_out"] for said in circular):
        return
    rows = finding.records(TunedGain)
    every = [row for row in rows if row.dataset == ALL_SETS]
    judged = HELD_BACK if any(row.data == HELD_BACK for row in every) else IN_TURN
    told = [row for row in every if row.data == judged and row.gain is not None]
    for row in told:
        yield _state_helpfulness(
            finding, row, [one for one in rows if _is_of(one, row)], several=len(told) > 1
        )
    yield from _state_halves(finding)
    known = {(row.explainer, row.sides) for row in told}
    for row in every:
        if (row.explainer, row.sides) not in known and (row.collapsed or 0.0) > _COLLAPSED:
            yield message(
                "bmx.tune.collapsed",
                finding.positions([row]),
                share=row.collapsed,
                explained=_describe_explanation(row),
                result=False,
            )
    yield from select_messages("score.cut", finding.notices)


def _describe_explanation(row: TunedGain) -> dict[str, str]:
    """Who explained, and what side."""
    return {"explainer": row.explainer, "sides": row.sides}


def _is_of(row: TunedGain, every: TunedGain) -> bool:
    """True if a row is of one of the experiments that another row speaks of."""
    mine = (every.explainer, every.sides, every.data)
    return row.dataset != ALL_SETS and (row.explainer, row.sides, row.data) == mine


def _state_helpfulness(
    finding: Finding, row: TunedGain, rows: Sequence[TunedGain], *, several: bool
) -> Message:
    """State whether explanations help, of all experiments of an explainer."""
    alone, random = row.gain or 0.0, row.over_control is not None
    value = alone if row.over_control is None else row.over_control
    low, high = row.ends("over_control" if random else "gain")
    base_low, base_high = row.ends("gain")
    rows = [one for one in rows if one.gain is not None]
    pairs = {one.language_pair for one in rows}
    params: dict[str, Any] = {
        "explained": _describe_explanation(row),
        "size": _way(value, "more", "less"),
        "value": value,
        "low": low,
        "high": high,
        "against": "random" if random else "none",
        "experiments": len(rows),
        "unit": "language pair" if len(pairs) > 1 else "test set",
        "units": row.units,
        "tested": "none" if row.p_value is None else "corrected" if several else "alone",
        "p": row.p_value,
        "where": row.data,
        "beside": random,
        "alone": _way(alone, "above", "below"),
        "base": alone,
        "base_low": base_low,
        "base_high": base_high,
    }
    evidence = finding.positions([row, *rows])
    if (row.collapsed or 0.0) > _COLLAPSED:
        params |= {"share": row.collapsed, "result": True}
        return message("bmx.tune.collapsed", evidence, **params)
    if not row.decided:
        return message("bmx.tune.undecided", evidence, **params)
    found = "no_help" if value > 0 >= alone else "differs"
    return message("bmx.tune.differs", evidence, **params, found=found)


def _state_halves(finding: Finding) -> Iterator[Message]:
    """State the gains where there is one test set: halves of each experiment's segments."""
    titles = titles_of(finding)
    for row in finding.records(TunedGain):
        if row.data != HALVES or row.gain is None or row.metric is None:
            continue
        over = row.over_control
        yield message(
            "bmx.tune.halves",
            finding.positions([row]),
            metric=titles[row.metric],
            explainer=row.explainer,
            alone=_way(row.gain, "above", "below"),
            base=row.gain,
            base_low=None,
            base_high=None,
            lowest=row.lowest or 0.0,
            highest=row.highest or 0.0,
            beyond=None if over is None else _way(over, "above", "below"),
            over=over,
        )


def _way(value: float, up: str, down: str) -> str:
    """The direction of a gain, or that there is none."""
    if abs(value) < ROUNDING:
        return "none"
    return up if value > 0 else down


# Explanations


def explain_verdict(finding: Finding) -> Iterator[Message]:
    """Which words hurt the score, whether people marked the same, and how faithful it all is."""
    yield from _state_marked_words(finding)
    words = finding.records(CountedWord, "hurting")
    rows = [row for row in words if row.hurts and any(map(str.isalnum, row.token))][:3]
    if rows:
        several = len({row.side for row in rows}) > 1
        yield message(
            "bmx.explain.words",
            finding.positions(rows),
            units=f"{unit_of_words(row.token for row in words)}s",
            metric=titles_of(finding)[rows[0].metric],
            words=[
                {
                    "token": row.token,
                    "hurts": row.hurts,
                    "count": row.count,
                    "side": row.side if several else None,
                }
                for row in rows
            ],
        )
    segments = len(set(finding.tables[0].values("segment")))
    if segments < LEAST:
        yield message("data.few", of=[], n=segments, unit="segment", least=LEAST)
    yield from select_messages("score.cut", finding.notices)


def _state_marked_words(finding: Finding) -> Iterator[Message]:
    """State whether the words of the lowest importance are those that people marked as errors."""
    titles = titles_of(finding)
    for row in finding.records(JudgedRow):
        if row.value is None or row.measure != "auc":
            continue
        gain, (low, high) = row.gain, row.ends("gain")
        beyond, level = _beyond_chance(row)
        auc_low, auc_high = row.ends("value")
        yield message(
            "bmx.explain.marks",
            finding.positions([row]),
            level=level,
            explainer=row.explainer,
            side=row.side,
            metric=titles[row.metric],
            sentences=row.sentences,
            auc=row.value,
            auc_low=auc_low,
            auc_high=auc_high,
            beyond=beyond,
            gain=gain,
            low=low,
            high=high,
            where="above" if (gain or 0.0) > 0 else "below",
        )


def _beyond_chance(row: JudgedRow) -> tuple[str, Level]:
    """Direction in which explanations rank words better or worse than random ones; its level."""
    low, high = row.ends("gain")
    if row.segments < LEAST:
        return "few", "caution"
    if low is None or high is None:
        return "documents", "undecided"
    return ("undecided", "undecided") if low <= 0 <= high else ("decided", "finding")
