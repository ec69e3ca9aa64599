"""Phrases of verdicts: what a finding says, in plain sentences of one form.

Every kind of sentence that a method can say is an entry of the catalogue (:mod:`gnomon.messages`);
its ``verdict=`` is a function of the finding that makes messages of these::

    def verdict(finding: Finding) -> Iterator[Message]:
        for row in finding.records(RateRow):
            rate = amount(row.rate, row.low, row.high)
            yield message("omissions.rate", finding.positions([row]), system=row.system, rate=rate)

A kind has its evidence: ``tests/truth`` holds a world in which it must appear, and one in which it
must not, and fails for a kind that lacks either.

The effect comes first, its interval stands beside it, then what the test says. Signs are words: "A
is better than B by 1.3", never "A - B". What is flagged (outside its range, of fewer than ``LEAST``
segments, collapsed, circular, truncated) is no evidence: it becomes a caution.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gnomon.core.manifest import imported
from gnomon.messages import Message, joined, message
from gnomon.messages.grammar import amount, counted, listed, p_value, unsigned_amount

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, Finding
    from gnomon.core.scores import Scores
    from gnomon.messages import Message

__all__ = [
    "LEAST",
    "amount",
    "brief",
    "cautious",
    "counted",
    "doubtful_systems",
    "doubts",
    "empty_outputs",
    "further_segments",
    "listed",
    "mentions",
    "metric_title",
    "number",
    "of_scores",
    "p_value",
    "said_of",
    "split_notes",
    "titles_of",
    "unread_metrics",
    "unsigned_amount",
]

#: segments below which a figure is no evidence
LEAST = 30
#: statements of a verdict besides cautions and notes, at most
MOST = 6
#: findings that stay, however much is undecided
_ANSWERS = 2
#: cautions that are read first, at most
_CAUTIONS = 2
#: shares of empty outputs, or of segments without a score, above this are said first
_MISSING = 0.01
#: digits after the point of two scores that are told apart, at most
_FINEST = 6
#: half-widths of intervals, and shares of scores, below this are rounding
_ROUNDING = 1e-12
#: beyond so many times the test set, a number of further segments helps nobody
_ABSURD = 100


#: the levels of messages in the order in which they are read
_ORDER = ("finding", "undecided", "caution", "note")


def brief(statements: Iterable[Message]) -> tuple[Message, ...]:
    """The statements as they are read: what was found, what is undecided, then cautions and notes.

    Six of the first two at most, of which further findings go first. Which systems are doubtful,
    so that nothing is said of them, comes before all.
    """
    first: list[Message] = []
    levels: dict[str, list[Message]] = {level: [] for level in _ORDER}
    for said in statements:
        stops = said.code == "data.doubtful" or said.params.get("stops")
        (first if stops else levels[said.level]).append(said)
    found, undecided, cautions, notes = levels.values()
    found = found[: max(_ANSWERS, MOST - len(undecided))]
    return (*first, *found, *undecided[: MOST - len(found)], *cautions, *notes)


def split_notes(verdict: Sequence[Message]) -> tuple[Sequence[Message], Sequence[Message]]:
    """The statements that are read first, and those to be unfolded: notes and further cautions."""
    cautions = [n for n, said in enumerate(verdict) if said.level == "caution"]
    after = {*cautions[_CAUTIONS:], *(n for n, said in enumerate(verdict) if said.level == "note")}
    shown = [said for n, said in enumerate(verdict) if n not in after]
    return shown, joined(verdict[n] for n in sorted(after))


#: cautions of data that are said before anything else; of doubtful systems nothing else is said
_DATA = (
    *("data.doubtful", "data.unread", "data.no_reference", "data.repeated"),
    *("data.untranslated", "data.damaged", "data.favoured", "data.copied"),
)


def said_of(code: str, notices: Iterable[Message]) -> list[Message]:
    """The messages of a kind among notices, each once."""
    return list(dict.fromkeys(one for one in notices if one.code == code))


def fullest(notices: Iterable[Message]) -> tuple[Message, ...]:
    """Notices, where of cautions of one system's data the one is kept that says most."""
    kept: dict[object, Message] = {}
    for number, one in enumerate(notices):
        key: object = number
        if one.code in ("data.damaged", "data.favoured"):
            told = one.params
            key = (one.code, one.subjects.get("systems"), told.get("what"), told.get("among"))
        before = kept.get(key)
        if before is None or _known(before) < _known(one):
            kept[key] = one
    return tuple(kept.values())


