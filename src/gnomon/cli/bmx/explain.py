"""``gnomon bmx explain``: which words a score rests on, and whether that can be believed."""

from __future__ import annotations

import argparse
import json
import re
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
from gnomon.cli.bmx._explaining import add_cost, add_sides, explanation_cache
from gnomon.errors import UsageError

if TYPE_CHECKING:
    from gnomon.cli._options import Subparsers
    from gnomon.findings import Finding

__all__ = ["add", "run_explain"]

_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_MORE = """\
examples:
  gnomon bmx explain ref.txt -i sysA.txt -m chrf --segments 1 4-6
  gnomon bmx explain -t wmt17/cs-en -m chrf --sample 200 --html words.html
  gnomon bmx explain -t et-en.test.tsv -m xbertscore --explainers erasure 'lime(samples=50)' \\
      --sample 200 --against-errors --faithfulness
  gnomon bmx explain -t wmt17/cs-en -m chrf --export chrf.erasure.jsonl

A positive importance makes the candidate look better; where it is negative, the score rises
without the word, so that low importance stands for an error. Explainers: erasure, lime, shap,
marginalisation(model='...'), gradient, match, random ('gnomon list explainers').
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "explain",
        answers="which words a score rests on, which hurt it, and whether people marked the same",
        more=_MORE,
    )
    add_data(parser)
    add_metrics(parser, "chrf")
    add_output(parser)
    _add_explanations(parser)
    _add_judging(parser)
    add_page(parser)
    parser.set_defaults(run=run_explain)


def run_explain(args: argparse.Namespace) -> int:
    """Explain, judge, print, write the page and the file of explanations."""
    from gnomon import bmx, report
    from gnomon.cli._progress import stages

    chosen = metrics(args)
    check_outputs(args, args.html, args.export)
    if args.export and len(chosen) * len(args.explainers) > 1:
        raise UsageError(
            "--export writes the explanations of one metric by one explainer; name one of each"
        )
    for explainer in args.explainers:
        bmx.find_explainer(explainer)
    testset = load_outputs(args)
    with stages(quiet=args.quiet) as progress:
        progress.tick("reading")
        finding = bmx.examine(
            testset,
            chosen,
            args.explainers,
            sides=args.sides,
            segments=_numbers(args.segments, testset.segments),
            sample=args.sample,
            errors=args.against_errors is not None,
            errors_kind=args.against_errors or None,
            curves=args.faithfulness,
            show=args.show,
            least=args.least,
            resamples=args.resamples,
            confidence=args.confidence,
            seed=args.seed,
            max_calls=args.max_calls,
            cache=explanation_cache(args),
            progress=progress,
            allow_code=args.allow_code,
        )
        if args.export:
            _export(args.export, finding)
        if args.html:
            report.write_html(args.html, [finding])
        progress.tick("reporting")
    show(args, finding, "bmx explain")
    return 0


def _export(path: str, finding: Finding) -> None:
    """One JSON object per word and line, as ``gnomon bmx tune --explanations`` reads them."""
    from gnomon.formats import atomic_write

    with atomic_write(path) as file:
        file.writelines(json.dumps(dict(row)) + "\n" for row in finding.rows)


def _numbers(given: list[range] | None, there: int) -> list[int] | None:
    """Segments from 0, each once.

    Raises:
        UsageError: the test set has no such segment.
    """
    if given is None:
        return None
    last = max(some[-1] for some in given)
    if last > there:
        raise UsageError(f"segment {last} is not there; the test set has 1 to {there}")
    return list(dict.fromkeys(number - 1 for some in given for number in some))


def _segments(text: str) -> range:
    found = _RANGE.fullmatch(text)
    first, last = (int(part or 0) for part in found.groups()) if found else (0, 0)
    if first < 1 or (last and last < first):
        raise argparse.ArgumentTypeError(f"{text!r} is no segment: 7, or 4-6, counted from 1")
    return range(first, max(first, last) + 1)


def _add_explanations(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("explanations")
    group.add_argument(
        "--explainers",
        "--explainer",
        nargs="+",
        default=["erasure"],
        metavar="SPEC",
        help="erasure, 'lime(samples=50)', shap, ... (default: erasure)",
    )
    add_sides(group)
    group.add_argument(
        "--segments",
        nargs="+",
        type=_segments,
        metavar="N",
        help="only these, from 1: 7 or 4-6 (default: all)",
    )
    group.add_argument("--sample", type=int, metavar="N", help="N of these segments, by the seed")
    add_cost(group, per="metric and explainer")
    group.add_argument(
        "--show",
        type=int,
        default=3,
        metavar="N",
        help="colour the words of the N outputs that score worst (default: 3)",
    )
    group.add_argument(
        "--least",
        type=int,
        default=3,
        metavar="N",
        help="list by mean importance what occurs N times or more (default: 3)",
    )
    group.add_argument("--export", metavar="FILE", help="write all explanations, JSONL")


def _add_judging(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("judging explanations (beside the random explainer)")
    group.add_argument(
        "--against-errors",
        nargs="?",
        const="",
        metavar="KIND",
        help="by the errors that people marked: AUC, average precision, recall at top-K; KIND where"
        " there are several (word-tags, mqm)",
    )
    group.add_argument(
        "--faithfulness", action="store_true", help="by deletion and insertion of words"
    )
    group.add_argument(
        "--resamples", type=int, default=1000, metavar="N", help="for intervals (default: 1000)"
    )
    group.add_argument("--confidence", type=float, default=0.95, metavar="X", help="(default: .95)")
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of sample, resamples and random explainer"
    )
