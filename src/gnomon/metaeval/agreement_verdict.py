"""What a meta-evaluation says, in sentences: which metric people agree with best."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import factorial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon import stats
from gnomon.agreement.judging import ALL, AVERAGE, POOLED
from gnomon.agreement.significance import FEW_SYSTEMS
from gnomon.metaeval.notices import equal_notice
from gnomon.stats.jackknife import LEAST_DOCUMENTS
from gnomon.stats.student import upper_tail
from gnomon.verdicts import LEAST, Claim, amount, counted, listed, number, p_value, titles_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Finding, Statement

_ALPHA = 0.05
#: kinds of human scores that are gone through one by one, and that a sentence names
_KINDS, _MOST_KINDS = 2, 6
#: agreements with controls that a sentence names
_MOST_CONTROLS = 2
_MAIN, _WINS = "metaeval", "wins"
_CORRELATIONS = ("pearson", "spearman", "kendall_b", "kendall_c", "pairwise_difference_pearson")
#: systems from which Student's t serves a rank correlation
_RANKED = 8

_BETTER = Claim(
    "metaeval.better",
    "{best} agrees better with {people} than {others} ({facts})",
    "better",
    "tests of the best metric against the others, with Holm's correction over all ordered pairs",
)
_HIGHEST = Claim(
    "metaeval.highest",
    "{best} has the highest agreement with {people} ({facts}), but {others} {are} not clearly"
    " worse{draws}",
    "undecided",
    "the order of the values; no test tells the best metric from those named",
)
_NOT_WORSE = Claim(
    "metaeval.not_worse",
    "{others} {are} not clearly worse than {best}{draws}",
    "undecided",
    "no test tells the best metric from those named",
)
_UNTESTED = Claim(
    "metaeval.untested",
    "{best} has the highest agreement with {people} ({facts}), before {others}; not tested",
    "undecided",
    "the order of the values alone",
)
_AGREES = Claim(
    "metaeval.agrees",
    "{metric} agrees with {people} ({facts})",
    "better",
    "an interval above 0 that holds its level; at system level also the test of the coefficient",
)
_AGAINST = Claim(
    "metaeval.against",
    "{metric} goes against {people}: what it calls better they call worse ({facts})",
    "worse",
    "an interval below 0 that holds its level; at system level also the test of the coefficient",
)
_UNSURE = Claim(
    "metaeval.unsure",
    "The data cannot tell whether {metric} agrees with {people} at all ({facts})",
    "undecided",
    "an interval that holds 0, or a test of the coefficient that is not significant",
)
_VALUE = Claim(
    "metaeval.value",
    "{metric} has an agreement with {people} of {facts}; no other metric stands beside it",
    "undecided",
    "the value alone: nothing says from which value on it is good",
)
_NONE = Claim(
    "metaeval.none",
    "{none} of {metrics} agrees with {people} ({facts})",
    None,
    "the highest value is not above 0, or the intervals of all hold 0 or their tests of the"
    " coefficient are not significant; below 0, interval and all, where the sentence says None",
)
_KINDS_BETTER = Claim(
    "metaeval.kinds_better",
    "{best} has the highest agreement with people on {kinds}; it is clearly better on {surely}",
    "better",
    "on the kinds named at the end, tests with Holm's correction over all ordered pairs",
)
_KINDS_HIGHEST = Claim(
    "metaeval.kinds_highest",
    "{best} has the highest agreement with people on {kinds}; no other metric is clearly worse",
    "undecided",
    "the order of the values; no test tells the best metric from another one",
)
_AVERAGE = Claim(
    "metaeval.average",
    "{best} has the highest agreement with {people} ({facts}), before {others}",
    None,
    "the order of the averages; better where tests say so on more than half of the test sets",
)
_AVERAGE_VALUE = Claim(
    "metaeval.average_value",
    "{metric} has an agreement with {people} of {facts}; no other metric stands beside it",
    "undecided",
    "the average alone",
)
_CIRCULAR = Claim(
    "metaeval.circular",
    "{metrics} cannot be judged by these human scores: {why}",
    "caution",
    "what went into the scores, or that they are equal to the human scores",
)
_EDITS = Claim(
    "metaeval.edits",
    "{kinds} {count} edits between an output and its post-edit, as TER does, and {are} no"
    " judgement: what metrics reach there ({figures}) is no agreement with people",
    "caution",
    "the name of the human scores, or that TER against the references gives the same",
)
_EQUAL = Claim(
    "metaeval.equal_people",
    "{notice}",
    "caution",
    "the human scores, which are all equal, or within each system or segment",
)
_FEW = Claim(
    "metaeval.few_systems",
    "{sets}: people judged {few} systems or fewer; agreement over so few says little",
    "caution",
    "the number of systems",
)
_FEW_SEGMENTS = Claim(
    "metaeval.few_segments",
    "{sets}: {segments} {are} too few to say whether a metric agrees with people ({measure}:"
    " {figures})",
    "caution",
    "the number of segments that people judged, below 30",
)
_FEW_DOCUMENTS = Claim(
    "metaeval.few_documents",
    "{sets}: {documents} {are} too few for intervals and tests; segments of a document that one"
    " person judged are not independent ({measure}: {figures})",
    "caution",
    "the number of documents that people judged, below 15",
)
_THIN = Claim(
    "metaeval.thin",
    "{metrics} scored {few} of the judged systems or fewer, too few to be compared at system level",
    "caution",
    "the number of systems that a metric scored",
)
_BACKWARDS = Claim(
    "metaeval.backwards",
    "{metrics} {give} more to what people find worse{advice}",
    "caution",
    "an interval of Pearson's r below 0 and, at system level, its test",
)
_CONTROLS = Claim(
    "metaeval.controls",
    "{controls}",
    "caution",
    "the values: that of each control is at least that of each metric named beside it",
)
#: all that a meta-evaluation can say
CLAIMS = (
    *(_BETTER, _HIGHEST, _NOT_WORSE, _UNTESTED, _AGREES, _AGAINST, _UNSURE, _VALUE, _NONE),
    *(_KINDS_BETTER, _KINDS_HIGHEST, _AVERAGE, _AVERAGE_VALUE, _CIRCULAR, _EDITS, _EQUAL),
    *(_FEW, _FEW_SEGMENTS, _FEW_DOCUMENTS, _THIN, _BACKWARDS, _CONTROLS),
)


class _Agreement(NamedTuple):
    """How well a metric agrees with people, by one measure."""

    position: int
    metric: str
    value: float
    low: float | None
    high: float | None
    n: int
    title: str
    drawn: int | None

    @property
    def size(self) -> str:
        return amount(self.value, self.low, self.high, share=True)

    @property
    def figure(self) -> str:
        return f"{self.title} {amount(self.value, share=True)}"


class _Judged(NamedTuple):
    """The metrics by one measure, on one test set, best first."""

    test_set: str
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
    edits: tuple[_Agreement, ...]
    interval: str | None

    @property
    def people(self) -> str:
        return "people" if self.human is None else f"people ({self.human})"

    @property
    def key(self) -> tuple[str, str, str]:
        return self.statistic, self.level, self.grouping

    @property
    def drawn(self) -> int | None:
        """How many segments or documents its figures rest on, at most."""
        return max((one.drawn for one in self.figures if one.drawn is not None), default=None)

    @property
    def few_units(self) -> bool:
        """Whether there are too few segments or documents for an interval to hold its level."""
        least = {"segments": LEAST, "documents": LEAST_DOCUMENTS}.get(self.interval or "", 0)
        return self.drawn is not None and self.drawn < least

    def facts(self, best: _Agreement) -> str:
        """The measure, the best value and what it rests on."""
        over = counted(best.n, self.unit.removesuffix("s"))
        by_document = self.interval == "documents" and best.drawn is not None
        documents = f" in {counted(best.drawn or 0, 'document')}" if by_document else ""
        return f"{self.measure}: {best.size}, {over}{documents}"


class _Against(NamedTuple):
    """The best metric against another one."""

    other: _Agreement
    position: int
    p: float
    corrected: float
    least: float

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
    groups = list(_groups(finding))
    firsts = {(one.test_set, one.level, one.human): one for one in reversed(groups)}
    chosen = [one for one in groups if firsts[one.test_set, one.level, one.human] is one]
    averages = [one for one in chosen if one.test_set == AVERAGE]
    single = [one for one in chosen if one.test_set not in (AVERAGE, POOLED)]
    few = [one for one in single if one.few and one.figures]
    short = [one for one in single if not one.few and one.few_units]
    equal = {one: text for one in groups if (text := _equal(finding, one))}
    sound = [
        one
        for one in single
        if not one.few and not one.few_units and one.figures and one not in equal
    ]
    places = len({one.test_set for one in single})
    for one in averages:
        yield from _on_average(finding, one, [own for own in sound if _alike(own, one)])
    if places == 1 and len({one.human for one in sound}) > _KINDS:
        for measure in dict.fromkeys(one.measure for one in sound):
            yield from _over_kinds(finding, [one for one in sound if one.measure == measure])
    else:
        for one in sound if places == 1 else ():
            yield from _of_set(finding, one)
    yield from (_EQUAL.said(notice=text) for text in _widest(equal.values()))
    yield from _circular(finding)
    yield from _edits(single)
    yield from _few(few)
    yield from _few_units(short)
    yield from _thin(groups)
    told = [one for one in groups if one not in equal]
    yield from _backwards(finding, told)
    yield from _controlled(told)


def _alike(one: _Judged, average: _Judged) -> bool:
    return one.key == average.key and average.human in (None, one.human)


def _groups(finding: Finding) -> Iterator[_Judged]:
    """What was measured, by measure and test set, over all systems and segments."""
    parts: dict[tuple[Cell, ...], list[tuple[int, Mapping[str, Cell]]]] = {}
    titles = titles_of(finding)
    for position, row in enumerate(finding.table(_MAIN).rows):
        if row["subset"] == ALL and row["slice"] is None:
            key = tuple(row[name] for name in ("test_set", "measure", "human"))
            parts.setdefault(key, []).append((position, row))
    for rows in parts.values():
        first = rows[0][1]
        known = [(at, row) for at, row in rows if number(row["value"]) is not None]
        bare = {at for at, row in rows if _is_few(row)}
        few = bare.issuperset(at for at, row in rows if not row["control"])
        every = [_figure(at, row, titles) for at, row in known if _is_judged(row)]
        found = [one for one in every if few or one.position not in bare]
        yield _Judged(
            test_set=str(first["test_set"]),
            measure=str(first["measure"]),
            statistic=str(first["statistic"]),
            level=str(first["level"]),
            grouping=str(first["grouping"]),
            human=None if first["human"] is None else str(first["human"]),
            unit=str(first["unit"]),
            figures=tuple(sorted(found, key=lambda one: -one.value)),
            controls=tuple(_figure(at, row, titles) for at, row in known if row["control"]),
            few=few,
            thin=tuple(one for one in every if one not in found),
            edits=tuple(
                _figure(at, row, titles) for at, row in known if row["circular"] == "edits"
            ),
            interval=None if first["interval"] is None else str(first["interval"]),
        )


def _is_judged(row: Mapping[str, Cell]) -> bool:
    return not row["control"] and row["circular"] is None


def _is_few(row: Mapping[str, Cell]) -> bool:
    """Whether a figure rests on next to no systems."""
    systems = row["level"] == "system" and row["unit"] == "systems"
    return row["few"] is True or (systems and (number(row["n"]) or 0) <= FEW_SYSTEMS)


def _figure(position: int, row: Mapping[str, Cell], titles: Mapping[str, str]) -> _Agreement:
    drawn = number(row["drawn"])
    return _Agreement(
        position,
        str(row["metric"]),
        number(row["value"]) or 0.0,
        number(row["low"]),
        number(row["high"]),
        int(number(row["n"]) or 0),
        titles[str(row["metric"])],
        None if drawn is None else int(drawn),
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
        if (row["test_set"], row["human"], row["subset"], row["slice"])
        == (judged.test_set, judged.human, ALL, None)
        and (row["statistic"], row["level"], row["grouping"]) == judged.key
        and {row["metric"], row["against"]} <= set(names)
        and (p := number(row["p"])) is not None
    ]
    corrected = stats.holm([p for _, _, p in rows])
    least = len(rows) * _smallest_p(finding, judged)
    found = [
        _Against(names[str(row[theirs])], position, p, float(q), least)
        for (position, row, p), q in zip(rows, corrected, strict=True)
        if row[mine] == best
    ]
    return sorted(found, key=lambda one: one.other.value, reverse=True)


def _smallest_p(finding: Finding, judged: _Judged) -> float:
    """The smallest p that the draws of a test can show; 0 for a test without draws."""
    test = str(finding.table(_MAIN).rows[judged.figures[0].position]["test"])
    fields = finding.signatures.get("metaeval", "").split("|")
    draws = [int(one.removeprefix("draws:")) for one in fields if one.startswith("draws:")]
    drawn = test.startswith(("permutation", "bootstrap"))
    return 1 / (draws[0] + 1) if drawn and draws and draws[0] else 0.0


def _asked_less(finding: Finding) -> bool:
    return "alternative:less" in finding.signatures.get("metaeval", "").split("|")


def _of_set(finding: Finding, judged: _Judged) -> Iterator[Statement]:
    """The best metric on one test set, and what it is better than."""
    best = judged.figures[0]
    if len(judged.figures) == 1:
        yield _alone(judged, best)
        return
    if _by_chance(judged):
        yield _none(judged, best)
        return
    if _sign(judged, best) == 0:
        # it is the highest by chance alone: what holds is said of each metric
        yield from (_alone(judged, one) for one in judged.figures)
        return
    parts: dict[str, Any] = {
        "best": best.title,
        "people": judged.people,
        "facts": judged.facts(best),
    }
    others = _against(finding, judged, best.metric)
    worse, level = [[one for one in others if one.decided is kind] for kind in (True, False)]
    if worse:
        yield _BETTER.said(_places(best, worse), **parts, others=_listed(worse))
    if level:
        claim = _NOT_WORSE if worse else _HIGHEST
        are = "are" if len(level) > 1 else "is"
        rows = _places(best, level)
        yield claim.said(rows, **parts, others=_listed(level), are=are, draws=_draws(level))
    if not others:
        beside = listed([f"{one.title} ({one.size})" for one in judged.figures[1:]])
        yield _UNTESTED.said({_MAIN: [best.position]}, **parts, others=beside)


def _by_chance(judged: _Judged) -> bool:
    """Whether none of the metrics agrees with people beyond chance."""
    if judged.statistic not in _CORRELATIONS:
        return False
    signs = {_sign(judged, one) for one in judged.figures}
    return judged.figures[0].value <= 0 or not signs & {1, None}


def _none(judged: _Judged, best: _Agreement) -> Statement:
    """Several metrics, of which not even the best agrees with people."""
    against = _sign(judged, best) == -1
    over = counted(best.n, judged.unit.removesuffix("s"))
    if best.value > 0 and judged.level == "system" and judged.test_set != AVERAGE:
        over += f", {p_value(_of_systems(judged.statistic, best.value, best.n))}"
    return _NONE.said(
        {_MAIN: [one.position for one in judged.figures]},
        level="worse" if against else "undecided",
        none="None" if against else "The data cannot tell whether any",
        metrics=counted(len(judged.figures), "metric"),
        people=judged.people,
        facts=f"{judged.measure}: at best {best.size}, {best.title}, {over}",
    )


def _over_kinds(finding: Finding, groups: Sequence[_Judged]) -> Iterator[Statement]:
    """Metrics by one measure under many kinds of human scores: who is best on which of them."""
    best: dict[tuple[str, int | None], list[_Judged]] = {}
    for one in groups:
        first = one.figures[0]
        if len(one.figures) > 1 and (_by_chance(one) or _sign(one, first) == 0):
            yield from _of_set(finding, one)
            continue
        sign = _sign(one, first) if len(one.figures) == 1 else None
        best.setdefault((first.title, sign), []).append(one)
    for (title, sign), own in best.items():
        kinds = [f"{one.human} ({one.figures[0].size})" for one in own]
        on = f"{listed(kinds, most=_MOST_KINDS)} ({own[0].measure})"
        rows = {_MAIN: [one.figures[0].position for one in own]}
        if len(own[0].figures) == 1:
            yield _alone_on(title, sign, listed(kinds, most=_MOST_KINDS), own[0].measure, rows)
            continue
        beaten = [(one.human, _against(finding, one, one.figures[0].metric)) for one in own]
        surely = [
            f"{kind} (than {_counted_off(others)})"
            for kind, others in beaten
            if any(other.decided for other in others)
        ]
        if surely:
            named = listed(surely, most=_MOST_KINDS)
            yield _KINDS_BETTER.said(rows, best=title, kinds=on, surely=named)
        else:
            yield _KINDS_HIGHEST.said(rows, best=title, kinds=on)


def _counted_off(others: Sequence[_Against]) -> str:
    """The metrics that one is better than, if these are not all."""
    worse = [one.other.title for one in others if one.decided]
    return "all others" if len(worse) == len(others) > 1 else listed(worse)


def _alone_on(
    title: str, sign: int | None, kinds: str, measure: str, rows: Mapping[str, Sequence[int]]
) -> Statement:
    """One metric under many kinds of human scores."""
    claim = {None: _VALUE, 0: _UNSURE, 1: _AGREES, -1: _AGAINST}[sign]
    people, facts = (f"people on {kinds}", measure) if sign is not None else ("people", kinds)
    return claim.said(rows, metric=title, people=people, facts=facts)


def _listed(others: Sequence[_Against]) -> str:
    tested = [(one, p_value(one.corrected, one.least)) for one in others]
    return listed([f"{one.other.title} ({one.other.size}, corrected {p})" for one, p in tested])


def _draws(others: Sequence[_Against]) -> str:
    """Where p-values of so few draws cannot be small enough."""
    coarse = any(one.p <= _ALPHA / 10 for one in others)
    return "; more resamples may tell them apart" if coarse else ""


def _alone(judged: _Judged, only: _Agreement) -> Statement:
    """One metric: whether it agrees with people at all."""
    claim = {None: _VALUE, 0: _UNSURE, 1: _AGREES, -1: _AGAINST}[_sign(judged, only)]
    facts = judged.facts(only)
    if claim is _UNSURE and judged.level == "system":
        facts += f", {p_value(_of_systems(judged.statistic, only.value, only.n))}"
    if claim is _VALUE:
        facts = f"{only.size} ({judged.measure}, {counted(only.n, judged.unit.removesuffix('s'))})"
    rows = {_MAIN: [only.position]}
    return claim.said(rows, metric=only.title, people=judged.people, facts=facts)


def _sign(judged: _Judged, one: _Agreement) -> int | None:
    """1 or -1: it agrees or disagrees for certain; 0: not certain; None: there is no telling."""
    if judged.statistic not in _CORRELATIONS:
        return None
    tested = judged.level == "system"
    if tested and _of_systems(judged.statistic, one.value, one.n) > _ALPHA:
        return 0  # bootstrap intervals of few systems are narrow
    if one.low is None or one.high is None:
        # of systems in a perfect order a bootstrap has no interval
        return int(np.sign(one.value)) if tested and judged.interval else None
    if one.low <= 0 <= one.high:
        return 0
    return 1 if one.value > 0 else -1


def _of_systems(statistic: str, value: float, n: int) -> float:
    """Two-sided p of a coefficient of n pairs; exact for ranks of few, else by Student's t."""
    if statistic.startswith("kendall") or (statistic == "spearman" and n < _RANKED):
        null = _kendall_null(n) if statistic.startswith("kendall") else _spearman_null(n)
        return sum(share for size, share in null if size >= abs(value) - 1e-9)
    if abs(value) >= 1:
        return 0.0
    t = abs(value) * np.sqrt((n - 2) / (1 - value**2))
    return 2 * upper_tail(float(t), n - 2)


