"""What difficulty says, in sentences: who rises, whether people agree, which words are hard."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gnomon import stats
from gnomon.agreement.gains import AgreementGainRow
from gnomon.agreement.judging import ALL
from gnomon.core.errors import SpecError
from gnomon.core.verdicts import (
    LEAST,
    Claim,
    amount,
    counted,
    listed,
    metric_title,
    p_value,
    titles_of,
)
from gnomon.methods.difficulty.pools import EMPTY
from gnomon.methods.difficulty.score_rows import WeightedRow
from gnomon.methods.difficulty.word_rows import WordRow, WordsOfSystemRow
from gnomon.metrics.spec import read_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gnomon.agreement.tables import AgreementRow
    from gnomon.core.findings import Cell, Finding, Statement

_ALPHA = 0.05
#: correlations over so many systems or fewer say little
_FEW_SYSTEMS = 4
_CIRCULAR = "CIRCULAR"
_FIRST = "pearson"
#: systems that move by fewer places are not named
_NAMED = 3
#: names of metrics that know nothing of quality
_CONTROLS = ("length", "random")

_AGREES = Claim(
    "difficulty.score.agrees",
    "{metric} agrees {more} with people ({kind}) where hard words count more, by {facts}",
    None,
    "the interval of the difference of Pearson's r over segments, and the larger p of that"
    " bootstrap and of Williams's test over systems, Holm's over metrics and kinds of human scores",
)
_AGREES_ALIKE = Claim(
    "difficulty.score.agrees_alike",
    "The data cannot tell whether {metric} agrees {more} with people ({kind}) where hard words"
    " count more, by {facts}",
    "undecided",
    "the interval holds 0, or one of both tests shows no difference, or no interval was made",
)
_RANKS = Claim(
    "difficulty.score.ranks",
    "{tops}; {moves}{of}. Changes of place were not tested",
    "undecided",
    "ranks of the systems with and without weights; nothing is tested",
)
_FEW_JUDGED = Claim(
    "difficulty.score.few_systems",
    "people judged {systems}; agreement with people over so few says little",
    "caution",
    "the number of judged systems, four at most",
)
_FEW_SEGMENTS = Claim(
    "difficulty.score.few_segments",
    "{segments} say little of how hard words are elsewhere",
    "caution",
    "the number of segments, below 30",
)
_CHOSE_POOL = Claim(
    "difficulty.circular",
    "the human scores that judge also chose the systems whose misses say which words are hard;"
    " agreement with them proves nothing",
    "caution",
    "a kind of human scores that chose the pool judges (--allow-circular)",
)
_EMPTY_OUTPUTS = Claim(
    "difficulty.empty",
    "{left_out}",
    "caution",
    "more than 1 in 100 outputs of a system of the pool are empty",
)
SCORE_CLAIMS = (
    *(_AGREES, _AGREES_ALIKE, _RANKS),
    *(_FEW_JUDGED, _FEW_SEGMENTS, _CHOSE_POOL, _EMPTY_OUTPUTS),
)

_HARDEST = Claim(
    "difficulty.words.hardest",
    "Of {words}, systems miss these most under {metric}: {hardest} (difficulty: 0 where all systems"
    " have the word, 1 where none has). Nothing was tested",
    "undecided",
    "the highest difficulties among the words that are listed; nothing is tested",
    quotes=True,
)
_NONE_HARD = Claim(
    "difficulty.words.none_hard",
    "All systems have all of {words} under {metric}: none is hard",
    "undecided",
    "no word has a difficulty above 0",
)
_PUNCTUATION = Claim(
    "difficulty.words.punctuation",
    "punctuation is among the hardest ({signs}): systems may just write it otherwise",
    "caution",
    "one of the three hardest has neither letter nor digit",
    quotes=True,
)
_NEAREST = Claim(
    "difficulty.words.nearest",
    "On the hardest tenth of the words ({words}) {nearest}. Nothing was tested",
    "undecided",
    "the mean similarity of each system to these words; nothing is tested",
)
_FEW_WORDS = Claim(
    "difficulty.words.few_words",
    "the hardest tenth of the words are {words}, too few to tell systems apart",
    "caution",
    "the number of these words, below 30",
)
_NONE_HAS = Claim(
    "difficulty.words.none_has",
    "No system has any of the hardest tenth of the words ({words}) as the references have them, so"
    " that these do not separate systems",
    "undecided",
    "all similarities to these words are 0",
)
WORDS_CLAIMS = (
    *(_HARDEST, _NONE_HARD, _PUNCTUATION, _NEAREST, _FEW_WORDS, _NONE_HAS),
    *(_CHOSE_POOL, _EMPTY_OUTPUTS),
)


def score_verdict(finding: Finding) -> Iterator[Statement]:
    """Who is on top where hard words count more, who rises, and whether people agree better."""
    segments = _segments(finding)
    yield from _empty(finding)
    if any(table.name == "gains" for table in finding.tables):
        yield from _gains(finding)
    yield from _moves(finding, segments)
    yield from _circular(finding)
    if segments is not None and segments < LEAST:
        yield _FEW_SEGMENTS.said(segments=counted(segments))


def words_verdict(finding: Finding) -> Iterator[Statement]:
    """Which words are hardest, and which systems have them right."""
    yield from _empty(finding)
    words = finding.records(WordRow)
    for metric in dict.fromkeys(row.metric for row in words):
        yield from _hardest(finding, [row for row in words if row.metric == metric])
        yield from _right(finding, metric)
    yield from _circular(finding)


def _segments(finding: Finding) -> int | None:
    """How many segments there are, as far as tables say."""
    judged = any(table.name == "agreement" for table in finding.tables)
    return int(finding.facts["segments"]) if judged else None


def _moves(finding: Finding, segments: int | None) -> Iterator[Statement]:
    """Who is on top under each metric, and who rises or falls; nothing was tested."""
    every = finding.records(WeightedRow)
    metrics = list(dict.fromkeys(row.metric for row in every))
    for metric in metrics:
        rows = [row for row in every if row.metric == metric and row.rank is not None]
        if len(rows) < 2:
            continue
        alone = len(metrics) == 1
        title = metric_title(_weighed(metric)) if alone else _base(metric, finding)
        ours, theirs = _tops(rows)
        moves = [(row, row.moved) for row in rows if row.moved]
        verb = "has" if len(ours) == 1 else "have"
        tops = f"{listed(ours)} {verb} the highest {title} with and without weights for hard words"
        if set(ours) != set(theirs):
            tops = (
                f"{listed(ours)} {verb} the highest {title} where hard words count more,"
                f" {listed(theirs)} without weights"
            )
        up = sorted((move for move in moves if move[1] > 0), key=lambda move: -move[1])
        down = sorted((move for move in moves if move[1] < 0), key=lambda move: move[1])
        phrases = [
            f"{listed([_places(row, by) for row, by in some], most=_NAMED)} {verb}"
            for some, verb in (
                (up, "rise" if len(up) > 1 else "rises"),
                (down, "fall" if len(down) > 1 else "falls"),
            )
            if some
        ]
        yield _RANKS.said(
            finding.positions(rows),
            tops=tops,
            moves=" and ".join(phrases) or "no system changes its place",
            of="" if segments is None else f" ({counted(segments)})",
        )


def _tops(rows: Sequence[WeightedRow]) -> tuple[list[str], list[str]]:
    """Who is on top with weights, and who without."""
    weighted = [row.system for row in rows if row.rank == 1]
    return weighted, [row.system for row in rows if row.base_rank == 1]


def moves_headline(rows: Sequence[WeightedRow], specs: Iterable[str]) -> str:
    """Who is highest under one metric, and how many change their place: a picture's title.

    Specs are those of all metrics, from which this one is to be told apart.
    """
    ours, theirs = _tops(rows)
    title = metric_title(_inner(rows[0].metric), [_inner(spec) for spec in specs])
    if set(ours) == set(theirs):
        text = f"{title}: {listed(ours)} highest with and without weights for hard words"
    else:
        text = (
            f"{title}: {listed(ours)} highest where hard words count more, {listed(theirs)} without"
            " weights"
        )
    moved = sum(bool(row.moved) for row in rows)
    return f"{text}; {moved or 'none'} of {counted(len(rows), 'system')} changed place"


def agreement_headline(rows: Sequence[AgreementRow]) -> str:
    """Which metric has the highest agreement, as the title of a picture; empty for few systems."""
    values = {
        row.metric: (row.value, row)
        for row in rows
        if row.statistic == _FIRST and row.value is not None and row.metric not in _CONTROLS
    }
    if len(values) < 2 or any(row.n <= _FEW_SYSTEMS for _, row in values.values()):
        return ""
    value, best = max(values.values(), key=lambda pair: pair[0])
    return (
        f"{best.metric} has the highest agreement with people ({best.human}) of {len(values)}"
        f" metrics, r = {amount(value, share=True)} over {counted(best.n, 'system')}"
    )


def _places(row: WeightedRow, by: int) -> str:
    return f"{row.system} (by {counted(abs(by), 'place')})"


def _gains(finding: Finding) -> Iterator[Statement]:
    """Whether weights make a metric agree better with people, over all systems.

    P-values are Holm's, over metrics and kinds of human scores.
    """
    rows = [
        row
        for row in finding.records(AgreementGainRow, "gains")
        if row.statistic == _FIRST and row.subset == ALL
    ]
    few = [row for row in rows if row.n <= _FEW_SYSTEMS]
    sound = [row for row in rows if row not in few]
    p = stats.holm([_larger_p(row) for row in sound])
    if not any(notice.startswith(_CIRCULAR) for notice in finding.notices):
        for row, corrected in zip(sound, p, strict=True):
            yield from _gain(finding, row, float(corrected), several=len(sound) > 1)
    if few:
        yield _FEW_JUDGED.said(finding.positions(few), systems=counted(few[0].n, "system"))


def _larger_p(row: AgreementGainRow) -> float:
    """Of the bootstrap over segments and of Williams's test over systems; NaN without either."""
    return math.nan if row.p is None or row.p_segments is None else max(row.p, row.p_segments)


