"""Results in notebooks, and as data frames."""

from __future__ import annotations

from html import escape as escaped
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import not_installed
from gnomon.core.escaping import visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "counted",
    "escape",
    "frame",
    "html_box",
    "html_fold",
    "html_table",
    "pandas_frame",
    "short_name",
]

_LONGEST = 40


def escape(text: str) -> str:
    r"""A text as HTML, with control characters shown as in a terminal.

    >>> print(escape("a\x1b[31m<b>"))
    a\x1b[31m&lt;b&gt;
    """
    return escaped(visible_lines(text))


def counted(number: int, what: str) -> str:
    """A number of things in words.

    >>> counted(1, "system"), counted(2, "system")
    ('1 system', '2 systems')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def short_name(text: str) -> str:
    """A name on one line, of readable length."""
    line = " ".join(text.split())
    return repr(line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "...")


def frame(columns: Mapping[str, Sequence[object]]) -> Any:  # polars is optional
    """Columns as a polars data frame."""
    try:
        import polars as pl
    except ImportError as error:
        raise not_installed(
            "a data frame of polars",
            "polars",
            "frames",
            " (or use to_pandas(), or to_dict(), which any data frame library takes)",
        ) from error
    return pl.DataFrame(dict(columns), infer_schema_length=None, strict=False)


def pandas_frame(columns: Mapping[str, Sequence[object]]) -> Any:  # pandas is optional
    """Columns as a pandas data frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise not_installed(
            "a data frame of pandas",
            "pandas",
            "frames",
            " (or use to_frame(), or to_dict(), which any data frame library takes)",
        ) from error
    return pd.DataFrame(dict(columns))


def html_box(title: str, parts: Iterable[str]) -> str:
    """A title and parts that are HTML already."""
    inside = "".join(parts)
    return f'<div class="gnomon"><p><strong>{escape(title)}</strong></p>{inside}</div>'


def html_fold(what: str, texts: Sequence[str]) -> str:
    """Texts below their number, to be unfolded; nothing of none."""
    if not texts:
        return ""
    inside = "".join(f"<p>{escape(text)}</p>" for text in texts)
    return f"<details><summary>{counted(len(texts), what)}</summary>{inside}</details>"


def html_table(
    heads: Sequence[tuple[str, bool]], rows: Sequence[Sequence[str]], more: str = ""
) -> str:
    """A table, everything escaped."""
    styles = [' style="text-align:right"' if number else "" for _, number in heads]
    titles = zip(heads, styles, strict=True)
    head = "".join(f"<th{style}>{escape(title)}</th>" for (title, _), style in titles)
    body = "".join(
        "<tr>"
        + "".join(f"<td{s}>{escape(cell)}</td>" for cell, s in zip(row, styles, strict=True))
        + "</tr>"
        for row in rows
    )
    said = f"<p>{escape(more)}</p>" if more else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{said}"
