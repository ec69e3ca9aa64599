"""Findings and scores as text tables: LaTeX, Markdown, TSV, and the grid behind them.

A :class:`Grid` is a table ready for people: numbers formatted, undefined cells ``-``, cells outside
their range marked. It holds texts from data as they are; whoever prints them escapes them.
"""

from gnomon.core.escaping import visible, visible_lines
from gnomon.core.tabular._grid import (
    UNDEFINED,
    Grid,
    GridCell,
    GridColumn,
    GridRow,
    brief_grid,
    cell_text,
    grid,
    kind_of,
    number_of,
    score_signatures,
    score_table_grid,
    scores_grid,
    selected,
    table_grid,
)
from gnomon.core.tabular._markup import (
    finding_to_latex,
    finding_to_markdown,
    to_latex,
    to_markdown,
    to_tsv,
    tsv_lines,
    verdict_to_markdown,
)

__all__ = [
    "UNDEFINED",
    "Grid",
    "GridCell",
    "GridColumn",
    "GridRow",
    "brief_grid",
    "cell_text",
    "finding_to_latex",
    "finding_to_markdown",
    "grid",
    "kind_of",
    "number_of",
    "score_signatures",
    "score_table_grid",
    "scores_grid",
    "selected",
    "table_grid",
    "to_latex",
    "to_markdown",
    "to_tsv",
    "tsv_lines",
    "verdict_to_markdown",
    "visible",
    "visible_lines",
]
