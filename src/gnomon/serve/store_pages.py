"""The contents of the pages of a study, read from its store on request.

Functions over an :class:`OpenStore` that give dataclasses: what was found, and the tables that show
it, as the command line prints them. Texts are not read here.
"""

from __future__ import annotations

import atexit
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gnomon import studies
from gnomon.core import registry as methods
from gnomon.core.errors import DataError, UnknownNameError
from gnomon.core.findings import Bars, Column, Finding, HeatMap, Listing, Table
from gnomon.core.reading_order import split_notes
from gnomon.core.signature import content_hash
from gnomon.core.tabular import grid, table_grid
from gnomon.core.verdicts import titles_of
from gnomon.messages import kind_of, rendered
from gnomon.serve._link_guard import refuse_links
from gnomon.studies import reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from gnomon.core.findings import Cell, View
    from gnomon.core.store_views import StoredView
    from gnomon.core.tabular import Grid
    from gnomon.messages import Message
    from gnomon.studies import Store
    from gnomon.studies.reading import FinishedTask, PageSource

#: stores that stay open, each with a connection of its own
_OPEN = 8
_SCORES, COMPARED = "scores", "comparisons"
#: columns whose values lead to segments
_LEADS = ("feature", "segment")
#: columns of text that hold names, and no words of the texts that were compared
_NAMES = {
    "testset", "test_set", "system", "baseline", "system_a", "system_b", "side", "metric",
    "against", "verdict", "unit", "feature", "variant", "slice", "length", "frequency", "marks",
    "severity", "category", "measure", "level", "statistic", "subset",
}  # fmt: skip


@dataclass(frozen=True)
class OpenStore:
    """A store as it is now, and what reads its rows."""

    store: Store
    source: PageSource
    stamp: tuple[object, ...]
    results: dict[bool, tuple[SetResult, ...]] = field(default_factory=dict, repr=False)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def entries(self) -> tuple[FinishedTask, ...]:
        """The finished tasks of the last plan."""
        return self.source.entries

    def rows(self) -> PageSource:
        """The reader of rows, for one request: connections are not shared by threads."""
        return replace(self.source, connection=self.source.connection.cursor())


_open: OrderedDict[Path, OpenStore] = OrderedDict()
_lock = threading.Lock()
atexit.register(_open.clear)  # connections are closed while DuckDB is there


def open_store(path: Path, *beside: Path) -> OpenStore:
    """A store to be read, with files beside it; it is read again only where it has changed."""
    stamp = _stamp(path, *beside)
    with _lock:
        known = _open.get(path)
        if known is not None and known.stamp == stamp:
            _open.move_to_end(path)
            return known
    store = studies.Store(path)
    done = tuple(store.entries[key] for key in store.planned() if key in store.entries)
    connection = reading.connect(
        store, sql="from tasks", all_files=True, frugal=True, beside=beside
    )
    opened = OpenStore(store, reading.PageSource(store, connection, done), stamp)
    with _lock:
        _open[path] = opened
        while len(_open) > _OPEN:
            _open.popitem(last=False)
    return opened


def _stamp(path: Path, *beside: Path) -> tuple[object, ...]:
    """A stamp that changes whenever a task is finished, the plan changes, or an index is made."""
    stamp: list[object] = []
    for file in (path / "manifest.jsonl", path / "plan.json", *(b / "index.json" for b in beside)):
        try:
            stat = file.stat()
        except OSError:
            stamp.append(file)
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
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return StoredStudy(study_id, store, folder, opened.name)


# What was found.


@dataclass(frozen=True)
class MethodVerdict:
    """A method's verdict on a test set, and the charts that show it."""

    method: str
    title: str
    purpose: str
    sentences: tuple[Message, ...]
    notes: tuple[Message, ...]
    panels: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class ShownTable:
    """A table of a result, and its column of features or segments, which lead to segments."""

    grid: Grid
    column: str = ""
    place: int | None = None


