"""Options that several commands share, and how they are turned into data."""

from __future__ import annotations

import argparse
import io
import logging
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from gnomon.cli.parser import HelpFormatter, rare
from gnomon.core.errors import DataError, LengthMismatchError, OutputError, UsageError
from gnomon.messages import joined, noted, rendered

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence

    from gnomon.core.findings import Cell, Finding
    from gnomon.core.registry import Texts
    from gnomon.core.scores import Scores
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message

_log = logging.getLogger(__name__)

Subparsers = argparse._SubParsersAction  # noqa: SLF001  # argparse gives the type no public name

_PAIR = re.compile("[a-z]{2,3}(_[A-Za-z]+)?(-[a-z]{2,3}(_[A-Za-z]+)?)?")
_OF_ONE = "--paraphrases belong to one test set, and -t names several; name one"
#: whose options -tok and -lc are
_BLEU = "bleu"
#: formats in which a finding has no place for notices
BARE = ("tsv", "latex", "markdown")
#: formats that hold tables alone, and no verdict
PURE = ("tsv", "latex")
FORMATS = ("text", "json", "tsv", "latex", "markdown")


def add_command(
    commands: Subparsers[argparse.ArgumentParser], name: str, *, purpose: str, more: str = ""
) -> argparse.ArgumentParser:
    """A command whose help says what it does."""
    parser = commands.add_parser(
        name,
        help=purpose,
        description=f"{purpose[0].upper()}{purpose[1:]}.",
        epilog=more or None,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    add_run(parser)
    return parser


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command's run."""
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors alone")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="list notes on data and tests, and timings"
    )
    rare(parser.add_argument("--debug", action="store_true", help="show the traceback of an error"))
    rare(
        parser.add_argument(
            "--max-input",
            metavar="SIZE",
            help="refuse files that are larger than this, unpacked (default: 2GB)",
        )
    )


