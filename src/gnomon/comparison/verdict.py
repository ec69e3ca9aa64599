"""What a comparison of systems says, in sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.agreement.meaning import of_hundred, span
from gnomon.comparison.meanings import DifferenceMeaningRow
from gnomon.comparison.tables import (
    SYSTEMS,
    ComparisonRow,
    chosen_by_score,
    tested_by,
)
from gnomon.core.verdicts import (
    LEAST,
    amount,
    counted,
    empty_outputs,
    further_segments,
    listed,
    p_value,
    said_of,
    titles_of,
)
from gnomon.judges.verdict import judge_title
from gnomon.messages import message
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gnomon.comparison.tables import Outcome
    from gnomon.core.findings import Finding
    from gnomon.messages import Message

#: shares of segments without a score above this are said first
_MISSING = 0.01
#: design effects above this are said
_CLUSTERED = 1.2


class _SystemPair(NamedTuple):
    """A row of two systems, and what its metric is called."""

    row: ComparisonRow
    position: int
    title: str
    family: str  # of comparisons that are decided at once

    @property
    def names(self) -> str:
        return f"{self.row.system} and {self.row.baseline}"

    @property
    def under(self) -> str:
        return (
            f"by people ({self.title})" if self.row.people else f"under {judge_title(self.title)}"
        )

    def size(self, *, unit: bool = True, judges: str = " by people") -> str:
        """How far it is from the baseline, without a sign, and the interval of that."""
        gain, (low, high) = self.row.gain or 0.0, self.row.gain_ends
        if gain < 0:
            low, high = (None if end is None else -end for end in (high, low))
        title = judge_title(self.title)
        named = f"points of {title}" if title != self.title else title
        if self.row.people:
            named = f"points of {title}{judges}"
        named = named if unit else ""
        return amount(abs(gain), low, high, unit=named, decided=self.row.decided or False)

    @property
    def ahead(self) -> str:
        """Who is ahead, and by how much."""
        if self.row.equal:
            return f"they differ by {self.size(judges='')}"
        gain = self.row.gain or 0.0
        first, second = (self.row.system, self.row.baseline)[:: 1 if gain > 0 else -1]
        return f"{first} is ahead of {second} by {self.size(judges='')}"

    @property
    def tested(self) -> str:
        return "not tested" if self.row.p is None else tested_by(self.row)

    @property
    def on(self) -> str:
        """What it rests on."""
        documents = counted(self.row.documents or 0, "document")
        by = f" in {documents}" if self.row.unit == "document" else ""
        return f"{counted(self.row.segments)}{by}"

    @property
    def facts(self) -> str:
        return f"{self.on}, {self.tested}{self.family}"

    @property
    def rows(self) -> dict[str, list[int]]:
        return {SYSTEMS: [self.position]}


def compare_verdict(finding: Finding) -> Iterator[Message]:
    """The best system of several, or which of two is better, under each metric; cautions."""
    every = list(_rows(finding))
    whole = [pair for pair in every if pair.row.slice is None]
    metrics = list(dict.fromkeys(pair.row.metric for pair in whole))
    several = len({pair.row.system for pair in whole}) > 1
    sound = [pair for pair in whole if not pair.row.few]
    # what could change the answer comes first
    yield from _empty(finding)
    yield from _missing(finding)
    chosen = chosen_by_score(finding)
    for metric in metrics:
        of_metric = [pair for pair in sound if pair.row.metric == metric]
        if chosen:
            yield from _best(finding, of_metric)
        elif several and of_metric:
            yield from _by_outcome(of_metric)
        else:
            yield from map(_alone, of_metric)
    if not several:
        yield from _slices([pair for pair in every if pair.row.slice is not None])
    yield from _meanings(finding, sound)
    yield from _disagreement(sound)
    together = [
        pair
        for pair in whole
        if pair.row.people and pair.row.unit == "segment" and not pair.row.documents
    ]
    if together:
        titles = dict.fromkeys(pair.title for pair in together)
        yield message("compare.judged_together", _places(together), title=listed(list(titles)))
    yield from _clustered(sound)
    yield from _few(every)
    yield from said_of("score.cut", finding.notices)


def _rows(finding: Finding) -> Iterator[_SystemPair]:
    titles = titles_of(finding)
    chosen = chosen_by_score(finding)
    families = {
        (metric, sliced): _family(finding, metric, sliced=sliced, chosen=chosen)
        for metric in titles
        for sliced in (False, True)
    }
    for position, row in enumerate(finding.records(ComparisonRow)):
        if row.system != row.baseline:
            family = families[row.metric, row.slice is not None]
            yield _SystemPair(row, position, titles[row.metric], family)


def _family(finding: Finding, metric: str, *, sliced: bool, chosen: bool) -> str:
    """What is decided at once with a comparison; nothing where it stands alone."""
    rows = [row for row in finding.records(ComparisonRow) if row.metric == metric]
    systems = len({row.system for row in rows})
    slices = len({row.slice for row in rows} - {None})
    pairs = systems * (systems - 1) // 2 if chosen else systems - 1
    count = pairs * (slices if sliced else 1)
    signature = finding.signatures[metric]
    test, confidence = signature.get("test"), signature.get("confidence")
    if test == "sacrebleu" and count > 1:
        return "; p as sacreBLEU has it, not adjusted"
    if count < 2 or confidence is None:
        return ""
    what = f"{count:,} {'pairs in slices' if sliced else 'pairs'}"
    if test == "ar":
        return f"; p over all {what}"
    return f"; {100 * float(confidence):g} % intervals over all {what}"


def _alone(pair: _SystemPair) -> Message:
    """Two systems under one metric."""
    if pair.row.gain is None:
        return message("compare.undefined", pair.rows, **_placeholders(pair))
    if pair.row.same:
        return message("compare.same", pair.rows, **_placeholders(pair))
    if pair.row.outcome not in ("better", "worse"):
        return _undecided(pair)
    return message(
        "compare.better" if pair.row.outcome == "better" else "compare.worse",
        pair.rows,
        system=pair.row.system,
        baseline=pair.row.baseline,
        size=pair.size(),
        facts=pair.facts,
    )


def _placeholders(pair: _SystemPair) -> dict[str, Any]:
    return {
        "names": pair.names,
        "under": pair.under,
        "ahead": pair.ahead if pair.row.gain is not None else "",
        "facts": pair.facts,
        "segments": counted(pair.row.segments),
    }


def _undecided(pair: _SystemPair) -> Message:
    """Two systems without a significant difference, and why."""
    parts = _placeholders(pair)
    caveat = pair.row.caveat
    if pair.row.outcome is None:
        parts["facts"] = pair.on
        return message("compare.untested", pair.rows, why=_untested(pair), **parts)
    if caveat in ("different", "skewed"):
        which = "a few" if caveat == "skewed" else f"{pair.row.different}"
        return message("compare.few_different", pair.rows, which=which, **parts)
    if caveat == "by document":
        documents = counted(pair.row.documents or 0, "document")
        p = p_value(pair.row.p_documents or 0.0)
        return message("compare.by_document", pair.rows, documents=documents, p=p, **parts)
    return message("compare.undecided", pair.rows, more=_further(pair), **parts)


def _untested(pair: _SystemPair) -> str:
    return _too_few(pair) if pair.row.caveat == "documents" else "resamples make a test"


def _too_few(pair: _SystemPair) -> str:
    documents = pair.row.documents or 0
    are = "are" if documents > 1 else "is"
    return f"{counted(documents, 'document')} {are} too few ({LEAST_DOCUMENTS} are needed)"


def _further(pair: _SystemPair) -> str:
    low, high = pair.row.gain_ends
    if pair.row.gain is None or low is None or high is None:
        return ""
    more = further_segments(pair.row.segments, pair.row.gain, low, high)
    if more is None:
        return ""
    return f"; at this rate, about {counted(more, 'more segment')} would be needed"


def _best(finding: Finding, pairs: Sequence[_SystemPair]) -> Iterator[Message]:
    """Of several systems under one metric, those that are not worse than the one that leads."""
    others = [pair for pair in pairs if pair.row.gain is not None]
    if not others:
        return
    leader = others[0].row.baseline
    rows = [
        row
        for row in finding.records(ComparisonRow)
        if (row.metric, row.slice) == (others[0].row.metric, None) and row.score is not None
    ]
    top = next(row for row in rows if row.system == leader)
    places = finding.positions(rows)
    systems, score = counted(len(rows), "system"), amount(top.score or 0.0)
    under, on = others[0].under, _sizes([pair.row.segments for pair in others])
    if others[0].row.unit == "document":
        on = f"{on} in {counted(max(pair.row.documents or 0 for pair in others), 'document')}"
    if all(pair.row.outcome is None for pair in others):
        ahead = f"{leader} has the best score of {systems} {under}, {score}"
        yield message("compare.untested", places, ahead=ahead, facts=on, why=_untested(others[0]))
        return
    by_gain = sorted(others, key=lambda pair: pair.row.gain or 0.0, reverse=True)
    worse = [pair.row for pair in by_gain if pair.row.outcome == "worse"]
    rest = [pair.row for pair in by_gain if pair.row.outcome != "worse"]
    near = [row for row in rest if row.beaten_by is None]
    after = _after(worse[0]) if worse else ""
    parts: dict[str, Any] = {"systems": systems, "under": under, "score": score}
    parts["facts"] = f"{on}{others[0].family}"
    if not near and worse:
        yield message("compare.best", places, best=leader, next=_capital(after), **parts)
        return
    beaten = [f"{row.beaten_by} is better than {row.system}" for row in rest if row.beaten_by]
    yield message(
        "compare.leaders",
        places,
        best=listed([leader, *(row.system for row in near)]),
        leader=leader,
        near=listed([f"{row.system} ({_behind(row)})" for row in near]),
        others="".join(f"; {text}" for text in (*beaten, after) if text),
        **parts,
    )


def _after(row: ComparisonRow) -> str:
    """Who follows the first place, by how much."""
    return f"next is {row.system}, behind by {_lead(row)}, {tested_by(row)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lead(row: ComparisonRow) -> str:
    """By how much the leader is ahead of a system."""
    low, high = row.gain_ends
    ends = (None, None) if low is None or high is None else (-high, -low)
    return amount(-(row.gain or 0.0), *ends, decided=row.decided or False)


def _behind(row: ComparisonRow) -> str:
    """By how much a system is behind a leader that is not significantly better."""
    if not row.gain:
        return "the same"
    return f"behind by {_lead(row)}{_without_interval(row)}"


def _without_interval(row: ComparisonRow) -> str:
    """What says that a difference is undecided where no interval does."""
    if row.caveat == "by document":
        return f", but by document {p_value(row.p_documents or 0.0)}"
    if row.caveat == "different":
        return f" in {counted(row.different)}, too few"
    if row.caveat == "skewed":
        return ", made by a few segments"
    return f", {tested_by(row)}" if row.gain_ends == (None, None) and row.p is not None else ""


def _by_outcome(pairs: Sequence[_SystemPair]) -> Iterator[Message]:
    """Several systems and a baseline that was named: a statement for those of each outcome."""
    baseline, under, n = (
        pairs[0].row.baseline,
        pairs[0].under,
        _sizes([pair.row.segments for pair in pairs]),
    )
    for outcome in ("better", "worse"):
        some = _ordered(pairs, outcome)
        if len(some) == 1:
            yield _alone(some[0])
        elif some:
            facts, each = _each([(pair.row.system, pair) for pair in some])
            yield message(
                "compare.several",
                _places(some),
                outcome=outcome,
                systems=counted(len(some), "system"),
                baseline=baseline,
                under=under,
                facts=f"{n}{facts}{some[0].family}",
                each=each,
            )
    rest = [pair for pair in pairs if pair.row.outcome not in ("better", "worse")]
    if len(rest) == 1:
        yield _alone(rest[0])
    elif rest and all(pair.row.outcome is None for pair in rest):
        ahead = listed([pair.ahead for pair in rest])
        yield message(
            "compare.untested", _places(rest), ahead=ahead, facts=n, why=_untested(rest[0])
        )
    elif rest:
        yield message(
            "compare.several_undecided",
            _places(rest),
            each=listed([f"{pair.row.system} ({_ahead(pair)})" for pair in rest]),
            baseline=baseline,
            under=under,
            facts=f"{n}{rest[0].family}",
        )


def _each(some: Sequence[tuple[str, _SystemPair]]) -> tuple[str, str]:
    """What the tests say, where they say the same of all; and each by how much."""
    tests = {pair.tested for _, pair in some}
    if len(tests) == 1:
        each = "each " * (len(some) > 1)
        return f", {each}{tests.pop()}", listed(
            [f"{n} by {pair.size(unit=False)}" for n, pair in some]
        )
    return "", listed([f"{name} by {pair.size(unit=False)} ({pair.tested})" for name, pair in some])


def _ahead(pair: _SystemPair) -> str:
    if pair.row.gain is None:
        return "not defined"
    if pair.row.equal:
        return "the same"
    ahead = "ahead" if pair.row.gain > 0 else "behind"
    return f"{ahead} by {pair.size(unit=False)}{_without_interval(pair.row)}"


def _sizes(segments: Sequence[int]) -> str:
    low, high = min(segments), max(segments)
    return counted(high) if low == high else f"{low:,} to {counted(high)}"


def _ordered(pairs: Iterable[_SystemPair], outcome: Outcome) -> list[_SystemPair]:
    """Those of an outcome, the largest differences first."""
    some = (pair for pair in pairs if pair.row.outcome == outcome)
    return sorted(some, key=lambda pair: -abs(pair.row.gain or 0))


def _places(some: Iterable[_SystemPair]) -> dict[str, list[int]]:
    return {SYSTEMS: [pair.position for pair in some]}


def _slices(parts: Sequence[_SystemPair]) -> Iterator[Message]:
    """Where one system is better than the other, and where worse."""
    for metric in dict.fromkeys(pair.row.metric for pair in parts):
        of_metric = [pair for pair in parts if pair.row.metric == metric and not pair.row.few]
        for outcome in ("better", "worse"):
            some = _ordered(of_metric, outcome)
            if some:
                facts, each = _each([(pair.row.slice or "", pair) for pair in some])
                yield message(
                    "compare.slice",
                    _places(some),
                    outcome=outcome,
                    which=f"{some[0].title}{facts}{some[0].family}",
                    system=some[0].row.system,
                    each=each,
                )


def _meanings(finding: Finding, sound: Sequence[_SystemPair]) -> Iterator[Message]:
    """How often people agreed with such differences in other test sets."""
    titles = titles_of(finding)
    read = {(pair.row.metric, pair.row.system) for pair in sound}
    rows = [r for r in finding.records(DifferenceMeaningRow) if (r.metric, r.system) in read]
    for metric in dict.fromkeys(row.metric for row in rows):
        of_metric = [row for row in rows if row.metric == metric]
        seen = [row for row in of_metric if row.share is not None]
        if seen:
            yield _what_it_meant(finding, seen, titles[metric])
        beyond = [row for row in of_metric if row.share is None]
        if beyond:
            systems = [f"{row.system} and {row.baseline}" for row in beyond]
            yield message(
                "compare.meaning_beyond",
                finding.positions(beyond),
                sets=beyond[0].test_sets,
                systems=listed(systems),
                seen=amount(beyond[0].seen, unit=titles[metric]),
            )
    outside = [row for row in rows if row.outside]
    if outside:
        first = outside[0]
        places = finding.positions(outside)
        yield message("compare.meaning_elsewhere", places, known=first.known, outside=first.outside)


def _what_it_meant(finding: Finding, rows: Sequence[DifferenceMeaningRow], title: str) -> Message:
    """The classes of differences of some systems, smallest first."""
    first, named = rows[0], len(rows) > 1
    classes: dict[tuple[float, float], list[DifferenceMeaningRow]] = {}
    for row in sorted(rows, key=lambda row: row.difference):
        classes.setdefault((row.smallest or 0.0, row.largest or 0.0), []).append(row)
    each = []
    for n, (ends, some) in enumerate(classes.items()):
        share = of_hundred(some[0].share or 0.0, *some[0].ends("share"), pairs=not n)
        who = f" ({listed([row.system for row in some])})" * named
        each.append(f"{span(*ends, title if not n else '')} in {share}{who}")
    pairs = sum(some[0].pairs or 0 for some in classes.values())
    sets = max(some[0].sets or 0 for some in classes.values())
    return message(
        "compare.meaning",
        finding.positions(rows),
        sets=first.test_sets,
        classes=listed(each),
        facts=f"{counted(sets, 'set')}, {counted(pairs, 'pair')}; {first.judgements}",
    )


def _empty(finding: Finding) -> Iterator[Message]:
    """Empty outputs, system by system."""
    total = int(finding.facts["segments"])
    rows = [row for row in finding.records(ComparisonRow) if row.slice is None]
    empty = {row.system: row.empty for row in rows}
    places = [row for row in rows if empty[row.system] > _MISSING * total]
    yield from empty_outputs(empty, total, finding.positions(places))


def _missing(finding: Finding) -> Iterator[Message]:
    """Scores that are missing, system by system, under each metric."""
    titles, total = titles_of(finding), int(finding.facts["segments"])
    rows = [row for row in finding.records(ComparisonRow) if row.slice is None]
    for metric in dict.fromkeys(row.metric for row in rows):
        lacking = [row for row in rows if row.metric == metric and row.missing > _MISSING * total]
        if lacking:
            most_first = sorted(lacking, key=lambda row: -row.missing)
            yield message(
                "compare.missing",
                finding.positions(lacking),
                title=titles[metric],
                missing=listed([f"{row.missing:,} ({row.system})" for row in most_first]),
                segments=counted(total),
            )


def _clustered(sound: Sequence[_SystemPair]) -> Iterator[Message]:
    decided = (pair for pair in sound if pair.row.outcome in ("better", "worse"))
    alone = [pair for pair in decided if pair.row.documents == 1]
    if alone:
        yield message("compare.one_document", _places(alone))
    effects = [
        (pair.row.design_effect or 0.0, pair)
        for pair in sound
        if pair.row.unit == "segment"
        and (pair.row.documents or 0) > 1
        and pair.row.caveat != "by document"
    ]
    large = [(effect, pair) for effect, pair in effects if effect > _CLUSTERED]
    if not large:
        return
    effect, pair = max(large, key=lambda entry: entry[0])
    documents = pair.row.documents or 0
    few = f"{counted(documents, 'document')} are too few for intervals by document"
    yield message(
        "compare.clustered",
        _places(pair for _, pair in large),
        under=pair.under,
        effect=f"{'up to ' * (len(large) > 1)}{effect:.1f}",
        what="take documents as the unit"
        if documents >= LEAST_DOCUMENTS
        else f"{few} ({LEAST_DOCUMENTS} are needed)",
    )


def _disagreement(sound: Sequence[_SystemPair]) -> Iterator[Message]:
    """Systems that one metric calls better and another one worse."""
    by_system: dict[str, list[_SystemPair]] = {}
    for pair in sound:
        if pair.row.outcome in ("better", "worse"):
            by_system.setdefault(pair.row.system, []).append(pair)
    split = {
        name: pairs
        for name, pairs in by_system.items()
        if len({pair.row.outcome for pair in pairs}) > 1
    }
    if not split:
        return
    each = [
        f"{name} is "
        + " and ".join(
            f"{outcome} under"
            f" {listed([pair.title for pair in pairs if pair.row.outcome == outcome])}"
            for outcome in ("better", "worse")
        )
        for name, pairs in split.items()
    ]
    every = (pair for pairs in split.values() for pair in pairs)
    yield message("compare.disagree", _places(every), each=listed(each))


def _few(every: Sequence[_SystemPair]) -> Iterator[Message]:
    """What rests on too few segments: all of it for whole test sets, of slices what stands out."""
    some = [
        pair
        for pair in every
        if pair.row.few and (pair.row.slice is None or pair.row.outcome in ("better", "worse"))
    ]
    if not some:
        return
    sizes = Counter(pair.row.segments for pair in some)
    n = counted(min(sizes)) if len(sizes) == 1 else f"fewer than {LEAST} segments"
    whole = all(pair.row.slice is None for pair in some)
    names = listed(
        list(dict.fromkeys(pair.row.system if whole else str(pair.row.slice) for pair in some))
    )
    which = (
        f"differences of {names} from {some[0].row.baseline}"
        if whole
        else f"differences in {names}"
    )
    yield message("compare.few", _places(some), which=which, segments=n)
