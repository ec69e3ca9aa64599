"""``gnomon data``: official test sets, listed, fetched, converted."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gnomon.cli._options import (
    add_command,
    add_first_segment,
    add_format,
    add_group,
    add_output,
    show,
    show_rows,
)
from gnomon.core.errors import UnknownNameError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from gnomon.cli._options import Subparsers
    from gnomon.core.findings import Cell
    from gnomon.data.official import Available, WrittenSet

__all__ = ["add"]


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands."""
    inner = add_group(
        commands,
        "data",
        purpose="list, fetch and convert official test sets",
    )
    _add_list(inner)
    _add_fetch(inner)
    _add_convert(inner)


# Options of the commands on official data, and how their results are shown.


def _add_home(parser: argparse.ArgumentParser, *names: str) -> None:
    """The folder of fetched sets, under the names of the option."""
    parser.add_argument(
        *names,
        dest="folder",
        metavar="DIR",
        help="the folder of fetched sets, DIR/NAME/PAIR (default: $GNOMON_DATA, or the user's)",
    )


def _show_written(args: argparse.Namespace, command: str, testsets: Sequence[WrittenSet]) -> None:
    """Paths and the commands to go on with; in other formats than text, a table."""
    if args.format == "text":
        sys.stdout.write("".join(_describe_written(written) for written in testsets))
        return
    rows: list[Mapping[str, Cell]] = [
        {
            "set": written.name,
            "pair": written.language_pair,
            "segments": written.segments,
            "references": " ".join(written.references),
            "systems": len(written.systems),
            "human": " ".join(written.human),
            "path": str(written.path),
            "new": written.new,
            "next": written.next,
        }
        for written in testsets
    ]
    show_rows(args, command, "Test sets", rows)


def _describe_written(written: WrittenSet) -> str:
    from gnomon.core.tabular import visible

    parts = [f"{written.segments} segments"]
    if written.references:
        parts.append(f"references {', '.join(written.references)}")
    parts.append(f"{len(written.systems)} systems")
    if written.human:
        parts.append(f"human {', '.join(written.human)}")
    parts += [] if written.new else ["was here already"]
    return visible(f"{written.path}: {'; '.join(parts)}") + f"\n  {visible(written.next)}\n"


# ``gnomon data list``: which test sets can be fetched, and which are here.


_LIST_EXAMPLES = """\
examples:
  gnomon data list
  gnomon data list wmt22
  gnomon data list -l de-en
"""


def _add_list(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "list",
        purpose="list test sets that can be fetched or are here",
        more=_LIST_EXAMPLES,
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="only these sets, with their language pairs"
    )
    parser.add_argument(
        "-l", "--language-pair", metavar="PAIR", help="only sets with this language pair"
    )
    parser.add_argument("--here", action="store_true", help="only sets that were fetched")
    _add_home(parser, "--folder")
    add_output(parser)
    parser.set_defaults(run=_list)


def _list(args: argparse.Namespace) -> int:
    """List sets, or the pairs of some."""
    from gnomon.data import official

    available = official.available(args.folder)
    names = {published.name: published for published in available}
    for name in args.names:
        if name not in names:
            raise UnknownNameError("test set", name, names)
    pairs = dict.fromkeys(pair for published in available for pair in published.language_pairs)
    if args.language_pair is not None and args.language_pair not in pairs:
        raise UnknownNameError("language pair of the published sets", args.language_pair, pairs)
    wanted = [names[name] for name in args.names] or available
    chosen = [published for published in wanted if _fits(published, args)]
    if args.names:
        rows = [row for published in chosen for row in _pairs(published, args)]
        addresses = dict.fromkeys(url for published in chosen for url in published.urls)
        _show(args, rows, "from " + ", ".join(addresses))
    else:
        _show(args, [_table_row(published) for published in chosen], "")
    return 0


def _show(args: argparse.Namespace, rows: Sequence[Mapping[str, Cell]], note: str) -> None:
    """Rows as a table; for people without what is long and the same in all rows."""
    from gnomon.core.findings import Column, Finding, Table

    hidden = ("url", "description") if args.format == "text" else ()
    names = [name for name in (rows[0] if rows else ()) if name not in hidden]
    columns = tuple(Column(name, name.capitalize()) for name in names)
    kept = tuple({name: row[name] for name in names} for row in rows)
    table = Table("sets", "Official test sets", columns, kept, note)
    show(args, Finding("data list", table.title, (table,), {}), "data list")


def _fits(published: Available, args: argparse.Namespace) -> bool:
    if args.here and not published.here:
        return False
    return args.language_pair is None or args.language_pair in published.language_pairs


def _table_row(published: Available) -> Mapping[str, Cell]:
    return {
        "set": published.name,
        "from": published.publisher,
        "pairs": len(published.language_pairs) or None,
        "outputs": "yes" if published.outputs else "no",
        "here": len(published.here),
        "description": published.description,
    }


