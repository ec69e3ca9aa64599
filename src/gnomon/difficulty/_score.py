"""Weighted and plain scores side by side, and which of them people agree with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from gnomon.difficulty._agreement import (
    Judged,
    agreement_rows,
    curve_rows,
    point_rows,
    rank_rows,
    ranks,
    subsets,
    sum_rows,
)
from gnomon.difficulty._curves import following
from gnomon.difficulty._omission import omission
from gnomon.difficulty._people import people
from gnomon.difficulty._precision_recall import Both, precision_recall
from gnomon.difficulty._requests import check_score
from gnomon.difficulty._score_tables import score_finding
from gnomon.difficulty._setup import Side, base_side, weighted_side, wrapped
from gnomon.errors import DataError, GnomonError
from gnomon.faults import refuse
from gnomon.metrics import score as score_by
from gnomon.metrics.scoring import signature_of
from gnomon.slices import slices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    from gnomon.cache import Cache
    from gnomon.difficulty._agreement import Row
    from gnomon.difficulty._people import People
    from gnomon.difficulty._setup import Bound
    from gnomon.findings import Finding
    from gnomon.metrics import Metric
    from gnomon.metrics.protocol import BoundMetric
    from gnomon.testset import TestSet

__all__ = ["BESIDE", "score"]

BESIDE = ("ter", "meteor", "bleu")


@dataclass(frozen=True, eq=False)
class _Run:
    """One metric on one test set, with and without weights."""

    testset: TestSet
    bound: Bound
    base: Side
    weighted: Side

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(self.testset.systems)

    @property
    def sides(self) -> list[Judged]:
        return [Judged(side.name, side.system()) for side in (self.base, self.weighted)]


def score(
    testset: TestSet,
    metric: str | Metric = "bertscore",
    *,
    pool: str | tuple[str, ...] | None = None,
    pool_by: str | None = None,
    leave_one_out: bool = False,
    frozen: str | None = None,
    save: str | PathLike[str] | None = None,
    beside: Sequence[str] | None = None,
    human: str | None = None,
    top: str = "30%",
    curves: bool = True,
    allow_circular: bool = False,
    by: str | None = None,
    omit: bool = False,
    tagger: str | None = None,
    seed: int = 12345,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    allow_code: bool = False,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Scores of systems with and without difficulty, their ranks, and agreement with people.

    Zhan et al. (2021), "Difficulty-Aware Machine Translation Evaluation": tables 1 and 2, figure 2.
    Special tokens are treated alike on both sides, so that only the weights differ.

    Args:
        testset: the test set.
        metric: "difficulty(bertscore, beta=2)", or a metric that is wrapped so.
        pool: "all", "top:6", "top:30%" or systems, as in :class:`Difficulty`.
        pool_by: what ranks systems for "top": a kind of human scores, or a metric.
        leave_one_out: the words of a system are weighed by the others of the pool.
        frozen: file of difficulties saved before, in place of a pool.
        save: file to write the difficulties to.
        beside: metrics that stand beside both in the tables of agreement; by default TER, METEOR
            and BLEU, as far as they can be had.
        human: the kind of human scores that judges; by default the only one there is.
        top: how many of the best systems are judged apart: "30%" (rounded down) or a number.
        curves: agreement over the K best systems, for every K.
        allow_circular: judge by human scores even where they chose the pool, and draw the curve
            whose pool follows the K best systems, as the authors do.
        by: scores over slices, too: "length", "domain", "document", "score" or a label.
        omit: the omission test: one content word per segment is deleted, and the drop of both
            scores is told by how hard the word was.
        tagger: what tells content words for that: ``spacy:NAME``, or "auto" for the one of the
            target language; by default length and frequency.
        seed: of the omission test and of resamples.
        bootstrap: resamples for its intervals; 0: none.
        confidence: share of resamples inside them.
        allow_code: let a spec ``python('module:function')`` run code.
        cache: where tags are kept.
        progress: called with a stage, what is done and the total.

    Returns:
        A finding with rows ``system, metric, score, base_score, rank, base_rank, ...`` and, as far
        as they apply, tables "agreement", "ranks", "rank_sums", "curves", "points", "slices",
        "omission".

    Raises:
        UsageError: an option is out of its range, or human scores that chose the pool were named to
            judge.
        UnknownNameError: there is no such metric, system, kind of human scores or label.
        DataError: the test set lacks what the metric needs, or frozen difficulties do not fit.
        OutputError: the difficulties cannot be written.
    """
    refuse(
        check_score(
            testset.outline, metric, pool=pool, pool_by=pool_by, leave_one_out=leave_one_out,
            frozen=frozen, beside=beside, human=human, top=top, allow_circular=allow_circular,
            by=by, omit=omit, tagger=tagger, seed=seed, bootstrap=bootstrap,
            confidence=confidence, allow_code=allow_code,
        )
    )  # fmt: skip
    options = wrapped(
        metric,
        allow_code=allow_code,
        pool=pool,
        by=pool_by,
        leave_one_out=leave_one_out,
        frozen=frozen,
    )
    run = _run(testset, options.bind(testset), progress)
    if save is not None:
        run.bound.save(save)
    told = run.bound.notices(testset.batch())  # while the matches of all texts are remembered
    judge, said = people(testset, human, run.bound.informed_by, allow_circular=allow_circular)
    tables: dict[str, list[Row]] = {"scores": _score_rows(run, judge)}
    tables["slices"] = list(_slice_rows(run, by)) if by else []
    if judge is not None:
        further, notices = _judge(
            run, judge, beside, top, curves=curves, circular=allow_circular, tick=progress
        )
        tables |= further
        said += notices
    if omit:
        found = omission(
            run.testset, run.bound, tagger=tagger, seed=seed, bootstrap=bootstrap,
            confidence=confidence, cache=cache,
        )  # fmt: skip
        tables["omission"] = list(found.rows)
        said += found.notices
        if progress:
            progress("omission test", 1, 1)
    signature = signature_of(cast("BoundMetric", run.bound), testset.batch())
    return score_finding(testset, run.bound, signature, tables, (*told, *said), judge)


