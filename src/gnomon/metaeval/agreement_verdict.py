"""Sentences on a meta-evaluation: which metric people agree with best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gnomon.agreement.gains import MetricGainRow
from gnomon.agreement.judging import ALL, AVERAGE, POOLED
from gnomon.agreement.measures import STATISTICS
from gnomon.agreement.pairing import PREFIX
from gnomon.agreement.significance import FEW_SYSTEMS
from gnomon.agreement.tables import AgreementRow, WinRow, judged_rows
from gnomon.core.data_cautions import select_messages
from gnomon.core.verdicts import LEAST, titles_of
from gnomon.messages import message
from gnomon.messages.audiences import Named
from gnomon.metaeval.gain_verdict import gains_verdict
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Level, Message

#: kinds of human scores that are gone through one by one
_KINDS = 2
_CORRELATIONS = frozenset(name for name, kind in STATISTICS.items() if not kind.ties)
#: an error rate that nobody turned
_TURN = Named("--lower-is-better", "higher_is_better=False")


@dataclass(frozen=True, eq=False)
class _MeasureRows:
    """The rows of one measure on one test set, over all systems and segments."""

    rows: tuple[AgreementRow, ...]
    titles: Mapping[str, str]

    @property
    def first(self) -> AgreementRow:
        return self.rows[0]

    @property
    def place(self) -> tuple[str, str, str | None]:
        return self.first.test_set, self.first.level, self.first.human

    @property
    def key(self) -> tuple[str, str, str]:
        return self.first.statistic, self.first.level, self.first.grouping

    @cached_property
    def few(self) -> bool:
        """True if all metrics rest on next to no systems."""
        return all(row.is_few for row in self.rows if not row.control)

    @cached_property
    def figures(self) -> list[AgreementRow]:
        """The metrics that people can judge, best first."""
        return judged_rows(self.rows)

    @property
    def controls(self) -> list[AgreementRow]:
        """Controls beside all metrics; a random metric that is judged is but one draw."""
        defined = (row for row in self.rows if row.value is not None)
        return [row for row in defined if row.metric.startswith(PREFIX)]

    @property
    def edits(self) -> list[AgreementRow]:
        """Metrics compared with human scores that count edits, best first."""
        rows = (r for r in self.rows if r.circular == "edits" and r.value is not None)
        return sorted(rows, key=lambda row: -row.value_or_zero)

    @cached_property
    def short_of(self) -> str | None:
        """Of what there is too little for an interval to hold its level; None: there is enough."""
        if self.few:
            return self.first.unit.removesuffix("s")
        units = max((row.drawn for row in self.figures if row.drawn is not None), default=None)
        least = {"segments": LEAST, "documents": LEAST_DOCUMENTS}.get(self.first.interval or "", 0)
        few = units is not None and units < least
        return str(self.first.interval).removesuffix("s") if few else None

    @property
    def sound(self) -> bool:
        """True if its figures bear a sentence."""
        return bool(self.figures) and self.short_of is None

    @property
    def is_by_chance(self) -> bool:
        """True if none of the metrics agrees with people beyond chance."""
        if self.first.statistic not in _CORRELATIONS:
            return False
        signs = {row.sign for row in self.figures}
        return self.figures[0].value_or_zero <= 0 or not signs & {1, None}

    def title(self, row: AgreementRow) -> str:
        """Title of a metric in sentences."""
        return self.titles[row.metric]

    def figure(self, row: AgreementRow, **of: object) -> dict[str, Any]:
        """A metric and its value."""
        low, high = row.ends("value")
        named = {"metric": self.title(row), "value": row.value_or_zero, "low": low, "high": high}
        return {**named, "of": None, "sets": None, **of}

    def facts(self, *rows: AgreementRow) -> dict[str, Any]:
        """The measure, values, and what they rest on."""
        by_document = self.first.interval == "documents"
        return {
            **_facts(self.first.measure, [self.figure(row) for row in rows]),
            "human": self.first.human,
            "n": rows[0].n,
            "over": self.first.unit,
            "documents": rows[0].drawn if by_document else None,
            "lacks": rows[0].missing if rows[0].is_incomplete else None,
        }


def _facts(measure: str, each: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Values of several kinds of human scores or test sets."""
    nothing = dict.fromkeys(("human", "n", "over", "documents", "lacks"))
    return {**nothing, "measure": measure, "each": each}


