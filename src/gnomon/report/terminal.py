"""Results on a terminal: sentences first, then tables.

Everything from data is printed as literal text: markup, escape sequences, bidi controls and emoji
codes are shown, not obeyed. No name is cut below 10,000 characters: what is too wide is folded, and
columns that do not fit are left out, which is said.
"""

from __future__ import annotations

import io
import os
import re
from dataclasses import replace
from itertools import accumulate
from textwrap import wrap
from typing import IO, TYPE_CHECKING

from gnomon.core.lazy import checked
from gnomon.core.reading_order import split_notes
from gnomon.core.tabular import brief_grid, grid, scores_grid, visible
from gnomon.core.verdicts import summarise_scores
from gnomon.messages import joined, noted, rendered
from gnomon.messages.grammar import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    from gnomon.core.findings import Exhibit, ExhibitText, Finding, Highlight
    from gnomon.core.scores import Scores
    from gnomon.core.tabular import Grid, GridRow
    from gnomon.messages import Level, Message

__all__ = ["print_finding", "print_grid", "print_scores", "print_verdict"]


# Text without colours: what rich writes where it sees no terminal, without the import of rich,
# which takes longer than scoring a system.


#: variables that make rich write colours to anything
_COLOURED = frozenset({"FORCE_COLOR", "TTY_COMPATIBLE"})
_RULE = "\u2500"


class _PlainConsole:
    """Lines in a text, as rich's console writes them there."""

    encoding = "utf-8"
    is_terminal = False
    color_system = None

    def __init__(self, file: IO[str], width: int) -> None:
        self.width = width
        self._file = file

    def print(self, line: Text | str = "", *, soft_wrap: bool = True) -> None:  # noqa: ARG002
        """Write a line, however long."""
        self._file.write(f"{line}\n")

    def print_block(self, made: Grid, columns: Sequence[int], sizes: Sequence[int]) -> None:
        """Write some columns of a grid below their titles and a line."""
        space = [sizes[i] for i in columns]
        if sum(size + 2 for size in space) > self.width:
            space[0] += 1
        heads = [folded(made.columns[i].title, sizes[i]) for i in columns]
        numeric = [made.columns[i].numeric for i in columns]
        self._print_row(heads, space, numeric, [True] * len(space))
        total = sum(size + 2 for size in space) - 1
        self.print(_RULE * total)
        group = made.rows[0].group if made.rows else ""
        marked = {i for row in made.rows for i in columns if row.cells[i].marked}
        for row in made.rows:
            if row.group != group:
                self.print(" " * total)
                group = row.group
            cells = [_shown(row, i, sizes[i], among=i in marked) for i in columns]
            self._print_row(cells, space, numeric, numeric)

    def _print_row(
        self,
        cells: Sequence[str],
        space: Sequence[int],
        right: Sequence[bool],
        bottom: Sequence[bool],
    ) -> None:
        """Write a row of cells, which may have several lines: at the top or the bottom."""
        lines = [_encodable_text(self, cell).split("\n") for cell in cells]
        most = max(map(len, lines))
        for number, written in enumerate(lines):
            empty = [""] * (most - len(written))
            lines[number] = empty + written if bottom[number] else written + empty
        for parts in zip(*lines, strict=True):
            columns = zip(parts, space, right, strict=True)
            self.print(" ".join(f"{_padded(*column)} " for column in columns))


def _padded(text: str, size: int, right: bool) -> str:  # noqa: FBT001
    text = text.rstrip() if right else text
    blanks = " " * (size - _cells(text))
    return blanks + text if right else text + blanks


# Which columns of a wide grid fit, and how long names are broken into lines.


_GAP = 2
_HEAD = 14
#: cells of a text in a line, at most, and at least where room is short
_NAME, _NARROW = 36, 20
_BREAKS = re.compile(r"(?<=[-._/: ])")


def folded(text: str, width: int) -> str:
    r"""The text made visible, in lines of at most ``width`` cells, broken after ``- . _ / :``.

    The lines joined are what :func:`visible` gives.

    >>> folded("Facebook_FAIR.6750", 10)
    'Facebook_\nFAIR.6750'
    """
    if len(text) <= width and text.isascii() and text.isprintable():
        return text
    lines = [""]
    for line in _BREAKS.split(visible(text)):
        for piece in _chopped(line, width):
            if _cells(lines[-1] + piece) > width and lines[-1]:
                lines.append("")
            lines[-1] += piece
    return "\n".join(lines)


