"""SQL over a store: an in-memory DuckDB that reads the store's tables and nothing else."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gnomon.core import registry as methods
from gnomon.core.errors import DataError, UsageError, not_installed
from gnomon.core.findings import Column
from gnomon.messages import noted
from gnomon.studies.tables import bundle_of, source_of, sql_files, sql_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from gnomon.core.findings import Kind
    from gnomon.studies.result_store import Store
    from gnomon.studies.tables import RowSource

__all__ = [
    "OWN_TABLES",
    "TASK",
    "QueryResult",
    "alone",
    "ask",
    "connect",
    "damage",
    "described",
    "meanings_of",
    "names",
    "overview",
    "views",
]


# What a query gave: rows as tuples, or a data frame that is filled part by part.


#: what fits into memory as tuples without a thought
_ROWS = 8192

_KINDS: Mapping[str, Kind] = {"DOUBLE": "number", "FLOAT": "number", "BOOLEAN": "truth"}

_Row: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True)
class QueryResult:
    """The result of a query.

    Attributes:
        columns: names of the columns; a name may stand twice.
        types: their types in SQL.
        parts: the rows, some at a time; read once, by whichever is asked for first.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    parts: Iterable[Sequence[_Row]]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, each with a name of its own: the second ``a`` is called ``a_2``."""
        names: list[str] = []
        for name in self.columns:
            number, unique = 1, name
            while unique in names or (number > 1 and unique in self.columns):
                number += 1
                unique = f"{name}_{number}"
            names.append(unique)
        return tuple(names)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kinds of the columns: numbers, counts, truth values, or texts."""
        return tuple(
            _KINDS.get(kind, "count" if kind.endswith("INT") else "text") for kind in self.types
        )

    @cached_property
    def rows(self) -> tuple[_Row, ...]:
        """The cells, row by row.

        Raises:
            DataError: a file of the store is gone or damaged by now.
        """
        if "_frame" in self.__dict__:
            return tuple(self._frame.rows())
        return tuple(chain.from_iterable(self.parts))

    def to_frame(self) -> Any:  # polars is optional
        """The rows as a polars data frame; large ones need no memory for tuples.

        Raises:
            MissingDependencyError: polars is not installed.
            DataError: a file of the store is gone or damaged by now.
        """
        return self._frame.clone()

    @cached_property
    def _frame(self) -> Any:  # polars is optional
        try:
            import polars as pl
        except ImportError as error:
            raise not_installed("a data frame", "polars", "study") from error
        types = {
            "VARCHAR": pl.String,
            "BOOLEAN": pl.Boolean,
            **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), pl.Int64),
            **dict.fromkeys(("FLOAT", "DOUBLE"), pl.Float64),
        }
        kinds = zip(self.names, self.types, strict=True)
        schema = [(name, types.get(kind)) for name, kind in kinds]
        parts = [self.rows] if "rows" in self.__dict__ else self.parts
        frames = [
            pl.DataFrame(rows, schema=schema, orient="row", infer_schema_length=None)
            for rows in parts
        ]
        return pl.concat(frames or [pl.DataFrame(schema=schema)], how="vertical_relaxed")


# What may be asked: one statement that reads.


#: below the top level DuckDB refuses what writes
_BELOW = "select * from (\n{}\n)"
_HOW = "a query only reads: write one SELECT (or FROM, WITH, PIVOT, DESCRIBE, SHOW)"


def question(sql: str) -> str:
    """A query as it is to be run."""
    import duckdb

    statements = duckdb.extract_statements(sql)
    if len(statements) != 1:
        raise UsageError(f"{_HOW}; got {len(statements) or 'no'} statements")
    copies = "copy" in sql.lower()
    if _kind(statements[0]) not in ("SELECT", *(() if copies else ("MULTI",))):  # as pivots are
        raise UsageError(f"{_HOW}; got {_shortened(sql)!r}")
    return _BELOW.format(statements[0].query.strip().rstrip(";")) if copies else sql


def _kind(statement: Any) -> str:
    """Kind of a statement; DuckDB's Python has no name for some (``update extensions``)."""
    try:
        return str(statement.type.name)
    except ValueError:
        return "unknown"


def _shortened(sql: str) -> str:
    said = " ".join(sql.split())
    return said if len(said) <= 60 else f"{said[:57]}..."


