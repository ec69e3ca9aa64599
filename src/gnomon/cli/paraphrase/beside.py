"""``gnomon paraphrase show``: paraphrases side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import (
    add_command,
    add_data,
    add_output,
    add_page,
    check_outputs,
    load_original,
    paraphrased,
    show,
)
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers
    from gnomon.testset import TestSet

__all__ = ["add", "run"]

_MORE = """\
examples:
  gnomon paraphrase show ref.txt --paraphrases beam.jsonl codes.jsonl --html page.html
  gnomon paraphrase show -t wmt19/de-en --first 500 --paraphrases ref.human?.txt --order change
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "show",
        answers="what paraphrases say, side by side, with what they change marked",
        more=_MORE,
    )
    add_data(parser)
    add_output(parser)
    group = parser.add_argument_group("what is shown")
    group.add_argument(
        "--segments", type=int, default=100, metavar="N", help="how many (default: 100)"
    )
    group.add_argument("--outputs", action="store_true", help="what the systems said, too")
    group.add_argument(
        "--order",
        choices=("text", "change"),
        default="text",
        help="the first segments, or those that change most (default: text)",
    )
    add_page(group)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read, print, write the page."""
    from gnomon import paraphrase, report

    if not args.paraphrases:
        raise UsageError("there is nothing to show: name files with --paraphrases FILE")
    check_outputs(args, args.html)
    wide = paraphrased(args, _testset(args))
    finding = paraphrase.side_by_side(
        wide, segments=args.segments, outputs=args.outputs, order=args.order
    )
    if args.html:
        report.write_html(args.html, [finding])
    show(args, finding, "paraphrase show")
    return 0


def _testset(args: argparse.Namespace) -> TestSet:
    """The test set; of files, references are enough."""
    if args.test_set or args.table or args.input or not args.refs:
        return load_original(args)
    from gnomon.testset import TestSet

    made = TestSet.from_files(
        references=args.refs, systems=[], source=args.source, language_pair=args.language_pair
    )
    return made if args.first is None else made.select(segments=range(args.first))
