"""``gnomon bmx score``: how good systems are once a metric is boosted by its explanations."""

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
from gnomon.cli.bmx._explaining import add_cost, add_sides, explanation_cache

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run_score"]

_MORE = """\
examples:
  gnomon bmx score ref.txt -i sysA.txt sysB.txt -m chrf --explainer erasure
  gnomon bmx score -t wmt17/cs-en -m chrf --explainer lime --p -1.4 --w 0.4
  gnomon bmx score -t wmt17/cs-en -m chrf --explainer erasure --segments boosted.tsv

S1 = w S0 + (1 - w) M_p(importances of the words). Without --p and --w the published medians of
the explainer are taken; 'gnomon bmx tune' tells what suits a test set with human scores.
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "score",
        answers="how good each system is under metrics that are boosted by their explanations",
        more=_MORE,
    )
    add_data(parser)
    add_metrics(parser, "chrf")
    add_output(parser)
    group = parser.add_argument_group("boosting")
    group.add_argument(
        "--explainer",
        default="erasure",
        metavar="SPEC",
        help="erasure, 'lime(samples=50)', shap, ... (default: erasure)",
    )
    group.add_argument(
        "--p", nargs="+", type=float, metavar="P", help="exponent; several = iterations"
    )
    group.add_argument(
        "--w", nargs="+", type=float, metavar="W", help="weight of the metric's own score"
    )
    group.add_argument("--iterations", type=int, default=1, metavar="N", help="(default: 1)")
    group.add_argument(
        "--shift",
        choices=("paper", "floor", "exponential"),
        default="paper",
        help="how importances are made positive; the paper's shift collapses for p < 0",
    )
    add_sides(group)
    add_cost(group, per="metric")
    group.add_argument(
        "--segments",
        metavar="FILE",
        help="write segment scores of both: .tsv, .jsonl, .wmt, or .seg.score (mt-metrics-eval)",
    )
    parser.set_defaults(run=run_score)


def run_score(args: argparse.Namespace) -> int:
    """Score under the metric and under the boosted one, print, write segment scores."""
    from gnomon import bmx, formats
    from gnomon.cli._progress import stages

    chosen = metrics(args)
    check_outputs(args, args.segments)
    testset = load_outputs(args)
    with stages(quiet=args.quiet) as progress:
        progress.tick("reading")
        found = [
            bmx.boosted_scores(
                testset,
                metric,
                explainer=args.explainer,
                p=args.p,
                w=args.w,
                iterations=args.iterations,
                shift=args.shift,
                sides=args.sides,
                max_calls=args.max_calls,
                cache=explanation_cache(args),
                progress=progress,
                allow_code=args.allow_code,
            )
            for metric in chosen
        ]
        progress.tick("scoring")
    if args.segments:
        both = [scores for pair in found for scores in pair]
        formats.write_segment_scores(args.segments, both, testset)
    show(args, bmx.beside_base(testset, found), "bmx score")
    return 0
