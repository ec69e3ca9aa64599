"""Which words scores rest on, which hurt them, and whether that can be believed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from gnomon.bmx._direct import RandomExplainer
from gnomon.bmx.engine import Progress
from gnomon.bmx.explainers import (
    Explainers,
    check_explainer,
    explainer_names,
    find_explainer,
    is_blind,
)
from gnomon.bmx.explanation_files import write_explanations
from gnomon.bmx.judging import (
    JudgedExplanations,
    JudgedRow,
    against_errors,
    check_errors,
    curves_table,
    errors_table,
    tagged_words,
)
from gnomon.bmx.judging import faithfulness as curve_areas
from gnomon.bmx.made_explanations import (
    MAX_CALLS,
    CountedWord,
    ExplainedSides,
    ExplainedWord,
    Sides,
    explanations,
)
from gnomon.bmx.pairs import role_of
from gnomon.bmx.verdict import explain_verdict
from gnomon.core.cache import Cache
from gnomon.core.errors import UsageError
from gnomon.core.findings import Column, Excerpt, Exhibit, ExhibitText, Finding, Highlight, Listing
from gnomon.core.options import (
    Count,
    DrawOptions,
    Group,
    OutputFile,
    Positive,
    Segments,
    with_fields,
)
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.store_views import Layer, StoredView, metric_sql, words_in
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems
from gnomon.metrics import resolve
from gnomon.metrics.protocol import Metrics
from gnomon.metrics.registry import check_metric, check_once
from gnomon.metrics.scoring import bind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Literal

    from numpy.typing import NDArray

    from gnomon.bmx.explainers import Explainer
    from gnomon.bmx.made_explanations import Explanations, SideWords
    from gnomon.core.findings import Cell, Table
    from gnomon.core.options import BoundOptions
    from gnomon.core.store_views import Mark, StoredRows, Stretch
    from gnomon.core.summary import Outline
    from gnomon.metrics.protocol import BoundMetric

    Role = Literal["source", "reference", "candidate"]
    Row: TypeAlias = Mapping[str, Cell]

__all__ = ["explain", "explainer_faults", "listed", "words_table"]


WORDS_VIEW = StoredView(
    "importance_words",
    "Words by what they add to a score",
    ("importance",),
    "select testset, metric, explainer, side, token as word, count(importance) as count,"
    " avg(importance order by segment, system, position) as mean_importance,"
    " min(importance) as lowest, avg(cast(importance < 0 as integer)) as hurts"
    " from importance group by all"
    " order by testset, metric, explainer, mean_importance, side, word",
    (
        Column("testset", "Test set", help="name of the test set"),
        Column("metric", "Metric", help="spec of the metric"),
        Column("explainer", "Explainer", help="how words were weighed"),
        Column("side", "Side", help="candidate or reference"),
        Column("word", "Word", help="as it stands in texts"),
        Column("count", "Count", "count", help="how often it was weighed"),
        Column(
            "mean_importance",
            "Mean importance",
            "number",
            4,
            better="higher",
            help="positive where the word makes outputs look better, in units of the metric",
        ),
        Column("lowest", "Lowest", "number", 4, help="importance where it makes them look worst"),
        Column(
            "hurts", "Hurts", "share", help="share of its occurrences that make the score worse"
        ),
    ),
)
_ENDS = ("makes the output look worse", "better")


def importance_marks(stored: StoredRows) -> ImportanceMarks | None:
    """What marks the words of the table ``importance``; None where it has no rows."""
    rows = stored.rows("importance")
    if rows is None:
        return None
    by = metric_sql(stored, rows, "explainer")
    tops = stored.ask(
        f"select {by} as layer, quantile_cont(abs(importance), 0.98) from {rows}"  # noqa: S608  # no input
        " group by 1 order by 1"
    )
    layers = tuple(
        Layer("values", name, f"importance: {name}", -(top or 1.0), top or 1.0, _ENDS)
        for name, top in tops
    )
    return ImportanceMarks(layers, stored, rows, by)


@dataclass(frozen=True)
class ImportanceMarks:
    """Marks words by what they add to a metric's score.

    In a reference it is the mean over the systems that it is held beside: of several references a
    system is explained beside the one that fits it best.
    """

    layers: tuple[Layer, ...]
    stored: StoredRows
    rows: str
    by: str

    def marks(self, stretch: Stretch) -> Iterator[tuple[int, str, Mark]]:
        """Number of the segment (from 0, within the stretch), text, mark in one of the layers."""
        numbers = {layer.name: number for number, layer in enumerate(self.layers)}
        rows_of_words = self._explanations(stretch)
        for (segment, side, system, name), rows in groupby(rows_of_words, lambda row: row[:4]):
            i, layer = segment - 1 - stretch.first, numbers[name]
            outputs, references = stretch.outputs[i], stretch.references[i]
            texts = [outputs[system]] if side == "candidate" else list(references.values())
            for words, values in _means(row[4:] for row in rows).items():
                text = next(
                    (candidate for candidate in texts if tuple(candidate.split()) == words), None
                )
                if text is not None and words:
                    ends = [end for span in words_in(text, words) or () for end in span]
                    yield i, text, (layer, ends, values)

    def _explanations(self, stretch: Stretch) -> list[tuple[Any, ...]]:
        """Of each: segment, side, system (not of references), layer, words, values."""
        low, high = stretch.first + 1, stretch.first + len(stretch.outputs)
        return self.stored.ask(
            "select segment, side, case when side = 'candidate' then system end as who,"  # noqa: S608  # no input
            f" {self.by} as layer, list(token order by position),"
            f" list(importance order by position) from {self.rows}"
            " where segment between ? and ? and side in ('candidate', 'reference')"
            " group by segment, side, who, layer, system, task order by 1, 2, 3, 4, system, task",
            low,
            high,
        )


def _means(
    words_of_rows: Iterable[tuple[Sequence[str], Sequence[float | None]]],
) -> dict[tuple[str, ...], list[float | None]]:
    """By the words of a text, the mean of each over explanations: systems have references apart."""
    grouped: dict[tuple[str, ...], list[Sequence[float | None]]] = {}
    for words, values in words_of_rows:
        grouped.setdefault(tuple(words), []).append(values)
    return {
        words: [
            _mean([value for value in column if value is not None])
            for column in zip(*lists, strict=True)
        ]
        for words, lists in grouped.items()
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


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


# What is wrong with a request to explain, before a metric is bound.


def check_explain(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.bmx.explain` refuses of options that fit each alone."""
    if (
        options.save_explanations
        and len(listed(options.metrics)) * len(listed(options.explainers)) > 1
    ):
        reason = "save_explanations is for one metric and one explainer; name one of each"
        yield Problem("save_explanations", UsageError(reason))
    if outline is not None:
        for number, segment in enumerate(options.segments or ()):
            yield from problems(f"segments[{number}]", _check_segment, segment, outline.segments)
    if options.errors and outline is not None:
        yield from problems("errors", check_errors, outline, ("candidate", "source"))
    yield from explainer_faults(
        outline,
        options.metrics,
        options.explainers,
        allow_code=options.allow_code,
        changed=options.faithfulness,
    )


