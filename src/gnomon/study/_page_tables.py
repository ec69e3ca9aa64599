"""Tables of a store as a report shows them: titles, pages, digits, and rows part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gnomon.findings import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Kind
    from gnomon.study._page_source import Source

    Better = Literal["higher", "lower"] | None

__all__ = ["HeldTable", "StoredTable", "column_of", "page_of", "stored_table"]

#: which page shows a table, by how its name begins; the longest that fits counts
_PAGES: Mapping[str, str] = {
    "scores": "systems",
    "segments": "systems",
    "comparisons": "systems",
    "muler": "features",
    "difficulty": "words",
    "importance": "words",
    "bmx": "words",
    "references": "references",
    "paraphrase": "references",
    "diversity": "references",
    "agreement": "agreement",
    "tasks": "provenance",
    "notices": "provenance",
    "signatures": "provenance",
    "steps": "provenance",
    "testsets": "provenance",
}
_TITLES: Mapping[str, str] = {
    "testset": "Test set",
    "muler": "MuLER",
    "p_holm": "p (Holm)",
    "p_bh": "p (BH)",
    "n": "n",
    "p": "p",
    "k": "K",
    "testsets": "Test sets",
    "low": "From",
    "high": "To",
}
#: digits of figures that need fewer than their size suggests
_DIGITS: Mapping[str, int] = {
    **dict.fromkeys(("base", "base_all", "oracle", "anti_oracle", "spread", "gain"), 1),
    "seconds": 2,
}
#: mostly between 0 and 1, and flagged outside
_SHARES = frozenset({"muler", "add", "miss", "hit", "neither", "share", "hurts", "ordered"})
_BETTER: Mapping[str, Better] = {
    "muler": "lower",
    "importance": "higher",
    "mean_importance": "higher",
    "similarity": "higher",
    "value": "higher",
}
_HELP: Mapping[str, str] = {
    "muler": "share of the reachable gain that a system leaves on a feature; 0 is perfect",
    "segments": "segments that count here",
    "oracle": "mean score with the feature masked alike on both sides",
    "anti_oracle": "mean score with the feature masked differently on each side",
    "difficulty": "1 less the mean similarity over the systems of the pool",
    "importance": "positive where the word makes the output look better, in units of the metric",
    "seconds": "wall clock of one worker",
    "place": "where judgements and scores were compared",
    "outside": "the two sides are tagged differently, so that the share leaves 0 to 1",
    "other": "the best match is not the same word",
    "hit": "share of segments with as much of the feature as the reference",
    "miss": "share of segments with less of it",
    "add": "share of segments with more of it",
    "hurts": "share of its occurrences that make the score worse",
    "few": "too few systems to mean much",
    "exact": "share of outputs whose best match is the same",
    "paraphrases_by": "the method that made it, where it is a paraphrase",
    "same_as_first": "share of its segments that are those of the first reference",
}


@dataclass(frozen=True)
class StoredTable:
    """A table of a store, read when it is written.

    Attributes:
        name: in queries.
        title: for people.
        page: which page shows it.
        columns: its columns.
        source: the store.
    """

    name: str
    title: str
    page: str
    columns: tuple[Column, ...]
    source: Source

    def parts(self, rows: int) -> Iterator[Sequence[Sequence[Cell]]]:
        """The cells column by column, at most that many rows at a time.

        Each part is of one test set and, where tasks have one metric, of one metric.
        """
        for testset, metrics in self.source.groups(self.name):
            held = self.source.rows(self.name, testset=testset, metrics=metrics)
            there = self.source.columns(held)
            chosen = ", ".join(
                f'"{one.name}"' if one.name in there else f'null as "{one.name}"'
                for one in self.columns
            )
            asked = f"select {chosen} from {held}"  # noqa: S608  # names of the store's own columns
            with self.source.told():
                found = self.source.connection.cursor().execute(asked)
                while taken := found.fetchmany(rows):
                    yield [[_cell(value) for value in cells] for cells in zip(*taken, strict=True)]


@dataclass(frozen=True)
class HeldTable:
    """A small table that is made for the report.

    Attributes:
        name: what it is called.
        title: for people.
        page: which page shows it.
        columns: its columns.
        rows: gives its rows, when they are wanted.
    """

    name: str
    title: str
    page: str
    columns: tuple[Column, ...]
    rows: Callable[[], Iterable[Mapping[str, Cell]]]

    def parts(self, rows: int) -> Iterator[Sequence[Sequence[Cell]]]:
        """The cells column by column, that many rows at a time."""
        held = list(self.rows())
        for start in range(0, len(held), rows):
            some = held[start : start + rows]
            yield [[row[column.name] for row in some] for column in self.columns]


def stored_table(source: Source, name: str, meanings: Mapping[str, str]) -> StoredTable:
    """A table of a store.

    Args:
        source: the store.
        name: of the table.
        meanings: what its columns mean, by name.
    """
    held = source.rows(name)
    types = source.columns(held)
    numbers = [column for column, kind in types.items() if kind in {"DOUBLE", "FLOAT"}]
    wanted = ", ".join(["count(*)", *map(_largest, numbers)])
    _, *largest = source.ask(f"select {wanted} from {held}")[0]  # noqa: S608  # likewise
    digits = dict(zip(numbers, map(_digits, largest), strict=True))
    columns = tuple(
        column_of(
            column, _kind(column, kind), digits.get(column, 2), types, meanings.get(column, "")
        )
        for column, kind in types.items()
    )
    return StoredTable(name, _title(name), page_of(name), columns, source)


def column_of(
    name: str,
    kind: Kind,
    digits: int = 2,
    among: Mapping[str, object] = {},
    meaning: str = "",
) -> Column:
    """A column with what is known of its name; intervals stand behind their values.

    Args:
        name: of the column.
        kind: what it holds.
        digits: shown after the point.
        among: all columns of its table.
        meaning: in a sentence, where the table says it.
    """
    title = _TITLES.get(name) or _title(name)
    said = meaning if meaning.lower() != title.lower() else ""
    return Column(
        name,
        title,
        kind,
        2 if kind == "share" else _DIGITS.get(name, digits),
        _BETTER.get(name),
        said or _HELP.get(name, ""),
        _ends(name, among),
    )


def page_of(table: str) -> str:
    """The page that shows a table."""
    fitting = [start for start in _PAGES if table.startswith(start)]
    return _PAGES[max(fitting, key=len)] if fitting else "tables"


def _ends(name: str, among: Mapping[str, object]) -> tuple[str, str] | None:
    own = (f"{name}_low", f"{name}_high")
    if set(own) <= set(among):
        return own
    lone = {"low", "high"} <= set(among) and name == _bare(among)
    return ("low", "high") if lone else None


def _bare(among: Mapping[str, object]) -> str | None:
    """The figure whose interval is just called low and high: the one right before."""
    names = list(among)
    at = names.index("low")
    named = [name for name in ("value", "difference", "signed") if name in among]
    return named[0] if named else names[at - 1]


def _title(name: str) -> str:
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _kind(name: str, sql: str) -> Kind:
    if sql in {"DOUBLE", "FLOAT"}:
        return "share" if name.removesuffix("_low").removesuffix("_high") in _SHARES else "number"
    return "count" if sql.endswith("INT") else "text"


def _largest(column: str) -> str:
    return f'max(abs("{column}")) filter (where isfinite("{column}"))'


def _digits(largest: float | None) -> int:
    return 4 if largest is None or largest < 2 else 3 if largest < 10 else 2


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value)
