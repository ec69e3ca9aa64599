"""Options that several commands share, and how they are turned into data."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich_argparse import RawDescriptionRichHelpFormatter

from gnomon.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.findings import Finding
    from gnomon.scores import Scores
    from gnomon.testset import TestSet

__all__ = [
    "Subparsers",
    "add_command",
    "add_data",
    "add_metrics",
    "add_output",
    "emit",
    "load",
    "load_outputs",
    "metrics",
    "show",
]

Subparsers = argparse._SubParsersAction  # noqa: SLF001  # argparse gives the type no public name

FORMATS = ("text", "json", "tsv", "latex", "markdown")


def add_command(
    commands: Subparsers[argparse.ArgumentParser], name: str, *, answers: str, more: str = ""
) -> argparse.ArgumentParser:
    """A command whose help says what it answers, then its name."""
    parser = commands.add_parser(
        name,
        help=answers,
        description=f"{answers[0].upper()}{answers[1:]} (gnomon {name}).",
        epilog=more or None,
        formatter_class=RawDescriptionRichHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="say only errors")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    return parser


def add_data(parser: argparse.ArgumentParser) -> None:
    """References, systems, sources; or a test set; or a table."""
    data = parser.add_argument_group("data")
    data.add_argument("refs", nargs="*", metavar="REF", help="reference files; several = several")
    data.add_argument(
        "-i",
        "--input",
        nargs="+",
        metavar="SYSTEM",
        help="outputs of systems, one file each; '-' or nothing = standard input",
    )
    data.add_argument("-s", "--source", metavar="FILE", help="the source")
    data.add_argument("-l", "--language-pair", metavar="PAIR", help="de-en, or en")
    data.add_argument(
        "-t",
        "--test-set",
        metavar="DIR",
        help="a test set directory (gnomon's or mt-metrics-eval's), or a sacreBLEU name",
    )
    data.add_argument("--systems", nargs="+", metavar="NAME", help="of the test set, only these")
    data.add_argument("--references", nargs="+", metavar="NAME", help="likewise")
    table = parser.add_argument_group("data from one TSV or JSONL file")
    table.add_argument("--table", metavar="FILE", help="a file with a header, or JSON objects")
    table.add_argument("--reference-columns", nargs="+", metavar="COLUMN", default=["reference"])
    table.add_argument("--system-columns", nargs="+", metavar="COLUMN", help="one per system")
    table.add_argument("--source-column", metavar="COLUMN")
    table.add_argument("--document-column", metavar="COLUMN")
    table.add_argument("--domain-column", metavar="COLUMN")


def add_metrics(parser: argparse.ArgumentParser, default: str = "bleu") -> None:
    """Metrics, and sacreBLEU's short names for two options of BLEU."""
    group = parser.add_argument_group("metrics")
    group.add_argument(
        "-m",
        "--metrics",
        nargs="+",
        default=[default],
        metavar="METRIC",
        help=f"spec strings such as bleu, 'chrf(word_order=2)', ter, rougeL (default: {default})",
    )
    group.add_argument("-tok", "--tokenize", metavar="NAME", help="tokeniser of BLEU")
    group.add_argument(
        "-lc", "--lowercase", action="store_true", help="BLEU without regard to case"
    )
    group.add_argument(
        "--allow-code", action="store_true", help="let python('module:function') run code"
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Where results go, and in which shape."""
    output = parser.add_argument_group("output")
    output.add_argument("-f", "--format", choices=FORMATS, default="text")
    output.add_argument("-o", "--output", metavar="FILE", help="write there, not to stdout")
    output.add_argument(
        "-w", "--width", type=_digits, default=None, metavar="N", help="digits after the point"
    )


def load(args: argparse.Namespace) -> TestSet:
    """The test set that the options name."""
    from gnomon import formats
    from gnomon.testset import TestSet

    if args.table:
        return formats.read_table(
            args.table,
            references=args.reference_columns,
            systems=args.system_columns or [],
            source=args.source_column,
            document=args.document_column,
            domain=args.domain_column,
            language_pair=args.language_pair,
        )
    if args.test_set:
        return _named_set(args)
    if not args.refs:
        raise UsageError(
            "no references: give reference files first, then systems, as in"
            " 'ref.txt -i sysA.txt sysB.txt', or a test set with -t DIR"
        )
    return TestSet.from_files(
        references=args.refs,
        systems=_inputs(args),
        source=args.source,
        language_pair=args.language_pair,
    )


def load_outputs(args: argparse.Namespace) -> TestSet:
    """Likewise, and it must hold the output of at least one system."""
    testset = load(args)
    if not testset.systems:
        raise DataError(
            f"test set {testset.name!r} holds no system outputs; name some with -i, or, of a table,"
            " with --system-columns"
        )
    return testset


def metrics(args: argparse.Namespace) -> list[str]:
    """The specs of the metrics that the options name, checked before anything is read."""
    from gnomon.metrics import parse

    if (args.tokenize or args.lowercase) and "bleu" not in args.metrics:
        raise UsageError(
            f"-tok and -lc are options of bleu, and the metrics are {' '.join(args.metrics)}; write"
            " an option into the metric, as in 'chrf(lowercase=True)'"
        )
    specs = [_with_bleu_options(spec, args) for spec in args.metrics]
    for spec in specs:
        parse(spec, allow_code=args.allow_code)
    return specs


def show(args: argparse.Namespace, what: Finding | list[Scores], command: str) -> None:
    """Write a finding or scores as the options ask; in colour where a person looks on."""
    from gnomon import report

    if args.format == "text" and args.output is None and sys.stdout.isatty():
        if isinstance(what, list):
            report.print_scores(what, digits=args.width)
        else:
            report.print_finding(what, digits=args.width)
        return
    emit(args, report.render(what, args.format, command=command, digits=args.width))


def emit(args: argparse.Namespace, text: str) -> None:
    """Write a result to stdout, or to the file that was named, whole or not at all."""
    if args.output in (None, "-"):
        sys.stdout.write(text)
        return
    from gnomon.formats import atomic_write

    with atomic_write(args.output) as file:
        file.write(text)


def _named_set(args: argparse.Namespace) -> TestSet:
    from gnomon import formats
    from gnomon.testset import TestSet

    if args.refs:
        raise UsageError(
            f"-t {args.test_set} brings its own references; leave out {' '.join(args.refs)}, or"
            " name references of the set with --references"
        )
    if not Path(args.test_set).exists() and formats.is_sacrebleu_set(args.test_set):
        return formats.read_sacrebleu_set(
            args.test_set, language_pair=args.language_pair, systems=_inputs(args)
        )
    testset = TestSet.read(
        args.test_set,
        language_pair=args.language_pair,
        systems=None if args.input else args.systems,
        references=args.references,
    )
    return _with_inputs(testset, args.input) if args.input else testset


def _with_inputs(testset: TestSet, paths: Sequence[str]) -> TestSet:
    from gnomon import formats

    return replace(
        testset,
        systems=formats.read_systems(paths),
        info={},
        human=(),
        rankings=(),
        errors=(),
        system_references={},
    )


def _inputs(args: argparse.Namespace) -> list[str]:
    if args.input:
        return list(args.input)
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("no systems: name output files with -i, or pipe one into standard input")
    return ["-"]


def _with_bleu_options(spec: str, args: argparse.Namespace) -> str:
    if spec != "bleu":
        return spec
    options = [f"tokenize={args.tokenize!r}"] if args.tokenize else []
    options += ["lowercase=True"] if args.lowercase else []
    return f"bleu({', '.join(options)})" if options else spec


def _digits(text: str) -> int:
    if not text.isdigit() or int(text) > 15:  # a double holds no more
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of digits from 0 to 15")
    return int(text)
