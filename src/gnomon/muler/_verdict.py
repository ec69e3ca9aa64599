"""What MuLER says of systems, in sentences: on which words one is better, and cautions."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gnomon.core.verdicts import LEAST, amount, counted, listed, p_value, titles_of
from gnomon.linguistics import gloss
from gnomon.messages import message
from gnomon.muler._mask_kinds import mixed_masks
from gnomon.muler._sentences import sentences_verdict
from gnomon.muler.differences import DifferenceRow
from gnomon.muler.discrepancy import Unscored, discrepancy_verdict
from gnomon.muler.figures import MulerRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message
    from gnomon.muler.figures import Flaw

#: systems whose features are named one by one
_IN_FULL = 2
#: features and systems that a sentence names
_NAMED = 3
#: kinds of words without a difference that a sentence names
_UNDECIDED = 6
_ALPHA = 0.05
_ROUNDING = 1e-9
#: where outputs of two systems lack a feature about as often, this far apart, it decides nothing
_MISSING = 0.01


_REASONS: Mapping[Flaw, str] = {
    "few": f"in fewer than {LEAST} segments",
    "undefined": "on which the metric has nothing to give",
    "outside": "with MuLER outside 0 to 1",
    "wide": "with an interval too wide to be useful",
}


class SystemPair(NamedTuple):
    """Two systems on a feature, and the figures of both."""

    row: DifferenceRow
    sides: tuple[MulerRow, MulerRow]

    @property
    def readable(self) -> bool:
        """Whether MuLER of both may be read."""
        return all(side.readable for side in self.sides)

    @property
    def outside(self) -> bool:
        """Whether one of them is outside 0 to 1."""
        return any(side.outside for side in self.sides)

    @property
    def tested(self) -> bool:
        """Whether its words differ, often enough for a test."""
        return self.row.p_bh is not None

    @property
    def hinges(self) -> bool:
        """Whether what is left out may weigh more than the interval is wide."""
        (low, high), (first, second) = self.row.ends("difference"), self.sides
        if not self.readable or low is None or high is None:
            return False
        whole = max(first.with_reference, second.with_reference)
        if abs(first.absent - second.absent) <= _MISSING * whole:
            return False
        return not low <= first.with_absent - second.with_absent <= high

    def losses(self, of: str = "") -> str:
        """What the better one loses of what is said, what the other one, and how much more."""
        better_first = sorted(self.sides, key=lambda side: side.system != self.row.better)
        ours, theirs = (f"{side.muler or 0.0:.2f}".removeprefix("0") for side in better_first)
        return f"{ours}{of}, {self.row.worse} {theirs} ({self.row.size()} more)"


class MetricFigures(NamedTuple):
    """What one metric says: MuLER of each system on each feature, and how systems differ on it."""

    metric: str
    title: str
    rows: Mapping[tuple[str, str], MulerRow]
    pairs: Sequence[SystemPair]

    @property
    def outside(self) -> list[MulerRow]:
        """Figures outside 0 to 1; of several systems, those that are compared."""
        if len({system for system, _ in self.rows}) == 1:
            return [row for row in self.rows.values() if row.flaw == "outside"]
        unreadable = [pair for pair in self.pairs if not pair.readable]
        sides = {id(side): side for pair in unreadable for side in pair.sides if side.outside}
        return list(sides.values())


def muler_verdict(finding: Finding) -> Iterator[Message]:
    """What MuLER says; what there is too much and too little of; what scorers say."""
    rows = finding.records(MulerRow)
    if rows and rows[0].metric != Unscored.name:
        yield from score_verdict(finding)
    if rows:
        yield from discrepancy_verdict(finding)
    if any(table.name == "scorers" for table in finding.tables):
        yield from sentences_verdict(finding)


def score_verdict(finding: Finding) -> Iterator[Message]:
    """What is left out; on which words which system is better, under each metric; cautions."""
    titles, rows = titles_of(finding), finding.records(MulerRow)
    yield from mixed_masks(finding, rows)
    metrics = dict.fromkeys(row.metric for row in rows)
    each = [_figures(finding, metric, titles[metric]) for metric in metrics]
    yield from _left_out(finding, [pair for figures in each for pair in figures.pairs])
    for figures in each:
        yield from _of_metric(finding, figures)
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


def _of_metric(finding: Finding, under: MetricFigures) -> Iterator[Message]:
    title, figures, pairs = under.title, under.rows, under.pairs
    systems = list(dict.fromkeys(row.system for row in figures.values()))
    if len(systems) == 1:
        yield from _of_one(finding, title, list(figures.values()))
        return
    readable = Counter(feature for (_, feature), row in figures.items() if row.readable)
    if max(readable.values(), default=0) < 2:
        yield from _of_none(finding, title, list(figures.values()), "one system is better")
    elif pairs:
        where = ", where both have them" * any(pair.hinges for pair in pairs)
        yield from _of_several(finding, title, pairs, systems, where)
    else:
        yield message("muler.untested", what=counted(len(systems), "system"), metric=title)
    yield from _carried(finding, title, pairs)


def _left_out(finding: Finding, pairs: Sequence[SystemPair]) -> Iterator[Message]:
    """Empty outputs; else features that outputs of one system lack more often."""
    whole = int(finding.facts.get("segments", 0))
    first = {row.system: row for row in reversed(finding.records(MulerRow))}
    lacking = [row for row in reversed(first.values()) if row.empty > _MISSING * whole]
    if lacking:
        each = [f"{row.system} leaves {row.empty:,}" for row in lacking]
        what = f"{listed(each)} of {counted(whole, 'output')} empty"
        yield message("muler.left-out", finding.positions(lacking), what=what)
        return
    some = sorted(
        (pair.sides for pair in pairs if pair.hinges),
        key=lambda sides: -abs(sides[0].absent_share - sides[1].absent_share),
    )
    if some:
        less, more = sorted(some[0], key=lambda side: side.absent_share)
        kinds = len({sides[0].feature for sides in some}) - 1
        rest = f", and so on for {counted(kinds, 'more kind')}" * bool(kinds)
        most, least = (f"{100 * side.absent_share:.0f} %" for side in (more, less))
        what = (
            f"{more.system} has no {gloss(more.feature)} in {most} of the segments whose reference"
            f" has some, {less.system} in {least}{rest}"
        )
        yield message("muler.left-out", finding.positions([more, less]), what=what)


def _of_one(finding: Finding, title: str, figures: Sequence[MulerRow]) -> Iterator[Message]:
    """One system: what it loses most of, and what is not to be read."""
    name = figures[0].system
    readable = sorted((row for row in figures if row.readable), key=lambda row: -(row.muler or 0.0))
    if readable and not any((row.muler or 0.0) > _ROUNDING for row in readable):
        return  # nothing is lost on any of them
    if readable:
        features = [
            f"{gloss(row.feature)}"
            f" {amount(row.muler or 0.0, *row.ends('muler'), share=True)}"
            f" ({counted(row.segments)})"
            for row in readable[:3]
        ]
        yield message(
            "muler.loses",
            finding.positions(readable[:3]),
            system=name,
            metric=title,
            features=listed(features),
            n=_kinds_of_words(len(readable)),
        )
    else:
        yield from _of_none(finding, title, figures, f"{name} loses most")


def _of_none(
    finding: Finding, title: str, figures: Sequence[MulerRow], what: str
) -> Iterator[Message]:
    """That none of some features has figures that may be read, and why."""
    why: dict[str, str] = {}
    for row in figures:
        if row.flaw:
            why.setdefault(row.feature, _REASONS[row.flaw])
    reasons = [
        f"{_kinds_of_words(n)} {reason}" for reason, n in Counter(why.values()).most_common()
    ]
    if reasons:
        places = finding.positions(figures)
        yield message("muler.nothing", places, metric=title, what=what, reasons=listed(reasons))


def _of_several(
    finding: Finding,
    title: str,
    pairs: Sequence[SystemPair],
    systems: Sequence[str],
    where: str,
) -> Iterator[Message]:
    readable = [pair for pair in pairs if pair.readable]
    tested = [pair for pair in readable if pair.tested]
    significant = [pair for pair in tested if pair.row.significant]
    significant.sort(key=lambda pair: -abs(pair.row.difference or 0.0))
    if len(systems) == _IN_FULL:
        yield from _of_two(finding, title, significant, systems)
    elif significant:
        yield from _of_many(finding, title, significant, tested)
    same = [pair for pair in readable if not pair.tested and pair.row.p is not None]
    if readable and not tested and not same:
        yield message(
            "muler.untested", {}, what=_kinds(pair.row for pair in readable), metric=title
        )
    yield from _undecided(finding, title, pairs, systems, where)
    yield from _same(finding, same, systems)


def _undecided(
    finding: Finding,
    title: str,
    pairs: Sequence[SystemPair],
    systems: Sequence[str],
    where: str,
) -> Iterator[Message]:
    """The kinds of words on which nothing is found, or that the draws could have shown nothing."""
    family = [pair for pair in pairs if pair.tested]
    readable = [pair for pair in family if pair.readable]
    draws = next((pair.row.resamples for pair in family if pair.row.resamples), None)
    smallest = [pair for pair in readable if pair.row.smallest_p]
    found = {pair.row.feature for pair in readable if pair.row.significant}
    rest = [pair for pair in readable if pair.row.feature not in found]
    kinds = list(dict.fromkeys(gloss(pair.row.feature) for pair in rest))
    two = len(systems) == _IN_FULL
    if not found and smallest and draws and len(family) > _ALPHA * (draws + 1) + _ROUNDING:
        yield message(
            "muler.draws",
            _places(finding, smallest),
            draws=f"{draws:,}",
            tests=counted(len(family), "comparison"),
            under=title,
            needed=f"{math.ceil(len(family) / _ALPHA - _ROUNDING):,}",
        )
    elif rest:
        yield message(
            "muler.undecided",
            _places(finding, rest),
            systems=f"{listed(systems)} cannot" if two else "No two systems can",
            n=_kinds_of_words(len(kinds)),
            metric=title,
            where=where,
            kinds=listed(kinds, most=_UNDECIDED),
        )


def _same(
    finding: Finding, same: Sequence[SystemPair], systems: Sequence[str]
) -> Iterator[Message]:
    """Features whose words are the same in all segments or nearly all."""
    rest = [pair for pair in same if not pair.row.carried]
    if rest:
        most = max(pair.row.words for pair in rest)
        yield message(
            "muler.same",
            _places(finding, rest),
            systems=listed(systems) if len(systems) == _IN_FULL else "Pairs of systems",
            kinds=_kinds(pair.row for pair in rest),
            where=f"in all but at most {counted(most)}" if most else "in every segment",
        )


def _of_two(
    finding: Finding, title: str, significant: Sequence[SystemPair], systems: Sequence[str]
) -> Iterator[Message]:
    for system in systems:
        pairs = [pair for pair in significant if pair.row.better == system]
        if pairs:
            first, *others = pairs[:_NAMED]
            where = f"on {gloss(first.row.feature)}" if others else "there"
            losses = [f"it loses {first.losses(f' of what {title} could give {where}')}"]
            losses += [f"on {gloss(pair.row.feature)} {pair.losses()}" for pair in others]
            yield message(
                "muler.better",
                _places(finding, pairs),
                system=system,
                other=first.row.worse,
                kinds=_kinds(pair.row for pair in pairs),
                losses="; ".join(losses),
                p=_corrected([pair.row for pair in pairs]),
            )


def _corrected(rows: Sequence[DifferenceRow]) -> str:
    """The largest corrected p; as an upper limit where the draws can show no smaller one."""
    largest = max(rows, key=lambda row: row.p_bh or 0.0)
    p = largest.p_bh or 0.0
    text = p_value(p, least=p if largest.smallest_p and largest.resamples else 0.0)
    return text + " or less" * (len(rows) > 1 and "<" not in text)


def _of_many(
    finding: Finding, title: str, significant: Sequence[SystemPair], tested: Sequence[SystemPair]
) -> Iterator[Message]:
    pairs = Counter(pair.row.feature for pair in tested)
    # of like ones the largest first
    words = Counter(pair.row.feature for pair in significant).most_common()
    kinds = [f"{gloss(name)} in {n:,} of {pairs[name]:,}" for name, n in words[:_NAMED]]
    kinds[0] += " pairs"
    if rest := len(words) - len(kinds):
        kinds.append(counted(rest, "more kind"))
    wins = Counter(pair.row.better for pair in significant)
    top = [name for name, n in wins.items() if n == max(wins.values())]
    make, each = ("make", " each") if len(top) > 1 else ("makes", "")
    largest = significant[0]
    loses = f"{largest.row.better} loses "
    yield message(
        "muler.many",
        _places(finding, significant),
        kinds=listed(kinds, most=_NAMED + 1),
        metric=title,
        best=f"{listed(top)} {make}",
        wins=f"{wins[top[0]]:,}",
        differences=f"{counted(len(significant), 'difference')}{each}",
        widest=gloss(largest.row.feature),
        losses=loses + largest.losses(f" of what {title} could give there"),
        p=_corrected([largest.row]),
    )


def _carried(finding: Finding, title: str, pairs: Sequence[SystemPair]) -> Iterator[Message]:
    """What would be a finding if its words differed."""
    carried = [pair for pair in pairs if pair.readable and pair.row.carried]
    if carried:
        names = _kinds(pair.row for pair in carried)
        yield message("muler.carried", _places(finding, carried), features=names, metric=title)


def _outside(finding: Finding, each: Mapping[str, Sequence[MulerRow]]) -> Iterator[Message]:
    """Figures outside their range, by title of the metric."""
    some = [row for rows in each.values() for row in rows]
    if some:
        under, names = _under(each)
        yield message("muler.outside", finding.positions(some), under=under, features=names)


def _under(by_metric: Mapping[str, Sequence[MulerRow]]) -> tuple[str, str]:
    """Metrics of a sentence, and its features, with their metrics where these differ.

    >>> from types import SimpleNamespace as row
    >>> _under({"BLEU": [row(feature="pos:X")], "chrF": [row(feature="pos:X")]})
    (' under BLEU and chrF', 'other words')
    >>> _under({"BLEU": [row(feature="pos:X")], "chrF": [row(feature="pos:ADV")]})
    ('', 'other words under BLEU; adverbs under chrF')
    """
    metrics: dict[str, list[str]] = {}
    for title, rows in by_metric.items():
        for feature in dict.fromkeys(row.feature for row in rows):
            metrics.setdefault(feature, []).append(title)
    features: dict[tuple[str, ...], list[str]] = {}
    for feature, titles in metrics.items():
        features.setdefault(tuple(titles), []).append(gloss(feature))
    if len(features) == 1:
        ((under, names),) = features.items()
        return f" under {listed(under)}", listed(names)
    parts = [f"{listed(names)} under {listed(titles)}" for titles, names in features.items()]
    return "", "; ".join(parts)


def _kinds_of_words(n: int) -> str:
    return f"{counted(n, 'kind')} of words"


def _kinds(rows: Iterable[MulerRow | DifferenceRow]) -> str:
    return listed(list(dict.fromkeys(gloss(row.feature) for row in rows)))


def _places(finding: Finding, pairs: Sequence[SystemPair]) -> dict[str, list[int]]:
    """The rows of the differences of some pairs, and of the figures of both systems."""
    sides = [side for pair in pairs for side in pair.sides]
    return finding.positions([*(pair.row for pair in pairs), *sides])
