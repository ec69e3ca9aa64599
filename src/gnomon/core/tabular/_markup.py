"""Grids as LaTeX (booktabs) and Markdown, tables as TSV."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from gnomon.core.escaping import INVISIBLE, visible
from gnomon.core.tabular._grid import UNDEFINED, grid, score_table_grid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.core.findings import Cell, Column, Finding, Table
    from gnomon.core.tabular._grid import Grid, GridCell, GridColumn
    from gnomon.messages import Message


# Grids as LaTeX (booktabs).


_ROTATE_BEYOND = 6

_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}\allowbreak{}",
    '"': r"\char34{}", "`": r"\textasciigrave{}", "\u2020": r"$\dagger$", "\u2193": r"$\downarrow$",
    "[": "{[}", "]": "{]}", "*": "{*}",  # which mean something after the end of a row
})  # fmt: skip
_LIGATURE = re.compile("(?<=[-',])(?=[-',])")


def _latex(text: str) -> str:
    return _LIGATURE.sub("{}", visible(text).translate(_LATEX))


def _head(column: GridColumn, *, turned: bool) -> str:
    text = _latex(column.title)
    return rf"\rotatebox{{90}}{{{text}}}" if turned else text


def _latex_rows(made: Grid) -> list[str]:
    lines: list[str] = []
    group = made.rows[0].group if made.rows else ""
    for row in made.rows:
        if row.group != group:
            lines.append(r"\addlinespace")
            group = row.group
        lines.append(" & ".join(map(_latex_cell, row.cells)) + r" \\")
    return lines


def _latex_cell(cell: GridCell) -> str:
    number = cell.value is None or not isinstance(cell.value, str)
    # digits only: a hyphen between digits is a range, before one a minus
    text = _latex_number(cell.text) if number else _latex(cell.text)
    text = f"({text})" if cell.faint else text
    text = rf"\textbf{{{text}}}" if cell.best else text
    text += rf"\,{{\scriptsize {_latex(f'[{cell.under}]')}}}" if cell.under else ""
    mark = r"\textsuperscript{!}" if cell.marked else r"$^\dagger$" * cell.significant
    return text + (rf"\rlap{{{mark}}}" if mark else "")


def _latex_number(text: str) -> str:
    if text == UNDEFINED:
        return "--"
    return re.sub(r"(?<=\d)-(?=[\d-])", "--", re.sub(r"^-(?=\d)", "$-$", text))


def finding_to_latex(finding: Finding, *, digits: int | None = None, every: bool = False) -> str:
    """A finding as LaTeX tables; see :meth:`gnomon.Finding.to_latex`."""
    made = []
    if finding.paper is not None:
        made.append(score_table_grid(finding, finding.paper, digits=digits))
    if every or not made:
        made += [grid(finding, view, digits=digits) for view in finding.shown()]
    label = re.sub("[^a-z]+", "-", finding.method)
    return "\n".join(
        to_latex(one, f"{label}-{n}"[: None if n > 1 else -2])
        for n, one in enumerate(made, start=1)
    )


def to_latex(made: Grid, label: str = "") -> str:
    r"""A grid as a LaTeX table; needs the packages booktabs and, beyond six columns, graphicx.

    Everything from data is escaped; other characters outside ASCII are left to the engine.

    Args:
        made: the table.
        label: what ``\ref`` calls it, behind ``tab:``.
    """
    turned = len(made.columns) - made.stub > _ROTATE_BEYOND
    heads = [_head(c, turned=turned and i >= made.stub) for i, c in enumerate(made.columns)]
    spec = "".join("r" if c.numeric else "l" for c in made.columns)
    lines = [
        r"% \usepackage{booktabs}" + (r" \usepackage{graphicx}" if turned else ""),
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(made.title)}}}",
        *([rf"\label{{tab:{label}}}"] if label else []),
        rf"\begin{{tabular}}{{{spec}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule",
        *_latex_rows(made),
        r"\bottomrule",
        r"\end{tabular}",
        *_footnote(made),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _footnote(made: Grid) -> Iterator[str]:
    """The notes, then the signatures, as one paragraph below the table."""
    signed = [
        rf"{_latex(name)}: \texttt{{{_latex(text)}}}" for name, text in made.signatures.items()
    ]
    parts = [*map(_latex, made.notes), *(["; ".join(signed) + "."] if signed else [])]
    if parts:
        yield rf"\par\smallskip{{\footnotesize\raggedright {' '.join(parts)}\par}}"


# Grids as Markdown.


_MARKDOWN = re.compile(r"[\\`*_{}\[\]|~#!$]")
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_EMOJI_CODE = re.compile(r":(?=[\w+-]+:)")


def _markdown(text: str) -> str:
    escaped = _MARKDOWN.sub(r"\\\g<0>", visible(text)).translate(_HTML)
    return _EMOJI_CODE.sub("&#58;", escaped)


def to_markdown(made: Grid) -> str:
    """A grid as a Markdown table, with its title above, and its notes and signatures below."""
    heads = [_markdown(c.title) for c in made.columns]
    rules = ["---:" if c.numeric else ":---" for c in made.columns]
    body = [[_markdown(c.shown) + ("!" if c.marked else "") for c in r.cells] for r in made.rows]
    lines = ["| " + " | ".join(cells) + " |" for cells in (heads, rules, *body)]
    below = [_markdown(note) for note in made.notes]
    below += [f"{_markdown(name)}: {_markdown(text)}" for name, text in made.signatures.items()]
    above = [f"**{_markdown(made.title)}**\n"] if made.title else []
    return "\n".join([*above, *lines, *(f"\n{line}" for line in below)]) + "\n"


def finding_to_markdown(finding: Finding, *, digits: int | None = None) -> str:
    """Render a finding, and the views that text shows, as Markdown tables."""
    tables = (to_markdown(grid(finding, view, digits=digits)) for view in finding.shown())
    return "\n".join(filter(None, (verdict_to_markdown(finding.verdict), *tables)))


def verdict_to_markdown(verdict: Sequence[Message | str]) -> str:
    """A verdict, or other sentences, as a Markdown list; nothing where there is none."""
    return "".join(f"- {_markdown(str(statement))}\n" for statement in verdict)


# Tables as TSV, for programs and spreadsheets.


_SPECIAL = re.compile(rf"\\|{INVISIBLE.pattern}")


def _tsv_cell(value: Cell) -> str:
    if isinstance(value, str):
        return _tsv_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or not math.isfinite(value) else str(value)


def _tsv_text(text: str) -> str:
    return _SPECIAL.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def to_tsv(table: Table) -> str:
    """A table as TSV; see :func:`tsv_lines`."""
    return "".join(tsv_lines(table.columns, table.rows))


def tsv_lines(columns: Sequence[Column], rows: Iterable[Mapping[str, Cell]]) -> Iterator[str]:
    r"""The lines of a table as TSV with a header: numbers unrounded, undefined cells empty.

    Tabs, line ends, backslashes, other controls and what would reorder a line are written ``\t``,
    ``\n``, ``\\``, ``\x1b``, ``\u202e``, ``\U000e0041``, as in Python: the text can be had back.

    Args:
        columns: the columns, in order.
        rows: a mapping per row; they are read one by one, as the lines are.
    """
    names = [column.name for column in columns]
    yield "\t".join(_tsv_text(name) for name in names) + "\n"
    for row in rows:
        yield "\t".join(_tsv_cell(row[name]) for name in names) + "\n"
