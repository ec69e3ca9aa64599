"""Tables of a report that a store does not hold as such: references, signatures, notices."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from gnomon.study._page_tables import HeldTable, column_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Kind
    from gnomon.study._page_sets import StudySet
    from gnomon.study._page_source import Source
    from gnomon.study._store import Entry
    from gnomon.testset import TestSet

    Row: TypeAlias = Mapping[str, Cell]

__all__ = ["made_tables"]

_MANY = 10_000

_REFERENCES: Mapping[str, Kind] = {
    "testset": "text",
    "reference": "text",
    "of_system": "text",
    "paraphrases_by": "text",
    "segments": "count",
    "words": "count",
    "words_per_segment": "number",
    "same_as_first": "share",
}
_IMPORTANCE: Mapping[str, Kind] = {
    "testset": "text",
    "metric": "text",
    "explainer": "text",
    "side": "text",
    "word": "text",
    "count": "count",
    "mean_importance": "number",
    "lowest": "number",
    "hurts": "share",
}
_SIGNATURES: Mapping[str, Kind] = {
    "method": "text", "of": "text", "signature": "text", "tasks": "count"
}  # fmt: skip
_NOTICES: Mapping[str, Kind] = {
    "method": "text", "metrics": "text", "notice": "text", "tasks": "count"
}  # fmt: skip
_VERSIONS: Mapping[str, Kind] = {"what": "text", "version": "text", "tasks": "count"}
_TASKS: Mapping[str, Kind] = {
    "key": "text",
    "method": "text",
    "testset": "text",
    "metrics": "text",
    "systems": "count",
    "options": "text",
    "seconds": "number",
    "finished": "text",
}
_SETS: Mapping[str, Kind] = {
    "testset": "text",
    "language_pair": "text",
    "systems": "count",
    "segments": "count",
    "references": "count",
    "texts": "text",
    "path": "text",
}


def made_tables(
    source: Source, sets: Sequence[StudySet], entries: Sequence[Entry]
) -> list[HeldTable]:
    """The tables, in the order of their pages.

    Args:
        source: the store.
        sets: the test sets.
        entries: finished tasks.
    """

    def made(
        name: str,
        title: str,
        page: str,
        columns: Mapping[str, Kind],
        rows: Callable[[], Iterable[Row]],
    ) -> HeldTable:
        given = tuple(column_of(key, kind) for key, kind in columns.items())
        return HeldTable(name, title, page, given, rows)

    words = [
        made(
            "importance_words",
            "Words by what they add to a score",
            "words",
            _IMPORTANCE,
            lambda: _importance(source),
        )
    ]
    return [
        *(words if "importance" in source.tables else ()),
        made("references", "References", "references", _REFERENCES, lambda: _references(sets)),
        made("signatures", "Signatures", "provenance", _SIGNATURES, lambda: _signatures(entries)),
        made("notices", "Notices", "provenance", _NOTICES, lambda: _notices(entries)),
        made("versions", "Made with", "provenance", _VERSIONS, lambda: _versions(entries)),
        made("tasks", "Tasks", "provenance", _TASKS, lambda: _tasks(entries)),
        made("testsets", "Test sets", "provenance", _SETS, lambda: _sets(sets)),
    ]


def _importance(source: Source) -> Iterator[Row]:
    for testset in source.testsets("importance"):
        held = source.rows("importance", testset=testset)
        found = source.connection.cursor().execute(
            "select testset, metric, explainer, side, token, count(importance), avg(importance),"  # noqa: S608  # no input
            f" min(importance), avg(cast(importance < 0 as integer)) from {held}"
            " group by all order by all"
        )
        while taken := found.fetchmany(_MANY):
            for cells in taken:
                yield dict(zip(_IMPORTANCE, cells, strict=True))


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


def _signatures(entries: Sequence[Entry]) -> Iterator[Row]:
    tally = Counter(
        (entry.method, name, text) for entry in entries for name, text in entry.signatures.items()
    )
    for (method, name, text), count in tally.items():
        yield {"method": method, "of": name, "signature": text, "tasks": count}


def _notices(entries: Sequence[Entry]) -> Iterator[Row]:
    tally = Counter(
        (entry.method, ", ".join(entry.metrics), text)
        for entry in entries
        for text in entry.notices
    )
    for (method, metrics, text), count in tally.items():
        yield {"method": method, "metrics": metrics or None, "notice": text, "tasks": count}


def _versions(entries: Sequence[Entry]) -> Iterator[Row]:
    tally = Counter(
        pair
        for entry in entries
        for pair in (("gnomon", entry.gnomon), *entry.made_with.items())
        if pair[1]
    )
    for (what, version), count in tally.items():
        yield {"what": what, "version": version, "tasks": count}


def _tasks(entries: Sequence[Entry]) -> Iterator[Row]:
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