class _TestedPair(NamedTuple):
    """The best metric against another one."""

    win: WinRow
    other: AgreementRow
    figure: Mapping[str, Any]


def metaeval_verdict(finding: Finding) -> Iterator[Message]:
    """Which metric people agree with best, by the first measure of each level; then cautions.

    Several metrics were compared and the best one was chosen after the fact: p-values are Holm's,
    over all ordered pairs of metrics.
    """
    groups = list(_groups(finding))
    firsts = {group.place: group for group in reversed(groups)}
    chosen = [group for group in groups if firsts[group.place] is group]
    single = [group for group in chosen if group.first.test_set not in (AVERAGE, POOLED)]
    said = list(_answers(finding, chosen, single))
    yield from said
    yield from gains_verdict(finding)
    yield from select_messages("score.cut", finding.notices)
    yield from _missing(finding)
    yield from _equal(finding)
    yield from _circular(finding)
    yield from _edits(finding, single)
    yield from _few(finding, single)
    against = select_messages("metaeval.against", said)
    turned = {str(name) for one in against for name in cast("list[str]", one.params["metrics"])}
    yield from _backwards(finding, groups, turned)
    yield from _controlled(finding, groups)


def _answers(
    finding: Finding, chosen: Sequence[_MeasureRows], single: Sequence[_MeasureRows]
) -> Iterator[Message]:
    sound = [group for group in single if group.sound]
    for group in chosen:
        if group.first.test_set == AVERAGE:
            yield from _say_best_on_average(
                finding, group, [each for each in sound if _is_alike(each, group)]
            )
    if len({group.first.test_set for group in single}) != 1:
        return
    if len({group.first.human for group in sound}) > _KINDS:
        for measure in dict.fromkeys(group.first.measure for group in sound):
            of_measure = [group for group in sound if group.first.measure == measure]
            yield from _say_best_of_kinds(finding, of_measure)
    else:
        for group in sound:
            yield from _say_best_of_set(finding, group)


def _is_alike(one: _MeasureRows, average: _MeasureRows) -> bool:
    return one.key == average.key and average.first.human in (None, one.first.human)


def _groups(finding: Finding) -> Iterator[_MeasureRows]:
    """Group the rows by measure and test set, over all systems and segments."""
    parts: dict[tuple[str, str, str | None], list[AgreementRow]] = {}
    titles = titles_of(finding)
    gains = finding.records(MetricGainRow)
    with_paraphrases = {row.metric for row in gains if row.method is not None}
    for row in finding.records(AgreementRow):
        if row.subset == ALL and row.slice is None and row.metric not in with_paraphrases:
            parts.setdefault((row.test_set, row.measure, row.human), []).append(row)
    yield from (_MeasureRows(tuple(rows), titles) for rows in parts.values())


def _against(finding: Finding, group: _MeasureRows, best: AgreementRow) -> list[_TestedPair]:
    """A metric against every other one, in their order; none without a test."""
    whole = best.test_set, best.human, ALL, None
    wins = {
        win.against: win
        for win in finding.records(WinRow)
        if win.metric == best.metric
        and win.p_adjusted is not None
        and (win.test_set, win.human, win.subset, win.slice) == whole
        and (win.statistic, win.level, win.grouping) == group.key
    }
    tested = [(wins[other.metric], other) for other in group.figures if other.metric in wins]
    return [
        _TestedPair(win, other, group.figure(other, p=win.p_adjusted, least=win.least))
        for win, other in tested
    ]


