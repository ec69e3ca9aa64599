"""Tables of tasks as Parquet."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gnomon.errors import DataError, MissingDependencyError
from gnomon.study._schema import column_metadata, schema_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import TypeAlias

    from numpy.typing import NDArray

    from gnomon.findings import Cell, Column, Kind
    from gnomon.study._schema import TableSchema, TaskTable

    Buffer: TypeAlias = NDArray[np.generic] | bytes

#: where a text of an Arrow array may end
_MOST_TEXT = 2**31 - 1


def to_parquet(table: TaskTable) -> bytes:
    """A table as a Parquet file; a column has the type of its kind whatever its cells.

    What was declared of table and columns is in the metadata of the file; see :func:`schema_in`.

    Raises:
        DataError: a cell is not of its column's kind, or a column of texts has more than 2 GiB.
        MissingDependencyError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingDependencyError(
            "studies need pyarrow, which is not installed; run: pip install 'gnomon[study]'"
        ) from error
    fields = arrow_schema(table.schema)
    columns = [
        pa.Array.from_buffers(
            field.type, len(cells), list(map(pa.py_buffer, _buffers(cells, column.kind)))
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
        pa.field(one.name, types.get(one.kind, pa.float64()), metadata=column_metadata(one))
        for one in schema.columns
    ]
    return pa.schema(fields, metadata=schema.metadata())


def schema_in(file: Path) -> TableSchema:
    """What a Parquet file of a task says of its table and columns.

    Raises:
        DataError: it says nothing that this gnomon understands.
    """
    import pyarrow.parquet as pq

    found = pq.read_schema(file)
    try:
        return schema_of(found.metadata or {}, [field.metadata or {} for field in found])
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        raise DataError(
            f"{file} does not say what its columns are; run the study into a new store, or use the"
            " gnomon that made this one"
        ) from error


def cells_of(file: Path) -> dict[str, list[Cell]]:
    """The cells of a Parquet file, by column."""
    import pyarrow.parquet as pq

    # the threads of pq.read_table may outlive the interpreter, which then aborts
    with pq.ParquetFile(file) as opened:
        found: dict[str, list[Cell]] = opened.read(use_threads=False).to_pydict()
    return found


def _fitting(table: TaskTable, column: Column) -> Sequence[Cell]:
    """The cells of a column, each of the declared kind."""
    cells = table.cells[column.name]
    for cell in cells:
        if cell is not None and not _fits(cell, column.kind):
            raise DataError(
                f"column {column.name!r} of the table {table.name!r} is declared as"
                f" {column.kind!r}, and holds {cell!r}; its method must declare another kind"
            )
    return cells


def _fits(cell: Cell, kind: Kind) -> bool:
    if isinstance(cell, bool | np.bool_):
        return kind == "truth"
    if kind == "text" or isinstance(cell, str):  # a year is no count, and shown as it is
        return kind == "text"
    whole = isinstance(cell, int | np.integer) or (isinstance(cell, float) and cell.is_integer())
    return kind in ("number", "share") or (kind == "count" and whole)


def _buffers(cells: Sequence[Cell], kind: Kind) -> list[Buffer]:
    """The memory of an Arrow array; ``pyarrow.array`` would import pandas where it is installed."""
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
