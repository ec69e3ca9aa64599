"""What a reader of a meta-evaluation should know, in sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from gnomon import stats
from gnomon.core.scores import coverage, named
from gnomon.messages import message
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.agreement.judging import Judging, Overall, Result
    from gnomon.agreement.measures import MeasuredScores
    from gnomon.agreement.pairing import JudgedMetric, Pairing
    from gnomon.messages import Message, Notice


def notices(
    pairings: Sequence[Pairing],
    results: Sequence[Result],
    judging: Judging,
    averages: Sequence[Overall] = (),
    *,
    baseline: str | None,
) -> tuple[Notice, ...]:
    """All that should be said, each once."""
    statements: list[Notice] = [notice for pairing in pairings for notice in pairing.notices]
    whole = [pairing for pairing in pairings if pairing.slice is None]
    for pairing in whole:
        statements += _missing(pairing, judging)
        statements += _unlike_segments(pairing, results)
        statements += _measured(pairing, results)
        statements += _directions(pairing, results)
    for of_set in _of_one_set(whole):
        statements += _not_done(of_set, results, judging)
    statements += _sliced(pairings, results)
    judged = [pairing for pairing in whole if not np.isnan(pairing.system).all()]
    statements += _outliers(judged if judging.inliers else ())
    statements += _units(whole, results)
    statements += _tests(results, judging, baseline)
    statements += [_weights(average) for average in averages]
    if any(result.measure.statistic == "acc_eq" for result in results):
        statements.append(
            "acc_eq: every metric's tie threshold is fitted to the scores that it is judged on"
            " (acc_eq_held_out is not)"
        )
    return tuple(dict.fromkeys(statements))


def _missing(pairing: Pairing, judging: Judging) -> Iterator[str]:
    """People and metrics that did not score the same systems and segments."""
    judged = ~np.isnan(pairing.system)
    silent = [n for n, is_judged in zip(pairing.systems, judged, strict=True) if not is_judged]
    levels = {measure.human_level for measure in judging.measures}
    if silent and judged.any() and "system" in levels:
        yield f"{pairing.name}: without human system scores, left out: {named(silent)}"
    people = ~np.isnan(pairing.segments)
    yield from _uneven(f"{pairing.name}: human scores", pairing.systems, people)
    for entry in pairing.entries:
        scored = ~np.isnan(entry.segments)
        yield from _unscored(pairing, entry, by_system="system" in levels)
        yield from _uneven(f"{pairing.title}: scores by {entry.metric}", pairing.systems, scored)
        holes = (people & ~scored).sum(axis=1)
        if holes.any() and "segment" in levels:
            worst = sorted(zip(-holes, pairing.systems, people.sum(axis=1), strict=True))
            lacking = [f"{name} {-n} of {of}" for n, name, of in worst if n]
            yield (
                f"{pairing.name}: {entry.metric} lacks {holes.sum()} of {people.sum()} segment"
                f" scores that people gave ({named(lacking)}); they are left out of its figures,"
                " and differences between metrics are taken over what both scored"
            )
        if pairing.ranked is not None and "segment" in levels:
            of, better, worse, _ = pairing.ranked
            unscored_pairs = int((~scored[better, of] | ~scored[worse, of]).sum())
            if unscored_pairs:
                yield (
                    f"{pairing.name}: {entry.metric} lacks a score of {unscored_pairs} of {len(of)}"
                    " ranked pairs; they are left out of its figures"
                )


def _unscored(pairing: Pairing, entry: JudgedMetric, *, by_system: bool) -> Iterator[str]:
    """Systems of the test set without a score, and scores of systems that it does not have."""
    ranked = {name for ranking in pairing.testset.rankings for name in ranking.systems}
    systems = {*pairing.testset.systems, *(n for h in pairing.testset.human for n in h.systems)}
    judged, scored = ~np.isnan(pairing.system), ~np.isnan(entry.system)
    if not by_system:
        judged, scored = (
            np.any(~np.isnan(side), axis=1) for side in (pairing.segments, entry.segments)
        )
    by_reason: dict[str, list[str]] = {}
    for name, is_scored, by_people in zip(pairing.systems, scored, judged, strict=True):
        if by_people and not is_scored:
            what = f"systems that people judged, but {entry.metric} did not score, left out of its"
            by_reason.setdefault(f"{what} figures", []).append(name)
        elif name in systems | ranked and not is_scored:
            by_reason.setdefault(f"systems without a score by {entry.metric}", []).append(name)
        elif is_scored and name not in systems | ranked:
            what = f"systems that {entry.metric} scored, but the test set does not have, left out"
            by_reason.setdefault(what, []).append(name)
    for what, names in by_reason.items():
        judged_by_people = what.startswith("systems that people judged")
        yield f"{pairing.name if judged_by_people else pairing.title}: {what}: {named(names)}"


def _uneven(what: str, systems: Sequence[str], scored: NDArray[np.bool_]) -> Iterator[str]:
    """How many segments of each system have a score, of the systems that have any."""
    some: NDArray[np.bool_] = np.any(scored, axis=1)
    names = [name for name, has_score in zip(systems, some, strict=True) if has_score]
    uneven = coverage(names, scored[some])
    if uneven:
        yield f"{what}: {uneven}"


def _unlike_segments(pairing: Pairing, results: Sequence[Result]) -> Iterator[str]:
    """Segments that people judged and segments that a metric scored, where system scores differ.

    A system score over segments that people did not judge says of other texts than they did.
    """
    if not any(r.pairing is pairing and r.measure.level == "system" for r in results):
        return
    judged: NDArray[np.bool_] = np.any(~np.isnan(pairing.segments), axis=0)
    if not judged.any():
        return
    by_counts: dict[tuple[int, int], list[str]] = {}
    for entry in pairing.entries:
        scored: NDArray[np.bool_] = np.any(~np.isnan(entry.segments), axis=0)
        if scored.any() and not np.array_equal(scored, judged):
            counts = (int(scored.sum()), int((scored & judged).sum()))
            by_counts.setdefault(counts, []).append(entry.metric)
    for (scored_by, both), names in by_counts.items():
        yield (
            f"{pairing.title}: people ({pairing.kinds['segment']}) judged {int(judged.sum())} of"
            f" {len(judged)} segments, and {named(names)} scored {scored_by}, of which people"
            f" judged {both}; system scores are over all that each side has"
        )


def _of_one_set(pairings: Sequence[Pairing]) -> list[list[Pairing]]:
    by_set: dict[int, list[Pairing]] = {}
    for pairing in pairings:
        by_set.setdefault(id(pairing.testset), []).append(pairing)
    return list(by_set.values())


def _sliced(pairings: Sequence[Pairing], results: Sequence[Result]) -> Iterator[str]:
    """What slices cannot say, and what their system scores are."""
    by_statement: dict[str, list[str]] = {}
    for pairing in (pairing for pairing in pairings if pairing.slice is None):
        whole = pairing.kind, id(pairing.testset)
        parts = [
            part
            for part in pairings
            if part.slice is not None and (part.kind, id(part.testset)) == whole
        ]
        if parts and "system" in pairing.kinds and not any("system" in p.kinds for p in parts):
            statement = f"{pairing.title}: people's scores of whole systems say nothing of slices"
            by_statement.setdefault(statement, []).append(pairing.kinds["system"])
        for entry in pairing.entries if parts else ():
            if entry.corpus is None and not entry.is_mean and np.isfinite(entry.segments).any():
                statement = (
                    f"{pairing.title}: system scores on slices are means of segment scores, which"
                    " those over all segments are not"
                )
                by_statement.setdefault(statement, []).append(entry.metric)
    for statement, names in by_statement.items():
        yield f"{statement}: {named(list(dict.fromkeys(names)))}"
    undefined = sum(
        int(np.isnan(value.value))
        for result in results
        if result.pairing.slice is not None
        for value in result.values
    )
    if undefined:
        yield (
            f"{undefined} values on slices are undefined: too few systems or segments, or scores"
            " that are all equal"
        )


def _weights(one: Overall) -> str:
    tasks = (f"{task} ({weight:.3f})" for task, weight in zip(one.tasks, one.weights, strict=True))
    which = [one.human, one.slice]
    added = "".join(f", {qualifier}" for qualifier in which if qualifier is not None)
    return f"average over tasks{added}, correlations as (r + 1)/2, weights: {'; '.join(tasks)}"


def _measured(pairing: Pairing, results: Sequence[Result]) -> Iterator[str]:
    of_pairing = [result for result in results if result.pairing is pairing]
    done = {result.measure for result in of_pairing}
    for result in of_pairing:
        yield from _undefined(result)
    if pairing.judged == 1:
        yield f"{pairing.name}: people judged one system, so that no systems can be compared"
    if pairing.ranking is not None and any(m.statistic == "darr" for m in done):
        yield from _rankings(pairing)


def _not_done(
    pairings: Sequence[Pairing], results: Sequence[Result], judging: Judging
) -> Iterator[str]:
    """What no judgements of a test set allow: by name if it was asked for, else by level."""
    ids = {id(pairing) for pairing in pairings}
    done = {result.measure for result in results if id(result.pairing) in ids}
    missing = [measure for measure in judging.measures if measure not in done]
    name = pairings[0].title
    if missing and judging.named:
        needs = "; DaRR needs rankings, or scores and a threshold (--darr-threshold)"
        yield (
            f"{name}: no human scores for: {'; '.join(m.title for m in missing)}"
            + (needs if any(m.statistic == "darr" for m in missing) else "")
        )
    elif missing and any(pairing.judged > 1 for pairing in pairings):
        wanted = dict.fromkeys(measure.level for measure in judging.measures)
        measured = {measure.level for measure in done}
        for level in (level for level in wanted if level not in measured):
            yield f"{name}: no human scores at {level} level"


def _rankings(pairing: Pairing) -> Iterator[str]:
    rows = Counter(pairing.ranking.rows if pairing.ranking else ())
    repeated = sum(count - 1 for count in rows.values())
    against = sum(1 for s, b, w in rows if (s, w, b) in rows) // 2
    if repeated or against:
        yield (
            f"{pairing.name}: the ranking {pairing.kinds['ranking']} repeats {repeated}"
            f" judgement(s) and contradicts itself on {against} pair(s); all count as they stand"
        )


def _undefined(result: Result) -> Iterator[str]:
    """Why a value is undefined."""
    cells, where = result.cells, f"{result.pairing.name}, {result.measure.title}"
    subset = "" if result.subset == "all" else f", {result.subset}"
    for name, scores, value in zip(cells.names, cells.metrics, result.values, strict=True):
        if np.isnan(value.value):
            reason = _no_pairs(cells) or _reason(cells.human, scores, value.n)
            yield f"{where}{subset}: {name} is undefined: {reason}"


def _no_pairs(cells: MeasuredScores) -> str:
    if cells.measure.statistic != "darr":
        return ""
    if cells.pairs is not None:
        return "it scored no pair of the ranking"
    return (
        "no two of its outputs of a segment have human scores that differ by at least"
        f" {cells.threshold or 0:g} (--darr-threshold, on the scale of the human scores)"
    )


def _reason(human: NDArray[np.float64], scores: NDArray[np.float64], n: int) -> str:
    both = ~(np.isnan(human) | np.isnan(scores))
    if n == 0 or both.sum() < 2:
        return "there are fewer than two scores to compare"
    if np.ptp(scores[both]) == 0:
        return "all its scores are equal"
    if np.ptp(human[both]) == 0:
        return "all human scores are equal"
    return "no group has two scores that differ on both sides"


def _directions(pairing: Pairing, results: Sequence[Result]) -> Iterator[Message]:
    """Metrics that seem to point the wrong way, where nobody knows which way they point."""
    directed = {entry.metric for entry in pairing.entries if entry.directed}
    for result in results:
        if result.pairing is not pairing or result.subset != "all":
            continue
        if result.measure.statistic != "pearson":
            continue
        names = [
            name
            for name, value in zip(result.cells.names, result.values, strict=True)
            if value.value < 0 and value.n > 2 and name not in directed
        ]
        if names:
            yield message(
                "note.negative", set=pairing.name, measure=result.measure.title, metrics=names
            )


def _outliers(pairings: Sequence[Pairing]) -> Iterator[str]:
    for pairing in pairings:
        outliers = np.flatnonzero(stats.outliers(pairing.system))
        left = [pairing.systems[k] for k in outliers]
        yield (
            f"{pairing.name}: outliers by human score, |s - median| > 2.5 x 1.483 MAD:"
            f" {named(left) or 'none'}"
        )


def _units(pairings: Sequence[Pairing], results: Sequence[Result]) -> Iterator[str]:
    """Where segments are taken as independent."""
    for pairing in pairings:
        by_segment = [r for r in results if r.pairing is pairing and r.measure.level == "segment"]
        by = {result.verdicts.interval for result in by_segment}
        if "segments" in by and pairing.documents is None:
            yield (
                f"{pairing.title}: intervals and tests take segments as independent, for the test"
                " set does not say which document they belong to; where one person judged whole"
                " documents they are too narrow"
            )
        elif "segments" in by:
            yield (
                f"{pairing.title}: intervals and tests take segments as independent, as was asked;"
                " where one person judged whole documents they are too narrow"
            )


def _tests(results: Sequence[Result], judging: Judging, baseline: str | None) -> Iterator[str]:
    how = judging.testing
    rule = "(r + 1)/(B + 1)" if how.plus_one else "r/B"
    draws = f"{how.resamples} draws, p = {rule}, seed {how.seed}"
    what = {"greater": "better than", "less": "worse than", "two-sided": "otherwise than"}
    tests: dict[str, list[str]] = {}
    intervals: dict[str, None] = {}
    for result in results:
        if result.verdicts.test:
            tests.setdefault(result.verdicts.test, []).append(result.measure.title)
        if result.verdicts.interval:
            intervals[result.verdicts.interval] = None
    if not how.resamples:
        yield "no draws: no intervals, and p-values from Williams's test alone"
    if "documents" in intervals:
        yield (
            f"intervals of segment-level figures: {100 * how.confidence:g}%, jackknife over"
            " documents, because one person judges a whole document; none below"
            f" {LEAST_DOCUMENTS} documents"
        )
    resampled = [interval for interval in intervals if interval != "documents"]
    if resampled:
        yield (
            f"intervals: {100 * how.confidence:g}% percentile bootstrap over"
            f" {' or '.join(resampled)}, {how.resamples} draws, seed {how.seed}"
        )
    for test, titles in tests.items():
        drawn = "" if test.startswith(("Williams", "jackknife")) else f" ({draws})"
        yield f"test of {'; '.join(dict.fromkeys(titles))}: {test}{drawn}"
    if baseline is not None and tests:
        yield (
            f"p: the metric agrees {what[how.alternative]} {baseline} with people (alternative:"
            f" {how.alternative})"
        )
    if tests and how.alternative == "greater":
        yield (
            "ranks and clusters: one-sided tests of all pairs of metrics at alpha"
            f" {how.alpha:g}, not corrected for their number"
        )