def explainer_faults(
    outline: Outline | None,
    metrics: object,
    explainers: object,
    *,
    allow_code: bool,
    changed: bool = False,
) -> Iterator[Problem]:
    """Metrics and explainers, and whether they go together."""
    explaining = explainers if isinstance(explainers, list | tuple) else None
    good = []
    if not listed(explainers):
        said = f"no explainer is asked for; name some of {', '.join(explainer_names())}"
        yield Problem("explainers", UsageError(said))
    for number, explainer in enumerate(listed(explainers)):
        option = "explainers" if explaining is None else f"explainers[{number}]"
        wrong = list(problems(option, find_explainer, explainer))
        yield from wrong
        if not wrong:
            good.append((option, explainer))
    specs = [find_explainer(explainer).spec for _, explainer in good]
    if len(set(specs)) < len(specs):
        said = f"an explainer is named twice: {', '.join(specs)}; name each once"
        yield Problem("explainers", UsageError(said))
    yield from problems("metrics", check_once, metrics, allow_code=allow_code)
    changed = changed or not all(is_blind(find_explainer(explainer)) for _, explainer in good)
    for metric in listed(metrics):
        wrong = list(
            problems(
                "metrics", check_metric, metric, outline, allow_code=allow_code, changed=changed
            )
        )
        yield from wrong
        if wrong or not (isinstance(metric, str) or callable(getattr(metric, "bind", None))):
            continue  # it is bound already
        resolved = resolve(metric, allow_code=allow_code)
        for option, explainer in good:
            yield from problems(option, check_explainer, explainer, resolved)


