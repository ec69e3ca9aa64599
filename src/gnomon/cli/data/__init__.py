"""``gnomon data``: official test sets, listed, fetched, converted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import add_group
from gnomon.cli.data import convert, fetch, listing

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add"]

_COMMANDS = (listing, fetch, convert)


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands."""
    inner = add_group(
        commands,
        "data",
        answers="which official test sets there are, and how to get them into a folder of yours",
    )
    for command in _COMMANDS:
        command.add(inner)