def _run(testset: TestSet, bound: Bound, progress: Callable[[str, int, int], None] | None) -> _Run:
    batch = testset.batch()
    run = _Run(testset, bound, base_side(bound, batch), weighted_side(bound, batch))
    if progress:
        progress("scoring", 1, 1)
    return run


def _score_rows(run: _Run, judge: People | None) -> list[Row]:
    """The records of the contract, best first."""
    base, weighted = (side.scores for side in run.sides)
    base_ranks, weighted_ranks = ranks(base), ranks(weighted)
    means = run.base.mean(), run.weighted.mean()
    both = precision_recall(run.bound, run.testset.batch())
    human = [None] * len(run.systems) if judge is None else ranks(judge.scores)
    pool = run.bound.pool.systems if run.bound.pool else ()
    spec = run.bound.metric.spec
    rows: list[Row] = [
        {
            "system": name,
            "metric": spec,
            "score": _defined(weighted[k]),
            "base_score": _defined(base[k]),
            "rank": weighted_ranks[k],
            "base_rank": base_ranks[k],
            "moved": _moved(base_ranks[k], weighted_ranks[k]),
            "human_rank": human[k],
            "mean": _defined(means[1][k]),
            "base_mean": _defined(means[0][k]),
            "in_pool": name in pool,
            **_both_of(both, k),
        }
        for k, name in enumerate(run.systems)
    ]
    return sorted(rows, key=lambda row: (row["rank"] is None, row["rank"] or 0, row["system"]))


def _both_of(both: Both | None, k: int) -> dict[str, float | None]:
    names = Both._fields
    return {name: None if both is None else _defined(getattr(both, name)[k]) for name in names}


def _slice_rows(run: _Run, by: str) -> Iterator[Row]:
    for name, members in slices(run.testset, by, run.base.segments):
        base, weighted = run.base.system(members), run.weighted.system(members)
        base_ranks, weighted_ranks = ranks(base), ranks(weighted)
        for k, system in enumerate(run.systems):
            yield {
                "slice": name or "all segments",
                "segments": int(members.sum()),
                "system": system,
                "score": _defined(weighted[k]),
                "base_score": _defined(base[k]),
                "rank": weighted_ranks[k],
                "base_rank": base_ranks[k],
            }


