"""``gnomon data fetch``: an official test set, checked, in a folder that -t takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_format
from gnomon.cli.data._shown import add_home, show_written
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run"]

_MORE = """\
examples:
  gnomon data fetch wmt22 -l en-de
  gnomon data fetch wmt19 -l de-en --from test.tgz
  gnomon data fetch mt-metrics-eval/wmt22 -l en-de zh-en
  gnomon data fetch mt-metrics-eval --from mt-metrics-eval-v2.tgz --sha256 SUM
  gnomon data fetch https://example.org/et-en-test.tar.gz -o sets
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "fetch",
        answers="how to get an official test set, checked, into a folder that -t takes",
        more=_MORE,
    )
    parser.add_argument(
        "name", metavar="NAME|URL", help="a name of 'gnomon data list', or an address"
    )
    parser.add_argument(
        "-l",
        "--language-pairs",
        "--language-pair",
        nargs="+",
        default=[],
        metavar="PAIR",
        help="only these (default: all)",
    )
    source = parser.add_argument_group("where it comes from")
    source.add_argument(
        "--from",
        dest="given",
        metavar="FILE|DIR|URL",
        help="the publisher's file, a folder that holds it, or a mirror; nothing else is asked",
    )
    source.add_argument("--sha256", metavar="SUM", help="the checksum that the file must have")
    source.add_argument(
        "--timeout", type=float, default=30.0, metavar="S", help="seconds to wait (default: 30)"
    )
    add_home(parser, "-o", "--output")
    add_format(parser)
    part = "what has come is kept; the same command goes on where the transfer broke off"
    parser.set_defaults(run=run, kept=part)


def run(args: argparse.Namespace) -> int:
    """Fetch, and say where it is."""
    from gnomon import official
    from gnomon.cli._progress import stages

    with stages(quiet=args.quiet) as progress:
        found = official.fetch(
            args.name,
            language_pairs=args.language_pairs,
            folder=args.folder,
            given=args.given,
            sha256=args.sha256,
            patience=replace(official.Patience(), timeout=_seconds(args.timeout)),
            progress=progress,
        )
    show_written(args, "data fetch", found)
    return 0


def _seconds(value: float) -> float:
    if not 0 < value < float("inf"):
        raise UsageError(f"--timeout is {value:g}; a number of seconds above 0 is expected")
    return value
