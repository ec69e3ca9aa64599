"""SQL over a store: an in-memory DuckDB that reads the store's tables and nothing else."""

from __future__ import annotations

import re
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
from gnomon.core.errors import DataError, MissingDependencyError, UsageError
from gnomon.core.findings import Column
from gnomon.metrics.masking import OWN_TOKENS
from gnomon.studies._mask_kinds import mask_kinds, mask_words, own_tokens
from gnomon.studies._tables import bundle_of, source_of, sql_files, sql_name, sql_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from gnomon.core.findings import Kind
    from gnomon.studies._folder import FinishedTask
    from gnomon.studies._store import Store
    from gnomon.studies._tables import RowSource


# What a query gave: rows as tuples, or a data frame that is filled part by part.


#: what fits into memory as tuples without a thought
_ROWS = 8192

_KINDS: Mapping[str, Kind] = {"DOUBLE": "number", "FLOAT": "number", "BOOLEAN": "truth"}

_Row: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True)
class QueryResult:
    """What a query gave.

    Attributes:
        columns: names of the columns; a name may stand twice.
        types: their types in SQL.
        parts: the rows, some at a time; read once, by whichever is asked for first.
        notices: what a reader of the rows should know.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    parts: Iterable[Sequence[_Row]]
    notices: tuple[str, ...] = ()

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
        """What the columns hold: numbers, counts, truth values, or texts."""
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
            raise MissingDependencyError(
                "data frames need polars, which is not installed; run: pip install 'gnomon[study]'"
            ) from error
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


#: functions that run SQL of a string, which nothing here looks at
_RUN_SQL = ("query", "json_execute_serialized_sql")
_NO_WORD = re.compile(r"\W+")
#: below the top level DuckDB refuses what writes
_BELOW = "select * from (\n{}\n)"
_HOW = "a query only reads: write one SELECT (or FROM, WITH, PIVOT, DESCRIBE, SHOW)"


def question(sql: str) -> str:
    """A query as it is to be run."""
    import duckdb

    statements = duckdb.extract_statements(sql)
    if len(statements) != 1:
        raise UsageError(f"{_HOW}; got {len(statements) or 'no'} statements")
    kind, copies = _kind(statements[0]), "copy" in sql.lower()
    inner = _BELOW.format(statements[0].query.strip().rstrip(";"))
    reads = kind == "SELECT" or (kind == "MULTI" and not copies)  # pivots are several
    for name in _called_functions(sql):
        if name in _RUN_SQL:
            raise UsageError(
                f"{name}() runs SQL of a string, which is not allowed; what only has that name,"
                " like a WITH query(...), needs another one"
            )
    if not reads or not _is_one(inner):
        raise UsageError(f"{_HOW}; got {_shortened(sql)!r}")
    return inner if copies else sql


def _kind(statement: Any) -> str:
    """What a statement does; DuckDB's Python has no name for some (``update extensions``)."""
    try:
        return str(statement.type.name)
    except ValueError:
        return "unknown"


def _called_functions(sql: str) -> Iterator[str]:
    """Names that stand before a parenthesis, whatever spaces and comments are between."""
    import duckdb

    text, said = sql.encode(), ""
    tokens = duckdb.tokenize(sql)
    ends = [at for at, _ in tokens[1:]] + [len(text)]
    for (at, kind), end in zip(tokens, ends, strict=True):
        if kind != duckdb.token_type.comment:
            token = text[at:end].decode()
            if token.startswith("("):
                yield said
            said = _NO_WORD.sub("", token).lower()


def _is_one(sql: str) -> bool:
    import duckdb

    try:
        return len(duckdb.extract_statements(sql)) == 1
    except duckdb.Error:
        return False


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


_SET, _METRIC, _SYSTEM = "name of the test set", "spec of the metric", "name of the system"
_VIEWS = (
    SqlView(
        "leaderboard",
        ("scores",),
        "select testset, metric, rank() over (partition by testset, metric order by"
        " if(higher_is_better, score, -score) desc nulls last) as rank, system, score"
        " from scores order by testset, metric, rank, system",
        {
            "testset": _SET,
            "metric": _METRIC,
            "rank": "1 is best; error rates are turned",
            "system": _SYSTEM,
            "score": "corpus score",
        },
    ),
    SqlView(
        "standings",
        ("scores",),
        "with ranked as (select testset, metric, system, score, rank() over (partition by"
        " testset, metric order by if(higher_is_better, score, -score) desc) as rank from scores"
        " where score is not null)"
        " select metric, system, count(*) as testsets, avg(score order by testset) as"
        " mean_score, avg(rank order by testset) as mean_rank from ranked group by metric, system"
        " order by metric, mean_rank, system",
        {
            "metric": _METRIC,
            "system": _SYSTEM,
            "testsets": "in which the system has a score; means over others do not compare",
            "mean_score": "of the corpus scores on these test sets",
            "mean_rank": "of the ranks on these test sets; 1 is best, error rates are turned",
        },
    ),
    SqlView(
        "disagreements",
        ("scores",),
        "with turned as (select testset, metric, system, if(higher_is_better, score, -score) as"
        " score from scores), pairs as (select a.testset, a.metric, a.system, b.system as rival,"
        " a.score - b.score as difference from turned a join turned b using (testset, metric)"
        " where a.score > b.score) select p.testset, p.metric, q.metric as other, p.system,"
        " p.rival, p.difference, -q.difference as other_difference from pairs p join pairs q on"
        " p.testset = q.testset and p.system = q.rival and p.rival = q.system"
        " where p.metric <> q.metric",
        {
            "testset": _SET,
            "metric": "spec of a metric",
            "other": "spec of another one, which orders the two systems the other way round",
            "system": "the better system by the metric, the worse by the other",
            "rival": "the worse system by the metric, the better by the other",
            "difference": "of the metric's scores, system less rival; positive is better",
            "other_difference": "of the other's scores, system less rival; negative is worse",
        },
    ),
    SqlView(
        "costs",
        (),
        "select method, metrics, count(*) as tasks, sum(seconds) as seconds,"
        " max(seconds) as longest from tasks group by all order by seconds desc",
        {
            "method": "as in the study",
            "metrics": "specs",
            "tasks": "how many",
            "seconds": "of one worker, all of them",
            "longest": "seconds of the longest",
        },
    ),
)


