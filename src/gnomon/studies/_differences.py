"""Whether a study that was run again came to the same figures."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gnomon.studies._tables import cells_of, schema_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gnomon.core.findings import Cell, Column
    from gnomon.studies._store import Store

#: how far two figures may lie apart, relative to the larger one, and still be the same
_NEAR = 1e-9
#: characters of what names a row
_LONGEST = 120


class CellDifference(msgspec.Struct, frozen=True):
    """A cell that is another one than before.

    Attributes:
        table: the title of the table.
        row: the texts of the row, which name it.
        column: the title of the column.
        was: the cell before; None where it was empty.
        now: the cell now.
    """

    table: str
    row: str
    column: str
    was: str | int | float | bool | None
    now: str | int | float | bool | None


class StoreDifferences(msgspec.Struct, frozen=True):
    """What two runs of one study have in common.

    Attributes:
        figures: numbers that the first run computed.
        tables: tables that they stand in.
        different: cells that are others in the second run.
        rows: rows that only one of both has.
        sentences: sentences of verdicts that only one of both says.
        examples: the first of the cells.
    """

    figures: int
    tables: int
    different: int
    rows: int
    sentences: int
    examples: list[CellDifference]

    @property
    def none(self) -> bool:
        """Whether there are no differences."""
        return not (self.different or self.rows or self.sentences)


class _FileDifferences(NamedTuple):
    different: int
    rows: int
    examples: Sequence[CellDifference]


def differences(first: Store, second: Store, *, examples: int = 20) -> StoreDifferences:
    """What a second run of a study computed otherwise than the first one.

    Figures are the same within 1e-9 of the larger one. Files are read one at a time, and those of
    which both runs have the same bytes only to count their figures.

    Args:
        first: the store of the first run.
        second: the store of the second run.
        examples: how many cells to name at most.

    Raises:
        DataError: a file is missing or damaged.
    """
    files, others = first.files(), second.files()
    figures = different = rows = 0
    named: list[CellDifference] = []
    for table in dict.fromkeys([*files, *others]):
        for file, other in zip_longest(files.get(table, ()), others.get(table, ())):
            for store, one in ((first, file), (second, other)):
                if one and not store.is_intact(one):
                    raise store.damage_of(one)
            figures += _figures_in(file) if file else 0
            if file and other and _checksum(first, file) == _checksum(second, other):
                continue
            found = _between(file, other)
            different += found.different
            rows += found.rows
            named += found.examples[: examples - len(named)]
    sentences = _sentences(first) ^ _sentences(second)
    return StoreDifferences(figures, len(files), different, rows, len(sentences), named)


def _checksum(store: Store, file: Path) -> str:
    return store.entries[file.stem].checksums[file.parent.name]


def _sentences(store: Store) -> set[tuple[str, str, str]]:
    """What is said, by the place where it is said."""
    entries = (store.entries[key] for key in store.planned() if key in store.entries)
    return {
        (entry.testset, entry.method, statement.text)
        for entry in entries
        for statement in entry.verdict
    }


def _figures_in(file: Path) -> int:
    """How many numbers a file holds, by what it says of its columns."""
    import pyarrow.parquet as pq

    numbers = {n for n, column in enumerate(schema_in(file).columns) if _is_number(column)}
    said = pq.read_metadata(file)
    parts = [
        said.row_group(group).column(n) for group in range(said.num_row_groups) for n in numbers
    ]
    empty = sum(part.statistics.null_count for part in parts if part.statistics)
    return int(sum(part.num_values for part in parts) - empty)


def _is_number(column: Column) -> bool:
    return column.kind not in ("text", "truth")


def _between(file: Path | None, other: Path | None) -> _FileDifferences:
    cells = cells_of(file) if file else {}
    others = cells_of(other) if other else {}
    before, after = (len(next(iter(each.values()), ())) for each in (cells, others))
    declared = schema_in(file or other)  # type: ignore[arg-type]  # one of both is there
    if not (file and other):
        return _FileDifferences(0, before + after, ())
    columns = {column.name: column for column in declared.columns}
    names = [name for name in columns if columns[name].kind == "text"]
    found = []
    for name in dict.fromkeys([*cells, *others]):
        pairs = zip(
            cells.get(name, [None] * before), others.get(name, [None] * after), strict=False
        )
        found += [(n, name, was, now) for n, (was, now) in enumerate(pairs) if not _same(was, now)]
    examples = [
        CellDifference(
            declared.table.title,
            _label(cells, names, n),
            columns[name].title if name in columns else name,
            was,
            now,
        )
        for n, name, was, now in sorted(found, key=lambda each: each[0])
    ]
    return _FileDifferences(len(found), abs(before - after), examples)


def _label(cells: Mapping[str, Sequence[Cell]], names: Sequence[str], row: int) -> str:
    label = ", ".join(str(cells[name][row]) for name in names if cells[name][row] is not None)
    return label if len(label) <= _LONGEST else f"{label[:_LONGEST]}..."


def _same(was: Cell, now: Cell) -> bool:
    if isinstance(was, float) and isinstance(now, float):
        both = math.isnan(was) and math.isnan(now)
        return both or math.isclose(was, now, rel_tol=_NEAR, abs_tol=1e-12)
    return was == now
