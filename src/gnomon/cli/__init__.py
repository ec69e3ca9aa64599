"""The command line: one file per command, no logic of its own."""

from gnomon.cli.entry import main

__all__ = ["main"]
