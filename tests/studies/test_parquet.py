"""Tables of tasks as files, read back by DuckDB and by gnomon."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import DataError
from gnomon.core.findings import (
    Bars,
    Column,
    HeatMap,
    Histogram,
    Lines,
    Listing,
    Scatter,
    StackedBars,
    Table,
    View,
)
from gnomon.studies.tables import (
    TableSchema,
    TaskTable,
    cells_of,
    encode_parquet,
    schema_in,
    united,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gnomon.core.findings import Cell, Kind

_KINDS: Mapping[str, Kind] = {"name": "text", "n": "count", "score": "number", "rises": "truth"}
_ROWS = st.lists(
    st.tuples(
        st.none() | st.text(st.characters(exclude_categories=["Cs"])),
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.floats(allow_nan=False),
        st.none() | st.booleans(),
    ),
    max_size=20,
)


def _table(kinds: Mapping[str, Kind], cells: Mapping[str, Sequence[Cell]]) -> TaskTable:
    columns = tuple(Column(name, name, kind) for name, kind in kinds.items())
    return TaskTable(TableSchema(Table("t", "T", columns, ())), cells)


@given(rows=_ROWS)
def test_cells_come_back_as_they_were(
    rows: list[tuple[object, ...]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    import duckdb

    columns = {name: [row[i] for row in rows] for i, name in enumerate(_KINDS)}
    file = tmp_path_factory.mktemp("cells") / "table.parquet"
    file.write_bytes(encode_parquet(_table(_KINDS, columns)))  # type: ignore[arg-type]  # cells of any kind
    assert cells_of(file) == columns
    with duckdb.connect() as found:
        assert found.read_parquet(str(file)).fetchall() == rows
        types = found.read_parquet(str(file)).types
    assert [str(one) for one in types] == ["VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"]


_COLUMNS = (
    Column("name", 'Name \u2014 "x"', help="what it is called"),
    Column("few", "Few", "truth"),
    Column("n", "n", "count", better="lower"),
    Column("score", "Score", "number", 4, "higher", ends=("low", "high")),
    Column("low", "From", "number", 4),
    Column("high", "To", "number", 4),
    Column("share", "Share", "share", 3),
)
_VIEWS: tuple[View, ...] = (
    HeatMap(
        "t", "Heat", "name", "name", "score", beside="n", where={"name": None, "few": True, "n": 3},
        low=0.0, high=1.5, marks="few", faint="few", under="n", exhibits=True, prominent=False,
    ),
    Bars("t", "Bars", "name", "name", ("score", "share"), {"n": 1}, ("a", "b"), 2, "n"),
    StackedBars("t", "Parts", "name", "name", ("share", "share"), {"score": 0.5}),
    Scatter("t", "Dots", "score", "share", "name", "name", "few", {"few": False}, identity=True),
    Lines("t", "Lines", "n", "score", "name", "few", {}, "low", "high", identity=True, ink="a"),
    Histogram("t", "Histogram", "name", "low", "high", "n", {"name": "x"}),
    Listing("t", "Listing", ("name", "score"), {"name": "y"}, most=5),
)  # fmt: skip


def test_what_was_declared_comes_back_as_the_very_same(tmp_path: Path) -> None:
    schema = TableSchema(Table("t", "The table", _COLUMNS, (), "A note."), "a method", _VIEWS)
    file = tmp_path / "t.parquet"
    file.write_bytes(encode_parquet(TaskTable(schema, {column.name: [] for column in _COLUMNS})))
    assert schema_in(file) == schema
    assert schema_in(file).digest == schema.digest


def test_one_schema_of_several_has_all_columns_and_the_first_word_on_each() -> None:
    one = TableSchema(Table("t", "One", _COLUMNS[:3], (), "first"), "a", _VIEWS[:2])
    other = Table("t", "Other", (Column("n", "N", "number"), _COLUMNS[3]), (), "second")
    found = united([one, TableSchema(other, "b", _VIEWS[1:4])])
    assert found == TableSchema(Table("t", "One", _COLUMNS[:4], (), "first"), "a", _VIEWS[:4])


def test_a_file_that_says_nothing_of_its_columns_is_told(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"t\.parquet does not say what its columns are"):
        schema_in(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("kind", "cell"),
    [("number", "many"), ("text", True), ("truth", 1), ("count", 0.5), ("number", False)],
)
def test_a_cell_that_is_not_of_the_declared_kind_is_refused(kind: Kind, cell: Cell) -> None:
    with pytest.raises(DataError, match=rf"'x' of the table 't' is declared as '{kind}'"):
        encode_parquet(_table({"x": kind}, {"x": [None, cell]}))


def test_a_number_in_a_column_of_text_is_text(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    file.write_bytes(
        encode_parquet(_table({"year": "text", "x": "number"}, {"year": [2019], "x": [math.inf]}))
    )
    assert cells_of(file) == {"year": ["2019"], "x": [math.inf]}


def test_a_column_of_more_text_than_fits_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.studies.tables._MOST_TEXT", 4)
    encode_parquet(_table({"x": "text"}, {"x": ["ab", "cd"]}))
    with pytest.raises(DataError, match="holds 5 bytes of text"):
        encode_parquet(_table({"x": "text"}, {"x": ["ab", "cde"]}))


def test_writing_and_reading_imports_no_pandas(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from gnomon.core.findings import Column, Table;"
        " from gnomon.studies.tables import cells_of, schema_in, encode_parquet;"
        " from gnomon.studies.tables import TableSchema, TaskTable; file = Path(sys.argv[1]);"
        " schema = TableSchema(Table('t', 'T', (Column('x', 'X'),), ()));"
        " file.write_bytes(encode_parquet(TaskTable(schema, {'x': ['a', None]})));"
        " assert cells_of(file) == {'x': ['a', None]}; assert schema_in(file) == schema;"
        " sys.exit('pandas' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "t.parquet"], check=True)