def _gain(
    finding: Finding, row: AgreementGainRow, p: float, *, several: bool
) -> Iterator[Statement]:
    if row.gain is None:
        return
    untested = row.ends("gain")[0] is None
    tested = "; resamples make a test" if untested else "; no test was possible"
    if not math.isnan(p):
        tested = f", {'corrected ' if several else ''}{p_value(p)}"
    parts: dict[str, Any] = {
        "metric": _base(row.metric, finding),
        "more": row.direction,
        "kind": row.human,
        "facts": f"{row.size} ({row.sides}{tested})",
    }
    if row.excludes_zero and p <= _ALPHA:
        yield _AGREES.said(finding.positions([row]), level=row.direction, **parts)
    else:
        yield _AGREES_ALIKE.said(finding.positions([row]), **parts)


def _base(spec: Cell, finding: Finding) -> str:
    """The short name of the metric that difficulty weighs, distinct within the finding."""
    every = {name: _inner(name) for name in (str(spec), *titles_of(finding))}
    return metric_title(every[str(spec)], every.values())


def _inner(text: str) -> str:
    """What difficulty weighs; the whole spec where it has options of its own."""
    try:
        spec = read_spec(text)
    except SpecError:  # the name of a curve goes on after its metric
        return text
    plain = spec.name == "difficulty" and spec.first is not None and not spec.arguments
    return str(spec.first) if plain else text


