"""Hardest words of the references, and the systems that translate them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from gnomon.core.findings import Bars, Finding, Listing, Scatter
from gnomon.core.options import Count, Positive
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.scores import name_metric
from gnomon.core.scripts import word_pattern
from gnomon.core.store_views import Layer, metric_sql
from gnomon.core.testset import TestSet
from gnomon.core.verdicts import metric_title
from gnomon.difficulty._requests import check_words
from gnomon.difficulty.pools import empty_notices
from gnomon.difficulty.sides import facts_of, wrapped
from gnomon.difficulty.verdict import words_verdict
from gnomon.difficulty.word_matches import ReferenceWords, reference_words
from gnomon.difficulty.word_rows import (
    WordRow,
    WordsOfSystemRow,
    exhibits,
    hard,
    system_rows,
    type_rows,
)
from gnomon.messages import message
from gnomon.metrics.base import Metrics, list_metrics
from gnomon.metrics.scoring import signature_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Exhibit, View
    from gnomon.core.store_views import Mark, SegmentRange, StoredRows
    from gnomon.difficulty.sides import Bound
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric

_LISTED = 20
_EXAMPLES = """\
examples:
  gnomon difficulty words -t wmt19/de-en -m bertscore
  gnomon difficulty words -t wmt19/de-en -m "difficulty(bertscore, pool='top:30%')"
  gnomon difficulty words ref.txt -i a.txt b.txt -l en -m rouge1 --html report.html