@cache
def _kendall_null(n: int) -> tuple[tuple[float, float], ...]:
    """Sizes of tau of n pairs without ties, and how probable they are by chance (Kendall, 1938)."""
    counts = np.ones(1)  # orders with so many inversions
    for size in range(2, n + 1):
        counts = np.convolve(counts, np.ones(size)) / size
    most = n * (n - 1) / 2
    return tuple((abs(1 - 2 * k / most), float(share)) for k, share in enumerate(counts))


@cache
def _spearman_null(n: int) -> tuple[tuple[float, float], ...]:
    """Sizes of rho of n pairs without ties, and how probable they are by chance."""
    orders = np.array(list(permutations(range(n))), dtype=np.float64)
    squares = ((orders - np.arange(n)) ** 2).sum(axis=1)
    sizes, counts = np.unique(np.abs(1 - 6 * squares / (n**3 - n)), return_counts=True)
    return tuple(zip(sizes.tolist(), (counts / factorial(n)).tolist(), strict=True))


def _on_average(finding: Finding, judged: _Judged, sets: Sequence[_Judged]) -> Iterator[Statement]:
    """The best metric over several test sets, and on how many of them it is better than others."""
    if not judged.figures or not sets:
        return
    best = judged.figures[0]
    where = f"{judged.measure}: {best.size} on average over {counted(len(sets), 'test set')}"
    rows = {_MAIN: [one.position for one in judged.figures]}
    if len(judged.figures) == 1:
        each = listed(
            [f"{one.test_set} {own.size}" for one in sets for own in one.figures if own.title]
        )
        facts = (
            f"{best.size} on average over {counted(len(sets), 'test set')} ({judged.measure};"
            f" {each})"
        )
        yield _AVERAGE_VALUE.said(rows, metric=best.title, people=judged.people, facts=facts)
        return
    chance = all(_by_chance(one) for one in sets)
    if judged.statistic in _CORRELATIONS and (best.value <= 0 or chance):
        yield _none(judged, best)
        return
    parts, clear = [], []
    for other in judged.figures[1:]:
        won = _decided(finding, sets, best.metric, other.metric)
        lost = _decided(finding, sets, other.metric, best.metric)
        reverse = f", the reverse on {lost}" if lost else ""
        parts.append(f"{other.title} ({other.size}; tests say so on {won} of {len(sets)}{reverse})")
        clear.append(won > len(sets) / 2 and not lost)
    yield _AVERAGE.said(
        rows,
        level="better" if any(clear) else "undecided",
        best=best.title,
        people=judged.people,
        facts=where,
        others=listed(parts),
    )


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


