"""Explanations as tables: every word, and the words that hurt most often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.bmx.explained_texts import CountedWord, ExplainedWord
from gnomon.bmx.pairs import role_of
from gnomon.core.findings import Excerpt
from gnomon.core.records import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from gnomon.bmx.explained_texts import Explanations
    from gnomon.core.findings import Cell, Table
    from gnomon.core.testset import TestSet
    from gnomon.metrics.base import BoundMetric

    Row: TypeAlias = Mapping[str, Cell]

__all__ = ["counted_words", "explained_references", "hurting_table", "words_table"]


_PAGE = 5000


def words_table(rows: Sequence[Row]) -> Table:
    """Every explained word, the records of the contract."""
    excerpt = None
    if len(rows) > _PAGE:
        note = (
            f"The first {_PAGE} of {len(rows)} words; all with --save-explanations FILE, -f tsv or"
            " -f json."
        )
        excerpt = Excerpt(tuple(range(_PAGE)), note)
    note = (
        "A positive importance makes the candidate look better, in units of the metric; positions"
        " count from 1."
    )
    title = "Importance of every word"
    return table("words", title, ExplainedWord, rows, note=note, excerpt=excerpt)


def hurting_table(words: Iterable[CountedWord]) -> Table:
    """The words that hurt the score, those that do so most often first."""
    hurting = sorted(
        (word for word in words if word.hurts), key=lambda word: (-word.hurts, word.mean)
    )
    note = "A word hurts where its importance is negative. Words are compared as they are written."
    return table("hurting", "Words that most often hurt", CountedWord, hurting, note=note)


def counted_words(rows: Iterable[Row]) -> list[CountedWord]:
    """The words of :func:`words_table`, those that are written alike together."""
    values: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        importance = row["importance"]
        if isinstance(importance, float):
            key = tuple(str(row[name]) for name in ("metric", "explainer", "side", "token"))
            values.setdefault(key, []).append(importance)
    return [
        CountedWord(
            metric=metric,
            explainer=explainer,
            side=side,
            token=token,
            count=len(some),
            hurts=sum(value < 0 for value in some),
            mean=sum(some) / len(some),
        )
        for (metric, explainer, side, token), some in values.items()
    ]


def explained_references(
    testset: TestSet, bound: BoundMetric, explanations: Explanations
) -> dict[tuple[str, int], str]:
    """The references that explanations were made with, by system and segment (from 1).

    Of references with the same text it is the first. Nothing for metrics that take no references.
    """
    if role_of(bound, testset.batch()) != "reference":
        return {}
    return {
        (system, int(segment)): name
        for k, system in enumerate(explanations.systems)
        for i, segment in enumerate(explanations.segments)
        if (number := int(explanations.judged_by[k, i])) >= 0
        for name in _name_texts(testset, system, int(segment) - 1, explanations.texts[number])
    }


def _name_texts(testset: TestSet, system: str, segment: int, text: str) -> Iterator[str]:
    system_references = testset.system_references.get(system, {})
    for name, texts in (*testset.references.items(), *system_references.items()):
        if texts[segment] == text:
            yield name
            return
