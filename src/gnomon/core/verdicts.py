"""Phrases of summaries that methods share.

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
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gnomon.core.data_cautions import SAID_FIRST, fullest, select_messages
from gnomon.core.manifest import imported
from gnomon.core.reading_order import brief, map_positions
from gnomon.messages import Message, message
from gnomon.messages.grammar import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, Finding
    from gnomon.core.scores import Scores
    from gnomon.messages import Message

__all__ = [
    "LEAST",
    "empty_outputs",
    "further_segments",
    "metric_title",
    "number",
    "summarise_scores",
    "titles_of",
]

#: segments below which a figure is no evidence
LEAST = 30
#: shares of empty outputs, or of segments without a score, above this are said first
_MISSING = 0.01
#: digits after the point of two scores that are told apart, at most
_FINEST = 6
#: half-widths of intervals, and shares of scores, below this are rounding
_ROUNDING = 1e-12
#: beyond so many times the test set, a number of further segments helps nobody
_ABSURD = 100


def number(value: Cell) -> float | None:
    """A cell that holds a finite number; None for all others.

    >>> number(2), number("2"), number(float("nan"))
    (2.0, None, None)
    """
    finite = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if finite else None  # type: ignore[arg-type]  # a number: asked above


def further_segments(segments: int, value: float, low: float, high: float) -> int | None:
    """Least number of further segments that would decide, if the difference stayed as it is.

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


def summarise_scores(
    scores: Sequence[Scores], table: str = "scores", *, shell: bool = True
) -> tuple[Message, ...]:
    """Say who has the best score, and that no test was made; of a lone system, its score.

    Args:
        scores: what each metric said; of doubtful systems nothing else is said.
        table: the table whose rows these are, metric by metric.
        shell: whether readers can run a command.
    """
    notices = fullest(notice for metric in scores for notice in metric.notices)
    said = [one for code in SAID_FIRST for one in select_messages(code, notices)]
    every = [(name, name not in metric.doubtful) for metric in scores for name in metric.systems]
    places = {table: [n for n, (_, sound) in enumerate(every) if sound]}
    sound = [_sound(metric) for metric in scores]
    statements = [map_positions(said, places) for said in _say_sound_systems(sound, table, shell)]
    empty = {name: n for metric in scores for name, n in metric.empty.items()}
    segments = max((metric.segments.shape[1] for metric in scores), default=0)
    lacking = empty_outputs(empty, segments)
    first = [*said, *lacking]
    cut = select_messages("score.cut", notices)
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


def _say_sound_systems(scores: Sequence[Scores], table: str, shell: bool) -> list[Message]:  # noqa: FBT001  # named by its caller
    """Say scores of systems that are not doubtful."""
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
    """True if the metric does not read the texts."""
    return bool(select_messages("data.unread", scores.notices))


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
    """Number of segments with a score, of each system."""
    counts: list[int] = scored.sum(axis=1).tolist()
    return counts


def _is_unlike(scores: Scores) -> bool:
    """True if systems have scores on different segments, and more than 1 in 100 is missing."""
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


def _count_segments(scores: Scores) -> str:
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
    segments = _count_segments(scores)
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
