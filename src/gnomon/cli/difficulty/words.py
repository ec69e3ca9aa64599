"""``gnomon difficulty words``: which words were hard, for whom, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import (
    add_command,
    add_data,
    add_metrics,
    add_output,
    add_page,
    check_outputs,
    show,
)
from gnomon.cli.difficulty._shared import (
    add_omission,
    add_people,
    add_pool,
    judged,
    one_metric,
    pool,
    tag_cache,
)
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run_words"]

_MORE = """\
examples:
  gnomon difficulty words -t wmt19/de-en -m bertscore
  gnomon difficulty words -t wmt19/de-en -m bertscore --segments 12 40 --tagger
  gnomon difficulty words ref.txt -i a.txt b.txt -l en -m rouge1 --html report.html
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "words",
        answers="which words of the references were hard, and which systems got them right",
        more=_MORE,
    )
    add_data(parser)
    add_metrics(parser, "bertscore")
    add_output(parser)
    add_pool(parser)
    _add_words(parser)
    add_people(parser, what="tell the best systems")
    add_omission(parser)
    parser.set_defaults(run=run_words)


def run_words(args: argparse.Namespace) -> int:
    """Bind, look at the words, print, write the page."""
    from gnomon import difficulty, report
    from gnomon.cli._progress import stages

    metric, chosen = one_metric(args), pool(args)
    if args.examples < 0:
        raise UsageError(f"--examples is a number of segments, 0 or more; got {args.examples}")
    check_outputs(args, args.html, args.save)
    testset, human = judged(args)
    with stages(quiet=args.quiet) as progress:
        progress.tick("reading")
        finding = difficulty.words(
            testset,
            metric,
            pool=chosen,
            pool_by=args.pool_by,
            frozen=args.frozen,
            save=args.save,
            segments=args.segments or (),
            min_count=args.min_count,
            human=human,
            top=args.top,
            examples=args.examples if args.html else 0,
            occurrences=args.occurrences,
            omit=args.omission,
            tagger=args.tagger,
            seed=args.seed,
            bootstrap=args.bootstrap,
            confidence=args.confidence,
            allow_code=args.allow_code,
            cache=tag_cache(args),
            progress=progress,
        )
        if args.html:
            report.write_html(args.html, [finding])
        progress.tick("reporting")
    show(args, finding, finding.method)
    return 0


def _add_words(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("words")
    group.add_argument(
        "--segments",
        nargs="+",
        type=int,
        metavar="N",
        help="whose words are shown across systems (default: the hardest one of 5 words or more)",
    )
    group.add_argument(
        "--min-count",
        type=int,
        metavar="N",
        help="how often a word occurs that is listed (default: 5; 1 below 100 segments)",
    )
    group.add_argument(
        "--occurrences", action="store_true", help="list every word of every reference too"
    )
    group.add_argument(
        "--examples",
        type=int,
        default=20,
        metavar="N",
        help="segments to read in the report, hardest first (default: 20)",
    )
    add_page(group)