def listed(what: Any) -> list[Any]:
    """One thing, or several of them, as a list."""
    return list(what) if isinstance(what, (list, tuple)) else [what]


def _check_segment(segment: int, segments: int) -> None:
    if segment > segments:
        raise UsageError(f"segment {segment} is not there; the test set has 1 to {segments}")


# Segments whose words are coloured by their importance.


_ROLES: dict[str, Role] = {"source": "source", "reference": "reference", "candidate": "candidate"}


def worst_explained(
    testset: TestSet,
    explanations: Explanations,
    explainer: str,
    tagged: Mapping[str, NDArray[np.bool_]],
    most: int,
) -> tuple[Exhibit, ...]:
    """The outputs that score worst, the worst first."""
    sign = 1.0 if explanations.higher_is_better else -1.0
    oriented = sign * explanations.scores.ravel()
    order = np.argsort(np.where(np.isnan(oriented), np.inf, oriented), kind="stable")
    group = f"{explanations.metric} by {explainer}"
    return tuple(
        _exhibit(testset, explanations, group, tagged, cell, float(-rank))
        for rank, cell in enumerate(order[:most].tolist())
    )


def _exhibit(
    testset: TestSet,
    explanations: Explanations,
    group: str,
    tagged: Mapping[str, NDArray[np.bool_]],
    cell: int,
    weight: float,
) -> Exhibit:
    system, column = divmod(cell, explanations.shape[1])
    segment = int(explanations.segments[column])
    name = explanations.systems[system]
    largest = _largest(explanations, cell)
    labels = {"document": testset.documents, "domain": testset.domains}
    return Exhibit(
        group=group,
        kind="lowest scores",
        segment=segment,
        texts=tuple(_texts(testset, explanations, tagged, cell, largest)),
        systems=(name,),
        weight=weight,
        caption=(
            "Blue words raise the score, orange ones lower it; the strongest weighs"
            f" {largest:.4g}." + (" People marked underlined words as errors." if tagged else "")
        ),
        **{label: None if of is None else of[segment - 1] for label, of in labels.items()},
    )


def _largest(explanations: Explanations, cell: int) -> float:
    values = [np.abs(side.importance[side.rows(cell)]) for side in explanations.sides]
    return float(np.nan_to_num(np.concatenate(values)).max(initial=0.0))


def _texts(
    testset: TestSet,
    explanations: Explanations,
    tagged: Mapping[str, NDArray[np.bool_]],
    cell: int,
    largest: float,
) -> Iterator[ExhibitText]:
    system, column = divmod(cell, explanations.shape[1])
    if testset.sources is not None and explanations.sides[-1].side != "source":
        yield ExhibitText("source", "", testset.sources[int(explanations.segments[column]) - 1])
    for side in reversed(explanations.sides):
        number = int(side.text[cell])
        if number >= 0:
            is_candidate = side.side == "candidate"
            score = float(explanations.scores.ravel()[cell])
            yield ExhibitText(
                _ROLES[side.side],
                explanations.systems[system] if is_candidate else "",
                explanations.texts[number],
                tuple(_highlights(side, cell, tagged.get(side.side), largest)),
                {"score": None if np.isnan(score) else score} if is_candidate else {},
            )


def _highlights(
    side: SideWords, cell: int, tagged: NDArray[np.bool_] | None, largest: float
) -> Iterator[Highlight]:
    for row in range(*side.rows(cell).indices(len(side.importance))):
        value = float(side.importance[row])
        if np.isnan(value):
            continue
        wrong = tagged is not None and bool(tagged[row])
        yield Highlight(
            int(side.start[row]),
            int(side.end[row]),
            f"{value:+.4g}{', marked as an error' if wrong else ''}",
            weight=value / largest if largest else 0.0,
            flagged=wrong,
        )


# Explanations as tables: every word, and the words that hurt most often.


_PAGE = 5000


def words_table(rows: Sequence[Row]) -> Table:
    """Every explained word, the records of the contract."""
    excerpt = None
    if len(rows) > _PAGE:
        note = (
            f"The first {_PAGE} of {len(rows)} words; all with --save-explanations FILE, -f tsv or"
            " -f json."
        )
        excerpt = Excerpt(tuple(range(_PAGE)), note)
    note = (
        "A positive importance makes the candidate look better, in units of the metric; positions"
        " count from 1."
    )
    title = "Importance of every word"
    return table("words", title, ExplainedWord, rows, note=note, excerpt=excerpt)


