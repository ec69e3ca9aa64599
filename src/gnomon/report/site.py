"""The pages of a study: one HTML file, or a folder that opens by double click from disk.

They show plain tables, views, test sets and texts with marks
(:class:`gnomon.core.page_data.StudyPages`), and know nothing of stores and methods. A page loads
what it shows when it shows it: parts are scripts beside it (a page from disk may not ``fetch``)
that hand over JSON as a string, or, in one file, elements of data. Its policy allows the page's own
script by its hash, and scripts that this adds itself; nothing else runs, nothing is asked for over
a network.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import secrets
import shutil
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import numpy as np

from gnomon.core.errors import OutputError
from gnomon.core.findings import Bars, Column, Table
from gnomon.core.signature import version
from gnomon.linguistics import MEANINGS
from gnomon.messages import joined, noted, phrase, rendered
from gnomon.report.charts import look
from gnomon.report.html import DRAWERS, framed, json_in_html
from gnomon.report.panels import packed, panels

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
    from os import PathLike
    from typing import IO

    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, View
    from gnomon.core.page_data import PageSegment, PageSet, PageTable, PageText, StudyPages

__all__ = ["write_site"]

_SCRIPTS = (*DRAWERS, "parts.js", "systems.js", "methods.js", "segments.js", "study.js")

# The page and the parts of its data.


#: cells of a table in one part: some megabytes; and the fewest rows
_CELLS, _FEWEST = 200_000, 1000


def write_site(
    path: str | PathLike[str],
    content: StudyPages,
    *,
    progress: Callable[[str, int, int], None] | None = None,
) -> None:
    """Write the report of a study; it appears whole or not at all.

    A path that ends in ``.html`` is a file with everything; any other is a folder, which above some
    ten megabytes opens faster.
    """
    with _opened(path) as sink:
        total = len(content.tables) + len(content.testsets)
        tables = []
        names = {testset.name: number for number, testset in enumerate(content.testsets)}
        steps = _steps(content.tables)
        for number, table in enumerate(content.tables):
            drawn = _TableCharts(table, content, steps)
            about = _table(sink, number, table, names, drawn)
            tables.append({**about, "drawn": drawn.write(sink, number, names)})
            if progress:
                progress("pages", number + 1, total)
        sets = []
        for number, testset in enumerate(content.testsets):
            sets.append(_add_set(sink, number, testset))
            if progress:
                progress("pages", len(tables) + number + 1, total)
        about = {
            "title": content.title,
            "gnomon": version(),
            "inside": sink.inside,
            "glosses": MEANINGS,
            "look": look(),
            "facts": list(content.facts.items()),
            "notices": list(map(noted, joined(content.notices))),
            "lower": list(content.lower_is_better),
            "long": dict(content.names),
            "standings": [column._asdict() for column in content.standings],
            "sections": [
                dict(zip(("id", "title", "note"), section, strict=True))
                for section in content.sections
            ],
            "found": [
                {
                    "set": names[verdict.testset],
                    "section": verdict.section,
                    "said": [
                        (said.level, rendered(said, typeset=True)) for said in verdict.verdict
                    ],
                }
                for verdict in content.verdicts
            ],
            "tables": tables,
            "sets": sets,
        }
        sink.finish(*_page(content, about))


def _table(
    sink: Sink, number: int, table: PageTable, sets: Mapping[str, int], drawn: _TableCharts
) -> dict[str, Any]:
    """Write the parts of a table; returns what the page must know of it beforehand."""
    named = [column.name for column in table.columns]
    sizes: list[int] = []
    of: list[tuple[int | None, Cell]] = []
    rows = max(_FEWEST, _CELLS // max(1, len(named)))
    for chunk, columns in enumerate(table.parts(rows)):
        sink.add(f"table-{number}-{chunk}", [packed(cells) for cells in columns])
        sizes.append(len(columns[0]) if columns else 0)
        held = dict(zip(named, columns, strict=True))
        drawn.take(held)
        testset = _only(held.get("testset", ()))
        of.append((sets.get(str(testset)), _only(held.get("metric", ()))))
    return {
        "name": table.name,
        "title": table.title,
        "note": table.note,
        "section": table.section,
        "columns": [asdict(column) for column in table.columns],
        "parts": sizes,
        "of": of,
    }


#: a column that tells steps of a study apart whose rows agree in all words
_STEP = Column("options", "Options")
_LONGEST = 80  # characters of what options say
_TASK = "task"


class _TableCharts:
    """The charts of a table, test set by test set."""

    def __init__(self, table: PageTable, content: StudyPages, steps: Mapping[Cell, str]) -> None:
        self.lower, self.titles, self.steps = content.lower_is_better, content.names, steps
        self.panels = panels(table.views or _score_views(table))
        self.table = Table(table.name, table.title, tuple(table.columns), ())
        self.by_set: dict[Cell, list[tuple[Cell, ...]]] = {}
        self.words: dict[str, str] = {}

    def take(self, held: Mapping[str, Sequence[Cell]]) -> None:
        """Some rows, column by column."""
        if not self.panels:
            return
        rows = zip(*map(self._shared, held.values()), strict=True)
        of = held.get("testset", itertools.repeat(None))
        for testset, cells in zip(of, rows, strict=False):
            self.by_set.setdefault(testset, []).append(cells)

    def _shared(self, cells: Sequence[Cell]) -> list[Cell]:
        """The cells, of which equal words are one and the same: tables may have a million rows."""
        return [
            self.words.setdefault(cell, cell) if isinstance(cell, str) else cell for cell in cells
        ]

    def write(self, sink: Sink, number: int, sets: Mapping[str, int]) -> list[int | str]:
        """Write the charts; returns the numbers of the test sets that have some, or "all"."""
        written: list[int | str] = []
        names = [column.name for column in self.table.columns]
        for testset, cells in self.by_set.items():
            place = sets.get(str(testset)) if "testset" in names else "all"
            rows = [dict(zip(names, row, strict=True)) for row in cells]
            shown = [] if place is None else list(self._charts(rows))
            if place is not None and shown:
                sink.add(f"chart-{number}-{place}", shown)
                written.append(place)
        return written

    def _charts(self, rows: list[dict[str, Cell]]) -> Iterator[dict[str, Any]]:
        columns, table = self.table.columns, self.table
        step: tuple[str, ...] = ()
        if _TASK in rows[0] and _are_mixed(columns, rows):
            said = _differences({self.steps.get(row[_TASK], "{}") for row in rows}, columns)
            rows = [{**row, "options": said[self.steps.get(row[_TASK], "{}")]} for row in rows]
            table, step = replace(table, columns=(*columns, _STEP)), (_STEP.name,)
        for panel in self.panels:
            kinds: dict[Cell, list[dict[str, Cell]]] = {}
            for row in rows:
                kinds.setdefault(row[_STEP.name] if step else None, []).append(row)
            apart = dict.fromkeys(
                name for some in kinds.values() for name in panel.tell_apart(columns, some)
            )
            made = panel.charts(table, rows, self.titles, (*step, *apart), self.lower)
            if made["charts"]:
                yield made


def _score_views(table: PageTable) -> tuple[View, ...]:
    """Views of the scores of systems, metric by metric."""
    names = {column.name for column in table.columns}
    if table.name != "scores" or not {"metric", "system", "score"} <= names:
        return ()
    where = {"metric": None}
    return (Bars("scores", "Scores", "metric", "system", ("score",), where=where, ordered=True),)


def _steps(tables: Sequence[PageTable]) -> dict[Cell, str]:
    """The options of each task, as JSON."""
    found: dict[Cell, str] = {}
    for table in tables:
        names = [column.name for column in table.columns]
        if table.name == "tasks" and {"key", "options"} <= set(names):
            for columns in table.parts(_FEWEST):
                held = dict(zip(names, columns, strict=True))
                found |= {
                    k: str(v or "{}") for k, v in zip(held["key"], held["options"], strict=True)
                }
    return found


def _are_mixed(columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]]) -> bool:
    """True if some rows agree in all words."""
    words = [column.name for column in columns if column.kind == "text" and column.name != _TASK]
    return len({tuple(row[name] for name in words) for row in rows}) < len(rows)


def _differences(among: Iterable[str], columns: Sequence[Column]) -> dict[str, str]:
    """Options that differ from the others'; those that columns show are left out."""
    shown = {column.name for column in columns}
    read = {text: dict(_flatten(json.loads(text), "")) for text in among}
    names = dict.fromkeys(name for options in read.values() for name in options)
    differing = [
        name
        for name in sorted(names)
        if name not in shown and len({repr(options.get(name)) for options in read.values()}) > 1
    ]
    said = {
        text: "; ".join(f"{name}: {options.get(name, 'not given')}" for name in differing)
        for text, options in read.items()
    }
    return {
        text: f"{words[:_LONGEST]}\u2026" if len(words) > _LONGEST else words or "no options"
        for text, words in said.items()
    }


