"""SQL over a store: an in-memory DuckDB that reads the store's tables and nothing else."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from gnomon.errors import DataError, MissingDependencyError, UsageError
from gnomon.study._answer import Answer, parts_of
from gnomon.study._bundles import bundle_of, source_of
from gnomon.study._questions import question
from gnomon.study._views import OWN_TABLES, SQL_TYPES, meanings_of, views

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from gnomon.study._bundles import Source
    from gnomon.study._held import Held

#: each thread asks for its share of the memory
_FRUGAL = {"memory_limit": "128MB", "threads": "2"}
#: words of queries that ask which tables there are
_ABOUT_ALL = ("duckdb_", "information_schema", "pg_", "pragma_", "show", "sqlite_")

__all__ = ["ask", "connect", "damage", "described", "names", "overview"]


def ask(store: Held, sql: str) -> Answer:
    """What a query gives.

    Raises:
        MissingDependencyError: duckdb is not installed.
        UsageError: the SQL is wrong, does more than read, or asks for what lies outside the store.
        DataError: a file of the store is missing or damaged.
    """
    connection = connect(store, sql=sql, frugal=True)
    import duckdb

    with _told(store):
        try:
            return _asked(store, connection, sql)
        except duckdb.OutOfMemoryException:  # not everything can go on on the disk
            return _asked(store, connect(store, sql=sql), sql)


def _asked(store: Held, connection: Any, sql: str) -> Answer:  # DuckDB has no types
    found = connection.execute(question(sql))
    described = found.description or []
    columns = tuple(str(column[0]) for column in described)
    parts = parts_of(found)
    first = next(parts, [])  # what goes wrong while it runs mostly does so here
    rest = _parts(store, parts)
    return Answer(columns, tuple(str(column[1]) for column in described), chain([first], rest))


def _parts(store: Held, parts: Iterator[list[tuple[Any, ...]]]) -> Iterator[list[tuple[Any, ...]]]:
    with _told(store):
        yield from parts


@contextmanager
def _told(store: Held) -> Iterator[None]:
    """Say what went wrong with a query."""
    import duckdb

    try:
        yield
    except duckdb.PermissionException as error:
        raise UsageError(f"the query failed: {error}") from error
    except duckdb.Error as error:
        if (said := damage(store, error)) is not None:
            raise said from error
        tables = ", ".join(names(store))
        raise UsageError(f"the query failed: {error}\nthere are the tables {tables}") from error


def damage(store: Held, error: Exception) -> DataError | None:
    """What to say where DuckDB could not read a file of the store; None where it was no file."""
    file = _blamed(store, error)
    return None if file is None else store.damage_of(file)


def _blamed(store: Held, error: Exception) -> Path | None:
    import duckdb

    said = str(error).partition("\n\nLINE ")[0]  # there the query follows
    _, found, rest = said.partition(f"{store.path.resolve()}/")
    if found:
        return store.path / f"{rest.partition('.parquet')[0]}.parquet"
    if type(error) is not duckdb.Error:
        return None
    # what reads Parquet does not always say of which file it speaks
    every = (file for parts in store.files().values() for file in parts)
    return next((file for file in every if file.exists() and not store.is_intact(file)), None)


def names(store: Held) -> tuple[str, ...]:
    """What a query can name: tables, then views over them."""
    return (*store.files(), *OWN_TABLES, *(view.name for view in views(store)))


def overview(store: Held) -> Answer:
    """The tables of a store with their columns and numbers of rows."""
    connection = connect(store)
    rows = []
    for name in names(store):
        columns = connection.execute(f'describe "{name}"').fetchall()
        count = connection.execute(f'select count(*) from "{name}"').fetchone()[0]
        rows.append((name, count, ", ".join(column[0] for column in columns)))
    return Answer(("table", "rows", "columns"), ("VARCHAR", "BIGINT", "VARCHAR"), [rows])


def described(store: Held) -> Answer:
    """Every column of every table: its type, and what it means."""
    connection = connect(store)
    rows = []
    for name in names(store):
        said = meanings_of(store, name)
        for column, kind, *_ in connection.execute(f'describe "{name}"').fetchall():
            rows.append((name, column, kind, said.get(column, "")))
    columns = ("table", "column", "type", "meaning")
    return Answer(columns, ("VARCHAR",) * len(columns), [rows])


def connect(
    store: Held,
    *,
    closed: bool = True,
    sql: str | None = None,
    all_files: bool = False,
    frugal: bool = False,
) -> Any:  # DuckDB is optional, without types
    """A connection in whose memory the tables of a store are views.

    Args:
        store: the results.
        closed: let queries reach no file but those of the tables, and change no setting.
        sql: the query, if it is known: files of tables that it does not name are not opened.
        all_files: let queries reach all files of the store, for SQL that no user wrote.
        frugal: hold little at a time, the rest on the disk.

    Raises:
        MissingDependencyError: duckdb is not installed.
        DataError: a file of the store is missing or damaged.
    """
    try:
        import duckdb
    except ImportError as error:
        raise MissingDependencyError(
            "queries need duckdb, which is not installed; run: pip install 'gnomon[study]'"
        ) from error
    found = duckdb.connect(":memory:")
    found.execute("set preserve_insertion_order = true")
    found.execute("set enable_progress_bar = false")  # it goes to standard output
    spill = Path(gettempdir(), f"gnomon-{secrets.token_hex(8)}")  # made and removed by DuckDB
    found.execute(f"set temp_directory = {_quoted(str(spill))}")
    for setting, value in _FRUGAL.items() if frugal else ():
        found.execute(f"set {setting} = '{value}'")
    for name, rows in (("tasks", _tasks(store)), ("testsets", _testsets(store))):
        kinds = {column.name: SQL_TYPES[column.kind] for column in OWN_TABLES[name]}
        columns = ", ".join(f'"{column}" {kind}' for column, kind in kinds.items())
        found.execute(f"create table {name} ({columns})")
        if rows:  # column by column: thousands of rows take long one by one
            cells = ", ".join(f"unnest(?::{kind}[])" for kind in kinds.values())
            found.execute(
                f"insert into {name} select {cells}", [*map(list, zip(*rows, strict=True))]
            )
    sources = _sources(store, _named(store, sql))
    if closed and all_files:
        found.execute(f"set allowed_directories = {_listed([store.path])}")
    elif closed:
        every = [file for _, parts in sources.values() for file in parts]
        found.execute(f"set allowed_paths = {_listed(every)}")
    try:
        _name_tables(found, store, sources)
    except duckdb.Error as error:
        raise damage(store, error) or DataError(
            f"the store {store.path} cannot be read: {error}"
        ) from error
    if closed:  # before a query comes in
        found.execute("set enable_external_access = false")
        found.execute("set lock_configuration = true")
    return found


def _sources(store: Held, wanted: Collection[str]) -> dict[str, Source]:
    """What to read for each table, all of it here and whole."""
    planned = frozenset(store.planned())
    found = {}
    for name, parts in store.files().items():
        if name in wanted:
            known = bundle_of(store.path, name, store.entries)
            found[name] = source_of(parts, known, planned)
            store.fetch([one for one in found[name].files if known is None or one != known.file])
    return found


def _name_tables(connection: Any, store: Held, sources: Mapping[str, Source]) -> None:
    """Make views of some tables, and the views over these."""
    for name, source in sources.items():
        connection.execute(f'create view "{name}" as {source.sql}')
    for view in views(store):
        if sources.keys() >= set(view.of):
            connection.execute(f"create view {view.name} as {view.sql}")


def _named(store: Held, sql: str | None) -> set[str]:
    """The tables that a query needs; all where it asks which there are, or is not known."""
    known = set(store.files())
    said = (sql or "").lower()
    if sql is None or any(word in said for word in _ABOUT_ALL):
        return known
    of_views = {name for view in views(store) if view.name in said for name in view.of}
    return {name for name in known if name.lower() in said} | of_views


def _tasks(store: Held) -> list[tuple[object, ...]]:
    planned = [store.entries[key] for key in store.planned() if key in store.entries]
    return [
        (
            one.key,
            one.method,
            one.testset,
            ", ".join(one.metrics),
            len(one.systems),
            one.options or None,
            one.seconds,
            one.finished or None,
            one.gnomon or None,
            _lines(f"{name} {found}" for name, found in one.made_with.items()),
            _lines(one.signatures.values()),
            _lines(one.notices),
        )
        for one in planned
    ]


def _testsets(store: Held) -> list[tuple[object, ...]]:
    return [
        (
            one.name,
            one.sketch.language_pair,
            one.sketch.segments,
            len(one.sketch.systems),
            ", ".join(one.sketch.references),
            one.sketch.judged,
            one.source.path,
        )
        for one in store.sets()
    ]


def _lines(parts: Iterable[str]) -> str | None:
    return "\n".join(parts) or None


def _listed(files: Iterable[Path]) -> str:
    return "[" + ", ".join(_quoted(str(one.resolve())) for one in files) + "]"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