def add_group(
    commands: Subparsers[argparse.ArgumentParser], name: str, *, purpose: str
) -> Subparsers[argparse.ArgumentParser]:
    """A command of commands."""
    group = commands.add_parser(
        name,
        help=purpose,
        description=f"{purpose[0].upper()}{purpose[1:]}.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    return group.add_subparsers(title="commands", metavar="COMMAND", required=True)


def add_data(
    parser: argparse.ArgumentParser,
    *,
    several: bool = False,
    without: Container[str] = (),
    unread: Container[Texts] = (),
    paraphrases: bool = False,
    guided: bool = False,
) -> None:
    """References, systems, sources; or a test set (or several of them); or a table."""
    parser.set_defaults(source=None, source_column=None, document_column=None, domain_column=None)
    if guided:
        _add_guide(parser)
    data = parser.add_argument_group("texts")
    data.add_argument("refs", nargs="*", metavar="REF", help="reference files, one segment a line")
    data.add_argument(
        "-i",
        "--input",
        nargs="+",
        metavar="SYSTEM",
        help="outputs of systems: files, or folders of them; '-' or nothing is standard input",
    )
    if "sources" not in unread:
        data.add_argument(
            "-s", "--source", metavar="FILE", help="the source texts, which some metrics need"
        )
    data.add_argument(
        "-l",
        "--language-pair",
        metavar="PAIR",
        help="the languages, as de-en, or the target alone, as en",
    )
    data.add_argument(
        "-t",
        "--test-set",
        metavar="DIR",
        nargs="+" if several else None,
        help=f"a test set{', or several' if several else ''}"
        ": a folder, a published set ('gnomon list formats' names them), or a sacreBLEU name; a"
        " folder may be gnomon's or mt-metrics-eval's",
    )
    data.add_argument(
        "--systems", nargs="+", metavar="NAME", help="only these systems of the test set"
    )
    rare(
        data.add_argument(
            "--references",
            nargs="+",
            metavar="NAME",
            help="only these references of the test set",
        )
    )
    rare(
        data.add_argument(
            "--first", type=int, metavar="N", help="only the first N segments (default: all)"
        )
    )
    table = parser.add_argument_group("texts from one table")
    table.add_argument(
        "--table",
        metavar="FILE",
        help="texts as columns of a CSV, TSV, JSON or Parquet file; a row per segment",
    )
    rare(
        table.add_argument(
            "--table-format",
            metavar="FORMAT",
            help="tsv, csv, jsonl, json or parquet, if the file's name does not tell",
        )
    )
    rare(
        table.add_argument(
            "--reference-columns",
            nargs="+",
            metavar="COLUMN",
            help="columns of references (default: reference or ref)",
        )
    )
    rare(
        table.add_argument(
            "--system-columns", nargs="+", metavar="COLUMN", help="columns of outputs, one a system"
        )
    )
    further: tuple[tuple[Texts, str, str], ...] = (
        ("sources", "--source-column", "the column of source texts (default: source or src)"),
        ("documents", "--document-column", "the column of names of documents"),
        ("domains", "--domain-column", "the column of domains"),
    )
    for kind, name, said in further:
        if kind not in unread:
            rare(table.add_argument(name, metavar="COLUMN", help=said))
    if "paraphrases" in unread:
        parser.set_defaults(paraphrases=None, no_original=False)
        parser.set_defaults(**{name: None for name in ("n", "methods") if name not in without})
    else:
        _add_paraphrases(parser, without, hidden=not paraphrases)


def _add_guide(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what outputs are aligned by")
    group.add_argument(
        "--by",
        metavar="FILE",
        help="a system with a line for each segment, a reference, or 'source' (default: the system"
        " that is most like the reference, else the reference, else the source)",
    )
    group.add_argument(
        "--model",
        metavar="NAME",
        help="an encoder of sentences in both languages, by which outputs are aligned with the"
        " source (default: LaBSE or the model of sbert, where they are there, else lengths)",
    )


def _add_paraphrases(
    parser: argparse.ArgumentParser, without: Container[str], *, hidden: bool
) -> None:
    group = parser.add_argument_group("paraphrases as further references")
    added = [
        group.add_argument(
            "--paraphrases",
            nargs="+",
            metavar="FILE",
            help="files of paraphrased references; ref.NAME.txt of one line per segment (empty:"
            " none there), or JSONL with segment, text, method, system",
        )
    ]
    if "n" not in without:
        added.append(
            group.add_argument(
                "--n",
                type=int,
                metavar="N",
                help="only N paraphrases per segment of each method (default: all)",
            )
        )
    if "methods" not in without:
        added.append(
            group.add_argument(
                "--methods", nargs="+", metavar="NAME", help="only paraphrases by these methods"
            )
        )
    added.append(
        group.add_argument(
            "--no-original",
            action="store_true",
            help="leave out the references themselves",
        )
    )
    for action in added if hidden else ():
        rare(action)


def add_metrics(
    parser: argparse.ArgumentParser, default: Sequence[str] = (_BLEU,), *, as_sacrebleu: bool
) -> None:
    """Metrics, and, of a command that stands for sacreBLEU, its names for two options of BLEU."""
    group = parser.add_argument_group("metrics")
    default = [default] if isinstance(default, str) else default
    said = f" (default: {' '.join(default)})" if default else ""
    group.add_argument(
        "-m",
        "--metrics",
        nargs="+",
        default=tuple(default),
        metavar="METRIC",
        help=f"such as bleu, 'chrf(word_order=2)', ter, rougeL; all: gnomon list metrics{said}",
    )
    if as_sacrebleu:
        rare(
            group.add_argument(
                "-tok", "--tokenize", metavar="NAME", help="how BLEU cuts texts into words"
            )
        )
        rare(
            group.add_argument(
                "-lc", "--lowercase", action="store_true", help="BLEU without regard to case"
            )
        )
    else:
        parser.set_defaults(tokenize=None, lowercase=False)
    add_allow_code(group)


def add_allow_code(parser: argparse._ActionsContainer) -> None:
    """Add the option that lets names of functions run code, and judges send texts away."""
    rare(
        parser.add_argument(
            "--allow-code",
            action="store_true",
            help="let metrics and taggers that are functions (file.py:function) run their code",
        )
    )
    rare(
        parser.add_argument(
            "--allow-network",
            action="store_true",
            help="let the metric judge(...) send texts to servers on other machines",
        )
    )
    rare(
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="ask no judge: say how many requests would be sent and what they would cost, and"
            " print the first one",
        )
    )
    rare(
        parser.add_argument(
            "--batch-write",
            metavar="FILE",
            help="ask no judge: write the requests for its server's batch endpoint, JSON by line",
        )
    )
    rare(add_batch_read(parser))


def add_batch_read(parser: argparse._ActionsContainer) -> argparse.Action:
    """Files of answers that a batch endpoint gave."""
    return parser.add_argument(
        "--batch-read",
        metavar="FILE",
        nargs="+",
        default=[],
        help="keep the answers that the batch endpoint gave to --batch-write first, so that judges"
        " are asked for the others alone",
    )


def add_output(
    parser: argparse.ArgumentParser, *, taken: Container[str] = ()
) -> argparse._ArgumentGroup:
    """Where results go, and in which shape; short names may be taken by the command's own files."""
    output = parser.add_argument_group("output")
    output.add_argument(
        "-f",
        "--format",
        choices=FORMATS,
        default="text",
        metavar="FORMAT",
        help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]} (default: text)",
    )
    _add_all_columns(output)
    names = ["--output"] if "-o" in taken else ["-o", "--output"]
    output.add_argument(
        *names,
        metavar="FILE",
        help="write the result to a file, not to the terminal; a spreadsheet with all tables and"
        " segments into a file in .xlsx (pip install 'gnomon[excel]')",
    )
    rare(
        output.add_argument(
            "-w",
            "--digits",
            type=_digits,
            default=None,
            metavar="N",
            help="digits after the point",
        )
    )
    return output


