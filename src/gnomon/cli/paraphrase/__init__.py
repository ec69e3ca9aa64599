"""``gnomon paraphrase``: wider references, and how wide they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._command import add_method
from gnomon.cli._options import add_group
from gnomon.cli.paraphrase import codes, generate, train

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add"]

_COMMANDS = (
    generate,
    train,
    codes,
    "paraphrase.gain",
    "paraphrase.diversity",
    "paraphrase.adequacy",
    "paraphrase.judge",
    "paraphrase.coverage",
    "paraphrase.show",
    "paraphrase.constraints",
    "paraphrase.half_splits",
)


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands of the method."""
    inner = add_group(
        commands,
        "paraphrase",
        answers="what a metric would say with wider references",
    )
    for command in _COMMANDS:
        if isinstance(command, str):
            add_method(inner, command)
        else:
            command.add(inner)