@dataclass(frozen=True)
class SetResult:
    """The results on a test set, and the tables that show them."""

    testset: str
    language_pair: str | None
    segments: int
    verdicts: tuple[MethodVerdict, ...]
    tables: tuple[ShownTable, ...]


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


def quotes_texts(code: str) -> bool:
    """True if a message may hold words of the texts; so does what nobody declared."""
    try:
        return kind_of(code).quotes
    except KeyError:  # of a package that is not installed here
        return True


def study_result(opened: OpenStore, *, texts: bool = True) -> tuple[SetResult, ...]:
    """The results of a study so far; computed once."""
    with opened.lock:
        if texts not in opened.results:
            opened.results[texts] = _study_result(opened, texts=texts)
        return opened.results[texts]


def _study_result(opened: OpenStore, *, texts: bool) -> tuple[SetResult, ...]:
    store, source = opened.store, opened.rows()
    sketches = {planned.name: planned.sketch for planned in store.sets()}
    said: dict[str, dict[str, list[Message]]] = {}
    for testset, section, verdict in studies.verdicts(store):
        may = [one for one in verdict if texts or not quotes_texts(one.code)]
        if may or not verdict:
            said.setdefault(testset, {})[section] = may
    names = dict.fromkeys([*(entry.testset for entry in opened.entries), *sketches])
    views = {name: _views_of(opened, name, texts=texts) for name in source.tables}
    sets = []
    for name in names:
        sketch = sketches.get(name)
        there = {table: views[table] for table in views if name in source.testsets(table)}
        drawn: dict[str, list[Mapping[str, Any]]] = {}
        for method, panel in _panels(opened, source, name, there):
            drawn.setdefault(method, []).append(panel)
        of_set = said.get(name, {})
        verdicts = []
        for section in dict.fromkeys([*of_set, *drawn]):
            first, notes = map(tuple, split_notes(of_set.get(section, [])))
            panels, purpose = tuple(drawn.get(section, ())), _purpose_of(section)
            title = _title_of(section)
            verdicts.append(MethodVerdict(section, title, purpose, first, notes, panels))
        sets.append(
            SetResult(
                name,
                sketch.language_pair if sketch else None,
                sketch.segments if sketch else 0,
                tuple(verdicts),
                tuple(_shown_tables(opened, source, name, there)),
            )
        )
    return tuple(sets)


def _views_of(opened: OpenStore, name: str, *, texts: bool) -> list[View]:
    """The views of a table; without ``texts``, those of names and numbers alone."""
    schema = opened.store.schema(name)
    quoted = {column.name for column in schema.columns if column.kind == "text"} - _NAMES
    return [view for view in schema.views if texts or not quoted & _shown_columns(view)]


def _shown_columns(view: View) -> set[str]:
    named = [[value] if isinstance(value, str) else value for value in vars(view).values()]
    return {name for names in named if isinstance(names, list | tuple) for name in names}


def _shown_tables(
    opened: OpenStore, source: PageSource, testset: str, there: Mapping[str, Sequence[View]]
) -> Iterator[ShownTable]:
    """The tables of comparisons, and the first heat map; of scores alone, these."""
    mapped = False
    for view in (view for views in there.values() for view in views):
        if isinstance(view, Listing):
            heads = [*view.columns]
        elif isinstance(view, HeatMap) and view.prominent and not mapped:
            heads, mapped = [view.rows], True
        else:
            continue
        column = next((head for head in heads if head in _LEADS), "")
        place = heads.index(column) if column else None
        yield ShownTable(grid(_finding(opened, source, [view], testset), view), column, place)
    if COMPARED not in there and _SCORES in there:
        yield ShownTable(table_grid(rows_of(opened, source, _SCORES, testset, {})))


