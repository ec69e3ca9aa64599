"""What BMX says, in sentences: whether explanations help, who rises, which words hurt."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon import stats
from gnomon.bmx.explained_texts import CountedWord
from gnomon.bmx.judging import JudgedRow
from gnomon.bmx.tuning_tables import ALL_SETS, HALVES, HELD_BACK, IN_TURN, TunedGain
from gnomon.core.scripts import unit_of_words
from gnomon.core.verdicts import (
    LEAST,
    amount,
    counted,
    p_value,
    said_of,
    titles_of,
    unsigned_amount,
)
from gnomon.messages import message
from gnomon.stats.student import mean_test, upper_tail

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Level, Message

__all__ = ["explain_verdict", "tune_verdict"]


_ALPHA = 0.05
#: groups that a test needs
_GROUPS = 3
#: gains nearer to 0 are none
_ROUNDING = 1e-9
#: a mean that collapses on more segments than this share says nothing of words
_COLLAPSED = 0.1


class _Tested(NamedTuple):
    """What an explainer gains where p and w were not chosen, on each language pair or test set."""

    explainer: str
    sides: str
    rows: Sequence[TunedGain]
    unit: str
    beyond: list[float]
    alone: list[float]
    collapsed: float | None
    chosen_elsewhere: bool

    @property
    def explained(self) -> str:
        """The explanations in words, and of which side where that is not both."""
        side = "" if self.sides == "both" else " of outputs alone"
        return f"explanations by {self.explainer}{side}"

    @property
    def values(self) -> list[float]:
        """Beyond the random explainer where it is there, else beyond the metric alone."""
        return self.beyond or self.alone

    @property
    def p(self) -> float | None:
        """Of Student's t; where p and w of each language pair were chosen on the others, corrected.

        What was chosen on nearly the same pairs is not independent: the variance of the mean is
        1/G + 1/(G - 1) times that of a pair's gain, not 1/G (Nadeau and Bengio, 2003).
        """
        n = len(self.values)
        if n < _GROUPS:
            return None
        if self.chosen_elsewhere:
            return mean_test(self.values)[2]
        error = float(np.std(self.values, ddof=1)) * math.sqrt(1 / n + 1 / (n - 1))
        mean = abs(float(np.mean(self.values)))
        return 2 * upper_tail(mean / error, n - 1) if error else float(not mean)

    @property
    def n(self) -> str:
        groups = counted(len(self.values), self.unit)
        return f"{counted(len(self.rows), 'experiment')} of {groups}"


def tune_verdict(finding: Finding) -> Iterator[Message]:
    """Whether explanations help where p and w were not chosen, beyond random ones.

    Language pairs are the units of the test (of one pair, test sets): Student's t on their means,
    corrected where p and w were chosen on the other pairs, Holm over explainers. Intervals over
    few of them are too narrow.
    """
    rows = finding.records(TunedGain)
    data = HELD_BACK if any(row.data == HELD_BACK for row in rows) else IN_TURN
    explained = dict.fromkeys((row.explainer, row.sides) for row in rows)
    every = (_tested([r for r in rows if r.data == data], *both) for both in explained)
    tests = [test for test in every if test is not None]
    corrected = stats.holm([math.nan if test.p is None else test.p for test in tests])
    for test, p in zip(tests, corrected, strict=True):
        said_p = f"{'corrected ' if len(tests) > 1 else ''}{p_value(float(p))}"
        yield _beyond_random(finding, test, float(p), said_p, apart=data == HELD_BACK)
    yield from _halves(finding)
    told = {(test.explainer, test.sides) for test in tests}
    yield from _collapsed(finding, [row for row in rows if (row.explainer, row.sides) not in told])
    yield from said_of("score.cut", finding.notices)


def _tested(rows: Sequence[TunedGain], explainer: str, sides: str) -> _Tested | None:
    """Means over language pairs of what was not chosen on them, and a test of the mean of these."""
    mine = [row for row in rows if (row.explainer, row.sides) == (explainer, sides)]
    each = [row for row in mine if row.dataset != ALL_SETS]
    pairs = [str(row.language_pair) for row in each]
    unit, groups = "language pair", pairs
    if len(set(pairs)) == 1:
        unit, groups = "test set", [row.dataset for row in each]
    alone = _by_group(groups, [row.gain for row in each])
    if not alone:
        return None
    shares = [row.collapsed for row in mine if row.dataset == ALL_SETS]
    return _Tested(
        explainer,
        sides,
        each,
        unit,
        _by_group(groups, [row.over_control for row in each]),
        alone,
        max((share for share in shares if share is not None), default=None),
        chosen_elsewhere=any(row.data == HELD_BACK for row in mine),
    )


def _by_group(groups: Sequence[str], gains: Sequence[float | None]) -> list[float]:
    """The mean of each group that has one."""
    values: dict[str, list[float]] = {}
    for group, gain in zip(groups, gains, strict=True):
        if gain is not None:
            values.setdefault(group, []).append(gain)
    means = [float(np.mean(some)) for some in values.values()]
    return [0.0 if abs(mean) < _ROUNDING else mean for mean in means]


def _size(values: Sequence[float]) -> str:
    """How far a mean is from 0, without a sign, and its interval."""
    mean = float(np.mean(values))
    if len(values) < _GROUPS:
        return unsigned_amount(mean, share=True)
    return unsigned_amount(mean, *mean_test(values)[:2], share=True)


def _beyond_random(
    finding: Finding, test: _Tested, p: float, said_p: str, *, apart: bool
) -> Message:
    mean, alone = float(np.mean(test.values)), float(np.mean(test.alone))
    where = "on data held back" if apart else "where p and w were chosen on other test sets"
    beside = "no better than the metric alone"
    if alone:
        beside = f"{_size(test.alone)} {'above' if alone > 0 else 'below'} the metric alone"
    parts: dict[str, Any] = {
        "against": "random ones" if test.beyond else "no explanations",
        "n": test.n,
        "p": said_p if test.p is not None else f"no test of fewer than {_GROUPS}",
        "where": where,
        "beside": f"; {beside}" * bool(test.beyond),
        "size": f"{_size(test.values)} {'more' if mean > 0 else 'less'}" if mean else "no more",
        "explained": test.explained,
    }
    rows = finding.positions(test.rows)
    if (test.collapsed or 0.0) > _COLLAPSED:
        result = ": {size} in r than with {against} ({n}, {p}), {where}{beside}".format_map(parts)
        share = f"{test.collapsed:.0%}"
        return message(
            "bmx.tune.collapsed", rows, share=share, explained=test.explained, result=result
        )
    if test.p is None or p > _ALPHA:
        return message("bmx.tune.undecided", rows, **parts)
    if mean > 0 and alone <= 0:
        explained = test.explained[0].upper() + test.explained[1:]
        return message(
            "bmx.tune.no_help", rows, **{**parts, "explained": explained, "alone": beside}
        )
    return message("bmx.tune.differs", rows, **parts)


def _halves(finding: Finding) -> Iterator[Message]:
    """What is left where there is one test set: halves of each experiment's segments."""
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
            gain=_signed(row.gain),
            lowest=amount(row.lowest or 0.0, share=True),
            highest=amount(row.highest or 0.0, share=True),
            beyond="" if over is None else f", and {_signed(over)} random ones",
        )


