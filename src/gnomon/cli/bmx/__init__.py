"""``gnomon bmx``: which words a score rests on, and what saying so adds to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import add_group
from gnomon.cli.bmx import explain, score, tune

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add"]

_COMMANDS = (score, explain, tune)


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands of the method."""
    inner = add_group(
        commands,
        "bmx",
        answers="which words a metric's score rests on, and whether that improves the score",
    )
    for command in _COMMANDS:
        command.add(inner)
