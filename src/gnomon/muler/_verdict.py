"""Sentences on MuLER: the words on which one system is better, and cautions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.core.data_cautions import select_messages
from gnomon.core.verdicts import titles_of
from gnomon.linguistics import gloss
from gnomon.messages import message
from gnomon.muler._mask_kinds import mixed_masks
from gnomon.muler._sentences import sentences_verdict
from gnomon.muler.differences import DifferenceRow
from gnomon.muler.discrepancy import Unscored, discrepancy_verdict
from gnomon.muler.figures import MulerRow
from gnomon.muler.pairs import FEWEST_DIFFERING
from gnomon.stats.studentised import FEWEST_DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

#: systems whose features are named one by one
_IN_FULL = 2
#: features and systems that a sentence names
_NAMED = 3
_ROUNDING = 1e-9
#: of a difference, from segments where the words are equal, from which on it is said
_SPILT = 0.2
#: where outputs of two systems lack a feature about as often, this far apart, it decides nothing
_MISSING = 0.01


class SystemPair(NamedTuple):
    """Two systems on a feature, and the figures of both."""

    row: DifferenceRow
    sides: tuple[MulerRow, MulerRow]

    @property
    def readable(self) -> bool:
        """True if MuLER of both may be read."""
        return all(side.readable for side in self.sides)

    @property
    def is_alike(self) -> bool:
        """True if too few segments make the difference, so that it is not tested."""
        few = self.row.words < FEWEST_DIFFERING or self.row.effective < FEWEST_DIFFERENT
        return few and not self.tested

    @property
    def tested(self) -> bool:
        """True if there is a test."""
        return self.row.decided is not None and self.row.words > 0

    @property
    def hinges(self) -> bool:
        """True if what is left out may weigh more than the interval is wide."""
        (low, high), (first, second) = self.row.ends("difference"), self.sides
        if not self.readable or low is None or high is None:
            return False
        whole = max(first.reference_segments, second.reference_segments)
        if abs(first.absent - second.absent) <= _MISSING * whole:
            return False
        return not low <= first.muler_with_absent - second.muler_with_absent <= high

    @property
    def is_undone(self) -> bool:
        """True if the better one is no better where what it leaves out counts as lost."""
        first, second = self.sides
        whole = (first.muler_with_absent - second.muler_with_absent) * (self.row.difference or 0.0)
        return self.hinges and whole <= 0

    @property
    def is_finding(self) -> bool:
        """True if a difference is found, and would be with what is left out."""
        return self.row.is_finding and not self.is_undone

    def losses(self) -> dict[str, Any]:
        """The losses of the better one, of the other one, and their difference."""
        better_first = sorted(self.sides, key=lambda side: side.system != self.row.better)
        ours, theirs = (side.muler for side in better_first)
        low, high = sorted(abs(end or 0.0) for end in self.row.ends("difference"))
        size = abs(self.row.difference or 0.0)
        figures = {"ours": ours, "theirs": theirs, "size": size, "low": low, "high": high}
        decided = {"decided": True}  # an end that is 0 is open
        return {"kind": gloss(self.row.feature), **figures, **decided, "spilt": self._spilt()}

    def _spilt(self) -> float | None:
        """Share of the difference from segments where the words are equal, if it is large."""
        spilt, difference = self.row.spill_over or 0.0, self.row.difference or 0.0
        return abs(spilt) if spilt * difference > _SPILT * difference**2 else None


class MetricFigures(NamedTuple):
    """The figures of one metric: MuLER of each system and feature, and differences of systems."""

    metric: str
    title: str
    rows: Mapping[tuple[str, str], MulerRow]
    pairs: Sequence[SystemPair]

    @property
    def systems(self) -> list[str]:
        """The systems."""
        return list(dict.fromkeys(system for system, _ in self.rows))

    @property
    def outside(self) -> list[MulerRow]:
        """Figures outside 0 to 1; of several systems, those that are compared."""
        if len(self.systems) == 1:
            return [row for row in self.rows.values() if row.flaw == "outside"]
        unreadable = [pair for pair in self.pairs if not pair.readable]
        sides = {id(side): side for pair in unreadable for side in pair.sides if side.outside}
        return list(sides.values())


def muler_verdict(finding: Finding) -> Iterator[Message]:
    """Say MuLER's verdict; features with too much and too little; the scorers' verdict."""
    rows = finding.records(MulerRow)
    if rows and rows[0].metric != Unscored.name:
        yield from score_verdict(finding)
    if rows:
        yield from discrepancy_verdict(finding)
    yield from select_messages("muler.untagged", finding.notices)
    if any(table.name == "scorers" for table in finding.tables):
        yield from sentences_verdict(finding)


def score_verdict(finding: Finding) -> Iterator[Message]:
    """Say what is left out; which system is better on which words, by metric; cautions."""
    titles, rows = titles_of(finding), finding.records(MulerRow)
    yield from mixed_masks(finding, rows)
    metrics = dict.fromkeys(row.metric for row in rows)
    each = [_figures(finding, metric, titles[metric]) for metric in metrics]
    yield from _say_empty_outputs(finding)
    for figures in each:
        yield from _say_metric(finding, figures)
    yield from _outside(finding, {figures.title: figures.outside for figures in each})


def _figures(finding: Finding, metric: str, title: str) -> MetricFigures:
    rows = finding.records(MulerRow)
    family = (metric, rows[0].variant, None)
    figures = {(row.system, row.feature): row for row in rows if row.family == family}
    pairs = []
    for row in finding.records(DifferenceRow):
        if row.family == family and row.difference is not None:
            sides = figures[row.system_a, row.feature], figures[row.system_b, row.feature]
            pairs.append(SystemPair(row, sides))
    return MetricFigures(metric, title, figures, pairs)


def _say_metric(finding: Finding, under: MetricFigures) -> Iterator[Message]:
    systems, figures = under.systems, under.rows
    if len(systems) == 1:
        yield from _say_one_system(finding, under.title, systems[0], list(figures.values()))
        return
    readable = Counter(feature for (_, feature), row in figures.items() if row.readable)
    if max(readable.values(), default=0) < 2:
        yield from _say_none_readable(finding, under.title, list(figures.values()), None)
    elif under.pairs:
        yield from _say_several_systems(finding, under)
    else:
        yield message("muler.untested", systems=len(systems), metric=under.title, kinds=[])


def _say_empty_outputs(finding: Finding) -> Iterator[Message]:
    """Empty outputs."""
    whole = int(finding.facts.get("segments", 0))
    first = {row.system: row for row in reversed(finding.records(MulerRow))}
    lacking = [row for row in reversed(first.values()) if row.empty > _MISSING * whole]
    if lacking:
        each = [{"system": row.system, "n": row.empty} for row in lacking]
        yield message("muler.left-out", finding.positions(lacking), empty=each, outputs=whole)


def _say_one_system(
    finding: Finding, title: str, system: str, figures: Sequence[MulerRow]
) -> Iterator[Message]:
    """One system: what it loses most of, and what is not to be read."""
    readable = sorted((row for row in figures if row.readable), key=lambda row: -(row.muler or 0.0))
    if readable and not any((row.muler or 0.0) > _ROUNDING for row in readable):
        return  # nothing is lost on any of them
    if readable:
        features = []
        for row in readable[:_NAMED]:
            low, high = row.ends("muler")
            own = {"muler": row.muler, "low": low, "high": high, "segments": row.segments}
            features.append({"kind": gloss(row.feature), **own})
        yield message(
            "muler.loses",
            finding.positions(readable[:_NAMED]),
            system=system,
            metric=title,
            features=features,
            kinds=len(readable),
        )
    else:
        yield from _say_none_readable(finding, title, figures, system)


def _say_none_readable(
    finding: Finding, title: str, figures: Sequence[MulerRow], alone: str | None
) -> Iterator[Message]:
    """That none of some features has figures that may be read, and why."""
    why: dict[str, str] = {}
    for row in figures:
        if row.flaw:
            why.setdefault(row.feature, row.flaw)
    if why:
        yield message(
            "muler.nothing",
            finding.positions(figures),
            metric=title,
            alone=alone,
            several=alone is None,
            reasons=[{"n": n, "flaw": flaw} for flaw, n in Counter(why.values()).most_common()],
        )


def _say_several_systems(finding: Finding, under: MetricFigures) -> Iterator[Message]:
    readable = [pair for pair in under.pairs if pair.readable]
    tested = [pair for pair in readable if pair.tested]
    found = [pair for pair in tested if pair.is_finding]
    found.sort(key=lambda pair: -abs(pair.row.difference or 0.0))
    if len(under.systems) == _IN_FULL:
        yield from _say_two_systems(finding, under, found)
    elif found:
        yield from _say_many_systems(finding, under, found, tested)
    same = [pair for pair in readable if pair.is_alike]
    if readable and not tested and not same:
        kinds = _kinds(readable)
        yield message("muler.untested", systems=None, metric=under.title, kinds=kinds)
    yield from _say_undecided(finding, under, tested)
    if same:
        yield message(
            "muler.same",
            _places(finding, same),
            two=_name_systems(under.systems)["two"],
            pairs=("some" if tested else "all") if len(under.systems) > _IN_FULL else None,
            kinds=_kinds(same),
            few=any(pair.row.words for pair in same),
            every=not any(pair.row.words for pair in same),
        )
    carried = [pair for pair in tested if pair.row.carried]
    if carried:
        places = _places(finding, carried)
        yield message("muler.carried", places, kinds=_kinds(carried), metric=under.title)


def _say_undecided(
    finding: Finding, under: MetricFigures, tested: Sequence[SystemPair]
) -> Iterator[Message]:
    """The kinds of words on which nothing is decided."""
    decided = {pair.row.feature for pair in tested if pair.row.decided and not pair.is_undone}
    rest = [pair for pair in tested if pair.row.feature not in decided]
    if rest:
        yield message(
            "muler.undecided",
            _places(finding, rest),
            **_name_systems(under.systems),
            n=len(_kinds(rest)),
            metric=under.title,
            hinges=any(pair.hinges for pair in under.pairs),
            kinds=_kinds(rest),
        )


def _name_systems(systems: Sequence[str]) -> dict[str, Any]:
    """Two systems by name; of more, that they are several."""
    two = len(systems) == _IN_FULL
    return {"two": list(systems) if two else [], "pairs": not two}


def _say_two_systems(
    finding: Finding, under: MetricFigures, found: Sequence[SystemPair]
) -> Iterator[Message]:
    for system in under.systems:
        pairs = [pair for pair in found if pair.row.better == system]
        if pairs:
            alone = len(pairs) == 1
            yield message(
                "muler.better",
                _places(finding, pairs),
                system=system,
                other=pairs[0].row.worse,
                kinds=_kinds(pairs),
                metric=under.title,
                alone=pairs[0].losses() if alone else None,
                first=None if alone else pairs[0].losses(),
                others=[pair.losses() for pair in pairs[1:_NAMED]],
                **_tests(under, pairs),
            )


def _tests(under: MetricFigures, pairs: Sequence[SystemPair]) -> dict[str, Any]:
    """P of some comparisons, of how many these are, and the least that draws can show."""
    comparisons = sum(pair.tested for pair in under.pairs)
    tails = 2 if comparisons == 1 else 1  # of several, distances have no sign
    least = tails / (pairs[0].row.resamples + 1)
    return {"p": [pair.row.p for pair in pairs], "least": least, "comparisons": comparisons}


def _say_many_systems(
    finding: Finding,
    under: MetricFigures,
    found: Sequence[SystemPair],
    tested: Sequence[SystemPair],
) -> Iterator[Message]:
    pairs = Counter(pair.row.feature for pair in tested)
    wins = Counter(pair.row.better for pair in found)
    top = [name for name, n in wins.items() if n == max(wins.values())]
    widest = found[0]
    yield message(
        "muler.many",
        _places(finding, found),
        kinds=[
            {"kind": gloss(name), "n": n, "of": pairs[name]}
            for name, n in Counter(pair.row.feature for pair in found).most_common()
        ],
        metric=under.title,
        best=top,
        wins=wins[top[0]],
        differences=len(found),
        each=len(top) > 1,
        better=widest.row.better,
        worse=widest.row.worse,
        **widest.losses(),
        **_tests(under, [widest]),
    )


def _outside(finding: Finding, each: Mapping[str, Sequence[MulerRow]]) -> Iterator[Message]:
    """Figures outside their range, by title of the metric."""
    some = [row for rows in each.values() for row in rows]
    if some:
        kinds = list(dict.fromkeys(gloss(row.feature) for row in some))
        metrics = [title for title, rows in each.items() if rows]
        yield message(
            "note.muler.outside",
            finding.positions(some),
            n=len(kinds),
            metrics=metrics,
            kinds=kinds,
        )


def _kinds(pairs: Iterable[SystemPair]) -> list[str]:
    return list(dict.fromkeys(gloss(pair.row.feature) for pair in pairs))


def _places(finding: Finding, pairs: Sequence[SystemPair]) -> dict[str, list[int]]:
    """The rows of the differences of some pairs, and of the figures of both systems."""
    sides = [side for pair in pairs for side in pair.sides]
    return finding.positions([*(pair.row for pair in pairs), *sides])
