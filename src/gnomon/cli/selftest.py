"""``gnomon selftest``: whether this installation gives the numbers that it should."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run"]

_TOLERANCE = 1e-6


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands, "selftest", answers="whether this installation gives the numbers that it should"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:  # noqa: ARG001  # every command takes its options
    """Compare with golden numbers; exit 1 if one differs."""
    from gnomon import selftest

    failed = 0
    for check in selftest.checks():
        fine = abs(check.found - check.expected) <= _TOLERANCE
        failed += not fine
        state = "ok  " if fine else "FAIL"
        sys.stdout.write(f"{state} {check.name}: {check.found:.6f}")
        sys.stdout.write("\n" if fine else f", expected {check.expected:.6f}\n")
    sys.stdout.write("all fine\n" if not failed else f"{failed} numbers differ\n")
    return 1 if failed else 0
