"""What a reader of a comparison should know, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.metaeval._compare_options import needed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell
    from gnomon.metaeval._compare_figures import Contest
    from gnomon.metaeval._compare_options import Plan
    from gnomon.scores import Scores
    from gnomon.testset import TestSet

__all__ = ["notices", "too_coarse", "without_ngrams"]

_SAME = 1e-6  # share by which a corpus score may differ from the mean of its segments


def notices(testset: TestSet, scored: Sequence[Scores], contests: Sequence[Contest]) -> list[str]:
    """Equal outputs, missing scores, and what was compared instead of a corpus score."""
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


def too_coarse(plan: Plan, comparisons: int) -> Iterator[str]:
    """Says so where no p-value can be small enough after Holm's correction."""
    least = needed(plan, comparisons)
    if plan.draws() < least:
        yield (
            f"{plan.draws()} draws cannot show any one of {comparisons} differences: the smallest p"
            f" they give, times {comparisons}, lies above alpha ({plan.alpha:g}); take {least} or"
            " more, or another correction"
        )


def without_ngrams(testset: TestSet, records: Sequence[Mapping[str, Cell]]) -> Iterator[str]:
    """Says which systems get no n-gram right more often than the other one."""
    baseline, *others = testset.systems
    sides = {(row["system"], row["side"]) for row in records}
    for name in others:
        for here, there in ((name, baseline), (baseline, name)):
            if (name, here) not in sides:
                yield f"there is no n-gram that {here} gets right more often than {there}"
