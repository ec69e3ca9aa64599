"""``gnomon muler pairs``: do people see what MuLER sees?"""

from __future__ import annotations

import os
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
from gnomon.cli.muler._features import add_features, annotation_cache, features
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers
    from gnomon.muler import PairStudy

__all__ = ["add", "run"]

_MORE = """\
Two steps. First find systems of near-equal score that MuLER tells apart, and write a blind sheet
of their outputs with its key; give annotators the sheet or the form, never the key. Then read the
filled sheets back.

examples:
  gnomon muler pairs -t newstest2019/de-en --features 'pos:*' 'ent:*' \\
    --sheet sheet.tsv --form sheet.html --key key.tsv
  gnomon muler pairs --answers anna.tsv answers-of-ben.json --key key.tsv
"""
_MAKING = ("sheet", "form")


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "pairs",
        answers="whether people see what MuLER sees: blind A/B sheets",
        more=_MORE,
    )
    add_data(parser)
    add_metrics(parser)
    add_output(parser)
    add_features(parser)
    _add_choice(parser)
    _add_files(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Make a sheet, or read filled ones."""
    return _judge(args) if args.answers else _make(args)


def _add_choice(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which pairs and segments")
    group.add_argument(
        "--near", type=float, default=1.0, metavar="X",
        help="scores differ by at most X, in the metric's units (default: 1)",
    )  # fmt: skip
    group.add_argument(
        "--apart", type=float, default=0.1, metavar="X", help="MuLER differs by X or more (.1)"
    )
    group.add_argument(
        "--least", type=int, default=20, metavar="N", help="both systems have |I| >= N (20)"
    )
    group.add_argument(
        "--items", type=int, default=100, metavar="N", help="segments in the sheet, at most (100)"
    )
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the draw and of the sides (0)"
    )
    group.add_argument(
        "--highlight", action="store_true", help="mark the words of the feature in the sheet"
    )
    group.add_argument("--overlap", choices=("any", "majority", "inside"), default="any")
    group.add_argument("--granularity", choices=("token", "span"), default="token")


def _add_files(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("sheet, key and answers")
    group.add_argument("--sheet", metavar="FILE", help="write the blind sheet: .tsv")
    group.add_argument("--form", metavar="FILE", help="write it as a form: .html")
    group.add_argument(
        "--key", metavar="FILE", help="write the key there; with --answers: read it from there"
    )
    group.add_argument(
        "--answers", nargs="+", metavar="FILE", help="filled sheets, or what the form saved"
    )
    group.add_argument("--html", metavar="FILE", help="write the result as a page")


def _make(args: argparse.Namespace) -> int:
    from gnomon import report
    from gnomon.cli._progress import stages
    from gnomon.muler import pairs

    chosen, wanted = metrics(args), features(args)
    if len(chosen) > 1:
        raise UsageError(f"pairs are found under one metric; got {' '.join(args.metrics)}")
    if bool(args.key) is not bool(args.sheet or args.form):
        raise UsageError(
            "a sheet (--sheet FILE.tsv, --form FILE.html) and its key (--key FILE.tsv) go together:"
            " without the key no answer can be read back"
        )
    check_outputs(args, args.sheet, args.form, args.key, args.html)
    testset = load_outputs(args)
    with stages(quiet=args.quiet) as progress:
        progress.tick("reading")
        study = pairs(
            testset,
            chosen[0],
            wanted.names,
            near=args.near,
            apart=args.apart,
            least=args.least,
            items=args.items,
            seed=args.seed,
            highlight=args.highlight,
            tagger=args.tagger,
            lexicons=wanted.lexicons,
            patterns=wanted.patterns,
            labels=wanted.labels,
            overlap=args.overlap,
            granularity=args.granularity,
            allow_code=args.allow_code,
            cache=annotation_cache(args),
            progress=progress,
        )
        _write(args, study)
        if args.html:
            report.write_html(args.html, [study.finding])
        progress.tick("reporting")
    show(args, study.finding, "muler pairs")
    return 0


def _write(args: argparse.Namespace, study: PairStudy) -> None:
    from gnomon.muler import write_key, write_sheet
    from gnomon.report.sheet import write_form

    # the key first: a sheet without one would be work for nothing
    if args.key:
        write_key(args.key, study.key)
    if args.sheet:
        write_sheet(args.sheet, study.sheet)
    if args.form:
        sheet = study.sheet
        write_form(args.form, sheet.items, study=sheet.study, question=sheet.question)


def _judge(args: argparse.Namespace) -> int:
    from gnomon import report
    from gnomon.muler import judge_pairs, read_answers, read_key

    if not args.key:
        raise UsageError("--answers needs the key that was written with the sheet: --key FILE.tsv")
    given = {"reference files": args.refs, "-i": args.input, "-t": args.test_set}
    given |= {"--table": args.table, **{f"--{name}": getattr(args, name) for name in _MAKING}}
    wrong = [name for name, value in given.items() if value]
    if wrong:
        raise UsageError(f"--answers reads sheets that are filled; leave out {', '.join(wrong)}")
    check_outputs(args, args.html)
    _check_inputs(args)
    finding = judge_pairs(read_answers(args.answers), read_key(args.key))
    if args.html:
        report.write_html(args.html, [finding])
    show(args, finding, "muler pairs")
    return 0


def _check_inputs(args: argparse.Namespace) -> None:
    """Refuse to write over the answers or the key."""
    inputs = {os.path.realpath(path) for path in (*args.answers, args.key)}
    for path in (args.output, args.html):
        if path not in (None, "-") and os.path.realpath(path) in inputs:
            raise UsageError(f"{path} is named twice: as an input and as an output")
