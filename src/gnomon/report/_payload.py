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
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell, Column, Exhibit, ExhibitText, Finding, Table, View

Json: TypeAlias = dict[str, Any]

_OF_ONE_VIEW = frozenset({"title", "where", "shown", "prominent"})


class _Strings:
    """Distinct strings by number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


def payload(findings: Sequence[Finding]) -> Json:
    """What the script of the page reads."""
    strings = _Strings()
    contents = [_finding(finding, strings) for finding in findings]
    return {"findings": contents, "strings": list(strings.numbers)}


def _finding(finding: Finding, strings: _Strings) -> Json:
    return {
        "title": finding.title,
        "tables": [_table(table) for table in finding.tables],
        "panels": panels(finding),
        "exhibits": [_exhibit(exhibit, strings) for exhibit in finding.exhibits],
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
    columns = [_column(column, table.values(column.name)) for column in table.columns]
    return {"title": table.title, "size": len(table.rows), "columns": columns}


def _column(column: Column, cells: Sequence[Cell]) -> Json:
    content = asdict(column)
    if all(isinstance(cell, str) for cell in cells):
        levels = {cell: n for n, cell in enumerate(dict.fromkeys(cells))}
        return {**content, "levels": list(levels), "codes": [levels[cell] for cell in cells]}
    return {**content, "cells": [_number(cell) for cell in cells]}


def _number(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _exhibit(exhibit: Exhibit, strings: _Strings) -> Json:
    return {
        "group": exhibit.group,
        "kind": exhibit.kind,
        "segment": exhibit.segment,
        "document": exhibit.document,
        "domain": exhibit.domain,
        "caption": exhibit.caption,
        "systems": list(exhibit.systems),
        "texts": [_text(text, strings) for text in exhibit.texts],
    }


def _text(text: ExhibitText, strings: _Strings) -> Json:
    marks = [[m.start, m.end, strings.number(m.label)] for m in text.highlights]
    return {
        "role": text.role,
        "name": text.name,
        "text": strings.number(text.text),
        "marks": marks,
        "values": _values(text.values),
    }


def _values(values: Mapping[str, float | None]) -> list[list[Cell]]:
    # shown with a few digits and never downloaded: six are enough
    return [
        [name, None if value is None or not math.isfinite(value) else float(f"{value:.6g}")]
        for name, value in values.items()
    ]
