"""Sentences on difficulty: gains in rank, agreement with people, hard words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.data_cautions import select_messages
from gnomon.core.errors import SpecError
from gnomon.core.rank_changes import rank_changes, ranked_by_metric
from gnomon.core.scripts import unit_of_words
from gnomon.core.verdicts import LEAST, metric_title, titles_of
from gnomon.difficulty.score_rows import WeightedRow
from gnomon.difficulty.word_rows import WordRow, WordsOfSystemRow
from gnomon.messages import message
from gnomon.messages.grammar import amount
from gnomon.metrics.spec import read_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Cell, Finding
    from gnomon.messages import Message

__all__ = ["score_verdict", "words_verdict"]


def score_verdict(finding: Finding) -> Iterator[Message]:
    """Who is first where hard words count more, and who rises; nothing was tested."""
    yield from _empty(finding)
    every = finding.records(WeightedRow)
    metrics = {row.metric for row in every}
    for rows in ranked_by_metric(every):
        metric = rows[0].metric
        title = metric_title(_name_weighed(metric)) if len(metrics) == 1 else _base(metric, finding)
        yield rank_changes(finding, rows, title, "weighted")


def words_verdict(finding: Finding) -> Iterator[Message]:
    """Which words are hardest, and which systems have them right."""
    yield from _empty(finding)
    words = finding.records(WordRow)
    for metric in dict.fromkeys(row.metric for row in words):
        yield _hardest(finding, [row for row in words if row.metric == metric])
        yield from _say_best_on_hard_words(finding, metric)


def _base(spec: Cell, finding: Finding) -> str:
    """The short name of the metric that difficulty weighs, distinct within the finding."""
    every = [_inner(name) for name in (str(spec), *titles_of(finding))]
    return metric_title(every[0], every)


def _inner(text: str) -> str:
    """Metric that difficulty weighs; the whole spec where it has options of its own."""
    try:
        spec = read_spec(text)
    except SpecError:  # the name of a curve goes on after its metric
        return text
    plain = spec.name == "difficulty" and spec.first is not None and not spec.arguments
    return str(spec.first) if plain else text


def _name_weighed(text: str) -> str:
    """Metric that difficulty weighs, whatever its options."""
    spec = read_spec(text)
    return str(spec.first) if spec.name == "difficulty" and spec.first is not None else text


def _empty(finding: Finding) -> Iterator[Message]:
    yield from select_messages("difficulty.empty", finding.notices)


# Words


def _hardest(finding: Finding, rows: Sequence[WordRow]) -> Message:
    """The hardest words of one metric."""
    rows = sorted(rows, key=lambda row: -row.difficulty)
    several = any(column.name == "metric" for column in finding.tables[0].columns)
    alone = finding.facts.get("base metric") or finding.facts.get("metric") or "the metric"
    title = _base(rows[0].metric if several else alone, finding)
    hard = [row for row in rows if row.difficulty > 0]
    letters = [row for row in rows if any(map(str.isalnum, row.word))]
    shown = [row for row in letters if row.difficulty > 0][:3] or hard[:3]
    signs = [row.word for row in hard[:3] if row not in letters]
    return message(
        "difficulty.words.hardest",
        finding.positions(shown or rows),
        found="some" if hard else "none",
        unit=unit_of_words(row.word for row in rows),
        n=(len(letters) if hard else 0) or len(rows),
        metric=title,
        hardest=[
            {"word": row.word, "difficulty": row.difficulty, "times": row.count} for row in shown
        ],
        legend="exact" if all(row.similarity in (None, row.exact) for row in rows) else "near",
        signs=signs if shown and shown[0] in letters else [],
    )


def _say_best_on_hard_words(finding: Finding, metric: str) -> Iterator[Message]:
    """Which system has the hard words best, and whether it has the others best, too."""
    rows = [
        row
        for row in finding.records(WordsOfSystemRow)
        if row.metric == metric and row.hard is not None
    ]
    if len(rows) < 2:
        return
    first, second = sorted(rows, key=lambda row: -(row.hard or 0.0))[:2]
    evidence = finding.positions([first, second])
    unit = unit_of_words(row.word for row in finding.records(WordRow) if row.metric == metric)
    if first.hard and first.hard_words < LEAST:
        yield message(
            "data.few",
            evidence,
            of=["the hardest tenth"],
            n=first.hard_words,
            unit=unit,
            least=LEAST,
        )
        return
    if first.hard and all(row.other is None for row in rows):
        return  # no tenth is harder than the others
    best = _best(rows, "other")
    shown = {amount(row.hard or 0.0, share=True) for row in (first, second)}
    found = "two" if len(shown) == 1 else "one"
    yield message(
        "difficulty.words.nearest",
        evidence,
        unit=unit,
        n=first.hard_words,
        found=found if first.hard else "none",
        best=first.system,
        value=first.hard,
        second=second.system,
        second_value=second.hard,
        others="too" if first.system in best else best,
    )


def _best(rows: Sequence[WordsOfSystemRow], column: str) -> list[str]:
    """The systems with the highest value of a column."""
    values = {row.system: getattr(row, column) for row in rows}
    highest = max((value for value in values.values() if value is not None), default=None)
    return [system for system, value in values.items() if value is not None and value == highest]
