"""Systems side by side: which differ from a baseline, by how much, where, and in which words."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import DataError, UnknownNameError, UsageError
from gnomon.findings import Finding
from gnomon.metaeval._compare_exhibits import Showcase
from gnomon.metaeval._compare_figures import Contest, figures
from gnomon.metaeval._compare_options import SEED, Correction, PairedTest, Plan
from gnomon.metaeval._compare_segments import deciders, influence
from gnomon.metaeval._compare_slices import check_slices, slices
from gnomon.metaeval._compare_tables import ngram_table, rows, segment_table, system_table, views
from gnomon.metaeval._compare_words import ngram_records, read_tokens
from gnomon.metrics import score
from gnomon.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gnomon.findings import Cell, Exhibit, Table
    from gnomon.metrics.protocol import BoundMetric, Metric
    from gnomon.metrics.tokenise import TokenTable
    from gnomon.stats.bootstrap import Null
    from gnomon.stats.significance import Alternative
    from gnomon.testset import TestSet

__all__ = ["compare"]

_SAME = 1e-6  # share by which a corpus score may differ from the mean of its segments


def compare(
    testset: TestSet,
    metrics: str | Sequence[str | Metric | BoundMetric | Callable[..., float] | Scores] = "bleu",
    *,
    baseline: str | None = None,
    test: PairedTest = "bootstrap",
    resamples: int = 1000,
    trials: int = 10000,
    null: Null = "sign",
    alternative: Alternative = "two-sided",
    correction: Correction = "holm",
    alpha: float = 0.05,
    confidence: float = 0.95,
    seed: int = SEED,
    by: str | None = None,
    examples: int = 5,
    ngrams: int = 10,
    longest: int = 4,
    jobs: int = 1,
    allow_code: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Which systems differ from a baseline, by how much, in which segments and n-grams.

    Corpus metrics are compared through their statistics, which are summed over each resample; other
    metrics by the mean of their segment scores. Equal outputs differ by 0, with p = 1.

    Args:
        testset: references and the outputs of two or more systems.
        metrics: specs, metrics, functions of texts, or :class:`Scores` of this test set.
        baseline: the system that the others are compared with; the first by default.
        test: "bootstrap" (paired bootstrap; Koehn, 2004) or "ar" (approximate randomisation;
            Riezler and Maxwell, 2005). Intervals are the bootstrap's either way.
        resamples: bootstrap resamples of the segments.
        trials: draws of the randomisation.
        null: how resamples become a p-value: "sign", "centred", or "sacrebleu" for exactly what
            sacreBLEU reports; see :func:`gnomon.stats.bootstrap_p_value`.
        alternative: "two-sided", "greater" (the system is better) or "less" (it is worse).
        correction: of p for the number of systems, metric by metric, and for slices x systems:
            "holm", "benjamini-hochberg" or "none".
        alpha: largest corrected p at which a system is called better or worse.
        confidence: of the intervals, in (0, 1).
        seed: of all draws; 12345, as sacreBLEU's.
        by: slice by "length", "score", "document", "domain" or a label of the test set.
        examples: segments shown per metric, system and side; 0 for none.
        ngrams: n-grams listed per system, side and length; 0 for none.
        longest: length of the longest n-grams.
        jobs: threads for the tests; results do not depend on it.
        allow_code: let a spec ``python('module:function')`` import and run the module.
        progress: called with a stage, what is done and the total.

    Returns:
        A finding whose rows hold ``system, baseline, metric, score, difference, low, high, p,
        p_adjusted, verdict, slice, segments, wins, ties, losses, gain, ...``; further tables
        ``segments`` and ``ngrams``. ``None`` where undefined.

    Raises:
        DataError: there are fewer than two systems, or scores are not of this test set.
        UnknownNameError: the baseline is no system of the test set, or an option has no such value.
        UsageError: an option is out of range, or a metric is named twice.
    """
    plan = Plan(test, resamples, trials, null, alternative, correction, alpha, confidence, seed)
    shown = _Shown(by, examples, ngrams, longest)
    if jobs < 1:
        raise UsageError(f"jobs is a number of threads, 1 or more; got {jobs}")
    ordered = _ordered(testset, baseline)
    check_slices(ordered, by)
    scored = _scored(ordered, metrics, allow_code=allow_code, progress=progress)
    contests = [Contest.of(one, list(ordered.systems)) for one in scored]
    found = _Gathered(notices=_notices(ordered, scored, contests))
    found.rows += _compared(ordered, contests, plan, by, jobs, progress)
    tokens = _tokens(ordered, shown, found)
    if examples:
        _add_segments(found, ordered, contests, tokens, examples)
    if ngrams and tokens is not None:
        found.ngrams += ngram_records(ordered.batch(), tokens, most=ngrams, longest=longest)
    return _finding(found, ordered, scored, plan, by)


