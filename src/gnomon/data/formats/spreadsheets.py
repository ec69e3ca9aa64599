"""Workbooks of Excel (.xlsx): written so that no text is run, and read back as lines of cells."""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from xml.etree.ElementTree import ParseError

from gnomon.core.errors import FormatError, UsageError, not_installed
from gnomon.data.formats._files import LOGGER, largest_input, read_bytes, unpack_member
from gnomon.data.formats._lines import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

__all__ = ["TextRun", "Worksheet", "build_workbook", "check_excel", "read_worksheet"]

#: how names of workbooks end
XLSX = ".xlsx"
_MOST_ROWS = 1_048_575  # below the header
_LONGEST_TEXT = 32_767
_LONGEST_NAME = 31
_WIDEST, _LOOKED_AT = 60, 200  # characters of a column; rows that say how wide it is
_MOST_COLUMNS = 256  # that are read
_NO_NAME = re.compile(r"[\[\]:*?/\\']")
#: what XML cannot hold
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_GUARDED = tuple("=+-@")
_SAVED_AT = re.compile(rb"(<dcterms:\w+ [^>]*>)[^<]*")
_NO_TIME = rb"\g<1>1980-01-01T00:00:00Z"
_HEAD, _LOW, _MIDDLE, _HIGH = "E8EEF4", "F2B78F", "FFFFFF", "8FBFE0"


class TextRun(NamedTuple):
    """A part of a text, and its colour as six hexadecimal digits; of the usual one without."""

    text: str
    colour: str = ""


Content: TypeAlias = "str | int | float | bool | Sequence[TextRun] | None"


@dataclass(frozen=True)
class Worksheet:
    """A table of a workbook; its header stays in sight and filters the rows.

    Attributes:
        name: of its tab; shortened and made unique as needed.
        heads: the header.
        rows: the cells below it; a text is never run, whatever it begins with.
        digits: digits after the point, by column; of others a number has as many as it needs.
        scales: columns whose numbers have a background between two colours; false: low is good.
        choices: what may be written into a column: one of some texts, or a number between two.
    """

    name: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Content]]
    digits: Mapping[int, int] = field(default_factory=dict)
    scales: Mapping[int, bool] = field(default_factory=dict)
    choices: Mapping[int, Sequence[str] | tuple[float, float]] = field(default_factory=dict)


