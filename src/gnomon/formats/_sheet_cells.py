r"""Texts as cells of a tab-separated file that people open in a spreadsheet; reversible.

A cell that a spreadsheet would run as a formula, or take for the start of a quoted cell, gets an
apostrophe before it; so does one that begins with an apostrophe, so that the first apostrophe of a
cell is never part of its text. Backslashes, tabs, line ends, other controls and overrides of a
line's direction are written ``\\``, ``\t``, ``\n``, ``\x1b``, ``\u202e``.
"""

from __future__ import annotations

import re

__all__ = ["from_cell", "to_cell"]

_GUARDED = tuple("=+-@＝＋－＠\"'")
_SHORT = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_LONG = {written: character for character, written in _SHORT.items()}
#: what a line of UTF-8 cannot hold, or a spreadsheet would not show or would obey: controls, lone
#: surrogates, what reorders a line
_SPECIAL = re.compile("[\\\\\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(?:[\\tnr]|x[0-9a-f]{2}|u[0-9a-f]{4})")


def to_cell(text: str) -> str:
    r"""A text as a cell that does nothing.

    >>> print(to_cell("=1+1"), to_cell("a\tb"), to_cell("'tis"))
    '=1+1 a\tb ''tis
    """
    escaped = _SPECIAL.sub(_escaped, text)
    return "'" + escaped if escaped.startswith(_GUARDED) else escaped


def from_cell(cell: str) -> str:
    """The text of a cell, also of one that a spreadsheet has put into quotation marks.

    >>> from_cell("'=1+1"), from_cell('"He said ""no"" to it"')
    ('=1+1', 'He said "no" to it')
    """
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        cell = cell[1:-1].replace('""', '"')
    return _ESCAPE.sub(_meant, cell.removeprefix("'"))


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return _SHORT.get(match[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _meant(match: re.Match[str]) -> str:
    return _LONG.get(match[0]) or chr(int("0x" + match[0][2:], base=0))
