"""Test sets of a store as a report shows them: texts read again, scores, and what is marked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import DataError
from gnomon.study._page_marks import Markers, Stretch, Text, markers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.cache import Cache
    from gnomon.study._page_marks import Layer
    from gnomon.study._page_source import PageSource
    from gnomon.study._sources import PlannedSet
    from gnomon.testset import TestSet


#: outputs that are marked in one go
_TEXTS = 20_000


@dataclass(frozen=True)
class StudySegment:
    """A segment with its texts, each distinct one once; numbers are those of the texts."""

    document: str | None
    domain: str | None
    texts: tuple[Text, ...]
    source: int | None
    references: tuple[int | None, ...]
    outputs: tuple[int | None, ...]


@dataclass(frozen=True)
class StudySet:
    """A test set of a study.

    Attributes:
        name: its name in the tables.
        language_pair: if known.
        segments: N.
        systems: names of the K systems.
        references: names of the references.
        metrics: metrics with segment scores.
        missing: why its texts are not shown; empty where they are.
        path: where the plan found it.
        layers: what can be marked: kind, name, and the ends of the scale of its values.
        notices: what cannot be marked, and why.
    """

    name: str
    language_pair: str | None
    segments: int
    systems: tuple[str, ...]
    references: tuple[str, ...]
    metrics: tuple[str, ...]
    missing: str
    path: str
    layers: tuple[Layer, ...]
    notices: tuple[str, ...]
    _source: PageSource = field(repr=False)
    _planned: PlannedSet | None = field(repr=False)
    _markers: Markers = field(repr=False)

    def testset(self) -> TestSet | None:
        """Its texts, where they can be shown."""
        return None if self.missing or self._planned is None else self._planned.read()

    def scores(self, metric: str) -> NDArray[np.float64]:
        """Segment scores, float64 [K, N]; NaN where there is none."""
        held = self._source.rows("segments", testset=self.name, metric=metric)
        with self._source.told():
            asked = self._source.connection.execute(
                "select list_position($systems, system) as k, segment as i, score"  # noqa: S608  # no input
                f" from {held} where metric = $metric and score is not null",
                {"systems": list(self.systems), "metric": metric},
            )
            found = asked.fetchnumpy()
        scores = np.full((len(self.systems), self.segments), np.nan)
        scores[found["k"] - 1, found["i"] - 1] = found["score"]
        return scores

    def read(self) -> Iterator[StudySegment]:
        """The segments in order; nothing where texts are missing."""
        testset = self.testset()
        if testset is None:
            return
        step = max(1, _TEXTS // max(1, len(self.systems)))
        for first in range(0, self.segments, step):
            yield from _stretch(
                testset, self.systems, range(first, min(self.segments, first + step)), self._markers
            )


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
            marked = markers(source, planned, spans=spans, cache=cache, progress=progress)
        found.append(
            StudySet(
                name=name,
                language_pair=planned.sketch.language_pair if planned else None,
                segments=segments,
                systems=systems,
                references=planned.sketch.references if planned else (),
                metrics=_metrics(source, name),
                missing=missing,
                path=planned.source.path if planned else "",
                layers=marked.layers,
                notices=marked.notices,
                _source=source,
                _planned=planned,
                _markers=marked,
            )
        )
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
    held = source.rows("segments", testset=name)
    return systems, int(source.ask(f"select max(segment) from {held}")[0][0])  # noqa: S608  # no input


def _metrics(source: PageSource, name: str) -> tuple[str, ...]:
    """The metrics with segment scores, as rows name them: a spec may be spelled otherwise."""
    own = [one for one in source.entries if one.testset == name and one.rows.get("segments")]
    return tuple(dict.fromkeys(metric for entry in own for metric in entry.signatures))


def _stretch(
    testset: TestSet, systems: Sequence[str], segments: range, marked: Markers
) -> Iterator[StudySegment]:
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
        yield StudySegment(
            document=testset.documents[i] if testset.documents else None,
            domain=testset.domains[i] if testset.domains else None,
            texts=tuple(Text(text, marks.get(text, ())) for text in numbers),
            source=places[0],
            references=tuple(places[1 : 1 + len(references)]),
            outputs=tuple(places[1 + len(references) :]),
        )