def _signed(value: float) -> str:
    if abs(value) < _ROUNDING:
        return "no better than"
    return f"{unsigned_amount(value, share=True)} {'above' if value > 0 else 'below'}"


def _collapsed(finding: Finding, rows: Sequence[TunedGain]) -> Iterator[Message]:
    """Explainers that nothing tests, whose power mean is next to nothing on many segments."""
    for row in rows:
        if row.dataset == ALL_SETS and row.collapsed is not None and row.collapsed > _COLLAPSED:
            yield message(
                "bmx.tune.collapsed",
                finding.positions([row]),
                share=f"{row.collapsed:.0%}",
                explained=f"explanations by {row.explainer}",
                result="",
            )


# Explanations


def explain_verdict(finding: Finding) -> Iterator[Message]:
    """Which words hurt the score, whether people marked the same, and how faithful it all is."""
    yield from _marked(finding)
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
    yield from said_of("score.cut", finding.notices)


def _marked(finding: Finding) -> Iterator[Message]:
    """Whether the words of the lowest importance are those that people marked as errors."""
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
    """Whether explanations rank words better or worse than random ones, and the level of that."""
    low, high = row.ends("gain")
    if row.sentences < LEAST:
        return "few", "caution"
    if row.gain is None or low is None or high is None:
        return "no_random", "undecided"
    return ("undecided", "undecided") if low <= 0 <= high else ("decided", "finding")
