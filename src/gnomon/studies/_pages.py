"""What a store holds, as the report of a study shows it: tables, and texts read again.

Texts come from the test sets of the last plan and are shown only where they are those that the
results are of.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gnomon.core import registry as methods
from gnomon.core.errors import DataError, GnomonError
from gnomon.core.findings import Column
from gnomon.core.pages import (
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
from gnomon.core.store_views import Stretch
from gnomon.core.verdicts import Claim, counted, of_scores
from gnomon.metrics.titles import metric_titles
from gnomon.studies._page_rows import PageSource, SetRows, made_table, stored_table, view_table
from gnomon.studies._tables import cells_of
from gnomon.studies._tasks import SystemScore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.cache import Cache
    from gnomon.core.findings import Cell, Statement
    from gnomon.core.store_views import Layer, Mark, Marker
    from gnomon.core.testset import TestSet
    from gnomon.studies._folder import FinishedTask
    from gnomon.studies._sources import PlannedSet
    from gnomon.studies._store import Store

    Row: TypeAlias = Mapping[str, Cell]


# Test sets of a store as a report shows them: texts read again, scores, and what is marked.


_ONE_BY_ONE = Claim(
    "study.one_by_one",
    "{systems} were scored one at a time, so that nothing is said of all of them together. Whoever"
    " runs the study can let {method} take all of them at once",
    "undecided",
    "each task of the method had one system, of several",
)
#: what pages of a study say beside what methods said
CLAIMS = (_ONE_BY_ONE,)

#: outputs that are marked in one go
_TEXTS = 20_000


@dataclass(frozen=True)
class Markers:
    """Everything that marks the texts of one test set."""

    markers: tuple[Marker, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def layers(self) -> tuple[Layer, ...]:
        """All layers, in order."""
        return tuple(layer for one in self.markers for layer in one.layers)

    def marks(self, stretch: Stretch) -> list[dict[str, list[Mark]]]:
        """The marks of each text, segment by segment; each text once per layer."""
        found: list[dict[str, dict[int, Mark]]] = [{} for _ in stretch.outputs]
        base = 0
        for one in self.markers:
            for i, text, (layer, ends, values) in one.marks(stretch):
                number = base + layer
                found[i].setdefault(text, {}).setdefault(number, (number, ends, values))
            base += len(one.layers)
        return [{text: list(own.values()) for text, own in texts.items()} for texts in found]


@dataclass(frozen=True)
class StudySet:
    """A test set of a study."""

    page: PageSet
    planned: PlannedSet | None

    def testset(self) -> TestSet | None:
        """Its texts, where they can be shown."""
        return None if self.page.missing or self.planned is None else self.planned.read()


def study_sets(
    source: PageSource,
    *,
    texts: bool = True,
    spans: bool = True,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[StudySet, ...]:
    """The test sets of a store; see :func:`gnomon.study.pages`."""
    known = {one.name: one for one in source.store.sets()}
    found = []
    for name in dict.fromkeys(entry.testset for entry in source.entries):
        planned = known.get(name)
        missing = _missing(name, planned) if texts else "texts were not asked for"
        systems, segments = _size(source, name, planned)
        marked = Markers()
        if planned is not None and not missing:
            marked = _markers(source, planned, spans=spans, cache=cache, progress=progress)
        page = PageSet(
            name,
            planned.sketch.language_pair if planned else None,
            segments,
            systems,
            planned.sketch.references if planned else (),
            _metrics(source, name),
            partial(_segment_scores, source, name, systems, segments),
            partial(_segments, planned, systems, marked, missing=bool(missing)),
            marked.layers,
            missing,
            marked.notices,
        )
        found.append(StudySet(page, planned))
    return tuple(found)


def _missing(name: str, planned: PlannedSet | None) -> str:
    if planned is None:
        return f"the store does not say where the texts of {name} are; run the study again"
    try:
        planned.read()
    except DataError as error:
        return str(error)
    return ""


def _size(source: PageSource, name: str, planned: PlannedSet | None) -> tuple[tuple[str, ...], int]:
    if planned is not None:
        return tuple(planned.sketch.systems), planned.sketch.segments
    own = [entry for entry in source.entries if entry.testset == name]
    systems = tuple(dict.fromkeys(system for entry in own for system in entry.systems))
    if name not in source.testsets("segments"):
        return systems, 0
    held = source.rows(_SEGMENTS, testset=name)
    return systems, int(source.ask(f"select max(segment) from {held}")[0][0])  # noqa: S608  # no input


def _metrics(source: PageSource, name: str) -> tuple[str, ...]:
    """The metrics with segment scores, as rows name them: a spec may be spelled otherwise."""
    own = [one for one in source.entries if one.testset == name and one.rows.get("segments")]
    return tuple(dict.fromkeys(metric for entry in own for metric in entry.signatures))


def _segment_scores(
    source: PageSource, name: str, systems: Sequence[str], segments: int, metric: str
) -> NDArray[np.float64]:
    held = source.rows(_SEGMENTS, testset=name, metric=metric)
    with source.explain_damage():
        asked = source.connection.execute(
            "select list_position($systems, system) as k, segment as i, score"  # noqa: S608  # no input
            f" from {held} where metric = $metric and score is not null",
            {"systems": list(systems), "metric": metric},
        )
        found = asked.fetchnumpy()
    scores = np.full((len(systems), segments), np.nan)
    scores[found["k"] - 1, found["i"] - 1] = found["score"]
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
    stretch = Stretch(
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
    spans: bool,
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
) -> Markers:
    """Whatever the methods of a test set mark in its texts."""
    found: list[Marker] = []
    notices = []
    own = {one.method for one in source.entries if one.testset == planned.name}
    for name in (one for one in source.store.methods() if one in own):
        method = methods.installed(name)
        if method is None or method.marks is None or (method.tagged and not spans):
            continue
        try:
            marker = method.marks(SetRows(source, planned, method, cache, progress))
        except GnomonError as error:
            notices.append(f"{name} marks nothing in the texts of {planned.name}: {error}")
        else:
            found += [] if marker is None else [marker]
    return Markers(tuple(found), tuple(notices))


#: the tables of scores
_SCORES, _SEGMENTS = "scores", "segments"
#: the method that tests what scores show
_COMPARE = "compare"
_TESTSET = Column("testset", "Test set")
_METHOD = Column("method", "Method")
_METRICS = Column("metrics", "Metrics")
_TASK_COUNT = Column("tasks", "Tasks", "count")
_REFERENCES = (
    _TESTSET,
    Column("reference", "Reference"),
    Column("of_system", "Of system"),
    Column(
        "paraphrases_by", "Paraphrases by", help="the method that made it, where it is a paraphrase"
    ),
    Column("segments", "Segments", "count", help="segments that have it"),
    Column("words", "Words", "count"),
    Column("words_per_segment", "Words per segment", "number"),
    Column(
        "same_as_first",
        "Same as first",
        "share",
        help="share of its segments that are those of the first reference",
    ),
)
_SIGNATURES = (
    _METHOD,
    Column("of", "Of"),
    Column("signature", "Signature"),
    _TASK_COUNT,
)
_NOTICES = (_METHOD, _METRICS, Column("notice", "Notice"), _TASK_COUNT)
_VERSIONS = (Column("what", "What"), Column("version", "Version"), _TASK_COUNT)
_TASKS = (
    Column("key", "Key"),
    _METHOD,
    _TESTSET,
    _METRICS,
    Column("systems", "Systems", "count"),
    Column("options", "Options"),
    Column("seconds", "Seconds", "number", help="wall clock of one worker"),
    Column("finished", "Finished"),
)
_SETS = (
    _TESTSET,
    Column("language_pair", "Language pair"),
    Column("systems", "Systems", "count"),
    Column("segments", "Segments", "count"),
    Column("references", "References", "count"),
    Column("texts", "Texts"),
    Column("path", "Path"),
)


def pages(
    store: Store,
    *,
    texts: bool = True,
    spans: bool = True,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> StudyPages:
    """What a store holds, ready to be shown."""
    source = PageSource.of_store(store)
    sets = study_sets(source, texts=texts, spans=spans, cache=cache, progress=progress)
    of_methods = _tables_of_methods(source)
    tables = [stored_table(source, name, "systems") for name in source.tables if name == _SCORES]
    for method, names in of_methods.items():
        tables += [stored_table(source, name, method) for name in names]
    installed = [one for one in map(methods.installed, store.methods()) if one is not None]
    return StudyPages(
        title=store.name,
        facts=_facts(sets, source.entries),
        notices=(
            *_undone(len(store.planned()), len(source.entries)),
            *(one.page.missing for one in sets if texts and one.page.missing),
            *(notice for one in sets for notice in one.page.notices),
        ),
        lower_is_better=_lower(source),
        standings=tuple(
            one.standing
            for one in installed
            if one.standing and one.standing.table in source.tables
        ),
        sections=[
            PageSection(name, methods.title_of(name), found.answers if found else "")
            for name in of_methods
            for found in [methods.installed(name)]
        ],
        tables=(
            *tables,
            *(
                view_table(source, view, one.name)
                for one in installed
                for view in one.views
                if set(source.tables) >= set(view.of)
            ),
            *_made_tables(sets, source.entries),
        ),
        testsets=[one.page for one in sets],
        verdicts=verdicts(store),
        names=_short_names(source),
    )


def verdicts(store: Store) -> tuple[PageVerdict, ...]:
    """What the last study in a store found, test set by test set; neither texts nor SQL are needed.

    Methods say what their tasks found; of metrics whose systems no task compared it is said who is
    on top.
    """
    there = store.entries
    done = [there[key] for key in store.planned() if key in there]
    names, titles = dict.fromkeys(entry.testset for entry in done), _titles(done)
    return tuple(
        one
        for name in names
        for one in _found_on(
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
        held = source.rows(table)
        texts = [
            name
            for name, kind in source.columns(held).items()
            if kind == "VARCHAR" and name not in _OF_METRICS
        ]
        for name in texts:
            asked = f'select distinct "{name}" from {held} where list_contains(?, "{name}")'  # noqa: S608  # columns of ours
            others |= {one for (one,) in source.ask(asked, plain)}
    return {spec: title for spec, title in titles.items() if spec not in others}


def _told_of(entry: FinishedTask, titles: Mapping[str, str]) -> Iterator[Statement]:
    """What a task found; a metric that it alone had is told from the others of the study."""
    alone = metric_titles(entry.signatures)
    other = {alone[one]: titles[one] for one in entry.signatures if alone[one] != titles[one]}
    for one in entry.verdict:
        text = one.text
        for short, full in other.items():
            pattern = rf"(?<!\w){re.escape(short)}(?!\w)"
            text = re.sub(pattern, full.replace("\\", r"\\"), text)
        yield replace(one, text=text)


def _found_on(
    store: Store, name: str, done: Sequence[FinishedTask], titles: Mapping[str, str]
) -> Iterator[PageVerdict]:
    """What methods said of a test set, in the order in which these are listed.

    Who is on top comes first where no metric was compared, and last where some were.
    """
    done = list(_of_whole(done))
    entries = [one for one in done if one.verdict]
    tested = {metric for one in entries if one.method == _COMPARE for metric in one.metrics}
    scores = [one for one in _system_scores(store, done) if one.metric not in tested]
    tops = (
        [PageVerdict(name, "systems", top)]
        if (top := of_scores(scores, _SCORES, shell=False))
        else []
    )
    listed = {method: n for n, method in enumerate(methods.names())}
    told = [
        PageVerdict(
            name,
            method,
            [told for one in entries if one.method == method for told in _told_of(one, titles)],
        )
        for method in dict.fromkeys(one.method for one in entries)
    ]
    told.sort(key=lambda one: listed.get(one.section, len(listed)))
    yield from told if tested else [*tops, *told]
    yield from _untested(name, done)
    yield from tops if tested else ()


def _of_whole(done: Sequence[FinishedTask]) -> Iterator[FinishedTask]:
    """Tasks of a test set; what was said of one system of several is not to be read alone."""
    several = len({name for one in done for name in one.systems}) > 1
    for one in done:
        chosen = methods.installed(one.method)
        alone = several and len(one.systems) == 1 and chosen is not None and chosen.by_system
        yield replace(one, verdict=()) if alone else one


def _untested(name: str, done: Sequence[FinishedTask]) -> Iterator[PageVerdict]:
    """Methods that took each system alone, which says nothing of several."""
    for method in dict.fromkeys(one.method for one in done if not one.verdict):
        own = [one for one in done if one.method == method]
        chosen, systems = methods.installed(method), {name for one in own for name in one.systems}
        if chosen is None or chosen.verdict is None or len(systems) == 1:
            continue
        if all(len(one.systems) == 1 and not one.verdict for one in own):
            text = _ONE_BY_ONE.said(
                systems=counted(len(systems), "system"), method=methods.title_of(method)
            )
            yield PageVerdict(name, method, [text])


def _system_scores(store: Store, done: Sequence[FinishedTask]) -> Iterator[Scores]:
    """Scores of systems as the store holds them: without those of segments."""
    found: dict[str, list[SystemScore]] = {}
    notices: dict[str, dict[str, None]] = {}
    segments = 0
    for entry in (one for one in done if one.rows.get(_SCORES)):
        segments = max(segments, entry.rows.get(_SEGMENTS, 0) // max(1, entry.rows[_SCORES]))
        for row in _rows_of_systems(store, entry):
            found.setdefault(row.metric, []).append(row)
            notices.setdefault(row.metric, {}).update(dict.fromkeys(entry.notices))
    for metric, rows in found.items():
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
    store.fetch([file])
    cells = cells_of(file)
    for row in zip(*cells.values(), strict=True):
        yield SystemScore.from_row(dict(zip(cells, row, strict=True)))


def _facts(sets: Sequence[StudySet], entries: Sequence[FinishedTask]) -> dict[str, str]:
    names = {spec: name for spec, name in _titles(entries).items() if "(" in spec}
    metrics = dict.fromkeys(names.get(one, one) for entry in entries for one in entry.metrics)
    return {
        "test sets": str(len(sets)),
        "systems": str(len({name for one in sets for name in one.page.systems})),
        "segments": f"{sum(one.page.segments for one in sets):,}",
        "metrics": ", ".join(metrics),
        "methods": ", ".join(dict.fromkeys(entry.method for entry in entries)),
        "tasks": str(len(entries)),
        "computed in": f"{sum(entry.seconds for entry in entries):,.0f} s of one worker",
    }


def _lower(source: PageSource) -> tuple[str, ...]:
    if _SCORES not in source.tables:
        return ()
    held = source.rows(_SCORES)
    if "higher_is_better" not in source.columns(held):
        return ()
    asked = f"select distinct metric from {held} where not higher_is_better order by 1"  # noqa: S608  # no input
    return tuple(str(row[0]) for row in source.ask(asked))


def _undone(planned: int, done: int) -> list[str]:
    if done == planned:
        return []
    return [f"{planned - done} of {planned} tasks of the study are not done; run it again"]


def _tables_of_methods(source: PageSource) -> dict[str, list[str]]:
    """The tables that methods gave rows, each with the first method that did; main tables first."""
    found: dict[str, list[str]] = {}
    there = {_SCORES, _SEGMENTS}  # the test sets hold these
    for entry in source.entries:
        for name, rows in entry.rows.items():
            if rows and name not in there:
                there.add(name)
                found.setdefault(entry.method, []).append(name)
    return {name: found[name] for name in source.store.methods() if name in found}


def _made_tables(sets: Sequence[StudySet], entries: Sequence[FinishedTask]) -> list[PageTable]:
    """Tables that a store does not hold as such, in the order of their page."""
    return [
        made_table(name, title, columns, rows)
        for name, title, columns, rows in (
            ("signatures", "Signatures", _SIGNATURES, lambda: _signatures(entries)),
            ("notices", "Notices", _NOTICES, lambda: _notices(entries)),
            ("versions", "Made with", _VERSIONS, lambda: _versions(entries)),
            ("testsets", "Test sets", _SETS, lambda: _sets(sets)),
            ("references", "References", _REFERENCES, lambda: _references(sets)),
            ("tasks", "Tasks", _TASKS, lambda: _tasks(entries)),
        )
    ]


def _references(sets: Sequence[StudySet]) -> Iterator[Row]:
    for one in sets:
        testset = one.testset()
        if testset is not None:
            yield from _of_set(one.page.name, testset)


def _of_set(name: str, testset: TestSet) -> Iterator[Row]:
    first = next(iter(testset.references.values()), ())
    columns = [("", reference, texts) for reference, texts in testset.references.items()] + [
        (system, reference, texts)
        for system, own in testset.system_references.items()
        for reference, texts in own.items()
    ]
    for system, reference, texts in columns:
        there = [text for text in texts if text is not None]
        words = sum(len(text.split()) for text in there)
        same = sum(a == b for a, b in zip(texts, first, strict=True) if a is not None)
        yield {
            "testset": name,
            "reference": reference,
            "of_system": system or None,
            "paraphrases_by": testset.paraphrases.get(reference),
            "segments": len(there),
            "words": words,
            "words_per_segment": words / len(there) if there else None,
            "same_as_first": same / len(there) if there else None,
        }


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
        yield {"method": method, "metrics": metrics or None, "notice": text, "tasks": count}


def _versions(entries: Sequence[FinishedTask]) -> Iterator[Row]:
    tally = Counter(
        pair
        for entry in entries
        for pair in (("gnomon", entry.gnomon), *entry.made_with.items())
        if pair[1]
    )
    for (what, version), count in tally.items():
        yield {"what": what, "version": version, "tasks": count}


def _tasks(entries: Sequence[FinishedTask]) -> Iterator[Row]:
    for one in entries:
        yield {
            "key": one.key,
            "method": one.method,
            "testset": one.testset,
            "metrics": ", ".join(one.metrics) or None,
            "systems": len(one.systems),
            "options": one.options or None,
            "seconds": one.seconds,
            "finished": one.finished or None,
        }


def _sets(sets: Sequence[StudySet]) -> Iterator[Row]:
    for page, planned in ((one.page, one.planned) for one in sets):
        yield {
            "testset": page.name,
            "language_pair": page.language_pair,
            "systems": len(page.systems),
            "segments": page.segments,
            "references": len(page.references),
            "texts": page.missing or "shown; they are those that the results are of",
            "path": planned.source.path if planned else "",
        }
