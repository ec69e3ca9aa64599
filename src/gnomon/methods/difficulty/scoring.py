"""Weighted and plain scores side by side, and which of them people agree with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from gnomon.agreement.gains import AgreementGainRow, GainTesting
from gnomon.agreement.judging import ALL
from gnomon.agreement.tables import AgreementRow, JudgedSystemRow, TopSystemsRow, point_rows
from gnomon.core.cache import Cache
from gnomon.core.errors import DataError, GnomonError
from gnomon.core.findings import Bars, Finding, HeatMap, Listing, beside_base
from gnomon.core.options import CONFIDENCE, RESAMPLES, SEED, By, Confidence, Resamples, Seed
from gnomon.core.registry import method
from gnomon.core.scores import Scores, of_metric
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet
from gnomon.data.formats import with_human
from gnomon.linguistics import OptionalTagger
from gnomon.methods.difficulty._requests import (
    OTHER_METRICS,
    AllowCircular,
    Curves,
    Frozen,
    Judges,
    LeaveOneOut,
    Omission,
    OtherMetrics,
    PoolBy,
    PoolOfSystems,
    SavedDifficulties,
    Top,
    check_score,
    weighted,
)
from gnomon.methods.difficulty._verdict import (
    SCORE_CLAIMS,
    agreement_headline,
    moves_headline,
    score_verdict,
)
from gnomon.methods.difficulty.agreement import (
    agreement_views,
    curve_views,
    judged_rows,
    judges,
    pairings_of,
    subsets,
    weight_gain_rows,
)
from gnomon.methods.difficulty.omission import (
    OMISSION_TITLE,
    OmissionRow,
    omission_test,
    omission_views,
)
from gnomon.methods.difficulty.paper.circular_curve import LEFT_OUT, circular_curve
from gnomon.methods.difficulty.paper.rank_tables import (
    RankRow,
    RankSumRow,
    rank_rows,
    rank_views,
    sum_rows,
)
from gnomon.methods.difficulty.pools import empty_notices
from gnomon.methods.difficulty.score_rows import (
    ScoredMetric,
    WeightedRow,
    WeightedSliceRow,
    score_rows,
    slice_rows,
)
from gnomon.methods.difficulty.sides import (
    Side,
    base_side,
    facts_of,
    precision_recall,
    tables_of,
    weighted_side,
)
from gnomon.metrics import score as score_by
from gnomon.metrics.circularity import is_informed
from gnomon.metrics.protocol import Metrics, each_metric
from gnomon.metrics.scoring import signature_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Table, View
    from gnomon.core.records import Record
    from gnomon.methods.difficulty.agreement import People
    from gnomon.methods.difficulty.sides import Bound
    from gnomon.metrics.protocol import AnyMetric, BoundMetric

_EXAMPLES = """\
examples:
  gnomon difficulty score -t wmt19/de-en -m bertscore --html report.html
  gnomon difficulty score ref.txt -i a.txt b.txt c.txt -l en -m rouge1 bleu
  gnomon difficulty score -t wmt19/en-de -m 'difficulty(bertscore(model="FOLDER"), beta=2)'
  gnomon difficulty score -t wmt19/de-en -m bertscore --save hard.npz
  gnomon difficulty score ref.txt -i new.txt -l en -m bertscore --frozen hard.npz
