"""Tables and views of hard words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.difficulty._omission_tables import omission_table, omission_views
from gnomon.findings import Bars, Column, Finding, HeatMap, Listing, Scatter, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.difficulty._setup import Bound
    from gnomon.findings import Cell, Exhibit, View
    from gnomon.signature import Signature
    from gnomon.testset import TestSet

    Row = Mapping[str, Cell]

__all__ = ["words_finding"]

_DIFFICULTY = Column("difficulty", "Difficulty", "number", 3, help="1 less the mean similarity")
_SIMILARITY = Column(
    "similarity", "Similarity", "number", 3, help="of the best match, mean over systems"
)
_EXACT = Column("exact", "Same", "share", 2, help="share of outputs whose best match is the same")
_COUNT = Column("count", "Count", "count")
_SYSTEM = Column("system", "System")
_WORD = Column("word", "Word")
_CLASS = Column("class", "Class")

_COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "words": (
        _WORD,
        _CLASS,
        _DIFFICULTY,
        _COUNT,
        Column("segments", "Segments", "count"),
        _SIMILARITY,
        _EXACT,
        Column("pieces", "Pieces", "number", 1, help="that the model sees it in, mean"),
    ),
    "classes": (_CLASS, _DIFFICULTY, _COUNT, _SIMILARITY, _EXACT),
    "strips": (
        Column("segment", "Segment", "count"),
        Column("reference", "Reference"),
        Column("token", "Word"),
        _WORD,
        Column("difficulty", "d", "number", 2, help="1 less the mean similarity over the pool"),
        _SYSTEM,
        Column("similarity", "Similarity", "number", 2, better="higher", help="of its best match"),
        Column("other", "another word", "truth", help="the best match is not the same word"),
    ),
    "systems": (
        _SYSTEM,
        Column(
            "hard", "Hard words", "number", 3, better="higher", help="similarity, hardest tenth"
        ),
        Column("hard_exact", "Same", "share", 3, better="higher", help="of the hard words"),
        Column("other", "Other words", "number", 3, better="higher", help="similarity"),
        Column("other_exact", "Same", "share", 3, better="higher", help="of the other words"),
        Column("rank", "Rank, hard", "count"),
        Column("other_rank", "Rank, other", "count"),
        Column("hard_words", "n, hard", "count"),
        Column("other_words", "n, other", "count"),
    ),
    "distribution": (
        Column("pool", "Pool"),
        Column("bin", "Difficulty"),
        Column("low", "From", "number", 2),
        Column("high", "To", "number", 2),
        Column("words", "Words", "count"),
        Column("share", "Share", "share", 3),
    ),
    "segments": (
        Column("segment", "Segment", "count"),
        Column("document", "Document"),
        Column("words", "Words", "count"),
        _DIFFICULTY,
        Column("hardest", "Hardest word"),
        Column("hardest_difficulty", "Its difficulty", "number", 3),
    ),
    "documents": (
        Column("document", "Document"),
        Column("segments", "Segments", "count"),
        Column("words", "Words", "count"),
        _DIFFICULTY,
    ),
    "occurrences": (
        Column("segment", "Segment", "count"),
        Column("reference", "Reference"),
        Column("position", "Position", "count", help="of the word in the reference, from 1"),
        _WORD,
        _DIFFICULTY,
        _SIMILARITY,
        _EXACT,
    ),
}
_TITLES = {
    "words": "Hardest words",
    "classes": "Difficulty of word classes",
    "strips": "Words of a segment across systems",
    "systems": "Who has the hard words",
    "distribution": "How hard words are",
    "segments": "Hardest segments",
    "documents": "Difficulty of documents",
    "occurrences": "Every word of the references",
}
_LISTED = 20


def words_finding(
    testset: TestSet,
    bound: Bound,
    signature: Signature,
    tables: Mapping[str, Sequence[Row]],
    notices: Sequence[str],
    exhibits: Sequence[Exhibit],
    tagger: str,
) -> Finding:
    """The finding of ``difficulty words``; tables without rows are left out, but for the first."""
    made = [
        Table(name, _TITLES[name], columns, tuple(tables.get(name, ())))
        for name, columns in _COLUMNS.items()
        if name == "words" or tables.get(name)
    ]
    omitted = tables.get("omission")
    further = [omission_table(omitted)] if omitted else []
    facts = {
        "test set": testset.name,
        "language pair": testset.language_pair or "not given",
        "segments": str(testset.segments),
        "systems": str(len(testset.systems)),
        "metric": bound.metric.metric.spec,
        "pool": "from a file" if bound.pool is None else bound.pool.how,
    }
    return Finding(
        method="difficulty words",
        title=f"Hard words: {testset.name}",
        tables=(*made, *further),
        signatures={bound.metric.spec: str(signature)},
        views=tuple(_views(tables, classes=bool(tagger))),
        exhibits=tuple(exhibits),
        notices=tuple(dict.fromkeys(notices)),
        facts=facts | {"tagger": tagger} if tagger else facts,
    )


def _views(tables: Mapping[str, Sequence[Row]], *, classes: bool) -> Iterator[View]:
    own = ("class",) if classes else ()
    columns = ("word", *own, "difficulty", "count", "segments", "similarity", "exact")
    yield Listing("words", _TITLES["words"], columns, most=_LISTED)
    if tables.get("classes"):
        yield Listing("classes", _TITLES["classes"], tuple(c.name for c in _COLUMNS["classes"]))
    yield from _strips(tables["strips"])
    if tables["systems"]:
        yield from _systems()
    if tables["distribution"]:
        yield Bars(
            table="distribution",
            title=_TITLES["distribution"],
            category="pool",
            series="bin",
            values=("share",),
        )
    if tables["segments"]:
        document = ("document",) if tables["documents"] else ()
        shown = ("segment", *document, "words", "difficulty", "hardest", "hardest_difficulty")
        yield Listing("segments", _TITLES["segments"], shown, most=_LISTED // 2)
    if tables["documents"]:
        shown = tuple(column.name for column in _COLUMNS["documents"])
        yield Listing("documents", _TITLES["documents"], shown, most=_LISTED // 2)
    yield from omission_views() if tables.get("omission") else ()


def _strips(rows: Sequence[Row]) -> Iterator[View]:
    for segment, reference in dict.fromkeys((row["segment"], row["reference"]) for row in rows):
        yield HeatMap(
            table="strips",
            title=f"Words of segment {segment} across systems (reference {reference})",
            rows="token",
            columns="system",
            value="similarity",
            beside="difficulty",
            where={"segment": segment, "reference": reference},
            marks="other",
        )


def _systems() -> Iterator[View]:
    shown = ("system", "hard", "hard_exact", "rank", "other", "other_exact", "other_rank")
    yield Listing("systems", _TITLES["systems"], shown)
    yield Scatter("systems", _TITLES["systems"], x="other", y="hard", label="system")