def _pairs(published: Available, args: argparse.Namespace) -> list[Mapping[str, Cell]]:
    """A row per pair; one without a pair where only the archive tells."""
    pairs = [p for p in published.language_pairs if args.language_pair in (None, p)]
    return [
        {
            "set": published.name,
            "pair": pair,
            "from": published.publisher,
            "outputs": "yes" if published.outputs else "no",
            "here": str(published.here[pair]) if pair in published.here else None,
            "url": " ".join(published.urls),
        }
        for pair in pairs or (None,)
        if pair in published.here or not args.here
    ]


# ``gnomon data fetch``: an official test set, checked, in a folder that -t takes.


_FETCH_EXAMPLES = """\
examples:
  gnomon data fetch wmt22 -l en-de
  gnomon data fetch wmt19 -l de-en --from test.tgz
  gnomon data fetch mt-metrics-eval/wmt22 -l en-de zh-en
  gnomon data fetch mt-metrics-eval --from mt-metrics-eval-v2.tgz --sha256 SUM
  gnomon data fetch https://example.org/et-en-test.tar.gz -o sets
"""


def _add_fetch(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "fetch",
        purpose="fetch an official test set into a folder, and check it",
        more=_FETCH_EXAMPLES,
    )
    parser.add_argument(
        "name", metavar="NAME|URL", help="a name that 'gnomon data list' shows, or an address"
    )
    parser.add_argument(
        "-l",
        "--language-pairs",
        nargs="+",
        default=[],
        metavar="PAIR",
        help="only these language pairs (default: all)",
    )
    source = parser.add_argument_group("where it comes from")
    source.add_argument(
        "--from",
        dest="given",
        metavar="FILE|DIR|URL",
        help="the publisher's file, a folder that holds it, or a mirror; no other address is asked",
    )
    source.add_argument("--sha256", metavar="SUM", help="the checksum that the file must have")
    _add_home(parser, "-o", "--output")
    add_format(parser)
    kept = "files that came whole are kept, and not fetched again"
    parser.set_defaults(run=_fetch, kept=kept)


def _fetch(args: argparse.Namespace) -> int:
    """Fetch, and say where it is."""
    from gnomon.cli.progress import stages
    from gnomon.data import official

    with stages("looking for what to fetch", quiet=args.quiet) as progress:
        written = official.fetch(
            args.name,
            language_pairs=args.language_pairs,
            folder=args.folder,
            given=args.given,
            sha256=args.sha256,
            progress=progress,
        )
    _show_written(args, "data fetch", written)
    return 0


# ``gnomon data convert``: WMT's XML and SGML, MQM, quality estimation as a test set folder.


_INCOMPLETE = ("refuse", "empty", "drop")
_CONVERT_EXAMPLES = """\
examples:
  gnomon data convert newstest2021.en-de.all.xml -o sets/wmt21
  gnomon data convert newstest2019-deen-src.de.sgm newstest2019-deen-ref.en.sgm -i sys.txt -o set
  gnomon data convert mqm_ted_ende.tsv --references ref --incomplete drop -o sets/ted
  gnomon data convert sets/wmt21 --human mqm_newstest2021_ende.tsv -o sets/wmt21-mqm
  gnomon data convert et-en-test.tar.gz -o sets
"""


def _add_convert(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "convert",
        purpose="convert WMT's XML and SGML, MQM or quality estimation to a test set folder",
        more=_CONVERT_EXAMPLES,
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
    parser.add_argument("-l", "--language-pair", metavar="PAIR", help="only this language pair")
    chosen = parser.add_argument_group("what is taken")
    chosen.add_argument(
        "--systems", nargs="+", default=[], metavar="NAME", help="only these systems"
    )
    chosen.add_argument(
        "--references",
        nargs="+",
        default=[],
        metavar="NAME",
        help="only these references; of an MQM file, its systems that are human translations",
    )
    chosen.add_argument(
        "-i", "--input", nargs="+", default=[], metavar="FILE", help="further systems, plain text"
    )
    chosen.add_argument(
        "--human", nargs="+", default=[], metavar="FILE", help="human judgements of any format"
    )
    add_first_segment(chosen)
    chosen.add_argument(
        "--span-ends",
        choices=("last", "behind"),
        help="the ends of error spans in these: their last character, or the one behind"
        " (default: as formats have it; a warning says where spans look otherwise)",
    )
    chosen.add_argument(
        "--incomplete",
        choices=_INCOMPLETE,
        default="refuse",
        help="a system that lacks segments: refuse the set, fill in empty texts, drop the system",
    )
    parser.add_argument(
        "--layout",
        default="gnomon",
        metavar="FORMAT",
        help="the layout of the folder: gnomon, mt-metrics-eval (default: gnomon)",
    )
    add_format(parser)
    parser.set_defaults(run=_convert)


def _convert(args: argparse.Namespace) -> int:
    """Convert, and say where it is."""
    from gnomon.data import official

    written = official.convert(
        args.paths,
        args.folder,
        language_pair=args.language_pair,
        systems=args.systems,
        references=args.references,
        outputs=args.input,
        human=args.human,
        first_segment=args.first_segment,
        span_ends=args.span_ends,
        incomplete=args.incomplete,
        layout=args.layout,
    )
    _show_written(args, "data convert", written)
    return 0