def _say_best_of_set(finding: Finding, group: _MeasureRows) -> Iterator[Message]:
    """The best metric on one test set, and what it is better than."""
    best = group.figures[0]
    if len(group.figures) == 1:
        yield _alone(finding, group, best)
        return
    if group.is_by_chance:
        yield _none(finding, group)
        return
    if best.decided is False:
        # it is the highest by chance alone: what holds is said of each metric
        yield from (_alone(finding, group, row) for row in group.figures)
        return
    others = _against(finding, group, best)
    same = [pair for pair in others if not pair.win.difference and pair.other.value == best.value]
    worse = [pair for pair in others if pair.win.decided]
    near = [pair for pair in others if pair.win.decided is False and pair not in same]
    # of metrics that may go against people it is said that they may, not that they are near
    below = [pair for pair in near if pair.other.is_below(best)]
    level = [pair for pair in near if pair not in below]
    parts: dict[str, Any] = {
        "best": [group.title(row) for row in (best, *(pair.other for pair in same))],
        "draws": any((pair.win.p_adjusted or 0.0) <= (pair.win.least or 0.0) for pair in level),
        **group.facts(best),
    }
    rows = _positions(finding, best, others)
    untested = [] if others else [group.figure(row) for row in group.figures[1:]]
    if worse:
        parts |= {"others": _figures(worse), "but": bool(level), "level_with": _figures(level)}
        yield message("metaeval.better", rows, **parts)
    elif level or same or untested:
        yield _highest(
            rows,
            outcome="level" if level else "untested" if untested else None,
            rank="highest" if level or untested or below else "same",
            others=_figures(level),
            beside=untested,
            **parts,
        )
    else:
        yield _alone(finding, group, best)
    yield from (_alone(finding, group, pair.other) for pair in below)


def _figures(pairs: Sequence[_TestedPair]) -> list[Mapping[str, Any]]:
    return [pair.figure for pair in pairs]


def _highest(
    rows: Mapping[str, Sequence[int]], *, level: Level = "undecided", **parts: Any
) -> Message:
    """The highest agreement, which need not be higher than others for certain."""
    nothing = dict.fromkeys(("others", "beside", "averages", "surely", "draws"))
    return message("metaeval.highest", rows, level=level, **{"rank": "highest", **nothing, **parts})


def _alone(finding: Finding, group: _MeasureRows, only: AgreementRow) -> Message:
    """One metric: whether it agrees with people at all."""
    return _state_agreement(finding, [only], [group.title(only)], group.facts(only))


def _none(finding: Finding, group: _MeasureRows) -> Message:
    """Several metrics, of which not even the best agrees with people."""
    rows = group.figures
    shown = rows if rows[0].sign == -1 else rows[:1]
    return _state_agreement(finding, rows, [*map(group.title, rows)], group.facts(*shown))


def _state_agreement(
    finding: Finding, rows: Sequence[AgreementRow], names: Sequence[str], facts: Mapping[str, Any]
) -> Message:
    """State whether a metric, or the best of several, agrees with people or goes against them."""
    best, several = rows[0], len(names) > 1
    if best.sign == -1:
        return _goes_against(finding, rows, names, facts)
    if best.sign == 0 or several:
        low, high = best.ends("value")
        apart = low is not None and high is not None and (low > 0 or high < 0)
        return message(
            "metaeval.none",
            finding.positions(rows),
            which="several" if several else "one",
            best=names[0],
            metrics=len(names),
            top=several,
            p=best.p_zero if apart else None,
            **facts,
        )
    code = "metaeval.agrees" if best.sign else "metaeval.value"
    return message(code, finding.positions(rows), metric=names[0], **facts)


def _goes_against(
    finding: Finding,
    rows: Sequence[AgreementRow],
    metrics: Sequence[str],
    facts: Mapping[str, Any] | None = None,
) -> Message:
    """Metrics that people disagree with for certain; without facts a caution."""
    turn = _TURN if select_messages("note.negative", finding.notices) else None
    return message(
        "metaeval.against",
        finding.positions(rows),
        level="caution" if facts is None else "finding",
        metrics=metrics,
        facts=facts is not None,
        turn=turn,
        **(facts or _facts("", [])),
    )


def _say_best_of_kinds(finding: Finding, groups: Sequence[_MeasureRows]) -> Iterator[Message]:
    """Metrics by one measure under many kinds of human scores: who is best on which of them."""
    best: dict[tuple[str, int | None], list[_MeasureRows]] = {}
    for group in groups:
        first = group.figures[0]
        if len(group.figures) > 1 and (group.is_by_chance or first.decided is False):
            yield from _say_best_of_set(finding, group)
            continue
        sign = first.sign if len(group.figures) == 1 else None
        best.setdefault((group.title(first), sign), []).append(group)
    for (title, _), some in best.items():
        firsts = [group.figures[0] for group in some]
        each = [group.figure(row, of=row.human) for group, row in zip(some, firsts, strict=True)]
        facts = _facts(firsts[0].measure, each)
        if len(some[0].figures) > 1:
            surely = [said for group in some for said in _beaten(finding, group)]
            yield _highest(
                finding.positions(firsts),
                level="finding" if surely else "undecided",
                best=[title],
                outcome="kinds" if surely else "no_kind",
                surely=surely,
                **facts,
            )
        else:
            yield _state_agreement(finding, firsts, [title], facts)


