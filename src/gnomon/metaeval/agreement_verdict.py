"""What a meta-evaluation says, in sentences: which metric people agree with best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.agreement.gains import MetricGainRow
from gnomon.agreement.judging import ALL, AVERAGE, POOLED
from gnomon.agreement.measures import STATISTICS
from gnomon.agreement.significance import FEW_SYSTEMS
from gnomon.agreement.tables import AgreementRow, WinRow, judged_rows
from gnomon.core.verdicts import LEAST, amount, counted, listed, p_value, said_of, titles_of
from gnomon.messages import message
from gnomon.metaeval.gain_verdict import gains_verdict
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

#: kinds of human scores that are gone through one by one, and that a sentence names
_KINDS, _MOST_KINDS = 2, 6
#: agreements with controls that a sentence names
_MOST_CONTROLS = 2
_BY_SEGMENT = "; unit 'segment' takes segments as independent"
_CORRELATIONS = frozenset(name for name, kind in STATISTICS.items() if not kind.ties)


@dataclass(frozen=True, eq=False)
class _MeasureRows:
    """The rows of one measure on one test set, over all systems and segments."""

    rows: tuple[AgreementRow, ...]
    titles: Mapping[str, str]

    @property
    def first(self) -> AgreementRow:
        return self.rows[0]

    @cached_property
    def few(self) -> bool:
        """Whether all metrics rest on next to no systems."""
        return all(row.is_few for row in self.rows if not row.control)

    @cached_property
    def figures(self) -> list[AgreementRow]:
        """The metrics that people can judge, best first."""
        return judged_rows(self.rows)

    @property
    def controls(self) -> list[AgreementRow]:
        return [row for row in self._defined_rows if row.control]

    @property
    def edits(self) -> list[AgreementRow]:
        """Metrics compared with human scores that count edits."""
        return [row for row in self._defined_rows if row.circular == "edits"]

    @property
    def _defined_rows(self) -> list[AgreementRow]:
        return [row for row in self.rows if row.value is not None]

    @property
    def people(self) -> str:
        return "people" if self.first.human is None else f"people ({self.first.human})"

    @property
    def key(self) -> tuple[str, str, str]:
        return self.first.statistic, self.first.level, self.first.grouping

    @property
    def units(self) -> int | None:
        """How many segments or documents its figures rest on, at most."""
        return max((row.drawn for row in self.figures if row.drawn is not None), default=None)

    @property
    def few_units(self) -> bool:
        """Whether there are too few segments or documents for an interval to hold its level."""
        least = {"segments": LEAST, "documents": LEAST_DOCUMENTS}.get(self.first.interval or "", 0)
        return self.units is not None and self.units < least

    def title(self, row: AgreementRow) -> str:
        """What sentences call a metric."""
        return self.titles[row.metric]

    def over(self, row: AgreementRow) -> str:
        """What a figure rests on."""
        return counted(row.n, self.first.unit.removesuffix("s"))

    def facts(self, best: AgreementRow) -> str:
        """The measure, the best value and what it rests on."""
        by_document = self.first.interval == "documents" and best.drawn is not None
        documents = f" in {counted(best.drawn or 0, 'document')}" if by_document else ""
        return f"{self.first.measure}: {best.size}, {self.over(best)}{documents}"

    def listed(self, rows: Iterable[AgreementRow]) -> str:
        """Metrics with their values."""
        each = [f"{self.title(row)} {amount(row.known_value, share=True)}" for row in rows]
        return listed(each)


class _TestedPair(NamedTuple):
    """The best metric against another one."""

    win: WinRow
    other: AgreementRow
    title: str

    def __str__(self) -> str:
        p = p_value(self.win.p_adjusted or 0.0, self.win.least or 0.0)
        return f"{self.title} ({self.other.size}, corrected {p})"


def metaeval_verdict(finding: Finding) -> Iterator[Message]:
    """Which metric people agree with best, by the first measure of each level; then cautions.

    Several metrics were compared and the best one was chosen after the fact: p-values are Holm's,
    over all ordered pairs of metrics.
    """
    groups = list(_groups(finding))
    firsts = {_place_of(group): group for group in reversed(groups)}
    chosen = [group for group in groups if firsts[_place_of(group)] is group]
    averages = [group for group in chosen if group.first.test_set == AVERAGE]
    single = [group for group in chosen if group.first.test_set not in (AVERAGE, POOLED)]
    few = [group for group in single if group.few and group.figures]
    short = [group for group in single if not group.few and group.few_units]
    sound = [group for group in single if not group.few and not group.few_units and group.figures]
    sets = len({group.first.test_set for group in single})
    for group in averages:
        yield from _on_average(finding, group, [other for other in sound if _alike(other, group)])
    if sets == 1 and len({group.first.human for group in sound}) > _KINDS:
        for measure in dict.fromkeys(group.first.measure for group in sound):
            of_measure = [group for group in sound if group.first.measure == measure]
            yield from _over_kinds(finding, of_measure)
    else:
        for group in sound if sets == 1 else ():
            yield from _of_set(finding, group)
    yield from gains_verdict(finding)
    yield from said_of("score.cut", finding.notices)
    yield from _equal(finding)
    yield from _circular(finding)
    yield from _edits(finding, single)
    yield from _few(finding, few)
    yield from _few_units(finding, short)
    yield from _backwards(finding, groups)
    yield from _controlled(finding, groups)


def _place_of(group: _MeasureRows) -> tuple[str, str, str | None]:
    return group.first.test_set, group.first.level, group.first.human


def _alike(one: _MeasureRows, average: _MeasureRows) -> bool:
    return one.key == average.key and average.first.human in (None, one.first.human)


def _groups(finding: Finding) -> Iterator[_MeasureRows]:
    """What was measured, by measure and test set, over all systems and segments."""
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
    return [
        _TestedPair(wins[other.metric], other, group.title(other))
        for other in group.figures
        if other.metric in wins
    ]


def _of_set(finding: Finding, group: _MeasureRows) -> Iterator[Message]:
    """The best metric on one test set, and what it is better than."""
    best = group.figures[0]
    if len(group.figures) == 1:
        yield _alone(finding, group, best)
        return
    if _by_chance(group):
        yield _none(finding, group, best)
        return
    if best.decided is False:
        # it is the highest by chance alone: what holds is said of each metric
        yield from (_alone(finding, group, row) for row in group.figures)
        return
    parts: dict[str, Any] = {
        "best": group.title(best),
        "people": group.people,
        "facts": group.facts(best),
    }
    others = _against(finding, group, best)
    worse, level = ([pair for pair in others if pair.win.decided is kind] for kind in (True, False))
    if worse:
        yield message(
            "metaeval.better",
            _positions(finding, best, worse),
            **parts,
            others=listed([*map(str, worse)]),
        )
    if level:
        claim = "metaeval.not_worse" if worse else "metaeval.highest"
        are = "are" if len(level) > 1 else "is"
        rows = _positions(finding, best, level)
        yield message(
            claim, rows, **parts, others=listed([*map(str, level)]), are=are, draws=_draws(level)
        )
    if not others:
        beside = listed([f"{group.title(row)} ({row.size})" for row in group.figures[1:]])
        yield message("metaeval.untested", finding.positions([best]), **parts, others=beside)


def _by_chance(group: _MeasureRows) -> bool:
    """Whether none of the metrics agrees with people beyond chance."""
    if group.first.statistic not in _CORRELATIONS:
        return False
    signs = {row.sign for row in group.figures}
    return group.figures[0].known_value <= 0 or not signs & {1, None}


def _none(finding: Finding, group: _MeasureRows, best: AgreementRow) -> Message:
    """Several metrics, of which not even the best agrees with people."""
    against = best.sign == -1
    over = group.over(best)
    if best.known_value > 0 and best.p_zero is not None:
        over += f", {p_value(best.p_zero)}"
    return message(
        "metaeval.none",
        finding.positions(group.figures),
        level="finding" if against else "undecided",
        none="None" if against else "The data cannot tell whether any",
        metrics=counted(len(group.figures), "metric"),
        people=group.people,
        facts=f"{best.measure}: at best {best.size}, {group.title(best)}, {over}",
    )


def _over_kinds(finding: Finding, groups: Sequence[_MeasureRows]) -> Iterator[Message]:
    """Metrics by one measure under many kinds of human scores: who is best on which of them."""
    best: dict[tuple[str, int | None], list[_MeasureRows]] = {}
    for group in groups:
        first = group.figures[0]
        if len(group.figures) > 1 and (_by_chance(group) or first.decided is False):
            yield from _of_set(finding, group)
            continue
        sign = first.sign if len(group.figures) == 1 else None
        best.setdefault((group.title(first), sign), []).append(group)
    for (title, sign), some in best.items():
        kinds = [f"{group.first.human} ({group.figures[0].size})" for group in some]
        measure = some[0].first.measure
        on = f"{listed(kinds, most=_MOST_KINDS)} ({measure})"
        rows = finding.positions([group.figures[0] for group in some])
        if len(some[0].figures) == 1:
            yield _alone_on(title, sign, listed(kinds, most=_MOST_KINDS), measure, rows)
            continue
        beaten = [(group.first.human, _against(finding, group, group.figures[0])) for group in some]
        surely = [
            f"{kind} (than {_counted_off(others)})"
            for kind, others in beaten
            if any(other.win.decided for other in others)
        ]
        if surely:
            named = listed(surely, most=_MOST_KINDS)
            yield message("metaeval.kinds_better", rows, best=title, kinds=on, surely=named)
        else:
            yield message("metaeval.kinds_highest", rows, best=title, kinds=on)


def _counted_off(others: Sequence[_TestedPair]) -> str:
    """The metrics that one is better than, if these are not all."""
    worse = [pair.title for pair in others if pair.win.decided]
    return "all others" if len(worse) == len(others) > 1 else listed(worse)


def _alone_on(
    title: str, sign: int | None, kinds: str, measure: str, rows: Mapping[str, Sequence[int]]
) -> Message:
    """One metric under many kinds of human scores."""
    claim = {
        None: "metaeval.value",
        0: "metaeval.unsure",
        1: "metaeval.agrees",
        -1: "metaeval.against",
    }[sign]
    people, facts = (f"people on {kinds}", measure) if sign is not None else ("people", kinds)
    return message(claim, rows, metric=title, people=people, facts=facts)


def _draws(others: Sequence[_TestedPair]) -> str:
    """Where p-values of so few draws cannot be smaller."""
    coarse = any((pair.win.p_adjusted or 0.0) <= (pair.win.least or 0.0) for pair in others)
    return "; more resamples may tell them apart" if coarse else ""


def _alone(finding: Finding, group: _MeasureRows, only: AgreementRow) -> Message:
    """One metric: whether it agrees with people at all."""
    claim = {
        None: "metaeval.value",
        0: "metaeval.unsure",
        1: "metaeval.agrees",
        -1: "metaeval.against",
    }[only.sign]
    facts = group.facts(only)
    if claim == "metaeval.unsure" and only.p_zero is not None:
        facts += f", {p_value(only.p_zero)}"
    if claim == "metaeval.value":
        facts = f"{only.size} ({only.measure}, {group.over(only)})"
    rows = finding.positions([only])
    return message(claim, rows, metric=group.title(only), people=group.people, facts=facts)


def _on_average(
    finding: Finding, group: _MeasureRows, sets: Sequence[_MeasureRows]
) -> Iterator[Message]:
    """The best metric over several test sets, and on how many of them it is better than others."""
    if not group.figures or not sets:
        return
    best, measure = group.figures[0], group.first.measure
    rows = finding.positions(group.figures)
    over = f"on average over {counted(best.n, 'test set')}"
    if len(group.figures) == 1:
        each = listed([f"{row.test_set} {row.size}" for of_set in sets for row in of_set.figures])
        facts = f"{best.size} {over} ({measure}; {each})"
        yield message(
            "metaeval.value", rows, metric=group.title(best), people=group.people, facts=facts
        )
        return
    chance = all(map(_by_chance, sets))
    if best.statistic in _CORRELATIONS and (best.known_value <= 0 or chance):
        yield _none(finding, group, best)
        return
    parts, clear = [], []
    for other in group.figures[1:]:
        won = _decided(finding, sets, best.metric, other.metric)
        lost = _decided(finding, sets, other.metric, best.metric)
        reverse = f", the reverse on {lost}" if lost else ""
        sides = f"{other.size}; tests say so on {won} of {best.n}{reverse}"
        parts.append(f"{group.title(other)} ({sides})")
        clear.append(won > best.n / 2 and not lost)
    yield message(
        "metaeval.average",
        rows,
        level="finding" if any(clear) else "undecided",
        best=group.title(best),
        people=group.people,
        facts=f"{measure}: {best.size} {over}",
        others=listed(parts),
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


_WHY = {
    "informed": "made with them",
    "people": "people gave these scores, too",
    "same": "equal to them",
    "post-edits": "the references are post-edits, which were made from outputs",
}


def _circular(finding: Finding) -> Iterator[Message]:
    """Metrics that the human scores cannot judge."""
    titles = titles_of(finding)
    for why, text in _WHY.items():
        rows = [row for row in finding.records(AgreementRow) if row.circular == why]
        if rows:
            names = dict.fromkeys(titles[row.metric] for row in rows)
            yield message(
                "metaeval.circular", finding.positions(rows), metrics=listed(list(names)), why=text
            )


_EVERY = {
    ("system", "equal"): ("every system", " at system level"),
    ("segment", "equal"): ("every output", ""),
    ("segment", "equal by item"): ("every output of a segment", " within segments"),
    ("segment", "equal by system"): ("every output of a system", " within systems"),
}


def _equal(finding: Finding) -> Iterator[Message]:
    """Human scores that are equal; those of all outputs alone where that says the rest."""
    places: dict[tuple[str, str | None], dict[tuple[str, str], list[AgreementRow]]] = {}
    for row in finding.records(AgreementRow):
        of = row.level, row.circular or ""
        if of in _EVERY:
            at = places.setdefault((row.test_set, row.human), {})
            at.setdefault(of, []).append(row)
    for (test_set, human), found in places.items():
        widest = ("segment", "equal")
        for of in [widest] if widest in found else found:
            every, where = _EVERY[of]
            yield message(
                "metaeval.equal_people",
                finding.positions(found[of]),
                test_set=test_set,
                every=every,
                kind=f" ({human})" if human else "",
                where=where,
            )


def _edits(finding: Finding, groups: Sequence[_MeasureRows]) -> Iterator[Message]:
    """Human scores that count edits."""
    some = [group for group in groups if group.edits]
    if some:
        kinds = list(dict.fromkeys(group.first.human or "the human scores" for group in some))
        best = sorted(some[0].edits, key=lambda row: -row.known_value)
        several = len(kinds) > 1 or kinds[0].startswith("the ")
        yield message(
            "metaeval.edits",
            finding.positions([row for group in some for row in group.edits]),
            kinds=listed(kinds),
            count="count" if several else "counts",
            are="are" if several else "is",
            figures=f"{some[0].first.measure}: {some[0].listed(best)}",
        )


def _few(finding: Finding, groups: Sequence[_MeasureRows]) -> Iterator[Message]:
    """Test sets of next to no systems."""
    if groups:
        yield message(
            "metaeval.few_systems",
            finding.positions([row for group in groups for row in group.figures]),
            sets=listed(list(dict.fromkeys(group.first.test_set for group in groups))),
            few=FEW_SYSTEMS,
        )


def _few_units(finding: Finding, groups: Sequence[_MeasureRows]) -> Iterator[Message]:
    """Test sets of next to no segments or documents."""
    for unit in ("segments", "documents"):
        some = [group for group in groups if group.first.interval == unit]
        if some:
            n = max(group.units or 0 for group in some)
            yield message(
                "metaeval.few_units",
                finding.positions([row for group in some for row in group.figures]),
                sets=listed(list(dict.fromkeys(group.first.test_set for group in some))),
                units=counted(n, unit.removesuffix("s")),
                are="is" if n == 1 else "are",
                measure=some[0].first.measure,
                figures=some[0].listed(some[0].figures),
                unit=_BY_SEGMENT if unit == "documents" else "",
            )


def _backwards(finding: Finding, groups: Sequence[_MeasureRows]) -> Iterator[Message]:
    """Metrics that point the wrong way."""
    some = [
        (group.title(row), row)
        for group in groups
        if group.first.statistic == "pearson" and not group.few and not group.few_units
        for row in group.figures
        if row.sign == -1
    ]
    if some:
        names = list(dict.fromkeys(title for title, _ in some))
        turnable = bool(said_of("note.negative", finding.notices))
        yield message(
            "metaeval.backwards",
            finding.positions([row for _, row in some]),
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


def _controlled(finding: Finding, groups: Sequence[_MeasureRows]) -> Iterator[Message]:
    """Metrics that something reaches that knows nothing of quality: which one, which of them."""
    reached: dict[tuple[str, str], dict[str, str]] = {}
    rows: list[AgreementRow] = []
    backwards = {
        (*_place_of(group), row.metric)
        for group in groups
        for row in group.figures
        if row.sign == -1
    }
    for group in groups:
        for control in group.controls if not group.few and not group.few_units else ():
            name = control.metric.removeprefix("control: ")
            does = "ranks the systems" if group.first.level == "system" else "agrees with people"
            for row in group.figures:
                turned = (*_place_of(group), row.metric) in backwards
                by_chance = row.value == _CHANCE.get(row.statistic, 0.0)  # nothing to reach
                reaches = 0 < row.known_value <= control.known_value
                if reaches and not turned and not by_chance:
                    sizes = [amount(each.known_value, share=True) for each in (control, row)]
                    text = f"{group.title(row)} ({sizes[0]} against {sizes[1]})"
                    opening = f"{_NAMES.get(name, name)} {does} as well as"
                    named = reached.setdefault((opening, group.first.measure), {})
                    named.setdefault(group.title(row), text)
                    rows += [control, row]
    if reached:
        parts = [
            f"{opening} {listed(list(texts.values()))}, {measure}"
            for (opening, measure), texts in reached.items()
        ]
        more = len(parts) - _MOST_CONTROLS
        text = "; ".join(parts[:_MOST_CONTROLS])
        if more > 0:
            text += f"; {counted(more, 'more such agreement')} in the table"
        yield message("metaeval.controls", finding.positions(rows), controls=text)