def add_format(parser: argparse.ArgumentParser) -> None:
    """The shape of what is printed, for commands whose ``-o`` is something else than that."""
    parser.add_argument(
        "-f",
        "--format",
        choices=FORMATS,
        default="text",
        metavar="FORMAT",
        help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]} (default: text)",
    )
    _add_all_columns(parser)
    parser.set_defaults(output=None, digits=None)


def _add_all_columns(parser: argparse._ActionsContainer) -> None:
    rare(
        parser.add_argument(
            "--all-columns",
            action="store_true",
            help="print all columns of tables, also where they do not fit the terminal",
        )
    )


def add_store(parser: argparse.ArgumentParser) -> None:
    """The results that a command reads: always its first argument."""
    parser.add_argument("store", metavar="STORE", help="the folder of a study's results")


def add_page(parser: argparse._ActionsContainer) -> None:
    """The page and the figure that a command may write."""
    parser.add_argument("--html", metavar="FILE", help="write the result as a page for the browser")
    parser.add_argument(
        "--figure",
        action="append",
        metavar="[TITLE=]FILE",
        help="write its first chart, or the one with TITLE in its title, as in chrf=figure.pdf;"
        " .pdf, .svg or .png, 3.3 or 6.9 inches wide; may be given again (pip install"
        " 'gnomon[figures]')",
    )


def wanted_figures(args: argparse.Namespace) -> dict[str, str | None]:
    """The title of the chart that each file is of; None: the first one."""
    figures: dict[str, str | None] = {}
    for given in args.figure or ():
        title, _, path = given.rpartition("=")
        if path in figures:
            raise UsageError(f"--figure names {path} twice")
        figures[path] = title or None
    return figures


def add_tables(parser: argparse._ActionsContainer) -> None:
    """The tables that a command may write beside what it prints."""
    parser.add_argument(
        "--tables",
        nargs="+",
        action="extend",
        metavar="NAME=FILE",
        help="write a table of the result into a file of its own, .tsv or .json; names are those of"
        " -f json and of pages",
    )


def add_gate(output: argparse._ActionsContainer, options: Iterable[str]) -> None:
    """Add the options of a command's gate for continuous integration."""
    output.set_defaults(strict=False, junit=None, summary=None)
    gates = [name for name in options if name.startswith("fail_")]
    if not gates:
        return
    # marked errors are counted, which leaves nothing undecided
    if gates != ["fail_if_major"]:
        output.add_argument(
            "--strict",
            action="store_true",
            help="end with exit code 4 where the gate cannot tell: it passes on these texts, and"
            " might not on others like them",
        )
    output.add_argument(
        "--junit", metavar="FILE", help="write the gate's verdict on each system as JUnit's XML"
    )
    output.add_argument(
        "--summary",
        metavar="FILE",
        help="append the gate's verdict and the tables to a Markdown file, such as"
        " $GITHUB_STEP_SUMMARY",
    )


