"""Which words were hard, for whom, and in which segments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gnomon.core.cache import Cache
from gnomon.core.findings import Bars, Finding, HeatMap, Listing, Scatter
from gnomon.core.options import (
    CONFIDENCE,
    RESAMPLES,
    SEED,
    Confidence,
    Count,
    Positive,
    Resamples,
    Seed,
    Segments,
)
from gnomon.core.records import Record, column_names
from gnomon.core.registry import method
from gnomon.core.scores import of_metric
from gnomon.core.store_views import Layer, metric_sql, words_in
from gnomon.core.testset import TestSet
from gnomon.data.formats import with_human
from gnomon.linguistics import OptionalTagger
from gnomon.methods.difficulty._requests import (
    Frozen,
    Judges,
    Omission,
    PoolBy,
    PoolOfSystems,
    SavedDifficulties,
    Top,
    check_words,
    weighted,
)
from gnomon.methods.difficulty._verdict import WORDS_CLAIMS, words_headline, words_verdict
from gnomon.methods.difficulty.best_systems import best_systems
from gnomon.methods.difficulty.omission import (
    OMISSION_TITLE,
    OmissionRow,
    omission_test,
    omission_views,
)
from gnomon.methods.difficulty.pools import empty_notices
from gnomon.methods.difficulty.reference_words import ReferenceWords, reference_words, word_classes
from gnomon.methods.difficulty.sides import facts_of, tables_of
from gnomon.methods.difficulty.word_rows import (
    DistributionRow,
    HardDocumentRow,
    HardSegmentRow,
    OccurrenceRow,
    StripRow,
    WordClassRow,
    WordRow,
    WordsOfSystemRow,
    class_rows,
    distribution_rows,
    document_rows,
    exhibits,
    hard,
    occurrence_rows,
    segment_rows,
    strip_rows,
    system_rows,
    type_rows,
)
from gnomon.metrics.protocol import Metrics, each_metric
from gnomon.metrics.scoring import signature_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Exhibit, Table, View
    from gnomon.core.store_views import Mark, StoredRows, Stretch
    from gnomon.methods.difficulty.sides import Bound
    from gnomon.metrics.protocol import BoundMetric

_LEAST_WORDS = 5  # of a segment that is shown where none was asked for
_LISTED = 20
_EXAMPLES = """\
examples:
  gnomon difficulty words -t wmt19/de-en -m bertscore
  gnomon difficulty words -t wmt19/de-en -m bertscore --segments 12 40 --tagger auto
  gnomon difficulty words ref.txt -i a.txt b.txt -l en -m rouge1 --html report.html
