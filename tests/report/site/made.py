"""Studies made up for the pages: of any size, with any text."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from tests.told import told

from gnomon.core.findings import Column, HeatMap, Scatter
from gnomon.core.page_data import PageSection, PageVerdict
from gnomon.core.store_views import Layer, SystemScoreColumn
from gnomon.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, View

_TEXT = (
    "harbour remains closed until Friday the city said three boats were found off coast"
    " on Monday a spokeswoman called damage considerable but manageable let dough rest in"
    " warm place for one hour then peel apples and cut them into thin slices"
)
_WORDS = _TEXT.split()
_FIGURES = tuple(
    f"{name}{end}"
    for name in ("base", "oracle", "anti_oracle", "spread", "gain", "hit", "miss", "add")
    for end in ("", "_low", "_high")
)
LAYERS = (
    Layer("spans", "pos:NOUN", "pos:NOUN"),
    Layer("spans", "pos:VERB", "pos:VERB"),
    Layer("values", "bertscore", "hardness: bertscore", 0.0, 1.0, ("easy", "hard")),
    Layer("values", "chrf, erasure", "weight: chrf, erasure", -2.0, 2.0, ("worse", "better")),
)
#: methods of other packages, which no page knows
FEATURES, HARD, PEOPLE_OF = "package.features", "package.hard", "package.people"


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    section: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Cell]]
    views: Sequence[View] = ()
    note: str = ""

    def parts(self, rows: int) -> Iterator[Sequence[Sequence[Cell]]]:
        named = [column.name for column in self.columns]
        own = [named.index(name) for name in ("testset", "metric") if name in named]
        for _, found in groupby(self.rows, key=lambda row: [row[n] for n in own]):
            group = list(found)
            for start in range(0, len(group), rows):
                yield list(zip(*group[start : start + rows], strict=True))


@dataclass(frozen=True)
class Text:
    text: str
    marks: Sequence[tuple[int, Sequence[int], Sequence[float | None]]] = ()


@dataclass(frozen=True)
class Segment:
    texts: tuple[Text, ...]
    source: int | None
    references: tuple[int | None, ...]
    outputs: tuple[int | None, ...]
    document: str | None = "harbour.12"
    domain: str | None = None


TEXTS_GONE = Message("error.failed", "error", {"said": "the texts are gone"})


@dataclass(frozen=True)
class Set:
    name: str
    systems: tuple[str, ...]
    segments: int
    language_pair: str | None = "de-en"
    references: tuple[str, ...] = ("A",)
    metrics: tuple[str, ...] = ("bleu", "chrf")
    layers: tuple[Layer, ...] = LAYERS
    missing: Message | None = None
    own: tuple[Segment, ...] = ()
    seed: int = 7

    def scores(self, metric: str) -> NDArray[np.float64]:
        rng = np.random.default_rng([self.seed, self.metrics.index(metric)])
        skill = np.linspace(45, 20, len(self.systems))[:, None]
        drawn = rng.normal(skill, 12, (len(self.systems), self.segments)).clip(0, 100)
        drawn[0, 0] = np.nan
        return drawn

    def read(self) -> Iterator[Segment]:
        if self.missing:
            return
        if self.own:
            yield from self.own
            return
        rng = random.Random(self.seed)
        for _ in range(self.segments):
            yield _segment(rng, len(self.systems))


@dataclass(frozen=True)
class Study:
    tables: tuple[Table, ...]
    testsets: tuple[Set, ...]
    title: str = "Two harbours"
    facts: Mapping[str, str] = field(default_factory=lambda: {"test sets": "1", "metrics": "bleu"})
    notices: tuple[Message, ...] = ()
    lower_is_better: tuple[str, ...] = ()
    standings: tuple[SystemScoreColumn, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    said: tuple[PageVerdict, ...] = ()

    @property
    def verdicts(self) -> Sequence[PageVerdict]:
        """Something found on each test set, with a hostile name in it."""
        return self.said or [
            PageVerdict(
                one.name,
                "systems",
                [
                    told(f"{one.systems[0]} is on top.", "undecided"),
                    told(f"<b>{one.name}</b>\u202e.", "caution"),
                ],
            )
            for one in self.testsets
        ]

    @property
    def sections(self) -> list[PageSection]:
        """A page for each table's method."""
        names = dict.fromkeys(one.section for one in self.tables)
        own = {name: next(t for t in self.tables if t.section == name) for name in names}
        return [
            PageSection(name, table.title, "what there is to know")
            for name, table in own.items()
            if name not in {"systems", "provenance"}
        ]