def check_gate(args: argparse.Namespace, options: Mapping[str, object]) -> None:
    """Refuse what is asked of a gate where none is given: it would never fail."""
    if not any(name.startswith("fail_") and value for name, value in options.items()):
        wrong = [name for name in ("strict", "junit", "summary") if getattr(args, name)]
        if wrong:
            raise UsageError(
                f"--{wrong[0]} tells what a gate says, and none is given; name one, as in"
                " --fail-if-worse METRIC (compare), --fail-above KIND=SHARE (check) or"
                " --fail-if-major N (errors)"
            )


def wanted_tables(args: argparse.Namespace) -> dict[str, str]:
    """The files of tables, by their names."""
    paths: dict[str, str] = {}
    for given in args.tables or ():
        name, _, path = given.partition("=")
        if not name or not path.endswith((".tsv", ".json")):
            raise UsageError(
                f"--tables takes NAME=FILE with a file in .tsv or .json; got {given!r}"
            )
        if name in paths:
            raise UsageError(f"--tables names {name!r} twice")
        paths[name] = path
    return paths


class Inputs:
    """The data that a command line names, for methods that make something of their own of it."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args

    @property
    def has_testset(self) -> bool:
        """True if a test set, references, outputs or a table are named."""
        args = self.args
        return bool(args.test_set or args.refs or args.table or args.input)

    def testset(self) -> TestSet:
        """The test set, with its paraphrases; it may lack systems."""
        return load(self.args)

    def original(self) -> TestSet:
        """The test set without paraphrases."""
        return load_original(self.args)

    def references(self) -> TestSet:
        """Likewise; of files, references are enough."""
        return load_references(self.args)

    def testsets(self) -> list[TestSet]:
        """Several test sets, with systems."""
        return load_several(self.args)

    def originals(self) -> list[TestSet]:
        """Several test sets without paraphrases, with systems."""
        plain = {"paraphrases": None, "n": None, "methods": None, "no_original": False}
        return load_several(argparse.Namespace(**vars(self.args) | plain))

    def paraphrased(self, testset: TestSet) -> TestSet:
        """A test set with the paraphrases that are named."""
        return paraphrased(self.args, testset)

    def only(self) -> Inputs:
        """The inputs of the only test set that is named."""
        named = self.args.test_set
        if not isinstance(named, list):
            return self
        if len(named) > 1:
            raise UsageError("-t names several test sets, and this command takes one; name one")
        return Inputs(argparse.Namespace(**vars(self.args) | {"test_set": named[0]}))


def load(args: argparse.Namespace) -> TestSet:
    """The test set that the options name, with the paraphrases that they name."""
    return _first(args, *_judged(args, [paraphrased(args, _load(args))]))


def add_first_segment(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the option for the number of the first segment in files of human scores."""
    rare(
        parser.add_argument(
            "--first-segment",
            type=int,
            choices=(0, 1),
            help="the number of the first segment in files of human scores, if it is not the"
            " format's own",
        )
    )


def paraphrased(args: argparse.Namespace, testset: TestSet) -> TestSet:
    """A test set with the paraphrases that the options name."""
    if not args.paraphrases:
        given = {"--n": args.n, "--methods": args.methods, "--no-original": args.no_original}
        wrong = [name for name, value in given.items() if value]
        if wrong:
            raise UsageError(
                f"{', '.join(wrong)} choose paraphrases; name some: --paraphrases FILE"
            )
        return testset
    return testset.with_paraphrases(
        args.paraphrases, n=args.n, methods=args.methods, original=not args.no_original
    )


def paraphrase_sections(*testsets: TestSet) -> list[Finding]:
    """Sections of a page that tell which paraphrases were among the references; often none."""
    if not any(testset.paraphrases for testset in testsets):
        return []
    from gnomon.paraphrase import paraphrases_used

    sections = (paraphrases_used(testset) for testset in testsets)
    return [section for section in sections if section is not None]