"""


# Rows


_ROWS: Mapping[str, type[Record]] = {
    "scores": WeightedRow,
    "agreement": AgreementRow,
    "gains": AgreementGainRow,
    "ranks": RankRow,
    "rank_sums": RankSumRow,
    "curves": TopSystemsRow,
    "points": JudgedSystemRow,
    "slices": WeightedSliceRow,
    "omission": OmissionRow,
}
_TITLES = {
    "scores": "Scores with and without difficulty",
    "agreement": "Agreement with people",
    "gains": "What the weights add to the agreement",
    "ranks": "Ranks by people, base and weighted score",
    "rank_sums": "Distance to the ranks by people",
    "curves": "Agreement over the K best systems",
    "points": "Systems by metric and by people",
    "slices": "Scores over slices",
    "omission": OMISSION_TITLE,
}
#: tables that tell metrics apart only where there are several
_OF_ONE = ("gains", "ranks", "slices")


# The method


@method(
    "difficulty.score",
    answers="how good each system is where hard words count more, and whether people agree",
    title="Difficulty",
    examples=_EXAMPLES,
    tables={"": "difficulty"},
    rows=_ROWS,
    human=True,
    check=check_score,
    verdict=score_verdict,
    claims=SCORE_CLAIMS,
)
def score(
    testset: TestSet,
    metrics: Metrics = "bleu",
    *,
    pool: PoolOfSystems = None,
    pool_by: PoolBy = None,
    leave_one_out: LeaveOneOut = False,
    frozen: Frozen = None,
    save: SavedDifficulties = None,
    other_metrics: OtherMetrics = OTHER_METRICS,
    human: Judges = (),
    top: Top = "30%",
    curves: Curves = True,
    allow_circular: AllowCircular = False,
    by: By = None,
    omission: Omission = False,
    tagger: OptionalTagger = None,
    seed: Seed = SEED,
    resamples: Resamples = RESAMPLES,
    confidence: Confidence = CONFIDENCE,
    allow_code: bool = False,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Scores of systems with and without difficulty, their ranks, and agreement with people.

    Zhan et al. (2021), "Difficulty-Aware Machine Translation Evaluation": tables 1 and 2, figure 2.
    Special tokens are treated alike on both sides, so that only the weights differ.

    Args:
        testset: the test set.
        metrics: metrics that match tokens or count n-grams ("bertscore", "rouge1"), or these under
            difficulty already: "difficulty(bertscore, beta=2)".
        leave_one_out: the words of a system are weighed by the others of the pool.
        other_metrics: metrics that stand beside in the tables of agreement; where none are named,
            as far as they can be had; an empty list: none.
        top: how many of the best systems are judged apart: a number, or a share, rounded down.
        curves: agreement over the K best systems, for every K.
        allow_circular: judge by human scores even where they chose the pool, and draw the curve
            whose pool follows the K best systems, as the authors do.
        by: slices, too: by "document", "domain", "length", "score" or a label of the test set.
        tagger: what tells content words for the omission test: ``spacy:NAME``, an annotator, or
            "auto" for the one of the target language; by default length and frequency.

    Returns:
        A finding with rows ``system, metric, score, base_score, rank, base_rank, ...`` and, as far
        as they apply, tables "agreement", "gains", "ranks", "rank_sums", "curves", "points",
        "slices", "omission".

    Raises:
        UsageError: an option is out of its range, a metric has no words to weigh, or human scores
            that chose the pool were named to judge.
        UnknownNameError: there is no such metric, system, kind of human scores or label.
        DataError: the test set lacks what a metric needs, or frozen difficulties do not fit.
        OutputError: the difficulties cannot be written.
    """
    testset, kinds = with_human(testset, human)
    batch = testset.batch()
    wanted = [
        weighted(
            metric,
            pool=pool,
            pool_by=pool_by,
            leave_one_out=leave_one_out,
            frozen=frozen,
            allow_code=allow_code,
        )
        for metric in each_metric(metrics)
    ]
    runs = _runs(testset, [options.weigh(testset) for options in wanted], progress)
    if save is not None:
        runs[0].bound.save(save)
    # while the matches of all texts are remembered
    several = len(runs) > 1
    notices = [
        of_metric(run.bound.metric.spec, notice) if several else notice
        for run in runs
        for notice in run.bound.notices(batch)
    ]
    notices += [notice for run in runs for notice in empty_notices(testset, run.pool)]
    informed = {kind for run in runs for kind in run.bound.informed_by}
    people, judge_notices = judges(testset, kinds, informed, allow_circular=allow_circular)
    notices += judge_notices
    rows: dict[str, list[Record]] = {name: [] for name in _ROWS}
    for run in runs:
        rows["scores"] += score_rows(run, people[0] if people else None)
        rows["slices"] += slice_rows(run, by) if by else ()
    if people:
        how = GainTesting(resamples, seed, confidence, alternative="two-sided")
        judging = _Judging(testset, runs, people, top, curves, allow_circular, how, progress)
        notices += judging.add(rows, other_metrics, allow_code=allow_code)
    if omission:
        for run in runs:
            test = omission_test(
                testset, run.bound, tagger=tagger, seed=seed, resamples=resamples,
                confidence=confidence, cache=cache,
            )  # fmt: skip
            rows["omission"] += test.rows
            notices += test.notices
            if progress:
                progress("omission test", 1, 1)
    return _finding(testset, runs, rows, people, notices, confidence if resamples else None)


def _runs(
    testset: TestSet,
    bound: Sequence[Bound],
    progress: Callable[[str, int, int], None] | None,
) -> list[ScoredMetric]:
    batch = testset.batch()
    runs = []
    if progress:
        progress("scoring", 0, len(bound))
    for done, metric in enumerate(bound, start=1):
        runs.append(
            ScoredMetric(testset, metric, base_side(metric, batch), weighted_side(metric, batch))
        )
        if progress:
            progress("scoring", done, len(bound))
    names = Counter(run.base.name for run in runs)
    return [run if names[run.base.name] == 1 else _named_in_full(run) for run in runs]


