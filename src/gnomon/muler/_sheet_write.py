"""Sheet and key as tab-separated files."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

from gnomon.formats import atomic_write, to_cell
from gnomon.muler._sheet import KeyRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from gnomon.findings import Exhibit, ExhibitText
    from gnomon.muler._sheet import Key, Sheet

__all__ = ["KEY_COLUMNS", "write_key", "write_sheet"]

KEY_COLUMNS = (*KeyRow.columns(), "study", "metric", "signature")
_OPEN, _CLOSE = "\u27e6", "\u27e7"  # ⟦ ⟧: brackets that no text uses by chance


def write_sheet(path: str | PathLike[str], sheet: Sheet) -> None:
    """Write a sheet to be filled in: ``item, feature, source, references, A, B, answer, comment``.

    Annotators write A, B or tie into ``answer``. Highlighted words stand in brackets ⟦ ⟧. Texts
    that a spreadsheet would run are neutralised by an apostrophe.

    Args:
        path: the file; an existing one is replaced.
        sheet: the sheet.

    Raises:
        OutputError: the file cannot be written.
    """
    given = _given(sheet.items.values())
    header = ["item", "feature", *given, "A", "B", "answer", "comment"]
    rows = [_row(item, exhibit, given) for item, exhibit in sheet.items.items()]
    _write(path, [header, *rows])


def write_key(path: str | PathLike[str], key: Key) -> None:
    """Write the key: which system is A and which is B in each item, and what MuLER says.

    Args:
        path: the file; an existing one is replaced.
        key: the key.

    Raises:
        OutputError: the file cannot be written.
    """
    common = (key.study, key.metric, key.signature)
    _write(path, [KEY_COLUMNS, *((*astuple(row), *common) for row in key.rows.values())])


def _given(exhibits: Iterable[Exhibit]) -> list[str]:
    """Columns of the source and of every reference that some item has."""
    texts = [text for exhibit in exhibits for text in exhibit.texts if text.role != "candidate"]
    return list(dict.fromkeys(map(_column, texts)))


def _column(text: ExhibitText) -> str:
    return f"{text.role} {text.name}".strip()


def _row(item: str, exhibit: Exhibit, given: Sequence[str]) -> list[str]:
    texts = {_column(text): _marked(text) for text in exhibit.texts}
    sides = [texts["candidate A"], texts["candidate B"]]
    return [item, exhibit.group, *(texts.get(name, "") for name in given), *sides, "", ""]


def _marked(text: ExhibitText) -> str:
    parts, at = [], 0
    for mark in text.highlights:
        parts += [text.text[at : mark.start], _OPEN, text.text[mark.start : mark.end], _CLOSE]
        at = mark.end
    return "".join([*parts, text.text[at:]])


def _write(path: str | PathLike[str], rows: Iterable[Sequence[str | float]]) -> None:
    with atomic_write(path) as file:
        file.writelines("\t".join(map(_cell, row)) + "\n" for row in rows)


def _cell(value: str | float) -> str:
    return to_cell(value) if isinstance(value, str) else repr(value)
