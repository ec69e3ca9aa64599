"""Ask: SQL over a study, run in a process of its own that can only read the study's tables.

Four walls, each of which holds alone against most of what could be tried: DuckDB's own parser says
which tables and functions a query names, and only those of the study and plain functions pass;
DuckDB itself is closed (no files but the study's, no extensions, no settings); the process has no
environment, may write nothing and take little memory; and it is killed when its time is over.
A process answers one question. It takes a while to load what it needs, so that the next one waits
for a question already where somebody asks.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gnomon.core.errors import GnomonError, UsageError
from gnomon.core.processes import end_with, leash

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from gnomon.core.findings import Cell, Kind
    from gnomon.serve._store_pages import OpenStore
    from gnomon.studies import Store

#: seconds that a query may take, rows that a page shows and that a download holds
SECONDS, ROWS, MOST_ROWS = 10.0, 500, 100_000
#: bytes of an answer, and of a query
_MOST_BYTES, _MOST_SQL = 32_000_000, 20_000
#: seconds for a process to start, beside those of the query
_START = 10.0
#: seconds that a process waits for a question
_PATIENCE = 600.0
#: memory that DuckDB takes for rows, and all that the process may take, in bytes
_MEMORY, _ADDRESSES = "512MB", 4 << 30
_CELL = 10_000

#: functions that make rows of their arguments alone
_MAKE_ROWS = frozenset({"unnest", "range", "generate_series", "json_each", "json_tree"})
#: functions of one row that tell of the machine, wait, or change something
_DENIED = re.compile(
    r"(current_(?!date|timestamp|localtime|localtimestamp)\w+|session_user|user|version|getenv"
    r"|getvariable|setseed|nextval|currval|setval|sleep_ms|pg_\w+|txid_current|write_log|query"
    r"|query_table|in_search_path|has_\w+_privilege|parse_duckdb_log_message|json_serialize_sql"
    r"|json_deserialize_sql|json_execute_serialized_sql|json_serialize_plan|duckdb_\w+|pragma_\w+"
    r"|which_secret|read_\w+|\w+_scan|parquet_\w+|glob|sniff_csv|getfield|file_\w+|http_\w+"
    r"|write_\w+|attach\w*|install\w*|load\w*|export\w*|import\w*|checkpoint|test_\w+|stats"
    r"|vector_type|__internal\w*)"
)
_PATH = re.compile(r"(?:[A-Za-z]:)?(?:/[^\s'\"():]+)+")


@dataclass(frozen=True)
class SqlAnswer:
    """What a query gave."""

    columns: tuple[str, ...]
    kinds: tuple[Kind, ...]
    rows: tuple[tuple[Cell, ...], ...]
    cut: bool
    seconds: float


class Refused(UsageError):  # noqa: N818  # it is what was refused, and is said to the person
    """The query is none that may be asked, failed, or took too long."""


# What may be asked.


def check(serialized: str, tables: Collection[str]) -> None:
    """Refuse a query that reads anything but some tables."""
    tree = json.loads(serialized)
    if tree.get("error"):
        said = str(tree.get("error_message", ""))
        if "Only SELECT" in said:
            raise Refused(
                "A question only reads: write one SELECT (or FROM, WITH, VALUES). A PIVOT needs"
                " its values: pivot scores on metric in ('bleu') using first(score)."
            )
        raise Refused(_in_words(said))
    if len(tree["statements"]) != 1:
        raise Refused("Ask one question at a time: a single SELECT, without a semicolon.")
    names = {name.lower() for name in tables}
    _walk(tree["statements"][0], names | set(_named_queries(tree)))


def _named_queries(node: Any) -> Iterator[str]:
    """Names that a query gives to parts of itself (WITH)."""
    if isinstance(node, dict):
        for entry in (node.get("cte_map") or {}).get("map", ()):
            yield str(entry["key"]).lower()
        if node.get("type") == "RECURSIVE_CTE_NODE":
            yield str(node.get("cte_name", "")).lower()
        for value in node.values():
            yield from _named_queries(value)
    elif isinstance(node, list):
        for value in node:
            yield from _named_queries(value)


def _walk(node: Any, tables: set[str]) -> None:
    if isinstance(node, list):
        for value in node:
            _walk(value, tables)
    elif isinstance(node, dict):
        if node.get("type") == "BASE_TABLE":
            _check_table(node, tables)
        elif node.get("type") == "SHOW_REF" and not node.get("query"):
            _check_shown(node, tables)
        _check_function(node)
        for value in node.values():
            _walk(value, tables)


def _check_function(node: Mapping[str, Any]) -> None:
    makes_rows = node.get("type") == "TABLE_FUNCTION"
    of = (node.get("function") or {}) if makes_rows else node
    name = str(of.get("function_name", "")).lower()
    if (makes_rows and name not in _MAKE_ROWS) or _DENIED.fullmatch(name):
        raise Refused(f"{name}() is not allowed here: ask the tables of this study.")


def _check_table(node: Mapping[str, Any], tables: set[str]) -> None:
    name, schema = str(node.get("table_name", "")), str(node.get("schema_name") or "main")
    catalog = str(node.get("catalog_name") or "memory")
    ours = schema.lower() == "main" and catalog.lower() == "memory"
    if not ours or name.lower() not in tables:
        raise Refused(
            f"There is no table {_in_words(name)[:80]!r} in this study; the tables are listed"
            " beside the question."
        )


def _check_shown(node: Mapping[str, Any], tables: set[str]) -> None:
    name = str(node.get("table_name") or "").strip('"').lower()
    if name not in tables:
        raise Refused("The tables of this study are listed beside the question.")


def _in_words(said: str) -> str:
    """A message of DuckDB without places of this machine."""
    return _PATH.sub("a file", said.partition("\n\nLINE ")[0])[:1000]


# Asking: what the server does.


#: the process that waits for a question, with the store that it is for
_waiting: list[tuple[Path, subprocess.Popen[bytes]]] = []
_lock = threading.Lock()


def prepare(store: Path) -> None:
    """Let a process wait for a question to a store; it is the only one that waits."""
    with _lock:
        if any(path == store and process.poll() is None for path, process in _waiting):
            return
        waiting = _taken()
        _waiting.append((store, _start(store)))
    _end(waiting)


def stop_waiting() -> None:
    """End what waits for a question."""
    with _lock:
        waiting = _taken()
    _end(waiting)


atexit.register(stop_waiting)


def _taken() -> list[subprocess.Popen[bytes]]:
    processes = [process for _, process in _waiting]
    _waiting.clear()
    return processes


def _end(processes: Iterable[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def _start(store: Path) -> subprocess.Popen[bytes]:
    """Start a process that answers one question to a store."""
    parent, lasting = leash()
    kept = {name: os.environ[name] for name in ("PYTHONPATH", "SYSTEMROOT") if name in os.environ}
    process = subprocess.Popen(  # this interpreter and gnomon's own code
        [sys.executable, "-c", "from gnomon.serve._ask import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**kept, "PYTHONDONTWRITEBYTECODE": "1"},
        cwd="/" if os.name == "posix" else None,
        start_new_session=True,
    )
    about = {"store": str(store), "parent": parent, "lasting": lasting}
    assert process.stdin is not None  # noqa: S101  # it was asked for
    with suppress(OSError):  # who asks hears that it ended
        process.stdin.write(msgspec.json.encode(about) + b"\n")
        process.stdin.flush()
    return process


def _process_for(store: Path) -> subprocess.Popen[bytes]:
    """The process that waits for a question to a store, or a new one."""
    with _lock:
        for waiting in _waiting:
            if waiting[0] == store and waiting[1].poll() is None:
                _waiting.remove(waiting)
                return waiting[1]
    return _start(store)


def ask(store: Path, sql: str, *, rows: int = ROWS, seconds: float = SECONDS) -> SqlAnswer:
    """What a query gives, at most so many rows of it."""
    if not sql.strip():
        raise Refused("Write a question first, or take one of the examples.")
    if len(sql) > _MOST_SQL:
        raise Refused(f"The question is too long: at most {_MOST_SQL:,} characters.")
    started = time.monotonic()
    asked = {"sql": sql, "rows": min(rows, MOST_ROWS), "seconds": seconds}
    process = _process_for(store)
    try:
        data, _ = process.communicate(msgspec.json.encode(asked), timeout=seconds + _START)
    except subprocess.TimeoutExpired as error:
        raise Refused(_too_long(seconds)) from error
    finally:
        _end([process])
        prepare(store)  # who asks once asks again
    if process.returncode == _TIMED_OUT:
        raise Refused(_too_long(seconds))
    if process.returncode or not data:
        raise Refused("The question took too much memory, and was ended: ask for less at a time.")
    said = msgspec.json.decode(data)
    if "error" in said:
        raise Refused(said["error"])
    return SqlAnswer(
        tuple(said["columns"]),
        tuple(said["kinds"]),
        tuple(map(tuple, said["rows"])),
        said["cut"],
        time.monotonic() - started,
    )


def _too_long(seconds: float) -> str:
    return (
        f"The question took more than {seconds:g} seconds, and was ended: ask for less at a time."
    )


# Answering: what the process does.


#: how the process ends when its time is over
_TIMED_OUT = 42


def main() -> None:
    """Read a question from standard input, write what it gives to standard output."""
    about = msgspec.json.decode(sys.stdin.buffer.readline())
    end_with(about["parent"], about["lasting"])
    patience = threading.Timer(_PATIENCE, os._exit, [0])
    patience.daemon = True
    patience.start()
    store = Path(about["store"])
    with suppress(GnomonError):  # said when it is asked
        _load(store)
    data = sys.stdin.buffer.read()
    patience.cancel()
    if not data:  # the server ended
        os._exit(0)
    try:
        said = _answer(store, msgspec.json.decode(data))
    except GnomonError as error:
        said = {"error": _in_words(str(error))}
    sys.stdout.buffer.write(msgspec.json.encode(said))
    sys.stdout.flush()
    os._exit(0)  # threads of DuckDB are not waited for


def _load(store: Path) -> None:
    """Load what a question to a store needs: modules alone, as the store may still change."""
    import duckdb

    from gnomon.studies import Store
    from gnomon.studies.reading import names

    names(Store(store))
    duckdb.connect(":memory:").close()


def _limit(seconds: float) -> None:
    """No file can be written, and little memory be taken; the process ends by itself."""
    timer = threading.Timer(seconds, os._exit, [_TIMED_OUT])
    timer.daemon = True
    timer.start()
    try:
        import resource
    except ImportError:  # pragma: no cover  # Windows has no such limits
        return
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    cpu = int(4 * seconds) + 1  # of several threads
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))


def _answer(path: Path, asked: Mapping[str, Any]) -> dict[str, Any]:
    import duckdb

    from gnomon.studies import Store
    from gnomon.studies.reading import names

    store = Store(path)
    with duckdb.connect(":memory:") as parser:
        row = parser.execute("select json_serialize_sql(?::varchar)", [asked["sql"]]).fetchone()
    check(str(row[0] if row else "{}"), names(store))
    connection = _connection(store)
    _limit(asked["seconds"])
    try:
        cursor = connection.execute(asked["sql"])
        columns = [(str(name), str(kind)) for name, kind, *_ in cursor.description or ()]
        rows, cut = _rows(cursor, int(asked["rows"]))
    except duckdb.OutOfMemoryException as error:
        raise Refused("The question took too much memory: ask for less at a time.") from error
    except duckdb.Error as error:
        raise Refused(_in_words(str(error))) from error
    except MemoryError as error:
        raise Refused("The question took too much memory: ask for less at a time.") from error
    return {
        "columns": [name for name, _ in columns],
        "kinds": [_kind(kind) for _, kind in columns],
        "rows": rows,
        "cut": cut,
    }


def _rows(cursor: Any, most: int) -> tuple[list[list[Cell]], bool]:
    rows: list[list[Cell]] = []
    size = 0
    while part := cursor.fetchmany(500):
        for row in part:
            if len(rows) == most:
                return rows, True
            cells = [_cell(value) for value in row]
            size += sum(len(cell) if isinstance(cell, str) else 8 for cell in cells)
            if size > _MOST_BYTES:
                return rows, True
            rows.append(cells)
    return rows, False


def _cell(value: object) -> Cell:
    if isinstance(value, float):
        return None if value - value != 0 else value  # not finite
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 63 else str(value)
    return str(value)[:_CELL]


def _kind(kind: str) -> Kind:
    if kind in ("DOUBLE", "FLOAT") or kind.startswith("DECIMAL"):
        return "number"
    return "truth" if kind == "BOOLEAN" else "count" if "INT" in kind else "text"


def _connection(store: Store) -> Any:  # DuckDB has no types
    """DuckDB with the tables of the study, and nothing else that it could reach."""
    from gnomon.studies.reading import connect

    settings = {
        "memory_limit": _MEMORY,
        "threads": "2",
        "temp_directory": "",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "python_enable_replacements": "false",  # names of this program's variables are no tables
    }
    connection = connect(store, settings=settings)
    connection.execute("update testsets set path = null")  # where texts are is the server's own
    return connection


# What can be asked.


@dataclass(frozen=True)
class AskedColumn:
    """A column of a table that can be asked."""

    name: str
    kind: str
    meaning: str


@dataclass(frozen=True)
class AskedTable:
    """A table that can be asked, and what its columns mean."""

    name: str
    rows: int | None
    columns: tuple[AskedColumn, ...]


EXAMPLES = (
    ("Which system scores best?", "select * from leaderboard where rank <= 3"),
    (
        "How do systems compare?",
        "select system, baseline, metric, difference, p_adjusted from comparisons order by metric",
    ),
    (
        "What does each kind of word cost?",
        "select feature, avg(muler) as muler, max(muler) as worst from muler group by feature",
    ),
    (
        "Which segments score lowest?",
        "select segment, system, metric, score from segments\norder by score limit 20",
    ),
)


def tables(opened: OpenStore) -> tuple[AskedTable, ...]:
    """The tables and views of a study, with what their columns mean; nothing is asked for it."""
    from gnomon.studies.reading import OWN_TABLES, SQL_TYPES, TASK, meanings_of, views

    store = opened.store
    sizes: dict[str, int] = {}
    for key in store.planned():
        for name, rows in store.entries[key].rows.items() if key in store.entries else ():
            sizes[name] = sizes.get(name, 0) + rows
    made = [
        AskedTable(
            name,
            sizes.get(name),
            tuple(
                AskedColumn(
                    column.name, SQL_TYPES[column.kind].lower(), column.help or column.title
                )
                for column in (*store.schema(name).columns, TASK)
            ),
        )
        for name in store.files()
        if sizes.get(name)
    ]
    for name, columns in OWN_TABLES.items():
        of = (AskedColumn(c.name, SQL_TYPES[c.kind].lower(), c.help) for c in columns)
        made.append(AskedTable(name, None, tuple(column for column in of if column.name != "path")))
    for view in views(store):
        of = (AskedColumn(name, "", said) for name, said in meanings_of(store, view.name).items())
        made.append(AskedTable(view.name, None, tuple(of)))
    return tuple(made)


def examples(opened: OpenStore) -> tuple[tuple[str, str], ...]:
    """Questions that this study can be asked, in words and in SQL."""
    files = opened.store.files()
    there = {*files, *(["leaderboard"] if "scores" in files else [])}
    fitting = []
    for words, sql in EXAMPLES:
        table = re.search(r"from (\w+)", sql)
        if table is not None and table[1] in there:
            fitting.append((words, sql))
    return tuple(fitting)