def _beaten(finding: Finding, group: _MeasureRows) -> Iterator[dict[str, Any]]:
    """The metrics that the best one is better than under a kind of human scores."""
    others = _against(finding, group, group.figures[0])
    worse = [group.title(pair.other) for pair in others if pair.win.decided]
    if worse:
        every = len(worse) == len(others) > 1
        yield {"kind": group.first.human, "than": "all" if every else "some", "worse": worse}


def _say_best_on_average(
    finding: Finding, group: _MeasureRows, sets: Sequence[_MeasureRows]
) -> Iterator[Message]:
    """The best metric over several test sets, and on how many of them it is better than others."""
    if not group.figures or not sets:
        return
    best, measure = group.figures[0], group.first.measure
    rows = finding.positions(group.figures)
    average = group.figure(best, sets=best.n)
    if len(group.figures) == 1:
        each = [each.figure(row, of=row.test_set) for each in sets for row in each.figures]
        facts = {**_facts(measure, [average, *each]), "human": group.first.human}
        yield message("metaeval.value", rows, metric=group.title(best), **facts)
        return
    chance = all(each.is_by_chance for each in sets)
    if best.statistic in _CORRELATIONS and (best.value_or_zero <= 0 or chance):
        yield _none(finding, group)
        return
    averages, clear = [], []
    for other in group.figures[1:]:
        won = _decided(finding, sets, best.metric, other.metric)
        lost = _decided(finding, sets, other.metric, best.metric)
        averages.append(group.figure(other, won=won, of_sets=best.n, reverse=lost or None))
        clear.append(won > best.n / 2 and not lost)
    yield _highest(
        rows,
        level="finding" if any(clear) else "undecided",
        best=[group.title(best)],
        outcome="average",
        averages=averages,
        **{**_facts(measure, [average]), "human": group.first.human},
    )


def _decided(finding: Finding, sets: Sequence[_MeasureRows], best: str, other: str) -> int:
    """On how many test sets a metric is better than another one."""
    return sum(
        any(
            pair.win.decided and pair.other.metric == other
            for row in group.figures
            if row.metric == best
            for pair in _against(finding, group, row)
        )
        for group in sets
    )


def _positions(
    finding: Finding, best: AgreementRow, others: Sequence[_TestedPair]
) -> dict[str, list[int]]:
    return finding.positions(
        [best, *(pair.other for pair in others), *(pair.win for pair in others)]
    )


# Cautions


def _missing(finding: Finding) -> Iterator[Message]:
    """Metrics that lack scores where people gave some."""
    rows = [row for row in finding.records(AgreementRow) if row.is_incomplete]
    titles, most = titles_of(finding), dict[str, float]()
    for row in rows:
        most[row.metric] = max(most.get(row.metric, 0.0), row.missing or 0.0)
    if rows:
        metrics = [{"metric": titles[name], "missing": share} for name, share in most.items()]
        yield message("metaeval.missing", finding.positions(rows), metrics=metrics)


_WHY = ("informed", "people", "same", "post-edits")


def _circular(finding: Finding) -> Iterator[Message]:
    """Metrics that the human scores cannot judge."""
    titles = titles_of(finding)
    for why in _WHY:
        rows = [row for row in finding.records(AgreementRow) if row.circular == why]
        if rows:
            names = list(dict.fromkeys(titles[row.metric] for row in rows))
            said = {"metrics": names, "left_out": False, "why": why}
            yield message("metaeval.circular", finding.positions(rows), **said)


_EQUAL = ("equal", "equal by item", "equal by system")


