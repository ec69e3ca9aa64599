"""What BMX says, in sentences: whether explanations help, who rises, which words hurt."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon import stats
from gnomon.stats.student import mean_test, upper_tail
from gnomon.verdicts import (
    LEAST,
    Claim,
    amount,
    are_on_top,
    counted,
    cut_texts,
    listed,
    number,
    p_value,
    titles_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Finding, Level, Statement

_ALPHA = 0.05
#: where words stand, after how often they hurt
_TEXTS = {"candidate": " in outputs", "reference": " in references", "source": " in sources"}
#: groups that a test needs
_GROUPS = 3
#: a mean that collapses on more segments than this share says nothing of words
_COLLAPSED = 0.1


_CUT = Claim(
    "bmx.cut",
    "{notice}",
    "caution",
    "the lengths of the texts and what a model reads of them",
)
_HELP = Claim(
    "bmx.tune.better",
    "With {explained} metrics agree with people by {size} in r than with {against} ({n}, {p}),"
    " {where}{beside}",
    "better",
    "Student's t on the means of language pairs, corrected for the choice of p and w on the other"
    " pairs, with Holm's correction over explainers",
)
_HARM = Claim(
    "bmx.tune.worse",
    "With {explained} metrics agree with people by {size} in r than with {against} ({n}, {p}),"
    " {where}{beside}",
    "worse",
    "Student's t on the means of language pairs, corrected for the choice of p and w on the other"
    " pairs, with Holm's correction over explainers",
)
_HELP_NO_METRIC = Claim(
    "bmx.tune.no_help",
    "{explained} help no metric {where}: {alone} below the metric alone, though {size} in r than"
    " with random ones ({n}, {p})",
    "worse",
    "the mean gain over the metric alone is not above 0",
)
_UNDECIDED = Claim(
    "bmx.tune.undecided",
    "The data cannot tell whether {explained} help: {size} in r than with {against} ({n}, {p}),"
    " {where}{beside}",
    "undecided",
    "Student's t, corrected likewise, is not significant, or there are too few language pairs",
)
_HALVES = Claim(
    "bmx.tune.halves",
    "Chosen on one half of the segments, {metric} with explanations by {explainer} is on the other"
    " {gain} the metric alone in r (halves from {lowest} to {highest}){beyond}; halves overlap, so"
    " that this is not tested",
    "undecided",
    "the mean over halves",
)
_COLLAPSE = Claim(
    "bmx.tune.collapsed",
    "The power mean collapses on up to {share} of the segments for {settings}: a single word"
    " decides there, and gains are no evidence",
    "caution",
    "the share of segments whose power mean the smallest importance decides",
)
#: all that a search can say
TUNE_CLAIMS = (_HELP, _HARM, _HELP_NO_METRIC, _UNDECIDED, _HALVES, _COLLAPSE, _CUT)
_RANKS = Claim(
    "bmx.score.ranks",
    "{top} under {metric}{base}; {moved}. Not tested: gnomon bmx tune says whether boosted scores"
    " are nearer to people",
    "undecided",
    "the order of the scores, boosted and not",
)
_COLLAPSED_SCORES = Claim(
    "bmx.score.collapsed",
    "{notice}",
    "caution",
    "the share of segments whose power mean the smallest importance decides",
)
#: all that boosted scores can say
SCORE_CLAIMS = (_RANKS, _COLLAPSED_SCORES, _CUT)
_WORDS = Claim(
    "bmx.explain.words",
    "Words that lower {metric} most often: {words}; not tested",
    "undecided",
    "how often the importance of a word is below 0",
)
_MARKS = Claim(
    "bmx.explain.marks",
    "{what}, {beyond} {side} than random explanations",
    None,
    "an interval of the gain over random explanations that leaves 0 out",
)
_MARKS_UNDECIDED = Claim(
    "bmx.explain.marks_undecided",
    "{what}; the data cannot tell it from random explanations{beyond}",
    "undecided",
    "an interval of the gain over random explanations that holds 0, or none",
)
_FEW_MARKS = Claim(
    "bmx.explain.few_marks",
    "{what}; so few sentences say nothing of others",
    "caution",
    "the number of sentences with marked errors, below 30",
)
_FEW_EXPLAINED = Claim(
    "bmx.explain.few",
    "{segments} explained: an account of these, no finding about a metric",
    "caution",
    "the number of segments, below 30",
)
#: all that explanations can say
EXPLAIN_CLAIMS = (_WORDS, _MARKS, _MARKS_UNDECIDED, _FEW_MARKS, _FEW_EXPLAINED, _CUT)


def _cut(finding: Finding) -> Iterator[Statement]:
    """A caution for each notice that says that texts were not read to their end."""
    for one in cut_texts(finding.notices):
        yield _CUT.said(notice=one.text.removeprefix("Caution: "))


class _Tested(NamedTuple):
    """What an explainer gains where p and w were not chosen, on each language pair."""

    explainer: str
    sides: str
    rows: list[int]
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
        pairs = counted(len(self.values), "language pair")
        return f"{counted(len(self.rows), 'experiment')} of {pairs}"


def tune_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether explanations help where p and w were not chosen, beyond random ones.

    Language pairs are the units of the test (Student's t on their means, corrected where p and w
    were chosen on the other pairs, Holm over explainers): intervals over few of them are too
    narrow. Settings that are judged on what they were chosen on
    are no evidence.
    """
    apart = "held_back_experiments" in {table.name for table in finding.tables}
    name = "held_back_experiments" if apart else "experiments"
    found = [
        one
        for explainer, sides in dict.fromkeys(
            (row["explainer"], row["sides"]) for row in finding.rows
        )
        if (one := _tested(finding, name, explainer, sides)) is not None
    ]
    corrected = stats.holm([math.nan if one.p is None else one.p for one in found])
    for one, p in zip(found, corrected, strict=True):
        said_p = f"{'corrected ' if len(found) > 1 else ''}{p_value(float(p))}"
        yield from _beyond_random(name, one, float(p), said_p, apart=apart)
    if not found or all(one.p is None for one in found):
        yield from _halves(finding)
    yield from _collapsed(finding)
    yield from _cut(finding)


