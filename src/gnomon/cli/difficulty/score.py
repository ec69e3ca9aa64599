"""``gnomon difficulty score``: scores weighted by how hard words were, and who agrees with them."""

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

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run_score"]

_MORE = """\
examples:
  gnomon difficulty score -t wmt19/de-en -m bertscore --html report.html
  gnomon difficulty score ref.txt -i a.txt b.txt c.txt -l en -m rouge1
  gnomon difficulty score -t wmt19/en-de -m 'difficulty(bertscore(model="FOLDER"), beta=2)'
  gnomon difficulty score -t wmt19/de-en -m bertscore --save hard.npz
  gnomon difficulty score ref.txt -i new.txt -l en -m bertscore --frozen hard.npz
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "score",
        answers="how good each system is where hard words count more, and whether people agree",
        more=_MORE,
    )
    add_data(parser)
    add_metrics(parser, "bertscore")
    add_output(parser)
    add_pool(parser)
    _add_scoring(parser)
    add_people(parser, what="judge")
    _add_agreement(parser)
    add_omission(parser)
    parser.set_defaults(run=run_score)


def run_score(args: argparse.Namespace) -> int:
    """Bind, score, judge, print, write the page."""
    from gnomon import difficulty, report
    from gnomon.cli._progress import stages

    metric, chosen = one_metric(args), pool(args)
    check_outputs(args, args.html, args.save)
    testset, human = judged(args)
    with stages(quiet=args.quiet) as progress:
        progress.tick("reading")
        finding = difficulty.score(
            testset,
            metric,
            pool=chosen,
            pool_by=args.pool_by,
            leave_one_out=args.leave_one_out,
            frozen=args.frozen,
            save=args.save,
            beside=args.beside,
            human=human,
            top=args.top,
            curves=not args.no_curves,
            allow_circular=args.allow_circular,
            by=args.by,
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


def _add_scoring(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("scoring")
    group.add_argument(
        "--leave-one-out",
        action="store_true",
        help="the words of a system are weighed by the others of the pool",
    )
    group.add_argument("--by", metavar="KIND", help="slices: length, domain, document, score, ...")
    add_page(group)


def _add_agreement(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("agreement")
    group.add_argument(
        "--beside",
        nargs="*",
        metavar="METRIC",
        help="metrics that stand beside (default: ter meteor bleu, as far as they can be had)",
    )
    group.add_argument("--no-curves", action="store_true", help="no agreement over the K best")
    group.add_argument(
        "--allow-circular",
        action="store_true",
        help="judge by human scores even where they chose the pool; draw the curve whose pool"
        " follows the K best systems",
    )
