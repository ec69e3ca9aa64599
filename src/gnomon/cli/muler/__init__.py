"""``gnomon muler``: what the metric charges each linguistic feature for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich_argparse import RawDescriptionRichHelpFormatter

from gnomon.cli.muler import correlate, discrepancy, pairs, score, sentences, validate

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add"]

_COMMANDS = (score, discrepancy, sentences, validate, correlate, pairs)


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands of the method."""
    group = commands.add_parser(
        "muler",
        help="which word classes, names and forms cost you BLEU (or any metric)",
        formatter_class=RawDescriptionRichHelpFormatter,
    )
    inner = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add(inner)
