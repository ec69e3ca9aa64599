"""``gnomon muler correlate``: what MuLER goes along with, over systems and test sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import (
    add_command,
    add_data,
    add_metrics,
    add_output,
    add_page,
    check_outputs,
    load_several,
    metrics,
    show,
)
from gnomon.cli.muler._features import add_features, annotation_cache, examples, features
from gnomon.cli.muler._scorers import add_scorers, checked_scorers

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run_correlate"]

_MORPHOLOGY = ("morph:Gender", "morph:Number", "morph:Definite")
_MORE = """\
examples:
  gnomon muler correlate -t wmt18/de-en wmt18/fi-en wmt19/de-en --html report.html
  gnomon muler correlate -t newstest2019/de-en --features 'pos:*' -m bleu chrf -f json
  gnomon muler correlate -t newstest2019/de-en --by domain --scorers sentiment

Year, architecture and human submissions are read from systems.tsv (columns system, year,
architecture, constrained, human) in each test set; a missing year from the set's name (wmt19).
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "correlate",
        answers="which features go along with the score, over many systems and test sets",
        more=_MORE,
    )
    add_data(parser, several=True)
    add_metrics(parser)
    add_output(parser)
    add_features(parser)
    add_scorers(parser)
    _add_scoring(parser)
    _add_examples(parser)
    parser.set_defaults(run=run_correlate)


def run_correlate(args: argparse.Namespace) -> int:
    """Annotate, mask, score, correlate, print, write the page."""
    from gnomon import report
    from gnomon.cli._progress import stages
    from gnomon.muler import correlate

    chosen, wanted = metrics(args), features(args)
    # the page shows the segments, JSON lists them
    shown = examples(args, wanted=bool(args.html) or args.format == "json")
    scorers = checked_scorers(args)
    check_outputs(args, args.html)
    testsets = load_several(args)
    with stages(quiet=args.quiet) as progress:
        progress.tick("reading")
        finding = correlate(
            testsets,
            chosen,
            wanted.names if args.features else _with_morphology(wanted.names),
            tagger=args.tagger,
            lexicons=wanted.lexicons,
            patterns=wanted.patterns,
            labels=wanted.labels,
            scorers=list(scorers.values()),
            variants=args.variant,
            by=args.by,
            few=args.few,
            overlap=args.overlap,
            granularity=args.granularity,
            examples=shown,
            near=args.near,
            far=args.far,
            allow_code=args.allow_code,
            cache=annotation_cache(args),
            progress=progress,
        )
        if args.html:
            report.write_html(args.html, [finding])
        progress.tick("reporting")
    show(args, finding, "muler correlate")
    return 0


def _with_morphology(names: list[str]) -> list[str]:
    """The features by default, with the morphology that the paper compares."""
    return [*names, *(_MORPHOLOGY if {"pos:*", "ent:*"} <= set(names) else ())]


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
    group.add_argument(
        "--few",
        type=int,
        default=8,
        metavar="N",
        help="grey correlations over fewer systems (default: 8)",
    )
    add_page(group)


def _add_examples(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("contrasting segments (in the report and in JSON)")
    group.add_argument(
        "--examples",
        type=int,
        default=3,
        metavar="N",
        help="segments per feature and test set (default: 3)",
    )
    group.add_argument(
        "--near",
        type=float,
        default=1.0,
        metavar="X",
        help="their two scores differ by at most X, in the metric's units (default: 1)",
    )
    group.add_argument(
        "--far",
        type=float,
        default=0.5,
        metavar="X",
        help="their two MuLER differ by at least X (default: 0.5)",
    )
