"""What the pages of a study show, read from its store when it is asked for.

Functions over an :class:`OpenStore` that give dataclasses: what was found, scores, tables some rows
at a time, heat maps. Texts are not read here.
"""

from __future__ import annotations

import atexit
import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from gnomon import studies
from gnomon.core import registry as methods
from gnomon.core.errors import DataError, UnknownNameError
from gnomon.core.findings import Finding, HeatMap, Table
from gnomon.core.signature import content_hash
from gnomon.core.tabular import cell_text, grid
from gnomon.messages import kind_of, rendered
from gnomon.serve._contained import refuse_links
from gnomon.studies import reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gnomon.core.findings import Cell, Column
    from gnomon.core.store_views import StoredView
    from gnomon.messages import Message
    from gnomon.studies import Store
    from gnomon.studies.reading import FinishedTask, PageSource

    Row = Mapping[str, Cell]

#: stores that stay open, each with a connection of its own
_OPEN = 8
#: lines of a heat map
_LINES = 400
_SCORES, _COMPARED = "scores", "comparisons"


@dataclass(frozen=True)
class OpenStore:
    """A store as it is now, and what reads its rows."""

    store: Store
    source: PageSource
    stamp: tuple[object, ...]
    results: dict[bool, StudyResult] = field(default_factory=dict, repr=False)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def entries(self) -> tuple[FinishedTask, ...]:
        """The finished tasks of the last plan."""
        return self.source.entries

    def rows(self) -> PageSource:
        """What reads rows, for one request: connections are not shared by threads."""
        return replace(self.source, connection=self.source.connection.cursor())


_open: OrderedDict[Path, OpenStore] = OrderedDict()
_lock = threading.Lock()
atexit.register(_open.clear)  # connections are closed while DuckDB is there


def open_store(path: Path) -> OpenStore:
    """A store to be read; it is read again only where it has changed."""
    stamp = stamp_of_store(path)
    with _lock:
        known = _open.get(path)
        if known is not None and known.stamp == stamp:
            _open.move_to_end(path)
            return known
    store = studies.Store(path)
    done = tuple(store.entries[key] for key in store.planned() if key in store.entries)
    connection = reading.connect(store, sql="from tasks", all_files=True, frugal=True)
    opened = OpenStore(store, reading.PageSource(store, connection, done), stamp)
    with _lock:
        _open[path] = opened
        while len(_open) > _OPEN:
            _open.popitem(last=False)
    return opened


def stamp_of_store(path: Path) -> tuple[object, ...]:
    """What changes whenever a task is finished, or the plan is another one."""
    stamp: list[object] = []
    for name in ("manifest.jsonl", "plan.json"):
        try:
            stat = (path / name).stat()
        except OSError:
            stamp.append(None)
        else:
            stamp.append((stat.st_size, stat.st_mtime_ns, stat.st_ino))
    return tuple(stamp)


@dataclass(frozen=True)
class StoredStudy:
    """A study that is only shown: a store that somebody else made.

    Attributes:
        id: made of its path.
        store: the folder of the store.
        folder: what is made for its pages: the index of texts, notes, a report.
        title: what it is called.
        closed: why nothing of it is read, if it holds links to elsewhere.
    """

    id: str
    store: Path
    folder: Path
    title: str
    owner: str = ""
    fixed: bool = True
    closed: str = ""

    def looked_at(self) -> StoredStudy:
        """The study, closed if there are links to elsewhere in it now."""
        try:
            for folder in (self.store, self.folder):
                refuse_links(folder)
        except DataError as error:
            return replace(self, closed=str(error))
        return self


def stored_study(path: Path) -> StoredStudy:
    """A store elsewhere, as a study that is only shown."""
    import platformdirs

    store = path.resolve()
    if store.is_dir():
        refuse_links(store)
    opened = studies.Store(store)  # says what is wrong with it
    study_id = content_hash("store", str(store)) + content_hash("shown", str(store))
    folder = platformdirs.user_data_path("gnomon") / "serve" / "stores" / study_id
    return StoredStudy(study_id, store, folder, opened.name)


