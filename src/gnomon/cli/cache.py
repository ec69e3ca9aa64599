"""``gnomon cache``: what is kept between runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run"]


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(commands, "cache", answers="what is kept between runs, and forget it")
    parser.add_argument("action", choices=("info", "clear"), nargs="?", default="info")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Describe or empty the cache."""
    from gnomon.cache import Cache, default_path

    cache = Cache(default_path())
    if args.action == "clear":
        cache.clear()
    stats = cache.stats()
    sys.stdout.write(f"{default_path()}: {stats.entries} entries, {stats.bytes / 1e6:.1f} MB\n")
    return 0