def views(store: Store) -> list[SqlView]:
    """The views that a store has the tables for, with the columns that they take."""
    there = store.files().keys()
    of_methods = filter(None, map(methods.installed, store.methods()))
    declared = (view for method in of_methods for view in method.views)
    all_views = [*_VIEWS]
    for view in declared:
        columns = {column.name: column.help for column in view.columns}
        all_views.append(SqlView(view.name, view.of, view.sql, columns))
    possible = [view for view in all_views if there >= set(view.of)]
    return [*possible, _wide(store), _by_testset(store)] if "scores" in there else possible


def meanings_of(store: Store, table: str) -> dict[str, str]:
    """What the columns of a table or view mean."""
    for view in views(store):
        if view.name == table:
            return dict(view.meanings)
    columns = OWN_TABLES.get(table) or (*store.schema(table).columns, TASK)
    return {column.name: column.help or column.title for column in columns}


def _wide(store: Store) -> SqlView:
    """A column for each metric."""
    metrics = [name for entry in _scorings(store) for name in entry.signatures]
    return _pivot(
        "scores_wide",
        ("testset", "system"),
        "metric",
        metrics,
        {
            "testset": _SET,
            "system": _SYSTEM,
            **{name: f"corpus score under {name}" for name in metrics},
        },
    )


def _by_testset(store: Store) -> SqlView:
    """A column for each test set."""
    sets = [entry.testset for entry in _scorings(store)]
    return _pivot(
        "scores_by_testset",
        ("metric", "system"),
        "testset",
        sets,
        {
            "metric": _METRIC,
            "system": _SYSTEM,
            **{name: f"corpus score on {name}" for name in sets},
        },
    )


def _scorings(store: Store) -> list[FinishedTask]:
    done = (store.entries[key] for key in store.planned() if key in store.entries)
    return [entry for entry in done if entry.method == "score"]


def _pivot(
    name: str,
    rows: tuple[str, ...],
    column: str,
    headings: Iterable[str],
    meanings: Mapping[str, str],
) -> SqlView:
    """Scores with a column for each of the values of another column.

    SQL does not tell small letters from capitals in names: of such values the first has a column.
    """
    values: dict[str, str] = {}
    for value in headings:
        if value.lower() not in rows:
            values.setdefault(value.lower(), value)
    columns = [
        f"max(score) filter (where {column} = {sql_text(value)}) as {sql_name(value)}"
        for value in values.values()
    ]
    chosen = ", ".join([*rows, *columns])
    sql = f"select {chosen} from scores group by all order by all"  # names are quoted
    return SqlView(name, ("scores",), sql, meanings)


#: each thread asks for its share of the memory
_FRUGAL = {"memory_limit": "128MB", "threads": "2"}
#: words of queries that ask which tables there are
_ABOUT_ALL = ("duckdb_", "information_schema", "pg_", "pragma_", "show", "sqlite_")


def ask(store: Store, sql: str, seconds: float | None = None) -> QueryResult:
    """What a query gives; a signal ends it at once, as what takes too long is ended."""
    connection = connect(store, sql=sql, frugal=True)
    import duckdb

    with _query_errors(store):
        try:
            return _query_result(store, connection, sql, seconds)
        except duckdb.OutOfMemoryException:  # not everything can go on on the disk
            return _query_result(store, connect(store, sql=sql), sql, seconds)


def _query_result(store: Store, connection: Any, sql: str, seconds: float | None) -> QueryResult:
    cursor = _with_timeout(seconds, connection, lambda: connection.execute(question(sql)))
    header = cursor.description or []
    columns = tuple(str(column[0]) for column in header)
    parts = _parts_of(cursor, connection, seconds)
    first = next(parts, [])  # what goes wrong while it runs mostly does so here
    rest = _parts_or_error(store, parts)
    types = tuple(str(column[1]) for column in header)
    return QueryResult(columns, types, chain([first], rest), tuple(mask_notices(store, sql)))