def study(systems: int, segments: int, features: int = 20, metrics: int = 2) -> Study:
    """A study of one made-up test set with scores, features, agreement."""
    names = tuple(f"system-{k:03d}" for k in range(systems))
    kinds = tuple(f"metric-{m}" for m in range(metrics)) if metrics != 2 else ("bleu", "chrf")
    testset = Set("made/de-en", names, segments, metrics=kinds)
    return Study((scores(testset), muler(testset, features), words(testset)), (testset,))


def several() -> Study:
    """Two test sets with a common system and some of their own, judged in two ways.

    Two steps of MuLER with other options share their rows' metric and features.
    """
    sets = (Set("a/de-en", ("x", "y", "z", "w"), 5), Set("b/de-en", ("v", "x", "y"), 6))
    given = {
        "a/de-en": {"bleu": (30, 20, 10, 25), "ter": (50, 60, 70, 40)},
        "b/de-en": {"bleu": (40, 20, 10)},
    }
    rows = [
        (one.name, system, metric, float(value))
        for one in sets
        for metric, values in given[one.name].items()
        for system, value in zip(one.systems, values, strict=True)
    ]
    columns = ("testset", "system", "metric", "score")
    shown = Table("scores", "Scores", "systems", _columns(columns), rows)
    tables = (shown, *agreement(sets, given), *steps(sets[0]))
    people = (SystemScoreColumn("agreement_systems", "human", "kind"),)
    return Study(tables, sets, lower_is_better=("ter",), standings=people)


#: people's scores of the systems of the first made-up test sets, by kind and test set
PEOPLE: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "da": {"a/de-en": (3, 2, 1, 2.5), "b/de-en": (3, 2, 1)},
    "mqm": {"a/de-en": (-30, -20, -10, -25), "b/de-en": (-40, -20, -10)},
}


def agreement(
    sets: Sequence[Set], given: Mapping[str, Mapping[str, tuple[float, ...]]]
) -> tuple[Table, Table]:
    """The tables of a task for each kind of human scores."""
    measured, points = [], []
    for kind, one in ((kind, one) for kind in PEOPLE for one in sets):
        people = PEOPLE[kind][one.name]
        for metric, values in given[one.name].items():
            r = float(np.corrcoef(people, values)[0, 1])
            own = (one.name, metric, "system", "Pearson", "all", kind, r, len(people))
            measured.append((*own, f"{kind}-{one.name}"))
            for system, value, human in zip(one.systems, values, people, strict=True):
                point = (one.name, system, metric, value, human, kind)
                points.append((*point, f"{kind}-{one.name}"))
    columns = ("testset", "metric", "level", "measure", "subset", "human", "value", "n", "task")
    own_columns = ("testset", "system", "metric", "score", "human", "kind", "task")
    where = {"subset": "all"}
    measures = HeatMap("agreement", "All measures", "metric", "measure", "value", where=where)
    dots = Scatter("agreement_systems", "Dots", "score", "human", "system", panels="metric")
    named = "agreement_systems"
    return (
        Table("agreement", "Agreement", PEOPLE_OF, _columns(columns), measured, (measures,)),
        Table(named, named, PEOPLE_OF, _columns(own_columns), points, (dots,)),
    )


def steps(testset: Set) -> tuple[Table, Table]:
    """MuLER by two steps with other patterns, and the tasks that gave it."""
    rows = [
        (testset.name, system, "bleu", "re:number", "ratio", None, value + k / 10, f"{n}-{system}")
        for n, value in enumerate((0.1, 0.6))
        for k, system in enumerate(testset.systems)
    ]
    columns = ("testset", "system", "metric", "feature", "variant", "slice", "muler", "task")
    tasks = [
        (f"{n}-{system}", "muler", options)
        for n, options in enumerate(
            ('{"resamples":0,"pattern":{"number":"[0-9]+","x":"y"}}',
             '{"pattern":{"x":"y","number":"the"},"resamples":0}')
        )
        for system in testset.systems
    ]  # fmt: skip
    return (
        Table("muler", "MuLER", FEATURES, _columns(columns), rows, _views(("bleu",))),
        Table("tasks", "Tasks", "provenance", _columns(("key", "method", "options")), tasks),
    )


