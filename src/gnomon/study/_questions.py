"""What may be asked: one statement that reads.

DuckDB has no lock on writing into what may be read, and lets ``with`` hold statements that write.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gnomon.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["question"]

#: functions that run SQL of a string, which nothing here looks at
_RUN_SQL = ("query", "json_execute_serialized_sql")
_NO_WORD = re.compile(r"\W+")
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
    kind, copies = _kind(found[0]), "copy" in sql.lower()
    inner = _BELOW.format(found[0].query.strip().rstrip(";"))
    reads = kind == "SELECT" or (kind == "MULTI" and not copies)  # pivots are several
    for name in _called(sql):
        if name in _RUN_SQL:
            raise UsageError(
                f"{name}() runs SQL of a string, which is not allowed; what only has that name,"
                " like a WITH query(...), needs another one"
            )
    if not reads or not _is_one(inner):
        raise UsageError(f"{_HOW}; got {_shown(sql)!r}")
    return inner if copies else sql


def _kind(statement: Any) -> str:
    """What a statement does; DuckDB's Python has no name for some (``update extensions``)."""
    try:
        return str(statement.type.name)
    except ValueError:
        return "unknown"


def _called(sql: str) -> Iterator[str]:
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


def _shown(sql: str) -> str:
    said = " ".join(sql.split())
    return said if len(said) <= 60 else f"{said[:57]}..."
