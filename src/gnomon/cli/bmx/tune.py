"""``gnomon bmx tune``: which exponent and weight agree best with people, and what that gains."""

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
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from gnomon.bmx import Explained, Grids
    from gnomon.cache import Cache
    from gnomon.cli._options import Subparsers
    from gnomon.cli._progress import Stages

__all__ = ["add", "run_tune"]

_RULES = ("median", "median-improving", "most-improving", "largest-mean")
_MORE = """\
examples:
  gnomon bmx tune -t wmt17/cs-en wmt17/de-en wmt17/fi-en -m chrf --explainers erasure lime
  gnomon bmx tune -t wmt21/en-de -m bertscore --human mqm --sample 200 --html report.html
  gnomon bmx tune -t wmt17/cs-en --explanations chrf.erasure.jsonl
  gnomon bmx tune --grids corr_grid.npz --only dataset=wmt17,mqm21 sides=both

The test sets need human scores of segments. The random explainer runs beside the others: it costs
no scores, and tells how much of a gain any numbers would bring.
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "tune",
        answers="which p and w make a metric and its explanations agree best with people",
        more=_MORE,
    )
    add_data(parser, several=True)
    add_metrics(parser, "chrf")
    add_output(parser)
    _add_explanations(parser)
    _add_search(parser)
    _add_intervals(parser)
    add_page(parser)
    parser.set_defaults(run=run_tune)


def run_tune(args: argparse.Namespace) -> int:
    """Explain or read, search the grid, print, write the page."""
    from gnomon import bmx, report
    from gnomon.cli._progress import stages

    _check(args)
    check_outputs(args, args.html, args.save_grids)
    with stages(quiet=args.quiet) as progress:
        made = _grids(args) if args.grids else list(_explained(args, progress))
        progress.tick("explaining")
        if args.save_grids:
            found = made if isinstance(made, bmx.Grids) else bmx.search(made, shift=args.shift)
            bmx.write_grids(args.save_grids, found)
        finding = bmx.tune(
            made,
            shift=args.shift,
            held_out_by=args.held_out_by,
            held_out_rule=args.rule,
            alpha=args.alpha,
            curves=args.curves,
            splits=args.splits,
            count=args.draws,
            confidence=args.confidence,
            seed=args.seed,
        )
        progress.tick("searching")
        if args.html:
            report.write_html(args.html, [finding])
        progress.tick("reporting")
    show(args, finding, "bmx tune")
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.grids and (args.test_set or args.refs or args.table or args.explanations):
        raise UsageError("--grids brings correlations that were made before; leave out the data")
    if args.only and not args.grids:
        raise UsageError("--only chooses among the experiments of --grids, and none are named")


def _grids(args: argparse.Namespace) -> Grids:
    from gnomon import bmx

    found = bmx.read_grids(args.grids)
    wanted: dict[str, list[str]] = {}
    for text in args.only or ():
        factor, equals, names = text.partition("=")
        if not equals or not names:
            raise UsageError(f"--only takes FACTOR=NAME[,NAME...]; got {text!r}")
        wanted.setdefault(factor, []).extend(names.split(","))
    return found.where(**wanted)


def _explained(args: argparse.Namespace, progress: Stages) -> Iterator[Explained]:
    """The experiments: every test set with every metric and explainer, and the controls."""
    from gnomon import bmx

    chosen, kept = metrics(args), _cache(args)
    testsets = load_several(args)
    progress.tick("reading")
    if args.explanations:
        if len(testsets) != 1:
            raise UsageError(
                f"--explanations are of one test set, and {len(testsets)} are named; give one"
            )
        for path in args.explanations:
            yield bmx.read_explanations(path, testsets[0], human=args.human)
        return
    for testset in testsets:
        for metric in chosen:
            for explainer in dict.fromkeys([*args.explainers, "random"]):
                yield bmx.explained(
                    testset,
                    metric,
                    explainer,
                    human=args.human,
                    sides=args.sides,
                    sample=args.sample,
                    seed=args.seed,
                    human_systems=args.human_systems,
                    max_calls=args.max_calls,
                    cache=kept,
                    progress=progress,
                    allow_code=args.allow_code,
                )


def _cache(args: argparse.Namespace) -> Cache | None:
    if args.no_cache:
        return None
    from gnomon import cache

    return cache.Cache(cache.default_path())


def _add_explanations(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("explanations")
    group.add_argument(
        "--explainers",
        nargs="+",
        default=["erasure"],
        metavar="SPEC",
        help="erasure, 'lime(samples=50)', shap, ... (default: erasure)",
    )
    group.add_argument(
        "--sides",
        choices=("both", "candidate"),
        default="both",
        help="whose words are explained (default: both)",
    )
    group.add_argument("--human", metavar="KIND", help="which human scores (default: the only)")
    group.add_argument("--human-systems", action="store_true", help="human translations, too")
    group.add_argument(
        "--sample", type=int, metavar="N", help="explain N of the judged segments (default: all)"
    )
    group.add_argument(
        "--max-calls",
        type=int,
        default=1_000_000,
        metavar="N",
        help="most pairs of texts to score per experiment (default: 1000000)",
    )
    group.add_argument("--no-cache", action="store_true", help="keep no explanations for later")
    group.add_argument(
        "--explanations",
        nargs="+",
        metavar="FILE",
        help="explanations made before, JSONL: system, segment, side, importance, score",
    )
    group.add_argument("--grids", metavar="FILE", help="correlations made before, .npz")
    group.add_argument(
        "--only",
        nargs="+",
        metavar="FACTOR=NAME",
        help="of --grids, these alone: dataset, language_pair, metric, explainer, sides",
    )
    group.add_argument("--save-grids", metavar="FILE", help="write all correlations, .npz")


def _add_search(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("search")
    group.add_argument(
        "--shift",
        choices=("paper", "floor", "exponential"),
        default="paper",
        help="how importances are made positive; the paper's shift collapses for p < 0",
    )
    group.add_argument(
        "--held-out-by",
        choices=("language_pair", "dataset"),
        default="language_pair",
        help="what is held out in turn (default: language_pair)",
    )
    group.add_argument(
        "--rule",
        choices=_RULES,
        default="largest-mean",
        help="how the held-out setting is chosen (default: largest-mean); most-improving and"
        " largest-mean choose among w < 1 alone",
    )
    group.add_argument(
        "--splits",
        type=int,
        default=10,
        metavar="N",
        help="random splits of each experiment's segments into halves (default: 10)",
    )
    group.add_argument(
        "--alpha", type=float, default=1.0, metavar="X", help="penalty of the ridge regression"
    )
    group.add_argument(
        "--curves",
        type=int,
        default=4,
        metavar="N",
        help="experiments drawn over p, from the largest gain to the largest loss (default: 4)",
    )


def _add_intervals(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("intervals")
    group.add_argument("--draws", type=int, default=1000, metavar="N", help="(default: 1000)")
    group.add_argument("--confidence", type=float, default=0.95, metavar="X", help="(default: .95)")
    group.add_argument("--seed", type=int, default=0, help="of draws, splits, samples")
