"""A store as one DuckDB file, or as a folder of CSV or Parquet files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from gnomon.errors import OutputError, UnknownNameError, UsageError
from gnomon.study._query import connect, damage, names
from gnomon.study._views import OWN_TABLES, views

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from gnomon.study._held import Held

__all__ = ["Kind", "export"]

Kind = Literal["duckdb", "csv", "parquet"]

_RISKY = "^[=+@\\t\\r-]"


def export(
    store: Held,
    to: str | PathLike[str],
    *,
    kind: Kind = "duckdb",
    tables: Sequence[str] | None = None,
    keep_formulas: bool = False,
) -> dict[str, int]:
    """Write tables, all or none; returns how many rows each has.

    Args:
        store: the results.
        to: a file for "duckdb", else a folder; it must not be there (a folder may be empty).
        kind: "duckdb" (one file), "csv" or "parquet" (a file per table).
        tables: which tables and views; all tables by default. A .duckdb file has all views, too.
        keep_formulas: CSV: do not put ``'`` before texts that a spreadsheet would take for
            formulas.

    Raises:
        MissingDependencyError: duckdb is not installed.
        OutputError: the place is taken or cannot be written.
        DataError: a file of the store is missing or damaged.
        UnknownNameError: there is no such table.
        UsageError: the kind is none of these.
    """
    if kind not in ("duckdb", "csv", "parquet"):
        raise UsageError(f"kind is duckdb, csv or parquet; got {kind!r}")
    known = names(store)
    for name in tables or ():
        if name not in known:
            raise UnknownNameError("table", name, known)
    wanted = tuple(tables or (*store.files(), *OWN_TABLES))
    place = Path(to)
    taken = place.exists() and (kind == "duckdb" or not place.is_dir() or any(place.iterdir()))
    if taken:
        raise OutputError(f"{place} is there already; name a new one")
    if kind == "duckdb" and not place.absolute().parent.is_dir():
        raise OutputError(f"{place} cannot be written: there is no folder {place.parent}; make it")
    connection = connect(store, closed=False, frugal=True)
    import duckdb

    from gnomon.formats import explain_failure

    with explain_failure(place, duckdb.Error):
        try:
            found = [] if tables else [(view.name, view.sql) for view in views(store)]
            return _whole(connection, wanted, found, place, kind, keep_formulas=keep_formulas)
        except duckdb.Error as error:
            raise damage(store, error) or error from error


def _whole(
    connection: Any,  # DuckDB is optional and without types
    tables: Sequence[str],
    found: Sequence[tuple[str, str]],
    place: Path,
    kind: Kind,
    *,
    keep_formulas: bool,
) -> dict[str, int]:
    place = place.resolve()
    beside = next(one for one in place.parents if one.exists())  # on the same disk
    with TemporaryDirectory(prefix=".", suffix=".tmp", dir=beside) as scratch:
        made = Path(scratch, place.name)
        if kind == "duckdb":
            _into_one(connection, tables, found, made)
        else:
            made.mkdir()
            for name in tables:
                _into_file(
                    connection, name, made / f"{name}.{kind}", kind, keep_formulas=keep_formulas
                )
        count = 'select count(*) from "{}"'
        rows = {name: connection.execute(count.format(name)).fetchone()[0] for name in tables}
        place.parent.mkdir(parents=True, exist_ok=True)
        made.rename(place)  # a folder takes the place of an empty one
    return rows


def _into_one(
    connection: Any,  # DuckDB is optional and without types
    tables: Sequence[str],
    found: Sequence[tuple[str, str]],
    file: Path,
) -> None:
    connection.execute(f"attach {_text(file)} as taken")
    try:
        for name in tables:
            connection.execute(f'create table taken."{name}" as select * from memory."{name}"')
        connection.execute("use taken")
        for name, sql in found:
            connection.execute(f"create view {name} as {sql}")
    finally:
        connection.execute("use memory")
        connection.execute("detach taken")


def _into_file(
    connection: Any,  # DuckDB is optional and without types
    table: str,
    file: Path,
    kind: Kind,
    *,
    keep_formulas: bool,
) -> None:
    chosen = "*" if keep_formulas or kind == "parquet" else _harmless(connection, table)
    options = "format csv, header" if kind == "csv" else "format parquet"
    connection.execute(f'copy (select {chosen} from "{table}") to {_text(file)} ({options})')


def _harmless(connection: Any, table: str) -> str:  # DuckDB is optional and without types
    described = connection.execute(f'describe "{table}"').fetchall()
    return ", ".join(
        f"case when regexp_matches(\"{name}\", {_text(_RISKY)}) then '''' || \"{name}\""
        f' else "{name}" end as "{name}"'
        if kind == "VARCHAR"
        else f'"{name}"'
        for name, kind, *_ in described
    )


def _text(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"