def load_original(args: argparse.Namespace) -> TestSet:
    """The test set that the options name, as it is."""
    return _first(args, *_judged(args, [_load(args)]))


def load_references(args: argparse.Namespace) -> TestSet:
    """Likewise; of files, references are enough."""
    if args.test_set or args.table or args.input or not args.refs or _is_table(args):
        return load_original(args)
    from gnomon.core.testset import TestSet

    _check_data(args)
    testset = TestSet.from_files(
        references=args.refs, systems=[], source=args.source, language_pair=args.language_pair
    )
    return _first(args, testset)


def _judged(args: argparse.Namespace, testsets: list[TestSet]) -> list[TestSet]:
    """With the human scores of files that number more segments than are wanted, or otherwise.

    Other files are read by the methods themselves.
    """
    human, counted = getattr(args, "human", None), getattr(args, "first_segment", None)
    if counted is None and (args.first is None or not human):
        return testsets
    from gnomon.agreement.files import add_judgements
    from gnomon.data.formats import human_files

    files, kinds = human_files(human or ())
    if not files and counted is not None:
        raise UsageError("--first-segment is of files of human scores; name some: --human FILE")
    form = getattr(args, "human_format", None)
    testsets, more = add_judgements(testsets, files, format=form, first_segment=counted)
    args.human = list(dict.fromkeys([*kinds, *more])) or None
    return testsets


def _first(args: argparse.Namespace, testset: TestSet) -> TestSet:
    if args.first is None:
        return testset
    if not 1 <= args.first <= testset.segments:
        raise UsageError(
            f"--first {args.first}: the test set has {testset.segments} segments; give a number"
            f" from 1 to {testset.segments}"
        )
    return testset.select(segments=range(args.first))


#: the bundled test set, where no folder has its name
_EXAMPLE = "es-en"


def _load(args: argparse.Namespace) -> TestSet:
    from gnomon.data import formats

    if _is_table(args) and not formats.is_evaluation_log(args.refs[0]):
        args = argparse.Namespace(**vars(args) | {"refs": [], "table": args.refs[0]})
    _check_data(args)
    if args.table:
        testset = formats.read_table(
            args.table,
            format=args.table_format,
            references=args.reference_columns or [],
            systems=args.system_columns or [],
            source=args.source_column,
            document=args.document_column,
            domain=args.domain_column,
            language_pair=args.language_pair,
        )
        return (
            _replace_outputs(testset, args.input, also=testset.systems) if args.input else testset
        )
    if args.test_set:
        if args.test_set == _EXAMPLE and not os.path.lexists(_EXAMPLE):
            from gnomon.data import example

            args = argparse.Namespace(**vars(args) | {"test_set": str(example.path())})
        return _read_named_set(args)
    refs = [str(one) for path in args.refs or () for one in formats.log_folders(path) or [path]]
    logs = [path for path in refs if formats.is_evaluation_log(path)]
    if logs and logs == refs and not args.input:
        # of what each model answered; the references are those of the first
        args = argparse.Namespace(**vars(args) | {"refs": logs[:1], "input": logs})
    # some metrics read sources alone, which files of translation units bring
    sourced = args.source or any(map(formats.unit_format, args.input or ()))
    if not args.refs and not (sourced and args.input):
        raise UsageError(
            "no references: give reference files first, then systems, as in"
            " 'ref.txt -i sysA.txt sysB.txt', or a test set with -t DIR"
        )
    try:
        return _read_plain_files(args)
    except DataError as error:
        if args.input or len(args.refs) < 2:
            raise
        raise UsageError(f"no system comes by standard input; {_forgotten(args)}") from error


def _read_plain_files(args: argparse.Namespace) -> TestSet:
    """The test set of plain files; of a command that aligns outputs, they may differ in length."""
    from gnomon.core.testset import TestSet

    files = {
        "references": args.refs,
        "systems": _inputs(args),
        "source": args.source,
        "language_pair": args.language_pair,
    }
    try:
        return TestSet.from_files(**files)
    except LengthMismatchError:
        guide = _guide(args)
        if guide is None or not (args.input and (args.refs or guide)):
            raise
    from gnomon.alignment.aligning import read_aligned

    return read_aligned(**files, **guide)


