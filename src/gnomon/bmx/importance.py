"""Words on which scores rest, words that hurt them, and checks of the explanations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from gnomon.bmx._direct import RandomExplainer
from gnomon.bmx.engine import Progress
from gnomon.bmx.exhibits import worst_explained
from gnomon.bmx.explain_checks import check_explain, listed
from gnomon.bmx.explained_texts import (
    MAX_CALLS,
    CountedWord,
    ExplainedSides,
    ExplainedWord,
    Sides,
    explanations,
)
from gnomon.bmx.explainers import Explainers, find_explainer
from gnomon.bmx.explanation_files import write_explanations
from gnomon.bmx.importance_marks import WORDS_VIEW, importance_marks
from gnomon.bmx.importance_tables import (
    counted_words,
    explained_references,
    hurting_table,
    words_table,
)
from gnomon.bmx.judging import (
    JudgedExplanations,
    JudgedRow,
    against_errors,
    curves_table,
    errors_table,
    tagged_words,
)
from gnomon.bmx.judging import faithfulness as curve_areas
from gnomon.bmx.verdict import explain_verdict
from gnomon.core.cache import Cache
from gnomon.core.findings import Bars, Exhibit, Finding, Listing
from gnomon.core.options import (
    CONFIDENCE,
    SEED,
    Confidence,
    Count,
    Group,
    OutputFile,
    Positive,
    Seed,
    Segments,
)
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.metrics.base import Metrics
from gnomon.metrics.scoring import bind
from gnomon.stats.jackknife import LEAST_DOCUMENTS, numbered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx.explained_texts import Explanations
    from gnomon.bmx.explainers import Explainer
    from gnomon.core.findings import Cell, Table, View
    from gnomon.metrics.base import BoundMetric

__all__ = ["explain"]


_EXAMPLES = """\
examples:
  gnomon bmx explain ref.txt -i sysA.txt -m chrf --segments 1 4-6
  gnomon bmx explain -t wmt17/cs-en -m chrf --sample 200 --html words.html
  gnomon bmx explain -t et-en.test.tsv -m xbertscore --explainers erasure 'lime(samples=50)' \\
      --sample 200 --errors --faithfulness
  gnomon bmx explain -t wmt17/cs-en -m chrf --save-explanations chrf.erasure.jsonl

A positive importance makes the candidate look better; where it is negative, the score rises
without the word, so that low importance stands for an error. Explainers: erasure, lime, shap,
marginalisation(model='...'), gradient, match, random ('gnomon list explainers').
"""


_LISTED = 15
_JUDGING = Group("judging explanations (beside the random explainer)")


@method(
    "bmx.explain",
    purpose="show which words a score rests on, beside the errors that people marked",
    title="BMX: importance of words",
    examples=_EXAMPLES,
    tables={"": "importance"},
    rows={
        "words": ExplainedWord,
        "hurting": CountedWord,
        "errors": JudgedRow,
        "faithfulness": JudgedRow,
    },
    by_system=True,
    human="errors",
    usual={"examples": 0},
    views=(WORDS_VIEW,),
    marks=importance_marks,
    check=check_explain,
    verdict=explain_verdict,
)
def explain(
    testset: TestSet,
    metrics: Metrics = "bleu",
    explainers: Explainers = "erasure",
    *,
    sides: ExplainedSides = "both",
    segments: Segments = None,
    sample: Positive | None = None,
    errors: Annotated[bool, _JUDGING] = False,
    faithfulness: Annotated[bool, _JUDGING] = False,
    examples: Count = 3,
    confidence: Confidence = CONFIDENCE,
    seed: Seed = SEED,
    max_calls: Positive = MAX_CALLS,
    save_explanations: OutputFile = None,
    cache: Cache | None = None,
    progress: Progress | None = None,
    allow_code: bool = False,
) -> Finding:
    """Which words scores rest on, which hurt them, and whether that can be believed.

    Args:
        testset: what was translated, and by whom.
        metrics: one or several, as in :func:`explanations`.
        segments: numbers of the segments to explain, counted from 1; by default all.
        sample: number of these segments to draw with the seed; by default all.
        errors: judge by the errors that people marked: AUC, average precision, recall at top-K.
        faithfulness: judge by deletion and insertion of words.
        examples: outputs shown with coloured words for each metric and explainer, the worst first.
        max_calls: the largest number of pairs of texts to score for each metric and explainer.
        save_explanations: a file for all explanations of one metric by one explainer, a JSON object
            per word and line, which the explainer ``file('FILE')`` reads.

    Returns:
        Tables ``words`` (the records of the contract), ``hurting``, and, if asked for,
        ``errors`` and ``faithfulness``.

    Raises:
        DataError: nobody marked errors on an explained side.
        UsageError: an option is out of its range.
        GnomonError: whatever :func:`explanations` raises.
    """
    chosen = _segments(testset, segments, sample, seed)
    explained: list[_MetricExplained] = []
    for metric in listed(metrics):
        _, bound = bind(testset, metric, allow_code=allow_code)
        run = _Explaining(testset, bound, sides, chosen, max_calls, cache, progress)
        judge = _Judge(run, errors, faithfulness, seed)
        chosen_explainers = map(find_explainer, listed(explainers))
        explained += [judge.judged(explainer, examples) for explainer in chosen_explainers]
    finding = _finding(testset, explained, confidence)
    if save_explanations:
        write_explanations(save_explanations, finding.rows)
    return finding


class _MetricExplained(NamedTuple):
    """The explanations of one metric by one explainer, and what judges them."""

    explanations: Explanations
    explainer: str
    judged: JudgedExplanations
    exhibits: tuple[Exhibit, ...]
    references: Mapping[tuple[str, int], str]


@dataclass(frozen=True)
class _Explaining:
    """Scope of the explanations, and the limit of their cost."""

    testset: TestSet
    bound: BoundMetric
    sides: Sides
    segments: Sequence[int] | None
    max_calls: int
    cache: Cache | None
    progress: Progress | None

    def explanations(self, explainer: Explainer) -> Explanations:
        return explanations(
            self.testset,
            self.bound,
            explainer,
            sides=self.sides,
            segments=self.segments,
            max_calls=self.max_calls,
            cache=self.cache,
            progress=self.progress,
        )


@dataclass
class _Judge:
    """Compares explanations with those of the control, which are made once."""

    run: _Explaining
    errors: bool
    faithfulness: bool
    seed: int
    _control: JudgedExplanations | None = None

    def judged(self, explainer: Explainer, examples: int) -> _MetricExplained:
        explanations = self.run.explanations(explainer)
        judged = self._judged(explanations, explainer.spec)
        if self._control is None and (self.errors or self.faithfulness):
            control = RandomExplainer(seed=self.seed)
            self._control = self._judged(self.run.explanations(control), control.spec)
        judged = judged._replace(control=self._control)
        tagged = tagged_words(self.run.testset, explanations) if self.errors else {}
        exhibits = worst_explained(self.run.testset, explanations, explainer.spec, tagged, examples)
        references = explained_references(self.run.testset, self.run.bound, explanations)
        return _MetricExplained(explanations, explainer.spec, judged, exhibits, references)

    def _judged(self, explanations: Explanations, explainer: str) -> JudgedExplanations:
        testset, errors, curves = self.run.testset, {}, {}
        if self.errors:
            errors = {
                (agreement.side, measure): values
                for agreement in against_errors(testset, explanations)
                for measure, values in agreement.measures.items()
            }
        if self.faithfulness:
            areas = curve_areas(testset, self.run.bound, explanations, max_calls=self.run.max_calls)
            sides = " and ".join(side.side for side in explanations.sides)
            curves = {(sides, "deletion"): areas.deletion, (sides, "insertion"): areas.insertion}
        return JudgedExplanations(explanations.metric, explainer, errors, curves)


def _segments(
    testset: TestSet, segments: Sequence[int] | None, sample: int | None, seed: int
) -> Sequence[int] | None:
    if sample is None:
        return segments
    among = list(range(1, testset.segments + 1)) if segments is None else list(segments)
    drawn = np.random.default_rng(seed).permutation(len(among))[:sample]
    return sorted(among[index] for index in drawn.tolist())


def _units(
    testset: TestSet, explanations: Explanations
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Units to leave out of scores of metrics, and of people's marks: documents where known.

    Of scores of metrics single segments are left out where there are few documents.
    """
    segments = np.arange(len(explanations.segments), dtype=np.int64)
    if testset.documents is None:
        return segments, segments
    documents = numbered([testset.documents[n - 1] for n in explanations.segments.tolist()])
    few = len(set(documents.tolist())) < LEAST_DOCUMENTS
    return segments if few else documents, documents