"""
_WORDS = "Hardest words"
_SYSTEMS = "Who has the hard words"


# Marks of hard words in the references of a study.


def hard_word_marks(stored: StoredRows) -> HardWordMarks | None:
    """Marks of hard words, by the rows of ``difficulty.words``; None where there are none."""
    rows = stored.rows("difficulty_words")
    if rows is None:
        return None
    query = f"select {metric_sql(stored, rows)}, word, difficulty from {rows}"  # noqa: S608  # no input
    types: dict[str, dict[str, float]] = {}
    for metric, word, value in stored.query(query):
        types.setdefault(metric, {})[word] = value
    tops = [max(values.values(), default=1.0) for values in types.values()]
    return HardWordMarks(
        tuple(
            Layer("values", name, f"difficulty: {name}", 0.0, min(top, 1.0), ("easy", "hard"))
            for name, top in zip(types, tops, strict=True)
        ),
        tuple(types.values()),
    )


@dataclass(frozen=True)
class HardWordMarks:
    """Marks the words of references that are listed, with their mean difficulty."""

    layers: tuple[Layer, ...]  # a layer for each metric
    types: tuple[Mapping[str, float], ...]  # by layer, word -> mean difficulty

    def marks(self, stretch: SegmentRange) -> Iterator[tuple[int, str, Mark]]:
        """Number of the segment (from 0, within the stretch), text, mark in one of the layers."""
        for i, references in enumerate(stretch.references):
            for text in references.values():
                for layer, types in enumerate(self.types):
                    words = [match for match in word_pattern().finditer(text) if match[0] in types]
                    if words:
                        ends = [end for match in words for end in match.span()]
                        yield i, text, (layer, ends, [types[match[0]] for match in words])


# The method.


@method(
    "difficulty.words",
    purpose="list the hard words of the references, and the systems that got them right",
    title="Difficulty: hard words",
    examples=_EXAMPLES,
    tables={"": "difficulty_words"},
    rows={"words": WordRow, "systems": WordsOfSystemRow},
    usual={"examples": 0},
    for_pages={"examples": ""},
    marks=hard_word_marks,
    check=check_words,
    verdict=words_verdict,
)
def words(
    testset: TestSet,
    metrics: Metrics = "bleu",
    *,
    min_count: Positive | None = None,
    examples: Count = 3,
    allow_code: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """The hardest words of the references, and which systems got them right.

    Zhan et al. (2021). A word is a run of letters and digits, or a single sign; where the model
    sees it in several pieces its difficulty, and its similarity in an output, are the means of
    those of its pieces.

    Args:
        testset: the test set.
        metrics: metrics that tell words ("bertscore", "chrf", "ter"), or these under difficulty
            already: "difficulty(bertscore, pool='top:30%')".
        min_count: the smallest number of occurrences of a listed word; by default 5, or 1 where
            there are fewer than 100 segments.
        examples: segments shown on a page, hardest first; 0 for none.

    Returns:
        A finding with rows ``word, difficulty, count, segments, similarity, exact`` and the table
        "systems". Of several metrics, each row names its own.

    Raises:
        UsageError: an option is out of its range, or a metric has no words to weigh.
        UnknownNameError: there is no such metric or system.
        DataError: the test set lacks what a metric needs, or frozen difficulties do not fit.
    """
    batch = testset.batch()
    wanted = [wrapped(metric, allow_code=allow_code) for metric in list_metrics(metrics)]
    least = (5 if testset.segments >= 100 else 1) if min_count is None else min_count
    types: list[WordRow] = []
    systems: list[WordsOfSystemRow] = []
    notices: list[Message] = []
    shown: list[Exhibit] = []
    bound: list[Bound] = []
    for done, options in enumerate(wanted, start=1):
        metric = options.weigh(testset)
        bound.append(metric)
        all_words = reference_words(metric, batch)
        if progress:
            progress("matching", done, len(wanted))
        types += type_rows(all_words, least)
        systems += system_rows(all_words, list(batch.systems))
        shown += exhibits(all_words, testset, examples)
        several = len(wanted) > 1
        notices += (
            name_metric(metric.metric.spec, n) if several else n for n in metric.notices(batch)
        )
        notices += _explain_words(all_words, least)
        notices += empty_notices(testset, metric.pool.systems if metric.pool else ())
    without = ("metric",) if len(bound) == 1 else ()
    return Finding(
        method="difficulty words",
        title=f"Hard words ({testset.name})",
        tables=(
            table("words", _WORDS, WordRow, types, without=without),
            table("systems", _SYSTEMS, WordsOfSystemRow, systems, without=without),
        ),
        signatures={
            each.metric.spec: signature_of(cast("BoundMetric", each), batch) for each in bound
        },
        views=tuple(_views(systems, bound)),
        exhibits=tuple(shown),
        notices=tuple(dict.fromkeys(notices)),
        facts=facts_of(testset, bound, "metric"),
    )


def _explain_words(words: ReferenceWords, least: int) -> tuple[Message, ...]:
    several = int((words.words.pieces > 1).sum())
    edge = hard(words)[1]
    notices = []
    if several:
        notices.append(message("note.difficulty.pieces", several=several, words=len(words.words)))
    if np.isfinite(edge):
        notices.append(message("note.difficulty.tenth", edge=edge))
    if least > 1:
        notices.append(message("note.difficulty.rare", least=least))
    return tuple(notices)


def _views(systems: Sequence[WordsOfSystemRow], bound: Sequence[Bound]) -> Iterator[View]:
    specs = [metric.metric.spec for metric in bound]
    for spec in specs:
        name = metric_title(spec, specs)
        title_end, where = ("", {}) if len(bound) == 1 else (f" ({name})", {"metric": spec})
        columns = ("word", "difficulty", "count", "segments", "similarity", "exact")
        yield Listing("words", f"{_WORDS}{title_end}", columns, where, _LISTED)
        values = ("difficulty", "count")
        title = f"The hardest words{title_end}"
        yield Bars("words", title, "word", "word", values, where, most=_LISTED)
        rows = [row for row in systems if row.metric == spec]
        if len({row.hard for row in rows}) > 1:  # else they lie on one line
            title = f"{_SYSTEMS}{title_end}"
            yield Scatter("systems", title, x="other", y="hard", label="system", where=where)
        shown = ("system", "hard", "hard_exact", "other", "other_exact")
        yield Listing("systems", f"{_SYSTEMS}{title_end}", shown, where)
