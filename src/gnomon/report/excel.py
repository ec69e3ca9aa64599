"""Findings and scores as workbooks of Excel: a worksheet for each table, and one for segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.findings import Finding
from gnomon.core.reading_order import split_notes
from gnomon.core.tabular import visible
from gnomon.data.formats import TextRun, Worksheet, atomic_write, build_workbook
from gnomon.messages import joined, noted, rendered
from gnomon.report.rendering import scores_finding, segments_finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.core.findings import Cell, Exhibit, ExhibitText, Table
    from gnomon.core.scores import Scores

__all__ = ["to_xlsx", "write_xlsx"]

_HURTS, _HELPS = "B34700", "005A8F"


def to_xlsx(what: Finding | Sequence[Scores], *, segments: bool = False) -> bytes:
    """A workbook: what was found, then a worksheet for each table, then segments with their texts.

    Texts are never run, whatever they begin with; numbers have 16 digits, and are shown with as
    many as in text. Rows can be filtered; scores of segments are coloured.

    Args:
        what: a finding, or one :class:`Scores` per metric.
        segments: of scores those of segments.

    Raises:
        MissingDependencyError: openpyxl is not installed (``gnomon[excel]``).
        UsageError: a table has more rows than a worksheet.
    """
    if not isinstance(what, Finding):
        what = segments_finding(what) if segments else scores_finding(what)
    sheets = [_summary_sheet(what), *map(_worksheet, what.tables)]
    if what.exhibits:
        sheets.append(_texts(what.exhibits))
    return build_workbook(sheets)


def write_xlsx(
    path: str | PathLike[str], what: Finding | Sequence[Scores], *, segments: bool = False
) -> None:
    """Write a workbook; see :func:`to_xlsx`.

    Args:
        path: the file; an existing one is replaced.
        what: as for :func:`to_xlsx`.
        segments: likewise.

    Raises:
        MissingDependencyError: openpyxl is not installed (``gnomon[excel]``).
        OutputError: the file cannot be written.
        UsageError: a table has more rows than a worksheet.
    """
    made = to_xlsx(what, segments=segments)
    with atomic_write(path, "wb") as file:
        file.write(made)


def _summary_sheet(finding: Finding) -> Worksheet:
    """The sentences, what was looked at, and how to make the numbers again."""
    first, others = split_notes(finding.verdict)
    rows = [("found", "", rendered(one)) for one in first]
    rows += [("fact", name, text) for name, text in finding.facts.items()]
    rows += [("note", "", rendered(one)) for one in others]
    rows += [("note", "", noted(one)) for one in joined(finding.notices)]
    rows += [("note", table.name, table.note) for table in finding.tables if table.note]
    rows += [("signature", name, str(one)) for name, one in finding.signatures.items()]
    shown = [(kind, visible(name), visible(text)) for kind, name, text in rows]
    return Worksheet("found", ("What", "Of", finding.title), shown)


def _worksheet(table: Table) -> Worksheet:
    columns = table.columns
    of_segments = any(column.name == "segment" for column in columns)
    return Worksheet(
        table.name,
        [visible(column.title) for column in columns],
        [[_cell(row[column.name]) for column in columns] for row in table.rows],
        digits={n: one.digits for n, one in enumerate(columns) if one.kind in ("number", "share")},
        scales={
            n: one.better != "lower"
            for n, one in enumerate(columns)
            if of_segments and one.kind in ("number", "share")
        },
    )


def _cell(value: Cell) -> Cell:
    return visible(value) if isinstance(value, str) else value


def _texts(exhibits: Sequence[Exhibit]) -> Worksheet:
    """The segments behind the numbers: a row each, a column for each text and its figures."""
    heads = dict.fromkeys(head for shown in exhibits for head in _exhibit_cells(shown))
    given = ("Of", "List", "Segment", "Document", "Domain", "Why")
    rows = [
        (
            *(visible(shown.group), visible(shown.kind), shown.segment or None),
            *(_cell(name) for name in (shown.document, shown.domain, shown.caption)),
            *(_exhibit_cells(shown).get(head) for head in heads),
        )
        for shown in exhibits
    ]
    numbers = {len(given) + n: 4 for n, head in enumerate(heads) if ": " in head}
    return Worksheet("texts", [*given, *map(visible, heads)], rows, digits=numbers)


def _exhibit_cells(shown: Exhibit) -> Mapping[str, Cell | list[TextRun]]:
    """The texts of an exhibit, and what the metric said of each, by the heads of columns."""
    named: dict[str, Cell | list[TextRun]] = {}
    for text in shown.texts:
        head = text.name if text.role == "candidate" else f"{text.role} {text.name}".strip()
        named[head or "output"] = list(_coloured(text))
        for name, value in text.values.items():
            named[f"{head}: {name}"] = _cell(value)
    return named


def _coloured(text: ExhibitText) -> Iterator[TextRun]:
    """A text in parts, those that stand out in colour."""
    end = 0
    for mark in text.highlights:
        yield TextRun(visible(text.text[end : mark.start]))
        colour = _HURTS if (mark.weight or 0.0) < 0 else _HELPS
        yield TextRun(visible(text.text[mark.start : mark.end]), colour)
        end = mark.end
    yield TextRun(visible(text.text[end:]))
