"""The contents of a store for the report of a study: tables, and texts read again.

Texts come from the test sets of the last plan and are shown only where they are those that the
results are of.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gnomon.core import registry as methods
from gnomon.core.errors import DataError, GnomonError
from gnomon.core.findings import Column, HeatMap
from gnomon.core.page_data import (
    PageSection,
    PageSegment,
    PageSet,
    PageTable,
    PageText,
    PageVerdict,
    StudyPages,
)
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature
from gnomon.core.store_views import SegmentRange
from gnomon.core.verdicts import summarise_scores
from gnomon.messages import message
from gnomon.messages.grammar import counted
from gnomon.metrics.titles import metric_titles
from gnomon.studies.mask_kinds import mask_own_tokens
from gnomon.studies.page_rows import (
    PageSource,
    SetRows,
    computed_table,
    internal_table,
    stored_table,
    view_table,
)
from gnomon.studies.tables import cells_of
from gnomon.studies.task_runs import SystemScore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.cache import Cache
    from gnomon.core.findings import Cell
    from gnomon.core.store_views import Highlighter, Layer, Mark
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.studies.folder import FinishedTask
    from gnomon.studies.result_store import Store
    from gnomon.studies.sources import PlannedSet

    Row: TypeAlias = Mapping[str, Cell]

__all__ = ["pages", "study_sets", "untested", "verdicts"]


# Test sets of a store as a report shows them: texts read again, scores, and what is marked.


#: outputs that are marked in one go
_TEXTS = 20_000


@dataclass(frozen=True)
class Markers:
    """Everything that marks the texts of one test set."""

    markers: tuple[Highlighter, ...] = ()
    notices: tuple[Message, ...] = ()

    @property
    def layers(self) -> tuple[Layer, ...]:
        """All layers, in order."""
        return tuple(layer for marker in self.markers for layer in marker.layers)

    def marks(self, stretch: SegmentRange) -> list[dict[str, list[Mark]]]:
        """The marks of each text, segment by segment; each text once per layer."""
        marks: list[dict[str, dict[int, Mark]]] = [{} for _ in stretch.outputs]
        base = 0
        for marker in self.markers:
            for i, text, (layer, ends, values) in marker.marks(stretch):
                number = base + layer
                marks[i].setdefault(text, {}).setdefault(number, (number, ends, values))
            base += len(marker.layers)
        return [{text: list(layers.values()) for text, layers in texts.items()} for texts in marks]


def study_sets(
    source: PageSource,
    *,
    texts: bool = True,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[PageSet, ...]:
    """The test sets of a store; see :func:`gnomon.study.pages`."""
    planned_sets = {planned_set.name: planned_set for planned_set in source.store.sets()}
    sets = []
    for name in dict.fromkeys(entry.testset for entry in source.entries):
        planned = planned_sets.get(name)
        missing = _missing(name, planned) if texts else message("note.study.no_texts")
        systems, segments = _size(source, name, planned)
        marked = Markers()
        if planned is not None and missing is None:
            marked = _markers(source, planned, cache=cache, progress=progress)
        page = PageSet(
            name,
            planned.sketch.language_pair if planned else None,
            segments,
            systems,
            planned.sketch.references if planned else (),
            _metrics(source, name),
            partial(_segment_scores, source, name, systems, segments),
            partial(_segments, planned, systems, marked, missing=missing is not None),
            marked.layers,
            missing,
            marked.notices,
        )
        sets.append(page)
    return tuple(sets)


def _missing(name: str, planned: PlannedSet | None) -> Message | None:
    if planned is None:
        return message("note.study.no_place", testset=name)
    try:
        planned.read()
    except DataError as error:
        return error.message
    return None


def _size(source: PageSource, name: str, planned: PlannedSet | None) -> tuple[tuple[str, ...], int]:
    if planned is not None:
        return tuple(planned.sketch.systems), planned.sketch.segments
    entries = [entry for entry in source.entries if entry.testset == name]
    systems = tuple(dict.fromkeys(system for entry in entries for system in entry.systems))
    if name not in source.testsets("segments"):
        return systems, 0
    stored_rows = source.rows(_SEGMENTS, testset=name)
    return systems, int(source.query(f"select max(segment) from {stored_rows}")[0][0])  # noqa: S608  # no input


def _metrics(source: PageSource, name: str) -> tuple[str, ...]:
    """The metrics with segment scores, as rows name them: a spec may be spelled otherwise."""
    of_set = (entry for entry in source.entries if entry.testset == name)
    entries = [entry for entry in of_set if entry.rows.get("segments")]
    return tuple(dict.fromkeys(metric for entry in entries for metric in entry.signatures))


def _segment_scores(
    source: PageSource, name: str, systems: Sequence[str], segments: int, metric: str
) -> NDArray[np.float64]:
    stored_rows = source.rows(_SEGMENTS, testset=name, metric=metric)
    with source.explain_damage():
        asked = source.connection.execute(
            "select list_position($systems, system) as k, segment as i, score"  # noqa: S608  # no input
            f" from {stored_rows} where metric = $metric and score is not null",
            {"systems": list(systems), "metric": metric},
        )
        columns = asked.fetchnumpy()
    scores = np.full((len(systems), segments), np.nan)
    scores[columns["k"] - 1, columns["i"] - 1] = columns["score"]
    return scores


def _segments(
    planned: PlannedSet | None, systems: Sequence[str], marked: Markers, *, missing: bool
) -> Iterator[PageSegment]:
    if missing or planned is None:
        return
    testset = planned.read()
    step = max(1, _TEXTS // max(1, len(systems)))
    for first in range(0, testset.segments, step):
        some = range(first, min(testset.segments, first + step))
        yield from _stretch(testset, systems, some, marked)


def _stretch(
    testset: TestSet, systems: Sequence[str], segments: range, marked: Markers
) -> Iterator[PageSegment]:
    """Some segments; their texts are marked together."""
    references = {name: testset.references[name] for name in testset.references}
    stretch = SegmentRange(
        segments.start,
        [
            {name: t for name, texts in references.items() if (t := texts[i]) is not None}
            for i in segments
        ],
        [{name: testset.systems[name][i] for name in systems} for i in segments],
    )
    for i, outputs, marks in zip(segments, stretch.outputs, marked.marks(stretch), strict=True):
        source = testset.sources[i] if testset.sources else None
        said = [source, *(texts[i] for texts in references.values()), *outputs.values()]
        numbers: dict[str, int] = {}
        places = [None if t is None else numbers.setdefault(t, len(numbers)) for t in said]
        yield PageSegment(
            document=testset.documents[i] if testset.documents else None,
            domain=testset.domains[i] if testset.domains else None,
            texts=tuple(PageText(text, marks.get(text, ())) for text in numbers),
            source=places[0],
            references=tuple(places[1 : 1 + len(references)]),
            outputs=tuple(places[1 + len(references) :]),
        )


def _markers(
    source: PageSource,
    planned: PlannedSet,
    *,
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
) -> Markers:
    """Whatever the methods of a test set mark in its texts."""
    markers: list[Highlighter] = []
    notices = []
    methods_of_set = {entry.method for entry in source.entries if entry.testset == planned.name}
    for name in (method for method in source.store.methods() if method in methods_of_set):
        method = methods.installed(name)
        if method is None or method.marks is None:
            continue
        try:
            marker = method.marks(SetRows(source, planned, method, cache, progress))
        except GnomonError as error:
            notices.append(
                message(
                    "note.study.unmarked",
                    method=name,
                    testset=planned.name,
                    reason=error.message,
                )
            )
        else:
            markers += [] if marker is None else [marker]
    return Markers(tuple(markers), tuple(notices))


#: the tables of scores
_SCORES, _SEGMENTS = "scores", "segments"
#: the method that tests what scores show
_COMPARE = "compare"
#: the places of systems on all test sets, and the table that says who shares the first
_PLACES, _COMPARISONS = "places", "comparisons"
_PLACE_COLUMNS = (
    Column("metric", "Metric"),
    Column("on", "Test set"),
    Column("system", "System"),
    Column("rank", "Place", "count", better="lower", help="by the score, on the test set"),
    Column("score", "Score", "number"),
    Column("first", "First", "truth", help="no other is shown to be better there"),
)
_METHOD = Column("method", "Method")
_METRICS = Column("metrics", "Metrics")
_TASK_COUNT = Column("tasks", "Tasks", "count")
_SIGNATURES = (
    _METHOD,
    Column("of", "Of"),
    Column("signature", "Signature"),
    _TASK_COUNT,
)
_NOTICES = (_METHOD, _METRICS, Column("notice", "Notice"), _TASK_COUNT)


def pages(
    store: Store,
    *,
    texts: bool = True,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> StudyPages:
    """Prepare the pages of a store."""
    source = PageSource.read_store(store)
    sets = study_sets(source, texts=texts, cache=cache, progress=progress)
    of_methods = _tables_of_methods(source)
    tables = [stored_table(source, name, "systems") for name in source.tables if name == _SCORES]
    for method, names in of_methods.items():
        tables += [stored_table(source, name, method) for name in names]
    installed = [method for method in map(methods.installed, store.methods()) if method is not None]
    return StudyPages(
        title=store.name,
        facts=_facts(sets, source.entries),
        notices=(
            *_undone(len(store.planned()), len(source.entries)),
            *(study_set.missing for study_set in sets if texts and study_set.missing),
            *(notice for study_set in sets for notice in study_set.notices),
            *(
                message("note.muler.own_tokens", method=methods.title_of(method))
                for method in mask_own_tokens(source.entries)
            ),
        ),
        lower_is_better=_lower(source),
        standings=tuple(
            method.standing
            for method in installed
            if method.standing and method.standing.table in source.tables
        ),
        sections=[
            PageSection(name, methods.title_of(name), method.purpose if method else "")
            for name in of_methods
            for method in [methods.installed(name)]
        ],
        tables=(
            *tables,
            *_places(source),
            *(
                view_table(source, view, method.name)
                for method in installed
                for view in method.views
                if set(source.tables) >= set(view.of)
            ),
            *_provenance(source),
        ),
        testsets=sets,
        verdicts=verdicts(store),
        names=_short_names(source),
    )


def verdicts(store: Store) -> tuple[PageVerdict, ...]:
    """Verdicts of a store's last study, test set by test set; without texts or SQL.

    Methods say what their tasks found; of metrics whose systems no task compared it is said who is
    on top.
    """
    there = store.entries
    done = [there[key] for key in store.planned() if key in there]
    names, titles = dict.fromkeys(entry.testset for entry in done), _titles(done)
    return tuple(
        verdict
        for name in names
        for verdict in _verdicts_on(
            store, name, [entry for entry in done if entry.testset == name], titles
        )
    )


def _titles(entries: Sequence[FinishedTask]) -> dict[str, str]:
    """The short names of all metrics of a study."""
    return metric_titles(metric for entry in entries for metric in entry.signatures)


#: columns that hold names of metrics
_OF_METRICS = frozenset({"metric", "metrics", "against", "baseline"})


def _short_names(source: PageSource) -> dict[str, str]:
    """The short names that pages show; what a word or a system is called, too, stays as it is."""
    titles = _titles(source.entries)
    plain = [spec for spec in titles if "(" not in spec]
    others = {name for entry in source.entries for name in entry.systems}
    for table in source.tables if plain else ():
        stored_rows = source.rows(table)
        texts = [
            name
            for name, kind in source.columns(stored_rows).items()
            if kind == "VARCHAR" and name not in _OF_METRICS
        ]
        for name in texts:
            asked = f'select distinct "{name}" from {stored_rows} where list_contains(?, "{name}")'  # noqa: S608  # columns of ours
            others |= {spec for (spec,) in source.query(asked, plain)}
    return {spec: title for spec, title in titles.items() if spec not in others}


def _statements_of(entry: FinishedTask, titles: Mapping[str, str]) -> Iterator[Message]:
    """Yield a task's statements; a metric of it alone gets a name unlike the others'."""
    alone = metric_titles(entry.signatures)
    other = {alone[spec]: titles[spec] for spec in entry.signatures if alone[spec] != titles[spec]}
    return (said.renamed(lambda name: other.get(name, name)) for said in entry.verdict)


def _verdicts_on(
    store: Store, name: str, done: Sequence[FinishedTask], titles: Mapping[str, str]
) -> Iterator[PageVerdict]:
    """Yield methods' verdicts on a test set, in the order in which these are listed.

    Who is on top comes first where no metric was compared, and last where some were.
    """
    done = list(_entries_of_whole(done))
    entries = [entry for entry in done if entry.verdict]
    compared = (entry for entry in entries if entry.method == _COMPARE)
    tested = {metric for entry in compared for metric in entry.metrics}
    scores = [scored for scored in _system_scores(store, done) if scored.metric not in tested]
    tops = (
        [PageVerdict(name, "systems", top)]
        if (top := summarise_scores(scores, _SCORES, shell=False))
        else []
    )
    listed = {method: n for n, method in enumerate(methods.names())}
    by_method: dict[str, dict[Message, None]] = {}
    for entry in entries:  # tasks of several metrics say the same of numbers of words, say
        by_method.setdefault(entry.method, {}).update(dict.fromkeys(_statements_of(entry, titles)))
    verdicts = [PageVerdict(name, method, [*said]) for method, said in by_method.items()]
    verdicts.sort(key=lambda verdict: listed.get(verdict.section, len(listed)))
    yield from verdicts if tested else [*tops, *verdicts]
    yield from untested(name, done)
    yield from tops if tested else ()


def _entries_of_whole(done: Sequence[FinishedTask]) -> Iterator[FinishedTask]:
    """Tasks of a test set; what was said of one system of several is not to be read alone."""
    several = len({name for entry in done for name in entry.systems}) > 1
    for entry in done:
        chosen = methods.installed(entry.method)
        alone = several and len(entry.systems) == 1 and chosen is not None and chosen.by_system
        yield replace(entry, verdict=()) if alone else entry


def untested(name: str, done: Sequence[FinishedTask]) -> Iterator[PageVerdict]:
    """Methods that took each system alone, which says nothing of several."""
    for method in dict.fromkeys(entry.method for entry in done if not entry.verdict):
        entries = [entry for entry in done if entry.method == method]
        chosen = methods.installed(method)
        systems = {name for entry in entries for name in entry.systems}
        if chosen is None or chosen.verdict is None or len(systems) == 1:
            continue
        if all(len(entry.systems) == 1 and not entry.verdict for entry in entries):
            text = message(
                "study.one_by_one",
                systems=counted(len(systems), "system"),
                method=methods.title_of(method),
            )
            yield PageVerdict(name, method, [text])


def _system_scores(store: Store, done: Sequence[FinishedTask]) -> Iterator[Scores]:
    """Scores of systems as the store holds them: without those of segments."""
    by_metric: dict[str, list[SystemScore]] = {}
    notices: dict[str, dict[Message, None]] = {}
    segments = 0
    for entry in (entry for entry in done if entry.rows.get(_SCORES)):
        segments = max(segments, entry.rows.get(_SEGMENTS, 0) // max(1, entry.rows[_SCORES]))
        for row in _rows_of_systems(store, entry):
            by_metric.setdefault(row.metric, []).append(row)
            notices.setdefault(row.metric, {}).update(dict.fromkeys(entry.notices))
    for metric, rows in by_metric.items():
        yield Scores(
            metric,
            tuple(row.system for row in rows),
            np.array([np.nan if row.score is None else row.score for row in rows]),
            np.broadcast_to(np.nan, (len(rows), segments)),
            rows[0].higher_is_better is not False,
            Signature(metric),
            notices=tuple(notices[metric]),
            doubtful=tuple(row.system for row in rows if row.doubtful),
            empty={row.system: row.empty or 0 for row in rows},
        )


def _rows_of_systems(store: Store, entry: FinishedTask) -> Iterator[SystemScore]:
    file = store.file(_SCORES, entry.key)
    store.check_files([file])
    cells = cells_of(file)
    for row in zip(*cells.values(), strict=True):
        yield SystemScore.from_row(dict(zip(cells, row, strict=True)))


def _facts(sets: Sequence[PageSet], entries: Sequence[FinishedTask]) -> dict[str, str]:
    names = {spec: name for spec, name in _titles(entries).items() if "(" in spec}
    metrics = dict.fromkeys(names.get(spec, spec) for entry in entries for spec in entry.metrics)
    return {
        "test sets": str(len(sets)),
        "systems": str(len({name for study_set in sets for name in study_set.systems})),
        "segments": f"{sum(study_set.segments for study_set in sets):,}",
        "metrics": ", ".join(metrics),
        "methods": ", ".join(dict.fromkeys(entry.method for entry in entries)),
        "tasks": str(len(entries)),
        "computed in": f"{sum(entry.seconds for entry in entries):,.0f} s of one worker",
    }


def _lower(source: PageSource) -> tuple[str, ...]:
    if _SCORES not in source.tables:
        return ()
    stored_rows = source.rows(_SCORES)
    if "higher_is_better" not in source.columns(stored_rows):
        return ()
    asked = f"select distinct metric from {stored_rows} where not higher_is_better order by 1"  # noqa: S608  # no input
    return tuple(str(row[0]) for row in source.query(asked))


def _places(source: PageSource) -> Iterator[PageTable]:
    """The places of the systems on several test sets, those with the best ones first."""
    if len(source.testsets(_SCORES)) < 2:
        return
    first = _first_places(source)
    found = source.query(
        "select *, avg(rank) over (partition by metric, system) as mean from"  # noqa: S608  # no input
        " (select *, rank() over (partition by metric, testset"
        " order by if(list_contains(?, metric), score, -score)) as rank from"
        f" (select distinct metric, testset, system, score from {source.rows(_SCORES)}"
        " where score is not null)) order by mean, system, testset",
        list(_lower(source)),
    )
    rows = [
        {
            "metric": metric,
            "on": testset,
            "system": system,
            "rank": rank,
            "score": score,
            "first": (metric, testset, system) in first,
        }
        for metric, testset, system, score, rank, _ in found
    ]
    metrics = dict.fromkeys(name for entry in source.entries for name in entry.signatures)
    titles = metric_titles(metric for metric in metrics if any(r["metric"] == metric for r in rows))
    rows.sort(key=lambda row: list(titles).index(row["metric"]))
    views = [
        HeatMap(
            _PLACES,
            f"Places under {title} on each test set (* has or shares the first)",
            "system", "on", "rank", "score", {"metric": metric}, marks="first", ordered=True,
        )
        for metric, title in titles.items()
    ]  # fmt: skip
    made = computed_table(_PLACES, "Places of the systems", _PLACE_COLUMNS, lambda: rows)
    yield replace(made, section="systems", views=views)


def _first_places(source: PageSource) -> set[tuple[str, str, str]]:
    """Metric, test set and system of those that comparisons do not find worse than any other."""
    if _COMPARISONS not in source.tables:
        return set()
    rows = source.query(
        "select metric, testset, system, baseline, verdict, beaten_by"  # noqa: S608  # no input
        f" from {source.rows(_COMPARISONS)} where slice is null"
    )
    beaten = {
        (metric, testset) for metric, testset, _, _, verdict, _ in rows if verdict == "better"
    }
    return {
        (metric, testset, system)
        for metric, testset, system, baseline, verdict, beaten_by in rows
        if (metric, testset) not in beaten
        and (system == baseline or (verdict == "undecided" and beaten_by is None))
    }


def _undone(planned: int, done: int) -> list[Message]:
    if done == planned:
        return []
    return [message("note.study.undone", left=planned - done, planned=planned)]


def _tables_of_methods(source: PageSource) -> dict[str, list[str]]:
    """The tables that methods gave rows, each with the first method that did; main tables first."""
    tables: dict[str, list[str]] = {}
    there = {_SCORES, _SEGMENTS}  # the test sets hold these
    for entry in source.entries:
        for name, rows in entry.rows.items():
            if rows and name not in there:
                there.add(name)
                tables.setdefault(entry.method, []).append(name)
    return {name: tables[name] for name in source.store.methods() if name in tables}


def _provenance(source: PageSource) -> list[PageTable]:
    """Where the results are from."""
    entries = source.entries
    return [
        computed_table("signatures", "Signatures", _SIGNATURES, lambda: _signatures(entries)),
        computed_table("notices", "Notices", _NOTICES, lambda: _notices(entries)),
        internal_table(source, "testsets", "Test sets"),
        internal_table(source, "tasks", "Tasks"),
    ]


def _signatures(entries: Sequence[FinishedTask]) -> Iterator[Row]:
    tally = Counter(
        (entry.method, name, text) for entry in entries for name, text in entry.signatures.items()
    )
    for (method, name, text), count in tally.items():
        yield {"method": method, "of": name, "signature": text, "tasks": count}


def _notices(entries: Sequence[FinishedTask]) -> Iterator[Row]:
    tally = Counter(
        (entry.method, ", ".join(entry.metrics), text)
        for entry in entries
        for text in entry.notices
    )
    for (method, metrics, text), count in tally.items():
        yield {"method": method, "metrics": metrics or None, "notice": str(text), "tasks": count}