# What can be asked beside the tables of methods: tables of the store itself, and views.


#: tables of the store itself; see :data:`SQL_TYPES`
OWN_TABLES: Mapping[str, tuple[Column, ...]] = {
    "tasks": (
        Column("key", "Key", help="of the task; column task of the other tables"),
        Column("method", "Method", help="as in the study"),
        Column("testset", "Test set", help="name of the test set"),
        Column("metrics", "Metrics", help="specs"),
        Column("systems", "Systems", "count", help="how many it had"),
        Column("options", "Options", help="of the method, JSON"),
        Column("seconds", "Seconds", "number", help="wall clock of one worker"),
        Column("finished", "Finished", help="when, UTC"),
        Column("gnomon", "gnomon", help="version"),
        Column(
            "made_with",
            "Made with",
            help="packages, models, taggers and files, with versions or hashes",
        ),
        Column("signatures", "Signatures", help="how to make its numbers again"),
        Column("notices", "Notices", help="what a reader should know"),
    ),
    "testsets": (
        Column("testset", "Test set", help="name of the test set"),
        Column("language_pair", "Language pair", help="of the test set"),
        Column("segments", "Segments", "count", help="how many the study takes"),
        Column("systems", "Systems", "count", help="how many the study takes"),
        Column("references", "References", help="names of the references"),
        Column("judged", "Judged", "truth", help="people said something of it"),
        Column("path", "Path", help="where it was read"),
    ),
}
SQL_TYPES: Mapping[Kind, str] = {
    "text": "VARCHAR", "truth": "BOOLEAN", "count": "BIGINT", "number": "DOUBLE", "share": "DOUBLE"
}  # fmt: skip
#: in all tables of tasks
TASK = Column("task", "Task", help="key of the task that gave the row; see tasks")


class SqlView(NamedTuple):
    """A question that many ask, as a table."""

    name: str
    of: tuple[str, ...]
    sql: str
    meanings: Mapping[str, str]


_LEADERBOARD = SqlView(
    "leaderboard",
    ("scores",),
    "select testset, metric, rank() over (partition by testset, metric order by"
    " if(higher_is_better, score, -score) desc nulls last) as rank, system, score"
    " from scores order by testset, metric, rank, system",
    {
        "testset": "name of the test set",
        "metric": "spec of the metric",
        "rank": "1 is best; error rates are turned",
        "system": "name of the system",
        "score": "corpus score",
    },
)


def views(store: Store) -> list[SqlView]:
    """The views that a store has the tables for, with the columns that they take."""
    there = store.files().keys()
    of_methods = filter(None, map(methods.installed, store.methods()))
    declared = (view for method in of_methods for view in method.views)
    all_views = [_LEADERBOARD]
    for view in declared:
        columns = {column.name: column.help for column in view.columns}
        all_views.append(SqlView(view.name, view.of, view.sql, columns))
    return [view for view in all_views if there >= set(view.of)]


def meanings_of(store: Store, table: str) -> dict[str, str]:
    """Meanings of the columns of a table or view."""
    for view in views(store):
        if view.name == table:
            return dict(view.meanings)
    columns = OWN_TABLES.get(table) or (*store.schema(table).columns, TASK)
    return {column.name: column.help or column.title for column in columns}


#: each thread asks for its share of the memory
_FRUGAL = {"memory_limit": "128MB", "threads": "2"}


def ask(store: Store, sql: str, seconds: float | None = None) -> QueryResult:
    """Run a query; a signal ends it at once, and so does the time limit."""
    connection = connect(store, sql=sql, frugal=True)
    import duckdb

    with _query_errors(store, sql):
        try:
            return _query_result(store, connection, sql, seconds)
        except duckdb.OutOfMemoryException:  # not everything can go on on the disk
            return _query_result(store, connect(store, sql=sql), sql, seconds)


def _query_result(store: Store, connection: Any, sql: str, seconds: float | None) -> QueryResult:
    cursor = _run_with_timeout(seconds, connection, lambda: connection.execute(question(sql)))
    header = cursor.description or []
    columns = tuple(str(column[0]) for column in header)
    parts = _fetch_parts(cursor, connection, seconds)
    first = next(parts, [])  # what goes wrong while it runs mostly does so here
    rest = _guard_parts(store, sql, parts)
    types = tuple(str(column[1]) for column in header)
    return QueryResult(columns, types, chain([first], rest))


