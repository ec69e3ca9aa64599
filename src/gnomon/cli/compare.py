"""``gnomon compare``: which system is better, by how much, where, and in which words."""

from __future__ import annotations

import argparse
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
    paraphrase_sections,
    show,
)
from gnomon.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from gnomon.cli._options import Subparsers

__all__ = ["add", "run"]

_MORE = """\
examples:
  gnomon compare ref.txt -i old.txt new.txt -m bleu chrf
  gnomon compare -t newstest2019/en-de --baseline online-B.0 -m bleu --html report.html
  gnomon compare ref.txt -i old.txt new.txt --test ar --by length
  gnomon compare ref.txt -i main.txt branch.txt --fail-if-worse bleu --min-drop .3   # for CI

exit code 3: --fail-if-worse found a system that is worse than the baseline
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "compare",
        answers="which system is better, by how much, in which segments and words",
        more=_MORE,
    )
    add_data(parser)
    add_metrics(parser)
    add_output(parser)
    _add_test(parser)
    _add_shown(parser)
    _add_gate(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Score, test, print, write the page, and fail if it was asked for."""
    from gnomon import report
    from gnomon.cli._progress import stages
    from gnomon.metaeval import compare, fail_if_worse

    chosen = metrics(args)
    _check_gate(args, chosen)
    check_outputs(args, args.html)
    testset = load_outputs(args)
    with stages(quiet=args.quiet) as progress:
        progress.tick("reading")
        finding = compare(
            testset,
            chosen,
            baseline=args.baseline,
            test=args.test,
            resamples=args.resamples,
            trials=args.trials,
            null=args.null or ("sacrebleu" if args.sacrebleu else "sign"),
            alternative=args.alternative,
            correction=args.correction,
            alpha=args.alpha,
            confidence=args.confidence,
            seed=args.seed,
            by=args.by,
            examples=args.examples,
            ngrams=args.ngrams,
            jobs=args.jobs,
            allow_code=args.allow_code,
            progress=progress,
        )
        if args.html:
            page = [finding, *paraphrase_sections(testset)]
            report.write_html(args.html, page, title=f"{finding.title} ({testset.name})")
        progress.tick("reporting")
    show(args, finding, "compare")
    if args.fail_if_worse:
        fail_if_worse(finding, args.fail_if_worse, alpha=args.alpha, min_drop=args.min_drop)
    return 0


def _add_test(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("test")
    group.add_argument("--baseline", metavar="NAME", help="compared with (default: the first)")
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "--test",
        choices=("bootstrap", "ar"),
        default="bootstrap",
        help="paired bootstrap, or approximate randomisation (default: bootstrap)",
    )
    which.add_argument(
        "-pbs",
        "--paired-bs",
        dest="sacrebleu",
        action="store_true",
        help="--test bootstrap --null sacrebleu: exactly the p-values of sacreBLEU's option",
    )
    which.add_argument(
        "-par",
        "--paired-ar",
        dest="test",
        action="store_const",
        const="ar",
        help="--test ar, as sacreBLEU calls it",
    )
    _add_draws(group)


def _add_draws(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-pbsn",
        "--paired-bs-n",
        "--resamples",
        dest="resamples",
        type=int,
        metavar="N",
        help="bootstrap resamples, for intervals too (default: 1000, or more where the correction"
        " takes more, up to 10000)",
    )
    group.add_argument(
        "-parn",
        "--paired-ar-n",
        "--trials",
        dest="trials",
        type=int,
        default=10000,
        metavar="N",
        help="draws of the randomisation (default: 10000)",
    )
    group.add_argument(
        "--null",
        choices=("sign", "centred", "sacrebleu"),
        help="how resamples become p (default: sign, which agrees with the intervals)",
    )
    group.add_argument(
        "--alternative",
        choices=("two-sided", "greater", "less"),
        default="two-sided",
        help="greater: the system is better than the baseline (default: two-sided)",
    )
    group.add_argument(
        "--correction",
        choices=("holm", "benjamini-hochberg", "none"),
        default="holm",
        help="for the number of systems and slices, metric by metric (default: holm)",
    )
    group.add_argument("--alpha", type=float, default=0.05, help="significance (default: 0.05)")
    group.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        metavar="SHARE",
        help="of the intervals (default: 0.95)",
    )
    group.add_argument("--seed", type=int, default=12345, metavar="N", help="(default: 12345)")
    group.add_argument(
        "-j",
        "--paired-jobs",
        "--jobs",
        dest="jobs",
        type=int,
        default=1,
        metavar="N",
        help="threads; results do not depend on it (default: 1)",
    )


def _add_shown(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is shown")
    group.add_argument(
        "--by", metavar="KIND", help="slices: length, score, domain, document, or a label"
    )
    group.add_argument(
        "--examples",
        type=int,
        default=5,
        metavar="N",
        help="segments listed per metric, system and side (default: 5)",
    )
    group.add_argument(
        "--ngrams",
        type=int,
        default=10,
        metavar="N",
        help="n-grams listed per system, side and length (default: 10)",
    )
    add_page(group)


def _add_gate(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("gate")
    group.add_argument(
        "--fail-if-worse",
        nargs="+",
        metavar="METRIC",
        help="exit with 3 if a system is worse than the baseline under one of these (p <= --alpha)",
    )
    group.add_argument(
        "--min-drop",
        type=_drop,
        default=0.0,
        metavar="UNITS",
        help="of the metric; smaller drops do not fail (default: 0)",
    )


def _drop(text: str) -> float:
    try:
        drop = float(text)
    except ValueError:
        drop = float("nan")
    if not drop >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number, 0 or more")
    return drop


def _check_gate(args: argparse.Namespace, chosen: list[str]) -> None:
    """Refuse a gate that nothing could pass or fail, before any work."""
    if args.min_drop and not args.fail_if_worse:
        raise UsageError("--min-drop goes with --fail-if-worse METRIC, which is not given")
    if args.fail_if_worse and args.alternative == "greater":
        raise UsageError(
            "--fail-if-worse asks whether a system is worse, and --alternative greater whether it"
            " is better; take two-sided (the default) or less"
        )
    for metric in args.fail_if_worse or ():
        if metric not in chosen:
            raise UnknownNameError("metric to fail on", metric, chosen, remedy="name it with -m")
