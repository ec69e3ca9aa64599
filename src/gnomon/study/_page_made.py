"""Tables of a report that a store does not hold as such: references, signatures, notices."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

from gnomon.study._page_tables import HeldTable, column_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Kind
    from gnomon.study._page_sets import StudySet
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
    connection: Any,  # DuckDB is optional and without types
    stored: Collection[str],
    sets: Sequence[StudySet],
    entries: Sequence[Entry],
) -> list[HeldTable]:
    """The tables, in the order of their pages.

    Args:
        connection: DuckDB with the store's views.
        stored: names of the store's tables.
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
            lambda: _importance(connection),
        )
    ]
    return [
        *(words if "importance" in stored else ()),
        made("references", "References", "references", _REFERENCES, lambda: _references(sets)),
        made("signatures", "Signatures", "provenance", _SIGNATURES, lambda: _signatures(entries)),
        made("notices", "Notices", "provenance", _NOTICES, lambda: _notices(entries)),
        made("versions", "Made with", "provenance", _VERSIONS, lambda: _versions(entries)),
        made("testsets", "Test sets", "provenance", _SETS, lambda: _sets(sets)),
    ]


def _importance(connection: Any) -> Iterator[Row]:  # DuckDB is optional and without types
    found = connection.execute(
        "select testset, metric, explainer, side, token, count(importance), avg(importance),"
        " min(importance), avg(cast(importance < 0 as integer)) from importance"
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