def _known(said: Message) -> int:
    return sum(map(bool, said.params.values()))


def doubts(notices: Iterable[Message]) -> list[Message]:
    """Why nothing can be said of some systems.

    Their outputs are no translations line by line, or many references were made of these.
    """
    told = list(notices)
    favoured = [one for one in said_of("data.favoured", told) if one.params["stops"]]
    return [*said_of("data.doubtful", told), *favoured]


def doubtful_systems(notices: Iterable[Message]) -> tuple[str, ...]:
    """The systems of which nothing can be said, as cautions of data say."""
    return tuple(dict.fromkeys(n for one in doubts(notices) for n in one.subjects["systems"]))


def cautious(
    verdict: Callable[[Finding], Iterable[Message]],
    finding: Finding,
    *,
    judges: bool = False,
) -> tuple[Message, ...]:
    """A verdict that says first what systems and metrics are doubtful, and nothing else of them.

    Args:
        verdict: says what a method found.
        finding: what it found; rows that set a system beside one that its notices call doubtful are
            not read, nor are those of metrics that do not read the texts.
        judges: it is the metrics that are judged, so that their figures say what they are worth.
    """
    names = frozenset(doubtful_systems(finding.notices))
    unread = frozenset() if judges else unread_metrics(finding)
    # among systems by which metrics are judged a reference does no harm
    codes = _DATA[:-1] if judges else _DATA
    first = [one for code in codes for one in said_of(code, finding.notices)]
    statements = _without(verdict, finding, names, unread) if names or unread else verdict(finding)
    silent = bool(unread) and unread >= _metrics(finding)
    kept = [
        said
        for said in statements
        if said.level == "caution" or not (silent or _names_any(said, names))
    ]
    return brief([*first, *kept])


def _names_any(said: Message, names: Iterable[str]) -> bool:
    """Whether a message speaks of one of some names."""
    return any(mentions(one, names) for one in said.words())


def mentions(text: str, names: Iterable[str]) -> bool:
    """Whether a text holds a name, as a word of its own."""
    longest = sorted(names, key=len, reverse=True)
    some = "|".join(map(re.escape, longest))
    return bool(some) and bool(re.search(rf"(?<![\w.-])(?:{some})(?![\w-]|\.\w)", text))


def _metrics(finding: Finding) -> frozenset[str]:
    """The metrics that a finding names."""
    tables = (table for table in finding.tables if any(c.name == "metric" for c in table.columns))
    rows = {str(row["metric"]) for table in tables for row in table.rows if row["metric"]}
    return frozenset(rows) or frozenset(finding.signatures)


def unread_metrics(finding: Finding) -> frozenset[str]:
    """The metrics that do not read the texts, as notices say: of some, or of all without a name."""
    unread = said_of("data.unread", finding.notices)
    some = (one.subjects.get("metrics") or _metrics(finding) for one in unread)
    return frozenset(name for names in some for name in names)


#: columns that name the system that another one is compared with
_PARTNERS = frozenset({"baseline", "leader"})


