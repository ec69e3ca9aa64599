"""Tables of tasks as Parquet files with their declarations, and copies of many files in one."""

from __future__ import annotations

import io
import logging
import os
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, get_args

import msgspec

from gnomon.core.errors import DataError, not_installed
from gnomon.core.findings import Column, Table, View
from gnomon.core.signature import content_hash
from gnomon.studies.folder import BUNDLES, checksum_of, is_intact, record_in, replace_text, sealed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, Kind
    from gnomon.studies.result_store import Store

    Buffer: TypeAlias = NDArray[np.generic] | bytes

__all__ = [
    "Cells",
    "RowSource",
    "TableFile",
    "TableSchema",
    "TaskTable",
    "buffers_of",
    "bundle",
    "bundle_of",
    "bundled",
    "cells_of",
    "drop_bundles",
    "encode_parquet",
    "file_of",
    "schema_in",
    "source_of",
    "sql_files",
    "sql_name",
    "sql_text",
    "united",
]


# What a method declared of a table, which travels with the table's rows into Parquet and back.


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
        method: the method that gave it ("muler").
        views: the views of the method that show this table.
    """

    table: Table
    method: str = ""
    views: tuple[View, ...] = ()

    @property
    def name(self) -> str:
        """Name of the table in the store."""
        return self.table.name

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table."""
        return self.table.columns

    @property
    def digest(self) -> str:
        """A hash of all that is declared."""
        columns = (column_metadata(column)[_COLUMN] for column in self.columns)
        return content_hash(self.metadata()[_TABLE], *columns)

    def metadata(self) -> dict[bytes, bytes]:
        """Metadata of an Arrow schema for the table; see :func:`schema_of`."""
        views = [_view_record(view) for view in self.views]
        said = {"title": self.table.title, "note": self.table.note, "method": self.method}
        return {_TABLE: msgspec.json.encode({**said, "name": self.name, "views": views})}


class TaskTable(NamedTuple):
    """Rows for one table of a store, column by column, and what the method declared of them."""

    schema: TableSchema
    cells: Cells

    @property
    def name(self) -> str:
        """Name of the table in the store."""
        return self.schema.name


class TableFile(NamedTuple):
    """Rows for one table of a store as the file that a store keeps of them."""

    name: str
    rows: int
    digest: str
    data: bytes


def file_of(table: TaskTable) -> TableFile:
    """File of the rows of a task for a store, made where the task is done."""
    rows = len(next(iter(table.cells.values()), ()))
    return TableFile(table.name, rows, table.schema.digest, encode_parquet(table))


class _TableRecord(msgspec.Struct):
    name: str
    title: str
    note: str
    method: str
    views: list[dict[str, object]]


def column_metadata(column: Column) -> dict[bytes, bytes]:
    """Metadata of an Arrow field for a column; see :func:`schema_of`."""
    return {_COLUMN: msgspec.json.encode(column)}


def schema_of(
    table: Mapping[bytes, bytes], columns: Iterable[Mapping[bytes, bytes]]
) -> TableSchema:
    """Schema of a table, from the metadata of an Arrow schema and of its fields."""
    said = msgspec.json.decode(table.get(_TABLE, b""), type=_TableRecord)
    declared = (msgspec.json.decode(cells.get(_COLUMN, b""), type=Column) for cells in columns)
    views = [msgspec.convert(view, _VIEWS[str(view.pop("type"))]) for view in said.views]
    empty = Table(said.name, said.title, tuple(declared), (), said.note)
    return TableSchema(empty, said.method, tuple(views))


def united(schemas: Sequence[TableSchema]) -> TableSchema:
    """One schema for the rows of several tasks.

    Test sets, options and versions may give a table other columns. All columns are there; title,
    note, method, and what is said of a column, are those of the first task that has them, but for
    the digits, which are the most that one asks for. Views are all that differ.
    """
    first = schemas[0]
    columns: dict[str, Column] = {}
    views: dict[bytes, View] = {}
    for schema in schemas:
        for column in schema.columns:
            column_before = columns.setdefault(column.name, column)
            if column.digits > column_before.digits:
                columns[column.name] = replace(column_before, digits=column.digits)
        for view in schema.views:
            views.setdefault(msgspec.json.encode(_view_record(view)), view)
    return TableSchema(
        replace(first.table, columns=tuple(columns.values())), first.method, tuple(views.values())
    )


def _view_record(view: View) -> dict[str, object]:
    return {"type": type(view).__name__, **asdict(view)}


# Tables of tasks as Parquet.


#: where a text of an Arrow array may end
_MOST_TEXT = 2**31 - 1


