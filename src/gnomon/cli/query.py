"""``gnomon query``: SQL over what a study kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_output, show
from gnomon.cli._stores import the_store
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers
    from gnomon.findings import Column, Kind
    from gnomon.study import Answer

__all__ = ["add", "run"]

_MORE = """\
The tables are those of `gnomon query --store DIR` without a query; views such as leaderboard,
standings, scores_wide, scores_by_testset, disagreements, muler_features, best_metrics and costs
answer common questions.

examples:
  gnomon query --store wmt.store
  gnomon query --store wmt.store --columns
  gnomon query --store s3://bucket/wmt.store 'select * from leaderboard where rank = 1'
  gnomon query --store wmt.store 'select system, score from scores order by score desc limit 5'
  gnomon query --store wmt.store "select * from muler where feature = 'pos:NOUN'" -f tsv
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands, "query", answers="anything that SQL can ask of the results of a study", more=_MORE
    )
    parser.add_argument("sql", nargs="?", metavar="SQL", help="a SELECT; without: which tables")
    parser.add_argument(
        "--store", metavar="DIR|URL", help="where the results are (default: the only .store here)"
    )
    parser.add_argument(
        "--columns", action="store_true", help="what the columns of all tables and views mean"
    )
    add_output(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Ask, print."""
    from gnomon.findings import Finding, Table
    from gnomon.study import Store

    if args.columns and args.sql:
        raise UsageError("--columns describes all tables; leave out the query")
    store = Store.open(args.store or the_store())
    found = (
        store.query(args.sql) if args.sql else store.describe() if args.columns else store.tables()
    )
    columns = tuple(_columns(found))
    names = [column.name for column in columns]
    table = Table(
        "query",
        "Tables" if not args.sql else "Query",
        columns,
        tuple(dict(zip(names, map(_cell, row), strict=True)) for row in found.rows),
    )
    show(args, Finding("query", table.title, (table,), signatures={}), "query")
    return 0


def _columns(answer: Answer) -> list[Column]:
    from gnomon.findings import Column

    kinds = zip(answer.names, answer.types, strict=True)
    return [Column(name, name, _kind(kind)) for name, kind in kinds]


def _kind(kind: str) -> Kind:
    if kind in {"DOUBLE", "FLOAT"}:
        return "number"
    return "count" if kind.endswith("INT") else "text"


def _cell(value: object) -> str | int | float | bool | None:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return None if value != value else value  # noqa: PLR0124  # NaN
    return str(value)
