"""``gnomon muler sentences``: what candidates change of sentiment, concreteness, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import (
    add_command,
    add_data,
    add_output,
    check_outputs,
    load_outputs,
    show,
)
from gnomon.cli.muler._features import annotation_cache, examples
from gnomon.cli.muler._intervals import add_intervals
from gnomon.cli.muler._scorers import add_scorers, checked_scorers

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run_sentences"]

_DEFAULT = ("sentiment", "concreteness")
_MORE = """\
examples:
  gnomon muler sentences ref.txt -i sysA.txt sysB.txt -l en
  gnomon muler sentences ref.txt -i sys.txt --scorers sentiment=wkwsci.csv valence=NRC-VAD.tsv
  gnomon muler sentences -t newstest2019/de-en --scorers sentiment --by domain --html report.html
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "sentences",
        answers="what each system changes of sentiment, concreteness, valence of its references",
        more=_MORE,
    )
    add_data(parser)
    add_output(parser)
    add_scorers(parser, _DEFAULT)
    group = parser.add_argument_group("words")
    group.add_argument(
        "--tagger", metavar="NAME", help="spacy:NAME, for base forms (default: one for -l)"
    )
    group.add_argument("--no-cache", action="store_true", help="neither use nor keep tags")
    group.add_argument(
        "--allow-code", action="store_true", help="let NAME=python('module:function') run code"
    )
    group.add_argument(
        "--examples",
        type=int,
        default=3,
        metavar="N",
        help="segments shown in the report per scorer and system (default: 3)",
    )
    add_intervals(parser)
    parser.set_defaults(run=run_sentences)


def run_sentences(args: argparse.Namespace) -> int:
    """Score the sentences of both sides, compare, print, write the page."""
    from gnomon import report
    from gnomon.cli._progress import stages
    from gnomon.muler import sentences

    scorers = checked_scorers(args)
    shown = examples(args, wanted=bool(args.html))
    check_outputs(args, args.html)
    testset = load_outputs(args)
    with stages(quiet=args.quiet) as progress:
        progress.tick("reading")
        finding = sentences(
            testset,
            list(scorers.values()),
            tagger=args.tagger,
            by=args.by,
            bootstrap=args.bootstrap,
            confidence=args.confidence,
            seed=args.seed,
            examples=shown,
            cache=annotation_cache(args),
            progress=progress,
        )
        if args.html:
            report.write_html(args.html, [finding], title=f"{finding.title} ({testset.name})")
        progress.tick("reporting")
    show(args, finding, "muler sentences")
    return 0
