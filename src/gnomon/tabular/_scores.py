"""Scores of several metrics as one grid: systems x metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.findings import Column
from gnomon.tabular._cells import Grid, GridCell, GridColumn, GridRow, best_of, cell_text, number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gnomon.scores import Scores
    from gnomon.tabular._cells import Better


def scores_grid(scores: Sequence[Scores], *, digits: int | None = None) -> Grid:
    """Systems x metrics, the best of each metric marked as such, signatures beside it.

    Args:
        scores: what each metric said; systems are matched by name.
        digits: digits after the point; by default 4 for scores within [-1, 1], else 2.
    """
    systems = list(dict.fromkeys(name for s in scores for name in s.systems))
    columns = [_score_column(s, digits) for s in scores]
    table = [[_score_of(s, name) for s in scores] for name in systems]
    best = [
        best_of(values, column.better)
        for values, column in zip(zip(*table, strict=True), columns, strict=True)
    ]
    rows = tuple(
        GridRow((GridCell(name, name), *map(_score_cell, values, columns, best)))
        for name, values in zip(systems, table, strict=True)
    )
    heads = (GridColumn("System"), *(GridColumn(c.title, numeric=True) for c in columns))
    notes = tuple(dict.fromkeys(notice for s in scores for notice in s.notices))
    return Grid("Scores", heads, rows, notes=notes, signatures=score_signatures(scores))


def score_signatures(scores: Iterable[Scores]) -> dict[str, str]:
    """Signatures by metric; those of the defining tools as ``METRIC (TOOL)``."""
    signatures: dict[str, str] = {}
    for one in scores:
        signatures[one.metric] = str(one.signature)
        for tool, native in (one.native_signatures or {}).items():
            signatures[f"{one.metric} ({tool})"] = native
    return signatures


def _score_column(scores: Scores, digits: int | None) -> Column:
    values = [abs(v) for v in map(number_of, map(float, scores.system)) if v is not None]
    wanted = digits if digits is not None else 4 if max(values, default=2.0) <= 1 else 2
    better: Better = "higher" if scores.higher_is_better else "lower"
    return Column("score", scores.metric, "number", wanted, better)


def _score_of(scores: Scores, system: str) -> float | None:
    if system not in scores.systems:
        return None
    return number_of(float(scores.system[scores.systems.index(system)]))


def _score_cell(value: float | None, column: Column, best: float | None) -> GridCell:
    return GridCell(value, cell_text(value, column), best=best is not None and value == best)