def mask_notices(store: Store, sql: str) -> Iterator[str]:
    """That a table has figures under masks that differ, unless the query looks at these."""
    words = set(re.findall(r"\w+", sql.lower()))
    if "masks" in words:
        return
    installed = filter(None, map(methods.installed, store.methods()))
    views = [view for method in installed for view in method.views if view.name in words]
    words |= {table for view in views for table in view.of}
    there = store.entries
    planned = (there[key] for key in store.planned() if key in there)
    entries = [entry for entry in planned if words & set(entry.rows)]
    for kinds in mask_kinds(entries).values():
        if len(kinds) > 1:
            yield (
                "masks differ between metrics, so that their figures do not compare with each other"
                f" ({mask_words(kinds)}): compare within one kind alone (column masks)"
            )
        elif own_tokens(kinds):
            yield OWN_TOKENS


def _parts_of(cursor: Any, connection: Any, seconds: float | None) -> Iterator[list[_Row]]:
    while rows := _with_timeout(seconds, connection, lambda: cursor.fetchmany(_ROWS)):
        yield rows


def _with_timeout(seconds: float | None, connection: Any, call: Callable[[], Any]) -> Any:
    """Let DuckDB work in another thread: in the main one it would hear no signal."""
    with ThreadPoolExecutor(1) as apart:
        running = apart.submit(call)
        try:
            return running.result(seconds)
        except TimeoutError as error:
            raise UsageError(
                f"the query has taken {seconds:g} s, and was ended: ask for less at a time, or"
                " allow more (--timeout; timeout=)"
            ) from error
        finally:
            if not running.done():
                connection.interrupt()


def _parts_or_error(
    store: Store, parts: Iterator[list[tuple[Any, ...]]]
) -> Iterator[list[tuple[Any, ...]]]:
    with _query_errors(store):
        yield from parts


@contextmanager
def _query_errors(store: Store) -> Iterator[None]:
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


def damage(store: Store, error: Exception) -> DataError | None:
    """What to say where DuckDB could not read a file of the store; None where it was no file."""
    file = _damaged_file(store, error)
    return None if file is None else store.damage_of(file)


def _damaged_file(store: Store, error: Exception) -> Path | None:
    import duckdb

    said = str(error).partition("\n\nLINE ")[0]  # there the query follows
    _, separator, rest = said.partition(f"{store.path.resolve()}/")
    if separator:
        return store.path / f"{rest.partition('.parquet')[0]}.parquet"
    if type(error) is not duckdb.Error:
        return None
    # what reads Parquet does not always say of which file it speaks
    every = (file for parts in store.files().values() for file in parts)
    return next((file for file in every if file.exists() and not store.is_intact(file)), None)


def names(store: Store) -> tuple[str, ...]:
    """What a query can name: tables, then views over them."""
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


def connect(
    store: Store,
    *,
    closed: bool = True,
    sql: str | None = None,
    all_files: bool = False,
    frugal: bool = False,
    settings: Mapping[str, str] | None = None,
) -> Any:  # DuckDB is optional, without types
    """A connection in whose memory the tables of a store are views."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingDependencyError(
            "queries need duckdb, which is not installed; run: pip install 'gnomon[study]'"
        ) from error
    connection = duckdb.connect(":memory:")
    connection.execute("set preserve_insertion_order = true")
    connection.execute("set enable_progress_bar = false")  # it goes to standard output
    spill = Path(gettempdir(), f"gnomon-{secrets.token_hex(8)}")  # made and removed by DuckDB
    connection.execute(f"set temp_directory = {sql_text(spill)}")
    for setting, value in {**(_FRUGAL if frugal else {}), **(settings or {})}.items():
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
    sources = _sources(store, _tables_in(store, sql))
    if closed and all_files:
        connection.execute(f"set allowed_directories = {sql_files([store.path])}")
    elif closed:
        every = [file for _, parts in sources.values() for file in parts]
        connection.execute(f"set allowed_paths = {sql_files(every)}")
    try:
        _name_tables(connection, store, sources)
    except duckdb.Error as error:
        raise damage(store, error) or DataError(
            f"the store {store.path} cannot be read: {error}"
        ) from error
    if closed:  # before a query comes in
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
    return connection


def _sources(store: Store, wanted: Collection[str]) -> dict[str, RowSource]:
    """What to read for each table, all of it here and whole."""
    planned = frozenset(store.planned())
    sources = {}
    for name, parts in store.files().items():
        if name in wanted:
            bundled = bundle_of(store.path, name, store.entries)
            sources[name] = source_of(parts, bundled, planned)
            store.fetch(
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


def _tables_in(store: Store, sql: str | None) -> set[str]:
    """The tables that a query needs; all where it asks which there are, or is not known."""
    tables = set(store.files())
    said = (sql or "").lower()
    if sql is None or any(word in said for word in _ABOUT_ALL):
        return tables
    of_views = {name for view in views(store) if view.name in said for name in view.of}
    return {name for name in tables if name.lower() in said} | of_views


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
            _lines(entry.notices),
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