def _columns(names: Sequence[str]) -> tuple[Column, ...]:
    numbers = {"score", "value", "muler", *(("human",) if "score" in names else ())}
    titles = {"human": "Human scores", "kind": "Human scores"}
    return tuple(
        Column(
            name,
            titles.get(name, name),
            "number" if name in numbers else "count" if name == "n" else "text",
        )
        for name in names
    )


def scores(testset: Set) -> Table:
    rows = [
        (testset.name, system, metric, float(np.nanmean(testset.scores(metric)[k])), "s")
        for metric in testset.metrics
        for k, system in enumerate(testset.systems)
    ]
    columns = (
        Column("testset", "Test set"),
        Column("system", "System"),
        Column("metric", "Metric"),
        Column("score", "Score", "number", 2),
        Column("signature", "Signature"),
    )
    return Table("scores", "Scores", "systems", columns, rows)


def muler(testset: Set, features: int) -> Table:
    rng = random.Random(3)
    named = ["pos:NOUN", "pos:VERB", *(f"ent:{n}" for n in range(features - 2))]
    rows = [
        (
            *(testset.name, system, metric, feature, "ratio", None, 12 + k % 5),
            *(rng.uniform(-0.1, 0.9) for _ in range(1 + len(_FIGURES))),
        )
        for metric in testset.metrics
        for k, system in enumerate(testset.systems)
        for feature in named
    ]
    columns = (
        Column("testset", "Test set"),
        Column("system", "System"),
        Column("metric", "Metric"),
        Column("feature", "Feature"),
        Column("variant", "Variant"),
        Column("slice", "Slice"),
        Column("segments", "Segments", "count"),
        Column("muler", "MuLER", "share", 2, "lower", "0 is perfect"),
        *(Column(name, name, "number") for name in _FIGURES),
    )
    return Table("muler", "MuLER", FEATURES, columns, rows, _views(testset.metrics))


def _views(metrics: Sequence[str]) -> tuple[View, ...]:
    fixed = [{"metric": metric, "variant": "ratio", "slice": None} for metric in metrics]
    return tuple(
        HeatMap(
            "muler",
            f"MuLER under {one['metric']}",
            "feature",
            "system",
            "muler",
            where=one,
            low=0.0,
            high=1.0,
            exhibits=True,
        )
        for one in fixed
    )


def words(testset: Set) -> Table:
    rows = [(testset.name, word, n / len(_WORDS), 5) for n, word in enumerate(sorted(set(_WORDS)))]
    columns = (
        Column("testset", "Test set"),
        Column("word", "Word"),
        Column("difficulty", "Difficulty", "number", 3),
        Column("count", "Count", "count"),
    )
    return Table("hard_words", "Hard words", HARD, columns, rows)


def _segment(rng: random.Random, systems: int) -> Segment:
    reference = rng.choices(_WORDS, k=22)
    outputs = [
        " ".join(w if rng.random() < 0.85 else rng.choice(_WORDS) for w in reference)
        for _ in range(systems)
    ]
    texts = list(dict.fromkeys([" ".join(reference), *outputs]))
    number = {text: n for n, text in enumerate(texts)}
    marked = tuple(Text(text, _marks(text, reference=n == 0)) for n, text in enumerate(texts))
    source = Text("Der Hafen bleibt bis Freitag geschlossen.")
    return Segment((*marked, source), len(marked), (0,), tuple(number[text] for text in outputs))


def _marks(
    text: str, *, reference: bool
) -> list[tuple[int, Sequence[int], Sequence[float | None]]]:
    ends, at = [], 0
    for word in text.split(" "):
        ends.append((at, at + len(word)))
        at += len(word) + 1
    flat = [end for pair in ends for end in pair]
    values = [((n * 37) % 100) / 50 - 1 for n in range(len(ends))]
    last = (2, flat, [abs(v) for v in values]) if reference else (3, flat, values)
    return [(0, flat[: len(flat) // 4 * 2], ()), (1, flat[-4:], ()), last]