_WHY = {
    "informed": "made with them",
    "people": "people gave these scores, too",
    "same": "equal to them",
    "post-edits": "the references are post-edits, which were made from outputs",
}


def _circular(finding: Finding) -> Iterator[Statement]:
    """Metrics that the human scores cannot judge."""
    titles = titles_of(finding)
    for why, text in _WHY.items():
        rows = [n for n, row in enumerate(finding.rows) if row["circular"] == why]
        if rows:
            names = dict.fromkeys(titles[str(finding.rows[n]["metric"])] for n in rows)
            yield _CIRCULAR.said({_MAIN: rows}, metrics=listed(list(names)), why=text)


def _equal(finding: Finding, judged: _Judged) -> str:
    """The notice that people told nothing apart that it compares; empty where they did."""
    texts = [
        equal_notice(judged.test_set, judged.level, grouping, judged.human)
        for grouping in dict.fromkeys(("", judged.grouping, "system"))
    ]
    return next((text for text in texts if text in finding.notices), "")


def _widest(notices: Iterable[str]) -> list[str]:
    """Each notice once; of all outputs alone where that says the rest."""
    every = dict.fromkeys(notices)
    whole = [one for one in every if " every output the same" in one]
    rest = [one for one in every if not any(_of(one) == _of(other) for other in whole)]
    return [*whole, *rest]