def encode_parquet(table: TaskTable) -> bytes:
    """A table as a Parquet file; a column has the type of its kind whatever its cells.

    What was declared of table and columns is in the metadata of the file; see :func:`schema_in`.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise not_installed("a study", "pyarrow", "study") from error
    fields = arrow_schema(table.schema)
    columns = [
        pa.Array.from_buffers(
            field.type, len(cells), list(map(pa.py_buffer, buffers_of(cells, column.kind)))
        )
        for field, column in zip(fields, table.schema.columns, strict=True)
        for cells in [_fitting(table, column)]
    ]
    out = io.BytesIO()
    pq.write_table(pa.table(columns, schema=fields), out, compression="zstd")
    return out.getvalue()


def arrow_schema(schema: TableSchema) -> Any:  # pyarrow is optional
    """The types of the columns, and what was declared of them and of the table."""
    import pyarrow as pa

    types = {"text": pa.string(), "count": pa.int64(), "truth": pa.bool_()}
    fields = [
        pa.field(
            column.name, types.get(column.kind, pa.float64()), metadata=column_metadata(column)
        )
        for column in schema.columns
    ]
    return pa.schema(fields, metadata=schema.metadata())


def schema_in(file: Path) -> TableSchema:
    """Schema of the table in a Parquet file of a task."""
    import pyarrow.parquet as pq

    schema = pq.read_schema(file)
    try:
        return schema_of(schema.metadata or {}, [field.metadata or {} for field in schema])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"{file} does not say what its columns are; run the study into a new store, or use the"
            " gnomon that made this one"
        ) from error


def cells_of(file: Path | io.BytesIO) -> dict[str, list[Cell]]:
    """The cells of a Parquet file, by column."""
    import pyarrow.parquet as pq

    # the threads of pq.read_table may outlive the interpreter, which then aborts
    with pq.ParquetFile(file) as opened:
        cells: dict[str, list[Cell]] = opened.read(use_threads=False).to_pydict()
    return cells


def _fitting(table: TaskTable, column: Column) -> Sequence[Cell]:
    """The cells of a column, each of the declared kind."""
    cells = table.cells[column.name]
    for kind in set(map(type, cells)) - {type(None)}:  # there are few types, and many cells
        wrong = _misfits((cell for cell in cells if type(cell) is kind), kind, column.kind)
        for cell in wrong:
            raise DataError(
                f"column {column.name!r} of the table {table.name!r} is declared as"
                f" {column.kind!r}, and holds {cell!r}; its method must declare another kind"
            )
    return cells


def _misfits(cells: Iterator[Cell], kind_of_cells: type, kind: Kind) -> Iterator[Cell]:
    """Cells of one type that are not of a kind."""
    import numpy as np

    if issubclass(kind_of_cells, bool | np.bool_):
        fits = kind == "truth"
    elif kind == "text" or issubclass(kind_of_cells, str):  # a year is no count, and shown as it is
        fits = kind == "text"
    elif kind == "count" and not issubclass(kind_of_cells, int | np.integer):
        yield from (cell for cell in cells if float(cell or 0) % 1)
        return
    else:
        fits = kind != "truth"
    if not fits:
        yield from cells


def buffers_of(cells: Sequence[Cell], kind: Kind) -> list[Buffer]:
    """The memory of an Arrow array; ``pyarrow.array`` would import pandas where it is installed."""
    import numpy as np

    there = np.array([cell is not None for cell in cells], bool)
    valid = np.packbits(there, bitorder="little")
    if kind == "text":
        texts = [b"" if cell is None else str(cell).encode() for cell in cells]
        ends = np.cumsum([0, *map(len, texts)])
        if ends[-1] > _MOST_TEXT:
            raise DataError(f"a column holds {ends[-1]} bytes of text; at most 2 GiB fit into one")
        return [valid, ends.astype(np.int32), b"".join(texts)]
    filled = [0 if cell is None else cell for cell in cells]
    if kind == "truth":
        return [valid, np.packbits(np.array(filled, bool), bitorder="little")]
    return [valid, np.array(filled, np.int64 if kind == "count" else np.float64)]


# Copies of many small files in one, so that a query need not open a file for each task.


_log = logging.getLogger(__name__)

#: fewer files than this are opened one by one
_MANY = 200


class _BundleRecord(msgspec.Struct):
    """A store's record of a bundle: its file, with its checksum, and the keys of its tasks."""

    file: str
    made: str
    tasks: list[str]


class Bundle(NamedTuple):
    """A file of the rows of many tasks."""

    file: Path
    tasks: frozenset[str]


