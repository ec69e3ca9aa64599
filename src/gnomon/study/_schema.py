"""What a method declared of a table, which travels with the table's rows into Parquet and back."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, get_args

import msgspec

from gnomon.findings import Column, Table, View
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gnomon.findings import Cell

#: column -> cells
Cells: TypeAlias = "Mapping[str, Sequence[Cell]]"

#: keys of the metadata of an Arrow field and of a schema
_COLUMN, _TABLE = b"gnomon.column", b"gnomon.table"
_VIEWS: Mapping[str, type[View]] = {view.__name__: view for view in get_args(View)}


@dataclass(frozen=True)
class TableSchema:
    """A table of a store without its rows, and how it may be looked at.

    Attributes:
        table: the table under its name in the store; it has no rows.
        method: the method that gave it ("muler score").
        views: the views of the method that show this table.
    """

    table: Table
    method: str = ""
    views: tuple[View, ...] = ()

    @property
    def name(self) -> str:
        """What the table is called in the store."""
        return self.table.name

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table."""
        return self.table.columns

    @property
    def digest(self) -> str:
        """A hash of all that is declared."""
        own = (column_metadata(one)[_COLUMN] for one in self.columns)
        return content_hash(self.metadata()[_TABLE], *own)

    def metadata(self) -> dict[bytes, bytes]:
        """What an Arrow schema says of the table; see :func:`schema_of`."""
        views = [{"type": type(view).__name__, **asdict(view)} for view in self.views]
        said = {"title": self.table.title, "note": self.table.note, "method": self.method}
        return {_TABLE: msgspec.json.encode({**said, "name": self.name, "views": views})}


class TaskTable(NamedTuple):
    """Rows for one table of a store, column by column, and what the method declared of them."""

    schema: TableSchema
    cells: Cells

    @property
    def name(self) -> str:
        """What the table is called in the store."""
        return self.schema.name


class _TableRecord(msgspec.Struct):
    name: str
    title: str
    note: str
    method: str
    views: list[dict[str, object]]


def column_metadata(column: Column) -> dict[bytes, bytes]:
    """What an Arrow field says of a column; see :func:`schema_of`."""
    return {_COLUMN: msgspec.json.encode(column)}


def schema_of(
    table: Mapping[bytes, bytes], columns: Iterable[Mapping[bytes, bytes]]
) -> TableSchema:
    """What was declared of a table, from the metadata of an Arrow schema and of its fields.

    Raises:
        msgspec.DecodeError: it is not what :meth:`TableSchema.metadata` and
            :func:`column_metadata` write.
    """
    said = msgspec.json.decode(table.get(_TABLE, b""), type=_TableRecord)
    declared = (msgspec.json.decode(one.get(_COLUMN, b""), type=Column) for one in columns)
    views = [msgspec.convert(one, _VIEWS[str(one.pop("type"))]) for one in said.views]
    empty = Table(said.name, said.title, tuple(declared), (), said.note)
    return TableSchema(empty, said.method, tuple(views))


def united(schemas: Sequence[TableSchema]) -> TableSchema:
    """One schema for the rows of several tasks.

    Test sets, options and versions may give a table other columns. All columns are there; title,
    note, method, and what is said of a column, are those of the first task that has them. Views
    are all that differ.
    """
    first = schemas[0]
    columns: dict[str, Column] = {}
    views: list[View] = []
    for one in schemas:
        for column in one.columns:
            columns.setdefault(column.name, column)
        views += [view for view in one.views if view not in views]
    return TableSchema(
        replace(first.table, columns=tuple(columns.values())), first.method, tuple(views)
    )
