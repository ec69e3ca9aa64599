"""``gnomon paraphrase adequacy``: whether paraphrases keep the meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import (
    add_command,
    add_data,
    add_metrics,
    add_output,
    check_outputs,
    load_original,
    metrics,
    show,
)
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers
    from gnomon.testset import TestSet

__all__ = ["add", "run"]

_MORE = """\
By any metric against the references; or by people, in two steps: write a sheet and its key, give
annotators the sheet alone, and read their scores from 0 to 100 back.

examples:
  gnomon paraphrase adequacy -t wmt19/de-en --paraphrases made.jsonl -m chrf bertscore
  gnomon paraphrase adequacy ref.txt --paraphrases made.jsonl --sheet sheet.tsv --key key.tsv
  gnomon paraphrase adequacy --answers anna.tsv ben.tsv --key key.tsv
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands, "adequacy", answers="whether paraphrases keep the meaning", more=_MORE
    )
    add_data(parser)
    add_metrics(parser, "chrf")
    add_output(parser)
    group = parser.add_argument_group("scores by people")
    group.add_argument("--sheet", metavar="FILE", help="write a blind sheet: .tsv")
    group.add_argument("--key", metavar="FILE", help="write its key; with --answers: read it")
    group.add_argument("--answers", nargs="+", metavar="FILE", help="filled sheets")
    group.add_argument(
        "--items", type=int, default=100, metavar="N", help="of each method, at most (100)"
    )
    group = parser.add_argument_group("intervals and draws")
    group.add_argument("--confidence", type=float, default=0.95, metavar="X", help="(.95)")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="(0)")
    parser.add_argument("--html", metavar="FILE", help="write the result as a page")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Score, or read scores; print, write sheet, key and page."""
    from gnomon import paraphrase, report

    chosen = metrics(args)
    _check(args)
    check_outputs(args, args.html, args.sheet, None if args.answers else args.key)
    if args.answers:
        finding = paraphrase.judge_adequacy(
            args.answers, args.key, confidence=args.confidence, seed=args.seed
        )
    else:
        from gnomon.formats import read_paraphrases

        testset = _references(args)
        found = paraphrase.first_of(
            read_paraphrases(args.paraphrases, segments=testset.segments),
            n=args.n,
            methods=args.methods,
        )
        if args.sheet:
            items = paraphrase.adequacy_sheet(testset, found, items=args.items, seed=args.seed)
            paraphrase.write_key(args.key, items)
            paraphrase.write_sheet(args.sheet, items)
        finding = paraphrase.adequacy(
            testset,
            found,
            chosen,
            confidence=args.confidence,
            seed=args.seed,
            allow_code=args.allow_code,
        )
    if args.html:
        report.write_html(args.html, [finding])
    show(args, finding, "paraphrase adequacy")
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.answers:
        if not args.key:
            raise UsageError("--answers needs the key that was written with the sheet: --key FILE")
        given = {"--paraphrases": args.paraphrases, "--sheet": args.sheet, "-t": args.test_set}
        wrong = [name for name, value in given.items() if value]
        if wrong:
            raise UsageError(f"--answers reads filled sheets; leave out {', '.join(wrong)}")
        return
    if not args.paraphrases:
        raise UsageError("no paraphrases: name files with --paraphrases FILE")
    if bool(args.key) is not bool(args.sheet):
        raise UsageError(
            "a sheet (--sheet FILE.tsv) and its key (--key FILE.tsv) go together: without the key"
            " no score can be read back"
        )


def _references(args: argparse.Namespace) -> TestSet:
    """The test set; of files, references are enough."""
    if args.test_set or args.table or args.input:
        return load_original(args)
    from gnomon.testset import TestSet

    if not args.refs:
        raise UsageError("no references: name files, or a test set with -t DIR")
    return TestSet.from_files(
        references=args.refs, systems=[], source=args.source, language_pair=args.language_pair
    )
