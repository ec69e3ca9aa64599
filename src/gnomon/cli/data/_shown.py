"""Options of the commands on official data, and how their results are shown."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gnomon.cli._options import show_rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell
    from gnomon.official import Written

__all__ = ["add_home", "show_written"]


def add_home(parser: argparse.ArgumentParser, *names: str) -> None:
    """The folder of fetched sets, under the names of the option."""
    parser.add_argument(
        *names,
        dest="folder",
        metavar="DIR",
        help="the folder of fetched sets, DIR/NAME/PAIR (default: $GNOMON_DATA, or the user's)",
    )


def show_written(args: argparse.Namespace, command: str, found: Sequence[Written]) -> None:
    """Paths and the commands to go on with; in other formats than text, a table."""
    if args.format == "text":
        sys.stdout.write("".join(_told(one) for one in found))
        return
    rows: list[Mapping[str, Cell]] = [
        {
            "set": one.name,
            "pair": one.language_pair,
            "segments": one.segments,
            "references": " ".join(one.references),
            "systems": len(one.systems),
            "human": " ".join(one.human),
            "path": str(one.path),
            "new": one.new,
            "next": one.next,
        }
        for one in found
    ]
    show_rows(args, command, "Test sets", rows)


def _told(one: Written) -> str:
    from gnomon.tabular import visible

    parts = [f"{one.segments} segments"]
    if one.references:
        parts.append(f"references {', '.join(one.references)}")
    parts.append(f"{len(one.systems)} systems")
    if one.human:
        parts.append(f"human {', '.join(one.human)}")
    parts += [] if one.new else ["was here already"]
    return visible(f"{one.path}: {'; '.join(parts)}") + f"\n  {visible(one.next)}\n"