"""
_ROWS: Mapping[str, type[Record]] = {
    "words": WordRow,
    "classes": WordClassRow,
    "strips": StripRow,
    "systems": WordsOfSystemRow,
    "distribution": DistributionRow,
    "segments": HardSegmentRow,
    "documents": HardDocumentRow,
    "occurrences": OccurrenceRow,
    "omission": OmissionRow,
}
_TITLES = {
    "words": "Hardest words",
    "classes": "Difficulty of word classes",
    "strips": "Words of a segment across systems",
    "systems": "Who has the hard words",
    "distribution": "How hard words are",
    "segments": "Hardest segments",
    "documents": "Difficulty of documents",
    "occurrences": "Every word of the references",
    "omission": OMISSION_TITLE,
}


# Marks of hard words in the references of a study.


#: words of a table of difficulties: a run of letters and digits, or a single sign
_WORD = re.compile(r"[^\W_]+|\S")
_TYPES, _OCCURRENCES = "difficulty_words", "difficulty_words_occurrences"
_STRIPS = "difficulty_words_strips"


def hard_word_marks(stored: StoredRows) -> HardWordMarks | None:
    """What marks hard words, by the tables of ``difficulty.words``; None where these are empty."""
    rows = stored.rows(_TYPES)
    if rows is None:
        return None
    query = f"select {metric_sql(stored, rows)}, word, difficulty from {rows}"  # noqa: S608  # no input
    types: dict[str, dict[str, float]] = {}
    for metric, word, value in stored.ask(query):
        types.setdefault(metric, {})[word] = value
    occurrences: dict[str, dict[tuple[int, str], list[tuple[str, float]]]] = {}
    for metric, segment, reference, word, value in _single(stored):
        occurrences.setdefault(metric, {}).setdefault((segment, reference), []).append(
            (word, value)
        )
    names = list(dict.fromkeys([*types, *occurrences]))
    tops = [max(types.get(name, {"": 1.0}).values(), default=1.0) for name in names]
    return HardWordMarks(
        tuple(
            Layer("values", name, f"difficulty: {name}", 0.0, min(top, 1.0), ("easy", "hard"))
            for name, top in zip(names, tops, strict=True)
        ),
        tuple(types.get(name, {}) for name in names),
        tuple(occurrences.get(name, {}) for name in names),
    )


@dataclass(frozen=True)
class HardWordMarks:
    """Marks hard words of references.

    Words carry their own difficulty where the store has it, else the mean over their occurrences.
    """

    layers: tuple[Layer, ...]  # a layer for each metric
    types: tuple[Mapping[str, float], ...]  # by layer, word -> mean difficulty
    #: by layer, segment (from 1) and reference -> words and their difficulties
    own: tuple[Mapping[tuple[int, str], Sequence[tuple[str, float]]], ...]

    def marks(self, stretch: Stretch) -> Iterator[tuple[int, str, Mark]]:
        """Number of the segment (from 0, within the stretch), text, mark in one of the layers."""
        for i, references in enumerate(stretch.references):
            for name, text in references.items():
                for layer in range(len(self.layers)):
                    marked = self._words(layer, stretch.first + i + 1, name, text)
                    if marked:
                        ends = [end for span, _ in marked for end in span]
                        yield i, text, (layer, ends, [value for _, value in marked])

    def _words(
        self, layer: int, segment: int, reference: str, text: str
    ) -> list[tuple[tuple[int, int], float]]:
        occurrences = self.own[layer].get((segment, reference))
        where = words_in(text, [word for word, _ in occurrences]) if occurrences else None
        if occurrences and where:
            return list(zip(where, (value for _, value in occurrences), strict=True))
        types = self.types[layer]
        return [
            (match.span(), types[match[0]]) for match in _WORD.finditer(text) if match[0] in types
        ]


def _single(stored: StoredRows) -> list[tuple[Any, ...]]:
    """Metric, segment, reference, word and difficulty, word by word in the order of texts."""
    rows, order = stored.rows(_OCCURRENCES), "position"
    if rows is None:  # strips have each word once per system, numbered
        rows, order = stored.rows(_STRIPS), "cast(split_part(token, ' ', 1) as integer)"
    if rows is None:
        return []
    return stored.ask(
        f"select {metric_sql(stored, rows)}, segment, reference, any_value(word),"  # noqa: S608  # no input
        f" any_value(difficulty) from {rows} group by 1, 2, 3, {order} order by 1, 2, 3, {order}"
    )


# The method.


@method(
    "difficulty.words",
    answers="which words of the references were hard, and which systems got them right",
    title="Difficulty: hard words",
    examples=_EXAMPLES,
    tables={"": "difficulty_words"},
    rows=_ROWS,
    human=True,
    usual={"examples": 0, "occurrences": True},
    for_pages={"examples": ""},
    marks=hard_word_marks,
    check=check_words,
    verdict=words_verdict,
    claims=WORDS_CLAIMS,
)
def words(
    testset: TestSet,
    metrics: Metrics = "bleu",
    *,
    pool: PoolOfSystems = None,
    pool_by: PoolBy = None,
    frozen: Frozen = None,
    save: SavedDifficulties = None,
    segments: Segments = None,
    min_count: Positive | None = None,
    human: Judges = (),
    top: Top = "30%",
    examples: Count = 3,
    occurrences: bool = False,
    omission: Omission = False,
    tagger: OptionalTagger = None,
    seed: Seed = SEED,
    resamples: Resamples = RESAMPLES,
    confidence: Confidence = CONFIDENCE,
    allow_code: bool = False,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """The hardest words of the references, who got them right, and how difficulties spread.

    Zhan et al. (2021), table 3 and figure 3. A word is a run of letters and digits, or a single
    sign; where the model sees it in several pieces its difficulty, and its similarity in an output,
    are the means of those of its pieces.

    Args:
        testset: the test set.
        metrics: metrics that tell words ("bertscore", "chrf", "ter"), or any under
            difficulty already: "difficulty(sbert, units='deletions')".
        segments: whose words are shown across systems, from 1; by default those of the hardest
            segment of at least five words.
        min_count: how often a word must occur to be listed; by default 5, or 1 where there are
            fewer than 100 segments.
        human: kinds of human scores that tell the best systems, whose difficulties stand beside
            those of the pool, or files of them; by default all kinds that there are.
        top: how many systems are the best: a number, or a share, rounded down.
        examples: segments to read on a page, hardest first; 0 for none.
        occurrences: list every word of every reference too, in the table "occurrences".
        tagger: word classes by ``spacy:NAME``, an annotator, or "auto" for the one of the target
            language; by default none.

    Returns:
        A finding with rows ``word, word_class, difficulty, count, segments, ...`` and tables
        "strips", "systems", "distribution", "segments", and as far as they apply "classes",
        "documents", "occurrences", "omission". Of several metrics, each row names its own.

    Raises:
        UsageError: an option is out of its range, a metric has no words to weigh, or there is no
            such segment.
        UnknownNameError: there is no such metric, system or kind of human scores.
        DataError: the test set lacks what a metric needs, or frozen difficulties do not fit.
        OutputError: the difficulties cannot be written.
    """
    testset, kinds = with_human(testset, human)
    batch = testset.batch()
    wanted = [
        weighted(metric, pool=pool, pool_by=pool_by, frozen=frozen, allow_code=allow_code)
        for metric in each_metric(metrics)
    ]
    least = (5 if testset.segments >= 100 else 1) if min_count is None else min_count
    rows: dict[str, list[Record]] = {name: [] for name in _ROWS}
    notices_of_all: list[str] = []
    signatures: dict[str, str] = {}
    shown: list[Exhibit] = []
    bound: list[Bound] = []
    taggers: dict[str, None] = {}
    for done, options in enumerate(wanted, start=1):
        metric = options.weigh(testset)
        bound.append(metric)
        if save is not None:
            metric.save(save)
        all_words = reference_words(metric, batch)
        if progress:
            progress("matching", done, len(wanted))
        classes = None
        if tagger:
            classes, tagger_name = word_classes(all_words, testset, tagger, cache)
            taggers[tagger_name] = None
            rows["classes"] += class_rows(all_words, classes)
        pools, notices = _pools(testset, metric, kinds, top)
        names = list(batch.systems)
        by_segment = list(segment_rows(all_words, testset))
        rows["words"] += type_rows(all_words, least, classes)
        rows["occurrences"] += occurrence_rows(all_words, testset) if occurrences else ()
        rows["strips"] += strip_rows(all_words, _chosen(segments, by_segment), testset, names)
        rows["systems"] += system_rows(all_words, names)
        rows["distribution"] += distribution_rows(all_words, pools)
        rows["segments"] += by_segment
        rows["documents"] += document_rows(all_words, testset)
        shown += exhibits(all_words, testset, by_segment[:examples], hard(all_words)[0])
        several = len(wanted) > 1
        notices_of_all += (
            of_metric(metric.metric.spec, n) if several else n for n in metric.notices(batch)
        )
        notices_of_all += (*_explained(all_words, least), *notices)
        notices_of_all += empty_notices(testset, metric.pool.systems if metric.pool else ())
        if omission:
            test = omission_test(
                testset,
                metric,
                tagger=tagger,
                seed=seed,
                resamples=resamples,
                confidence=confidence,
                cache=cache,
                known_words=all_words,
            )
            rows["omission"] += test.rows
            notices_of_all += test.notices
            if progress:
                progress("omission test", 1, 1)
        signatures[metric.metric.spec] = str(signature_of(cast("BoundMetric", metric), batch))
    of_one = [name for name in _ROWS if name != "omission"] if len(bound) == 1 else ()
    tables = tables_of(_ROWS, _TITLES, rows, of_one, confidence if resamples else None)
    facts = facts_of(testset, bound, "metric")
    return Finding(
        method="difficulty words",
        title=f"Hard words ({testset.name})",
        tables=tuple(tables),
        signatures=signatures,
        views=tuple(_views(tables, rows, bound, classes=bool(taggers))),
        exhibits=tuple(shown),
        notices=tuple(dict.fromkeys(notices_of_all)),
        facts=facts | {"tagger": ", ".join(taggers)} if taggers else facts,
    )


def _chosen(segments: Segments, rows: Sequence[HardSegmentRow]) -> list[int]:
    if segments:
        return list(dict.fromkeys(segments))
    long = [row for row in rows if row.words >= _LEAST_WORDS] or rows
    return [row.segment for row in long[:1]]


def _pools(
    testset: TestSet, bound: Bound, kinds: Sequence[str], top: str
) -> tuple[Mapping[str, list[int] | None], list[str]]:
    """Whose difficulties are spread out: the pool's, all systems', the best systems'."""
    how = "difficulties from a file" if bound.pool is None else bound.pool.how
    pools: dict[str, list[int] | None] = {how: None}
    everyone = f"all {len(testset.systems)} systems"
    pools.setdefault(everyone, list(range(len(testset.systems))))
    best, notices = best_systems(testset, kinds, top)
    for systems in best:
        pools.setdefault(systems.title, systems.rows)
    return pools, notices