def widths(made: Grid, width: int) -> list[int]:
    """Cells of each column of a grid; texts take more lines where more columns fit that way."""
    each = (
        [_column_width(made, i, most if i else _NAME) for i in range(len(made.columns))]
        for most in range(_NAME, _NARROW - 1, -_GAP)
    )
    return max(each, key=lambda sizes: len(fitting(made, sizes, width)))  # the first of equal ones


def fitting(made: Grid, sizes: Sequence[int], width: int) -> list[int]:
    """The first columns of a grid, as many as fit the width; those that name rows at least."""
    ends = accumulate(size + _GAP for size in sizes)
    return [n for n, end in enumerate(ends) if n < max(made.stub, 1) or end <= width]


def _column_width(made: Grid, column: int, most: int) -> int:
    limit = _HEAD if column >= made.stub and made.columns[column].numeric else most
    head = _widest(folded(made.columns[column].title, limit))
    marked = any(row.cells[column].marked for row in made.rows)
    cells = (_widest(folded(row.cells[column].shown, most)) for row in made.rows)
    return max(head, max(cells, default=0) + marked, 1)


def _widest(text: str) -> int:
    return max(map(_cells, text.split("\n")))


def _cells(text: str) -> int:
    """Columns of a terminal that a line takes."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _chopped(text: str, width: int) -> list[str]:
    from rich.cells import chop_cells

    return chop_cells(text, width) if text else []


# Texts with weighted words for a terminal: in colours, or between signs.


#: what hurts most to what helps most, as on pages; the neutral one has no colour
_STYLES = (
    "#ffffff on #833203",
    "#ffffff on #ad4505",
    "#111111 on #fba04c",
    "#111111 on #fdd6a7",
    "",
    "#111111 on #bcd7ee",
    "#111111 on #68a8d5",
    "#ffffff on #1a5c97",
    "#ffffff on #0b3f72",
)
_HURTS, _HELPS = 2, 6


def shaded(finding: Finding, *, colours: bool) -> Iterator[Text]:
    """Lines of the exhibits whose highlights have weights, in colours or else between signs."""
    for exhibit in finding.exhibits:
        marks = (mark for text in exhibit.texts for mark in text.highlights)
        if any(mark.weight is not None for mark in marks):
            yield from _lines(exhibit, colours=colours)


def _lines(exhibit: Exhibit, *, colours: bool) -> Iterator[Text]:
    from rich.text import Text

    yield Text(visible(f"Segment {exhibit.segment}: {exhibit.group}"), style="bold")
    for text in exhibit.texts:
        values = ", ".join(f"{name} {_number(value)}" for name, value in text.values.items())
        role = " ".join(filter(None, (text.role, text.name)))
        head = Text(visible(f"  {role}{f' ({values})' if values else ''}: "), style="dim")
        yield head + _shaded(text, colours=colours)
    if exhibit.caption:
        signs = "" if colours else " Here: {+blue+}, [-orange-], underlined*."
        yield Text(visible(f"  {exhibit.caption}{signs}"), style="dim")
    yield Text()


def _shaded(text: ExhibitText, *, colours: bool) -> Text:
    from rich.text import Text

    made, at = Text(), 0
    for mark in text.highlights:
        made.append(visible(text.text[at : mark.start]), style="not dim")
        word, style = _word(visible(text.text[mark.start : mark.end]), mark, colours=colours)
        made.append(word, style=f"not dim {style}".strip())
        at = mark.end
    made.append(visible(text.text[at:]), style="not dim")
    return made


def _word(word: str, mark: Highlight, *, colours: bool) -> tuple[str, str]:
    step = mark.step
    if step is None:
        return word, "underline"
    word += "*" if mark.flagged else ""
    if colours:
        return word, f"{_STYLES[step]}{' underline' if mark.flagged else ''}"
    signed = f"[-{word}-]" if step <= _HURTS else f"{{+{word}+}}" if step >= _HELPS else word
    return signed, ""


def _number(value: float | str | None) -> str:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_WORDS else f"{value[:_LONGEST_WORDS]}..."
    return "-" if value is None else f"{value:.4g}"


_LONGEST_WORDS = 90  # characters of what a metric says in words of a text
_PIPED_WIDTH = 100
_BRIEF_WIDTH = 80
_LEAST_WIDTH = 40


@checked
def print_finding(
    finding: Finding,
    *,
    digits: int | None = None,
    width: int | None = None,
    most: int | None = None,
    verbose: bool = False,
    file: IO[str] | None = None,
) -> None:
    """Print the verdict of a finding, then its facts and views, and signatures below.

    Exhibits whose highlights have weights come before the views, in colours; where there are no
    colours, what hurts most stands in [-brackets-] and what helps most in {+braces+}, as in wdiff.

    Args:
        finding: what a method found.
        digits: digits after the point; by default each column's own.
        width: characters per line; by default COLUMNS, the terminal's, or 100 where none is known.
        most: rows of a table; those that say least are left out, and counted. All by default.
        verbose: list notes, too, which are counted otherwise.
        file: where to print; standard output by default.
    """
    console = _console(width, file)
    notes = _print_verdict(console, finding.verdict)
    if finding.facts:
        facts = " | ".join(f"{name}: {value}" for name, value in finding.facts.items())
        _line(console, facts, "dim")
    for line in shaded(finding, colours=console.color_system is not None):
        console.print(_encodable_line(console, line), soft_wrap=True)
    *others, last = (_cut(grid(finding, view, digits=digits), most) for view in finding.shown())
    for other in others:
        signatures = {n: s for n, s in other.signatures.items() if last.signatures.get(n) != s}
        _print_grid(console, replace(other, signatures=signatures))  # others come at the end
        console.print()
    further = map(noted, joined(one for one in finding.notices if one not in finding.verdict))
    listed_notes = _listed([*notes, *further], verbose=verbose)
    _print_grid(console, replace(last, notes=(*last.notes, *listed_notes)))


def print_scores(
    scores: Sequence[Scores],
    *,
    digits: int | None = None,
    width: int | None = None,
    verbose: bool = False,
    file: IO[str] | None = None,
) -> None:
    """Print who is on top, systems x metrics, and signatures (of the defining tools too).

    Args:
        scores: what each metric said.
        digits: digits after the point; by default 4 for scores within [-1, 1], else 2.
        width: characters per line, as for :func:`print_finding`.
        verbose: list notes, too, which are counted otherwise.
        file: where to print; standard output by default.
    """
    console = _console(width, file)
    made = scores_grid(scores, digits=digits)
    notes = [*_print_verdict(console, summarise_scores(scores)), *made.notes]
    _print_grid(console, replace(made, notes=_listed(notes, verbose=verbose)))


def print_verdict(
    title: str,
    verdict: Sequence[Message],
    *,
    width: int | None = None,
    verbose: bool = False,
    file: IO[str] | None = None,
) -> None:
    """Print what was found below a heading, a line for each sentence.

    Args:
        title: the heading.
        verdict: the sentences.
        width: characters per line, as for :func:`print_finding`.
        verbose: list notes, too, which are counted otherwise.
        file: where to print; standard output by default.
    """
    console = _console(width, file)
    _line(console, title, "bold")
    for note in _listed(_print_verdict(console, verdict), verbose=verbose):
        _line(console, note)


def render_brief(finding: Finding) -> str:
    """The first sentences of a finding, and the first columns and rows of a table, as text."""
    file = io.StringIO()
    console = _PlainConsole(file, _BRIEF_WIDTH)
    first, _ = split_notes(finding.verdict)
    for statement in first:
        text = visible(rendered(statement))
        lines = wrap(text, _BRIEF_WIDTH, break_long_words=False, break_on_hyphens=False)
        console.print("\n".join(lines))
    if finding.tables:
        console.print()
        _print_grid(console, brief_grid(finding))
    return file.getvalue().strip("\n") or finding.title


def print_grid(made: Grid, *, width: int | None = None, file: IO[str] | None = None) -> None:
    """Print a grid, its first columns that fit."""
    _print_grid(_console(width, file), made)


def _cut(made: Grid, most: int | None) -> Grid:
    """The rows that say most, in their order, and how many more there are.

    Rows say less the fewer of their figures are plain: neither marked nor greyed nor undefined;
    among equals the first ones, which methods put first, stay.
    """
    if most is None or len(made.rows) <= most:
        return made
    telling = [_telling(made, row) for row in made.rows]
    ranked = sorted(range(len(made.rows)), key=telling.__getitem__, reverse=True)  # stable
    rows = tuple(made.rows[n] for n in sorted(ranked[:most]))
    note = f"and {len(made.rows) - most:,} more: --all"
    return replace(made, rows=rows, notes=(note, *made.notes))


def _telling(made: Grid, row: GridRow) -> tuple[int, int]:
    """Number of plain figures of a row, and of all its figures."""
    there = [cell for cell in row.cells[made.stub :] if cell.value is not None]
    return sum(not (cell.faint or cell.marked) for cell in there), len(there)


def _console(width: int | None, file: IO[str] | None) -> Console | _PlainConsole:
    wanted = max(width or _width(), _LEAST_WIDTH)
    if isinstance(file, io.StringIO) and _COLOURED.isdisjoint(os.environ):
        return _PlainConsole(file, wanted)
    from rich.console import Console

    return Console(file=file, width=wanted, markup=False, emoji=False, highlight=False)


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    for descriptor in (1, 2, 0):
        try:
            return os.get_terminal_size(descriptor).columns or _PIPED_WIDTH
        except OSError:
            continue
    return _PIPED_WIDTH


def _print_grid(console: Console | _PlainConsole, made: Grid) -> None:
    _line(console, made.title, "bold")
    if not made.columns:
        _line(console, "(there is nothing)")
        return
    sizes = widths(made, console.width)
    shown = fitting(made, sizes, console.width)
    _print_block(console, made, shown, sizes)
    if left := [column.title for column in made.columns[len(shown) :]]:
        _line(console, f"Left out for room: {listed(left)} (--all-columns)")
    for note in made.notes:
        _line(console, note)
    for name, signature in made.signatures.items():
        _line(console, f"{name}: {signature}", "dim")


def _print_block(
    console: Console | _PlainConsole, made: Grid, columns: Sequence[int], sizes: Sequence[int]
) -> None:
    if isinstance(console, _PlainConsole):
        console.print_block(made, columns, sizes)
        return
    from rich import box
    from rich.table import Table as RichTable

    needed = sum(sizes[i] + 2 for i in columns)
    drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="")
    drawn.width = needed if needed > console.width else None
    for i in columns:
        head = folded(made.columns[i].title, sizes[i])
        drawn.add_column(
            _text(console, head),
            justify="right" if made.columns[i].numeric else "left",
            vertical="bottom" if made.columns[i].numeric else "top",
            min_width=sizes[i],
            no_wrap=True,
        )
    _add_rows(console, drawn, made, columns, sizes)
    console.print(drawn, crop=False)


def _add_rows(
    console: Console,
    drawn: RichTable,
    made: Grid,
    columns: Sequence[int],
    sizes: Sequence[int],
) -> None:
    marked = {i for row in made.rows for i in columns if row.cells[i].marked}
    group = made.rows[0].group if made.rows else ""
    for row in made.rows:
        if row.group != group:
            drawn.add_section()
            group = row.group
        drawn.add_row(*(_cell(console, row, i, sizes[i], among=i in marked) for i in columns))


def _cell(console: Console, row: GridRow, column: int, size: int, *, among: bool) -> Text:
    cell = row.cells[column]
    style = "yellow" if cell.marked else "bold" if cell.best else "dim" if cell.faint else ""
    return _text(console, _shown(row, column, size, among=among), style)


def _shown(row: GridRow, column: int, size: int, *, among: bool) -> str:
    """A cell in its lines, with a mark, or room for one where there are any in its column."""
    cell = row.cells[column]
    mark = "!" if cell.marked else " " if among else ""
    return folded(cell.shown, size - len(mark)) + mark


_LEVELS: Mapping[Level, str] = {
    "finding": "bold",
    "undecided": "",
    "caution": "yellow",
    "note": "",
    "error": "red",
}


def _print_verdict(console: Console | _PlainConsole, verdict: Sequence[Message]) -> list[str]:
    """Print what is read first; the sentences of the others."""
    first, others = split_notes(verdict)
    for statement in first:
        _line(console, rendered(statement), _LEVELS[statement.level])
    if first:
        console.print()
    return [rendered(statement) for statement in others]


def _listed(notes: Sequence[str], *, verbose: bool) -> tuple[str, ...]:
    """Notes, or how many there are."""
    if verbose or not notes:
        return tuple(notes)
    return (f"{counted(len(notes), 'note')} (-v lists them)",)


def _line(console: Console | _PlainConsole, text: str, style: str = "") -> None:
    """Print a line, which ends between words for people; in a pipe it is one."""
    if isinstance(console, _PlainConsole):
        console.print(_encodable_text(console, visible(text)))
    elif console.is_terminal:
        console.print(_text(console, visible(text), style), width=min(console.width, _width()))
    else:
        console.print(_text(console, visible(text), style), soft_wrap=True)


def _text(console: Console | _PlainConsole, text: str, style: str = "") -> Text:
    """Literal text; what the file's encoding lacks is shown as an escape."""
    from rich.text import Text

    return Text(_encodable_text(console, text), style=style)


def _encodable_text(console: Console | _PlainConsole, text: str) -> str:
    return text.encode(console.encoding, "backslashreplace").decode(console.encoding)


def _encodable_line(console: Console | _PlainConsole, line: Text) -> Text:
    """The line, if the file's encoding has all of it; else without colours, with escapes."""
    plain = _encodable_text(console, line.plain)
    return line if plain == line.plain else _text(console, plain)