def _weighed(text: str) -> str:
    """What difficulty weighs, whatever its options."""
    spec = read_spec(text)
    return str(spec.first) if spec.name == "difficulty" and spec.first is not None else text


def _circular(finding: Finding) -> Iterator[Statement]:
    if any(notice.startswith(_CIRCULAR) for notice in finding.notices):
        yield _CHOSE_POOL.said()


def _empty(finding: Finding) -> Iterator[Statement]:
    for notice in dict.fromkeys(finding.notices):
        if EMPTY in notice:
            yield _EMPTY_OUTPUTS.said(left_out=notice)


# Words


def _hardest(finding: Finding, rows: Sequence[WordRow]) -> Iterator[Statement]:
    """The hardest words of one metric."""
    rows = sorted(rows, key=lambda row: -row.difficulty)
    several = any(column.name == "metric" for column in finding.tables[0].columns)
    alone = finding.facts.get("base metric") or finding.facts.get("metric") or "the metric"
    title = _base(rows[0].metric if several else alone, finding)
    hard = [row for row in rows if row.difficulty > 0]
    if not hard:
        words = counted(len(rows), "word")
        yield _NONE_HARD.said(finding.positions(rows), words=words, metric=title)
        return
    letters = [row for row in rows if any(map(str.isalnum, row.word))]
    shown = [row for row in letters if row.difficulty > 0][:3] or hard[:3]
    phrases = [
        f"“{row.word}” ({amount(row.difficulty, share=True)}, {counted(row.count, 'time')})"
        for row in shown
    ]
    yield _HARDEST.said(
        finding.positions(shown),
        words=counted(len(letters) or len(rows), "word"),
        metric=title,
        hardest=listed(phrases),
    )
    signs = [row for row in hard[:3] if row not in letters]
    if signs and shown[0] in letters:
        names = listed([row.word for row in signs])
        yield _PUNCTUATION.said(finding.positions(signs), signs=names)


