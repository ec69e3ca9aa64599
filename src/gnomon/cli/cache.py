"""``gnomon cache``: what is kept between runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_output, show_rows

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers
    from gnomon.findings import Cell

__all__ = ["add", "run"]


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(commands, "cache", answers="what is kept between runs, and forget it")
    parser.add_argument("action", choices=("info", "clear"), nargs="?", default="info")
    add_output(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Describe or empty the cache."""
    from gnomon.cache import Cache, default_path

    cache = Cache(default_path())
    if args.action == "clear":
        cache.clear()
    stats = cache.stats()
    row: dict[str, Cell] = {
        "path": str(stats.path),
        "entries": stats.entries,
        "bytes": stats.bytes,
        "limit": stats.limit,
    }
    show_rows(args, "cache", "What is kept between runs", [row])
    return 0
