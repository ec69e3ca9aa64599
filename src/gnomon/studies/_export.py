"""A store as one DuckDB file, or as a folder of CSV files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import OutputError, UnknownNameError
from gnomon.studies.query import OWN_TABLES, connect, damage, meanings_of, names, views
from gnomon.studies.tables import sql_name, sql_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from gnomon.studies.result_store import Store


_RISKY = "^[=+@\\t\\r-]"


def export(
    store: Store,
    to: str | PathLike[str],
    *,
    tables: Sequence[str] | None = None,
) -> dict[str, int]:
    """Write tables, all or none; returns how many rows each has.

    A name that ends in .duckdb is a file, in which what the columns mean goes along as comments;
    any other is a folder of CSV.
    """
    tables_there = names(store)
    for name in tables or ():
        if name not in tables_there:
            raise UnknownNameError("table", name, tables_there)
    wanted = tuple(tables or (*store.files(), *OWN_TABLES))
    target = Path(to)
    one_file = target.suffix == ".duckdb"
    taken = target.exists() and (one_file or not target.is_dir() or any(target.iterdir()))
    if taken:
        raise OutputError(f"{target} is there already; name a new one")
    if one_file and not target.absolute().parent.is_dir():
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
            return write.write_tables(wanted, named_views, target, one_file=one_file)
        except duckdb.Error as error:
            raise damage(store) or error from error


@dataclass(frozen=True)
class _ExportWriter:
    store: Store
    connection: Any  # DuckDB is optional and without types

    def write_tables(
        self,
        tables: Sequence[str],
        named_views: Sequence[tuple[str, str]],
        target: Path,
        *,
        one_file: bool,
    ) -> dict[str, int]:
        """Write some tables, and the SQL of some views where a file can hold it."""
        target = Path(os.path.realpath(target))
        beside = next(parent for parent in target.parents if parent.exists())  # on the same disk
        with TemporaryDirectory(prefix=".", suffix=".tmp", dir=beside) as scratch:
            made = Path(scratch, target.name)
            if one_file:
                self._write_one_file(tables, named_views, made)
            else:
                made.mkdir()
                for name in tables:
                    self._file(name, made / f"{name}.csv")
            target.parent.mkdir(parents=True, exist_ok=True)
            rows = {name: self._count(name) for name in tables}
            made.rename(target)  # a folder takes the place of an empty one
        return rows

    def _count(self, table: str) -> int:
        return int(self.connection.execute(f'select count(*) from "{table}"').fetchone()[0])

    def _write_one_file(
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

    def _file(self, table: str, file: Path) -> None:
        chosen = _harmless(self.connection, table)
        self.connection.execute(
            f'copy (select {chosen} from "{table}") to {sql_text(file)} (format csv, header)'
        )


def _harmless(connection: Any, table: str) -> str:  # DuckDB is optional and without types
    described = connection.execute(f'describe "{table}"').fetchall()
    return ", ".join(
        f"case when regexp_matches(\"{name}\", {sql_text(_RISKY)}) then '''' || \"{name}\""
        f' else "{name}" end as "{name}"'
        if kind == "VARCHAR"
        else f'"{name}"'
        for name, kind, *_ in described
    )
