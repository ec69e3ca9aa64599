"""Tables as TSV, for programs and spreadsheets."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Column, Table

_TSV = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"} | {
    chr(c): rf"\x{c:02x}" for c in (*range(0x20), *range(0x7F, 0xA0)) if chr(c) not in "\t\n\r"
})  # fmt: skip
_FORMULA = tuple("=+-@＝＋－＠\t\r")


def _tsv_cell(value: Cell, *, neutralise: bool) -> str:
    if isinstance(value, str):
        return _tsv_text(value, neutralise=neutralise)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or not math.isfinite(value) else str(value)


def _tsv_text(text: str, *, neutralise: bool) -> str:
    guard = "'" if neutralise and text.startswith(_FORMULA) and not _is_number(text) else ""
    return guard + text.translate(_TSV)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", text, re.ASCII) is not None


def to_tsv(table: Table, *, neutralise: bool = False) -> str:
    """A table as TSV; see :func:`tsv_lines`."""
    return "".join(tsv_lines(table.columns, table.rows, neutralise=neutralise))


def tsv_lines(
    columns: Sequence[Column], rows: Iterable[Mapping[str, Cell]], *, neutralise: bool = False
) -> Iterator[str]:
    r"""The lines of a table as TSV with a header: numbers unrounded, undefined cells empty.

    Tabs, line ends, other control characters and backslashes in texts are written ``\t``, ``\n``,
    ``\x1b``, ``\\``.

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
