"""``gnomon selftest``: whether this installation gives the numbers that it should."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_output, show_rows

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers
    from gnomon.findings import Cell

__all__ = ["add", "run"]

_TOLERANCE = 1e-6


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands, "selftest", answers="whether this installation gives the numbers that it should"
    )
    add_output(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compare with golden numbers; exit 1 if one differs."""
    from gnomon import selftest

    rows: list[dict[str, Cell]] = [
        {**check._asdict(), "fine": abs(check.found - check.expected) <= _TOLERANCE}
        for check in selftest.checks()
    ]
    show_rows(args, "selftest", "Golden numbers", rows)
    return 0 if all(row["fine"] for row in rows) else 1
