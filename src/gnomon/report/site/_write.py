"""A study as a site: one HTML file, or a folder that opens by double click from disk.

The page loads what it shows when it shows it: parts are scripts beside it (a page from disk may not
``fetch``) that hand over JSON as a string, or, in one file, elements of data.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gnomon.report.site._json import in_html, packed
from gnomon.report.site._page import page
from gnomon.report.site._sets import add_set
from gnomon.report.site._sinks import opened
from gnomon.signature import version

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from gnomon.findings import Cell
    from gnomon.report.site._content import Content, TableContent
    from gnomon.report.site._sinks import Sink

__all__ = ["write_site"]

#: cells of a table in one part: some megabytes; and the fewest rows
_CELLS, _FEWEST = 200_000, 1000


def write_site(
    path: str | PathLike[str],
    content: Content,
    *,
    progress: Callable[[str, int, int], None] | None = None,
) -> None:
    """Write the report of a study; it appears whole or not at all.

    Args:
        path: a file that ends in ``.html``, which then holds everything, or a folder: new, empty,
            or with a report that is replaced. Above some ten megabytes a folder opens faster.
        content: what there is to show; read part by part.
        progress: called with a stage, what is done and the total.

    Raises:
        OutputError: the place cannot be written, or holds something else.
    """
    with opened(path) as sink:
        total = len(content.tables) + len(content.testsets)
        tables = []
        names = {testset.name: number for number, testset in enumerate(content.testsets)}
        for number, table in enumerate(content.tables):
            tables.append(_table(sink, number, table, names))
            if progress:
                progress("pages", number + 1, total)
        sets = []
        for number, testset in enumerate(content.testsets):
            sets.append(add_set(sink, number, testset))
            if progress:
                progress("pages", len(tables) + number + 1, total)
        about = {
            "title": content.title,
            "gnomon": version(),
            "inside": sink.inside,
            "facts": list(content.facts.items()),
            "notices": list(content.notices),
            "lower": list(content.lower_is_better),
            "tables": tables,
            "sets": sets,
        }
        sink.finish(*page(content, in_html(about)))


def _table(sink: Sink, number: int, table: TableContent, sets: Mapping[str, int]) -> dict[str, Any]:
    """Write the parts of a table; returns what the page must know of it beforehand."""
    named = [column.name for column in table.columns]
    sizes: list[int] = []
    of: list[tuple[int | None, Cell]] = []
    rows = max(_FEWEST, _CELLS // max(1, len(named)))
    for part, columns in enumerate(table.parts(rows)):
        sink.add(f"table-{number}-{part}", [packed(cells) for cells in columns])
        sizes.append(len(columns[0]) if columns else 0)
        held = dict(zip(named, columns, strict=True))
        testset = _only(held.get("testset", ()))
        of.append((sets.get(str(testset)), _only(held.get("metric", ()))))
    return {
        "name": table.name,
        "title": table.title,
        "page": table.page,
        "columns": [asdict(column) for column in table.columns],
        "parts": sizes,
        "of": of,
    }


def _only(cells: Sequence[Cell]) -> Cell:
    """What all rows of a part say: a page of another test set or metric does not read it."""
    found = set(cells)
    return found.pop() if len(found) == 1 else None
