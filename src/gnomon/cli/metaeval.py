"""``gnomon metaeval``: do people agree with the metrics, and which agrees best."""

from __future__ import annotations

import argparse
from pathlib import Path
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
    paraphrase_sections,
    paraphrased,
    show,
)
from gnomon.errors import UsageError

if TYPE_CHECKING:
    from gnomon.cli._options import Subparsers
    from gnomon.scores import Scores
    from gnomon.testset import TestSet

__all__ = ["add", "run"]

_SUFFIXES = (".tsv", ".csv", ".txt", ".json", ".jsonl", ".score", ".rating", ".gz")
_MORE = """\
examples:
  gnomon metaeval -t wmt19/de-en wmt19/kk-en -m bleu chrf --html report.html
  gnomon metaeval -t wmt21/en-de -m bleu --scores comet.tsv --human mqm --baseline bleu
  gnomon metaeval -t wmt19/de-en -m bleu --paraphrases ref.human1.txt ref.human2.txt --baseline bleu
  gnomon metaeval --human de-en.da-z.sys.tsv --scores BLEU.tsv COMET.tsv --level system

Without a test set, files of human scores and score files are enough. A file's name tells its
language pair (de-en.da-z.sys.tsv); NAME=FILE gives a metric or a kind of judgement its name.
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands, "metaeval", answers="which metric people agree with best", more=_MORE
    )
    add_data(parser, several=True)
    add_metrics(parser)
    parser.set_defaults(metrics=None)
    add_output(parser)
    _add_scores(parser)
    _add_measures(parser)
    _add_tests(parser)
    add_page(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read, score, judge, print, write the page."""
    from gnomon import metaeval, report
    from gnomon.cli._progress import stages

    args.metrics = args.metrics or ([] if args.scores else ["bleu"])
    chosen = metrics(args) if args.metrics else []
    check_outputs(args, args.html)
    with stages(quiet=args.quiet) as progress:
        testsets, kinds = _judged(args)
        progress.tick("reading")
        scored = metaeval.metric_scores(
            args.scores or (),
            testsets,
            lower_is_better=args.lower_is_better or (),
            column=args.score_column,
        )
        wide = [paraphrased(args, one) for one in testsets] if args.paraphrases else []
        widened = _widened(wide, chosen, allow_code=args.allow_code)
        finding = metaeval.metaeval(
            testsets,
            {**{spec: spec for spec in chosen}, **scored, **widened},
            human=kinds,
            levels=args.level,
            statistics=args.statistics,
            groupings=args.grouping,
            preset=args.preset,
            top=args.top or (),
            no_outliers=args.no_outliers,
            baseline=args.baseline,
            test=args.test,
            alternative=args.alternative,
            correction=args.correction,
            resamples=args.resamples,
            confidence=args.confidence,
            alpha=args.alpha,
            seed=args.seed,
            controls=not args.no_controls,
            darr_threshold=args.darr_threshold,
            human_systems=args.human_systems,
            allow_code=args.allow_code,
            allow_circular=args.allow_circular,
            progress=progress,
        )
        if args.html:
            report.write_html(args.html, [finding, *paraphrase_sections(*wide)])
        progress.tick("reporting")
    show(args, finding, "metaeval")
    return 0


def _widened(
    wide: list[TestSet], chosen: list[str], *, allow_code: bool
) -> dict[str, list[Scores]]:
    """The metrics with paraphrased references, beside those without."""
    from gnomon.metrics import score

    if not wide:
        return {}
    return {
        f"{spec}+paraphrases": [score(t, spec, allow_code=allow_code) for t in wide]
        for spec in chosen
    }


def _judged(args: argparse.Namespace) -> tuple[list[TestSet], tuple[str, ...]]:
    """Test sets with human judgements, and the kinds that were named."""
    from gnomon import metaeval

    given = args.human or ()
    files = [one for one in given if _is_file(one)]
    names = tuple(one for one in given if one not in files)
    if not (args.test_set or args.refs or args.table or args.input):
        if not files or not args.scores:
            raise UsageError(
                "there is nothing to judge: name a test set with human scores (-t DIR), or files of"
                " human scores (--human FILE) and score files (--scores FILE)"
            )
        testsets, kinds = metaeval.textless(
            files,
            args.scores,
            format=args.human_format,
            language_pair=args.language_pair,
            column=args.score_column,
        )
    else:
        testsets, kinds = metaeval.with_judgements(
            load_several(_as_they_are(args)), files, format=args.human_format
        )
    return testsets, (*names, *kinds)


