"""``gnomon data list``: which test sets can be fetched, and which are here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_output, show, show_rows
from gnomon.cli.data._shown import add_home
from gnomon.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from gnomon.cli._options import Subparsers
    from gnomon.findings import Cell
    from gnomon.official import Available

__all__ = ["add", "run"]

_MORE = """\
examples:
  gnomon data list
  gnomon data list wmt22
  gnomon data list -l de-en
  gnomon data list --from mt-metrics-eval-v2.tgz
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "list",
        answers="which test sets can be fetched, which are here, and what an archive holds",
        more=_MORE,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="these, with their pairs")
    parser.add_argument("-l", "--language-pair", metavar="PAIR", help="only sets with this pair")
    parser.add_argument("--here", action="store_true", help="only those that were fetched")
    parser.add_argument(
        "--from", dest="given", metavar="PATH", help="what a file, a folder or an archive holds"
    )
    add_home(parser, "--folder")
    add_output(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """List sets, or the pairs of some, or what a place holds."""
    from gnomon import official

    if args.given:
        if args.names or args.here:
            raise UsageError("--from lists what one place holds; leave names and --here out")
        show_rows(args, "data list", f"What {args.given} holds", _inside(args))
        return 0
    known = official.available(args.folder)
    names = {one.name: one for one in known}
    for name in args.names:
        if name not in names:
            raise UnknownNameError("test set", name, names)
    pairs = dict.fromkeys(pair for one in known for pair in one.language_pairs)
    if args.language_pair is not None and args.language_pair not in pairs:
        raise UnknownNameError("language pair of the published sets", args.language_pair, pairs)
    chosen = [one for one in ([names[n] for n in args.names] or known) if _fits(one, args)]
    if args.names:
        _show(args, [row for one in chosen for row in _pairs(one, args)], _addresses(chosen))
    else:
        _show(args, [_of_set(one) for one in chosen], "")
    return 0


def _show(args: argparse.Namespace, rows: Sequence[Mapping[str, Cell]], note: str) -> None:
    """Rows as a table; for people without what is long and the same in all rows."""
    from gnomon.findings import Column, Finding, Table

    hidden = ("url", "description") if args.format == "text" else ()
    names = [name for name in (rows[0] if rows else ()) if name not in hidden]
    columns = tuple(Column(name, name.capitalize()) for name in names)
    kept = tuple({name: row[name] for name in names} for row in rows)
    table = Table("sets", "Official test sets", columns, kept, note)
    show(args, Finding("data list", table.title, (table,), {}), "data list")


def _fits(one: Available, args: argparse.Namespace) -> bool:
    if args.here and not one.here:
        return False
    return args.language_pair is None or args.language_pair in one.language_pairs


def _of_set(one: Available) -> Mapping[str, Cell]:
    return {
        "set": one.name,
        "from": one.publisher,
        "pairs": len(one.language_pairs) or None,
        "outputs": "yes" if one.outputs else "no",
        "here": len(one.here),
        "description": one.description,
    }


def _pairs(one: Available, args: argparse.Namespace) -> list[Mapping[str, Cell]]:
    """A row per pair; one without a pair where only the archive tells."""
    pairs = [p for p in one.language_pairs if args.language_pair in (None, p)]
    return [
        {
            "set": one.name,
            "pair": pair,
            "from": one.publisher,
            "outputs": "yes" if one.outputs else "no",
            "here": str(one.here[pair]) if pair in one.here else None,
            "url": " ".join(one.urls),
        }
        for pair in pairs or (None,)
        if pair in one.here or not args.here
    ]


def _addresses(chosen: Sequence[Available]) -> str:
    return "from " + ", ".join(dict.fromkeys(url for one in chosen for url in one.urls))


def _inside(args: argparse.Namespace) -> list[Mapping[str, Cell]]:
    from gnomon import official

    return [
        {"set": found.name, "pair": found.language_pair, "format": found.format}
        for found in official.contents(Path(args.given))
        if args.language_pair in (None, found.language_pair)
    ]
