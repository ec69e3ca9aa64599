"""What a meta-evaluation says, in sentences: which metric people agree with best."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon import stats
from gnomon.metaeval.judging import ALL, AVERAGE, POOLED
from gnomon.stats.student import upper_tail
from gnomon.verdicts import amount, counted, listed, number, p_value, said, titles_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Finding, Statement

_ALPHA = 0.05
#: correlations over so many systems or fewer say next to nothing
_FEW_SYSTEMS = 4
#: kinds of human scores that are gone through one by one, and that a sentence names
_KINDS, _MOST_KINDS = 2, 6
_MAIN, _WINS = "metaeval", "wins"
_CIRCULAR = "CIRCULAR"
_CORRELATIONS = ("pearson", "spearman", "kendall_b", "kendall_c")
#: coefficients with a test that needs no draws
_TESTED = ("pearson", "spearman")


class _Agreement(NamedTuple):
    """How well a metric agrees with people, by one measure."""

    position: int
    metric: str
    value: float
    low: float | None
    high: float | None
    n: int
    title: str

    @property
    def size(self) -> str:
        return amount(self.value, self.low, self.high, share=True)


class _Judged(NamedTuple):
    """The metrics by one measure, on one test set, best first."""

    place: str
    measure: str
    statistic: str
    level: str
    grouping: str
    human: str | None
    unit: str
    figures: tuple[_Agreement, ...]
    controls: tuple[_Agreement, ...]
    few: bool
    thin: tuple[_Agreement, ...]

    @property
    def people(self) -> str:
        return "people" if self.human is None else f"people ({self.human})"

    @property
    def key(self) -> tuple[str, str, str]:
        return self.statistic, self.level, self.grouping


class _Against(NamedTuple):
    """The best metric against another one."""

    other: _Agreement
    position: int
    p: float
    corrected: float

    @property
    def decided(self) -> bool:
        return self.corrected <= _ALPHA


def metaeval_verdict(finding: Finding) -> Iterator[Statement]:
    """Which metric people agree with best, by the first measure of each level; then cautions.

    Several metrics were compared and the best one was chosen after the fact: p-values are Holm's,
    over all ordered pairs of metrics.

    Args:
        finding: what a meta-evaluation found.
    """
    circular = _circular(finding)
    groups = list(_groups(finding, circular))
    firsts = {(one.place, one.level, one.human): one for one in reversed(groups)}
    chosen = [one for one in groups if firsts[one.place, one.level, one.human] is one]
    averages = [one for one in chosen if one.place == AVERAGE]
    single = [one for one in chosen if one.place not in (AVERAGE, POOLED)]
    few = [one for one in single if one.few]
    sound = [one for one in single if not one.few and one.figures]
    places = len({one.place for one in single})
    for one in averages:
        yield from _on_average(finding, one, [own for own in sound if _alike(own, one)])
    if places == 1 and len({one.human for one in sound}) > _KINDS:
        for measure in dict.fromkeys(one.measure for one in sound):
            yield from _over_kinds(finding, [one for one in sound if one.measure == measure])
    else:
        for one in sound if places == 1 else ():
            yield from _of_set(finding, one)
    yield from _cautions(finding, groups, few, circular)


def _alike(one: _Judged, average: _Judged) -> bool:
    return one.key == average.key and average.human in (None, one.human)


def _circular(finding: Finding) -> list[str]:
    """Metrics that the scores of the people who judge them went into."""
    names = dict.fromkeys(str(row["metric"]) for row in finding.table(_MAIN).rows)
    told = [one for one in finding.notices if one.startswith(_CIRCULAR)]
    return [name for name in names if any(f": {name} was made with human" in one for one in told)]


def _groups(finding: Finding, circular: Sequence[str]) -> Iterator[_Judged]:
    """What was measured, by measure and test set, over all systems and segments."""
    parts: dict[tuple[Cell, ...], list[tuple[int, Mapping[str, Cell]]]] = {}
    titles = titles_of(finding)
    for position, row in enumerate(finding.table(_MAIN).rows):
        if row["subset"] == ALL and row["slice"] is None:
            key = tuple(row[name] for name in ("place", "measure", "human"))
            parts.setdefault(key, []).append((position, row))
    for rows in parts.values():
        first = rows[0][1]
        known = [(at, row) for at, row in rows if number(row["value"]) is not None]
        bare = {at for at, row in rows if _is_few(row)}
        few = bare.issuperset(at for at, row in rows if not row["control"])
        every = [_figure(at, row, titles) for at, row in known if not row["control"]]
        found = [one for one in every if few or one.position not in bare]
        yield _Judged(
            place=str(first["place"]),
            measure=str(first["measure"]),
            statistic=str(first["statistic"]),
            level=str(first["level"]),
            grouping=str(first["grouping"]),
            human=None if first["human"] is None else str(first["human"]),
            unit=str(first["unit"]),
            figures=tuple(
                sorted(
                    (one for one in found if one.metric not in circular),
                    key=lambda one: -one.value,
                )
            ),
            controls=tuple(_figure(at, row, titles) for at, row in known if row["control"]),
            few=few,
            thin=tuple(one for one in every if one not in found),
        )


def _is_few(row: Mapping[str, Cell]) -> bool:
    """Whether a figure rests on next to no systems."""
    systems = row["level"] == "system" and row["unit"] == "systems"
    return row["few"] is True or (systems and (number(row["n"]) or 0) <= _FEW_SYSTEMS)


def _figure(position: int, row: Mapping[str, Cell], titles: Mapping[str, str]) -> _Agreement:
    return _Agreement(
        position,
        str(row["metric"]),
        number(row["value"]) or 0.0,
        number(row["low"]),
        number(row["high"]),
        int(number(row["n"]) or 0),
        titles[str(row["metric"])],
    )


def _against(finding: Finding, judged: _Judged, best: str) -> list[_Against]:
    """A metric against every other one, in their order; none without a test."""
    if all(table.name != _WINS for table in finding.tables):
        return []
    names = {one.metric: one for one in judged.figures}
    # p of (metric, against) is of its being worse, where that was asked
    mine, theirs = ("against", "metric") if _asked_less(finding) else ("metric", "against")
    rows = [
        (position, row, p)
        for position, row in enumerate(finding.table(_WINS).rows)
        if (row["place"], row["kind"], row["subset"], row["slice"])
        == (judged.place, judged.human, ALL, None)
        and (row["statistic"], row["level"], row["grouping"]) == judged.key
        and {row["metric"], row["against"]} <= set(names)
        and (p := number(row["p"])) is not None
    ]
    corrected = stats.holm([p for _, _, p in rows])
    found = [
        _Against(names[str(row[theirs])], position, p, float(q))
        for (position, row, p), q in zip(rows, corrected, strict=True)
        if row[mine] == best
    ]
    return sorted(found, key=lambda one: one.other.value, reverse=True)


def _asked_less(finding: Finding) -> bool:
    return "alternative:less" in finding.signatures.get("metaeval", "").split("|")


def _of_set(finding: Finding, judged: _Judged) -> Iterator[Statement]:
    """The best metric on one test set, and what it is better than."""
    best = judged.figures[0]
    where = f"{judged.measure}, {best.size} over {counted(best.n, judged.unit.removesuffix('s'))}"
    if len(judged.figures) == 1:
        yield _alone(judged, where)
        return
    if judged.statistic in _CORRELATIONS and best.value <= 0:
        yield _none(judged, best)
        return
    others = _against(finding, judged, best.metric)
    worse, level = [[one for one in others if one.decided is kind] for kind in (True, False)]
    if worse:
        told = listed([_told(one) for one in worse])
        text = f"{best.title} agrees better with {judged.people} than {told}: {where}"
        yield said("better", text, _places(best, worse))
    if level:
        text = f"{listed([_told(one) for one in level])} may agree as well{_draws(level)}"
        before = "" if worse else f"{best.title} agrees best with {judged.people}: {where}; "
        after = f" with {judged.people} as {best.title}: {judged.measure}" if worse else ""
        yield said("undecided", before + text + after, _places(best, level))
    if not others:
        beside = listed([f"{one.title} ({one.size})" for one in judged.figures[1:]])
        text = f"{best.title} agrees best with {judged.people}: {where}; before {beside}"
        yield said("undecided", f"{text}; no test was made", {_MAIN: [best.position]})


def _none(judged: _Judged, best: _Agreement) -> Statement:
    """Several metrics, of which not even the best agrees with people."""
    against = best.high is not None and best.high < 0
    text = (
        f"{'none' if against else 'whether any'} of {counted(len(judged.figures), 'metric')} agrees"
        f" with {judged.people}: {judged.measure}, at best {best.size} ({best.title}) over"
        f" {counted(best.n, judged.unit.removesuffix('s'))}"
    )
    rows = {_MAIN: [one.position for one in judged.figures]}
    return (
        said("worse", text[0].upper() + text[1:], rows)
        if against
        else said("undecided", text, rows)
    )


def _over_kinds(finding: Finding, groups: Sequence[_Judged]) -> Iterator[Statement]:
    """Metrics by one measure under many kinds of human scores: who is best on which of them."""
    best: dict[tuple[str, int | None], list[_Judged]] = {}
    for one in groups:
        first = one.figures[0]
        if len(one.figures) > 1 and first.high is not None and first.high < 0:
            yield _none(one, first)
            continue
        sign = _sign(one, first) if len(one.figures) == 1 else None
        best.setdefault((first.title, sign), []).append(one)
    for (title, sign), own in best.items():
        kinds = [f"{one.human} ({one.figures[0].size})" for one in own]
        on = f"people on {listed(kinds, most=_MOST_KINDS)}: {own[0].measure}"
        rows = {_MAIN: [one.figures[0].position for one in own]}
        if len(own[0].figures) == 1:
            yield _alone_on(title, sign, on, rows)
            continue
        beaten = [(one.human, _against(finding, one, one.figures[0].metric)) for one in own]
        surely = [
            f"{kind} (than {_counted_off(others)})"
            for kind, others in beaten
            if any(other.decided for other in others)
        ]
        text = f"{title} agrees best with {on}"
        if surely:
            text += f"; better beyond chance on {listed(surely, most=_MOST_KINDS)}"
            yield said("better", text, rows)
        else:
            yield said("undecided", f"{text}; other metrics may agree as well", rows)


def _counted_off(others: Sequence[_Against]) -> str:
    """The metrics that one is better than, if these are not all."""
    worse = [one.other.title for one in others if one.decided]
    return "all others" if len(worse) == len(others) > 1 else listed(worse)


def _alone_on(
    title: str, sign: int | None, on: str, rows: Mapping[str, Sequence[int]]
) -> Statement:
    """One metric under many kinds of human scores."""
    if sign is None:
        return said("undecided", f"how good the agreement of {title} is with {on}", rows)
    if sign == 0:
        return said("undecided", f"whether {title} agrees at all with {on}", rows)
    how = "agrees with" if sign > 0 else "goes against"
    return said("better" if sign > 0 else "worse", f"{title} {how} {on}", rows)


def _told(one: _Against) -> str:
    return f"{one.other.title} ({one.other.size}, corrected {p_value(one.corrected)})"


def _draws(others: Sequence[_Against]) -> str:
    """Where p-values of so few draws cannot be small enough."""
    coarse = any(one.p <= _ALPHA / 10 for one in others)
    return ", but more resamples may tell them apart" if coarse else ""


def _alone(judged: _Judged, facts: str) -> Statement:
    """One metric: whether it agrees with people at all."""
    only = judged.figures[0]
    rows = {_MAIN: [only.position]}
    known = _sign(judged, only)
    if known is None:
        text = f"how good the agreement of {only.title} with {judged.people} is: {facts}"
        return said("undecided", f"{text}; there is no other metric beside it", rows)
    if known > 0:
        return said("better", f"{only.title} agrees with {judged.people}: {facts}", rows)
    if known < 0:
        text = f"{only.title} goes against {judged.people}: what it calls better they call worse"
        return said("worse", f"{text} ({facts})", rows)
    text = f"whether {only.title} agrees with {judged.people} at all ({facts})"
    return said("undecided", text, rows)


def _sign(judged: _Judged, one: _Agreement) -> int | None:
    """1 or -1: it agrees or disagrees for certain; 0: not certain; None: there is no telling."""
    if judged.statistic not in _CORRELATIONS or one.low is None or one.high is None:
        return None
    if one.low <= 0 <= one.high:
        return 0
    if judged.level == "system" and judged.statistic in _TESTED and abs(one.value) < 1:
        # intervals of few systems are narrow; Student's t is exact for Pearson
        t = abs(one.value) * np.sqrt((one.n - 2) / (1 - one.value**2))
        if 2 * upper_tail(float(t), one.n - 2) > _ALPHA:
            return 0
    return 1 if one.value > 0 else -1


def _on_average(finding: Finding, judged: _Judged, sets: Sequence[_Judged]) -> Iterator[Statement]:
    """The best metric over several test sets, and on how many of them it is better than others."""
    if not judged.figures or not sets:
        return
    best = judged.figures[0]
    where = f"{judged.measure}, {best.size} on average over {counted(len(sets), 'test set')}"
    rows = {_MAIN: [one.position for one in judged.figures]}
    if len(judged.figures) == 1:
        told = listed(
            [f"{one.place} {own.size}" for one in sets for own in one.figures if own.title]
        )
        text = f"how good the agreement of {best.title} with {judged.people} is: {where} ({told})"
        yield said("undecided", f"{text}; there is no other metric beside it", rows)
        return
    if judged.statistic in _CORRELATIONS and best.value <= 0:
        yield _none(judged, best)
        return
    parts, clear = [], []
    for other in judged.figures[1:]:
        won = _decided(finding, sets, best.metric, other.metric)
        lost = _decided(finding, sets, other.metric, best.metric)
        reverse = f", the reverse on {lost}" if lost else ""
        parts.append(f"{other.title} ({other.size}; tests say so on {won} of {len(sets)}{reverse})")
        clear.append(won > len(sets) / 2 and not lost)
    text = f"{best.title} agrees best with {judged.people}: {where}, before {listed(parts)}"
    yield said("better" if any(clear) else "undecided", text, rows)


def _decided(finding: Finding, sets: Sequence[_Judged], best: str, other: str) -> int:
    """On how many test sets a metric is better than another one."""
    return sum(
        any(found.decided and found.other.metric == other for found in _against(finding, one, best))
        for one in sets
    )


def _places(best: _Agreement, others: Sequence[_Against]) -> dict[str, list[int]]:
    return {
        _MAIN: [best.position, *(one.other.position for one in others)],
        _WINS: [one.position for one in others],
    }


# Cautions


def _cautions(
    finding: Finding,
    groups: Sequence[_Judged],
    few: Sequence[_Judged],
    circular: Sequence[str],
) -> Iterator[Statement]:
    if circular:
        titles = titles_of(finding)
        names = listed([titles[one] for one in circular])
        was = "were" if len(circular) > 1 else "was"
        text = f"{names} {was} made with the human scores that judge here, and cannot be compared"
        rows = [n for n, row in enumerate(finding.rows) if row["metric"] in circular]
        yield said("caution", text, {_MAIN: rows})
    if few:
        names = listed(list(dict.fromkeys(one.place for one in few)))
        text = (
            f"{names}: people judged {_FEW_SYSTEMS} systems or fewer; agreement over so few says"
            " next to nothing"
        )
        rows = [figure.position for one in few for figure in one.figures]
        yield said("caution", text, {_MAIN: rows})
    yield from _thin(groups)
    yield from _backwards(groups)
    yield from _controlled(groups)


def _thin(groups: Sequence[_Judged]) -> Iterator[Statement]:
    """Metrics that scored next to none of the systems that others did."""
    some = [figure for one in groups for figure in one.thin]
    if some:
        names = listed(list(dict.fromkeys(one.title for one in some)))
        text = (
            f"{names} scored {_FEW_SYSTEMS} of the judged systems or fewer, too few to be compared"
            " at system level"
        )
        yield said("caution", text, {_MAIN: [one.position for one in some]})


def _backwards(groups: Sequence[_Judged]) -> Iterator[Statement]:
    """Metrics that point the wrong way."""
    some = [
        figure
        for one in groups
        if one.statistic == "pearson" and not one.few
        for figure in one.figures
        if figure.high is not None and figure.high < 0
    ]
    if some:
        names = list(dict.fromkeys(one.title for one in some))
        give = "give" if len(names) > 1 else "gives"
        text = (
            f"{listed(names)} {give} more to what people find worse; say so of error rates"
            " (--lower-is-better)"
        )
        yield said("caution", text, {_MAIN: [one.position for one in some]})


def _controlled(groups: Sequence[_Judged]) -> Iterator[Statement]:
    """Metrics that something reaches that knows nothing of quality."""
    beaten: dict[str, list[int]] = {}
    measures: dict[str, None] = {}
    by: dict[str, None] = {}
    for one in groups:
        best = max(one.controls, key=lambda own: own.value, default=None)
        for figure in one.figures if best is not None and not one.few else ():
            if best is not None and figure.value <= best.value:
                beaten.setdefault(figure.title, []).append(figure.position)
                measures[one.measure], by[best.metric.removeprefix("control: ")] = None, None
    if beaten:
        first, rest = next(iter(measures)), len(measures) - 1
        told = f"{first} and {counted(rest, 'more measure')}" if rest else first
        text = (
            f"a control that knows nothing of quality ({listed(list(by))}) agrees with people as"
            f" well as {listed(list(beaten))} by {told}"
        )
        yield said("caution", text, {_MAIN: [n for own in beaten.values() for n in own]})
