"""What a comparison of systems says, in sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gnomon.verdicts import (
    LEAST,
    amount,
    counted,
    cut_texts,
    further_segments,
    listed,
    metric_title,
    number,
    p_value,
    said,
    titles_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Finding, Level, Statement

#: metrics that are gone through outcome by outcome, where there are several systems
_IN_FULL = 2
#: gains below this are rounding
_SAME = 1e-9
_ALTERNATIVE = "alternative:"
_OUTCOMES: tuple[Level, ...] = ("better", "worse", "undecided")


class _Compared(NamedTuple):
    """A row of the main table, turned so that more is better; None where undefined."""

    position: int
    table: str
    system: str
    baseline: str
    metric: str
    part: str | None
    segments: int
    gain: float | None
    low: float | None
    high: float | None
    p: float | None
    corrected: bool
    outcome: Level | None
    same: bool
    title: str
    alternative: str

    @property
    def level(self) -> bool:
        """Whether the scores are equal, be it over unlike segments."""
        return self.gain is not None and abs(self.gain) < _SAME

    @property
    def asked(self) -> str:
        """What alone was tested of the system; empty where any difference was."""
        return {"greater": "better", "less": "worse"}.get(self.alternative, "")

    @property
    def few(self) -> bool:
        return self.segments < LEAST

    def size(self, *, unit: bool = True) -> str:
        """How far it is from the baseline, without a sign, and the interval of that."""
        gain, low, high = self.gain or 0.0, self.low, self.high
        if gain < 0:
            low, high = (None if end is None else -end for end in (high, low))
        return amount(abs(gain), low, high, unit=self.title if unit else "")

    @property
    def tested(self) -> str:
        if self.p is None:
            return "not tested"
        return f"{'corrected ' if self.corrected else ''}{p_value(self.p)}"

    @property
    def rows(self) -> dict[str, list[int]]:
        return {self.table: [self.position]}


def compare_verdict(finding: Finding) -> Iterator[Statement]:
    """Which systems are better than the baseline or worse, under each metric; then cautions.

    Args:
        finding: what a comparison found.
    """
    every = list(_rows(finding))
    whole = [one for one in every if one.part is None]
    metrics = list(dict.fromkeys(one.metric for one in whole))
    systems = list(dict.fromkeys(one.system for one in whole))
    sound = [one for one in whole if not one.few]
    for metric in metrics:
        own = [one for one in sound if one.metric == metric]
        if len(systems) == 1:
            yield from map(_alone, own)
        elif own:
            yield from (_by_outcome if len(metrics) <= _IN_FULL else _at_once)(own)
    if len(systems) == 1:
        yield from _slices([one for one in every if one.part is not None])
    yield from _disagreement(sound)
    yield from _few(every)
    yield from cut_texts(finding.notices)


def _rows(finding: Finding) -> Iterator[_Compared]:
    table, titles = finding.tables[0], titles_of(finding)
    said_of_tests = (part for text in finding.signatures.values() for part in text.split("|"))
    tested = [part.partition(":")[2] for part in said_of_tests if part.startswith(_ALTERNATIVE)]
    for position, row in enumerate(table.rows):
        if row["system"] == row["baseline"]:
            continue
        gain, difference = number(row["gain"]), number(row["difference"])
        low, high = number(row["low"]), number(row["high"])
        if gain is not None and difference is not None and gain != difference:
            low, high = (None if end is None else -end for end in (high, low))
        segments = int(number(row["segments"]) or 0)
        yield _Compared(
            position=position,
            table=table.name,
            system=str(row["system"]),
            baseline=str(row["baseline"]),
            metric=str(row["metric"]),
            part=None if row["slice"] is None else str(row["slice"]),
            segments=segments,
            gain=gain,
            low=low,
            high=high,
            p=number(row["p_adjusted"]),
            corrected=row["p_adjusted"] != row["p"],
            outcome=next((one for one in _OUTCOMES if one == row["verdict"]), None),
            same=gain == 0 and row["ties"] == segments,
            title=titles[str(row["metric"])],
            alternative=tested[0] if tested else "",
        )


def _alone(one: _Compared) -> Statement:
    """Two systems under one metric."""
    names = f"{one.system} and {one.baseline}"
    if one.gain is None:
        text = f"the difference of {names} under {one.title} is not defined"
        return said("caution", text, one.rows)
    if one.same:
        text = f"{names} score the same under {one.title} in each of {counted(one.segments)}"
        return said("undecided", text, one.rows)
    facts = f"({counted(one.segments)}, {one.tested})"
    if one.outcome in ("better", "worse"):
        text = f"{one.system} is {one.outcome} than {one.baseline} by {one.size()} {facts}"
        return said(one.outcome, text, one.rows)
    if one.level:
        text = (
            f"{names} score the same under {one.title}, but not in each segment: they differ by"
            f" {one.size()} {facts}"
        )
        return said("undecided", text, one.rows)
    ahead, behind = (one.system, one.baseline) if one.gain > 0 else (one.baseline, one.system)
    if one.outcome is not None and one.asked and (one.gain > 0) is (one.asked == "worse"):
        text = (
            f"{ahead} is ahead of {behind} by {one.size()}; only whether {one.system} is"
            f" {one.asked} was tested {facts}"
        )
        return said("undecided", text, one.rows)
    text = f"{ahead} is ahead of {behind} by {one.size()}, which may be chance {facts}"
    if one.outcome is None:
        text = f"{ahead} is ahead of {behind} by {one.size()} {facts}; resamples make a test"
    return said("undecided", text + _further(one), one.rows)


def _further(one: _Compared) -> str:
    if one.gain is None or one.low is None or one.high is None:
        return ""
    more = further_segments(one.segments, one.gain, one.low, one.high)
    if more is None:
        return ""
    return f"; if that stays, a decision takes at least {counted(more, 'more segment')}"


def _by_outcome(own: Sequence[_Compared]) -> Iterator[Statement]:
    """Several systems under one metric: a statement for those of each outcome."""
    baseline, title, n = own[0].baseline, own[0].title, _sizes(own)
    for outcome in ("better", "worse"):
        some = _ordered(own, outcome)
        if len(some) == 1:
            yield _alone(some[0])
        elif some:
            facts, told = _each([(one.system, one) for one in some])
            text = f"{len(some)} systems are {outcome} than {baseline} under {title} ({n}{facts})"
            yield said(outcome, f"{text}: {told}", _places(some))
    rest = [one for one in own if one.outcome not in ("better", "worse")]
    if len(rest) == 1:
        yield _alone(rest[0])
    elif rest:
        names = listed([f"{one.system} ({_ahead(one)})" for one in rest])
        text = f"{title} does not tell {names} from {baseline} ({n})"
        if rest[0].asked:
            text = f"{title} does not show that {names} are {rest[0].asked} than {baseline}"
            text = f"{text}, which alone was tested ({n})"
        if not any(one.outcome for one in rest):
            text = f"{title} was not tested for {names}, against {baseline} ({n})"
        yield said("undecided", text, _places(rest))


def _each(some: Sequence[tuple[str, _Compared]]) -> tuple[str, str]:
    """What the tests say, where they say the same of all; and each by how much."""
    tests = {one.tested for _, one in some}
    if len(tests) == 1:
        return f", each {tests.pop()}", listed(
            [f"{n} by {one.size(unit=False)}" for n, one in some]
        )
    return "", listed([f"{name} by {one.size(unit=False)} ({one.tested})" for name, one in some])


def _ahead(one: _Compared) -> str:
    if one.gain is None:
        return "not defined"
    return "the same" if one.level else f"{one.size(unit=False)} {_side(one)}"


def _side(one: _Compared) -> str:
    return "ahead" if (one.gain or 0) > 0 else "behind"


def _sizes(own: Sequence[_Compared]) -> str:
    low, high = (f(one.segments for one in own) for f in (min, max))
    return counted(high) if low == high else f"{low:,} to {counted(high)}"


def _at_once(own: Sequence[_Compared]) -> Iterator[Statement]:
    """Several systems under one of many metrics, in one statement."""
    baseline, title = own[0].baseline, own[0].title
    parts = []
    for outcome in ("better", "worse"):
        some = _ordered(own, outcome)
        if some:
            first = f"{some[0].system} by {some[0].size(unit=False)}"
            parts.append(f"{len(some)} {outcome} (most of all {first})")
    rest = [one for one in own if one.outcome not in ("better", "worse")]
    if rest:
        parts.append(f"{len(rest)} undecided")
    level: Level = next((kind for kind in _OUTCOMES if _ordered(own, kind)), "undecided")
    text = f"{title}, {counted(len(own), 'system')} against {baseline}: {', '.join(parts)}"
    yield said(level, text, _places(own))


def _ordered(own: Iterable[_Compared], outcome: Level) -> list[_Compared]:
    """Those of an outcome, the largest differences first."""
    return sorted(
        (one for one in own if one.outcome == outcome), key=lambda one: -abs(one.gain or 0)
    )


def _are(some: Sequence[_Compared]) -> str:
    return "1 system is" if len(some) == 1 else f"{len(some)} systems are"


def _places(some: Iterable[_Compared]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for one in some:
        found.setdefault(one.table, []).append(one.position)
    return found


def _slices(parts: Sequence[_Compared]) -> Iterator[Statement]:
    """Where one system is better than the other, and where worse."""
    for metric in dict.fromkeys(one.metric for one in parts):
        own = [one for one in parts if one.metric == metric and not one.few]
        for outcome in ("better", "worse"):
            some = _ordered(own, outcome)
            if some:
                facts, told = _each([(one.part or "", one) for one in some])
                which = f"{some[0].title}{facts}"
                text = f"By slice ({which}), {some[0].system} is {outcome} on {told}"
                yield said(outcome, text, _places(some))


def _disagreement(sound: Sequence[_Compared]) -> Iterator[Statement]:
    """Systems that one metric calls better and another one worse."""
    found: dict[str, list[_Compared]] = {}
    for one in sound:
        if one.outcome in ("better", "worse"):
            found.setdefault(one.system, []).append(one)
    split = {name: own for name, own in found.items() if len({one.outcome for one in own}) > 1}
    if not split:
        return
    told = [
        f"{name} is "
        + " and ".join(
            f"{outcome} under {listed([one.title for one in own if one.outcome == outcome])}"
            for outcome in ("better", "worse")
        )
        for name, own in split.items()
    ]
    rows = _places(one for own in split.values() for one in own)
    yield said("caution", f"the metrics disagree: {listed(told)}", rows)


def _few(every: Sequence[_Compared]) -> Iterator[Statement]:
    """What rests on too few segments: all of it for whole test sets, of slices what stands out."""
    some = [
        one for one in every if one.few and (one.part is None or one.outcome in ("better", "worse"))
    ]
    if not some:
        return
    sizes = Counter(one.segments for one in some)
    n = counted(min(sizes)) if len(sizes) == 1 else f"fewer than {LEAST} segments"
    whole = all(one.part is None for one in some)
    names = listed(list(dict.fromkeys(one.system if whole else str(one.part) for one in some)))
    which = (
        f"differences of {names} from {some[0].baseline}" if whole else f"differences in {names}"
    )
    yield said("caution", f"{which} rest on {n}, too few to be read as a finding", _places(some))


def headline(rows: Iterable[Mapping[str, Cell]], metric: str) -> str:
    """What a chart of differences shows, as its title: for all segments, under one metric.

    Args:
        rows: of the main table.
        metric: its name.
    """
    every = list(rows)
    own = [
        row
        for row in every
        if row["metric"] == metric and row["slice"] is None and row["system"] != row["baseline"]
    ]
    title = metric_title(metric, dict.fromkeys(str(row["metric"]) for row in every))
    tally = Counter(str(row["verdict"]) for row in own if row["verdict"])
    if not tally:
        return f"{title}: differences, not tested"
    baseline = own[0]["baseline"]
    if len(own) == 1:
        system = own[0]["system"]
        told = {
            "better": f"{system} is better than {baseline}",
            "worse": f"{system} is worse than {baseline}",
        }
        decided = told.get(str(own[0]["verdict"]), f"{system} against {baseline} is undecided")
        return f"{title}: {decided}"
    parts = [f"{tally[one]} {one}" for one in _OUTCOMES if tally[one]]
    return f"{title}: {', '.join(parts)}, against {baseline}"