def _guide(args: argparse.Namespace) -> dict[str, Any] | None:
    """The guide of alignment that is named; none where a command does not align outputs."""
    if not getattr(args, "aligns", False):
        return None
    return {"by": args.by, "model": args.model} if args.guided else {}


#: how names of tables end
_TABLES = frozenset({".csv", ".tsv", ".jsonl", ".json", ".parquet", ".xlsx"})


_COLUMNS = (
    "reference_columns", "system_columns", "source_column", "document_column", "domain_column",
)  # fmt: skip


def _columns_of(args: argparse.Namespace) -> list[str]:
    """The options that name columns, of those that are given."""
    return [name for name in _COLUMNS if getattr(args, name, None)]


def _is_table(args: argparse.Namespace) -> bool:
    """True if a table alone is given, or with its columns."""
    alone = not (args.input or args.source) or any(_columns_of(args))
    return (
        len(args.refs or ()) == 1
        and alone
        and Path(args.refs[0].removesuffix(".gz")).suffix.lower() in _TABLES
    )


def _forgotten(args: argparse.Namespace) -> str:
    """Question where files stand among the references and no system is named."""
    first, *rest = args.refs
    return (
        f"{', '.join(args.refs)} are all read as references; did you forget -i?"
        f" {first} -i {' '.join(rest)}"
    )


def is_workbook(args: argparse.Namespace) -> bool:
    """True if the result is written as a spreadsheet."""
    return str(args.output).lower().endswith(".xlsx")


def check_outputs(args: argparse.Namespace, *paths: str | None, inputs: Iterable[str] = ()) -> None:
    """Refuse, before any work, outputs that cannot be written or that are one file."""
    for figure in wanted_figures(args) if hasattr(args, "figure") else ():
        from gnomon.report.charts import checked_figure

        checked_figure(figure)
    if is_workbook(args):
        from gnomon.data.formats import check_excel

        if args.format != "text" or getattr(args, "score_only", False):
            raise UsageError(
                f"{args.output} is a spreadsheet; leave out -f and -b, or write another file"
            )
        check_excel()
    wanted = [Path(path) for path in (args.output, *paths) if path not in (None, "-")]
    data = [getattr(args, name, None) for name in ("refs", "input", "paraphrases")]
    given = (*inputs, *(path for some in data for path in some or ()))
    taken = {os.path.realpath(path) for path in given if path != "-"}
    for path in wanted:
        target = os.path.realpath(path)  # of a loop of links, too
        folder = Path(target).parent
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            raise OutputError(
                f"cannot write {path}: its folder {path.parent} does not exist or may not be"
                " written to; make it first, or name another"
            )
        if target in taken:
            raise UsageError(f"{path} is named twice: as an output, and as an input or output")
        if not path.is_dir() and path.exists() is path.is_file():
            taken.add(target)


def load_outputs(args: argparse.Namespace) -> TestSet:
    """Likewise, and it must hold the output of at least one system."""
    return _require_outputs(load(args))


def _require_outputs(testset: TestSet) -> TestSet:
    if not testset.systems:
        raise DataError(
            f"test set {testset.name!r} holds no system outputs; name some with -i, or, of a table,"
            " with --system-columns"
        )
    return testset


def load_several(args: argparse.Namespace) -> list[TestSet]:
    """The test sets that the options name: those of ``-t``, else the one of files or a table."""
    if not args.test_set:
        return [load_outputs(args)]
    if len(args.test_set) > 1 and (args.input or args.source):
        raise UsageError("-i and -s belong to one test set, and -t names several; leave them out")
    if len(args.test_set) > 1 and args.paraphrases:
        raise UsageError(_OF_ONE)
    each = [argparse.Namespace(**{**vars(args), "test_set": name}) for name in args.test_set]
    whole = _judged(args, [paraphrased(named, _load(named)) for named in each])
    return [_require_outputs(_first(args, testset)) for testset in whole]


