"""Data as JSON that cannot break out of a page or of a script, quickly for many megabytes."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.findings import Cell

__all__ = ["in_html", "in_script", "packed", "rounded"]

_UNSAFE = (
    ("<", "\\u003c"),
    (">", "\\u003e"),
    ("&", "\\u0026"),
    ("\u2028", "\\u2028"),
    ("\u2029", "\\u2029"),
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def in_html(content: object) -> str:
    """JSON for the inside of a ``<script>`` element: no ``<``, ``>``, ``&``, U+2028, U+2029."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, escaped in _UNSAFE:
        text = text.replace(character, escaped)
    # a lone surrogate has no UTF-8; JSON can escape it
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def in_script(key: str, safe: str) -> str:
    """A script that hands over JSON as a string, never as an object: keys stay plain data.

    Args:
        key: letters, digits and hyphens.
        safe: what :func:`in_html` gave.
    """
    quoted = safe.replace("\\", "\\\\").replace("'", "\\'")
    return f"gnomonData('{key}','{quoted}')\n"


def packed(cells: Sequence[Cell]) -> dict[str, object]:
    """A column: what recurs in it is stored once, by number; numbers that do not, as they are."""
    levels: dict[tuple[type, Cell], int] = {}  # by type too: True is no 1
    plain = [_finite(cell) for cell in cells]
    codes = [levels.setdefault((type(cell), cell), len(levels)) for cell in plain]
    if any(isinstance(cell, str) for cell in plain) or 2 * len(levels) <= len(plain):
        return {"levels": [cell for _, cell in levels], "codes": codes}
    return {"cells": plain}


def rounded(values: Sequence[float | None]) -> list[float | None]:
    """Scores for looking at: six digits after the point."""
    # a difference to itself is 0 for finite numbers alone
    return [None if v is None or v - v != 0 else round(v, 6) for v in values]


def _finite(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
