"""Findings as the data of a page: plain lists and dictionaries that JSON holds.

Columns are stored one by one, and texts that recur (names, segments) once, so that a page of many
systems stays small.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

from gnomon.findings import HeatMap, Listing

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from gnomon.findings import Cell, Column, Exhibit, ExhibitText, Finding, Highlight, Table, View

Json: TypeAlias = dict[str, Any]

_OF_ONE_VIEW = frozenset({"title", "where", "shown", "prominent"})


class _Pool:
    """What recurs in exhibits, each once, by number: texts, who speaks, marks, names of values."""

    def __init__(self) -> None:
        self.parts: dict[str, dict[Hashable, int]] = {
            "strings": {}, "sides": {}, "marks": {}, "names": {}
        }  # fmt: skip

    def number(self, part: str, value: Hashable) -> int:
        known = self.parts[part]
        return known.setdefault(value, len(known))

    def lists(self) -> Json:
        return {part: list(known) for part, known in self.parts.items()}


def payload(findings: Sequence[Finding]) -> Json:
    """What the script of the page reads."""
    pool = _Pool()
    contents = [_finding(finding, pool) for finding in findings]
    return {"findings": contents, **pool.lists()}


def _finding(finding: Finding, pool: _Pool) -> Json:
    return {
        "title": finding.title,
        "tables": [_table(table) for table in finding.tables],
        "panels": panels(finding),
        "exhibits": [_exhibit(exhibit, pool) for exhibit in finding.exhibits],
    }


def panels(finding: Finding) -> list[Json]:
    """Views in panels: those that differ only in title, ``where`` and prominence share one.

    The page offers the values of ``where`` as choices, so that the first view of a panel suffices
    to show them all. Listings get none: the page holds every table.
    """
    found: dict[str, Json] = {}
    tables = [table.name for table in finding.tables]
    for view in finding.views:
        if isinstance(view, Listing):
            continue
        content = _view(view, tables.index(finding.table(view.table).name))
        family = repr({k: v for k, v in content.items() if k not in _OF_ONE_VIEW})
        keys = repr(sorted(view.where))
        panel = found.setdefault(
            f"{type(view).__name__} {family} {keys}",
            {"type": type(view).__name__, "title": view.title, "views": []},
        )
        panel["views"].append(content)
    return list(found.values())


def _view(view: View, table: int) -> Json:
    content = asdict(view)
    content["table"] = table
    content["where"] = [[name, value] for name, value in view.where.items()]
    for name in ("low", "high") if isinstance(view, HeatMap) else ():
        content[name] = _number(content[name])
    return content


def _table(table: Table) -> Json:
    rows = table.rows
    if table.excerpt is not None:
        rows = tuple(rows[position] for position in table.excerpt.rows)
    columns = [_column(column, [row[column.name] for row in rows]) for column in table.columns]
    return {"title": table.title, "size": len(rows), "columns": columns}


def _column(column: Column, cells: Sequence[Cell]) -> Json:
    content = asdict(column)
    numbers = [_number(cell) for cell in cells]
    levels: dict[tuple[type, Cell], int] = {}  # by type too: True is no 1
    codes = [levels.setdefault((type(cell), cell), len(levels)) for cell in numbers]
    if all(isinstance(cell, str) for cell in cells) or 2 * len(levels) <= len(cells):
        return {**content, "levels": [cell for _, cell in levels], "codes": codes}
    return {**content, "cells": numbers}


def _number(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _exhibit(exhibit: Exhibit, pool: _Pool) -> Json:
    return {
        "group": exhibit.group,
        "kind": exhibit.kind,
        "segment": exhibit.segment,
        "document": exhibit.document,
        "domain": exhibit.domain,
        "caption": exhibit.caption,
        "systems": list(exhibit.systems),
        "texts": [_text(text, pool) for text in exhibit.texts],
    }


def _text(text: ExhibitText, pool: _Pool) -> list[Cell]:
    """Numbers of side, text, marks and names of values, then the values."""
    marks = tuple(_mark(one, pool) for one in text.highlights)
    return [
        pool.number("sides", (text.role, text.name)),
        pool.number("strings", text.text),
        pool.number("marks", marks),
        pool.number("names", tuple(text.values)),
        *map(_rounded, text.values.values()),
    ]


def _mark(mark: Highlight, pool: _Pool) -> tuple[int, ...]:
    """Ends and number of the label; the colour where there is one, and whether it is flagged."""
    own = (mark.start, mark.end, pool.number("strings", mark.label))
    return own if mark.step is None else (*own, mark.step, *([1] if mark.flagged else []))


def _rounded(value: float | None) -> float | None:
    # shown with a few digits and never downloaded: six are enough
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")
