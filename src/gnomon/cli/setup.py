"""``gnomon setup``: a tagger and a model for a language."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_output, show_rows

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers
    from gnomon.findings import Cell

__all__ = ["add", "run"]


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "setup",
        answers="which tagger a language needs, and install it",
        more="example: gnomon setup en",
    )
    parser.add_argument("language", help="language code, such as en")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="print the commands only")
    add_output(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Show the commands, ask, run them; in other formats than text show them only."""
    from gnomon import annotate

    plan = annotate.setup_plan(args.language)
    if args.format != "text":
        rows: list[dict[str, Cell]] = [
            {"language": args.language, "ready": plan.ready, "command": " ".join(command)}
            for command in plan.commands or ((),)
        ]
        show_rows(args, "setup", "What a language needs", rows)
        return 0
    sys.stdout.write(plan.text + "\n")
    if plan.ready or args.dry_run:
        return 0
    if not args.yes and not _agreed():
        return 0
    annotate.run_setup(plan)
    return 0


def _agreed() -> bool:
    if not sys.stdin.isatty():
        sys.stdout.write("Nothing was installed: run again with --yes to install.\n")
        return False
    sys.stdout.write("Run these commands? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
