"""``gnomon paraphrase constraints``: what many systems say and the reference does not."""

from __future__ import annotations

from dataclasses import replace
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
from gnomon.cli.paraphrase import _generating
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers
    from gnomon.cli._progress import Stages
    from gnomon.findings import Finding
    from gnomon.paraphrase import ConstrainedBy
    from gnomon.testset import TestSet

__all__ = ["add", "run"]

_MORE = """\
examples:
  gnomon paraphrase constraints ref.txt -i sysA.txt sysB.txt sysC.txt sysD.txt --save wanted.jsonl
  gnomon paraphrase constraints -t wmt19/de-en --first 500 --splits 10 -m bleu
  gnomon paraphrase constraints -t wmt19/de-en --first 500 --splits 10 --model FOLDER
  gnomon paraphrase constraints -t wmt19/de-en --variants variants.txt

A file of variants holds lines such as: U.S. / United States
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "constraints",
        answers="which words most systems use and the reference lacks",
        more=_MORE,
    )
    add_data(parser)
    add_metrics(parser)
    add_output(parser)
    group = parser.add_argument_group("constraints")
    group.add_argument("--share", type=float, default=0.75, metavar="X", help="of systems (.75)")
    group.add_argument(
        "--longest", type=int, default=4, metavar="N", help="tokens of an n-gram, at most (4)"
    )
    group.add_argument("--most", type=int, metavar="N", help="per segment (default: all)")
    group.add_argument("--variants", metavar="FILE", help="variants of a list, not of the systems")
    group.add_argument("--save", metavar="FILE", help="write the constraints: .jsonl")
    splits = parser.add_argument_group("gain on systems that gave no constraint")
    splits.add_argument(
        "--splits",
        type=int,
        metavar="N",
        help="split the systems N times into halves; people's scores choose who gives constraints,"
        " and outputs that hold them are the paraphrases, or what --model makes of them",
    )
    splits.add_argument("--human", metavar="KIND", help="which human scores (default: the only)")
    splits.add_argument("--seed", type=int, default=0, metavar="N", help="of the splits (0)")
    splits.add_argument("--beam", type=int, metavar="N", help="of --model (20)")
    _generating.add_machine(splits)
    parser.add_argument("--html", metavar="FILE", help="write the result as a page")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Find constraints, or what they bring; print, save, write the page."""
    from gnomon import report
    from gnomon.cli._progress import stages

    chosen = metrics(args)
    if args.splits and (args.save or args.variants):
        raise UsageError("--splits tests the systems' constraints; leave out --save and --variants")
    needing = {"model": "splits", "beam": "model", "device": "model", "precision": "model"}
    for option, needed in needing.items():
        if getattr(args, option) and not getattr(args, needed):
            raise UsageError(f"--{option} needs --{needed}")
    if args.splits and len(chosen) > 1:
        raise UsageError(f"--splits takes one metric; got {' '.join(chosen)}")
    check_outputs(args, args.html, args.save)
    with stages(quiet=args.quiet) as progress:
        testset = load_outputs(args)
        progress.tick("reading")
        finding = (
            _gain(args, testset, chosen[0], progress) if args.splits else _found(args, testset)
        )
        if args.html:
            report.write_html(args.html, [finding])
        progress.tick("reporting")
    show(args, finding, "paraphrase constraints")
    return 0


def _gain(args: argparse.Namespace, testset: TestSet, metric: str, progress: Stages) -> Finding:
    from gnomon import paraphrase

    by_model = _by_model(args) if args.model else None
    finding = paraphrase.half_splits(
        testset,
        by_model,
        maker=by_model.identity if by_model else None,
        metric=metric,
        human=args.human,
        splits=args.splits,
        seed=args.seed,
        share=args.share,
        longest=args.longest,
        most=args.most,
        allow_code=args.allow_code,
        progress=progress,
    )
    if by_model is None:
        return finding
    return replace(finding, notices=(*finding.notices, *by_model.notices()))


def _by_model(args: argparse.Namespace) -> ConstrainedBy:
    from gnomon.paraphrase import ConstrainedBy, GenerationOptions

    options = GenerationOptions(method="constrained", beam=args.beam)
    return ConstrainedBy(
        args.model, options, device=args.device, precision=args.precision or "fp32"
    )


def _found(args: argparse.Namespace, testset: TestSet) -> Finding:
    from gnomon import paraphrase
    from gnomon.signature import Signature

    if args.variants:
        lines = paraphrase.read_variants(args.variants)
        found = paraphrase.variant_constraints(testset, lines)
        signature = Signature("constraints").adding(variants=len(lines), tok="13a")
    else:
        found = paraphrase.constraints(
            testset, share=args.share, longest=args.longest, most=args.most
        )
        options = {"share": args.share, "longest": args.longest, "most": args.most}
        signature = Signature("constraints").adding(options, tok="13a")
    if args.save:
        paraphrase.write_constraints(args.save, found)
    return paraphrase.constraint_finding(testset, found, str(signature))
