"""Segments of a study, filtered and cut on the server: texts, marks, scores, differences."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.serve.index import marks_file, prepare, texts_file
from gnomon.studies import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from gnomon.serve.index import IndexedSet
    from gnomon.serve.notes import Note
    from gnomon.serve.store_pages import OpenStore

__all__ = [
    "CARDS",
    "SegmentPage",
    "SegmentQuery",
    "differences",
    "pieces",
    "segment_page",
]


#: segments of a page
CARDS = 10
#: systems of a card that are shown at once
_SIDES = 4
#: pairs of equal tokens of two texts beyond which differences are not marked: they would take long
_PAIRS = 150_000
_SEGMENTS = "segments"
ORDERS = {
    "number": "as in the test set",
    "worst": "lowest score first",
    "best": "highest score first",
}
#: letters of scripts without spaces, words, spaces, and each other character
_TOKEN = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]|\\s+|\\w+|.", re.DOTALL
)


@dataclass(frozen=True)
class SegmentQuery:
    """Which segments are asked for."""

    testset: str = ""
    feature: str = ""
    system: str = ""
    shortest: int | None = None
    longest: int | None = None
    q: str = ""
    sort: str = "number"
    metric: str = ""
    page: int = 1
    segment: int | None = None
    noted: str = ""

    @property
    def filtered(self) -> tuple[str, ...]:
        """Names of the filters, for a page that shows nothing: what to change."""
        asked = {
            "the feature": self.feature,
            "the length": self.shortest or self.longest,
            "the words": self.q,
            "the notes": self.noted,
        }
        return tuple(name for name, value in asked.items() if value)


@dataclass(frozen=True)
class TextPiece:
    """A piece of a text: whether it is of the feature, and whether the other text lacks it."""

    text: str
    marked: bool = False
    differs: bool = False


@dataclass(frozen=True)
class SegmentSide:
    """A text of a segment."""

    role: Literal["source", "reference", "output"]
    name: str
    text: str | None
    pieces: tuple[TextPiece, ...] = ()
    scores: tuple[tuple[str, float | None], ...] = ()


@dataclass(frozen=True)
class Card:
    """A segment with its texts."""

    segment: int
    document: str | None
    domain: str | None
    length: int
    sides: tuple[SegmentSide, ...]
    outputs: tuple[SegmentSide, ...]
    others: tuple[SegmentSide, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class SegmentPage:
    """Some segments of a test set."""

    testset: str
    asked: SegmentQuery
    state: Literal["ready", "preparing", "missing"]
    said: str = ""
    cards: tuple[Card, ...] = ()
    total: int = 0
    size: int = 0
    testsets: tuple[str, ...] = ()
    features: tuple[tuple[str, str], ...] = ()
    systems: tuple[str, ...] = ()
    metrics: tuple[tuple[str, str], ...] = ()
    marking: bool = False
    orders: Mapping[str, str] = field(default_factory=lambda: dict(ORDERS))

    @property
    def pages(self) -> int:
        """Number of pages; at least one."""
        return max(1, -(-self.total // CARDS))

    @property
    def first(self) -> int:
        """Number of the first segment of this page among those that fit."""
        return (self.asked.page - 1) * CARDS + 1 if self.total else 0

    @property
    def last(self) -> int:
        """Number of the last one."""
        return self.first + len(self.cards) - 1 if self.total else 0


def segment_page(
    opened: OpenStore,
    folder: Path,
    asked: SegmentQuery,
    *,
    notes: Mapping[int, Sequence[Note]] | None = None,
    running: bool = False,
    begin: Callable[[], object] = int,
) -> SegmentPage:
    """Segments that fit, ten at a time; ``begin`` has their index made."""
    names = tuple(planned.name for planned in opened.store.sets())
    testset = _check_choice("test set", asked.testset, names) or (names[0] if names else "")
    if not testset:
        return SegmentPage("", asked, "missing", "This study has no test set yet.")
    index = prepare(opened.store, folder, begin, marks=not running)
    indexed = index.set(testset) if index is not None else None
    if index is None or indexed is None or indexed[1].texts == "waiting":
        return SegmentPage(testset, asked, "preparing", testsets=names)
    number, about = indexed
    if about.texts == "missing":
        return SegmentPage(testset, asked, "missing", about.said, testsets=names)
    if asked.feature and about.marks == "waiting":
        return SegmentPage(testset, asked, "preparing", size=about.segments, testsets=names)
    return _SegmentRequest(opened, folder, number, about, asked, names, notes or {}).page()


def _check_choice(what: str, value: str, names: Sequence[str]) -> str:
    if value and value not in names:
        raise UnknownNameError(what, value, names)
    return value


@dataclass(frozen=True)
class _SegmentRequest:
    """One request for segments."""

    opened: OpenStore
    folder: Path
    number: int
    about: IndexedSet
    asked: SegmentQuery
    testsets: tuple[str, ...]
    notes: Mapping[int, Sequence[Note]]

    def page(self) -> SegmentPage:
        from gnomon.linguistics import MEANINGS
        from gnomon.metrics.titles import metric_titles

        asked, about = self.asked, self.about
        metrics = self._metrics()
        titles = metric_titles(metrics)
        _check_choice("order", asked.sort, [*ORDERS])
        _check_choice("system", asked.system, about.systems)
        _check_choice("metric", asked.metric, metrics)
        features = about.layers if about.marks == "ready" else []
        _check_choice("feature", asked.feature, features)
        metric = asked.metric or next(iter(metrics), "")
        run = self.opened.rows().connection
        where, values = self._conditions()
        counted = f"select count(*) from {self._texts} t{where}"  # noqa: S608  # our own names
        total = int(run.execute(counted, values).fetchone()[0])
        last = max(1, -(-total // CARDS))
        if not 1 <= asked.page <= last:
            raise UsageError(f"there is no page {asked.page:,} of these segments; it has {last:,}")
        numbers = self._numbers(run, where, values, metric)
        cards = self._cards(run, numbers, metrics, titles)
        return SegmentPage(
            about.name,
            asked,
            "ready",
            cards=cards,
            total=total,
            size=about.segments,
            testsets=self.testsets,
            features=tuple((name, MEANINGS.get(name, "")) for name in features),
            systems=tuple(about.systems),
            metrics=tuple((name, titles[name]) for name in metrics),
            marking=about.marks == "waiting",
        )

    @property
    def _texts(self) -> str:
        return f"read_parquet({reading.sql_text(texts_file(self.folder, self.number))})"

    @property
    def _marks(self) -> str:
        return f"read_parquet({reading.sql_text(marks_file(self.folder, self.number))})"

    def _metrics(self) -> list[str]:
        """The metrics that scored segments."""
        entries = (e for e in self.opened.entries if e.testset == self.about.name)
        scored = [entry for entry in entries if entry.rows.get(_SEGMENTS)]
        return list(dict.fromkeys(metric for entry in scored for metric in entry.signatures))

    def _conditions(self) -> tuple[str, list[object]]:
        asked, about = self.asked, self.about
        limits: dict[str, object] = {
            "segment = ?": asked.segment,
            "list_contains(?, segment)": [*self.notes] if asked.noted else None,
            "length >= ?": asked.shortest,
            "length <= ?": asked.longest,
        }
        given = {sql: value for sql, value in limits.items() if value is not None}
        conditions, values = [*given], [*given.values()]
        if asked.q:
            outputs = [f"o{about.systems.index(asked.system)}"] if asked.system else [
                f"o{n}" for n in range(len(about.systems))
            ]  # fmt: skip
            columns = ["source", *(f"r{n}" for n in range(len(about.references))), *outputs]
            for word in asked.q.split()[:10]:
                any_text = " or ".join(f"contains(lower({name}), lower(?))" for name in columns)
                conditions.append(f"({any_text})")
                values += [word] * len(columns)
        if asked.feature:
            layer = about.layers.index(asked.feature)
            of_feature = f"select segment from {self._marks} where layer = {layer}"  # noqa: S608  # a number
            conditions.append(f"segment in ({of_feature} and side < 0)")
            if asked.system:
                k = about.systems.index(asked.system)
                conditions.append(f"segment in ({of_feature} and side = {k})")
        return (f" where {' and '.join(conditions)}" if conditions else ""), values

    def _numbers(self, run: Any, where: str, values: list[object], metric: str) -> list[int]:
        """The segments of this page, in order."""
        asked = self.asked
        cut = f" limit {CARDS} offset {(asked.page - 1) * CARDS}"
        if asked.sort == "number" or not metric:
            sql = f"select segment from {self._texts} t{where} order by segment{cut}"  # noqa: S608  # our own names
            return [int(row[0]) for row in run.execute(sql, values).fetchall()]
        scores = self.opened.source.rows(_SEGMENTS, testset=self.about.name, metric=metric)
        chosen = " and system = ?" if asked.system else ""
        down = (asked.sort == "best") is not self._is_lower(metric)
        sql = (
            f"with v as (select segment, avg(score) as figure from {scores}"  # noqa: S608  # our own names
            f" where metric = ?{chosen} group by segment)"
            f" select t.segment from {self._texts} t left join v using (segment){where}"
            f" order by figure {'desc' if down else 'asc'} nulls last, segment{cut}"
        )
        given = [metric, *([asked.system] if chosen else []), *values]
        return [int(row[0]) for row in run.execute(sql, given).fetchall()]

    def _is_lower(self, metric: str) -> bool:
        if "scores" not in self.opened.source.tables:
            return False
        source = self.opened.rows()
        rows = source.rows("scores", testset=self.about.name, metric=metric)
        asked = f"select bool_or(not higher_is_better) from {rows} where metric = ?"  # noqa: S608  # as above
        return source.query(asked, metric)[0][0] is True

    def _cards(
        self, run: Any, numbers: Sequence[int], metrics: Sequence[str], titles: Mapping[str, str]
    ) -> tuple[Card, ...]:
        if not numbers:
            return ()
        some = f"({', '.join(map(str, numbers))})"
        asked = run.execute(f"select * from {self._texts} where segment in {some}")  # noqa: S608  # numbers
        names = [column[0] for column in asked.description]
        texts = {row[0]: dict(zip(names, row, strict=True)) for row in asked.fetchall()}
        marks: dict[tuple[int, int], list[int]] = {}
        if self.asked.feature:
            layer = self.about.layers.index(self.asked.feature)
            sql = (
                f"select segment, side, ends from {self._marks}"  # noqa: S608  # numbers
                f" where layer = {layer} and segment in {some}"
            )
            marks = {
                (n, side): [*map(int, ends.split())]
                for n, side, ends in run.execute(sql).fetchall()
            }
        scores: dict[tuple[int, str], dict[str, float | None]] = {}
        if metrics:
            rows = self.opened.source.rows(_SEGMENTS, testset=self.about.name)
            sql = f"select segment, system, metric, score from {rows} where segment in {some}"  # noqa: S608  # as above
            for n, system, metric, score in run.execute(sql).fetchall():
                scores.setdefault((n, system), {})[metric] = score
        return tuple(self._card(texts[n], marks, scores, titles) for n in numbers)

    def _card(
        self,
        texts: Mapping[str, Any],
        marks: Mapping[tuple[int, int], Sequence[int]],
        scores: Mapping[tuple[int, str], Mapping[str, float | None]],
        titles: Mapping[str, str],
    ) -> Card:
        about, asked, n = self.about, self.asked, int(texts["segment"])
        sides = []
        if about.sources and texts["source"] is not None:
            sides.append(SegmentSide("source", "", texts["source"], pieces(texts["source"])))
        for r, name in enumerate(about.references):
            text = texts[f"r{r}"]
            if text is not None:
                given = pieces(text, marks.get((n, -1 - r), ()))
                sides.append(SegmentSide("reference", name, text, given))
        other = next((t for r in range(len(about.references)) if (t := texts[f"r{r}"])), None)
        outputs = []
        for k, name in enumerate(about.systems):
            text = texts[f"o{k}"]
            of = scores.get((n, name), {})
            values = tuple((title, of[m]) for m, title in titles.items() if m in of)
            given = () if text is None else pieces(text, marks.get((n, k), ()), other)
            outputs.append(SegmentSide("output", name, text, given, values))
        ordered = sorted(outputs, key=lambda side: side.name != asked.system)
        shown = 1 if asked.system else _SIDES
        return Card(
            n,
            texts["document"],
            texts["domain"],
            int(texts["length"]),
            tuple(sides),
            tuple(ordered[:shown]),
            tuple(ordered[shown:]),
            tuple(self.notes.get(n, ())),
        )


# Marks and differences.


def pieces(text: str, ends: Sequence[int] = (), other: str | None = None) -> tuple[TextPiece, ...]:
    """A text cut where marks and differences begin and end."""
    marked = [*zip(ends[::2], ends[1::2], strict=True)]
    lacking = differences(text, other) if other is not None else []
    cuts = sorted({0, len(text), *(c for span in (*marked, *lacking) for c in span)})
    cuts = [cut for cut in cuts if 0 <= cut <= len(text)]
    made = []
    for low, high in pairwise(cuts):
        inside = [any(a <= low and high <= b for a, b in spans) for spans in (marked, lacking)]
        made.append(TextPiece(text[low:high], *inside))
    return tuple(made)


def differences(text: str, other: str) -> list[tuple[int, int]]:
    """Where words stand in a text that another one lacks there; nothing for very long texts."""
    tokens, others = _TOKEN.findall(text), _TOKEN.findall(other)
    counts, theirs = Counter(tokens), Counter(others)
    if sum(n * theirs[token] for token, n in counts.items()) > _PAIRS:
        return []
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token))
    matcher = SequenceMatcher(None, others, tokens, autojunk=False)
    spans = []
    for kind, _, _, low, high in matcher.get_opcodes():
        if kind in ("replace", "insert"):
            words = [n for n in range(low, high) if not tokens[n].isspace()]
            if words:
                spans.append((starts[words[0]], starts[words[-1] + 1]))
    return spans