def hurting_table(words: Iterable[CountedWord]) -> Table:
    """The words that hurt the score, those that do so most often first."""
    hurting = sorted(
        (word for word in words if word.hurts), key=lambda word: (-word.hurts, word.mean)
    )
    note = "A word hurts where its importance is negative. Words are compared as they are written."
    return table("hurting", "Words that most often hurt", CountedWord, hurting, note=note)


def counted_words(rows: Iterable[Row]) -> list[CountedWord]:
    """The words of :func:`words_table`, those that are written alike together."""
    values: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        importance = row["importance"]
        if isinstance(importance, float):
            key = tuple(str(row[name]) for name in ("metric", "explainer", "side", "token"))
            values.setdefault(key, []).append(importance)
    return [
        CountedWord(
            metric=metric,
            explainer=explainer,
            side=side,
            token=token,
            count=len(some),
            hurts=sum(value < 0 for value in some),
            mean=sum(some) / len(some),
        )
        for (metric, explainer, side, token), some in values.items()
    ]


# Which reference each explanation was made with, by name.


def held_references(
    testset: TestSet, bound: BoundMetric, explanations: Explanations
) -> dict[tuple[str, int], str]:
    """The references that explanations were made with, by system and segment (from 1).

    Of references with the same text it is the first. Nothing for metrics that take no references.
    """
    if role_of(bound, testset.batch()) != "reference":
        return {}
    return {
        (system, int(segment)): name
        for k, system in enumerate(explanations.systems)
        for i, segment in enumerate(explanations.segments)
        if (number := int(explanations.judged_by[k, i])) >= 0
        for name in _called(testset, system, int(segment) - 1, explanations.texts[number])
    }


def _called(testset: TestSet, system: str, segment: int, text: str) -> Iterator[str]:
    system_references = testset.system_references.get(system, {})
    for name, texts in (*testset.references.items(), *system_references.items()):
        if texts[segment] == text:
            yield name
            return


# Explanations of metrics as a finding: words, what hurts, and whether that can be believed.


_LISTED = 15
_JUDGING = Group("judging explanations (beside the random explainer)")


@method(
    "bmx.explain",
    purpose="show which words a score rests on and which hurt it, beside errors that people marked",
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
@with_fields(draws=DrawOptions)
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
    draws: DrawOptions,
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
        segments: numbers of the segments to explain, from 1; all by default.
        sample: so many of these, drawn with the seed; all by default.
        errors: judge by the errors that people marked: AUC, average precision, recall at top-K.
        faithfulness: judge by deletion and insertion of words.
        examples: outputs whose words are coloured, for each metric and explainer, the worst ones.
        max_calls: most pairs of texts that may be scored for each metric and explainer.
        save_explanations: a file for all explanations of one metric by one explainer, one JSON
            object per word and line, as the explainer ``file('FILE')`` reads them.

    Returns:
        Tables ``words`` (the records of the contract), ``hurting``, and, if asked for,
        ``errors`` and ``faithfulness``.

    Raises:
        DataError: nobody marked errors on an explained side.
        UsageError: an option is out of its range.
        GnomonError: whatever :func:`explanations` raises.
    """
    chosen = _segments(testset, segments, sample, draws.seed)
    explained: list[_MetricExplained] = []
    for metric in listed(metrics):
        _, bound = bind(testset, metric, allow_code=allow_code)
        run = _Explaining(testset, bound, sides, chosen, max_calls, cache, progress)
        judge = _Judge(run, errors, faithfulness, draws.seed)
        chosen_explainers = map(find_explainer, listed(explainers))
        explained += [judge.judged(explainer, examples) for explainer in chosen_explainers]
    finding = _finding(testset, explained, draws)
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
    """What is explained, and how much that may cost."""

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
        references = held_references(self.run.testset, self.run.bound, explanations)
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


def _finding(testset: TestSet, every: Sequence[_MetricExplained], draws: DrawOptions) -> Finding:
    rows = [row for explained in every for row in _rows(explained)]
    judged = [explained.judged for explained in every]
    tables = [words_table(rows), hurting_table(counted_words(rows))]
    views = [_listing(tables[1], _LISTED)]
    for agreement in (errors_table(judged, draws), curves_table(judged, draws)):
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


def _listing(table: Table, most: int | None) -> Listing:
    columns = tuple(column.name for column in table.columns)
    return Listing(table.name, table.title, columns, most=most)