# What was found.


@dataclass(frozen=True)
class MethodVerdict:
    """What a method found on a test set."""

    method: str
    title: str
    purpose: str
    sentences: tuple[Message, ...]


@dataclass(frozen=True)
class ScoreCell:
    """A score with what is known of it: its interval, and how it stands to the baseline.

    Attributes:
        score: unrounded; None where there is none.
        shown: for people.
        interval: its ends, for people; empty where none was computed.
        best: no other system of the test set has a better one.
        difference: to the baseline, in words, with its interval; empty for the baseline itself.
        verdict: "better", "worse", "undecided" or "baseline"; empty where nothing was compared.
    """

    score: float | None
    shown: str
    interval: str = ""
    best: bool = False
    difference: str = ""
    verdict: str = ""


@dataclass(frozen=True)
class ScoreLine:
    """A system with its scores, metric by metric."""

    system: str
    cells: tuple[ScoreCell, ...]


@dataclass(frozen=True)
class ScoreColumn:
    """A metric of a table of scores, and the system that the others are compared with under it."""

    metric: str
    title: str
    better: Literal["higher", "lower"]
    baseline: str = ""


@dataclass(frozen=True)
class SetResult:
    """What was found on a test set, and the scores of its systems."""

    testset: str
    language_pair: str | None
    segments: int
    verdicts: tuple[MethodVerdict, ...]
    columns: tuple[ScoreColumn, ...]
    lines: tuple[ScoreLine, ...]


@dataclass(frozen=True)
class TableLink:
    """A table that can be downloaded."""

    name: str
    title: str
    rows: int


@dataclass(frozen=True)
class Section:
    """A method with its tables."""

    method: str
    title: str
    purpose: str
    tables: tuple[TableLink, ...]


@dataclass(frozen=True)
class StudyResult:
    """The page of a study."""

    sets: tuple[SetResult, ...]


def quotes_texts(code: str) -> bool:
    """Whether a message may hold words of the texts; so does what nobody declared."""
    try:
        return kind_of(code).quotes
    except KeyError:  # of a package that is not installed here
        return True


def study_result(opened: OpenStore, *, texts: bool = True) -> StudyResult:
    """What a study found, as far as it has been done; computed once."""
    with opened.lock:
        if texts not in opened.results:
            opened.results[texts] = _study_result(opened, texts=texts)
        return opened.results[texts]


def _study_result(opened: OpenStore, *, texts: bool) -> StudyResult:
    store, source = opened.store, opened.rows()
    sketches = {planned.name: planned.sketch for planned in store.sets()}
    by_set: dict[str, list[MethodVerdict]] = {}
    for testset, section, verdict in studies.verdicts(store):
        sentences = tuple(said for said in verdict if texts or not quotes_texts(said.code))
        if not sentences and verdict:
            continue
        by_set.setdefault(testset, []).append(
            MethodVerdict(section, _title_of(section), _purpose_of(section), sentences)
        )
    names = dict.fromkeys([*(entry.testset for entry in opened.entries), *sketches])
    scores = _scores(opened, source)
    sets = []
    for name in names:
        sketch = sketches.get(name)
        columns, lines = scores.get(name, ((), ()))
        sets.append(
            SetResult(
                name,
                sketch.language_pair if sketch else None,
                sketch.segments if sketch else 0,
                tuple(by_set.get(name, ())),
                columns,
                lines,
            )
        )
    return StudyResult(tuple(sets))


def first_sentence(store: Path) -> str:
    """What a study found first, to be passed on; empty where it found nothing yet."""
    try:
        found = studies.verdicts(studies.Store.open(store))
    except DataError:  # nothing was computed yet
        return ""
    return next((rendered(said) for one in found for said in one.verdict), "")