def _panels(
    opened: OpenStore, source: PageSource, testset: str, there: Mapping[str, Sequence[View]]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The first chart of each table that has some, by method; heat maps come last."""
    from gnomon.report.panels import panels

    drawn = [(name, some[0]) for name, views in there.items() if (some := panels(views))]
    methods_of = {name: entry.method for entry in opened.entries for name in entry.rows}
    for name, panel in sorted(drawn, key=lambda each: isinstance(each[1].views[0], HeatMap)):
        found = _finding(opened, source, panel.views, testset)
        (table,) = found.tables
        made = panel.charts(table, table.rows, titles_of(found))
        if made["charts"]:
            yield methods_of[name], {**made, "leads": _lead(panel.views[0])}


def _lead(view: View) -> list[str]:
    """Values of a chart's axes that filter segments: a feature, and a system."""
    axes = [view.rows, view.columns] if isinstance(view, HeatMap) else []
    axes += [view.series] if isinstance(view, Bars) else []
    return axes if axes[:1] == ["feature"] else []


def _finding(opened: OpenStore, source: PageSource, views: Sequence[View], testset: str) -> Finding:
    """Finding of the views of one table on a test set."""
    some = [rows_of(opened, source, view.table, testset, view.where) for view in views]
    rows = tuple(row for part in some for row in part.rows)
    table = Table(some[0].name, some[0].title, some[0].columns, rows, some[0].note)
    return Finding("", views[0].title, (table,), {}, tuple(views))


def first_sentence(store: Path) -> str:
    """First sentence of a study's verdict, to be passed on; empty where there is none yet."""
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


def read_finding(opened: OpenStore) -> Finding:
    """Finding of a study, with all rows of its tables and with its texts."""
    source = opened.rows()
    tables = [rows_of(opened, source, name, None, {}) for name in source.tables]
    said = (message for one in studies.verdicts(opened.store) for message in one.verdict)
    texts = _texts(opened.store)
    return Finding("run", opened.store.name, (*tables, *texts), {}, verdict=tuple(said))


def _texts(store: Store) -> Iterator[Table]:
    """The texts of all test sets that can be read, a row for each segment."""
    rows: list[dict[str, Cell]] = []
    for planned in store.sets():
        with suppress(DataError):  # they are not where they were
            testset = planned.read()
            named = {f"reference {name}": texts for name, texts in testset.references.items()}
            given = {"source": testset.sources or (), **named, **testset.systems}
            for i in range(testset.segments):
                row = {name: texts[i] for name, texts in given.items() if texts}
                rows.append({"testset": planned.name, "segment": i + 1, **row})
    heads = dict.fromkeys(head for row in rows for head in row)
    columns = [Column(head, head, "count" if head == "segment" else "text") for head in heads]
    if rows:
        records = tuple({head: row.get(head) for head in heads} for row in rows)
        yield Table("texts", "Texts", tuple(columns), records)


def rows_of(
    opened: OpenStore, source: PageSource, name: str, testset: str | None, where: Mapping[str, Cell]
) -> Table:
    """The rows of a table, or of a test set in it, that a view shows."""
    schema = opened.store.schema(name)
    stored = source.rows(name, testset=testset)
    there = source.columns(stored)
    columns = [column for column in schema.columns if column.name in there]
    conditions = ["true" if testset is None else "testset = ?"]
    values: list[Cell] = [] if testset is None else [testset]
    for key, value in where.items():
        if key not in there:
            raise DataError(f"the table {name} has no column {key} any more")
        conditions.append(f"{reading.sql_name(key)} is not distinct from ?")
        values.append(value)
    keys = [column.name for column in columns]
    names = ", ".join(map(reading.sql_name, keys))
    asked = f"select {names} from {stored} where {' and '.join(conditions)}"  # noqa: S608  # names of columns
    records = tuple(
        dict(zip(keys, map(_cell, row), strict=True)) for row in source.query(asked, *values)
    )
    return Table(name, schema.table.title, tuple(columns), records, schema.table.note)


def sizes_of_sets(opened: OpenStore) -> dict[str, int]:
    """Number of segments of each test set of the last plan."""
    return {planned.name: planned.sketch.segments for planned in opened.store.sets()}


__all__ = [
    "COMPARED",
    "OpenStore",
    "first_sentence",
    "open_store",
    "quotes_texts",
    "read_finding",
    "sections",
    "sizes_of_sets",
    "study_result",
    "table_names",
    "table_sql",
]  # fmt: skip
