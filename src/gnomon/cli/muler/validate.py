"""``gnomon muler validate``: how far MuLER can be trusted on a test set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.cli._options import (
    add_command,
    add_data,
    add_group,
    add_metrics,
    add_output,
    add_page,
    check_outputs,
    load_outputs,
    metrics,
    show,
)
from gnomon.cli.muler._features import add_features, annotation_cache, features

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from gnomon.cli._options import Subparsers
    from gnomon.cli._progress import Stages
    from gnomon.cli.muler._features import Features
    from gnomon.findings import Finding

__all__ = ["add"]

_RANGE = """\
example:
  gnomon muler validate range ref.txt -i sysA.txt sysB.txt -l en --features pos:NOUN
"""
_FREQUENCY = """\
example:
  gnomon muler validate frequency -t newstest2019/de-en --features 'pos:*' --alpha .25 .5 .75
"""
_SPECIFICITY = """\
example:
  gnomon muler validate specificity ref.txt -i sys.txt -l en --features 'pos:*' 'ent:*' \\
    --draws 1000 --seed 0 --html report.html
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command with its three experiments."""
    inner = add_group(
        commands,
        "validate",
        answers="how far MuLER can be trusted here: range, frequency, specificity",
        title="experiments",
        metavar="EXPERIMENT",
    )
    _add_range(inner)
    _add_frequency(inner)
    _add_specificity(inner)


def _add_range(commands: Subparsers[argparse.ArgumentParser]) -> None:
    parser = add_command(
        commands,
        "range",
        answers="whether a feature that is half right scores half-way between the oracles",
        more=_RANGE,
    )
    _add_common(parser).add_argument(
        "--alpha",
        nargs="+",
        type=float,
        default=[0.3, 0.4, 0.5],
        metavar="SHARE",
        help="shares of the feature masked alike on both sides (default: .3 .4 .5)",
    )
    parser.set_defaults(run=_run_range)


def _add_frequency(commands: Subparsers[argparse.ArgumentParser]) -> None:
    parser = add_command(
        commands,
        "frequency",
        answers="whether MuLER holds still when a feature gets rarer",
        more=_FREQUENCY,
    )
    _add_common(parser).add_argument(
        "--alpha",
        nargs="+",
        type=float,
        default=[0.5],
        metavar="SHARE",
        help="shares of the feature that are left; all of it (1) comes too (default: .5)",
    )
    parser.set_defaults(run=_run_frequency)


def _add_specificity(commands: Subparsers[argparse.ArgumentParser]) -> None:
    parser = add_command(
        commands,
        "specificity",
        answers="whether features differ from random words that are as frequent",
        more=_SPECIFICITY,
    )
    group = _add_common(parser)
    group.add_argument(
        "--draws", type=int, default=1000, metavar="N", help="random features (default: 1000)"
    )
    group.add_argument(
        "--groups",
        nargs="+",
        type=int,
        default=[2, 3, 4, 5, 6],
        metavar="P",
        help="numbers of groups that the vocabulary is split into, beside those that fit the"
        " features (default: 2 3 4 5 6)",
    )
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of the draws (default: 0)")
    parser.set_defaults(run=_run_specificity)


def _add_common(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    add_data(parser)
    add_metrics(parser)
    add_output(parser)
    add_features(parser)
    group = parser.add_argument_group("experiment")
    group.add_argument("--overlap", choices=("any", "majority", "inside"), default="any")
    group.add_argument("--granularity", choices=("token", "span"), default="token")
    add_page(group)
    return group


def _run_range(args: argparse.Namespace) -> int:
    from gnomon.muler import validate_range

    return _run(args, validate_range, alphas=args.alpha)


def _run_frequency(args: argparse.Namespace) -> int:
    from gnomon.muler import validate_frequency

    return _run(args, validate_frequency, alphas=args.alpha)


def _run_specificity(args: argparse.Namespace) -> int:
    from gnomon.muler import validate_specificity

    return _run(args, validate_specificity, draws=args.draws, groups=args.groups, seed=args.seed)


def _run(
    args: argparse.Namespace,
    validate: Callable[..., Finding],
    **own: Any,  # options of the experiment, checked by it
) -> int:
    """Annotate, mask, score, print, write the page."""
    from gnomon import report
    from gnomon.cli._progress import stages

    chosen, wanted = metrics(args), features(args)
    check_outputs(args, args.html)
    testset = load_outputs(args)
    with stages(quiet=args.quiet) as progress:
        progress.tick("reading")
        finding = validate(testset, chosen, wanted.names, **_common(args, wanted, progress), **own)
        if args.html:
            report.write_html(args.html, [finding], title=f"{finding.title} ({testset.name})")
        progress.tick("reporting")
    show(args, finding, finding.method)
    return 0


def _common(args: argparse.Namespace, wanted: Features, progress: Stages) -> dict[str, Any]:
    return {
        "tagger": args.tagger,
        "lexicons": wanted.lexicons,
        "patterns": wanted.patterns,
        "labels": wanted.labels,
        "overlap": args.overlap,
        "granularity": args.granularity,
        "allow_code": args.allow_code,
        "cache": annotation_cache(args),
        "progress": progress,
    }