def logged_metrics(args: argparse.Namespace, testset: TestSet) -> list[str]:
    """Metrics whose scores came with all outputs, where the options name no metric."""
    if not (args.metrics_by_default and testset.logged):
        return []
    from gnomon.metrics.score_file import specs_of_logs

    return specs_of_logs(testset)


def metrics(args: argparse.Namespace, words: Collection[str] = ()) -> list[str]:
    """The metrics that the options name, checked before anything is read."""
    from gnomon.metrics import parse

    args.metrics_by_default = isinstance(args.metrics, tuple)
    # the name of BLEU may be written in any case
    args.metrics = [_BLEU if spec.lower() == _BLEU else spec for spec in args.metrics or ()]
    if not args.metrics and (args.tokenize or args.lowercase):
        args.metrics = [_BLEU]
    if (args.tokenize or args.lowercase) and _BLEU not in args.metrics:
        raise UsageError(
            f"-tok and -lc are options of bleu, and the metrics are {' '.join(args.metrics)}; write"
            " an option into the metric, as in 'chrf(lowercase=True)'"
        )
    specs = [_add_bleu_options(spec, args) for spec in args.metrics]
    if len(set(specs)) < len(specs):
        raise UsageError(f"a metric is named twice: {' '.join(args.metrics)}")
    for spec in specs:
        if spec in words:
            continue
        parse(spec, allow_code=args.allow_code)
    return specs


def show_rows(
    args: argparse.Namespace, command: str, title: str, rows: Sequence[Mapping[str, Cell]]
) -> None:
    """Write flat records as a table, in the format that the options ask for."""
    from gnomon.core.findings import Column, Finding, Table

    columns = tuple(Column(name, name.capitalize()) for name in (rows[0] if rows else ()))
    finding = Finding(command, title, (Table(command, title, columns, tuple(rows)),), {})
    show(args, finding, command)


def show(
    args: argparse.Namespace,
    what: Finding | list[Scores],
    command: str,
    *,
    most: int | None = None,
    after: Callable[[IO[str] | None], None] | None = None,
) -> None:
    """Write a finding or scores as the options ask; in colour where a person looks on.

    Notices and the verdict go to stderr where the format has no place for them.
    """
    from gnomon import report
    from gnomon.core.verdicts import summarise_scores

    verdict = summarise_scores(what) if isinstance(what, list) else what.verdict
    logged = verdict if args.format in PURE else ()
    if isinstance(what, list):
        log_notices(what if args.format in PURE else (), logged)
    else:
        log_notices((what,) if args.format in BARE else (), logged)
    if is_workbook(args):
        report.write_xlsx(args.output, what)
        return
    shown = {"digits": args.digits, "verbose": args.verbose}
    every = getattr(args, "all", False)
    if args.all_columns:
        shown["width"] = sys.maxsize
    if args.format == "text" and args.output is None and sys.stdout.isatty():
        if isinstance(what, list):
            report.print_scores(what, **shown)
        else:
            report.print_finding(what, **shown, most=most)
        if after is not None:
            after(None)
        return
    parts = [report.render(what, args.format, command=command, **shown, most=most, every=every)]
    if after is not None:
        file = io.StringIO()
        after(file)
        parts.append(file.getvalue())
    emit(args, parts)


def log_notices(results: Sequence[Finding | Scores], verdict: Sequence[Message] = ()) -> None:
    """Say on stderr what was found, and what the reader of some results should know."""
    for statement in verdict:
        _log.info("%s", rendered(statement))
    for notice in joined(notice for result in results for notice in result.notices):
        _log.debug("%s", noted(notice))


def emit(args: argparse.Namespace, parts: Iterable[str]) -> None:
    """Write a result, part by part, to stdout, or to the named file, whole or not at all."""
    if args.output in (None, "-"):
        args.printed = True
        sys.stdout.writelines(parts)
        return
    from gnomon.data.formats import atomic_write

    with atomic_write(args.output) as file:
        file.writelines(parts)


