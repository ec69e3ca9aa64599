"""``gnomon difficulty``: which words were hard, and who got those right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import add_group
from gnomon.cli.difficulty import score, words

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add"]

_COMMANDS = (score, words)


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands of the method."""
    inner = add_group(
        commands,
        "difficulty",
        answers="which words were hard for the systems, and who got those right",
    )
    for command in _COMMANDS:
        command.add(inner)
