"""``gnomon query``: SQL over what a study kept."""

from __future__ import annotations

import shlex
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_output, add_store, emit, show
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from gnomon.cli._options import Subparsers
    from gnomon.findings import Cell, Column
    from gnomon.study import QueryResult

__all__ = ["add", "run"]

#: rows of the formats for people, who read no more
_SHOWN = 10_000

_MORE = """\
The tables are those of `gnomon query STORE` without a query; views such as leaderboard,
standings, scores_wide, scores_by_testset, disagreements, muler_features, best_metrics and costs
answer common questions. Formats for people show the first 10000 rows, -f tsv and -f json
all, however many.

examples:
  gnomon query wmt.store
  gnomon query wmt.store --columns
  gnomon query s3://bucket/wmt.store 'select * from leaderboard where rank = 1'
  gnomon query wmt.store 'select system, score from scores order by score desc limit 5'
  gnomon query wmt.store "select * from muler where feature = 'pos:NOUN'" -f tsv
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands, "query", answers="anything that SQL can ask of the results of a study", more=_MORE
    )
    add_store(parser)
    parser.add_argument("sql", nargs="?", metavar="SQL", help="a SELECT; without: which tables")
    parser.add_argument(
        "--columns", action="store_true", help="what the columns of all tables and views mean"
    )
    add_output(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Ask, print; however many rows there are, few are held at a time."""
    from gnomon import report
    from gnomon.findings import Finding, Table
    from gnomon.study import Store

    if args.columns and args.sql:
        raise UsageError("--columns describes all tables; leave out the query")
    if args.sql is None and len(args.store.split()) > 1 and not Path(args.store).exists():
        raise UsageError(f"the store comes first: gnomon query STORE {shlex.quote(args.store)}")
    store = Store.open(args.store)
    found = (
        store.query(args.sql) if args.sql else store.describe() if args.columns else store.tables()
    )
    columns = tuple(_columns(found))
    rows = _rows(found)
    if args.format in ("json", "tsv"):
        emit(args, report.render_rows(columns, rows, args.format, command="query"))
        return 0
    shown = tuple(islice(rows, _SHOWN))
    cut = next(rows, None) is not None
    note = f"The first {_SHOWN} rows; -f tsv and -f json give all." if cut else ""
    table = Table("query", "Query" if args.sql else "Tables", columns, shown, note)
    show(args, Finding("query", table.title, (table,), signatures={}), "query")
    return 0


def _rows(answer: QueryResult) -> Iterator[Mapping[str, Cell]]:
    names = answer.names
    for row in chain.from_iterable(answer.parts):
        yield dict(zip(names, map(_cell, row), strict=True))


def _columns(answer: QueryResult) -> list[Column]:
    from gnomon.findings import Column

    kinds = zip(answer.names, answer.kinds, strict=True)
    return [Column(name, name, kind) for name, kind in kinds]


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return None if value != value else value  # noqa: PLR0124  # NaN
    return str(value)
