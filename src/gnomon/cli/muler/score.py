"""``gnomon muler score``: what the metric charges each linguistic feature for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gnomon.cli._options import (
    add_command,
    add_data,
    add_metrics,
    add_output,
    add_page,
    check_outputs,
    load_outputs,
    metrics,
    show,
)
from gnomon.cli.muler._features import add_features, annotation_cache, examples, features
from gnomon.cli.muler._scorers import add_scorers, checked_scorers
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers
    from gnomon.findings import Finding

__all__ = ["add", "run_score"]

_MORE = """\
examples:
  gnomon muler score ref.txt -i sysA.txt sysB.txt -m bleu -l en --features 'pos:*' 'ent:*'
  gnomon muler score -t newstest2019/de-en --features pos:NOUN ent:PERSON --html report.html
  gnomon muler score ref.txt -i sys.txt --features lex:food --lexicon food=food.txt
  gnomon muler score ref.txt -i sysA.txt sysB.txt -l en --bootstrap 10000 --differences d.tsv
  gnomon muler score ref.txt -i sys.txt -l en --scorers sentiment concreteness valence=vad.tsv
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
    add_scorers(parser)
    _add_scoring(parser)
    _add_significance(parser)
    parser.set_defaults(run=run_score)


def run_score(args: argparse.Namespace) -> int:
    """Annotate, mask, score, print, write the page."""
    from gnomon import report
    from gnomon.cli._progress import stages
    from gnomon.muler import muler

    chosen, wanted, scorers = metrics(args), features(args), checked_scorers(args)
    shown = examples(args, wanted=bool(args.html))
    check_outputs(args, args.html, args.differences)
    _check_differences(args)
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
            scorers=list(scorers.values()),
            variants=args.variant,
            by=args.by,
            overlap=args.overlap,
            granularity=args.granularity,
            examples=shown,
            bootstrap=args.bootstrap,
            confidence=args.confidence,
            seed=args.seed,
            allow_code=args.allow_code,
            cache=annotation_cache(args),
            progress=progress,
        )
        if args.html:
            report.write_html(args.html, [finding], title=f"{finding.title} ({testset.name})")
        if args.differences:
            _write_differences(args.differences, finding)
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
    add_page(group)
    group.add_argument(
        "--examples",
        type=int,
        default=3,
        metavar="N",
        help="segments shown in the report per feature and system (default: 3)",
    )


def _add_significance(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("significance")
    group.add_argument(
        "--bootstrap",
        type=int,
        default=1000,
        metavar="N",
        help="resamples of the segments, for intervals and for tests of differences between"
        " systems; 0 = neither (default: 1000)",
    )
    group.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        metavar="SHARE",
        help="of the intervals; differences are tested at 1 - SHARE (default: 0.95)",
    )
    group.add_argument(
        "--seed", type=int, default=12345, metavar="N", help="of the resamples (default: 12345)"
    )
    group.add_argument(
        "--differences",
        metavar="FILE",
        help="write all differences between systems, with intervals and p-values: .tsv or .json",
    )


def _check_differences(args: argparse.Namespace) -> None:
    if not args.differences:
        return
    if not args.bootstrap:
        raise UsageError("--differences needs resamples, and --bootstrap 0 asks for none")
    if not args.differences.endswith((".tsv", ".json")):
        raise UsageError(f"--differences takes a name in .tsv or .json; got {args.differences!r}")


def _write_differences(path: str, finding: Finding) -> None:
    from gnomon import report
    from gnomon.formats import atomic_write

    only = replace(finding, tables=(finding.table("differences"),), views=())
    with atomic_write(path) as file:
        file.write(report.render(only, "json" if path.endswith(".json") else "tsv"))
