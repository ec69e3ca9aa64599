"""Scores of the systems that are compared, the order of these, and what metrics noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.comparison.paired_tests import PairedScores
from gnomon.core.errors import UsageError
from gnomon.core.scores import Scores, checked_scores, name_metric
from gnomon.messages import message
from gnomon.metrics.base import Metrics, list_metrics
from gnomon.metrics.scoring import compared_scores
from gnomon.stats.system_tests import summable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gnomon.core.testset import TestSet
    from gnomon.messages import Message

__all__ = ["best_first", "leader", "notices", "scored"]

_OF_SYSTEMS = ("data.damaged", "data.favoured")
_SAME = 1e-6  # share by which a corpus score may differ from the mean of its segments


def scored(
    testset: TestSet,
    metrics: Metrics,
    *,
    workers: int = 1,
    allow_code: bool,
    progress: Callable[[str, int, int], None] | None,
) -> list[Scores]:
    """Scores of the systems of a test set under each metric."""
    chosen = list_metrics(metrics)
    if not chosen:
        raise UsageError("a comparison takes one metric or more; none is given")
    every_scores = []
    if progress:
        progress("scoring", 0, len(chosen))
    for done, metric in enumerate(chosen, start=1):
        if isinstance(metric, Scores):
            every_scores.append(checked_scores(metric, testset))
        else:
            every_scores.append(
                compared_scores(testset, metric, workers=workers, allow_code=allow_code)
            )
        if progress:
            progress("scoring", done, len(chosen))
    names = [metric.metric for metric in every_scores]
    if len(set(names)) < len(names):
        raise UsageError(f"a metric is named twice: {', '.join(names)}")
    return every_scores


def leader(scores: Scores, systems: Sequence[str]) -> str | None:
    """The system with the best score on the segments that all have, the first of several.

    Where there is no such segment, scores are those of each system's own. None has a score: None.
    """
    defined = [name for name in systems if np.isfinite(scores.system[scores.systems.index(name)])]
    if not defined:
        return None
    paired = PairedScores.select(scores, defined)
    values = [float(scores.system[scores.systems.index(name)]) for name in defined]
    there = ~np.isnan(paired.segments).any(axis=0)
    if paired.preferences is None and there.any() and not there.all():
        x, score = summable(paired.values, paired.aggregate)
        values = score(x[:, there].sum(axis=1)).tolist()
    return defined[int(np.argmax(paired.sign * np.array(values)))]


def best_first(scores: Scores, systems: Sequence[str]) -> list[str]:
    """Systems in the order of their scores; those without one as they are, behind the others."""
    sign = 1 if scores.higher_is_better else -1
    values = dict(zip(scores.systems, (sign * scores.system).tolist(), strict=True))
    return sorted(systems, key=lambda name: -values[name] if np.isfinite(values[name]) else np.inf)


def notices(testset: TestSet, scores: Scores, paired: PairedScores) -> list[Message]:
    """Notices of a metric, and of what was compared instead of a corpus score."""
    said = [
        notice if notice.code in _OF_SYSTEMS else name_metric(scores.metric, notice)
        for notice in scores.notices
        if notice not in testset.anomalies
    ]
    if paired.aggregate is None and not _is_mean(scores):
        said.append(message("note.not_mean").about(metrics=[scores.metric]))
    return said


def _is_mean(scores: Scores) -> bool:
    has_score = ~np.isnan(scores.segments)
    counts = np.where(has_score.any(axis=1), has_score.sum(axis=1), np.nan)
    means = np.nansum(scores.segments, axis=1) / counts
    return bool(np.allclose(means, scores.system, rtol=_SAME, atol=_SAME, equal_nan=True))
