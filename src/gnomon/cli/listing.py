"""``gnomon list``: what can be named on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_output, show

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run"]

KINDS = ("metrics", "features", "taggers", "scorers", "explainers", "formats")


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "list",
        answers="which metrics, features, taggers, scorers, explainers and formats there are",
    )
    parser.add_argument("kind", choices=KINDS)
    add_output(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print one kind of names."""
    from gnomon.findings import Column, Finding, Table

    header, rows = _of_kind(args.kind)
    columns = tuple(Column(name, name.capitalize()) for name in header)
    records = tuple(dict(zip(header, row, strict=True)) for row in rows)
    table = Table(args.kind, args.kind.capitalize(), columns, records)
    finding = Finding("list", table.title, (table,), signatures={})
    show(args, finding, "list")
    return 0


def _of_kind(kind: str) -> tuple[tuple[str, ...], Iterable[tuple[str, ...]]]:
    from gnomon import annotate, formats, metrics

    if kind == "metrics":
        rows = [(d.name, ", ".join(d.options), d.summary, d.source) for d in metrics.describe()]
        return ("name", "options", "answers", "source"), rows
    if kind == "features":
        return ("name", "marks", "tagger"), annotate.describe_features()
    if kind == "taggers":
        return ("name", "language", "state"), annotate.describe_taggers()
    if kind == "scorers":
        from gnomon.annotate import scorers

        return ("name", "measures", "from"), scorers.describe_scorers()
    if kind == "explainers":
        from gnomon import bmx

        found = bmx.describe_explainers()
        return ("name", "options", "is"), [(d.name, ", ".join(d.options), d.summary) for d in found]
    return ("name", "reads", "writes", "is"), formats.describe()