def _fetch_parts(cursor: Any, connection: Any, seconds: float | None) -> Iterator[list[_Row]]:
    while rows := _run_with_timeout(seconds, connection, lambda: cursor.fetchmany(_ROWS)):
        yield rows


def _run_with_timeout(seconds: float | None, connection: Any, call: Callable[[], Any]) -> Any:
    """Let DuckDB work in another thread: in the main one it would hear no signal."""
    with ThreadPoolExecutor(1) as apart:
        running = apart.submit(call)
        try:
            return running.result(seconds)
        except TimeoutError as error:
            raise UsageError(
                f"the query has taken {seconds:g} s, and was ended: ask for less at a time, or"
                " allow more (timeout=)"
            ) from error
        finally:
            if not running.done():
                connection.interrupt()


def _guard_parts(store: Store, sql: str, parts: Iterator[list[_Row]]) -> Iterator[list[_Row]]:
    with _query_errors(store, sql):
        yield from parts


@contextmanager
def _query_errors(store: Store, sql: str) -> Iterator[None]:
    """Say what went wrong with a query."""
    import duckdb

    try:
        yield
    except duckdb.PermissionException as error:
        raise UsageError(f"the query failed: {error}") from error
    except duckdb.Error as error:
        if (said := damage(store)) is not None:
            raise said from error
        if lacking := _lacking_step(store, sql):
            raise UsageError(lacking) from error
        tables = ", ".join(names(store))
        raise UsageError(f"the query failed: {error}\nthere are the tables {tables}") from error


def damage(store: Store) -> DataError | None:
    """The error to raise where DuckDB could not read a file of the store; None for others."""
    # what reads Parquet does not always say of which file it speaks
    every = (file for parts in store.files().values() for file in parts)
    file = next((file for file in every if not store.is_intact(file)), None)
    return None if file is None else store.damage_of(file)


def _lacking_step(store: Store, sql: str) -> str:
    """Which step a study lacks, where its view or table is asked for; empty where that is none."""
    import duckdb

    try:
        named = {name.lower() for name in alone().get_table_names(sql)}
    except duckdb.Error:
        return ""
    missing = named.difference(names(store))
    for step in methods.steps():
        method = methods.find(step)
        offered = [*method.tables.values(), *(view.name for view in method.views)]
        offered += [_LEADERBOARD.name] if step == "score" else []
        if name := next((name for name in offered if name in missing), None):
            return (
                f"{name} holds what the method {step} finds, and {store.path} has nothing of it:"
                f" write [methods.{step}] into the study, and run it again"
            )
    return ""


def names(store: Store) -> tuple[str, ...]:
    """Names for queries: tables, then views over them."""
    return (*store.files(), *OWN_TABLES, *(view.name for view in views(store)))


def overview(store: Store) -> QueryResult:
    """The tables of a store with their columns and numbers of rows."""
    connection = connect(store)
    rows = []
    for name in names(store):
        columns = connection.execute(f'describe "{name}"').fetchall()
        count = connection.execute(f'select count(*) from "{name}"').fetchone()[0]
        rows.append((name, count, ", ".join(column[0] for column in columns)))
    return QueryResult(("table", "rows", "columns"), ("VARCHAR", "BIGINT", "VARCHAR"), [rows])


def described(store: Store) -> QueryResult:
    """Every column of every table: its type, and what it means."""
    connection = connect(store)
    rows = []
    for name in names(store):
        said = meanings_of(store, name)
        for column, kind, *_ in connection.execute(f'describe "{name}"').fetchall():
            rows.append((name, column, kind, said.get(column, "")))
    columns = ("table", "column", "type", "meaning")
    return QueryResult(columns, ("VARCHAR",) * len(columns), [rows])


def alone() -> Any:  # DuckDB is optional, without types
    """A connection that asks nobody on the network, whatever it is given."""
    try:
        import duckdb
    except ImportError as error:
        raise not_installed("a query", "duckdb", "study") from error
    connection = duckdb.connect(":memory:")
    for setting in ("autoinstall_known_extensions", "autoload_known_extensions"):
        connection.execute(f"set {setting} = false")
    return connection