def _equal(finding: Finding) -> Iterator[Message]:
    """Scores that are all equal; those of all outputs alone where that says the rest."""
    places: dict[tuple[str, str | None], dict[tuple[str, str], list[AgreementRow]]] = {}
    for row in finding.records(AgreementRow):
        if row.circular in _EQUAL:
            at = places.setdefault((row.test_set, row.human), {})
            at.setdefault((row.level, row.circular), []).append(row)
    parts: dict[str, Any] = {"metrics": []}
    for (test_set, human), found in places.items():
        widest = ("segment", "equal")
        for level, how in [widest] if widest in found else found:
            rows = finding.positions(found[level, how])
            said = "systems" if level == "system" else how
            parts |= {"said": said, "set": test_set, "human": human}
            yield message("metaeval.equal", rows, **parts)
    flat = _flat(finding)
    if flat:
        names = list(dict.fromkeys(titles_of(finding)[row.metric] for row in flat))
        parts = {"said": "metrics", "set": None, "human": None, "metrics": names}
        yield message("metaeval.equal", finding.positions(flat), **parts)


def _flat(finding: Finding) -> list[AgreementRow]:
    """The rows of metrics whose scores are all equal, as notes say."""
    undefined = select_messages("note.metaeval.undefined", finding.notices)
    names = {one.params["metric"] for one in undefined if one.params["why"] == "metric"}
    rows = [row for row in finding.records(AgreementRow) if row.metric in names]
    some = {row.metric for row in rows if row.statistic in _CORRELATIONS and row.value is not None}
    return [row for row in rows if row.metric not in some]


def _edits(finding: Finding, groups: Sequence[_MeasureRows]) -> Iterator[Message]:
    """Human scores that count edits."""
    some = [group for group in groups if group.edits]
    if some:
        yield message(
            "metaeval.edits",
            finding.positions([row for group in some for row in group.edits]),
            kinds=list(dict.fromkeys(str(group.first.human) for group in some)),
            measure=some[0].first.measure,
            metrics=[some[0].figure(row) for row in some[0].edits],
        )


def _few(finding: Finding, groups: Sequence[_MeasureRows]) -> Iterator[Message]:
    """Test sets of next to no systems, segments or documents."""
    pairs = FEW_SYSTEMS * (FEW_SYSTEMS - 1) // 2
    least = {
        "system": FEW_SYSTEMS + 1,
        "pair": pairs,
        "segment": LEAST,
        "document": LEAST_DOCUMENTS,
    }
    for unit, fewest in least.items():
        some = [group for group in groups if group.figures and group.short_of == unit]
        if some:
            rows = [row for group in some for row in group.figures]
            n = max(row.n if some[0].few else row.drawn or 0 for row in rows)
            sets = list(dict.fromkeys(group.first.test_set for group in some))
            place = finding.positions(rows)
            yield message("data.few", place, of=sets, unit=unit, n=n, least=fewest)


def _backwards(
    finding: Finding, groups: Sequence[_MeasureRows], named: Collection[str]
) -> Iterator[Message]:
    """Metrics that point the wrong way."""
    some = [
        (group.title(row), row)
        for group in groups
        if group.first.statistic == "pearson" and group.sound
        for row in group.figures
        if row.sign == -1 and group.title(row) not in named
    ]
    if some:
        names = list(dict.fromkeys(title for title, _ in some))
        yield _goes_against(finding, [row for _, row in some], names)


#: what these statistics have by chance; others have 0
_CHANCE = {"pairwise_accuracy": 0.5, "spa": 0.5}


def _controlled(finding: Finding, groups: Sequence[_MeasureRows]) -> Iterator[Message]:
    """Metrics that something reaches that knows nothing of quality: which one, which of them."""
    reached: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    rows: list[AgreementRow] = []
    flat = {row.metric for row in _flat(finding)}
    backwards = {
        (*group.place, row.metric) for group in groups for row in group.figures if row.sign == -1
    }
    for group in groups:
        for control in group.controls if group.sound else ():
            name = control.metric.removeprefix(PREFIX)
            for row in group.figures:
                turned = (*group.place, row.metric) in backwards or row.metric in flat
                by_chance = row.value == _CHANCE.get(row.statistic, 0.0)  # nothing to reach
                if 0 < row.value_or_zero <= control.value_or_zero and not turned and not by_chance:
                    of = reached.setdefault((name, group.first.level, group.first.measure), {})
                    of.setdefault(row.metric, group.figure(row, control=control.value))
                    rows += [control, row]
    if reached:
        controls = [
            {"name": name, "at": level, "measure": measure, "metrics": list(of.values())}
            for (name, level, measure), of in reached.items()
        ]
        yield message("metaeval.controls", finding.positions(rows), controls=controls)
