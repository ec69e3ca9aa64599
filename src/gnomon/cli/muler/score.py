"""``gnomon muler score``: what the metric charges each linguistic feature for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import (
    add_command,
    add_data,
    add_metrics,
    add_output,
    check_outputs,
    load_outputs,
    metrics,
    show,
)
from gnomon.cli.muler._features import add_features, annotation_cache, features

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run_score"]

_MORE = """\
examples:
  gnomon muler score ref.txt -i sysA.txt sysB.txt -m bleu -l en --features 'pos:*' 'ent:*'
  gnomon muler score -t newstest2019/de-en --features pos:NOUN ent:PERSON --html report.html
  gnomon muler score ref.txt -i sys.txt --features lex:food --lexicon food=food.txt
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "score",
        answers="which word classes, names and forms cost each system its score",
        more=_MORE,
    )
    add_data(parser)
    add_metrics(parser)
    add_output(parser)
    add_features(parser)
    _add_scoring(parser)
    parser.set_defaults(run=run_score)


def run_score(args: argparse.Namespace) -> int:
    """Annotate, mask, score, print, write the page."""
    from gnomon import report
    from gnomon.cli._progress import stages
    from gnomon.muler import muler

    chosen, wanted = metrics(args), features(args)
    check_outputs(args, args.html)
    testset = load_outputs(args)
    with stages(quiet=args.quiet) as progress:
        progress.tick("reading")
        finding = muler(
            testset,
            chosen,
            wanted.names,
            tagger=args.tagger,
            lexicons=wanted.lexicons,
            patterns=wanted.patterns,
            labels=wanted.labels,
            variants=args.variant,
            by=args.by,
            overlap=args.overlap,
            granularity=args.granularity,
            examples=args.examples if args.html else 0,
            allow_code=args.allow_code,
            cache=annotation_cache(args),
            progress=progress,
        )
        if args.html:
            report.write_html(args.html, [finding], title=f"{finding.title} ({testset.name})")
        progress.tick("reporting")
    show(args, finding, "muler score")
    return 0


def _add_scoring(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("scoring")
    group.add_argument(
        "--variant",
        nargs="+",
        choices=("ratio", "segment-clipped"),
        default=["ratio", "segment-clipped"],
        help="which definitions of MuLER (default: both, in rows of their own)",
    )
    group.add_argument("--by", metavar="KIND", help="slices: domain, document, length, or a label")
    group.add_argument("--overlap", choices=("any", "majority", "inside"), default="any")
    group.add_argument("--granularity", choices=("token", "span"), default="token")
    group.add_argument("--html", metavar="FILE", help="write a report that opens by double click")
    group.add_argument(
        "--examples",
        type=int,
        default=3,
        metavar="N",
        help="segments shown in the report per feature and system (default: 3)",
    )