def _tested(finding: Finding, name: str, explainer: Cell, sides: Cell) -> _Tested | None:
    """Means over language pairs of what was not chosen on them, and a test of the mean of these."""
    rows = [
        (at, row)
        for at, row in enumerate(finding.table(name).rows)
        if (row["explainer"], row["sides"]) == (explainer, sides)
        and (name != "experiments" or row["rule"] == "held-out")
    ]
    rules = list(dict.fromkeys(row["rule"] for _, row in rows))
    rows = [(at, row) for at, row in rows if row["rule"] == rules[0]] if rules else []
    beyond = _by_pair(rows, "over_control")
    alone = _by_pair(rows, "gain")
    if not alone:
        return None
    return _Tested(
        str(explainer),
        str(sides),
        [at for at, _ in rows],
        beyond,
        alone,
        _share_collapsed(finding, explainer, sides),
        chosen_elsewhere=name != "experiments",
    )


def _by_pair(rows: Sequence[tuple[int, Mapping[str, Cell]]], name: str) -> list[float]:
    values: dict[Cell, list[float]] = {}
    for _, row in rows:
        value = number(row[name])
        if value is not None:
            values.setdefault(row["language_pair"], []).append(value)
    return [float(np.mean(some)) for some in values.values()]


def _size(values: Sequence[float]) -> str:
    """How far a mean is from 0, without a sign, and its interval."""
    mean = float(np.mean(values))
    if len(values) < _GROUPS:
        return amount(abs(mean), share=True)
    return _turned(mean, *mean_test(values)[:2])


