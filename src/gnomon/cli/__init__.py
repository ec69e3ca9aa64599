"""The command line: one file per command, no logic of its own."""

from gnomon.cli._main import main

__all__ = ["main"]
