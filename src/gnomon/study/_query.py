"""SQL over a store: an in-memory DuckDB that sees the store's files and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gnomon.errors import MissingDependencyError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.study._store import Store

__all__ = ["Answer", "ask", "connect", "overview"]


@dataclass(frozen=True)
class Answer:
    """What a query gave.

    Attributes:
        columns: names of the columns; a name may stand twice.
        types: their types in SQL.
        rows: the cells, row by row.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def to_frame(self) -> Any:  # polars is optional
        """The rows as a polars data frame.

        Raises:
            MissingDependencyError: polars is not installed.
        """
        try:
            import polars as pl
        except ImportError as error:
            raise MissingDependencyError(
                "data frames need polars, which is not installed; run: pip install 'gnomon[study]'"
            ) from error
        return pl.DataFrame(
            list(self.rows), schema=list(self.columns), orient="row", infer_schema_length=None
        )


def ask(store: Store, sql: str) -> Answer:
    """What a query gives.

    Raises:
        MissingDependencyError: duckdb is not installed.
        UsageError: the SQL is wrong, or asks for what lies outside the store.
    """
    connection = connect(store)
    import duckdb

    try:
        return _answer(connection.execute(sql))
    except duckdb.Error as error:
        tables = ", ".join((*store.files(), "tasks"))
        raise UsageError(f"the query failed: {error}\nthere are the tables {tables}") from error


def _answer(found: Any) -> Answer:  # DuckDB is optional and without types
    described = found.description or []
    names = tuple(str(column[0]) for column in described)
    return Answer(names, tuple(str(column[1]) for column in described), tuple(found.fetchall()))


def overview(store: Store) -> Answer:
    """The tables of a store with their columns and numbers of rows."""
    connection = connect(store)
    columns = connection.execute(
        "select table_name, string_agg(column_name, ', ' order by column_index)"
        " from duckdb_columns() where not internal group by 1 order by 1"
    ).fetchall()
    counts = [
        connection.execute(f'select count(*) from "{name}"').fetchone()[0] for name, _ in columns
    ]
    rows = [(name, count, said) for (name, said), count in zip(columns, counts, strict=True)]
    return Answer(("table", "rows", "columns"), ("VARCHAR", "BIGINT", "VARCHAR"), tuple(rows))


def connect(store: Store, *, closed: bool = True) -> Any:  # DuckDB is optional, without types
    """A connection in whose memory the tables of a store are views.

    Args:
        store: the results.
        closed: let queries reach no file outside the store, and change no setting.

    Raises:
        MissingDependencyError: duckdb is not installed.
    """
    try:
        import duckdb
    except ImportError as error:
        raise MissingDependencyError(
            "queries need duckdb, which is not installed; run: pip install 'gnomon[study]'"
        ) from error
    found = duckdb.connect(":memory:")
    found.execute(
        "create table tasks (key text, method text, testset text, metrics text, systems bigint,"
        " seconds double, signatures text, notices text)"
    )
    planned = set(store.planned())
    rows = [
        (
            one.key,
            one.method,
            one.testset,
            ", ".join(one.metrics),
            len(one.systems),
            one.seconds,
            "\n".join(one.signatures.values()),
            "\n".join(one.notices),
        )
        for one in store.entries.values()
        if one.key in planned
    ]
    if rows:
        found.executemany("insert into tasks values (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    if closed:
        folder = str(store.path.resolve())
        found.execute(f"set allowed_directories = [{_quoted(folder)}]")
    for name, files in store.files().items():
        found.execute(
            f'create view "{name}" as select * from read_parquet({_listed(files)},'
            " union_by_name = true)"
        )
    if closed:  # before a query comes in
        found.execute("set enable_external_access = false")
        found.execute("set lock_configuration = true")
    return found


def _listed(files: list[Path]) -> str:
    return "[" + ", ".join(_quoted(str(one.resolve())) for one in files) + "]"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