def _of(notice: str) -> tuple[str, str]:
    """The test set and the kind that a notice of equal scores is about."""
    place, _, rest = notice.partition(": people gave ")
    return place, rest.partition(" the same score")[2].partition(": nothing can")[0]


def _edits(groups: Sequence[_Judged]) -> Iterator[Statement]:
    """Human scores that count edits."""
    some = [one for one in groups if one.edits]
    if some:
        kinds = list(dict.fromkeys(one.human or "the human scores" for one in some))
        best = sorted(some[0].edits, key=lambda one: -one.value)
        several = len(kinds) > 1
        yield _EDITS.said(
            {_MAIN: [one.position for judged in some for one in judged.edits]},
            kinds=listed(kinds),
            count="count" if several or kinds[0].startswith("the ") else "counts",
            are="are" if several or kinds[0].startswith("the ") else "is",
            figures=f"{some[0].measure}: {listed([one.figure for one in best])}",
        )


def _few(groups: Sequence[_Judged]) -> Iterator[Statement]:
    """Test sets of next to no systems."""
    if groups:
        yield _FEW.said(
            {_MAIN: [figure.position for one in groups for figure in one.figures]},
            sets=listed(list(dict.fromkeys(one.test_set for one in groups))),
            few=FEW_SYSTEMS,
        )


