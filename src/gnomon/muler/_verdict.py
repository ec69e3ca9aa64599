"""What MuLER says of systems, in sentences: on which words one is better, and cautions."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gnomon.annotate import gloss
from gnomon.verdicts import LEAST, Claim, amount, counted, listed, number, p_value, titles_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Finding, Statement

#: pairs of systems whose features are gone through one by one
_IN_FULL = 1
#: features and systems that a sentence names
_NAMED = 3
_ALPHA = 0.05
#: segments below which nothing is tested
_FEW = 10
_ROUNDING = 1e-9
#: more missing than this share of the segments may change the answer
_MISSING = 0.01
_MAIN, _DIFFERENCES = "muler", "differences"

LEFT_OUT = Claim(
    "muler.score.left-out",
    "{what}; MuLER compares only segments where output and reference both have the feature{scores}",
    "caution",
    "more than 1 in 100 outputs are empty or have no score, or the segments without the feature,"
    " counted as lost, would move a difference out of its interval",
)
BETTER = Claim(
    "muler.score.better",
    "{system} is better than {other} on {features} (MuLER under {metric}, corrected {p})",
    "better",
    "Benjamini and Hochberg's p over all features and pairs, of the larger p of two tests: over all"
    " segments, and over those where the words of the feature differ",
)
MANY = Claim(
    "muler.score.many",
    "Systems differ on {features} (MuLER under {metric}); {best} better most often, in {wins} of"
    " {differences}",
    "better",
    "as muler.score.better, for every pair",
)
LARGEST = Claim(
    "muler.score.largest",
    "The largest: {system} is better than {other} on {feature}, corrected {p}",
    "better",
    "as muler.score.better, of the pair with the largest difference",
)
UNDECIDED = Claim(
    "muler.score.undecided",
    "For {what} the data cannot tell which system is better (MuLER under {metric}{where})",
    "undecided",
    "the corrected p of features whose words differ is above .05",
)
DRAWS = Claim(
    "muler.score.draws",
    "{draws} resamples are too few to show a difference among {tests} ({under}): with {needed} a"
    " single one could be shown",
    "caution",
    "the smallest p that so many draws can show, times the tests, is above .05, and a test has it",
)
CARRIED = Claim(
    "muler.score.carried",
    "on {features}, {metric} shows a difference that comes from the words around them: {why}",
    "caution",
    "a test finds the difference in the segments where the words of the feature are the same, and"
    " it is not found where they differ",
)
SAME = Claim(
    "muler.score.same",
    "{systems} have the same words of {what} {where}; nothing is said of these",
    "undecided",
    "in how many segments the words of each feature differ",
)
UNTESTED = Claim(
    "muler.score.untested",
    "Not tested: {what} under {metric}, for want of resamples, segments or documents",
    "undecided",
    "no test was made",
)
LOSES = Claim(
    "muler.score.loses",
    "{system} loses most of what {metric} could give it on {features}, of {n} (MuLER: 0 is nothing,"
    " 1 is all of it)",
    "worse",
    "MuLER of features inside 0 to 1, over 30 segments or more, with intervals of use",
)
NOTHING = Claim(
    "muler.score.nothing",
    "nothing can be said under {metric} of the words on which {what}: {reasons}",
    "caution",
    "MuLER of every feature is undefined, outside 0 to 1, too uncertain or of too few segments",
)
TAGGER = Claim(
    "muler.score.tagger",
    "left out under {metric}, because {why}: {features} (MuLER outside 0 to 1; {tested})",
    "caution",
    "MuLER outside 0 to 1 that lies inside over the segments where no word of both sides has"
    " the feature on one side alone, or fewer than 10 segments without such a word",
)
OUTSIDE = Claim(
    "muler.score.outside",
    "left out under {metric}, because {why}: {features} (MuLER outside 0 to 1)",
    "caution",
    "the mean scores of unmasked texts and of both masks",
)
WIDE = Claim(
    "muler.score.wide",
    "too uncertain to report under {metric}: {features}",
    "caution",
    "intervals of MuLER wider than half its scale",
)
FEW = Claim(
    "muler.score.few",
    "under {metric}, {features} occur in fewer than 30 segments{where}, too few to be read as a"
    " finding there",
    "caution",
    "the segments where both sides have the feature",
)
SCORE_CLAIMS = (
    *(LEFT_OUT, BETTER, MANY, LARGEST, UNDECIDED, DRAWS, CARRIED, SAME, UNTESTED, LOSES),
    *(NOTHING, TAGGER, OUTSIDE, WIDE, FEW),
)
PAIRS = Claim(
    "muler.pairs.found",
    "{pairs} of systems and a feature to be judged by people; furthest apart are {system} and"
    " {other} on {feature} (MuLER {muler}, {metric} {scores}). Who is better is for people to say:"
    " nothing was tested",
    "undecided",
    "MuLER of both inside 0 to 1, over 30 segments or more",
)
UNREADABLE = Claim(
    "muler.pairs.unreadable",
    "on {features}, pairs rest on MuLER outside 0 to 1 or on fewer than 30 segments: judgements of"
    " these say little",
    "caution",
    "MuLER of one of the two systems, and its segments",
)
PAIRS_CLAIMS = (PAIRS, UNREADABLE)


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
    agreed: float | None
    disagree: int
    absent: int

    @property
    def sound(self) -> bool:
        """Whether it may be read as a finding."""
        flagged = self.outside or self.uninformative or self.segments < LEAST
        return self.muler is not None and not flagged

    @property
    def reach(self) -> int:
        """The segments whose reference has the feature, as far as the output is concerned."""
        return self.segments + self.absent

    @property
    def lost(self) -> float:
        """MuLER if the feature counted as lost where the output alone lacks it."""
        lost = (self.muler or 0.0) * self.segments + self.absent
        return lost / self.reach if self.reach else 0.0

    @property
    def by_tagger(self) -> bool:
        """Outside 0 to 1, and inside it where taggers agree, if they do often enough to see."""
        nowhere = self.segments - self.disagree < _FEW and self.disagree >= _FEW
        inside = self.agreed is not None and 0 <= self.agreed <= 1
        return self.outside and (inside or nowhere)


class _Difference(NamedTuple):
    """Two systems on a feature; more than 0: the second one loses less."""

    position: int
    feature: str
    sides: tuple[_Figure, _Figure]
    difference: float
    low: float | None
    high: float | None
    p: float | None
    corrected: float | None
    significant: bool
    words: int
    draws: int | None
    carried: bool

    @property
    def sound(self) -> bool:
        return all(side.sound for side in self.sides)

    @property
    def outside(self) -> bool:
        return any(side.outside for side in self.sides)

    @property
    def tested(self) -> bool:
        """Whether its words differ, often enough for a test."""
        return self.corrected is not None

    @property
    def floored(self) -> bool:
        """Whether its p is the smallest that the draws can show."""
        least = 0.0 if not self.draws else 1 / (self.draws + 1)
        return self.p is not None and self.p <= least + _ROUNDING

    @property
    def better(self) -> _Figure:
        return self.sides[self.difference > 0]

    @property
    def worse(self) -> _Figure:
        return self.sides[self.difference <= 0]

    @property
    def hinges(self) -> bool:
        """Whether what is left out may weigh more than the interval is wide."""
        if not self.sound or self.low is None or self.high is None:
            return False
        first, second = self.sides
        if abs(first.absent - second.absent) <= _MISSING * max(one.reach for one in self.sides):
            return False
        return not self.low <= self.sides[0].lost - self.sides[1].lost <= self.high

    def size(self) -> str:
        """By how much less the better one loses, and the interval of that."""
        low, high = self.low, self.high
        if self.difference < 0:
            low, high = (None if end is None else -end for end in (high, low))
        return amount(abs(self.difference), low, high, share=True)

    def phrase(self) -> str:
        """The feature, how far apart the two are, and what each loses."""
        ours, theirs = (
            f"{one.muler or 0.0:.2f}".removeprefix("0") for one in (self.better, self.worse)
        )
        return f"{gloss(self.feature)} by {self.size()} ({ours} against {theirs})"


def score_verdict(finding: Finding) -> Iterator[Statement]:
    """What is left out; on which words which system is better, under each metric; cautions."""
    titles = titles_of(finding)
    for metric in dict.fromkeys(row["metric"] for row in finding.rows):
        title, figures = titles[str(metric)], _figures(finding, metric)
        systems = list(dict.fromkeys(one.system for one in figures.values()))
        differences = list(_differences(finding, metric, figures))
        left_out = list(_left_out(finding, metric, title, differences))
        yield from left_out
        if len(systems) == 1:
            yield from _of_one(title, list(figures.values()))
            continue
        if not any(_comparable(figures, systems)):
            named = {one.feature for one in differences if one.outside or one.significant}
            rest = [one for one in figures.values() if one.feature not in named]
            yield from _of_none(title, rest, "one system is better")
        elif differences:
            where = ", where both have them" if left_out else ""
            yield from _of_several(title, differences, systems, where)
        else:
            yield UNTESTED.said(what=counted(len(systems), "system"), metric=title)
        yield from _flagged(title, differences)


def _left_out(
    finding: Finding, metric: Cell, title: str, differences: Sequence[_Difference]
) -> Iterator[Statement]:
    """Empty outputs, segments without scores, and features that outputs lack."""
    rows = {row["system"]: row for row in finding.rows if row["metric"] == metric}
    at = {row["system"]: n for n, row in enumerate(finding.rows) if row["metric"] == metric}
    whole = int(finding.facts.get("segments", 0))
    told, places = [], []
    for system, row in rows.items():
        for name, what in (("empty", "outputs empty"), ("unscored", "segments without a score")):
            missing = int(number(row.get(name)) or 0)
            if missing > _MISSING * whole:
                told.append(f"{system} leaves {missing:,} of {whole:,} {what}")
                places.append(at[system])
    if not told:
        some = sorted(
            (one for one in differences if one.hinges),
            key=lambda one: -abs(_absent(one.sides[0]) - _absent(one.sides[1])),
        )
        kinds = list(dict.fromkeys(one.feature for one in some))
        if some:
            less, more = sorted(some[0].sides, key=_absent)
            rest = f", and so on for {counted(len(kinds) - 1, 'more kind')}" * (len(kinds) > 1)
            told.append(
                f"{more.system} has no {gloss(more.feature)} in {_absent(more):.0%} of the segments"
                f" whose reference has some ({less.system} in {_absent(less):.0%}){rest}"
            )
            places += [more.position, less.position]
    if told:
        known = {name: number(row.get("score")) for name, row in rows.items()}
        values = [f"{name} {value:.1f}" for name, value in known.items() if value is not None]
        # of few systems, what the metric says of all segments
        scores = f" ({title} over all segments: {listed(values)})" if len(values) == 2 else ""
        yield LEFT_OUT.said({_MAIN: places}, what=listed(told), scores=scores)


def _absent(one: _Figure) -> float:
    """The share of the segments with the feature in a reference that lack it in the output."""
    return one.absent / one.reach if one.reach else 0.0


def pairs_verdict(finding: Finding) -> Iterator[Statement]:
    """Which pairs there are to be judged, and which rest on figures that cannot be read."""
    rows = list(enumerate(finding.rows))
    sound = [(n, row) for n, row in rows if all(_readable(row, side) for side in ("", "other_"))]
    if sound:
        position, row = sound[0]
        ours, theirs = (
            f"{number(row[name]) or 0.0:.2f}".removeprefix("0") for name in ("muler", "other_muler")
        )
        scores = f"{row['score']:.1f} against {row['other_score']:.1f}"
        yield PAIRS.said(
            {finding.tables[0].name: [position]},
            pairs=counted(len(sound), "pair"),
            system=row["system"],
            other=row["other"],
            feature=gloss(str(row["feature"])),
            muler=f"{ours} against {theirs}",
            metric=titles_of(finding)[str(row["metric"])],
            scores=scores,
        )
    others = [(n, row) for n, row in rows if (n, row) not in sound]
    if others:
        names = listed(list(dict.fromkeys(gloss(str(row["feature"])) for _, row in others)))
        yield UNREADABLE.said({finding.tables[0].name: [n for n, _ in others]}, features=names)


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
            number(row.get("agreed")),
            int(number(row.get("disagree")) or 0),
            int(number(row.get("absent")) or 0),
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
                number(row["p"]),
                number(row["p_bh"]),
                row["significant"] is True,
                int(number(row["words"]) or 0),
                None if row["resamples"] is None else int(number(row["resamples"]) or 0),
                row["carried"] is True,
            )


def _of_one(title: str, figures: Sequence[_Figure]) -> Iterator[Statement]:
    """One system: what it loses most of, and what is not to be read."""
    name = figures[0].system
    sound = sorted((one for one in figures if one.sound), key=lambda one: -(one.muler or 0.0))
    if sound:
        features = [
            f"{gloss(one.feature)}"
            f" {amount(one.muler or 0.0, one.low, one.high, share=True)}"
            f" ({counted(one.segments)})"
            for one in sound[:3]
        ]
        yield LOSES.said(
            {_MAIN: [one.position for one in sound[:3]]},
            system=name,
            metric=title,
            features=listed(features),
            n=counted(len(sound), "kind") + " of words",
        )
    outside = [one for one in figures if one.outside and one.segments >= LEAST]
    if not sound:
        rest = [one for one in figures if one not in outside]
        yield from _of_none(title, rest, f"{name} loses most")
    yield from _outside(title, outside)


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
    reasons = [
        f"{counted(n, 'feature')} {reason}" for reason, n in Counter(why.values()).most_common()
    ]
    if reasons:
        places = {_MAIN: [one.position for one in figures]}
        yield NOTHING.said(places, metric=title, what=what, reasons=listed(reasons))


def _reason(one: _Figure) -> str:
    """Why a figure may not be read."""
    if one.segments < LEAST:
        return f"in fewer than {LEAST} segments"
    if one.muler is None:
        return "on which the metric has nothing to give"
    if one.outside:
        return "with MuLER outside 0 to 1"
    return "with an interval too wide to be useful"


def _of_several(
    title: str, differences: Sequence[_Difference], systems: Sequence[str], where: str
) -> Iterator[Statement]:
    sound = [one for one in differences if one.sound]
    tested = [one for one in sound if one.tested]
    found = [one for one in tested if one.significant]
    found.sort(key=lambda one: -abs(one.difference))
    two = len(systems) * (len(systems) - 1) // 2 <= _IN_FULL
    if two:
        yield from _of_two(title, found, systems)
    elif found:
        yield from _of_many(title, found, tested)
    same = [one for one in sound if not one.tested and one.p is not None]
    if sound and not tested and not same:
        names = listed(list(dict.fromkeys(gloss(one.feature) for one in sound)))
        yield UNTESTED.said({}, what=names, metric=title)
    yield from _undecided(title, differences, found, where, two=two)
    yield from _same(title, same, systems)


def _undecided(
    title: str,
    differences: Sequence[_Difference],
    found: Sequence[_Difference],
    where: str,
    *,
    two: bool,
) -> Iterator[Statement]:
    """How many comparisons are open, and whether the draws could have decided any."""
    family = [one for one in differences if one.tested]
    sound = [one for one in family if one.sound]
    draws = next((one.draws for one in family if one.draws), None)
    floored = [one for one in sound if one.floored]
    rest = len(sound) - len(found)
    kinds = f"{rest:,} kind{'s' * (rest != 1)} of words"
    what = kinds if two else counted(rest, "comparison")
    if not found and floored and draws and len(family) > _ALPHA * (draws + 1) + _ROUNDING:
        yield DRAWS.said(
            _places(floored),
            draws=f"{draws:,}",
            tests=counted(len(family), "comparison"),
            under=title,
            needed=f"{math.ceil(len(family) / _ALPHA - _ROUNDING):,}",
        )
    elif rest:
        yield UNDECIDED.said({}, what=what, metric=title, where=where)


def _same(title: str, same: Sequence[_Difference], systems: Sequence[str]) -> Iterator[Statement]:
    """Features whose words are the same, and what is carried over to them all the same."""
    carried = [one for one in same if one.carried]
    if carried:
        names = list(dict.fromkeys(gloss(one.feature) for one in carried))
        most = max(one.words for one in carried)
        why = "these are the same in both systems in every segment"
        if most:
            why = f"these differ between the systems in at most {counted(most)}"
        yield CARRIED.said(_places(carried), features=listed(names), metric=title, why=why)
    rest = [one for one in same if not one.carried]
    if rest:
        kinds = list(dict.fromkeys(gloss(one.feature) for one in rest))
        most = max(one.words for one in rest)
        yield SAME.said(
            _places(rest),
            systems=listed(systems) if len(systems) == 2 else "pairs of systems",
            what=listed(kinds),
            where=f"in all but at most {counted(most)}" if most else "in every segment",
        )


def _of_two(
    title: str, found: Sequence[_Difference], systems: Sequence[str]
) -> Iterator[Statement]:
    for system in systems:
        own = [one for one in found if one.better.system == system]
        if own:
            yield BETTER.said(
                _places(own),
                system=system,
                other=own[0].worse.system,
                features=listed([one.phrase() for one in own]),
                metric=title,
                p=_corrected(own),
            )


def _corrected(some: Sequence[_Difference]) -> str:
    """The largest corrected p; as an upper limit where the draws can show no smaller one."""
    largest = max(some, key=lambda one: one.corrected or 0.0)
    p = largest.corrected or 0.0
    text = p_value(p, least=p if largest.floored and largest.draws else 0.0)
    return text + " or less" * (len(some) > 1 and "<" not in text)


def _of_many(
    title: str, found: Sequence[_Difference], sound: Sequence[_Difference]
) -> Iterator[Statement]:
    tested = Counter(one.feature for one in sound)
    words = Counter(one.feature for one in found).most_common()  # of like ones the largest first
    features = [f"{gloss(name)} in {n:,} of {tested[name]:,}" for name, n in words[:_NAMED]]
    features[0] += " pairs"
    if rest := len(words) - len(features):
        features.append(counted(rest, "more feature"))
    wins = Counter(one.better.system for one in found)
    top = [name for name, n in wins.items() if n == max(wins.values())]
    are, each = ("are", " each") if len(top) > 1 else ("is", "")
    yield MANY.said(
        _places(found),
        features=listed(features, most=_NAMED + 1),
        metric=title,
        best=f"{listed(top)} {are}",
        wins=f"{wins[top[0]]:,}",
        differences=f"{counted(len(found), 'difference')}{each}",
    )
    first = found[0]
    yield LARGEST.said(
        _places([first]),
        system=first.better.system,
        other=first.worse.system,
        feature=first.phrase(),
        p=_corrected([first]),
    )


def _flagged(title: str, differences: Iterable[_Difference]) -> Iterator[Statement]:
    """What would be a finding if its figures could be read, or if its words differed."""
    differences = list(differences)
    carried = [one for one in differences if one.sound and one.carried and one.tested]
    if carried:
        names = listed(list(dict.fromkeys(gloss(one.feature) for one in carried)))
        why = "it is found where these are the same in both systems, and not where they differ"
        yield CARRIED.said(_places(carried), features=names, metric=title, why=why)
    some = [one for one in differences if not one.sound]
    read = {one.feature for one in differences if one.sound}
    outside = [side for one in some for side in one.sides if side.outside]
    yield from _outside(title, list(dict.fromkeys(outside)))
    rest = [one for one in some if one.significant and not one.outside]
    few = [one for one in rest if any(side.segments < LEAST for side in one.sides)]
    wide = [one for one in rest if one not in few]
    if wide:
        names = listed(list(dict.fromkeys(gloss(one.feature) for one in wide)))
        yield WIDE.said(_places(wide), metric=title, features=names)
    if few:
        names = listed(list(dict.fromkeys(gloss(one.feature) for one in few)))
        some_of = " of some systems" if {one.feature for one in few} & read else ""
        yield FEW.said(_places(few), metric=title, features=names, where=some_of)


def _outside(title: str, figures: Sequence[_Figure]) -> Iterator[Statement]:
    """Figures outside their range, by the cause where it was tested."""
    tagged = [one for one in figures if one.by_tagger]
    rest = [one for one in figures if not one.by_tagger]
    above = [one for one in rest if (one.muler or 0.0) < 0]
    below = [one for one in rest if one not in above]
    by_form = [one for one in tagged if one.feature.startswith(("re:", "lex:"))]
    for some in ([one for one in tagged if one not in by_form], by_form):
        if not some:
            continue
        cause, alike, apart = (
            ("words of both sides have the feature on one side alone", "found alike", "found apart")
            if some is by_form
            else (
                "the tagger disagrees between outputs and references",
                "tagged alike",
                "tagged apart",
            )
        )
        tested = f"inside it where shared words are {alike}"
        if any(one.agreed is None for one in some):
            tested = f"shared words are {apart} in nearly every segment"
        if len({one.agreed is None for one in some}) > 1:
            tested = f"inside it where shared words are {alike}, if there are such segments"
        yield TAGGER.said(_at(some), metric=title, why=cause, features=_kinds(some), tested=tested)
    why = {
        "higher": f"{title} is higher with these words as they are than with masks that match",
        "lower": f"{title} is lower with these words as they are than with masks that differ",
    }
    for some, name in ((above, "higher"), (below, "lower")):
        if some:
            yield OUTSIDE.said(_at(some), metric=title, why=why[name], features=_kinds(some))


def _kinds(figures: Sequence[_Figure]) -> str:
    return listed(list(dict.fromkeys(gloss(one.feature) for one in figures)))


def _at(figures: Sequence[_Figure]) -> dict[str, list[int]]:
    return {_MAIN: [one.position for one in figures]}


def _places(some: Iterable[_Difference]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {_DIFFERENCES: [], _MAIN: []}
    for one in some:
        found[_DIFFERENCES].append(one.position)
        found[_MAIN] += [side.position for side in one.sides]
    return found
