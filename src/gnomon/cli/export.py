"""``gnomon export``: what a study kept, as files for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_format, add_store, show_rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from gnomon.cli._options import Subparsers
    from gnomon.findings import Cell
    from gnomon.study import ExportKind

__all__ = ["add", "run"]

_MORE = """\
examples:
  gnomon export wmt.store -o wmt.duckdb
  gnomon export wmt.store -o tables/ --as csv
  gnomon export wmt.store -o tables/ --as parquet --tables scores muler
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "export",
        answers="how to take the results of a study into other tools",
        more=_MORE,
    )
    add_store(parser)
    parser.add_argument(
        "-o",
        "--output",
        dest="to",
        required=True,
        metavar="FILE|DIR",
        help="a new .duckdb file, or a new or empty folder",
    )
    parser.add_argument(
        "--as", dest="kind", choices=("duckdb", "csv", "parquet"), help="(by the name: .duckdb)"
    )
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="(default: all)")
    parser.add_argument(
        "--keep-formulas",
        action="store_true",
        help="CSV: leave texts that begin with = + - @ as they are; a spreadsheet would run them",
    )
    add_format(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write, and say what."""
    from gnomon.study import Store

    kind: ExportKind = args.kind or ("duckdb" if Path(args.to).suffix == ".duckdb" else "csv")
    written = Store.open(args.store).export(
        args.to, kind=kind, tables=args.tables, keep_formulas=args.keep_formulas
    )
    rows: list[Mapping[str, Cell]] = [
        {"table": name, "rows": count} for name, count in written.items()
    ]
    show_rows(args, "export", f"Written to {args.to}", rows)
    return 0
