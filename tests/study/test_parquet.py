"""Tables of tasks as files, read back by DuckDB and by gnomon."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import DataError
from gnomon.study._parquet import cells_of, columns_of, to_parquet
from gnomon.study._tasks import TaskTable

if TYPE_CHECKING:
    from pathlib import Path

_KINDS = {"name": "text", "n": "count", "score": "number", "rises": "truth"}
_ROWS = st.lists(
    st.tuples(
        st.none() | st.text(st.characters(exclude_categories=["Cs"])),
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.floats(allow_nan=False),
        st.none() | st.booleans(),
    ),
    max_size=20,
)


@given(rows=_ROWS)
def test_cells_come_back_as_they_were(
    rows: list[tuple[object, ...]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    import duckdb

    columns = {name: [row[i] for row in rows] for i, name in enumerate(_KINDS)}
    file = tmp_path_factory.mktemp("cells") / "table.parquet"
    file.write_bytes(to_parquet(TaskTable("t", _KINDS, columns)))  # type: ignore[arg-type]  # cells of any kind
    assert cells_of(file) == columns
    with duckdb.connect() as found:
        assert found.read_parquet(str(file)).fetchall() == rows
        types = found.read_parquet(str(file)).types
    assert [str(one) for one in types] == ["VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"]


def test_columns_carry_their_meaning(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    file.write_bytes(to_parquet(TaskTable("t", {"x": "number"}, {"x": [math.inf]}, {"x": "why"})))
    assert columns_of(file) == {"x": "why"}


def test_text_in_a_column_of_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="could not convert"):
        to_parquet(TaskTable("t", {"x": "number"}, {"x": ["many"]}))


def test_a_column_of_more_text_than_fits_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.study._parquet._MOST_TEXT", 4)
    to_parquet(TaskTable("t", {"x": "text"}, {"x": ["ab", "cd"]}))
    with pytest.raises(DataError, match="holds 5 bytes of text"):
        to_parquet(TaskTable("t", {"x": "text"}, {"x": ["ab", "cde"]}))


def test_writing_and_reading_imports_no_pandas(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from gnomon.study._parquet import *;"
        " from gnomon.study._tasks import TaskTable; file = Path(sys.argv[1]);"
        " file.write_bytes(to_parquet(TaskTable('t', {'x': 'text'}, {'x': ['a', None]})));"
        " assert cells_of(file) == {'x': ['a', None]}; sys.exit('pandas' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "t.parquet"], check=True)
