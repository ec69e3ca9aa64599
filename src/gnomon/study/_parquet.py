"""Tables of tasks as Parquet."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from gnomon.errors import MissingDependencyError

if TYPE_CHECKING:
    from gnomon.study._tasks import TaskTable

__all__ = ["to_parquet"]


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
    columns = {
        name: pa.array(
            [None if cell is None else _fitting(cell, kind) for cell in table.cells[name]],
            types[kind],
        )
        for name, kind in table.kinds.items()
    }
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, compression="zstd")
    return out.getvalue()


def _fitting(cell: object, kind: str) -> object:
    return str(cell) if kind == "text" else cell
