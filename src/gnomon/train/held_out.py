"""Results of a trained metric on what was held out, beside other metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.metrics import score
from gnomon.stats.correlation import pearson_of_sums
from gnomon.stats.resampling import percentile_interval, resample_counts, resampled_sums
from gnomon.train.rows import HeldOutRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.records import Ends
    from gnomon.core.testset import TestSet
    from gnomon.train._estimator import Training
    from gnomon.train.judged import JudgedOutputs
    from gnomon.train.runs import TrainingRequest

__all__ = ["ALL", "LENGTH", "agreement_rows", "judge_held_out"]


#: what the metric is compared with: words and letters in common, and a control
_BASELINE = "chrf"
LENGTH = "length of the output"
ALL = "all"


def _score_held_out(request: TrainingRequest, training: Training) -> dict[str, NDArray[np.float64]]:
    """Scores of the outputs that were held out, by metric; the trained one is the first."""
    data = training.data
    cells = data.held_out
    trained = np.full(len(data.cell), np.nan)
    trained[training.held_rows] = training.scores(training.held_rows)
    scores = {f"comet('{request.folder}')": data.cell_means(trained)[cells]}
    output = data.output[cells]
    texts = [list(testset.systems.values()) for testset in request.testsets]
    if all(testset.outline.has_references for testset in request.testsets):
        scores[_BASELINE] = _baseline_scores(request.testsets, output)
    scores[LENGTH] = np.array([len(texts[t][k][n]) for t, k, n in output.tolist()], dtype=float)
    return scores


def _baseline_scores(testsets: Sequence[TestSet], output: NDArray[np.int64]) -> NDArray[np.float64]:
    """Segment scores of a metric that needs no training, of some outputs."""
    scores = np.full(len(output), np.nan)
    for test_set, testset in enumerate(testsets):
        of_set = output[:, 0] == test_set
        if of_set.any():
            segments = np.unique(output[of_set, 2])
            some = testset.select(segments=segments.tolist())
            values = score(some, _BASELINE).segments
            scores[of_set] = values[output[of_set, 1], np.searchsorted(segments, output[of_set, 2])]
    return scores


def judge_held_out(request: TrainingRequest, training: Training) -> list[HeldOutRow]:
    """Agreement of each metric, on each judged set and on all together."""
    data, scores = training.data, _score_held_out(request, training)
    judged = data.judged[data.held_out]
    parts = [((one.name, one.kind), judged == number) for number, one in enumerate(data.sets)]
    if len(parts) > 1:
        parts.append(((ALL, ALL), judged >= 0))
    return [
        row
        for names, inside in parts
        if inside.any()
        for row in agreement_rows(request, data, scores, inside, names)
    ]


def agreement_rows(
    request: TrainingRequest,
    data: JudgedOutputs,
    scores_by_metric: Mapping[str, NDArray[np.float64]],
    inside: NDArray[np.bool_],
    names: tuple[str, str],
) -> list[HeldOutRow]:
    """Rows of the agreement of each metric with people on outputs that nothing was learnt from."""
    from gnomon.train._estimator import agreement, centre_sets

    cells = np.flatnonzero(data.held_out)[inside]
    label, judged = data.label[cells], data.judged[cells]
    units, group = np.unique(data.group[cells], return_inverse=True)
    people = centre_sets(label, judged)
    made: list[HeldOutRow] = []
    for metric, every in scores_by_metric.items():
        scores = centre_sets(every[inside], judged)
        r = agreement(every[inside], label, judged)
        drawn = np.full(max(request.resamples, 1), np.nan)
        if request.resamples and len(units) > 2:
            terms = np.array(
                [
                    np.bincount(group, values, len(units))
                    for values in (
                        np.ones(len(scores)),
                        scores,
                        people,
                        scores * scores,
                        people * people,
                        scores * people,
                    )
                ]
            )
            counts = resample_counts(len(units), count=request.resamples, seed=request.recipe.seed)
            drawn = pearson_of_sums(resampled_sums(terms, counts))
        ends: dict[str, Ends] = {"pearson": _ends(drawn, request.confidence, len(units))}
        lead = None
        if not made:
            own, own_drawn = r, drawn
        elif r is not None and own is not None:
            lead = own - r
            ends["difference"] = _ends(own_drawn - drawn, request.confidence, len(units))
        made.append(
            HeldOutRow(
                test_set=names[0],
                human=names[1],
                metric=metric,
                outputs=len(label),
                groups=len(units),
                pearson=r,
                difference=lead,
                intervals=ends,
            )
        )
    return made


def _ends(drawn: NDArray[np.float64], confidence: float, groups: int) -> Ends:
    """Ends of an interval over groups, expanded as few of these need it."""
    if np.isnan(drawn).all():
        return None, None
    low, high = percentile_interval(drawn, confidence, groups)
    return float(low), float(high)
