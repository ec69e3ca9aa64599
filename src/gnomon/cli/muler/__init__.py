"""``gnomon muler``: what the metric charges each linguistic feature for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import add_group
from gnomon.cli.muler import correlate, discrepancy, pairs, score, sentences, validate

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add"]

_COMMANDS = (score, discrepancy, sentences, validate, correlate, pairs)


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands of the method."""
    inner = add_group(
        commands,
        "muler",
        answers="which word classes, names and forms cost you BLEU (or any metric)",
    )
    for command in _COMMANDS:
        command.add(inner)
