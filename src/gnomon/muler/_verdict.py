"""What MuLER says of systems, in sentences: on which words one is better, and cautions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gnomon.annotate import gloss
from gnomon.verdicts import LEAST, amount, counted, listed, number, p_value, said, titles_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Finding, Statement

#: pairs of systems whose features are gone through one by one
_IN_FULL = 1
#: features and systems that a sentence names
_NAMED = 3
_MAIN, _DIFFERENCES = "muler", "differences"


class _Figure(NamedTuple):
    """MuLER of a system on a feature, over all segments."""

    position: int
    system: str
    feature: str
    segments: int
    muler: float | None
    low: float | None
    high: float | None
    outside: bool
    uninformative: bool

    @property
    def sound(self) -> bool:
        """Whether it may be read as a finding."""
        flagged = self.outside or self.uninformative or self.segments < LEAST
        return self.muler is not None and not flagged


class _Difference(NamedTuple):
    """Two systems on a feature; more than 0: the second one leaves less unearned."""

    position: int
    feature: str
    sides: tuple[_Figure, _Figure]
    difference: float
    low: float | None
    high: float | None
    p: float | None
    significant: bool

    @property
    def sound(self) -> bool:
        return all(side.sound for side in self.sides)

    @property
    def outside(self) -> bool:
        return any(side.outside for side in self.sides)

    @property
    def better(self) -> _Figure:
        return self.sides[self.difference > 0]

    @property
    def worse(self) -> _Figure:
        return self.sides[self.difference <= 0]

    def size(self) -> str:
        """By how much less the better one leaves unearned, and the interval of that."""
        low, high = self.low, self.high
        if self.difference < 0:
            low, high = (None if end is None else -end for end in (high, low))
        return amount(abs(self.difference), low, high, share=True)

    def told(self) -> str:
        """The feature, how far apart the two are, and what each leaves."""
        ours, theirs = (
            f"{one.muler or 0.0:.2f}".removeprefix("0") for one in (self.better, self.worse)
        )
        return f"{gloss(self.feature)} by {self.size()} ({ours} against {theirs})"


def score_verdict(finding: Finding) -> Iterator[Statement]:
    """On which words which system is better, under each metric; then what only looks like it.

    Args:
        finding: what MuLER found.
    """
    titles = titles_of(finding)
    for metric in dict.fromkeys(row["metric"] for row in finding.rows):
        title, figures = titles[str(metric)], _figures(finding, metric)
        systems = list(dict.fromkeys(one.system for one in figures.values()))
        if len(systems) == 1:
            yield from _of_one(title, list(figures.values()))
            continue
        differences = list(_differences(finding, metric, figures))
        if not any(_comparable(figures, systems)):
            named = {one.feature for one in differences if one.outside or one.significant}
            rest = [one for one in figures.values() if one.feature not in named]
            yield from _of_none(title, rest, "one system is better")
            yield from _flagged(title, differences)
        elif differences:
            yield from _of_several(title, differences, systems)
            yield from _flagged(title, differences)
        else:
            yield said(
                "undecided",
                f"no test was made of {counted(len(systems), 'system')} under {title};"
                " resamples make one",
            )


def pairs_verdict(finding: Finding) -> Iterator[Statement]:
    """Which pairs there are to be judged, and which rest on figures that cannot be read.

    Args:
        finding: pairs of near-equal score that are far apart in MuLER.
    """
    rows = list(enumerate(finding.rows))
    sound = [(n, row) for n, row in rows if all(_readable(row, side) for side in ("", "other_"))]
    if sound:
        position, row = sound[0]
        ours, theirs = (
            f"{number(row[name]) or 0.0:.2f}".removeprefix("0") for name in ("muler", "other_muler")
        )
        scores = f"{row['score']:.1f} against {row['other_score']:.1f}"
        text = (
            f"{counted(len(sound), 'pair')} of systems and a feature to be judged by people;"
            f" furthest apart are {row['system']} and {row['other']} on"
            f" {gloss(str(row['feature']))} (MuLER {ours} against {theirs},"
            f" {titles_of(finding)[str(row['metric'])]} {scores}). Who is better is for people to"
            " say: no test was made"
        )
        yield said("undecided", text, {finding.tables[0].name: [position]})
    others = [(n, row) for n, row in rows if (n, row) not in sound]
    if others:
        names = listed(list(dict.fromkeys(gloss(str(row["feature"])) for _, row in others)))
        text = (
            f"on {names}, pairs rest on MuLER outside 0 to 1 (outputs and references are tagged"
            f" differently) or on fewer than {LEAST} segments: judgements of these say little"
        )
        yield said("caution", text, {finding.tables[0].name: [n for n, _ in others]})


def _readable(row: Mapping[str, Cell], side: str) -> bool:
    muler, segments = number(row[f"{side}muler"]), number(row[f"{side}segments"])
    return muler is not None and 0 <= muler <= 1 and segments is not None and segments >= LEAST


def _figures(finding: Finding, metric: Cell) -> dict[tuple[str, str], _Figure]:
    """Over all segments, in the first variant."""
    variant = finding.rows[0]["variant"]
    found = (
        _Figure(
            position,
            str(row["system"]),
            str(row["feature"]),
            int(number(row["segments"]) or 0),
            number(row["muler"]),
            number(row.get("muler_low")),
            number(row.get("muler_high")),
            row["outside"] is True,
            row.get("uninformative") is True,
        )
        for position, row in enumerate(finding.rows)
        if row["metric"] == metric and row["variant"] == variant and row["slice"] is None
    )
    return {(one.system, one.feature): one for one in found}


def _differences(
    finding: Finding, metric: Cell, figures: Mapping[tuple[str, str], _Figure]
) -> Iterator[_Difference]:
    if all(table.name != _DIFFERENCES for table in finding.tables):
        return
    variant = finding.rows[0]["variant"]
    for position, row in enumerate(finding.table(_DIFFERENCES).rows):
        difference = number(row["difference"])
        own = (row["metric"], row["variant"], row["slice"]) == (metric, variant, None)
        if own and difference is not None:
            feature = str(row["feature"])
            yield _Difference(
                position,
                feature,
                (figures[str(row["system_a"]), feature], figures[str(row["system_b"]), feature]),
                difference,
                number(row["low"]),
                number(row["high"]),
                number(row["p_bh"]),
                row["significant"] is True,
            )


def _of_one(title: str, figures: Sequence[_Figure]) -> Iterator[Statement]:
    """One system: what it leaves most of, and what is not to be read."""
    name = figures[0].system
    sound = sorted((one for one in figures if one.sound), key=lambda one: -(one.muler or 0.0))
    if sound:
        told = [
            f"{gloss(one.feature)}"
            f" {amount(one.muler or 0.0, one.low, one.high, share=True)}"
            f" ({counted(one.segments)})"
            for one in sound[:3]
        ]
        text = (
            f"Of what {title} could give it, {name} leaves most unearned on {listed(told)}, of"
            f" {counted(len(sound), 'feature')} (MuLER: 0 is nothing, 1 is all of it)"
        )
        yield said("worse", text, {_MAIN: [one.position for one in sound[:3]]})
    outside = [one for one in figures if one.outside and one.segments >= LEAST]
    if not sound:
        rest = [one for one in figures if one not in outside]
        yield from _of_none(title, rest, f"{name} leaves most unearned")
    if outside:
        names = listed([gloss(one.feature) for one in outside])
        text = f"{names} cannot be read: {name} and the reference are tagged differently"
        rows = {_MAIN: [one.position for one in outside]}
        yield said("caution", f"{text} (MuLER outside 0 to 1)", rows)


def _comparable(
    figures: Mapping[tuple[str, str], _Figure], systems: Sequence[str]
) -> Iterator[str]:
    """Features on which two systems at least have figures that may be read."""
    for feature in dict.fromkeys(feature for _, feature in figures):
        own = [figures[name, feature] for name in systems if (name, feature) in figures]
        if sum(one.sound for one in own) > 1:
            yield feature


def _of_none(title: str, figures: Sequence[_Figure], what: str) -> Iterator[Statement]:
    """That none of some features has figures that may be read, and why."""
    why: dict[str, str] = {}
    for one in figures:
        if not one.sound:
            why.setdefault(one.feature, _reason(one))
    told = [
        f"{counted(n, 'feature')} {reason}" for reason, n in Counter(why.values()).most_common()
    ]
    if told:
        text = f"nothing can be said under {title} of the words on which {what}: {listed(told)}"
        yield said("caution", text, {_MAIN: [one.position for one in figures]})


def _reason(one: _Figure) -> str:
    """Why a figure may not be read."""
    if one.segments < LEAST:
        return f"in fewer than {LEAST} segments"
    if one.muler is None:
        return "on which the metric has nothing to give"
    if one.outside:
        return "tagged differently in outputs and references (MuLER outside 0 to 1)"
    return "with an interval that tells nothing"


def _of_several(
    title: str, differences: Sequence[_Difference], systems: Sequence[str]
) -> Iterator[Statement]:
    sound = [one for one in differences if one.sound and one.p is not None]
    found = [one for one in sound if one.significant]
    found.sort(key=lambda one: -abs(one.difference))
    if len(systems) * (len(systems) - 1) // 2 <= _IN_FULL:
        yield from _of_two(title, found, systems)
    elif found:
        yield from _of_many(title, found, sound)
    rest = len(sound) - len(found)
    if not sound:
        names = listed(list(dict.fromkeys(gloss(one.feature) for one in differences if one.sound)))
        yield said("undecided", f"no test could be made of {names} under {title}")
    if rest:
        what = f"{counted(rest, 'feature' if len(systems) == 2 else 'comparison')}"
        shows = "shows" if rest == 1 else "show"
        more = "" if found else f" of {' and '.join(systems)}" if len(systems) == 2 else ""
        yield said("undecided", f"{what} {shows} no difference{more} under {title}")


def _of_two(
    title: str, found: Sequence[_Difference], systems: Sequence[str]
) -> Iterator[Statement]:
    for system in systems:
        own = [one for one in found if one.better.system == system]
        if own:
            other = own[0].worse.system
            largest = max(one.p or 0.0 for one in own)
            text = (
                f"{system} is better than {other} on {listed([one.told() for one in own])} (MuLER"
                f" under {title}, corrected {p_value(largest)}{' or less' if len(own) > 1 else ''})"
            )
            yield said("better", text, _places(own))


def _of_many(
    title: str, found: Sequence[_Difference], sound: Sequence[_Difference]
) -> Iterator[Statement]:
    tested = Counter(one.feature for one in sound)
    words = Counter(one.feature for one in found).most_common()  # of like ones the largest first
    told = [f"{gloss(name)} in {n:,} of {tested[name]:,}" for name, n in words[:_NAMED]]
    told[0] += " pairs"
    if rest := len(words) - len(told):
        told.append(counted(rest, "more feature"))
    wins = Counter(one.better.system for one in found)
    top = [name for name, n in wins.items() if n == max(wins.values())]
    are, each = ("are", " each") if len(top) > 1 else ("is", "")
    text = (
        f"Systems differ on {listed(told, most=_NAMED + 1)} (MuLER under {title}); {listed(top)}"
        f" {are} better most often, in {wins[top[0]]:,} of"
        f" {counted(len(found), 'difference')}{each}"
    )
    yield said("better", text, _places(found))
    first = found[0]
    text = (
        f"The largest: {first.better.system} is better than {first.worse.system} on"
        f" {first.told()}, corrected {p_value(first.p or 0.0)}"
    )
    yield said("better", text, _places([first]))


def _flagged(title: str, differences: Iterable[_Difference]) -> Iterator[Statement]:
    """What would be a finding if its figures could be read."""
    differences = list(differences)
    some = [one for one in differences if not one.sound]
    read = {one.feature for one in differences if one.sound}
    outside = [one for one in some if one.outside]
    if outside:
        yield said("caution", _outside(title, outside), _places(outside))
    rest = [one for one in some if one.significant and one not in outside]
    few = [one for one in rest if any(side.segments < LEAST for side in one.sides)]
    wide = [one for one in rest if one not in few]
    if wide:
        names = listed(list(dict.fromkeys(gloss(one.feature) for one in wide)))
        text = f"under {title}, {names} are left out: the intervals of their MuLER tell nothing"
        yield said("caution", text, _places(wide))
    if few:
        names = listed(list(dict.fromkeys(gloss(one.feature) for one in few)))
        some_of = " of some systems" if {one.feature for one in few} & read else ""
        text = f"under {title}, {names} occur in fewer than {LEAST} segments{some_of}"
        yield said("caution", f"{text}, too few to be read as a finding there", _places(few))


def _outside(title: str, outside: Sequence[_Difference]) -> str:
    """Features whose figures cannot be read, those first that look like findings."""
    alike = list(dict.fromkeys(one.feature for one in outside if one.significant))
    others = [one for one in dict.fromkeys(one.feature for one in outside) if one not in alike]
    why = "outputs and references are tagged differently (MuLER outside 0 to 1)"
    if alike:
        more = f", and so are {counted(len(others), 'more feature')}" if others else ""
        names = listed([gloss(one) for one in alike])
        look = "look" if len(alike) > 1 else "looks"
        left = "they are" if len(alike) > 1 else "it is"
        return f"under {title}, {names} {look} different only because {why}; {left} left out{more}"
    names = listed([gloss(one) for one in others])
    left = "are left out" if len(others) > 1 else "is left out"
    return f"under {title}, {names} cannot be read and {left}: {why}"


def _places(some: Iterable[_Difference]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {_DIFFERENCES: [], _MAIN: []}
    for one in some:
        found[_DIFFERENCES].append(one.position)
        found[_MAIN] += [side.position for side in one.sides]
    return found
