"""Grids as LaTeX (booktabs)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gnomon.tabular._cells import UNDEFINED
from gnomon.tabular._visible import visible

if TYPE_CHECKING:
    from gnomon.tabular._cells import Grid, GridCell, GridColumn

_ROTATE_BEYOND = 6

# an empty group after a character keeps it from joining the next one in a ligature (--, ``, ?`)
_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}\allowbreak{}",
    '"': r"\char34{}", "`": r"\textasciigrave{}", "'": "'{}", ",": ",{}", "-": "-{}",
    "[": "{[}", "]": "{]}", "!": "!{}", "?": "?{}",
})  # fmt: skip


def _latex(text: str) -> str:
    return visible(text).translate(_LATEX)


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
    return text + (r"\rlap{\textsuperscript{!}}" if cell.marked else "")


def _latex_number(text: str) -> str:
    if text == UNDEFINED:
        return "--"
    return re.sub(r"(?<=\d)-(?=[\d-])", "--", re.sub(r"^-(?=\d)", "$-$", text))


def to_latex(made: Grid) -> str:
    """A grid as a LaTeX table; needs the packages booktabs and, beyond six columns, graphicx.

    Everything from data is escaped; characters outside ASCII are left to the engine.
    """
    turned = len(made.columns) - made.stub > _ROTATE_BEYOND
    heads = [_head(c, turned=turned and i >= made.stub) for i, c in enumerate(made.columns)]
    spec = "".join("r" if c.numeric else "l" for c in made.columns)
    lines = [
        r"% \usepackage{booktabs}" + (r" \usepackage{graphicx}" if turned else ""),
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(made.title)}}}",
        rf"\begin{{tabular}}{{{spec}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule",
        *_latex_rows(made),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\smallskip{{\footnotesize {_latex(note)}}}" for note in made.notes),
        *(
            rf"\par\smallskip{{\footnotesize {_latex(name)}: \texttt{{{_latex(text)}}}}}"
            for name, text in made.signatures.items()
        ),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
