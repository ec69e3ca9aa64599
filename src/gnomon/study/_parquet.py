"""Tables of tasks as Parquet."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import DataError, MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import TypeAlias

    from numpy.typing import NDArray

    from gnomon.findings import Cell
    from gnomon.study._tasks import TaskTable

    Buffer: TypeAlias = NDArray[np.generic] | bytes

__all__ = ["cells_of", "columns_of", "to_parquet"]

_MEANING = "meaning"
#: where a text of an Arrow array may end
_MOST_TEXT = 2**31 - 1


def to_parquet(table: TaskTable) -> bytes:
    """A table as a Parquet file; its columns have one type whatever their cells.

    Raises:
        DataError: a column of texts has more than 2 GiB.
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
        pa.Array.from_buffers(
            types[kind], len(cells), list(map(pa.py_buffer, _buffers(cells, kind)))
        )
        for kind, cells in ((kind, table.cells[name]) for name, kind in table.kinds.items())
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

    # the threads of pq.read_table may outlive the interpreter, which then aborts
    with pq.ParquetFile(file) as opened:
        found: dict[str, list[Cell]] = opened.read(use_threads=False).to_pydict()
    return found


def _buffers(cells: Sequence[Cell], kind: str) -> list[Buffer]:
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