def sections(opened: OpenStore) -> tuple[Section, ...]:
    """The methods of a study with their tables, those of scores first."""
    sizes: dict[str, int] = {}
    owner: dict[str, str] = {}
    for entry in opened.entries:
        for name, rows in entry.rows.items():
            sizes[name] = sizes.get(name, 0) + rows
            if rows:
                owner.setdefault(name, entry.method)
    made = []
    for method in opened.store.methods():
        names = [name for name, of in owner.items() if of == method]
        tables = tuple(
            TableLink(name, opened.store.schema(name).table.title, sizes[name]) for name in names
        )
        if tables:
            made.append(Section(method, methods.title_of(method), _purpose_of(method), tables))
    return tuple(made)


def _title_of(section: str) -> str:
    return "Scores" if section == "systems" else methods.title_of(section)


def _purpose_of(section: str) -> str:
    method = methods.installed(section)
    return method.purpose if method else ""


def _metric_titles(entries: Sequence[FinishedTask]) -> dict[str, str]:
    from gnomon.metrics.titles import metric_titles  # which loads metrics

    return metric_titles(metric for entry in entries for metric in entry.signatures)


@dataclass(frozen=True)
class _Scored:
    """What tables say of a system under a metric."""

    score: float | None
    low: float | None = None
    high: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    verdict: str = ""
    baseline: str = ""


def _scores(
    opened: OpenStore, source: PageSource
) -> dict[str, tuple[tuple[ScoreColumn, ...], tuple[ScoreLine, ...]]]:
    """The table of scores of each test set; what was compared has intervals."""
    by_set: dict[str, dict[str, dict[str, _Scored]]] = {}
    lower = set()
    if _COMPARED in source.tables:
        asked = (
            "select testset, metric, system, score, score_low, score_high, difference, low, high,"  # noqa: S608  # no input
            f" verdict, baseline, gain from {source.rows(_COMPARED)} where slice is null"
        )
        for testset, metric, system, *figures, gain in source.ask(asked):
            scored = _Scored(*figures)
            by_set.setdefault(testset, {}).setdefault(metric, {})[system] = scored
            if gain and scored.difference and gain * scored.difference < 0:
                lower.add(metric)
    if _SCORES in source.tables:
        rows = source.rows(_SCORES)
        asked = f"select testset, metric, system, score, higher_is_better from {rows}"  # noqa: S608  # no input
        for testset, metric, system, score, higher in source.ask(asked):
            scores = by_set.setdefault(testset, {}).setdefault(metric, {})
            scores.setdefault(system, _Scored(score))
            if higher is False:
                lower.add(metric)
    titles = _metric_titles(opened.entries)
    return {name: _score_table(metrics, titles, lower) for name, metrics in by_set.items()}


def _score_table(
    metrics: Mapping[str, Mapping[str, _Scored]], titles: Mapping[str, str], lower: set[str]
) -> tuple[tuple[ScoreColumn, ...], tuple[ScoreLine, ...]]:
    columns = tuple(
        ScoreColumn(
            metric,
            titles.get(metric, metric),
            "lower" if metric in lower else "higher",
            next((scored.baseline for scored in of.values() if scored.baseline), ""),
        )
        for metric, of in metrics.items()
    )
    first, sign = columns[0].metric, 1 if columns[0].better == "lower" else -1
    systems = dict.fromkeys(name for of in metrics.values() for name in of)

    def place(name: str) -> tuple[bool, float]:
        scored = metrics[first].get(name)
        score = None if scored is None else scored.score
        return score is None, 0.0 if score is None else sign * score

    cells = [_score_cells(of, metric in lower) for metric, of in metrics.items()]
    missing = ScoreCell(None, "-")
    lines = tuple(
        ScoreLine(name, tuple(of.get(name, missing) for of in cells))
        for name in sorted(systems, key=place)
    )
    return columns, lines


