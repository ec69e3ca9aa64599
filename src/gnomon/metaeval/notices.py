"""Notices for the reader of a meta-evaluation."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.agreement.judging import ALL
from gnomon.messages import message
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.agreement.judging import Judging, Overall, Result
    from gnomon.agreement.measures import MeasuredScores
    from gnomon.agreement.pairing import JudgedMetric, Pairing
    from gnomon.messages import Message


def notices(
    pairings: Sequence[Pairing],
    results: Sequence[Result],
    judging: Judging,
    averages: Sequence[Overall] = (),
    *,
    baseline: str | None,
) -> tuple[Message, ...]:
    """All that should be said, each once."""
    statements: list[Message] = [notice for pairing in pairings for notice in pairing.notices]
    whole = [pairing for pairing in pairings if pairing.slice is None]
    for pairing in whole:
        statements += _missing(pairing, judging)
        statements += _unlike_segments(pairing, results)
        statements += _measured(pairing, results)
        statements += _directions(pairing, results)
    for of_set in _group_by_set(whole):
        statements += _missing_judgement_notices(of_set, results, judging)
    statements += _slice_notices(pairings)
    statements += _units(whole, results)
    statements += _tests(results, judging, baseline)
    statements += map(_weights, averages)
    if any(result.measure.statistic == "acc_eq" for result in results):
        statements.append(message("note.metaeval.acc_eq"))
    return tuple(dict.fromkeys(statements))


def _missing(pairing: Pairing, judging: Judging) -> Iterator[Message]:
    """People and metrics that did not score the same systems and segments."""
    judged = ~np.isnan(pairing.system)
    silent = [n for n, is_judged in zip(pairing.systems, judged, strict=True) if not is_judged]
    levels = {measure.human_level for measure in judging.measures}
    if silent and judged.any() and "system" in levels:
        yield message("note.metaeval.no_human_score", set=pairing.name, systems=silent)
    people = ~np.isnan(pairing.segments)
    yield from _uneven(pairing, pairing.name, None, people)
    for entry in pairing.entries:
        scored = ~np.isnan(entry.segments)
        yield from _unscored(pairing, entry, by_system="system" in levels)
        yield from _uneven(pairing, pairing.title, entry.metric, scored)
        holes = (people & ~scored).sum(axis=1)
        if holes.any() and "segment" in levels:
            worst = sorted(zip(-holes, pairing.systems, people.sum(axis=1), strict=True))
            yield message(
                "note.metaeval.lacking",
                set=pairing.name,
                metric=entry.metric,
                lacking=holes.sum(),
                scores=people.sum(),
                systems=[{"system": name, "n": -n, "of": of} for n, name, of in worst if n],
            )
        if pairing.ranked is not None and "segment" in levels:
            of, better, worse, _ = pairing.ranked
            lacking = int((~scored[better, of] | ~scored[worse, of]).sum())
            if lacking:
                yield message(
                    "note.metaeval.unscored_pairs",
                    set=pairing.name,
                    metric=entry.metric,
                    lacking=lacking,
                    pairs=len(of),
                )


def _unscored(pairing: Pairing, entry: JudgedMetric, *, by_system: bool) -> Iterator[Message]:
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
            by_reason.setdefault("judged", []).append(name)
        elif name in systems | ranked and not is_scored:
            by_reason.setdefault("unscored", []).append(name)
        elif is_scored and name not in systems | ranked:
            by_reason.setdefault("outside", []).append(name)
    for why, names in by_reason.items():
        title = pairing.name if why == "judged" else pairing.title
        yield message(
            "note.metaeval.unscored", set=title, why=why, metric=entry.metric, systems=names
        )


def _uneven(
    pairing: Pairing, title: str, metric: str | None, scored: NDArray[np.bool_]
) -> Iterator[Message]:
    """Systems with scores of fewer segments than others, or of other ones."""
    segments: NDArray[np.bool_] = np.any(scored, axis=0)
    counts = dict(zip(pairing.systems, scored.sum(axis=1).tolist(), strict=True))
    some = {name: n for name, n in counts.items() if n}
    if not some or (scored[[n > 0 for n in counts.values()]] == segments).all():
        return
    most = max(some.values())
    fewer = sorted((n, name) for name, n in some.items() if n < most or len({*some.values()}) == 1)
    yield message(
        "note.metaeval.uneven",
        set=title,
        who="people" if metric is None else "metric",
        metric=metric,
        segments=scored.shape[1],
        fewer=[{"system": name, "n": n} for n, name in fewer],
    )


def _unlike_segments(pairing: Pairing, results: Sequence[Result]) -> Iterator[Message]:
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
        yield message(
            "note.metaeval.unlike_segments",
            set=pairing.title,
            human=pairing.kinds["segment"],
            judged=judged.sum(),
            segments=len(judged),
            metrics=names,
            scored=scored_by,
            both=both,
        )


def _group_by_set(pairings: Sequence[Pairing]) -> list[list[Pairing]]:
    by_set: dict[int, list[Pairing]] = {}
    for pairing in pairings:
        by_set.setdefault(id(pairing.testset), []).append(pairing)
    return list(by_set.values())


def _slice_notices(pairings: Sequence[Pairing]) -> Iterator[Message]:
    """Notices of what slices cannot say, and what their system scores are."""
    silent: dict[str, list[str]] = {}
    means: dict[str, list[str]] = {}
    for pairing in (pairing for pairing in pairings if pairing.slice is None):
        whole = pairing.kind, id(pairing.testset)
        parts = [
            part
            for part in pairings
            if part.slice is not None and (part.kind, id(part.testset)) == whole
        ]
        if parts and "system" in pairing.kinds and not any("system" in p.kinds for p in parts):
            silent.setdefault(pairing.title, []).append(pairing.kinds["system"])
        for entry in pairing.entries if parts else ():
            if entry.corpus is None and not entry.is_mean and np.isfinite(entry.segments).any():
                means.setdefault(pairing.title, []).append(entry.metric)
    for title, kinds in silent.items():
        yield message("note.metaeval.no_slices", set=title, kinds=kinds)
    for title, names in means.items():
        metrics = list(dict.fromkeys(names))
        yield message("note.metaeval.sliced_means", set=title, metrics=metrics)


def _weights(one: Overall) -> Message:
    tasks = [
        {"task": task, "weight": weight}
        for task, weight in zip(one.tasks, one.weights, strict=True)
    ]
    return message("note.metaeval.average", human=one.human, slice=one.slice, tasks=tasks)


def _measured(pairing: Pairing, results: Sequence[Result]) -> Iterator[Message]:
    of_pairing = [result for result in results if result.pairing is pairing]
    for result in of_pairing:
        yield from _undefined(result)
    if pairing.judged == 1:
        yield message("note.metaeval.one_system", set=pairing.name)
    if pairing.ranking is not None and any(r.measure.statistic == "darr" for r in of_pairing):
        yield from _rankings(pairing)


def _missing_judgement_notices(
    pairings: Sequence[Pairing], results: Sequence[Result], judging: Judging
) -> Iterator[Message]:
    """Notices of what no judgements of a test set allow: by name if asked for, else by level."""
    ids = {id(pairing) for pairing in pairings}
    done = {result.measure for result in results if id(result.pairing) in ids}
    missing = [measure for measure in judging.measures if measure not in done]
    name = pairings[0].title
    if missing and judging.named:
        titles = [{"measure": measure.title} for measure in missing]
        darr = any(measure.statistic == "darr" for measure in missing)
        yield message("note.metaeval.not_judged", set=name, measures=titles, darr=darr)
    elif missing and any(pairing.judged > 1 for pairing in pairings):
        wanted = dict.fromkeys(measure.level for measure in judging.measures)
        measured = {measure.level for measure in done}
        for level in (level for level in wanted if level not in measured):
            yield message("note.metaeval.no_level", set=name, level_name=level)


def _rankings(pairing: Pairing) -> Iterator[Message]:
    rows = Counter(pairing.ranking.rows if pairing.ranking else ())
    repeated = sum(count - 1 for count in rows.values())
    against = sum(1 for s, b, w in rows if (s, w, b) in rows) // 2
    if repeated or against:
        yield message(
            "note.metaeval.contradictions",
            set=pairing.name,
            human=pairing.kinds["ranking"],
            repeated=repeated,
            against=against,
        )


def _undefined(result: Result) -> Iterator[Message]:
    """Why a value is undefined."""
    cells = result.cells
    for name, scores, value in zip(cells.names, cells.metrics, result.values, strict=True):
        if np.isnan(value.value):
            yield message(
                "note.metaeval.undefined",
                set=result.pairing.name,
                measure=result.measure.title,
                subset=None if result.subset == ALL else result.subset,
                metric=name,
                why=_no_pairs(cells) or _reason(cells.human, scores, value.n),
                threshold=cells.threshold or 0.0,
            )


def _no_pairs(cells: MeasuredScores) -> str | None:
    if cells.measure.statistic != "darr":
        return None
    return "threshold" if cells.pairs is None else "pairs"


def _reason(human: NDArray[np.float64], scores: NDArray[np.float64], n: int) -> str:
    both = ~(np.isnan(human) | np.isnan(scores))
    if n == 0 or both.sum() < 2:
        return "few"
    if np.ptp(scores[both]) == 0:
        return "metric"
    return "people" if np.ptp(human[both]) == 0 else "groups"


def _directions(pairing: Pairing, results: Sequence[Result]) -> Iterator[Message]:
    """Metrics that seem to point the wrong way, where nobody knows which way they point."""
    directed = {entry.metric for entry in pairing.entries if entry.directed}
    for result in results:
        if result.pairing is not pairing or result.subset != ALL:
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


def _units(pairings: Sequence[Pairing], results: Sequence[Result]) -> Iterator[Message]:
    """Where segments are taken as independent."""
    for pairing in pairings:
        by_segment = [r for r in results if r.pairing is pairing and r.measure.level == "segment"]
        if any(result.verdicts.interval == "segments" for result in by_segment):
            why = "unknown" if pairing.documents is None else "asked"
            yield message("note.metaeval.by_segment", why=why).about(testsets=[pairing.title])


def _tests(results: Sequence[Result], judging: Judging, baseline: str | None) -> Iterator[Message]:
    how = judging.testing
    tests: dict[str, list[str]] = {}
    for result in results:
        if result.verdicts.test:
            tests.setdefault(result.verdicts.test, []).append(result.measure.title)
    intervals = dict.fromkeys(result.verdicts.interval for result in results)
    if not how.resamples:
        yield message("note.metaeval.no_draws")
    confidence = 100 * how.confidence
    if "documents" in intervals:
        least = LEAST_DOCUMENTS
        yield message("note.metaeval.by_document", confidence=confidence, least=least)
    draws: dict[str, Any] = {"draws": how.resamples, "seed": how.seed}
    resampled = [interval for interval in intervals if interval not in ("", "documents")]
    if resampled:
        yield message("note.metaeval.bootstrap", confidence=confidence, units=resampled, **draws)
    for test, titles in tests.items():
        yield message(
            "note.metaeval.test",
            measures=[{"measure": title} for title in dict.fromkeys(titles)],
            test=test,
            drawn=not test.startswith(("Williams", "jackknife")),
            rule="plus" if how.plus_one else "plain",
            **draws,
        )
    if baseline is not None and tests:
        yield message("note.metaeval.baseline", baseline=baseline)
    if tests:
        yield message("note.metaeval.ranks", alpha=how.alpha)
