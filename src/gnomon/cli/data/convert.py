"""``gnomon data convert``: WMT's XML and SGML, MQM, quality estimation as a test set folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_format
from gnomon.cli.data._shown import show_written

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run"]

_KEEPABLE = ("test-suites", "unreferenced", "entities")
_INCOMPLETE = ("refuse", "empty", "drop")
_MORE = """\
examples:
  gnomon data convert newstest2021.en-de.all.xml -o sets/wmt21
  gnomon data convert newstest2019-deen-src.de.sgm newstest2019-deen-ref.en.sgm -i sys.txt -o set
  gnomon data convert mqm_ted_ende.tsv --references ref --incomplete drop -o sets/ted
  gnomon data convert sets/wmt21 --human mqm_newstest2021_ende.tsv -o sets/wmt21-mqm
  gnomon data convert et-en-test.tar.gz -o sets
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "convert",
        answers="how WMT's XML and SGML, MQM or quality estimation become a test set folder",
        more=_MORE,
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="files, folders or archives; XML or SGML files named together are one set",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        dest="folder",
        metavar="DIR",
        help="a new folder; several sets become DIR/NAME/PAIR",
    )
    parser.add_argument("-l", "--language-pair", metavar="PAIR", help="only this pair")
    parser.add_argument(
        "--as",
        dest="form",
        metavar="FORMAT",
        help="the format of files that are named together: wmt-xml, wmt-sgml, wmt-mqm, or a"
        " package's (default: the files tell)",
    )
    chosen = parser.add_argument_group("what is taken")
    chosen.add_argument("--systems", nargs="+", default=[], metavar="NAME", help="only these")
    chosen.add_argument(
        "--references",
        nargs="+",
        default=[],
        metavar="NAME",
        help="only these; of an MQM file, the systems that are human translations",
    )
    chosen.add_argument(
        "-i", "--input", nargs="+", default=[], metavar="FILE", help="further systems, plain text"
    )
    chosen.add_argument(
        "--human", nargs="+", default=[], metavar="FILE", help="human judgements of any format"
    )
    chosen.add_argument(
        "--keep",
        nargs="+",
        default=[],
        choices=_KEEPABLE,
        help="what is left out else: documents of test suites, segments without a reference where"
        " others have one; 'entities' leaves &amp; in SGML as it is",
    )
    chosen.add_argument(
        "--incomplete",
        choices=_INCOMPLETE,
        default="refuse",
        help="a system that lacks segments: refuse the set, empty texts, drop the system",
    )
    written = parser.add_argument_group("how it is written")
    written.add_argument(
        "--layout",
        default="gnomon",
        metavar="FORMAT",
        help="a format of test set directories that is written: gnomon, mt-metrics-eval"
        " (default: gnomon)",
    )
    written.add_argument("--gz", action="store_true", help="texts as .txt.gz")
    add_format(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Convert, and say where it is."""
    from gnomon import official

    found = official.convert(
        args.paths,
        args.folder,
        format=args.form,
        language_pair=args.language_pair,
        systems=args.systems,
        references=args.references,
        outputs=args.input,
        human=args.human,
        keep=args.keep,
        incomplete=args.incomplete,
        layout=args.layout,
        compress=args.gz,
    )
    show_written(args, "data convert", found)
    return 0