def connect(
    store: Store,
    *,
    closed: bool = True,
    sql: str | None = None,
    all_files: bool = False,
    frugal: bool = False,
    beside: Sequence[Path] = (),
) -> Any:  # DuckDB is optional, without types
    """A connection in whose memory the tables of a store are views; it may read ``beside``, too."""
    connection = alone()
    import duckdb

    connection.execute("set preserve_insertion_order = true")
    connection.execute("set enable_progress_bar = false")  # it goes to standard output
    spill = Path(gettempdir(), f"gnomon-{secrets.token_hex(8)}")  # made and removed by DuckDB
    connection.execute(f"set temp_directory = {sql_text(spill)}")
    for setting, value in (_FRUGAL if frugal else {}).items():
        connection.execute(f"set {setting} = '{value}'")
    for name, rows in (("tasks", _tasks(store)), ("testsets", _testsets(store))):
        kinds = {column.name: SQL_TYPES[column.kind] for column in OWN_TABLES[name]}
        columns = ", ".join(f'"{column}" {kind}' for column, kind in kinds.items())
        connection.execute(f"create table {name} ({columns})")
        if rows:  # column by column: thousands of rows take long one by one
            cells = ", ".join(f"unnest(?::{kind}[])" for kind in kinds.values())
            connection.execute(
                f"insert into {name} select {cells}", [*map(list, zip(*rows, strict=True))]
            )
    sources = _sources(store, _tables_in(store, sql, connection))
    if closed and all_files:
        connection.execute(f"set allowed_directories = {sql_files([store.path, *beside])}")
    elif closed:
        every = [file for _, parts in sources.values() for file in parts]
        connection.execute(f"set allowed_paths = {sql_files(every)}")
    try:
        _name_tables(connection, store, sources)
    except duckdb.Error as error:
        raise damage(store) or DataError(
            f"the store {store.path} cannot be read: {error}"
        ) from error
    if closed:  # before a query comes in
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
    return connection


def _sources(store: Store, wanted: Collection[str]) -> dict[str, RowSource]:
    """Files to read for each table, all of it here and whole."""
    planned = frozenset(store.planned())
    sources = {}
    for name, parts in store.files().items():
        if name in wanted:
            bundled = bundle_of(store.path, name, store.entries)
            sources[name] = source_of(parts, bundled, planned)
            store.check_files(
                [file for file in sources[name].files if bundled is None or file != bundled.file]
            )
    return sources


def _name_tables(connection: Any, store: Store, sources: Mapping[str, RowSource]) -> None:
    """Make views of some tables, and the views over these."""
    for name, source in sources.items():
        connection.execute(f'create view "{name}" as {source.sql}')
    for view in views(store):
        if sources.keys() >= set(view.of):
            connection.execute(f"create view {view.name} as {view.sql}")


def _tables_in(store: Store, sql: str | None, connection: Any) -> set[str]:
    """The tables that a query names; all where it names none, or DuckDB cannot tell."""
    import duckdb

    tables = set(store.files())
    try:
        named = {name.lower() for name in connection.get_table_names(sql or "")}
    except duckdb.Error:
        return tables
    of_views = {name for view in views(store) if view.name in named for name in view.of}
    return {name for name in tables if name.lower() in named} | of_views if named else tables


def _tasks(store: Store) -> list[tuple[object, ...]]:
    planned = [store.entries[key] for key in store.planned() if key in store.entries]
    return [
        (
            entry.key,
            entry.method,
            entry.testset,
            ", ".join(entry.metrics),
            len(entry.systems),
            entry.options or None,
            entry.seconds,
            entry.finished or None,
            entry.gnomon or None,
            _lines(f"{name} {release}" for name, release in entry.made_with.items()),
            _lines(entry.signatures.values()),
            _lines(map(noted, entry.notices)),
        )
        for entry in planned
    ]


def _testsets(store: Store) -> list[tuple[object, ...]]:
    return [
        (
            planned.name,
            planned.sketch.language_pair,
            planned.sketch.segments,
            len(planned.sketch.systems),
            ", ".join(planned.sketch.references),
            planned.sketch.judged,
            planned.source.path,
        )
        for planned in store.sets()
    ]


def _lines(parts: Iterable[str]) -> str | None:
    return "\n".join(parts) or None
