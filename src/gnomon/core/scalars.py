"""Numbers of a result under names for experiment trackers."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gnomon.core.findings import Cell, Table

__all__ = ["name_scalars", "table_scalars"]

#: what MLflow refuses in names
_UNUSUAL = re.compile(r"[^\w. -]")
_ORDER = ("text", "count", "number", "share", "truth")


def name_scalars(values: Iterable[tuple[Sequence[Cell], Cell]]) -> dict[str, float]:
    """Numbers by the parts of their names; what is undefined is left out."""
    scalars: dict[str, float] = {}
    for parts, value in values:
        if not isinstance(value, int | float) or not math.isfinite(value):
            continue
        name = "/".join(_UNUSUAL.sub("_", str(part)) for part in parts if part not in (None, ""))
        while name in scalars:
            name += "_"
        scalars[name] = float(value)
    return scalars


def table_scalars(table: Table, *, bare: bool = True) -> dict[str, float]:
    """The numbers of a table by what they are of: the metric, the system, the feature, ...

    Args:
        table: the table; counts are left out where it has other numbers.
        bare: the first number of a row has no name of its own ("bleu/sysA", and then
            "bleu/sysA/difference").
    """
    of = _identifying(table)
    named = [column.name for column in table.columns if column.kind in ("number", "share")]
    named = named or [column.name for column in table.columns if column.kind == "count"]
    return name_scalars(
        ([*(row[name] for name in of), "" if bare and name == named[0] else name], row[name])
        for row in table.rows
        for name in named
        # the baseline differs from itself by nothing
        if name == named[0] or row.get("baseline") is None or row["baseline"] != row["system"]
    )


def _identifying(table: Table) -> list[str]:
    """The columns that say what a row is of.

    Texts before the first number, the metric before the others, and the slice; where these do not
    tell all rows apart, further columns that do.
    """
    names = [column.name for column in table.columns]
    numbers = [n for n, column in enumerate(table.columns) if column.numeric]
    before = names[: min(numbers, default=len(names))]
    of = [name for name in (*before, *("slice" in names) * ["slice"]) if name != "baseline"]
    of = sorted(dict.fromkeys(of), key=lambda name: name != "metric")
    for column in sorted(table.columns, key=lambda column: _ORDER.index(column.kind)):
        apart = len({tuple(row[name] for name in of) for row in table.rows})
        if apart == len(table.rows):
            break
        if len({tuple(row[name] for name in (*of, column.name)) for row in table.rows}) > apart:
            of.append(column.name)
    return of