def bundle_of(store: Path, table: str, finished: Collection[str]) -> Bundle | None:
    """The bundle of a table; None where it is missing or damaged, or holds what is not there."""
    try:
        said = record_in(_list_of(store, table), _BundleRecord)
    except DataError:
        return None
    if said is None:
        return None
    bundle = Bundle(store / BUNDLES / said.file, frozenset(said.tasks))
    whole = is_intact(bundle.file, said.made)
    if not whole:
        _log.warning(
            "%s is damaged and not read: what it copies is read from the files of tasks; the next"
            " run of the study makes it anew",
            bundle.file,
        )
    return bundle if whole and bundle.tasks.issubset(finished) else None


def bundled(store: Path) -> list[str]:
    """The tables that have a bundle, whether it is right or not."""
    return [file.stem for file in (store / BUNDLES).glob("*.json")]


def bundle(store: Store) -> None:
    """Copy the files of tables that have many outside of their bundle; only the writer may."""
    for table, parts in store.files().items():
        bundled = bundle_of(store.path, table, store.entries)
        loose = [file for file in parts if bundled is None or file.stem not in bundled.tasks]
        if len(loose) >= max(_MANY, len(bundled.tasks) // 4 if bundled else 0):
            _try(store, table, parts, bundled)


def drop_bundles(store: Path) -> None:
    """Take all of them away; the lists first."""
    for file in sorted((store / BUNDLES).glob("*"), key=lambda file: file.suffix != ".json"):
        file.unlink(missing_ok=True)


class RowSource(NamedTuple):
    """Where the rows of a table are."""

    sql: str
    files: Sequence[Path]


def source_of(files: Sequence[Path], known: Bundle | None, planned: Collection[str]) -> RowSource:
    """Where the rows of a table are."""
    if known is None or known.tasks.isdisjoint(planned):
        return RowSource(_select_from_files(files), files)
    loose = [file for file in files if file.stem not in known.tasks]
    others = sorted(known.tasks.difference(planned))
    where = f" where task not in ({', '.join(map(sql_text, others))})" if others else ""
    bundled = f"select * from read_parquet({sql_files([known.file])}){where}"  # noqa: S608  # quoted
    if not loose:
        return RowSource(bundled, [known.file])
    return RowSource(
        f"{bundled} union all by name {_select_from_files(loose)}", [known.file, *loose]
    )


def _try(store: Store, table: str, parts: Sequence[Path], bundled: Bundle | None) -> None:
    import duckdb

    try:
        store.check_files(parts)  # what is damaged must not get a checksum that fits it
        _write(store.path, table, parts, bundled)
    except (DataError, OSError, duckdb.Error) as error:  # a full disk: nothing is lost
        _log.warning("%s is not copied into one file, so queries take longer: %s", table, error)


def _write(store: Path, table: str, parts: Sequence[Path], bundled: Bundle | None) -> None:
    import duckdb

    keys = [file.stem for file in parts]
    folder = store / BUNDLES
    folder.mkdir(exist_ok=True)
    target = folder / f"{table}-{content_hash(*keys)}.parquet"
    scratch = target.with_name(f".{target.name}")
    try:
        with duckdb.connect(":memory:") as connection:
            connection.execute("set preserve_insertion_order = true")
            connection.execute("set enable_progress_bar = false")  # it goes to standard output
            how = "(format parquet, compression zstd)"
            connection.execute(
                f"copy ({_select_from_files(parts)}) to {sql_text(scratch.resolve())} {how}"
            )
        made = checksum_of(scratch)
        scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)
    replace_text(_list_of(store, table), sealed(_BundleRecord(target.name, made, keys)))
    for old in folder.glob(f"{table}-*.parquet"):
        # the last one may be read just now
        if old != target and (bundled is None or old != bundled.file):
            old.unlink()


def _list_of(store: Path, table: str) -> Path:
    return store / BUNDLES / f"{table}.json"


def _select_from_files(files: Sequence[Path]) -> str:
    read = f"read_parquet({sql_files(files)}, union_by_name = true, filename = true)"
    return f"select * exclude (filename), parse_filename(filename, true) as task from {read}"  # noqa: S608  # quoted


# What is put into SQL


def sql_text(value: object) -> str:
    """A text as SQL writes it."""
    return "'" + str(value).replace("'", "''") + "'"


def sql_name(value: str) -> str:
    """The name of a table or column as SQL writes it."""
    return '"' + value.replace('"', '""') + '"'


def sql_files(files: Iterable[Path]) -> str:
    """A list of files as SQL writes it, each by its real place, or by its name in a circle."""
    return "[" + ", ".join(sql_text(os.path.realpath(file)) for file in files) + "]"