def _finding(testset: TestSet, every: Sequence[_MetricExplained], confidence: float) -> Finding:
    rows = [row for explained in every for row in _rows(explained)]
    judged = [explained.judged for explained in every]
    tables = [words_table(rows), hurting_table(counted_words(rows))]
    views: list[View] = [_listing(tables[1], _LISTED), *_bars_of_words(tables[1])]
    units, documents = _units(testset, every[0].explanations)
    for agreement in (
        errors_table(judged, documents, confidence),
        curves_table(judged, units, confidence),
    ):
        if agreement.rows:
            tables.append(agreement)
            views.insert(0, _listing(agreement, None))
    explanations = [explained.explanations for explained in every]
    return Finding(
        method="bmx explain",
        title=f"Which words scores rest on ({testset.name})",
        tables=tuple(tables),
        signatures={
            f"{one.explanations.metric} by {one.explainer}": one.explanations.signature
            for one in every
        },
        views=tuple(views),
        exhibits=tuple(exhibit for explained in every for exhibit in explained.exhibits),
        notices=tuple(dict.fromkeys(notice for each in explanations for notice in each.notices)),
        facts={
            "test set": testset.name,
            "systems": str(explanations[0].shape[0]),
            "segments": str(explanations[0].shape[1]),
            "metric calls": str(sum(each.calls for each in explanations)),
            "known before": str(sum(each.known for each in explanations)),
        },
    )


def _rows(explained: _MetricExplained) -> Iterator[dict[str, Cell]]:
    explanations = explained.explanations
    column = {int(segment): i for i, segment in enumerate(explanations.segments)}
    scores = {
        (name, segment): float(explanations.scores[k, i])
        for k, name in enumerate(explanations.systems)
        for segment, i in column.items()
    }
    for row in explanations.rows():
        of = str(row["system"]), int(row["segment"] or 0)
        yield {
            **row,
            "score": None if np.isnan(scores[of]) else scores[of],
            "reference": explained.references.get(of),
            "metric": explanations.metric,
            "explainer": explained.explainer,
        }


def _bars_of_words(table: Table) -> Iterator[Bars]:
    """Bars of how often the words hurt that do so most often, by metric, explainer and side."""
    names = ("metric", "explainer", "side")
    for kind in dict.fromkeys(tuple(row[name] for name in names) for row in table.rows):
        yield Bars(
            table.name,
            f"{table.title}: {kind[-1]}",
            category="side",
            series="token",
            values=("hurts",),
            where=dict(zip(names, kind, strict=True)),
            most=_LISTED,
            told=("count", "mean"),
        )


def _listing(table: Table, most: int | None) -> Listing:
    columns = tuple(column.name for column in table.columns)
    return Listing(table.name, table.title, columns, most=most)