def _named_in_full(run: ScoredMetric) -> ScoredMetric:
    """With whole specs, where short names are those of several metrics."""
    options = run.bound.metric
    base = replace(run.base, name=options.metric.spec)
    return replace(run, base=base, weighted=replace(run.weighted, name=options.spec))


@dataclass(frozen=True)
class _Judging:
    """What people are asked about the metrics: the same for every kind of human scores."""

    testset: TestSet
    runs: Sequence[ScoredMetric]
    people: Sequence[People]
    top: str
    curves: bool
    circular: bool
    how: GainTesting
    progress: Callable[[str, int, int], None] | None

    def add(
        self, rows: Mapping[str, list[Record]], other_metrics: Metrics, *, allow_code: bool
    ) -> list[str]:
        """Add the rows of agreement; what should be said of them."""
        others, unavailable = self._others(other_metrics, allow_code=allow_code)
        scored = [*others, *(scores for run in self.runs for scores in _all_of(run))]
        systems = tuple(self.testset.systems)
        notices: list[str] = []
        pairings = pairings_of(self.testset, scored, self.people)
        for judge in self.people:
            pairing = pairings[judge.kind]
            chosen, subset_notices = subsets(judge, self.top)
            notices += subset_notices
            curves = self._curve_names(others) if self.curves else {}
            agreement, over_best = judged_rows(pairing, chosen, curves)
            rows["agreement"] += agreement
            for run in self.runs:
                spec, names = run.bound.metric.spec, (run.base.name, run.weighted.name)
                gained = weight_gain_rows(pairing, names, chosen, systems, self.how)
                rows["gains"] += (AgreementGainRow.of(row, metric=spec) for row in gained)
                ranked = list(rank_rows(run.sides, judge, chosen, systems, spec))
                rows["ranks"] += ranked
                rows["rank_sums"] += sum_rows(ranked, run.sides)
            rows["points"] += point_rows(pairing)
            rows["curves"] += over_best
            if self.curves and not self.circular:
                notices.append(LEFT_OUT)
            for run in self.runs if self.curves and self.circular else ():
                curve, notice = circular_curve(
                    run.bound,
                    run.weighted.name,
                    self.testset.batch(),
                    judge,
                    pairing.label,
                    self.progress,
                )
                rows["curves"] += curve
                notices.append(notice)
        return notices + unavailable

    def _others(self, metrics: Metrics, *, allow_code: bool) -> tuple[list[Scores], list[str]]:
        """Scores of other metrics; what could not be had."""
        others: list[Scores] = []
        notices: list[str] = []
        weighed = [run.bound.metric.metric.spec for run in self.runs]
        every = [
            metric for metric in each_metric(metrics) if metric not in weighed
        ]  # they stand there
        for done, metric in enumerate(every, start=1):
            try:
                scores = _scored(self.testset, metric, allow_code=allow_code)
            except GnomonError as error:
                if metrics is not OTHER_METRICS:
                    raise
                notices.append(f"{metric} is left out: {error}")
                continue
            name = metric if isinstance(metric, str) else scores.metric
            seen = [judge.kind for judge in self.people if is_informed(scores, judge.kind)]
            if seen and not self.circular:
                raise DataError(
                    f"{name} has seen the human scores ({', '.join(seen)}) that judge it; leave it"
                    " out of --other-metrics, or allow it (--allow-circular)"
                )
            others.append(replace(scores, metric=name))
            if self.progress:
                self.progress("other metrics", done, len(every))
        return others, notices

    def _curve_names(self, others: Sequence[Scores]) -> dict[str, str]:
        """What curves over the best systems are called, by metric."""
        names = {scores.metric: scores.metric for scores in others}
        for run in self.runs:
            how = "a file" if run.bound.pool is None else run.bound.pool.how
            names |= {
                run.base.name: run.base.name,
                run.weighted.name: f"{run.weighted.name}, d from {how}",
            }
        return names