def _without(
    verdict: Callable[[Finding], Iterable[Message]],
    finding: Finding,
    names: frozenset[str],
    metrics: frozenset[str],
) -> Iterable[Message]:
    """What a verdict says without the rows of some metrics, and of systems in comparisons."""
    places, tables = {}, []
    for table in finding.tables:
        columns = {column.name for column in table.columns}
        read = {"system", *_PARTNERS} & columns if _PARTNERS & columns else set()
        kept = [
            n
            for n, row in enumerate(table.rows)
            if names.isdisjoint(row[c] for c in read) and row.get("metric") not in metrics
        ]
        places[table.name] = kept
        tables.append(replace(table, records=tuple(table.records[n] for n in kept), excerpt=None))
    return (_at(said, places) for said in verdict(replace(finding, tables=tuple(tables))))


def _at(statement: Message, places: Mapping[str, Sequence[int]]) -> Message:
    """A statement of some rows, with the positions that these have among all rows."""
    rows = {name: tuple(places[name][n] for n in some) for name, some in statement.rows.items()}
    return replace(statement, rows=rows)


def number(value: Cell) -> float | None:
    """A cell that holds a finite number; None for all others.

    >>> number(2), number("2"), number(float("nan"))
    (2.0, None, None)
    """
    finite = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if finite else None  # type: ignore[arg-type]  # a number: asked above


def further_segments(segments: int, value: float, low: float, high: float) -> int | None:
    """How many more segments would decide, at least, if the difference stayed as it is.

    Intervals of means of paired differences narrow with the root of the number of segments: about n
    (half-width / difference)^2 of these are needed for the interval to leave 0 out.

    Args:
        segments: how many there are.
        value: the difference.
        low: lower end of its interval.
        high: its upper end.

    Returns:
        A number with two leading digits; None where there is nothing to compute it of, or where it
        would be absurd: more than a hundred times what there is.

    >>> further_segments(1000, 0.5, -0.5, 1.5)
    3000
    """
    half = (high - low) / 2
    if not value or not math.isfinite(value) or not half > abs(value):
        return None
    more = segments * ((half / value) ** 2 - 1)
    if more > _ABSURD * segments:
        return None
    step = 10 ** max(0, math.floor(math.log10(max(more, 1))) - 1)
    return int(step * math.ceil(more / step - 1e-9))


def empty_outputs(
    empty: Mapping[str, int], segments: int, rows: Mapping[str, Sequence[int]] | None = None
) -> list[Message]:
    """A caution of the systems with empty outputs, where these are more than 1 in 100.

    Args:
        empty: how many outputs of each system are empty.
        segments: how many there are.
        rows: those of these systems.
    """
    named = sorted(
        ((n, name) for name, n in empty.items() if n > _MISSING * segments),
        key=lambda one: -one[0],
    )
    each = listed([f"{name} leaves {n:,}" for n, name in named]) if named else ""
    return (
        [message("data.empty", rows, each=each, outputs=counted(segments, "output"))]
        if named
        else []
    )


def metric_title(spec: str, among: Iterable[str] = ()) -> str:
    """A metric's short name for people: the title of its class.

    Args:
        spec: its name in tables.
        among: the names of the metrics beside it in the same finding (``finding.signatures``);
            the options that tell them apart are added.

    >>> metric_title("bleu"), metric_title("chrf(word_order=2)"), metric_title("bmx(chrf, p=-1)")
    ('BLEU', 'chrF++', 'BMX of chrF')
    >>> metric_title("bleu(lowercase=True)", ["bleu", "bleu(lowercase=True)"])
    'BLEU (lowercase=True)'
    """
    title: str = imported("gnomon.metrics.titles:metric_titles")([spec, *among])[spec]
    return title


def titles_of(finding: Finding) -> Mapping[str, str]:
    """The short names of all metrics that the tables of a finding name, by what tables call them.

    Args:
        finding: what a method found.
    """
    tables = (table for table in finding.tables if any(c.name == "metric" for c in table.columns))
    rows = [str(row["metric"]) for table in tables for row in table.rows if row["metric"]]
    named = dict.fromkeys([*finding.signatures, *rows])
    by_spec: dict[str, str] = imported("gnomon.metrics.titles:metric_titles")(named)
    return by_spec


# Scores: nothing was tested, so that there is no more to say than who has the best one.