def check_excel() -> Any:
    """The package that reads and writes workbooks, which is optional.

    Raises:
        MissingDependencyError: it is not installed.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise not_installed("a spreadsheet (.xlsx)", "openpyxl", "excel") from error
    return openpyxl


def build_workbook(sheets: Sequence[Worksheet]) -> bytes:
    """Worksheets as a workbook; the same ones give the same bytes.

    Raises:
        MissingDependencyError: openpyxl is not installed.
        UsageError: a table has more rows than a worksheet.
    """
    book = check_excel().Workbook(write_only=True)
    taken: set[str] = set()
    for sheet in sheets:
        if len(sheet.rows) > _MOST_ROWS:
            raise UsageError(
                f"{sheet.name} has {len(sheet.rows):,} rows, and a spreadsheet holds"
                f" {_MOST_ROWS:,}; write TSV or JSON"
            )
        made = book.create_sheet(_free_name(sheet.name, taken))
        _fill(made, sheet)
    written = io.BytesIO()
    book.save(written)
    return _strip_times(written.getvalue())


def _free_name(name: str, taken: set[str]) -> str:
    plain = _NO_NAME.sub(" ", name).strip()[:_LONGEST_NAME] or "Table"
    number, free = 1, plain
    while free.lower() in taken:
        number += 1
        free = f"{plain[: _LONGEST_NAME - 4]} {number}"
    taken.add(free.lower())
    return free


def _fill(made: Any, sheet: Worksheet) -> None:
    from openpyxl.styles import Font, PatternFill
    from openpyxl.utils import get_column_letter

    letters = [get_column_letter(n) for n in range(1, len(sheet.heads) + 1)]
    for letter, width in zip(letters, _widths(sheet), strict=True):
        made.column_dimensions[letter].width = width
    made.freeze_panes = "A2"
    heads = [_cell(made, head) for head in sheet.heads]
    for head in heads:
        head.font, head.fill = Font(bold=True), PatternFill("solid", fgColor=_HEAD)
    made.append(heads)
    for row in sheet.rows:
        made.append([_cell(made, one, sheet.digits.get(n)) for n, one in enumerate(row)])
    last = len(sheet.rows) + 1
    if not sheet.rows:
        return
    made.auto_filter.ref = f"A1:{letters[-1]}{last}"
    for n, upwards in sheet.scales.items():
        where = f"{letters[n]}2:{letters[n]}{last}"
        made.conditional_formatting.add(where, _scale(upwards=upwards))
    for n, allowed in sheet.choices.items():
        made.data_validations.append(_choice(allowed, f"{letters[n]}2:{letters[n]}{last}"))


def _cell(made: Any, content: Content, digits: int | None = None) -> Any:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment

    if content is None or isinstance(content, int | float):
        undefined = isinstance(content, float) and not math.isfinite(content)
        cell = WriteOnlyCell(made, None if undefined else content)
        if isinstance(content, float) and digits is not None:
            cell.number_format = f"0.{'0' * digits}".rstrip(".")
        return cell
    cell = WriteOnlyCell(made, _plain(content) if isinstance(content, str) else _rich(content))
    cell.data_type = "s"  # also of what begins like a formula or is called like an error
    cell.quotePrefix = isinstance(content, str) and content.startswith(_GUARDED)
    cell.alignment = Alignment(wrap_text=True, vertical="top")
    return cell


def _scale(*, upwards: bool) -> Any:
    from openpyxl.formatting.rule import ColorScaleRule

    low, high = (_LOW, _HIGH) if upwards else (_HIGH, _LOW)
    return ColorScaleRule("min", None, low, "percentile", 50, _MIDDLE, "max", None, high)


def _widths(sheet: Worksheet) -> Iterator[float]:
    for n, head in enumerate(sheet.heads):
        looked_at = [row[n] for row in sheet.rows[:_LOOKED_AT]]
        texts = [_whole(content) for content in looked_at if content is not None]
        yield min(_WIDEST, max(map(len, (head, *texts))) + 3)


def _whole(content: Content) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, float):
        return f"{content:.4f}"
    return str(content) if isinstance(content, int) else "".join(one.text for one in content or ())


def _plain(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)[:_LONGEST_TEXT]


def _rich(pieces: Sequence[TextRun]) -> Any:
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    made = CellRichText()
    left = _LONGEST_TEXT
    for piece in pieces:
        text = _plain(piece.text)[:left]
        left -= len(text)
        font = InlineFont(color=piece.colour, b=True) if piece.colour else None
        if text:
            made.append(TextBlock(font, text) if font else text)
    return made


def _choice(allowed: Sequence[str] | tuple[float, float], where: str) -> Any:
    from openpyxl.worksheet.datavalidation import DataValidation

    if isinstance(allowed[0], str):
        rule = DataValidation(type="list", formula1=f'"{",".join(map(str, allowed))}"')
    else:
        low, high = allowed
        rule = DataValidation(type="decimal", operator="between", formula1=low, formula2=high)
    rule.allow_blank = rule.showErrorMessage = True
    rule.add(where)
    return rule


def _strip_times(data: bytes) -> bytes:
    """A workbook that does not tell when it was written."""
    made = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as given,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as kept,
    ):
        for name in given.namelist():
            content = given.read(name)
            if name == "docProps/core.xml":
                content = _SAVED_AT.sub(_NO_TIME, content)
            kept.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def read_worksheet(path: str | PathLike[str]) -> list[str]:
    """The first table of a workbook as lines of cells with tabs between them.

    Tabs and line ends in a cell are written as in Python.

    Raises:
        FormatError, MissingDependencyError, MissingFileError: as :func:`read_cells`.
    """
    return ["\t".join(map(_join_cell_lines, row)).rstrip("\t") for row in read_cells(path)]


def read_cells(path: str | PathLike[str]) -> list[list[str]]:
    """The cells of the first table of a workbook, row by row, as texts; of empty rows none.

    Raises:
        FormatError: it is no workbook, or larger, unpacked, than inputs may be.
        MissingDependencyError: openpyxl is not installed.
        MissingFileError: the file is missing, or may not be read.
    """
    openpyxl, name = check_excel(), shown(path)
    data = io.BytesIO(read_bytes(path))
    try:
        with zipfile.ZipFile(data) as packed:
            size = sum(one.file_size for one in packed.infolist())
    except zipfile.BadZipFile as error:
        raise FormatError(_UNREADABLE, path=name) from error
    if size > largest_input():
        raise FormatError(f"has {size:,} bytes, unpacked, which is too much", path=name)
    try:
        with zipfile.ZipFile(data) as packed:
            _say_formulas(packed, name)
        book = openpyxl.load_workbook(data, read_only=True, data_only=True)
        sheet = book.worksheets[0]
        if len(book.worksheets) > 1:
            said = "%s: the first of %d tables is read, %r"
            LOGGER.info(said, name, len(book.worksheets), sheet.title)
        sheet.reset_dimensions()  # which may name more cells than there are
        # a file may name a row that no worksheet has, and so without end
        named = sheet.iter_rows(values_only=True, max_row=_MOST_ROWS + 1)
        rows = (row[:_MOST_COLUMNS] for row in named)
        return [list(map(_cell_text, _filled(row))) for row in rows]
    except (zipfile.BadZipFile, zlib.error, ParseError, *_MISREAD) as error:
        raise FormatError(_UNREADABLE, path=name) from error


_LACKING = re.compile(rb"</f>\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")


def _say_formulas(packed: zipfile.ZipFile, name: str) -> None:
    """Say that formulas have no values, which whoever wrote a workbook has to compute.

    All that is packed is read for it: a size that is stated wrongly is refused before openpyxl,
    which unpacks a file as a whole.
    """
    lacking = 0
    for one in packed.infolist():
        content = unpack_member(packed, one)
        if one.filename.startswith("xl/worksheets/"):
            lacking += len(_LACKING.findall(content))
    if lacking:
        LOGGER.warning(
            "%s: %d formulas have no value and are read as empty cells; open the workbook in a"
            " spreadsheet program, and save it",
            name,
            lacking,
        )


_UNREADABLE = "is no workbook that can be read; save it as .xlsx, or as TSV"
#: what openpyxl raises of files that are none of its own
_MISREAD = (KeyError, ValueError, IndexError, TypeError, AttributeError, EOFError)


def _filled(row: Sequence[object]) -> list[object]:
    """A row up to its last cell that is not empty."""
    cells = list(row)
    while cells and cells[-1] is None:
        cells.pop()
    return cells


def _cell_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def _join_cell_lines(text: str) -> str:
    for character, written in (("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(character, written)
    return text
