"""``gnomon list``: what can be named on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gnomon.cli._options import add_command, add_output, show

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping

    from gnomon.cli._options import Subparsers

    _Listed: TypeAlias = tuple[tuple[str, ...], Iterable[tuple[str, ...]]]

__all__ = ["add", "run"]


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "list",
        answers="which methods, metrics, features, taggers, scorers, explainers, formats there are",
    )
    parser.add_argument("kind", choices=tuple(_KINDS))
    add_output(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print one kind of names."""
    from gnomon.findings import Column, Finding, Table

    header, rows = _KINDS[args.kind]()
    columns = tuple(Column(name, name.capitalize()) for name in header)
    records = tuple(dict(zip(header, row, strict=True)) for row in rows)
    table = Table(args.kind, args.kind.capitalize(), columns, records)
    finding = Finding("list", table.title, (table,), signatures={})
    show(args, finding, "list")
    return 0


def _methods() -> _Listed:
    from gnomon import methods

    rows = [
        (
            name,
            " ".join(("gnomon", *name.replace("_", "-").split("."))),
            methods.answers_of(name),
            methods.package_of(name),
        )
        for name in methods.names()
    ]
    return ("name", "command", "answers", "from"), rows


def _metrics() -> _Listed:
    from gnomon import metrics

    rows = [(d.name, ", ".join(d.options), d.summary, d.source) for d in metrics.describe()]
    return ("name", "options", "answers", "source"), rows


def _features() -> _Listed:
    from gnomon import annotate

    return ("name", "marks", "tagger"), annotate.describe_features()


def _taggers() -> _Listed:
    from gnomon import annotate

    return ("name", "language", "state"), annotate.describe_taggers()


def _scorers() -> _Listed:
    from gnomon.annotate import scorers

    return ("name", "measures", "from"), scorers.describe_scorers()


def _explainers() -> _Listed:
    from gnomon import bmx

    found = bmx.describe_explainers()
    return ("name", "options", "is"), [(d.name, ", ".join(d.options), d.summary) for d in found]


def _formats() -> _Listed:
    from gnomon import formats

    return ("name", "reads", "writes", "is"), formats.describe()


_KINDS: Mapping[str, Callable[[], _Listed]] = {
    "methods": _methods,
    "metrics": _metrics,
    "features": _features,
    "taggers": _taggers,
    "scorers": _scorers,
    "explainers": _explainers,
    "formats": _formats,
}