_FIGURES = "the scores of the systems; nothing was tested"


def of_scores(
    scores: Sequence[Scores], table: str = "scores", *, shell: bool = True
) -> tuple[Message, ...]:
    """What scores say: who has the best, and that no test was made; what a lone system has.

    Args:
        scores: what each metric said; of doubtful systems nothing else is said.
        table: the table whose rows these are, metric by metric.
        shell: whether readers can run a command.
    """
    notices = fullest(notice for metric in scores for notice in metric.notices)
    said = [one for code in _DATA for one in said_of(code, notices)]
    every = [(name, name not in metric.doubtful) for metric in scores for name in metric.systems]
    places = {table: [n for n, (_, sound) in enumerate(every) if sound]}
    sound = [_sound(metric) for metric in scores]
    statements = [_at(said, places) for said in _of_sound(sound, table, shell)]
    empty = {name: n for metric in scores for name, n in metric.empty.items()}
    segments = max((metric.segments.shape[1] for metric in scores), default=0)
    lacking = empty_outputs(empty, segments)
    first = [*said, *lacking]
    cut = said_of("score.cut", notices)
    return brief([*first, *statements, *cut]) if first or statements else ()


def _sound(scores: Scores) -> Scores:
    """The scores of the systems whose outputs are not doubtful."""
    if not scores.doubtful:
        return scores
    kept = [k for k, name in enumerate(scores.systems) if name not in scores.doubtful]
    return replace(
        scores,
        systems=tuple(scores.systems[k] for k in kept),
        system=scores.system[kept],
        segments=scores.segments[kept],
        statistics=None if scores.statistics is None else scores.statistics[kept],
    )


def _of_sound(scores: Sequence[Scores], table: str, shell: bool) -> list[Message]:  # noqa: FBT001  # named by its caller
    """What scores say of systems that are not doubtful."""
    first: list[Message] = []
    statements: list[Message] = []
    start, specs = 0, [of_metric.metric for of_metric in scores]
    for of_metric in scores:
        title = metric_title(of_metric.metric, specs)
        if _is_unread(of_metric):
            pass  # they say nothing of these texts
        elif (unlike := _unlike(of_metric, start, table, title)) is not None:
            first.append(unlike)
        elif (leader := _leader(of_metric, start, table, title)) is not None:
            statements.append(leader)
        start += len(of_metric.systems)
    if not statements and not first:
        return []
    scores = [of_metric for of_metric in scores if not _is_unread(of_metric)]
    tops = [set(_level(s)) for s in scores if _level(s) and not _is_unlike(s)]
    if tops and not set.intersection(*tops):  # of several equal ones one may be that of the others
        statements.append(message("score.disagree"))
    compared = any(_level(of_metric) for of_metric in scores)
    if compared and any(said.level == "undecided" for said in statements):
        remedy = "A comparison of the systems under the same metrics tests it."
        if shell:
            remedy = "`gnomon compare` with the same arguments tests it."
        statements.append(message("score.not_tested", remedy=remedy))
    return [*first, *statements]


def _is_unread(scores: Scores) -> bool:
    """Whether the metric does not read the texts."""
    return bool(said_of("data.unread", scores.notices))


def _ranked(scores: Scores) -> list[int]:
    defined = [k for k, value in enumerate(scores.system.tolist()) if math.isfinite(value)]
    sign = -1 if scores.higher_is_better else 1
    return sorted(defined, key=lambda k: sign * float(scores.system[k]))


def _level(scores: Scores) -> tuple[str, ...]:
    """The systems that nobody is before; none where fewer than two have a score."""
    order = _ranked(scores)
    if len(order) < 2:
        return ()
    best = float(scores.system[order[0]])
    near = (k for k in order if math.isclose(scores.system[k], best, rel_tol=_ROUNDING))
    return tuple(scores.systems[k] for k in sorted(near))