def _few_units(groups: Sequence[_Judged]) -> Iterator[Statement]:
    """Test sets of next to no segments or documents."""
    for unit, claim in (("segments", _FEW_SEGMENTS), ("documents", _FEW_DOCUMENTS)):
        some = [one for one in groups if one.interval == unit]
        if some:
            n = max(one.drawn or 0 for one in some)
            parts: dict[str, Any] = {unit: counted(n, unit.removesuffix("s"))}
            parts["are"] = "is" if n == 1 else "are"
            yield claim.said(
                {_MAIN: [figure.position for one in some for figure in one.figures]},
                sets=listed(list(dict.fromkeys(one.test_set for one in some))),
                measure=some[0].measure,
                figures=listed([one.figure for one in some[0].figures]),
                **parts,
            )


def _thin(groups: Sequence[_Judged]) -> Iterator[Statement]:
    """Metrics that scored next to none of the systems that others did."""
    some = [figure for one in groups for figure in one.thin]
    if some:
        names = listed(list(dict.fromkeys(one.title for one in some)))
        rows = {_MAIN: [one.position for one in some]}
        yield _THIN.said(rows, metrics=names, few=FEW_SYSTEMS)


def _backwards(finding: Finding, groups: Sequence[_Judged]) -> Iterator[Statement]:
    """Metrics that point the wrong way."""
    some = [
        figure
        for one in groups
        if one.statistic == "pearson" and not one.few and not one.few_units
        for figure in one.figures
        if _sign(one, figure) == -1
    ]
    if some:
        names = list(dict.fromkeys(one.title for one in some))
        turnable = any("--lower-is-better" in one for one in finding.notices)
        yield _BACKWARDS.said(
            {_MAIN: [one.position for one in some]},
            metrics=listed(names),
            give="give" if len(names) > 1 else "gives",
            advice="; say so of error rates (--lower-is-better)" if turnable else "",
        )


