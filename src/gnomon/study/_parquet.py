"""Tables of tasks as Parquet."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from gnomon.errors import MissingDependencyError

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.findings import Cell
    from gnomon.study._tasks import TaskTable

__all__ = ["cells_of", "columns_of", "to_parquet"]

_MEANING = "meaning"


def to_parquet(table: TaskTable) -> bytes:
    """A table as a Parquet file; its columns have one type whatever their cells.

    Raises:
        MissingDependencyError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingDependencyError(
            "studies need pyarrow, which is not installed; run: pip install 'gnomon[study]'"
        ) from error
    types = {"text": pa.string(), "count": pa.int64(), "number": pa.float64(), "truth": pa.bool_()}
    columns = [
        pa.array(
            [None if cell is None else _fitting(cell, kind) for cell in table.cells[name]],
            types[kind],
        )
        for name, kind in table.kinds.items()
    ]
    fields = [
        pa.field(name, types[kind], metadata={_MEANING: table.meanings.get(name, "")})
        for name, kind in table.kinds.items()
    ]
    out = io.BytesIO()
    pq.write_table(pa.table(columns, schema=pa.schema(fields)), out, compression="zstd")
    return out.getvalue()


def columns_of(file: Path) -> dict[str, str]:
    """The columns of a Parquet file, and what they mean."""
    import pyarrow.parquet as pq

    return {
        field.name: (field.metadata or {}).get(_MEANING.encode(), b"").decode()
        for field in pq.read_schema(file)
    }


def cells_of(file: Path) -> dict[str, list[Cell]]:
    """The cells of a Parquet file, by column."""
    import pyarrow.parquet as pq

    found: dict[str, list[Cell]] = pq.read_table(file, partitioning=None).to_pydict()
    return found


def _fitting(cell: object, kind: str) -> object:
    return str(cell) if kind == "text" else cell
