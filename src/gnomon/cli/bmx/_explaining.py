"""Options that the commands on explanations share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from gnomon.cache import Cache

__all__ = ["add_cost", "add_sides", "explanation_cache"]


def add_sides(group: argparse._ArgumentGroup) -> None:
    """Whose words are explained."""
    group.add_argument(
        "--sides",
        choices=("both", "candidate"),
        default="both",
        help="whose words are explained (default: both)",
    )


def add_cost(group: argparse._ArgumentGroup, *, per: str) -> None:
    """How much may be scored, and whether it is kept."""
    group.add_argument(
        "--max-calls",
        type=int,
        default=1_000_000,
        metavar="N",
        help=f"most pairs of texts to score per {per} (default: 1000000)",
    )
    group.add_argument(
        "--no-cache",
        action="store_true",
        help="keep no explanations; by default a run that was cut off goes on where it was",
    )


def explanation_cache(args: argparse.Namespace) -> Cache | None:
    """Where explanations are kept for later."""
    if args.no_cache:
        return None
    from gnomon import cache

    return cache.Cache(cache.default_path())