def _beyond_random(
    name: str, one: _Tested, p: float, said_p: str, *, apart: bool
) -> Iterator[Statement]:
    if one.collapsed is not None and one.collapsed > _COLLAPSED:
        return  # a caution says so
    mean, alone = float(np.mean(one.values)), float(np.mean(one.alone))
    where = "on data held back" if apart else "where p and w were chosen on other language pairs"
    parts: dict[str, Any] = {
        "against": "random ones" if one.beyond else "no explanations",
        "n": one.n,
        "p": said_p if one.p is not None else f"no test of fewer than {_GROUPS}",
        "where": where,
        "beside": f"; {_size(one.alone)} {'above' if alone > 0 else 'below'} the metric alone"
        * bool(one.beyond),
        "size": f"{_size(one.values)} {'more' if mean > 0 else 'less'}",
        "explained": one.explained,
    }
    rows = {name: one.rows}
    if one.p is None or p > _ALPHA:
        yield _UNDECIDED.said(rows, **parts)
    elif mean > 0 and alone <= 0:
        explained = one.explained[0].upper() + one.explained[1:]
        yield _HELP_NO_METRIC.said(
            rows, **{**parts, "explained": explained, "alone": _size(one.alone)}
        )
    else:
        yield (_HELP if mean > 0 else _HARM).said(rows, **parts)


def _halves(finding: Finding) -> Iterator[Statement]:
    """What is left where there are too few language pairs: halves of each experiment's segments."""
    if all(table.name != "halves" for table in finding.tables):
        return
    titles = titles_of(finding)
    for at, row in enumerate(finding.table("halves").rows):
        gain, over = number(row["gain"]), number(row["over_control"])
        if gain is None:
            continue
        beyond = "" if over is None else f", and {_signed(over)} random ones"
        low, high = number(row["lowest"]), number(row["highest"])
        title = titles[str(row["metric"])]
        yield _HALVES.said(
            {"halves": [at]},
            metric=title,
            explainer=row["explainer"],
            gain=_signed(gain),
            lowest=amount(low or 0.0, share=True),
            highest=amount(high or 0.0, share=True),
            beyond=beyond,
        )


def _signed(value: float) -> str:
    return f"{amount(abs(value), share=True)} {'above' if value > 0 else 'below'}"


def _share_collapsed(finding: Finding, explainer: Cell, sides: Cell) -> float | None:
    shares = [
        number(row["collapsed"])
        for row in finding.rows
        if (row["explainer"], row["sides"]) == (explainer, sides)
        and row["rule"] in ("held-out", "fixed")
    ]
    known = [share for share in shares if share is not None]
    return max(known) if known else None


def _collapsed(finding: Finding) -> Iterator[Statement]:
    """Settings whose power mean is next to nothing on many segments."""
    some = [
        (at, row)
        for at, row in enumerate(finding.rows)
        if (number(row["collapsed"]) or 0.0) > _COLLAPSED
    ]
    if some:
        names = listed(list(dict.fromkeys(f"{r['explainer']} ({r['rule']})" for _, r in some)))
        most = max(number(row["collapsed"]) or 0.0 for _, row in some)
        rows = {finding.tables[0].name: [at for at, _ in some]}
        yield _COLLAPSE.said(rows, share=f"{most:.0%}", settings=names)


# Scores


def score_verdict(finding: Finding) -> Iterator[Statement]:
    """Who is on top under boosted metrics, and who rises; nothing is tested there."""
    titles = titles_of(finding)
    for metric in dict.fromkeys(row["metric"] for row in finding.rows):
        rows = [
            (at, row)
            for at, row in enumerate(finding.rows)
            if row["metric"] == metric and row["rank"] is not None
        ]
        if len(rows) < 2:
            continue
        tops = _tops([row for _, row in rows])
        title = titles[str(metric)]
        same = set(tops[0]) == set(tops[1])
        moved = sum(row["rank"] != row["base_rank"] for _, row in rows)
        change = "change their place" if moved > 1 else "changes its place"
        yield _RANKS.said(
            {finding.tables[0].name: [at for at, _ in rows]},
            top=are_on_top(tops[0]),
            metric=title,
            base=", boosted or not" if same else f", without explanations {listed(tops[1])}",
            moved=f"{moved or 'none'} of {counted(len(rows), 'system')} {change}",
        )
    if any("collapse" in one for one in finding.notices):
        told = next(one for one in finding.notices if "collapse" in one)
        yield _COLLAPSED_SCORES.said(notice=told)
    yield from _cut(finding)