#: what these statistics have by chance; others have 0
_CHANCE = {"pairwise_accuracy": 0.5, "spa": 0.5}
_NAMES = {
    "constant": "a constant score",
    "random": "a random score",
    "candidate length": "output length alone",
    "reference length": "reference length alone",
}


def _controlled(groups: Sequence[_Judged]) -> Iterator[Statement]:
    """Metrics that something reaches that knows nothing of quality: which one, which of them."""
    reached: dict[str, dict[str, str]] = {}
    rows = []
    backwards = {
        (one.test_set, one.level, one.human, figure.metric)
        for one in groups
        for figure in one.figures
        if _sign(one, figure) == -1
    }
    for one in groups:
        for control in one.controls if not one.few and not one.few_units else ():
            name = control.metric.removeprefix("control: ")
            does = "ranks the systems" if one.level == "system" else "agrees with people"
            for figure in one.figures:
                turned = (one.test_set, one.level, one.human, figure.metric) in backwards
                by_chance = figure.value == _CHANCE.get(one.statistic, 0.0)  # nothing to reach
                if 0 < figure.value <= control.value and not turned and not by_chance:
                    sizes = [amount(own.value, share=True) for own in (control, figure)]
                    text = f"{figure.title} ({sizes[0]} against {sizes[1]})"
                    opening = f"{_NAMES.get(name, name)} {does} as well as"
                    named = reached.setdefault(f"{opening}|{one.measure}", {})
                    named.setdefault(figure.title, text)
                    rows += [control.position, figure.position]
    if reached:
        each = [(key.split("|"), list(texts.values())) for key, texts in reached.items()]
        parts = [f"{opening} {listed(texts)}, {by}" for (opening, by), texts in each]
        more = len(parts) - _MOST_CONTROLS
        text = "; ".join(parts[:_MOST_CONTROLS])
        if more > 0:
            text += f"; {counted(more, 'more such agreement')} in the table"
        yield _CONTROLS.said({_MAIN: rows}, controls=text)
