"""What difficulty says, in sentences: who rises, whether people agree, which words are hard."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gnomon import stats
from gnomon.errors import SpecError
from gnomon.metrics.spec import read_spec
from gnomon.verdicts import (
    LEAST,
    amount,
    are_on_top,
    counted,
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

_ALPHA = 0.05
#: correlations over so many systems or fewer say next to nothing
_FEW_SYSTEMS = 4
_CIRCULAR = "CIRCULAR"
_FIRST = "Pearson's r"
#: systems that move by fewer places are not named
_NAMED = 3


def score_verdict(finding: Finding) -> Iterator[Statement]:
    """Who is on top where hard words count more, who rises, and whether people agree better.

    Args:
        finding: what the weighted scores are.
    """
    names = [table.name for table in finding.tables]
    segments = _segments(finding)
    told = list(_moves(finding, segments))
    if "gains" in names:
        told = [*_gains(finding), *told]
    yield from told
    yield from _circular(finding)
    if segments is not None and segments < LEAST:
        text = f"{counted(segments)} say little of how hard words are elsewhere"
        yield said("caution", text)


def words_verdict(finding: Finding) -> Iterator[Statement]:
    """Which words are hardest, and which systems have them right.

    Args:
        finding: hard words.
    """
    metrics = list(dict.fromkeys(row.get("metric") for row in finding.rows))
    for metric in metrics:
        yield from _hardest(finding, metric)
        yield from _right(finding, metric)
    yield from _circular(finding)


def _segments(finding: Finding) -> int | None:
    """How many segments there are, as far as tables say."""
    for table in finding.tables:
        if table.name == "agreement" and table.rows:
            return int(number(table.rows[0]["segments"]) or 0)
    return None


def _moves(finding: Finding, segments: int | None) -> Iterator[Statement]:
    """Who is on top under each metric, and who rises or falls; nothing was tested."""
    for metric in dict.fromkeys(row.get("metric") for row in finding.rows):
        rows = [
            (position, row)
            for position, row in enumerate(finding.rows)
            if row.get("metric") == metric and row["rank"] is not None
        ]
        if len(rows) < 2:
            continue
        title = _base(metric, finding)
        tops = _tops([row for _, row in rows])
        moved = [(at, row, int(number(row["moved"]) or 0)) for at, row in rows if row["moved"]]
        if set(tops[0]) == set(tops[1]):
            text = f"with and without weights {are_on_top(tops[0])}"
        else:
            ours, theirs = are_on_top(tops[0]), listed(tops[1])
            text = f"where hard words count more, {ours}, without weights {theirs}"
        if moved:
            up = sorted((one for one in moved if one[2] > 0), key=lambda one: -one[2])
            down = sorted((one for one in moved if one[2] < 0), key=lambda one: one[2])
            parts = [
                f"{listed([_places(row, by) for _, row, by in some], most=_NAMED)} {verb}"
                for some, verb in (
                    (up, "rise" if len(up) > 1 else "rises"),
                    (down, "fall" if len(down) > 1 else "falls"),
                )
                if some
            ]
            text += f"; {' and '.join(parts)}"
        else:
            text += "; no system changes its place"
        of = "" if segments is None else f", {counted(segments)}"
        text += f" ({title}{of}). Changes of place were not tested"
        yield said("undecided", text, {finding.tables[0].name: [at for at, _ in rows]})


def _tops(rows: Sequence[Mapping[str, Cell]]) -> list[list[str]]:
    """Who is on top with weights, and who without."""
    ways = ("rank", "base_rank")
    return [[str(row["system"]) for row in rows if row[way] == 1] for way in ways]


def moves_headline(rows: Sequence[Mapping[str, Cell]], among: Iterable[Cell]) -> str:
    """Who is on top under one metric, and how many change their place, as the title of a picture.

    Args:
        rows: the systems that have a rank.
        among: the names of all metrics of the table.
    """
    ours, theirs = _tops(rows)
    title = metric_title(_inner(str(rows[0]["metric"])), [_inner(str(one)) for one in among])
    if set(ours) == set(theirs):
        text = f"{title}: with and without weights {are_on_top(ours)}"
    else:
        text = (
            f"{title}: {are_on_top(ours)} where hard words count more, {listed(theirs)} without"
            " weights"
        )
    moved = sum(bool(row["moved"]) for row in rows)
    return f"{text}; {moved or 'none'} of {counted(len(rows), 'system')} changed place"


def agreement_headline(rows: Sequence[Mapping[str, Cell]]) -> str:
    """Which metric people agree with best, as the title of a picture; empty where none is told.

    Args:
        rows: agreement over all systems with one kind of human scores.
    """
    known = [row for row in rows if number(row["pearson"]) is not None]
    metrics = len({row["metric"] for row in known})
    if metrics < 2 or any((number(row["systems"]) or 0) <= _FEW_SYSTEMS for row in known):
        return ""
    best = max(known, key=lambda row: number(row["pearson"]) or 0.0)
    size = amount(number(best["pearson"]) or 0.0, share=True)
    return (
        f"{best['metric']} agrees best with people ({best['human']}) of {metrics} metrics, r ="
        f" {size} over {counted(int(number(best['systems']) or 0), 'system')}"
    )


def _places(row: Mapping[str, Cell], by: int) -> str:
    return f"{row['system']} (by {counted(abs(by), 'place')})"


def _gains(finding: Finding) -> Iterator[Statement]:
    """Whether weights make a metric agree better with people, over all systems.

    P-values are Holm's, over metrics and kinds of human scores.
    """
    rows = [
        (at, row)
        for at, row in enumerate(finding.table("gains").rows)
        if row["statistic"] == _FIRST and str(row["subset"]).startswith("all ")
    ]
    few = [(at, row) for at, row in rows if (number(row["systems"]) or 0) <= _FEW_SYSTEMS]
    sound = [one for one in rows if one not in few]
    p = [number(row["p"]) for _, row in sound]
    corrected = stats.holm([math.nan if one is None else one for one in p])
    told = [
        _gain(finding, one, float(q), several=len(sound) > 1)
        for one, q in zip(sound, corrected, strict=True)
    ]
    circular = any(one.startswith(_CIRCULAR) for one in finding.notices)
    yield from (one for one in told if one is not None and not circular)
    if few:
        text = (
            f"people judged {counted(int(number(few[0][1]['systems']) or 0), 'system')}; agreement"
            " with people over so few says next to nothing"
        )
        yield said("caution", text, {"gains": [at for at, _ in few]})


def _gain(
    finding: Finding, one: tuple[int, Mapping[str, Cell]], p: float, *, several: bool
) -> Statement | None:
    position, row = one
    difference, base, weighted = (number(row[name]) for name in ("difference", "base", "weighted"))
    if difference is None or base is None or weighted is None:
        return None
    low, high = (number(row.get(f"difference_{end}")) for end in ("low", "high"))
    ends = None if low is None or high is None else (low, high)
    title = _base(row.get("metric") or finding.rows[0]["metric"], finding)
    people = f"people ({row['kind']})"
    size = amount(abs(difference), *_turned(difference, low, high), share=True)
    tested = "" if math.isnan(p) else f", {'corrected ' if several else ''}{p_value(p)}"
    facts = (
        f"by {size} (r = {amount(weighted, share=True)} against {amount(base, share=True)} over"
        f" {counted(int(number(row['systems']) or 0), 'system')}{tested})"
    )
    more = "better" if difference > 0 else "worse"
    rows = {"gains": [position]}
    where = "where hard words count more"
    if ends is not None and (ends[0] > 0 or ends[1] < 0) and p <= _ALPHA:
        text = f"{title} agrees {more} with {people} {where}, {facts}"
        return said("better" if difference > 0 else "worse", text, rows)
    text = f"whether {title} agrees {more} with {people} {where}, {facts}"
    beside = "" if ends is not None else "; resamples make an interval"
    return said("undecided", text + beside, rows)


def _base(spec: Cell, finding: Finding) -> str:
    """The name of the metric that difficulty weighs, as it is told from others of the finding."""
    every = {one: _inner(one) for one in (str(spec), *titles_of(finding))}
    return metric_title(every[str(spec)], every.values())


def _inner(text: str) -> str:
    """What difficulty weighs; the whole spec where it has options of its own."""
    try:
        spec = read_spec(text)
    except SpecError:  # the name of a curve goes on after its metric
        return text
    plain = spec.name == "difficulty" and spec.first is not None and not spec.arguments
    return str(spec.first) if plain else text


def _turned(
    value: float, low: float | None, high: float | None
) -> tuple[float | None, float | None]:
    """The ends of the interval of a figure that is said without its sign."""
    if value >= 0 or low is None or high is None:
        return low, high
    return -high, -low


def _circular(finding: Finding) -> Iterator[Statement]:
    if any(one.startswith(_CIRCULAR) for one in finding.notices):
        text = "the human scores that judge chose the pool that says which words are hard"
        yield said("caution", f"{text}; agreement with them proves nothing")


# Words


def _hardest(finding: Finding, metric: Cell) -> Iterator[Statement]:
    rows = [(at, row) for at, row in enumerate(finding.rows) if row.get("metric") == metric]
    rows = sorted(rows, key=lambda one: -(number(one[1]["difficulty"]) or 0.0))
    if not rows:
        return
    title = _base(metric or _looked_at(finding), finding)
    name = finding.tables[0].name
    hard = [one for one in rows if (number(one[1]["difficulty"]) or 0.0) > 0]
    if not hard:
        text = f"all systems have all of {counted(len(rows), 'word')} under {title}: none is hard"
        yield said("undecided", text, {name: [at for at, _ in rows]})
        return
    letters = [one for one in rows if any(map(str.isalnum, str(one[1]["word"])))]
    shown = [one for one in letters if one in hard][:3] or hard[:3]
    told = [
        f"“{row['word']}” ({amount(number(row['difficulty']) or 0.0, share=True)},"
        f" {counted(int(number(row['count']) or 0), 'time')})"
        for _, row in shown
    ]
    n = counted(len(letters) or len(rows), "word")
    text = (
        f"The words that systems miss most under {title}, of {n}:"
        f" {listed(told)} (difficulty: 0 where all systems have the word, 1 where none has)"
    )
    yield said("worse", text, {finding.tables[0].name: [at for at, _ in shown]})
    signs = [one for one in hard[:3] if one not in letters]
    if signs and shown[0] in letters:
        names = listed([str(row["word"]) for _, row in signs])
        text = f"punctuation is among the hardest ({names}): systems may just write it otherwise"
        yield said("caution", text, {finding.tables[0].name: [at for at, _ in signs]})


def _right(finding: Finding, metric: Cell) -> Iterator[Statement]:
    """Which system has the hard words best, and whether it has the others best, too."""
    if all(table.name != "systems" for table in finding.tables):
        return
    rows = [
        (at, row)
        for at, row in enumerate(finding.table("systems").rows)
        if row.get("metric") == metric and number(row["rank"]) is not None
    ]
    if len(rows) < 2:
        return
    order = sorted(rows, key=lambda one: number(one[1]["rank"]) or 0.0)
    first, second = order[0][1], order[1][1]
    n = int(number(first["hard_words"]) or 0)
    values = [amount(number(one["hard"]) or 0.0, share=True) for one in (first, second)]
    best = [str(row["system"]) for _, row in rows if number(row["other_rank"]) == 1]
    also = f", on the others {listed(best)}" if best else ""
    if first["system"] in best:
        also = ", on the other words too"
    text = (
        f"on the hardest tenth of the words ({counted(n, 'word')}) {first['system']} is nearest to"
        f" the references ({values[0]}, before {second['system']} with {values[1]}){also}; no test"
        " was made"
    )
    if all(number(row["hard"]) == 0 for _, row in rows):
        text = (
            f"no system has any of the hardest tenth of the words ({counted(n, 'word')}) as the"
            " references have them, so that these tell no system from another"
        )
    elif values[0] == values[1]:
        text = (
            f"on the hardest tenth of the words ({counted(n, 'word')}) {first['system']} and"
            f" {second['system']} are equally near to the references ({values[0]}); no test was"
            " made"
        )
    level: Level = "undecided" if n >= LEAST else "caution"
    yield said(level, text, {"systems": [order[0][0], order[1][0]]})


def words_headline(rows: Sequence[Mapping[str, Cell]], title: str) -> str:
    """Which words are hardest, or that hard words tell no systems apart, as a picture's title.

    Args:
        rows: systems and how near they are to the hardest words and to the others.
        title: the metric.
    """
    known = [row for row in rows if number(row["hard"]) is not None]
    tops = [[str(r["system"]) for r in known if r[way] == 1] for way in ("rank", "other_rank")]
    if len(known) < 2 or not tops[0]:
        return ""
    nearest = f"{title}: {listed(tops[0])} {'is' if len(tops[0]) == 1 else 'are'} nearest"
    if not tops[1]:  # all words are among the hardest
        return f"{nearest} on hard words"
    if set(tops[0]) == set(tops[1]):
        return f"{nearest} on hard words and on others"
    return f"{nearest} on hard words, {listed(tops[1])} on others"


def _looked_at(finding: Finding) -> str:
    return finding.facts.get("base metric") or finding.facts.get("metric") or "the metric"
