"""Tables of a report that a store does not hold as such: references, signatures, notices."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from gnomon.findings import Column
from gnomon.study._page_tables import MadeTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell
    from gnomon.study._folder import FinishedTask
    from gnomon.study._page_sets import StudySet
    from gnomon.study._page_source import PageSource
    from gnomon.testset import TestSet

    Row: TypeAlias = Mapping[str, Cell]


_MANY = 10_000

_TESTSET = Column("testset", "Test set")
_METHOD = Column("method", "Method")
_METRICS = Column("metrics", "Metrics")
_TASK_COUNT = Column("tasks", "Tasks", "count")
_REFERENCES = (
    _TESTSET,
    Column("reference", "Reference"),
    Column("of_system", "Of system"),
    Column(
        "paraphrases_by", "Paraphrases by", help="the method that made it, where it is a paraphrase"
    ),
    Column("segments", "Segments", "count", help="segments that have it"),
    Column("words", "Words", "count"),
    Column("words_per_segment", "Words per segment", "number"),
    Column(
        "same_as_first",
        "Same as first",
        "share",
        help="share of its segments that are those of the first reference",
    ),
)
_IMPORTANCE = (
    _TESTSET,
    Column("metric", "Metric"),
    Column("explainer", "Explainer"),
    Column("side", "Side"),
    Column("word", "Word"),
    Column("count", "Count", "count"),
    Column(
        "mean_importance",
        "Mean importance",
        "number",
        4,
        better="higher",
        help="positive where the word makes outputs look better, in units of the metric",
    ),
    Column("lowest", "Lowest", "number", 4, help="importance where it makes them look worst"),
    Column("hurts", "Hurts", "share", help="share of its occurrences that make the score worse"),
)
_SIGNATURES = (
    _METHOD,
    Column("of", "Of"),
    Column("signature", "Signature"),
    _TASK_COUNT,
)
_NOTICES = (_METHOD, _METRICS, Column("notice", "Notice"), _TASK_COUNT)
_VERSIONS = (Column("what", "What"), Column("version", "Version"), _TASK_COUNT)
_TASKS = (
    Column("key", "Key"),
    _METHOD,
    _TESTSET,
    _METRICS,
    Column("systems", "Systems", "count"),
    Column("options", "Options"),
    Column("seconds", "Seconds", "number", help="wall clock of one worker"),
    Column("finished", "Finished"),
)
_SETS = (
    _TESTSET,
    Column("language_pair", "Language pair"),
    Column("systems", "Systems", "count"),
    Column("segments", "Segments", "count"),
    Column("references", "References", "count"),
    Column("texts", "Texts"),
    Column("path", "Path"),
)


def made_tables(
    source: PageSource, sets: Sequence[StudySet], entries: Sequence[FinishedTask]
) -> list[MadeTable]:
    """The tables, in the order of their pages.

    Args:
        source: the store.
        sets: the test sets.
        entries: finished tasks.
    """
    words = MadeTable(
        "importance_words",
        "Words by what they add to a score",
        "words",
        _IMPORTANCE,
        lambda: _importance(source),
    )
    return [
        *([words] if "importance" in source.tables else ()),
        MadeTable("references", "References", "references", _REFERENCES, lambda: _references(sets)),
        *(
            MadeTable(name, title, "provenance", columns, rows)
            for name, title, columns, rows in (
                ("signatures", "Signatures", _SIGNATURES, lambda: _signatures(entries)),
                ("notices", "Notices", _NOTICES, lambda: _notices(entries)),
                ("versions", "Made with", _VERSIONS, lambda: _versions(entries)),
                ("tasks", "Tasks", _TASKS, lambda: _tasks(entries)),
                ("testsets", "Test sets", _SETS, lambda: _sets(sets)),
            )
        ),
    ]


def _importance(source: PageSource) -> Iterator[Row]:
    names = [column.name for column in _IMPORTANCE]
    for testset in source.testsets("importance"):
        held = source.rows("importance", testset=testset)
        found = source.connection.cursor().execute(
            "select testset, metric, explainer, side, token, count(importance), avg(importance),"  # noqa: S608  # no input
            f" min(importance), avg(cast(importance < 0 as integer)) from {held}"
            " group by all order by all"
        )
        while taken := found.fetchmany(_MANY):
            for cells in taken:
                yield dict(zip(names, cells, strict=True))


def _references(sets: Sequence[StudySet]) -> Iterator[Row]:
    for one in sets:
        testset = one.testset()
        if testset is not None:
            yield from _of_set(one.name, testset)


def _of_set(name: str, testset: TestSet) -> Iterator[Row]:
    first = next(iter(testset.references.values()), ())
    columns = [("", reference, texts) for reference, texts in testset.references.items()] + [
        (system, reference, texts)
        for system, own in testset.system_references.items()
        for reference, texts in own.items()
    ]
    for system, reference, texts in columns:
        there = [text for text in texts if text is not None]
        words = sum(len(text.split()) for text in there)
        same = sum(a == b for a, b in zip(texts, first, strict=True) if a is not None)
        yield {
            "testset": name,
            "reference": reference,
            "of_system": system or None,
            "paraphrases_by": testset.paraphrases.get(reference),
            "segments": len(there),
            "words": words,
            "words_per_segment": words / len(there) if there else None,
            "same_as_first": same / len(there) if there else None,
        }


def _signatures(entries: Sequence[FinishedTask]) -> Iterator[Row]:
    tally = Counter(
        (entry.method, name, text) for entry in entries for name, text in entry.signatures.items()
    )
    for (method, name, text), count in tally.items():
        yield {"method": method, "of": name, "signature": text, "tasks": count}


def _notices(entries: Sequence[FinishedTask]) -> Iterator[Row]:
    tally = Counter(
        (entry.method, ", ".join(entry.metrics), text)
        for entry in entries
        for text in entry.notices
    )
    for (method, metrics, text), count in tally.items():
        yield {"method": method, "metrics": metrics or None, "notice": text, "tasks": count}


def _versions(entries: Sequence[FinishedTask]) -> Iterator[Row]:
    tally = Counter(
        pair
        for entry in entries
        for pair in (("gnomon", entry.gnomon), *entry.made_with.items())
        if pair[1]
    )
    for (what, version), count in tally.items():
        yield {"what": what, "version": version, "tasks": count}


def _tasks(entries: Sequence[FinishedTask]) -> Iterator[Row]:
    for one in entries:
        yield {
            "key": one.key,
            "method": one.method,
            "testset": one.testset,
            "metrics": ", ".join(one.metrics) or None,
            "systems": len(one.systems),
            "options": one.options or None,
            "seconds": one.seconds,
            "finished": one.finished or None,
        }


def _sets(sets: Sequence[StudySet]) -> Iterator[Row]:
    for one in sets:
        yield {
            "testset": one.name,
            "language_pair": one.language_pair,
            "systems": len(one.systems),
            "segments": one.segments,
            "references": len(one.references),
            "texts": one.missing or "shown; they are those that the results are of",
            "path": one.path,
        }