def _judge(
    run: _Run,
    judge: People,
    beside: Sequence[str] | None,
    top: str,
    *,
    curves: bool,
    circular: bool,
    tick: Callable[[str, int, int], None] | None,
) -> tuple[dict[str, list[Row]], tuple[str, ...]]:
    chosen, said = subsets(judge, top)
    others, unavailable = _beside(run.testset, beside, judge, circular=circular, tick=tick)
    base, weighted = run.sides
    mean = Judged(f"{run.base.name}, mean of segments", run.base.mean())
    same = np.allclose(mean.scores, base.scores, rtol=0, atol=1e-9, equal_nan=True)
    judged = [*others, *([] if same else [mean]), base, weighted, *_halves(run)]
    ranked = list(rank_rows([base, weighted], judge, chosen, run.systems))
    tables: dict[str, list[Row]] = {
        "agreement": list(agreement_rows(judged, judge, chosen, run.testset.segments)),
        "ranks": ranked,
        "rank_sums": list(sum_rows(ranked, [base, weighted])),
        "points": list(point_rows(judged, judge, run.systems)),
    }
    if curves:
        drawn, notices = _curves(run, judge, [*others, base], circular=circular, tick=tick)
        tables["curves"] = drawn
        said += notices
    return tables, (*said, *unavailable)


def _halves(run: _Run) -> list[Judged]:
    """Weighted precision and recall apart, where the score is made of both."""
    both = precision_recall(run.bound, run.testset.batch())
    if both is None or getattr(run.bound.metric.metric, "score", "f") != "f":
        return []
    name = run.weighted.name
    return [Judged(f"{name}, {half}", getattr(both, half)) for half in ("precision", "recall")]


def _curves(
    run: _Run,
    judge: People,
    judged: Sequence[Judged],
    *,
    circular: bool,
    tick: Callable[[str, int, int], None] | None,
) -> tuple[list[Row], tuple[str, ...]]:
    weighted = run.sides[1]
    how = "a file" if run.bound.pool is None else run.bound.pool.how
    fixed = Judged(f"{weighted.name}, d from {how}", weighted.scores)
    name = f"{weighted.name}, d from the same K systems (circular)"
    notice = (
        "curves: the authors' curve, whose pool is the K best systems by the very scores that judge"
        " it, is circular and left out (--allow-circular shows it)"
    )
    batch = run.testset.batch()
    found = following(run.bound, batch, judge, tick) if circular else {}
    if found:
        notice = (
            f"CIRCULAR, as was allowed: the curve {name!r} lets human scores ({judge.kind}) choose"
            " the systems that weigh the words, and is judged by them"
        )
    return list(curve_rows([*judged, fixed], judge, found, name)), (notice,)


def _beside(
    testset: TestSet,
    specs: Sequence[str] | None,
    judge: People,
    *,
    circular: bool,
    tick: Callable[[str, int, int], None] | None,
) -> tuple[list[Judged], tuple[str, ...]]:
    """Other metrics; a default that cannot be had is left out, one that was named is an error."""
    found: list[Judged] = []
    said: list[str] = []
    wanted = BESIDE if specs is None else specs
    for done, spec in enumerate(wanted, start=1):
        try:
            scores = score_by(testset, spec)
        except GnomonError as error:
            if specs is not None:
                raise
            said.append(f"{spec} is left out: {error}")
            continue
        if judge.kind in scores.informed_by and not circular:
            raise DataError(
                f"{spec} has seen the human scores ({judge.kind}) that judge it; leave it out of"
                " --beside, or allow it (--allow-circular)"
            )
        sign = 1 if scores.higher_is_better else -1
        name = spec if sign > 0 else f"{spec} (turned)"
        found.append(Judged(name, sign * scores.system))
        if tick:
            tick("beside", done, len(wanted))
    return found, tuple(said)


def _moved(base: int | None, weighted: int | None) -> int | None:
    return None if base is None or weighted is None else base - weighted


def _defined(number: float) -> float | None:
    return None if number != number else float(number)  # noqa: PLR0124  # NaN is the only such number
