"""``gnomon muler discrepancy``: too few, equally many, too many."""

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
from gnomon.cli.muler._features import add_features, annotation_cache, features
from gnomon.cli.muler._intervals import add_intervals

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run_discrepancy"]

_MORE = """\
examples:
  gnomon muler discrepancy ref.txt -i sysA.txt sysB.txt -l en --features 'pos:*' 'ent:*'
  gnomon muler discrepancy sentences.txt -i paraphrases.txt -l en --features 'pos:*' 'dep:*'
  gnomon muler discrepancy male.txt -i female.txt --features lex:gender
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "discrepancy",
        answers="which word classes, names and forms candidates have too few or too many of",
        more=_MORE,
    )
    add_data(parser)
    add_output(parser)
    add_features(parser)
    add_intervals(parser)
    parser.set_defaults(run=run_discrepancy)


def run_discrepancy(args: argparse.Namespace) -> int:
    """Annotate, count, print, write the page."""
    from gnomon import report
    from gnomon.cli._progress import stages
    from gnomon.muler import discrepancy

    wanted = features(args)
    check_outputs(args, args.html)
    testset = load_outputs(args)
    with stages(quiet=args.quiet) as progress:
        progress.tick("reading")
        finding = discrepancy(
            testset,
            wanted.names,
            tagger=args.tagger,
            lexicons=wanted.lexicons,
            patterns=wanted.patterns,
            labels=wanted.labels,
            by=args.by,
            bootstrap=args.bootstrap,
            confidence=args.confidence,
            seed=args.seed,
            cache=annotation_cache(args),
            progress=progress,
        )
        if args.html:
            report.write_html(args.html, [finding], title=f"{finding.title} ({testset.name})")
        progress.tick("reporting")
    show(args, finding, "muler discrepancy")
    return 0