def _flatten(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Options by name, those within others too."""
    if not isinstance(value, dict):
        yield name, value if isinstance(value, str) else json.dumps(value)
        return
    for key, inner in value.items():
        yield from _flatten(inner, f"{name}.{key}" if name else key)


def _only(cells: Sequence[Cell]) -> Cell:
    """The common value of all rows of a part: other test sets' or metrics' pages lack it."""
    distinct = set(cells)
    return distinct.pop() if len(distinct) == 1 else None


def _page(content: StudyPages, data: Mapping[str, Any]) -> tuple[str, str]:
    """The page in two pieces, between which a single file holds the parts of its data."""
    methods = [(f"method/{_encoded(name)}", title) for name, title, _ in content.sections]
    pages = [
        ("systems", "Results"),
        *([("overview", "All test sets")] if len(content.testsets) > 1 else []),
        *methods,
        ("segments", "Segments"),
        ("provenance", "Provenance"),
        ("tables", "All tables"),
    ]
    before = framed(
        "study.html.j2",
        data,
        scripts=_SCRIPTS,
        charts=any(table["drawn"] for table in data["tables"]),
        styles=("report.css", "study.css"),
        more_scripts=" 'strict-dynamic'",
        title=content.title,
        pages=pages,
    )
    return before, "</body>\n</html>\n"


def _encoded(name: str) -> str:
    """A part of an address, as JavaScript's ``encodeURIComponent`` writes it."""
    return quote(name, safe="!'()*-._~", errors="replace")


# Test sets as parts: texts some segments at a time, scores some systems at a time.


#: outputs in one part, and scores in one part: about a megabyte each
_OUTPUTS, _SCORES = 2000, 60_000


def _add_set(sink: Sink, number: int, given: PageSet) -> dict[str, Any]:
    """Write the parts of a test set; returns what the page must know of it beforehand."""
    systems = max(1, len(given.systems))
    block = max(1, min(100, _OUTPUTS // systems, given.segments))
    some = max(1, _SCORES // max(1, given.segments))
    scores = [given.scores(metric) for metric in given.metrics]
    for m, rows in enumerate(scores):
        for b, start in enumerate(range(0, len(rows), some)):
            sink.add(f"score-{number}-{m}-{b}", _plain(rows[start : start + some]))
    if scores:
        sink.add(f"mean-{number}", [_overview(rows) for rows in scores])
    where = _Where(given, systems)
    blocks = 0
    for first, segments in _blocks(given, block):
        sink.add(
            f"text-{number}-{blocks}",
            [_segment(segment, scores, first + i) for i, segment in enumerate(segments)],
        )
        where.look(first, segments)
        blocks += 1
    where.write(sink, number)
    return {
        "name": given.name,
        "pair": given.language_pair,
        "segments": given.segments,
        "systems": list(given.systems),
        "references": list(given.references),
        "metrics": list(given.metrics),
        "layers": [layer._asdict() for layer in given.layers],
        "missing": phrase(given.missing) if given.missing else "",
        "block": block,
        "blocks": blocks,
        "scored": some,
    }


def _blocks(given: PageSet, size: int) -> Iterator[tuple[int, list[PageSegment]]]:
    first, block = 0, []
    for segment in given.read():
        block.append(segment)
        if len(block) == size:
            yield first, block
            first, block = first + size, []
    if block:
        yield first, block


def _plain(rows: NDArray[np.float64]) -> list[list[float | None]]:
    return [[None if value != value else value for value in row] for row in rows.tolist()]  # noqa: PLR0124  # NaN


def _overview(rows: NDArray[np.float64]) -> list[list[float | None]]:
    """Per segment the mean over the systems, and how far these are apart."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # no system has a score there
        mean, apart = np.nanmean(rows, axis=0), np.nanmax(rows, axis=0) - np.nanmin(rows, axis=0)
    return [rounded(values.tolist()) for values in (mean, apart)]


def _segment(segment: PageSegment, scores: Sequence[NDArray[np.float64]], i: int) -> list[Any]:
    """Document, domain, texts, their roles, and the scores of every system by every metric."""
    return [
        segment.document,
        segment.domain,
        [_text(text) for text in segment.texts],
        segment.source,
        list(segment.references),
        list(segment.outputs),
        [rounded(rows[:, i].tolist()) for rows in scores],
    ]


def _text(text: PageText) -> list[Any]:
    marks = [
        [layer, list(ends), *([rounded(values)] if values else [])]
        for layer, ends, values in text.marks
    ]
    return [text.text, marks] if marks else [text.text]


class _Where:
    """Which segments have spans of a layer, by reference and by system: a bit for each."""

    def __init__(self, given: PageSet, systems: int) -> None:
        self.layers = [n for n, layer in enumerate(given.layers) if layer.kind == "spans"]
        size = (given.segments + 7) // 8
        rows = systems + 1
        self.bits = {n: [bytearray(size) for _ in range(rows)] for n in self.layers}

    def look(self, first: int, segments: Sequence[PageSegment]) -> None:
        if not self.layers:
            return
        for i, segment in enumerate(segments, start=first):
            marked = [[m[0] for m in text.marks if m[0] in self.bits] for text in segment.texts]
            byte, bit = i >> 3, 1 << (i & 7)
            for reference in segment.references:
                for layer in marked[reference] if reference is not None else ():
                    self.bits[layer][0][byte] |= bit
            for k, output in enumerate(segment.outputs, start=1):
                for layer in marked[output] if output is not None else ():
                    self.bits[layer][k][byte] |= bit

    def write(self, sink: Sink, number: int) -> None:
        for layer, rows in self.bits.items():
            sink.add(f"where-{number}-{layer}", [row.hex() for row in rows])


def rounded(values: Sequence[float | None]) -> list[float | None]:
    """Scores for looking at: six digits after the point."""
    # a difference to itself is 0 for finite numbers alone
    return [None if v is None or v - v != 0 else round(v, 6) for v in values]


# Where parts go: a folder with a script for each, or one file that holds all.


_INDEX, _DATA = "index.html", "data"
#: a file that only a site of ours holds: such a folder may be replaced
_OURS = "gnomon-report.txt"
_SAID = "A report made by gnomon. Open index.html; the folder is replaced when it is made again.\n"


class Sink(Protocol):
    """Takes the parts of a site one by one, then the page itself."""

    inside: bool  # parts are elements of the page

    def add(self, key: str, content: object) -> None:
        """A part of the data, under letters, digits and hyphens."""

    def finish(self, before: str, after: str) -> None:
        """The page: what comes before the parts that a single file holds, and what comes after."""


def _opened(path: str | PathLike[str]) -> contextlib.AbstractContextManager[Sink]:
    """A sink for one file (a name that ends in .html or .htm) or a folder."""
    target = Path(path)
    return _write_file(target) if _is_file(target) else _folder(target)


def _check_place(target: Path) -> None:
    """Refuse a place that a folder cannot be written to."""
    above = Path(os.path.realpath(target)).parent
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise OutputError(
            f"cannot write {target}: its folder {target.parent} does not exist or may not be"
            " written to; make it first, or name another"
        )
    _check_folder(target)


def _is_file(target: Path) -> bool:
    return target.suffix.lower() in {".html", ".htm"}


class _Folder:
    inside = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / _DATA).mkdir(parents=True)

    def add(self, key: str, content: object) -> None:
        text = wrap_script(key, json_in_html(content))
        (self.folder / _DATA / f"{key}.js").write_text(text, encoding="utf-8", newline="\n")

    def finish(self, before: str, after: str) -> None:
        (self.folder / _INDEX).write_text(before + after, encoding="utf-8", newline="\n")
        (self.folder / _OURS).write_text(_SAID, encoding="utf-8", newline="\n")


class _File:
    inside = True

    def __init__(self, parts: IO[str]) -> None:
        self.parts = parts
        self.page = ("", "")

    def add(self, key: str, content: object) -> None:
        self.parts.write(f'<script type="application/json" id="part-{key}">{json_in_html(content)}')
        self.parts.write("</script>\n")

    def finish(self, before: str, after: str) -> None:
        self.page = (before, after)


@contextlib.contextmanager
def _folder(target: Path) -> Generator[Sink]:
    from gnomon.data.formats import explain_failure, replace_folder

    _check_place(target)
    scratch = Path(os.path.realpath(target)).with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with explain_failure(target):
            yield _Folder(scratch)
            replace_folder(scratch, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _check_folder(target: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputError(f"{target} is a file; name a folder, or a file that ends in .html")
    if any(target.iterdir()) and not (target / _OURS).is_file():
        raise OutputError(
            f"{target} holds something else; name a new or an empty folder, or one that holds a"
            " report made before"
        )


@contextlib.contextmanager
def _write_file(target: Path) -> Generator[Sink]:
    import tempfile

    from gnomon.data.formats import atomic_write

    with (
        atomic_write(target) as file,  # first: a file that cannot be written is an error at once
        tempfile.TemporaryFile(
            "w+", encoding="utf-8", newline="\n", dir=Path(os.path.realpath(target)).parent
        ) as parts,
    ):
        sink = _File(parts)
        yield sink
        before, after = sink.page
        file.write(before)
        parts.seek(0)
        for piece in _pieces(parts):
            file.write(piece)
        file.write(after)


def _pieces(file: IO[str]) -> Iterator[str]:
    while piece := file.read(1 << 20):
        yield piece


def wrap_script(key: str, safe: str) -> str:
    """A script that hands over JSON as a string, never as an object: keys stay plain data."""
    quoted = safe.replace("\\", "\\\\").replace("'", "\\'")
    return f"gnomonData('{key}','{quoted}')\n"
