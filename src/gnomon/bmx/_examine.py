"""Explanations of metrics as a finding: words, what hurts, and whether that can be believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.bmx._errors import against_errors, tagged_words
from gnomon.bmx._explain import MAX_CALLS, explain
from gnomon.bmx._explainers import find_explainer
from gnomon.bmx._faithfulness import faithfulness
from gnomon.bmx._judged_tables import Judged, curves_table, errors_table
from gnomon.bmx._mean_intervals import Draws
from gnomon.bmx._random import RandomExplainer
from gnomon.bmx._references import held_references
from gnomon.bmx._requests import check_examine, listed
from gnomon.bmx._word_exhibits import worst_explained
from gnomon.bmx._word_tables import hurting_table, lowest_table, words_table
from gnomon.faults import refuse
from gnomon.findings import Finding, Listing
from gnomon.metrics.scoring import bind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gnomon.bmx._engine import Progress
    from gnomon.bmx._explain import Sides
    from gnomon.bmx._explanations import Explanations
    from gnomon.bmx._protocol import Explainer
    from gnomon.cache import Cache
    from gnomon.findings import Cell, Exhibit, Table
    from gnomon.metrics.protocol import BoundMetric, Metric
    from gnomon.testset import TestSet

    AnyMetric = str | Metric | BoundMetric | Callable[..., float]

__all__ = ["examine"]

_LISTED = 15


def examine(
    testset: TestSet,
    metrics: AnyMetric | Sequence[AnyMetric],
    explainers: str | Explainer | Sequence[str | Explainer] = "erasure",
    *,
    sides: Sides = "both",
    systems: Sequence[str] | None = None,
    segments: Sequence[int] | None = None,
    sample: int | None = None,
    errors: bool = False,
    errors_kind: str | None = None,
    curves: bool = False,
    show: int = 3,
    least: int = 3,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    max_calls: int = MAX_CALLS,
    cache: Cache | None = None,
    progress: Progress | None = None,
    allow_code: bool = False,
) -> Finding:
    """Explain metrics, list what hurts, and judge the explanations.

    Args:
        testset: what was translated, and by whom.
        metrics: one or several, as in :func:`explain`.
        explainers: one or several, likewise.
        sides: explain "both" sides or the "candidate" alone.
        systems: names of the systems to explain; all by default.
        segments: numbers of the segments to explain, from 0; all by default.
        sample: so many of these, drawn with the seed.
        errors: judge by the errors that people marked; see :func:`against_errors`.
        errors_kind: which judgements, where there are several kinds.
        curves: judge by deletion and insertion; see :func:`faithfulness`.
        show: outputs whose words are coloured, for each metric and explainer, the worst ones.
        least: how often words occur that are listed by their mean importance.
        resamples: of the segments, for intervals.
        confidence: share inside an interval, in (0, 1).
        seed: of the sample, the resamples and the random explainer that is the control.
        max_calls: most pairs of texts that may be scored for each metric and explainer.
        cache: as in :func:`explain`.
        progress: as in :func:`explain`.
        allow_code: as in :func:`explain`.

    Returns:
        Tables ``words`` (the records of the contract), ``hurting``, ``lowest``, and, if asked for,
        ``errors`` and ``faithfulness``.

    Raises:
        DataError: nobody marked errors on an explained side.
        UsageError: an option is out of its range.
        GnomonError: whatever :func:`explain` raises.
    """
    refuse(
        check_examine(
            testset.outline, metrics, explainers, sides=sides, segments=segments, sample=sample,
            errors=errors, errors_kind=errors_kind, show=show, least=least, resamples=resamples,
            confidence=confidence, seed=seed, max_calls=max_calls, allow_code=allow_code,
        )
    )  # fmt: skip
    chosen = _segments(testset, segments, sample, seed)
    draws = Draws(resamples, seed, confidence)
    several: list[AnyMetric] = listed(metrics)
    named: list[str | Explainer] = listed(explainers)
    found: list[_Examined] = []
    for metric in several:
        _, bound = bind(testset, metric, allow_code=allow_code)
        run = _Run(testset, bound, sides, systems, chosen, max_calls, cache, progress)
        judge = _Judge(run, errors, errors_kind, curves, seed)
        found += [judge.examined(find_explainer(explainer), show) for explainer in named]
    return _finding(testset, found, least, draws)


class _Examined(NamedTuple):
    """The explanations of one metric by one explainer, and what judges them."""

    explanations: Explanations
    explainer: str
    judged: Judged
    exhibits: tuple[Exhibit, ...]
    references: Mapping[tuple[str, int], str]


@dataclass(frozen=True)
class _Run:
    """What is explained, and how much that may cost."""

    testset: TestSet
    bound: BoundMetric
    sides: Sides
    systems: Sequence[str] | None
    segments: Sequence[int] | None
    max_calls: int
    cache: Cache | None
    progress: Progress | None

    def explanations(self, explainer: Explainer) -> Explanations:
        return explain(
            self.testset,
            self.bound,
            explainer,
            sides=self.sides,
            systems=self.systems,
            segments=self.segments,
            max_calls=self.max_calls,
            cache=self.cache,
            progress=self.progress,
        )


@dataclass
class _Judge:
    """Judges explanations beside those of the control, which are made once."""

    run: _Run
    errors: bool
    kind: str | None
    curves: bool
    seed: int
    _control: Judged | None = None

    def examined(self, explainer: Explainer, show: int) -> _Examined:
        found = self.run.explanations(explainer)
        own = self._judged(found, explainer.spec)
        if self._control is None and (self.errors or self.curves):
            control = RandomExplainer(seed=self.seed)
            self._control = self._judged(self.run.explanations(control), control.spec)
        if self._control is not None:
            own = own._replace(
                errors_control=self._control.errors, curves_control=self._control.curves
            )
        tagged = tagged_words(self.run.testset, found, kind=self.kind) if self.errors else {}
        exhibits = worst_explained(self.run.testset, found, explainer.spec, tagged, show)
        references = held_references(self.run.testset, self.run.bound, found)
        return _Examined(found, explainer.spec, own, exhibits, references)

    def _judged(self, found: Explanations, explainer: str) -> Judged:
        testset = self.run.testset
        return Judged(
            found.metric,
            explainer,
            errors=against_errors(testset, found, kind=self.kind) if self.errors else (),
            curves=faithfulness(testset, self.run.bound, found, max_calls=self.run.max_calls)
            if self.curves
            else None,
        )


def _segments(
    testset: TestSet, segments: Sequence[int] | None, sample: int | None, seed: int
) -> Sequence[int] | None:
    if sample is None:
        return segments
    among = list(range(testset.segments)) if segments is None else list(segments)
    drawn = np.random.default_rng(seed).permutation(len(among))[:sample]
    return sorted(among[place] for place in drawn.tolist())


def _finding(testset: TestSet, found: Sequence[_Examined], least: int, draws: Draws) -> Finding:
    rows = [row for one in found for row in _rows(one)]
    judged = [one.judged for one in found]
    tables: list[Table] = [words_table(rows), hurting_table(rows), lowest_table(rows, least)]
    views = [_listing(table, _LISTED) for table in tables[1:]]
    for table in (errors_table(judged, draws), curves_table(judged, draws)):
        if table.rows:
            tables.append(table)
            views.insert(0, _listing(table, None))
    explanations = [one.explanations for one in found]
    return Finding(
        method="bmx explain",
        title=f"Which words scores rest on: {testset.name}",
        tables=tuple(tables),
        signatures={
            f"{one.explanations.metric} by {one.explainer}": str(one.explanations.signature)
            for one in found
        },
        views=tuple(views),
        exhibits=tuple(exhibit for one in found for exhibit in one.exhibits),
        notices=tuple(dict.fromkeys(notice for one in explanations for notice in one.notices)),
        facts={
            "test set": testset.name,
            "systems": str(explanations[0].shape[0]),
            "segments": str(explanations[0].shape[1]),
            "metric calls": str(sum(one.calls for one in explanations)),
            "known before": str(sum(one.known for one in explanations)),
        },
    )


def _rows(one: _Examined) -> Iterator[dict[str, Cell]]:
    explanations = one.explanations
    column = {int(segment) + 1: i for i, segment in enumerate(explanations.segments)}
    of = {
        (name, segment): (float(explanations.scores[k, i]), float(explanations.held[k, i]))
        for k, name in enumerate(explanations.systems)
        for segment, i in column.items()
    }
    for row in explanations.rows():
        score, held = of[str(row["system"]), int(row["segment"] or 0)]
        yield {
            **row,
            "score": None if np.isnan(score) else score,
            "held": None if np.isnan(held) else held,
            "reference": one.references.get((str(row["system"]), int(row["segment"] or 0))),
            "metric": explanations.metric,
            "explainer": one.explainer,
            "higher_is_better": explanations.higher_is_better,
        }


def _listing(table: Table, most: int | None) -> Listing:
    columns = tuple(column.name for column in table.columns)
    return Listing(table.name, table.title, columns, most=most)