def _all_of(run: ScoredMetric) -> Iterator[Scores]:
    """Base metric both ways, weighted metric, and its precision and recall where it is of both."""
    mean = run.base.mean()
    if not np.allclose(mean, run.base.system(), rtol=0, atol=1e-9, equal_nan=True):
        whole = _scores_of(run, run.base)
        name = f"{run.base.name}, mean of segments"
        yield replace(whole, metric=name, system=mean, statistics=None, aggregate=None)
    yield _scores_of(run, run.base)
    weighted_scores = replace(
        _scores_of(run, run.weighted), informed_by=tuple(run.bound.informed_by)
    )
    yield weighted_scores
    both = precision_recall(run.bound, run.testset.batch())
    if both is None or getattr(run.bound.metric.metric, "score", "f") != "f":
        return
    unknown = np.full_like(run.weighted.segments, np.nan)
    for half in ("precision", "recall"):
        yield replace(
            weighted_scores,
            metric=f"{run.weighted.name}, {half}",
            system=getattr(both, half),
            segments=unknown,
            statistics=None,
            aggregate=None,
        )


def _scores_of(run: ScoredMetric, side: Side) -> Scores:
    return Scores(
        metric=side.name,
        systems=run.systems,
        system=side.system(),
        segments=side.segments,
        higher_is_better=side.sign > 0,
        signature=Signature(side.name),
        statistics=side.statistics,
        aggregate=side.aggregate,
    )


def _scored(testset: TestSet, metric: AnyMetric, *, allow_code: bool) -> Scores:
    return (
        metric if isinstance(metric, Scores) else score_by(testset, metric, allow_code=allow_code)
    )


# Tables and views


def _finding(
    testset: TestSet,
    runs: Sequence[ScoredMetric],
    rows: Mapping[str, Sequence[Record]],
    people: Sequence[People],
    notices: Sequence[str],
    confidence: float | None,
) -> Finding:
    """The finding; tables without rows are left out, but for the first."""
    tables = tables_of(_ROWS, _TITLES, rows, () if len(runs) > 1 else _OF_ONE, confidence)
    batch = testset.batch()
    kinds = [judge.kind for judge in people]
    return Finding(
        method="difficulty score",
        title=f"Scores by how hard words were ({testset.name})",
        tables=tuple(tables),
        signatures={
            run.bound.metric.spec: str(signature_of(cast("BoundMetric", run.bound), batch))
            for run in runs
        },
        views=tuple(_views(tables, rows, runs, people)),
        notices=tuple(dict.fromkeys(notices)),
        facts=facts_of(testset, [run.bound for run in runs], "base metric", kinds),
    )


def _views(
    tables: Sequence[Table],
    rows: Mapping[str, Sequence[Record]],
    runs: Sequence[ScoredMetric],
    people: Sequence[People],
) -> Iterator[View]:
    several = len(runs) > 1
    of = ("metric",) if several else ()
    human = ("human_rank",) if people else ()
    columns = ("system", *of, "score", "rank", "base_score", "base_rank", "moved", *human)
    yield Listing("scores", _TITLES["scores"], columns)
    agreement = cast("Sequence[AgreementRow]", rows["agreement"])
    yield from _pictures(cast("Sequence[WeightedRow]", rows["scores"]), agreement)
    gains = cast("Sequence[AgreementGainRow]", rows["gains"])
    kinds = list(dict.fromkeys(row.human for row in agreement))
    yield from agreement_views(agreement, gains, _TITLES)
    yield from rank_views(
        cast("Sequence[RankRow]", rows["ranks"]),
        cast("Sequence[RankSumRow]", rows["rank_sums"]),
        kinds,
        _TITLES["rank_sums"],
    )
    yield from curve_views(rows, _TITLES, kinds)
    for run in runs if rows["slices"] else ():
        spec = run.bound.metric.spec
        for value, said in (("score", "weighted"), ("base_score", "base")):
            yield HeatMap(
                table="slices",
                title=f"Scores over slices, {said}{f' ({spec})' if several else ''}",
                rows="slice",
                columns="system",
                value=value,
                beside="segments",
                where={"metric": spec} if several else {},
            )
    yield from omission_views(tables)


def _pictures(scores: Sequence[WeightedRow], agreement: Sequence[AgreementRow]) -> Iterator[View]:
    """What people agree with, where they judged enough systems; then systems beside each other."""
    for human in dict.fromkeys(row.human for row in agreement):
        whole = [row for row in agreement if (row.human, row.subset) == (human, ALL)]
        title = agreement_headline(whole)
        if title:
            yield Bars(
                table="agreement",
                title=title,
                category="statistic",
                series="metric",
                values=("value",),
                where={"subset": ALL, "human": human},
                ordered=True,
                dots=True,
            )
    metrics = [row.metric for row in scores]
    yield from beside_base("scores", scores, lambda rows: moves_headline(rows, metrics))
