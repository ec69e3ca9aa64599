"""Tables as TSV, for programs and spreadsheets."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from gnomon.tabular._visible import INVISIBLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Column, Table

_SPECIAL = re.compile(rf"\\|{INVISIBLE.pattern}")
_FORMULA = tuple("=+-@＝＋－＠\t\r")


def _tsv_cell(value: Cell, *, neutralise: bool) -> str:
    if isinstance(value, str):
        return _tsv_text(value, neutralise=neutralise)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or not math.isfinite(value) else str(value)


def _tsv_text(text: str, *, neutralise: bool) -> str:
    guard = "'" if neutralise and text.startswith(_FORMULA) and not _is_number(text) else ""
    return guard + _SPECIAL.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", text, re.ASCII) is not None


def to_tsv(table: Table, *, neutralise: bool = False) -> str:
    """A table as TSV; see :func:`tsv_lines`."""
    return "".join(tsv_lines(table.columns, table.rows, neutralise=neutralise))


def tsv_lines(
    columns: Sequence[Column], rows: Iterable[Mapping[str, Cell]], *, neutralise: bool = False
) -> Iterator[str]:
    r"""The lines of a table as TSV with a header: numbers unrounded, undefined cells empty.

    Tabs, line ends, backslashes, other controls and what would reorder a line are written ``\t``,
    ``\n``, ``\\``, ``\x1b``, ``\u202e``, ``\U000e0041``, as in Python: the text can be had back.

    Args:
        columns: the columns, in order.
        rows: a mapping per row; they are read one by one, as the lines are.
        neutralise: put an apostrophe before texts that a spreadsheet would run as a formula
            (those that begin with ``= + - @``); numbers stay numbers.
    """
    names = [column.name for column in columns]
    yield "\t".join(_tsv_text(name, neutralise=neutralise) for name in names) + "\n"
    for row in rows:
        yield "\t".join(_tsv_cell(row[name], neutralise=neutralise) for name in names) + "\n"
