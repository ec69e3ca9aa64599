"""What may be asked: one statement that reads.

DuckDB has no lock on writing into what may be read, and lets ``with`` hold statements that write.
"""

from __future__ import annotations

import re

from gnomon.errors import UsageError

__all__ = ["question"]

#: functions that run SQL of a string, which nothing here looks at
_RUNS_SQL = re.compile(
    r"(json_execute_serialized_sql|\bquery)\"?(\s|/\*.*?\*/|--[^\n]*)*\(", re.IGNORECASE | re.DOTALL
)
#: below the top level DuckDB refuses what writes
_BELOW = "select * from (\n{}\n)"
_HOW = "a query only reads: write one SELECT (or FROM, WITH, PIVOT, DESCRIBE, SHOW)"


def question(sql: str) -> str:
    """A query as it is to be run.

    Raises:
        UsageError: it is empty, several statements, or one that does not only read.
        duckdb.Error: it is no SQL.
    """
    import duckdb

    found = duckdb.extract_statements(sql)
    if len(found) != 1:
        raise UsageError(f"{_HOW}; got {len(found) or 'no'} statements")
    kind, copies = found[0].type.name, "copy" in sql.lower()
    inner = _BELOW.format(found[0].query.strip().rstrip(";"))
    reads = kind == "SELECT" or (kind == "MULTI" and not copies)  # pivots are several
    if not reads or _RUNS_SQL.search(sql) or not _is_one(inner):
        raise UsageError(f"{_HOW}; got {_shown(sql)!r}")
    return inner if copies else sql


def _is_one(sql: str) -> bool:
    import duckdb

    try:
        return len(duckdb.extract_statements(sql)) == 1
    except duckdb.Error:
        return False


def _shown(sql: str) -> str:
    said = " ".join(sql.split())
    return said if len(said) <= 60 else f"{said[:57]}..."