def _explained(words: ReferenceWords, least: int) -> tuple[str, ...]:
    several = int((words.words.pieces > 1).sum())
    edge = hard(words)[1]
    notices = []
    if several:
        notices.append(
            f"{several} of {len(words.words)} words are seen in several pieces: their figures are"
            " means over the pieces"
        )
    if np.isfinite(edge):
        notices.append(
            f"the hardest tenth are words of difficulty {edge:.3f} or more; what a system of the"
            " pool misses is the harder for it, which lowers its own figure for hard words"
        )
    if least > 1:
        notices.append(f"words that occur fewer than {least} times are not listed (--min-count)")
    return tuple(notices)


# Tables and views


def _views(
    tables: Sequence[Table],
    rows: Mapping[str, Sequence[Record]],
    bound: Sequence[Bound],
    *,
    classes: bool,
) -> Iterator[View]:
    for metric in bound:
        spec = metric.metric.spec
        title_end, where = ("", {}) if len(bound) == 1 else (f" ({spec})", {"metric": spec})
        yield from _views_of(rows, spec, title_end, where, classes=classes)
    yield from omission_views(tables)


def _views_of(
    rows: Mapping[str, Sequence[Record]],
    spec: str,
    title_end: str,
    where: Mapping[str, str],
    *,
    classes: bool,
) -> Iterator[View]:
    """The views of one metric."""

    def listing(name: str, columns: tuple[str, ...], most: int | None = None) -> Listing:
        return Listing(name, f"{_TITLES[name]}{title_end}", columns, where, most)

    word_class = ("word_class",) if classes else ()
    columns = ("word", *word_class, "difficulty", "count", "segments", "similarity", "exact")
    yield listing("words", columns, _LISTED)
    if rows["classes"]:
        yield listing("classes", _columns("classes"))
    if rows["systems"]:
        systems = cast("Sequence[WordsOfSystemRow]", rows["systems"])
        same_metric = [row for row in systems if row.metric == spec]
        if len({row.hard for row in same_metric}) > 1:  # else they lie on one line
            title = words_headline(same_metric, spec) or f"{_TITLES['systems']}{title_end}"
            yield Scatter("systems", title, x="other", y="hard", label="system", where=where)
    strips = [
        (row.segment, row.reference)
        for row in cast("Sequence[StripRow]", rows["strips"])
        if row.metric == spec
    ]
    for segment, reference in dict.fromkeys(strips):
        yield HeatMap(
            table="strips",
            title=f"Words of segment {segment} across systems (reference {reference}){title_end}",
            rows="token",
            columns="system",
            value="similarity",
            beside="difficulty",
            where={"segment": segment, "reference": reference, **where},
            marks="other",
        )
    if rows["systems"]:
        shown = ("system", "hard", "hard_exact", "rank", "other", "other_exact", "other_rank")
        yield listing("systems", shown)
    if rows["distribution"]:
        yield Bars(
            table="distribution",
            title=f"{_TITLES['distribution']}{title_end}",
            category="pool",
            series="bin",
            values=("share",),
            where=where,
        )
    if rows["segments"]:
        document = ("document",) if rows["documents"] else ()
        shown = ("segment", *document, "words", "difficulty", "hardest", "hardest_difficulty")
        yield listing("segments", shown, _LISTED // 2)
    if rows["documents"]:
        yield listing("documents", _columns("documents"), _LISTED // 2)


def _columns(name: str) -> tuple[str, ...]:
    return column_names(_ROWS[name], without=("metric",))