def _score_cells(scores: Mapping[str, _Scored], lower: bool) -> dict[str, ScoreCell]:  # noqa: FBT001  # named by its caller
    values = [scored.score for scored in scores.values() if scored.score is not None]
    digits = 3 if max(map(abs, values), default=0) <= 1 else 1
    best = (min(values) if lower else max(values)) if len(set(values)) > 1 else None

    def ends(low: float | None, high: float | None) -> str:
        return "" if low is None or high is None else f"[{low:z.{digits}f}, {high:z.{digits}f}]"

    cells = {}
    for name, of in scores.items():
        difference = ""
        if of.difference is not None:
            size = f"{abs(of.difference):.{digits}f} {'lower' if of.difference < 0 else 'higher'}"
            low, high = of.difference_low, of.difference_high
            if of.difference < 0 and low is not None and high is not None:
                low, high = -high, -low
            difference = f"{size} {ends(low, high)}".strip()
        cells[name] = ScoreCell(
            of.score,
            "-" if of.score is None else f"{of.score:z.{digits}f}",
            ends(of.low, of.high),
            of.score is not None and of.score == best,
            difference,
            of.verdict,
        )
    return cells


# Tables.


def table_names(opened: OpenStore) -> tuple[str, ...]:
    """All tables that can be downloaded."""
    return (*opened.source.tables, *(view.name for view in _views(opened)))


def _views(opened: OpenStore) -> tuple[StoredView, ...]:
    there = set(opened.source.tables)
    of_methods = filter(None, map(methods.installed, opened.store.methods()))
    return tuple(view for method in of_methods for view in method.views if there >= set(view.of))


def table_sql(opened: OpenStore, source: PageSource, name: str) -> tuple[tuple[Column, ...], str]:
    """The columns that were declared of a table, and SQL of all its rows with these."""
    view = next((view for view in _views(opened) if view.name == name), None)
    if view is not None:
        parts = ", ".join(f"{table} as {source.rows(table)}" for table in view.of)
        columns, rows = tuple(view.columns), f"(with {parts} select * from ({view.sql}))"  # noqa: S608  # a method's own
    elif name in source.tables:
        declared = opened.store.schema(name).columns
        columns = tuple(column for column in declared if column.name != reading.TASK.name)
        rows = source.rows(name)
    else:
        raise UnknownNameError("table", name, table_names(opened))
    there = source.columns(rows)
    chosen = ", ".join(
        reading.sql_name(c.name) if c.name in there else f"null as {reading.sql_name(c.name)}"
        for c in columns
    )
    return columns, f"select {chosen} from {rows}"  # noqa: S608  # names of columns


def _cell(value: object) -> Cell:
    if isinstance(value, float):
        return None if value - value != 0 else value  # not finite
    return value if value is None or isinstance(value, str | bool | int) else str(value)


# Heat maps.


@dataclass(frozen=True)
class HeatCell:
    """A cell of a heat map: its figure, its colour from 0 to 8, and what is special about it."""

    column: str
    text: str
    step: int | None
    under: str = ""
    best: bool = False
    faint: bool = False
    marked: bool = False


@dataclass(frozen=True)
class HeatLine:
    """A row of a heat map."""

    name: str
    gloss: str
    beside: str
    cells: tuple[HeatCell, ...]
    first: bool = False


@dataclass(frozen=True)
class HeatPage:
    """A heat map of features and systems, as a table."""

    title: str
    testset: str
    rows: str
    columns: tuple[str, ...]
    value: str
    value_help: str
    better: str
    low: str
    high: str
    beside: str
    under: str
    lines: tuple[HeatLine, ...]
    notes: tuple[str, ...]
    leads: bool
    metric: str = ""


def heat_page(opened: OpenStore) -> HeatPage | None:
    """The first heat map of a study, of its first test set; None where it has none."""
    for section in sections(opened):
        for link in section.tables:
            if link.name not in opened.source.tables:
                continue
            for view in opened.store.schema(link.name).views:
                if isinstance(view, HeatMap):
                    return _heat_page(opened, view, opened.source.testsets(link.name)[0])
    return None


