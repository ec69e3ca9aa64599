"""Options of commands that give intervals and write a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import add_page

if TYPE_CHECKING:
    import argparse

__all__ = ["add_intervals"]


def add_intervals(parser: argparse.ArgumentParser) -> None:
    """Slices, the bootstrap, and the page."""
    group = parser.add_argument_group("figures")
    group.add_argument("--by", metavar="KIND", help="slices: domain, document, length, or a label")
    group.add_argument(
        "--bootstrap",
        type=int,
        default=1000,
        metavar="N",
        help="resamples of the segments for intervals; 0 = none (default: 1000)",
    )
    group.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        metavar="SHARE",
        help="of the intervals (default: 0.95)",
    )
    group.add_argument(
        "--seed", type=int, default=12345, metavar="N", help="of the resamples (default: 12345)"
    )
    add_page(group)