def _right(finding: Finding, metric: str) -> Iterator[Statement]:
    """Which system has the hard words best, and whether it has the others best, too."""
    rows = [
        row
        for row in finding.records(WordsOfSystemRow)
        if row.metric == metric and row.rank is not None
    ]
    if len(rows) < 2:
        return
    first, second = sorted(rows, key=lambda row: row.rank or 0)[:2]
    evidence = finding.positions([first, second])
    words = counted(first.hard_words, "word")
    if all(row.hard == 0 for row in rows):
        yield _NONE_HAS.said(evidence, words=words)
        return
    if first.hard_words < LEAST:
        yield _FEW_WORDS.said(evidence, words=words)
        return
    if all(row.other is None for row in rows):
        return  # no tenth is harder than the others
    values = [amount(row.hard or 0.0, share=True) for row in (first, second)]
    if values[0] == values[1]:
        who = f"{first.system} and {second.system} are equally near to the references"
        yield _NEAREST.said(evidence, words=words, nearest=f"{who} ({values[0]})")
        return
    best = [row.system for row in rows if row.other_rank == 1]
    also = f", on the others {listed(best)}" if best else ""
    if first.system in best:
        also = ", on the other words too"
    nearest = (
        f"{first.system} is nearest to the references ({values[0]}, {second.system}"
        f" {values[1]}){also}"
    )
    yield _NEAREST.said(evidence, words=words, nearest=nearest)


def words_headline(rows: Sequence[WordsOfSystemRow], title: str) -> str:
    """Which words are hardest, or that hard words do not separate systems: a picture's title."""
    defined = [row for row in rows if row.hard is not None]
    on_hard = [row.system for row in defined if row.rank == 1]
    on_others = [row.system for row in defined if row.other_rank == 1]
    if len(defined) < 2 or not on_hard:
        return ""
    nearest = f"{title}: {listed(on_hard)} {'is' if len(on_hard) == 1 else 'are'} nearest"
    if not on_others:  # all words are among the hardest
        return f"{nearest} on hard words"
    if set(on_hard) == set(on_others):
        return f"{nearest} on hard words and on others"
    return f"{nearest} on hard words, {listed(on_others)} on others"