def _check_data(args: argparse.Namespace) -> None:
    """Refuse inputs that contradict each other: nothing that was named is left out silently."""
    pair = args.language_pair
    if pair and not _PAIR.fullmatch(pair):
        raise UsageError(f"-l takes a pair such as de-en, or one language such as en; got {pair!r}")
    wrong = _contradictions(args)
    if wrong:
        raise UsageError("; ".join(wrong))


def _contradictions(args: argparse.Namespace) -> list[str]:
    wrong = []
    if args.table:
        given = {"reference files": args.refs, "-t": args.test_set}
        wrong = [name for name, value in {**given, "-s": args.source}.items() if value]
        wrong = [f"--table cannot go with {name}" for name in wrong]
        for option in ("reference_columns", "system_columns"):
            names = getattr(args, option) or []
            if len(set(names)) < len(names):
                wrong.append(f"--{option.replace('_', '-')} names a column twice")
    else:
        named = [f"--{name.replace('_', '-')}" for name in _columns_of(args)]
        if named:
            wrong.append(f"{', '.join(named)}: columns are of a table; give it with --table FILE")
    if not args.test_set:
        for option in ("systems", "references"):
            if getattr(args, option):
                wrong.append(f"--{option} chooses from a test set, and none is named with -t")
    elif args.source:
        wrong.append("-s gives a source, and the test set of -t brings its own")
    elif args.input and args.systems:
        wrong.append("--systems chooses from the test set, and -i replaces its systems")
    return wrong


def _read_named_set(args: argparse.Namespace) -> TestSet:
    from gnomon.core.testset import TestSet
    from gnomon.data import formats

    if args.refs:
        raise UsageError(
            f"-t {args.test_set} brings its own references; leave out {' '.join(args.refs)}, or"
            " name references of the set with --references"
        )
    if not Path(args.test_set).exists() and formats.is_sacrebleu_set(args.test_set):
        return formats.read_sacrebleu_set(
            args.test_set, language_pair=args.language_pair, systems=_inputs(args)
        )
    wanted = {
        "language_pair": args.language_pair,
        "systems": None if args.input else args.systems,
        "references": args.references,
        "human": "readable" if getattr(args, "human_readable", False) else "all",
    }
    guide = _guide(args)
    try:
        testset = TestSet.read(args.test_set, **wanted)
    except LengthMismatchError:
        if guide is None:
            raise
        from gnomon.alignment.aligning import read_aligned_set

        testset = read_aligned_set(args.test_set, **wanted, **guide)
    return _replace_outputs(testset, args.input, guide=guide) if args.input else testset


def _replace_outputs(
    testset: TestSet,
    paths: Sequence[str],
    also: Mapping[str, Sequence[str]] | None = None,
    guide: Mapping[str, Any] | None = None,
) -> TestSet:
    """A test set with the outputs of files in place of its own, or beside some of them."""
    from gnomon.data import formats

    systems = formats.read_systems(paths) if guide is None else formats.read_outputs(paths)
    twice = [name for name in systems if name in (also or {})]
    if twice:
        raise UsageError(f"{twice[0]!r} is a column of the table and a file of -i; leave one out")
    without = replace(
        testset,
        systems=also or {},
        alignments={},
        info={},
        human=(),
        rankings=(),
        errors=(),
        system_references={},
    )
    if guide is None:
        return formats.warn_of_anomalies(replace(without, systems={**without.systems, **systems}))
    return formats.warn_of_anomalies(without.align(systems, **guide))


def _inputs(args: argparse.Namespace) -> list[str]:
    if args.input:
        return list(args.input)
    if sys.stdin is None or sys.stdin.isatty():
        if len(args.refs) > 1:
            raise UsageError(f"no systems: {_forgotten(args)}")
        raise UsageError("no systems: name output files with -i, or pipe one into standard input")
    return ["-"]


def _add_bleu_options(spec: str, args: argparse.Namespace) -> str:
    if spec != _BLEU:
        return spec
    options = [f"tokenize={args.tokenize!r}"] if args.tokenize else []
    options += ["lowercase=True"] if args.lowercase else []
    return f"{_BLEU}({', '.join(options)})" if options else spec


def _digits(text: str) -> int:
    if not text.isdigit() or int(text) > 15:  # a double holds no more
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of digits from 0 to 15")
    return int(text)
