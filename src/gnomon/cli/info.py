"""``gnomon info``: what a test set holds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_data, add_output, load, show

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers
    from gnomon.findings import Cell
    from gnomon.testset import TestSet

__all__ = ["add", "run"]


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands, "info", answers="what a test set holds", more="example: gnomon info -t DIR"
    )
    add_data(parser)
    add_output(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the test set and describe it."""
    from gnomon.findings import Column, Finding, Table

    testset = load(args)
    columns = (Column("part", "Part"), Column("name", "Name"), Column("value", "Holds"))
    table = Table("info", f"Test set {testset.name}", columns, tuple(_rows(testset)))
    finding = Finding("info", table.title, (table,), signatures={})
    show(args, finding, "info")
    return 0


def _rows(testset: TestSet) -> list[dict[str, Cell]]:
    found = testset.summary()
    rows: list[tuple[str, str, Cell]] = [
        ("test set", found.name, testset.path),
        ("language pair", found.language_pair or "not given", None),
        ("segments", "", found.segments),
        ("source", "", "yes" if found.sources else "no"),
        *(("reference", name, f"{n} segments") for name, n in found.references.items()),
        ("systems", "", found.systems),
        *(("system", name, _of_system(testset, name)) for name in testset.systems),
        ("documents", "", found.documents),
        *(("domain", name, _share(testset, name)) for name in found.domains),
        *(("labels", name, f"{len(set(v))} values") for name, v in testset.labels.items()),
        *(
            ("human scores", f"{kind}, {level} level", _judged(testset, kind, level))
            for kind, level in dict.fromkeys((h.kind, h.level) for h in testset.human)
        ),
        *(("human rankings", r.kind, f"{len(r.rows)} pairs") for r in testset.rankings),
    ]
    for kind, count in Counter(error.kind for error in testset.errors).items():
        rows.append(("error spans", kind, count))
    return [{"part": part, "name": name, "value": value} for part, name, value in rows]


def _of_system(testset: TestSet, name: str) -> str:
    texts, info = testset.systems[name], testset.info.get(name)
    words = sum(len(text.split()) for text in texts)
    said = [f"{words} words"]
    if empty := sum(not text.strip() for text in texts):
        said.append(f"{empty} empty")
    if info is not None:
        said += [str(v) for v in (info.year, info.architecture) if v is not None]
        said += ["human"] if info.human else []
    return ", ".join(said)


def _judged(testset: TestSet, kind: str, level: str) -> str:
    fitting = [h for h in testset.human if (h.kind, h.level) == (kind, level)]
    systems = {name for human in fitting for name in human.systems}
    raters = sum(human.rater is not None for human in fitting)
    return f"{len(systems)} systems" + (f", {raters} raters" if raters else "")


def _share(testset: TestSet, domain: str) -> str:
    return f"{sum(name == domain for name in testset.domains or ())} segments"