def _heat_page(opened: OpenStore, view: HeatMap, testset: str) -> HeatPage:
    table = _rows_of_view(opened, view, testset)
    finding = Finding("", view.title, (table,), {}, (view,))
    made = grid(finding, view)
    value = table.column(view.value)
    stub = made.stub
    numbers = [
        float(cell.value)
        for row in made.rows
        for cell in row.cells[stub:]
        if isinstance(cell.value, int | float) and not cell.faint
    ]
    low = view.low if view.low is not None else min(numbers, default=0.0)
    high = view.high if view.high is not None else max(numbers, default=1.0)
    both = view.low is not None and view.low < 0 and view.low == -(view.high or 0)
    heads = tuple(column.title for column in made.columns[stub:])
    from gnomon.linguistics import MEANINGS

    lines, before = [], None
    for row in made.rows[:_LINES]:
        feature = row.cells[0].text
        cells = tuple(
            HeatCell(
                head,
                cell.text,
                _step(cell.value, low, high),
                cell.under,
                cell.best,
                cell.faint,
                cell.marked,
            )
            for head, cell in zip(heads, row.cells[stub:], strict=True)
        )
        beside = row.cells[1].text if view.beside else ""
        new = before is not None and before != row.group
        lines.append(HeatLine(feature, MEANINGS.get(feature, ""), beside, cells, new))
        before = row.group
    return HeatPage(
        view.title,
        testset,
        made.columns[0].title,
        heads,
        value.title,
        value.help,
        "both" if both else value.better or "none",
        cell_text(low, value),
        cell_text(high, value),
        made.columns[1].title if view.beside else "",
        table.column(view.under).title if view.under else "",
        tuple(lines),
        made.notes,
        leads=view.rows == "feature" and view.columns == "system",
        metric=str(view.where.get("metric") or ""),
    )


def _step(value: Cell, low: float, high: float) -> int | None:
    if value is None or isinstance(value, str | bool):
        return None
    return round(8 * min(1.0, max(0.0, (value - low) / ((high - low) or 1.0))))


def _rows_of_view(opened: OpenStore, view: HeatMap, testset: str) -> Table:
    """The rows of a table that a heat map shows."""
    source, schema = opened.rows(), opened.store.schema(view.table)
    stored = source.rows(view.table, testset=testset)
    there = source.columns(stored)
    columns = [column for column in schema.columns if column.name in there]
    conditions = ["testset = ?"] if "testset" in there else []
    values: list[Cell] = [testset] if conditions else []
    for name, value in view.where.items():
        if name not in there:
            continue
        conditions.append(f"{reading.sql_name(name)} is not distinct from ?")
        values.append(value)
    names = ", ".join(reading.sql_name(column.name) for column in columns)
    asked = f"select {names} from {stored} where {' and '.join(conditions) or 'true'}"  # noqa: S608  # names of columns
    rows = source.ask(asked, *values)
    keys = [column.name for column in columns]
    records = tuple(dict(zip(keys, map(_cell, row), strict=True)) for row in rows)
    missing = [name for name in view.where if name not in there]
    if missing:
        raise DataError(f"the table {view.table} has no column {', '.join(missing)} any more")
    return Table(view.table, schema.table.title, tuple(columns), records, schema.table.note)


def sizes_of_sets(opened: OpenStore) -> dict[str, int]:
    """How many segments each test set of the last plan has."""
    return {planned.name: planned.sketch.segments for planned in opened.store.sets()}


__all__ = [
    "HeatPage", "OpenStore", "StudyResult", "first_sentence", "heat_page", "open_store",
    "quotes_texts", "sections", "sizes_of_sets", "stamp_of_store", "study_result",
    "table_names", "table_sql",
]  # fmt: skip