def _scored_segments(scores: Scores) -> NDArray[np.bool_]:
    """Which segments of each system have a score; all where there are scores of systems alone."""
    scored: NDArray[np.bool_] = scores.segments == scores.segments  # NaN is not
    return scored if scored.any() else ~scored


def _counts(scored: NDArray[np.bool_]) -> list[int]:
    """How many segments of each system have a score."""
    counts: list[int] = scored.sum(axis=1).tolist()
    return counts


def _is_unlike(scores: Scores) -> bool:
    """Whether systems have scores on different segments, and more than 1 in 100 is missing."""
    scored = _scored_segments(scores)
    n = scores.segments.shape[1]
    fewest = min(_counts(scored), default=n)
    return n - fewest > _MISSING * n and bool((scored != scored[:1]).any())


def _unlike(scores: Scores, first: int, table: str, title: str) -> Message | None:
    """That systems have scores on different segments, and what they have on common ones."""
    if not _is_unlike(scores):
        return None
    scored = _scored_segments(scores)
    n = scored.shape[1]
    common = [k for k, least in enumerate(scored.min(axis=0)) if least]
    sizes = zip(_counts(scored), scores.systems, strict=True)
    each = listed([f"{name} on {size:,} of {n:,}" for size, name in sorted(sizes)])
    text = ""
    if common:
        if scores.statistics is not None and scores.aggregate is not None:
            values = scores.aggregate(scores.statistics[:, common].sum(axis=1)).tolist()
        else:
            values = scores.segments[:, common].mean(axis=1).tolist()
        sign = -1 if scores.higher_is_better else 1
        order = sorted(range(len(values)), key=lambda k: sign * values[k])
        figures = [f"{scores.systems[k]} has {_scores([values[k]] * 2)[0]}" for k in order]
        text = f"; on the {counted(len(common))} that all have, {listed(figures)}"
    rows = {table: [first + k for k in range(len(scores.systems))]}
    return message("score.missing", rows, title=title, each=each, common=text)


def _of_segments(scores: Scores) -> str:
    """Of how many segments the scores are."""
    counts, n = _counts(_scored_segments(scores)), scores.segments.shape[1]
    least, most = min(counts, default=n), max(counts, default=n)
    if least == most == n:
        return counted(n)
    return f"{f'{least:,}' if least == most else f'{least:,} to {most:,}'} of {counted(n)}"


def _leader(scores: Scores, first: int, table: str, title: str) -> Message | None:
    order, level = _ranked(scores), _level(scores)
    alone = len(order) == len(scores.systems) == 1
    if not level and not alone:
        return None
    values = [float(scores.system[k]) for k in order]
    best, second = _scores(values * 2 if alone else values)
    segments = _of_segments(scores)
    if alone and not scores.higher_is_better:
        segments += "; lower is better"
    parts: dict[str, Any] = {"title": title, "score": best, "segments": segments}
    rows = {table: [first + k for k in order[: max(2, len(level))]]}
    if alone:
        parts["found"], parts["system"] = "alone", scores.systems[order[0]]
    elif len(level) > 1:
        parts["found"], parts["systems"] = "equal", listed(level)
    else:
        parts["found"], parts["system"] = "highest", level[0]
        parts["second"] = f"{scores.systems[order[1]]} {second}"
        parts["highest"] = "highest" if scores.higher_is_better else "lowest and thus best"
    said_so = message("score.first", rows, **parts)
    if max(_counts(_scored_segments(scores))) < LEAST:
        return message("score.few", rows, figures=said_so)
    return said_so


def _scores(values: Sequence[float]) -> tuple[str, str]:
    """The first two of some scores, with digits that tell them apart."""
    first, second = values[:2]
    digits = 3 if max(map(abs, values)) <= 1 else 1
    apart = not math.isclose(first, second, rel_tol=_ROUNDING)
    while apart and f"{first:.{digits}f}" == f"{second:.{digits}f}" and digits < _FINEST:
        digits += 1
    return f"{first:z.{digits}f}", f"{second:z.{digits}f}"
