"""A store as one DuckDB file, or as a folder of CSV or Parquet files."""

from __future__ import annotations

import os
from base64 import b64encode
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from gnomon.core.errors import OutputError, UnknownNameError, UsageError
from gnomon.studies._query import OWN_TABLES, TASK, connect, damage, meanings_of, names, views
from gnomon.studies._tables import arrow_schema, sql_name, sql_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from gnomon.studies._store import Store


ExportKind = Literal["duckdb", "csv", "parquet"]

_RISKY = "^[=+@\\t\\r-]"


def export(
    store: Store,
    to: str | PathLike[str],
    *,
    kind: ExportKind = "duckdb",
    tables: Sequence[str] | None = None,
) -> dict[str, int]:
    """Write tables, all or none; returns how many rows each has.

    What the columns mean goes along: as comments of a .duckdb file, and in the Arrow schema of
    Parquet files, with all that methods declared of them.
    """
    if kind not in ("duckdb", "csv", "parquet"):
        raise UsageError(f"kind is duckdb, csv or parquet; got {kind!r}")
    tables_there = names(store)
    for name in tables or ():
        if name not in tables_there:
            raise UnknownNameError("table", name, tables_there)
    wanted = tuple(tables or (*store.files(), *OWN_TABLES))
    target = Path(to)
    taken = target.exists() and (kind == "duckdb" or not target.is_dir() or any(target.iterdir()))
    if taken:
        raise OutputError(f"{target} is there already; name a new one")
    if kind == "duckdb" and not target.absolute().parent.is_dir():
        raise OutputError(
            f"{target} cannot be written: there is no folder {target.parent}; make it"
        )
    connection = connect(store, closed=False, frugal=True)
    import duckdb

    from gnomon.data.formats import explain_failure

    with explain_failure(target, duckdb.Error):
        try:
            named_views = [] if tables else [(view.name, view.sql) for view in views(store)]
            write = _ExportWriter(store, connection)
            return write.all(wanted, named_views, target, kind)
        except duckdb.Error as error:
            raise damage(store) or error from error


@dataclass(frozen=True)
class _ExportWriter:
    store: Store
    connection: Any  # DuckDB is optional and without types

    def all(
        self,
        tables: Sequence[str],
        named_views: Sequence[tuple[str, str]],
        target: Path,
        kind: ExportKind,
    ) -> dict[str, int]:
        """Write some tables, and the SQL of some views where a file can hold it."""
        target = Path(os.path.realpath(target))
        beside = next(parent for parent in target.parents if parent.exists())  # on the same disk
        with TemporaryDirectory(prefix=".", suffix=".tmp", dir=beside) as scratch:
            made = Path(scratch, target.name)
            if kind == "duckdb":
                self._one_file(tables, named_views, made)
            else:
                made.mkdir()
                for name in tables:
                    self._file(name, made / f"{name}.{kind}", kind)
            target.parent.mkdir(parents=True, exist_ok=True)
            rows = {name: self._count(name) for name in tables}
            made.rename(target)  # a folder takes the place of an empty one
        return rows

    def _count(self, table: str) -> int:
        return int(self.connection.execute(f'select count(*) from "{table}"').fetchone()[0])

    def _one_file(
        self, tables: Sequence[str], named_views: Sequence[tuple[str, str]], file: Path
    ) -> None:
        run = self.connection.execute
        run(f"attach {sql_text(file)} as taken")
        try:
            for name in tables:
                run(f'create table taken."{name}" as select * from memory."{name}"')
            run("use taken")
            for name, sql in named_views:
                run(f"create view {name} as {sql}")
            for name in (*tables, *(name for name, _ in named_views)):
                for column, meaning in meanings_of(self.store, name).items():
                    run(f'comment on column "{name}".{sql_name(column)} is {sql_text(meaning)}')
        finally:
            run("use memory")
            run("detach taken")

    def _file(self, table: str, file: Path, kind: ExportKind) -> None:
        chosen = "*" if kind == "parquet" else _harmless(self.connection, table)
        options = "format csv, header" if kind == "csv" else f"format parquet{self._schema(table)}"
        self.connection.execute(
            f'copy (select {chosen} from "{table}") to {sql_text(file)} ({options})'
        )

    def _schema(self, table: str) -> str:
        """What methods declared of a table, as Arrow keeps it in a Parquet file."""
        if table not in self.store.files():
            return ""
        schema = self.store.schema(table)
        whole = replace(schema, table=replace(schema.table, columns=(*schema.columns, TASK)))
        encoded = b64encode(arrow_schema(whole).serialize().to_pybytes()).decode()
        return f", kv_metadata {{'ARROW:schema': {sql_text(encoded)}}}"


def _harmless(connection: Any, table: str) -> str:  # DuckDB is optional and without types
    described = connection.execute(f'describe "{table}"').fetchall()
    return ", ".join(
        f"case when regexp_matches(\"{name}\", {sql_text(_RISKY)}) then '''' || \"{name}\""
        f' else "{name}" end as "{name}"'
        if kind == "VARCHAR"
        else f'"{name}"'
        for name, kind, *_ in described
    )