@dataclass(frozen=True)
class _Shown:
    by: str | None
    examples: int
    ngrams: int
    longest: int

    def __post_init__(self) -> None:
        for name, least in (("examples", 0), ("ngrams", 0), ("longest", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} is a number from {least}; got {getattr(self, name)}")


@dataclass
class _Gathered:
    rows: list[dict[str, Cell]] = field(default_factory=list)
    segments: list[dict[str, Cell]] = field(default_factory=list)
    ngrams: list[dict[str, Cell]] = field(default_factory=list)
    exhibits: list[Exhibit] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def _ordered(testset: TestSet, baseline: str | None) -> TestSet:
    """The test set with the baseline first."""
    names = list(testset.systems)
    if len(names) < 2:
        given = f"{names[0]!r} alone" if names else "none"
        raise DataError(
            f"a comparison takes two systems or more; test set {testset.name!r} gives {given}"
        )
    if baseline is None or baseline == names[0]:
        return testset
    if baseline not in names:
        raise UnknownNameError("system (baseline)", baseline, names)
    return testset.select(systems=[baseline, *(name for name in names if name != baseline)])


def _scored(
    testset: TestSet,
    metrics: str | Sequence[str | Metric | BoundMetric | Callable[..., float] | Scores],
    *,
    allow_code: bool,
    progress: Callable[[str, int, int], None] | None,
) -> list[Scores]:
    chosen = [metrics] if isinstance(metrics, str) else list(metrics)
    if not chosen:
        raise UsageError("a comparison takes one metric or more; none is given")
    found = []
    for done, one in enumerate(chosen, start=1):
        if isinstance(one, Scores):
            found.append(_checked(one, testset))
        else:
            found.append(score(testset, one, allow_code=allow_code))
        if progress:
            progress("scoring", done, len(chosen))
    names = [one.metric for one in found]
    if len(set(names)) < len(names):
        raise UsageError(f"a metric is named twice: {', '.join(names)}")
    return found


def _checked(scores: Scores, testset: TestSet) -> Scores:
    missing = [name for name in testset.systems if name not in scores.systems]
    if missing:
        raise DataError(
            f"the scores of {scores.metric} lack {', '.join(missing)}; there are:"
            f" {', '.join(scores.systems)}"
        )
    if scores.segments.shape[1] != testset.segments:
        raise DataError(
            f"the scores of {scores.metric} are of {scores.segments.shape[1]} segments, and test"
            f" set {testset.name!r} has {testset.segments}"
        )
    return scores


def _compared(
    testset: TestSet,
    contests: Sequence[Contest],
    plan: Plan,
    by: str | None,
    jobs: int,
    progress: Callable[[str, int, int], None] | None,
) -> list[dict[str, Cell]]:
    parts = [slices(testset, by, contest.segments) for contest in contests]
    tasks = [(c, part) for c, each in zip(contests, parts, strict=True) for part in each]
    done = []
    with ThreadPoolExecutor(jobs) as pool:
        for one in pool.map(lambda task: figures(task[0], task[1].members, plan), tasks):
            done.append(one)
            if progress:
                progress("testing", len(done), len(tasks))
    found, answers = [], iter(done)
    for contest, each in zip(contests, parts, strict=True):
        found += rows(contest, [(part.name, next(answers)) for part in each], plan)
    return found


def _tokens(testset: TestSet, shown: _Shown, found: _Gathered) -> TokenTable | None:
    if not (shown.examples or shown.ngrams):
        return None
    tokens, problem = read_tokens(testset)
    if problem:
        found.notices.append(f"n-grams are not listed: {problem}")
    return tokens


def _add_segments(
    found: _Gathered,
    testset: TestSet,
    contests: Sequence[Contest],
    tokens: TokenTable | None,
    examples: int,
) -> None:
    showcase = Showcase(testset, testset.batch(), tokens)
    for contest in contests:
        added = influence(contest)
        for one in deciders(contest, examples):
            weight = float(added[one.system, one.segment])
            found.segments.append(showcase.record(contest, one, weight))
            found.exhibits.append(showcase.exhibit(contest, one))


def _notices(testset: TestSet, scored: Sequence[Scores], contests: Sequence[Contest]) -> list[str]:
    baseline, *others = testset.systems
    same = [name for name in others if testset.systems[name] == testset.systems[baseline]]
    said = [f"{name} and {baseline} have the same output in every segment" for name in same]
    for one, contest in zip(scored, contests, strict=True):
        said += [f"{one.metric}: {notice}" for notice in one.notices]
        said += _holes(contest)
        if contest.aggregate is None and not _is_mean(one):
            said.append(
                f"{one.metric}: the corpus score is not the mean of its segments, which is what is"
                " compared here"
            )
    return said


def _holes(contest: Contest) -> list[str]:
    missing = np.isnan(contest.segments)
    if not missing.any():
        return []
    if (missing == missing[0]).all():
        n = int(missing[0].sum())
        return [f"{contest.metric}: {n} segments have no score and are left out"]
    lacking = zip(contest.systems, missing.sum(axis=1).tolist(), strict=True)
    told = ", ".join(f"{name} ({n})" for name, n in lacking if n)
    said = (
        f"{contest.metric}: segments without a score: {told}; differences are taken over the"
        " segments that both have, scores over all that a system has"
    )
    return [said]


def _is_mean(scores: Scores) -> bool:
    known = ~np.isnan(scores.segments)
    counts = np.where(known.any(axis=1), known.sum(axis=1), np.nan)
    means = np.nansum(scores.segments, axis=1) / counts
    return bool(np.allclose(means, scores.system, rtol=_SAME, atol=_SAME, equal_nan=True))


def _finding(
    found: _Gathered, testset: TestSet, scored: Sequence[Scores], plan: Plan, by: str | None
) -> Finding:
    tables: list[Table] = [system_table(found.rows, plan)]
    if found.segments:
        tables.append(segment_table(found.segments))
    if found.ngrams:
        tables.append(ngram_table(found.ngrams))
    systems = list(testset.systems)
    fields = {"baseline": systems[0], **plan.fields()}
    return Finding(
        method="compare",
        title=f"Systems compared with {systems[0]}",
        tables=tuple(tables),
        signatures={one.metric: str(one.signature.adding(fields)) for one in scored},
        views=views(tables, [one.metric for one in scored], systems),
        exhibits=tuple(found.exhibits),
        notices=tuple(found.notices),
        facts=_facts(testset, by),
    )


def _facts(testset: TestSet, by: str | None) -> Mapping[str, str]:
    facts = {
        "test set": testset.name,
        "language pair": testset.language_pair or "not given",
        "segments": str(testset.segments),
        "systems": str(len(testset.systems)),
        "references": ", ".join(testset.references) or "none",
        "baseline": next(iter(testset.systems)),
    }
    return {**facts, "slices": by} if by else facts