def _as_they_are(args: argparse.Namespace) -> argparse.Namespace:
    """The options for test sets without paraphrases, which are judged beside the originals."""
    if args.paraphrases and args.test_set and len(args.test_set) > 1:
        raise UsageError("--paraphrases belong to one test set, and -t names several; name one")
    left_out = {"paraphrases": None, "n": None, "methods": None, "no_original": False}
    return argparse.Namespace(**vars(args) | (left_out if args.paraphrases else {}))


def _is_file(text: str) -> bool:
    from gnomon.metaeval import split_name

    path = Path(split_name(text)[1])
    told = path.name.endswith(_SUFFIXES)  # kinds have points in their names, too: mqm.super.1
    return "=" in text or path.is_file() or "/" in text or told


def _add_scores(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("scores")
    group.add_argument(
        "--scores",
        nargs="+",
        metavar="FILE",
        help="score files of further metrics: gnomon's, mt-metrics-eval's, or WMT's METRIC LP"
        " TESTSET SYSTEM [SEGMENT] SCORE; NAME=FILE names the metric",
    )
    group.add_argument(
        "--lower-is-better", nargs="+", metavar="NAME", help="metrics of --scores that are errors"
    )
    group.add_argument(
        "--score-column",
        default="score",
        metavar="NAME",
        help="the column of --scores in TSV and JSONL (default: %(default)s)",
    )
    group.add_argument(
        "--human",
        nargs="+",
        metavar="KIND|FILE",
        help="which human scores (da-z, mqm, darr), or files of them (default: the only kind)",
    )
    group.add_argument("--human-format", metavar="NAME", help="if the files do not tell")
    group.add_argument(
        "--allow-circular",
        action="store_true",
        help="judge metrics even by human scores that went into them (chose their pool)",
    )
    group.add_argument("--human-systems", action="store_true", help="judge human translations, too")


def _add_measures(parser: argparse.ArgumentParser) -> None:
    from gnomon.metaeval import LEVELS, PRESETS, STATISTICS

    group = parser.add_argument_group("what is measured")
    group.add_argument("--preset", choices=tuple(PRESETS), help="the measures of a shared task")
    group.add_argument("--level", nargs="+", choices=LEVELS, default=list(LEVELS))
    group.add_argument(
        "--statistics", nargs="+", metavar="NAME", choices=tuple(STATISTICS),
        help=f"among {', '.join(STATISTICS)}",
    )  # fmt: skip
    group.add_argument(
        "--grouping",
        nargs="+",
        choices=("none", "item", "system"),
        help="at segment level: all scores, by segment, by system (default: as is usual for each)",
    )
    group.add_argument(
        "--top", nargs="+", type=int, metavar="K", help="also over the K best systems alone"
    )
    group.add_argument(
        "--no-outliers", action="store_true", help="also without outlying systems (by MAD)"
    )
    group.add_argument(
        "--darr-threshold",
        type=float,
        metavar="X",
        help="where there are no rankings, DaRR from human scores that differ by at least X (25 on"
        " a scale of 0 to 100)",
    )
    group.add_argument(
        "--no-controls", action="store_true", help="no constant, random and length controls"
    )


def _add_tests(parser: argparse.ArgumentParser) -> None:
    from gnomon.metaeval import CORRECTIONS, TESTS

    group = parser.add_argument_group("tests and intervals")
    group.add_argument("--baseline", metavar="METRIC", help="test every metric against this one")
    group.add_argument(
        "--test", choices=TESTS, default="auto",
        help="auto: Williams's for system-level Pearson, bootstrap for DaRR and soft pairwise"
        " accuracy, permutation for all else",
    )  # fmt: skip
    group.add_argument(
        "--alternative", choices=("greater", "two-sided", "less"), default="greater",
        help="hypothesis about a metric and the baseline (default: greater)",
    )  # fmt: skip
    group.add_argument("--correction", choices=CORRECTIONS, help="for testing several metrics")
    group.add_argument(
        "--resamples", type=int, default=1000, metavar="N",
        help="draws of tests and intervals (default: 1000); 0: none",
    )  # fmt: skip
    group.add_argument(
        "--confidence", type=float, default=0.95, metavar="X", help="of intervals (default: .95)"
    )
    group.add_argument(
        "--alpha", type=float, default=0.05, metavar="X", help="of ranks and wins (default: .05)"
    )
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of all draws (default: 0)")