def _tops(rows: Sequence[Mapping[str, Cell]]) -> list[list[str]]:
    """Who is on top boosted, and who without explanations."""
    return [[str(row["system"]) for row in rows if row[of] == 1] for of in ("rank", "base_rank")]


def score_headline(rows: Sequence[Mapping[str, Cell]]) -> str:
    """Who is on top under one metric, boosted or not, as the title of a picture."""
    boosted, base = _tops(rows)
    text = f"{rows[0]['metric']}: {are_on_top(boosted)}"
    same = set(boosted) == set(base)
    text += ", boosted or not" if same else f", without explanations {listed(base)}"
    moved = sum(row["rank"] != row["base_rank"] for row in rows)
    return f"{text}; {moved or 'none'} of {counted(len(rows), 'system')} changed place"


# Explanations


def explain_verdict(finding: Finding) -> Iterator[Statement]:
    """Which words hurt the score, whether people marked the same, and how faithful it all is."""
    tables = {table.name: table for table in finding.tables}
    yield from _marked(finding) if "errors" in tables else ()
    if "hurting" in tables:
        rows = [
            (at, row)
            for at, row in enumerate(tables["hurting"].rows)
            if (number(row["hurts"]) or 0) and any(map(str.isalnum, str(row["token"])))
        ][:3]
        several = len({row["side"] for _, row in rows}) > 1
        if rows:
            told = [
                f"“{row['token']}” ({int(number(row['hurts']) or 0)} of"
                f" {counted(int(number(row['count']) or 0), 'time')}"
                f"{_TEXTS.get(str(row['side']), '') if several else ''})"
                for _, row in rows
            ]
            title = titles_of(finding)[str(rows[0][1]["metric"])]
            positions = {"hurting": [at for at, _ in rows]}
            yield _WORDS.said(positions, metric=title, words=listed(told))
    segments = len({row["segment"] for row in finding.rows})
    if segments < LEAST:
        yield _FEW_EXPLAINED.said(segments=counted(segments))
    yield from _cut(finding)


def _marked(finding: Finding) -> Iterator[Statement]:
    """Whether the words of the lowest importance are those that people marked as errors."""
    titles = titles_of(finding)
    for at, row in enumerate(finding.table("errors").rows):
        value, gain = number(row["value"]), number(row["gain"])
        if value is None or row["measure"] != "auc":
            continue
        low, high = number(row["gain_low"]), number(row["gain_high"])
        n = int(number(row["sentences"]) or 0)
        size = amount(value, number(row["low"]), number(row["high"]), share=True)
        what = (
            f"{row['explainer']} ranks words of the {row['side']} that people marked as errors"
            f" ({titles[str(row['metric'])]}, {counted(n, 'sentence')}): AUC {size}"
        )
        rows = {"errors": [at]}
        if n < LEAST:
            yield _FEW_MARKS.said(rows, what=what)
        elif gain is None or low is None or high is None:
            yield _MARKS_UNDECIDED.said(rows, what=what, beyond=", of which there are none")
        elif low <= 0 <= high:
            where = "above" if gain > 0 else "below"
            beyond = f": {_turned(gain, low, high)} {where} these"
            yield _MARKS_UNDECIDED.said(rows, what=what, beyond=beyond)
        else:
            side: Level = "better" if gain > 0 else "worse"
            beyond = _turned(gain, low, high)
            yield _MARKS.said(rows, level=side, what=what, beyond=beyond, side=side)


def _turned(value: float, low: float, high: float) -> str:
    """A figure and its interval without its sign."""
    ends = (low, high) if value > 0 else (-high, -low)
    return amount(abs(value), *ends, share=True)
