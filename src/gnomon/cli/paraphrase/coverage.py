"""``gnomon paraphrase coverage``: what paraphrases match that the references did not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import (
    add_command,
    add_data,
    add_output,
    check_outputs,
    load_original,
    paraphrased,
    show,
)
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run"]

_MORE = """\
examples:
  gnomon paraphrase coverage ref.txt -i sysA.txt sysB.txt --paraphrases made.jsonl
  gnomon paraphrase coverage -t wmt19/de-en --first 500 --paraphrases ref.human1.txt --html c.html
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "coverage",
        answers="which n-grams of the systems paraphrases match, and which they still miss",
        more=_MORE,
    )
    add_data(parser)
    add_output(parser)
    group = parser.add_argument_group("n-grams")
    group.add_argument("--longest", type=int, default=4, metavar="N", help="tokens, at most (4)")
    group.add_argument(
        "--most", type=int, default=20, metavar="N", help="listed of each length (default: 20)"
    )
    group.add_argument("-tok", "--tokenize", default="13a", metavar="NAME", help="(default: 13a)")
    parser.add_argument("--html", metavar="FILE", help="write a page with examples in context")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Count, print, write the page."""
    from gnomon import paraphrase, report
    from gnomon.cli._progress import stages

    if not args.paraphrases:
        raise UsageError("coverage compares references with paraphrases: --paraphrases FILE")
    check_outputs(args, args.html)
    with stages(quiet=args.quiet) as progress:
        testset = load_original(args)
        wide = paraphrased(args, testset)
        progress.tick("reading")
        finding = paraphrase.coverage(
            testset, wide, longest=args.longest, most=args.most, tokenizer=args.tokenize
        )
        if args.html:
            report.write_html(args.html, [finding])
        progress.tick("counting")
    show(args, finding, "paraphrase coverage")
    return 0
